/* SPDX-License-Identifier: Apache-2.0 */
/* What the Reading says of pairs: direct copies against staged ones, kernels against engines. */
#include "readings.h"
#include "shared_options.h"

#include <string.h>

enum way { STAGED, BY_ENGINE, BY_KERNEL };

static enum way way_of(const struct xb_record_case *test)
{
    if (strcmp(test->variant, "staged") == 0)
        return STAGED;
    /* Files from before the option have none. */
    return xb_is_by_kernel(xb_record_parameter(test, xb_option_by.name)) ? BY_KERNEL : BY_ENGINE;
}

static bool is_of(const struct xb_reading *reading, const struct xb_record_case *test,
                  const void *direction)
{
    return test->peer >= 0 && !test->simultaneous &&
           strcmp(test->direction, xb_direction_name(*(const enum xb_direction *)direction)) == 0 &&
           strcmp(test->mode, "peer") == 0 && xb_reading_usable(reading, test);
}

static int by_pair(const struct xb_record_case *a, const struct xb_record_case *b,
                   const void *argument)
{
    (void)argument;
    return a->device != b->device ? a->device - b->device : a->peer - b->peer;
}

/*
 * Says what direct copies are by staged ones, or of direct ones those by kernel by those by engine:
 * how many times as fast, described over all pairs that have both. False where none has. "One way,
 * direct copies are 1.50 times as fast as <other> (median of 6 pairs; ...)."
 */
static bool compare(struct xb_reading *reading, enum xb_direction direction, uint64_t bytes,
                    bool by_kernel)
{
    const struct xb_record_cases all = xb_reading_group(reading, bytes, is_of, by_pair, &direction);
    struct xb_statistics factors;
    for (size_t i = 0, behind = 0; i < all.count; i = behind) {
        const struct xb_record_case *one = NULL;
        const struct xb_record_case *other = NULL;
        behind = i + xb_cases_equal(all.cases + i, all.count - i, by_pair, NULL);
        for (size_t k = i; k < behind; k++) {
            enum way way = way_of(all.cases[k]);
            if (way == BY_KERNEL || (way == BY_ENGINE && !by_kernel))
                one = xb_reading_faster(reading, one, all.cases[k]);
            else if (way == (by_kernel ? BY_ENGINE : STAGED))
                other = xb_reading_faster(reading, other, all.cases[k]);
        }
        if (one == NULL || other == NULL)
            continue;
        xb_reading_rests_on(reading, one);
        xb_reading_rests_on(reading, other);
        xb_reading_collect(reading, xb_reading_median(reading, one, &xb_figure_bandwidth) /
                                        xb_reading_median(reading, other, &xb_figure_bandwidth));
    }
    if (!xb_reading_spread(reading, &factors))
        return false;
    xb_reading_phrase(reading, "{text}, {text} are {speed:ratio} as {text}",
                      direction == XB_BIDIR ? "Both ways at once" : "One way",
                      by_kernel ? "direct copies by kernel" : "direct copies", factors.median,
                      by_kernel ? "those by copy engine" : "copies staged through the host");
    if (factors.n > 1)
        xb_reading_phrase(reading, " (median of {whole} pairs; from {factor} to {factor})",
                          (double)factors.n, factors.min, factors.max);
    xb_reading_add(reading, ".");
    xb_reading_number(reading, "ratio_low", factors.min, XB_UNIT_RATIO);
    xb_reading_number(reading, "ratio_high", factors.max, XB_UNIT_RATIO);
    xb_reading_number(reading, "pairs", (double)factors.n, XB_UNIT_RATIO);
    return true;
}

static bool say_direct(struct xb_reading *reading, enum xb_direction direction, uint64_t bytes)
{
    return compare(reading, direction, bytes, false);
}

static bool say_by_kernel(struct xb_reading *reading, enum xb_direction direction, uint64_t bytes)
{
    return compare(reading, direction, bytes, true);
}

const struct xb_reading_line xb_peer_reading[] = {
    {.label = "peer", .code = "XB-PEER-DIRECT", .say_of_pairs = say_direct},
    {.label = "by kernel", .code = "XB-PEER-BY-KERNEL", .say_of_pairs = say_by_kernel},
    {.label = NULL},
};
