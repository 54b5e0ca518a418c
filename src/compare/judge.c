/* SPDX-License-Identifier: Apache-2.0 */
/* One figure of one case in both files, and from what was found of all of them to verdicts;
 * docs/compare.md tells the rules. */
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

/* How many values have no logarithm: of a rate or a time there is none, but a share may be 0. */
static size_t count_without_ratio(const double *values, size_t count)
{
    size_t without = 0;
    for (size_t i = 0; i < count; i++)
        without += !(values[i] > 0.0 && isfinite(values[i]));
    return without;
}

/* Whether the figures cannot be judged, with a note why. Different clocks measure different
 * things. */
static bool is_incomparable(const struct xb_comparison *comparison, const struct xb_pair *pair,
                            const struct sides *sides, struct xb_compared *compared)
{
    const char *name = compared->figure.name;
    const char *timer = timer_of(comparison->baseline, pair->baseline);
    const char *other = timer_of(comparison->candidate, pair->candidate);
    size_t before = count_without_ratio(sides->first, sides->n);
    size_t after = count_without_ratio(sides->second, sides->m);
    if (timer == NULL || other == NULL || strcmp(timer, other) != 0)
        xb_compared_note(compared,
                         "not timed by the same clock: %s in the baseline, %s in the candidate",
                         timer != NULL ? timer : "not always the same",
                         other != NULL ? other : "not always the same");
    else if (sides->n == 0 || sides->m == 0)
        xb_compared_note(compared, "the %s has no %s", sides->n == 0 ? "baseline" : "candidate",
                         name);
    else if (is_of_another_kind(comparison->baseline, pair->baseline, &compared->figure) ||
             is_of_another_kind(comparison->candidate, pair->candidate, &compared->figure))
        xb_compared_note(compared,
                         "%s does not mean the same in both files: its unit differs, or more of it "
                         "is better in one only",
                         name);
    else if (before + after > 0)
        xb_compared_note(compared,
                         "%s is not above 0 in %zu of %zu processes of the %s: there is no ratio",
                         name, after > 0 ? after : before, after > 0 ? sides->m : sides->n,
                         after > 0 ? "candidate" : "baseline");
    else
        return false;
    return true;
}

/* ---- ratios ---- */

static double median_of(const double *values, size_t count)
{
    double copy[XB_RECORD_PROCESSES];
    memcpy(copy, values, count * sizeof *values);
    return count > 0 ? xb_median_of(copy, count) : (double)NAN;
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

static void estimate_ratio(const struct xb_comparison *comparison, const struct xb_pair *pair,
                           const struct sides *sides, struct xb_compared *compared)
{
    struct xb_shift shift = xb_shift_estimate(sides->first, sides->n, sides->second, sides->m,
                                              comparison->request.alpha);
    compared->has_ratio = true;
    compared->ratio = exp(shift.estimate);
    if (sides->n == 1 && sides->m == 1) {
        /* One process a side: the worst that the intervals within each allow. */
        const struct xb_statistics *before = only_statistics(pair->baseline, compared);
        const struct xb_statistics *after = only_statistics(pair->candidate, compared);
        compared->has_interval = before->has_interval && after->has_interval;
        if (!compared->has_interval)
            return;
        compared->low = after->ci95_low / before->ci95_high;
        compared->high = after->ci95_high / before->ci95_low;
        return;
    }
    compared->has_interval = true;
    compared->low = exp(shift.low);
    compared->high = exp(shift.high);
    compared->confidence = 1.0 - 2.0 * shift.tail;
}

/*
 * Wider than what taking logarithms rounds, and far too narrow for anybody's threshold: a ratio
 * that is the bound is one, to whichever side it was rounded, and speaks for neither.
 */
#define ROUNDING 1e-12

/* P for "the ratio is `bound` or more", or "or less". */
static double probability(const struct sides *sides, double bound, bool or_more)
{
    return or_more ? xb_shift_probability(sides->first, sides->n, sides->second, sides->m,
                                          log(bound) - ROUNDING)
                   : xb_shift_probability(sides->second, sides->m, sides->first, sides->n,
                                          -log(bound) - ROUNDING);
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

void xb_judge_measure(const struct xb_comparison *comparison, const struct xb_pair *pair,
                      struct xb_compared *compared)
{
    struct sides sides = {.n = 0};
    if (pair->baseline != NULL)
        sides.n = xb_record_medians(comparison->baseline, pair->baseline, compared->figure.name,
                                    sides.first);
    if (pair->candidate != NULL)
        sides.m = xb_record_medians(comparison->candidate, pair->candidate, compared->figure.name,
                                    sides.second);
    compared->p_regression = compared->p_improved = compared->p_pass = 1.0;
    compared->baseline =
        (struct xb_compared_side){pair->baseline != NULL, sides.n, median_of(sides.first, sides.n)};
    compared->candidate = (struct xb_compared_side){pair->candidate != NULL, sides.m,
                                                    median_of(sides.second, sides.m)};
    if (xb_judge_by_status(comparison, pair, compared) || pair->baseline == NULL ||
        pair->candidate == NULL) /* one without the other is judged by its status alone */
        return;
    compared->basis = XB_BASIS_STATUS;
    compared->outcome = XB_OUTCOME_INCONCLUSIVE;
    if (is_incomparable(comparison, pair, &sides, compared))
        return;
    compared->basis = XB_BASIS_TEST;
    for (size_t i = 0; i < sides.n; i++)
        sides.first[i] = log(sides.first[i]);
    for (size_t i = 0; i < sides.m; i++)
        sides.second[i] = log(sides.second[i]);
    note_stragglers(&sides, compared);
    estimate_ratio(comparison, pair, &sides, compared);
    /* Each P is small where its claim holds: what it refutes is the contrary. */
    bool more = compared->figure.more_is_better;
    double sign = more ? 1.0 : -1.0;
    double worse = 1.0 - sign * compared->threshold, better = 1.0 + sign * compared->threshold;
    compared->p_regression = probability(&sides, worse, more);
    compared->p_pass = probability(&sides, worse, !more);
    compared->p_improved = probability(&sides, better, !more);
}

/* ---- verdicts, now that it is known how many figures gate ---- */

/* Judged by figures, and one of those that share alpha. */
static bool is_gating_test(const struct xb_compared *compared)
{
    return compared->gates && compared->basis == XB_BASIS_TEST;
}

/* Adjusts what may be claimed of each gating test, of which there are so many, by Holm. */
static void adjust(struct xb_comparison *comparison, size_t tests)
{
    double *worse = xb_new(tests, sizeof *worse), *better = xb_new(tests, sizeof *better);
    size_t count = 0;
    for (size_t i = 0; i < comparison->case_count; i++)
        if (is_gating_test(&comparison->cases[i])) {
            worse[count] = comparison->cases[i].p_regression;
            better[count++] = comparison->cases[i].p_improved;
        }
    xb_holm_adjust(worse, count);
    xb_holm_adjust(better, count);
    for (size_t i = comparison->case_count; i-- > 0;)
        if (is_gating_test(&comparison->cases[i])) {
            comparison->cases[i].p_regression = worse[--count];
            comparison->cases[i].p_improved = better[count];
        }
    free(worse);
    free(better);
}

/* Where the interval lies; where there is none, the ratio. */
static enum xb_outcome indicated(const struct xb_compared *compared)
{
    double threshold = compared->threshold;
    double low = compared->has_interval ? compared->low : compared->ratio;
    double high = compared->has_interval ? compared->high : compared->ratio;
    bool more = compared->figure.more_is_better;
    bool under = high < 1.0 - threshold; /* all of it */
    bool over = low > 1.0 + threshold;
    bool not_under = low > 1.0 - threshold;
    bool not_over = high < 1.0 + threshold;
    if (more ? under : over)
        return XB_OUTCOME_REGRESSION;
    if (more ? over : under)
        return XB_OUTCOME_IMPROVED;
    return (more ? not_under : not_over) ? XB_OUTCOME_PASS : XB_OUTCOME_INCONCLUSIVE;
}

static void judge(struct xb_compared *compared, size_t tests, double alpha)
{
    /* That the smaller side has many opposite it is no help: where it scatters more, one against a
     * hundred would be wrong far more often than alpha. */
    size_t needed = xb_rank_values_needed(tests, alpha);
    if (needed > 0 && xb_compared_processes(compared) >= needed) {
        compared->outcome = xb_at_most(compared->p_regression, alpha) ? XB_OUTCOME_REGRESSION
                            : xb_at_most(compared->p_improved, alpha) ? XB_OUTCOME_IMPROVED
                            : xb_at_most(compared->p_pass, alpha)     ? XB_OUTCOME_PASS
                                                                      : XB_OUTCOME_INCONCLUSIVE;
    } else {
        compared->basis = XB_BASIS_INDICATIVE;
        compared->outcome = indicated(compared);
        compared->p_regression = compared->p_improved = compared->p_pass = 1.0;
    }
    if (compared->cannot_pass && compared->outcome != XB_OUTCOME_REGRESSION)
        compared->outcome = XB_OUTCOME_INCONCLUSIVE;
}

void xb_judge_all(struct xb_comparison *comparison)
{
    double alpha = comparison->request.alpha;
    size_t tests = 0;
    for (size_t i = 0; i < comparison->case_count; i++)
        tests += is_gating_test(&comparison->cases[i]);
    comparison->gating_count = tests;
    comparison->processes_needed = xb_rank_values_needed(tests > 0 ? tests : 1, alpha);
    adjust(comparison, tests);
    for (size_t i = 0; i < comparison->case_count; i++) {
        struct xb_compared *compared = &comparison->cases[i];
        if (compared->basis == XB_BASIS_TEST)
            judge(compared, compared->gates ? tests : 1, alpha);
    }
}
