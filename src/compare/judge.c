/* SPDX-License-Identifier: Apache-2.0 */
/* One figure of one case in both files; docs/compare.md tells the rules. */
#include "internal.h"

#include "rank_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The processes' medians of either side, as they are, then their logarithms: a ratio is a shift of
 * those. */
struct sides {
    double first[XB_RECORD_PROCESSES], second[XB_RECORD_PROCESSES];
    size_t n, m;
};

/* ---- figures that are not of one kind ---- */

/* A clock, where all rows that have figures have the same; NULL where they have not. */
static const char *timer_of(const struct xb_record *record, const struct xb_record_case *test)
{
    const char *timer = NULL;
    for (size_t i = 0; i < record->process_count; i++) {
        const char *own = test->rows[i].timer;
        if (own != NULL && timer != NULL && strcmp(own, timer) != 0)
            return NULL;
        timer = own != NULL ? own : timer;
    }
    return timer;
}

/* Figures of different clocks are different things. */
static bool judge_by_clock(const struct xb_comparison *comparison, const struct xb_pair *pair,
                           struct xb_compared *compared)
{
    const char *before = timer_of(comparison->baseline, pair->baseline);
    const char *after = timer_of(comparison->candidate, pair->candidate);
    bool both = compared->baseline_n > 0 && compared->candidate_n > 0;
    bool same = before != NULL && after != NULL && strcmp(before, after) == 0;
    if (both && same)
        return false;
    xb_compared_conclude(compared, XB_BASIS_STATUS, XB_OUTCOME_INCONCLUSIVE);
    if (same)
        xb_compared_note(compared, "the %s has no %s",
                         compared->baseline_n == 0 ? "baseline" : "candidate",
                         compared->figure.name);
    else
        xb_compared_note(compared,
                         "not timed by the same clock: %s in the baseline, %s in the candidate",
                         before != NULL ? before : "not always the same",
                         after != NULL ? after : "not always the same");
    return true;
}

/* Whether the file's figure of that name is another one: a mode may have changed what it means. */
static bool is_of_another_kind(const struct xb_record *record, const struct xb_record_case *test,
                               const struct xb_figure *figure)
{
    for (size_t i = 0; i < record->process_count; i++) {
        const struct xb_record_figure *own = xb_record_row_figure(&test->rows[i], figure->name);
        if (own != NULL &&
            (strcmp(own->unit, figure->unit) != 0 || own->more_is_better != figure->more_is_better))
            return true;
    }
    return false;
}

static bool judge_by_kind(const struct xb_comparison *comparison, const struct xb_pair *pair,
                          struct xb_compared *compared)
{
    if (!is_of_another_kind(comparison->baseline, pair->baseline, &compared->figure) &&
        !is_of_another_kind(comparison->candidate, pair->candidate, &compared->figure))
        return false;
    xb_compared_conclude(compared, XB_BASIS_STATUS, XB_OUTCOME_INCONCLUSIVE);
    xb_compared_note(compared,
                     "%s does not mean the same in both files: its unit differs, or more of it is "
                     "better in one only",
                     compared->figure.name);
    return true;
}

/* How many values have no logarithm: of a rate or a time there is none, but a share may be 0. */
static size_t count_without_ratio(const double *values, size_t count)
{
    size_t without = 0;
    for (size_t i = 0; i < count; i++)
        without += !(values[i] > 0.0 && isfinite(values[i]));
    return without;
}

static bool judge_by_value(const struct sides *sides, struct xb_compared *compared)
{
    size_t before = count_without_ratio(sides->first, sides->n);
    size_t after = count_without_ratio(sides->second, sides->m);
    if (before + after == 0)
        return false;
    xb_compared_conclude(compared, XB_BASIS_STATUS, XB_OUTCOME_INCONCLUSIVE);
    xb_compared_note(compared,
                     "%s is not above 0 in %zu of %zu processes of the %s: there is no ratio",
                     compared->figure.name, after > 0 ? after : before,
                     after > 0 ? sides->m : sides->n, after > 0 ? "candidate" : "baseline");
    return true;
}

/* ---- ratios ---- */

static double median_of(const double *values, size_t count)
{
    double copy[XB_RECORD_PROCESSES];
    memcpy(copy, values, count * sizeof *values);
    return xb_median_of(copy, count);
}

static void take_logarithms(double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        values[i] = log(values[i]);
}

/* What the one process that counts says of the figure: there is such a process. */
static const struct xb_statistics *only_statistics(const struct xb_record_case *test,
                                                   const struct xb_compared *compared)
{
    const struct xb_record_row *row = test->rows;
    while (!xb_record_row_counts(row) || xb_record_row_figure(row, compared->figure.name) == NULL)
        row++;
    return &xb_record_row_figure(row, compared->figure.name)->statistics;
}

/* One process a side: the worst that the intervals within each allow. */
static void interval_of_samples(const struct xb_pair *pair, struct xb_compared *compared)
{
    const struct xb_statistics *before = only_statistics(pair->baseline, compared);
    const struct xb_statistics *after = only_statistics(pair->candidate, compared);
    compared->has_interval = before->has_interval && after->has_interval;
    if (!compared->has_interval)
        return;
    compared->low = after->ci95_low / before->ci95_high;
    compared->high = after->ci95_high / before->ci95_low;
}

static enum xb_status estimate_ratio(const struct xb_comparison *comparison,
                                     const struct xb_pair *pair, const struct sides *sides,
                                     struct xb_compared *compared, struct xb_error *error)
{
    struct xb_shift shift;
    XB_TRY(xb_shift_estimate(sides->first, sides->n, sides->second, sides->m,
                             comparison->request.alpha, &shift, error));
    compared->has_ratio = true;
    compared->ratio = exp(shift.estimate);
    if (sides->n == 1 && sides->m == 1) {
        interval_of_samples(pair, compared);
        return XB_OK;
    }
    compared->has_interval = true;
    compared->low = exp(shift.low);
    compared->high = exp(shift.high);
    compared->confidence = 1.0 - 2.0 * shift.tail;
    return XB_OK;
}

/*
 * Wider than what taking logarithms rounds, and far too narrow for anybody's threshold: a ratio
 * that is the bound is one, to whichever side it was rounded, and speaks for neither.
 */
#define ROUNDING 1e-12

/* P for "the ratio is `bound` or more", or "or less". */
static enum xb_status probability(const struct sides *sides, double bound, bool or_more, double *p,
                                  struct xb_error *error)
{
    return or_more ? xb_shift_probability(sides->first, sides->n, sides->second, sides->m,
                                          log(bound) - ROUNDING, p, error)
                   : xb_shift_probability(sides->second, sides->m, sides->first, sides->n,
                                          -log(bound) - ROUNDING, p, error);
}

/*
 * The test is about the typical process: one of eight at a tenth of its rate can pass it. So a
 * minority that is worse, by the threshold, than every process of the baseline is told of.
 */
static void note_stragglers(const struct sides *sides, struct xb_compared *compared)
{
    double sign = compared->figure.more_is_better ? 1.0 : -1.0;
    double margin = -log(1.0 - sign * compared->threshold); /* above 0 for more */
    double worst = sides->first[0];
    size_t count = 0;
    for (size_t i = 1; i < sides->n; i++)
        worst = sign * sides->first[i] < sign * worst ? sides->first[i] : worst;
    for (size_t i = 0; i < sides->m; i++)
        count += sign * sides->second[i] < sign * (worst - margin);
    if (count > 0 && 2 * count < sides->m && compared->note[0] == '\0')
        xb_compared_note(
            compared,
            "%zu of %zu processes of the candidate are worse by %g %% or more than the baseline's "
            "worst",
            count, sides->m, 100.0 * compared->threshold);
}

enum xb_status xb_judge_measure(const struct xb_comparison *comparison, const struct xb_pair *pair,
                                struct xb_compared *compared, struct xb_error *error)
{
    struct sides sides = {.n = 0};
    if (pair->baseline != NULL)
        sides.n = xb_record_medians(comparison->baseline, pair->baseline, compared->figure.name,
                                    sides.first);
    if (pair->candidate != NULL)
        sides.m = xb_record_medians(comparison->candidate, pair->candidate, compared->figure.name,
                                    sides.second);
    compared->p_regression = compared->p_improved = compared->p_pass = 1.0;
    compared->baseline_n = sides.n;
    compared->candidate_n = sides.m;
    compared->baseline_median = median_of(sides.first, sides.n);
    compared->candidate_median = median_of(sides.second, sides.m);
    if (xb_judge_by_status(comparison, pair, compared) || pair->baseline == NULL ||
        pair->candidate == NULL) /* one without the other is judged by its status alone */
        return XB_OK;
    if (judge_by_clock(comparison, pair, compared) || judge_by_kind(comparison, pair, compared) ||
        judge_by_value(&sides, compared))
        return XB_OK;
    compared->basis = XB_BASIS_TEST;
    take_logarithms(sides.first, sides.n);
    take_logarithms(sides.second, sides.m);
    note_stragglers(&sides, compared);
    XB_TRY(estimate_ratio(comparison, pair, &sides, compared, error));
    /* Each P is small where its claim holds: what it refutes is the contrary. */
    bool more = compared->figure.more_is_better;
    double sign = more ? 1.0 : -1.0;
    double worse = 1.0 - sign * compared->threshold, better = 1.0 + sign * compared->threshold;
    XB_TRY(probability(&sides, worse, more, &compared->p_regression, error));
    XB_TRY(probability(&sides, worse, !more, &compared->p_pass, error));
    return probability(&sides, better, !more, &compared->p_improved, error);
}
