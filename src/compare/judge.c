/* SPDX-License-Identifier: Apache-2.0 */
/* One metric of one case in both files; docs/compare.md tells the rules. */
#include "internal.h"

#include "xferbench/rank_test.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The processes' medians of either side, as they are, then their logarithms: a ratio is a shift of
 * those. */
struct sides {
    double first[XB_RECORD_PROCESSES], second[XB_RECORD_PROCESSES];
    size_t n, m;
};

/* ---- whether there is anything to judge by figures ---- */

static void say(struct xb_compared *compared, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(struct xb_compared *compared, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(compared->note, sizeof compared->note, format, arguments);
    va_end(arguments);
}

static void settle(struct xb_compared *compared, enum xb_basis basis, enum xb_outcome outcome)
{
    compared->basis = basis;
    compared->outcome = outcome;
}

/* A process in which the case was not reached, or not finished: its run was cut short. What is
 * wrong by then is wrong. */
static bool was_cut(const struct xb_record *record, const struct xb_record_case *test, size_t i)
{
    const struct xb_record_row *row = &test->rows[i];
    const struct xb_record_process *process = &record->processes[i];
    if (row->is_there)
        return row->is_cut && row->status != XB_RESULT_ERROR;
    return process->interrupted || !process->deadline_met;
}

/* How a case stands in the processes of a file. */
struct standing {
    size_t fine, cut, bad;
    const struct xb_record_row *worst; /* the first of the worst bad ones; NULL for none */
    size_t where;                      /* its process */
    size_t alike;                      /* how many of the bad ones are as bad as that */
};

#define WRONG_DATA 3

/* Wrong data must not hide behind a row that was only skipped. */
static int badness(const struct xb_record_row *row)
{
    return !row->is_there                       ? 1
           : row->verified == XB_VERIFIED_FALSE ? WRONG_DATA
           : row->status == XB_RESULT_SKIPPED   ? 0
                                                : 2;
}

/* `test` is NULL where the file has no such case. */
static struct standing standing_of(const struct xb_record *record,
                                   const struct xb_record_case *test)
{
    struct standing standing = {0};
    for (size_t i = 0; test != NULL && i < record->process_count; i++) {
        const struct xb_record_row *row = &test->rows[i];
        if (was_cut(record, test, i)) {
            standing.cut++;
        } else if (row->is_there && row->status == XB_RESULT_OK) {
            standing.fine++;
        } else {
            standing.bad++;
            if (standing.worst == NULL || badness(row) > badness(standing.worst)) {
                standing.worst = row;
                standing.where = i;
                standing.alike = 0;
            }
            standing.alike += badness(row) == badness(standing.worst);
        }
    }
    return standing;
}

static const char *badness_name(const struct standing *standing)
{
    static const char *const words[] = {"skipped", "not measured", "failed", "wrong data"};
    return words[badness(standing->worst)];
}

/* The worst that happened, and in how many processes that did. */
static void say_bad(struct xb_compared *compared, const char *side, const struct xb_record *record,
                    const struct standing *standing)
{
    const struct xb_record_row *worst = standing->worst;
    const char *failure = record->processes[standing->where].failure; /* of the process itself */
    const char *reason = worst->is_there ? worst->reason : failure;
    say(compared, "%s in %zu of %zu processes of the %s%s%.300s", badness_name(standing),
        standing->alike, record->process_count, side, reason != NULL ? ": " : "",
        reason != NULL ? reason : "");
}

/* What Fisher's exact test says of something that happened in processes of both files. */
struct odds {
    bool is_tested; /* the test was made; where the verdict does not depend on it, it was not */
    double p;       /* the smallest P of those made */
    bool is_higher; /* the candidate's share of processes is the larger one */
};

__attribute__((format(printf, 2, 3))) static void say_more(struct xb_compared *compared,
                                                           const char *format, ...)
{
    size_t length = strlen(compared->note);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(compared->note + length, sizeof compared->note - length, format, arguments);
    va_end(arguments);
}

/* What the candidate had, what the baseline had, and P where a test compared the two. */
static void say_both_bad(const struct xb_comparison *comparison, const struct standing *before,
                         const struct standing *after, const struct odds *odds,
                         struct xb_compared *compared)
{
    say_bad(compared, "candidate", comparison->candidate, after);
    if (before->bad > 0)
        say_more(compared, "; %s in %zu of %zu of the baseline", badness_name(before),
                 before->alike, comparison->baseline->process_count);
    if (odds->is_tested)
        say_more(compared, " (P %.2g)", odds->p);
}

static size_t wrong_data(const struct standing *standing)
{
    return standing->bad > 0 && badness(standing->worst) == WRONG_DATA ? standing->alike : 0;
}

/* Whether `after` bad ones of its processes are more, by more than chance, than `before` ones. */
static bool is_more_often(const struct xb_comparison *comparison, const struct standing *first,
                          size_t before, const struct standing *second, size_t after,
                          struct odds *odds)
{
    size_t n = first->fine + first->bad;
    size_t m = second->fine + second->bad;
    double p = xb_fisher_probability(before, n, after, m);
    odds->p = odds->is_tested && odds->p < p ? odds->p : p;
    odds->is_higher = odds->is_higher || after * n > before * m;
    odds->is_tested = true;
    return xb_at_most(p, comparison->request.alpha);
}

/* Wrong data is never excused by failures of another kind, so it is counted apart. */
static bool has_more_wrong_data(const struct xb_comparison *comparison,
                                const struct standing *before, const struct standing *after,
                                struct odds *odds)
{
    return wrong_data(after) > 0 &&
           (wrong_data(before) == 0 ||
            is_more_often(comparison, before, wrong_data(before), after, wrong_data(after), odds));
}

/* Of a case that works in some of the baseline's processes at least. */
static bool works_less(const struct xb_comparison *comparison, const struct standing *before,
                       const struct standing *after, struct odds *odds)
{
    if (after->bad == 0)
        return false;
    if (before->bad > 0 && after->fine > 0)
        return is_more_often(comparison, before, before->bad, after, after->bad, odds);
    odds->is_tested = false; /* no P decided this */
    return true;
}

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

/* A regression for what became of the candidate's processes. */
static bool settle_as_worse(const struct xb_comparison *comparison, const struct standing *before,
                            const struct standing *after, const struct odds *odds,
                            struct xb_compared *compared)
{
    settle(compared, XB_BASIS_STATUS, XB_OUTCOME_REGRESSION);
    say_both_bad(comparison, before, after, odds, compared);
    return true;
}

/* Wrong data in both files, and not one process of the baseline whose figures could be compared. */
static bool settle_as_broken(const struct xb_comparison *comparison, const struct standing *before,
                             const struct standing *after, const struct odds *odds,
                             struct xb_compared *compared)
{
    settle(compared, XB_BASIS_STATUS, XB_OUTCOME_INCONCLUSIVE);
    say_both_bad(comparison, before, after, odds, compared);
    compared->cannot_pass = true;
    compared->fails_more = odds->is_higher;
    return true;
}

static bool settle_as(struct xb_compared *compared, enum xb_outcome outcome, const char *note)
{
    settle(compared, XB_BASIS_STATUS, outcome);
    say(compared, "%s", note);
    return true;
}

/* There is nothing to compare with; what became of the candidate is told all the same. */
static bool settle_as_nothing(const struct xb_comparison *comparison, const struct standing *before,
                              const struct standing *after, struct xb_compared *compared)
{
    settle(compared, XB_BASIS_NONE, XB_OUTCOME_PASS);
    if (after->bad > 0)
        say_bad(compared, "candidate", comparison->candidate, after);
    else if (before->bad > 0)
        say_bad(compared, "baseline", comparison->baseline, before);
    return true;
}

/* What is told where figures are left to judge. Where both sides failed at times, the figures can
 * show a regression but nothing better. */
static void note_standing(const struct xb_comparison *comparison, const struct standing *before,
                          const struct standing *after, const struct odds *odds,
                          struct xb_compared *compared)
{
    compared->cannot_pass = after->bad > 0;
    compared->fails_more = odds->is_higher;
    if (after->bad > 0)
        say_both_bad(comparison, before, after, odds, compared);
    else if (before->bad > 0)
        say_bad(compared, "baseline", comparison->baseline, before);
    else if (before->cut + after->cut > 0)
        say(compared, "a run was cut short: fewer processes than were asked for");
}

/*
 * Settles what figures cannot tell: a case that is in one file only, was not measured, or works
 * less often. Wrong data is a regression whatever there was before, unless there was as much of it;
 * and then it never passes, though what always failed without wrong data is only listed.
 */
static bool settle_by_status(const struct xb_comparison *comparison, struct xb_pair pair,
                             struct xb_compared *compared)
{
    struct standing before = standing_of(comparison->baseline, pair.baseline);
    struct standing after = standing_of(comparison->candidate, pair.candidate);
    struct odds odds = {.is_tested = false};
    if (has_more_wrong_data(comparison, &before, &after, &odds))
        return settle_as_worse(comparison, &before, &after, &odds, compared);
    if (before.fine == 0 && wrong_data(&after) > 0)
        return settle_as_broken(comparison, &before, &after, &odds, compared);
    if (pair.baseline == NULL || (before.fine == 0 && before.bad > 0))
        return settle_as_nothing(comparison, &before, &after, compared);
    if (before.fine == 0)
        return settle_as(compared, XB_OUTCOME_INCONCLUSIVE,
                         "the baseline's run was cut short before it");
    if (pair.candidate == NULL)
        return settle_as(compared, XB_OUTCOME_INCONCLUSIVE, "");
    if (works_less(comparison, &before, &after, &odds))
        return settle_as_worse(comparison, &before, &after, &odds, compared);
    if (after.fine == 0)
        return settle_as(compared, XB_OUTCOME_INCONCLUSIVE,
                         "the candidate's run was cut short before it");
    note_standing(comparison, &before, &after, &odds, compared);
    return false;
}

/* Figures of different clocks are different things. */
static bool settle_by_clock(const struct xb_comparison *comparison, struct xb_pair pair,
                            struct xb_compared *compared)
{
    const char *before = timer_of(comparison->baseline, pair.baseline);
    const char *after = timer_of(comparison->candidate, pair.candidate);
    bool both = compared->baseline_n > 0 && compared->candidate_n > 0;
    bool same = before != NULL && after != NULL && strcmp(before, after) == 0;
    if (both && same)
        return false;
    settle(compared, XB_BASIS_STATUS, XB_OUTCOME_INCONCLUSIVE);
    if (same)
        say(compared, "the %s has no %s", compared->baseline_n == 0 ? "baseline" : "candidate",
            xb_metric_name(compared->metric));
    else
        say(compared, "not timed by the same clock: %s in the baseline, %s in the candidate",
            before != NULL ? before : "not always the same",
            after != NULL ? after : "not always the same");
    return true;
}

/* ---- figures ---- */

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

/* One process a side: the worst that the intervals within each allow. */
static void interval_of_samples(struct xb_pair pair, struct xb_compared *compared)
{
    const struct xb_record_value *before = NULL;
    const struct xb_record_value *after = NULL;
    for (size_t i = 0; before == NULL || !before->is_set; i++)
        before = &pair.baseline->rows[i].values[compared->metric];
    for (size_t i = 0; after == NULL || !after->is_set; i++)
        after = &pair.candidate->rows[i].values[compared->metric];
    compared->has_interval = before->has_interval && after->has_interval;
    if (!compared->has_interval)
        return;
    compared->low = after->low / before->high;
    compared->high = after->high / before->low;
}

static enum xb_status estimate_ratio(const struct xb_comparison *comparison, struct xb_pair pair,
                                     const struct sides *sides, struct xb_compared *compared,
                                     struct xb_error *error)
{
    struct xb_shift shift;
    enum xb_status status = xb_shift_estimate(sides->first, sides->n, sides->second, sides->m,
                                              comparison->request.alpha, &shift, error);
    if (status != XB_OK)
        return status;
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

/* P for "the ratio is `bound` or more", and for "`bound` or less". */
static enum xb_status p_at_least(const struct sides *sides, double bound, double *p,
                                 struct xb_error *error)
{
    return xb_shift_probability(sides->first, sides->n, sides->second, sides->m,
                                log(bound) - ROUNDING, p, error);
}

static enum xb_status p_at_most(const struct sides *sides, double bound, double *p,
                                struct xb_error *error)
{
    return xb_shift_probability(sides->second, sides->m, sides->first, sides->n,
                                -log(bound) - ROUNDING, p, error);
}

/* Each P is small where its claim holds: what it refutes is the contrary. */
static enum xb_status test_ratio(const struct xb_comparison *comparison, const struct sides *sides,
                                 struct xb_compared *compared, struct xb_error *error)
{
    double low = 1.0 - comparison->request.threshold;
    double high = 1.0 + comparison->request.threshold;
    bool more = xb_metric_more_is_better(compared->metric);
    enum xb_status status = more ? p_at_least(sides, low, &compared->p_regression, error)
                                 : p_at_most(sides, high, &compared->p_regression, error);
    if (status == XB_OK)
        status = more ? p_at_most(sides, low, &compared->p_pass, error)
                      : p_at_least(sides, high, &compared->p_pass, error);
    if (status == XB_OK)
        status = more ? p_at_most(sides, high, &compared->p_improved, error)
                      : p_at_least(sides, low, &compared->p_improved, error);
    return status;
}

/*
 * The test is about the typical process: one of eight at a tenth of its rate can pass it. So a
 * minority that is worse, by the threshold, than every process of the baseline is told of.
 */
static void note_stragglers(const struct xb_comparison *comparison, const struct sides *sides,
                            struct xb_compared *compared)
{
    double sign = xb_metric_more_is_better(compared->metric) ? 1.0 : -1.0;
    double margin = -log(1.0 - sign * comparison->request.threshold); /* above 0 for more */
    double worst = sides->first[0];
    size_t count = 0;
    for (size_t i = 1; i < sides->n; i++)
        worst = sign * sides->first[i] < sign * worst ? sides->first[i] : worst;
    for (size_t i = 0; i < sides->m; i++)
        count += sign * sides->second[i] < sign * (worst - margin);
    if (count > 0 && 2 * count < sides->m && compared->note[0] == '\0')
        say(compared,
            "%zu of %zu processes of the candidate are worse by %g %% or more than the baseline's "
            "worst",
            count, sides->m, 100.0 * comparison->request.threshold);
}

bool xb_judge_has_metric(const struct xb_comparison *comparison, struct xb_pair pair,
                         enum xb_metric metric)
{
    double values[XB_RECORD_PROCESSES];
    const struct xb_record_case *test = pair.candidate != NULL ? pair.candidate : pair.baseline;
    if (test->latency != (metric != XB_METRIC_BANDWIDTH))
        return false;
    if (metric != XB_METRIC_DEVICE_LATENCY) /* every case has its own, also one that failed */
        return true;
    return (pair.baseline != NULL &&
            xb_record_medians(comparison->baseline, pair.baseline, metric, values) > 0) ||
           (pair.candidate != NULL &&
            xb_record_medians(comparison->candidate, pair.candidate, metric, values) > 0);
}

enum xb_status xb_judge_measure(const struct xb_comparison *comparison, struct xb_pair pair,
                                struct xb_compared *compared, struct xb_error *error)
{
    struct sides sides = {.n = 0};
    if (pair.baseline != NULL)
        sides.n =
            xb_record_medians(comparison->baseline, pair.baseline, compared->metric, sides.first);
    if (pair.candidate != NULL)
        sides.m = xb_record_medians(comparison->candidate, pair.candidate, compared->metric,
                                    sides.second);
    compared->p_regression = compared->p_improved = compared->p_pass = 1.0;
    compared->baseline_n = sides.n;
    compared->candidate_n = sides.m;
    compared->baseline_median = median_of(sides.first, sides.n);
    compared->candidate_median = median_of(sides.second, sides.m);
    if (settle_by_status(comparison, pair, compared) || settle_by_clock(comparison, pair, compared))
        return XB_OK;
    compared->basis = XB_BASIS_TEST;
    take_logarithms(sides.first, sides.n);
    take_logarithms(sides.second, sides.m);
    note_stragglers(comparison, &sides, compared);
    enum xb_status status = estimate_ratio(comparison, pair, &sides, compared, error);
    return status == XB_OK ? test_ratio(comparison, &sides, compared, error) : status;
}
