/* SPDX-License-Identifier: Apache-2.0 */
#include "json_common.h"
#include "json_tree.h"
#include "xferbench/processes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The keys and their meaning stand in docs/processes.schema.json. */

/* A case, and what each process that has a document says of it. */
struct merged_case {
    const struct xb_record_case *test; /* of the first process that has it */
    const struct xb_record_case **of;  /* one a process; NULL: it has none */
};

struct merged {
    const struct xb_processes *set;
    struct merged_case *cases;
    size_t count;
};

/* ---- one case ---- */

static const struct xb_record_row *row_of(const struct merged_case *at, size_t process)
{
    return at->of[process] != NULL ? &at->of[process]->rows[0] : NULL;
}

/* Whether the process counts: one that failed says nothing of any case. */
static bool counts(const struct merged *merged, size_t process)
{
    return merged->set->processes[process].document != NULL;
}

/* A process that does not know the case has it skipped. */
static enum xb_result_status status_in(const struct xb_record_row *row)
{
    return row != NULL ? row->status : XB_RESULT_SKIPPED;
}

static size_t count_ok(const struct merged *merged, const struct merged_case *at)
{
    size_t ok = 0;
    for (size_t i = 0; i < merged->set->count; i++)
        ok += counts(merged, i) && status_in(row_of(at, i)) == XB_RESULT_OK;
    return ok;
}

/* The worst of all. */
static enum xb_result_status status_of(const struct merged *merged, const struct merged_case *at)
{
    enum xb_result_status worst = XB_RESULT_OK;
    for (size_t i = 0; i < merged->set->count; i++) {
        enum xb_result_status own = counts(merged, i) ? status_in(row_of(at, i)) : XB_RESULT_OK;
        if (own > worst)
            worst = own;
    }
    return worst;
}

/* Of the first process whose status is that of the merged case; null where all are ok. */
static cJSON *reason_json(const struct merged *merged, const struct merged_case *at)
{
    enum xb_result_status worst = status_of(merged, at);
    for (size_t i = 0; worst != XB_RESULT_OK && i < merged->set->count; i++) {
        const struct xb_record_row *row = row_of(at, i);
        if (!counts(merged, i) || status_in(row) != worst)
            continue;
        char text[64];
        snprintf(text, sizeof text, "process %zu has no such row", i);
        return xb_json_text(row == NULL           ? text
                            : row->reason != NULL ? row->reason
                                                  : "no reason was given");
    }
    return cJSON_CreateNull();
}

/* Wrong in one is wrong; right is what is right in all. */
static enum xb_verified verified_of(const struct merged *merged, const struct merged_case *at)
{
    enum xb_verified verified = XB_VERIFIED_TRUE;
    for (size_t i = 0; i < merged->set->count; i++) {
        const struct xb_record_row *row = row_of(at, i);
        enum xb_verified own = row != NULL ? row->verified : XB_VERIFIED_UNKNOWN;
        if (!counts(merged, i))
            continue;
        if (own == XB_VERIFIED_FALSE)
            return XB_VERIFIED_FALSE;
        if (own == XB_VERIFIED_UNKNOWN)
            verified = XB_VERIFIED_UNKNOWN;
    }
    return verified;
}

/* The median in one process; NAN where it has none. */
static double median_in(const struct merged_case *at, size_t process, enum xb_metric metric)
{
    const struct xb_record_row *row = row_of(at, process);
    return row != NULL && row->values[metric].is_set ? row->values[metric].median : (double)NAN;
}

/* One a process, null where it has none. */
static cJSON *medians_json(const struct merged *merged, const struct merged_case *at,
                           enum xb_metric metric)
{
    cJSON *array = cJSON_CreateArray();
    bool ok = array != NULL;
    for (size_t i = 0; ok && i < merged->set->count; i++)
        ok = xb_json_append(array, xb_json_number(median_in(at, i, metric)));
    return xb_json_complete(array, ok);
}

/* Of the processes' medians; null where none has one. */
static cJSON *statistics_json(const struct merged *merged, const struct merged_case *at,
                              enum xb_metric metric)
{
    double values[XB_RECORD_PROCESSES];
    size_t count = 0;
    struct xb_statistics statistics;
    struct xb_error error;
    for (size_t i = 0; i < merged->set->count && count < XB_RECORD_PROCESSES; i++) {
        double median = median_in(at, i, metric);
        if (!isnan(median))
            values[count++] = median;
    }
    if (count == 0)
        return cJSON_CreateNull();
    return xb_statistics_compute(values, count, &statistics, &error) == XB_OK
               ? xb_json_statistics(&statistics)
               : NULL;
}

static cJSON *all_medians_json(const struct merged *merged, const struct merged_case *at)
{
    bool latency = at->test->latency;
    cJSON *object = cJSON_CreateObject();
    return xb_json_complete(
        object, xb_json_put(object, "bandwidth_bytes_per_second",
                            medians_json(merged, at, XB_METRIC_BANDWIDTH)) &&
                    xb_json_put(object, "latency_host_p50_s",
                                latency ? medians_json(merged, at, XB_METRIC_HOST_LATENCY)
                                        : cJSON_CreateNull()) &&
                    xb_json_put(object, "latency_device_p50_s",
                                latency ? medians_json(merged, at, XB_METRIC_DEVICE_LATENCY)
                                        : cJSON_CreateNull()));
}

static cJSON *latency_json(const struct merged *merged, const struct merged_case *at)
{
    if (!at->test->latency)
        return cJSON_CreateNull();
    cJSON *object = cJSON_CreateObject();
    return xb_json_complete(
        object,
        xb_json_put(object, "host", statistics_json(merged, at, XB_METRIC_HOST_LATENCY)) &&
            xb_json_put(object, "device", statistics_json(merged, at, XB_METRIC_DEVICE_LATENCY)));
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

static cJSON *case_json(const struct merged *merged, const struct merged_case *at)
{
    cJSON *object = cJSON_CreateObject();
    return xb_json_complete(
        object, put_key(object, at->test) &&
                    xb_json_put(object, "status",
                                xb_json_text(xb_result_status_name(status_of(merged, at)))) &&
                    xb_json_put(object, "reason", reason_json(merged, at)) &&
                    xb_json_put(object, "verified", xb_json_verified(verified_of(merged, at))) &&
                    xb_json_put(object, "processes_ok", xb_json_whole(count_ok(merged, at))) &&
                    xb_json_put(object, "medians", all_medians_json(merged, at)) &&
                    xb_json_put(object, "bandwidth_bytes_per_second",
                                statistics_json(merged, at, XB_METRIC_BANDWIDTH)) &&
                    xb_json_put(object, "latency_s", latency_json(merged, at)));
}

/* ---- which cases there are ---- */

static const struct xb_record *record_of(const struct merged *merged, size_t process)
{
    return &merged->set->processes[process].record;
}

/* Takes a case up if no process before has it. `of` must be released. */
static bool take_case(struct merged *merged, size_t process, const struct xb_record_case *test)
{
    for (size_t i = 0; i < process; i++)
        if (xb_record_find(record_of(merged, i), test) != NULL)
            return true;
    struct merged_case *at = &merged->cases[merged->count];
    at->test = test;
    at->of = calloc(merged->set->count, sizeof(struct xb_record_case *));
    if (at->of == NULL)
        return false;
    merged->count++;
    for (size_t i = process; i < merged->set->count; i++)
        at->of[i] = xb_record_find(record_of(merged, i), test);
    return true;
}

/* In the order of their first appearance. */
static bool collect(struct merged *merged)
{
    size_t most = 0;
    for (size_t i = 0; i < merged->set->count; i++)
        most += record_of(merged, i)->case_count;
    merged->cases = calloc(most + 1, sizeof *merged->cases);
    bool ok = merged->cases != NULL;
    for (size_t i = 0; ok && i < merged->set->count; i++)
        for (size_t j = 0; ok && j < record_of(merged, i)->case_count; j++)
            ok = take_case(merged, i, &record_of(merged, i)->cases[j]);
    return ok;
}

static void release(struct merged *merged)
{
    for (size_t i = 0; i < merged->count; i++)
        free(merged->cases[i].of);
    free(merged->cases);
}

static cJSON *results_json(const struct xb_processes *set)
{
    struct merged merged = {.set = set};
    cJSON *array = cJSON_CreateArray();
    bool ok = array != NULL && collect(&merged);
    for (size_t i = 0; ok && i < merged.count; i++)
        ok = xb_json_append(array, case_json(&merged, &merged.cases[i]));
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
