/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "checks.h"
#include "document_fixture.h"
#include "record/document.h"
#include "record_text.h"
#include "run/formats.h"
#include "schema_check.h"

#include <cjson/cJSON.h>
#include <glob.h>

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

/* What writes is this program, now, whoever measured. */
static void forget_program(struct xb_record *record)
{
    static const char *const facts[] = {"xferbench version", "compiler", "build type"};
    record->version = record->compiler = record->build_type = record->timestamp = NULL;
    for (size_t i = 0; i < record->fact_count; i++)
        for (size_t k = 0; k < sizeof facts / sizeof facts[0]; k++)
            if (strcmp(record->facts[i].name, facts[k]) == 0)
                record->facts[i].value = NULL;
}

static void assert_same_record(struct xb_record *is, struct xb_record *should)
{
    char said[4096] = "";
    forget_program(is);
    forget_program(should);
    char *text = text_of_record(is), *expected = text_of_record(should);
    if (strcmp(text, expected) != 0) {
        say_new_lines(text, expected, said, sizeof said);
        fail_msg("written and read again: %s", said);
    }
    free(text);
    free(expected);
}

static void check_again(struct xb_record *record)
{
    struct xb_record again = written_and_read(record);
    assert_same_record(&again, record);
    xb_record_free(&again);
}

/* A process of several, as a file of its own. */
static void check_document(const cJSON *document)
{
    char *text = cJSON_PrintUnformatted(document);
    struct xb_record record;
    struct xb_error error = {.status = XB_OK};
    if (xb_record_parse("first", text, strlen(text), &record, &error) != XB_OK)
        fail_msg("%s", error.message);
    check_again(&record);
    xb_record_free(&record);
    cJSON_free(text);
}

/* ---- files ---- */

/* `document` may be null: of a process that failed. */
static void check_rows_of(const struct xb_record *record, size_t process, const cJSON *document)
{
    int there = 0;
    for (size_t i = 0; i < record->case_count; i++)
        there += record->cases[i].rows[process].is_there;
    assert_int_equal(there, cJSON_GetArraySize(cJSON_GetObjectItem(document, "results")));
}

static void check_record(struct xb_record *record, const cJSON *tree)
{
    const cJSON *members = cJSON_GetObjectItem(tree, "processes");
    size_t count = members != NULL ? (size_t)cJSON_GetArraySize(members) : 1;
    assert_int_equal(record->process_count, count);
    if (members == NULL) {
        check_rows_of(record, 0, tree);
        check_again(record);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const cJSON *document =
            cJSON_GetObjectItem(cJSON_GetArrayItem(members, (int)i), "document");
        check_rows_of(record, i, document);
        if (!cJSON_IsNull(document))
            check_document(document);
    }
}

/* Not of bench/hold_depth.c, nor of `xferbench link`. */
static bool is_ours(const cJSON *tree)
{
    const cJSON *schema = cJSON_GetObjectItem(tree, "schema");
    return schema != NULL && (strcmp(schema->valuestring, "xferbench.result") == 0 ||
                              strcmp(schema->valuestring, "xferbench.processes") == 0);
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
