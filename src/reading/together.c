/* SPDX-License-Identifier: Apache-2.0 */
/* What the Reading says of devices, and of pairs of them, that ran at the same time. */
#include "internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double share_of_alone(const struct xb_reading *reading, const struct xb_record_case *test)
{
    return xb_reading_median(reading, test, &xb_figure_share_of_alone);
}

/* Returns whether the sum and everything in it is usable. */
static bool is_usable(const struct xb_reading *reading, const struct xb_record_case *sum)
{
    size_t count = xb_group_size(reading->record, sum);
    for (size_t i = 0; i <= count; i++)
        if (!xb_reading_usable(reading, &sum[i]))
            return false;
    return count > 0;
}

/* With this share of what it reaches alone a device is as good as alone. */
#define KEEPS 0.95

const struct xb_reading_line xb_reading_together = {.label = "all at once",
                                                    .code = "XB-ALL-AT-ONCE"};

static bool is_usable_sum(const struct xb_reading *reading, const struct xb_record_case *test,
                          const void *argument)
{
    (void)argument;
    return xb_record_is_sum(test) && !xb_case_is_of_pairs(test) && !xb_case_is_of_a_set(test) &&
           xb_reading_usable(reading, test);
}

static int by_kind(const struct xb_record_case *a, const struct xb_record_case *b,
                   const void *argument)
{
    (void)argument;
    return xb_cases_order(a, b, XB_BUT_SIZE);
}

/* " Each GPU keeps 74 % (GPU 1) to 76 % (GPU 0) of what it reaches alone.", from the least up. */
static void add_shares(struct xb_reading *reading, const struct xb_record_case *cases, size_t count)
{
    const struct xb_record_case **sorted = xb_new(count, sizeof(const struct xb_record_case *));
    size_t known = 0;
    for (size_t i = 0; i < count; i++) {
        double share = share_of_alone(reading, &cases[i]);
        size_t at = known;
        if (!(share > 0))
            continue;
        for (; at > 0 && share_of_alone(reading, sorted[at - 1]) > share; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = &cases[i];
        known++;
    }
    for (size_t i = 0; i < known; i++) {
        char name[40];
        snprintf(name, sizeof name, "share_of_alone_%d", sorted[i]->device);
        xb_tell(reading, "{+share:*}{case}", share_of_alone(reading, sorted[i]), name, sorted[i]);
    }
    if (known > 0) {
        double low = share_of_alone(reading, sorted[0]);
        double high = share_of_alone(reading, sorted[known - 1]);
        bool keeps = low >= KEEPS;
        xb_tell(reading, " Each GPU keeps {text}{share}", keeps ? "its speed: " : "", low);
        if (lround(100 * low) != lround(100 * high))
            xb_tell(reading, " (GPU {whole}) to {share} (GPU {whole})", (double)sorted[0]->device,
                    high, (double)sorted[known - 1]->device);
        xb_tell(reading, " of what it reaches alone{text}.",
                known < count ? ", as far as that was measured" : "");
        reading->entry.is_fine = keeps && known == count;
    }
    free(sorted);
}

void xb_reading_say_together(struct xb_reading *reading)
{
    reading->bytes = 0; /* of all sizes */
    const struct xb_record_cases sums = xb_reading_group(reading, is_usable_sum, by_kind, NULL);
    for (size_t i = 0, behind = 0; i < sums.count; i = behind) {
        const struct xb_record_case *sum = sums.cases[i];
        behind = i + xb_cases_equal(sums.cases + i, sums.count - i, by_kind, NULL);
        for (size_t k = i; k < behind; k++)
            sum = sums.cases[k]->bytes > sum->bytes ? sums.cases[k] : sum; /* the largest */
        if (!is_usable(reading, sum))
            continue;
        size_t count = xb_group_size(reading->record, sum);
        double overlap = xb_reading_median(reading, sum, &xb_figure_overlap);
        xb_reading_begin(reading, xb_reading_together.label, xb_reading_together.code, -1,
                         sum->bytes);
        xb_tell(reading,
                "{name} moves {rate=bandwidth} GB/s {text} {whole:devices} GPUs at once."
                "[{+share=overlap}]",
                sum,
                xb_reading_goes(sum, XB_H2D)   ? "to"
                : xb_reading_goes(sum, XB_D2H) ? "back from"
                                               : "both ways with",
                (double)count);
        add_shares(reading, sum + 1, count);
        if (overlap > 0 && overlap < KEEPS)
            xb_tell(reading,
                    " The copies overlapped for only {part} of the time, so this sum is too low.",
                    overlap);
        xb_reading_keep(reading);
    }
}

const struct xb_reading_line xb_reading_set = {.label = "transfers", .code = "XB-TRANSFERS"};

/* "gpu:0 > gpu:1 1 GiB", without its number. */
static const char *transfer_of(const struct xb_record_case *test)
{
    const char *text = xb_record_parameter(test, XB_RECORD_TRANSFER);
    const char *behind = strstr(text, ": ");
    return behind != NULL ? behind + 2 : text;
}

/* Which transfer of a set keeps the least of its speed, and which the most. */
void xb_reading_say_set(struct xb_reading *reading)
{
    reading->bytes = 0; /* of all sizes */
    XB_EACH_CASE (sum, reading->record) {
        const struct xb_record_case *least = NULL, *most = NULL;
        double low = (double)INFINITY, high = 0;
        bool all_known = true;
        size_t count = xb_case_is_of_a_set(sum) ? xb_group_size(reading->record, sum) : 0;
        if (count == 0 || !xb_record_is_sum(sum) ||
            !xb_reading_has(reading, sum, &xb_figure_bandwidth))
            continue;
        xb_reading_begin(reading, xb_reading_set.label, xb_reading_set.code, -1, 0);
        xb_tell(reading, "{case}{whole:transfers} transfers at once move {rate=bandwidth} GB/s.",
                sum, (double)count);
        for (size_t i = 1; i <= count; i++) {
            double share = share_of_alone(reading, &sum[i]);
            char name[40];
            snprintf(name, sizeof name, "share_of_alone_%zu", i);
            all_known = all_known && share > 0;
            if (!(share > 0))
                continue;
            xb_tell(reading, "{+share:*}{case}", share, name, &sum[i]);
            least = share < low ? &sum[i] : least;
            most = share > high ? &sum[i] : most;
            low = fmin(low, share);
            high = fmax(high, share);
        }
        reading->entry.is_fine = all_known && low >= KEEPS;
        if (reading->entry.is_fine)
            xb_tell(reading, " Each keeps its speed: {share} of what it has alone, or more.", low);
        else if (least != NULL)
            xb_tell(reading, " {text} keeps {share} of what it has alone[, {text} {share}].",
                    transfer_of(least), low, most != least ? transfer_of(most) : NULL, high);
        xb_reading_keep(reading);
    }
}

/* Groups of pairs that use the same way. */
struct groups {
    const struct xb_record_case *const *sums; /* of each of them */
    size_t count;
    size_t pairs;               /* of each; 0: not of all the same number */
    struct xb_statistics rates; /* of all their sums */
};

/* Whether it is a sum to be spoken of, of a group of that name. */
static bool is_candidate(const struct xb_reading *reading, const struct xb_record_case *test,
                         const void *group)
{
    return xb_record_is_sum(test) &&
           strcmp(xb_record_parameter(test, XB_RECORD_GROUP), group) == 0 &&
           is_usable(reading, test);
}

static int by_way(const struct xb_record_case *a, const struct xb_record_case *b,
                  const void *argument)
{
    (void)argument;
    return xb_cases_order(a, b, XB_BUT_DEVICES);
}

/* The fastest way, by the median over its groups. None where there is none. */
static struct groups find_fastest(struct xb_reading *reading)
{
    const struct xb_record *record = reading->record;
    const struct xb_record_cases sums =
        xb_reading_group(reading, is_candidate, by_way, reading->about);
    struct groups best = {.count = 0};
    for (size_t i = 0, equal = 0; i < sums.count; i += equal) {
        equal = xb_cases_equal(sums.cases + i, sums.count - i, by_way, NULL);
        struct groups found = {
            .sums = sums.cases + i, .count = equal, .pairs = xb_group_size(record, sums.cases[i])};
        for (size_t k = 0; k < equal; k++) {
            xb_reading_collect(reading, xb_reading_bandwidth(reading, found.sums[k]));
            if (xb_group_size(record, found.sums[k]) != found.pairs)
                found.pairs = 0;
        }
        if (xb_reading_spread(reading, &found.rates) &&
            (best.count == 0 || found.rates.median > best.rates.median))
            best = found;
    }
    return best;
}

/* Tells of the fastest groups of the kind that the line is about. */
void xb_reading_say_group(struct xb_reading *reading)
{
    if (reading->direction != XB_D2D)
        return;
    const struct groups groups = find_fastest(reading);
    const struct xb_statistics *rates = &groups.rates;
    struct xb_statistics shares;
    if (groups.count == 0)
        return;
    char many[24];
    snprintf(many, sizeof many, groups.pairs > 0 ? "%zu" : "several", groups.pairs);
    if (strcmp(reading->about, "one-to-all") == 0)
        xb_tell(reading, "One GPU sends {rate} GB/s to {text} others together", rates->median,
                many);
    else
        xb_tell(reading,
                strcmp(reading->about, "all-to-one") == 0
                    ? "{text} GPUs send {rate} GB/s to another together"
                    : "{text} pairs at once copy {rate} GB/s together",
                many, rates->median);
    xb_tell(reading, " ({name}", groups.sums[0]);
    if (rates->n > 1)
        xb_tell(reading, "; the median of {whole}, {rate} to {rate}", (double)rates->n, rates->min,
                rates->max);
    xb_tell(reading,
            ").{+rate:bandwidth}{+rate:bandwidth_low}{+rate:bandwidth_high}{+whole:groups}",
            rates->median, rates->min, rates->max, (double)rates->n);
    for (size_t i = 0; i < groups.count; i++)
        xb_reading_rests_on(reading, groups.sums[i]);
    /* What the pairs of all those groups keep of what each has alone: the median. */
    for (size_t k = 0; k < groups.count; k++)
        for (size_t i = xb_group_size(reading->record, groups.sums[k]); i > 0; i--) {
            double share = share_of_alone(reading, &groups.sums[k][i]);
            if (!(share > 0))
                continue;
            xb_reading_collect(reading, share);
            xb_reading_rests_on(reading, &groups.sums[k][i]);
        }
    if (!xb_reading_spread(reading, &shares))
        return;
    bool differs = lround(100 * shares.min) != lround(100 * shares.max);
    xb_tell(reading,
            " Each pair gets {share}[ to {share}] of what it gets alone.{+share:share_of_alone}",
            shares.min, differs ? shares.max : (double)NAN, shares.median);
}
