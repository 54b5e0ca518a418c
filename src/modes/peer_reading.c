/* SPDX-License-Identifier: Apache-2.0 */
/* What the Reading says of pairs: direct copies against staged ones, kernels against engines. */
#include "peer_reading.h"

#include "shared_options.h"

#include "xferbench/reading.h"

#include <string.h>

typedef bool choice(const struct xb_record_case *test);

static bool is_staged(const struct xb_record_case *test)
{
    return strcmp(test->variant, "staged") == 0;
}

static bool is_direct(const struct xb_record_case *test)
{
    return !is_staged(test);
}

static bool is_direct_by_kernel(const struct xb_record_case *test)
{
    /* Files from before the option have none. */
    return is_direct(test) && xb_is_by_kernel(xb_record_parameter(test, xb_option_by.name));
}

static bool is_direct_by_engine(const struct xb_record_case *test)
{
    return is_direct(test) && !is_direct_by_kernel(test);
}

/* Two ways to copy in one direction. */
struct ways {
    enum xb_direction direction;
    choice *is_one, *is_other;
};

static bool is_of(const struct xb_reading *reading, const struct xb_record_case *test,
                  const void *argument)
{
    const struct ways *ways = argument;
    return test->peer >= 0 && !test->simultaneous &&
           strcmp(test->direction, xb_direction_name(ways->direction)) == 0 &&
           strcmp(test->mode, "peer") == 0 && xb_reading_usable(reading, test);
}

static int by_pair(const struct xb_record_case *a, const struct xb_record_case *b,
                   const void *argument)
{
    (void)argument;
    return a->device != b->device ? a->device - b->device : a->peer - b->peer;
}

/* What one way is by another: how many times as fast, described over all pairs that have both.
 * False where none has. */
static bool compare(struct xb_reading *reading, uint64_t bytes, const struct ways *ways,
                    struct xb_statistics *factors)
{
    const struct xb_record_cases all = xb_reading_group(reading, bytes, is_of, by_pair, ways);
    for (size_t i = 0, behind = 0; i < all.count; i = behind) {
        const struct xb_record_case *one = NULL;
        const struct xb_record_case *other = NULL;
        behind = i + xb_cases_equal(all.cases + i, all.count - i, by_pair, NULL);
        for (size_t k = i; k < behind; k++) {
            if (ways->is_one(all.cases[k]))
                one = xb_reading_faster(reading, one, all.cases[k]);
            if (ways->is_other(all.cases[k]))
                other = xb_reading_faster(reading, other, all.cases[k]);
        }
        if (one == NULL || other == NULL)
            continue;
        xb_reading_rests_on(reading, one);
        xb_reading_rests_on(reading, other);
        xb_reading_collect(reading, xb_reading_median(reading, one, &xb_figure_bandwidth) /
                                        xb_reading_median(reading, other, &xb_figure_bandwidth));
    }
    return xb_reading_spread(reading, factors);
}

/* "One way, direct copies are 1.50 times as fast as <other> (median of 6 pairs; ...)." */
static void add_sentence(struct xb_reading *reading, enum xb_direction direction, const char *one,
                         const char *other, const struct xb_statistics *factors)
{
    xb_reading_add(reading, "%s, %s are ", direction == XB_BIDIR ? "Both ways at once" : "One way",
                   one);
    xb_reading_add_speed(reading, factors->median);
    xb_reading_add(reading, " as %s", other);
    if (factors->n > 1) {
        xb_reading_add(reading, " (median of %zu pairs; from ", factors->n);
        xb_reading_add_factor(reading, factors->min);
        xb_reading_add(reading, " to ");
        xb_reading_add_factor(reading, factors->max);
        xb_reading_add(reading, ")");
    }
    xb_reading_add(reading, ".");
    xb_reading_number(reading, "ratio", factors->median, XB_UNIT_RATIO);
    xb_reading_number(reading, "ratio_low", factors->min, XB_UNIT_RATIO);
    xb_reading_number(reading, "ratio_high", factors->max, XB_UNIT_RATIO);
    xb_reading_number(reading, "pairs", (double)factors->n, XB_UNIT_RATIO);
}

static bool say_direct(struct xb_reading *reading, enum xb_direction direction, uint64_t bytes)
{
    const struct ways ways = {direction, is_direct, is_staged};
    struct xb_statistics factors;
    if (!compare(reading, bytes, &ways, &factors))
        return false;
    add_sentence(reading, direction, "direct copies", "copies staged through the host", &factors);
    return true;
}

static bool say_by_kernel(struct xb_reading *reading, enum xb_direction direction, uint64_t bytes)
{
    const struct ways ways = {direction, is_direct_by_kernel, is_direct_by_engine};
    struct xb_statistics factors;
    if (!compare(reading, bytes, &ways, &factors))
        return false;
    add_sentence(reading, direction, "direct copies by kernel", "those by copy engine", &factors);
    return true;
}

const struct xb_reading_line xb_peer_reading[] = {
    {.label = "peer", .code = "XB-PEER-DIRECT", .say_of_pairs = say_direct},
    {.label = "by kernel", .code = "XB-PEER-BY-KERNEL", .say_of_pairs = say_by_kernel},
    {.label = NULL},
};
