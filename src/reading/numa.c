/* SPDX-License-Identifier: Apache-2.0 */
/* What the Reading says of NUMA nodes: what memory far from a device costs. */
#include "internal.h"

#include "record/rows.h"

#include <stdio.h>

/* The same work with its memory near the device and far from it. */
struct pair {
    const struct xb_record_case *near, *far;
    double share; /* of the near one's bandwidth that the far one reaches */
};

/* The node that the device is close to; -1 where that is not known. */
static int own_node(const struct xb_reading *reading, int index)
{
    const struct xb_record_device *device = xb_record_device(xb_reading_record(reading), index);
    return device != NULL ? device->numa_node : -1;
}

/* A case of that node whose bandwidth the Reading may speak of. */
static bool is_on(const struct xb_reading *reading, const struct xb_record_case *test, int node)
{
    return xb_record_case_node(test) == node && xb_reading_one_way(reading, test);
}

/* The far node that costs a near case most; its `far` is NULL where none costs anything. */
static struct pair find_worst(const struct xb_reading *reading, const struct xb_record_case *near)
{
    const struct xb_record_cases sized = xb_record_of_size(reading->record, near->bytes);
    struct pair worst = {.near = near, .share = 1};
    for (size_t i = 0; i < sized.count; i++) {
        const struct xb_record_case *far = sized.cases[i];
        int node = xb_record_case_node(far);
        if (node < 0 || !is_on(reading, far, node) || xb_cases_order(far, near, XB_BUT_NODE) != 0 ||
            xb_reading_judge(reading, far, near) != XB_READING_SLOWER)
            continue;
        double share = xb_reading_bandwidth(reading, far) / xb_reading_bandwidth(reading, near);
        if (share < worst.share) {
            worst.far = far;
            worst.share = share;
        }
    }
    return worst;
}

/* Of the fastest near way in that direction. */
static struct pair find_pair(const struct xb_reading *reading, int device, uint64_t bytes,
                             enum xb_direction direction)
{
    const struct xb_record_cases sized = xb_record_of_size(reading->record, bytes);
    const struct xb_record_case *best = NULL;
    int own = own_node(reading, device);
    for (size_t i = 0; own >= 0 && i < sized.count; i++) {
        const struct xb_record_case *test = sized.cases[i];
        if (test->device == device && xb_reading_goes(test, direction) && is_on(reading, test, own))
            best = xb_reading_faster(reading, best, test);
    }
    return best != NULL ? find_worst(reading, best) : (struct pair){.near = NULL};
}

static bool say_way(struct xb_reading *reading, const struct pair *pair, const char *way,
                    const char *number)
{
    if (pair->far == NULL)
        return false;
    xb_reading_add(reading,
                   "%s, memory on NUMA node %d gives %.0f %% less than on node %d, which is near (",
                   way, xb_record_case_node(pair->far), 100 - 100 * pair->share,
                   xb_record_case_node(pair->near));
    xb_reading_add_name_but(reading, pair->near, XB_RECORD_NUMA);
    xb_reading_add(reading, ", ");
    xb_reading_add_rate(reading, xb_reading_bandwidth(reading, pair->far));
    xb_reading_add(reading, " and ");
    xb_reading_add_rate(reading, xb_reading_bandwidth(reading, pair->near));
    xb_reading_add(reading, " GB/s).");
    xb_reading_number(reading, number, 1 - pair->share, XB_UNIT_RATIO);
    xb_reading_rests_on(reading, pair->far);
    xb_reading_rests_on(reading, pair->near);
    return true;
}

bool xb_reading_say_numa(struct xb_reading *reading, int device, uint64_t bytes)
{
    reading->all_nodes = true;
    struct pair to = find_pair(reading, device, bytes, XB_H2D);
    struct pair from = find_pair(reading, device, bytes, XB_D2H);
    bool said = say_way(reading, &to, "Host to device", "cost_h2d");
    if (said && from.far != NULL)
        xb_reading_add(reading, " ");
    return say_way(reading, &from, "Device to host", "cost_d2h") || said;
}
