/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "json_write.h"

#include "stream.h"
#include "text.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

void xb_json_fail(struct xb_json *json, const struct xb_error *error)
{
    if (json->error.status == XB_OK)
        json->error = *error;
}

/* A bug: the calls do not make a document. A document that lacks something must not pass. */
static void fail_misuse(struct xb_json *json, const char *what, const char *key)
{
    if (json->error.status == XB_OK)
        (void)XB_FAIL(&json->error, XB_ERR_INTERNAL, "this would be no JSON: %s (key: %.60s)", what,
                      key != NULL ? key : "none");
}

void xb_json_begin(struct xb_json *json)
{
    *json = (struct xb_json){.text = NULL};
}

/* Appends to the text, behind which one byte stays free. Tests let cJSON's allocator fail. */
static void append(struct xb_json *json, const char *piece, size_t length)
{
    if (json->error.status == XB_OK && json->room - json->length <= length) {
        size_t room = 2 * (json->length + length) + 512;
        char *grown = cJSON_malloc(room);
        if (grown == NULL) { /* what is measured is lost if this fails: then as little as will do */
            room = json->length + length + 1;
            grown = cJSON_malloc(room);
        }
        if (grown == NULL) {
            json->error = (struct xb_error){.status = XB_ERR_MEMORY}; /* see xb_json_finish_as */
            return;
        }
        if (json->text != NULL)
            memcpy(grown, json->text, json->length);
        cJSON_free(json->text);
        json->text = grown;
        json->room = room;
    }
    if (json->error.status != XB_OK)
        return;
    memcpy(json->text + json->length, piece, length);
    json->length += length;
}

/* Appends a text as UTF-8, and with escapes: a raw one has them but for DEL and the controls from
 * U+0080 to U+009F, which can only stand in texts, and which terminals obey. */
static void append_text(struct xb_json *json, const char *text, size_t length, bool is_raw)
{
    static const char escaped[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    for (const char *end = text + length; text < end;) {
        const unsigned char *c = (const unsigned char *)text;
        size_t bytes = xb_utf8_length(text);
        bool is_late = c[0] == 0x7F || (c[0] == 0xC2 && c[1] < 0xA0);
        const char *letter = is_raw ? NULL : strchr(escaped, *text);
        char piece[8] = {'\\'};
        if (bytes == 0) {
            append(json, XB_UTF8_REPLACEMENT, sizeof XB_UTF8_REPLACEMENT - 1);
        } else if (letter != NULL) {
            piece[1] = letters[letter - escaped];
            append(json, piece, 2);
        } else if (is_late || (!is_raw && c[0] < ' ')) {
            append(json, piece, (size_t)snprintf(piece, sizeof piece, "\\u%04x", c[bytes - 1]));
        } else {
            append(json, text, bytes);
        }
        text += bytes > 0 ? bytes : 1;
    }
}

static void indent(struct xb_json *json)
{
    for (size_t i = 0; i < json->depth && !json->in_lines; i++)
        append(json, "\t", 1);
}

/* Appends what stands between a value and what is before it, and its key. */
static void begin_value(struct xb_json *json, const char *key)
{
    const bool is_inner = json->depth > 0;
    struct xb_json_level *level = is_inner ? &json->open[json->depth - 1] : NULL;
    if (!is_inner && json->length > 0)
        fail_misuse(json, "the document is complete", key);
    else if ((is_inner && !level->is_array) != (key != NULL))
        fail_misuse(json, "a key belongs to an object, and only there", key);
    if (is_inner && level->has_any)
        append(json, level->is_array ? ", " : ",\n", json->in_lines ? 1 : 2);
    if (is_inner)
        level->has_any = true;
    if (key == NULL)
        return;
    indent(json);
    append(json, "\"", 1);
    append_text(json, key, strlen(key), false);
    append(json, "\":\t", json->in_lines ? 2 : 3);
}

static void put(struct xb_json *json, const char *key, const char *value)
{
    begin_value(json, key);
    append(json, value, strlen(value));
}

void xb_json_open(struct xb_json *json, const char *key, bool is_array)
{
    put(json, key, is_array ? "[" : !json->in_lines ? "{\n" : key == NULL ? "\n{" : "{");
    if (json->depth == XB_JSON_DEPTH)
        fail_misuse(json, "deeper than it may be", key);
    else
        json->open[json->depth++] = (struct xb_json_level){.is_array = is_array};
}

void xb_json_close(struct xb_json *json)
{
    if (json->depth == 0) {
        fail_misuse(json, "nothing is open that could be closed", NULL);
        return;
    }
    const struct xb_json_level level = json->open[--json->depth];
    if (!level.is_array && level.has_any && !json->in_lines)
        append(json, "\n", 1);
    if (!level.is_array)
        indent(json);
    append(json, level.is_array ? "]" : "}", 1);
}

void xb_json_put_null(struct xb_json *json, const char *key)
{
    put(json, key, "null");
}

void xb_json_put_text(struct xb_json *json, const char *key, const char *text)
{
    put(json, key, text != NULL ? "\"" : "null");
    if (text == NULL)
        return;
    append_text(json, text, strlen(text), false);
    append(json, "\"", 1);
}

void xb_json_put_optional(struct xb_json *json, const char *key, const char *text)
{
    xb_json_put_text(json, key, text != NULL && text[0] != '\0' ? text : NULL);
}

void xb_json_put_number(struct xb_json *json, const char *key, double value)
{
    put(json, key, isfinite(value) ? XB_NUMBER_TEXT(value) : "null");
}

void xb_json_put_known_whole(struct xb_json *json, const char *key, bool is_known, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, value);
    put(json, key, is_known ? text : "null");
}

void xb_json_put_index(struct xb_json *json, const char *key, int64_t index)
{
    xb_json_put_known_whole(json, key, index >= 0, (uint64_t)index);
}

void xb_json_put_known_flag(struct xb_json *json, const char *key, bool is_known, bool flag)
{
    put(json, key, !is_known ? "null" : flag ? "true" : "false");
}

void xb_json_put_numbers(struct xb_json *json, const char *key, const double *values, size_t count)
{
    xb_json_open_array(json, key);
    for (size_t i = 0; i < count && json->error.status == XB_OK; i++)
        xb_json_put_number(json, NULL, values[i]);
    xb_json_close(json);
}

void xb_json_put_raw(struct xb_json *json, const char *key, const char *document)
{
    size_t length = document != NULL ? strlen(document) : 0;
    while (length > 0 && strchr(" \t\r\n", document[length - 1]) != NULL)
        length--;
    put(json, key, document != NULL ? "" : "null");
    if (document != NULL)
        append_text(json, document, length, true);
}

/* Drops white space but within texts; returns the new length. */
static size_t drop_blanks(char *text, size_t length)
{
    char *out = text;
    bool in_text = false;
    for (const char *next = text; next < text + length; next++) {
        if (!in_text && strchr(" \t\r\n", *next) != NULL)
            continue;
        if (*next == '"')
            in_text = !in_text;
        *out++ = *next;
        if (in_text && *next == '\\') /* what stands behind it ends no text */
            *out++ = *++next;
    }
    return (size_t)(out - text);
}

enum xb_status xb_json_finish_as(struct xb_json *json, FILE *stream, enum xb_json_form form,
                                 const char *what, struct xb_error *error)
{
    if (json->depth > 0 || json->length == 0)
        fail_misuse(json, "the document is not complete", NULL);
    enum xb_status status = json->error.status;
    if (status == XB_OK) {
        size_t length =
            form == XB_JSON_INDENTED ? json->length : drop_blanks(json->text, json->length);
        if (form != XB_JSON_PART)
            json->text[length++] = '\n';
        /* In one call, which a stream without a buffer passes on as it is. */
        if (fwrite(json->text, 1, length, stream) != length)
            status = xb_stream_fail(what, errno, error);
        else if (form != XB_JSON_PART)
            status = xb_stream_finish(stream, what, error);
    } else if (status == XB_ERR_MEMORY && json->error.message[0] == '\0') {
        (void)XB_FAIL(error, status,
                      "not enough memory to write %s: measure fewer cases in one run", what);
    } else {
        *error = json->error;
    }
    cJSON_free(json->text);
    return status;
}
