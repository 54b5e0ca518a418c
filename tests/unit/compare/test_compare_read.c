/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* What is no comparison is refused, whatever is wrong with it. */
#include "compare/comparison.h"

#include "base/file_text.h"
#include "checks.h"
#include "compare/internal.h"
#include "record/document.h"
#include "schema_check.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lacking_json.h"
#include "testing.h"

/* ---- reading ---- */

static struct xb_comparison_file file;

static enum xb_status parse(const char *text, struct xb_error *error)
{
    struct xb_json_reader reader = {.place = {.path = "f.json"}};
    cJSON *root = xb_json_read(&reader, text, strlen(text));
    *error = reader.error;
    enum xb_status status =
        root != NULL ? xb_comparison_of_tree("f.json", root, &file, error) : reader.error.status;
    cJSON_Delete(root);
    return status;
}

/* The table of what was read, in lines without end; release with free(). */
static char *told(void)
{
    char *text = NULL;
    size_t size = 0;
    struct xb_error error;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    assert_int_equal(xb_compare_table_write(stream, &file.comparison, 250, true, &error), XB_OK);
    assert_int_equal(fclose(stream), 0);
    return text;
}

/* ---- what is wrong ---- */

/* A base of the golden cases, which show that what is read is told. */
static cJSON *tree_of(const char *name)
{
    char path[512], *text = NULL;
    size_t length = 0;
    struct xb_error error;
    snprintf(path, sizeof path, SOURCE "/tests/golden/bases/compare/%s.json", name);
    if (xb_file_text_read(path, XB_RECORD_LARGEST_BYTES, false, &text, &length, &error) != XB_OK)
        fail_msg("%s", error.message);
    cJSON *tree = cJSON_Parse(text);
    assert_non_null(tree);
    free(text);
    return tree;
}

static enum xb_status parse_tree(const cJSON *tree, struct xb_error *error)
{
    char *text = cJSON_PrintUnformatted(tree);
    enum xb_status status = parse(text, error);
    assert_true(status == XB_OK || status == XB_ERR_USAGE);
    if (status == XB_OK) {
        free(told()); /* whatever it says */
        xb_comparison_file_free(&file);
    }
    assert_null(file.memory); /* nothing is left to free */
    cJSON_free(text);
    return status;
}

/* Puts the JSON `value` in the place of what stands at `path`.`key`. */
static void put(cJSON *tree, const char *path, const char *key, const char *value)
{
    cJSON *object = path[0] != '\0' ? (cJSON *)at(tree, path) : tree;
    cJSON *item = cJSON_Parse(value);
    assert_non_null(item);
    assert_true(cJSON_ReplaceItemInObjectCaseSensitive(object, key, item));
}

TEST(tells_which_program_compared)
{
    struct xb_error error;
    cJSON *tree = tree_of("pass");
    put(tree, "tool", "version", "\"0.0.9\"");
    char *text = cJSON_PrintUnformatted(tree);
    assert_int_equal(parse(text, &error), XB_OK);
    cJSON_free(text);
    text = told();
    assert_has(text, "program   xferbench 0.0.9\n");
    free(text);
    xb_comparison_file_free(&file);
    cJSON_Delete(tree);
}

TEST(the_schema_has_what_the_tables_have)
{
    static const char schema[] = "compare.schema.json";
    assert_schema_describes(schema, "file", xb_compare_file_fields);
    assert_schema_describes(schema, NULL, xb_compare_request_fields);
    assert_schema_describes(schema, NULL, xb_compare_differences_fields);
    assert_schema_describes(schema, "case", xb_record_case_fields);
    assert_schema_describes(schema, "case", xb_compare_figure_fields);
    assert_schema_describes(schema, "case", xb_compare_judged_fields);
}

TEST(names_what_is_wrong)
{
    static const struct {
        const char *path, *key, *value, *message;
    } rows[] = {
        {"", "schema", "\"xferbench.link\"",
         "f.json: schema: \"xferbench.link\" is not \"xferbench.compare\""},
        {"", "schema_version", "1", "schema_version: 1 was written by an older xferbench"},
        {"", "schema_version", "3", "schema_version: 3 was written by a newer xferbench"},
        {"", "comparable", "0", "comparable: must be true or false"},
        {"", "comparable", "false", "comparable: does not fit the differences"},
        {"", "threshold", "null", "threshold: must be a number"},
        {"", "threshold", "2", "threshold: must be"},
        {"", "alpha", "0", "alpha: must be a number above 0"},
        {"", "gating_tests", "-1", "gating_tests: must be a whole number"},
        {"", "gates", "[{}]", "gates[0].mode: is missing"},
        {"", "cases", "{}", "cases: must be an array"},
        {"", "cases", "[5]", "cases[0]"},
        {"tool", "version", "\"\"", "tool.version: "},
        {"overall", "verdict", "\"FINE\"", "overall.verdict: must be \"PASS\""},
        {"overall", "verdict", "\"PASS\"", "overall.exit_code: does not fit the verdict"},
        {"overall", "exit_code", "2", "overall.exit_code: does not fit the verdict"},
        {"overall", "reason", "5", "overall.reason: must be a text or null"},
        {"baseline", "process_count", "7", "baseline.process_count: is not that of"},
        {"candidate", "path", "{}", "candidate.path: must be a text or null"},
        {"candidate.processes.7", "interrupted", "null", "candidate.processes[7].interrupted:"},
        {"candidate.processes.7.devices.0", "name", "1", "processes[7].devices[0].name:"},
        {"differences.1", "forbids", "\"\"", "differences[1].forbids: must be true or false"},
        {"cases.3", "mode", "null", "cases[3].mode: "},
        {"cases.3", "bytes", "0.5", "cases[3].bytes: must be a whole number"},
        {"cases.3", "parameters", "[]", "cases[3].parameters: must be an object"},
        {"cases.3", "basis", "\"guess\"", "cases[3].basis: must be \"test\""},
        {"cases.3", "basis", "\"indicative\"", "cases[3].verdict: does not fit the basis"},
        {"cases.3", "verdict", "null", "cases[3].verdict: does not fit the basis"},
        {"cases.3", "verdict", "\"GOOD\"", "cases[3].verdict: must be \"PASS\""},
        {"cases.3", "ratio", "-1", "cases[3].ratio: must be"},
        {"cases.3", "p_pass", "1.5", "cases[3].p_pass: must be"},
        {"cases.3.interval", "low", "\"\"", "cases[3].interval.low: must be"},
        {"cases.3.baseline", "processes", "101", "cases[3].baseline.processes: must be a whole"},
        {"cases.6.baseline", "present", "false", "cases[6].baseline: and candidate are both"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct xb_error error;
        cJSON *tree = tree_of("regression");
        put(tree, rows[i].path, rows[i].key, rows[i].value);
        if (parse_tree(tree, &error) != XB_ERR_USAGE)
            fail_msg("%s.%s may be %s", rows[i].path, rows[i].key, rows[i].value);
        assert_has(error.message, rows[i].message);
        assert_has(error.message, "f.json: ");
        cJSON_Delete(tree);
    }
}

TEST(refuses_what_is_no_comparison)
{
    static const char *const texts[] = {"",
                                        "{}",
                                        "[]",
                                        "5",
                                        "{\"schema\": 5}",
                                        "{",
                                        "no JSON",
                                        "{\"schema\": \"xferbench.compare\"}"};
    struct xb_error error;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(parse(texts[i], &error), XB_ERR_USAGE);
}

/* A note of a thousand characters, where no note has more than 511. */
TEST(refuses_texts_that_are_too_long)
{
    struct xb_error error;
    char value[1003];
    memset(value, 'x', sizeof value);
    value[0] = value[sizeof value - 2] = '"';
    value[sizeof value - 1] = '\0';
    cJSON *tree = tree_of("pass");
    put(tree, "cases.0", "note", value);
    assert_int_equal(parse_tree(tree, &error), XB_ERR_USAGE);
    assert_has(error.message, "cases[0].note: has more than 511 characters");
    cJSON_Delete(tree);
}

/* What nothing is read of. */
static bool may_be_missing(const char *key)
{
    static const char *const keys[] = {"name",     "compiler", "build_type",
                                       "left_out", "chunk",    "way"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

/* Its content changes place with the other's; its key stays. */
static void exchange(cJSON *item, cJSON *other)
{
    cJSON own = *item;
    item->type = other->type;
    item->child = other->child;
    item->valuestring = other->valuestring;
    item->valuedouble = other->valuedouble;
    item->valueint = other->valueint;
    other->type = own.type;
    other->child = own.child;
    other->valuestring = own.valuestring;
    other->valuedouble = own.valuedouble;
    other->valueint = own.valueint;
}

/* Without its key a document is refused, unless nothing is read of it; with any other value there
 * nothing worse happens than that it is refused. */
static void damage(const cJSON *root, cJSON *item)
{
    static const char *const values[] = {"null", "true", "[]", "{}", "[{}]", "\"\"", "-1", "1e308"};
    struct xb_error error;
    char *key = item->string;
    if (key != NULL) {
        item->string = strdup("another");
        enum xb_status status = parse_tree(root, &error);
        if (!may_be_missing(key) && (status == XB_OK || strstr(error.message, key) == NULL))
            fail_msg("without %s: %s", key, error.message);
        free(item->string);
        item->string = key;
    }
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        cJSON *other = cJSON_Parse(values[i]);
        exchange(item, other);
        (void)parse_tree(root, &error);
        exchange(item, other);
        cJSON_Delete(other);
    }
}

#define MOST_ITEMS 1024

TEST(survives_any_damage)
{
    static const char process[] =
        "[{\"devices\": [{\"index\": 0, \"name\": \"H200\", \"link_speed_gts\": 32, "
        "\"link_width\": 16}], \"interrupted\": false, \"deadline_met\": true}]";
    cJSON *tree = tree_of("pass");
    put(tree, "cases.0", "parameters", "{\"chunk\": 8388608, \"way\": \"long\"}");
    put(tree, "", "gates",
        "[{\"mode\": \"pinned\", \"direction\": null, \"least_bytes\": 0, \"most_bytes\": null, "
        "\"figure\": \"bandwidth\"}]");
    put(tree, "", "differences",
        "[{\"name\": \"kernel\", \"baseline\": \"6.8\", \"candidate\": null, \"forbids\": false, "
        "\"of_rows\": false, \"of_stack\": true}]");
    put(tree, "baseline", "processes", process);
    put(tree, "baseline", "process_count", "1");
    put(tree, "candidate", "processes", process);
    put(tree, "candidate", "process_count", "1");
    static cJSON *items[MOST_ITEMS];
    size_t count = 1;
    items[0] = tree;
    for (size_t i = 0; i < count; i++) /* whose children come behind all that are there */
        for (cJSON *child = items[i]->child; child != NULL; child = child->next) {
            assert_true(count < MOST_ITEMS);
            items[count++] = child;
        }
    assert_true(count > 90);
    for (size_t i = 1; i < count; i++)
        damage(tree, items[i]);
    cJSON_Delete(tree);
}

/* ---- memory ---- */

TEST(says_that_there_is_no_memory)
{
    struct xb_error error;
    enum xb_status status = XB_ERR_MEMORY;
    size_t piece = 0;
    cJSON *tree = tree_of("regression");
    char *json = cJSON_PrintUnformatted(tree);
    cJSON_Delete(tree);
    while (status != XB_OK) {
        lack_json_piece(++piece);
        status = parse(json, &error);
        assert_true(status == XB_OK || status == XB_ERR_MEMORY);
        assert_true(status == XB_OK || file.memory == NULL);
    }
    lack_json_piece(0);
    assert_true(piece > 50);
    xb_comparison_file_free(&file);
    free(json);
}
