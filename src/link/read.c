/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include "base/memory.h"
#include "base/units.h"
#include "machine/node.h"
#include "record/record.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Not in files of before, and null where it is not known. */
#define ADDED (XB_FIELD_ADDED | XB_FIELD_EMPTY_IS_NULL)

/* The index of one of `count` things; null, read as 0, if there are none. */
static size_t get_index_of(struct xb_json_reader *reader, const cJSON *object, const char *key,
                           size_t count)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    bool is_there = item != NULL && !cJSON_IsNull(item);
    if (item == NULL)
        xb_json_refuse(reader, key, "is missing");
    size_t index = is_there ? (size_t)xb_json_get_whole(reader, object, key, 0, UINT32_MAX) : 0;
    if (is_there ? index < count : count == 0)
        return index;
    if (count == 0)
        xb_json_refuse(reader, key, "must be null: there is none");
    else
        xb_json_refuse(reader, key, "must be a whole number below %zu", count);
    return 0;
}

static void read_device(struct xb_json_reader *reader, const cJSON *object, size_t index, void *to)
{
    struct xb_link_report *report = to;
    struct xb_link_device *device = &report->devices[index];
    struct xb_verdict *verdict = &report->verdicts[index];
    xb_fields_read(reader, object, xb_link_info_fields, &device->info);
    device->cut = xb_json_get_flag(reader, object, "cut");
    xb_fields_read(reader, object, xb_link_device_fields, device);
    const cJSON *item = xb_json_get_object(reader, object, "verdict");
    size_t outer = xb_place_enter(&reader->place, "verdict");
    xb_fields_read(reader, item, xb_link_finding_fields, &verdict->found);
    xb_fields_read(reader, item, xb_link_verdict_fields, verdict);
    verdict->best = get_index_of(reader, item, "attempt", device->attempt_count);
    xb_link_facts_find(device, verdict->best, &verdict->facts);
    const struct xb_link_attempt *attempt = XB_ATTEMPT_JUDGED(verdict, device);
    verdict->ways[XB_TO_GPU].measured = attempt != NULL ? attempt->rates[XB_TO_GPU] : 0;
    verdict->ways[XB_BACK].measured = attempt != NULL ? attempt->rates[XB_BACK] : 0;
    verdict->bottleneck = get_index_of(reader, item, "bottleneck", verdict->facts.hop_count);
    xb_place_leave(&reader->place, outer);
}

/* The place of the device that has that index. */
static size_t get_device(struct xb_json_reader *reader, const cJSON *object, const char *key,
                         const struct xb_link_report *report)
{
    uint64_t index = xb_json_get_whole(reader, object, key, 0, UINT32_MAX);
    for (size_t i = 0; i < report->device_count; i++)
        if (report->devices[i].info.index == index)
            return i;
    xb_json_refuse(reader, key, "must be the index of one of the devices");
    return 0;
}

static void read_pair(struct xb_json_reader *reader, const cJSON *object, size_t index, void *to)
{
    struct xb_link_report *report = to;
    struct xb_link_pair *pair = &report->pairs[index];
    struct xb_pair_verdict *verdict = &report->pair_verdicts[index];
    pair->from = get_device(reader, object, "from", report);
    pair->to = get_device(reader, object, "to", report);
    pair->cut = xb_json_get_flag(reader, object, "cut");
    xb_fields_read(reader, object, xb_link_pair_fields, pair);
    const cJSON *item = xb_json_get_object(reader, object, "verdict");
    size_t outer = xb_place_enter(&reader->place, "verdict");
    xb_fields_read(reader, item, xb_link_finding_fields, &verdict->found);
    size_t best = get_index_of(reader, item, "attempt", pair->attempt_count);
    if (!xb_json_failed(reader))
        xb_pair_verdict_observe(pair, best, verdict);
    xb_fields_read(reader, item, xb_link_pair_verdict_fields, verdict);
    xb_place_leave(&reader->place, outer);
}

static void check_launcher(struct xb_json_reader *reader, const cJSON *root)
{
    const cJSON *object = xb_json_get_known_object(reader, root, "launcher");
    if (object == NULL)
        return;
    size_t outer = xb_place_enter(&reader->place, "launcher");
    uint64_t rank = xb_json_get_whole(reader, object, "rank", 0, XB_RANKS - 1);
    uint64_t ranks = xb_json_get_optional_whole(reader, object, "ranks", XB_RANKS);
    if (ranks > 0 && rank >= ranks)
        xb_json_refuse(reader, "rank", "must be below the number of ranks");
    xb_place_leave(&reader->place, outer);
}

static void read_time(struct xb_json_reader *reader, const cJSON *object,
                      const struct xb_field *field, void *to)
{
    const char *text = xb_json_get_optional_text(reader, object, field->key);
    struct xb_error cause;
    if (text != NULL &&
        xb_day_time_parse(text, (double *)((char *)to + field->offset), &cause) != XB_OK)
        xb_json_refuse(reader, field->key, "must be a time, such as 2026-11-23T06:40:00.5Z");
}

/* What is read of members that the tables of a record write. */
typedef struct xb_link_report node;
typedef struct xb_start begin;
static const struct xb_field tool_fields[] = {
    XB_FIELD("version", STRING, node, version, XB_TEXT_OR_NULL), XB_FIELDS_END};
static const struct xb_field host_fields[] = {
    XB_FIELD("hostname", STRING, node, hostname, XB_TEXT_OR_NULL),
    XB_FIELD("node", STRING, node, node, XB_TEXT_OR_NULL),
    XB_FIELD("kernel", STRING, node, kernel, .flags = ADDED), XB_FIELDS_END};
static const struct xb_field clock_fields[] = {
    XB_FIELD("synchronised", FLAG, begin, clock.is_synchronised, XB_KNOWN(begin, clock.is_known)),
    XB_FIELD("error_s", DOUBLE, begin, clock.error_s, .flags = ADDED), XB_FIELDS_END};
static const struct xb_field start_fields[] = {
    XB_CUSTOM("asked", NULL, read_time, XB_AT(begin, asked), .flags = ADDED),
    XB_CUSTOM("began", NULL, read_time, XB_AT(begin, began), .flags = ADDED),
    XB_PART("clock", clock_fields), XB_FIELDS_END};
static const struct xb_field root_fields[] = {
    XB_PART("tool", tool_fields),
    XB_FIELD("timestamp", STRING, node, written, XB_TEXT_OR_NULL),
    XB_PART("host", host_fields),
    XB_FIELD("command", STRING, node, command, XB_TEXT_OR_NULL),
    XB_FIELD("elapsed_s", DOUBLE, node, elapsed, .flags = ADDED), /* early files lack it */
    XB_FIELD("pairs_not_tested", STRING, node, no_pairs, XB_TEXT_OR_NULL),
    XB_FIELDS_END};

/* As many as the array under that key has items, in the file's memory. */
static void *room(struct xb_json_reader *reader, const cJSON *root, const char *key, size_t most,
                  size_t size)
{
    size_t count = (size_t)cJSON_GetArraySize(xb_json_get_array(reader, root, key));
    return xb_arena_new(reader->texts, (count < most ? count : most) * size);
}

enum xb_status xb_link_report_of_tree(const char *path, const cJSON *root,
                                      struct xb_link_file *file, struct xb_error *error)
{
    struct xb_json_reader reader = {.place = {.path = path}, .texts = &file->texts};
    memset(file, 0, sizeof *file);
    struct xb_link_report *report = &file->report;
    struct xb_start *start = xb_arena_new(&file->texts, sizeof *start);
    const char *schema = xb_json_get_text(&reader, root, "schema");
    if (schema != NULL && strcmp(schema, "xferbench.link") != 0)
        xb_json_refuse(&reader, "schema", "\"%.60s\" is not \"xferbench.link\"", schema);
    uint64_t version = xb_json_get_whole(&reader, root, "schema_version", 0, UINT32_MAX);
    if (version != 1)
        xb_json_refuse(&reader, "schema_version",
                       "%u was written by a newer xferbench than this one, which reads 1",
                       (unsigned)version);
    xb_fields_read(&reader, root, root_fields, report);
    size_t outer = xb_place_enter(&reader.place, "host");
    (void)xb_json_get_known_text(&reader, cJSON_GetObjectItemCaseSensitive(root, "host"),
                                 "node_named_by");
    xb_place_leave(&reader.place, outer);
    check_launcher(&reader, root);
    xb_fields_read_object(&reader, root, "start", start_fields, start);
    report->start = start;
    if (xb_json_get_known_object(&reader, root, "backend") != NULL)
        xb_fields_read_object(&reader, root, "backend", xb_link_backend_fields, report);
    xb_fields_read(&reader, root, xb_link_report_fields, report);
    report->devices = room(&reader, root, "devices", XB_RUN_DEVICES, sizeof *report->devices);
    report->verdicts = room(&reader, root, "devices", XB_RUN_DEVICES, sizeof *report->verdicts);
    report->device_count =
        xb_fields_read_each(&reader, root, "devices", XB_RUN_DEVICES, read_device, report);
    if (cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(root, "soak"))) {
        struct xb_link_soak *soak = xb_arena_new(&file->texts, sizeof *soak);
        xb_fields_read_object(&reader, root, "soak", xb_link_soak_fields, soak);
        report->soak = soak;
        if (soak->device_count > report->device_count)
            xb_json_refuse(&reader, "soak", "has more devices than there are");
    }
    report->pairs = room(&reader, root, "pairs", XB_RUN_PAIRS, sizeof *report->pairs);
    report->pair_verdicts =
        room(&reader, root, "pairs", XB_RUN_PAIRS, sizeof *report->pair_verdicts);
    report->pair_count =
        xb_fields_read_each(&reader, root, "pairs", XB_RUN_PAIRS, read_pair, report);
    if (!xb_json_failed(&reader))
        return XB_OK;
    xb_link_file_free(file);
    *error = reader.error;
    return error->status;
}

void xb_link_file_free(struct xb_link_file *file)
{
    xb_arena_free(file->texts);
    memset(file, 0, sizeof *file);
}
