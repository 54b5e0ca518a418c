/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "document_fixture.h"
#include "sanitized.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

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

TEST(bounds_parameters_and_figures)
{
    for (size_t more = 0; more < 2; more++) {
        cJSON *tree = result_tree();
        cJSON *list = many(16 + more, false, "1");
        char *text = cJSON_PrintUnformatted(list);
        put(tree, "results[0].parameters", text);
        cJSON_free(text);
        cJSON_Delete(list);
        if (more == 1) {
            refuse_tree(tree, PATH ": results[0].parameters: has more than 16 keys");
            continue;
        }
        struct xb_record record = read_tree(tree);
        assert_int_equal(record.cases[0].parameter_count, 16);
        xb_record_free(&record);
    }
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
