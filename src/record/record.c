/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* strdup */
#include "internal.h"

#include "../core/file_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- several processes' rows become cases ---- */

static int by_case(const void *a, const void *b)
{
    const struct xb_record_entry *left = a;
    const struct xb_record_entry *right = b;
    int order = xb_record_compare_cases(&left->test, &right->test);
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

static enum xb_status add_row(struct xb_place *place, struct ordered_case *made,
                              const struct xb_record_entry *entry, struct xb_error *error)
{
    struct xb_record_row *row = &made->test.rows[entry->process];
    if (row->is_there)
        return xb_json_wrong(place, NULL, error,
                             "results[%zu] of process %zu is a case that it has already: %.40s "
                             "%.40s %.20s",
                             entry->index, entry->process, entry->test.mode, entry->test.variant,
                             entry->test.direction);
    *row = entry->row;
    return XB_OK;
}

/* Groups sorted entries. *count cases are the caller's also where this fails. */
static enum xb_status group(struct xb_place *place, const struct xb_record_entry *entries,
                            size_t entry_count, size_t processes, struct ordered_case *cases,
                            size_t *count, struct xb_error *error)
{
    for (size_t i = 0; i < entry_count; i++) {
        const struct xb_record_entry *entry = &entries[i];
        if (i == 0 || xb_record_compare_cases(&entries[i - 1].test, &entry->test) != 0) {
            struct ordered_case *made = &cases[*count];
            if (*count == XB_RECORD_CASES) /* each has a row for every process */
                return xb_json_wrong(place, "processes", error, "have more than %d cases in all",
                                     XB_RECORD_CASES);
            *made = (struct ordered_case){.test = entry->test, .first = entry->order};
            made->test.rows = calloc(processes, sizeof *made->test.rows);
            if (made->test.rows == NULL)
                return XB_FAIL(error, XB_ERR_MEMORY, "no memory for the cases of %.200s",
                               place->path);
            (*count)++;
        }
        enum xb_status status = add_row(place, &cases[*count - 1], entry, error);
        if (status != XB_OK)
            return status;
    }
    return XB_OK;
}

static int by_key(const void *a, const void *b)
{
    return xb_record_compare_cases(*(const struct xb_record_case *const *)a,
                                   *(const struct xb_record_case *const *)b);
}

static enum xb_status build_index(struct xb_record *record, struct xb_error *error)
{
    record->index = calloc(record->case_count + 1, sizeof(struct xb_record_case *));
    if (record->index == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for the cases of %.200s", record->path);
    for (size_t i = 0; i < record->case_count; i++)
        record->index[i] = &record->cases[i];
    qsort(record->index, record->case_count, sizeof(struct xb_record_case *), by_key);
    return XB_OK;
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

static enum xb_status build_cases(struct xb_place *place, struct xb_record_entry *entries,
                                  size_t entry_count, struct xb_record *record,
                                  struct xb_error *error)
{
    struct ordered_case *cases = calloc(entry_count + 1, sizeof *cases);
    record->cases = calloc(entry_count + 1, sizeof *record->cases);
    if (cases == NULL || record->cases == NULL) {
        free(cases);
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for the cases of %.200s", place->path);
    }
    if (entry_count > 0)
        qsort(entries, entry_count, sizeof *entries, by_case);
    enum xb_status status = group(place, entries, entry_count, record->process_count, cases,
                                  &record->case_count, error);
    qsort(cases, record->case_count, sizeof *cases, by_first);
    for (size_t i = 0; i < record->case_count; i++)
        record->cases[i] = cases[i].test;
    free(cases);
    return status == XB_OK ? build_index(record, error) : status;
}

/* ---- documents ---- */

/* Whether a signal or the deadline cut what the document is of. */
static enum xb_status read_end(const struct xb_place *place, const cJSON *document,
                               struct xb_record_process *process, struct xb_error *error)
{
    const cJSON *met = NULL;
    enum xb_status status =
        xb_json_need_flag(place, document, "interrupted", &process->interrupted, error);
    if (status == XB_OK)
        status = xb_json_need(place, document, "deadline_met", &met, error);
    if (status == XB_OK && !cJSON_IsBool(met) && !cJSON_IsNull(met))
        status = xb_json_wrong(place, "deadline_met", error, "must be true, false or null");
    process->deadline_met = status == XB_OK && !cJSON_IsFalse(met); /* null: there was none */
    return status;
}

/* Reads one process's document as process `index`. */
static enum xb_status read_process(struct xb_place *place, const cJSON *document, size_t index,
                                   struct xb_record *record, struct xb_record_entry **entries,
                                   size_t *count, struct xb_error *error)
{
    struct xb_record_process *process = &record->processes[index];
    enum xb_status status = read_end(place, document, process, error);
    if (status == XB_OK)
        status = xb_record_read_devices(place, document, process, error);
    process->has_results = true;
    if (status == XB_OK && record->backend == NULL)
        status = xb_record_read_conditions(place, document, record, error);
    else if (status == XB_OK)
        status = xb_record_check_conditions(place, document, record, process, error);
    if (status == XB_OK)
        status = xb_record_read_rows(place, document, index, entries, count, error);
    return status;
}

/* A document of this kind, in the form that this program knows. */
static enum xb_status check_form(const struct xb_place *place, const cJSON *document,
                                 const char *schema, struct xb_error *error)
{
    const char *found = NULL;
    uint64_t version = 0;
    if (!cJSON_IsObject(document))
        return xb_json_wrong(place, NULL, error, "is not a result file of xferbench");
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(document, "schema");
    found = cJSON_GetStringValue(item);
    if (found == NULL)
        return xb_json_wrong(place, "schema", error,
                             "is missing: this is not a result file of xferbench");
    if (strcmp(found, schema) != 0)
        return xb_json_wrong(place, "schema", error,
                             "\"%.60s\" is not \"%s\": this is not a result file of xferbench",
                             found, schema);
    enum xb_status status =
        xb_json_need_whole(place, document, "schema_version", 1, 1000000, &version, error);
    if (status == XB_OK && version != 1)
        return xb_json_wrong(place, "schema_version", error,
                             "%u was written by a newer xferbench than this one, which reads 1; "
                             "compare with that one",
                             (unsigned)version);
    return status;
}

static enum xb_status allocate_processes(struct xb_record *record, size_t count,
                                         struct xb_error *error)
{
    record->processes = calloc(count, sizeof *record->processes);
    if (record->processes == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for %zu processes of %.200s", count,
                       record->path);
    record->process_count = count;
    return XB_OK;
}

/* processes[index] of a merged file; one that failed has no document, and no rows. It says itself
 * why; whether the run was cut short, the file does. */
static enum xb_status read_member(struct xb_place *place, const cJSON *member, size_t index,
                                  struct xb_record *record, struct xb_record_entry **entries,
                                  size_t *count, struct xb_error *error)
{
    const cJSON *document = NULL;
    if (!cJSON_IsObject(member))
        return xb_json_wrong(place, NULL, error, "must be an object");
    enum xb_status status = xb_json_need(place, member, "document", &document, error);
    if (status == XB_OK)
        status =
            xb_json_take_text(place, member, "failure", &record->processes[index].failure, error);
    if (status != XB_OK || cJSON_IsNull(document))
        return status;
    size_t length = xb_place_enter(place, "document");
    status = check_form(place, document, "xferbench.result", error);
    if (status == XB_OK)
        status = read_process(place, document, index, record, entries, count, error);
    xb_place_leave(place, length);
    return status;
}

/* Whether the run as a whole was cut short: it holds for what has no document to say so. */
static enum xb_status read_ends(const struct xb_place *place, const cJSON *root,
                                struct xb_record *record, struct xb_error *error)
{
    struct xb_record_process ends = {.interrupted = false, .deadline_met = true};
    enum xb_status status = XB_OK;
    if (cJSON_HasObjectItem(root, "interrupted"))
        status = read_end(place, root, &ends, error);
    for (size_t i = 0; status == XB_OK && i < record->process_count; i++) {
        record->processes[i].interrupted = ends.interrupted;
        record->processes[i].deadline_met = ends.deadline_met;
    }
    return status;
}

static enum xb_status read_merged(struct xb_place *place, const cJSON *root,
                                  struct xb_record *record, struct xb_record_entry **entries,
                                  size_t *count, struct xb_error *error)
{
    const cJSON *processes = NULL;
    const cJSON *member;
    uint64_t asked = 0;
    size_t index = 0;
    enum xb_status status = check_form(place, root, "xferbench.processes", error);
    if (status == XB_OK)
        status = xb_json_need_whole(place, root, "asked", 1, XB_RECORD_PROCESSES, &asked, error);
    if (status == XB_OK)
        status = xb_json_need_array(place, root, "processes", &processes, error);
    if (status != XB_OK)
        return status;
    size_t found = (size_t)cJSON_GetArraySize(processes);
    if (found == 0 || found > XB_RECORD_PROCESSES)
        return xb_json_wrong(place, "processes", error, "must be 1 to %d", XB_RECORD_PROCESSES);
    if (found > asked)
        return xb_json_wrong(place, "processes", error, "are more than the %u asked for",
                             (unsigned)asked);
    record->is_merged = true;
    record->asked_processes = (size_t)asked;
    status = allocate_processes(record, found, error);
    if (status == XB_OK)
        status = read_ends(place, root, record, error);
    size_t outer = xb_place_enter(place, "processes");
    cJSON_ArrayForEach(member, processes)
    {
        if (status != XB_OK)
            break;
        size_t length = xb_place_enter_item(place, index);
        status = read_member(place, member, index++, record, entries, count, error);
        xb_place_leave(place, length);
    }
    xb_place_leave(place, outer);
    if (status == XB_OK && record->backend == NULL)
        return xb_json_wrong(place, "processes", error, "none of them has results");
    return status;
}

static enum xb_status read_root(struct xb_place *place, const cJSON *root, struct xb_record *record,
                                struct xb_record_entry **entries, size_t *count,
                                struct xb_error *error)
{
    const char *schema = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, "schema"));
    if (schema != NULL && strcmp(schema, "xferbench.processes") == 0)
        return read_merged(place, root, record, entries, count, error);
    enum xb_status status = check_form(place, root, "xferbench.result", error);
    if (status == XB_OK)
        status = allocate_processes(record, 1, error);
    record->asked_processes = 1;
    if (status == XB_OK)
        status = read_process(place, root, 0, record, entries, count, error);
    return status;
}

enum xb_status xb_record_parse(const char *path, const char *text, size_t length,
                               struct xb_record *record, struct xb_error *error)
{
    struct xb_place place = {.path = path};
    struct xb_record_entry *entries = NULL;
    size_t count = 0;
    cJSON *root = NULL;
    *record = (struct xb_record){.path = strdup(path)};
    enum xb_status status = record->path != NULL
                                ? xb_json_parse(&place, text, length, &root, error)
                                : XB_FAIL(error, XB_ERR_MEMORY, "no memory to read %.200s", path);
    record->tree = root;
    if (status == XB_OK)
        status = read_root(&place, root, record, &entries, &count, error);
    if (status == XB_OK)
        status = build_cases(&place, entries, count, record, error);
    free(entries);
    if (status != XB_OK)
        xb_record_free(record);
    return status;
}

enum xb_status xb_record_read(const char *path, struct xb_record *record, struct xb_error *error)
{
    char *text = NULL;
    size_t length = 0;
    if (strcmp(path, "-") == 0)
        return XB_FAIL(error, XB_ERR_USAGE, "-: standard input is not read: name a file");
    enum xb_status status =
        xb_file_text_read(path, XB_RECORD_LARGEST_BYTES, false, &text, &length, error);
    if (status == XB_OK)
        status = xb_record_parse(path, text, length, record, error);
    free(text);
    return status;
}

void xb_record_free(struct xb_record *record)
{
    for (size_t i = 0; i < record->process_count; i++)
        free(record->processes[i].devices);
    for (size_t i = 0; i < record->case_count; i++)
        free(record->cases[i].rows);
    free(record->processes);
    free(record->index);
    free(record->cases);
    free(record->options);
    free(record->facts);
    free(record->path);
    xb_arena_free(record->texts);
    cJSON_Delete(record->tree);
    *record = (struct xb_record){0};
}
