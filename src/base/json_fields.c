/* SPDX-License-Identifier: Apache-2.0 */
#include "json_fields.h"

#include "memory.h"
#include "text.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#define EXACT ((uint64_t)1 << 53) /* a double holds whole numbers up to here exactly */
_Static_assert(_Generic((size_t)0, uint64_t : 1, default : 0), "a size is read as a uint64_t");

/* A table leads to the tables in it: as deep as those are written, whatever a document says. */
/* NOLINTBEGIN(misc-no-recursion) */

static void write_field(struct xb_json *json, const struct xb_field *field, const char *from)
{
    const char *at = from + field->offset, *key = field->key;
    bool may_be_empty = (field->flags & XB_FIELD_EMPTY_IS_NULL) == 0;
    uint64_t whole;
    switch (field->kind) {
    case XB_FIELD_FLAG:
        xb_json_put_flag(json, key, *(const bool *)at);
        break;
    case XB_FIELD_MAYBE:
        xb_json_put_known_flag(json, key, *(const int *)at != 0, *(const int *)at == 1);
        break;
    case XB_FIELD_UNSIGNED:
    case XB_FIELD_UINT64:
    case XB_FIELD_COUNTER:
        whole = field->kind == XB_FIELD_UNSIGNED ? *(const unsigned *)at : *(const uint64_t *)at;
        xb_json_put_known_whole(json, key, may_be_empty || whole > 0, whole);
        break;
    case XB_FIELD_INDEX:
        xb_json_put_index(json, key, *(const int *)at);
        break;
    case XB_FIELD_INT64:
        xb_json_put_number(json, key, (double)*(const int64_t *)at);
        break;
    case XB_FIELD_DOUBLE:
        xb_json_put_known_number(json, key, may_be_empty || *(const double *)at > 0,
                                 *(const double *)at);
        break;
    case XB_FIELD_TEXT:
    case XB_FIELD_ADDRESS:
    case XB_FIELD_STRING:
        (may_be_empty ? xb_json_put_text : xb_json_put_optional)(
            json, key, field->kind == XB_FIELD_STRING ? *(const char *const *)at : at);
        break;
    case XB_FIELD_WORD:
        xb_json_put_text(json, key, field->word(*(const int *)at));
        break;
    case XB_FIELD_OBJECT:
        xb_fields_put_object(json, key, field->fields, at);
        break;
    case XB_FIELD_ITEMS:
    case XB_FIELD_LIST:
        if (field->kind == XB_FIELD_LIST)
            at = *(const char *const *)at;
        xb_json_open_array(json, key);
        for (size_t i = 0; i < *(const size_t *)(from + field->count) && i < field->most; i++)
            xb_fields_put_object(json, NULL, field->fields, at + i * field->size);
        xb_json_close(json);
        break;
    case XB_FIELD_NUMBERS:
        xb_json_put_numbers(json, key, *(const double *const *)at,
                            *(const size_t *)(from + field->count));
        break;
    case XB_FIELD_CUSTOM:
        break;
    }
}

void xb_fields_put(struct xb_json *json, const struct xb_field *fields, const void *from)
{
    const char *base = from;
    for (const struct xb_field *field = fields; field->key != NULL; field++)
        if ((field->known > 0 && !*(const bool *)(base + field->known - 1)) ||
            (field->needs > 0 && *(const unsigned *)(base + field->needs - 1) == 0) ||
            (field->present > 0 && *(const char *const *)(base + field->present - 1) == NULL))
            xb_json_put_null(json, field->key);
        else if (field->write != NULL)
            field->write(json, field, from);
        else
            write_field(json, field, base);
}

void xb_fields_put_object(struct xb_json *json, const char *key, const struct xb_field *fields,
                          const void *from)
{
    xb_json_open_object(json, key);
    xb_fields_put(json, fields, from);
    xb_json_close(json);
}

bool xb_field_may_be_null(const struct xb_field *field)
{
    return field->known > 0 || field->needs > 0 ||
           (field->flags & (XB_FIELD_EMPTY_IS_NULL | XB_FIELD_NAN_IS_NULL)) != 0 ||
           field->kind == XB_FIELD_INDEX;
}

static uint64_t get_whole(struct xb_json_reader *reader, const cJSON *object,
                          const struct xb_field *field, uint64_t most)
{
    return xb_json_get_whole(reader, object, field->key, field->least,
                             field->most > 0 ? field->most : most);
}

/* A whole number of INT64 and COUNTER, whose bounds no message names. */
static double get_wide(struct xb_json_reader *reader, const cJSON *item,
                       const struct xb_field *field, double least, double most)
{
    double value = cJSON_GetNumberValue(item); /* NaN for what is no number */
    if (value >= least && value <= most && floor(value) == value)
        return value;
    xb_json_refuse(reader, field->key, "must be a whole number%s",
                   least == 0 ? " of 0 or more" : "");
    return 0;
}

static double get_number(struct xb_json_reader *reader, const cJSON *object,
                         const struct xb_field *field)
{
    double most = field->most > 0 ? (double)field->most : DBL_MAX;
    if ((field->flags & XB_FIELD_POSITIVE) != 0)
        return xb_json_get_number(reader, object, field->key, most);
    double value = xb_json_get_known_number(reader, object, field->key, most);
    if (isnan(value)) /* null, which only some fields may be */
        xb_json_refuse(reader, field->key, "must be a number");
    return value;
}

static const char *get_text(struct xb_json_reader *reader, const cJSON *item,
                            const struct xb_field *field)
{
    bool may_be_empty = (field->flags & XB_FIELD_POSITIVE) == 0;
    const char *text = cJSON_GetStringValue(item);
    if (text == NULL || (text[0] == '\0' && !may_be_empty))
        xb_json_refuse(reader, field->key, "must be a text%s%s",
                       may_be_empty ? "" : " that is not empty",
                       xb_field_may_be_null(field) ? " or null" : "");
    return text != NULL ? text : "";
}

void *xb_fields_room(struct xb_json_reader *reader, size_t count, size_t size)
{
    return xb_json_failed(reader) ? NULL : xb_arena_new(reader->texts, count * size);
}

const char *xb_fields_keep_text(struct xb_json_reader *reader, const char *text)
{
    if (xb_json_failed(reader) || reader->texts == NULL)
        return text; /* it stays in the tree */
    return xb_arena_copy(reader->texts, text);
}

/* A text that is no UTF-8 grew when it was written. What does not fit is cut between characters. */
static void copy_text(const char *from, char *text, size_t size)
{
    size_t length = 0;
    while (from[length] != '\0') {
        size_t character = xb_utf8_length(from + length);
        character = character > 0 ? character : 1; /* a byte that is no UTF-8 */
        if (length + character >= size)
            break;
        length += character;
    }
    memcpy(text, from, length);
    text[length] = '\0';
}

static int get_word(struct xb_json_reader *reader, const cJSON *item, const struct xb_field *field)
{
    const char *text = cJSON_GetStringValue(item);
    char words[200] = "";
    for (int i = 0; text != NULL && i <= (int)field->most; i++)
        if (strcmp(text, field->word(i)) == 0)
            return i;
    for (int i = 0; i <= (int)field->most; i++)
        (void)snprintf(words + strlen(words), sizeof words - strlen(words), "%s\"%s\"",
                       i == 0                 ? ""
                       : i < (int)field->most ? ", "
                                              : " or ",
                       field->word(i));
    xb_json_refuse(reader, field->key, "must be %s", words);
    return 0;
}

size_t xb_fields_read_each(struct xb_json_reader *reader, const cJSON *object, const char *key,
                           size_t most, xb_field_item *read, void *to)
{
    const cJSON *array = xb_json_get_array(reader, object, key);
    size_t count = (size_t)cJSON_GetArraySize(array), index = 0;
    if (count > most) {
        xb_json_refuse(reader, key, "has more than %zu items", most);
        return 0;
    }
    const cJSON *item;
    size_t outer = xb_place_enter(&reader->place, key);
    cJSON_ArrayForEach(item, array)
    {
        size_t inner = xb_place_enter_item(&reader->place, index);
        read(reader, item, index++, to);
        xb_place_leave(&reader->place, inner);
    }
    xb_place_leave(&reader->place, outer);
    return xb_json_failed(reader) ? 0 : count;
}

/* The items of an array while they are read. */
struct items {
    const struct xb_field *field;
    char *at;
};

static void read_item(struct xb_json_reader *reader, const cJSON *item, size_t index, void *to)
{
    const struct items *items = to;
    xb_fields_read(reader, item, items->field->fields, items->at + index * items->field->size);
}

static void read_items(struct xb_json_reader *reader, const cJSON *object,
                       const struct xb_field *field, char *to)
{
    struct items items = {.field = field, .at = to + field->offset};
    if (field->kind == XB_FIELD_LIST) {
        size_t asked = (size_t)cJSON_GetArraySize(xb_json_get_array(reader, object, field->key));
        if (field->least > 0 && (asked < field->least || asked > field->most))
            xb_json_refuse(reader, field->key, "must be %zu to %zu", (size_t)field->least,
                           (size_t)field->most);
        items.at =
            xb_fields_room(reader, asked < field->most ? asked : (size_t)field->most, field->size);
        if (items.at == NULL)
            return;
        memcpy(to + field->offset, &items.at, sizeof items.at);
    }
    bool has_own = field->item != NULL;
    *(size_t *)(to + field->count) =
        xb_fields_read_each(reader, object, field->key, (size_t)field->most,
                            has_own ? field->item : read_item, has_own ? to : (void *)&items);
}

static void read_numbers(struct xb_json_reader *reader, const cJSON *object,
                         const struct xb_field *field, char *to)
{
    const cJSON *item, *array = xb_json_get_array(reader, object, field->key);
    bool above_0 = (field->flags & XB_FIELD_POSITIVE) != 0;
    double most = field->most > 0 ? (double)field->most : DBL_MAX;
    double *numbers = xb_fields_room(reader, (size_t)cJSON_GetArraySize(array), sizeof *numbers);
    size_t count = 0;
    if (numbers == NULL)
        return;
    cJSON_ArrayForEach(item, array)
    {
        double value = cJSON_GetNumberValue(item); /* NAN for what is no number */
        if (!(above_0 ? value > 0 : value >= 0) || value > most) {
            size_t outer = xb_place_enter(&reader->place, field->key);
            (void)xb_place_enter_item(&reader->place, count);
            xb_json_refuse(reader, NULL, "must be a number %s 0 %s %g", above_0 ? "above" : "from",
                           above_0 ? "and at most" : "to", most);
            xb_place_leave(&reader->place, outer);
            return;
        }
        numbers[count++] = value;
    }
    memcpy(to + field->offset, &numbers, sizeof numbers);
    *(size_t *)(to + field->count) = count;
}

static void read_value(struct xb_json_reader *reader, const cJSON *object, const cJSON *item,
                       const struct xb_field *field, char *to)
{
    char *at = to + field->offset;
    const char *text;
    double wide;
    switch (field->kind) {
    case XB_FIELD_FLAG:
        *(bool *)at = xb_json_get_known_flag(reader, object, field->key,
                                             xb_field_may_be_null(field) ? &(bool){false} : NULL);
        break;
    case XB_FIELD_MAYBE:
        *(int *)at = xb_json_get_known_flag(reader, object, field->key, &(bool){false}) ? 1 : 2;
        break;
    case XB_FIELD_UNSIGNED:
        *(unsigned *)at = (unsigned)get_whole(reader, object, field, UINT_MAX);
        break;
    case XB_FIELD_UINT64:
        *(uint64_t *)at = get_whole(reader, object, field, EXACT);
        break;
    case XB_FIELD_COUNTER:
        wide = get_wide(reader, item, field, 0, 0x1p64);
        *(uint64_t *)at = wide < 0x1p64 ? (uint64_t)wide : UINT64_MAX;
        break;
    case XB_FIELD_INDEX:
        *(int *)at = (int)get_whole(reader, object, field, INT_MAX);
        break;
    case XB_FIELD_INT64:
        *(int64_t *)at = (int64_t)get_wide(reader, item, field, -(double)EXACT, (double)EXACT);
        break;
    case XB_FIELD_DOUBLE:
        *(double *)at = get_number(reader, object, field);
        break;
    case XB_FIELD_TEXT:
        copy_text(get_text(reader, item, field), at, field->size);
        break;
    case XB_FIELD_ADDRESS:
        text = get_text(reader, item, field);
        if (text[0] == '\0' || strlen(text) >= field->size ||
            text[strspn(text, "0123456789abcdef:.")] != '\0')
            xb_json_refuse(reader, field->key, "must be a PCI address, such as 0000:0f:00.0");
        else
            memcpy(at, text, strlen(text) + 1);
        break;
    case XB_FIELD_STRING:
        *(const char **)at = xb_fields_keep_text(reader, get_text(reader, item, field));
        break;
    case XB_FIELD_WORD:
        *(int *)at = get_word(reader, item, field);
        break;
    case XB_FIELD_OBJECT:
        xb_fields_read_object(reader, object, field->key, field->fields, at);
        break;
    case XB_FIELD_ITEMS:
    case XB_FIELD_LIST:
        read_items(reader, object, field, to);
        break;
    case XB_FIELD_NUMBERS:
        read_numbers(reader, object, field, to);
        break;
    case XB_FIELD_CUSTOM:
        break;
    }
}

void xb_fields_read(struct xb_json_reader *reader, const cJSON *object,
                    const struct xb_field *fields, void *to)
{
    char *base = to;
    if (!cJSON_IsObject(object))
        xb_json_refuse(reader, NULL, "must be an object");
    for (const struct xb_field *field = fields; field->key != NULL; field++)
        if (field->known > 0)
            *(bool *)(base + field->known - 1) = true;
    for (const struct xb_field *field = fields; field->key != NULL; field++) {
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, field->key);
        char *at = base + field->offset;
        bool is_older = item == NULL && (field->flags & XB_FIELD_ADDED) != 0;
        if (item == NULL && !is_older) {
            xb_json_refuse(reader, field->key, "is missing");
        } else if (is_older || (cJSON_IsNull(item) && xb_field_may_be_null(field))) {
            if ((field->flags & XB_FIELD_EMPTY_IS_NULL) != 0)
                memset(at, 0, field->size);
            if (field->kind == XB_FIELD_INDEX)
                *(int *)at = -1;
            else if ((field->flags & XB_FIELD_NAN_IS_NULL) != 0)
                *(double *)at = (double)NAN;
            if (field->known > 0)
                *(bool *)(base + field->known - 1) = false;
        } else if (!xb_json_failed(reader) && field->read != NULL) {
            field->read(reader, object, field, to);
        } else if (!xb_json_failed(reader)) {
            read_value(reader, object, item, field, base);
        }
    }
}

void xb_fields_read_object(struct xb_json_reader *reader, const cJSON *object, const char *key,
                           const struct xb_field *fields, void *to)
{
    const cJSON *inner = xb_json_get_object(reader, object, key);
    size_t outer = xb_place_enter(&reader->place, key);
    xb_fields_read(reader, inner, fields, to);
    xb_place_leave(&reader->place, outer);
}

/* NOLINTEND(misc-no-recursion) */
