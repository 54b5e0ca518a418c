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

/* What one of the files has of a figure of a case. */
struct side {
    const char *name; /* "baseline" */
    const struct xb_record *record;
    const struct xb_record_case *test; /* NULL where the file has no such case */
    size_t fine, cut, bad;             /* how many processes were so */
    const struct xb_record_row *worst; /* the first of the worst bad ones; NULL for none */
    size_t where;                      /* its process */
    size_t alike;                      /* how many of the bad ones are as bad as that */
    /* The processes' medians, then their logarithms: a ratio is a shift of those. */
    double values[XB_RECORD_PROCESSES];
    size_t count;
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

/* Reads the medians, and what became of the case in the processes of the file. */
static void read_side(struct side *side, const char *figure, struct xb_compared_side *seen)
{
    double copy[XB_RECORD_PROCESSES];
    *seen = (struct xb_compared_side){.is_there = side->test != NULL, .median = (double)NAN};
    if (side->test == NULL)
        return;
    side->count = xb_record_medians(side->record, side->test, figure, side->values);
    memcpy(copy, side->values, side->count * sizeof *copy);
    seen->processes = side->count;
    seen->median = side->count > 0 ? xb_median_of(copy, side->count) : (double)NAN;
    for (size_t i = 0; i < side->record->process_count; i++) {
        const struct xb_record_row *row = &side->test->rows[i];
        const struct xb_record_process *process = &side->record->processes[i];
        /* Not reached, or not finished: its run was cut short. What is wrong by then is wrong. */
        bool was_cut = row->is_there ? row->is_cut && row->status != XB_RESULT_ERROR
                                     : process->interrupted || !process->deadline_met;
        if (was_cut) {
            side->cut++;
        } else if (row->is_there && row->status == XB_RESULT_OK) {
            side->fine++;
        } else {
            side->bad++;
            if (side->worst == NULL || badness(row) > badness(side->worst)) {
                side->worst = row;
                side->where = i;
                side->alike = 0;
            }
            side->alike += badness(row) == badness(side->worst);
        }
    }
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

/* A figure of a case that is judged. */
struct trial {
    const struct xb_comparison *comparison;
    struct xb_compared *compared;
    struct side before, after;
    /* Fisher's exact test of something that happened in processes of both files. */
    bool is_tested; /* it was made; where the verdict does not depend on it, it was not */
    double p;       /* the smallest P of those made */
    bool is_higher; /* the candidate's share of processes is the larger one */
};

/* The worst that happened in a file, and in how many processes that did. */
static void say_bad(const struct trial *trial, const struct side *side)
{
    const struct xb_record_process *process = &side->record->processes[side->where];
    const char *reason = side->worst->is_there ? side->worst->reason : process->failure;
    xb_compared_note(trial->compared, "%s in %zu of %zu processes of the %s%s%.300s",
                     badness_names[badness(side->worst)], side->alike, side->record->process_count,
                     side->name, reason != NULL ? ": " : "", reason != NULL ? reason : "");
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

static size_t wrong_data(const struct side *side)
{
    return side->bad > 0 && badness(side->worst) == WRONG_DATA ? side->alike : 0;
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

/* Judges what does not depend on figures, with a note why: a case that is in one file only, was not
 * measured, works less often, or was measured with other settings. Wrong data is a regression
 * unless there was as much of it before; and then it never passes, though what always failed
 * without wrong data is only listed. False: figures decide, and the note tells what else there is
 * to know. */
static bool judge_by_status(struct trial *trial)
{
    const struct side *before = &trial->before, *after = &trial->after;
    struct xb_compared *compared = trial->compared;
    bool may_differ = trial->comparison->request.force;
    /* Wrong data is never excused by failures of another kind, so it is counted apart. */
    size_t wrong_before = wrong_data(before), wrong_after = wrong_data(after);
    if (wrong_after > 0 && (wrong_before == 0 || is_more_often(trial, wrong_before, wrong_after)))
        return conclude(trial, XB_OUTCOME_REGRESSION);
    if (before->fine == 0 && wrong_after > 0) { /* and no process to compare it with */
        note_failures(trial);
        return conclude(trial, XB_OUTCOME_INCONCLUSIVE);
    }
    if (before->test == NULL || (before->fine == 0 && before->bad > 0)) {
        /* There is nothing to compare with; what became of the candidate is told all the same. */
        compared->basis = XB_BASIS_NONE;
        if (after->bad > 0 || before->bad > 0)
            say_bad(trial, after->bad > 0 ? after : before);
        return true;
    }
    if (before->fine == 0 || after->test == NULL || (!compared->same_settings && !may_differ)) {
        if (before->fine == 0)
            xb_compared_note(compared, "the baseline's run was cut short before this case");
        else if (after->bad > 0)
            say_bad(trial, after);
        return conclude(trial, XB_OUTCOME_INCONCLUSIVE);
    }
    /* It works in some of the baseline's processes at least. */
    if (after->bad > 0 && (before->bad == 0 || after->fine == 0)) {
        trial->is_tested = false; /* no P decided this */
        return conclude(trial, XB_OUTCOME_REGRESSION);
    }
    if (after->bad > 0 && is_more_often(trial, before->bad, after->bad))
        return conclude(trial, XB_OUTCOME_REGRESSION);
    if (after->fine == 0) {
        xb_compared_note(compared, "the candidate's run was cut short before this case");
        return conclude(trial, XB_OUTCOME_INCONCLUSIVE);
    }
    /* What is told where figures are left to judge. */
    compared->fails_more = trial->is_higher;
    if (after->bad > 0)
        note_failures(trial);
    else if (before->bad > 0)
        say_bad(trial, before);
    else if (before->cut + after->cut > 0)
        xb_compared_note(compared, "a run was cut short: there are fewer processes than asked for");
    return false;
}

/* Whether the figures cannot be judged, with a note why. Different clocks measure different
 * things. */
static bool is_incomparable(const struct trial *trial)
{
    static const char several[] = "not always the same";
    const struct side *const sides[] = {&trial->before, &trial->after};
    const struct xb_figure *figure = &trial->compared->figure;
    const struct side *empty = NULL, *flat = NULL;
    const char *timers[2] = {NULL, NULL}; /* the clock of all rows that have figures */
    size_t zeros = 0;      /* values of `flat` that have no logarithm: a share may be 0 */
    bool is_other = false; /* a mode may have changed what the figure means */
    for (size_t k = 0; k < 2; k++) {
        size_t without = 0;
        XB_EACH (row, sides[k]->test->rows, sides[k]->record->process_count) {
            const struct xb_record_figure *own = xb_record_row_figure(row, figure->name);
            if (row->timer != NULL)
                timers[k] =
                    timers[k] == NULL || strcmp(row->timer, timers[k]) == 0 ? row->timer : several;
            is_other = is_other || (own != NULL && (strcmp(own->unit, figure->unit) != 0 ||
                                                    own->more_is_better != figure->more_is_better));
        }
        for (size_t i = 0; i < sides[k]->count; i++)
            without += !(sides[k]->values[i] > 0.0 && isfinite(sides[k]->values[i]));
        timers[k] = timers[k] != NULL ? timers[k] : several;
        empty = empty == NULL && sides[k]->count == 0 ? sides[k] : empty;
        flat = without > 0 ? sides[k] : flat;
        zeros = without > 0 ? without : zeros;
    }
    if (timers[0] == several || strcmp(timers[0], timers[1]) != 0)
        xb_compared_note(trial->compared,
                         "not timed by the same clock: %s in the baseline, %s in the candidate",
                         timers[0], timers[1]);
    else if (empty != NULL)
        xb_compared_note(trial->compared, "the %s has no %s", empty->name, figure->name);
    else if (is_other)
        xb_compared_note(trial->compared,
                         "%s does not mean the same in both files: its unit differs, or more of it "
                         "is better in one only",
                         figure->name);
    else if (flat != NULL)
        xb_compared_note(trial->compared,
                         "%s is not above 0 in %zu of %zu processes of the %s: there is no ratio",
                         figure->name, zeros, flat->count, flat->name);
    else
        return false;
    return true;
}

/* What the one process that counts says of the figure: there is such a process. */
static const struct xb_statistics *only_statistics(const struct side *side, const char *figure)
{
    const struct xb_record_row *row = side->test->rows;
    while (!xb_record_row_counts(row) || xb_record_row_figure(row, figure) == NULL)
        row++;
    return &xb_record_row_figure(row, figure)->statistics;
}

static void estimate_ratio(const struct trial *trial)
{
    const struct side *before = &trial->before, *after = &trial->after;
    struct xb_compared *compared = trial->compared;
    struct xb_shift shift = xb_shift_estimate(before->values, before->count, after->values,
                                              after->count, trial->comparison->request.alpha);
    compared->has_ratio = true;
    compared->ratio = exp(shift.estimate);
    if (before->count > 1 || after->count > 1) {
        compared->has_interval = true;
        compared->low = exp(shift.low);
        compared->high = exp(shift.high);
        compared->confidence = 1.0 - 2.0 * shift.tail;
        return;
    }
    /* One process a side: the worst that the intervals within each allow. */
    const struct xb_statistics *old = only_statistics(before, compared->figure.name);
    const struct xb_statistics *new = only_statistics(after, compared->figure.name);
    compared->has_interval = old->has_interval && new->has_interval;
    if (compared->has_interval) {
        compared->low = new->ci95_low / old->ci95_high;
        compared->high = new->ci95_high / old->ci95_low;
    }
}

/* Wider than what taking logarithms rounds, and too narrow for anybody's threshold: a ratio that is
 * the bound speaks for neither side, however it was rounded. */
#define ROUNDING 1e-12

/* P for "the ratio is `bound` or more", or "or less". */
static double probability(const struct trial *trial, double bound, bool or_more)
{
    const struct side *before = &trial->before, *after = &trial->after;
    return or_more ? xb_shift_probability(before->values, before->count, after->values,
                                          after->count, log(bound) - ROUNDING)
                   : xb_shift_probability(after->values, after->count, before->values,
                                          before->count, -log(bound) - ROUNDING);
}

/* Tells of a minority that is worse, by the threshold, than every process of the baseline: the test
 * is about the typical process, and one of eight at a tenth of its rate can pass it. */
static void note_stragglers(const struct trial *trial)
{
    const struct side *before = &trial->before, *after = &trial->after;
    struct xb_compared *compared = trial->compared;
    double sign = compared->figure.more_is_better ? 1.0 : -1.0;
    double margin = -log(1.0 - sign * compared->threshold); /* above 0 for more */
    double worst = sign * before->values[0];
    size_t count = 0;
    for (size_t i = 1; i < before->count; i++)
        worst = fmin(worst, sign * before->values[i]);
    for (size_t i = 0; i < after->count; i++)
        count += sign * after->values[i] < worst - sign * margin;
    if (count > 0 && 2 * count < after->count && compared->note[0] == '\0')
        xb_compared_note(compared,
                         "%zu of %zu processes of the candidate are worse by %g %% or more than "
                         "the baseline's worst",
                         count, after->count, 100.0 * compared->threshold);
}

void xb_judge_measure(const struct xb_comparison *comparison, const struct xb_pair *pair,
                      struct xb_compared *compared)
{
    const char *name = compared->figure.name;
    struct trial trial = {
        .comparison = comparison,
        .compared = compared,
        .before = {.name = "baseline", .record = comparison->baseline, .test = pair->baseline},
        .after = {.name = "candidate", .record = comparison->candidate, .test = pair->candidate}};
    read_side(&trial.before, name, &compared->baseline);
    read_side(&trial.after, name, &compared->candidate);
    compared->p_regression = compared->p_improved = compared->p_pass = 1.0;
    if (judge_by_status(&trial) || pair->baseline == NULL ||
        pair->candidate == NULL) /* one without the other is judged by its status alone */
        return;
    compared->basis = XB_BASIS_STATUS;
    compared->outcome = XB_OUTCOME_INCONCLUSIVE;
    if (is_incomparable(&trial))
        return;
    compared->basis = XB_BASIS_TEST;
    for (size_t i = 0; i < trial.before.count; i++)
        trial.before.values[i] = log(trial.before.values[i]);
    for (size_t i = 0; i < trial.after.count; i++)
        trial.after.values[i] = log(trial.after.values[i]);
    note_stragglers(&trial);
    estimate_ratio(&trial);
    /* Each P is small where its claim holds: what it refutes is the contrary. */
    bool more = compared->figure.more_is_better;
    double sign = more ? 1.0 : -1.0;
    double worse = 1.0 - sign * compared->threshold, better = 1.0 + sign * compared->threshold;
    compared->p_regression = probability(&trial, worse, more);
    compared->p_pass = probability(&trial, worse, !more);
    compared->p_improved = probability(&trial, better, !more);
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

/* The verdict by figures, where so many tests share alpha. */
static void judge(struct xb_compared *compared, size_t tests, double alpha)
{
    /* Where the interval lies; where there is none, the ratio. */
    double low = compared->has_interval ? compared->low : compared->ratio;
    double high = compared->has_interval ? compared->high : compared->ratio;
    double threshold = compared->threshold;
    bool more = compared->figure.more_is_better;
    bool is_under = high < 1.0 - threshold; /* all of it */
    bool is_over = low > 1.0 + threshold;
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
    XB_EACH (compared, comparison->cases, comparison->case_count)
        if (compared->basis == XB_BASIS_TEST)
            judge(compared, compared->gates ? tests : 1, alpha);
}
