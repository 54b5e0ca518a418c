/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_write.h"
#include "internal.h"
#include "record/document.h"
#include "record/write.h"
#include "text.h"

/*
 * The keys and their meaning stand in docs/compare.schema.json. What is not there is null. Without
 * a time of day: the same two files give the same document.
 */

/* ---- the files ---- */

static void put_device(struct xb_json *json, const struct xb_record_device *device)
{
    xb_json_open_object(json, NULL);
    xb_json_put_whole(json, "index", device->index);
    xb_json_put_text(json, "name", device->name);
    xb_json_put_known_number(json, "link_speed_gts", device->link_known, device->link_speed_gts);
    xb_json_put_known_whole(json, "link_width", device->link_known, device->link_width);
    xb_json_close(json);
}

static void put_process(struct xb_json *json, const struct xb_record_process *process)
{
    xb_json_open_object(json, NULL);
    xb_json_open_array(json, "devices");
    for (size_t i = 0; i < process->device_count; i++)
        put_device(json, &process->devices[i]);
    xb_json_close(json);
    xb_json_put_flag(json, "interrupted", process->interrupted);
    xb_json_put_flag(json, "deadline_met", process->deadline_met);
    xb_json_close(json);
}

static void put_file(struct xb_json *json, const char *key, const struct xb_record *record)
{
    xb_json_open_object(json, key);
    xb_json_put_text(json, "path", record->path);
    xb_json_put_text(json, "backend", record->backend);
    xb_json_put_text(json, "driver_version", record->driver);
    xb_json_put_text(json, "hostname", record->host.hostname);
    xb_json_put_text(json, "node", record->host.node);
    xb_json_put_whole(json, "process_count", record->process_count);
    xb_json_put_whole(json, "asked_processes", record->asked_processes);
    xb_json_open_array(json, "processes");
    for (size_t i = 0; i < record->process_count; i++)
        put_process(json, &record->processes[i]);
    xb_json_close(json);
    xb_json_close(json);
}

/* ---- what was asked ---- */

static void put_gate(struct xb_json *json, const struct xb_gate *gate)
{
    xb_json_put_text(json, "mode", gate->mode);
    xb_json_put_text(json, "direction", gate->direction);
    xb_json_put_whole(json, "least_bytes", gate->least);
    xb_json_put_known_whole(json, "most_bytes", gate->most < UINT64_MAX, gate->most);
    xb_json_put_text(json, "figure", gate->figure);
}

static void put_gates(struct xb_json *json, const struct xb_gates *gates)
{
    xb_json_open_array(json, "gates");
    for (size_t i = 0; i < gates->count; i++) {
        xb_json_open_object(json, NULL);
        put_gate(json, &gates->items[i]);
        xb_json_close(json);
    }
    xb_json_close(json);
}

static void put_thresholds(struct xb_json *json, const struct xb_thresholds *thresholds)
{
    xb_json_open_array(json, "thresholds");
    for (size_t i = 0; i < thresholds->count; i++) {
        xb_json_open_object(json, NULL);
        put_gate(json, &thresholds->items[i].cases);
        xb_json_put_number(json, "share", thresholds->items[i].share);
        xb_json_close(json);
    }
    xb_json_close(json);
}

/* ---- differences ---- */

static void put_differences(struct xb_json *json, const struct xb_comparison *comparison)
{
    xb_json_open_array(json, "differences");
    for (size_t i = 0; i < comparison->difference_count; i++) {
        const struct xb_difference *difference = &comparison->differences[i];
        xb_json_open_object(json, NULL);
        xb_json_put_text(json, "name", difference->name);
        xb_json_put_text(json, "baseline", difference->baseline);
        xb_json_put_text(json, "candidate", difference->candidate);
        xb_json_put_flag(json, "forbids", difference->forbids);
        xb_json_put_flag(json, "of_rows", difference->of_rows);
        xb_json_put_flag(json, "of_stack", difference->of_stack);
        xb_json_close(json);
    }
    xb_json_close(json);
}

/* ---- cases ---- */

const char *xb_basis_name(enum xb_basis basis)
{
    static const char *const names[] = {[XB_BASIS_TEST] = "test",
                                        [XB_BASIS_INDICATIVE] = "indicative",
                                        [XB_BASIS_STATUS] = "status",
                                        [XB_BASIS_NONE] = "none"};
    return names[basis];
}

static void put_key(struct xb_json *json, const struct xb_compared *compared)
{
    xb_record_put_case(json, compared->test);
    xb_json_put_text(json, "figure", compared->figure.name);
    xb_json_put_text(json, "unit", compared->figure.unit);
    xb_json_put_flag(json, "more_is_better", compared->figure.more_is_better);
}

/* What looks like a verdict and is none has a key of its own: whoever counts verdicts gets the
 * right number without knowing of it. */
static void put_verdict(struct xb_json *json, const struct xb_compared *compared)
{
    const char *outcome = xb_outcome_name(compared->outcome);
    bool indicative = compared->basis == XB_BASIS_INDICATIVE;
    xb_json_put_flag(json, "gates", compared->gates);
    xb_json_put_text(json, "basis", xb_basis_name(compared->basis));
    xb_json_put_text(json, "verdict", xb_compare_judged(compared) ? outcome : NULL);
    xb_json_put_text(json, "indicative", indicative ? outcome : NULL);
    xb_json_put_flag(json, "cannot_pass", compared->cannot_pass);
    xb_json_put_flag(json, "same_settings", !compared->differs);
    xb_json_put_number(json, "threshold", compared->threshold);
}

static void put_side(struct xb_json *json, const char *key, bool is_present, size_t n,
                     double median)
{
    xb_json_open_object(json, key);
    xb_json_put_flag(json, "present", is_present);
    xb_json_put_whole(json, "processes", n);
    xb_json_put_known_number(json, "median", n > 0, median);
    xb_json_close(json);
}

static void put_sides(struct xb_json *json, const struct xb_compared *compared)
{
    put_side(json, "baseline", compared->presence != XB_ONLY_IN_CANDIDATE, compared->baseline_n,
             compared->baseline_median);
    put_side(json, "candidate", compared->presence != XB_ONLY_IN_BASELINE, compared->candidate_n,
             compared->candidate_median);
}

static void put_interval(struct xb_json *json, const struct xb_compared *compared)
{
    if (!compared->has_interval) {
        xb_json_put_null(json, "interval");
        return;
    }
    xb_json_open_object(json, "interval");
    xb_json_put_number(json, "low", compared->low);
    xb_json_put_number(json, "high", compared->high);
    xb_json_put_known_number(json, "confidence", compared->confidence > 0, compared->confidence);
    xb_json_close(json);
}

static void put_case(struct xb_json *json, const struct xb_compared *compared)
{
    bool is_tested = compared->basis == XB_BASIS_TEST;
    xb_json_open_object(json, NULL);
    put_key(json, compared);
    put_verdict(json, compared);
    put_sides(json, compared);
    xb_json_put_known_number(json, "ratio", compared->has_ratio, compared->ratio);
    put_interval(json, compared);
    xb_json_put_known_number(json, "p_regression", is_tested, compared->p_regression);
    xb_json_put_known_number(json, "p_improved", is_tested, compared->p_improved);
    xb_json_put_known_number(json, "p_pass", is_tested, compared->p_pass);
    xb_json_put_optional(json, "note", compared->note);
    xb_json_close(json);
}

/* ---- the document ---- */

static void put_overall(struct xb_json *json, const struct xb_comparison *comparison)
{
    xb_json_open_object(json, "overall");
    xb_json_put_text(json, "verdict", xb_compare_overall(comparison));
    xb_json_put_optional(json, "reason", comparison->reason);
    xb_json_put_optional(json, "next", comparison->next);
    xb_json_put_index(json, "exit_code", xb_comparison_exit_code(comparison));
    xb_json_close(json);
}

static void put_conditions(struct xb_json *json, const struct xb_comparison *comparison)
{
    const struct xb_comparison_request *request = &comparison->request;
    size_t needed = comparison->processes_needed;
    xb_json_put_flag(json, "comparable", comparison->comparable);
    xb_json_put_flag(json, "forced", xb_compare_forced(comparison));
    xb_json_put_flag(json, "strict", request->strict);
    xb_json_put_number(json, "threshold", request->threshold);
    put_thresholds(json, &request->thresholds);
    xb_json_put_number(json, "alpha", request->alpha);
    put_gates(json, &request->gates);
    xb_json_put_whole(json, "gating_tests", comparison->gating_count);
    xb_json_put_known_whole(json, "processes_needed", needed > 0, needed);
    put_file(json, "baseline", comparison->baseline);
    put_file(json, "candidate", comparison->candidate);
    put_differences(json, comparison);
}

enum xb_status xb_compare_json_write(FILE *stream, const struct xb_comparison *comparison,
                                     struct xb_error *error)
{
    struct xb_json json;
    xb_json_begin(&json);
    xb_json_open_object(&json, NULL);
    xb_json_put_text(&json, "schema", "xferbench.compare");
    xb_json_put_whole(&json, "schema_version", XB_COMPARISON_VERSION);
    xb_document_put_tool(&json);
    put_overall(&json, comparison);
    put_conditions(&json, comparison);
    xb_json_open_array(&json, "cases");
    for (size_t i = 0; i < comparison->case_count; i++)
        put_case(&json, &comparison->cases[i]);
    xb_json_close(&json);
    xb_json_close(&json);
    return xb_json_finish(&json, stream, "the JSON", error);
}
