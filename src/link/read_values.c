/* SPDX-License-Identifier: Apache-2.0 */
/* Values that xb_json_get_... does not have. */
#include "read_internal.h"

#include "base/plain_text.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

bool xb_link_read_failed(const struct xb_json_reader *r)
{
    return r->error.status != XB_OK;
}

bool xb_link_has(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key) != NULL;
}

bool xb_link_is_known(struct xb_json_reader *r, const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    if (item == NULL)
        xb_json_refuse(r, key, "is missing");
    return !xb_link_read_failed(r) && !cJSON_IsNull(item);
}

const cJSON *xb_link_get_known_object(struct xb_json_reader *r, const cJSON *object,
                                      const char *key)
{
    return xb_link_is_known(r, object, key) ? xb_json_get_object(r, object, key) : NULL;
}

double xb_link_get_positive(struct xb_json_reader *r, const cJSON *object, const char *key)
{
    return xb_link_is_known(r, object, key) ? xb_json_get_number(r, object, key, DBL_MAX) : 0;
}

unsigned xb_link_get_whole(struct xb_json_reader *r, const cJSON *object, const char *key)
{
    return (unsigned)xb_json_get_whole(r, object, key, 0, UINT_MAX);
}

unsigned xb_link_get_known_whole(struct xb_json_reader *r, const cJSON *object, const char *key)
{
    return xb_link_is_known(r, object, key) ? xb_link_get_whole(r, object, key) : 0;
}

int xb_link_get_number(struct xb_json_reader *r, const cJSON *object, const char *key)
{
    return xb_link_is_known(r, object, key) ? (int)xb_json_get_whole(r, object, key, 0, INT_MAX)
                                            : -1;
}

uint64_t xb_link_get_counter(struct xb_json_reader *r, const cJSON *object, const char *key)
{
    double value = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(object, key));
    if (value >= 0 && value <= 0x1p64 && floor(value) == value) /* NaN for what is no number */
        return value < 0x1p64 ? (uint64_t)value : UINT64_MAX;
    xb_json_refuse(r, key, "must be a whole number of 0 or more");
    return 0;
}

const char *xb_link_get_text(struct xb_json_reader *r, const cJSON *object, const char *key)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
    if (text == NULL)
        xb_json_refuse(r, key, xb_link_has(object, key) ? "must be a text" : "is missing");
    return text != NULL ? text : "";
}

const char *xb_link_get_known_text(struct xb_json_reader *r, const cJSON *object, const char *key)
{
    return xb_link_is_known(r, object, key) ? xb_link_get_text(r, object, key) : "";
}

size_t xb_link_read_array(struct xb_json_reader *r, const cJSON *object, const char *key,
                          xb_link_read_item *read, void *items, size_t size, size_t most)
{
    const cJSON *array = xb_json_get_array(r, object, key);
    size_t count = (size_t)cJSON_GetArraySize(array);
    if (count > most) {
        xb_json_refuse(r, key, "has more than %zu items", most);
        return 0;
    }
    const cJSON *item = count > 0 ? array->child : NULL;
    size_t outer = xb_place_enter(&r->place, key);
    for (size_t i = 0; i < count; i++, item = item->next) {
        size_t inner = xb_place_enter_item(&r->place, i);
        read(r, item, (char *)items + i * size);
        xb_place_leave(&r->place, inner);
    }
    xb_place_leave(&r->place, outer);
    return count;
}

void xb_link_copy_text(const char *from, char *text, size_t size)
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

void xb_link_get_address(struct xb_json_reader *r, const cJSON *object, const char *key,
                         char bdf[16])
{
    const char *text = xb_link_get_text(r, object, key);
    size_t length = strlen(text);
    if (length == 0 || length > 15 || strspn(text, "0123456789abcdef:.") < length)
        xb_json_refuse(r, key, "must be a PCI address, such as 0000:0f:00.0");
    else
        xb_link_copy_text(text, bdf, 16);
}

size_t xb_link_get_index_of(struct xb_json_reader *r, const cJSON *object, const char *key,
                            size_t count)
{
    bool is_there = xb_link_is_known(r, object, key);
    size_t index = is_there ? xb_link_get_whole(r, object, key) : 0;
    if (is_there ? index < count : count == 0)
        return index;
    if (count == 0)
        xb_json_refuse(r, key, "must be null: there is none");
    else
        xb_json_refuse(r, key, "must be a whole number below %zu", count);
    return 0;
}

void xb_link_read_fail_memory(struct xb_json_reader *r)
{
    if (!xb_link_read_failed(r))
        (void)XB_FAIL(&r->error, XB_ERR_MEMORY, "no memory to read %.300s", r->place.path);
}
