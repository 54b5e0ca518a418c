/* SPDX-License-Identifier: Apache-2.0 */
/* From what was found of every figure to verdicts, and to one over all that gate. */
#include "internal.h"

#include "rank_test.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const char *xb_outcome_name(enum xb_outcome outcome)
{
    switch (outcome) {
    case XB_OUTCOME_PASS:
        return "PASS";
    case XB_OUTCOME_IMPROVED:
        return "IMPROVED";
    case XB_OUTCOME_INCONCLUSIVE:
        return "INCONCLUSIVE";
    case XB_OUTCOME_REGRESSION:
        return "REGRESSION";
    }
    return "unknown";
}

/* Judged by figures, and one of those that share alpha. */
static bool is_gating_test(const struct xb_compared *compared)
{
    return compared->gates && compared->basis == XB_BASIS_TEST;
}

/* ---- Holm over the figures that gate ---- */

/* Adjusts one P of every gating test; `p` says which. */
static enum xb_status adjust(struct xb_comparison *comparison,
                             double *(*p)(struct xb_compared *compared), struct xb_error *error)
{
    size_t count = 0;
    double *values = calloc(comparison->case_count + 1, sizeof *values);
    if (values == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for %zu tests", comparison->case_count);
    for (size_t i = 0; i < comparison->case_count; i++)
        if (is_gating_test(&comparison->cases[i]))
            values[count++] = *p(&comparison->cases[i]);
    enum xb_status status = xb_holm_adjust(values, count, error);
    count = 0;
    for (size_t i = 0; i < comparison->case_count; i++)
        if (is_gating_test(&comparison->cases[i]))
            *p(&comparison->cases[i]) = values[count++];
    free(values);
    return status;
}

static double *p_regression(struct xb_compared *compared)
{
    return &compared->p_regression;
}

static double *p_improved(struct xb_compared *compared)
{
    return &compared->p_improved;
}

/* ---- one case ---- */

static enum xb_outcome tested(const struct xb_compared *compared, double alpha)
{
    return xb_at_most(compared->p_regression, alpha) ? XB_OUTCOME_REGRESSION
           : xb_at_most(compared->p_improved, alpha) ? XB_OUTCOME_IMPROVED
           : xb_at_most(compared->p_pass, alpha)     ? XB_OUTCOME_PASS
                                                     : XB_OUTCOME_INCONCLUSIVE;
}

/* Where the interval lies; where there is none, the ratio. */
static enum xb_outcome indicated(const struct xb_compared *compared, double threshold)
{
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

/*
 * Whether there are enough processes on either side. That the smaller side has many opposite it is
 * no help: where it scatters more, one against a hundred would be wrong far more often than alpha.
 */
static bool can_tell(const struct xb_compared *compared, size_t tests, double alpha)
{
    size_t needed = xb_rank_values_needed(tests, alpha);
    return needed > 0 && compared->baseline_n >= needed && compared->candidate_n >= needed;
}

static void judge(struct xb_compared *compared, size_t tests,
                  const struct xb_comparison_request *request)
{
    if (can_tell(compared, tests, request->alpha)) {
        compared->outcome = tested(compared, request->alpha);
    } else {
        compared->basis = XB_BASIS_INDICATIVE;
        compared->outcome = indicated(compared, request->threshold);
        compared->p_regression = compared->p_improved = compared->p_pass = 1.0;
    }
    if (compared->cannot_pass && compared->outcome != XB_OUTCOME_REGRESSION)
        compared->outcome = XB_OUTCOME_INCONCLUSIVE;
}

enum xb_status xb_judge_all(struct xb_comparison *comparison, struct xb_error *error)
{
    size_t tests = 0;
    for (size_t i = 0; i < comparison->case_count; i++)
        tests += is_gating_test(&comparison->cases[i]);
    comparison->gating_count = tests;
    comparison->processes_needed =
        xb_rank_values_needed(tests > 0 ? tests : 1, comparison->request.alpha);
    enum xb_status status = adjust(comparison, p_regression, error);
    if (status != XB_OK)
        return status;
    status = adjust(comparison, p_improved, error);
    if (status != XB_OK)
        return status;
    for (size_t i = 0; i < comparison->case_count; i++) {
        struct xb_compared *compared = &comparison->cases[i];
        if (compared->basis == XB_BASIS_TEST)
            judge(compared, compared->gates ? tests : 1, &comparison->request);
    }
    return XB_OK;
}

/* ---- all that gate ---- */

size_t xb_comparison_count(const struct xb_comparison *comparison, enum xb_outcome outcome)
{
    size_t count = 0;
    for (size_t i = 0; i < comparison->case_count; i++) {
        const struct xb_compared *compared = &comparison->cases[i];
        count += compared->gates && compared->outcome == outcome &&
                 (compared->basis == XB_BASIS_TEST || compared->basis == XB_BASIS_STATUS);
    }
    return count;
}

/* How many gating figures are indicative only; how many of them look like a regression. */
static size_t count_indicative(const struct xb_comparison *comparison, size_t *regressions)
{
    size_t count = 0;
    *regressions = 0;
    for (size_t i = 0; i < comparison->case_count; i++) {
        const struct xb_compared *compared = &comparison->cases[i];
        if (!compared->gates || compared->basis != XB_BASIS_INDICATIVE)
            continue;
        count++;
        *regressions += compared->outcome == XB_OUTCOME_REGRESSION;
    }
    return count;
}

static void conclude(struct xb_comparison *comparison, enum xb_outcome overall, const char *format,
                     ...) __attribute__((format(printf, 3, 4)));

static void conclude(struct xb_comparison *comparison, enum xb_outcome overall, const char *format,
                     ...)
{
    va_list arguments;
    comparison->overall = overall;
    va_start(arguments, format);
    vsnprintf(comparison->reason, sizeof comparison->reason, format, arguments);
    va_end(arguments);
}

static void conclude_indicative(struct xb_comparison *comparison, size_t indicative,
                                size_t regressions)
{
    char needed[96] = "more than can be compared";
    if (comparison->processes_needed > 0)
        snprintf(needed, sizeof needed, "%zu processes a side (--processes %zu)",
                 comparison->processes_needed, comparison->processes_needed);
    conclude(
        comparison, XB_OUTCOME_INCONCLUSIVE,
        "too few processes to judge %zu of %zu gating figures: alpha %g takes %s; %zu of them look "
        "like a regression, which may be chance",
        indicative, comparison->gating_count, comparison->request.alpha, needed, regressions);
}

/* How many gating figures failed, or had wrong data, on both sides, and are not worse by figures.
 * *more: how many of these did so in a larger share of the candidate's processes. */
static size_t count_broken(const struct xb_comparison *comparison, size_t *more)
{
    size_t count = 0;
    *more = 0;
    for (size_t i = 0; i < comparison->case_count; i++) {
        const struct xb_compared *compared = &comparison->cases[i];
        if (!compared->gates || !compared->cannot_pass ||
            compared->outcome != XB_OUTCOME_INCONCLUSIVE)
            continue;
        count++;
        *more += compared->fails_more;
    }
    return count;
}

/* More processes mend nothing, but they can tell a higher rate of failures from chance. */
static void conclude_broken(struct xb_comparison *comparison, size_t broken, size_t more,
                            size_t all)
{
    char advice[128] = "more processes do not mend that";
    if (more > 0)
        snprintf(advice, sizeof advice,
                 "%zu did so more often in the candidate, and more processes may show whether that "
                 "is chance",
                 more);
    conclude(comparison, XB_OUTCOME_INCONCLUSIVE,
             "%zu of %zu gating figures did not work, or had wrong data, in processes of both "
             "files: find out why first; %s",
             broken, all, advice);
}

/* Whether an INCONCLUSIVE one is so for what became of it, and not for its figures. */
static bool has_status(const struct xb_comparison *comparison)
{
    for (size_t i = 0; i < comparison->case_count; i++) {
        const struct xb_compared *compared = &comparison->cases[i];
        if (compared->gates && compared->basis == XB_BASIS_STATUS &&
            compared->outcome == XB_OUTCOME_INCONCLUSIVE)
            return true;
    }
    return false;
}

void xb_judge_overall(struct xb_comparison *comparison)
{
    size_t regressions = xb_comparison_count(comparison, XB_OUTCOME_REGRESSION);
    size_t open = xb_comparison_count(comparison, XB_OUTCOME_INCONCLUSIVE);
    size_t improved = xb_comparison_count(comparison, XB_OUTCOME_IMPROVED);
    size_t passed = xb_comparison_count(comparison, XB_OUTCOME_PASS) + improved;
    size_t indicated_regressions = 0;
    size_t indicative = count_indicative(comparison, &indicated_regressions);
    size_t all = regressions + open + passed + indicative;
    size_t fails_more = 0;
    size_t broken = count_broken(comparison, &fails_more);
    double percent = 100.0 * comparison->request.threshold;
    if (!comparison->comparable && !comparison->request.force)
        conclude(comparison, XB_OUTCOME_INCONCLUSIVE,
                 "the files were not measured under the same conditions; --force compares them "
                 "anyway");
    else if (regressions > 0)
        conclude(comparison, XB_OUTCOME_REGRESSION,
                 "%zu of %zu gating figures are worse by %g %% or more, or no longer work",
                 regressions, all, percent);
    else if (comparison->idle_gate > 0)
        conclude(comparison, XB_OUTCOME_INCONCLUSIVE,
                 "gate %zu of --gate judges nothing: no case that passes it was measured in both "
                 "files",
                 comparison->idle_gate);
    else if (broken > 0)
        conclude_broken(comparison, broken, fails_more, all);
    else if (indicative > 0)
        conclude_indicative(comparison, indicative, indicated_regressions);
    else if (open > 0)
        conclude(comparison, XB_OUTCOME_INCONCLUSIVE,
                 "%zu of %zu gating figures: %sthe data does not tell whether they are worse by %g "
                 "%%",
                 open, all, has_status(comparison) ? "not there in both files, or " : "", percent);
    else if (passed == 0)
        conclude(comparison, XB_OUTCOME_INCONCLUSIVE,
                 "nothing that gates was measured in both files");
    else if (improved > 0)
        conclude(comparison, XB_OUTCOME_IMPROVED,
                 "all %zu gating figures pass: none got %g %% worse, and %zu got %g %% better", all,
                 percent, improved, percent);
    else
        conclude(comparison, XB_OUTCOME_PASS, "all %zu gating figures pass: none got %g %% worse",
                 all, percent);
}
