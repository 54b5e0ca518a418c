/* SPDX-License-Identifier: Apache-2.0 */
/* What the Reading says of copies both ways at once. */
#include "internal.h"

/* A mode that copies both ways at once has a figure of that. One that also computes has none: what
 * it moves is no sum of two ways. */
static bool goes_both_ways(const struct xb_reading *reading, const struct xb_record_case *test)
{
    return xb_reading_alone(test) && xb_reading_goes(test, XB_BIDIR) &&
           xb_reading_usable(reading, test) &&
           xb_reading_bytes_moved(reading, test) == 2 * test->bytes &&
           (xb_reading_median(reading, test, &xb_figure_overlap) > 0 ||
            xb_reading_median(reading, test, &xb_figure_bandwidth_h2d) > 0);
}

static void add_best_single_way(struct xb_reading *reading, const struct xb_record_case *both,
                                const struct xb_record_case *one)
{
    double rate = xb_reading_bandwidth(reading, one);
    xb_reading_add(reading, ", ");
    xb_reading_add_factor(reading, xb_reading_bandwidth(reading, both) / rate);
    xb_reading_add(reading, " the best single way (");
    xb_reading_add_way(reading, one);
    xb_reading_add(reading, ", ");
    xb_reading_add_rate(reading, rate);
    xb_reading_add(reading, " GB/s)");
    xb_reading_number(reading, "single_bandwidth", rate, XB_UNIT_RATE);
    xb_reading_number(reading, "ratio", xb_reading_bandwidth(reading, both) / rate, XB_UNIT_RATIO);
}

/* What other places of the host's memory gave, within one process. */
static void add_placements(struct xb_reading *reading, const struct xb_record_case *both)
{
    struct xb_statistics statistics;
    const struct xb_record_row *row = &both->rows[0];
    if (reading->record->is_merged || row->placements.count < 2 ||
        !xb_record_describe(reading->record, both, xb_figure_bandwidth.name, &statistics) ||
        !statistics.has_interval)
        return;
    xb_reading_add(reading, " The rate depends on where the host's memory lies: %zu places gave ",
                   row->placements.count);
    xb_reading_add_rate(reading, statistics.ci95_low);
    xb_reading_add(reading, " to ");
    xb_reading_add_rate(reading, statistics.ci95_high);
    xb_reading_add(reading, " GB/s.");
    xb_reading_number(reading, "placements", (double)row->placements.count, XB_UNIT_RATIO);
    xb_reading_number(reading, "bandwidth_low", statistics.ci95_low, XB_UNIT_RATE);
    xb_reading_number(reading, "bandwidth_high", statistics.ci95_high, XB_UNIT_RATE);
}

bool xb_reading_say_both_ways(struct xb_reading *reading, int device, uint64_t bytes)
{
    const struct xb_record_case *both = xb_reading_fastest(reading, device, bytes, goes_both_ways);
    const struct xb_record_case *one =
        xb_reading_fastest(reading, device, bytes, xb_reading_crosses_link);
    double to = xb_reading_median(reading, both, &xb_figure_bandwidth_h2d);
    double from = xb_reading_median(reading, both, &xb_figure_bandwidth_d2h);
    double overlap = xb_reading_median(reading, both, &xb_figure_overlap);
    if (both == NULL)
        return false;
    xb_reading_add_name(reading, both);
    xb_reading_add(reading, " moves ");
    xb_reading_add_rate(reading, xb_reading_bandwidth(reading, both));
    xb_reading_add(reading, " GB/s both ways at once");
    xb_reading_number(reading, "bandwidth", xb_reading_bandwidth(reading, both), XB_UNIT_RATE);
    if (to > 0 && from > 0) {
        xb_reading_add(reading, " (");
        xb_reading_add_rate(reading, to);
        xb_reading_add(reading, " to the device, ");
        xb_reading_add_rate(reading, from);
        xb_reading_add(reading, " from it)");
        xb_reading_number(reading, "bandwidth_h2d", to, XB_UNIT_RATE);
        xb_reading_number(reading, "bandwidth_d2h", from, XB_UNIT_RATE);
    }
    if (one != NULL)
        add_best_single_way(reading, both, one);
    xb_reading_add(reading, ".");
    add_placements(reading, both);
    if (overlap > 0) {
        xb_reading_add(reading, " Both ways moved data ");
        xb_reading_add_share_of_time(reading, overlap);
        xb_reading_add(reading, ".");
        xb_reading_number(reading, "overlap", overlap, XB_UNIT_RATIO);
    }
    return true;
}
