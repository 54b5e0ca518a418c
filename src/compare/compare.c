/* SPDX-License-Identifier: Apache-2.0 */
/* Two records: their pairs of cases, and what is judged of each. */
#define _GNU_SOURCE /* qsort_r */
#include "internal.h"

#include "base/terminal.h"
#include "record/mode_list.h"
#include "xferbench/version.h"

#include <stdlib.h>
#include <string.h>

/* ---- which case is compared with which ---- */

/* The parameter of that index, or behind it, that is not at its default: one that a case lacks is
 * as good as one at its default. NULL after the last. */
static const struct xb_record_fact *next_unusual(const struct xb_comparison *comparison,
                                                 const struct xb_record_case *test, size_t *index)
{
    const struct xb_comparison_request *request = &comparison->request;
    while (*index < test->parameter_count) {
        const struct xb_record_fact *own = &test->parameters[(*index)++];
        if (own->value == NULL || !xb_parameter_is_default(request->defaults, request->rows, own))
            return own;
    }
    return NULL;
}

/* Orders cases by their parameters; 0 for the same. */
static int order_parameters(const struct xb_comparison *comparison, const struct xb_record_case *a,
                            const struct xb_record_case *b)
{
    int order = 0;
    for (size_t i = 0, k = 0; order == 0;) {
        const struct xb_record_fact *left = next_unusual(comparison, a, &i);
        const struct xb_record_fact *right = next_unusual(comparison, b, &k);
        if (left == NULL || right == NULL)
            return (left != NULL) - (right != NULL);
        order = strcmp(left->name, right->name);
        if (order == 0)
            order = strcmp(left->value != NULL ? left->value : "",
                           right->value != NULL ? right->value : "");
    }
    return order;
}

/* The case of a pair; of a leftover, which has one side, the case that the other file does not have
 * just so. */
static const struct xb_record_case *case_of(const struct xb_pair *pair)
{
    return pair->candidate != NULL ? pair->candidate : pair->baseline;
}

static int order_alike(const struct xb_pair *a, const struct xb_pair *b)
{
    return xb_cases_order(case_of(a), case_of(b), XB_BUT_PARAMETERS);
}

/* What is the same stands together, the baseline's first. */
static int by_all(const void *a, const void *b, void *comparison)
{
    const struct xb_pair *left = *(struct xb_pair *const *)a;
    const struct xb_pair *right = *(struct xb_pair *const *)b;
    int order = order_alike(left, right);
    if (order == 0)
        order = order_parameters(comparison, case_of(left), case_of(right));
    return order != 0 ? order : (left > right) - (left < right);
}

static void join(struct xb_pair *before, struct xb_pair *after, bool is_other)
{
    before->candidate = after->candidate;
    before->is_other = is_other;
    after->candidate = NULL; /* it does not stand alone */
}

/* Joins what is alike but for parameters: cases that are the same, then what is left over, if that
 * is one of either file. They are in the order of by_all(). */
static void join_alike(const struct xb_comparison *comparison, struct xb_pair *const *alike,
                       size_t count)
{
    struct xb_pair *single[2] = {NULL, NULL};
    size_t singles[2] = {0, 0}; /* of the baseline and of the candidate */
    for (size_t i = 0, k = 0; i < count; i++) {
        if (alike[i]->baseline != NULL)
            continue;
        while (k < i && (alike[k]->baseline == NULL ||
                         order_parameters(comparison, alike[k]->baseline, alike[i]->candidate)))
            k++;
        if (k < i)
            join(alike[k++], alike[i], false);
    }
    for (size_t i = 0; i < count; i++) {
        bool is_new = alike[i]->candidate != NULL;
        if (is_new == (alike[i]->baseline != NULL))
            continue; /* it is joined */
        single[is_new] = alike[i];
        singles[is_new]++;
    }
    if (singles[0] == 1 && singles[1] == 1)
        join(single[0], single[1], true);
}

/* In the baseline's order; what only the candidate has comes last. A parameter that only one file
 * has counts as being at its default in the other. Two cases that differ in nothing but parameters
 * are a pair too, marked as such, where each file has one such case only that is left over. */
static struct xb_pairs make_pairs(const struct xb_comparison *comparison)
{
    const struct xb_record *baseline = comparison->baseline, *candidate = comparison->candidate;
    size_t most = baseline->case_count + candidate->case_count;
    struct xb_pair **leftovers = xb_new(most, sizeof(struct xb_pair *));
    struct xb_pairs pairs = {.items = xb_new(most, sizeof *pairs.items)};
    size_t count = 0;
    for (size_t i = 0; i < baseline->case_count; i++) {
        struct xb_pair *pair = &pairs.items[pairs.count++];
        pair->baseline = &baseline->cases[i];
        pair->candidate = xb_record_find(candidate, pair->baseline);
        if (pair->candidate == NULL)
            leftovers[count++] = pair;
    }
    for (size_t i = 0; i < candidate->case_count; i++) {
        if (xb_record_find(baseline, &candidate->cases[i]) != NULL)
            continue;
        leftovers[count++] = &pairs.items[pairs.count];
        pairs.items[pairs.count++].candidate = &candidate->cases[i];
    }
    qsort_r(leftovers, count, sizeof(struct xb_pair *), by_all, (void *)comparison);
    for (size_t begin = 0, end = 0; begin < count; begin = end) {
        while (end < count && order_alike(leftovers[begin], leftovers[end]) == 0)
            end++;
        join_alike(comparison, leftovers + begin, end - begin);
    }
    size_t kept = 0; /* without what stands for nothing */
    for (size_t i = 0; i < pairs.count; i++)
        if (case_of(&pairs.items[i]) != NULL)
            pairs.items[kept++] = pairs.items[i];
    pairs.count = kept;
    free(leftovers);
    return pairs;
}

/* " chunk 64 KiB, streams 2": those of `test` that `other` does not have so. */
static void add_parameters(struct xb_words *words, const struct xb_record_case *test,
                           const struct xb_record_case *other)
{
    char value[40];
    const char *separator = " ";
    for (size_t i = 0; i < test->parameter_count; i++) {
        const struct xb_record_fact *own = &test->parameters[i];
        const struct xb_record_fact *others =
            xb_record_fact_find(other->parameters, other->parameter_count, own->name);
        if (own->value == NULL ||
            (others != NULL && others->value != NULL && strcmp(own->value, others->value) == 0))
            continue;
        xb_words_add(words, "%s%.40s %s", separator, own->name,
                     xb_parameter_text(test, own->name, value, sizeof value));
        separator = ", ";
    }
    if (separator[0] == ' ')
        xb_words_add(words, " no such parameter");
}

/* ---- which figures of a case are compared ---- */

/* Whether any of them takes that figure of the case. */
static bool any_passes(const struct xb_gates *gates, const struct xb_record_case *test,
                       const struct xb_figure *figure)
{
    for (size_t i = 0; i < gates->count; i++)
        if (xb_gate_passes(&gates->items[i], test, figure))
            return true;
    return false;
}

/* Adds those that count by themselves, or because a gate names them, each once. */
static size_t add_figures(const struct xb_comparison *comparison, const struct xb_record *record,
                          const struct xb_record_case *test, struct xb_figure *figures,
                          size_t count)
{
    for (size_t i = 0; test != NULL && i < record->process_count; i++)
        for (size_t k = 0; k < test->rows[i].figure_count; k++) {
            const struct xb_record_figure *own = &test->rows[i].figures[k];
            const struct xb_figure figure = {.name = own->name,
                                             .unit = own->unit,
                                             .more_is_better = own->more_is_better,
                                             .gates = own->gates};
            bool is_there = count == XB_COMPARE_FIGURES;
            for (size_t j = 0; j < count; j++)
                is_there = is_there || strcmp(figures[j].name, figure.name) == 0;
            if (!is_there &&
                (figure.gates || any_passes(&comparison->request.gates, test, &figure)))
                figures[count++] = figure;
        }
    return count;
}

size_t xb_compare_figures(const struct xb_comparison *comparison, const struct xb_pair *pair,
                          struct xb_figure figures[XB_COMPARE_FIGURES])
{
    const struct xb_record_case *test = case_of(pair);
    size_t count = 1; /* the case's own, also where it failed */
    figures[0] = *xb_mode_main_figure(test->mode, test->latency);
    count = add_figures(comparison, comparison->baseline, pair->baseline, figures, count);
    return add_figures(comparison, comparison->candidate, pair->candidate, figures, count);
}

/* ---- the whole ---- */

static void add_figure(struct xb_comparison *comparison, const struct xb_pair *pair,
                       const struct xb_figure *figure)
{
    const struct xb_gates *gates = &comparison->request.gates;
    const struct xb_gates *thresholds = &comparison->request.thresholds;
    comparison->cases =
        xb_grow(comparison->cases, comparison->case_count, sizeof *comparison->cases);
    struct xb_compared *compared = &comparison->cases[comparison->case_count++];
    *compared = (struct xb_compared){
        .test = case_of(pair),
        .figure = *figure,
        .threshold = comparison->request.threshold,
        .differs = pair->is_other || pair->settings != NULL,
    };
    struct xb_figure any = *figure;
    any.gates = true; /* a threshold is for every figure of the cases unless it names one */
    for (size_t i = 0; i < thresholds->count; i++)
        if (xb_gate_passes(&thresholds->items[i], compared->test, &any))
            compared->threshold = thresholds->items[i].share;
    xb_judge_measure(comparison, pair, compared);
    compared->gates =
        compared->basis != XB_BASIS_NONE &&
        (gates->count == 0 ? figure->gates : any_passes(gates, compared->test, figure));
    if (pair->is_other) { /* "measured with chunk 64 KiB, the baseline with chunk 8 MiB" */
        struct xb_words words = {.length = 0};
        xb_words_add(&words, "measured with");
        add_parameters(&words, pair->candidate, pair->baseline);
        xb_words_add(&words, ", the baseline with");
        add_parameters(&words, pair->baseline, pair->candidate);
        xb_compared_note(compared, "%.255s", words.text);
    }
    if (pair->settings != NULL)
        xb_compared_note(compared, "%.240s", pair->settings);
}

void xb_comparison_find_parameters(struct xb_comparison *comparison)
{
    struct xb_record compared = {.case_count = comparison->case_count};
    compared.cases = xb_new(comparison->case_count, sizeof *compared.cases);
    for (size_t i = 0; i < comparison->case_count; i++)
        compared.cases[i] = *comparison->cases[i].test;
    comparison->parameters = xb_parameters_that_differ(&compared);
    free(compared.cases); /* the names are not in it */
}

/* The number, from 1, of a gate none of whose cases is judged: what it stands for would pass
 * unseen. 0 for none. */
static size_t find_idle_gate(const struct xb_comparison *comparison)
{
    const struct xb_gates *asked = &comparison->request.gates;
    for (size_t i = 0; i < asked->count; i++) {
        bool judges = false;
        for (size_t j = 0; !judges && j < comparison->case_count; j++)
            judges = comparison->cases[j].gates &&
                     xb_gate_passes(&asked->items[i], comparison->cases[j].test,
                                    &comparison->cases[j].figure);
        if (!judges)
            return i + 1;
    }
    return 0;
}

enum xb_status xb_compare(const struct xb_record *baseline, const struct xb_record *candidate,
                          const struct xb_comparison_request *request,
                          struct xb_comparison *comparison, struct xb_error *error)
{
    *comparison = (struct xb_comparison){
        .version = XB_VERSION, .baseline = baseline, .candidate = candidate, .request = *request};
    XB_TRY(xb_gates_check(comparison, error));
    struct xb_pairs pairs = make_pairs(comparison);
    xb_differences_find(comparison, &pairs);
    bool compares = comparison->comparable || request->force;
    for (size_t i = 0; compares && i < pairs.count; i++) {
        struct xb_figure figures[XB_COMPARE_FIGURES];
        size_t count = xb_compare_figures(comparison, &pairs.items[i], figures);
        for (size_t j = 0; j < count; j++)
            add_figure(comparison, &pairs.items[i], &figures[j]);
    }
    free(pairs.items);
    xb_comparison_find_parameters(comparison);
    comparison->idle_gate = find_idle_gate(comparison);
    xb_judge_all(comparison);
    xb_judge_overall(comparison);
    return XB_OK;
}

void xb_comparison_free(struct xb_comparison *comparison)
{
    free(comparison->differences);
    free(comparison->cases);
    xb_arena_free(comparison->texts);
    *comparison = (struct xb_comparison){0};
}
