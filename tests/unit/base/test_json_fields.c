/* SPDX-License-Identifier: Apache-2.0 */
/* One table writes and reads: every kind of field, there and back, and what a reader refuses. */
#define _POSIX_C_SOURCE 200809L
#include "base/json_fields.h"
#include "base/memory.h"
#include "checks.h"
#include "rows.h"

#include <math.h>

typedef struct item {
    unsigned number;
    bool known;
    double rate;
} item;

typedef struct all {
    bool flag, part_known;
    unsigned width, on;
    uint64_t whole, counter;
    size_t size;
    int index;
    int64_t rank;
    double rate, lacking, needing;
    char text[4], address[16];
    const char *string;
    int word;
    item part, items[2], *list;
    const double *numbers;
    size_t item_count, list_count, number_count;
    unsigned custom;
} all;

static const char *word_of(int value)
{
    static const char *const words[] = {"none", "some", "all"};
    return words[value];
}

static void put_custom(struct xb_json *json, const struct xb_field *field, const void *from)
{
    xb_json_put_whole(json, field->key, ((const all *)from)->custom + 1);
}

static void read_custom(struct xb_json_reader *reader, const cJSON *object,
                        const struct xb_field *field, void *to)
{
    ((all *)to)->custom = (unsigned)xb_json_get_whole(reader, object, field->key, 1, 9) - 1;
}

static const struct xb_field item_fields[] = {
    XB_FIELD("number", UNSIGNED, item, number),
    XB_FIELD("rate", DOUBLE, item, rate, XB_KNOWN(item, known)), XB_FIELDS_END};

static const struct xb_field fields[] = {
    XB_FIELD("flag", FLAG, all, flag),
    XB_FIELD("width", UNSIGNED, all, width, XB_NULL_IF_EMPTY),
    XB_FIELD("whole", UINT64, all, whole, .least = 2, .most = 9),
    XB_FIELD("counter", COUNTER, all, counter),
    XB_FIELD("size", SIZE, all, size),
    XB_FIELD("index", INDEX, all, index),
    XB_FIELD("rank", INT64, all, rank),
    XB_FIELD("rate", DOUBLE, all, rate, XB_RATE),
    XB_FIELD("lacking", DOUBLE, all, lacking, XB_NULL_IF_NAN),
    XB_FIELD("needing", DOUBLE, all, needing, XB_NEEDS(all, on)),
    XB_FIELD("text", TEXT, all, text),
    XB_FIELD("address", ADDRESS, all, address, XB_NULL_IF_EMPTY),
    XB_FIELD("string", STRING, all, string, XB_NULL_IF_EMPTY),
    XB_FIELD("word", WORD, all, word, .word = word_of, .most = 2),
    XB_OBJECT("part", all, part, item_fields, XB_KNOWN(all, part_known)),
    XB_ITEMS("items", all, items, item_count, 2, item_fields),
    XB_LIST("list", all, list, list_count, 3, item_fields),
    XB_NUMBERS("numbers", all, numbers, number_count, XB_ABOVE_0, .most = 9),
    XB_CUSTOM("custom", put_custom, read_custom),
    XB_FIELDS_END};

/* What the table writes of it; free it. */
static char *written(const all *from)
{
    struct xb_json json;
    struct xb_error error;
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    assert_non_null(stream);
    xb_json_begin(&json);
    xb_fields_put_object(&json, NULL, fields, from);
    assert_int_equal(xb_json_finish_as(&json, stream, XB_JSON_PART, "it", &error), XB_OK);
    assert_int_equal(fclose(stream), 0);
    return text;
}

static enum xb_status read_back(const char *text, all *to, struct xb_arena **texts,
                                struct xb_error *error)
{
    struct xb_json_reader reader = {.place = {.path = "f.json"}, .texts = texts};
    cJSON *tree = xb_json_read(&reader, text, strlen(text));
    memset(to, 0, sizeof *to);
    xb_fields_read(&reader, tree, fields, to);
    cJSON_Delete(tree); /* whatever was read outlives it */
    *error = reader.error;
    return reader.error.status;
}

static const all FULL = {.flag = true,
                         .part_known = true,
                         .width = 16,
                         .on = 1,
                         .whole = 9,
                         .counter = UINT64_MAX,
                         .size = 7,
                         .index = 3,
                         .rank = 5,
                         .rate = 0.5,
                         .lacking = 0,
                         .needing = 2,
                         .text = "abc",
                         .address = "0000:0f:00.0",
                         .string = "a \"text\"",
                         .word = 2,
                         .part = {4, true, 1.5},
                         .items = {{1, true, 2}, {2, false, 0}},
                         .item_count = 2,
                         .list = (item[]){{8, true, 3}},
                         .list_count = 1,
                         .numbers = (double[]){0.5, 9},
                         .number_count = 2,
                         .custom = 6};

static void assert_back(const all *from, const char *expected)
{
    all back;
    struct xb_arena *texts = NULL;
    struct xb_error error = {.message = ""};
    char *text = written(from);
    assert_string_equal(text, expected);
    if (read_back(text, &back, &texts, &error) != XB_OK)
        fail_msg("%s", error.message);
    back.on = from->on; /* it stands in no field */
    char *again = written(&back);
    assert_string_equal(again, text);
    free(again);
    free(text);
    xb_arena_free(texts);
}

TEST(what_is_known_comes_back)
{
    assert_back(&FULL,
                "{\"flag\":true,\"width\":16,\"whole\":9,\"counter\":18446744073709551615,"
                "\"size\":7,\"index\":3,\"rank\":5,\"rate\":0.5,\"lacking\":0,\"needing\":2,"
                "\"text\":\"abc\",\"address\":\"0000:0f:00.0\",\"string\":\"a \\\"text\\\"\","
                "\"word\":\"all\",\"part\":{\"number\":4,\"rate\":1.5},"
                "\"items\":[{\"number\":1,\"rate\":2},{\"number\":2,\"rate\":null}],"
                "\"list\":[{\"number\":8,\"rate\":3}],\"numbers\":[0.5,9],"
                "\"custom\":7}");
}

TEST(what_is_not_known_is_null)
{
    const all none = {.whole = 2, .index = -1, .rank = -1, .lacking = (double)NAN};
    assert_back(&none, "{\"flag\":false,\"width\":null,\"whole\":2,\"counter\":0,\"size\":0,"
                       "\"index\":null,\"rank\":-1,\"rate\":null,\"lacking\":null,"
                       "\"needing\":null,\"text\":\"\",\"address\":null,\"string\":null,"
                       "\"word\":\"none\",\"part\":null,\"items\":[],\"list\":[],\"numbers\":[],"
                       "\"custom\":1}");
}

/* What is written can be read: a text is not known, and a list is as long as a reader takes it. */
TEST(what_a_reader_would_not_take_is_not_written)
{
    item items[4] = {{1, true, 1}, {2, true, 1}, {3, true, 1}, {4, true, 1}};
    all from = {.whole = 2, .string = "", .list = items, .list_count = 4};
    char *text = written(&from);
    assert_has(text, "\"string\":null,");
    assert_has(text, "\"list\":[{\"number\":1,\"rate\":1},{\"number\":2,\"rate\":1},"
                     "{\"number\":3,\"rate\":1}]");
    free(text);
}

static void say_changed(const struct row *row, char said[ROW_TEXT])
{
    all back;
    struct xb_arena *texts = NULL;
    struct xb_error error;
    char *text = written(&FULL);
    cJSON *tree = cJSON_Parse(text);
    free(text);
    cJSON_DeleteItemFromObject(tree, row->part[0]);
    if (strcmp(row->part[1], "missing") != 0)
        cJSON_AddItemToObject(tree, row->part[0], cJSON_Parse(row->part[1]));
    text = cJSON_PrintUnformatted(tree);
    cJSON_Delete(tree);
    say_refused(said, read_back(text, &back, &texts, &error), &error);
    cJSON_free(text);
    xb_arena_free(texts);
}
TEST_ROWS(what_is_wrong_is_refused_with_its_place, say_changed)

/* A text grows when bytes that are no UTF-8 are replaced: it is cut between two characters. */
TEST(a_text_that_is_too_long_is_cut)
{
    struct xb_json_reader reader = {.place = {.path = "f.json"}};
    static const struct xb_field only[] = {XB_FIELD("text", TEXT, all, text), XB_FIELDS_END};
    cJSON *tree = cJSON_Parse("{\"text\":\"ab\\u00e4\"}");
    all to = {.flag = false};
    xb_fields_read(&reader, tree, only, &to);
    assert_string_equal(to.text, "ab");
    cJSON_Delete(tree);
}
