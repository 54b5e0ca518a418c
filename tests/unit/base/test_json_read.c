/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_read.h"
#include "base/text.h"
#include "rows.h"

#include <inttypes.h>
#include <math.h>

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

static const char *json_of(const cJSON *item)
{
    static char text[100];
    if (item == NULL)
        return "nothing";
    assert_true(cJSON_PrintPreallocated((cJSON *)item, text, sizeof text, false));
    return text;
}

static void say_number(char said[ROW_TEXT], double number)
{
    say_also(said, "%s", isnan(number) ? "nan" : XB_NUMBER_TEXT(number));
}

/* Says what the key "k" holds, by the getter of that name. */
static void say_member(const char *getter, struct xb_json_reader *reader, const cJSON *object,
                       char said[ROW_TEXT])
{
    static const char *const keys[] = {"a", "b", NULL};
    const char *text = NULL;
    bool known = strcmp(getter, "known flag") == 0, flag = false;
#define IS(name) (strcmp(getter, name) == 0)
    if (IS("object"))
        text = json_of(xb_json_get_object(reader, object, "k"));
    else if (IS("known object"))
        text = json_of(xb_json_get_known_object(reader, object, "k"));
    else if (IS("optional object"))
        text = json_of(xb_json_get_optional_object(reader, object, "k", 1));
    else if (IS("array"))
        text = json_of(xb_json_get_array(reader, object, "k"));
    else if (IS("text"))
        text = xb_json_get_text(reader, object, "k");
    else if (IS("known text"))
        text = xb_json_get_known_text(reader, object, "k");
    else if (IS("optional text"))
        text = xb_json_get_optional_text(reader, object, "k");
    else if (IS("flag"))
        text = xb_json_get_flag(reader, object, "k") ? "true" : "false";
    else if (known) {
        flag = xb_json_get_known_flag(reader, object, "k", &known);
        text = !known ? (flag ? "wrong" : "not known") : flag ? "true" : "false";
    } else if (IS("number"))
        say_number(said, xb_json_get_number(reader, object, "k", 2));
    else if (IS("known number"))
        say_number(said, xb_json_get_known_number(reader, object, "k", 2));
    else if (IS("optional number"))
        say_number(said, xb_json_get_optional_number(reader, object, "k", 2));
    else if (IS("whole"))
        say_also(said, "%" PRIu64, xb_json_get_whole(reader, object, "k", 1, 2));
    else if (IS("optional whole"))
        say_also(said, "%" PRIu64, xb_json_get_optional_whole(reader, object, "k", 2));
    else if (IS("index"))
        say_also(said, "%d", xb_json_get_index(reader, object, "k"));
    else if (IS("keys a and b")) {
        xb_json_check_keys(reader, object, keys);
        text = "ok";
    } else
        fail_msg("no getter of %s", getter);
#undef IS
    if (said[0] == '\0')
        say_also(said, "%s", text != NULL ? text : "nothing");
}

static void say_read(const struct row *row, char said[ROW_TEXT])
{
    struct xb_json_reader reader;
    cJSON *root = read_text(&reader, row->part[1]);
    say_member(row->part[0], &reader, root, said);
    if (xb_json_failed(&reader)) { /* and gives what is empty */
        assert_true(xb_list_has("nothing,false,not known,0,nan,-1,ok", said));
        said[0] = '\0';
        say_refused(said, reader.error.status, &reader.error);
    }
    cJSON_Delete(root);
}

static void say_read_after_an_error(const struct row *row, char said[ROW_TEXT])
{
    struct xb_json_reader reader;
    cJSON *root = read_text(&reader, row->part[1]);
    size_t outer = xb_place_enter(&reader.place, "list");
    size_t inner = xb_place_enter_item(&reader.place, 4);
    xb_json_refuse(&reader, "first", "is %s", "wrong");
    xb_place_leave(&reader.place, inner);
    xb_place_leave(&reader.place, outer);
    say_member(row->part[0], &reader, root, said);
    xb_json_refuse(&reader, "second", "is wrong too");
    xb_json_refuse_memory(&reader);
    assert_null(xb_json_read(&reader, "{}", 2));
    assert_refused(&reader, "a.json: list[4].first: is wrong");
    cJSON_Delete(root);
}

TEST_ROWS(each_kind_is_read_or_refused_with_its_place, say_read)
TEST_ROWS(after_an_error_all_is_empty_and_the_first_error_stays, say_read_after_an_error)

TEST(keeps_what_the_parser_found)
{
    struct xb_json_reader reader;
    assert_null(read_text(&reader, "{\"a\":1,\n\"a\":2}"));
    assert_null(xb_json_get_text(&reader, NULL, "k"));
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
