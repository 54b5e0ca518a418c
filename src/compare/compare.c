/* SPDX-License-Identifier: Apache-2.0 */
/* Two records: their pairs of cases, the conditions that differ, and what is judged of a pair. */
#define _GNU_SOURCE /* qsort_r */
#include "internal.h"

#include "base/order.h"
#include "base/terminal.h"
#include "record/mode_list.h"
#include "xferbench/version.h"

#include <stdlib.h>
#include <string.h>

/* ---- which case is compared with which ---- */

struct pairs {
    struct xb_pair *items;
    size_t count;
};

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

/* The case of a pair; a leftover has one side. */
static const struct xb_record_case *case_of(const struct xb_pair *pair)
{
    return pair->candidate != NULL ? pair->candidate : pair->baseline;
}

static int order_alike(const struct xb_pair *a, const struct xb_pair *b)
{
    return xb_cases_order(case_of(a), case_of(b), XB_BUT_PARAMETERS);
}

/* Puts what is the same together, the baseline's first. */
static int by_all(const void *left, const void *right, void *comparison)
{
    const struct xb_pair *a = *(struct xb_pair *const *)left, *b = *(struct xb_pair *const *)right;
    return XB_FIRST_ORDER(order_alike(a, b), order_parameters(comparison, case_of(a), case_of(b)),
                          XB_ORDER(a, b));
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
    struct xb_pair *single[2] = {NULL, NULL}; /* of the baseline and of the candidate: the last */
    size_t singles[2] = {0, 0};               /* and how many there are */
    for (size_t i = 0, k = 0; i < count; i++) {
        if (alike[i]->baseline != NULL)
            continue;
        while (k < i &&
               (alike[k]->baseline == NULL ||
                order_parameters(comparison, alike[k]->baseline, alike[i]->candidate) != 0))
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
static struct pairs make_pairs(const struct xb_comparison *comparison)
{
    const struct xb_record *baseline = comparison->baseline, *candidate = comparison->candidate;
    size_t most = baseline->case_count + candidate->case_count;
    struct xb_pair **leftovers = xb_new(most, sizeof(struct xb_pair *));
    struct pairs pairs = {.items = xb_new(most, sizeof *pairs.items)};
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

/* Adds " chunk 64 KiB, streams 2": those of `test` that `other` does not have so. */
static void add_parameters(struct xb_words *words, const struct xb_record_case *test,
                           const struct xb_record_case *other)
{
    char value[40];
    const char *separator = " ";
    XB_EACH (own, test->parameters, test->parameter_count) {
        const struct xb_record_fact *others =
            xb_record_fact_find(other->parameters, other->parameter_count, own->name);
        if (own->value == NULL || xb_record_same(own->value, others != NULL ? others->value : NULL))
            continue;
        xb_words_add(words, "%s%.40s %s", separator, own->name,
                     xb_parameter_text(test, own->name, value, sizeof value));
        separator = ", ";
    }
    if (separator[0] == ' ')
        xb_words_add(words, " no such parameter");
}

/* ---- were the two files measured under the same conditions? ---- */

/* Two files that are looked at for what differs. */
struct search {
    struct xb_comparison *comparison;
    const struct xb_record *records[2]; /* baseline and candidate */
    struct pairs *pairs;
    struct xb_arena **texts; /* of the comparison */
    size_t forbidding;       /* how many differences forbid a comparison: they come first */
};

enum weight { CONTEXT, FORBIDS, OF_ROWS, OF_STACK };

/* Both texts and the name must live as long as the comparison. */
static void add(struct search *search, const char *name, const char *baseline,
                const char *candidate, enum weight weight)
{
    struct xb_comparison *comparison = search->comparison;
    size_t count = comparison->difference_count;
    bool both = baseline != NULL && candidate != NULL;
    bool strict = comparison->request.strict;
    bool forbids = weight == FORBIDS || (weight == OF_STACK && strict);
    size_t place = forbids ? search->forbidding : count;
    if (xb_record_same(baseline, candidate))
        return;
    comparison->differences =
        xb_grow(comparison->differences, count, sizeof *comparison->differences);
    struct xb_difference *difference = &comparison->differences[place];
    memmove(difference + 1, difference, (count - place) * sizeof *difference);
    *difference = (struct xb_difference){.name = name,
                                         .baseline = baseline,
                                         .candidate = candidate,
                                         .forbids = forbids,
                                         .of_rows = weight == OF_ROWS,
                                         /* People exchange the stack to see what that does. What
                                          * one file does not know is context, but where nothing may
                                          * have changed nobody can tell that it has not. */
                                         .of_stack = weight == OF_STACK && (both || strict)};
    search->forbidding += forbids;
    comparison->difference_count++;
}

static const struct xb_record_device *find_device(const struct xb_record_process *process,
                                                  unsigned index)
{
    for (size_t i = 0; i < process->device_count; i++)
        if (process->devices[i].index == index)
            return &process->devices[i];
    return NULL;
}

enum property { MODEL, LINK, PACKETS };

XB_COMPARER(compare_texts, char, strcmp(a, b))

/* All that the processes saw, each once: what was not the same in all of them is another condition.
 * Sorted, because which process came first is chance. NULL where none saw anything. */
static const char *texts_of_device(struct search *search, const struct xb_record *record,
                                   unsigned index, enum property what)
{
    char texts[XB_RECORD_PROCESSES][160];
    const char *all = NULL;
    size_t count = 0;
    for (size_t i = 0; i < record->process_count; i++) {
        const struct xb_record_device *device = find_device(&record->processes[i], index);
        char *text = texts[count];
        if (device == NULL)
            continue;
        if (what == MODEL)
            snprintf(text, sizeof texts[0], "%s", device->name);
        else if (what == LINK)
            snprintf(text, sizeof texts[0], "%g GT/s x%u", device->link_speed_gts,
                     device->link_width);
        else
            snprintf(text, sizeof texts[0], "payload %u, read request %u", device->ceiling.payload,
                     device->ceiling.read_request);
        count += what == MODEL || (what == LINK ? device->link_known : device->ceiling.known);
    }
    qsort(texts, count, sizeof texts[0], compare_texts);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || strcmp(texts[i - 1], texts[i]) != 0)
            all = i == 0 ? xb_arena_copy(search->texts, texts[i])
                         : xb_arena_print(search->texts, "%s, %s", all, texts[i]);
    return all;
}

static void compare_device(struct search *search, unsigned index)
{
    const struct xb_record *const *records = search->records;
    const struct xb_record_device *first[2] = {NULL, NULL}; /* of the first process that saw it */
    for (size_t r = 0; r < 2; r++)
        for (size_t i = 0; first[r] == NULL && i < records[r]->process_count; i++)
            first[r] = find_device(&records[r]->processes[i], index);
    if (first[0] == NULL || first[1] == NULL) {
        /* Devices that ran at the same time shared what is between them and the host: with one more
         * or less of them a figure is another. */
        bool forbids = false;
        XB_EACH (pair, search->pairs->items, search->pairs->count)
            forbids = forbids || (pair->baseline != NULL && pair->candidate != NULL &&
                                  pair->candidate->simultaneous);
        add(search, xb_arena_print(search->texts, "device %u", index),
            first[0] != NULL ? first[0]->name : NULL, first[1] != NULL ? first[1]->name : NULL,
            forbids ? FORBIDS : CONTEXT);
        return;
    }
    for (int what = MODEL; what <= PACKETS; what++) {
        static const char *const names[] = {"model", "link", "packets"};
        const char *baseline = texts_of_device(search, records[0], index, (enum property)what);
        const char *candidate = texts_of_device(search, records[1], index, (enum property)what);
        /* What is not known of one file's device does not forbid. Nor do packets: no other machine,
         * but a setting, whose effect somebody may want to compare. */
        bool forbids = what != PACKETS && baseline != NULL && candidate != NULL;
        add(search, xb_arena_print(search->texts, "%s of device %u", names[what], index), baseline,
            candidate, forbids ? FORBIDS : CONTEXT);
    }
}

/* Whether the record has the case of all with which this pair ran at the same time. */
static bool has_sum(const struct xb_record *record, const struct xb_record_case *pair)
{
    struct xb_record_case begins = *pair, ends = *pair, all = *pair;
    begins.peer = all.peer = -1;
    ends.device = all.device = -1;
    return xb_record_find(record, &begins) != NULL || xb_record_find(record, &ends) != NULL ||
           xb_record_find(record, &all) != NULL;
}

/* With one pair more or less beside it, each has another figure. One such pair is told for all. */
static void compare_groups(struct search *search)
{
    XB_EACH (pair, search->pairs->items, search->pairs->count) {
        const struct xb_record_case *only = case_of(pair);
        if ((pair->baseline != NULL && pair->candidate != NULL) || !only->simultaneous ||
            only->device < 0 || only->peer < 0 || !has_sum(search->records[0], only) ||
            !has_sum(search->records[1], only))
            continue;
        add(search,
            xb_arena_print(search->texts, "pair %d>%d at the same time", only->device, only->peer),
            pair->baseline != NULL ? "measured" : NULL, pair->candidate != NULL ? "measured" : NULL,
            FORBIDS);
        return;
    }
}

/* Marks the cases of both files that were measured by an option which differs, and returns whether
 * there are any. A mode that this program does not know may have it. */
static bool mark_rows(struct search *search, const char *option, const char *baseline,
                      const char *candidate)
{
    bool any = false;
    XB_EACH (pair, search->pairs->items, search->pairs->count) {
        if (pair->baseline == NULL || pair->candidate == NULL)
            continue;
        const struct xb_mode *mode = xb_mode_find(pair->candidate->mode);
        if (mode != NULL && xb_option_find(mode->options, option) == NULL)
            continue;
        any = true;
        /* Both may say what they were measured with, whatever the files say. */
        if (xb_record_fact_find(pair->baseline->parameters, pair->baseline->parameter_count,
                                option) != NULL &&
            xb_record_fact_find(pair->candidate->parameters, pair->candidate->parameter_count,
                                option) != NULL)
            continue;
        bool first = pair->settings == NULL;
        pair->settings = xb_arena_print(
            search->texts, "%s%smeasured with --%s %s, the baseline with %s",
            first ? "" : pair->settings, first ? "" : "; ", option,
            candidate != NULL ? candidate : "null", baseline != NULL ? baseline : "null");
    }
    return any;
}

/* Compares an option that at least one file has. A program that did not have it yet measured as a
 * newer one does by default, so the default stands in for what a file lacks. Where nobody knows the
 * default it is context. */
static void compare_option(struct search *search, const char *name)
{
    const struct xb_comparison_request *request = &search->comparison->request;
    const struct xb_record_fact *by_default = xb_record_option(request->defaults, name);
    const struct xb_option *row = xb_option_find(request->rows, name);
    const char *values[2] = {NULL, NULL}, *shown[2]; /* a default is marked as such */
    bool both_known = true;
    for (size_t r = 0; r < 2; r++) {
        const struct xb_record_fact *own = xb_record_option(search->records[r], name);
        bool is_default = own == NULL;
        own = is_default ? by_default : own;
        both_known = both_known && own != NULL;
        shown[r] = values[r] = own != NULL ? own->value : NULL;
        if (is_default && values[r] != NULL)
            shown[r] = xb_arena_print(search->texts, "%s (default)", values[r]);
    }
    /* A case says itself which mode, size, variant and device it is of, and those that differ stand
     * in one file only. */
    if ((row != NULL && row->selects) || xb_record_same(values[0], values[1]))
        return;
    bool of_a_mode = xb_modes_take(name); /* else it is for all modes */
    bool of_rows = both_known && of_a_mode && mark_rows(search, name, shown[0], shown[1]);
    add(search, xb_arena_print(search->texts, "option --%s", name), shown[0], shown[1],
        both_known && !of_a_mode ? FORBIDS
        : of_rows                ? OF_ROWS
                                 : CONTEXT);
}

/* Finds all differences, and marks the pairs whose settings differ. */
static void find_differences(struct xb_comparison *comparison, struct pairs *pairs)
{
    const struct xb_record *baseline = comparison->baseline, *candidate = comparison->candidate;
    struct search search = {.comparison = comparison,
                            .records = {baseline, candidate},
                            .pairs = pairs,
                            .texts = &comparison->texts};
    bool done[1024] = {false}; /* devices, by the index that either file has */
    add(&search, "backend", baseline->backend, candidate->backend, FORBIDS);
    add(&search, "driver", baseline->driver, candidate->driver, OF_STACK);
    for (size_t r = 0; r < 2; r++)
        for (size_t p = 0; p < search.records[r]->process_count; p++)
            for (size_t d = 0; d < search.records[r]->processes[p].device_count; d++) {
                unsigned index = search.records[r]->processes[p].devices[d].index;
                if (index >= sizeof done / sizeof done[0] || done[index])
                    continue;
                done[index] = true;
                compare_device(&search, index);
            }
    compare_groups(&search);
    for (size_t i = 0; i < baseline->option_count; i++)
        compare_option(&search, baseline->options[i].name);
    for (size_t i = 0; i < candidate->option_count; i++)
        if (xb_record_option(baseline, candidate->options[i].name) == NULL)
            compare_option(&search, candidate->options[i].name);
    /* The rest is context. */
    XB_EACH (before, baseline->facts, baseline->fact_count) {
        const struct xb_record_fact *after =
            xb_record_fact_find(candidate->facts, candidate->fact_count, before->name);
        bool of_stack =
            strcmp(before->name, "kernel") == 0 || strcmp(before->name, "runtime version") == 0;
        add(&search, before->name, before->value, after != NULL ? after->value : NULL,
            of_stack ? OF_STACK : CONTEXT);
    }
    XB_EACH (after, candidate->facts, candidate->fact_count)
        if (xb_record_fact_find(baseline->facts, baseline->fact_count, after->name) == NULL)
            add(&search, after->name, NULL, after->value, CONTEXT);
    comparison->comparable = search.forbidding == 0;
}

/* ---- which figures of a case are compared ---- */

/* Adds those that count by themselves, or because a gate names them, each once. */
static size_t add_figures(const struct xb_comparison *comparison, const struct xb_record *record,
                          const struct xb_record_case *test, struct xb_figure *figures,
                          size_t count)
{
    const struct xb_gates *gates = &comparison->request.gates;
    for (size_t i = 0; test != NULL && i < record->process_count; i++)
        XB_EACH (own, test->rows[i].figures, test->rows[i].figure_count) {
            const struct xb_figure figure = {.name = own->name,
                                             .unit = own->unit,
                                             .more_is_better = own->more_is_better,
                                             .gates = own->gates};
            bool is_there = count == XB_COMPARE_FIGURES;
            for (size_t j = 0; j < count; j++)
                is_there = is_there || strcmp(figures[j].name, figure.name) == 0;
            if (!is_there &&
                (figure.gates || xb_gates_pass(gates->items, gates->count, test, &figure)))
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
        .same_settings = !pair->is_other && pair->settings == NULL,
    };
    struct xb_figure any = *figure;
    any.gates = true; /* a threshold is for every figure of the cases unless it names one */
    for (size_t i = 0; i < thresholds->count; i++)
        if (xb_gates_pass(&thresholds->items[i], 1, compared->test, &any))
            compared->threshold = thresholds->items[i].share;
    xb_judge_measure(comparison, pair, compared);
    compared->gates =
        compared->basis != XB_BASIS_NONE &&
        (gates->count == 0 ? figure->gates
                           : xb_gates_pass(gates->items, gates->count, compared->test, figure));
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
    struct pairs pairs = make_pairs(comparison);
    find_differences(comparison, &pairs);
    bool compares = comparison->comparable || request->force;
    for (size_t i = 0; compares && i < pairs.count; i++) {
        struct xb_figure figures[XB_COMPARE_FIGURES];
        size_t count = xb_compare_figures(comparison, &pairs.items[i], figures);
        for (size_t j = 0; j < count; j++)
            add_figure(comparison, &pairs.items[i], &figures[j]);
    }
    free(pairs.items);
    xb_comparison_find_parameters(comparison);
    /* What a gate stands for none of whose cases is judged would pass unseen. */
    for (size_t i = 0; comparison->idle_gate == 0 && i < request->gates.count; i++) {
        bool judges = false;
        for (size_t j = 0; !judges && j < comparison->case_count; j++) {
            const struct xb_compared *compared = &comparison->cases[j];
            judges = compared->gates &&
                     xb_gates_pass(&request->gates.items[i], 1, compared->test, &compared->figure);
        }
        comparison->idle_gate = judges ? 0 : i + 1;
    }
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
