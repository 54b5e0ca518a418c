/* SPDX-License-Identifier: Apache-2.0 */
#include "json_read.h"

#include "memory.h"
#include "order.h"
#include "text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEEPEST 32                    /* what xferbench writes has 10 levels */
#define MOST_VALUES ((size_t)1 << 22) /* cJSON takes 64 bytes for each */

size_t xb_place_enter(struct xb_place *place, const char *key)
{
    size_t length = strlen(place->text);
    snprintf(place->text + length, sizeof place->text - length, "%s%.60s", length > 0 ? "." : "",
             key);
    return length;
}

size_t xb_place_enter_item(struct xb_place *place, size_t index)
{
    size_t length = strlen(place->text);
    snprintf(place->text + length, sizeof place->text - length, "[%zu]", index);
    return length;
}

void xb_place_leave(struct xb_place *place, size_t length)
{
    place->text[length] = '\0';
}

/* Keys and texts of a file go to a terminal; what could steer it, or half a character, does not. */
static void make_printable(char *text)
{
    for (; *text != '\0'; text++)
        if (*text < ' ' || *text > '~')
            *text = '?';
}

bool xb_json_failed(const struct xb_json_reader *reader)
{
    return reader->error.status != XB_OK;
}

void xb_json_refuse(struct xb_json_reader *reader, const char *key, const char *format, ...)
{
    const struct xb_place *place = &reader->place;
    char what[256], where[sizeof place->text + 64];
    if (xb_json_failed(reader))
        return;
    XB_FORMAT(what, sizeof what, format);
    snprintf(where, sizeof where, "%s%s%.60s", place->text,
             key != NULL && place->text[0] != '\0' ? "." : "", key != NULL ? key : "");
    make_printable(what);
    make_printable(where);
    (void)XB_FAIL(&reader->error, XB_ERR_USAGE, "%.300s: %s%s%s", place->path, where,
                  where[0] != '\0' ? ": " : "", what);
}

void xb_json_refuse_memory(struct xb_json_reader *reader)
{
    if (!xb_json_failed(reader))
        (void)XB_FAIL(&reader->error, XB_ERR_MEMORY, "no memory to read %.300s",
                      reader->place.path);
}

/* Line and column, both from 1, as editors count bytes. */
static void refuse_at(struct xb_json_reader *reader, const char *text, const char *at,
                      const char *what)
{
    size_t line = 1;
    const char *start = text;
    for (const char *c = text; c < at; c++)
        if (*c == '\n') {
            line++;
            start = c + 1;
        }
    (void)XB_FAIL(&reader->error, XB_ERR_USAGE, "%.300s: line %zu, column %zu: %s",
                  reader->place.path, line, (size_t)(at - start) + 1, what);
}

/* What would make cJSON take much memory or stack, and what it would show wrongly: of a text with a
 * zero in it only what is before, so that one name would pass for another. */
static void check_text(struct xb_json_reader *reader, const char *text, size_t length)
{
    const char *end = text + length;
    size_t depth = 0, values = 0;
    const char *wrong = memchr(text, '\0', length);
    if (wrong != NULL)
        refuse_at(reader, text, wrong, "a character is NUL: this is no text");
    for (const char *c = text; c < end && !xb_json_failed(reader); c++) {
        const char *begin = c;
        /* In a string no NUL may be escaped, and no control character may be as it is. */
        if (*c == '"')
            for (c++; c < end && *c != '"' && wrong == NULL;) {
                if ((unsigned char)*c < ' ' || strncmp(c, "\\u0000", 6) == 0)
                    wrong = c;
                c += *c == '\\' && c + 1 < end ? 2 : 1;
            }
        else if (*c == '[' || *c == '{')
            depth++;
        else if (*c == ']' || *c == '}')
            depth -= depth > 0;
        values += *c == ',' || *c == '[' || *c == '{'; /* the closing zero where c is the end */
        if (depth > DEEPEST)
            refuse_at(reader, text, c, "nested deeper than 32 levels");
        else if (wrong != NULL)
            refuse_at(reader, text, wrong,
                      *wrong == '\\' ? "a character is NUL" : "a control character within a text");
        else if (c == end)
            refuse_at(reader, text, begin,
                      "this text does not end: the file was cut, or is not JSON");
        else if (values > MOST_VALUES)
            refuse_at(reader, text, c, "more than 4194304 values");
    }
}

XB_POINTER_COMPARER(compare_keys, char, strcmp(a, b))

/* A key that the object has more than once, of few keys (nearly all objects have no more) the first
 * in their order; NULL for none. Many are sorted. */
static const char *find_twice(struct xb_json_reader *reader, const cJSON *object)
{
    const char *twice = NULL;
    size_t count = (size_t)cJSON_GetArraySize(object), filled = 0;
    const cJSON *item, *before;
    if (count <= 16) {
        for (item = object->child; item != NULL && twice == NULL; item = item->next)
            for (before = object->child; before != item; before = before->next)
                if (strcmp(item->string, before->string) == 0)
                    twice = item->string;
        return twice;
    }
    const char **keys = xb_try(count, sizeof *keys);
    if (keys == NULL) {
        xb_json_refuse_memory(reader);
        return NULL;
    }
    cJSON_ArrayForEach(item, object) keys[filled++] = item->string;
    qsort(keys, filled, sizeof *keys, compare_keys);
    for (size_t i = 1; i < filled && twice == NULL; i++)
        twice = strcmp(keys[i], keys[i - 1]) == 0 ? keys[i] : NULL;
    free(keys);
    return twice;
}

/* Looks at each item, those in it behind it. Only where something is wrong are the keys on the way
 * to it put together: most are never asked for. */
static void check_tree(struct xb_json_reader *reader, const cJSON *item)
{
    const cJSON *way[DEEPEST + 2] = {item}; /* no deeper than check_text allows */
    size_t depth = 0;
    while (item != NULL && !xb_json_failed(reader)) {
        const char *twice = cJSON_IsObject(item) ? find_twice(reader, item) : NULL;
        if (twice != NULL || (cJSON_IsNumber(item) && !isfinite(item->valuedouble))) {
            size_t length = strlen(reader->place.text), index = 0;
            for (size_t i = 1; i <= depth; i++, index = 0) {
                for (const cJSON *at = way[i - 1]->child; at != way[i]; at = at->next)
                    index++;
                if (way[i]->string != NULL)
                    xb_place_enter(&reader->place, way[i]->string);
                else
                    xb_place_enter_item(&reader->place, index);
            }
            xb_json_refuse(reader, twice,
                           twice != NULL ? "is there twice" : "the number is too large to hold");
            xb_place_leave(&reader->place, length);
        }
        if (item->child != NULL) {
            way[++depth] = item = item->child;
            continue;
        }
        while (depth > 0 && item->next == NULL)
            item = way[--depth];
        item = depth > 0 ? item->next : NULL;
        way[depth] = item;
    }
}

cJSON *xb_json_read(struct xb_json_reader *reader, const char *text, size_t length)
{
    const char *end = text;
    if (xb_json_failed(reader))
        return NULL;
    check_text(reader, text, length);
    if (xb_json_failed(reader))
        return NULL;
    errno = 0; /* cJSON does not tell why it fails */
    cJSON *tree = cJSON_ParseWithLengthOpts(text, length + 1, &end, 1);
    if (tree != NULL)
        check_tree(reader, tree);
    else if (errno == ENOMEM)
        xb_json_refuse_memory(reader);
    else
        refuse_at(reader, text, end,
                  end >= text + length ? "the file ends here: it was cut, or is empty"
                                       : "this is not JSON");
    if (!xb_json_failed(reader))
        return tree;
    cJSON_Delete(tree);
    return NULL;
}

void xb_json_check_keys(struct xb_json_reader *reader, const cJSON *object, const char *const *keys)
{
    const cJSON *item;
    if (!cJSON_IsObject(object)) {
        xb_json_refuse(reader, NULL, "must be an object");
        return;
    }
    cJSON_ArrayForEach(item, object)
    {
        size_t i = 0;
        while (keys[i] != NULL && strcmp(keys[i], item->string) != 0)
            i++;
        if (keys[i] == NULL)
            xb_json_refuse(reader, item->string, "there is no such key");
    }
}

/* The member of that name; NULL where there is none, or null stands for nothing. */
static const cJSON *find(struct xb_json_reader *reader, enum xb_json_need need, const cJSON *object,
                         const char *key)
{
    const cJSON *item =
        !xb_json_failed(reader) ? cJSON_GetObjectItemCaseSensitive(object, key) : NULL;
    if (item == NULL && need != XB_JSON_OPTIONAL)
        xb_json_refuse(reader, key, "is missing");
    return need != XB_JSON_NEEDED && cJSON_IsNull(item) ? NULL : item;
}

const cJSON *xb_json_get_object_as(enum xb_json_need need, struct xb_json_reader *reader,
                                   const cJSON *object, const char *key)
{
    const cJSON *item = find(reader, need, object, key);
    if (item == NULL || cJSON_IsObject(item))
        return item;
    xb_json_refuse(reader, key, "must be an object");
    return NULL;
}

const cJSON *xb_json_get_optional_object(struct xb_json_reader *reader, const cJSON *object,
                                         const char *key, int most)
{
    const cJSON *item = xb_json_get_object_as(XB_JSON_OPTIONAL, reader, object, key);
    if (cJSON_GetArraySize(item) <= most)
        return item;
    xb_json_refuse(reader, key, "has more than %d keys", most);
    return NULL;
}

const cJSON *xb_json_get_array(struct xb_json_reader *reader, const cJSON *object, const char *key)
{
    const cJSON *item = find(reader, XB_JSON_NEEDED, object, key);
    if (item == NULL || cJSON_IsArray(item))
        return item;
    xb_json_refuse(reader, key, "must be an array");
    return NULL;
}

const char *xb_json_get_text_as(enum xb_json_need need, struct xb_json_reader *reader,
                                const cJSON *object, const char *key)
{
    const cJSON *item = find(reader, need, object, key);
    const char *text = cJSON_GetStringValue(item);
    if (item == NULL || (text != NULL && text[0] != '\0'))
        return text;
    xb_json_refuse(reader, key, "must be a text that is not empty");
    return NULL;
}

bool xb_json_get_known_flag(struct xb_json_reader *reader, const cJSON *object, const char *key,
                            bool *known)
{
    const cJSON *item = find(reader, known != NULL ? XB_JSON_KNOWN : XB_JSON_NEEDED, object, key);
    if (item != NULL && !cJSON_IsBool(item))
        xb_json_refuse(reader, key,
                       known != NULL ? "must be true, false or null" : "must be true or false");
    if (known != NULL)
        *known = cJSON_IsBool(item);
    return cJSON_IsTrue(item);
}

double xb_json_get_number_as(enum xb_json_need need, struct xb_json_reader *reader,
                             const cJSON *object, const char *key, double most)
{
    bool above_0 = need == XB_JSON_NEEDED;
    const cJSON *item = find(reader, need, object, key);
    double value = cJSON_GetNumberValue(item); /* NAN for what is no number */
    if ((above_0 ? value > 0.0 : value >= 0.0) && value <= most)
        return value;
    if (item != NULL)
        xb_json_refuse(reader, key,
                       above_0 ? "must be a number above 0 and at most %g"
                               : "must be a number from 0 to %g, or null",
                       most);
    return above_0 ? 0 : (double)NAN;
}

uint64_t xb_json_get_whole_as(enum xb_json_need need, struct xb_json_reader *reader,
                              const cJSON *object, const char *key, uint64_t least, uint64_t most)
{
    const cJSON *item = find(reader, need, object, key);
    double value = cJSON_GetNumberValue(item);
    if (value >= (double)least && value <= (double)most && floor(value) == value)
        return (uint64_t)value;
    if (item != NULL)
        xb_json_refuse(reader, key, "must be a whole number from %llu to %llu",
                       (unsigned long long)least, (unsigned long long)most);
    return 0;
}

int xb_json_get_index(struct xb_json_reader *reader, const cJSON *object, const char *key)
{
    bool is_known = find(reader, XB_JSON_KNOWN, object, key) != NULL;
    uint64_t index = is_known ? xb_json_get_whole(reader, object, key, 0, 1023) : 0;
    return is_known && !xb_json_failed(reader) ? (int)index : -1;
}
