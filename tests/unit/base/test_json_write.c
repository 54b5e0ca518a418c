/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "base/json_write.h"
#include "base/stream.h"
#include "checks.h"
#include "rows.h"

#include <errno.h>
#include <math.h>

/* What comes of a document: its text, to release with free(), or NULL and the error. */
static char *finish(struct xb_json *json, enum xb_json_form form, struct xb_error *error)
{
    struct xb_memory_text written = {.text = NULL};
    FILE *stream = xb_memory_text_begin(&written);
    enum xb_status status = xb_json_finish_as(json, stream, form, "the JSON", error);
    xb_memory_text_end(&written);
    if (status == XB_OK)
        return written.text;
    assert_int_equal(error->status, status);
    assert_int_equal(written.length, 0);
    free(written.text);
    return NULL;
}

static void assert_written(struct xb_json *json, enum xb_json_form form, const char *expected)
{
    struct xb_error error;
    char *text = finish(json, form, &error);
    if (text == NULL)
        fail_msg("%s", error.message);
    assert_string_equal(text, expected);
    free(text);
}

static void put_every_kind(struct xb_json *json)
{
    static const double numbers[] = {0.1, 1e300, NAN};
    xb_json_open_object(json, NULL);
    xb_json_put_text(json, "text", "a \"b\"\n\x01\x7F\xC2\x9B\xC2\xB5");
    xb_json_put_text(json, "text_null", NULL);
    xb_json_put_text(json, "text_empty", "");
    xb_json_put_optional(json, "optional", "x");
    xb_json_put_optional(json, "optional_null", NULL);
    xb_json_put_optional(json, "optional_empty", "");
    xb_json_put_number(json, "number", 0.1 + 0.2);
    xb_json_put_number(json, "number_infinite", INFINITY);
    xb_json_put_known_number(json, "number_known", true, -2.5);
    xb_json_put_known_number(json, "number_unknown", false, -2.5);
    xb_json_put_whole(json, "whole", UINT64_MAX);
    xb_json_put_known_whole(json, "whole_known", true, 5);
    xb_json_put_known_whole(json, "whole_unknown", false, 5);
    xb_json_put_index(json, "index", 0);
    xb_json_put_index(json, "index_none", -1);
    xb_json_put_flag(json, "flag", true);
    xb_json_put_known_flag(json, "flag_known", true, false);
    xb_json_put_known_flag(json, "flag_unknown", false, true);
    xb_json_put_null(json, "null");
    xb_json_put_numbers(json, "numbers", numbers, 3);
    xb_json_put_numbers(json, "numbers_none", NULL, 0);
    xb_json_put_raw(json, "raw", "{\"kept\":  1.50, \"c\": \"\xC2\x80\"}\n \t\r\n");
    xb_json_put_raw(json, "raw_null", NULL);
    xb_json_open_array(json, "array");
    xb_json_open_object(json, NULL);
    xb_json_close(json);
    xb_json_put_whole(json, NULL, 7);
    xb_json_close(json);
    xb_json_close(json);
}

static void say_every_kind(const struct row *row, char said[ROW_TEXT])
{
    struct xb_json json;
    struct xb_error error;
    (void)row;
    xb_json_begin(&json);
    put_every_kind(&json);
    char *text = finish(&json, XB_JSON_INDENTED, &error);
    say_also(said, "%s", text);
    free(text);
}
TEST_ROWS(every_kind_is_written, say_every_kind)

TEST(writes_any_value_as_the_document)
{
    struct xb_json json;
    xb_json_begin(&json);
    xb_json_put_flag(&json, NULL, true);
    assert_written(&json, XB_JSON_INDENTED, "true\n");
    xb_json_begin(&json);
    xb_json_open_array(&json, NULL);
    xb_json_close(&json);
    assert_written(&json, XB_JSON_INDENTED, "[]\n");
}

/* Names of environment variables may be any bytes; a document's may not. */
TEST(makes_texts_and_keys_utf8)
{
    struct xb_json json;
    char key[] = "k\xFF";
    xb_json_begin(&json);
    xb_json_open_object(&json, NULL);
    xb_json_put_text(&json, key, "\xC3\xBC \xC3");
    key[0] = 'x'; /* the key was copied */
    xb_json_put_raw(&json, "raw", "\"\x80\"");
    xb_json_close(&json);
    assert_written(&json, XB_JSON_INDENTED,
                   "{\n\t\"k\xEF\xBF\xBD\":\t\"\xC3\xBC \xEF\xBF\xBD\",\n"
                   "\t\"raw\":\t\"\xEF\xBF\xBD\"\n}\n");
}

/* ---- failures ---- */

static enum xb_status write_every_kind(FILE *stream, const void *what, struct xb_error *error)
{
    struct xb_json json;
    (void)what;
    xb_json_begin(&json);
    put_every_kind(&json);
    return xb_json_finish(&json, stream, "the JSON", error);
}

static void *give_nothing(size_t size)
{
    (void)size;
    return NULL;
}

/* A document that outgrows its room several times. */
static enum xb_status write_many(FILE *stream, const void *what, struct xb_error *error)
{
    struct xb_json json;
    (void)what;
    xb_json_begin(&json);
    xb_json_open_array(&json, NULL);
    for (int i = 0; i < 1000; i++)
        xb_json_put_number(&json, NULL, i);
    xb_json_close(&json);
    return xb_json_finish_as(&json, stream, XB_JSON_LINE, "the trace", error);
}

TEST(reports_memory_that_is_short_once)
{
    assert_true(fail_every_allocation(write_every_kind, NULL) > 1);
    assert_true(fail_every_allocation(write_many, NULL) > 3);
}

/* Where there is no room to grow into there may be enough for what is written. */
TEST(takes_just_enough_memory)
{
    struct xb_error error;
    char *texts[5];
    for (size_t i = 0; i < 5; i++) { /* 0: nothing lacks */
        size_t size = 0;
        FILE *stream = open_memstream(&texts[i], &size);
        lack_json_piece(i);
        assert_int_equal(write_many(stream, NULL, &error), XB_OK);
        lack_json_piece(0);
        fclose(stream);
        assert_string_equal(texts[i], texts[0]);
    }
    for (size_t i = 0; i < 5; i++)
        free(texts[i]);
}

TEST(names_what_memory_lacks_for)
{
    struct xb_error error;
    cJSON_InitHooks(&(cJSON_Hooks){give_nothing, free});
    assert_int_equal(write_many(stdout, NULL, &error), XB_ERR_MEMORY);
    cJSON_InitHooks(NULL);
    assert_has(error.message, "not enough memory to write the trace");
}

TEST(keeps_the_first_failure)
{
    struct xb_json json;
    struct xb_error first, second, error;
    (void)XB_FAIL(&first, XB_ERR_SYSTEM, "the first");
    (void)XB_FAIL(&second, XB_ERR_USAGE, "the second");
    xb_json_begin(&json);
    xb_json_open_object(&json, NULL);
    xb_json_fail(&json, &first);
    xb_json_fail(&json, &second);
    xb_json_close(&json);
    assert_int_equal(xb_json_finish(&json, NULL, "the JSON", &error), XB_ERR_SYSTEM);
    assert_string_equal(error.message, "the first");
}

TEST(reports_a_full_disk)
{
    struct xb_error error = {0};
    FILE *full = fopen("/dev/full", "w");
    assert_non_null(full);
    assert_int_equal(write_every_kind(full, NULL, &error), XB_ERR_SYSTEM); /* found by the flush */
    assert_int_equal(error.native_code, ENOSPC);
    assert_has(error.message, "cannot write the JSON: ");
    fclose(full);
}

/* Calls by letters: '{' and '[' open, '}' closes, 'n' puts null, and 'k' puts it with a key. */
static void say_calls(const struct row *row, char said[ROW_TEXT])
{
    struct xb_json json;
    struct xb_error error;
    xb_json_begin(&json);
    for (const char *call = row->part[0]; *call != '\0'; call++)
        switch (*call) {
        case '{':
            xb_json_open_object(&json, NULL);
            break;
        case '[':
            xb_json_open_array(&json, NULL);
            break;
        case '}':
            xb_json_close(&json);
            break;
        default:
            xb_json_put_null(&json, *call == 'k' ? "key" : NULL);
        }
    char *text = finish(&json, XB_JSON_PART, &error);
    if (text == NULL)
        say_also(said, "status %d: %s", (int)error.status, error.message);
    else
        say_also(said, "%s", text);
    free(text);
}
TEST_ROWS(calls_that_make_no_document_are_refused, say_calls)

/* Whatever lines a document has that stands in it, and whatever is in its texts. */
TEST(a_line_has_one_newline)
{
    struct xb_json json;
    xb_json_begin(&json);
    xb_json_open_object(&json, NULL);
    xb_json_put_text(&json, "text", "a // b \n /* c */ \"");
    xb_json_put_number(&json, "number", 0.1);
    xb_json_put_raw(&json, "raw", "{\n\t\"a b\":\t[1.50,\n \"c\\\\\", \" \\\" \"]\n}\n");
    xb_json_close(&json);
    assert_written(&json, XB_JSON_LINE,
                   "{\"text\":\"a // b \\n /* c */ \\\"\",\"number\":0.1,"
                   "\"raw\":{\"a b\":[1.50,\"c\\\\\",\" \\\" \"]}}\n");
}
