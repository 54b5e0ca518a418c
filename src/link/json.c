/* SPDX-License-Identifier: Apache-2.0 */
/* The members of docs/link.schema.json, each bound to its place: written here by these tables, and
 * read back by them in read.c. */
#include "report.h"

#include "record/document.h"
#include "record/making.h"

/* The verdict on a device or a pair, but for its own members. */
static void open_verdict(struct xb_json *json, const struct xb_findings *found, bool has_attempt,
                         size_t best)
{
    xb_json_open_object(json, "verdict");
    xb_fields_put(json, xb_link_finding_fields, found);
    xb_json_put_known_whole(json, "attempt", has_attempt, best);
}

enum xb_status xb_link_json_write(FILE *stream, const struct xb_link_report *report,
                                  struct xb_error *error)
{
    const struct xb_conditions conditions = {.config = report->config,
                                             .backend = report->backend,
                                             .probe = &report->probe,
                                             .start = report->start};
    struct xb_record node;
    struct xb_json json;
    XB_TRY(xb_record_of_conditions(&conditions, &node, error));
    xb_json_begin(&json);
    xb_json_open_object(&json, NULL);
    xb_document_put_schema(&json, "xferbench.link", 1);
    xb_json_put_optional(&json, "command", report->command);
    xb_fields_put(&json, xb_record_node_fields, &node);
    xb_fields_put(&json, xb_record_start_fields, &node);
    xb_fields_put(&json, xb_record_backend_fields, &node);
    xb_fields_put(&json, xb_link_report_fields, report);
    xb_json_put_known_number(&json, "elapsed_s", report->elapsed > 0, report->elapsed);
    if (report->soak != NULL)
        xb_fields_put_object(&json, "soak", xb_link_soak_fields, report->soak);
    xb_json_open_array(&json, "devices");
    for (size_t i = 0; i < report->device_count; i++) {
        const struct xb_link_device *device = &report->devices[i];
        const struct xb_verdict *verdict = &report->verdicts[i];
        xb_json_open_object(&json, NULL);
        xb_fields_put(&json, xb_link_info_fields, &device->info);
        xb_document_put_facts(&json, "facts", &device->info);
        xb_json_put_flag(&json, "cut", device->cut);
        open_verdict(&json, &verdict->found, XB_ATTEMPT_JUDGED(verdict, device) != NULL,
                     verdict->best);
        xb_json_put_known_whole(&json, "bottleneck", verdict->bottleneck < verdict->facts.hop_count,
                                verdict->bottleneck);
        xb_fields_put(&json, xb_link_verdict_fields, verdict);
        xb_json_close(&json);
        xb_fields_put(&json, xb_link_device_fields, device);
        xb_json_close(&json);
    }
    xb_json_close(&json);
    xb_json_put_optional(&json, "pairs_not_tested", report->no_pairs);
    xb_json_open_array(&json, "pairs");
    for (size_t i = 0; i < report->pair_count; i++) {
        const struct xb_link_pair *pair = &report->pairs[i];
        const struct xb_pair_verdict *verdict = &report->pair_verdicts[i];
        xb_json_open_object(&json, NULL);
        xb_json_put_whole(&json, "from", report->devices[pair->from].info.index);
        xb_json_put_whole(&json, "to", report->devices[pair->to].info.index);
        xb_json_put_flag(&json, "cut", pair->cut);
        open_verdict(&json, &verdict->found, XB_ATTEMPT_JUDGED(verdict, pair) != NULL,
                     verdict->best);
        xb_fields_put(&json, xb_link_pair_verdict_fields, verdict);
        xb_json_close(&json);
        xb_fields_put(&json, xb_link_pair_fields, pair);
        xb_json_close(&json);
    }
    xb_json_close(&json);
    xb_fields_put(&json, xb_record_settings_fields, &node);
    xb_json_close(&json);
    xb_record_free(&node);
    enum xb_json_form form = report->in_a_line ? XB_JSON_LINE : XB_JSON_INDENTED;
    return xb_json_finish_as(&json, stream, form, "the JSON", error);
}

/* Names of fewer letters, so that a member takes one line. */
typedef struct xb_pcie_link link;
typedef struct xb_pcie_aer aer;
typedef struct xb_pcie_control control;
typedef struct xb_pcie_end end;
typedef struct xb_pcie_hop hop;
typedef struct xb_pcie_path path;
typedef struct xb_pcie_seen seen;
typedef struct xb_pcie_load load;
typedef struct xb_nvlink nvlink;
typedef struct xb_device_health health;
typedef struct xb_link_conditions conditions;
typedef struct xb_link_attempt attempt;
typedef struct xb_device_setup setup;
typedef struct xb_link_device device;
typedef struct xb_ceiling ceiling;
typedef struct xb_link_direction direction;
typedef struct xb_limit limit;
typedef struct xb_acceptance acceptance;
typedef struct xb_link_was was;
typedef struct xb_finding reason;
typedef struct xb_findings findings;
typedef struct xb_verdict verdict;
typedef struct xb_peer_info reach;
typedef struct xb_pair_attempt pair_attempt;
typedef struct xb_link_pair pair;
typedef struct xb_pair_verdict pair_verdict;
typedef struct xb_device_info info;
typedef struct xb_link_report report;
typedef struct xb_lanes lanes;
typedef struct xb_soak_range range;
typedef struct xb_soak_hop soak_hop;
typedef struct xb_soak_reason throttle;
typedef struct xb_soak_device soaked;
typedef struct xb_link_soak soak;

static const char *level_word(int level)
{
    return xb_level_name((enum xb_level)level);
}

static const char *source_word(int source)
{
    return xb_limit_source_name((enum xb_limit_source)source);
}

#define LEVEL .word = level_word, .most = XB_LEVEL_UNKNOWN
/* Not in files of before, and null where it is not known. */
#define ADDED .flags = (XB_FIELD_ADDED | XB_FIELD_EMPTY_IS_NULL)
#define SOURCE .word = source_word, .most = XB_LIMIT_COMMAND_LINE

static const struct xb_field link_fields[] = {
    XB_FIELD("speed_gts", DOUBLE, link, speed_gts, XB_RATE),
    XB_FIELD("width", UNSIGNED, link, width, XB_NULL_IF_EMPTY),
    XB_FIELD("max_speed_gts", DOUBLE, link, max_speed_gts, XB_RATE),
    XB_FIELD("max_width", UNSIGNED, link, max_width, XB_NULL_IF_EMPTY), XB_FIELDS_END};

static const struct xb_field aer_fields[] = {XB_FIELD("correctable", COUNTER, aer, correctable),
                                             XB_FIELD("nonfatal", COUNTER, aer, nonfatal),
                                             XB_FIELD("fatal", COUNTER, aer, fatal), XB_FIELDS_END};

static const struct xb_field control_fields[] = {
    XB_FIELD("max_payload_bytes", UNSIGNED, control, max_payload),
    XB_FIELD("max_payload_supported_bytes", UNSIGNED, control, max_payload_supported),
    XB_FIELD("max_read_request_bytes", UNSIGNED, control, max_read_request),
    XB_FIELD("has_acs", FLAG, control, has_acs),
    XB_FIELD("acs_redirects", FLAG, control, acs_redirects),
    XB_FIELDS_END};

static const struct xb_field end_fields[] = {
    XB_FIELD("bdf", ADDRESS, end, bdf),
    XB_FIELD("vendor", UNSIGNED, end, vendor, XB_NULL_IF_EMPTY),
    XB_OBJECT("link", end, link, link_fields),
    XB_FIELD("numa_node", INDEX, end, numa_node),
    XB_OBJECT("aer", end, aer, aer_fields, XB_KNOWN(end, aer.known)),
    XB_OBJECT("control", end, control, control_fields, XB_KNOWN(end, control.known)),
    XB_FIELD("aspm", TEXT, end, aspm, ADDED),
    XB_FIELDS_END};

static const struct xb_field hop_fields[] = {
    XB_OBJECT("lower", hop, lower, end_fields),
    XB_OBJECT("upper", hop, upper, end_fields, XB_KNOWN(hop, has_upper)),
    XB_FIELD("on_package", FLAG, hop, on_package), XB_FIELDS_END};

static const struct xb_field path_fields[] = {
    XB_FIELD("dead", FLAG, path, dead),
    XB_FIELD("numa_node", INDEX, path, numa_node),
    XB_FIELD("local_cpus", TEXT, path, local_cpus, XB_NULL_IF_EMPTY),
    XB_FIELD("iommu_group", INDEX, path, iommu_group),
    XB_FIELD("iommu_type", TEXT, path, iommu_type, ADDED),
    XB_FIELD("largest_bar_bytes", UINT64, path, largest_bar, ADDED),
    XB_ITEMS("hops", path, hops, count, XB_PCIE_HOPS, hop_fields),
    XB_FIELDS_END};

static const struct xb_field seen_fields[] = {
    XB_FIELD("readings", UNSIGNED, seen, readings),
    XB_FIELD("speed_gts", DOUBLE, seen, speed_gts, XB_RATE),
    XB_FIELD("width", UNSIGNED, seen, width, XB_NULL_IF_EMPTY),
    XB_FIELD("changes", UNSIGNED, seen, changes),
    XB_FIELD("drops", UNSIGNED, seen, drops),
    XB_FIELDS_END};

static const struct xb_field load_fields[] = {
    XB_ITEMS("hops", load, hops, count, XB_PCIE_HOPS, seen_fields),
    XB_FIELD("gone", FLAG, load, gone), XB_FIELDS_END};

#define PCIE_COUNTER(counter, key, words, judged)                                                  \
    XB_FIELD(key, COUNTER, health, counts[XB_PCIE_##counter],                                      \
             XB_KNOWN(health, counted[XB_PCIE_##counter])),
static const struct xb_field pcie_counter_fields[] = {XB_EACH_PCIE_COUNTER(PCIE_COUNTER)
                                                          XB_FIELDS_END};

#define NVLINK_COUNTER(counter, key, one, many)                                                    \
    XB_FIELD(key, COUNTER, nvlink, counts[XB_NVLINK_##counter],                                    \
             XB_KNOWN(nvlink, counted[XB_NVLINK_##counter])),
static const struct xb_field nvlink_fields[] = {
    XB_FIELD("active", FLAG, nvlink, active),
    XB_FIELD("rate_bytes_per_second", DOUBLE, nvlink, rate, XB_RATE),
    XB_EACH_NVLINK_COUNTER(NVLINK_COUNTER) XB_FIELDS_END};

/* Those that are known, each with its number. */
static void write_nvlinks(struct xb_json *json, const struct xb_field *field, const void *from)
{
    const health *of = from;
    if (!of->nvlinks_known) {
        xb_json_put_null(json, field->key);
        return;
    }
    xb_json_open_array(json, field->key);
    for (unsigned i = 0; i < XB_NVLINKS; i++) {
        const nvlink *one = &of->nvlinks[i];
        if (!one->known)
            continue;
        xb_json_open_object(json, NULL);
        xb_json_put_whole(json, "link", i);
        xb_fields_put(json, nvlink_fields, one);
        xb_json_close(json);
    }
    xb_json_close(json);
}

static void read_nvlink(struct xb_json_reader *reader, const cJSON *item, size_t index, void *to)
{
    nvlink *one =
        &((health *)to)->nvlinks[xb_json_get_whole(reader, item, "link", 0, XB_NVLINKS - 1)];
    (void)index;
    one->known = true;
    xb_fields_read(reader, item, nvlink_fields, one);
}

static void read_nvlinks(struct xb_json_reader *reader, const cJSON *object,
                         const struct xb_field *field, void *to)
{
    if (!cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(object, field->key)))
        (void)xb_fields_read_each(reader, object, field->key, XB_NVLINKS, read_nvlink, to);
}

static const struct xb_field health_fields[] = {
    XB_FIELD("replays", COUNTER, health, replays, XB_KNOWN(health, replays_known)),
    XB_PART("pcie_counters", pcie_counter_fields),
    XB_FIELD("sm_clock_mhz", UNSIGNED, health, sm_clock_mhz, XB_KNOWN(health, clocks_known)),
    XB_FIELD("memory_clock_mhz", UNSIGNED, health, memory_clock_mhz,
             XB_KNOWN(health, clocks_known)),
    XB_FIELD("slowed_by_hardware", FLAG, health, slowed_by_hardware,
             XB_KNOWN(health, throttle_known)),
    XB_FIELD("throttle", TEXT, health, throttle, XB_KNOWN(health, throttle_known)),
    XB_FIELD("nvlinks_active", UNSIGNED, health, nvlinks_active, XB_KNOWN(health, nvlinks_known)),
    XB_FIELD("nvlinks_inactive", UNSIGNED, health, nvlinks_inactive,
             XB_KNOWN(health, nvlinks_known)),
    XB_CUSTOM("nvlinks", write_nvlinks, read_nvlinks),
    XB_FIELDS_END};

static const struct xb_field conditions_fields[] = {
    XB_FIELD("seconds", DOUBLE, conditions, seconds),
    XB_FIELD("cpus", UNSIGNED, conditions, cpus, XB_NULL_IF_EMPTY),
    XB_FIELD("cpus_busy", DOUBLE, conditions, cpus_busy, XB_NEEDS(conditions, cpus)),
    XB_FIELD("load_seconds", DOUBLE, conditions, load_s, XB_RATE),
    XB_FIELD("sent_bytes_per_second", DOUBLE, conditions, sent,
             XB_KNOWN(conditions, traffic_known)),
    XB_FIELD("received_bytes_per_second", DOUBLE, conditions, received,
             XB_KNOWN(conditions, traffic_known)),
    XB_FIELD("memory_clock_mhz", UNSIGNED, conditions, clocks.memory_clock_mhz, XB_NULL_IF_EMPTY),
    XB_FIELD("memory_clock_best_mhz", UNSIGNED, conditions, clocks.memory_clock_best_mhz,
             XB_NULL_IF_EMPTY),
    XB_FIELD("sm_clock_mhz", UNSIGNED, conditions, clocks.sm_clock_mhz, ADDED),
    XB_FIELD("sm_clock_best_mhz", UNSIGNED, conditions, clocks.sm_clock_best_mhz, ADDED),
    XB_FIELD("slowed_by_hardware", FLAG, conditions, clocks.slowed_by_hardware),
    XB_FIELD("throttle", TEXT, conditions, clocks.throttle),
    XB_FIELD("retrains", COUNTER, conditions, retrains, XB_KNOWN(conditions, traffic_known)),
    XB_FIELD("memory_is_far", FLAG, conditions, memory_is_far),
    XB_FIELD("mean_bytes_per_second", DOUBLE, conditions, mean, XB_RATE),
    XB_FIELD("fastest_bytes_per_second", DOUBLE, conditions, fastest, XB_RATE),
    XB_FIELDS_END};

static const struct xb_field both_conditions_fields[] = {
    XB_OBJECT("h2d", attempt, conditions[XB_TO_GPU], conditions_fields),
    XB_OBJECT("d2h", attempt, conditions[XB_BACK], conditions_fields), XB_FIELDS_END};

static const struct xb_field attempt_fields[] = {
    XB_FIELD("h2d_bytes_per_second", DOUBLE, attempt, rates[XB_TO_GPU], XB_RATE),
    XB_FIELD("d2h_bytes_per_second", DOUBLE, attempt, rates[XB_BACK], XB_RATE),
    XB_FIELD("data_wrong", FLAG, attempt, data_wrong),
    XB_FIELD("failure", TEXT, attempt, failure, XB_NULL_IF_EMPTY),
    XB_OBJECT("at_rest", attempt, at_rest, path_fields, XB_KNOWN(attempt, at_rest.present)),
    XB_OBJECT("under_load", attempt, load, load_fields),
    XB_OBJECT("after", attempt, after, path_fields, XB_KNOWN(attempt, after.present)),
    XB_OBJECT("health_before", attempt, health_before, health_fields),
    XB_OBJECT("health_after", attempt, health_after, health_fields),
    XB_FIELD("health_seconds", DOUBLE, attempt, health_seconds, XB_RATE),
    XB_PART("conditions", both_conditions_fields),
    XB_FIELDS_END};

static const struct xb_field reason_fields[] = {
    XB_FIELD("code", STRING, reason, code), XB_FIELD("level", WORD, reason, level, LEVEL),
    XB_FIELD("text", TEXT, reason, text), XB_FIELD("accepted", STRING, reason, accepted, ADDED),
    XB_FIELDS_END};

const struct xb_field xb_link_finding_fields[] = {
    XB_FIELD("level", WORD, findings, level, LEVEL),
    XB_ITEMS("reasons", findings, reasons, reason_count, XB_FINDINGS, reason_fields),
    XB_FIELDS_END};

#define PACKETS                                                                                    \
    XB_FIELD("payload_bytes", UNSIGNED, ceiling, payload),                                         \
        XB_FIELD("payload_assumed", FLAG, ceiling, payload_assumed),                               \
        XB_FIELD("read_request_bytes", UNSIGNED, ceiling, read_request),                           \
        XB_FIELD("read_request_assumed", FLAG, ceiling, read_request_assumed)

static const struct xb_field ceiling_fields[] = {
    XB_FIELD("speed_gts", DOUBLE, ceiling, speed_gts, XB_ABOVE_0),
    XB_FIELD("width", UNSIGNED, ceiling, width),
    XB_FIELD("derived", FLAG, ceiling, derived, .flags = XB_FIELD_ADDED),
    XB_FIELD("raw_bytes_per_second", DOUBLE, ceiling, raw, XB_ABOVE_0),
    XB_FIELD("h2d_bytes_per_second", DOUBLE, ceiling, h2d, XB_RATE),
    XB_FIELD("d2h_bytes_per_second", DOUBLE, ceiling, d2h, XB_RATE),
    PACKETS,
    XB_FIELDS_END};

static const struct xb_field packets_fields[] = {PACKETS, XB_FIELDS_END};

static const struct xb_field bandwidth_limit_fields[] = {
    XB_FIELD("warning_below_bytes_per_second", DOUBLE, direction, warning, XB_RATE),
    XB_FIELD("critical_below_bytes_per_second", DOUBLE, direction, critical, XB_RATE),
    XB_FIELD("source", WORD, direction, source, SOURCE), XB_FIELDS_END};

static const struct xb_field limit_fields[] = {XB_FIELD("value", DOUBLE, limit, value, XB_ABOVE_0),
                                               XB_FIELD("source", WORD, limit, source, SOURCE),
                                               XB_FIELDS_END};

/* null where the default is in force. */
#define LIMIT(name)                                                                                \
    XB_OBJECT(#name, verdict, limits.name, limit_fields, XB_KNOWN(verdict, limits.name.is_set))

static const struct xb_field acceptance_fields[] = {
    XB_FIELD("code", STRING, acceptance, code), XB_FIELD("reason", STRING, acceptance, reason),
    XB_FIELD("source", WORD, acceptance, source, SOURCE), XB_FIELD("met", FLAG, acceptance, met),
    XB_FIELDS_END};

static const struct xb_field was_fields[] = {
    XB_FIELD("uuid", TEXT, was, uuid, XB_NULL_IF_EMPTY),
    XB_FIELD("h2d_bytes_per_second", DOUBLE, was, rates[XB_TO_GPU], XB_RATE),
    XB_FIELD("d2h_bytes_per_second", DOUBLE, was, rates[XB_BACK], XB_RATE),
    XB_FIELD("nvlinks_active", UNSIGNED, was, nvlinks, XB_NULL_IF_EMPTY),
    XB_FIELD("speed_gts", DOUBLE, was, load.speed_gts, XB_RATE),
    XB_FIELD("width", UNSIGNED, was, load.width, XB_NULL_IF_EMPTY),
    XB_FIELDS_END};

static const struct xb_field limits_fields[] = {
    XB_OBJECT("h2d", verdict, ways[XB_TO_GPU], bandwidth_limit_fields),
    XB_OBJECT("d2h", verdict, ways[XB_BACK], bandwidth_limit_fields),
    LIMIT(generation),
    LIMIT(width),
    LIMIT(warn_share),
    LIMIT(critical_share),
    XB_ITEMS("accept", verdict, limits.accepted, limits.accepted_count, XB_ACCEPTANCES,
             acceptance_fields, .flags = XB_FIELD_ADDED),
    XB_OBJECT("baseline", verdict, limits.was, was_fields, XB_KNOWN(verdict, limits.was.known),
              .flags = XB_FIELD_ADDED),
    XB_FIELDS_END};

/* The sizes of packets may be known where the ceiling is not. */
const struct xb_field xb_link_verdict_fields[] = {
    XB_OBJECT("ceiling", verdict, ceiling, ceiling_fields, XB_KNOWN(verdict, ceiling.known)),
    XB_OBJECT("packets", verdict, ceiling, packets_fields, XB_NEEDS(verdict, ceiling.payload)),
    XB_FIELD("h2d_share", DOUBLE, verdict, ways[XB_TO_GPU].share, XB_RATE),
    XB_FIELD("d2h_share", DOUBLE, verdict, ways[XB_BACK].share, XB_RATE),
    XB_PART("limits", limits_fields),
    XB_FIELDS_END};

const struct xb_field xb_link_info_fields[] = {
    XB_FIELD("index", UNSIGNED, info, index),
    XB_FIELD("name", TEXT, info, name),
    XB_FIELD("uuid", TEXT, info, uuid, XB_NULL_IF_EMPTY),
    XB_FIELD("architecture", TEXT, info, architecture, XB_NULL_IF_EMPTY),
    XB_FIELD("pci_bdf", ADDRESS, info, pci_bdf, XB_NULL_IF_EMPTY),
    XB_FIELD("memory_bytes", COUNTER, info, memory_bytes),
    XB_FIELDS_END};

static const struct xb_field setup_fields[] = {
    XB_FIELD("serial", TEXT, setup, serial, XB_NULL_IF_EMPTY),
    XB_FIELD("vbios", TEXT, setup, vbios, XB_NULL_IF_EMPTY),
    XB_FIELD("ecc", MAYBE, setup, ecc, XB_NULL_IF_EMPTY),
    XB_FIELD("confidential_computing", MAYBE, setup, confidential, XB_NULL_IF_EMPTY),
    XB_FIELD("confidential_mode", TEXT, setup, confidential_mode, XB_NULL_IF_EMPTY),
    XB_FIELD("virtualisation", TEXT, setup, virtualisation, XB_NULL_IF_EMPTY),
    XB_FIELDS_END};

static const struct xb_field peers_fields[] = {
    XB_OBJECT("health_before", device, peers.before, health_fields),
    XB_OBJECT("health_after", device, peers.after, health_fields),
    XB_FIELD("seconds", DOUBLE, device, peers.seconds, XB_ABOVE_0), XB_FIELDS_END};

const struct xb_field xb_link_device_fields[] = {
    XB_OBJECT("setup", device, setup, setup_fields, XB_KNOWN(device, setup.known),
              .flags = XB_FIELD_ADDED),
    XB_ITEMS("attempts", device, attempts, attempt_count, XB_LINK_ATTEMPTS, attempt_fields),
    XB_PART("peers", peers_fields, XB_KNOWN(device, peers.known)), XB_FIELDS_END};

static const struct xb_field reach_fields[] = {
    XB_FIELD("direct", FLAG, reach, can_access),
    XB_FIELD("link", TEXT, reach, link, XB_NULL_IF_EMPTY),
    XB_FIELD("links", UNSIGNED, reach, links, XB_NULL_IF_EMPTY),
    XB_FIELD("link_rate_bytes_per_second", DOUBLE, reach, link_rate, XB_RATE),
    XB_FIELD("hops", UNSIGNED, reach, hops, XB_NULL_IF_EMPTY),
    XB_FIELDS_END};

static const struct xb_field pair_attempt_fields[] = {
    XB_FIELD("bytes_per_second", DOUBLE, pair_attempt, bandwidth, XB_RATE),
    XB_FIELD("data_wrong", FLAG, pair_attempt, data_wrong),
    XB_FIELD("failure", TEXT, pair_attempt, failure, XB_NULL_IF_EMPTY),
    XB_OBJECT("there", pair_attempt, there, reach_fields, XB_KNOWN(pair_attempt, reach_known)),
    XB_OBJECT("back", pair_attempt, back, reach_fields, XB_KNOWN(pair_attempt, reach_known)),
    XB_FIELDS_END};

const struct xb_field xb_link_pair_fields[] = {
    XB_ITEMS("attempts", pair, attempts, attempt_count, XB_LINK_ATTEMPTS, pair_attempt_fields),
    XB_FIELDS_END};

const struct xb_field xb_link_pair_verdict_fields[] = {
    XB_FIELD("ceiling_bytes_per_second", DOUBLE, pair_verdict, ceiling, XB_RATE),
    XB_FIELD("share", DOUBLE, pair_verdict, bandwidth.share, XB_RATE),
    XB_FIELD("like_pairs", SIZE, pair_verdict, like_count, .most = UINT32_MAX),
    XB_FIELD("like_pairs_bytes_per_second", DOUBLE, pair_verdict, like, XB_RATE),
    XB_OBJECT("limits", pair_verdict, bandwidth, bandwidth_limit_fields),
    XB_FIELD("baseline_bytes_per_second", DOUBLE, pair_verdict, was, ADDED),
    XB_FIELDS_END};

const struct xb_field xb_link_backend_fields[] = {
    XB_FIELD("name", STRING, report, backend),
    XB_FIELD("runtime_version", TEXT, report, probe.runtime_version, XB_NULL_IF_EMPTY),
    XB_FIELD("driver_version", TEXT, report, probe.driver_version, XB_NULL_IF_EMPTY),
    XB_FIELD("runtime_library", TEXT, report, probe.runtime_library, XB_NULL_IF_EMPTY),
    XB_FIELD("runtime_override", TEXT, report, probe.runtime_override, XB_NULL_IF_EMPTY),
    XB_FIELDS_END};

static const struct xb_field then_fields[] = {
    XB_FIELD("file", STRING, report, then.path),
    XB_FIELD("timestamp", STRING, report, then.written, XB_TEXT_OR_NULL),
    XB_FIELD("node", STRING, report, then.node, XB_TEXT_OR_NULL),
    XB_FIELD("changes", STRING, report, then.changes, XB_TEXT_OR_NULL), XB_FIELDS_END};

const struct xb_field xb_link_report_fields[] = {
    XB_FIELD("level", WORD, report, level, LEVEL),
    XB_FIELD("nothing_tested", TEXT, report, nothing, XB_NULL_IF_EMPTY),
    XB_FIELD("attempts_allowed", UNSIGNED, report, attempts_allowed),
    XB_FIELD("deadline_s", DOUBLE, report, deadline, XB_RATE),
    XB_FIELD("cut", FLAG, report, cut),
    XB_FIELD("hypervisor", TEXT, report, platform.hypervisor, ADDED),
    XB_FIELD("aspm_policy", TEXT, report, platform.aspm_policy, ADDED),
    XB_PART("baseline", then_fields, XB_KNOWN(report, then.known), .flags = XB_FIELD_ADDED),
    XB_FIELDS_END};

/* ---- the member `soak` ---- */

static const struct xb_field range_fields[] = {XB_FIELD("readings", UNSIGNED, range, count),
                                               XB_FIELD("min", DOUBLE, range, least),
                                               XB_FIELD("mean", DOUBLE, range, mean),
                                               XB_FIELD("max", DOUBLE, range, most),
                                               XB_FIELD("first", DOUBLE, range, first),
                                               XB_FIELD("last", DOUBLE, range, last),
                                               XB_FIELD("min_in_minute", UNSIGNED, range, least_in),
                                               XB_FIELDS_END};

#define RANGE(key, quantity)                                                                       \
    XB_OBJECT(key, soaked, ranges[quantity], range_fields, XB_NEEDS(soaked, ranges[quantity].count))

static const struct xb_field lanes_fields[] = {XB_FIELD("speed_gts", DOUBLE, lanes, speed_gts),
                                               XB_FIELD("width", UNSIGNED, lanes, width),
                                               XB_FIELDS_END};

/* NOLINTBEGIN(bugprone-macro-parentheses): a member has none */
#define LANES(key, member)                                                                         \
    XB_OBJECT(key, soak_hop, member, lanes_fields, XB_NEEDS(soak_hop, member.width))
/* NOLINTEND(bugprone-macro-parentheses) */

static const struct xb_field soak_hop_fields[] = {
    XB_FIELD("lower", ADDRESS, soak_hop, lower),
    LANES("most", most),
    LANES("least", least),
    XB_FIELD("least_in_minute", UNSIGNED, soak_hop, least_in),
    XB_FIELD("readings", UNSIGNED, soak_hop, readings),
    XB_FIELD("reduced", UNSIGNED, soak_hop, reduced),
    LANES("least_at_rest", rest_least),
    XB_FIELD("changes_at_rest", UNSIGNED, soak_hop, rest_changes),
    XB_FIELDS_END};

static const struct xb_field throttle_fields[] = {XB_FIELD("reason", TEXT, throttle, words),
                                                  XB_FIELD("readings", UNSIGNED, throttle, looks),
                                                  XB_FIELDS_END};

#define PCIE_RISE(counter, key, words, judged)                                                     \
    XB_FIELD(key, COUNTER, soaked, facts.rises[XB_PCIE_##counter],                                 \
             XB_KNOWN(soaked, facts.counted[XB_PCIE_##counter])),
#define AER(member)                                                                                \
    XB_FIELD("aer_" #member, COUNTER, soaked, facts.errors.member,                                 \
             XB_KNOWN(soaked, facts.errors.known))
#define NVLINK_RISE(counter, key, one, many)                                                       \
    XB_FIELD("nvlink_" key, COUNTER, soaked, facts.nvlinks.rises[XB_NVLINK_##counter],             \
             XB_KNOWN(soaked, facts.nvlinks.counted[XB_NVLINK_##counter])),
static const struct xb_field event_fields[] = {
    XB_FIELD("seconds", DOUBLE, soaked, load_seconds),
    XB_EACH_PCIE_COUNTER(PCIE_RISE)
        XB_FIELD("replays", COUNTER, soaked, facts.replays, XB_KNOWN(soaked, facts.replays_known)),
    AER(correctable),
    AER(nonfatal),
    AER(fatal),
    XB_EACH_NVLINK_COUNTER(NVLINK_RISE) XB_FIELDS_END};

static const struct xb_field rest_fields[] = {
    XB_FIELD("rests", UNSIGNED, soaked, rests),
    XB_FIELD("seconds", DOUBLE, soaked, rest_seconds),
    XB_FIELD("retrains", COUNTER, soaked, rest_retrains, XB_KNOWN(soaked, rest_counted)),
    XB_FIELD("rests_with_retrains", UNSIGNED, soaked, restless, XB_KNOWN(soaked, rest_counted)),
    XB_FIELD("errors", COUNTER, soaked, rest_errors),
    XB_FIELDS_END};

static const struct xb_field before_fields[] = {
    XB_FIELD("h2d_bytes_per_second", DOUBLE, soaked, before[XB_TO_GPU], XB_RATE),
    XB_FIELD("d2h_bytes_per_second", DOUBLE, soaked, before[XB_BACK], XB_RATE), XB_FIELDS_END};

static const struct xb_field soaked_fields[] = {
    RANGE("h2d_bytes_per_second", XB_SOAK_TO_GPU),
    RANGE("d2h_bytes_per_second", XB_SOAK_BACK),
    RANGE("beside_kernels_bytes_per_second", XB_SOAK_KERNELS),
    RANGE("to_peer_bytes_per_second", XB_SOAK_PEER),
    RANGE("temperature_c", XB_SOAK_TEMPERATURE),
    RANGE("power_w", XB_SOAK_POWER),
    RANGE("sm_clock_mhz", XB_SOAK_SM_CLOCK),
    RANGE("memory_clock_mhz", XB_SOAK_MEMORY_CLOCK),
    XB_ITEMS("hops", soaked, hops, hop_count, XB_PCIE_HOPS, soak_hop_fields),
    XB_PART("events", event_fields),
    XB_PART("rest", rest_fields),
    XB_FIELD("throttle_readings", UNSIGNED, soaked, looks),
    XB_FIELD("slowed_by_hardware", UNSIGNED, soaked, slowed),
    XB_ITEMS("throttle", soaked, reasons, reason_count, XB_SOAK_REASONS, throttle_fields),
    XB_FIELD("verified", UNSIGNED, soaked, verified),
    XB_FIELD("wrong", UNSIGNED, soaked, wrong),
    XB_FIELD("failure", TEXT, soaked, failure, XB_NULL_IF_EMPTY),
    XB_FIELD("gone", FLAG, soaked, gone),
    XB_PART("first_test", before_fields),
    XB_FIELDS_END};

const struct xb_field xb_link_soak_fields[] = {
    XB_FIELD("asked_s", DOUBLE, soak, asked),
    XB_FIELD("took_s", DOUBLE, soak, took),
    XB_FIELD("minutes", UNSIGNED, soak, minutes),
    XB_FIELD("ended", FLAG, soak, ended),
    XB_FIELD("left_out", TEXT, soak, left_out, XB_NULL_IF_EMPTY),
    XB_LIST("devices", soak, devices, device_count, XB_RUN_DEVICES, soaked_fields),
    XB_FIELDS_END};
