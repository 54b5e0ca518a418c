/* SPDX-License-Identifier: Apache-2.0 */
#include "finish.h"
#include "json_common.h"
#include "json_tree.h"
#include "link_facts.h"

/* The keys and their meaning stand in docs/link.schema.json. Not known is null throughout. */

static cJSON *positive_json(double value)
{
    return value > 0 ? xb_json_number(value) : cJSON_CreateNull();
}

static cJSON *count_or_null(bool known, uint64_t value)
{
    return known ? xb_json_whole(value) : cJSON_CreateNull();
}

static cJSON *index_json(int value)
{
    return count_or_null(value >= 0, value >= 0 ? (uint64_t)value : 0);
}

/* ---- a path ---- */

static cJSON *link_json(const struct xb_pcie_link *link)
{
    cJSON *object = cJSON_CreateObject();
    return xb_json_complete(
        object,
        xb_json_put(object, "speed_gts", positive_json(link->speed_gts)) &&
            xb_json_put(object, "width", count_or_null(link->width > 0, link->width)) &&
            xb_json_put(object, "max_speed_gts", positive_json(link->max_speed_gts)) &&
            xb_json_put(object, "max_width", count_or_null(link->max_width > 0, link->max_width)));
}

static cJSON *aer_json(const struct xb_pcie_aer *aer)
{
    if (!aer->known)
        return cJSON_CreateNull();
    cJSON *object = cJSON_CreateObject();
    return xb_json_complete(object,
                            xb_json_put(object, "correctable", xb_json_whole(aer->correctable)) &&
                                xb_json_put(object, "nonfatal", xb_json_whole(aer->nonfatal)) &&
                                xb_json_put(object, "fatal", xb_json_whole(aer->fatal)));
}

static cJSON *control_json(const struct xb_pcie_control *control)
{
    if (!control->known)
        return cJSON_CreateNull();
    cJSON *object = cJSON_CreateObject();
    return xb_json_complete(
        object, xb_json_put(object, "max_payload_bytes", xb_json_whole(control->max_payload)) &&
                    xb_json_put(object, "max_payload_supported_bytes",
                                xb_json_whole(control->max_payload_supported)) &&
                    xb_json_put(object, "max_read_request_bytes",
                                xb_json_whole(control->max_read_request)) &&
                    xb_json_put(object, "has_acs", cJSON_CreateBool(control->has_acs)) &&
                    xb_json_put(object, "acs_redirects", cJSON_CreateBool(control->acs_redirects)));
}

static cJSON *end_json(const struct xb_pcie_end *end)
{
    cJSON *object = cJSON_CreateObject();
    return xb_json_complete(
        object, xb_json_put(object, "bdf", xb_json_text(end->bdf)) &&
                    xb_json_put(object, "vendor", count_or_null(end->vendor > 0, end->vendor)) &&
                    xb_json_put(object, "link", link_json(&end->link)) &&
                    xb_json_put(object, "numa_node", index_json(end->numa_node)) &&
                    xb_json_put(object, "aer", aer_json(&end->aer)) &&
                    xb_json_put(object, "control", control_json(&end->control)));
}

static cJSON *hop_json(const struct xb_pcie_hop *hop)
{
    cJSON *object = cJSON_CreateObject();
    return xb_json_complete(
        object, xb_json_put(object, "lower", end_json(&hop->lower)) &&
                    xb_json_put(object, "upper",
                                hop->has_upper ? end_json(&hop->upper) : cJSON_CreateNull()) &&
                    xb_json_put(object, "on_package", cJSON_CreateBool(hop->on_package)));
}

static cJSON *hops_json(const struct xb_pcie_path *path)
{
    cJSON *array = cJSON_CreateArray();
    bool ok = array != NULL;
    for (size_t i = 0; ok && i < xb_link_hops(path); i++)
        ok = xb_json_append(array, hop_json(&path->hops[i]));
    return xb_json_complete(array, ok);
}

/* null for a device that sysfs did not show. */
static cJSON *path_json(const struct xb_pcie_path *path)
{
    if (!path->present)
        return cJSON_CreateNull();
    cJSON *object = cJSON_CreateObject();
    return xb_json_complete(
        object, xb_json_put(object, "dead", cJSON_CreateBool(path->dead)) &&
                    xb_json_put(object, "numa_node", index_json(path->numa_node)) &&
                    xb_json_put(object, "local_cpus", xb_json_optional(path->local_cpus)) &&
                    xb_json_put(object, "iommu_group", index_json(path->iommu_group)) &&
                    xb_json_put(object, "hops", hops_json(path)));
}

/* ---- an attempt ---- */

static cJSON *seen_json(const struct xb_pcie_seen *seen)
{
    cJSON *object = cJSON_CreateObject();
    return xb_json_complete(
        object, xb_json_put(object, "readings", xb_json_whole(seen->readings)) &&
                    xb_json_put(object, "speed_gts", positive_json(seen->speed_gts)) &&
                    xb_json_put(object, "width", count_or_null(seen->width > 0, seen->width)) &&
                    xb_json_put(object, "changes", xb_json_whole(seen->changes)) &&
                    xb_json_put(object, "drops", xb_json_whole(seen->drops)));
}

static cJSON *load_json(const struct xb_pcie_load *load)
{
    cJSON *object = cJSON_CreateObject();
    cJSON *hops = cJSON_CreateArray();
    bool ok = hops != NULL;
    for (size_t i = 0; ok && i < load->count && i < XB_PCIE_HOPS; i++)
        ok = xb_json_append(hops, seen_json(&load->hops[i]));
    hops = xb_json_complete(hops, ok);
    return xb_json_complete(object, xb_json_put(object, "hops", hops) &&
                                        xb_json_put(object, "gone", cJSON_CreateBool(load->gone)));
}

static cJSON *health_json(const struct xb_device_health *health)
{
    cJSON *object = cJSON_CreateObject();
    bool clocks = health->clocks_known;
    bool throttle = health->throttle_known;
    bool nvlinks = health->nvlinks_known;
    return xb_json_complete(
        object,
        xb_json_put(object, "replays", count_or_null(health->replays_known, health->replays)) &&
            xb_json_put(object, "sm_clock_mhz", count_or_null(clocks, health->sm_clock_mhz)) &&
            xb_json_put(object, "memory_clock_mhz",
                        count_or_null(clocks, health->memory_clock_mhz)) &&
            xb_json_put(object, "slowed_by_hardware",
                        throttle ? cJSON_CreateBool(health->slowed_by_hardware)
                                 : cJSON_CreateNull()) &&
            xb_json_put(object, "throttle",
                        throttle ? xb_json_text(health->throttle) : cJSON_CreateNull()) &&
            xb_json_put(object, "nvlinks_active", count_or_null(nvlinks, health->nvlinks_active)) &&
            xb_json_put(object, "nvlinks_inactive",
                        count_or_null(nvlinks, health->nvlinks_inactive)) &&
            xb_json_put(object, "nvlink_errors",
                        count_or_null(health->nvlink_errors_known, health->nvlink_errors)));
}

static cJSON *attempt_json(const struct xb_link_attempt *attempt)
{
    cJSON *object = cJSON_CreateObject();
    return xb_json_complete(
        object, xb_json_put(object, "h2d_bytes_per_second", positive_json(attempt->h2d)) &&
                    xb_json_put(object, "d2h_bytes_per_second", positive_json(attempt->d2h)) &&
                    xb_json_put(object, "data_wrong", cJSON_CreateBool(attempt->data_wrong)) &&
                    xb_json_put(object, "failure", xb_json_optional(attempt->failure)) &&
                    xb_json_put(object, "at_rest", path_json(&attempt->at_rest)) &&
                    xb_json_put(object, "under_load", load_json(&attempt->load)) &&
                    xb_json_put(object, "after", path_json(&attempt->after)) &&
                    xb_json_put(object, "health_before", health_json(&attempt->health_before)) &&
                    xb_json_put(object, "health_after", health_json(&attempt->health_after)));
}

static cJSON *attempts_json(const struct xb_link_device *device)
{
    cJSON *array = cJSON_CreateArray();
    bool ok = array != NULL;
    for (size_t i = 0; ok && i < xb_link_attempts(device); i++)
        ok = xb_json_append(array, attempt_json(&device->attempts[i]));
    return xb_json_complete(array, ok);
}

/* ---- a verdict ---- */

static cJSON *reasons_json(const struct xb_verdict *verdict)
{
    cJSON *array = cJSON_CreateArray();
    bool ok = array != NULL;
    for (size_t i = 0; ok && i < verdict->reason_count && i < XB_VERDICT_REASONS; i++) {
        const struct xb_reason *reason = &verdict->reasons[i];
        cJSON *object = cJSON_CreateObject();
        ok = xb_json_append(
            array,
            xb_json_complete(object, xb_json_put(object, "code", xb_json_text(reason->code)) &&
                                         xb_json_put(object, "level",
                                                     xb_json_text(xb_level_name(reason->level))) &&
                                         xb_json_put(object, "text", xb_json_text(reason->text))));
    }
    return xb_json_complete(array, ok);
}

static cJSON *ceiling_json(const struct xb_ceiling *ceiling)
{
    if (!ceiling->known)
        return cJSON_CreateNull();
    cJSON *object = cJSON_CreateObject();
    return xb_json_complete(
        object,
        xb_json_put(object, "speed_gts", xb_json_number(ceiling->speed_gts)) &&
            xb_json_put(object, "width", xb_json_whole(ceiling->width)) &&
            xb_json_put(object, "raw_bytes_per_second", xb_json_number(ceiling->raw)) &&
            xb_json_put(object, "h2d_bytes_per_second", positive_json(ceiling->h2d)) &&
            xb_json_put(object, "d2h_bytes_per_second", positive_json(ceiling->d2h)) &&
            xb_json_put(object, "payload_bytes", xb_json_whole(ceiling->payload)) &&
            xb_json_put(object, "payload_assumed", cJSON_CreateBool(ceiling->payload_assumed)) &&
            xb_json_put(object, "read_request_bytes", xb_json_whole(ceiling->read_request)) &&
            xb_json_put(object, "read_request_assumed",
                        cJSON_CreateBool(ceiling->read_request_assumed)));
}

static cJSON *bandwidth_limit_json(double warning, double critical, enum xb_limit_source source)
{
    cJSON *object = cJSON_CreateObject();
    return xb_json_complete(
        object,
        xb_json_put(object, "warning_below_bytes_per_second", positive_json(warning)) &&
            xb_json_put(object, "critical_below_bytes_per_second", positive_json(critical)) &&
            xb_json_put(object, "source", xb_json_text(xb_limit_source_name(source))));
}

/* null where the default is in force. */
static cJSON *limit_json(const struct xb_limit *limit)
{
    if (!limit->is_set)
        return cJSON_CreateNull();
    cJSON *object = cJSON_CreateObject();
    return xb_json_complete(
        object,
        xb_json_put(object, "value", xb_json_number(limit->value)) &&
            xb_json_put(object, "source", xb_json_text(xb_limit_source_name(limit->source))));
}

static cJSON *limits_json(const struct xb_verdict *verdict, const struct xb_link_limits *limits)
{
    cJSON *object = cJSON_CreateObject();
    return xb_json_complete(
        object, xb_json_put(object, "h2d",
                            bandwidth_limit_json(verdict->warn_h2d, verdict->min_h2d,
                                                 verdict->limit_source)) &&
                    xb_json_put(object, "d2h",
                                bandwidth_limit_json(verdict->warn_d2h, verdict->min_d2h,
                                                     xb_link_source(&limits->min_d2h, limits))) &&
                    xb_json_put(object, "generation", limit_json(&limits->generation)) &&
                    xb_json_put(object, "width", limit_json(&limits->width)) &&
                    xb_json_put(object, "warn_share", limit_json(&limits->warn_share)) &&
                    xb_json_put(object, "critical_share", limit_json(&limits->critical_share)));
}

static cJSON *verdict_json(const struct xb_link_report *report, size_t device)
{
    const struct xb_verdict *verdict = &report->verdicts[device];
    const struct xb_link_attempt *attempt = xb_link_judged(report, device);
    bool has_hop = attempt != NULL && verdict->bottleneck < xb_link_hops(&attempt->at_rest);
    cJSON *object = cJSON_CreateObject();
    return xb_json_complete(
        object,
        xb_json_put(object, "level", xb_json_text(xb_level_name(verdict->level))) &&
            xb_json_put(object, "reasons", reasons_json(verdict)) &&
            xb_json_put(object, "attempt", count_or_null(attempt != NULL, report->best[device])) &&
            xb_json_put(object, "bottleneck", count_or_null(has_hop, verdict->bottleneck)) &&
            xb_json_put(object, "ceiling", ceiling_json(&verdict->ceiling)) &&
            xb_json_put(object, "h2d_share", positive_json(verdict->h2d_share)) &&
            xb_json_put(object, "d2h_share", positive_json(verdict->d2h_share)) &&
            xb_json_put(object, "limits", limits_json(verdict, &report->limits[device])));
}

/* ---- the document ---- */

static cJSON *device_json(const struct xb_link_report *report, size_t device)
{
    const struct xb_link_device *tested = &report->devices[device];
    const struct xb_device_info *info = &tested->info;
    cJSON *object = cJSON_CreateObject();
    return xb_json_complete(
        object, xb_json_put(object, "index", xb_json_whole(info->index)) &&
                    xb_json_put(object, "name", xb_json_text(info->name)) &&
                    xb_json_put(object, "uuid", xb_json_optional(info->uuid)) &&
                    xb_json_put(object, "architecture", xb_json_optional(info->architecture)) &&
                    xb_json_put(object, "pci_bdf", xb_json_optional(info->pci_bdf)) &&
                    xb_json_put(object, "memory_bytes", xb_json_whole(info->memory_bytes)) &&
                    xb_json_put(object, "facts", xb_json_facts(info)) &&
                    xb_json_put(object, "cut", cJSON_CreateBool(tested->cut)) &&
                    xb_json_put(object, "verdict", verdict_json(report, device)) &&
                    xb_json_put(object, "attempts", attempts_json(tested)));
}

static cJSON *devices_json(const struct xb_link_report *report)
{
    cJSON *array = cJSON_CreateArray();
    bool ok = array != NULL;
    for (size_t i = 0; ok && i < report->device_count; i++)
        ok = xb_json_append(array, device_json(report, i));
    return xb_json_complete(array, ok);
}

static cJSON *report_json(const void *source)
{
    const struct xb_link_report *report = source;
    cJSON *root = cJSON_CreateObject();
    return xb_json_complete(
        root,
        xb_json_put(root, "schema", xb_json_text("xferbench.link")) &&
            xb_json_put(root, "schema_version", xb_json_whole(1)) &&
            xb_json_put(root, "tool", xb_json_tool()) &&
            xb_json_put(root, "timestamp", xb_json_timestamp()) &&
            xb_json_put(root, "command", xb_json_optional(report->command)) &&
            xb_json_put(root, "host", xb_json_host(NULL)) &&
            xb_json_put(root, "backend",
                        report->backend != NULL ? xb_json_backend(report->backend, &report->probe)
                                                : cJSON_CreateNull()) &&
            xb_json_put(root, "level", xb_json_text(xb_level_name(report->level))) &&
            xb_json_put(root, "nothing_tested", xb_json_optional(report->nothing)) &&
            xb_json_put(root, "attempts_allowed", xb_json_whole(report->attempts_allowed)) &&
            xb_json_put(root, "deadline_s", positive_json(report->deadline)) &&
            xb_json_put(root, "cut", cJSON_CreateBool(report->cut)) &&
            xb_json_put(root, "devices", devices_json(report)) &&
            xb_json_put(root, "environment", xb_json_environment()) &&
            xb_json_put(root, "config",
                        report->config != NULL ? xb_json_config(report->config)
                                               : cJSON_CreateNull()));
}

enum xb_status xb_link_json_write(FILE *stream, const struct xb_link_report *report,
                                  struct xb_error *error)
{
    enum xb_status status = xb_json_print(stream, report_json, report, error);
    return status == XB_OK ? xb_sink_finish(stream, "the JSON", error) : status;
}
