/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_read.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "testing.h"

/*
 * The reader that keeps its first error. What a text may not have, and what each value must be, is
 * in the tests of result files (test_record_*.c) and of limits files.
 */

static cJSON *read_text(struct xb_json_reader *reader, const char *text)
{
    *reader = (struct xb_json_reader){.place = {.path = "a.json"}};
    return xb_json_read(reader, text, strlen(text));
}

static void assert_refused(const struct xb_json_reader *reader, const char *message)
{
    assert_int_equal(reader->error.status, XB_ERR_USAGE);
    assert_string_equal(reader->error.message, message);
}

TEST(gives_every_kind)
{
    struct xb_json_reader reader;
    bool known = false;
    cJSON *root =
        read_text(&reader, "{\"o\":{},\"a\":[1],\"t\":\"x\",\"f\":true,\"n\":0.5,\"w\":7,\"i\":3,"
                           "\"null\":null}");
    assert_true(cJSON_IsObject(xb_json_get_object(&reader, root, "o")));
    assert_int_equal(cJSON_GetArraySize(xb_json_get_array(&reader, root, "a")), 1);
    assert_string_equal(xb_json_get_text(&reader, root, "t"), "x");
    assert_string_equal(xb_json_get_optional_text(&reader, root, "t"), "x");
    assert_true(xb_json_get_flag(&reader, root, "f"));
    assert_true(xb_json_get_number(&reader, root, "n", 0.5) == 0.5);
    assert_int_equal(xb_json_get_whole(&reader, root, "w", 7, 7), 7);
    assert_int_equal(xb_json_get_index(&reader, root, "i"), 3);
    assert_int_equal(xb_json_get_index(&reader, root, "null"), -1);
    assert_true(cJSON_IsObject(xb_json_get_known_object(&reader, root, "o")));
    assert_null(xb_json_get_known_object(&reader, root, "null"));
    assert_string_equal(xb_json_get_known_text(&reader, root, "t"), "x");
    assert_null(xb_json_get_known_text(&reader, root, "null"));
    assert_true(xb_json_get_known_flag(&reader, root, "f", &known) && known);
    assert_false(xb_json_get_known_flag(&reader, root, "null", &known) || known);
    assert_true(xb_json_get_known_number(&reader, root, "n", 1) == 0.5);
    assert_true(isnan(xb_json_get_known_number(&reader, root, "null", 1)));
    assert_int_equal(reader.error.status, XB_OK);
    cJSON_Delete(root);
}

TEST(gives_what_may_be_missing)
{
    static const char *const nothing[] = {"null", "missing"};
    struct xb_json_reader reader;
    cJSON *root = read_text(&reader, "{\"o\":{\"a\":1},\"n\":0,\"w\":7,\"null\":null}");
    assert_true(cJSON_IsObject(xb_json_get_optional_object(&reader, root, "o", 1)));
    assert_true(xb_json_get_optional_number(&reader, root, "n", 1) == 0);
    assert_int_equal(xb_json_get_optional_whole(&reader, root, "w", 7), 7);
    for (size_t i = 0; i < 2; i++) {
        assert_null(xb_json_get_optional_object(&reader, root, nothing[i], 0));
        assert_null(xb_json_get_optional_text(&reader, root, nothing[i]));
        assert_true(isnan(xb_json_get_optional_number(&reader, root, nothing[i], 1)));
        assert_int_equal(xb_json_get_optional_whole(&reader, root, nothing[i], 7), 0);
    }
    assert_int_equal(reader.error.status, XB_OK);
    cJSON_Delete(root);
}

/* Each is asked for the key "k". */
static void get_object(struct xb_json_reader *reader, const cJSON *object)
{
    assert_null(xb_json_get_object(reader, object, "k"));
}

static void get_array(struct xb_json_reader *reader, const cJSON *object)
{
    assert_null(xb_json_get_array(reader, object, "k"));
}

static void get_text(struct xb_json_reader *reader, const cJSON *object)
{
    assert_null(xb_json_get_text(reader, object, "k"));
}

static void get_optional_text(struct xb_json_reader *reader, const cJSON *object)
{
    assert_null(xb_json_get_optional_text(reader, object, "k"));
}

static void get_flag(struct xb_json_reader *reader, const cJSON *object)
{
    assert_false(xb_json_get_flag(reader, object, "k"));
}

static void get_number(struct xb_json_reader *reader, const cJSON *object)
{
    assert_true(xb_json_get_number(reader, object, "k", 2) == 0);
}

static void get_whole(struct xb_json_reader *reader, const cJSON *object)
{
    assert_int_equal(xb_json_get_whole(reader, object, "k", 1, 2), 0);
}

static void get_index(struct xb_json_reader *reader, const cJSON *object)
{
    assert_int_equal(xb_json_get_index(reader, object, "k"), -1);
}

static void get_optional_object(struct xb_json_reader *reader, const cJSON *object)
{
    assert_null(xb_json_get_optional_object(reader, object, "k", 1));
}

static void get_known_flag(struct xb_json_reader *reader, const cJSON *object)
{
    bool known = true;
    assert_false(xb_json_get_known_flag(reader, object, "k", &known) || known);
}

static void get_known_number(struct xb_json_reader *reader, const cJSON *object)
{
    assert_true(isnan(xb_json_get_known_number(reader, object, "k", 2)));
}

static void get_optional_number(struct xb_json_reader *reader, const cJSON *object)
{
    assert_true(isnan(xb_json_get_optional_number(reader, object, "k", 2)));
}

static void get_optional_whole(struct xb_json_reader *reader, const cJSON *object)
{
    assert_int_equal(xb_json_get_optional_whole(reader, object, "k", 2), 0);
}

static void get_known_object(struct xb_json_reader *reader, const cJSON *object)
{
    assert_null(xb_json_get_known_object(reader, object, "k"));
}

static void get_known_text(struct xb_json_reader *reader, const cJSON *object)
{
    assert_null(xb_json_get_known_text(reader, object, "k"));
}

static void check_keys(struct xb_json_reader *reader, const cJSON *object)
{
    static const char *const keys[] = {"a", "b", NULL};
    xb_json_check_keys(reader, object, keys);
}

static const struct {
    void (*get)(struct xb_json_reader *reader, const cJSON *object);
    const char *wrong, *message; /* a document, and what is said of it */
    const char *right;           /* what is read without an error */
} rows[] = {
    {get_object, "{\"k\":[]}", "a.json: k: must be an object", "{\"k\":{}}"},
    {get_array, "{\"k\":{}}", "a.json: k: must be an array", "{\"k\":[]}"},
    {get_text, "{\"k\":\"\"}", "a.json: k: must be a text that is not empty", "{\"k\":\"x\"}"},
    {get_optional_text, "{\"k\":1}", "a.json: k: must be a text that is not empty",
     "{\"k\":\"x\"}"},
    {get_flag, "{\"k\":1}", "a.json: k: must be true or false", "{\"k\":true}"},
    {get_number, "{\"k\":3}", "a.json: k: must be a number above 0 and at most 2", "{\"k\":1}"},
    {get_whole, "{}", "a.json: k: is missing", "{\"k\":1}"},
    {get_index, "{\"k\":-1}", "a.json: k: must be a whole number from 0 to 1023", "{\"k\":1}"},
    {get_optional_object, "{\"k\":[]}", "a.json: k: must be an object", "{\"k\":{}}"},
    {get_optional_object, "{\"k\":{\"a\":1,\"b\":2}}", "a.json: k: has more than 1 keys",
     "{\"k\":{}}"},
    {get_known_flag, "{}", "a.json: k: is missing", "{\"k\":true}"},
    {get_known_flag, "{\"k\":0}", "a.json: k: must be true, false or null", "{\"k\":true}"},
    {get_known_number, "{}", "a.json: k: is missing", "{\"k\":1}"},
    {get_known_number, "{\"k\":3}", "a.json: k: must be a number from 0 to 2, or null",
     "{\"k\":1}"},
    {get_optional_number, "{\"k\":-1}", "a.json: k: must be a number from 0 to 2, or null",
     "{\"k\":1}"},
    {get_optional_whole, "{\"k\":0.5}", "a.json: k: must be a whole number from 0 to 2",
     "{\"k\":1}"},
    {get_known_object, "{}", "a.json: k: is missing", "{\"k\":{}}"},
    {get_known_object, "{\"k\":[]}", "a.json: k: must be an object", "{\"k\":{}}"},
    {get_known_text, "{}", "a.json: k: is missing", "{\"k\":\"x\"}"},
    {get_known_text, "{\"k\":1}", "a.json: k: must be a text that is not empty", "{\"k\":\"x\"}"},
    {check_keys, "{\"a\":1,\"c\":2,\"d\":3}", "a.json: c: there is no such key", "{\"b\":1}"},
    {check_keys, "[]", "a.json: must be an object", "{}"},
};

TEST(refuses_each_kind_with_its_place)
{
    struct xb_json_reader reader;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cJSON *root = read_text(&reader, rows[i].wrong);
        rows[i].get(&reader, root);
        assert_refused(&reader, rows[i].message);
        cJSON_Delete(root);
    }
}

/* After an error each call gives what is empty, also for what could be read. */
TEST(keeps_the_first_error)
{
    struct xb_json_reader reader;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cJSON *root = read_text(&reader, rows[i].right);
        size_t outer = xb_place_enter(&reader.place, "list");
        size_t inner = xb_place_enter_item(&reader.place, 4);
        xb_json_refuse(&reader, "first", "is %s", "wrong");
        xb_place_leave(&reader.place, inner);
        xb_place_leave(&reader.place, outer);
        rows[i].get(&reader, root);
        xb_json_refuse(&reader, "second", "is wrong too");
        xb_json_refuse_memory(&reader);
        assert_null(xb_json_read(&reader, "{}", 2));
        assert_refused(&reader, "a.json: list[4].first: is wrong");
        cJSON_Delete(root);
    }
}

TEST(keeps_what_the_parser_found)
{
    struct xb_json_reader reader;
    assert_null(read_text(&reader, "{\"a\":1,\n\"a\":2}"));
    get_text(&reader, NULL);
    assert_refused(&reader, "a.json: a: is there twice");
}

TEST(a_key_twice_is_found_wherever_it_is)
{
    struct xb_json_reader reader;
    char text[1000];
    for (int keys = 2; keys < 40; keys++) { /* few and many are looked through in other ways */
        size_t length = (size_t)snprintf(text, sizeof text, "{\"list\":[7,{\"inner\":{");
        for (int i = 0; i < keys; i++)
            length += (size_t)snprintf(text + length, sizeof text - length, "\"key %d\":1,", i);
        snprintf(text + length, sizeof text - length, "\"key %d\":2}}]}", keys / 2);
        assert_null(read_text(&reader, text));
        char expected[100];
        snprintf(expected, sizeof expected, "a.json: list[1].inner.key %d: is there twice",
                 keys / 2);
        assert_refused(&reader, expected);
    }
}
