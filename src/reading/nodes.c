/* SPDX-License-Identifier: Apache-2.0 */
/* On which NUMA node a device's cases are compared. What lies near is not to be compared with what
 * lies far as if that were all that differs: of that XB-NUMA alone speaks. */
#include "internal.h"

/* Devices of several that ran at the same time are spoken of node by node (together.c). */
static bool is_placed(const struct xb_record_case *test)
{
    return !test->simultaneous && test->peer < 0 && !xb_reading_goes(test, XB_D2D);
}

void xb_reading_choose_node(struct xb_reading *reading, int device)
{
    const struct xb_record_device *info = xb_record_device(reading->record, device);
    bool has_own = false;
    bool has_near = false;
    int first = -1;
    for (size_t i = 0; i < reading->record->case_count; i++) {
        const struct xb_record_case *test = &reading->record->cases[i];
        int node = xb_record_case_node(test);
        if (test->device != device || !is_placed(test))
            continue;
        has_near |= node < 0;
        has_own |= node >= 0 && info != NULL && node == info->numa_node;
        first = first < 0 ? node : first;
    }
    reading->node_device = device;
    reading->node = has_own ? info->numa_node : has_near ? -1 : first;
}

bool xb_reading_on_node(const struct xb_reading *reading, const struct xb_record_case *test)
{
    return reading->all_nodes || test->device != reading->node_device || !is_placed(test) ||
           xb_record_case_node(test) == reading->node;
}
