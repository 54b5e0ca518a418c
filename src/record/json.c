/* SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEEPEST 32                    /* what xferbench writes has 10 levels */
#define MOST_VALUES ((size_t)1 << 22) /* cJSON takes 64 bytes for each */

/* ---- places ---- */

__attribute__((format(printf, 2, 3))) static size_t enter(struct xb_place *place,
                                                          const char *format, ...)
{
    size_t length = strlen(place->text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(place->text + length, sizeof place->text - length, format, arguments);
    va_end(arguments);
    return length;
}

size_t xb_place_enter(struct xb_place *place, const char *key)
{
    return enter(place, "%s%.60s", place->text[0] != '\0' ? "." : "", key);
}

size_t xb_place_enter_item(struct xb_place *place, size_t index)
{
    return enter(place, "[%zu]", index);
}

void xb_place_leave(struct xb_place *place, size_t length)
{
    place->text[length] = '\0';
}

enum xb_status xb_json_wrong(const struct xb_place *place, const char *key, struct xb_error *error,
                             const char *format, ...)
{
    char what[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    const char *dot = key != NULL && place->text[0] != '\0' ? "." : "";
    bool somewhere = key != NULL || place->text[0] != '\0';
    return XB_FAIL(error, XB_ERR_USAGE, "%.200s: %s%s%.60s%s%s", place->path, place->text, dot,
                   key != NULL ? key : "", somewhere ? ": " : "", what);
}

/* ---- before cJSON sees it ---- */

/* Line and column, both from 1, as editors count bytes. */
static enum xb_status wrong_at(const struct xb_place *place, const char *text, const char *at,
                               struct xb_error *error, const char *what)
{
    size_t line = 1;
    const char *start = text;
    for (const char *c = text; c < at; c++)
        if (*c == '\n') {
            line++;
            start = c + 1;
        }
    return XB_FAIL(error, XB_ERR_USAGE, "%.200s: line %zu, column %zu: %s", place->path, line,
                   (size_t)(at - start) + 1, what);
}

/* The quote that ends the string which begins before `c`, or the text's end. *zero: an escaped NUL
 * in it. */
static const char *string_end(const char *c, const char *end, const char **zero)
{
    while (c < end && *c != '"') {
        if (strncmp(c, "\\u0000", 6) == 0)
            *zero = c;
        c += *c == '\\' && c + 1 < end ? 2 : 1;
    }
    return c;
}

/*
 * What would make cJSON take much memory or stack, and what it would show wrongly: of a text with a
 * zero in it only what is before, so that one name would pass for another.
 */
static enum xb_status check_text(const struct xb_place *place, const char *text, size_t length,
                                 struct xb_error *error)
{
    const char *end = text + length;
    size_t depth = 0;
    size_t values = 0;
    const char *zero = memchr(text, '\0', length);
    if (zero != NULL)
        return wrong_at(place, text, zero, error, "a character is NUL: this is no text");
    for (const char *c = text; c < end; c++) {
        if (*c == '"')
            c = string_end(c + 1, end, &zero);
        else if (*c == '[' || *c == '{')
            depth++;
        else if (*c == ']' || *c == '}')
            depth -= depth > 0;
        values += c < end && (*c == ',' || *c == '[' || *c == '{');
        if (depth > DEEPEST)
            return wrong_at(place, text, c, error, "nested deeper than 32 levels");
        if (zero != NULL)
            return wrong_at(place, text, zero, error, "a character is NUL");
        if (values > MOST_VALUES)
            return wrong_at(place, text, c, error, "more than 4194304 values");
    }
    return XB_OK;
}

/* ---- the whole tree ---- */

static int compare_keys(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static enum xb_status check_keys(const struct xb_place *place, const cJSON *object,
                                 struct xb_error *error)
{
    size_t count = (size_t)cJSON_GetArraySize(object);
    const char **keys = malloc((count + 1) * sizeof *keys);
    const cJSON *item;
    enum xb_status status = XB_OK;
    if (keys == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for %zu keys of %.200s", count,
                       place->path);
    count = 0;
    cJSON_ArrayForEach(item, object) keys[count++] = item->string;
    qsort(keys, count, sizeof *keys, compare_keys);
    for (size_t i = 1; status == XB_OK && i < count; i++)
        if (strcmp(keys[i - 1], keys[i]) == 0)
            status = xb_json_wrong(place, keys[i], error, "is there twice");
    free(keys);
    return status;
}

/* No deeper than check_text allows. */
static enum xb_status check_tree(struct xb_place *place, const cJSON *item, struct xb_error *error)
{
    const cJSON *child;
    size_t index = 0;
    enum xb_status status = XB_OK;
    if (cJSON_IsNumber(item) && !isfinite(item->valuedouble))
        return xb_json_wrong(place, NULL, error, "the number is too large to hold");
    if (cJSON_IsObject(item))
        status = check_keys(place, item, error);
    if (status != XB_OK)
        return status;
    cJSON_ArrayForEach(child, item)
    {
        size_t length = cJSON_IsObject(item) ? xb_place_enter(place, child->string)
                                             : xb_place_enter_item(place, index++);
        status = check_tree(place, child, error);
        xb_place_leave(place, length);
        if (status != XB_OK)
            return status;
    }
    return XB_OK;
}

enum xb_status xb_json_parse(struct xb_place *place, const char *text, size_t length, cJSON **root,
                             struct xb_error *error)
{
    const char *end = text;
    enum xb_status status = check_text(place, text, length, error);
    if (status != XB_OK)
        return status;
    cJSON *tree = cJSON_ParseWithLengthOpts(text, length + 1, &end, 1);
    if (tree == NULL)
        return wrong_at(place, text, end, error,
                        end >= text + length ? "the file ends here: it was cut, or is empty"
                                             : "this is not JSON");
    status = check_tree(place, tree, error);
    if (status == XB_OK)
        *root = tree;
    else
        cJSON_Delete(tree);
    return status;
}

/* ---- values ---- */

enum xb_status xb_json_need(const struct xb_place *place, const cJSON *object, const char *key,
                            const cJSON **item, struct xb_error *error)
{
    *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return *item != NULL ? XB_OK : xb_json_wrong(place, key, error, "is missing");
}

enum xb_status xb_json_need_object(const struct xb_place *place, const cJSON *object,
                                   const char *key, const cJSON **item, struct xb_error *error)
{
    enum xb_status status = xb_json_need(place, object, key, item, error);
    if (status == XB_OK && !cJSON_IsObject(*item))
        return xb_json_wrong(place, key, error, "must be an object");
    return status;
}

enum xb_status xb_json_need_array(const struct xb_place *place, const cJSON *object,
                                  const char *key, const cJSON **item, struct xb_error *error)
{
    enum xb_status status = xb_json_need(place, object, key, item, error);
    if (status == XB_OK && !cJSON_IsArray(*item))
        return xb_json_wrong(place, key, error, "must be an array");
    return status;
}

enum xb_status xb_json_need_text(const struct xb_place *place, const cJSON *object, const char *key,
                                 const char **text, struct xb_error *error)
{
    const cJSON *item;
    enum xb_status status = xb_json_need(place, object, key, &item, error);
    if (status != XB_OK)
        return status;
    if (!cJSON_IsString(item) || item->valuestring[0] == '\0')
        return xb_json_wrong(place, key, error, "must be a text that is not empty");
    *text = item->valuestring;
    return XB_OK;
}

enum xb_status xb_json_take_text(const struct xb_place *place, const cJSON *object, const char *key,
                                 const char **text, struct xb_error *error)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    *text = NULL;
    if (item == NULL || cJSON_IsNull(item))
        return XB_OK;
    return xb_json_need_text(place, object, key, text, error);
}

enum xb_status xb_json_need_flag(const struct xb_place *place, const cJSON *object, const char *key,
                                 bool *flag, struct xb_error *error)
{
    const cJSON *item;
    enum xb_status status = xb_json_need(place, object, key, &item, error);
    if (status != XB_OK)
        return status;
    if (!cJSON_IsBool(item))
        return xb_json_wrong(place, key, error, "must be true or false");
    *flag = cJSON_IsTrue(item);
    return XB_OK;
}

enum xb_status xb_json_need_number(const struct xb_place *place, const cJSON *object,
                                   const char *key, double most, double *number,
                                   struct xb_error *error)
{
    const cJSON *item;
    enum xb_status status = xb_json_need(place, object, key, &item, error);
    if (status != XB_OK)
        return status;
    if (!cJSON_IsNumber(item) || !(item->valuedouble > 0.0) || item->valuedouble > most)
        return xb_json_wrong(place, key, error, "must be a number above 0 and at most %g", most);
    *number = item->valuedouble;
    return XB_OK;
}

enum xb_status xb_json_need_whole(const struct xb_place *place, const cJSON *object,
                                  const char *key, uint64_t least, uint64_t most, uint64_t *number,
                                  struct xb_error *error)
{
    const cJSON *item;
    enum xb_status status = xb_json_need(place, object, key, &item, error);
    if (status != XB_OK)
        return status;
    double value = cJSON_GetNumberValue(item); /* NaN for what is no number */
    if (!(value >= (double)least) || value > (double)most || floor(value) != value)
        return xb_json_wrong(place, key, error, "must be a whole number from %llu to %llu",
                             (unsigned long long)least, (unsigned long long)most);
    *number = (uint64_t)value;
    return XB_OK;
}

enum xb_status xb_json_need_index(const struct xb_place *place, const cJSON *object,
                                  const char *key, int *index, struct xb_error *error)
{
    const cJSON *item;
    uint64_t number = 0;
    enum xb_status status = xb_json_need(place, object, key, &item, error);
    if (status != XB_OK)
        return status;
    *index = -1;
    if (cJSON_IsNull(item))
        return XB_OK;
    status = xb_json_need_whole(place, object, key, 0, 1023, &number, error);
    if (status == XB_OK)
        *index = (int)number;
    return status;
}
