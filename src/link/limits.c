/* SPDX-License-Identifier: Apache-2.0 */
/* Limits: as words, and by model of GPU and link from a file. */
#include "report.h"
#include "session.h"

#include "base/file_text.h"
#include "base/json_read.h"
#include "base/memory.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Reads a number of one or two digits that does not begin with 0; 0 if there is none. */
static unsigned read_digits(const char **text)
{
    unsigned number = 0;
    if (**text == '0')
        return 0;
    for (int i = 0; i < 2 && isdigit((unsigned char)**text); i++)
        number = number * 10 + (unsigned)(*(*text)++ - '0');
    return number;
}

enum xb_status xb_expect_parse(const char *text, enum xb_limit_source source,
                               struct xb_link_limits *limits, struct xb_error *error)
{
    const char *at = text;
    unsigned generation = 0, width = 0;
    bool ok = *at != '\0';
    if (strncasecmp(at, "gen", 3) == 0) {
        at += 3;
        generation = read_digits(&at);
        ok = generation >= 1 && generation <= 6;
    }
    if (ok && (*at == 'x' || *at == 'X')) {
        at++;
        width = read_digits(&at);
        /* The widths that exist: PCI Express Base Specification 5.0, 7.5.3.6. */
        ok = width == 1 || width == 2 || width == 4 || width == 8 || width == 12 || width == 16 ||
             width == 32;
    }
    if (!ok || *at != '\0')
        return XB_FAIL(error, XB_ERR_USAGE,
                       "\"%.40s\" is not a link; write gen5x16, gen5 or x16 (generations 1 to 6, "
                       "widths 1, 2, 4, 8, 12, 16 and 32)",
                       text);
    if (generation > 0)
        limits->generation = (struct xb_limit){true, generation, source};
    if (width > 0)
        limits->width = (struct xb_limit){true, width, source};
    return XB_OK;
}

#define LARGEST_BYTES ((size_t)1 << 20)

struct xb_limits_file {
    cJSON *root; /* owns the entries' texts */
    struct entry {
        const char *gpu;              /* a glob; NULL matches every name */
        unsigned generation, width;   /* of the link under load; 0 matches every one */
        struct xb_link_limits limits; /* those that the entry sets */
    } * entries;
    size_t count;
};

/* The numbers of an entry, as struct xb_link_limits has them. A share above 1.5 is meant as a
 * percentage, a rate above 10,000 GB/s in bytes. */
static const struct {
    const char *key;
    double most, unit;
} numbers[] = {{"min_h2d_gbs", 1e4, 1e9},
               {"min_d2h_gbs", 1e4, 1e9},
               {"min_peer_gbs", 1e4, 1e9},
               {"warn_share", 1.5, 1},
               {"critical_share", 1.5, 1}};

static const char *const root_keys[] = {"schema", "schema_version", "limits", NULL};
static const char *const entry_keys[] = {
    "gpu",        "link",           "expect", "min_h2d_gbs", "min_d2h_gbs", "min_peer_gbs",
    "warn_share", "critical_share", "accept", "note",        NULL};

/* A key that is left out sets nothing; null is a wrong type. */
static bool has(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key) != NULL;
}

/* A link such as "gen5x16". */
static void read_link(struct xb_json_reader *reader, const cJSON *object, const char *key,
                      struct xb_link_limits *limits)
{
    struct xb_error detail;
    const char *text = has(object, key) ? xb_json_get_text(reader, object, key) : NULL;
    if (text != NULL && xb_expect_parse(text, XB_LIMIT_FILE, limits, &detail) != XB_OK)
        xb_json_refuse(reader, key, "%s", detail.message);
}

/* Codes, each with the reason why it is accepted. */
static void read_accepted(struct xb_json_reader *reader, const cJSON *object,
                          struct xb_link_limits *limits)
{
    const cJSON *item, *accepted = xb_json_get_object(reader, object, "accept");
    struct xb_error detail;
    size_t outer = xb_place_enter(&reader->place, "accept");
    cJSON_ArrayForEach(item, accepted)
    {
        const char *reason = xb_json_get_text(reader, accepted, item->string);
        if (reason != NULL &&
            xb_accept(item->string, reason, XB_LIMIT_FILE, limits, &detail) != XB_OK)
            xb_json_refuse(reader, NULL, "%s", detail.message);
    }
    if (xb_accept_check(limits, XB_LIMIT_FILE, &detail) != XB_OK)
        xb_json_refuse(reader, NULL, "%s", detail.message);
    xb_place_leave(&reader->place, outer);
}

static void read_entry(struct xb_json_reader *reader, const cJSON *object, size_t index, void *to)
{
    struct xb_limits_file *file = to;
    struct entry *entry = &file->entries[index];
    struct xb_link_limits *limits = &entry->limits;
    struct xb_link_limits link = {0};
    xb_json_check_keys(reader, object, entry_keys);
    if (has(object, "gpu"))
        entry->gpu = xb_json_get_text(reader, object, "gpu");
    read_link(reader, object, "link", &link);
    entry->generation = (unsigned)link.generation.value;
    entry->width = (unsigned)link.width.value;
    read_link(reader, object, "expect", limits);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (has(object, numbers[i].key)) {
            double number = xb_json_get_number(reader, object, numbers[i].key, numbers[i].most);
            limits->all[i] = (struct xb_limit){true, number * numbers[i].unit, XB_LIMIT_FILE};
        }
    if (has(object, "accept"))
        read_accepted(reader, object, limits);
    /* A note is for people: it may be empty. */
    if (has(object, "note") && !cJSON_IsString(cJSON_GetObjectItemCaseSensitive(object, "note")))
        xb_json_refuse(reader, "note", "must be a text");
    if (limits->warn_share.is_set && limits->critical_share.is_set &&
        limits->critical_share.value > limits->warn_share.value)
        xb_json_refuse(reader, "critical_share", "must not be above warn_share");
}

enum xb_status xb_limits_file_open(const char *path, struct xb_limits_file **file,
                                   struct xb_error *error)
{
    struct xb_json_reader reader = {.place = {.path = path}};
    char *text = NULL;
    size_t length = 0;
    XB_TRY(xb_file_text_read(path, LARGEST_BYTES, true, &text, &length, error));
    struct xb_limits_file *opened = xb_new(1, sizeof *opened);
    const cJSON *root = opened->root = xb_json_read(&reader, text, length);
    free(text);
    if (!cJSON_IsObject(root))
        xb_json_refuse(&reader, NULL, "must be a JSON object");
    const char *schema = xb_json_get_text(&reader, root, "schema");
    if (schema != NULL && strcmp(schema, "xferbench.limits") != 0)
        xb_json_refuse(&reader, "schema", "must be \"xferbench.limits\"");
    if (xb_json_get_whole(&reader, root, "schema_version", 1, 1000000) > 1)
        xb_json_refuse(&reader, "schema_version", "must be 1, the only one there is");
    xb_json_check_keys(&reader, root, root_keys);
    size_t count = (size_t)cJSON_GetArraySize(xb_json_get_array(&reader, root, "limits"));
    opened->entries = xb_new(count, sizeof *opened->entries);
    opened->count = xb_fields_read_each(&reader, root, "limits", SIZE_MAX, read_entry, opened);
    if (!xb_json_failed(&reader)) {
        *file = opened;
        return XB_OK;
    }
    xb_limits_file_close(opened);
    *error = reader.error;
    return error->status;
}

void xb_limits_file_close(struct xb_limits_file *file)
{
    if (file == NULL)
        return;
    cJSON_Delete(file->root);
    free(file->entries);
    free(file);
}

bool xb_limits_file_match(const struct xb_limits_file *file, const char *name, unsigned generation,
                          unsigned width, struct xb_link_limits *limits)
{
    for (size_t i = 0; file != NULL && i < file->count; i++) {
        const struct entry *entry = &file->entries[i];
        if ((entry->gpu != NULL && fnmatch(entry->gpu, name, 0) != 0) ||
            (entry->generation != 0 && entry->generation != generation) ||
            (entry->width != 0 && entry->width != width))
            continue;
        for (size_t k = 0; k < sizeof limits->all / sizeof limits->all[0]; k++)
            if (!limits->all[k].is_set)
                limits->all[k] = entry->limits.all[k];
        for (size_t k = 0; k < entry->limits.accepted_count; k++)
            if (xb_accepted(limits, entry->limits.accepted[k].code) == NULL)
                limits->accepted[limits->accepted_count++] = entry->limits.accepted[k];
        return true;
    }
    return false;
}

struct xb_link_limits xb_link_session_limits(const struct xb_link_session *session,
                                             const struct xb_link_device *device)
{
    struct xb_link_limits limits = session->limits;
    unsigned generation = 0, width = 0;
    (void)xb_link_under_load(device, &generation, &width);
    (void)xb_limits_file_match(session->file, device->info.name, generation, width, &limits);
    xb_baseline_find(session->baseline, &device->info, &limits.was);
    return limits;
}

void xb_link_session_judge(struct xb_link_session *session, struct xb_link_report *report)
{
    report->devices = session->devices;
    report->device_count = session->device_count;
    report->verdicts = xb_new(session->device_count, sizeof *report->verdicts);
    report->pairs = session->pairs;
    report->pair_count = session->pair_count;
    report->pair_verdicts = xb_new(session->pair_count, sizeof *report->pair_verdicts);
    report->baseline = session->baseline;
    for (size_t i = 0; i < session->device_count; i++)
        report->verdicts[i].limits = xb_link_session_limits(session, &session->devices[i]);
    report->soak = session->duration > 0 ? &session->soak : NULL;
    xb_verdict_of_node(report);
}
