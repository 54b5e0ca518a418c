/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* tdestroy */
#include "fleet.h"

#include "base/arena.h"
#include "base/began.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

/* The key of an item: its kind and its words. Texts are compared by address, because the fleet has
 * each text only once. */
enum kind { OF_NODE, OF_UUID, OF_ADDRESS, OF_INDEX, OF_FIGURE };
struct name {
    uintptr_t words[10];
    size_t index;
};

struct xb_fleet_names {
    void *texts, *things; /* search trees of const char and of struct name */
};

enum xb_status xb_fleet_open(struct xb_fleet *fleet, struct xb_error *error)
{
    *fleet = (struct xb_fleet){.now = xb_began().tv_sec, .names = calloc(1, sizeof *fleet->names)};
    if (fleet->names == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for a fleet");
    return XB_OK;
}

/* The arena owns the items of the trees. */
static void leave(void *nothing)
{
    (void)nothing;
}

void xb_fleet_free(struct xb_fleet *fleet)
{
    if (fleet->names != NULL) {
        tdestroy(fleet->names->texts, leave);
        tdestroy(fleet->names->things, leave);
        free(fleet->names);
    }
    free(fleet->sources);
    free(fleet->nodes);
    free(fleet->gpus);
    free(fleet->figures);
    free(fleet->values);
    free(fleet->complaints);
    free(fleet->left_out);
    xb_arena_free(fleet->texts);
    *fleet = (struct xb_fleet){.names = NULL};
}

static enum xb_status no_memory(struct xb_error *error)
{
    return XB_FAIL(error, XB_ERR_MEMORY,
                   "no memory for what the documents say; give fewer of them at once");
}

/* Makes room for one more. False: no memory; the array stays as it is. */
#define GROW(array, count) make_room(&(array), xb_array_grow((array), (count), sizeof *(array)))

static bool make_room(void *array, void *grown)
{
    if (grown != NULL)
        memcpy(array, &grown, sizeof grown);
    return grown != NULL;
}

static int compare_texts(const void *left, const void *right)
{
    return strcmp(left, right);
}

static int compare_names(const void *left, const void *right)
{
    const struct name *a = left, *b = right;
    return memcmp(a->words, b->words, sizeof a->words);
}

/* Puts the fleet's own copy of a text in its place. NULL stays. */
static bool keep_text(struct xb_fleet *fleet, const char **text)
{
    if (*text == NULL)
        return true;
    const char *const *found = tfind(*text, &fleet->names->texts, compare_texts);
    if (found == NULL) {
        const char *copy = xb_arena_print(&fleet->texts, "%s", *text);
        found = copy == NULL ? NULL : tsearch(copy, &fleet->names->texts, compare_texts);
    }
    if (found != NULL)
        *text = *found;
    return found != NULL;
}

static const struct name *find(const struct xb_fleet *fleet, const struct name *name)
{
    const struct name *const *found = tfind(name, &fleet->names->things, compare_names);
    return found != NULL ? *found : NULL;
}

/* Notes under which name a thing is found, also where it is another's until now. */
static bool keep_name(struct xb_fleet *fleet, const struct name *name)
{
    struct name **found = tfind(name, &fleet->names->things, compare_names);
    if (found != NULL) {
        (*found)->index = name->index;
        return true;
    }
    struct name *kept = xb_arena_allocate(&fleet->texts, sizeof *kept);
    if (kept == NULL)
        return false;
    *kept = *name;
    return tsearch(kept, &fleet->names->things, compare_names) != NULL;
}

enum xb_status xb_fleet_add_source(struct xb_fleet *fleet, const struct xb_fleet_source *source,
                                   size_t *index, struct xb_error *error)
{
    struct xb_fleet_source kept = *source;
    if (!keep_text(fleet, &kept.path) || !keep_text(fleet, &kept.kind) ||
        !GROW(fleet->sources, fleet->source_count))
        return no_memory(error);
    *index = fleet->source_count++;
    fleet->sources[*index] = kept;
    return XB_OK;
}

enum xb_status xb_fleet_add_node(struct xb_fleet *fleet, const struct xb_fleet_node *node,
                                 size_t *index, struct xb_error *error)
{
    struct xb_fleet_node kept = *node;
    if (!keep_text(fleet, &kept.name) || !keep_text(fleet, &kept.hostname) ||
        !keep_text(fleet, &kept.driver))
        return no_memory(error);
    struct name name = {{OF_NODE, (uintptr_t)kept.name}, fleet->node_count};
    const struct name *known = find(fleet, &name);
    if (known == NULL) {
        if (!GROW(fleet->nodes, fleet->node_count) || !keep_name(fleet, &name))
            return no_memory(error);
        fleet->nodes[fleet->node_count++] = kept;
        *index = name.index;
        return XB_OK;
    }
    struct xb_fleet_node *old = &fleet->nodes[known->index];
    if (old->hostname == NULL)
        old->hostname = kept.hostname;
    if (kept.driver != NULL && (old->driver == NULL || kept.driver_told >= old->driver_told)) {
        old->driver = kept.driver;
        old->driver_told = kept.driver_told;
    }
    *index = known->index;
    return XB_OK;
}

/* Whether two GPUs of a node are at different places. */
static bool is_elsewhere(const struct xb_fleet_gpu *left, const struct xb_fleet_gpu *right)
{
    if (left->pci_bdf == NULL && right->pci_bdf == NULL)
        return left->index != right->index;
    return left->pci_bdf != NULL && right->pci_bdf != NULL && left->pci_bdf != right->pci_bdf;
}

/* The index of the GPU, or XB_FLEET_NONE. A document without UUIDs is of the GPU that a document
 * with them found at the same place. */
static size_t find_gpu(const struct xb_fleet *fleet, const struct xb_fleet_gpu *gpu,
                       const struct name *by_uuid, const struct name *by_place)
{
    const struct name *known = find(fleet, by_uuid);
    if (known == NULL || is_elsewhere(&fleet->gpus[known->index], gpu))
        known = find(fleet, by_place);
    if (known == NULL)
        return XB_FLEET_NONE;
    const char *uuid = fleet->gpus[known->index].uuid;
    bool other = gpu->uuid != NULL && uuid != NULL && gpu->uuid != uuid;
    return other ? XB_FLEET_NONE : known->index;
}

/* What a document says of a GPU that is in the fleet. */
static void take_gpu(struct xb_fleet_gpu *gpu, const struct xb_fleet_gpu *from)
{
    bool newer = from->told >= gpu->told;
    if (gpu->uuid == NULL)
        gpu->uuid = from->uuid;
    if (gpu->pci_bdf == NULL)
        gpu->pci_bdf = from->pci_bdf;
    if (from->model != NULL && (newer || gpu->model == NULL))
        gpu->model = from->model;
    if (newer) {
        gpu->index = from->index;
        gpu->told = from->told;
    }
    if (from->told < gpu->first_told)
        gpu->first_told = from->told;
    if (from->link_speed_gts > 0 && from->link_width > 0 &&
        (gpu->link_width == 0 || from->told >= gpu->link_told)) {
        gpu->link_speed_gts = from->link_speed_gts;
        gpu->link_width = from->link_width;
        gpu->link_told = from->told;
    }
}

enum xb_status xb_fleet_add_gpu(struct xb_fleet *fleet, const struct xb_fleet_gpu *gpu,
                                size_t *index, struct xb_error *error)
{
    struct xb_fleet_gpu kept = *gpu;
    if (!keep_text(fleet, &kept.model) || !keep_text(fleet, &kept.uuid) ||
        !keep_text(fleet, &kept.pci_bdf))
        return no_memory(error);
    struct name uuid = {{OF_UUID, kept.node, (uintptr_t)kept.uuid}, 0}, place;
    if (kept.pci_bdf != NULL)
        place = (struct name){{OF_ADDRESS, kept.node, (uintptr_t)kept.pci_bdf}, 0};
    else
        place = (struct name){{OF_INDEX, kept.node, (uintptr_t)kept.model, kept.index}, 0};
    size_t known = find_gpu(fleet, &kept, &uuid, &place);
    *index = known == XB_FLEET_NONE ? fleet->gpu_count : known;
    uuid.index = place.index = *index;
    if (!GROW(fleet->gpus, fleet->gpu_count) || (kept.uuid != NULL && !keep_name(fleet, &uuid)) ||
        !keep_name(fleet, &place))
        return no_memory(error);
    kept.first_told = kept.link_told = kept.told;
    if (known == XB_FLEET_NONE)
        fleet->gpus[fleet->gpu_count++] = kept;
    else
        take_gpu(&fleet->gpus[known], &kept);
    return XB_OK;
}

enum xb_status xb_fleet_add_figure(struct xb_fleet *fleet, const struct xb_fleet_figure *figure,
                                   size_t *index, struct xb_error *error)
{
    struct xb_fleet_figure kept = *figure;
    const char **texts[] = {&kept.name, &kept.unit,   &kept.backend, &kept.model,
                            &kept.link, &kept.driver, &kept.options};
    struct name name = {{OF_FIGURE, kept.more_is_better}, fleet->figure_count};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (!keep_text(fleet, texts[i]))
            return no_memory(error);
        name.words[2 + i] = (uintptr_t)*texts[i];
    }
    const struct name *known = find(fleet, &name);
    if (known != NULL) {
        *index = known->index;
        return XB_OK;
    }
    if (!GROW(fleet->figures, fleet->figure_count) || !keep_name(fleet, &name))
        return no_memory(error);
    fleet->figures[fleet->figure_count++] = kept;
    *index = name.index;
    return XB_OK;
}

enum xb_status xb_fleet_add_value(struct xb_fleet *fleet, const struct xb_fleet_value *value,
                                  struct xb_error *error)
{
    if (!GROW(fleet->values, fleet->value_count))
        return no_memory(error);
    fleet->values[fleet->value_count++] = *value;
    return XB_OK;
}

enum xb_status xb_fleet_add_complaint(struct xb_fleet *fleet,
                                      const struct xb_fleet_complaint *complaint,
                                      struct xb_error *error)
{
    struct xb_fleet_complaint kept = *complaint;
    if (!keep_text(fleet, &kept.text) || !keep_text(fleet, &kept.causes) ||
        !GROW(fleet->complaints, fleet->complaint_count))
        return no_memory(error);
    fleet->complaints[fleet->complaint_count++] = kept;
    return XB_OK;
}

enum xb_status xb_fleet_leave_out(struct xb_fleet *fleet, const char *what, const char *why,
                                  bool is_foreign, struct xb_error *error)
{
    struct xb_fleet_left_out kept = {what, why};
    fleet->unread_count += !is_foreign;
    if (fleet->left_out_count >= XB_FLEET_TOLD) {
        fleet->left_out_count++;
        return XB_OK;
    }
    if (!keep_text(fleet, &kept.what) || !keep_text(fleet, &kept.why) ||
        !GROW(fleet->left_out, fleet->left_out_count))
        return no_memory(error);
    fleet->left_out[fleet->left_out_count++] = kept;
    return XB_OK;
}

/* ---- one fleet into another: each thread collects a document in a fleet of its own ---- */

enum xb_status xb_fleet_absorb(struct xb_fleet *fleet, const struct xb_fleet *from,
                               struct xb_error *error)
{
    /* The index in the one fleet of each item of the other. */
    size_t count = from->source_count + from->node_count + from->gpu_count + from->figure_count;
    size_t *sources = calloc(count + 1, sizeof *sources);
    if (sources == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for the nodes of a document");
    size_t *nodes = sources + from->source_count, *gpus = nodes + from->node_count;
    size_t *figures = gpus + from->gpu_count;
    enum xb_status status = XB_OK;
    for (size_t i = 0; i < from->source_count && status == XB_OK; i++)
        status = xb_fleet_add_source(fleet, &from->sources[i], &sources[i], error);
    for (size_t i = 0; i < from->node_count && status == XB_OK; i++)
        status = xb_fleet_add_node(fleet, &from->nodes[i], &nodes[i], error);
    for (size_t i = 0; i < from->gpu_count && status == XB_OK; i++) {
        struct xb_fleet_gpu gpu = from->gpus[i];
        gpu.node = nodes[gpu.node];
        status = xb_fleet_add_gpu(fleet, &gpu, &gpus[i], error);
    }
    for (size_t i = 0; i < from->figure_count && status == XB_OK; i++)
        status = xb_fleet_add_figure(fleet, &from->figures[i], &figures[i], error);
    for (size_t i = 0; i < from->value_count && status == XB_OK; i++) {
        struct xb_fleet_value value = from->values[i];
        value.figure = figures[value.figure];
        value.gpu = gpus[value.gpu];
        value.source = sources[value.source];
        status = xb_fleet_add_value(fleet, &value, error);
    }
    for (size_t i = 0; i < from->complaint_count && status == XB_OK; i++) {
        struct xb_fleet_complaint complaint = from->complaints[i];
        complaint.node = nodes[complaint.node];
        complaint.gpu = complaint.gpu != XB_FLEET_NONE ? gpus[complaint.gpu] : XB_FLEET_NONE;
        complaint.source = sources[complaint.source];
        status = xb_fleet_add_complaint(fleet, &complaint, error);
    }
    free(sources);
    return status;
}
