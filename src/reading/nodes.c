/* SPDX-License-Identifier: Apache-2.0 */
/* On which NUMA node a device's cases are compared. What lies near is not to be compared with what
 * lies far as if that were all that differs: of that XB-NUMA alone speaks. */
#include "internal.h"

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
