/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer's target for the reader of result files: whatever the bytes are, they are refused with
 * a message that names the file, or they become a record that everything can be asked of, and that
 * compares with itself and with another.
 */
#include "xferbench/comparison.h"
#include "xferbench/error.h"
#include "xferbench/mode.h"
#include "xferbench/registry.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PATH "folder/fuzz.json"

/* Modes as compare sees them: a name and options. No mode runs here. */
static const struct xb_option chunk = {.name = "chunk"};
static const struct xb_option *const chunked[] = {&chunk, NULL};
static const struct xb_mode pageable = {.name = "pageable", .variant = "malloc"};
static const struct xb_mode pinned = {
    .name = "pinned", .variant = "registered", .options = chunked};
const struct xb_mode *const xb_modes[] = {&pageable, &pinned, NULL};
const struct xb_backend_entry xb_backends[] = {{.name = NULL}};

/* Ends the program, which libFuzzer takes for a crash, where a rule is broken. */
static void require(bool holds, const char *rule, const struct xb_error *error)
{
    if (holds)
        return;
    fprintf(stderr, "broken: %s: %s\n", rule, error != NULL ? error->message : "");
    abort();
}

static enum xb_status parse(const void *data, size_t size, struct xb_record *record,
                            struct xb_error *error)
{
    char *text = malloc(size + 1); /* exactly as large, so that one byte too far is seen */
    require(text != NULL, "there is memory", NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    memset(error, 0, sizeof *error);
    enum xb_status status = xb_record_parse(PATH, text, size, record, error);
    free(text); /* the record must not refer to it */
    return status;
}

/* ---- the other record ---- */

#define DOCUMENT                                                                                   \
    "{\"schema\":\"xferbench.result\",\"schema_version\":1,\"interrupted\":false,"                 \
    "\"deadline_met\":null,\"tool\":{\"version\":\"0\"},\"host\":{\"hostname\":\"other\"},"        \
    "\"backend\":{\"name\":\"cuda\",\"driver_version\":\"1\"},\"devices\":[{\"index\":0,"          \
    "\"name\":\"NVIDIA H200\",\"link\":{\"speed_gts\":32,\"width\":16}}],\"environment\":{},"      \
    "\"config\":{\"chunk\":1,\"deadline\":null},\"results\":["                                     \
    "{\"mode\":\"pinned\",\"variant\":\"registered\",\"direction\":\"h2d\",\"bytes\":1073741824,"  \
    "\"device\":0,\"peer\":null,\"latency\":false,\"simultaneous\":false,\"status\":\"ok\","       \
    "\"verified\":true,\"timer\":\"device-event\",\"bytes_moved\":1073741824,"                     \
    "\"samples_s\":[0.02],\"bandwidth_bytes_per_second\":{\"median\":53687091200,"                 \
    "\"ci95_low\":null,\"ci95_high\":null}},"                                                      \
    "{\"mode\":\"pageable\",\"variant\":\"malloc\",\"direction\":\"d2h\",\"bytes\":4,"             \
    "\"device\":0,\"peer\":null,\"latency\":true,\"simultaneous\":false,\"status\":\"ok\","        \
    "\"verified\":true,\"timer\":\"device-event\",\"bytes_moved\":4,\"samples_s\":[0.000002],"     \
    "\"latency_s\":{\"host\":{\"p50\":0.000006},\"device\":{\"p50\":0.000002}}}]}"
#define PROCESS "{\"index\":0,\"document\":" DOCUMENT "}"

static const char other_text[] =
    "{\"schema\":\"xferbench.processes\",\"schema_version\":1,\"asked\":5,\"processes\":[" PROCESS
    "," PROCESS "," PROCESS "," PROCESS "," PROCESS "]}";

/* Read once, and kept. */
static const struct xb_record *other_record(void)
{
    static struct xb_record other;
    struct xb_error error;
    if (other.path == NULL)
        require(parse(other_text, sizeof other_text - 1, &other, &error) == XB_OK,
                "the other record reads", &error);
    return &other;
}

/* ---- everything that a record can be asked ---- */

/* So that no read is left out by the compiler. */
static volatile size_t sink;

static void use_text(const char *text, bool may_be_null)
{
    require(text != NULL || may_be_null, "a text that must be there is", NULL);
    sink += text != NULL ? strlen(text) : 0;
}

static void walk_conditions(const struct xb_record *record)
{
    use_text(record->path, false);
    use_text(record->backend, false);
    use_text(record->driver, true);
    for (size_t i = 0; i < record->option_count; i++) {
        use_text(record->options[i].name, false);
        use_text(record->options[i].value, true);
    }
    for (size_t i = 0; i < record->fact_count; i++) {
        use_text(record->facts[i].name, false);
        use_text(record->facts[i].value, true);
    }
    require(record->process_count >= 1 && record->process_count <= XB_RECORD_PROCESSES &&
                record->asked_processes >= record->process_count,
            "there are processes, as many as were asked for or fewer", NULL);
    require(record->is_merged || record->process_count == 1, "one process is not merged", NULL);
    for (size_t i = 0; i < record->process_count; i++)
        for (size_t k = 0; k < record->processes[i].device_count; k++)
            use_text(record->processes[i].devices[k].name, false);
}

static void check_value(const struct xb_record_value *value)
{
    if (value->is_set)
        require(value->median > 0.0 && value->median <= 1e15, "a median is a figure", NULL);
    if (value->has_interval)
        require(value->is_set && value->low <= value->median && value->median <= value->high,
                "an interval holds its median", NULL);
}

/* What the processes say together. */
static void walk_summary(const struct xb_record *record, const struct xb_record_case *test)
{
    static struct xb_record_warning warnings[XB_RECORD_WARNINGS];
    char reason[XB_RECORD_REASON], cut[XB_RECORD_CUT];
    struct xb_record_summary summary = xb_record_summarize(record, test);
    bool fine = summary.status == XB_RESULT_OK;
    require(fine == (summary.ok == summary.processes), "a case is ok where all rows are", NULL);
    require(fine == (summary.verified == XB_VERIFIED_TRUE) || !fine, "what is ok is verified",
            NULL);
    use_text(xb_record_reason(test, &summary, reason, sizeof reason), fine);
    use_text(xb_record_cut_text(record, test, cut, sizeof cut), summary.cut == 0);
    size_t count = xb_record_warnings(record, test, warnings);
    for (size_t i = 0; i < count; i++) {
        use_text(warnings[i].text, false);
        require(warnings[i].processes >= 1 && warnings[i].processes <= summary.processes,
                "a warning is of some process", NULL);
    }
}

static void walk_case(const struct xb_record *record, const struct xb_record_case *test)
{
    double medians[XB_RECORD_PROCESSES];
    char device[32];
    use_text(test->mode, false);
    use_text(test->variant, false);
    use_text(test->direction, false);
    use_text(xb_record_case_device(test, device, sizeof device), false);
    require(xb_record_find(record, test) == test, "a case is found", NULL);
    for (size_t i = 0; i < record->process_count; i++) {
        const struct xb_record_row *row = &test->rows[i];
        bool measured = row->is_there && row->status == XB_RESULT_OK;
        use_text(row->reason, true);
        use_text(row->timer, !measured);
        for (int metric = 0; metric < XB_METRICS; metric++)
            check_value(&row->values[metric]);
    }
    walk_summary(record, test);
    for (int metric = 0; metric < XB_METRICS; metric++) {
        use_text(xb_metric_name((enum xb_metric)metric), false);
        require(xb_record_medians(record, test, (enum xb_metric)metric, medians) <=
                    record->process_count,
                "there is a median a process", NULL);
    }
}

/* ---- two records ---- */

/* A fact of a device may be called as one of ours is: then a name has two values. */
static bool has_name_twice(const struct xb_record *record)
{
    for (size_t i = 0; i < record->fact_count; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(record->facts[i].name, record->facts[k].name) == 0)
                return true;
    return false;
}

static void compare(const struct xb_record *baseline, const struct xb_record *candidate)
{
    const struct xb_comparison_request request = {.threshold = 0.02, .alpha = 0.01, .force = true};
    struct xb_comparison comparison = {.case_count = 0};
    struct xb_error error = {.status = XB_OK};
    require(xb_compare(baseline, candidate, &request, &comparison, &error) == XB_OK,
            "any two records compare", &error);
    int code = xb_comparison_exit_code(&comparison);
    require(code >= 0 && code <= 4 && code != 2, "a verdict has an exit code", NULL);
    use_text(comparison.reason, false);
    for (size_t i = 0; i < comparison.case_count; i++)
        use_text(comparison.cases[i].note, false);
    for (size_t i = 0; i < comparison.difference_count; i++)
        use_text(comparison.differences[i].name, false);
    require(baseline != candidate || comparison.difference_count == 0 || has_name_twice(baseline),
            "a record does not differ from itself", NULL);
    require(baseline != candidate || comparison.comparable, "a record compares with itself", NULL);
    xb_comparison_free(&comparison);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct xb_record record;
    struct xb_error error;
    const struct xb_record *other = other_record();
    enum xb_status status = parse(data, size, &record, &error);
    if (status != XB_OK) {
        require(status == XB_ERR_USAGE || status == XB_ERR_MEMORY, "a refusal has its kind",
                &error);
        require(strstr(error.message, PATH) != NULL, "a message names the file", &error);
        require(strlen(error.message) > strlen(PATH) + 2, "a message says something", &error);
        return 0;
    }
    walk_conditions(&record);
    for (size_t i = 0; i < record.case_count; i++)
        walk_case(&record, &record.cases[i]);
    compare(&record, &record);
    compare(&record, other);
    compare(other, &record);
    xb_record_free(&record);
    return 0;
}
