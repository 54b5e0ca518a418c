/* SPDX-License-Identifier: Apache-2.0 */
/* From what was found of every figure to verdicts, and to one over all that gate. */
#include "internal.h"

#include "rank_test.h"

#include <stddef.h>
#include <stdlib.h>

const char *xb_outcome_name(enum xb_outcome outcome)
{
    static const char *const names[] = {"PASS", "IMPROVED", "INCONCLUSIVE", "REGRESSION"};
    return outcome <= XB_OUTCOME_REGRESSION ? names[outcome] : "unknown";
}

/* Judged by figures, and one of those that share alpha. */
static bool is_gating_test(const struct xb_compared *compared)
{
    return compared->gates && compared->basis == XB_BASIS_TEST;
}

/* ---- Holm over the figures that gate ---- */

static double *p_at(struct xb_compared *compared, size_t offset)
{
    return (double *)(void *)((char *)compared + offset);
}

/* Adjusts one P of every gating test, the member at that offset. */
static enum xb_status adjust(struct xb_comparison *comparison, size_t offset,
                             struct xb_error *error)
{
    size_t count = 0;
    double *values = calloc(comparison->case_count + 1, sizeof *values);
    if (values == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for %zu tests", comparison->case_count);
    for (size_t i = 0; i < comparison->case_count; i++)
        if (is_gating_test(&comparison->cases[i]))
            values[count++] = *p_at(&comparison->cases[i], offset);
    enum xb_status status = xb_holm_adjust(values, count, error);
    count = 0;
    for (size_t i = 0; i < comparison->case_count; i++)
        if (is_gating_test(&comparison->cases[i]))
            *p_at(&comparison->cases[i], offset) = values[count++];
    free(values);
    return status;
}

/* ---- one case ---- */

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
        compared->outcome =
            xb_at_most(compared->p_regression, request->alpha) ? XB_OUTCOME_REGRESSION
            : xb_at_most(compared->p_improved, request->alpha) ? XB_OUTCOME_IMPROVED
            : xb_at_most(compared->p_pass, request->alpha)     ? XB_OUTCOME_PASS
                                                               : XB_OUTCOME_INCONCLUSIVE;
    } else {
        compared->basis = XB_BASIS_INDICATIVE;
        compared->outcome = indicated(compared);
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
    XB_TRY(adjust(comparison, offsetof(struct xb_compared, p_regression), error));
    XB_TRY(adjust(comparison, offsetof(struct xb_compared, p_improved), error));
    for (size_t i = 0; i < comparison->case_count; i++) {
        struct xb_compared *compared = &comparison->cases[i];
        if (compared->basis == XB_BASIS_TEST)
            judge(compared, compared->gates ? tests : 1, &comparison->request);
    }
    return XB_OK;
}

/* ---- what becomes of the whole ---- */

bool xb_compared_is_apart(const struct xb_comparison *comparison,
                          const struct xb_compared *compared)
{
    /* Wrong data is wrong under any settings: that row has its verdict. */
    return compared->differs && !comparison->request.force && compared->basis == XB_BASIS_STATUS &&
           compared->outcome == XB_OUTCOME_INCONCLUSIVE;
}

void xb_comparison_count_apart(struct xb_comparison *comparison)
{
    size_t apart = 0;
    size_t gating = 0;
    comparison->any_differs = false;
    for (size_t i = 0; i < comparison->case_count; i++) {
        const struct xb_compared *compared = &comparison->cases[i];
        gating += compared->gates;
        apart += compared->gates && xb_compared_is_apart(comparison, compared);
        comparison->any_differs = comparison->any_differs || compared->differs;
    }
    comparison->none_comparable = gating > 0 && apart == gating;
}

bool xb_comparison_is_refused(const struct xb_comparison *comparison)
{
    return !comparison->request.force && (!comparison->comparable || comparison->none_comparable);
}

int xb_comparison_exit_code(const struct xb_comparison *comparison)
{
    if (xb_comparison_is_refused(comparison))
        return 4;
    return comparison->overall == XB_OUTCOME_REGRESSION     ? 1
           : comparison->overall == XB_OUTCOME_INCONCLUSIVE ? 3
                                                            : 0;
}
