/* SPDX-License-Identifier: Apache-2.0 */
#include "json_internal.h"

#include "record/document.h"
#include "record/of_conditions.h"
#include "record/write.h"

void xb_link_json_put_positive(struct xb_json *json, const char *key, double value)
{
    if (value > 0)
        xb_json_put_number(json, key, value);
    else
        xb_json_put_null(json, key);
}

static void put_lanes(struct xb_json *json, const char *speed_key, double speed_gts,
                      const char *width_key, unsigned width)
{
    xb_link_json_put_positive(json, speed_key, speed_gts);
    xb_json_put_known_whole(json, width_key, width > 0, width);
}

/* ---- a path ---- */

static void put_link(struct xb_json *json, const struct xb_pcie_link *link)
{
    xb_json_open_object(json, "link");
    put_lanes(json, "speed_gts", link->speed_gts, "width", link->width);
    put_lanes(json, "max_speed_gts", link->max_speed_gts, "max_width", link->max_width);
    xb_json_close(json);
}

static void put_aer(struct xb_json *json, const struct xb_pcie_aer *aer)
{
    if (!aer->known) {
        xb_json_put_null(json, "aer");
        return;
    }
    xb_json_open_object(json, "aer");
    xb_json_put_whole(json, "correctable", aer->correctable);
    xb_json_put_whole(json, "nonfatal", aer->nonfatal);
    xb_json_put_whole(json, "fatal", aer->fatal);
    xb_json_close(json);
}

static void put_control(struct xb_json *json, const struct xb_pcie_control *control)
{
    if (!control->known) {
        xb_json_put_null(json, "control");
        return;
    }
    xb_json_open_object(json, "control");
    xb_json_put_whole(json, "max_payload_bytes", control->max_payload);
    xb_json_put_whole(json, "max_payload_supported_bytes", control->max_payload_supported);
    xb_json_put_whole(json, "max_read_request_bytes", control->max_read_request);
    xb_json_put_flag(json, "has_acs", control->has_acs);
    xb_json_put_flag(json, "acs_redirects", control->acs_redirects);
    xb_json_close(json);
}

static void put_end(struct xb_json *json, const char *key, const struct xb_pcie_end *end)
{
    xb_json_open_object(json, key);
    xb_json_put_text(json, "bdf", end->bdf);
    xb_json_put_known_whole(json, "vendor", end->vendor > 0, end->vendor);
    put_link(json, &end->link);
    xb_json_put_index(json, "numa_node", end->numa_node);
    put_aer(json, &end->aer);
    put_control(json, &end->control);
    xb_json_close(json);
}

static void put_hop(struct xb_json *json, const struct xb_pcie_hop *hop)
{
    xb_json_open_object(json, NULL);
    put_end(json, "lower", &hop->lower);
    if (hop->has_upper)
        put_end(json, "upper", &hop->upper);
    else
        xb_json_put_null(json, "upper");
    xb_json_put_flag(json, "on_package", hop->on_package);
    xb_json_close(json);
}

/* Writes null for a device that sysfs did not show. */
static void put_path(struct xb_json *json, const char *key, const struct xb_pcie_path *path)
{
    if (!path->present) {
        xb_json_put_null(json, key);
        return;
    }
    xb_json_open_object(json, key);
    xb_json_put_flag(json, "dead", path->dead);
    xb_json_put_index(json, "numa_node", path->numa_node);
    xb_json_put_optional(json, "local_cpus", path->local_cpus);
    xb_json_put_index(json, "iommu_group", path->iommu_group);
    xb_json_open_array(json, "hops");
    for (size_t i = 0; i < xb_link_hops(path); i++)
        put_hop(json, &path->hops[i]);
    xb_json_close(json);
    xb_json_close(json);
}

/* ---- an attempt ---- */

static void put_seen(struct xb_json *json, const struct xb_pcie_seen *seen)
{
    xb_json_open_object(json, NULL);
    xb_json_put_whole(json, "readings", seen->readings);
    put_lanes(json, "speed_gts", seen->speed_gts, "width", seen->width);
    xb_json_put_whole(json, "changes", seen->changes);
    xb_json_put_whole(json, "drops", seen->drops);
    xb_json_close(json);
}

static void put_load(struct xb_json *json, const struct xb_pcie_load *load)
{
    xb_json_open_object(json, "under_load");
    xb_json_open_array(json, "hops");
    for (size_t i = 0; i < load->count && i < XB_PCIE_HOPS; i++)
        put_seen(json, &load->hops[i]);
    xb_json_close(json);
    xb_json_put_flag(json, "gone", load->gone);
    xb_json_close(json);
}

static void put_nvlink(struct xb_json *json, unsigned number, const struct xb_nvlink *link)
{
    xb_json_open_object(json, NULL);
    xb_json_put_whole(json, "link", number);
    xb_json_put_flag(json, "active", link->active);
    xb_link_json_put_positive(json, "rate_bytes_per_second", link->rate);
    for (enum xb_nvlink_counter i = 0; i < XB_NVLINK_COUNTERS; i++)
        xb_json_put_known_whole(json, xb_nvlink_counter_key(i), link->counted[i], link->counts[i]);
    xb_json_close(json);
}

static void put_nvlinks(struct xb_json *json, const struct xb_device_health *health)
{
    if (!health->nvlinks_known) {
        xb_json_put_null(json, "nvlinks");
        return;
    }
    xb_json_open_array(json, "nvlinks");
    for (unsigned i = 0; i < XB_NVLINKS; i++)
        if (health->nvlinks[i].known)
            put_nvlink(json, i, &health->nvlinks[i]);
    xb_json_close(json);
}

static void put_counters(struct xb_json *json, const struct xb_device_health *health)
{
    xb_json_open_object(json, "pcie_counters");
    for (enum xb_pcie_counter i = 0; i < XB_PCIE_COUNTERS; i++)
        xb_json_put_known_whole(json, xb_pcie_counter_key(i), health->counted[i],
                                health->counts[i]);
    xb_json_close(json);
}

static void put_health(struct xb_json *json, const char *key, const struct xb_device_health *health)
{
    bool clocks = health->clocks_known;
    bool throttle = health->throttle_known;
    bool nvlinks = health->nvlinks_known;
    xb_json_open_object(json, key);
    xb_json_put_known_whole(json, "replays", health->replays_known, health->replays);
    put_counters(json, health);
    xb_json_put_known_whole(json, "sm_clock_mhz", clocks, health->sm_clock_mhz);
    xb_json_put_known_whole(json, "memory_clock_mhz", clocks, health->memory_clock_mhz);
    xb_json_put_known_flag(json, "slowed_by_hardware", throttle, health->slowed_by_hardware);
    xb_json_put_text(json, "throttle", throttle ? health->throttle : NULL);
    xb_json_put_known_whole(json, "nvlinks_active", nvlinks, health->nvlinks_active);
    xb_json_put_known_whole(json, "nvlinks_inactive", nvlinks, health->nvlinks_inactive);
    put_nvlinks(json, health);
    xb_json_close(json);
}

/* Around the copies between the device and its peers. */
static void put_peers(struct xb_json *json, const struct xb_link_device *device)
{
    if (device->peers.seconds <= 0) {
        xb_json_put_null(json, "peers");
        return;
    }
    xb_json_open_object(json, "peers");
    put_health(json, "health_before", &device->peers.before);
    put_health(json, "health_after", &device->peers.after);
    xb_json_put_number(json, "seconds", device->peers.seconds);
    xb_json_close(json);
}

static void put_conditions(struct xb_json *json, const char *key,
                           const struct xb_link_conditions *seen)
{
    xb_json_open_object(json, key);
    xb_json_put_number(json, "seconds", seen->seconds);
    xb_json_put_known_whole(json, "cpus", seen->cpus > 0, seen->cpus);
    xb_json_put_known_number(json, "cpus_busy", seen->cpus > 0, seen->cpus_busy);
    xb_link_json_put_positive(json, "load_seconds", seen->load_s);
    xb_json_put_known_number(json, "sent_bytes_per_second", seen->traffic_known, seen->sent);
    xb_json_put_known_number(json, "received_bytes_per_second", seen->traffic_known,
                             seen->received);
    xb_json_put_known_whole(json, "memory_clock_mhz", seen->memory_mhz > 0, seen->memory_mhz);
    xb_json_put_known_whole(json, "memory_clock_best_mhz", seen->memory_best_mhz > 0,
                            seen->memory_best_mhz);
    xb_json_put_flag(json, "slowed_by_hardware", seen->slowed_by_hardware);
    xb_json_put_text(json, "throttle", seen->throttle);
    xb_json_put_known_whole(json, "retrains", seen->traffic_known, seen->retrains);
    xb_json_put_flag(json, "memory_is_far", seen->memory_is_far);
    xb_link_json_put_positive(json, "mean_bytes_per_second", seen->mean);
    xb_link_json_put_positive(json, "fastest_bytes_per_second", seen->fastest);
    xb_json_close(json);
}

static void put_attempt(struct xb_json *json, const struct xb_link_attempt *attempt)
{
    xb_json_open_object(json, NULL);
    xb_link_json_put_positive(json, "h2d_bytes_per_second", attempt->h2d);
    xb_link_json_put_positive(json, "d2h_bytes_per_second", attempt->d2h);
    xb_json_put_flag(json, "data_wrong", attempt->data_wrong);
    xb_json_put_optional(json, "failure", attempt->failure);
    put_path(json, "at_rest", &attempt->at_rest);
    put_load(json, &attempt->load);
    put_path(json, "after", &attempt->after);
    put_health(json, "health_before", &attempt->health_before);
    put_health(json, "health_after", &attempt->health_after);
    xb_link_json_put_positive(json, "health_seconds", attempt->health_seconds);
    xb_json_open_object(json, "conditions");
    put_conditions(json, "h2d", &attempt->conditions[0]);
    put_conditions(json, "d2h", &attempt->conditions[1]);
    xb_json_close(json);
    xb_json_close(json);
}

/* ---- a verdict ---- */

void xb_link_json_put_findings(struct xb_json *json, const struct xb_findings *found)
{
    xb_json_put_text(json, "level", xb_level_name(found->level));
    xb_json_open_array(json, "reasons");
    for (size_t i = 0; i < found->reason_count; i++) {
        xb_json_open_object(json, NULL);
        xb_json_put_text(json, "code", found->reasons[i].code);
        xb_json_put_text(json, "level", xb_level_name(found->reasons[i].level));
        xb_json_put_text(json, "text", found->reasons[i].text);
        xb_json_close(json);
    }
    xb_json_close(json);
}

static void put_packet_sizes(struct xb_json *json, const struct xb_ceiling *ceiling)
{
    xb_json_put_whole(json, "payload_bytes", ceiling->payload);
    xb_json_put_flag(json, "payload_assumed", ceiling->payload_assumed);
    xb_json_put_whole(json, "read_request_bytes", ceiling->read_request);
    xb_json_put_flag(json, "read_request_assumed", ceiling->read_request_assumed);
}

static void put_ceiling(struct xb_json *json, const struct xb_ceiling *ceiling)
{
    if (!ceiling->known) {
        xb_json_put_null(json, "ceiling");
        return;
    }
    xb_json_open_object(json, "ceiling");
    xb_json_put_number(json, "speed_gts", ceiling->speed_gts);
    xb_json_put_whole(json, "width", ceiling->width);
    xb_json_put_number(json, "raw_bytes_per_second", ceiling->raw);
    xb_link_json_put_positive(json, "h2d_bytes_per_second", ceiling->h2d);
    xb_link_json_put_positive(json, "d2h_bytes_per_second", ceiling->d2h);
    put_packet_sizes(json, ceiling);
    xb_json_close(json);
}

/* The sizes of packets may be known where the ceiling is not. */
static void put_packets(struct xb_json *json, const struct xb_ceiling *ceiling)
{
    if (ceiling->payload == 0 || ceiling->read_request == 0) {
        xb_json_put_null(json, "packets");
        return;
    }
    xb_json_open_object(json, "packets");
    put_packet_sizes(json, ceiling);
    xb_json_close(json);
}

void xb_link_json_put_bandwidth_limit(struct xb_json *json, const char *key,
                                      const struct xb_link_direction *bandwidth)
{
    xb_json_open_object(json, key);
    xb_link_json_put_positive(json, "warning_below_bytes_per_second", bandwidth->warning);
    xb_link_json_put_positive(json, "critical_below_bytes_per_second", bandwidth->critical);
    xb_json_put_text(json, "source", xb_limit_source_name(bandwidth->source));
    xb_json_close(json);
}

/* Writes null where the default is in force. */
static void put_limit(struct xb_json *json, const char *key, const struct xb_limit *limit)
{
    if (!limit->is_set) {
        xb_json_put_null(json, key);
        return;
    }
    xb_json_open_object(json, key);
    xb_json_put_number(json, "value", limit->value);
    xb_json_put_text(json, "source", xb_limit_source_name(limit->source));
    xb_json_close(json);
}

static void put_limits(struct xb_json *json, const struct xb_verdict *verdict)
{
    const struct xb_link_limits *limits = &verdict->limits;
    xb_json_open_object(json, "limits");
    xb_link_json_put_bandwidth_limit(json, "h2d", &verdict->h2d);
    xb_link_json_put_bandwidth_limit(json, "d2h", &verdict->d2h);
    put_limit(json, "generation", &limits->generation);
    put_limit(json, "width", &limits->width);
    put_limit(json, "warn_share", &limits->warn_share);
    put_limit(json, "critical_share", &limits->critical_share);
    xb_json_close(json);
}

static void put_verdict(struct xb_json *json, const struct xb_verdict *verdict,
                        const struct xb_link_device *device)
{
    bool has_attempt = xb_verdict_attempt(verdict, device) != NULL;
    bool has_hop = verdict->bottleneck < verdict->facts.hop_count;
    xb_json_open_object(json, "verdict");
    xb_link_json_put_findings(json, &verdict->found);
    xb_json_put_known_whole(json, "attempt", has_attempt, verdict->best);
    xb_json_put_known_whole(json, "bottleneck", has_hop, verdict->bottleneck);
    put_ceiling(json, &verdict->ceiling);
    put_packets(json, &verdict->ceiling);
    xb_link_json_put_positive(json, "h2d_share", verdict->h2d.share);
    xb_link_json_put_positive(json, "d2h_share", verdict->d2h.share);
    put_limits(json, verdict);
    xb_json_close(json);
}

/* ---- the document ---- */

static void put_device(struct xb_json *json, const struct xb_link_device *device,
                       const struct xb_verdict *verdict)
{
    const struct xb_device_info *info = &device->info;
    xb_json_open_object(json, NULL);
    xb_json_put_whole(json, "index", info->index);
    xb_json_put_text(json, "name", info->name);
    xb_json_put_optional(json, "uuid", info->uuid);
    xb_json_put_optional(json, "architecture", info->architecture);
    xb_json_put_optional(json, "pci_bdf", info->pci_bdf);
    xb_json_put_whole(json, "memory_bytes", info->memory_bytes);
    xb_document_put_facts(json, "facts", info);
    xb_json_put_flag(json, "cut", device->cut);
    put_verdict(json, verdict, device);
    xb_json_open_array(json, "attempts");
    for (size_t i = 0; i < xb_link_attempts(device); i++)
        put_attempt(json, &device->attempts[i]);
    xb_json_close(json);
    put_peers(json, device);
    xb_json_close(json);
}

static enum xb_status write_as(FILE *stream, const struct xb_link_report *report,
                               xb_json_finisher *finish, struct xb_error *error)
{
    const struct xb_conditions conditions = {.config = report->config,
                                             .backend = report->backend,
                                             .probe = &report->probe,
                                             .start = report->start};
    struct xb_record node;
    struct xb_json json;
    enum xb_status status = xb_record_of_conditions(&conditions, &node, error);
    if (status != XB_OK)
        return status;
    xb_json_begin(&json);
    xb_json_open_object(&json, NULL);
    xb_document_put_schema(&json, "xferbench.link", 1);
    xb_json_put_optional(&json, "command", report->command);
    xb_record_put_host(&json, &node);
    xb_record_put_launcher(&json, &node);
    xb_record_put_start(&json, &node);
    xb_record_put_backend(&json, &node);
    xb_json_put_text(&json, "level", xb_level_name(report->level));
    xb_json_put_optional(&json, "nothing_tested", report->nothing);
    xb_json_put_whole(&json, "attempts_allowed", report->attempts_allowed);
    xb_link_json_put_positive(&json, "deadline_s", report->deadline);
    xb_json_put_flag(&json, "cut", report->cut);
    xb_json_open_array(&json, "devices");
    for (size_t i = 0; i < report->device_count; i++)
        put_device(&json, &report->devices[i], &report->verdicts[i]);
    xb_json_close(&json);
    xb_link_json_put_pairs(&json, report);
    xb_record_put_environment(&json, &node);
    xb_record_put_config(&json, &node);
    xb_json_close(&json);
    xb_record_free(&node);
    return finish(&json, stream, "the JSON", error);
}

enum xb_status xb_link_json_write(FILE *stream, const struct xb_link_report *report,
                                  struct xb_error *error)
{
    return write_as(stream, report, xb_json_finish, error);
}

enum xb_status xb_link_json_line_write(FILE *stream, const struct xb_link_report *report,
                                       struct xb_error *error)
{
    return write_as(stream, report, xb_json_finish_line, error);
}
