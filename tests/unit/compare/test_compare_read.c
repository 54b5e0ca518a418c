/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Comparisons that are wrong. Those that are right are read back by test_comparison.c and golden/.
 */
#include "base/json_read.h"
#include "checks.h"
#include "compare/internal.h"
#include "comparison_fixture.h"
#include "record/document.h"
#include "schema_check.h"

#include <cjson/cJSON.h>

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

static enum xb_status parse_tree(const cJSON *tree, struct xb_error *error)
{
    char *text = cJSON_PrintUnformatted(tree);
    enum xb_status status = parse(text, error);
    assert_true(status == XB_OK || status == XB_ERR_USAGE);
    if (status == XB_OK) {
        free(comparison_text(table_of_all, &file.comparison)); /* whatever it says */
        xb_comparison_file_free(&file);
    }
    assert_null(file.memory); /* nothing is left to free */
    cJSON_free(text);
    return status;
}

static cJSON *make_tree(void)
{
    static const char gate[] = "[{\"mode\":null,\"direction\":null,\"least_bytes\":0,"
                               "\"most_bytes\":null,\"figure\":\"bandwidth\"}]";
    cJSON *tree = golden_base("compare/regression");
    cJSON_ReplaceItemInObject(tree, "gates", cJSON_Parse(gate));
    cJSON_ReplaceItemInObject((cJSON *)at(tree, "cases.0"), "parameters",
                              cJSON_Parse("{\"chunk\":65536}"));
    return tree;
}

/* ---- what is wrong ---- */

static void tell_read(FILE *told, char **words)
{
    struct xb_error error;
    if (parse(words[1], &error) == XB_OK)
        fail_case("%s was read", words[1]);
    fprintf(told, "%s\n", error.message);
}

/* Puts a JSON value into the place of what stands there, and reads. */
static void tell_put(FILE *told, char **words)
{
    cJSON *tree = make_tree(), *item = cJSON_Parse(words[2]);
    char *key = strrchr(words[1], '.');
    struct xb_error error;
    if (key != NULL)
        *key = '\0';
    assert_true(cJSON_ReplaceItemInObjectCaseSensitive(
        key != NULL ? (cJSON *)at(tree, words[1]) : tree, key != NULL ? key + 1 : words[1], item));
    fprintf(told, "%s\n", parse_tree(tree, &error) == XB_OK ? "accepted" : error.message);
    cJSON_Delete(tree);
}

static const struct verb reading[] = {{"put", tell_put}, {"read", tell_read}, {NULL, NULL}};
TEST_CASES(names_what_is_wrong, "compare/read", reading, NULL)

/* A note of a thousand characters, where no note has more than 511. */
TEST(refuses_texts_that_are_too_long)
{
    struct xb_error error;
    char note[1001];
    memset(note, 'x', sizeof note);
    note[sizeof note - 1] = '\0';
    cJSON *tree = make_tree();
    cJSON_ReplaceItemInObject((cJSON *)at(tree, "cases.0"), "note", cJSON_CreateString(note));
    assert_int_equal(parse_tree(tree, &error), XB_ERR_USAGE);
    assert_has(error.message, "cases[0].note: has more than 511 characters");
    cJSON_Delete(tree);
}

/* ---- what is read ---- */

TEST(tells_which_program_compared)
{
    struct xb_error error;
    cJSON *tree = make_tree();
    cJSON_ReplaceItemInObject((cJSON *)at(tree, "tool"), "version", cJSON_CreateString("0.0.9"));
    char *text = cJSON_PrintUnformatted(tree);
    assert_int_equal(parse(text, &error), XB_OK);
    cJSON_free(text);
    text = comparison_text(table_of_all, &file.comparison);
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

/* ---- any damage ---- */

TEST(survives_any_damage)
{
    cJSON *tree = make_tree();
    assert_true(damage_below(tree, tree, parse_tree, "|compiler|build_type|left_out|chunk|",
                             "|tool|") > 120);
    cJSON_Delete(tree);
}

static enum xb_status read_all(const char *text, struct xb_error *error)
{
    enum xb_status status = parse(text, error);
    if (status == XB_OK)
        xb_comparison_file_free(&file);
    assert_null(file.memory); /* nothing is left to free */
    return status;
}

TEST(says_that_there_is_no_memory)
{
    cJSON *tree = make_tree();
    char *json = cJSON_PrintUnformatted(tree);
    assert_true(lack_each_json_piece(json, read_all) > 50);
    cJSON_free(json);
    cJSON_Delete(tree);
}
