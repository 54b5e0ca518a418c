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

/* The same work with its memory near the device and far from it. */
struct pair {
    const struct xb_record_case *near, *far;
    double share; /* of the near one's bandwidth that the far one reaches */
};

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

/* The fastest near way in that direction, and the far node that costs it most; its `far` is NULL
 * where none costs anything. */
static struct pair find_pair(const struct xb_reading *reading, int device, uint64_t bytes,
                             enum xb_direction direction)
{
    const struct xb_record_cases sized = xb_record_of_size(reading->record, bytes);
    const struct xb_record_device *info = xb_record_device(reading->record, device);
    const struct place near = {direction, info != NULL ? info->numa_node : -1};
    struct pair worst = {.share = 1};
    if (near.node >= 0) /* else it is not known which is near */
        worst.near = xb_reading_fastest(reading, device, bytes, is_there, &near);
    for (size_t i = 0; worst.near != NULL && i < sized.count; i++) {
        const struct xb_record_case *far = sized.cases[i];
        if (xb_record_case_node(far) < 0 || !xb_reading_one_way(reading, far) ||
            xb_cases_order(far, worst.near, XB_BUT_NODE) != 0 ||
            xb_reading_judge(reading, far, worst.near) != XB_READING_SLOWER)
            continue;
        double share =
            xb_reading_bandwidth(reading, far) / xb_reading_bandwidth(reading, worst.near);
        if (share < worst.share) {
            worst.far = far;
            worst.share = share;
        }
    }
    return worst;
}

static bool say_way(struct xb_reading *reading, const struct pair *pair, const char *number)
{
    if (pair->far == NULL)
        return false;
    if (reading->words.length > 0)
        xb_reading_add(reading, " ");
    xb_reading_add(reading, "Memory on NUMA node %d costs ", xb_record_case_node(pair->far));
    xb_reading_add_name_but(reading, pair->near, XB_RECORD_NUMA);
    xb_reading_add(reading, " %.0f %% %s; node %d is near.", 100 - 100 * pair->share,
                   xb_direction_words(pair->near), xb_record_case_node(pair->near));
    xb_reading_number(reading, number, 1 - pair->share, XB_UNIT_RATIO);
    xb_reading_rests_on(reading, pair->far);
    return true;
}

bool xb_reading_say_numa(struct xb_reading *reading, int device, uint64_t bytes)
{
    reading->all_nodes = true;
    struct pair to = find_pair(reading, device, bytes, XB_H2D);
    struct pair from = find_pair(reading, device, bytes, XB_D2H);
    bool said = say_way(reading, &to, "cost_h2d");
    said = say_way(reading, &from, "cost_d2h") || said;
    if (said)
        xb_reading_remedy(
            reading, XB_EFFORT_CALL, 1 / fmin(to.share, from.share),
            "Bind the process to the GPU's NUMA node, or its memory lies far from it: "
            "numactl --cpunodebind=%d --membind=%d",
            xb_record_device(reading->record, device)->numa_node,
            xb_record_device(reading->record, device)->numa_node);
    return said;
}
