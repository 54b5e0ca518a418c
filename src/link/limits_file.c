/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* strdup */
#include "xferbench/limits_file.h"

#include "../core/file_text.h"

#include <cjson/cJSON.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST_BYTES ((size_t)1 << 20)
#define HIGHEST_SHARE 1.5   /* of a ceiling: more is a percentage by mistake */
#define HIGHEST_GBS 10000.0 /* more is bytes by mistake */

struct entry {
    char *gpu;                    /* a glob; NULL matches every name */
    unsigned generation, width;   /* of the link under load; 0 matches every one */
    struct xb_link_limits limits; /* those that the entry sets */
};

struct xb_limits_file {
    struct entry *entries;
    size_t count;
};

/* ---- what it says ---- */

/* Where in the file a reader is, for messages. */
struct place {
    const char *path;
    size_t entry;
};

/* Reads one key's value into the entry. */
typedef enum xb_status read_value(const struct place *place, const cJSON *item, struct entry *entry,
                                  struct xb_error *error);

/* A value that is not as it has to be; of a key the beginning is quoted. */
#define WRONG(error, place, key, ...) wrong((error), (place), (key), __LINE__, __VA_ARGS__)

static enum xb_status wrong(struct xb_error *error, const struct place *place, const char *key,
                            int line, const char *what)
{
    return xb_error_set(error, XB_ERR_USAGE, __FILE__, line, "%s: limits[%zu].%.40s: %s",
                        place->path, place->entry, key, what);
}

static enum xb_status read_text(const struct place *place, const cJSON *item,
                                struct xb_error *error)
{
    if (!cJSON_IsString(item))
        return WRONG(error, place, item->string, "must be a string");
    if (item->valuestring[0] == '\0')
        return WRONG(error, place, item->string, "must not be empty");
    return XB_OK;
}

static enum xb_status read_gpu(const struct place *place, const cJSON *item, struct entry *entry,
                               struct xb_error *error)
{
    enum xb_status status = read_text(place, item, error);
    if (status != XB_OK)
        return status;
    entry->gpu = strdup(item->valuestring);
    return entry->gpu != NULL ? XB_OK : XB_FAIL(error, XB_ERR_MEMORY, "no memory for limits");
}

static enum xb_status read_note(const struct place *place, const cJSON *item, struct entry *entry,
                                struct xb_error *error)
{
    (void)entry;
    return cJSON_IsString(item) ? XB_OK : WRONG(error, place, item->string, "must be a string");
}

static enum xb_status read_expectation(const struct place *place, const cJSON *item,
                                       struct xb_link_limits *limits, struct xb_error *error)
{
    struct xb_error detail;
    enum xb_status status = read_text(place, item, error);
    if (status != XB_OK)
        return status;
    if (xb_expect_parse(item->valuestring, XB_LIMIT_FILE, limits, &detail) != XB_OK)
        return WRONG(error, place, item->string, detail.message);
    return XB_OK;
}

static enum xb_status read_expect(const struct place *place, const cJSON *item, struct entry *entry,
                                  struct xb_error *error)
{
    return read_expectation(place, item, &entry->limits, error);
}

static enum xb_status read_link(const struct place *place, const cJSON *item, struct entry *entry,
                                struct xb_error *error)
{
    struct xb_link_limits link = {0};
    enum xb_status status = read_expectation(place, item, &link, error);
    entry->generation = (unsigned)link.generation.value;
    entry->width = (unsigned)link.width.value;
    return status;
}

/* A number above 0 and up to `highest`, which is not one that was too large to hold either. */
static enum xb_status read_number(const struct place *place, const cJSON *item, double highest,
                                  double factor, struct xb_limit *limit, struct xb_error *error)
{
    char what[64];
    if (cJSON_IsNumber(item) && item->valuedouble > 0.0 && item->valuedouble <= highest) {
        *limit = (struct xb_limit){true, item->valuedouble * factor, XB_LIMIT_FILE};
        return XB_OK;
    }
    snprintf(what, sizeof what, "must be a number above 0 and at most %g", highest);
    return WRONG(error, place, item->string, what);
}

static enum xb_status read_min_h2d(const struct place *place, const cJSON *item,
                                   struct entry *entry, struct xb_error *error)
{
    return read_number(place, item, HIGHEST_GBS, 1e9, &entry->limits.min_h2d, error);
}

static enum xb_status read_min_d2h(const struct place *place, const cJSON *item,
                                   struct entry *entry, struct xb_error *error)
{
    return read_number(place, item, HIGHEST_GBS, 1e9, &entry->limits.min_d2h, error);
}

static enum xb_status read_warn(const struct place *place, const cJSON *item, struct entry *entry,
                                struct xb_error *error)
{
    return read_number(place, item, HIGHEST_SHARE, 1.0, &entry->limits.warn_share, error);
}

static enum xb_status read_critical(const struct place *place, const cJSON *item,
                                    struct entry *entry, struct xb_error *error)
{
    return read_number(place, item, HIGHEST_SHARE, 1.0, &entry->limits.critical_share, error);
}

static const struct {
    const char *name;
    read_value *read;
} keys[] = {
    {"gpu", read_gpu},
    {"link", read_link},
    {"expect", read_expect},
    {"min_h2d_gbs", read_min_h2d},
    {"min_d2h_gbs", read_min_d2h},
    {"warn_share", read_warn},
    {"critical_share", read_critical},
    {"note", read_note},
};
#define KEY_COUNT (sizeof keys / sizeof *keys)

static size_t find_key(const char *name)
{
    size_t key = 0;
    while (key < KEY_COUNT && strcmp(keys[key].name, name) != 0)
        key++;
    return key;
}

static enum xb_status read_entry(const struct place *place, const cJSON *object,
                                 struct entry *entry, struct xb_error *error)
{
    unsigned had = 0;
    const cJSON *item;
    if (!cJSON_IsObject(object))
        return XB_FAIL(error, XB_ERR_USAGE, "%s: limits[%zu]: must be an object", place->path,
                       place->entry);
    cJSON_ArrayForEach(item, object)
    {
        size_t key = find_key(item->string);
        if (key == KEY_COUNT)
            return WRONG(error, place, item->string, "there is no such key");
        if ((had & 1u << key) != 0)
            return WRONG(error, place, item->string, "is there twice");
        had |= 1u << key;
        enum xb_status status = keys[key].read(place, item, entry, error);
        if (status != XB_OK)
            return status;
    }
    if (entry->limits.warn_share.is_set && entry->limits.critical_share.is_set &&
        entry->limits.critical_share.value > entry->limits.warn_share.value)
        return WRONG(error, place, "critical_share", "must not be above warn_share");
    return XB_OK;
}

static enum xb_status read_entries(const char *path, const cJSON *array,
                                   struct xb_limits_file *file, struct xb_error *error)
{
    struct place place = {.path = path};
    const cJSON *item;
    size_t count = (size_t)cJSON_GetArraySize(array);
    file->entries = calloc(count + 1, sizeof *file->entries);
    if (file->entries == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for the limits in %s", path);
    file->count = count;
    cJSON_ArrayForEach(item, array)
    {
        enum xb_status status = read_entry(&place, item, &file->entries[place.entry], error);
        if (status != XB_OK)
            return status;
        place.entry++;
    }
    return XB_OK;
}

/* Finds the root's three keys; nothing else may be there. */
static enum xb_status read_root(const char *path, const cJSON *root, const cJSON *found[3],
                                struct xb_error *error)
{
    static const char *const names[3] = {"schema", "schema_version", "limits"};
    const cJSON *item;
    if (!cJSON_IsObject(root))
        return XB_FAIL(error, XB_ERR_USAGE, "%s: must be a JSON object", path);
    cJSON_ArrayForEach(item, root)
    {
        size_t key = 0;
        while (key < 3 && strcmp(names[key], item->string) != 0)
            key++;
        if (key == 3)
            return XB_FAIL(error, XB_ERR_USAGE, "%s: %.40s: there is no such key", path,
                           item->string);
        if (found[key] != NULL)
            return XB_FAIL(error, XB_ERR_USAGE, "%s: %s: is there twice", path, names[key]);
        found[key] = item;
    }
    for (size_t key = 0; key < 3; key++)
        if (found[key] == NULL)
            return XB_FAIL(error, XB_ERR_USAGE, "%s: %s: is missing", path, names[key]);
    return XB_OK;
}

static enum xb_status read_document(const char *path, const cJSON *root,
                                    struct xb_limits_file *file, struct xb_error *error)
{
    const cJSON *found[3] = {NULL};
    enum xb_status status = read_root(path, root, found, error);
    if (status != XB_OK)
        return status;
    const char *schema = cJSON_GetStringValue(found[0]);
    if (schema == NULL || strcmp(schema, "xferbench.limits") != 0)
        return XB_FAIL(error, XB_ERR_USAGE, "%s: schema: must be \"xferbench.limits\"", path);
    if (cJSON_GetNumberValue(found[1]) != 1.0) /* NaN for what is no number */
        return XB_FAIL(error, XB_ERR_USAGE, "%s: schema_version: must be 1, the one there is",
                       path);
    if (!cJSON_IsArray(found[2]))
        return XB_FAIL(error, XB_ERR_USAGE, "%s: limits: must be an array", path);
    return read_entries(path, found[2], file, error);
}

static size_t line_of(const char *text, const char *at)
{
    size_t line = 1;
    for (; text < at; text++)
        line += *text == '\n';
    return line;
}

static enum xb_status parse(const char *path, const char *text, size_t length, cJSON **root,
                            struct xb_error *error)
{
    const char *end = text;
    /* Of a text with a zero in it cJSON shows what is before, and one name would pass for another.
     */
    if (strlen(text) != length || strstr(text, "\\u0000") != NULL)
        return XB_FAIL(error, XB_ERR_USAGE, "%s: a character in it is NUL", path);
    *root = cJSON_ParseWithLengthOpts(text, length + 1, &end, 1);
    if (*root != NULL)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_USAGE, "%s: line %zu: not JSON", path, line_of(text, end));
}

/* ---- the file ---- */

static enum xb_status load(const char *path, struct xb_limits_file *file, struct xb_error *error)
{
    char *text = NULL;
    size_t length = 0;
    cJSON *root = NULL;
    enum xb_status status = xb_file_text_read(path, LARGEST_BYTES, true, &text, &length, error);
    if (text == NULL) /* it failed */
        return status;
    status = parse(path, text, length, &root, error);
    if (status == XB_OK)
        status = read_document(path, root, file, error);
    cJSON_Delete(root);
    free(text);
    return status;
}

enum xb_status xb_limits_file_open(const char *path, struct xb_limits_file **file,
                                   struct xb_error *error)
{
    struct xb_limits_file *opened = calloc(1, sizeof *opened);
    if (opened == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for the limits in %s", path);
    enum xb_status status = load(path, opened, error);
    if (status == XB_OK)
        *file = opened;
    else
        xb_limits_file_close(opened);
    return status;
}

void xb_limits_file_close(struct xb_limits_file *file)
{
    if (file == NULL)
        return;
    for (size_t i = 0; i < file->count; i++)
        free(file->entries[i].gpu);
    free(file->entries);
    free(file);
}

/* ---- looking up ---- */

static bool matches(const struct entry *entry, const char *name, unsigned generation,
                    unsigned width)
{
    return (entry->gpu == NULL || fnmatch(entry->gpu, name, 0) == 0) &&
           (entry->generation == 0 || entry->generation == generation) &&
           (entry->width == 0 || entry->width == width);
}

static void set_unset(struct xb_limit *limit, const struct xb_limit *from)
{
    if (!limit->is_set && from->is_set)
        *limit = *from;
}

bool xb_limits_file_match(const struct xb_limits_file *file, const char *name, unsigned generation,
                          unsigned width, struct xb_link_limits *limits)
{
    size_t i = 0;
    while (file != NULL && i < file->count && !matches(&file->entries[i], name, generation, width))
        i++;
    if (file == NULL || i == file->count)
        return false;
    const struct xb_link_limits *from = &file->entries[i].limits;
    set_unset(&limits->generation, &from->generation);
    set_unset(&limits->width, &from->width);
    set_unset(&limits->min_h2d, &from->min_h2d);
    set_unset(&limits->min_d2h, &from->min_d2h);
    set_unset(&limits->warn_share, &from->warn_share);
    set_unset(&limits->critical_share, &from->critical_share);
    return true;
}
