/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of one process or of several become cases. */
#include "reader.h"

#include "fields.h"
#include "internal.h"
#include "making.h"
#include "measure/mode_list.h"
#include "rows.h"

#include <stdlib.h>
#include <string.h>

/* A row as it stands in a document: its case, and which process it is of. */
struct xb_record_entry {
    struct xb_record_case test; /* what it is, no rows */
    struct xb_record_row row;
    size_t process, index; /* of the process, and within its results */
    size_t order;          /* among all */
};

/* ---- what a table does not say ---- */

/* A row is of devices that its document lists; below 0 is none. */
static void check_device(struct xb_reader *reader, const char *key, int device)
{
    const struct xb_record_process *process = &reader->record->processes[reader->process];
    bool is_there = device < 0;
    for (size_t i = 0; i < process->device_count && !is_there; i++)
        is_there = process->devices[i].index == (unsigned)device;
    if (!is_there)
        xb_json_refuse(&reader->json, key, "is %d, which is none of \"devices\"", device);
}

/* The numbers of NUMA nodes may have gaps, such as 0 and 8: what counts is how many there are. */
static void check_node(struct xb_reader *reader, int node)
{
    uint64_t most = reader->record->host.numa_nodes;
    if (node >= XB_NODES)
        xb_json_refuse(&reader->json, "parameters.numa", "is node %d: the last is %d", node,
                       XB_NODES - 1);
    else if (node >= 0 && !reader->nodes[node]) {
        reader->nodes[node] = true;
        if (++reader->node_count > most && most > 0)
            xb_json_refuse(&reader->json, "parameters.numa",
                           "is node %d, one more than the %u that the machine has", node,
                           (unsigned)most);
    }
}

/* What a row that is ok has; one that is not has it as evidence, or not at all. */
static void check_measured(struct xb_json_reader *json, const struct xb_record_case *test,
                           const struct xb_record_row *row)
{
    const char *main_figure = xb_mode_main_figure(test->mode, test->latency)->name;
    if (row->verified != XB_VERIFIED_TRUE)
        xb_json_refuse(json, "verified",
                       "is not true in a row that is ok: xferbench writes no such row");
    if (row->timer == NULL)
        xb_json_refuse(json, "timer", "must be a text that is not empty");
    if (row->bytes_moved == 0)
        xb_json_refuse(json, "bytes_moved", "is null in a row that is ok");
    if (xb_record_row_figure(row, main_figure) == NULL)
        xb_json_refuse(json, "figures", "have no %s", main_figure);
}

/* Whether that ended the row before it was measured in full. */
static bool is_cut(const struct xb_record_row *row, enum xb_stop_reason reason)
{
    return row->stop_reason != NULL && strcmp(row->stop_reason, xb_stop_reason_name(reason)) == 0;
}

static void read_row(struct xb_json_reader *json, const cJSON *item, size_t index, void *to)
{
    struct xb_reader *reader = to;
    struct xb_record_entry *entry = &reader->entries[reader->entry_count];
    struct xb_record_row *row = &entry->row;
    *entry = (struct xb_record_entry){
        .process = reader->process, .index = index, .order = reader->entry_count++};
    xb_fields_read(json, item, xb_record_case_fields, &entry->test);
    if (xb_json_failed(json))
        return;
    check_device(reader, "device", entry->test.device);
    check_device(reader, "peer", entry->test.peer);
    check_node(reader, xb_record_case_node(&entry->test));
    xb_fields_read(json, item, xb_record_row_fields, row);
    row->is_there = true;
    row->is_cut = is_cut(row, XB_STOP_INTERRUPTED) || is_cut(row, XB_STOP_DEADLINE);
    if (xb_json_failed(json))
        return;
    if (row->status == XB_RESULT_OK)
        check_measured(json, &entry->test, row);
    else if (row->figure_count > 0)
        xb_json_refuse(json, "figures", "must be none in a row that is not ok");
}

void xb_reader_read_rows(struct xb_reader *reader, const cJSON *document)
{
    size_t more = (size_t)cJSON_GetArraySize(xb_json_get_array(&reader->json, document, "results"));
    more = more < XB_RECORD_CASES ? more : XB_RECORD_CASES;
    if (xb_json_failed(&reader->json))
        return;
    struct xb_record_entry *grown =
        realloc(reader->entries, (reader->entry_count + more + 1) * sizeof *grown);
    if (grown == NULL) {
        xb_json_refuse_memory(&reader->json);
        return;
    }
    reader->entries = grown;
    (void)xb_fields_read_each(&reader->json, document, "results", XB_RECORD_CASES, read_row,
                              reader);
}

/* ---- several processes' rows become cases ---- */

static int by_case(const void *a, const void *b)
{
    const struct xb_record_entry *left = a;
    const struct xb_record_entry *right = b;
    int order = xb_cases_order(&left->test, &right->test, 0);
    return order != 0 ? order : (left->order > right->order) - (left->order < right->order);
}

/* Cases keep the place of their first row; until they are sorted, `first` tells it. */
struct ordered_case {
    struct xb_record_case test;
    size_t first;
};

static int by_first(const void *a, const void *b)
{
    size_t left = ((const struct ordered_case *)a)->first;
    size_t right = ((const struct ordered_case *)b)->first;
    return (left > right) - (left < right);
}

static void add_row(struct xb_reader *reader, struct ordered_case *made,
                    const struct xb_record_entry *entry)
{
    struct xb_record_row *row = &made->test.rows[entry->process];
    if (row->is_there)
        xb_json_refuse(&reader->json, NULL,
                       "results[%zu] of process %zu is a case that it has already: %.40s %.40s "
                       "%.20s",
                       entry->index, entry->process, entry->test.mode, entry->test.variant,
                       entry->test.direction);
    *row = entry->row;
}

/* Groups sorted entries. *count cases are the caller's also where this fails. */
static void group(struct xb_reader *reader, struct ordered_case *cases, size_t *count)
{
    for (size_t i = 0; !xb_json_failed(&reader->json) && i < reader->entry_count; i++) {
        const struct xb_record_entry *entry = &reader->entries[i];
        if (i == 0 || xb_cases_order(&entry[-1].test, &entry->test, 0) != 0) {
            struct ordered_case *made = &cases[*count];
            if (*count == XB_RECORD_CASES) { /* each has a row for every process */
                xb_json_refuse(&reader->json, "processes", "have more than %d cases in all",
                               XB_RECORD_CASES);
                return;
            }
            *made = (struct ordered_case){.test = entry->test, .first = entry->order};
            made->test.rows = calloc(reader->record->process_count, sizeof *made->test.rows);
            if (made->test.rows == NULL) {
                xb_json_refuse_memory(&reader->json);
                return;
            }
            (*count)++;
        }
        add_row(reader, &cases[*count - 1], entry);
    }
}

void xb_reader_make_cases(struct xb_reader *reader)
{
    struct xb_record *record = reader->record;
    if (xb_json_failed(&reader->json))
        return;
    struct ordered_case *cases = calloc(reader->entry_count + 1, sizeof *cases);
    record->cases = calloc(reader->entry_count + 1, sizeof *record->cases);
    if (cases == NULL || record->cases == NULL) {
        free(cases);
        xb_json_refuse_memory(&reader->json);
        return;
    }
    if (reader->entry_count > 0)
        qsort(reader->entries, reader->entry_count, sizeof *reader->entries, by_case);
    group(reader, cases, &record->case_count);
    qsort(cases, record->case_count, sizeof *cases, by_first);
    for (size_t i = 0; i < record->case_count; i++)
        record->cases[i] = cases[i].test;
    free(cases);
    if (!xb_record_make_index(record) || !xb_record_make_facts(record))
        xb_json_refuse_memory(&reader->json);
}
