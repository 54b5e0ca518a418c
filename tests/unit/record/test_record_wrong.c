/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are refused, and what a file may have at the most. */
#define _GNU_SOURCE
#include "checks.h"
#include "document_fixture.h"
#include "rows.h"
#include "sanitized.h"

#include <cjson/cJSON.h>

/* ---- one value that is wrong ---- */

/* What is wrong for each kind of value. */
static const struct {
    const char *kind, *values;
} kinds[] = {
    {"text", "missing null 1 true \"\" [] {} [\"pinned\"]"},
    {"text or null", "missing 1 true \"\" [] {}"},
    {"any text", "missing null 1 true [] {}"},
    {"text or number", "true [] {} [1]"},                /* or null, or not there */
    {"texts", "null 1 \"x\" {} true [1] [null] [\"\"]"}, /* or not there */
    {"flag", "missing null 1 0 \"true\" [] {}"},
    {"flag or null", "missing 1 0 \"true\" [] {}"},
    {"whole", "missing null \"1\" true [] [1] {} 0 -1 0.5 1.5 1e300 -1e300"}, /* above 0 */
    {"whole or null", "missing \"1\" true [] {} -1 0.5 1e300"},
    {"count", "missing null \"1\" true [] {} -1 0.5 1e300"},
    {"from 0", "missing null \"1\" true [] {} -1 0.5 64 1e300"},
    {"code", "missing null \"1\" true [] {} 0.5 1e300 -1e300"},
    {"index", "missing \"1\" true [] {} -1 0.5 1024 1e300 -1e300"},         /* or null */
    {"number", "missing null \"1\" true [] [1] {} 0 -0.0 -1 1e300 -1e300"}, /* above 0 */
    {"number or null", "missing \"1\" true [] {} -1 1e300 -1e300"},
    {"sample", "null \"1\" true [] {} -1 1e300"}, /* one of several */
    {"time", "null \"1\" true [] {} 0 -1 1e300"}, /* one of several, above 0 */
    {"object", "missing null 1 \"x\" [] [{}] true"},
    {"object or null", "missing 1 \"x\" [] [{}] true"},
    {"array", "missing null 1 \"x\" {} true"},
    {"array or null", "missing 1 \"x\" {} true"},
};

static void refuse_value(const char *where, const char *value)
{
    char expected[160];
    cJSON *tree = result_tree();
    print_message("%s = %s\n", where, value);
    put(tree, where, value);
    snprintf(expected, sizeof expected, PATH ": %s: ", where);
    refuse_tree(tree, expected);
}

static void say_every_value(const struct row *row, char said[ROW_TEXT])
{
    char values[100], *rest = NULL;
    size_t kind = 0;
    while (strcmp(kinds[kind].kind, row->part[1]) != 0)
        kind++;
    snprintf(values, sizeof values, "%s", kinds[kind].values);
    for (char *value = strtok_r(values, " ", &rest); value != NULL;
         value = strtok_r(NULL, " ", &rest))
        refuse_value(row->part[0], value);
    if (row->count > 2)
        refuse_value(row->part[0], row->part[2]);
    say_also(said, "refused");
}
TEST_ROWS(every_value_that_is_wrong_is_refused, say_every_value)

/* Numbers that no double holds, and words for them that JSON does not have, wherever they stand. */
TEST(refuses_numbers_that_are_none)
{
    static const char *const words[] = {"NaN",  "nan",  "Infinity", "-Infinity", "inf",
                                        "0x10", "+1",   ".5",       "1e",        "1.2.3",
                                        "--1",  "1,,2", "True",     "'1'",       "undefined"};
    static const char *const places[] = {"schema_version", "results[0].samples_s[2]",
                                         "results[0].figures[0].median", "host.logical_cpus",
                                         "config.chunk"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        for (size_t k = 0; k < sizeof words / sizeof words[0]; k++) {
            cJSON *tree = result_tree();
            put(tree, places[i], words[k]);
            refuse_tree(tree, ": line 1, column ");
        }
        char expected[160];
        snprintf(expected, sizeof expected, PATH ": %s: the number is too large to hold",
                 places[i]);
        for (int negative = 0; negative < 2; negative++) {
            cJSON *tree = result_tree();
            put(tree, places[i], negative ? "-1e999" : "1e999");
            refuse_tree(tree, expected);
        }
    }
}

static void say_changed(const struct row *row, char said[ROW_TEXT])
{
    struct xb_record record;
    struct xb_error error;
    cJSON *tree = result_tree();
    put_parts(tree, row, 0);
    enum xb_status status = parse_tree(tree, &record, &error);
    if (status == XB_OK)
        say_also(said, "read");
    else
        say_refused(said, status, &error);
    xb_record_free(&record);
}
TEST_ROWS(figures_that_contradict_themselves_are_refused, say_changed)

/* ---- what is no such file at all ---- */

static void say_text(const struct row *row, char said[ROW_TEXT])
{
    struct xb_record record;
    struct xb_error error = {.status = XB_OK};
    say_refused(said, xb_record_parse(PATH, row->part[0], strlen(row->part[0]), &record, &error),
                &error);
}
TEST_ROWS(what_is_not_ours_is_refused, say_text)

TEST(a_zero_is_no_text)
{
    refuse_text("{\"a\":1}\0", 8, "line 1, column 8: a character is NUL: this is no text");
    refuse_text("{\n\"a\0\":1}", 9, "line 2, column 3: a character is NUL: this is no text");
}

/* Cut at every byte but the last. */
TEST(refuses_every_beginning)
{
    for (size_t length = 0; length < strlen(result_text); length++) {
        char *text = malloc(length + 1);
        assert_non_null(text);
        memcpy(text, result_text, length);
        text[length] = '\0';
        refuse_text(text, length, ": line 1, column ");
        free(text);
    }
}

/* ---- much of something ---- */

TEST(cuts_places_that_are_long)
{
    char key[200];
    char text[32 * sizeof key];
    size_t length = 0;
    memset(key, 'k', sizeof key);
    for (int i = 0; i < 30; i++)
        length += (size_t)sprintf(text + length, "{\"%.*s\":", (int)sizeof key, key);
    length += (size_t)sprintf(text + length, "1e999");
    for (int i = 0; i < 30; i++)
        length += (size_t)sprintf(text + length, "}");
    refuse_text(text, length, "kkk.kkk");
    refuse_text(text, length, ": the number is too large to hold");
}

/* `count` times `piece`, between two others. */
static char *repeated(const char *begin, const char *piece, size_t count, const char *end,
                      size_t *length)
{
    size_t step = strlen(piece);
    *length = strlen(begin) + count * step + strlen(end);
    char *text = malloc(*length + 1);
    assert_non_null(text);
    char *at = stpcpy(text, begin);
    for (size_t i = 0; i < count; i++, at += step)
        memcpy(at, piece, step);
    memcpy(at, end, strlen(end) + 1);
    return text;
}

TEST(refuses_too_much)
{
    static const struct {
        const char *begin, *piece;
        size_t count;
        const char *end, *expected;
    } rows[] = {
        {"", "[", 10000, "", "line 1, column 33: nested deeper than 32 levels"},
        {"", "[", 33, "]", "line 1, column 33: nested deeper than 32 levels"},
        {"", "[", 32, "", "the file ends here"},
        {"", "{\"a\":", 10000, "", "nested deeper than 32 levels"},
        {"\n", "[{\"a\":", 10000, "", "line 2, column 97: nested deeper than 32 levels"},
        {"", "]", 100000, "", "line 1, column 1: this is not JSON"},
        {"[1", ",1", 4194304, "]", "more than 4194304 values"},
        {"[1", ",1", 4194303, "]", "is not a result file of xferbench"},
        {"{\"a\":\"", "x", 60 << 20, "\"}", "schema: is missing"},
        {"{\"a\":\"", "x", 60 << 20, "", "column 6: this text does not end: the file was cut"},
        {"{\"", "x", 20 << 20, "\":1e999}", "xxx: the number is too large to hold"},
        {"", "\n", 1 << 20, "x", "line 1048577, column 1: this is not JSON"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t length = 0;
        if (IS_SANITIZED && rows[i].count > 1 << 20)
            continue;
        char *text = repeated(rows[i].begin, rows[i].piece, rows[i].count, rows[i].end, &length);
        print_message("%.20s %zu times\n", rows[i].piece, rows[i].count);
        refuse_text(text, length, rows[i].expected);
        free(text);
    }
}

/* An object with `count` keys that differ, or an array of `count` such objects. */
static cJSON *many(size_t count, bool array, const char *item)
{
    cJSON *made = array ? cJSON_CreateArray() : cJSON_CreateObject();
    for (size_t i = 0; i < count; i++) {
        char *text = NULL;
        assert_true(asprintf(&text, item, i) > 0);
        if (array) {
            cJSON_AddItemToArray(made, cJSON_CreateRaw(text));
        } else {
            char key[32];
            snprintf(key, sizeof key, "k%zu", i);
            cJSON_AddItemToObject(made, key, cJSON_CreateRaw(text));
        }
        free(text);
    }
    return made;
}

/* A skipped row, whose size is still to be printed. */
#define ROW(mode)                                                                                  \
    "{\"mode\":\"" mode "\",\"variant\":\"b\",\"direction\":\"h2d\",\"bytes\":1%zu,\"device\":0,"  \
    "\"peer\":null,\"latency\":false,\"simultaneous\":false,\"parameters\":{},"                    \
    "\"status\":\"skipped\",\"reason\":\"r\",\"error\":null,\"bytes_moved\":null,\"details\":{},"  \
    "\"verified\":null,\"timer\":null,\"samples_s\":[],"                                           \
    "\"placements\":null,\"figures\":[],\"stop_reason\":null,\"warnings\":[]}"

TEST(bounds_lists)
{
    static const struct {
        const char *where;
        size_t most;
        bool array;
        const char *item;
    } rows[] = {
        {"config", 512, false, "1"},
        {"environment", 1024, false, "\"x\""},
        {"devices[0].facts", 64, false, "1"},
        {"results[0].details", 64, false, "1"},
        {"results[0].parameters", 16, false, "1"},
        {"devices", 64, true,
         "{\"index\":%zu,\"name\":\"a\",\"uuid\":null,\"architecture\":null,\"pci_bdf\":null,"
         "\"memory_bytes\":0,\"driver\":null,\"link\":null,\"shares_host_memory\":false,"
         "\"numa\":{\"node\":null,\"bound\":false,\"as_expected\":true,\"cpus\":0,\"note\":null},"
         "\"facts\":{}}"},
        {"results", 10000, true, ROW("a")},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (size_t more = 0; more < 2; more++) {
            cJSON *tree = result_tree();
            cJSON *list = many(rows[i].most + more, rows[i].array, rows[i].item);
            char *text = cJSON_PrintUnformatted(list);
            char expected[64];
            put(tree, rows[i].where, text);
            cJSON_free(text);
            cJSON_Delete(list);
            snprintf(expected, sizeof expected, PATH ": %s: ", rows[i].where);
            if (more == 1) {
                refuse_tree(tree, expected);
                continue;
            }
            struct xb_record record = read_tree(tree);
            xb_record_free(&record);
        }
}

TEST(bounds_figures)
{
    for (size_t more = 0; more < 2; more++) {
        cJSON *tree = result_tree();
        cJSON *figures = cJSON_GetObjectItem(
            cJSON_GetArrayItem(cJSON_GetObjectItem(tree, "results"), 0), "figures");
        for (size_t i = (size_t)cJSON_GetArraySize(figures); i < 64 + more; i++) {
            char name[32];
            cJSON *figure = cJSON_Duplicate(cJSON_GetArrayItem(figures, 4), true);
            snprintf(name, sizeof name, "figure_%zu", i);
            cJSON_ReplaceItemInObject(figure, "name", cJSON_CreateString(name));
            cJSON_AddItemToArray(figures, figure);
        }
        if (more == 1) {
            refuse_tree(tree, PATH ": results[0].figures: has more than 64");
            continue;
        }
        struct xb_record record = read_tree(tree);
        assert_int_equal(record.cases[0].rows[0].figure_count, 64);
        xb_record_free(&record);
    }
}

/* Every case takes a row of every process: 100 times 10000 that differ would take gigabytes. */
TEST(bounds_cases_of_all_processes)
{
    cJSON *documents[3];
    for (size_t i = 0; i < 3; i++) {
        static const char *const items[] = {ROW("a0"), ROW("a1"), ROW("a2")};
        documents[i] = result_tree();
        cJSON *list = many(i == 2 ? 1 : 5000, true, items[i]);
        cJSON_ReplaceItemInObject(documents[i], "results", list);
    }
    cJSON *less = merge(
        3, 2,
        (cJSON *[]){cJSON_Duplicate(documents[0], true), cJSON_Duplicate(documents[1], true)});
    struct xb_record record = read_tree(less);
    assert_int_equal(record.case_count, 10000);
    xb_record_free(&record);
    refuse_tree(merge(3, 3, documents), "processes: have more than 10000 cases in all");
}

static enum xb_status read_all(const char *text, struct xb_error *error)
{
    struct xb_record record;
    enum xb_status status = xb_record_parse(PATH, text, strlen(text), &record, error);
    assert_true(status == XB_OK || strstr(error->message, PATH) != NULL);
    assert_true(status == XB_OK || record.texts == NULL);
    xb_record_free(&record);
    return status;
}

/* Whichever piece is lacking: the reader says so, and the sanitizer finds nothing left. */
TEST(says_that_there_is_no_memory)
{
    cJSON *tree = merge(2, 2, (cJSON *[]){result_tree(), result_tree()});
    char *text = cJSON_PrintUnformatted(tree);
    cJSON_Delete(tree);
    assert_true(lack_each_json_piece(text, read_all) > 500); /* the tree alone has as many */
    cJSON_free(text);
}
