/* SPDX-License-Identifier: Apache-2.0 */
/* What the Reading says of copies both ways at once, and of ways that are far below the best one.
 */
#include "internal.h"

#include "record/mode_list.h"

#include <string.h>

/* ---- both ways at once ---- */

/* A mode that copies both ways at once has a figure of that. One that also computes has none: what
 * it moves is no sum of two ways. */
static bool goes_both_ways(const struct xb_reading *reading, const struct xb_record_case *test,
                           const void *argument)
{
    (void)argument;
    return xb_reading_alone(test) && xb_reading_goes(test, XB_BIDIR) &&
           xb_reading_usable(reading, test) &&
           xb_reading_bytes_moved(reading, test) == 2 * test->bytes &&
           (xb_reading_median(reading, test, &xb_figure_overlap) > 0 ||
            xb_reading_median(reading, test, &xb_figure_bandwidth_h2d) > 0);
}

static bool crosses_link(const struct xb_reading *reading, const struct xb_record_case *test,
                         const void *argument)
{
    (void)argument;
    return xb_reading_crosses_link(reading, test);
}

/* What other places of the host's memory gave, within one process. */
static void add_placements(struct xb_reading *reading, const struct xb_record_case *both)
{
    struct xb_statistics statistics;
    size_t count = both->rows[0].placements.count;
    if (reading->record->is_merged || count < 2 ||
        !xb_record_describe(reading->record, both, xb_figure_bandwidth.name, &statistics) ||
        !statistics.has_interval)
        return;
    xb_reading_phrase(reading,
                      " The rate depends on where the host's memory lies: {whole:placements} "
                      "places gave {rate:bandwidth_low} to {rate:bandwidth_high} GB/s.",
                      (double)count, statistics.ci95_low, statistics.ci95_high);
}

bool xb_reading_say_both_ways(struct xb_reading *reading, int device, uint64_t bytes)
{
    const struct xb_record_case *both =
        xb_reading_fastest(reading, device, bytes, goes_both_ways, NULL);
    const struct xb_record_case *one =
        xb_reading_fastest(reading, device, bytes, crosses_link, NULL);
    double rate = xb_reading_bandwidth(reading, both);
    double to = xb_reading_median(reading, both, &xb_figure_bandwidth_h2d);
    double from = xb_reading_median(reading, both, &xb_figure_bandwidth_d2h);
    double overlap = xb_reading_median(reading, both, &xb_figure_overlap);
    if (both == NULL)
        return false;
    xb_reading_phrase(reading, "{name} moves {rate:bandwidth} GB/s both ways at once", both, rate);
    if (to > 0 && from > 0)
        xb_reading_phrase(reading,
                          " ({rate:bandwidth_h2d} to the device, {rate:bandwidth_d2h} from it)", to,
                          from);
    if (one != NULL) {
        double single = xb_reading_bandwidth(reading, one);
        xb_reading_phrase(reading,
                          ", {factor} the best single way ({way}, {rate:single_bandwidth} GB/s)",
                          rate / single, one, single);
        xb_reading_number(reading, "ratio", rate / single, XB_UNIT_RATIO);
    }
    xb_reading_add(reading, ".");
    add_placements(reading, both);
    if (overlap > 0)
        xb_reading_phrase(reading, " Both ways moved data {share-of-time:overlap}.", overlap);
    return true;
}

/* ---- slow ways ---- */

/* A way with less than this share of the best is called slow. */
#define SLOW_BELOW 0.5

/* More modes and variants than these come from no run. */
#define MOST_WAYS 64

static bool is_one_way(const struct xb_reading *reading, const struct xb_record_case *test,
                       const void *direction)
{
    return xb_reading_goes(test, *(const enum xb_direction *)direction) &&
           xb_reading_one_way(reading, test);
}

/* The fastest case of each mode and variant of a device, size and direction: those that differ in
 * parameters alone are one way. Returns how many. */
static size_t collect_ways(const struct xb_reading *reading, int device, uint64_t bytes,
                           enum xb_direction direction,
                           const struct xb_record_case *ways[MOST_WAYS])
{
    size_t count = 0;
    const struct xb_record_cases sized = xb_record_of_size(reading->record, bytes);
    for (size_t i = 0; i < sized.count; i++) {
        const struct xb_record_case *test = sized.cases[i];
        if (test->device != device || !is_one_way(reading, test, &direction))
            continue;
        size_t way = 0;
        while (way < count && (strcmp(ways[way]->mode, test->mode) != 0 ||
                               strcmp(ways[way]->variant, test->variant) != 0))
            way++;
        if (way < count)
            ways[way] = xb_reading_faster(reading, ways[way], test);
        else if (count < MOST_WAYS)
            ways[count++] = test;
    }
    return count;
}

static bool say_slow(struct xb_reading *reading, int device, uint64_t bytes,
                     enum xb_direction direction, const char *before)
{
    const struct xb_record_case *ways[MOST_WAYS];
    const struct xb_record_case *best =
        xb_reading_fastest(reading, device, bytes, is_one_way, &direction);
    size_t count = collect_ways(reading, device, bytes, direction, ways);
    double most = xb_reading_bandwidth(reading, best);
    bool said = false;
    for (size_t i = 0; i < count; i++) {
        const struct xb_mode *mode = xb_mode_find(ways[i]->mode);
        double rate = xb_reading_bandwidth(reading, ways[i]);
        if (rate >= SLOW_BELOW * most)
            continue;
        if (said)
            xb_reading_next(reading);
        xb_reading_phrase(reading, "{text}, {name} reaches {rate} GB/s, {share:share} of {name}.",
                          before, ways[i], rate, rate / most, best);
        xb_reading_number(reading, "bandwidth", rate, XB_UNIT_RATE);
        xb_reading_number(reading, "best_bandwidth", most, XB_UNIT_RATE);
        if (mode != NULL && mode->say_first_thing != NULL)
            (void)mode->say_first_thing(reading, ways[i]);
        said = true;
    }
    return said;
}

bool xb_reading_say_slow_to(struct xb_reading *reading, int device, uint64_t bytes)
{
    return say_slow(reading, device, bytes, XB_H2D, "Host to device");
}

bool xb_reading_say_slow_from(struct xb_reading *reading, int device, uint64_t bytes)
{
    return say_slow(reading, device, bytes, XB_D2H, "Device to host");
}
