/* SPDX-License-Identifier: Apache-2.0 */
/* What all documents share; a record becomes a file, and a file of any kind a record. */
#define _POSIX_C_SOURCE 200809L /* gmtime_r */
#include "document.h"

#include "base/file_text.h"
#include "base/left_out.h"
#include "making.h"
#include "mode_list.h"
#include "xferbench/version.h"

#include <stdlib.h>
#include <string.h>

void xb_document_put_facts(struct xb_json *json, const char *key, const struct xb_device_info *info)
{
    xb_json_open_object(json, key);
    for (size_t i = 0; i < info->fact_count; i++)
        xb_json_put_text(json, info->facts[i].key, info->facts[i].value);
    xb_json_close(json);
}

void xb_document_put_time(struct xb_json *json, const char *key, time_t when)
{
    char text[sizeof "2000-01-01T00:00:00Z"];
    struct tm utc;
    gmtime_r(&when, &utc);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    xb_json_put_text(json, key, text);
}

void xb_document_put_left_out(struct xb_json *json)
{
    xb_json_open_array(json, "left_out");
    for (const struct xb_left_out *next = xb_left_out; next->library != NULL; next++)
        xb_json_put_text(json, NULL, next->library);
    xb_json_close(json);
}

void xb_document_put_tool(struct xb_json *json)
{
    static const struct xb_record own = {
        .version = XB_VERSION, .compiler = XB_COMPILER, .build_type = XB_BUILD_TYPE};
    xb_json_open_object(json, "tool");
    xb_json_put_text(json, "name", "xferbench");
    xb_fields_put(json, xb_record_tool_fields, &own);
    xb_document_put_left_out(json);
    xb_json_close(json);
}

void xb_document_put_schema(struct xb_json *json, const char *schema, unsigned version)
{
    xb_json_put_text(json, "schema", schema);
    xb_json_put_whole(json, "schema_version", version);
    xb_document_put_tool(json);
    xb_document_put_time(json, "timestamp", time(NULL));
}

void xb_record_put(struct xb_json *json, const struct xb_record *record)
{
    xb_document_put_schema(json, "xferbench.result", XB_RECORD_VERSION);
    xb_fields_put(json, xb_record_end_fields, &record->processes[0]);
    xb_fields_put(json, xb_record_node_fields, record);
    xb_fields_put(json, xb_record_start_fields, record);
    xb_fields_put(json, xb_record_backend_fields, record);
    xb_fields_put(json, xb_record_devices_fields, &record->processes[0]);
    xb_fields_put(json, xb_record_settings_fields, record);
    xb_json_open_array(json, "results");
    XB_EACH_CASE (test, record) {
        xb_json_open_object(json, NULL);
        xb_fields_put(json, xb_record_case_fields, test);
        xb_fields_put(json, xb_record_row_fields, &test->rows[0]);
        xb_json_close(json);
    }
    xb_json_close(json);
}

static const struct {
    const char *schema, *name;
} kinds[] = {
    [XB_DOCUMENT_RESULT] = {"xferbench.result", "result"},
    [XB_DOCUMENT_PROCESSES] = {"xferbench.processes", "result of several processes"},
    [XB_DOCUMENT_LINK] = {"xferbench.link", "link test"},
    [XB_DOCUMENT_COMPARE] = {"xferbench.compare", "comparison"},
    [XB_DOCUMENT_LIST] = {"xferbench.list", "list of devices"},
    [XB_DOCUMENT_ADVISE] = {"xferbench.advise", "advice"},
    [XB_DOCUMENT_FLEET] = {"xferbench.fleet", "judgement of many nodes"},
    [XB_DOCUMENT_TRACE] = {NULL, "timeline"}, /* its form is that of the browsers' traces */
    [XB_DOCUMENT_FOREIGN] = {NULL, "unknown"}};

enum xb_document_kind xb_document_kind_of(const cJSON *root)
{
    static const char program[] = "xferbench ";
    const char *schema = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, "schema"));
    for (int i = 0; schema != NULL && i < XB_DOCUMENT_FOREIGN; i++)
        if (kinds[i].schema != NULL && strcmp(schema, kinds[i].schema) == 0)
            return (enum xb_document_kind)i;
    /* A trace says in otherData which program wrote it. */
    const cJSON *other = cJSON_GetObjectItemCaseSensitive(root, "otherData");
    const char *tool = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(other, "tool"));
    return tool != NULL && strncmp(tool, program, sizeof program - 1) == 0 &&
                   cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(root, "traceEvents"))
               ? XB_DOCUMENT_TRACE
               : XB_DOCUMENT_FOREIGN;
}

const char *xb_document_kind_name(enum xb_document_kind kind)
{
    return kinds[kind].name;
}

/* A record while it is read. After the first error (base/json_read.h) no function does anything. */
struct reader {
    struct xb_json_reader json;
    struct xb_record *record;        /* that is filled */
    bool nodes[XB_NODES];            /* NUMA nodes that rows name, */
    size_t node_count;               /* and how many these are */
    struct xb_record_entry *entries; /* the rows of all documents, in the order of the file */
    size_t entry_count;
    size_t process; /* whose rows are read */
};

/* A row is of devices that its document lists; below 0 is none. */
static void check_device(struct reader *reader, const char *key, int device)
{
    struct xb_record own = {.processes = &reader->record->processes[reader->process],
                            .process_count = 1};
    if (device >= 0 && xb_record_device(&own, device) == NULL)
        xb_json_refuse(&reader->json, key, "is %d, which is none of \"devices\"", device);
}

/* The numbers of NUMA nodes may have gaps, such as 0 and 8: what counts is how many there are. */
static void check_node(struct reader *reader, int node)
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

static void read_row(struct xb_json_reader *json, const cJSON *item, size_t index, void *to)
{
    struct reader *reader = to;
    struct xb_record_entry *entry = &reader->entries[reader->entry_count++];
    struct xb_record_row *row = &entry->row;
    *entry = (struct xb_record_entry){.process = reader->process, .index = index};
    xb_fields_read(json, item, xb_record_case_fields, &entry->test);
    if (xb_json_failed(json))
        return;
    check_device(reader, "device", entry->test.device);
    check_device(reader, "peer", entry->test.peer);
    check_node(reader, xb_record_case_node(&entry->test));
    xb_fields_read(json, item, xb_record_row_fields, row);
    row->is_there = true;
    row->is_cut = xb_record_same(row->stop_reason, xb_stop_reason_name(XB_STOP_INTERRUPTED)) ||
                  xb_record_same(row->stop_reason, xb_stop_reason_name(XB_STOP_DEADLINE));
    if (xb_json_failed(json))
        return;
    if (row->status != XB_RESULT_OK) { /* what it has is evidence */
        if (row->figure_count > 0)
            xb_json_refuse(json, "figures", "must be none in a row that is not ok");
        return;
    }
    const char *main_figure = xb_mode_main_figure(entry->test.mode, entry->test.latency)->name;
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

/* A document of this kind, in the form that this program reads. */
static void read_form(struct reader *reader, const cJSON *document, const char *schema)
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

static void make_processes(struct reader *reader, size_t count)
{
    if (xb_json_failed(&reader->json))
        return;
    reader->record->processes =
        xb_arena_new(&reader->record->texts, count * sizeof *reader->record->processes);
    reader->record->process_count = count;
}

/* Under which conditions it was measured, but for the devices. */
static void read_conditions(struct xb_json_reader *json, const cJSON *document,
                            struct xb_record *record)
{
    const struct xb_launcher *launcher = &record->launcher;
    const cJSON *tool = cJSON_GetObjectItemCaseSensitive(document, "tool");
    const cJSON *item, *list = cJSON_GetObjectItemCaseSensitive(tool, "left_out");
    xb_fields_read(json, document, xb_record_backend_fields, record);
    xb_fields_read(json, document, xb_record_settings_fields, record);
    xb_fields_read_object(json, document, "tool", xb_record_tool_fields, record);
    /* Which libraries the build lacked. Files of earlier builds do not say. */
    if (list != NULL && !cJSON_IsArray(list))
        xb_json_refuse(json, "tool.left_out", "must be an array");
    cJSON_ArrayForEach(item, list)
    {
        if (!cJSON_IsString(item) || item->valuestring[0] == '\0')
            xb_json_refuse(json, "tool.left_out", "must be texts that are not empty");
        else
            xb_record_add_left_out(record, item->valuestring);
    }
    xb_fields_read(json, document, xb_record_node_fields, record);
    if (launcher->known && launcher->ranks > 0 && launcher->rank >= launcher->ranks)
        xb_json_refuse(json, "launcher.rank", "must be below the number of ranks");
    xb_fields_read(json, document, xb_record_start_fields, record);
}

/* Reads one process's document, that of reader->process. */
static void read_process(struct reader *reader, const cJSON *document)
{
    struct xb_record_process *process = &reader->record->processes[reader->process];
    struct xb_json_reader *json = &reader->json;
    bool is_first = reader->record->backend == NULL;
    read_form(reader, document, "xferbench.result");
    if (xb_json_failed(json))
        return;
    xb_fields_read(json, document, xb_record_end_fields, process);
    process->deadline_met = process->deadline_met || !process->has_deadline;
    if (is_first)
        read_conditions(json, document, reader->record);
    xb_fields_read(json, document, xb_record_devices_fields, process);
    process->has_results = true;
    if (!is_first) { /* a document that was measured under other conditions is refused */
        char text[XB_RECORD_DIFFERENCE];
        struct xb_record own = {.processes = process, .process_count = 1};
        json->texts = &own.texts;
        read_conditions(json, document, &own);
        json->texts = &reader->record->texts;
        const char *difference =
            xb_json_failed(json)
                ? NULL
                : xb_record_other_condition(reader->record, &own, text, sizeof text);
        if (difference != NULL)
            xb_json_refuse(json, NULL, "measured under other conditions: %s", difference);
        xb_arena_free(own.texts);
    }
    size_t more = (size_t)cJSON_GetArraySize(xb_json_get_array(json, document, "results"));
    more = more < XB_RECORD_CASES ? more : XB_RECORD_CASES;
    if (xb_json_failed(json))
        return;
    reader->entries =
        xb_resize(reader->entries, (reader->entry_count + more + 1) * sizeof *reader->entries);
    (void)xb_fields_read_each(json, document, "results", XB_RECORD_CASES, read_row, reader);
}

/* processes[index] of a merged file; one that failed says why, and has no document and no rows. */
static void read_member(struct xb_json_reader *json, const cJSON *member, size_t index, void *to)
{
    struct reader *reader = to;
    static const struct xb_field fields[] = {
        XB_FIELD("failure", STRING, struct xb_record_process, failure, XB_TEXT_OR_NULL),
        XB_FIELDS_END};
    const cJSON *document = cJSON_GetObjectItemCaseSensitive(member, "document");
    xb_fields_read(json, member, fields, &reader->record->processes[index]);
    if (document == NULL)
        xb_json_refuse(json, "document", "is missing");
    if (xb_json_failed(json) || cJSON_IsNull(document))
        return;
    reader->process = index;
    size_t length = xb_place_enter(&json->place, "document");
    read_process(reader, document);
    xb_place_leave(&json->place, length);
}

static void read_merged(struct reader *reader, const cJSON *root)
{
    struct xb_record *record = reader->record;
    struct xb_json_reader *json = &reader->json;
    read_form(reader, root, "xferbench.processes");
    xb_fields_read(json, root, xb_record_merged_fields, record);
    record->is_merged = true;
    record->deadline_met = record->deadline_met || !record->has_deadline;
    size_t found = (size_t)cJSON_GetArraySize(xb_json_get_array(json, root, "processes"));
    if (found == 0 || found > XB_RECORD_PROCESSES)
        xb_json_refuse(json, "processes", "must be 1 to %d", XB_RECORD_PROCESSES);
    if (found > record->asked_processes)
        xb_json_refuse(json, "processes", "are more than the %zu asked for",
                       record->asked_processes);
    make_processes(reader, found);
    for (size_t i = 0; i < record->process_count; i++)
        record->processes[i] = (struct xb_record_process){.interrupted = record->interrupted,
                                                          .has_deadline = record->has_deadline,
                                                          .deadline_met = record->deadline_met};
    struct xb_record_start start = record->start; /* of all, not of the first */
    if (!xb_json_failed(json))
        (void)xb_fields_read_each(json, root, "processes", found, read_member, reader);
    record->start = start;
    if (record->backend == NULL)
        xb_json_refuse(json, "processes", "none of them has results");
}

enum xb_status xb_record_of_tree(const char *path, const cJSON *tree, struct xb_record *record,
                                 struct xb_error *error)
{
    struct reader reader = {.json = {.place = {.path = path}, .texts = &record->texts},
                            .record = record};
    struct xb_json_reader *json = &reader.json;
    *record = (struct xb_record){.texts = NULL};
    record->path = xb_arena_copy(&record->texts, path);
    if (xb_document_kind_of(tree) == XB_DOCUMENT_PROCESSES) {
        read_merged(&reader, tree);
    } else {
        make_processes(&reader, 1);
        record->asked_processes = 1;
        read_process(&reader, tree);
    }
    record->timestamp = xb_fields_keep_text(json, xb_json_get_text(json, tree, "timestamp"));
    if (!xb_json_failed(json))
        xb_record_make_cases(json, record, reader.entries, reader.entry_count, XB_RECORD_CASES);
    free(reader.entries);
    if (!xb_json_failed(json)) {
        const struct xb_record_process *first = &record->processes[0];
        if (!record->is_merged) {
            record->interrupted = first->interrupted;
            record->has_deadline = first->has_deadline;
            record->deadline_met = first->deadline_met;
        }
        xb_record_make_facts(record);
        return XB_OK;
    }
    xb_record_free(record);
    *error = json->error;
    return error->status;
}

enum xb_status xb_record_parse(const char *path, const char *text, size_t length,
                               struct xb_record *record, struct xb_error *error)
{
    struct xb_json_reader reader = {.place = {.path = path}};
    cJSON *tree = xb_json_read(&reader, text, length);
    *record = (struct xb_record){.path = NULL};
    *error = reader.error;
    enum xb_status status =
        tree != NULL ? xb_record_of_tree(path, tree, record, error) : error->status;
    cJSON_Delete(tree);
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
    free(record->index);
    free(record->by_size);
    if (record->release != NULL)
        record->release(record->measured);
    xb_arena_free(record->texts);
    *record = (struct xb_record){0};
}
