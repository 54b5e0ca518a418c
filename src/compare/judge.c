/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts on one case by what became of it and by its figures, and then on all of them together;
 * docs/compare.md tells the rules. */
#include "internal.h"

#include "base/text.h"
#include "rank_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what figures cannot tell: a case that failed, was skipped, or is not there ---- */

void xb_compare_add(char text[512], const char *separator, const char *format, ...)
{
    size_t length = strlen(text);
    if (length > 0)
        snprintf(text + length, 512 - length, "%s", separator);
    length = strlen(text);
    XB_FORMAT(text + length, 512 - length, format);
}

/* What became of a case in the processes of a file. */
struct tally {
    const struct xb_record *record;
    size_t fine, cut, bad;
    const struct xb_record_row *worst; /* the first of the worst bad ones; NULL for none */
    size_t where;                      /* its process */
    size_t alike;                      /* how many of the bad ones are as bad as that */
};

static const char *const badness_names[] = {"skipped", "not measured", "failed", "wrong data"};
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
static struct tally tally_of(const struct xb_record *record, const struct xb_record_case *test)
{
    struct tally tally = {.record = record};
    for (size_t i = 0; test != NULL && i < record->process_count; i++) {
        const struct xb_record_row *row = &test->rows[i];
        const struct xb_record_process *process = &record->processes[i];
        /* Not reached, or not finished: its run was cut short. What is wrong by then is wrong. */
        bool was_cut = row->is_there ? row->is_cut && row->status != XB_RESULT_ERROR
                                     : process->interrupted || !process->deadline_met;
        if (was_cut) {
            tally.cut++;
        } else if (row->is_there && row->status == XB_RESULT_OK) {
            tally.fine++;
        } else {
            tally.bad++;
            if (tally.worst == NULL || badness(row) > badness(tally.worst)) {
                tally.worst = row;
                tally.where = i;
                tally.alike = 0;
            }
            tally.alike += badness(row) == badness(tally.worst);
        }
    }
    return tally;
}

/* The logarithm of n over k. */
static double log_choose(size_t n, size_t k)
{
    return lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma((double)(n - k) + 1);
}

double xb_fisher_probability(size_t before, size_t n, size_t after, size_t m)
{
    size_t bad = before + after;
    double probability = 0;
    for (size_t k = after; k <= bad && k <= m; k++)
        if (m - k <= n + m - bad)
            probability +=
                exp(log_choose(bad, k) + log_choose(n + m - bad, m - k) - log_choose(n + m, m));
    return fmin(probability, 1.0);
}

/* A figure of a case that is judged by what became of the case in both files. */
struct trial {
    const struct xb_comparison *comparison;
    struct xb_compared *compared;
    struct tally before, after;
    /* Fisher's exact test of something that happened in processes of both files. */
    bool is_tested; /* it was made; where the verdict does not depend on it, it was not */
    double p;       /* the smallest P of those made */
    bool is_higher; /* the candidate's share of processes is the larger one */
};

/* The worst that happened in a file, and in how many processes that did. */
static void say_bad(const struct trial *trial, const struct tally *tally)
{
    const struct xb_record_process *process = &tally->record->processes[tally->where];
    const char *reason = tally->worst->is_there ? tally->worst->reason : process->failure;
    xb_compared_note(trial->compared, "%s in %zu of %zu processes of the %s%s%.300s",
                     badness_names[badness(tally->worst)], tally->alike,
                     tally->record->process_count,
                     tally == &trial->after ? "candidate" : "baseline", reason != NULL ? ": " : "",
                     reason != NULL ? reason : "");
}

/* What the candidate had, what the baseline had, and P where a test compared the two. */
static void say_both_bad(const struct trial *trial)
{
    say_bad(trial, &trial->after);
    if (trial->before.bad > 0)
        xb_compare_add(trial->compared->note, "", "; %s in %zu of %zu of the baseline",
                       badness_names[badness(trial->before.worst)], trial->before.alike,
                       trial->before.record->process_count);
    if (trial->is_tested)
        xb_compare_add(trial->compared->note, "", " (P %.2g)", trial->p);
}

/* Whether a P is at most alpha. A P that equals alpha counts, also where rounding made it a little
 * larger than alpha. */
static bool is_at_most(double probability, double alpha)
{
    return probability <= alpha * (1.0 + 1e-12);
}

static size_t wrong_data(const struct tally *tally)
{
    return tally->bad > 0 && badness(tally->worst) == WRONG_DATA ? tally->alike : 0;
}

/* Whether `after` bad ones of its processes are more, by more than chance, than `before` ones. */
static bool is_more_often(struct trial *trial, size_t before, size_t after)
{
    size_t n = trial->before.fine + trial->before.bad;
    size_t m = trial->after.fine + trial->after.bad;
    double p = xb_fisher_probability(before, n, after, m);
    trial->p = trial->is_tested && trial->p < p ? trial->p : p;
    trial->is_higher = trial->is_higher || after * n > before * m;
    trial->is_tested = true;
    return is_at_most(p, trial->comparison->request.alpha);
}

/* The verdict, for what became of the candidate's processes. */
static bool conclude(const struct trial *trial, enum xb_outcome outcome)
{
    trial->compared->basis = XB_BASIS_STATUS;
    trial->compared->outcome = outcome;
    if (outcome == XB_OUTCOME_REGRESSION)
        say_both_bad(trial);
    return true;
}

/* What is told where failures were in both files: then the figures can show a regression but
 * nothing better. */
static void note_failures(const struct trial *trial)
{
    trial->compared->cannot_pass = true;
    trial->compared->fails_more = trial->is_higher;
    say_both_bad(trial);
}

/*
 * The verdict where it does not depend on figures, with a note why: on a case that is in one file
 * only, was not measured, or works less often, or was measured with other settings. Wrong data is a
 * regression whatever there was before, unless there was as much of it; and then it never passes,
 * though what always failed without wrong data is only listed. False: it does, and the note tells
 * what else there is to know.
 */
static bool judge_by_status(const struct xb_comparison *comparison, const struct xb_pair *pair,
                            struct xb_compared *compared)
{
    struct trial trial = {.comparison = comparison,
                          .compared = compared,
                          .before = tally_of(comparison->baseline, pair->baseline),
                          .after = tally_of(comparison->candidate, pair->candidate)};
    const struct tally *before = &trial.before, *after = &trial.after;
    /* Wrong data is never excused by failures of another kind, so it is counted apart. */
    size_t wrong_before = wrong_data(before), wrong_after = wrong_data(after);
    if (wrong_after > 0 && (wrong_before == 0 || is_more_often(&trial, wrong_before, wrong_after)))
        return conclude(&trial, XB_OUTCOME_REGRESSION);
    if (before->fine == 0 && wrong_after > 0) { /* and no process to compare it with */
        note_failures(&trial);
        return conclude(&trial, XB_OUTCOME_INCONCLUSIVE);
    }
    if (pair->baseline == NULL || (before->fine == 0 && before->bad > 0)) {
        /* There is nothing to compare with; what became of the candidate is told all the same. */
        compared->basis = XB_BASIS_NONE;
        if (after->bad > 0 || before->bad > 0)
            say_bad(&trial, after->bad > 0 ? after : before);
        return true;
    }
    if (before->fine == 0 || pair->candidate == NULL ||
        (!compared->same_settings && !comparison->request.force)) {
        if (before->fine == 0)
            xb_compared_note(compared, "the baseline's run was cut short before this case");
        else if (after->bad > 0)
            say_bad(&trial, after);
        return conclude(&trial, XB_OUTCOME_INCONCLUSIVE);
    }
    /* It works in some of the baseline's processes at least. */
    if (after->bad > 0 && (before->bad == 0 || after->fine == 0)) {
        trial.is_tested = false; /* no P decided this */
        return conclude(&trial, XB_OUTCOME_REGRESSION);
    }
    if (after->bad > 0 && is_more_often(&trial, before->bad, after->bad))
        return conclude(&trial, XB_OUTCOME_REGRESSION);
    if (after->fine == 0) {
        xb_compared_note(compared, "the candidate's run was cut short before this case");
        return conclude(&trial, XB_OUTCOME_INCONCLUSIVE);
    }
    /* What is told where figures are left to judge. */
    compared->fails_more = trial.is_higher;
    if (after->bad > 0)
        note_failures(&trial);
    else if (before->bad > 0)
        say_bad(&trial, before);
    else if (before->cut + after->cut > 0)
        xb_compared_note(compared, "a run was cut short: there are fewer processes than asked for");
    return false;
}

/* The processes' medians of either side, as they are, then their logarithms: a ratio is a shift of
 * those. */
struct sides {
    double first[XB_RECORD_PROCESSES], second[XB_RECORD_PROCESSES];
    size_t n, m;
};

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

/* The medians of one file, of which there are as many as this returns. `test`: NULL where it has no
 * such case. */
static size_t read_side(const struct xb_record *record, const struct xb_record_case *test,
                        const char *figure, double *values, struct xb_compared_side *side)
{
    double copy[XB_RECORD_PROCESSES];
    size_t count = test != NULL ? xb_record_medians(record, test, figure, values) : 0;
    memcpy(copy, values, count * sizeof *values);
    *side =
        (struct xb_compared_side){.is_there = test != NULL,
                                  .processes = count,
                                  .median = count > 0 ? xb_median_of(copy, count) : (double)NAN};
    return count;
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
        xb_compared_note(compared,
                         "%zu of %zu processes of the candidate are worse by %g %% or more than "
                         "the baseline's worst",
                         count, sides->m, 100.0 * compared->threshold);
}

void xb_judge_measure(const struct xb_comparison *comparison, const struct xb_pair *pair,
                      struct xb_compared *compared)
{
    const char *name = compared->figure.name;
    struct sides sides;
    sides.n =
        read_side(comparison->baseline, pair->baseline, name, sides.first, &compared->baseline);
    sides.m =
        read_side(comparison->candidate, pair->candidate, name, sides.second, &compared->candidate);
    compared->p_regression = compared->p_improved = compared->p_pass = 1.0;
    if (judge_by_status(comparison, pair, compared) || pair->baseline == NULL ||
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

static void judge(struct xb_compared *compared, size_t tests, double alpha)
{
    /* Where the interval lies; where there is none, the ratio. */
    double low = compared->has_interval ? compared->low : compared->ratio;
    double high = compared->has_interval ? compared->high : compared->ratio;
    double threshold = compared->threshold;
    bool more = compared->figure.more_is_better;
    bool is_under = high<1.0 - threshold, is_over = low> 1.0 + threshold; /* all of it */
    /* That the smaller side has many opposite it is no help: where it scatters more, one against a
     * hundred would be wrong far more often than alpha. */
    size_t needed = xb_rank_values_needed(tests, alpha);
    if (needed > 0 && xb_compared_processes(compared) >= needed) {
        compared->outcome = is_at_most(compared->p_regression, alpha) ? XB_OUTCOME_REGRESSION
                            : is_at_most(compared->p_improved, alpha) ? XB_OUTCOME_IMPROVED
                            : is_at_most(compared->p_pass, alpha)     ? XB_OUTCOME_PASS
                                                                      : XB_OUTCOME_INCONCLUSIVE;
    } else {
        compared->basis = XB_BASIS_INDICATIVE;
        compared->outcome = (more ? is_under : is_over)   ? XB_OUTCOME_REGRESSION
                            : (more ? is_over : is_under) ? XB_OUTCOME_IMPROVED
                            : (more ? low > 1.0 - threshold : high < 1.0 + threshold)
                                ? XB_OUTCOME_PASS
                                : XB_OUTCOME_INCONCLUSIVE;
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
