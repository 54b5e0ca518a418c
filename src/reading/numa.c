/* SPDX-License-Identifier: Apache-2.0 */
/* NUMA nodes: which of them the Reading compares cases of, and what it says of the others. */
#include "internal.h"

#include "record/rows.h"

#include <math.h>

/*
 * ---- on which node a device's cases are compared ----
 * What lies near is not to be compared with what lies far as if that were all that differs: of that
 * XB-NUMA alone speaks.
 */

/* Devices of several that ran at the same time are spoken of node by node (together.c). */
static bool is_placed(const struct xb_record_case *test)
{
    return !test->simultaneous && test->peer < 0 && !xb_reading_goes(test, XB_D2D);
}

void xb_reading_choose_nodes(struct xb_reading *reading)
{
    enum { WITHIN = 1, FIRST, NEAR, OWN }; /* within the device there is no such memory */
    const struct xb_record *record = reading->record;
    for (size_t i = 0; i < record->case_count; i++) {
        const struct xb_record_case *test = &record->cases[i];
        if (!xb_reading_alone(test) || test->device >= XB_RUN_DEVICES)
            continue;
        struct xb_reading_node *chosen = &reading->nodes[test->device];
        const struct xb_record_device *info = xb_record_device(record, test->device);
        int node = xb_record_case_node(test);
        int rank = !is_placed(test)                          ? WITHIN
                   : node < 0                                ? NEAR
                   : info != NULL && node == info->numa_node ? OWN
                                                             : FIRST;
        if (rank > chosen->rank)
            *chosen = (struct xb_reading_node){rank, node};
    }
}

bool xb_reading_has_alone(const struct xb_reading *reading, int device)
{
    return device < XB_RUN_DEVICES && reading->nodes[device].rank > 0;
}

bool xb_reading_on_node(const struct xb_reading *reading, const struct xb_record_case *test)
{
    return reading->all_nodes || test->device < 0 || test->device >= XB_RUN_DEVICES ||
           test->device != reading->entry.device || !is_placed(test) ||
           xb_record_case_node(test) == reading->nodes[test->device].node;
}

/* ---- what memory far from a device costs ---- */

/* A case of a direction and node whose bandwidth the Reading may speak of. */
struct place {
    enum xb_direction direction;
    int node;
};

static bool is_there(const struct xb_reading *reading, const struct xb_record_case *test,
                     const void *argument)
{
    const struct place *place = argument;
    return xb_reading_goes(test, place->direction) && xb_record_case_node(test) == place->node &&
           xb_reading_one_way(reading, test);
}

/* Finds the same work with its memory on the far node that costs it most, and the share of the near
 * one's bandwidth that it reaches; NULL where no node costs anything. */
static const struct xb_record_case *find_far(const struct xb_reading *reading,
                                             const struct xb_record_case *near, double *share)
{
    const struct xb_record_cases sized = xb_record_of_size(reading->record, near->bytes);
    const struct xb_record_case *worst = NULL;
    *share = 1;
    for (size_t i = 0; i < sized.count; i++) {
        const struct xb_record_case *far = sized.cases[i];
        double own = xb_reading_bandwidth(reading, far) / xb_reading_bandwidth(reading, near);
        if (!(own < *share) || xb_record_case_node(far) < 0 || !xb_reading_one_way(reading, far) ||
            xb_cases_order(far, near, XB_BUT_NODE) != 0 ||
            xb_reading_judge(reading, far, near) != XB_READING_SLOWER)
            continue;
        worst = far;
        *share = own;
    }
    return worst;
}

/* Says what memory on the farthest NUMA node costs the fastest copy each way. */
static bool say_numa(struct xb_reading *reading, int device, uint64_t bytes)
{
    const struct xb_record_device *info = xb_record_device(reading->record, device);
    double least = 1;
    if (info == NULL || info->numa_node < 0)
        return false; /* it is not known which is near */
    reading->all_nodes = true;
    for (int i = 0; i < 2; i++) {
        const struct place place = {i == 0 ? XB_H2D : XB_D2H, info->numa_node};
        const struct xb_record_case *near =
            xb_reading_fastest(reading, device, bytes, is_there, &place);
        double share = 1;
        const struct xb_record_case *far = near != NULL ? find_far(reading, near, &share) : NULL;
        if (far == NULL)
            continue;
        xb_reading_phrase(reading,
                          "{text}Memory on NUMA node {whole} costs {name:but} {whole} % {text}; "
                          "node {whole} is near.{+share:*}{case}",
                          reading->words.length > 0 ? " " : "", (double)xb_record_case_node(far),
                          near, XB_RECORD_NUMA, 100 - 100 * share, xb_direction_words(near),
                          (double)info->numa_node, 1 - share, i == 0 ? "cost_h2d" : "cost_d2h",
                          far);
        least = fmin(least, share);
    }
    if (least < 1)
        xb_reading_remedy(
            reading, XB_EFFORT_CALL, 1 / least,
            "Bind the process to the GPU's NUMA node, or its memory lies far from it: "
            "numactl --cpunodebind=%d --membind=%d",
            info->numa_node, info->numa_node);
    return least < 1;
}

const struct xb_reading_line xb_reading_of_numa[] = {
    {.label = "NUMA", .code = "XB-NUMA", .say = say_numa},
    {.label = NULL},
};
