/* SPDX-License-Identifier: Apache-2.0 */
/* Two records: their pairs of cases, and what is judged of each. */
#define _GNU_SOURCE /* qsort_r */
#include "internal.h"

#include "base/terminal.h"
#include "record/mode_list.h"
#include "record/rows.h"
#include "xferbench/version.h"

#include <stdio.h>
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

static int by_all(const void *a, const void *b, void *comparison)
{
    const struct xb_pair *left = *(struct xb_pair *const *)a;
    const struct xb_pair *right = *(struct xb_pair *const *)b;
    int order = order_alike(left, right);
    if (order == 0)
        order = order_parameters(comparison, case_of(left), case_of(right));
    return order != 0 ? order : (left > right) - (left < right);
}

/* How many from the first on are the same but for parameters. */
static size_t alike(struct xb_pair *const *leftovers, size_t count)
{
    size_t length = 1;
    while (length < count && order_alike(leftovers[0], leftovers[length]) == 0)
        length++;
    return length;
}

static void join(struct xb_pair *before, struct xb_pair *after, bool is_other)
{
    before->candidate = after->candidate;
    before->is_other = is_other;
    after->candidate = NULL; /* it does not stand alone */
}

/* Cases that are alike: joins those that are the same, then what is left over, if that is one of
 * either file. */
static void join_alike(const struct xb_comparison *comparison, struct xb_pair *const *before,
                       size_t n, struct xb_pair *const *after, size_t m)
{
    struct xb_pair *left = NULL, *right = NULL;
    size_t same = 0;
    for (size_t i = 0, k = 0; i < n || k < m;) {
        int order = i == n   ? 1
                    : k == m ? -1
                             : order_parameters(comparison, case_of(before[i]), case_of(after[k]));
        left = order < 0 ? before[i] : left;
        right = order > 0 ? after[k] : right;
        if (order == 0) {
            join(before[i], after[k], false);
            same++;
        }
        i += order <= 0;
        k += order >= 0;
    }
    if (n == same + 1 && m == same + 1)
        join(left, right, true);
}

/* Adds the cases of a file: the baseline's with the candidate's that are the same, of the
 * candidate's those that only it has. Collects what has no partner, and returns how many. */
static size_t add_cases(struct xb_pairs *pairs, const struct xb_record *record,
                        const struct xb_record *other, bool is_candidate,
                        struct xb_pair **leftovers)
{
    size_t count = 0;
    for (size_t i = 0; i < record->case_count; i++) {
        const struct xb_record_case *test = &record->cases[i];
        const struct xb_record_case *same = xb_record_find(other, test);
        if (is_candidate && same != NULL)
            continue;
        if (same == NULL)
            leftovers[count++] = &pairs->items[pairs->count];
        pairs->items[pairs->count++] = is_candidate
                                           ? (struct xb_pair){.candidate = test}
                                           : (struct xb_pair){.baseline = test, .candidate = same};
    }
    return count;
}

/* In the baseline's order; what only the candidate has comes last. A parameter that only one file
 * has counts as being at its default in the other. Two cases that differ in nothing but parameters
 * are a pair too, marked as such, where each file has one such case only that is left over. */
static struct xb_pairs make_pairs(const struct xb_comparison *comparison)
{
    size_t most = comparison->baseline->case_count + comparison->candidate->case_count;
    struct xb_pair **leftovers = xb_new(most, sizeof(struct xb_pair *));
    struct xb_pairs pairs = {.items = xb_new(most, sizeof *pairs.items)};
    size_t n = add_cases(&pairs, comparison->baseline, comparison->candidate, false, leftovers);
    struct xb_pair **others = leftovers + n;
    size_t m = add_cases(&pairs, comparison->candidate, comparison->baseline, true, others);
    qsort_r(leftovers, n, sizeof(struct xb_pair *), by_all, (void *)comparison);
    qsort_r(others, m, sizeof(struct xb_pair *), by_all, (void *)comparison);
    /* Groups of cases that are alike in both, one after the other. */
    for (size_t i = 0, k = 0; i < n && k < m;) {
        int order = order_alike(leftovers[i], others[k]);
        size_t left = order <= 0 ? alike(&leftovers[i], n - i) : 0;
        size_t right = order >= 0 ? alike(&others[k], m - k) : 0;
        join_alike(comparison, &leftovers[i], left, &others[k], right);
        i += left;
        k += right;
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
    size_t count = 1; /* the case's own, also where it failed */
    figures[0] = *xb_compare_own_figure(case_of(pair));
    count = add_figures(comparison, comparison->baseline, pair->baseline, figures, count);
    return add_figures(comparison, comparison->candidate, pair->candidate, figures, count);
}

/* ---- the whole ---- */

static void add_figure(struct xb_comparison *comparison, const struct xb_pair *pair,
                       const struct xb_figure *figure)
{
    comparison->cases =
        xb_grow(comparison->cases, comparison->case_count, sizeof *comparison->cases);
    struct xb_compared *compared = &comparison->cases[comparison->case_count++];
    *compared = (struct xb_compared){
        .test = case_of(pair),
        .figure = *figure,
        .differs = pair->is_other || pair->settings != NULL,
    };
    compared->threshold = xb_threshold_of(&comparison->request, compared);
    xb_judge_measure(comparison, pair, compared);
    compared->gates =
        compared->basis != XB_BASIS_NONE && xb_gates_take(&comparison->request.gates, compared);
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

enum xb_status xb_compare(const struct xb_record *baseline, const struct xb_record *candidate,
                          const struct xb_comparison_request *request,
                          struct xb_comparison *comparison, struct xb_error *error)
{
    *comparison = (struct xb_comparison){
        .version = XB_VERSION, .baseline = baseline, .candidate = candidate, .request = *request};
    XB_TRY(xb_gates_check(comparison, error));
    struct xb_pairs pairs = make_pairs(comparison);
    xb_differences_find(comparison, &pairs);
    bool is_refused = !comparison->comparable && !request->force;
    for (size_t i = 0; !is_refused && i < pairs.count; i++) {
        struct xb_figure figures[XB_COMPARE_FIGURES];
        size_t count = xb_compare_figures(comparison, &pairs.items[i], figures);
        for (size_t j = 0; j < count; j++)
            add_figure(comparison, &pairs.items[i], &figures[j]);
    }
    free(pairs.items);
    xb_comparison_find_parameters(comparison);
    comparison->idle_gate = xb_gates_find_idle(comparison);
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
