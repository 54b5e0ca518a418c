/* SPDX-License-Identifier: Apache-2.0 */
/* What the Reading says of pairs of devices that ran at the same time. */
#include "internal.h"

#include "record/rows.h"

/* Those of one kind that there is most to say of. */
struct groups {
    const struct xb_record_case *sum; /* the first of them */
    size_t pairs;                     /* of each; 0: not of all the same number */
    struct xb_statistics rates;       /* of all their sums */
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
                         bool to_one, uint64_t bytes)
{
    return xb_record_is_sum(test) && xb_case_is_of_pairs(test) && test->bytes == bytes &&
           (test->device < 0) == to_one && is_usable(reading, test);
}

/* The first of the same way as *first from the case of that index on; NULL for none. */
static const struct xb_record_case *find_alike(const struct xb_reading *reading, size_t index,
                                               const struct xb_record_case *first, bool to_one)
{
    const struct xb_record *record = xb_reading_record(reading);
    for (; index < record->case_count; index++) {
        const struct xb_record_case *test = &record->cases[index];
        if (is_candidate(reading, test, to_one, first->bytes) && xb_cases_alike(test, first))
            return test;
    }
    return NULL;
}

static const struct xb_record_case *find_next(const struct xb_reading *reading,
                                              const struct xb_record_case *last, bool to_one)
{
    size_t index = (size_t)(last - xb_reading_record(reading)->cases);
    return find_alike(reading, index + 1, last, to_one);
}

static struct groups look_at(struct xb_reading *reading, const struct xb_record_case *first,
                             bool to_one)
{
    const struct xb_record *record = xb_reading_record(reading);
    struct groups groups = {.sum = first, .pairs = xb_group_size(record, first)};
    for (const struct xb_record_case *sum = first; sum != NULL;
         sum = find_next(reading, sum, to_one)) {
        xb_reading_collect(reading, xb_reading_bandwidth(reading, sum));
        if (xb_group_size(record, sum) != groups.pairs)
            groups.pairs = 0;
    }
    if (!xb_reading_spread(reading, &groups.rates))
        groups.sum = NULL;
    return groups;
}

/* The fastest way, by the median over its groups. Its sum is NULL where there is none. */
static struct groups find_fastest(struct xb_reading *reading, bool to_one, uint64_t bytes)
{
    const struct xb_record *record = xb_reading_record(reading);
    struct groups best = {.sum = NULL};
    for (size_t i = 0; i < record->case_count; i++) {
        const struct xb_record_case *test = &record->cases[i];
        if (!is_candidate(reading, test, to_one, bytes) ||
            find_alike(reading, 0, test, to_one) != test)
            continue;
        struct groups found = look_at(reading, test, to_one);
        if (found.sum != NULL && (best.sum == NULL || found.rates.median > best.rates.median))
            best = found;
    }
    return best;
}

/* What the pairs of all those groups keep of what each has alone: the median. */
static void add_share(struct xb_reading *reading, const struct groups *groups, bool to_one)
{
    struct xb_statistics shares;
    for (const struct xb_record_case *sum = groups->sum; sum != NULL;
         sum = find_next(reading, sum, to_one))
        for (size_t i = xb_group_size(xb_reading_record(reading), sum); i > 0; i--) {
            double share = xb_reading_median(reading, &sum[i], &xb_figure_share_of_alone);
            if (!(share > 0))
                continue;
            xb_reading_collect(reading, share);
            xb_reading_rests_on(reading, &sum[i]);
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
    struct groups groups = find_fastest(reading, to_one, bytes);
    char others[32] = "others";
    if (groups.sum == NULL)
        return false;
    if (groups.pairs > 0)
        snprintf(others, sizeof others, "%zu others", groups.pairs);
    xb_reading_add_name(reading, groups.sum);
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
    for (const struct xb_record_case *sum = groups.sum; sum != NULL;
         sum = find_next(reading, sum, to_one))
        xb_reading_rests_on(reading, sum);
    add_share(reading, &groups, to_one);
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
