/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer's target for the reader of result files: whatever the bytes are, they are refused with
 * a message that names the file, or they become a record that everything can be asked of, and that
 * compares with itself and with another.
 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "base/json_read.h"
#include "compare/comparison.h"
#include "target.h"

#include <math.h>
#include <string.h>

#define PATH "folder/fuzz.json"

static void require_fine(enum xb_status status, const char *rule, const struct xb_error *error)
{
    require_at(status == XB_OK, rule, error->message);
}

static enum xb_status parse(const void *data, size_t size, struct xb_record *record,
                            struct xb_error *error)
{
    char *text = malloc(size + 1); /* exactly as large, so that one byte too far is seen */
    require(text != NULL, "there is memory");
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    memset(error, 0, sizeof *error);
    enum xb_status status = xb_record_parse(PATH, text, size, record, error);
    free(text); /* the record must not refer to it */
    return status;
}

/* The other record, of five processes: read once, and kept. */
static const struct xb_record *other_record(void)
{
    static struct xb_record other;
    static char text[1 << 16];
    struct xb_error error;
    if (other.path != NULL)
        return &other;
    FILE *file = fopen(OTHER_RECORD, "rb");
    require(file != NULL, "the other record is there");
    size_t size = fread(text, 1, sizeof text, file);
    fclose(file);
    require_fine(parse(text, size, &other, &error), "the other record reads", &error);
    return &other;
}

/* ---- everything that a record can be asked ---- */

/* So that no read is left out by the compiler. */
static volatile size_t sink;

static void use_text(const char *text, bool may_be_null)
{
    require(text != NULL || may_be_null, "a text that must be there is");
    sink += text != NULL ? strlen(text) : 0;
}

static void walk_facts(const struct xb_record_fact *facts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        use_text(facts[i].name, false);
        use_text(facts[i].value, true);
        require(facts[i].value != NULL || !facts[i].is_text, "a text is not unknown");
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
    require(!device->link_known || device->link_width > 0, "a link that is known has lanes");
}

static void walk_host(const struct xb_record *record)
{
    const struct xb_record_host *host = &record->host;
    const char *const texts[] = {
        record->version,
        record->compiler,
        record->build_type,
        record->timestamp,
        host->hostname,
        host->node,
        host->node_named_by,
        host->os,
        host->kernel,
        host->cpu_model,
        record->start.asked,
        record->start.by,
        record->start.began,
        record->runtime,
        record->library,
        record->role,
        record->program,
        record->library_named_by,
        record->counterpart,
        record->driver,
        record->launcher.named_by,
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        use_text(texts[i], true);
}

static void walk_conditions(const struct xb_record *record)
{
    size_t count = 0;
    use_text(record->path, false);
    use_text(record->backend, false);
    walk_host(record);
    walk_facts(record->options, record->option_count);
    walk_facts(record->environment, record->environment_count);
    walk_facts(record->facts, record->fact_count);
    require(xb_record_devices(record, &count) != NULL && count > 0, "there are devices");
    require(record->process_count >= 1 && record->process_count <= XB_RECORD_PROCESSES &&
                record->asked_processes >= record->process_count,
            "there are processes, as many as were asked for or fewer");
    require(record->is_merged || record->process_count == 1, "one process is not merged");
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
    require(fine == (summary.ok == summary.processes), "a case is ok where all rows are");
    require(fine == (summary.verified == XB_VERIFIED_TRUE) || !fine, "what is ok is verified");
    use_text(xb_record_reason(test, &summary, reason, sizeof reason), fine);
    use_text(xb_record_cut_text(record, test, cut, sizeof cut), summary.cut == 0);
    size_t count = xb_record_warnings(record, test, warnings);
    for (size_t i = 0; i < count; i++) {
        use_text(warnings[i].text, false);
        require(warnings[i].processes >= 1 && warnings[i].processes <= summary.processes,
                "a warning is of some process");
    }
}

static void walk_figure(const struct xb_record *record, const struct xb_record_case *test,
                        const struct xb_record_row *row, const struct xb_record_figure *figure)
{
    const struct xb_statistics *statistics = &figure->statistics;
    use_text(figure->name, false);
    use_text(figure->unit, false);
    require(xb_record_row_figure(row, figure->name) == figure, "a figure is there once");
    require(isfinite(statistics->median) && statistics->median >= 0.0, "a figure has a median");
    require(!figure->gates || statistics->median > 0.0, "what gates is above 0");
    require(!statistics->has_interval || (statistics->ci95_low <= statistics->median &&
                                          statistics->median <= statistics->ci95_high),
            "an interval holds its median");
    require(figure->sample_count == 0 || figure->sample_count == statistics->n,
            "n is the number of samples");
    for (size_t i = 0; i < figure->sample_count; i++)
        require(isfinite(figure->samples[i]), "a sample is a number");
    struct xb_statistics all;
    bool counts = !row->is_cut || !record->is_merged;
    require(xb_record_describe(record, test, figure->name, &all) || !counts,
            "what a row has a case has");
}

static void walk_row(const struct xb_record *record, const struct xb_record_case *test,
                     const struct xb_record_row *row)
{
    bool measured = row->is_there && row->status == XB_RESULT_OK;
    use_text(row->reason, true);
    use_text(row->timer, !measured);
    use_text(row->stop_reason, true);
    require(measured || row->figure_count == 0, "a row that is not ok has no figures");
    require(!measured || row->time_count > 0, "a row that is ok has samples");
    for (size_t i = 0; i < row->time_count; i++)
        require(row->times[i] > 0.0 && row->times[i] <= 1e6, "a time is above 0");
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
    require(xb_record_find(record, test) == test, "a case is found");
    walk_facts(test->parameters, test->parameter_count);
    for (size_t i = 0; i < record->process_count; i++)
        walk_row(record, test, &test->rows[i]);
    walk_summary(record, test);
    require(xb_record_medians(record, test, test->latency ? "latency_host" : "bandwidth",
                              medians) <= record->process_count,
            "there is a median a process");
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
    require(stream != NULL, "there is memory");
    require_fine(xb_compare_json_write(stream, comparison, &error), "JSON is written", &error);
    fclose(stream);
    struct xb_json_reader reader = {.place = {.path = PATH}};
    cJSON *root = xb_json_read(&reader, text, size);
    require_at(root != NULL, "JSON is read", reader.error.message);
    require_fine(xb_comparison_of_tree(PATH, root, &file, &error), "JSON is read", &error);
    cJSON_Delete(root);
    require(file.comparison.case_count == comparison->case_count &&
                file.comparison.difference_count == comparison->difference_count,
            "nothing is lost");
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
    require_fine(xb_compare(baseline, candidate, &request, &comparison, &error),
                 "any two records compare", &error);
    int code = xb_comparison_exit_code(&comparison);
    require(code >= 0 && code <= 4 && code != 2, "a verdict has an exit code");
    use_text(comparison.reason, false);
    for (size_t i = 0; i < comparison.case_count; i++) {
        use_text(comparison.cases[i].note, false);
        use_text(comparison.cases[i].figure.name, false);
    }
    for (size_t i = 0; i < comparison.difference_count; i++)
        use_text(comparison.differences[i].name, false);
    require(baseline != candidate || comparison.difference_count == 0 || has_name_twice(baseline),
            "a record does not differ from itself");
    require(baseline != candidate || comparison.comparable, "a record compares with itself");
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
        require_at(status == XB_ERR_USAGE || status == XB_ERR_MEMORY, "a refusal has its kind",
                   error.message);
        require_at(strstr(error.message, PATH) != NULL, "a message names the file", error.message);
        require_at(strlen(error.message) > strlen(PATH) + 2, "a message says something",
                   error.message);
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
