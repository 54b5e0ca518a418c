/* SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- which cases gate ---- */

static bool passes(const struct xb_gate *gate, const struct xb_record_case *test)
{
    return (gate->mode == NULL || strcmp(gate->mode, test->mode) == 0) &&
           (gate->direction == NULL || strcmp(gate->direction, test->direction) == 0) &&
           test->bytes >= gate->least && test->bytes <= gate->most;
}

static bool gates(const struct xb_gates *gates, const struct xb_record_case *test)
{
    bool any = gates->count == 0;
    for (size_t i = 0; !any && i < gates->count; i++)
        any = passes(&gates->items[i], test);
    return any;
}

static bool passes_any_case(const struct xb_gate *gate, const struct xb_record *record)
{
    bool any = false;
    for (size_t i = 0; !any && i < record->case_count; i++)
        any = passes(gate, &record->cases[i]);
    return any;
}

static enum xb_status refuse_gate(const struct xb_gate *gate, size_t number, struct xb_error *error)
{
    char sizes[64] = "any size";
    if (gate->least > 0 || gate->most < UINT64_MAX)
        snprintf(sizes, sizeof sizes, "%" PRIu64 " to %" PRIu64 " bytes", gate->least, gate->most);
    return XB_FAIL(
        error, XB_ERR_USAGE,
        "--gate: no case of either file passes gate %zu (mode %.40s, direction %.20s, %s)", number,
        gate->mode != NULL ? gate->mode : "any", gate->direction != NULL ? gate->direction : "any",
        sizes);
}

/* A gate that nothing passes is a slip of the pen that would let everything through. */
static enum xb_status check_gates(const struct xb_comparison *comparison, struct xb_error *error)
{
    const struct xb_gates *asked = &comparison->request.gates;
    for (size_t i = 0; i < asked->count; i++) {
        const struct xb_gate *gate = &asked->items[i];
        if (!passes_any_case(gate, comparison->baseline) &&
            !passes_any_case(gate, comparison->candidate))
            return refuse_gate(gate, i + 1, error);
    }
    return XB_OK;
}

/* A gate none of whose cases is judged: what it stands for would pass unseen. */
static size_t find_idle_gate(const struct xb_comparison *comparison)
{
    const struct xb_gates *asked = &comparison->request.gates;
    for (size_t i = 0; i < asked->count; i++) {
        bool judges = false;
        for (size_t j = 0; !judges && j < comparison->case_count; j++)
            judges =
                comparison->cases[j].gates && passes(&asked->items[i], comparison->cases[j].test);
        if (!judges)
            return i + 1;
    }
    return 0;
}

/* ---- pairs ---- */

static enum xb_status add_pair(struct xb_comparison *comparison, struct xb_pair pair,
                               struct xb_error *error)
{
    const struct xb_record_case *test = pair.candidate != NULL ? pair.candidate : pair.baseline;
    assert(test != NULL);
    enum xb_status status = XB_OK;
    for (int metric = 0; status == XB_OK && metric < XB_METRICS; metric++) {
        if (!xb_judge_has_metric(comparison, pair, (enum xb_metric)metric))
            continue;
        struct xb_compared *compared = &comparison->cases[comparison->case_count++];
        *compared = (struct xb_compared){.test = test, .metric = (enum xb_metric)metric};
        compared->presence = pair.baseline == NULL    ? XB_ONLY_IN_CANDIDATE
                             : pair.candidate == NULL ? XB_ONLY_IN_BASELINE
                                                      : XB_IN_BOTH;
        status = xb_judge_measure(comparison, pair, compared, error);
        compared->gates =
            compared->basis != XB_BASIS_NONE && gates(&comparison->request.gates, test);
    }
    return status;
}

/* In the baseline's order; what only the candidate has comes last. */
static enum xb_status add_pairs(struct xb_comparison *comparison, struct xb_error *error)
{
    const struct xb_record *baseline = comparison->baseline;
    const struct xb_record *candidate = comparison->candidate;
    size_t most = XB_METRICS * (baseline->case_count + candidate->case_count);
    enum xb_status status = XB_OK;
    comparison->cases = calloc(most + 1, sizeof *comparison->cases);
    if (comparison->cases == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for %zu cases", most);
    for (size_t i = 0; status == XB_OK && i < baseline->case_count; i++) {
        const struct xb_record_case *test = &baseline->cases[i];
        status =
            add_pair(comparison, (struct xb_pair){test, xb_record_find(candidate, test)}, error);
    }
    for (size_t i = 0; status == XB_OK && i < candidate->case_count; i++) {
        const struct xb_record_case *test = &candidate->cases[i];
        if (xb_record_find(baseline, test) == NULL)
            status = add_pair(comparison, (struct xb_pair){NULL, test}, error);
    }
    return status;
}

enum xb_status xb_compare(const struct xb_record *baseline, const struct xb_record *candidate,
                          const struct xb_comparison_request *request,
                          struct xb_comparison *comparison, struct xb_error *error)
{
    *comparison =
        (struct xb_comparison){.baseline = baseline, .candidate = candidate, .request = *request};
    enum xb_status status = check_gates(comparison, error);
    if (status == XB_OK)
        status = xb_compare_conditions(comparison, error);
    if (status == XB_OK && (comparison->comparable || request->force))
        status = add_pairs(comparison, error);
    comparison->idle_gate = status == XB_OK ? find_idle_gate(comparison) : 0;
    if (status == XB_OK)
        status = xb_judge_all(comparison, error);
    if (status == XB_OK)
        xb_judge_overall(comparison);
    else
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
