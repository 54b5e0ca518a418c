/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "checks.h"

#include "base/file_text.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>

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

char *file_text(const char *path)
{
    char *text = NULL;
    size_t length = 0;
    struct xb_error error;
    if (xb_file_text_read(path, (size_t)64 << 20, false, &text, &length, &error) != XB_OK)
        fail_msg("%s", error.message);
    return text;
}

cJSON *golden_base(const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, SOURCE "/tests/golden/bases/%s.json", name);
    char *text = file_text(path);
    cJSON *tree = cJSON_Parse(text);
    assert_non_null(tree);
    free(text);
    return tree;
}

/* ---- documents that are damaged ---- */

static bool is_among(const char *keys, const char *key)
{
    const char *found = key != NULL ? strstr(keys, key) : NULL;
    return found != NULL && found > keys && found[-1] == '|' && found[strlen(key)] == '|';
}

/* Its content changes place with the other's; its key and its place stay. */
static void exchange(cJSON *item, cJSON *other)
{
    cJSON own = *item, *next = other->next, *prev = other->prev;
    char *key = other->string;
    *item = *other;
    *other = own;
    item->next = own.next;
    item->prev = own.prev;
    item->string = own.string;
    other->next = next;
    other->prev = prev;
    other->string = key;
}

static void damage(const cJSON *tree, cJSON *item, tree_reader read, const char *unread)
{
    static const char *const values[] = {"null", "true", "[]", "{}", "[{}]", "\"\"", "-1", "1e308"};
    struct xb_error error = {.message = ""};
    char *key = item->string;
    if (key != NULL) {
        item->string = (char[]){"another"};
        bool is_read = read(tree, &error) == XB_OK;
        if (is_among(unread, key) ? !is_read : is_read || strstr(error.message, key) == NULL)
            fail_msg("without %s: %s", key, error.message);
        item->string = key;
    }
    for (size_t i = 0; i < COUNT_OF(values); i++) {
        cJSON *other = cJSON_Parse(values[i]);
        exchange(item, other);
        (void)read(tree, &error);
        exchange(item, other);
        cJSON_Delete(other);
    }
}

#define MOST_ITEMS 2048

size_t damage_below(const cJSON *tree, cJSON *top, tree_reader read, const char *unread,
                    const char *partly_read)
{
    cJSON *items[MOST_ITEMS] = {top};
    size_t count = 1;
    for (size_t i = 0; i < count; i++) { /* whose children come behind all that are there */
        const char *key = i > 0 ? items[i]->string : NULL;
        if (is_among(unread, key) || is_among(partly_read, key))
            continue;
        for (cJSON *child = items[i]->child; child != NULL; child = child->next) {
            assert_true(count < MOST_ITEMS);
            items[count++] = child;
        }
    }
    for (size_t i = 1; i < count; i++)
        damage(tree, items[i], read, unread);
    return count - 1;
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

static size_t lacking_piece;
static size_t asked_pieces;

static void *give_json_piece(size_t size)
{
    if (++asked_pieces != lacking_piece)
        return malloc(size);
    errno = ENOMEM;
    return NULL;
}

void lack_json_piece(size_t number)
{
    cJSON_Hooks hooks = {give_json_piece, free};
    lacking_piece = number;
    asked_pieces = 0;
    cJSON_InitHooks(number > 0 ? &hooks : NULL);
}

size_t lack_each_json_piece(const char *text,
                            enum xb_status (*read)(const char *text, struct xb_error *error))
{
    enum xb_status status = XB_ERR_MEMORY;
    size_t piece = 0;
    while (status == XB_ERR_MEMORY) {
        struct xb_error error = {.message = ""};
        lack_json_piece(++piece);
        status = read(text, &error);
        assert_true(status == XB_OK || strstr(error.message, "no memory") != NULL);
    }
    lack_json_piece(0);
    assert_int_equal(status, XB_OK);
    return piece;
}
