/* SPDX-License-Identifier: Apache-2.0 */
/* Two records: their pairs of cases, and what is judged of each. */
#include "internal.h"

#include "record/mode_list.h"
#include "xferbench/version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- which figures of a case are compared ---- */

/* Adds those that count by themselves, or because a gate names them, each once. */
static size_t add_side(const struct xb_comparison *comparison, const struct xb_record *record,
                       const struct xb_record_case *test, struct xb_figure *figures, size_t count)
{
    for (size_t i = 0; test != NULL && i < record->process_count; i++)
        for (size_t k = 0; k < test->rows[i].figure_count; k++) {
            const struct xb_record_figure *own = &test->rows[i].figures[k];
            const struct xb_figure figure = {.name = own->name,
                                             .unit = own->unit,
                                             .more_is_better = own->more_is_better,
                                             .gates = own->gates};
            const struct xb_gates *gates = &comparison->request.gates;
            bool is_wanted = figure.gates;
            bool is_there = count == XB_COMPARE_FIGURES;
            for (size_t j = 0; j < gates->count; j++)
                is_wanted = is_wanted || xb_gate_passes(&gates->items[j], test, &figure);
            for (size_t j = 0; j < count; j++)
                is_there = is_there || strcmp(figures[j].name, figure.name) == 0;
            if (is_wanted && !is_there)
                figures[count++] = figure;
        }
    return count;
}

const struct xb_figure *xb_compare_own_figure(const struct xb_record_case *test)
{
    return xb_mode_main_figure(test->mode, test->latency);
}

size_t xb_compare_figures(const struct xb_comparison *comparison, const struct xb_pair *pair,
                          struct xb_figure figures[XB_COMPARE_FIGURES])
{
    const struct xb_record_case *test = pair->candidate != NULL ? pair->candidate : pair->baseline;
    size_t count = 1; /* the case's own, also where it failed */
    figures[0] = *xb_compare_own_figure(test);
    count = add_side(comparison, comparison->baseline, pair->baseline, figures, count);
    return add_side(comparison, comparison->candidate, pair->candidate, figures, count);
}

/* ---- figures of pairs ---- */

static enum xb_status add_figure(struct xb_comparison *comparison, const struct xb_pair *pair,
                                 const struct xb_figure *figure, struct xb_error *error)
{
    char text[256];
    struct xb_compared *cases = xb_grow(comparison->cases, comparison->case_count, sizeof *cases);
    if (cases == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for %zu cases", comparison->case_count + 1);
    comparison->cases = cases;
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
    XB_TRY(xb_judge_measure(comparison, pair, compared, error));
    compared->gates =
        compared->basis != XB_BASIS_NONE && xb_gates_take(&comparison->request.gates, compared);
    if (pair->is_other)
        xb_compared_note(compared, "%s", xb_pair_parameters_text(pair, text, sizeof text));
    if (pair->settings != NULL)
        xb_compared_note(compared, "%.240s", pair->settings);
    return XB_OK;
}

static enum xb_status add_pairs(struct xb_comparison *comparison, struct xb_pairs *pairs,
                                struct xb_error *error)
{
    bool is_refused = !comparison->comparable && !comparison->request.force;
    enum xb_status status = XB_OK;
    for (size_t i = 0; !is_refused && status == XB_OK && i < pairs->count; i++) {
        struct xb_figure figures[XB_COMPARE_FIGURES];
        size_t count = xb_compare_figures(comparison, &pairs->items[i], figures);
        for (size_t j = 0; status == XB_OK && j < count; j++)
            status = add_figure(comparison, &pairs->items[i], &figures[j], error);
    }
    return status;
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
    XB_TRY(xb_differences_find(comparison, pairs, error));
    XB_TRY(add_pairs(comparison, pairs, error));
    XB_TRY(xb_comparison_find_parameters(comparison, error));
    comparison->idle_gate = xb_gates_find_idle(comparison);
    XB_TRY(xb_judge_all(comparison, error));
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
    XB_TRY(xb_gates_check(comparison, error));
    XB_TRY(xb_thresholds_check(comparison, error));
    XB_TRY(xb_pairs_make(comparison, &pairs, error));
    enum xb_status status = compare_pairs(comparison, &pairs, error);
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
