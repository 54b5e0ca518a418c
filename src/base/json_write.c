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

void xb_json_fail_memory(struct xb_json *json)
{
    if (json->error.status == XB_OK)
        XB_FAIL(&json->error, XB_ERR_MEMORY,
                "not enough memory to write the JSON: measure fewer cases in one run");
}

/* A bug: the calls do not make a document. A document that lacks something must not pass. */
static void fail_misuse(struct xb_json *json, const char *what, const char *key)
{
    if (json->error.status == XB_OK)
        XB_FAIL(&json->error, XB_ERR_INTERNAL, "this would be no JSON: %s (key: %.60s)", what,
                key != NULL ? key : "none");
}

/* A copy of the first `length` bytes that is UTF-8; release with cJSON_free. NULL: no memory. */
static char *utf8_copy(const char *text, size_t length)
{
    static const size_t most = sizeof XB_UTF8_REPLACEMENT - 1;
    char *copy = cJSON_malloc(length * most + 1);
    if (copy == NULL)
        return NULL;
    char *out = copy;
    for (const char *end = text + length; text < end;) {
        size_t bytes = xb_utf8_length(text);
        if (bytes > 0) {
            memcpy(out, text, bytes);
            out += bytes;
            text += bytes;
        } else {
            memcpy(out, XB_UTF8_REPLACEMENT, most);
            out += most;
            text++;
        }
    }
    *out = '\0';
    return copy;
}

void xb_json_begin(struct xb_json *json)
{
    *json = (struct xb_json){.root = NULL};
}

/* Takes the item, which is NULL where memory is short. */
static void put(struct xb_json *json, const char *key, cJSON *item)
{
    /* Where the item goes; NULL: it is the document itself. */
    cJSON *container = json->depth > 0 ? json->open[json->depth - 1] : NULL;
    bool is_put = false;
    if (item == NULL)
        xb_json_fail_memory(json);
    else if (container == NULL && json->root != NULL)
        fail_misuse(json, "the document is complete", key);
    else if (cJSON_IsObject(container) != (key != NULL))
        fail_misuse(json, "a key belongs to an object, and only there", key);
    if (json->error.status != XB_OK) {
        cJSON_Delete(item);
        return;
    }
    if (container == NULL) {
        json->root = item;
        return;
    }
    char *name = key != NULL ? utf8_copy(key, strlen(key)) : NULL;
    if (key == NULL)
        is_put = cJSON_AddItemToArray(container, item);
    else if (name != NULL)
        is_put = cJSON_AddItemToObject(container, name, item);
    cJSON_free(name);
    if (!is_put) {
        cJSON_Delete(item);
        xb_json_fail_memory(json);
    }
}

void xb_json_open(struct xb_json *json, const char *key, bool is_array)
{
    cJSON *container = is_array ? cJSON_CreateArray() : cJSON_CreateObject();
    put(json, key, container);
    if (json->error.status != XB_OK)
        return;
    if (json->depth == XB_JSON_DEPTH)
        fail_misuse(json, "deeper than it may be", key);
    else
        json->open[json->depth++] = container;
}

void xb_json_close(struct xb_json *json)
{
    if (json->error.status != XB_OK)
        return;
    if (json->depth == 0)
        fail_misuse(json, "nothing is open that could be closed", NULL);
    else
        json->depth--;
}

void xb_json_put_null(struct xb_json *json, const char *key)
{
    put(json, key, cJSON_CreateNull());
}

/* Puts what `create` makes of the first `length` bytes, as UTF-8; null for no text. */
static void put_copy(struct xb_json *json, const char *key, const char *text, size_t length,
                     cJSON *(*create)(const char *text))
{
    char *copy = text != NULL ? utf8_copy(text, length) : NULL;
    put(json, key, text == NULL ? cJSON_CreateNull() : copy != NULL ? create(copy) : NULL);
    cJSON_free(copy);
}

void xb_json_put_text(struct xb_json *json, const char *key, const char *text)
{
    put_copy(json, key, text, text != NULL ? strlen(text) : 0, cJSON_CreateString);
}

void xb_json_put_optional(struct xb_json *json, const char *key, const char *text)
{
    xb_json_put_text(json, key, text != NULL && text[0] != '\0' ? text : NULL);
}

void xb_json_put_number(struct xb_json *json, const char *key, double value)
{
    /* cJSON's own numbers may be off in the last bit: it takes 15 digits that are near enough. */
    put(json, key, isfinite(value) ? cJSON_CreateRaw(XB_NUMBER_TEXT(value)) : cJSON_CreateNull());
}

void xb_json_put_known_whole(struct xb_json *json, const char *key, bool is_known, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, value);
    put(json, key, is_known ? cJSON_CreateRaw(text) : cJSON_CreateNull());
}

void xb_json_put_index(struct xb_json *json, const char *key, int64_t index)
{
    xb_json_put_known_whole(json, key, index >= 0, (uint64_t)index);
}

void xb_json_put_known_flag(struct xb_json *json, const char *key, bool is_known, bool flag)
{
    put(json, key, is_known ? cJSON_CreateBool(flag) : cJSON_CreateNull());
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
    put_copy(json, key, document, length, cJSON_CreateRaw);
}

/* DEL, or a control from U+0080 to U+009F. */
static bool is_late_control(const char *text)
{
    const unsigned char *bytes = (const unsigned char *)text;
    return bytes[0] == 0x7F || (bytes[0] == 0xC2 && bytes[1] < 0xA0);
}

/* Writes these controls, which can only stand in texts, as \u009b: cJSON leaves them as they are,
 * and terminals obey them. Takes the JSON and returns another one. NULL: no memory. */
static char *escape_late_controls(char *json)
{
    size_t count = 0;
    for (const char *at = json; *at != '\0'; at++)
        count += is_late_control(at);
    if (count == 0)
        return json;
    char *escaped = cJSON_malloc(strlen(json) + count * strlen("\\u009b") + 1);
    char *out = escaped;
    for (const char *at = json; escaped != NULL && *at != '\0'; at++) {
        if (is_late_control(at))
            out += sprintf(out, "\\u%04x", (unsigned char)(*at == 0x7F ? *at : *++at));
        else
            *out++ = *at;
    }
    if (escaped != NULL)
        *out = '\0';
    cJSON_free(json);
    return escaped;
}

/* Drops white space but within texts; returns the new length. cJSON_Minify() takes the end of a
 * text that ends with a backslash for a quote within it. */
static size_t drop_blanks(char *text)
{
    char *out = text;
    bool in_text = false;
    for (const char *next = text; *next != '\0'; next++) {
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

static enum xb_status print_tree(const cJSON *root, FILE *stream, enum xb_json_form form,
                                 const char *what, struct xb_error *error)
{
    char *text = form == XB_JSON_INDENTED ? cJSON_Print(root) : cJSON_PrintUnformatted(root);
    if (text != NULL)
        text = escape_late_controls(text);
    if (text == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY,
                       "not enough memory to write %s: measure fewer cases in one run", what);
    /* Documents that stand in it as they were read may have lines of their own. */
    size_t length = form == XB_JSON_LINE ? drop_blanks(text) : strlen(text);
    if (form != XB_JSON_PART)
        text[length++] = '\n'; /* in place of the zero, which nobody needs any more */
    /* In one call, which a stream without a buffer passes on as it is. */
    bool is_written = fwrite(text, 1, length, stream) == length;
    int code = errno;
    cJSON_free(text);
    if (!is_written)
        return xb_stream_fail(what, code, error);
    return form == XB_JSON_PART ? XB_OK : xb_stream_finish(stream, what, error);
}

enum xb_status xb_json_finish_as(struct xb_json *json, FILE *stream, enum xb_json_form form,
                                 const char *what, struct xb_error *error)
{
    if (json->depth > 0 || json->root == NULL)
        fail_misuse(json, "the document is not complete", NULL);
    enum xb_status status = json->error.status;
    if (status == XB_OK)
        status = print_tree(json->root, stream, form, what, error);
    else
        *error = json->error;
    cJSON_Delete(json->root);
    return status;
}
