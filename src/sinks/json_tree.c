/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "json_tree.h"

#include "finish.h"
#include "text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

bool xb_json_put(cJSON *object, const char *key, cJSON *item)
{
    if (cJSON_AddItemToObjectCS(object, key, item))
        return true;
    cJSON_Delete(item);
    return false;
}

bool xb_json_append(cJSON *array, cJSON *item)
{
    if (cJSON_AddItemToArray(array, item))
        return true;
    cJSON_Delete(item);
    return false;
}

cJSON *xb_json_complete(cJSON *container, bool is_complete)
{
    if (is_complete)
        return container;
    cJSON_Delete(container);
    return NULL;
}

char *xb_json_utf8(const char *text, size_t length)
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

cJSON *xb_json_text(const char *text)
{
    char *copy = xb_json_utf8(text, strlen(text));
    cJSON *item = copy != NULL ? cJSON_CreateString(copy) : NULL;
    cJSON_free(copy);
    return item;
}

cJSON *xb_json_optional(const char *text)
{
    return text != NULL && text[0] != '\0' ? xb_json_text(text) : cJSON_CreateNull();
}

cJSON *xb_json_whole(uint64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, value);
    return cJSON_CreateRaw(text);
}

/* cJSON's own numbers may be off in the last bit: it takes 15 digits that are near enough. */
cJSON *xb_json_number(double value)
{
    char text[32];
    return isfinite(value) ? cJSON_CreateRaw(xb_number_text(value, text, sizeof text))
                           : cJSON_CreateNull();
}

cJSON *xb_json_facts(const struct xb_device_info *info)
{
    cJSON *object = cJSON_CreateObject();
    bool ok = object != NULL;
    for (size_t i = 0; ok && i < info->fact_count; i++)
        ok = xb_json_put(object, info->facts[i].key, xb_json_text(info->facts[i].value));
    return xb_json_complete(object, ok);
}

enum xb_status xb_json_print(FILE *stream, cJSON *(*build)(const void *source), const void *source,
                             struct xb_error *error)
{
    enum xb_status status = XB_OK;
    locale_t previous = xb_plain_locale_enter();
    cJSON *root = build(source);
    char *text = root != NULL ? cJSON_Print(root) : NULL;
    cJSON_Delete(root);
    if (text == NULL)
        status = XB_FAIL(error, XB_ERR_MEMORY,
                         "not enough memory to write the JSON: measure fewer cases in one run");
    else if (fprintf(stream, "%s\n", text) < 0)
        status = xb_sink_fail("the JSON", errno, error);
    cJSON_free(text);
    xb_plain_locale_leave(previous);
    return status;
}
