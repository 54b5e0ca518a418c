/* SPDX-License-Identifier: Apache-2.0 */
/* One table writes and reads: every kind of field, there and back, and what a reader refuses. */
#include "base/json_fields.h"
#include "base/memory.h"
#include "base/stream.h"
#include "checks.h"
#include "rows.h"

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

static const char full[] =
    "{\"flag\":true,\"width\":16,\"whole\":9,\"counter\":18446744073709551615,"
    "\"size\":7,\"index\":3,\"rank\":5,\"rate\":0.5,\"lacking\":0,\"needing\":2,"
    "\"text\":\"abc\",\"address\":\"0000:0f:00.0\",\"string\":\"a \\\"text\\\"\","
    "\"word\":\"all\",\"part\":{\"number\":4,\"rate\":1.5},\"items\":[{\"number\":1,"
    "\"rate\":2},{\"number\":2,\"rate\":null}],\"list\":[{\"number\":8,\"rate\":3}],"
    "\"numbers\":[0.5,9],\"custom\":7}";

/* What the table writes of it; free it. */
static char *written(const all *from)
{
    struct xb_json json;
    struct xb_error error;
    struct xb_memory_text text = {.text = NULL};
    FILE *stream = xb_memory_text_begin(&text);
    xb_json_begin(&json);
    xb_fields_put_object(&json, NULL, fields, from);
    assert_int_equal(xb_json_finish_as(&json, stream, XB_JSON_PART, "it", &error), XB_OK);
    xb_memory_text_end(&text);
    return text.text;
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

/* A document that is read and written again; `needing` is written where it is on. */
static void say_back(const struct row *row, char said[ROW_TEXT])
{
    all back;
    struct xb_arena *texts = NULL;
    struct xb_error error = {.message = ""};
    if (read_back(row->part[1], &back, &texts, &error) == XB_OK) {
        back.on = strcmp(row->part[0], "on") == 0;
        char *text = written(&back);
        say_also(said, "%s", text);
        free(text);
    } else
        say_refused(said, error.status, &error);
    xb_arena_free(texts);
}
TEST_ROWS(what_is_read_is_written, say_back)

TEST(members_are_those_of_the_table)
{
    all back;
    struct xb_arena *texts = NULL;
    struct xb_error error;
    assert_int_equal(read_back(full, &back, &texts, &error), XB_OK);
    assert_true(back.flag && back.part_known && back.part.known && back.items[0].known);
    assert_false(back.items[1].known);
    assert_int_equal(back.width, 16);
    assert_int_equal(back.rank, 5);
    assert_true(back.counter == UINT64_MAX && back.rate == 0.5 && back.lacking == 0);
    assert_string_equal(back.text, "abc");
    assert_string_equal(back.address, "0000:0f:00.0");
    assert_string_equal(back.string, "a \"text\"");
    assert_int_equal(back.word, 2);
    assert_int_equal(back.list_count + 10 * back.item_count + 100 * back.number_count, 221);
    assert_true(back.list[0].rate == 3 && back.numbers[1] == 9);
    assert_int_equal(back.custom, 6);
    xb_arena_free(texts);
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

/* The healthy document with another value, or none. */
static void say_changed(const struct row *row, char said[ROW_TEXT])
{
    all back;
    struct xb_arena *texts = NULL;
    struct xb_error error;
    cJSON *tree = cJSON_Parse(full);
    cJSON_DeleteItemFromObject(tree, row->part[0]);
    if (strcmp(row->part[1], "missing") != 0)
        cJSON_AddItemToObject(tree, row->part[0], cJSON_Parse(row->part[1]));
    char *text = cJSON_PrintUnformatted(tree);
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
