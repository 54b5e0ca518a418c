/* SPDX-License-Identifier: Apache-2.0 */
/* The member `soak` of docs/link.schema.json. */
#include "report.h"

#include "record/record.h"

typedef struct xb_soak_range range;
typedef struct xb_soak_hop hop;
typedef struct xb_soak_reason reason;
typedef struct xb_soak_device device;
typedef struct xb_link_soak soak;
typedef struct xb_lanes lanes;

static const struct xb_field range_fields[] = {XB_FIELD("readings", UNSIGNED, range, count),
                                               XB_FIELD("min", DOUBLE, range, least),
                                               XB_FIELD("mean", DOUBLE, range, mean),
                                               XB_FIELD("max", DOUBLE, range, most),
                                               XB_FIELD("first", DOUBLE, range, first),
                                               XB_FIELD("last", DOUBLE, range, last),
                                               XB_FIELD("min_in_minute", UNSIGNED, range, least_in),
                                               XB_FIELDS_END};

#define RANGE(key, quantity)                                                                       \
    XB_OBJECT(key, device, ranges[quantity], range_fields, XB_NEEDS(device, ranges[quantity].count))

static const struct xb_field lanes_fields[] = {XB_FIELD("speed_gts", DOUBLE, lanes, speed_gts),
                                               XB_FIELD("width", UNSIGNED, lanes, width),
                                               XB_FIELDS_END};

#define LANES(key, member) XB_OBJECT(key, hop, member, lanes_fields, XB_NEEDS(hop, member.width))

static const struct xb_field hop_fields[] = {
    XB_FIELD("lower", ADDRESS, hop, lower),
    LANES("most", most),
    LANES("least", least),
    XB_FIELD("least_in_minute", UNSIGNED, hop, least_in),
    XB_FIELD("readings", UNSIGNED, hop, readings),
    XB_FIELD("reduced", UNSIGNED, hop, reduced),
    LANES("least_at_rest", rest_least),
    XB_FIELD("changes_at_rest", UNSIGNED, hop, rest_changes),
    XB_FIELDS_END};

static const struct xb_field reason_fields[] = {XB_FIELD("reason", TEXT, reason, words),
                                                XB_FIELD("readings", UNSIGNED, reason, looks),
                                                XB_FIELDS_END};

#define PCIE(counter, key, words, judged)                                                          \
    XB_FIELD(key, COUNTER, device, facts.rises[XB_PCIE_##counter],                                 \
             XB_KNOWN(device, facts.counted[XB_PCIE_##counter])),
#define AER(member)                                                                                \
    XB_FIELD("aer_" #member, COUNTER, device, facts.errors.member,                                 \
             XB_KNOWN(device, facts.errors.known))
#define NVLINK(key, counter)                                                                       \
    XB_FIELD("nvlink_" key, COUNTER, device, facts.nvlinks.rises[XB_NVLINK_##counter],             \
             XB_KNOWN(device, facts.nvlinks.counted[XB_NVLINK_##counter]))
static const struct xb_field event_fields[] = {
    XB_FIELD("seconds", DOUBLE, device, load_seconds),
    XB_EACH_PCIE_COUNTER(PCIE)
        XB_FIELD("replays", COUNTER, device, facts.replays, XB_KNOWN(device, facts.replays_known)),
    AER(correctable),
    AER(nonfatal),
    AER(fatal),
    NVLINK("replays", REPLAYS),
    NVLINK("recoveries", RECOVERIES),
    NVLINK("failed_recoveries", FAILED_RECOVERIES),
    NVLINK("crc_errors", CRC_ERRORS),
    XB_FIELDS_END};

static const struct xb_field rest_fields[] = {
    XB_FIELD("rests", UNSIGNED, device, rests),
    XB_FIELD("seconds", DOUBLE, device, rest_seconds),
    XB_FIELD("retrains", COUNTER, device, rest_retrains, XB_KNOWN(device, rest_counted)),
    XB_FIELD("rests_with_retrains", UNSIGNED, device, restless, XB_KNOWN(device, rest_counted)),
    XB_FIELD("errors", COUNTER, device, rest_errors),
    XB_FIELDS_END};

static const struct xb_field before_fields[] = {
    XB_FIELD("h2d_bytes_per_second", DOUBLE, device, before[XB_TO_GPU], XB_RATE),
    XB_FIELD("d2h_bytes_per_second", DOUBLE, device, before[XB_BACK], XB_RATE), XB_FIELDS_END};

static const struct xb_field device_fields[] = {
    RANGE("h2d_bytes_per_second", XB_SOAK_TO_GPU),
    RANGE("d2h_bytes_per_second", XB_SOAK_BACK),
    RANGE("beside_kernels_bytes_per_second", XB_SOAK_KERNELS),
    RANGE("to_peer_bytes_per_second", XB_SOAK_PEER),
    RANGE("temperature_c", XB_SOAK_TEMPERATURE),
    RANGE("power_w", XB_SOAK_POWER),
    RANGE("sm_clock_mhz", XB_SOAK_SM_CLOCK),
    RANGE("memory_clock_mhz", XB_SOAK_MEMORY_CLOCK),
    XB_ITEMS("hops", device, hops, hop_count, XB_PCIE_HOPS, hop_fields),
    XB_PART("events", event_fields),
    XB_PART("rest", rest_fields),
    XB_FIELD("throttle_readings", UNSIGNED, device, looks),
    XB_FIELD("slowed_by_hardware", UNSIGNED, device, slowed),
    XB_ITEMS("throttle", device, reasons, reason_count, XB_SOAK_REASONS, reason_fields),
    XB_FIELD("verified", UNSIGNED, device, verified),
    XB_FIELD("wrong", UNSIGNED, device, wrong),
    XB_FIELD("failure", TEXT, device, failure, XB_NULL_IF_EMPTY),
    XB_FIELD("gone", FLAG, device, gone),
    XB_PART("first_test", before_fields),
    XB_FIELDS_END};

const struct xb_field xb_link_soak_fields[] = {
    XB_FIELD("asked_s", DOUBLE, soak, asked),
    XB_FIELD("took_s", DOUBLE, soak, took),
    XB_FIELD("minutes", UNSIGNED, soak, minutes),
    XB_FIELD("ended", FLAG, soak, ended),
    XB_FIELD("left_out", TEXT, soak, left_out, XB_NULL_IF_EMPTY),
    XB_LIST("devices", soak, devices, device_count, XB_RUN_DEVICES, device_fields),
    XB_FIELDS_END};
