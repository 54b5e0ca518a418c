/* SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include <errno.h>
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

/* Keys and texts of a file go to a terminal: what could steer one, or was cut amid a character,
 * does not. */
static void make_printable(char *text)
{
    for (; *text != '\0'; text++)
        if (*text < ' ' || *text > '~')
            *text = '?';
}

enum xb_status xb_json_wrong(const struct xb_place *place, const char *key, struct xb_error *error,
                             const char *format, ...)
{
    char what[256];
    char where[sizeof place->text + 64];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    snprintf(where, sizeof where, "%s%s%.60s", place->text,
             key != NULL && place->text[0] != '\0' ? "." : "", key != NULL ? key : "");
    make_printable(what);
    make_printable(where);
    return XB_FAIL(error, XB_ERR_USAGE, "%.200s: %s%s%s", place->path, where,
                   where[0] != '\0' ? ": " : "", what);
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

/* The quote that ends the string which begins before `c`, or the text's end. *wrong: an escaped NUL
 * in it, or a control character that is not escaped, which JSON forbids. */
static const char *string_end(const char *c, const char *end, const char **wrong)
{
    while (c < end && *c != '"' && *wrong == NULL) {
        if ((unsigned char)*c < ' ' || strncmp(c, "\\u0000", 6) == 0)
            *wrong = c;
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
    const char *wrong = memchr(text, '\0', length);
    if (wrong != NULL)
        return wrong_at(place, text, wrong, error, "a character is NUL: this is no text");
    for (const char *c = text; c < end; c++) {
        const char *begin = c;
        if (*c == '"')
            c = string_end(c + 1, end, &wrong);
        else if (*c == '[' || *c == '{')
            depth++;
        else if (*c == ']' || *c == '}')
            depth -= depth > 0;
        values += *c == ',' || *c == '[' || *c == '{'; /* the closing zero where c is the end */
        if (depth > DEEPEST)
            return wrong_at(place, text, c, error, "nested deeper than 32 levels");
        if (wrong != NULL)
            return wrong_at(place, text, wrong, error,
                            *wrong == '\\' ? "a character is NUL"
                                           : "a control character within a text");
        if (c == end)
            return wrong_at(place, text, begin, error,
                            "this text does not end: the file was cut, or is not JSON");
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

static enum xb_status check_item(const struct xb_place *place, const cJSON *item,
                                 struct xb_error *error)
{
    if (cJSON_IsNumber(item) && !isfinite(item->valuedouble))
        return xb_json_wrong(place, NULL, error, "the number is too large to hold");
    return cJSON_IsObject(item) ? check_keys(place, item, error) : XB_OK;
}

/* An object or array on the way down, and which of its items comes next. */
struct level {
    const cJSON *parent, *next;
    size_t index;
    size_t length; /* of the place before it was entered */
};

/* No deeper than check_text allows. */
static enum xb_status check_tree(struct xb_place *place, const cJSON *root, struct xb_error *error)
{
    struct level way[DEEPEST] = {{.parent = root, .next = root->child}};
    size_t depth = 1;
    enum xb_status status = check_item(place, root, error);
    while (status == XB_OK && depth > 0) {
        struct level *level = &way[depth - 1];
        const cJSON *item = level->next;
        if (item == NULL) {
            xb_place_leave(place, level->length);
            depth--;
            continue;
        }
        level->next = item->next;
        size_t length = cJSON_IsObject(level->parent) ? xb_place_enter(place, item->string)
                                                      : xb_place_enter_item(place, level->index++);
        status = check_item(place, item, error);
        if (item->child != NULL)
            way[depth++] = (struct level){.parent = item, .next = item->child, .length = length};
        else
            xb_place_leave(place, length);
    }
    xb_place_leave(place, way[0].length);
    return status;
}

enum xb_status xb_json_parse(struct xb_place *place, const char *text, size_t length, cJSON **root,
                             struct xb_error *error)
{
    const char *end = text;
    enum xb_status status = check_text(place, text, length, error);
    if (status != XB_OK)
        return status;
    errno = 0; /* cJSON does not tell why it fails */
    cJSON *tree = cJSON_ParseWithLengthOpts(text, length + 1, &end, 1);
    if (tree == NULL && errno == ENOMEM)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to read %.200s", place->path);
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

enum xb_status xb_json_take_object(const struct xb_place *place, const cJSON *object,
                                   const char *key, int most, const cJSON **item,
                                   struct xb_error *error)
{
    *item = cJSON_GetObjectItemCaseSensitive(object, key);
    if (*item != NULL && cJSON_IsNull(*item))
        *item = NULL;
    if (*item != NULL && !cJSON_IsObject(*item))
        return xb_json_wrong(place, key, error, "must be an object");
    if (cJSON_GetArraySize(*item) > most)
        return xb_json_wrong(place, key, error, "has more than %d keys", most);
    return XB_OK;
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
