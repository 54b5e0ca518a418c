/* SPDX-License-Identifier: Apache-2.0 */
/* What the Reading says of pairs of devices that ran at the same time. */
#include "internal.h"

#include "record/rows.h"

/* Those of one way that there is most to say of. */
struct groups {
    const struct xb_record_case *const *sums; /* of each of them */
    size_t count;
    size_t pairs;               /* of each; 0: not of all the same number */
    struct xb_statistics rates; /* of all their sums */
};

/* Whether every pair of the sum is usable, and the sum itself. */
static bool is_usable(const struct xb_reading *reading, const struct xb_record_case *sum)
{
    size_t count = xb_group_size(xb_reading_record(reading), sum);
    for (size_t i = 0; i <= count; i++)
        if (!xb_reading_usable(reading, &sum[i]))
            return false;
    return count > 0;
}

/* Whether it is such a sum that can be spoken of, of pairs that end at one device or begin there.
 */
static bool is_candidate(const struct xb_reading *reading, const struct xb_record_case *test,
                         const void *to_one)
{
    return xb_record_is_sum(test) && xb_case_is_of_pairs(test) &&
           (test->device < 0) == *(const bool *)to_one && is_usable(reading, test);
}

static int by_way(const struct xb_record_case *a, const struct xb_record_case *b,
                  const void *argument)
{
    (void)argument;
    return xb_cases_order(a, b, XB_BUT_DEVICES);
}

static struct groups look_at(struct xb_reading *reading, const struct xb_record_case *const *sums,
                             size_t count)
{
    const struct xb_record *record = xb_reading_record(reading);
    struct groups groups = {sums, count, .pairs = xb_group_size(record, sums[0])};
    for (size_t i = 0; i < count; i++) {
        xb_reading_collect(reading, xb_reading_bandwidth(reading, sums[i]));
        if (xb_group_size(record, sums[i]) != groups.pairs)
            groups.pairs = 0;
    }
    if (!xb_reading_spread(reading, &groups.rates))
        groups.count = 0;
    return groups;
}

/* The fastest way, by the median over its groups. None where there is none. */
static struct groups find_fastest(struct xb_reading *reading, bool to_one, uint64_t bytes)
{
    const struct xb_record_cases sums =
        xb_reading_group(reading, bytes, is_candidate, by_way, &to_one);
    struct groups best = {.count = 0};
    for (size_t i = 0, equal = 0; i < sums.count; i += equal) {
        equal = xb_cases_equal(sums.cases + i, sums.count - i, by_way, NULL);
        struct groups found = look_at(reading, sums.cases + i, equal);
        if (found.count > 0 && (best.count == 0 || found.rates.median > best.rates.median))
            best = found;
    }
    return best;
}

/* What the pairs of all those groups keep of what each has alone: the median. */
static void add_share(struct xb_reading *reading, const struct groups *groups)
{
    struct xb_statistics shares;
    for (size_t k = 0; k < groups->count; k++)
        for (size_t i = xb_group_size(reading->record, groups->sums[k]); i > 0; i--) {
            const struct xb_record_case *pair = &groups->sums[k][i];
            double share = xb_reading_median(reading, pair, &xb_figure_share_of_alone);
            if (!(share > 0))
                continue;
            xb_reading_collect(reading, share);
            xb_reading_rests_on(reading, pair);
        }
    if (!xb_reading_spread(reading, &shares))
        return;
    xb_reading_add(reading, " A pair keeps ");
    xb_reading_add_share(reading, shares.median);
    xb_reading_add(reading, " of what it has alone%s.", shares.n > 1 ? " (median)" : "");
    xb_reading_number(reading, "share_of_alone", shares.median, XB_UNIT_RATIO);
}

static bool say(struct xb_reading *reading, bool to_one, uint64_t bytes)
{
    const struct groups groups = find_fastest(reading, to_one, bytes);
    char others[32] = "others";
    if (groups.count == 0)
        return false;
    if (groups.pairs > 0)
        snprintf(others, sizeof others, "%zu others", groups.pairs);
    xb_reading_add_name(reading, groups.sums[0]);
    xb_reading_add(reading, " moves ");
    xb_reading_add_rate(reading, groups.rates.median);
    xb_reading_add(reading, " GB/s from %s to %s at once", to_one ? others : "one device",
                   to_one ? "one device" : others);
    if (groups.rates.n > 1) {
        xb_reading_add(reading, " (median of %zu; from ", groups.rates.n);
        xb_reading_add_rate(reading, groups.rates.min);
        xb_reading_add(reading, " to ");
        xb_reading_add_rate(reading, groups.rates.max);
        xb_reading_add(reading, ")");
    }
    xb_reading_add(reading, ".");
    xb_reading_number(reading, "bandwidth", groups.rates.median, XB_UNIT_RATE);
    xb_reading_number(reading, "bandwidth_low", groups.rates.min, XB_UNIT_RATE);
    xb_reading_number(reading, "bandwidth_high", groups.rates.max, XB_UNIT_RATE);
    xb_reading_number(reading, "groups", (double)groups.rates.n, XB_UNIT_RATIO);
    for (size_t i = 0; i < groups.count; i++)
        xb_reading_rests_on(reading, groups.sums[i]);
    add_share(reading, &groups);
    return true;
}

bool xb_reading_say_one_to_all(struct xb_reading *reading, enum xb_direction direction,
                               uint64_t bytes)
{
    (void)direction;
    return say(reading, false, bytes);
}

bool xb_reading_say_all_to_one(struct xb_reading *reading, enum xb_direction direction,
                               uint64_t bytes)
{
    (void)direction;
    return say(reading, true, bytes);
}
