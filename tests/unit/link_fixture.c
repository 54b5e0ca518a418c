/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "link_fixture.h"

#include "base/text.h"
#include "xferbench/version.h"

#include <limits.h>
#include <math.h>

const struct format formats[FORMATS] = {{"txt", xb_link_table_write},
                                        {"nagios", xb_link_nagios_write},
                                        {"nhc", xb_link_nhc_write},
                                        {"prom", xb_link_prometheus_write},
                                        {"json", xb_link_json_write}};

/* ---- reports made by hand ---- */

static struct xb_pcie_end end_of(const char *bdf, double max_speed, unsigned max_width)
{
    struct xb_pcie_end end = {.vendor = 0x10de,
                              .link = {.known = true,
                                       .speed_gts = 2.5,
                                       .width = 16,
                                       .max_speed_gts = max_speed,
                                       .max_width = max_width},
                              .numa_node = 0,
                              .aer = {.known = true, .correctable = 7},
                              .control = {.known = true,
                                          .max_payload = 256,
                                          .max_payload_supported = 512,
                                          .max_read_request = 4096}};
    snprintf(end.bdf, sizeof end.bdf, "%s", bdf);
    snprintf(end.link.port, sizeof end.link.port, "%s", bdf);
    return end;
}

static struct xb_pcie_hop hop_of(const char *lower, const char *upper)
{
    return (struct xb_pcie_hop){
        .lower = end_of(lower, 32, 16), .upper = end_of(upper, 32, 16), .has_upper = true};
}

/* About what such a link can carry; the formula has tests of its own. */
static struct xb_ceiling ceiling_of(double speed, unsigned width)
{
    double share = speed * width / (32 * 16);
    return (struct xb_ceiling){.known = true,
                               .speed_gts = speed,
                               .width = width,
                               .raw = 63.02e9 * share,
                               .h2d = 58.1e9 * share,
                               .d2h = 57.4e9 * share,
                               .payload = 256,
                               .read_request = 4096};
}

static struct xb_nvlink link_of(bool active, uint64_t replays)
{
    return (struct xb_nvlink){.known = true,
                              .active = active,
                              .rate = active ? 26.562e9 : 0,
                              .counted = {active, active, false, active},
                              .counts = {replays}};
}

/* A test in which the link ran at that speed and width. */
static void make_attempt(struct xb_link_attempt *attempt, const char *bdf, const char *port,
                         double speed, unsigned width)
{
    memset(attempt, 0, sizeof *attempt);
    attempt->at_rest = (struct xb_pcie_path){.present = true,
                                             .hops = {hop_of(bdf, port)},
                                             .count = 1,
                                             .numa_node = 0,
                                             .local_cpus = "0-15,32-47",
                                             .iommu_group = 12};
    attempt->after = attempt->at_rest;
    attempt->load = (struct xb_pcie_load){
        .hops = {{.readings = 40, .speed_gts = speed, .width = width, .changes = 1}}, .count = 1};
    attempt->rates[XB_TO_GPU] = 55.42e9;
    attempt->rates[XB_BACK] = 55.31e9;
    attempt->health_before = (struct xb_device_health){.replays_known = true,
                                                       .replays = 5,
                                                       .clocks_known = true,
                                                       .sm_clock_mhz = 345,
                                                       .memory_clock_mhz = 3201,
                                                       .throttle_known = true,
                                                       .throttle = "idle",
                                                       .nvlinks_known = true,
                                                       .nvlinks_active = 2,
                                                       .nvlinks_inactive = 1};
    attempt->health_before.nvlinks[0] = link_of(true, 3);
    attempt->health_before.nvlinks[4] = link_of(true, 0);
    attempt->health_before.nvlinks[5] = link_of(false, 0);
    for (size_t i = 0; i < XB_PCIE_COUNTERS; i++)
        attempt->health_before.counted[i] = i != XB_PCIE_FATAL;
    attempt->health_before.counts[XB_PCIE_RETRAINS] = 486;
    attempt->health_after = attempt->health_before;
    attempt->health_seconds = 0.5;
    for (size_t i = 0; i < 2; i++)
        attempt->conditions[i] = (struct xb_link_conditions){.seconds = 0.125,
                                                             .cpus = 16,
                                                             .cpus_busy = 0.5,
                                                             .load_s = 140e-9,
                                                             .traffic_known = true,
                                                             .sent = 5e9,
                                                             .received = 59e9,
                                                             .memory_mhz = 3201,
                                                             .memory_best_mhz = 3202,
                                                             .slowed_by_hardware = i == 1,
                                                             .throttle = "power cap",
                                                             .memory_is_far = i == 1,
                                                             .mean = 55.3e9,
                                                             .fastest = 55.5e9};
    attempt->health_after.sm_clock_mhz = 1980;
    attempt->health_after.throttle[0] = '\0';
}

static struct xb_link_direction direction_of(double measured, double ceiling)
{
    return (struct xb_link_direction){.measured = measured,
                                      .share = measured / ceiling,
                                      .warning = 0.9 * ceiling,
                                      .critical = 0.8 * ceiling};
}

/* What follows from an attempt. */
static void judge(struct xb_verdict *verdict, enum xb_level level, double speed, unsigned width,
                  const struct xb_link_attempt *attempt)
{
    memset(verdict, 0, sizeof *verdict);
    verdict->found.level = level;
    verdict->ceiling = ceiling_of(speed, width);
    verdict->ways[XB_TO_GPU] = direction_of(attempt->rates[XB_TO_GPU], verdict->ceiling.h2d);
    verdict->ways[XB_BACK] = direction_of(attempt->rates[XB_BACK], verdict->ceiling.d2h);
}

void add_reason(struct xb_verdict *verdict, enum xb_level level, const char *code, const char *text)
{
    xb_finding_add(&verdict->found, level, code, "%s", text);
}

static void make_device(struct node *n, size_t index, const char *bdf, const char *port)
{
    struct xb_link_device *device = &n->devices[index];
    device->info = (struct xb_device_info){.index = (unsigned)index,
                                           .name = "NVIDIA H200",
                                           .uuid = "GPU-1",
                                           .architecture = "sm_90",
                                           .memory_bytes = 150754820096};
    snprintf(device->info.pci_bdf, sizeof device->info.pci_bdf, "%s", bdf);
    device->attempt_count = 1;
    make_attempt(&device->attempts[0], bdf, port, 32, 16);
    judge(&n->verdicts[index], XB_LEVEL_OK, 32, 16, &device->attempts[0]);
}

void make_healthy(struct node *n)
{
    make_device(n, 0, "0000:0f:00.0", "0000:0e:00.0");
    make_device(n, 1, "0000:1f:00.0", "0000:1e:00.0");
    n->report.device_count = 1;
    n->report.level = XB_LEVEL_OK;
}

void make_critical(struct node *n)
{
    struct xb_link_attempt *attempt = &n->devices[1].attempts[0];
    make_healthy(n);
    n->report.device_count = 2;
    n->report.level = XB_LEVEL_CRITICAL;
    make_attempt(attempt, "0000:1f:00.0", "0000:1e:00.0", 32, 8);
    attempt->rates[XB_TO_GPU] = 27.1e9;
    attempt->rates[XB_BACK] = 26.9e9;
    attempt->after.hops[0].upper.aer.correctable += 3;
    attempt->after.hops[0].lower.aer.nonfatal += 1;
    attempt->health_after.replays += 4;
    attempt->health_after.counts[XB_PCIE_NAKS_RECEIVED] += 4;
    attempt->health_after.nvlinks[0].counts[XB_NVLINK_CRC_ERRORS] += 2;
    attempt->health_after.nvlinks[4].counts[XB_NVLINK_RECOVERIES] += 1;
    judge(&n->verdicts[1], XB_LEVEL_CRITICAL, 32, 8, attempt);
    add_reason(&n->verdicts[1], XB_LEVEL_CRITICAL, "XB-LINK-WIDTH",
               "x8 of x16 at 0000:1f:00.0: reseat the card or check bifurcation");
    add_reason(&n->verdicts[1], XB_LEVEL_WARNING, "XB-AER-CORRECTABLE", "3 at 0000:1e:00.0");
    add_reason(&n->verdicts[1], XB_LEVEL_WARNING, "XB-AER-CORRECTABLE", "1 at 0000:1f:00.0");
    n->verdicts[1].limits.width = (struct xb_limit){true, 16, XB_LIMIT_FILE};
    n->verdicts[1].limits.min_d2h = (struct xb_limit){true, 48e9, XB_LIMIT_COMMAND_LINE};
    n->verdicts[1].ways[XB_BACK].critical = 48e9;
    n->verdicts[1].ways[XB_BACK].warning = 0;
    n->verdicts[1].ways[XB_BACK].source = XB_LIMIT_COMMAND_LINE;
}

void make_nothing(struct node *n)
{
    n->report.backend = NULL;
    n->report.probe = (struct xb_probe){.check_count = 0};
    n->report.command = NULL;
    n->report.device_count = 0;
    n->report.level = XB_LEVEL_UNKNOWN;
    snprintf(n->report.nothing, sizeof n->report.nothing,
             "no backend can run: install the GPU's driver");
}

void make_vm(struct node *n)
{
    struct xb_link_attempt *attempt = &n->devices[0].attempts[0];
    make_healthy(n);
    for (size_t i = 0; i < 2; i++) {
        struct xb_pcie_path *path = i == 0 ? &attempt->at_rest : &attempt->after;
        memset(&path->hops[0].upper, 0, sizeof path->hops[0].upper);
        path->hops[0].has_upper = false;
        path->hops[0].lower.aer.known = false;
        path->hops[0].lower.control.known = false;
        path->numa_node = -1;
        path->local_cpus[0] = '\0';
        path->iommu_group = -1;
    }
    attempt->health_before = attempt->health_after = (struct xb_device_health){0};
    n->verdicts[0].ceiling.payload_assumed = n->verdicts[0].ceiling.read_request_assumed = true;
    n->verdicts[0].ceiling.read_request = 512;
}

void make_amd(struct node *n)
{
    struct xb_link_attempt *attempt = &n->devices[0].attempts[0];
    make_healthy(n);
    n->report.no_pairs = "--no-peers leaves pairs of devices out";
    snprintf(n->devices[0].info.name, sizeof n->devices[0].info.name, "AMD Instinct MI210");
    struct xb_pcie_path *path = &attempt->at_rest;
    path->hops[0] = hop_of("0000:0f:00.0", "0000:0e:00.0");
    path->hops[0].on_package = true;
    path->hops[1] = hop_of("0000:0d:00.0", "0000:0c:00.0");
    path->hops[1].lower.link.max_speed_gts = 16;
    path->hops[1].upper.control.has_acs = path->hops[1].upper.control.acs_redirects = true;
    path->hops[2] = hop_of("0000:0b:00.0", "0000:0a:00.0");
    path->count = 3;
    attempt->after = *path;
    attempt->load = (struct xb_pcie_load){
        .hops = {{40, 32, 16, 0, 0}, {40, 16, 16, 2, 0}, {40, 32, 16, 0, 0}}, .count = 3};
    attempt->rates[XB_TO_GPU] = 26.4e9;
    attempt->rates[XB_BACK] = 27.1e9;
    judge(&n->verdicts[0], XB_LEVEL_OK, 16, 16, attempt);
    n->verdicts[0].bottleneck = 1;
}

void make_retried(struct node *n)
{
    struct xb_link_device *device = &n->devices[0];
    make_healthy(n);
    device->attempt_count = 3;
    device->attempts[2] = device->attempts[1] = device->attempts[0];
    device->attempts[0].rates[XB_TO_GPU] = 30e9;
    device->attempts[1].rates[XB_TO_GPU] = device->attempts[1].rates[XB_BACK] = 0;
    snprintf(device->attempts[1].failure, sizeof device->attempts[1].failure,
             "out of memory: free some");
    device->attempts[0].after.hops[0].lower.aer.correctable += 2;
    device->attempts[1].after.hops[0].lower.aer.correctable = 0; /* reset, and nothing since */
    device->attempts[2].after.hops[0].lower.aer.correctable += 1;
    n->verdicts[0].best = 2;
    n->report.attempts_allowed = 5;
}

void make_cut(struct node *n)
{
    make_healthy(n);
    n->report.device_count = 2;
    n->report.level = XB_LEVEL_UNKNOWN;
    n->report.cut = n->devices[1].cut = true;
    n->devices[1].attempt_count = 0;
    n->devices[1].info.pci_bdf[0] = '\0';
    memset(&n->verdicts[1], 0, sizeof n->verdicts[1]);
    n->verdicts[1].found.level = XB_LEVEL_UNKNOWN;
    add_reason(&n->verdicts[1], XB_LEVEL_UNKNOWN, "XB-DEADLINE", "the deadline came");
    n->report.pair_count = 1;
    n->pairs[0] = (struct xb_link_pair){.from = 1, .to = 0, .cut = true};
    xb_finding_add(&n->pair_verdicts[0].found, XB_LEVEL_UNKNOWN, "XB-DEADLINE", "too late");
}

static void make_pair(struct node *n, size_t from, double bandwidth)
{
    struct xb_link_pair *pair = &n->pairs[from];
    struct xb_pair_attempt *attempt = &pair->attempts[0];
    *pair = (struct xb_link_pair){.from = from, .to = 1 - from, .attempt_count = 1};
    attempt->reach_known = true;
    attempt->there = (struct xb_peer_info){
        .can_access = true, .link = "NVLink", .links = 18, .link_rate = 26.562e9, .hops = 1};
    attempt->back = attempt->there;
    attempt->bandwidth = bandwidth;
    n->pair_verdicts[from] = (struct xb_pair_verdict){
        .bandwidth = {.warning = 358.6e9, .critical = 239.1e9}, .like_count = 2};
}

void make_peers(struct node *n)
{
    make_healthy(n);
    n->report.device_count = n->report.pair_count = 2;
    n->report.level = XB_LEVEL_WARNING;
    for (size_t i = 0; i < 2; i++) {
        const struct xb_device_health *health = &n->devices[i].attempts[0].health_before;
        n->devices[i].peers.known = true;
        n->devices[i].peers.before = n->devices[i].peers.after = *health;
        n->devices[i].peers.after.nvlinks[4].counts[XB_NVLINK_REPLAYS] = i;
        n->devices[i].peers.seconds = 0.25;
    }
    make_pair(n, 0, 396.2e9);
    make_pair(n, 1, 331.5e9);
    n->pairs[1].attempt_count = 2;
    n->pairs[1].attempts[1] = n->pairs[1].attempts[0];
    n->pairs[1].attempts[0].bandwidth = 0;
    snprintf(n->pairs[1].attempts[0].failure, sizeof n->pairs[1].attempts[0].failure,
             "out of memory: free some");
    n->pair_verdicts[1].best = 1;
    xb_finding_add(&n->pair_verdicts[1].found, XB_LEVEL_WARNING, "XB-BW-PEER", "%s",
                   "331.50 GB/s is 0.693 of what 18 links of 26.56 GB/s carry");
}

/* The pairs of a node of texts that could break a format. */
static void make_nasty_pairs(struct node *n)
{
    n->report.pair_count = 2;
    n->report.no_pairs = NASTY;
    for (size_t i = 0; i < 2; i++) {
        struct xb_pair_attempt *attempt = &n->pairs[i].attempts[0];
        make_pair(n, i, NAN);
        snprintf(attempt->there.link, sizeof attempt->there.link, "%.15s", NASTY);
        attempt->there.links = attempt->back.links = UINT_MAX;
        attempt->there.link_rate = attempt->back.link_rate = i == 0 ? INFINITY : 1e300;
        attempt->data_wrong = true;
        snprintf(attempt->failure, sizeof attempt->failure, NASTY);
        xb_finding_add(&n->pair_verdicts[i].found, XB_LEVEL_CRITICAL, "XB-DATA-WRONG", "%s", NASTY);
    }
}

void make_nasty(struct node *n)
{
    make_critical(n);
    make_nasty_pairs(n);
    for (size_t i = 0; i < GPUS; i++) {
        struct xb_link_attempt *attempt = &n->devices[i].attempts[0];
        snprintf(n->devices[i].info.name, sizeof n->devices[i].info.name, NASTY);
        snprintf(attempt->failure, sizeof attempt->failure, NASTY);
        snprintf(attempt->health_after.throttle, sizeof attempt->health_after.throttle, NASTY);
        for (size_t j = 0; j < sizeof attempt->at_rest.local_cpus - 1; j++)
            attempt->at_rest.local_cpus[j] = "1000,"[j % 5];
        attempt->data_wrong = attempt->load.gone = true;
        snprintf(attempt->conditions[0].throttle, sizeof attempt->conditions[0].throttle, NASTY);
        attempt->conditions[0].cpus_busy = attempt->conditions[1].mean = NAN;
        attempt->conditions[1].load_s = INFINITY;
        attempt->load.hops[0] = (struct xb_pcie_seen){UINT_MAX, 123.456, UINT_MAX, UINT_MAX, 0};
        attempt->at_rest.hops[0].lower.link.speed_gts = 1.23456e-7;
        attempt->rates[XB_TO_GPU] = NAN;
        attempt->rates[XB_BACK] = INFINITY;
        attempt->after.hops[0].lower.aer.fatal = UINT64_MAX;
        while (n->verdicts[i].found.reason_count < XB_FINDINGS)
            add_reason(&n->verdicts[i], XB_LEVEL_CRITICAL, "XB-DATA-WRONG", NASTY);
        n->verdicts[i].found.level = XB_LEVEL_CRITICAL;
        n->verdicts[i].ceiling.known = i == 1;
    }
    snprintf(n->report.probe.driver_version, sizeof n->report.probe.driver_version, NASTY);
    snprintf(n->report.nothing, sizeof n->report.nothing, NASTY);
    n->report.command = "xferbench link --device 'a|b'";
}

const struct kind kinds[KINDS] = {
    {"healthy", make_healthy}, {"critical", make_critical}, {"nothing", make_nothing},
    {"vm", make_vm},           {"amd", make_amd},           {"retried", make_retried},
    {"cut", make_cut},         {"nasty", make_nasty},       {"peers", make_peers}};

int link_setup(void **state)
{
    struct node *n = calloc(1, sizeof *n);
    if (n == NULL)
        return 1;
    n->report = (struct xb_link_report){
        .version = XB_VERSION,
        .backend = "cuda",
        .probe = {.runtime_version = "13.0", .driver_version = "580.159.04", .device_count = 1},
        .command = "xferbench link",
        .devices = n->devices,
        .verdicts = n->verdicts,
        .pairs = n->pairs,
        .pair_verdicts = n->pair_verdicts,
        .attempts_allowed = 3,
        .deadline = 50};
    *state = n;
    return 0;
}

int link_teardown(void **state)
{
    free(*state);
    return 0;
}

static void find_measured(struct xb_link_direction *direction, double measured)
{
    direction->measured = xb_rate_known(measured) ? measured : 0;
}

void find_facts(struct node *n)
{
    for (size_t i = 0; i < n->report.device_count; i++) {
        struct xb_verdict *verdict = &n->verdicts[i];
        const struct xb_link_attempt *attempt = XB_ATTEMPT_JUDGED(verdict, &n->devices[i]);
        xb_link_facts_find(&n->devices[i], verdict->best, &verdict->facts);
        find_measured(&verdict->ways[XB_TO_GPU], attempt != NULL ? attempt->rates[XB_TO_GPU] : 0);
        find_measured(&verdict->ways[XB_BACK], attempt != NULL ? attempt->rates[XB_BACK] : 0);
    }
    for (size_t i = 0; i < n->report.pair_count; i++)
        xb_pair_verdict_observe(&n->pairs[i], n->pair_verdicts[i].best, &n->pair_verdicts[i]);
}

char *told(xb_link_writer *write, const struct xb_link_report *report)
{
    char *text = NULL;
    size_t size = 0;
    struct xb_error error;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    assert_int_equal(write(stream, report, &error), XB_OK);
    assert_int_equal(fclose(stream), 0);
    assert_int_equal(strlen(text), size);
    return text;
}

char *link_text(xb_link_writer *write, struct node *n)
{
    find_facts(n);
    return told(write, &n->report);
}

bool is_utf8(const char *text)
{
    while (xb_utf8_length(text) > 0)
        text += xb_utf8_length(text);
    return *text == '\0';
}
