/* SPDX-License-Identifier: Apache-2.0 */
#include "json_common.h"
#include "json_tree.h"
#include "xferbench/processes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The keys and their meaning stand in docs/processes.schema.json. */

/* The processes' records as the one that a reader makes of the merged file. What is in it is
 * theirs; the arrays are its own. */
struct merged {
    const struct xb_processes *set;
    struct xb_record record;
};

/* ---- one case ---- */

/* The median in one process; NAN where it has none. */
static double median_in(const struct xb_record_case *test, size_t process, enum xb_metric metric)
{
    const struct xb_record_value *value = &test->rows[process].values[metric];
    return value->is_set ? value->median : (double)NAN;
}

/* One a process, null where it has none. */
static cJSON *medians_json(const struct xb_record *merged, const struct xb_record_case *test,
                           enum xb_metric metric)
{
    cJSON *array = cJSON_CreateArray();
    bool ok = array != NULL;
    for (size_t i = 0; ok && i < merged->process_count; i++)
        ok = xb_json_append(array, xb_json_number(median_in(test, i, metric)));
    return xb_json_complete(array, ok);
}

/* Of the processes' medians; null where none has one. */
static cJSON *statistics_json(const struct xb_record *merged, const struct xb_record_case *test,
                              enum xb_metric metric)
{
    double values[XB_RECORD_PROCESSES];
    struct xb_statistics statistics;
    struct xb_error error;
    size_t count = xb_record_medians(merged, test, metric, values);
    if (count == 0)
        return cJSON_CreateNull();
    return xb_statistics_compute(values, count, &statistics, &error) == XB_OK
               ? xb_json_statistics(&statistics)
               : NULL;
}

static cJSON *all_medians_json(const struct xb_record *merged, const struct xb_record_case *test)
{
    bool latency = test->latency;
    cJSON *object = cJSON_CreateObject();
    return xb_json_complete(
        object, xb_json_put(object, "bandwidth_bytes_per_second",
                            medians_json(merged, test, XB_METRIC_BANDWIDTH)) &&
                    xb_json_put(object, "latency_host_p50_s",
                                latency ? medians_json(merged, test, XB_METRIC_HOST_LATENCY)
                                        : cJSON_CreateNull()) &&
                    xb_json_put(object, "latency_device_p50_s",
                                latency ? medians_json(merged, test, XB_METRIC_DEVICE_LATENCY)
                                        : cJSON_CreateNull()));
}

static cJSON *latency_json(const struct xb_record *merged, const struct xb_record_case *test)
{
    if (!test->latency)
        return cJSON_CreateNull();
    cJSON *object = cJSON_CreateObject();
    return xb_json_complete(
        object,
        xb_json_put(object, "host", statistics_json(merged, test, XB_METRIC_HOST_LATENCY)) &&
            xb_json_put(object, "device", statistics_json(merged, test, XB_METRIC_DEVICE_LATENCY)));
}

static cJSON *warning_json(const char *text, size_t processes)
{
    cJSON *object = cJSON_CreateObject();
    return xb_json_complete(object, xb_json_put(object, "text", xb_json_text(text)) &&
                                        xb_json_put(object, "processes", xb_json_whole(processes)));
}

/* Those of the processes, and ours of those that do not count. */
static cJSON *warnings_json(const struct xb_record *merged, const struct xb_record_case *test,
                            const struct xb_record_summary *summary)
{
    struct xb_record_warning warnings[XB_RECORD_WARNINGS];
    char text[XB_RECORD_CUT];
    size_t count = xb_record_warnings(merged, test, warnings);
    const char *cut = xb_record_cut_text(merged, test, text, sizeof text);
    cJSON *array = cJSON_CreateArray();
    bool ok = array != NULL;
    if (ok && cut != NULL)
        ok = xb_json_append(array, warning_json(cut, summary->cut));
    for (size_t i = 0; ok && i < count; i++)
        ok = xb_json_append(array, warning_json(warnings[i].text, warnings[i].processes));
    return xb_json_complete(array, ok);
}

static cJSON *index_json(int index)
{
    return index >= 0 ? xb_json_number(index) : cJSON_CreateNull();
}

static bool put_key(cJSON *object, const struct xb_record_case *test)
{
    return xb_json_put(object, "mode", xb_json_text(test->mode)) &&
           xb_json_put(object, "variant", xb_json_text(test->variant)) &&
           xb_json_put(object, "direction", xb_json_text(test->direction)) &&
           xb_json_put(object, "bytes", xb_json_whole(test->bytes)) &&
           xb_json_put(object, "device", index_json(test->device)) &&
           xb_json_put(object, "peer", index_json(test->peer)) &&
           xb_json_put(object, "latency", cJSON_CreateBool(test->latency)) &&
           xb_json_put(object, "simultaneous", cJSON_CreateBool(test->simultaneous));
}

static cJSON *case_json(const struct xb_record *merged, const struct xb_record_case *test)
{
    char text[XB_RECORD_REASON];
    struct xb_record_summary summary = xb_record_summarize(merged, test);
    const char *reason = xb_record_reason(test, &summary, text, sizeof text);
    cJSON *object = cJSON_CreateObject();
    return xb_json_complete(
        object,
        put_key(object, test) &&
            xb_json_put(object, "status", xb_json_text(xb_result_status_name(summary.status))) &&
            xb_json_put(object, "reason",
                        reason != NULL ? xb_json_text(reason) : cJSON_CreateNull()) &&
            xb_json_put(object, "verified", xb_json_verified(summary.verified)) &&
            xb_json_put(object, "processes_ok", xb_json_whole(summary.ok)) &&
            xb_json_put(object, "medians", all_medians_json(merged, test)) &&
            xb_json_put(object, "bandwidth_bytes_per_second",
                        statistics_json(merged, test, XB_METRIC_BANDWIDTH)) &&
            xb_json_put(object, "latency_s", latency_json(merged, test)) &&
            xb_json_put(object, "warnings", warnings_json(merged, test, &summary)));
}

/* ---- which cases there are ---- */

static const struct xb_record *record_of(const struct merged *merged, size_t process)
{
    return &merged->set->processes[process].record;
}

/* Takes a case up if no process before has it, with the row of each process that has it. */
static bool take_case(struct merged *merged, size_t process, const struct xb_record_case *test)
{
    for (size_t i = 0; i < process; i++)
        if (xb_record_find(record_of(merged, i), test) != NULL)
            return true;
    struct xb_record_case *made = &merged->record.cases[merged->record.case_count];
    *made = *test;
    made->rows = calloc(merged->set->count, sizeof *made->rows);
    if (made->rows == NULL)
        return false;
    merged->record.case_count++;
    for (size_t i = process; i < merged->set->count; i++) {
        const struct xb_record_case *own = xb_record_find(record_of(merged, i), test);
        if (own != NULL)
            made->rows[i] = own->rows[0];
    }
    return true;
}

/* In the order of their first appearance. */
static bool collect(struct merged *merged)
{
    size_t most = 0;
    size_t count = merged->set->count;
    struct xb_record *record = &merged->record;
    for (size_t i = 0; i < count; i++)
        most += record_of(merged, i)->case_count;
    record->cases = calloc(most + 1, sizeof *record->cases);
    record->processes = calloc(count + 1, sizeof *record->processes);
    bool ok = record->cases != NULL && record->processes != NULL;
    record->process_count = ok ? count : 0;
    for (size_t i = 0; ok && i < count; i++) {
        record->processes[i].has_results = merged->set->processes[i].document != NULL;
        for (size_t j = 0; ok && j < record_of(merged, i)->case_count; j++)
            ok = take_case(merged, i, &record_of(merged, i)->cases[j]);
    }
    return ok;
}

static void release(struct merged *merged)
{
    for (size_t i = 0; i < merged->record.case_count; i++)
        free(merged->record.cases[i].rows);
    free(merged->record.cases);
    free(merged->record.processes);
}

static cJSON *results_json(const struct xb_processes *set)
{
    struct merged merged = {.set = set};
    cJSON *array = cJSON_CreateArray();
    bool ok = array != NULL && collect(&merged);
    for (size_t i = 0; ok && i < merged.record.case_count; i++)
        ok = xb_json_append(array, case_json(&merged.record, &merged.record.cases[i]));
    release(&merged);
    return xb_json_complete(array, ok);
}

/* ---- processes ---- */

/* As it was written: the reader has found that it is JSON. */
static cJSON *document_json(const char *document)
{
    if (document == NULL)
        return cJSON_CreateNull();
    size_t length = strlen(document);
    while (length > 0 && strchr(" \t\r\n", document[length - 1]) != NULL)
        length--;
    char *text = xb_json_utf8(document, length);
    cJSON *item = text != NULL ? cJSON_CreateRaw(text) : NULL;
    cJSON_free(text);
    return item;
}

static cJSON *process_json(const struct xb_process *process, size_t index)
{
    cJSON *object = cJSON_CreateObject();
    return xb_json_complete(
        object, xb_json_put(object, "index", xb_json_whole(index)) &&
                    xb_json_put(object, "started", xb_json_time(process->started)) &&
                    xb_json_put(object, "wall_s", xb_json_number(process->wall_s)) &&
                    xb_json_put(object, "exit_code", index_json(process->exit_code)) &&
                    xb_json_put(object, "signal", xb_json_optional(process->signal)) &&
                    xb_json_put(object, "failure", xb_json_optional(process->failure)) &&
                    xb_json_put(object, "document", document_json(process->document)));
}

static cJSON *processes_json(const struct xb_processes *set)
{
    cJSON *array = cJSON_CreateArray();
    bool ok = array != NULL;
    for (size_t i = 0; ok && i < set->count; i++)
        ok = xb_json_append(array, process_json(&set->processes[i], i));
    return xb_json_complete(array, ok);
}

/* ---- the document ---- */

/* A number anew: cJSON would print some of them a bit off. */
static bool make_exact(cJSON *number)
{
    double value = cJSON_GetNumberValue(number);
    bool whole = value >= 0 && value < 9007199254740992.0 && floor(value) == value;
    cJSON *raw = whole ? xb_json_whole((uint64_t)value) : xb_json_number(value);
    if (raw == NULL)
        return false;
    number->type = (number->type & cJSON_StringIsConst) | cJSON_Raw;
    number->valuestring = raw->valuestring;
    raw->valuestring = NULL;
    cJSON_Delete(raw);
    return true;
}

/* All numbers below `root`, which the reader has found to be less deep than that. */
static bool make_all_exact(cJSON *root)
{
    cJSON *next[64] = {root->child}; /* at each level */
    size_t level = 0;
    bool ok = true;
    while (ok && (next[level] != NULL || level > 0)) {
        cJSON *item = next[level];
        if (item == NULL) {
            level--;
            continue;
        }
        next[level] = item->next;
        if (cJSON_IsNumber(item))
            ok = make_exact(item);
        else if (item->child != NULL && level + 1 < sizeof next / sizeof next[0])
            next[++level] = item->child;
    }
    return ok;
}

/* What the first process says of machine and options; null where none says anything. */
static bool put_conditions(cJSON *root, const struct xb_processes *set)
{
    static const char *const keys[] = {"host", "backend", "devices", "environment", "config"};
    const struct xb_process *first = xb_processes_first(set);
    cJSON *document = first != NULL ? cJSON_Parse(first->document) : NULL;
    bool ok = document != NULL || first == NULL;
    for (size_t i = 0; ok && i < sizeof keys / sizeof keys[0]; i++) {
        cJSON *item = document != NULL ? cJSON_DetachItemFromObjectCaseSensitive(document, keys[i])
                                       : cJSON_CreateNull();
        ok = item == NULL || make_all_exact(item);
        if (ok)
            ok = xb_json_put(root, keys[i], item != NULL ? item : cJSON_CreateNull());
        else
            cJSON_Delete(item);
    }
    cJSON_Delete(document);
    return ok;
}

static cJSON *set_json(const void *source)
{
    const struct xb_processes *set = source;
    cJSON *root = cJSON_CreateObject();
    return xb_json_complete(
        root, xb_json_put(root, "schema", xb_json_text("xferbench.processes")) &&
                  xb_json_put(root, "schema_version", xb_json_whole(1)) &&
                  xb_json_put(root, "tool", xb_json_tool()) &&
                  xb_json_put(root, "timestamp", xb_json_timestamp()) &&
                  xb_json_put(root, "asked", xb_json_whole(set->asked)) &&
                  xb_json_put(root, "role", xb_json_optional(set->role)) &&
                  xb_json_put(root, "interleaved_with", xb_json_optional(set->counterpart)) &&
                  xb_json_put(root, "interrupted", cJSON_CreateBool(set->interrupted)) &&
                  xb_json_put(root, "deadline_met",
                              set->has_deadline ? cJSON_CreateBool(set->deadline_met)
                                                : cJSON_CreateNull()) &&
                  put_conditions(root, set) &&
                  xb_json_put(root, "processes", processes_json(set)) &&
                  xb_json_put(root, "results", results_json(set)));
}

enum xb_status xb_processes_json_write(FILE *stream, const struct xb_processes *set,
                                       struct xb_error *error)
{
    return xb_json_print(stream, set_json, set, error);
}
