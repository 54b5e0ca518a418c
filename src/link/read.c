/* SPDX-License-Identifier: Apache-2.0 */
#include "read.h"

#include "base/arena.h"
#include "measure/run.h"
#include "read_internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- texts and words ---- */

/* A copy that the file keeps. */
const char *xb_link_keep_text(struct xb_json_reader *r, struct xb_arena **texts, const char *text)
{
    const char *kept = xb_link_read_failed(r) ? NULL : xb_arena_print(texts, "%s", text);
    if (kept == NULL)
        xb_link_read_fail_memory(r);
    return kept;
}

static enum xb_level get_level(struct xb_json_reader *r, const cJSON *object, const char *key)
{
    static const enum xb_level levels[] = {XB_LEVEL_OK, XB_LEVEL_WARNING, XB_LEVEL_CRITICAL,
                                           XB_LEVEL_UNKNOWN};
    const char *name = xb_link_get_text(r, object, key);
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++)
        if (strcmp(name, xb_level_name(levels[i])) == 0)
            return levels[i];
    xb_json_refuse(r, key, "must be OK, WARNING, CRITICAL or UNKNOWN");
    return XB_LEVEL_UNKNOWN;
}

static enum xb_limit_source get_source(struct xb_json_reader *r, const cJSON *object,
                                       const char *key)
{
    static const enum xb_limit_source sources[] = {XB_LIMIT_DEFAULT, XB_LIMIT_FILE,
                                                   XB_LIMIT_COMMAND_LINE};
    const char *name = xb_link_get_text(r, object, key);
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++)
        if (strcmp(name, xb_limit_source_name(sources[i])) == 0)
            return sources[i];
    xb_json_refuse(r, key, "must be \"default\", \"file\" or \"command line\"");
    return XB_LIMIT_DEFAULT;
}

/* ---- a verdict ---- */

/* Leaves the code in the tree: xb_link_read_findings() keeps a copy. */
static void read_reason(struct xb_json_reader *r, const cJSON *object, void *to)
{
    struct xb_reason *reason = to;
    reason->code = xb_link_get_text(r, object, "code");
    reason->level = get_level(r, object, "level");
    xb_link_copy_text(xb_link_get_text(r, object, "text"), reason->text, sizeof reason->text);
}

void xb_link_read_findings(struct xb_json_reader *r, const cJSON *verdict, struct xb_arena **texts,
                           struct xb_findings *found)
{
    found->level = get_level(r, verdict, "level");
    found->reason_count = xb_link_read_array(r, verdict, "reasons", read_reason, found->reasons,
                                             sizeof *found->reasons, XB_VERDICT_REASONS);
    for (size_t i = 0; i < found->reason_count; i++)
        found->reasons[i].code = xb_link_keep_text(r, texts, found->reasons[i].code);
}

static void read_packet_sizes(struct xb_json_reader *r, const cJSON *object,
                              struct xb_ceiling *ceiling)
{
    ceiling->payload = xb_link_get_whole(r, object, "payload_bytes");
    ceiling->payload_assumed = xb_json_get_flag(r, object, "payload_assumed");
    ceiling->read_request = xb_link_get_whole(r, object, "read_request_bytes");
    ceiling->read_request_assumed = xb_json_get_flag(r, object, "read_request_assumed");
}

/* The sizes of packets may be known where the ceiling is not. Early files tell them with the
 * ceiling only. */
static void read_packets(struct xb_json_reader *r, const cJSON *verdict, struct xb_ceiling *ceiling)
{
    const cJSON *object =
        xb_link_has(verdict, "packets") ? xb_link_get_known_object(r, verdict, "packets") : NULL;
    if (object == NULL)
        return;
    size_t outer = xb_place_enter(&r->place, "packets");
    read_packet_sizes(r, object, ceiling);
    xb_place_leave(&r->place, outer);
}

static void read_ceiling(struct xb_json_reader *r, const cJSON *verdict, struct xb_ceiling *ceiling)
{
    const cJSON *object = xb_link_get_known_object(r, verdict, "ceiling");
    if (object == NULL)
        return;
    size_t outer = xb_place_enter(&r->place, "ceiling");
    ceiling->known = true;
    ceiling->speed_gts = xb_link_get_positive(r, object, "speed_gts");
    ceiling->width = xb_link_get_whole(r, object, "width");
    ceiling->raw = xb_link_get_positive(r, object, "raw_bytes_per_second");
    ceiling->h2d = xb_link_get_positive(r, object, "h2d_bytes_per_second");
    ceiling->d2h = xb_link_get_positive(r, object, "d2h_bytes_per_second");
    read_packet_sizes(r, object, ceiling);
    xb_place_leave(&r->place, outer);
}

void xb_link_read_bandwidth_limit(struct xb_json_reader *r, const cJSON *object, const char *key,
                                  struct xb_link_direction *bandwidth)
{
    const cJSON *item = xb_json_get_object(r, object, key);
    size_t outer = xb_place_enter(&r->place, key);
    bandwidth->warning = xb_link_get_positive(r, item, "warning_below_bytes_per_second");
    bandwidth->critical = xb_link_get_positive(r, item, "critical_below_bytes_per_second");
    bandwidth->source = get_source(r, item, "source");
    xb_place_leave(&r->place, outer);
}

static void read_limit(struct xb_json_reader *r, const cJSON *limits, const char *key,
                       struct xb_limit *limit)
{
    const cJSON *object = xb_link_get_known_object(r, limits, key);
    if (object == NULL)
        return;
    size_t outer = xb_place_enter(&r->place, key);
    limit->is_set = true;
    limit->value = xb_link_get_positive(r, object, "value");
    limit->source = get_source(r, object, "source");
    xb_place_leave(&r->place, outer);
}

static void read_limits(struct xb_json_reader *r, const cJSON *object, struct xb_verdict *verdict)
{
    const cJSON *limits = xb_json_get_object(r, object, "limits");
    size_t outer = xb_place_enter(&r->place, "limits");
    xb_link_read_bandwidth_limit(r, limits, "h2d", &verdict->h2d);
    xb_link_read_bandwidth_limit(r, limits, "d2h", &verdict->d2h);
    read_limit(r, limits, "generation", &verdict->limits.generation);
    read_limit(r, limits, "width", &verdict->limits.width);
    read_limit(r, limits, "warn_share", &verdict->limits.warn_share);
    read_limit(r, limits, "critical_share", &verdict->limits.critical_share);
    xb_place_leave(&r->place, outer);
}

/* Finds the facts in the attempts, which must have been read. */
static void find_facts(const struct xb_link_device *device, struct xb_verdict *verdict)
{
    xb_link_facts_find(device, verdict->best, &verdict->facts);
    const struct xb_link_attempt *attempt = xb_verdict_attempt(verdict, device);
    if (attempt == NULL)
        return;
    verdict->h2d.measured = attempt->h2d;
    verdict->d2h.measured = attempt->d2h;
}

static void read_verdict(struct xb_json_reader *r, const cJSON *object, struct xb_arena **texts,
                         const struct xb_link_device *device, struct xb_verdict *verdict)
{
    const cJSON *item = xb_json_get_object(r, object, "verdict");
    size_t outer = xb_place_enter(&r->place, "verdict");
    xb_link_read_findings(r, item, texts, &verdict->found);
    verdict->best = xb_link_get_index_of(r, item, "attempt", device->attempt_count);
    read_ceiling(r, item, &verdict->ceiling);
    read_packets(r, item, &verdict->ceiling);
    read_limits(r, item, verdict);
    verdict->h2d.share = xb_link_get_positive(r, item, "h2d_share");
    verdict->d2h.share = xb_link_get_positive(r, item, "d2h_share");
    find_facts(device, verdict);
    verdict->bottleneck = xb_link_get_index_of(r, item, "bottleneck", verdict->facts.hop_count);
    xb_place_leave(&r->place, outer);
}

/* ---- the document ---- */

static void read_peers(struct xb_json_reader *r, const cJSON *object, struct xb_link_device *device)
{
    const cJSON *item = xb_link_get_known_object(r, object, "peers");
    if (item == NULL)
        return;
    size_t outer = xb_place_enter(&r->place, "peers");
    xb_link_read_health(r, item, "health_before", &device->peers.before);
    xb_link_read_health(r, item, "health_after", &device->peers.after);
    device->peers.seconds = xb_link_get_positive(r, item, "seconds");
    xb_place_leave(&r->place, outer);
}

static void read_device(struct xb_json_reader *r, const cJSON *object, struct xb_arena **texts,
                        struct xb_link_device *device, struct xb_verdict *verdict)
{
    struct xb_device_info *info = &device->info;
    info->index = xb_link_get_whole(r, object, "index");
    xb_link_copy_text(xb_link_get_text(r, object, "name"), info->name, sizeof info->name);
    xb_link_copy_text(xb_link_get_known_text(r, object, "uuid"), info->uuid, sizeof info->uuid);
    xb_link_copy_text(xb_link_get_known_text(r, object, "architecture"), info->architecture,
                      sizeof info->architecture);
    if (xb_link_is_known(r, object, "pci_bdf"))
        xb_link_get_address(r, object, "pci_bdf", info->pci_bdf);
    info->memory_bytes = xb_link_get_counter(r, object, "memory_bytes");
    if (xb_link_has(object, "peers")) /* Early files have none. */
        read_peers(r, object, device);
    device->cut = xb_json_get_flag(r, object, "cut");
    device->attempt_count =
        xb_link_read_array(r, object, "attempts", xb_link_read_attempt, device->attempts,
                           sizeof *device->attempts, XB_LINK_ATTEMPTS);
    read_verdict(r, object, texts, device, verdict);
}

static void read_devices(struct xb_json_reader *r, const cJSON *root, struct xb_link_file *file)
{
    const cJSON *array = xb_json_get_array(r, root, "devices");
    size_t count = (size_t)cJSON_GetArraySize(array);
    if (count > XB_RUN_DEVICES) {
        xb_json_refuse(r, "devices", "has more than %d items", XB_RUN_DEVICES);
        return;
    }
    file->devices = calloc(count + 1, sizeof *file->devices);
    file->verdicts = calloc(count + 1, sizeof *file->verdicts);
    if (file->devices == NULL || file->verdicts == NULL) {
        xb_link_read_fail_memory(r);
        return;
    }
    const cJSON *item = count > 0 ? array->child : NULL;
    size_t outer = xb_place_enter(&r->place, "devices");
    for (size_t i = 0; i < count; i++, item = item->next) {
        size_t inner = xb_place_enter_item(&r->place, i);
        read_device(r, item, &file->texts, &file->devices[i], &file->verdicts[i]);
        xb_place_leave(&r->place, inner);
    }
    xb_place_leave(&r->place, outer);
    file->report.devices = file->devices;
    file->report.verdicts = file->verdicts;
    file->report.device_count = count;
}

static void read_backend(struct xb_json_reader *r, const cJSON *root, struct xb_arena **texts,
                         struct xb_link_report *report)
{
    const cJSON *object = xb_link_get_known_object(r, root, "backend");
    struct xb_probe *probe = &report->probe;
    if (object == NULL)
        return;
    size_t outer = xb_place_enter(&r->place, "backend");
    report->backend = xb_link_keep_text(r, texts, xb_link_get_text(r, object, "name"));
    xb_link_copy_text(xb_link_get_known_text(r, object, "runtime_version"), probe->runtime_version,
                      sizeof probe->runtime_version);
    xb_link_copy_text(xb_link_get_known_text(r, object, "driver_version"), probe->driver_version,
                      sizeof probe->driver_version);
    xb_link_copy_text(xb_link_get_known_text(r, object, "runtime_library"), probe->runtime_library,
                      sizeof probe->runtime_library);
    xb_link_copy_text(xb_link_get_known_text(r, object, "runtime_override"),
                      probe->runtime_override, sizeof probe->runtime_override);
    xb_place_leave(&r->place, outer);
}

static void check_schema(struct xb_json_reader *r, const cJSON *root)
{
    const char *schema = xb_link_get_text(r, root, "schema");
    if (strcmp(schema, "xferbench.link") != 0)
        xb_json_refuse(r, "schema", "\"%.60s\" is not \"xferbench.link\"", schema);
    unsigned version = xb_link_get_whole(r, root, "schema_version");
    if (version != 1)
        xb_json_refuse(r, "schema_version",
                       "%u was written by a newer xferbench than this one, which reads 1", version);
}

static void read_tool(struct xb_json_reader *r, const cJSON *root, struct xb_arena **texts,
                      struct xb_link_report *report)
{
    const cJSON *object = xb_json_get_object(r, root, "tool");
    size_t outer = xb_place_enter(&r->place, "tool");
    report->version = xb_link_keep_text(r, texts, xb_link_get_text(r, object, "version"));
    xb_place_leave(&r->place, outer);
}

static void read_report(struct xb_json_reader *r, const cJSON *root, struct xb_link_file *file)
{
    struct xb_link_report *report = &file->report;
    check_schema(r, root);
    read_tool(r, root, &file->texts, report);
    xb_link_read_origin(r, root, file);
    read_backend(r, root, &file->texts, report);
    if (xb_link_is_known(r, root, "command"))
        report->command = xb_link_keep_text(r, &file->texts, xb_link_get_text(r, root, "command"));
    report->level = get_level(r, root, "level");
    xb_link_copy_text(xb_link_get_known_text(r, root, "nothing_tested"), report->nothing,
                      sizeof report->nothing);
    report->attempts_allowed = xb_link_get_whole(r, root, "attempts_allowed");
    report->deadline = xb_link_get_positive(r, root, "deadline_s");
    report->cut = xb_json_get_flag(r, root, "cut");
    read_devices(r, root, file);
    if (!xb_link_has(root, "pairs")) /* Early files have none. */
        return;
    xb_link_read_pairs(r, root, file);
    if (xb_link_is_known(r, root, "pairs_not_tested"))
        report->no_pairs =
            xb_link_keep_text(r, &file->texts, xb_link_get_text(r, root, "pairs_not_tested"));
}

/* What a reader that has the tree makes of it. */
static enum xb_status take_tree(struct xb_json_reader *reader, const cJSON *tree,
                                struct xb_link_file *file, struct xb_error *error)
{
    memset(file, 0, sizeof *file);
    read_report(reader, tree, file);
    if (!xb_link_read_failed(reader))
        return XB_OK;
    xb_link_file_free(file);
    *error = reader->error;
    return reader->error.status;
}

enum xb_status xb_link_report_of_tree(const char *path, const cJSON *tree,
                                      struct xb_link_file *file, struct xb_error *error)
{
    struct xb_json_reader reader = {.place = {.path = path}};
    return take_tree(&reader, tree, file, error);
}

enum xb_status xb_link_report_parse(const char *path, const char *text, size_t length,
                                    struct xb_link_file *file, struct xb_error *error)
{
    struct xb_json_reader reader = {.place = {.path = path}};
    cJSON *root = xb_json_read(&reader, text, length);
    enum xb_status status = take_tree(&reader, root, file, error);
    cJSON_Delete(root);
    return status;
}

void xb_link_file_free(struct xb_link_file *file)
{
    free(file->devices);
    free(file->verdicts);
    free(file->pairs);
    free(file->pair_verdicts);
    xb_arena_free(file->texts);
    memset(file, 0, sizeof *file);
}
