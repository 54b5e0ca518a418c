/* SPDX-License-Identifier: Apache-2.0 */
/* What a record's cases and their figures tell, and its devices; which cases are alike. */
#define _GNU_SOURCE /* qsort_r */
#include "base/order.h"
#include "making.h"
#include "rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct xb_record_fact *xb_record_fact_find(const struct xb_record_fact *facts, size_t count,
                                                 const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(facts[i].name, name) == 0)
            return &facts[i];
    return NULL;
}

const char *xb_result_status_name(enum xb_result_status status)
{
    static const char *const names[] = {"ok", "skipped", "error"};
    return names[status];
}

const char *xb_stop_reason_name(enum xb_stop_reason reason)
{
    static const char *const names[] = {"not-yet", "converged", "time-limit",
                                        "fixed",   "deadline",  "interrupted"};
    return names[reason];
}

struct xb_record_summary xb_record_summarize(const struct xb_record *record,
                                             const struct xb_record_case *test)
{
    struct xb_record_summary summary = {.status = XB_RESULT_OK, .verified = XB_VERIFIED_TRUE};
    for (size_t i = 0; i < record->process_count; i++) {
        static const struct xb_record_row not_measured = {.status = XB_RESULT_SKIPPED};
        const struct xb_record_row *row = test->rows[i].is_there ? &test->rows[i] : &not_measured;
        if (!record->processes[i].has_results)
            continue;
        summary.processes++;
        summary.ok += row->status == XB_RESULT_OK;
        summary.cut += row->status == XB_RESULT_OK && row->is_cut;
        if (row->status > summary.status) {
            summary.status = row->status;
            summary.worst = i;
        }
        if (row->verified == XB_VERIFIED_FALSE || summary.verified == XB_VERIFIED_TRUE)
            summary.verified = row->verified;
    }
    return summary;
}

const char *xb_record_reason(const struct xb_record_case *test,
                             const struct xb_record_summary *summary, char *text, size_t size)
{
    const struct xb_record_row *row = &test->rows[summary->worst];
    if (summary->status == XB_RESULT_OK)
        return NULL;
    if (row->is_there)
        return row->reason != NULL ? row->reason : "no reason was given";
    snprintf(text, size, "process %zu has no such row", summary->worst);
    return text;
}

const char *xb_record_cut_text(const struct xb_record *record, const struct xb_record_case *test,
                               char *text, size_t size)
{
    struct xb_record_summary summary = xb_record_summarize(record, test);
    size_t left = summary.cut;
    int length = snprintf(text, size, "cut short in process%s", left > 1 ? "es" : "");
    for (size_t i = 0; left > 0 && i < record->process_count; i++) {
        const struct xb_record_row *row = &test->rows[i];
        if (!row->is_there || row->status != XB_RESULT_OK || !row->is_cut)
            continue;
        const char *before = left == summary.cut ? " " : left > 1 ? ", " : " and ";
        length += snprintf(text + length, size - (size_t)length, "%s%zu", before, i);
        left--;
    }
    snprintf(text + length, size - (size_t)length, ": not counted");
    return summary.cut > 0 ? text : NULL;
}

static const char digits[] = "0123456789";

bool xb_record_like_warnings(const char *a, const char *b)
{
    a += strspn(a, digits);
    b += strspn(b, digits);
    size_t length = strcspn(a, "0123456789:");
    return length == strcspn(b, "0123456789:") && strncmp(a, b, length) == 0;
}

size_t xb_record_warnings(const struct xb_record *record, const struct xb_record_case *test,
                          struct xb_record_warning *warnings)
{
    size_t count = 0; /* of kinds */
    for (size_t p = 0; p < record->process_count; p++)
        for (size_t k = 0; k < test->rows[p].warning_count; k++) {
            const char *text = test->rows[p].warning_texts[k];
            size_t i = 0;
            while (i < count && !xb_record_like_warnings(warnings[i].text, text))
                i++;
            if (i == count)
                warnings[count++] = (struct xb_record_warning){.text = text, .last = SIZE_MAX};
            warnings[i].processes += warnings[i].last != p;
            warnings[i].last = p;
        }
    return count;
}

const char *xb_record_parameter(const struct xb_record_case *test, const char *name)
{
    const struct xb_record_fact *own =
        xb_record_fact_find(test->parameters, test->parameter_count, name);
    return own != NULL && own->value != NULL ? own->value : "";
}

int xb_record_case_node(const struct xb_record_case *test)
{
    const char *value = xb_record_parameter(test, XB_RECORD_NUMA);
    bool is_number = value[0] != '\0' && strspn(value, digits) == strlen(value);
    return is_number && strlen(value) < 5 ? (int)strtol(value, NULL, 10) : -1;
}

bool xb_record_is_sum(const struct xb_record_case *test)
{
    bool is_of_pairs = xb_record_parameter(test, XB_RECORD_GROUP)[0] != '\0'; /* or their sum */
    return test->simultaneous && (test->device < 0 || (test->peer < 0 && is_of_pairs));
}

const char *xb_record_case_device(const struct xb_record_case *test, char *text, size_t size)
{
    bool is_of_pairs = xb_record_parameter(test, XB_RECORD_GROUP)[0] != '\0';
    if (test->device < 0 && test->peer < 0)
        snprintf(text, size, "%s", is_of_pairs ? "all>all" : "sum");
    else if (test->device < 0)
        snprintf(text, size, "all>%d", test->peer);
    else if (xb_record_is_sum(test))
        snprintf(text, size, "%d>all", test->device);
    else if (test->peer >= 0)
        snprintf(text, size, "%d>%d", test->device, test->peer);
    else
        snprintf(text, size, "%d", test->device);
    return text;
}

struct xb_record_figure xb_record_figure_of(const struct xb_figure *figure)
{
    return (struct xb_record_figure){.name = figure->name,
                                     .unit = figure->unit,
                                     .more_is_better = figure->more_is_better,
                                     .gates = figure->gates};
}

void xb_record_figure_describe(struct xb_record_figure *figure)
{
    struct xb_statistics *statistics = &figure->statistics;
    const struct xb_record_placements *placements = &figure->placements;
    bool has_groups = placements->count > 0;
    struct xb_error error;
    if (xb_statistics_compute_groups(figure->samples, has_groups ? placements->samples : NULL,
                                     has_groups ? placements->count : figure->sample_count,
                                     statistics, &error) != XB_OK)
        xb_memory_end(figure->sample_count * sizeof *figure->samples);
    if (!statistics->has_interval)
        statistics->ci95_low = statistics->ci95_high = (double)NAN;
}

struct xb_statistics xb_record_median_only(double median, size_t n)
{
    struct xb_statistics statistics = {.n = n, .median = median};
    statistics.ci95_low = statistics.ci95_high = statistics.min = statistics.max = (double)NAN;
    statistics.p5 = statistics.p95 = statistics.p99 = statistics.mad = (double)NAN;
    return statistics;
}

const struct xb_record_figure *xb_record_row_figure(const struct xb_record_row *row,
                                                    const char *name)
{
    for (size_t i = 0; i < row->figure_count; i++)
        if (strcmp(row->figures[i].name, name) == 0)
            return &row->figures[i];
    return NULL;
}

bool xb_record_row_counts(const struct xb_record_row *row)
{
    return row->is_there && row->status == XB_RESULT_OK && !row->is_cut;
}

size_t xb_record_medians(const struct xb_record *record, const struct xb_record_case *test,
                         const char *figure, double *values)
{
    size_t count = 0;
    XB_EACH (row, test->rows, record->process_count) {
        const struct xb_record_figure *own =
            xb_record_row_counts(row) ? xb_record_row_figure(row, figure) : NULL;
        if (own != NULL)
            values[count++] = own->statistics.median;
    }
    return count;
}

bool xb_record_describe(const struct xb_record *record, const struct xb_record_case *test,
                        const char *figure, struct xb_statistics *statistics)
{
    double medians[XB_RECORD_PROCESSES];
    if (test == NULL)
        return false;
    if (!record->is_merged && record->process_count == 1) {
        const struct xb_record_figure *own =
            test->rows[0].is_there ? xb_record_row_figure(&test->rows[0], figure) : NULL;
        if (own != NULL)
            *statistics = own->statistics;
        return own != NULL;
    }
    size_t count = xb_record_medians(record, test, figure, medians);
    if (count == 0)
        return false;
    *statistics = xb_statistics_of(medians, count);
    statistics->p99 = (double)NAN; /* so few processes have none */
    return true;
}

double xb_record_median(const struct xb_record *record, const struct xb_record_case *test,
                        const char *figure)
{
    struct xb_statistics statistics;
    return xb_record_describe(record, test, figure, &statistics) ? statistics.median : (double)NAN;
}

const struct xb_record_device *xb_record_devices(const struct xb_record *record, size_t *count)
{
    *count = 0;
    XB_EACH (process, record->processes, record->process_count)
        if (process->has_results) {
            *count = process->device_count;
            return process->devices;
        }
    return NULL;
}

const struct xb_record_device *xb_record_device(const struct xb_record *record, int index)
{
    size_t count = 0;
    const struct xb_record_device *devices = xb_record_devices(record, &count);
    for (size_t i = 0; i < count; i++)
        if (index >= 0 && devices[i].index == (unsigned)index)
            return &devices[i];
    return NULL;
}

/* The first difference decides. NULL, a value that is not known, comes first. */
static int compare_texts(const char *a, const char *b)
{
    return a == NULL || b == NULL ? (a != NULL) - (b != NULL) : strcmp(a, b);
}

/* The parameter of that index, or behind it, that counts; NULL after the last. */
static const struct xb_record_fact *next_parameter(const struct xb_record_case *test, size_t *index,
                                                   const char *without)
{
    while (*index < test->parameter_count) {
        const struct xb_record_fact *parameter = &test->parameters[(*index)++];
        if (without == NULL || strcmp(parameter->name, without) != 0)
            return parameter;
    }
    return NULL;
}

/* Both lists are sorted by name. "8" and 8 are different values. */
int xb_parameters_order(const struct xb_record_case *a, const struct xb_record_case *b,
                        const char *without)
{
    int order = 0;
    for (size_t i = 0, k = 0; order == 0;) {
        const struct xb_record_fact *left = next_parameter(a, &i, without);
        const struct xb_record_fact *right = next_parameter(b, &k, without);
        if (left == NULL || right == NULL)
            return (left != NULL) - (right != NULL);
        order = XB_FIRST_ORDER(compare_texts(left->name, right->name),
                               compare_texts(left->value, right->value),
                               left->is_text - right->is_text);
    }
    return order;
}

int xb_cases_order(const struct xb_record_case *a, const struct xb_record_case *b, unsigned but)
{
    const int by_size = (but & XB_BUT_SIZE) != 0 ? 0 : XB_ORDER(a->bytes, b->bytes);
    const int by_device =
        XB_FIRST_ORDER(XB_ORDER(a->device, b->device), XB_ORDER(a->peer, b->peer));
    const int order = XB_FIRST_ORDER(
        compare_texts(a->mode, b->mode), compare_texts(a->variant, b->variant),
        compare_texts(a->direction, b->direction), by_size,
        (but & XB_BUT_DEVICES) != 0 ? 0 : by_device, XB_ORDER(a->latency, b->latency),
        XB_ORDER(a->simultaneous, b->simultaneous));
    if (order != 0 || (but & XB_BUT_PARAMETERS) != 0)
        return order;
    return xb_parameters_order(a, b, (but & XB_BUT_NODE) != 0 ? XB_RECORD_NUMA : NULL);
}

XB_POINTER_COMPARER(by_key, struct xb_record_case, xb_cases_order(a, b, 0))
XB_POINTER_COMPARER(by_size, struct xb_record_case, XB_BY_GREATEST(bytes), XB_ORDER(a, b))

static void sort_cases(struct xb_record *record)
{
    const size_t size = sizeof(struct xb_record_case *);
    for (size_t i = 0; i < record->case_count; i++)
        record->index[i] = record->by_size[i] = &record->cases[i];
    qsort(record->index, record->case_count, size, by_key);
    qsort(record->by_size, record->case_count, size, by_size);
}

void xb_record_make_index(struct xb_record *record)
{
    record->index = xb_new(record->case_count, sizeof(struct xb_record_case *));
    record->by_size = xb_new(record->case_count, sizeof(struct xb_record_case *));
    sort_cases(record);
}

void xb_record_keep(struct xb_record *record, xb_record_case_test *keeps, const void *what)
{
    size_t kept = 0;
    XB_EACH_CASE (test, record)
        if (keeps(test, what))
            record->cases[kept++] = *test;
    record->case_count = kept;
    sort_cases(record);
}

const struct xb_record_case *xb_record_find(const struct xb_record *record,
                                            const struct xb_record_case *test)
{
    const struct xb_record_case *const *found =
        record->case_count > 0 ? bsearch(&test, record->index, record->case_count,
                                         sizeof(struct xb_record_case *), by_key)
                               : NULL;
    return found != NULL ? *found : NULL;
}

/* The place of the first in record->by_size whose size is below that; case_count for none. */
static size_t first_below(const struct xb_record *record, uint64_t bytes)
{
    size_t first = 0;
    for (size_t behind = record->case_count; first < behind;) {
        size_t middle = first + (behind - first) / 2;
        if (record->by_size[middle]->bytes >= bytes)
            first = middle + 1;
        else
            behind = middle;
    }
    return first;
}

uint64_t xb_rows_size_below(const struct xb_record *record, uint64_t below)
{
    size_t first = first_below(record, below);
    return first < record->case_count ? record->by_size[first]->bytes : 0;
}

struct xb_record_cases xb_record_of_size(const struct xb_record *record, uint64_t bytes)
{
    size_t first = first_below(record, bytes + 1);
    return (struct xb_record_cases){record->by_size + first, first_below(record, bytes) - first};
}

/* A case where it stands, and where the first that is equal to it does. */
struct place {
    const struct xb_record_case *test;
    size_t own, first;
};

struct order {
    xb_cases_comparison *compare;
    const void *argument;
};

static int by_order(const void *a, const void *b, void *argument)
{
    const struct order *order = argument;
    const struct place *left = a, *right = b;
    return XB_FIRST_ORDER(order->compare(left->test, right->test, order->argument),
                          XB_ORDER(left->own, right->own));
}

XB_COMPARER(by_first, struct place, XB_BY(first), XB_BY(own))

void xb_cases_group(const struct xb_record_case **cases, size_t count, xb_cases_comparison *compare,
                    const void *argument)
{
    struct order order = {compare, argument};
    struct place *places = xb_new(count, sizeof *places);
    for (size_t i = 0; i < count; i++)
        places[i] = (struct place){cases[i], i, i};
    qsort_r(places, count, sizeof *places, by_order, &order);
    for (size_t i = 1; i < count; i++)
        if (compare(places[i - 1].test, places[i].test, argument) == 0)
            places[i].first = places[i - 1].first;
    qsort(places, count, sizeof *places, by_first);
    for (size_t i = 0; i < count; i++)
        cases[i] = places[i].test;
    free(places);
}

size_t xb_cases_equal(const struct xb_record_case *const *cases, size_t count,
                      xb_cases_comparison *compare, const void *argument)
{
    size_t equal = 1;
    while (equal < count && compare(cases[0], cases[equal], argument) == 0)
        equal++;
    return equal;
}

static int by_all(const struct xb_record_case *a, const struct xb_record_case *b,
                  const void *argument)
{
    (void)argument;
    return xb_cases_order(a, b, 0);
}

void xb_record_make_cases(struct xb_json_reader *reader, struct xb_record *record,
                          const struct xb_record_entry *entries, size_t count, size_t most)
{
    const struct xb_record_case **tests = xb_new(count, sizeof(struct xb_record_case *));
    record->cases = xb_arena_new(&record->texts, count * sizeof *record->cases);
    for (size_t i = 0; i < count; i++)
        tests[i] = &entries[i].test;
    xb_cases_group(tests, count, by_all, NULL);
    for (size_t i = 0, equal = 0; i < count; i += equal) {
        struct xb_record_case *made = &record->cases[record->case_count];
        equal = xb_cases_equal(&tests[i], count - i, by_all, NULL);
        if (record->case_count == most) { /* each has a row for every process */
            xb_json_refuse(reader, "processes", "have more than %zu cases in all", most);
            break;
        }
        *made = *tests[i];
        made->rows = xb_arena_new(&record->texts, record->process_count * sizeof *made->rows);
        record->case_count++;
        for (size_t k = 0; k < equal; k++) {
            /* An entry begins with its case. */
            const struct xb_record_entry *entry = (const struct xb_record_entry *)tests[i + k];
            struct xb_record_row *row = &made->rows[entry->process];
            if (row->is_there)
                xb_json_refuse(reader, NULL,
                               "results[%zu] of process %zu is a case that it has already: %.40s "
                               "%.40s %.20s",
                               entry->index, entry->process, entry->test.mode, entry->test.variant,
                               entry->test.direction);
            *row = entry->row;
        }
    }
    free(tests);
    xb_record_make_index(record);
}
