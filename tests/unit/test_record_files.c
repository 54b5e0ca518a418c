/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "document_fixture.h"

#include <cjson/cJSON.h>
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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

static struct xb_record_case case_of(const cJSON *row)
{
    return (struct xb_record_case){
        .mode = cJSON_GetObjectItem(row, "mode")->valuestring,
        .variant = cJSON_GetObjectItem(row, "variant")->valuestring,
        .direction = cJSON_GetObjectItem(row, "direction")->valuestring,
        .bytes = (uint64_t)cJSON_GetObjectItem(row, "bytes")->valuedouble,
        .device = index_of(row, "device"),
        .peer = index_of(row, "peer"),
        .latency = cJSON_IsTrue(cJSON_GetObjectItem(row, "latency")),
        .simultaneous = cJSON_IsTrue(cJSON_GetObjectItem(row, "simultaneous"))};
}

static void check_row(const struct xb_record *record, size_t process, const cJSON *row)
{
    struct xb_record_case named = case_of(row);
    const struct xb_record_case *test = xb_record_find(record, &named);
    assert_non_null(test);
    const struct xb_record_row *read = &test->rows[process];
    bool ok = strcmp(cJSON_GetObjectItem(row, "status")->valuestring, "ok") == 0;
    assert_true(read->is_there);
    assert_int_equal(read->status == XB_RESULT_OK, ok);
    if (ok && named.latency) {
        const cJSON *host = cJSON_GetObjectItem(cJSON_GetObjectItem(row, "latency_s"), "host");
        assert_figure(read->values[XB_METRIC_HOST_LATENCY].median,
                      cJSON_GetObjectItem(host, "p50")->valuedouble);
    } else if (ok) {
        assert_figure(read->values[XB_METRIC_BANDWIDTH].median, median_rate(row));
    }
}

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
static void reads_what_was_measured(void **state)
{
    glob_t found;
    (void)state;
    assert_int_equal(glob(RESULTS "/*/*.json", 0, NULL, &found), 0);
    assert_true(found.gl_pathc > 20);
    for (size_t i = 0; i < found.gl_pathc; i++)
        check_file(found.gl_pathv[i]);
    globfree(&found);
}

static void names_the_file_that_cannot_be_read(void **state)
{
    struct xb_record record = {.case_count = 0};
    struct xb_error error;
    (void)state;
    assert_int_equal(xb_record_read(RESULTS "/none.json", &record, &error), XB_ERR_SYSTEM);
    assert_non_null(strstr(error.message, RESULTS "/none.json: "));
    assert_int_equal(xb_record_read(RESULTS, &record, &error), XB_ERR_USAGE);
    assert_non_null(strstr(error.message, RESULTS ": is a directory"));
    assert_int_equal(xb_record_read("/dev/null", &record, &error), XB_ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_was_measured),
        cmocka_unit_test(names_the_file_that_cannot_be_read),
    };
    return cmocka_run_group_tests_name("record_files", tests, NULL, NULL);
}
