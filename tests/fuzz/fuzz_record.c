/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer's target for the reader of result files: whatever the bytes are, they are refused with
 * a message that names the file, or they become a record that everything can be asked of, and that
 * compares with itself and with another.
 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "backends/registry.h"
#include "base/json_read.h"
#include "compare/comparison.h"
#include "record/mode_list.h"
#include "xferbench/error.h"
#include "xferbench/mode.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PATH "folder/fuzz.json"

/* Modes as compare sees them: a name and options. No mode runs here. */
static const struct xb_option chunk = {.name = "chunk"};
static const struct xb_option *const chunked[] = {&chunk, NULL};
static const struct xb_mode pageable = {.name = "pageable", .variant = "driver"};
static const struct xb_mode pinned = {
    .name = "pinned",
    .variant = "registered",
    .options = chunked,
    .parameters = (const struct xb_parameter[]){{&chunk, "registered"}, {NULL, NULL}}};
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

#define START                                                                                      \
    "\"timestamp\":\"2026-01-02T03:04:05Z\",\"interrupted\":false,\"deadline_met\":null,"          \
    "\"start\":{\"asked\":null,\"by\":null,"                                                       \
    "\"began\":null,\"late_s\":null,\"clock\":{\"synchronised\":null,\"error_s\":null}}"
#define DEVICE                                                                                     \
    "{\"index\":0,\"name\":\"NVIDIA H200\",\"uuid\":null,\"architecture\":null,\"pci_bdf\":null,"  \
    "\"memory_bytes\":0,\"driver\":null,\"shares_host_memory\":false,"                             \
    "\"link\":{\"speed_gts\":32,\"width\":16,\"max_speed_gts\":32,\"max_width\":16,\"port\":null," \
    "\"read\":\"right after transfers\","                                                          \
    "\"ceiling\":null},\"numa\":{\"node\":null,\"bound\":false,\"as_expected\":true,"              \
    "\"cpus\":0,\"note\":null},\"facts\":{}"                                                       \
    "}"
#define ROW(mode, variant, direction, bytes, latency, seconds)                                     \
    "{\"mode\":\"" mode "\",\"variant\":\"" variant "\",\"direction\":\"" direction "\","          \
    "\"bytes\":" bytes ",\"device\":0,\"peer\":null,\"latency\":" latency ","                      \
    "\"simultaneous\":false,\"parameters\":{},\"status\":\"ok\",\"reason\":null,\"error\":null,"   \
    "\"details\":{},"                                                                              \
    "\"verified\":true,\"timer\":\"device-event\",\"bytes_moved\":" bytes ","                      \
    "\"samples_s\":[" seconds "],\"placements\":null,\"stop_reason\":\"fixed\",\"warnings\":[],"   \
    "\"figures\":["
#define FIGURE(name, unit, more, median)                                                           \
    "{\"name\":\"" name "\",\"unit\":\"" unit "\",\"more_is_better\":" more ",\"gates\":true,"     \
    "\"median\":" median ",\"ci95_low\":null,\"ci95_high\":null,\"min\":null,\"max\":null,"        \
    "\"p5\":null,\"p95\":null,\"p99\":null,\"mad\":null,\"n\":1,\"samples\":[" median "]}"
#define COPY                                                                                       \
    ROW("pinned", "registered", "h2d", "1073741824", "false", "0.02")                              \
    FIGURE("bandwidth", "B/s", "true", "53687091200")
#define LATENCY                                                                                    \
    ROW("pageable", "driver", "d2h", "4", "true", "0.000002")                                      \
    FIGURE("latency_host", "s", "false", "0.000006")
#define DOCUMENT                                                                                   \
    "{\"schema\":\"xferbench.result\",\"schema_version\":2," START ",\"tool\":{\"version\":"       \
    "\"0\",\"compiler\":\"c\",\"build_type\":\"\"},\"host\":{\"hostname\":\"other\",\"os\":null,"  \
    "\"kernel\":null,\"cpu_model\":null,\"logical_cpus\":1,\"memory_bytes\":1,"                    \
    "\"numa_nodes\":null,\"node\":null,\"node_named_by\":null},\"launcher\":null,"                 \
    "\"backend\":{\"name\":\"cuda\",\"driver_version\":\"1\",\"runtime_version\":null,"            \
    "\"runtime_library\":null,\"runtime_override\":null},\"devices\":[" DEVICE "],"                \
    "\"environment\":{},\"config\":{\"chunk\":1,\"deadline\":null},"                               \
    "\"results\":[" COPY "]}," LATENCY "]}]}"
#define PROCESS "{\"index\":0,\"failure\":null,\"document\":" DOCUMENT "}"

static const char other_text[] =
    "{\"schema\":\"xferbench.processes\",\"schema_version\":2," START
    ",\"asked\":5,\"role\":null,\"program\":null,\"interleaved_with\":null,"
    "\"processes\":[" PROCESS "," PROCESS "," PROCESS "," PROCESS "," PROCESS "]}";

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

static void walk_facts(const struct xb_record_fact *facts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        use_text(facts[i].name, false);
        use_text(facts[i].value, true);
        require(facts[i].value != NULL || !facts[i].is_text, "a text is not unknown", NULL);
    }
}

static void walk_device(const struct xb_record_device *device)
{
    use_text(device->name, false);
    use_text(device->uuid, true);
    use_text(device->architecture, true);
    use_text(device->pci_bdf, true);
    use_text(device->driver, true);
    use_text(device->link_port, true);
    use_text(device->numa_note, true);
    walk_facts(device->facts, device->fact_count);
    require(!device->link_known || device->link_width > 0, "a link that is known has lanes", NULL);
}

static void walk_host(const struct xb_record *record)
{
    use_text(record->version, true);
    use_text(record->compiler, true);
    use_text(record->build_type, true);
    use_text(record->timestamp, true);
    use_text(record->host.hostname, true);
    use_text(record->host.node, true);
    use_text(record->host.node_named_by, true);
    use_text(record->launcher.named_by, true);
    use_text(record->start.asked, true);
    use_text(record->start.by, true);
    use_text(record->start.began, true);
    use_text(record->host.os, true);
    use_text(record->host.kernel, true);
    use_text(record->host.cpu_model, true);
    use_text(record->runtime, true);
    use_text(record->library, true);
    use_text(record->library_named_by, true);
    use_text(record->role, true);
    use_text(record->program, true);
    use_text(record->counterpart, true);
}

static void walk_conditions(const struct xb_record *record)
{
    size_t count = 0;
    use_text(record->path, false);
    use_text(record->backend, false);
    use_text(record->driver, true);
    walk_host(record);
    walk_facts(record->options, record->option_count);
    walk_facts(record->environment, record->environment_count);
    walk_facts(record->facts, record->fact_count);
    require(xb_record_devices(record, &count) != NULL && count > 0, "there are devices", NULL);
    require(record->process_count >= 1 && record->process_count <= XB_RECORD_PROCESSES &&
                record->asked_processes >= record->process_count,
            "there are processes, as many as were asked for or fewer", NULL);
    require(record->is_merged || record->process_count == 1, "one process is not merged", NULL);
    for (size_t i = 0; i < record->process_count; i++)
        for (size_t k = 0; k < record->processes[i].device_count; k++)
            walk_device(&record->processes[i].devices[k]);
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

static void walk_figure(const struct xb_record *record, const struct xb_record_case *test,
                        const struct xb_record_row *row, const struct xb_record_figure *figure)
{
    const struct xb_statistics *statistics = &figure->statistics;
    use_text(figure->name, false);
    use_text(figure->unit, false);
    require(xb_record_row_figure(row, figure->name) == figure, "a figure is there once", NULL);
    require(isfinite(statistics->median) && statistics->median >= 0.0, "a figure has a median",
            NULL);
    require(!figure->gates || statistics->median > 0.0, "what gates is above 0", NULL);
    require(!statistics->has_interval || (statistics->ci95_low <= statistics->median &&
                                          statistics->median <= statistics->ci95_high),
            "an interval holds its median", NULL);
    require(figure->sample_count == 0 || figure->sample_count == statistics->n,
            "n is the number of samples", NULL);
    for (size_t i = 0; i < figure->sample_count; i++)
        require(isfinite(figure->samples[i]), "a sample is a number", NULL);
    struct xb_statistics all;
    bool counts = !row->is_cut || !record->is_merged;
    require(xb_record_describe(record, test, figure->name, &all) || !counts,
            "what a row has a case has", NULL);
}

static void walk_row(const struct xb_record *record, const struct xb_record_case *test,
                     const struct xb_record_row *row)
{
    bool measured = row->is_there && row->status == XB_RESULT_OK;
    use_text(row->reason, true);
    use_text(row->timer, !measured);
    use_text(row->stop_reason, true);
    require(measured || row->figure_count == 0, "a row that is not ok has no figures", NULL);
    require(!measured || row->time_count > 0, "a row that is ok has samples", NULL);
    for (size_t i = 0; i < row->time_count; i++)
        require(row->times[i] > 0.0 && row->times[i] <= 1e6, "a time is above 0", NULL);
    for (size_t i = 0; i < row->warning_count; i++)
        use_text(row->warning_texts[i], false);
    for (size_t i = 0; i < row->detail_count; i++) {
        use_text(row->details[i].name, false);
        use_text(row->details[i].value, true);
    }
    if (row->error.known) {
        use_text(row->error.status, false);
        use_text(row->error.message, false);
        use_text(row->error.native_name, true);
        use_text(row->error.call, true);
        use_text(row->error.at, true);
    }
    for (size_t i = 0; i < row->figure_count; i++)
        walk_figure(record, test, row, &row->figures[i]);
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
    walk_facts(test->parameters, test->parameter_count);
    for (size_t i = 0; i < record->process_count; i++)
        walk_row(record, test, &test->rows[i]);
    walk_summary(record, test);
    require(xb_record_medians(record, test, test->latency ? "latency_host" : "bandwidth",
                              medians) <= record->process_count,
            "there is a median a process", NULL);
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

/* Gates that name figures of a record, so that these are compared too; returns how many. */
static size_t make_gates(const struct xb_record *record, struct xb_gate *gates, size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < record->case_count; i++)
        for (size_t p = 0; p < record->process_count; p++) {
            const struct xb_record_row *row = &record->cases[i].rows[p];
            for (size_t k = 0; k < row->figure_count && count < most; k++)
                gates[count++] = (struct xb_gate){.figure = row->figures[k].name};
        }
    return count;
}

/* What is written as JSON can be read again. */
static void read_again(const struct xb_comparison *comparison)
{
    struct xb_comparison_file file;
    struct xb_error error;
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    require(stream != NULL, "there is memory", NULL);
    require(xb_compare_json_write(stream, comparison, &error) == XB_OK, "JSON is written", &error);
    fclose(stream);
    struct xb_json_reader reader = {.place = {.path = PATH}};
    cJSON *root = xb_json_read(&reader, text, size);
    require(root != NULL, "JSON is read", &reader.error);
    require(xb_comparison_of_tree(PATH, root, &file, &error) == XB_OK, "JSON is read", &error);
    cJSON_Delete(root);
    require(file.comparison.case_count == comparison->case_count &&
                file.comparison.difference_count == comparison->difference_count,
            "nothing is lost", NULL);
    xb_comparison_file_free(&file);
    free(text);
}

static void compare(const struct xb_record *baseline, const struct xb_record *candidate)
{
    struct xb_gate gates[8];
    const struct xb_comparison_request request = {
        .threshold = 0.02,
        .alpha = 0.01,
        .force = true,
        .gates = {.items = gates, .count = make_gates(baseline, gates, 8)}};
    struct xb_comparison comparison = {.case_count = 0};
    struct xb_error error = {.status = XB_OK};
    require(xb_compare(baseline, candidate, &request, &comparison, &error) == XB_OK,
            "any two records compare", &error);
    int code = xb_comparison_exit_code(&comparison);
    require(code >= 0 && code <= 4 && code != 2, "a verdict has an exit code", NULL);
    use_text(comparison.reason, false);
    for (size_t i = 0; i < comparison.case_count; i++) {
        use_text(comparison.cases[i].note, false);
        use_text(comparison.cases[i].figure.name, false);
    }
    for (size_t i = 0; i < comparison.difference_count; i++)
        use_text(comparison.differences[i].name, false);
    require(baseline != candidate || comparison.difference_count == 0 || has_name_twice(baseline),
            "a record does not differ from itself", NULL);
    require(baseline != candidate || comparison.comparable, "a record compares with itself", NULL);
    read_again(&comparison);
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
