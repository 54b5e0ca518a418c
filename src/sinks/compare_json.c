/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "compare_text.h"
#include "finish.h"
#include "json_common.h"

/*
 * The keys and their meaning stand in docs/compare.schema.json. What is not there is null. Without
 * a time of day: the same two files give the same document.
 */

static cJSON *optional_number(bool is_there, double value)
{
    return is_there ? xb_json_number(value) : cJSON_CreateNull();
}

static cJSON *optional_text(const char *text)
{
    return text != NULL ? xb_json_text(text) : cJSON_CreateNull();
}

static cJSON *optional_index(int value)
{
    return value >= 0 ? xb_json_whole((uint64_t)value) : cJSON_CreateNull();
}

/* ---- the files ---- */

static cJSON *device_json(const struct xb_record_device *device)
{
    cJSON *object = cJSON_CreateObject();
    bool known = device->link_known;
    return xb_json_complete(
        object,
        xb_json_put(object, "index", xb_json_whole(device->index)) &&
            xb_json_put(object, "name", optional_text(device->name)) &&
            xb_json_put(object, "link_speed_gts", optional_number(known, device->link_speed_gts)) &&
            xb_json_put(object, "link_width",
                        known ? xb_json_whole(device->link_width) : cJSON_CreateNull()));
}

static cJSON *process_json(const struct xb_record_process *process)
{
    cJSON *object = cJSON_CreateObject();
    cJSON *devices = cJSON_CreateArray();
    bool ok = devices != NULL;
    for (size_t i = 0; ok && i < process->device_count; i++)
        ok = xb_json_append(devices, device_json(&process->devices[i]));
    devices = xb_json_complete(devices, ok);
    return xb_json_complete(
        object, xb_json_put(object, "devices", devices) &&
                    xb_json_put(object, "interrupted", cJSON_CreateBool(process->interrupted)) &&
                    xb_json_put(object, "deadline_met", cJSON_CreateBool(process->deadline_met)));
}

static cJSON *processes_json(const struct xb_record *record)
{
    cJSON *array = cJSON_CreateArray();
    bool ok = array != NULL;
    for (size_t i = 0; ok && i < record->process_count; i++)
        ok = xb_json_append(array, process_json(&record->processes[i]));
    return xb_json_complete(array, ok);
}

static cJSON *file_json(const struct xb_record *record)
{
    cJSON *object = cJSON_CreateObject();
    return xb_json_complete(
        object,
        xb_json_put(object, "path", optional_text(record->path)) &&
            xb_json_put(object, "backend", optional_text(record->backend)) &&
            xb_json_put(object, "driver_version", optional_text(record->driver)) &&
            xb_json_put(object, "process_count", xb_json_whole(record->process_count)) &&
            xb_json_put(object, "asked_processes", xb_json_whole(record->asked_processes)) &&
            xb_json_put(object, "processes", processes_json(record)));
}

/* ---- what was asked ---- */

static cJSON *gate_json(const struct xb_gate *gate)
{
    cJSON *object = cJSON_CreateObject();
    return xb_json_complete(
        object,
        xb_json_put(object, "mode", optional_text(gate->mode)) &&
            xb_json_put(object, "direction", optional_text(gate->direction)) &&
            xb_json_put(object, "least_bytes", xb_json_whole(gate->least)) &&
            xb_json_put(object, "most_bytes",
                        gate->most < UINT64_MAX ? xb_json_whole(gate->most) : cJSON_CreateNull()));
}

static cJSON *gates_json(const struct xb_gates *gates)
{
    cJSON *array = cJSON_CreateArray();
    bool ok = array != NULL;
    for (size_t i = 0; ok && i < gates->count; i++)
        ok = xb_json_append(array, gate_json(&gates->items[i]));
    return xb_json_complete(array, ok);
}

/* ---- differences ---- */

static cJSON *difference_json(const struct xb_difference *difference)
{
    cJSON *object = cJSON_CreateObject();
    return xb_json_complete(
        object, xb_json_put(object, "name", optional_text(difference->name)) &&
                    xb_json_put(object, "baseline", optional_text(difference->baseline)) &&
                    xb_json_put(object, "candidate", optional_text(difference->candidate)) &&
                    xb_json_put(object, "forbids", cJSON_CreateBool(difference->forbids)));
}

static cJSON *differences_json(const struct xb_comparison *comparison)
{
    cJSON *array = cJSON_CreateArray();
    bool ok = array != NULL;
    for (size_t i = 0; ok && i < comparison->difference_count; i++)
        ok = xb_json_append(array, difference_json(&comparison->differences[i]));
    return xb_json_complete(array, ok);
}

/* ---- cases ---- */

static const char *basis_name(enum xb_basis basis)
{
    static const char *const names[] = {[XB_BASIS_TEST] = "test",
                                        [XB_BASIS_INDICATIVE] = "indicative",
                                        [XB_BASIS_STATUS] = "status",
                                        [XB_BASIS_NONE] = "none"};
    return names[basis];
}

static cJSON *side_json(const struct xb_compared *compared, bool present, size_t n, double median)
{
    cJSON *object = cJSON_CreateObject();
    const char *unit =
        compared->metric == XB_METRIC_BANDWIDTH ? "bytes_per_second" : "latency_seconds";
    return xb_json_complete(object, xb_json_put(object, "present", cJSON_CreateBool(present)) &&
                                        xb_json_put(object, "processes", xb_json_whole(n)) &&
                                        xb_json_put(object, unit, optional_number(n > 0, median)));
}

static cJSON *interval_json(const struct xb_compared *compared)
{
    if (!compared->has_interval)
        return cJSON_CreateNull();
    cJSON *object = cJSON_CreateObject();
    return xb_json_complete(
        object, xb_json_put(object, "low", xb_json_number(compared->low)) &&
                    xb_json_put(object, "high", xb_json_number(compared->high)) &&
                    xb_json_put(object, "confidence",
                                optional_number(compared->confidence > 0, compared->confidence)));
}

static bool put_key(cJSON *object, const struct xb_compared *compared)
{
    const struct xb_record_case *test = compared->test;
    return xb_json_put(object, "mode", xb_json_text(test->mode)) &&
           xb_json_put(object, "variant", xb_json_text(test->variant)) &&
           xb_json_put(object, "direction", xb_json_text(test->direction)) &&
           xb_json_put(object, "bytes", xb_json_whole(test->bytes)) &&
           xb_json_put(object, "device", optional_index(test->device)) &&
           xb_json_put(object, "peer", optional_index(test->peer)) &&
           xb_json_put(object, "latency", cJSON_CreateBool(test->latency)) &&
           xb_json_put(object, "simultaneous", cJSON_CreateBool(test->simultaneous)) &&
           xb_json_put(object, "metric", xb_json_text(xb_metric_name(compared->metric))) &&
           xb_json_put(object, "more_is_better",
                       cJSON_CreateBool(xb_metric_more_is_better(compared->metric)));
}

/* What looks like a verdict and is none has a key of its own: whoever counts verdicts gets the
 * right number without knowing of it. */
static bool put_verdict(cJSON *object, const struct xb_compared *compared)
{
    const char *outcome = xb_outcome_name(compared->outcome);
    bool indicative = compared->basis == XB_BASIS_INDICATIVE;
    return xb_json_put(object, "gates", cJSON_CreateBool(compared->gates)) &&
           xb_json_put(object, "basis", xb_json_text(basis_name(compared->basis))) &&
           xb_json_put(object, "verdict",
                       optional_text(xb_compare_judged(compared) ? outcome : NULL)) &&
           xb_json_put(object, "indicative", optional_text(indicative ? outcome : NULL));
}

static cJSON *case_json(const struct xb_compared *compared)
{
    cJSON *object = cJSON_CreateObject();
    bool tested = compared->basis == XB_BASIS_TEST;
    return xb_json_complete(
        object,
        put_key(object, compared) && put_verdict(object, compared) &&
            xb_json_put(object, "baseline",
                        side_json(compared, compared->presence != XB_ONLY_IN_CANDIDATE,
                                  compared->baseline_n, compared->baseline_median)) &&
            xb_json_put(object, "candidate",
                        side_json(compared, compared->presence != XB_ONLY_IN_BASELINE,
                                  compared->candidate_n, compared->candidate_median)) &&
            xb_json_put(object, "ratio", optional_number(compared->has_ratio, compared->ratio)) &&
            xb_json_put(object, "interval", interval_json(compared)) &&
            xb_json_put(object, "p_regression", optional_number(tested, compared->p_regression)) &&
            xb_json_put(object, "p_improved", optional_number(tested, compared->p_improved)) &&
            xb_json_put(object, "p_pass", optional_number(tested, compared->p_pass)) &&
            xb_json_put(object, "note", xb_json_optional(compared->note)));
}

static cJSON *cases_json(const struct xb_comparison *comparison)
{
    cJSON *array = cJSON_CreateArray();
    bool ok = array != NULL;
    for (size_t i = 0; ok && i < comparison->case_count; i++)
        ok = xb_json_append(array, case_json(&comparison->cases[i]));
    return xb_json_complete(array, ok);
}

/* ---- the document ---- */

static cJSON *overall_json(const struct xb_comparison *comparison)
{
    cJSON *object = cJSON_CreateObject();
    int code = xb_comparison_exit_code(comparison);
    return xb_json_complete(
        object, xb_json_put(object, "verdict", xb_json_text(xb_compare_overall(comparison))) &&
                    xb_json_put(object, "reason", xb_json_optional(comparison->reason)) &&
                    xb_json_put(object, "exit_code", xb_json_whole((uint64_t)code)));
}

static cJSON *comparison_json(const void *source)
{
    const struct xb_comparison *comparison = source;
    const struct xb_comparison_request *request = &comparison->request;
    size_t needed = comparison->processes_needed;
    cJSON *root = cJSON_CreateObject();
    return xb_json_complete(
        root, xb_json_put(root, "schema", xb_json_text("xferbench.compare")) &&
                  xb_json_put(root, "schema_version", xb_json_whole(1)) &&
                  xb_json_put(root, "tool", xb_json_tool()) &&
                  xb_json_put(root, "overall", overall_json(comparison)) &&
                  xb_json_put(root, "comparable", cJSON_CreateBool(comparison->comparable)) &&
                  xb_json_put(root, "forced", cJSON_CreateBool(xb_compare_forced(comparison))) &&
                  xb_json_put(root, "threshold", xb_json_number(request->threshold)) &&
                  xb_json_put(root, "alpha", xb_json_number(request->alpha)) &&
                  xb_json_put(root, "gates", gates_json(&request->gates)) &&
                  xb_json_put(root, "gating_tests", xb_json_whole(comparison->gating_count)) &&
                  xb_json_put(root, "processes_needed",
                              needed > 0 ? xb_json_whole(needed) : cJSON_CreateNull()) &&
                  xb_json_put(root, "baseline", file_json(comparison->baseline)) &&
                  xb_json_put(root, "candidate", file_json(comparison->candidate)) &&
                  xb_json_put(root, "differences", differences_json(comparison)) &&
                  xb_json_put(root, "cases", cases_json(comparison)));
}

enum xb_status xb_compare_json_write(FILE *stream, const struct xb_comparison *comparison,
                                     struct xb_error *error)
{
    enum xb_status status = xb_json_print(stream, comparison_json, comparison, error);
    return status == XB_OK ? xb_sink_finish(stream, "the JSON", error) : status;
}
