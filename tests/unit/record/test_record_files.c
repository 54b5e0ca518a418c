/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "document_fixture.h"
#include "record/document.h"
#include "schema_check.h"

#include "run/formats.h"

#include <cjson/cJSON.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Of what the file has, not as the reader computes it. */
static double median_rate(const cJSON *row)
{
    static double rates[65536];
    const cJSON *sample;
    size_t n = 0;
    double bytes = cJSON_GetObjectItem(row, "bytes_moved")->valuedouble;
    cJSON_ArrayForEach(sample, cJSON_GetObjectItem(row, "samples_s"))
    {
        assert_true(n < sizeof rates / sizeof rates[0]);
        rates[n++] = bytes / sample->valuedouble;
    }
    qsort(rates, n, sizeof rates[0], by_value);
    return (rates[(n - 1) / 2] + rates[n / 2]) / 2.0;
}

static int index_of(const cJSON *row, const char *key)
{
    const cJSON *item = cJSON_GetObjectItem(row, key);
    return cJSON_IsNull(item) ? -1 : item->valueint;
}

static bool has_parameters_of(const struct xb_record_case *test, const cJSON *row)
{
    const cJSON *parameters = cJSON_GetObjectItem(row, "parameters");
    for (size_t i = 0; i < test->parameter_count; i++) {
        const struct xb_record_fact *own = &test->parameters[i];
        const cJSON *word = cJSON_GetObjectItem(parameters, own->name);
        if (own->is_text && (word == NULL || strcmp(word->valuestring, own->value) != 0))
            return false;
        if (!own->is_text && own->value != NULL && word != NULL &&
            strtod(own->value, NULL) != word->valuedouble)
            return false;
    }
    return true;
}

static const struct xb_record_case *find_case(const struct xb_record *record, const cJSON *row)
{
    struct xb_record_case named = {
        .mode = cJSON_GetObjectItem(row, "mode")->valuestring,
        .variant = cJSON_GetObjectItem(row, "variant")->valuestring,
        .direction = cJSON_GetObjectItem(row, "direction")->valuestring,
        .bytes = (uint64_t)cJSON_GetObjectItem(row, "bytes")->valuedouble,
        .device = index_of(row, "device"),
        .peer = index_of(row, "peer"),
        .latency = cJSON_IsTrue(cJSON_GetObjectItem(row, "latency")),
        .simultaneous = cJSON_IsTrue(cJSON_GetObjectItem(row, "simultaneous"))};
    for (size_t i = 0; i < record->case_count; i++) {
        if (!has_parameters_of(&record->cases[i], row))
            continue;
        named.parameters = record->cases[i].parameters;
        named.parameter_count = record->cases[i].parameter_count;
        const struct xb_record_case *found = xb_record_find(record, &named);
        if (found != NULL)
            return found;
    }
    fail_msg("no such case: %s", named.mode);
    return NULL;
}

static double latency(const cJSON *row, const char *name)
{
    const cJSON *figure;
    cJSON_ArrayForEach(figure, cJSON_GetObjectItem(row, "figures"))
    {
        if (strcmp(cJSON_GetObjectItem(figure, "name")->valuestring, name) == 0)
            return cJSON_GetObjectItem(figure, "median")->valuedouble;
    }
    fail_msg("a row of latencies without %s", name);
    return 0;
}

static void check_row(const struct xb_record *record, size_t process, const cJSON *row)
{
    const struct xb_record_case *test = find_case(record, row);
    const struct xb_record_row *read = &test->rows[process];
    bool ok = strcmp(cJSON_GetObjectItem(row, "status")->valuestring, "ok") == 0;
    assert_true(read->is_there);
    assert_int_equal(read->status == XB_RESULT_OK, ok);
    if (ok && test->latency) {
        bool of_loads = xb_record_row_figure(read, "load_latency") != NULL;
        const char *name = of_loads ? "load_latency" : "latency_host";
        assert_figure(xb_record_row_figure(read, name)->statistics.median, latency(row, name));
    } else if (ok) {
        assert_figure(xb_record_row_figure(read, "bandwidth")->statistics.median, median_rate(row));
    }
    assert_int_equal(read->time_count, cJSON_GetArraySize(cJSON_GetObjectItem(row, "samples_s")));
    assert_int_equal(read->warning_count, cJSON_GetArraySize(cJSON_GetObjectItem(row, "warnings")));
}

/* ---- what was read is written and read again ---- */

static struct xb_record written_and_read(const struct xb_record *record)
{
    struct xb_record again;
    struct xb_error error = {.status = XB_OK};
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    assert_non_null(stream);
    assert_int_equal(xb_result_json_write(stream, record, XB_JSON_INDENTED, &error), XB_OK);
    fclose(stream);
    if (xb_record_parse("again", text, length, &again, &error) != XB_OK)
        fail_msg("%s", error.message);
    free(text);
    return again;
}

static void assert_same_text(const char *is, const char *should)
{
    assert_string_equal(is != NULL ? is : "(none)", should != NULL ? should : "(none)");
}

static void assert_same_facts(const struct xb_record_fact *is, size_t count,
                              const struct xb_record_fact *should, size_t should_count)
{
    assert_int_equal(count, should_count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(is[i].name, should[i].name);
        assert_same_text(is[i].value, should[i].value);
        assert_int_equal(is[i].is_text, should[i].is_text);
    }
}

static void assert_same_row(const struct xb_record_row *is, const struct xb_record_row *should)
{
    assert_int_equal(is->status, should->status);
    assert_int_equal(is->verified, should->verified);
    assert_same_text(is->reason, should->reason);
    assert_same_text(is->timer, should->timer);
    assert_same_text(is->stop_reason, should->stop_reason);
    assert_int_equal(is->bytes_moved, should->bytes_moved);
    assert_int_equal(is->time_count, should->time_count);
    for (size_t i = 0; i < is->time_count; i++)
        assert_true(is->times[i] == should->times[i]);
    assert_int_equal(is->warning_count, should->warning_count);
    assert_int_equal(is->placements.count, should->placements.count);
    for (size_t i = 0; i < is->placements.count; i++)
        assert_int_equal(is->placements.samples[i], should->placements.samples[i]);
    for (size_t i = 0; i < is->warning_count; i++)
        assert_string_equal(is->warning_texts[i], should->warning_texts[i]);
    assert_int_equal(is->detail_count, should->detail_count);
    for (size_t i = 0; i < is->detail_count; i++) {
        assert_string_equal(is->details[i].name, should->details[i].name);
        assert_same_text(xb_record_fact_text(&is->details[i]),
                         xb_record_fact_text(&should->details[i]));
    }
    assert_int_equal(is->figure_count, should->figure_count);
    for (size_t i = 0; i < is->figure_count; i++)
        assert_same_figure(&is->figures[i], &should->figures[i]);
}

static void assert_same_ceiling(const struct xb_ceiling *is, const struct xb_ceiling *should)
{
    assert_figure(is->speed_gts, should->speed_gts);
    assert_int_equal(is->width, should->width);
    assert_int_equal(is->payload, should->payload);
    assert_int_equal(is->read_request, should->read_request);
    assert_figure(is->h2d, should->h2d);
    assert_figure(is->d2h, should->d2h);
}

/* What of a device is no fact. */
static void assert_same_device(const struct xb_record_device *is,
                               const struct xb_record_device *should)
{
    assert_int_equal(is->index, should->index);
    assert_string_equal(is->name, should->name);
    assert_same_text(is->driver, should->driver);
    assert_int_equal(is->shares_host_memory, should->shares_host_memory);
    assert_int_equal(is->link_known, should->link_known);
    assert_figure(is->link_speed_gts, should->link_speed_gts);
    assert_figure(is->link_max_speed_gts, should->link_max_speed_gts);
    assert_int_equal(is->link_width, should->link_width);
    assert_int_equal(is->link_max_width, should->link_max_width);
    assert_int_equal(is->link_under_load, should->link_under_load);
    assert_int_equal(is->ceiling.known, should->ceiling.known);
    if (is->ceiling.known) {
        assert_string_equal(is->ceiling_at, should->ceiling_at);
        assert_same_ceiling(&is->ceiling, &should->ceiling);
    }
    assert_int_equal(is->cpus, should->cpus);
    assert_same_text(is->numa_note, should->numa_note);
    assert_int_equal(is->numa_is_normal, should->numa_is_normal);
}

/* The facts hold all that the record says of machine and program. But for the program: what writes
 * is this one. */
static void assert_same_record(const struct xb_record *is, const struct xb_record *should)
{
    assert_same_facts(is->options, is->option_count, should->options, should->option_count);
    assert_same_facts(is->environment, is->environment_count, should->environment,
                      should->environment_count);
    assert_int_equal(is->fact_count, should->fact_count);
    for (size_t i = 0; i < is->fact_count; i++) {
        bool of_program = strcmp(should->facts[i].name, "xferbench version") == 0 ||
                          strcmp(should->facts[i].name, "compiler") == 0 ||
                          strcmp(should->facts[i].name, "build type") == 0;
        if (!of_program)
            assert_same_facts(&is->facts[i], 1, &should->facts[i], 1);
    }
    for (size_t i = 0; i < should->processes[0].device_count; i++)
        assert_same_device(&is->processes[0].devices[i], &should->processes[0].devices[i]);
    assert_int_equal(is->case_count, should->case_count);
    for (size_t i = 0; i < is->case_count; i++) {
        assert_ptr_equal(xb_record_find(is, &should->cases[i]), &is->cases[i]);
        assert_same_row(&is->cases[i].rows[0], &should->cases[i].rows[0]);
    }
}

static void check_again(const cJSON *document)
{
    char *text = cJSON_PrintUnformatted(document);
    struct xb_record record;
    struct xb_error error = {.status = XB_OK};
    if (xb_record_parse("first", text, strlen(text), &record, &error) != XB_OK)
        fail_msg("%s", error.message);
    struct xb_record again = written_and_read(&record);
    assert_same_record(&again, &record);
    xb_record_free(&again);
    xb_record_free(&record);
    cJSON_free(text);
}

/* ---- files ---- */

/* `document` may be null: of a process that failed. */
static void check_process(const struct xb_record *record, size_t process, const cJSON *document)
{
    const cJSON *row;
    int there = 0;
    for (size_t i = 0; i < record->case_count; i++)
        there += record->cases[i].rows[process].is_there;
    assert_int_equal(there, cJSON_GetArraySize(cJSON_GetObjectItem(document, "results")));
    cJSON_ArrayForEach(row, cJSON_GetObjectItem(document, "results"))
        check_row(record, process, row);
    if (document != NULL && !cJSON_IsNull(document))
        check_again(document);
}

static void check_record(const struct xb_record *record, const cJSON *tree)
{
    const cJSON *members = cJSON_GetObjectItem(tree, "processes");
    size_t count = members != NULL ? (size_t)cJSON_GetArraySize(members) : 1;
    assert_int_equal(record->process_count, count);
    for (size_t i = 0; i < count; i++)
        check_process(record, i,
                      members != NULL
                          ? cJSON_GetObjectItem(cJSON_GetArrayItem(members, (int)i), "document")
                          : tree);
}

/* Not of bench/hold_depth.c, nor of `xferbench link`. */
static bool is_ours(const cJSON *tree)
{
    const cJSON *schema = cJSON_GetObjectItem(tree, "schema");
    return schema != NULL && (strcmp(schema->valuestring, "xferbench.result") == 0 ||
                              strcmp(schema->valuestring, "xferbench.processes") == 0);
}

static char *file_text(const char *path)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    size_t size = (size_t)ftell(file);
    rewind(file);
    char *text = calloc(1, size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, size, file), size);
    fclose(file);
    return text;
}

static void check_file(const char *path)
{
    struct xb_record record;
    struct xb_error error = {.status = XB_OK};
    char *text = file_text(path);
    cJSON *tree = cJSON_Parse(text);
    print_message("%s\n", path);
    enum xb_status status = xb_record_read(path, &record, &error);
    if (is_ours(tree)) {
        if (status != XB_OK)
            fail_msg("%s", error.message);
        assert_string_equal(record.path, path);
        check_record(&record, tree);
        xb_record_free(&record);
    } else {
        assert_int_equal(status, XB_ERR_USAGE);
        assert_non_null(strstr(error.message, "this is not a result file of xferbench"));
    }
    cJSON_Delete(tree);
    free(text);
}

/* RESULTS is bench/results. */
TEST(reads_what_was_measured)
{
    glob_t found;
    assert_int_equal(glob(RESULTS "/*/*.json", 0, NULL, &found), 0);
    assert_true(found.gl_pathc > 20);
    for (size_t i = 0; i < found.gl_pathc; i++)
        check_file(found.gl_pathv[i]);
    globfree(&found);
}

TEST(the_schemas_have_what_the_tables_have)
{
    static const char result[] = "result.schema.json";
    static const char processes[] = "processes.schema.json";
    static const struct xb_field tool_fields[] = {XB_PART("tool", xb_record_tool_fields),
                                                  XB_FIELDS_END};
    const struct xb_field *const parts[] = {tool_fields,
                                            xb_record_end_fields,
                                            xb_record_node_fields,
                                            xb_record_start_fields,
                                            xb_record_backend_fields,
                                            xb_record_devices_fields,
                                            xb_record_settings_fields};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        assert_schema_describes(result, NULL, parts[i]);
    assert_schema_describes(result, "result", xb_record_case_fields);
    assert_schema_describes(result, "result", xb_record_row_fields);
    assert_schema_describes(processes, NULL, xb_record_merged_fields);
    assert_schema_describes(processes, "result", xb_record_case_fields);
}

TEST(names_the_file_that_cannot_be_read)
{
    struct xb_record record = {.case_count = 0};
    struct xb_error error;
    assert_int_equal(xb_record_read(RESULTS "/none.json", &record, &error), XB_ERR_SYSTEM);
    assert_non_null(strstr(error.message, RESULTS "/none.json: "));
    assert_int_equal(xb_record_read(RESULTS, &record, &error), XB_ERR_USAGE);
    assert_non_null(strstr(error.message, RESULTS ": is a directory"));
    assert_int_equal(xb_record_read("/dev/null", &record, &error), XB_ERR_USAGE);
}
