/* SPDX-License-Identifier: Apache-2.0 */
/* Two records: their pairs of cases, and what is judged of each. */
#include "internal.h"

#include "xferbench/version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- figures of pairs ---- */

/* Room for one more; grows by doubling from the count alone. */
static enum xb_status make_room(struct xb_comparison *comparison, struct xb_error *error)
{
    size_t count = comparison->case_count;
    if ((count & (count - 1)) != 0) /* neither a power of two nor none yet: there is room */
        return XB_OK;
    struct xb_compared *grown =
        realloc(comparison->cases, (count > 0 ? 2 * count : 1) * sizeof *grown);
    if (grown == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for %zu cases", count + 1);
    comparison->cases = grown;
    return XB_OK;
}

static enum xb_status add_figure(struct xb_comparison *comparison, const struct xb_pair *pair,
                                 const struct xb_figure *figure, struct xb_error *error)
{
    char text[256];
    enum xb_status status = make_room(comparison, error);
    if (status != XB_OK)
        return status;
    struct xb_compared *compared = &comparison->cases[comparison->case_count++];
    *compared = (struct xb_compared){
        .test = pair->candidate != NULL ? pair->candidate : pair->baseline,
        .figure = *figure,
        .presence = pair->baseline == NULL    ? XB_ONLY_IN_CANDIDATE
                    : pair->candidate == NULL ? XB_ONLY_IN_BASELINE
                                              : XB_IN_BOTH,
        .differs = pair->is_other || pair->settings != NULL,
    };
    compared->threshold = xb_threshold_of(&comparison->request, compared);
    status = xb_judge_measure(comparison, pair, compared, error);
    if (status != XB_OK)
        return status;
    compared->gates =
        compared->basis != XB_BASIS_NONE && xb_gates_take(&comparison->request.gates, compared);
    if (pair->is_other)
        xb_compared_note(compared, "%s", xb_pair_parameters_text(pair, text, sizeof text));
    if (pair->settings != NULL)
        xb_compared_note(compared, "%.240s", pair->settings);
    return XB_OK;
}

static enum xb_status add_pair(struct xb_comparison *comparison, const struct xb_pair *pair,
                               struct xb_error *error)
{
    struct xb_figure figures[XB_COMPARE_FIGURES];
    size_t count = xb_compare_figures(comparison, pair, figures);
    for (size_t i = 0; i < count; i++) {
        enum xb_status status = add_figure(comparison, pair, &figures[i], error);
        if (status != XB_OK)
            return status;
    }
    return XB_OK;
}

static enum xb_status add_pairs(struct xb_comparison *comparison, struct xb_pairs *pairs,
                                struct xb_error *error)
{
    bool is_refused = !comparison->comparable && !comparison->request.force;
    for (size_t i = 0; !is_refused && i < pairs->count; i++) {
        enum xb_status status = add_pair(comparison, &pairs->items[i], error);
        if (status != XB_OK)
            return status;
    }
    return XB_OK;
}

enum xb_status xb_comparison_find_parameters(struct xb_comparison *comparison,
                                             struct xb_error *error)
{
    struct xb_record compared = {.case_count = comparison->case_count};
    compared.cases = calloc(comparison->case_count + 1, sizeof *compared.cases);
    if (compared.cases == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for %zu cases", comparison->case_count);
    for (size_t i = 0; i < comparison->case_count; i++)
        compared.cases[i] = *comparison->cases[i].test;
    comparison->parameters = xb_parameters_that_differ(&compared);
    free(compared.cases); /* the names are not in it */
    return XB_OK;
}

/* ---- the whole ---- */

static enum xb_status compare_pairs(struct xb_comparison *comparison, struct xb_pairs *pairs,
                                    struct xb_error *error)
{
    enum xb_status status = xb_differences_find(comparison, pairs, error);
    if (status != XB_OK)
        return status;
    status = add_pairs(comparison, pairs, error);
    if (status != XB_OK)
        return status;
    status = xb_comparison_find_parameters(comparison, error);
    if (status != XB_OK)
        return status;
    comparison->idle_gate = xb_gates_find_idle(comparison);
    status = xb_judge_all(comparison, error);
    if (status != XB_OK)
        return status;
    xb_judge_overall(comparison);
    return XB_OK;
}

enum xb_status xb_compare(const struct xb_record *baseline, const struct xb_record *candidate,
                          const struct xb_comparison_request *request,
                          struct xb_comparison *comparison, struct xb_error *error)
{
    struct xb_pairs pairs = {0};
    *comparison = (struct xb_comparison){
        .version = XB_VERSION, .baseline = baseline, .candidate = candidate, .request = *request};
    enum xb_status status = xb_gates_check(comparison, error);
    if (status != XB_OK)
        return status;
    status = xb_thresholds_check(comparison, error);
    if (status != XB_OK)
        return status;
    status = xb_pairs_make(comparison, &pairs, error);
    if (status != XB_OK)
        return status;
    status = compare_pairs(comparison, &pairs, error);
    xb_pairs_free(&pairs);
    if (status != XB_OK)
        xb_comparison_free(comparison);
    return status;
}

void xb_comparison_free(struct xb_comparison *comparison)
{
    free(comparison->differences);
    free(comparison->cases);
    xb_arena_free(comparison->texts);
    *comparison = (struct xb_comparison){0};
}
