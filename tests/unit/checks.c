/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "checks.h"

#include <ctype.h>

void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("no '%s' in:\n%s", part, text);
}

void assert_lacks(const char *text, const char *part)
{
    if (strstr(text, part) != NULL)
        fail_msg("'%s' in:\n%s", part, text);
}

void assert_names(const struct xb_error *error, const char *path)
{
    char shown[301];
    snprintf(shown, sizeof shown, "%s", path);
    assert_has(error->message, shown);
}

/* ---- JSON ---- */

const cJSON *at(const cJSON *item, const char *path)
{
    char copy[160];
    char *rest = NULL;
    snprintf(copy, sizeof copy, "%s", path);
    for (char *key = strtok_r(copy, ".", &rest); key != NULL; key = strtok_r(NULL, ".", &rest)) {
        item = isdigit((unsigned char)key[0]) ? cJSON_GetArrayItem(item, atoi(key))
                                              : cJSON_GetObjectItemCaseSensitive(item, key);
        if (item == NULL)
            fail_msg("no %s in %s", key, path);
    }
    return item;
}

/* ---- allocations that fail ---- */

static size_t allocations_left; /* before they fail */
static size_t allocations_open; /* not given back yet */

static void *failing_malloc(size_t size)
{
    if (allocations_left == 0)
        return NULL;
    allocations_left--;
    allocations_open++;
    return malloc(size);
}

static void counting_free(void *memory)
{
    allocations_open -= memory != NULL;
    free(memory);
}

size_t fail_every_allocation(writer write, const void *what)
{
    cJSON_Hooks hooks = {failing_malloc, counting_free};
    cJSON_InitHooks(&hooks);
    enum xb_status status = XB_ERR_MEMORY;
    size_t tried = 0;
    for (; status != XB_OK; tried++) {
        struct xb_error error = {0};
        char *text = NULL;
        size_t size = 0;
        FILE *stream = open_memstream(&text, &size);
        assert_non_null(stream);
        allocations_left = tried;
        status = write(stream, what, &error);
        fclose(stream);
        free(text);
        assert_int_equal(allocations_open, 0);
        assert_int_equal(status, status == XB_OK ? XB_OK : XB_ERR_MEMORY);
        assert_int_equal(error.status, status);
        assert_true(status == XB_OK || size == 0);
    }
    cJSON_InitHooks(NULL);
    return tried;
}
