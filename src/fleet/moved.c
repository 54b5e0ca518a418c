/* SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"
#include "order.h"

#include <stdlib.h>
#include <string.h>

/*
 * Which GPUs are one that was moved. Cloned machines and some runtimes give several GPUs one UUID.
 * So an equal UUID alone proves nothing: a GPU was moved if a later launch measured its node
 * without it, and if it was found at its new place only after that at the old one.
 */

static int compare_by_uuid(const void *left, const void *right)
{
    const struct xb_fleet_gpu *a = *(const struct xb_fleet_gpu *const *)left;
    const struct xb_fleet_gpu *b = *(const struct xb_fleet_gpu *const *)right;
    return XB_FIRST_ORDER(strcmp(a->uuid, b->uuid), XB_ORDER(a->told, b->told), XB_ORDER(a, b));
}

static enum xb_status find_gone(struct xb_fleet *fleet, struct xb_error *error)
{
    time_t *newest = calloc(fleet->node_count + 1, sizeof *newest); /* document of each node */
    if (newest == NULL)
        return xb_fleet_no_memory(error);
    for (size_t i = 0; i < fleet->gpu_count; i++)
        if (fleet->gpus[i].told > newest[fleet->gpus[i].node])
            newest[fleet->gpus[i].node] = fleet->gpus[i].told;
    for (size_t i = 0; i < fleet->gpu_count; i++) {
        struct xb_fleet_gpu *gpu = &fleet->gpus[i];
        gpu->is_gone = gpu->told > 0 && gpu->told + XB_FLEET_LAUNCH_S < newest[gpu->node];
    }
    free(newest);
    return XB_OK;
}

/* Whether all with one UUID, which are in the order of their time, are one GPU. */
static bool is_one(struct xb_fleet_gpu *const *gpus, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (!gpus[i - 1]->is_gone || gpus[i]->first_told <= gpus[i - 1]->told + XB_FLEET_LAUNCH_S)
            return false;
    return true;
}

/* Gives values and complaints the number that each GPU has now. */
static void renumber(struct xb_fleet *fleet, const size_t *numbers)
{
    for (size_t i = 0; i < fleet->value_count; i++)
        fleet->values[i].gpu = numbers[fleet->values[i].gpu];
    for (size_t i = 0; i < fleet->complaint_count; i++)
        if (fleet->complaints[i].gpu != XB_FLEET_NONE)
            fleet->complaints[i].gpu = numbers[fleet->complaints[i].gpu];
}

/* `joined`: for each GPU the one that it is, which is itself for those that stay. */
static void join(struct xb_fleet *fleet, size_t *joined)
{
    size_t kept = 0;
    renumber(fleet, joined);
    for (size_t i = 0; i < fleet->gpu_count; i++) {
        if (joined[i] != i)
            continue;
        fleet->gpus[kept] = fleet->gpus[i];
        joined[i] = kept++;
    }
    fleet->gpu_count = kept;
    renumber(fleet, joined);
}

/* `first` and `last` have the first of so many UUIDs that several GPUs have. */
static enum xb_status note_equal(struct xb_judging *judging, const struct xb_fleet_gpu *first,
                                 const struct xb_fleet_gpu *last, size_t uuids,
                                 struct xb_error *error)
{
    const struct xb_fleet_node *nodes = judging->fleet->nodes;
    return xb_fleet_add_note(judging, error,
                             "%zu UUID%s of several GPUs (first: on %.64s and on %.64s). These "
                             "GPUs are told apart by node and PCI address. Are machines cloned? If "
                             "a GPU was moved, measure again where it was.",
                             uuids, uuids == 1 ? " is" : "s are", nodes[first->node].name,
                             nodes[last->node].name);
}

enum xb_status xb_fleet_join_moved(struct xb_judging *judging, struct xb_error *error)
{
    struct xb_fleet *fleet = judging->fleet;
    struct xb_fleet_gpu **gpus = calloc(fleet->gpu_count + 1, sizeof(struct xb_fleet_gpu *));
    size_t *joined = calloc(fleet->gpu_count + 1, sizeof *joined);
    bool has_memory = gpus != NULL && joined != NULL;
    enum xb_status status = has_memory ? find_gone(fleet, error) : xb_fleet_no_memory(error);
    size_t count = 0;                        /* of those with a UUID */
    size_t equal = 0;                        /* UUIDs that several have, */
    const struct xb_fleet_gpu *first = NULL; /* and two that have the first of these */
    const struct xb_fleet_gpu *last = NULL;
    for (size_t i = 0; status == XB_OK && i < fleet->gpu_count; i++) {
        joined[i] = i;
        if (fleet->gpus[i].uuid != NULL)
            gpus[count++] = &fleet->gpus[i];
    }
    if (count > 0)
        qsort(gpus, count, sizeof(struct xb_fleet_gpu *), compare_by_uuid);
    for (size_t begin = 0, end = 0; begin < count; begin = end) {
        while (end < count && gpus[end]->uuid == gpus[begin]->uuid)
            end++;
        bool one = is_one(&gpus[begin], end - begin);
        for (size_t i = begin; i < end && one; i++)
            joined[gpus[i] - fleet->gpus] = (size_t)(gpus[end - 1] - fleet->gpus);
        if (!one && equal++ == 0) {
            first = gpus[begin];
            last = gpus[end - 1];
        }
    }
    if (equal > 0)
        status = note_equal(judging, first, last, equal, error);
    if (status == XB_OK)
        join(fleet, joined);
    free(gpus);
    free(joined);
    return status;
}
