/* SPDX-License-Identifier: Apache-2.0 */
/* What came of the cases, but for their figures. */
#include "reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DETAILS 64
#define MOST_PARAMETERS 16

/* ---- what case it is, and how it ended ---- */

static void read_case(struct xb_reader *reader, const cJSON *object, struct xb_record_case *test)
{
    test->mode = xb_json_get_text(&reader->json, object, "mode");
    test->variant = xb_json_get_text(&reader->json, object, "variant");
    test->direction = xb_json_get_text(&reader->json, object, "direction");
    test->bytes = xb_json_get_whole(&reader->json, object, "bytes", 1, XB_RECORD_MOST_BYTES);
    test->device = xb_json_get_index(&reader->json, object, "device");
    test->peer = xb_json_get_index(&reader->json, object, "peer");
    test->latency = xb_json_get_flag(&reader->json, object, "latency");
    test->simultaneous = xb_json_get_flag(&reader->json, object, "simultaneous");
    struct xb_record_fact *parameters =
        xb_reader_read_facts(reader, object, "parameters", MOST_PARAMETERS, &test->parameter_count);
    if (parameters != NULL)
        xb_record_sort_facts(parameters, test->parameter_count);
    test->parameters = parameters;
}

static enum xb_result_status status_of(struct xb_reader *reader, const char *word)
{
    for (int number = XB_RESULT_OK; word != NULL && number <= XB_RESULT_ERROR; number++)
        if (strcmp(word, xb_result_status_name((enum xb_result_status)number)) == 0)
            return (enum xb_result_status)number;
    xb_json_refuse(&reader->json, "status", "must be ok, skipped or error");
    return XB_RESULT_ERROR;
}

static void read_status(struct xb_reader *reader, const cJSON *object, struct xb_record_row *row)
{
    bool known = false;
    const char *word = xb_json_get_text(&reader->json, object, "status");
    row->status = status_of(reader, word);
    row->reason = xb_json_get_optional_text(&reader->json, object, "reason");
    bool verified = xb_json_get_known_flag(&reader->json, object, "verified", &known);
    row->verified = !known ? XB_VERIFIED_UNKNOWN : verified ? XB_VERIFIED_TRUE : XB_VERIFIED_FALSE;
    if (row->status == XB_RESULT_OK && row->verified != XB_VERIFIED_TRUE)
        xb_json_refuse(&reader->json, "verified",
                       "is not true in a row that is ok: xferbench writes no such row");
}

/* errno, or a vendor's code, which may be below 0. */
static int64_t code_of(struct xb_reader *reader, const cJSON *error)
{
    double code = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(error, "native_code"));
    if (fabs(code) <= (double)XB_RECORD_MOST_BYTES && floor(code) == code)
        return (int64_t)code;
    xb_json_refuse(&reader->json, "native_code", "must be a whole number");
    return 0;
}

static void read_error(struct xb_reader *reader, const cJSON *object, struct xb_record_row *row)
{
    const cJSON *error = xb_json_get_known_object(&reader->json, object, "error");
    if (error == NULL)
        return;
    struct xb_record_error *kept = xb_reader_room(reader, 1, sizeof *kept);
    if (kept == NULL)
        return;
    size_t length = xb_place_enter(&reader->json.place, "error");
    kept->status = xb_json_get_text(&reader->json, error, "status");
    kept->native_code = code_of(reader, error);
    kept->native_name = xb_json_get_optional_text(&reader->json, error, "native_name");
    kept->call = xb_json_get_optional_text(&reader->json, error, "call");
    kept->message = xb_json_get_text(&reader->json, error, "message");
    kept->at = xb_json_get_optional_text(&reader->json, error, "at");
    xb_place_leave(&reader->json.place, length);
    row->error = kept;
}

/* Why no further sample was taken; a row without samples has none. */
static void read_stop(struct xb_reader *reader, const cJSON *object, struct xb_record_row *row)
{
    row->stop_reason = xb_json_get_known_text(&reader->json, object, "stop_reason");
    row->is_cut = row->stop_reason != NULL &&
                  (strcmp(row->stop_reason, xb_stop_reason_name(XB_STOP_INTERRUPTED)) == 0 ||
                   strcmp(row->stop_reason, xb_stop_reason_name(XB_STOP_DEADLINE)) == 0);
}

/* ---- what was measured ---- */

/* A row that is not ok has it as evidence, or not at all. */
static void read_times(struct xb_reader *reader, const cJSON *object, struct xb_record_row *row)
{
    bool needed = row->status == XB_RESULT_OK;
    if (needed) {
        row->timer = xb_json_get_text(&reader->json, object, "timer");
        row->bytes_moved =
            xb_json_get_whole(&reader->json, object, "bytes_moved", 1, XB_RECORD_MOST_BYTES);
    } else {
        row->timer = xb_json_get_known_text(&reader->json, object, "timer");
        row->bytes_moved =
            xb_json_get_optional_whole(&reader->json, object, "bytes_moved", XB_RECORD_MOST_BYTES);
    }
    xb_reader_need_numbers(reader, object, "samples_s", true, XB_RECORD_MOST_SECONDS, &row->times,
                           &row->time_count);
    if (needed && row->time_count == 0)
        xb_json_refuse(&reader->json, "samples_s", "are none in a row that is ok");
}

/* How many of the samples are of each placement; null where all are of one. */
static void read_placements(struct xb_reader *reader, const cJSON *object,
                            struct xb_record_row *row)
{
    const double *counts = NULL;
    size_t count = 0;
    double total = 0;
    if (cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(object, "placements")))
        return;
    xb_reader_need_numbers(reader, object, "placements", true, (double)row->time_count, &counts,
                           &count);
    size_t *samples = xb_reader_room(reader, count, sizeof *samples);
    if (samples == NULL)
        return;
    for (size_t i = 0; i < count; i++) {
        samples[i] = (size_t)counts[i];
        total += (double)samples[i];
        if ((double)samples[i] != counts[i])
            xb_json_refuse(&reader->json, "placements", "must be whole numbers");
    }
    if (total != (double)row->time_count)
        xb_json_refuse(&reader->json, "placements", "are not %zu samples together",
                       row->time_count);
    row->placements = (struct xb_record_placements){.samples = samples, .count = count};
}

static void read_warnings(struct xb_reader *reader, const cJSON *object, struct xb_record_row *row)
{
    const cJSON *warnings = xb_json_get_array(&reader->json, object, "warnings");
    const cJSON *item;
    size_t count = (size_t)cJSON_GetArraySize(warnings);
    if (count > XB_RESULT_WARNINGS)
        xb_json_refuse(&reader->json, "warnings", "are more than %d", XB_RESULT_WARNINGS);
    const char **texts = xb_reader_room(reader, count, sizeof *texts);
    if (texts == NULL)
        return;
    cJSON_ArrayForEach(item, warnings)
    {
        if (!cJSON_IsString(item) || item->valuestring[0] == '\0')
            xb_json_refuse(&reader->json, "warnings", "must be texts that are not empty");
        texts[row->warning_count++] = cJSON_GetStringValue(item);
    }
    row->warning_texts = texts;
}

static void read_details(struct xb_reader *reader, const cJSON *object, struct xb_record_row *row)
{
    const cJSON *item;
    const cJSON *details =
        xb_json_get_optional_object(&reader->json, object, "details", MOST_DETAILS);
    struct xb_record_detail *kept =
        xb_reader_room(reader, (size_t)cJSON_GetArraySize(details), sizeof *kept);
    if (kept == NULL)
        return;
    size_t length = xb_place_enter(&reader->json.place, "details");
    cJSON_ArrayForEach(item, details)
    {
        if (!cJSON_IsNumber(item) && !cJSON_IsString(item) && !cJSON_IsNull(item))
            xb_json_refuse(&reader->json, item->string, "must be a number, a text or null");
        kept[row->detail_count++] = (struct xb_record_detail){.name = item->string,
                                                              .text = cJSON_GetStringValue(item),
                                                              .number = cJSON_GetNumberValue(item)};
    }
    xb_place_leave(&reader->json.place, length);
    row->details = kept;
}

/* ---- rows ---- */

/* A row is of devices that its document lists; below 0 is none. */
static void check_device(struct xb_reader *reader, const struct xb_record_process *process,
                         const char *key, int device)
{
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

static void read_row(struct xb_reader *reader, const cJSON *object, struct xb_record_entry *entry)
{
    struct xb_record_row *row = &entry->row;
    if (!cJSON_IsObject(object)) {
        xb_json_refuse(&reader->json, NULL, "must be an object");
        return;
    }
    row->is_there = true;
    read_case(reader, object, &entry->test);
    check_device(reader, &reader->record->processes[entry->process], "device", entry->test.device);
    check_device(reader, &reader->record->processes[entry->process], "peer", entry->test.peer);
    if (!xb_json_failed(&reader->json))
        check_node(reader, xb_record_case_node(&entry->test));
    read_status(reader, object, row);
    read_error(reader, object, row);
    read_stop(reader, object, row);
    read_warnings(reader, object, row);
    read_details(reader, object, row);
    read_times(reader, object, row);
    read_placements(reader, object, row);
    if (!xb_json_failed(&reader->json))
        xb_reader_read_figures(reader, object, &entry->test, row);
}

void xb_reader_read_rows(struct xb_reader *reader, const cJSON *document, size_t process,
                         struct xb_record_entries *entries)
{
    const cJSON *object;
    size_t index = 0;
    const cJSON *results = xb_json_get_array(&reader->json, document, "results");
    size_t more = (size_t)cJSON_GetArraySize(results);
    if (more > XB_RECORD_CASES)
        xb_json_refuse(&reader->json, "results", "has %zu rows; a run has at most %d", more,
                       XB_RECORD_CASES);
    if (xb_json_failed(&reader->json))
        return;
    struct xb_record_entry *grown =
        realloc(entries->entries, (entries->count + more + 1) * sizeof *grown);
    if (grown == NULL) {
        xb_json_refuse_memory(&reader->json);
        return;
    }
    entries->entries = grown;
    size_t outer = xb_place_enter(&reader->json.place, "results");
    cJSON_ArrayForEach(object, results)
    {
        struct xb_record_entry *entry = &grown[entries->count];
        *entry =
            (struct xb_record_entry){.process = process, .index = index, .order = entries->count++};
        size_t length = xb_place_enter_item(&reader->json.place, index++);
        read_row(reader, object, entry);
        xb_place_leave(&reader->json.place, length);
        if (xb_json_failed(&reader->json))
            return;
    }
    xb_place_leave(&reader->json.place, outer);
}
