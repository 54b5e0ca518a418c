/* SPDX-License-Identifier: Apache-2.0 */
/* What the Reading says of pairs: direct copies against staged ones, kernels against engines. */
#include "peer_reading.h"

#include "shared_options.h"

#include "xferbench/reading.h"

#include <string.h>

static bool is_of(const struct xb_reading *reading, const struct xb_record_case *test,
                  enum xb_direction direction, uint64_t bytes)
{
    return test->peer >= 0 && !test->simultaneous && test->bytes == bytes &&
           strcmp(test->direction, xb_direction_name(direction)) == 0 &&
           strcmp(test->mode, "peer") == 0 && xb_reading_usable(reading, test);
}

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

/* The fastest case of that pair, direction and size that `is_one` chooses. */
static const struct xb_record_case *fastest(const struct xb_reading *reading,
                                            const struct xb_record_case *of,
                                            enum xb_direction direction, choice *is_one)
{
    const struct xb_record *record = xb_reading_record(reading);
    const struct xb_record_case *best = NULL;
    for (size_t i = 0; i < record->case_count; i++) {
        const struct xb_record_case *test = &record->cases[i];
        if (test->device == of->device && test->peer == of->peer &&
            is_of(reading, test, direction, of->bytes) && is_one(test))
            best = xb_reading_faster(reading, best, test);
    }
    return best;
}

/* What one way is by another: how many times as fast, described over all pairs that have both.
 * False where none has. */
static bool compare(struct xb_reading *reading, enum xb_direction direction, uint64_t bytes,
                    choice *is_one, choice *is_other, struct xb_statistics *factors)
{
    const struct xb_record *record = xb_reading_record(reading);
    for (size_t i = 0; i < record->case_count; i++) {
        const struct xb_record_case *other = &record->cases[i];
        if (!is_other(other) || !is_of(reading, other, direction, bytes) ||
            fastest(reading, other, direction, is_other) != other)
            continue;
        const struct xb_record_case *one = fastest(reading, other, direction, is_one);
        if (one == NULL)
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
    struct xb_statistics factors;
    if (!compare(reading, direction, bytes, is_direct, is_staged, &factors))
        return false;
    add_sentence(reading, direction, "direct copies", "copies staged through the host", &factors);
    return true;
}

static bool say_by_kernel(struct xb_reading *reading, enum xb_direction direction, uint64_t bytes)
{
    struct xb_statistics factors;
    if (!compare(reading, direction, bytes, is_direct_by_kernel, is_direct_by_engine, &factors))
        return false;
    add_sentence(reading, direction, "direct copies by kernel", "those by copy engine", &factors);
    return true;
}

const struct xb_reading_line xb_peer_reading[] = {
    {.label = "peer", .code = "XB-PEER-DIRECT", .say_of_pairs = say_direct},
    {.label = "by kernel", .code = "XB-PEER-BY-KERNEL", .say_of_pairs = say_by_kernel},
    {.label = NULL},
};
