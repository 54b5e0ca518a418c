/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts on what figures cannot tell: a case that failed, was skipped, or is not there. */
#include "internal.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void append(struct xb_compared *compared, const char *format, va_list arguments)
{
    size_t length = strlen(compared->note);
    vsnprintf(compared->note + length, sizeof compared->note - length, format, arguments);
}

/* Goes on where the note ends. */
__attribute__((format(printf, 2, 3))) static void say_more(struct xb_compared *compared,
                                                           const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    append(compared, format, arguments);
    va_end(arguments);
}

void xb_compared_note(struct xb_compared *compared, const char *format, ...)
{
    va_list arguments;
    if (compared->note[0] != '\0')
        say_more(compared, "; ");
    va_start(arguments, format);
    append(compared, format, arguments);
    va_end(arguments);
}

void xb_compared_conclude(struct xb_compared *compared, enum xb_basis basis,
                          enum xb_outcome outcome)
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

/* What became of a case in the processes of a file. */
struct tally {
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
static struct tally tally_of(const struct xb_record *record, const struct xb_record_case *test)
{
    struct tally tally = {0};
    for (size_t i = 0; test != NULL && i < record->process_count; i++) {
        const struct xb_record_row *row = &test->rows[i];
        if (was_cut(record, test, i)) {
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

static const char *badness_name(const struct tally *tally)
{
    static const char *const words[] = {"skipped", "not measured", "failed", "wrong data"};
    return words[badness(tally->worst)];
}

/* The worst that happened, and in how many processes that did. */
static void say_bad(struct xb_compared *compared, const char *side, const struct xb_record *record,
                    const struct tally *tally)
{
    const struct xb_record_row *worst = tally->worst;
    const char *failure = record->processes[tally->where].failure; /* of the process itself */
    const char *reason = worst->is_there ? worst->reason : failure;
    xb_compared_note(compared, "%s in %zu of %zu processes of the %s%s%.300s", badness_name(tally),
                     tally->alike, record->process_count, side, reason != NULL ? ": " : "",
                     reason != NULL ? reason : "");
}

/* The logarithm of n over k. */
static double log_choose(size_t n, size_t k)
{
    return lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma((double)(n - k) + 1);
}

double xb_fisher_probability(size_t before, size_t n, size_t after, size_t m)
{
    size_t bad = before + after;
    size_t most = bad < m ? bad : m;
    double probability = 0;
    for (size_t k = after; k <= most; k++)
        if (m - k <= n + m - bad)
            probability +=
                exp(log_choose(bad, k) + log_choose(n + m - bad, m - k) - log_choose(n + m, m));
    return probability < 1.0 ? probability : 1.0;
}

/* What Fisher's exact test says of something that happened in processes of both files. */
struct odds {
    bool is_tested; /* the test was made; where the verdict does not depend on it, it was not */
    double p;       /* the smallest P of those made */
    bool is_higher; /* the candidate's share of processes is the larger one */
};

/* What the candidate had, what the baseline had, and P where a test compared the two. */
static void say_both_bad(const struct xb_comparison *comparison, const struct tally *before,
                         const struct tally *after, const struct odds *odds,
                         struct xb_compared *compared)
{
    say_bad(compared, "candidate", comparison->candidate, after);
    if (before->bad > 0)
        say_more(compared, "; %s in %zu of %zu of the baseline", badness_name(before),
                 before->alike, comparison->baseline->process_count);
    if (odds->is_tested)
        say_more(compared, " (P %.2g)", odds->p);
}

static size_t wrong_data(const struct tally *tally)
{
    return tally->bad > 0 && badness(tally->worst) == WRONG_DATA ? tally->alike : 0;
}

/* Whether `after` bad ones of its processes are more, by more than chance, than `before` ones. */
static bool is_more_often(const struct xb_comparison *comparison, const struct tally *first,
                          size_t before, const struct tally *second, size_t after,
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
static bool has_more_wrong_data(const struct xb_comparison *comparison, const struct tally *before,
                                const struct tally *after, struct odds *odds)
{
    return wrong_data(after) > 0 &&
           (wrong_data(before) == 0 ||
            is_more_often(comparison, before, wrong_data(before), after, wrong_data(after), odds));
}

/* For a case that works in some of the baseline's processes at least. */
static bool works_less(const struct xb_comparison *comparison, const struct tally *before,
                       const struct tally *after, struct odds *odds)
{
    if (after->bad == 0)
        return false;
    if (before->bad > 0 && after->fine > 0)
        return is_more_often(comparison, before, before->bad, after, after->bad, odds);
    odds->is_tested = false; /* no P decided this */
    return true;
}

/* A regression for what became of the candidate's processes. */
static bool conclude_worse(const struct xb_comparison *comparison, const struct tally *before,
                           const struct tally *after, const struct odds *odds,
                           struct xb_compared *compared)
{
    xb_compared_conclude(compared, XB_BASIS_STATUS, XB_OUTCOME_REGRESSION);
    say_both_bad(comparison, before, after, odds, compared);
    return true;
}

/* Wrong data in both files, and not one process of the baseline whose figures could be compared. */
static bool conclude_broken(const struct xb_comparison *comparison, const struct tally *before,
                            const struct tally *after, const struct odds *odds,
                            struct xb_compared *compared)
{
    xb_compared_conclude(compared, XB_BASIS_STATUS, XB_OUTCOME_INCONCLUSIVE);
    say_both_bad(comparison, before, after, odds, compared);
    compared->cannot_pass = true;
    compared->fails_more = odds->is_higher;
    return true;
}

static bool conclude(struct xb_compared *compared, enum xb_outcome outcome, const char *note)
{
    xb_compared_conclude(compared, XB_BASIS_STATUS, outcome);
    if (note != NULL)
        xb_compared_note(compared, "%s", note);
    return true;
}

/* There is nothing to compare with; what became of the candidate is told all the same. */
static bool conclude_nothing(const struct xb_comparison *comparison, const struct tally *before,
                             const struct tally *after, struct xb_compared *compared)
{
    xb_compared_conclude(compared, XB_BASIS_NONE, XB_OUTCOME_PASS);
    if (after->bad > 0)
        say_bad(compared, "candidate", comparison->candidate, after);
    else if (before->bad > 0)
        say_bad(compared, "baseline", comparison->baseline, before);
    return true;
}

/* What is told where figures are left to judge. Where both sides failed at times, the figures can
 * show a regression but nothing better. */
static void note_tallies(const struct xb_comparison *comparison, const struct tally *before,
                         const struct tally *after, const struct odds *odds,
                         struct xb_compared *compared)
{
    compared->cannot_pass = after->bad > 0;
    compared->fails_more = odds->is_higher;
    if (after->bad > 0)
        say_both_bad(comparison, before, after, odds, compared);
    else if (before->bad > 0)
        say_bad(compared, "baseline", comparison->baseline, before);
    else if (before->cut + after->cut > 0)
        xb_compared_note(compared, "a run was cut short: there are fewer processes than asked for");
}

/*
 * Decides what figures cannot tell: a case that is in one file only, was not measured, or works
 * less often, or was measured with other settings. Wrong data is a regression whatever there was
 * before, unless there was as much of it; and then it never passes, though what always failed
 * without wrong data is only listed.
 */
bool xb_judge_by_status(const struct xb_comparison *comparison, const struct xb_pair *pair,
                        struct xb_compared *compared)
{
    struct tally before = tally_of(comparison->baseline, pair->baseline);
    struct tally after = tally_of(comparison->candidate, pair->candidate);
    struct odds odds = {.is_tested = false};
    if (has_more_wrong_data(comparison, &before, &after, &odds))
        return conclude_worse(comparison, &before, &after, &odds, compared);
    if (before.fine == 0 && wrong_data(&after) > 0)
        return conclude_broken(comparison, &before, &after, &odds, compared);
    if (pair->baseline == NULL || (before.fine == 0 && before.bad > 0))
        return conclude_nothing(comparison, &before, &after, compared);
    if (before.fine == 0)
        return conclude(compared, XB_OUTCOME_INCONCLUSIVE,
                        "the baseline's run was cut short before this case");
    if (pair->candidate == NULL)
        return conclude(compared, XB_OUTCOME_INCONCLUSIVE, NULL);
    if (compared->differs && !comparison->request.force) {
        if (after.bad > 0)
            say_bad(compared, "candidate", comparison->candidate, &after);
        return conclude(compared, XB_OUTCOME_INCONCLUSIVE, NULL);
    }
    if (works_less(comparison, &before, &after, &odds))
        return conclude_worse(comparison, &before, &after, &odds, compared);
    if (after.fine == 0)
        return conclude(compared, XB_OUTCOME_INCONCLUSIVE,
                        "the candidate's run was cut short before this case");
    note_tallies(comparison, &before, &after, &odds, compared);
    return false;
}
