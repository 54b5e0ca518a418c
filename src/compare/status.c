/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts on what figures cannot tell: a case that failed, was skipped, or is not there. */
#include "internal.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void xb_compared_add(struct xb_compared *compared, const char *separator, const char *format, ...)
{
    const size_t size = sizeof compared->note;
    size_t length = strlen(compared->note);
    if (length > 0)
        snprintf(compared->note + length, size - length, "%s", separator);
    length = strlen(compared->note);
    XB_FORMAT(compared->note + length, size - length, format);
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

static const char *badness_name(const struct tally *tally)
{
    static const char *const words[] = {"skipped", "not measured", "failed", "wrong data"};
    return words[badness(tally->worst)];
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
static void say_bad(const struct trial *trial, bool in_candidate)
{
    const struct xb_record *record =
        in_candidate ? trial->comparison->candidate : trial->comparison->baseline;
    const struct tally *tally = in_candidate ? &trial->after : &trial->before;
    const struct xb_record_row *worst = tally->worst;
    const char *failure = record->processes[tally->where].failure; /* of the process itself */
    const char *reason = worst->is_there ? worst->reason : failure;
    xb_compared_note(trial->compared, "%s in %zu of %zu processes of the %s%s%.300s",
                     badness_name(tally), tally->alike, record->process_count,
                     in_candidate ? "candidate" : "baseline", reason != NULL ? ": " : "",
                     reason != NULL ? reason : "");
}

/* What the candidate had, what the baseline had, and P where a test compared the two. */
static void say_both_bad(const struct trial *trial)
{
    say_bad(trial, true);
    if (trial->before.bad > 0)
        xb_compared_add(trial->compared, "", "; %s in %zu of %zu of the baseline",
                        badness_name(&trial->before), trial->before.alike,
                        trial->comparison->baseline->process_count);
    if (trial->is_tested)
        xb_compared_add(trial->compared, "", " (P %.2g)", trial->p);
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
    return xb_at_most(p, trial->comparison->request.alpha);
}

/* A regression for what became of the candidate's processes. */
static bool conclude_worse(const struct trial *trial)
{
    trial->compared->basis = XB_BASIS_STATUS;
    trial->compared->outcome = XB_OUTCOME_REGRESSION;
    say_both_bad(trial);
    return true;
}

/* `note`: NULL for none. */
static bool conclude_open(const struct trial *trial, const char *note)
{
    trial->compared->basis = XB_BASIS_STATUS;
    trial->compared->outcome = XB_OUTCOME_INCONCLUSIVE;
    if (note != NULL)
        xb_compared_note(trial->compared, "%s", note);
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
 * Decides what figures cannot tell: a case that is in one file only, was not measured, or works
 * less often, or was measured with other settings. Wrong data is a regression whatever there was
 * before, unless there was as much of it; and then it never passes, though what always failed
 * without wrong data is only listed.
 */
bool xb_judge_by_status(const struct xb_comparison *comparison, const struct xb_pair *pair,
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
        return conclude_worse(&trial);
    if (before->fine == 0 && wrong_after > 0) { /* and no process to compare it with */
        note_failures(&trial);
        return conclude_open(&trial, NULL);
    }
    if (pair->baseline == NULL || (before->fine == 0 && before->bad > 0)) {
        /* There is nothing to compare with; what became of the candidate is told all the same. */
        compared->basis = XB_BASIS_NONE;
        if (after->bad > 0 || before->bad > 0)
            say_bad(&trial, after->bad > 0);
        return true;
    }
    if (before->fine == 0)
        return conclude_open(&trial, "the baseline's run was cut short before this case");
    if (pair->candidate == NULL)
        return conclude_open(&trial, NULL);
    if (compared->differs && !comparison->request.force) {
        if (after->bad > 0)
            say_bad(&trial, true);
        return conclude_open(&trial, NULL);
    }
    /* It works in some of the baseline's processes at least. */
    if (after->bad > 0 && (before->bad == 0 || after->fine == 0)) {
        trial.is_tested = false; /* no P decided this */
        return conclude_worse(&trial);
    }
    if (after->bad > 0 && is_more_often(&trial, before->bad, after->bad))
        return conclude_worse(&trial);
    if (after->fine == 0)
        return conclude_open(&trial, "the candidate's run was cut short before this case");
    /* What is told where figures are left to judge. */
    compared->fails_more = trial.is_higher;
    if (after->bad > 0)
        note_failures(&trial);
    else if (before->bad > 0)
        say_bad(&trial, false);
    else if (before->cut + after->cut > 0)
        xb_compared_note(compared, "a run was cut short: there are fewer processes than asked for");
    return false;
}
