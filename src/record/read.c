/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* strdup */
/* A file of one process or of several becomes a record. */
#include "reader.h"

#include "base/file_text.h"
#include "making.h"
#include "rows.h"

#include <stdlib.h>
#include <string.h>

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
static void group(struct xb_reader *reader, const struct xb_record_entries *entries,
                  struct ordered_case *cases, size_t *count)
{
    for (size_t i = 0; !xb_json_failed(&reader->json) && i < entries->count; i++) {
        const struct xb_record_entry *entry = &entries->entries[i];
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

static void make_cases(struct xb_reader *reader, struct xb_record_entries *entries)
{
    struct xb_record *record = reader->record;
    struct ordered_case *cases = calloc(entries->count + 1, sizeof *cases);
    record->cases = calloc(entries->count + 1, sizeof *record->cases);
    if (cases == NULL || record->cases == NULL) {
        free(cases);
        xb_json_refuse_memory(&reader->json);
        return;
    }
    if (entries->count > 0)
        qsort(entries->entries, entries->count, sizeof *entries->entries, by_case);
    group(reader, entries, cases, &record->case_count);
    qsort(cases, record->case_count, sizeof *cases, by_first);
    for (size_t i = 0; i < record->case_count; i++)
        record->cases[i] = cases[i].test;
    free(cases);
    if (!xb_record_make_index(record) || !xb_record_make_facts(record))
        xb_json_refuse_memory(&reader->json);
}

/* ---- documents ---- */

/* Whether a signal or the deadline cut what the document is of. */
static void read_end(struct xb_reader *reader, const cJSON *document,
                     struct xb_record_process *process)
{
    process->interrupted = xb_json_get_flag(&reader->json, document, "interrupted");
    process->deadline_met =
        xb_json_get_known_flag(&reader->json, document, "deadline_met", &process->has_deadline);
    process->deadline_met = process->deadline_met || !process->has_deadline;
}

/* Reads one process's document as process `index`. */
static void read_process(struct xb_reader *reader, const cJSON *document, size_t index,
                         struct xb_record_entries *entries)
{
    struct xb_record_process *process = &reader->record->processes[index];
    bool is_first = reader->record->backend == NULL;
    read_end(reader, document, process);
    if (is_first)
        xb_reader_read_conditions(reader, document);
    xb_reader_read_devices(reader, document, process);
    process->has_results = true;
    if (!is_first)
        xb_reader_check_conditions(reader, document, process);
    xb_reader_read_rows(reader, document, index, entries);
}

/* A document of this kind, in the form that this program reads. */
static void read_form(struct xb_reader *reader, const cJSON *document, const char *schema)
{
    const char *found = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(document, "schema"));
    if (!cJSON_IsObject(document))
        xb_json_refuse(&reader->json, NULL, "is not a result file of xferbench");
    else if (found == NULL)
        xb_json_refuse(&reader->json, "schema",
                       "is missing: this is not a result file of xferbench");
    else if (strcmp(found, schema) != 0)
        xb_json_refuse(&reader->json, "schema",
                       "\"%.60s\" is not \"%s\": this is not a result file of xferbench", found,
                       schema);
    uint64_t version = xb_json_get_whole(&reader->json, document, "schema_version", 1, 1000000);
    if (version > XB_RECORD_VERSION)
        xb_json_refuse(&reader->json, "schema_version",
                       "%u was written by a newer xferbench than this one, which reads up to %d; "
                       "use the newer one",
                       (unsigned)version, XB_RECORD_VERSION);
    else if (version < XB_RECORD_VERSION)
        xb_json_refuse(&reader->json, "schema_version",
                       "%u was written by a build from before xferbench 0.1.0, which reads version "
                       "%d; measure again",
                       (unsigned)version, XB_RECORD_VERSION);
}

static void make_processes(struct xb_reader *reader, size_t count)
{
    struct xb_record *record = reader->record;
    if (xb_json_failed(&reader->json) || count == 0)
        return;
    record->processes = calloc(count, sizeof *record->processes);
    if (record->processes == NULL)
        xb_json_refuse_memory(&reader->json);
    else
        record->process_count = count;
}

/* processes[index] of a merged file; one that failed has no document, and no rows. It says itself
 * why; whether the run was cut short, the file does. */
static void read_member(struct xb_reader *reader, const cJSON *member, size_t index,
                        struct xb_record_entries *entries)
{
    const cJSON *document = cJSON_GetObjectItemCaseSensitive(member, "document");
    if (!cJSON_IsObject(member))
        xb_json_refuse(&reader->json, NULL, "must be an object");
    else if (document == NULL)
        xb_json_refuse(&reader->json, "document", "is missing");
    reader->record->processes[index].failure =
        xb_json_get_optional_text(&reader->json, member, "failure");
    if (xb_json_failed(&reader->json) || cJSON_IsNull(document))
        return;
    size_t length = xb_place_enter(&reader->json.place, "document");
    read_form(reader, document, "xferbench.result");
    if (!xb_json_failed(&reader->json))
        read_process(reader, document, index, entries);
    xb_place_leave(&reader->json.place, length);
}

/* Whether the run as a whole was cut short: it holds for what has no document to say so. */
static void read_ends(struct xb_reader *reader, const cJSON *root)
{
    struct xb_record *record = reader->record;
    struct xb_record_process ends = {.interrupted = false};
    read_end(reader, root, &ends);
    record->interrupted = ends.interrupted;
    record->has_deadline = ends.has_deadline;
    record->deadline_met = ends.deadline_met;
    for (size_t i = 0; i < record->process_count; i++)
        record->processes[i] = ends;
}

/* How many processes the file has, and how many it should have. */
static void read_counts(struct xb_reader *reader, const cJSON *root, const cJSON **processes)
{
    uint64_t asked = xb_json_get_whole(&reader->json, root, "asked", 1, XB_RECORD_PROCESSES);
    *processes = xb_json_get_array(&reader->json, root, "processes");
    size_t found = (size_t)cJSON_GetArraySize(*processes);
    if (found == 0 || found > XB_RECORD_PROCESSES)
        xb_json_refuse(&reader->json, "processes", "must be 1 to %d", XB_RECORD_PROCESSES);
    if (found > asked)
        xb_json_refuse(&reader->json, "processes", "are more than the %u asked for",
                       (unsigned)asked);
    reader->record->asked_processes = (size_t)asked;
    make_processes(reader, found);
}

static void read_merged(struct xb_reader *reader, const cJSON *root,
                        struct xb_record_entries *entries)
{
    struct xb_record *record = reader->record;
    const cJSON *processes = NULL;
    const cJSON *member;
    size_t index = 0;
    record->is_merged = true;
    read_form(reader, root, "xferbench.processes");
    read_counts(reader, root, &processes);
    record->role = xb_json_get_optional_text(&reader->json, root, "role");
    record->program = xb_json_get_optional_text(&reader->json, root, "program");
    record->counterpart = xb_json_get_optional_text(&reader->json, root, "interleaved_with");
    read_ends(reader, root);
    size_t outer = xb_place_enter(&reader->json.place, "processes");
    cJSON_ArrayForEach(member, processes)
    {
        if (xb_json_failed(&reader->json))
            return;
        size_t length = xb_place_enter_item(&reader->json.place, index);
        read_member(reader, member, index++, entries);
        xb_place_leave(&reader->json.place, length);
    }
    xb_place_leave(&reader->json.place, outer);
    if (record->backend == NULL)
        xb_json_refuse(&reader->json, "processes", "none of them has results");
    xb_reader_read_start(reader, root, &record->start); /* of all, not of the first */
}

static void read_single(struct xb_reader *reader, const cJSON *root,
                        struct xb_record_entries *entries)
{
    struct xb_record *record = reader->record;
    read_form(reader, root, "xferbench.result");
    make_processes(reader, 1);
    if (xb_json_failed(&reader->json))
        return;
    record->asked_processes = 1;
    read_ends(reader, root);
    read_process(reader, root, 0, entries);
}

static void read_root(struct xb_reader *reader, const cJSON *root)
{
    struct xb_record_entries entries = {0};
    const char *schema = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, "schema"));
    if (schema != NULL && strcmp(schema, "xferbench.processes") == 0)
        read_merged(reader, root, &entries);
    else
        read_single(reader, root, &entries);
    reader->record->timestamp = xb_json_get_optional_text(&reader->json, root, "timestamp");
    if (!xb_json_failed(&reader->json))
        make_cases(reader, &entries);
    free(entries.entries);
}

enum xb_status xb_record_of_tree(const char *path, cJSON *tree, struct xb_record *record,
                                 struct xb_error *error)
{
    struct xb_reader reader = {.json = {.place = {.path = path}}, .record = record};
    *record = (struct xb_record){.launcher.rank = -1, .path = strdup(path), .tree = tree};
    if (record->path == NULL)
        xb_json_refuse_memory(&reader.json);
    else
        read_root(&reader, tree);
    if (!xb_json_failed(&reader.json))
        return XB_OK;
    xb_record_free(record);
    *error = reader.json.error;
    return error->status;
}

enum xb_status xb_record_parse(const char *path, const char *text, size_t length,
                               struct xb_record *record, struct xb_error *error)
{
    struct xb_json_reader reader = {.place = {.path = path}};
    cJSON *tree = xb_json_read(&reader, text, length);
    *record = (struct xb_record){.path = NULL};
    if (tree != NULL)
        return xb_record_of_tree(path, tree, record, error);
    *error = reader.error;
    return error->status;
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
    free(record->by_size);
    free(record->cases);
    free(record->options);
    free(record->facts);
    free(record->path);
    if (record->release != NULL)
        record->release(record->measured);
    xb_arena_free(record->texts);
    cJSON_Delete(record->tree);
    *record = (struct xb_record){0};
}
