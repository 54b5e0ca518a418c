/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "verdict_fixture.h"

#include <math.h>

struct xb_pcie_end make_end(const char *bdf, double speed, unsigned width)
{
    struct xb_pcie_end end = {.vendor = 0x10de,
                              .link = {.known = true,
                                       .speed_gts = 2.5, /* at rest */
                                       .width = width,
                                       .max_speed_gts = speed,
                                       .max_width = width},
                              .numa_node = -1,
                              .aer = {.known = true},
                              .control = {true, 256, 256, 4096, false, false}};
    snprintf(end.bdf, sizeof end.bdf, "%.15s", bdf);
    return end;
}

struct xb_pcie_hop make_hop(const char *lower, const char *upper, double speed, unsigned width)
{
    return (struct xb_pcie_hop){.lower = make_end(lower, speed, width),
                                .upper = make_end(upper, speed, width),
                                .has_upper = true};
}

struct xb_link_attempt healthy(void)
{
    struct xb_link_attempt attempt = {.rates = {55.4e9, 55.3e9}};
    attempt.at_rest.present = true;
    attempt.at_rest.count = 1;
    attempt.at_rest.hops[0] = make_hop(SLOT, "0000:0e:00.0", 32.0, 16);
    attempt.after = attempt.at_rest;
    attempt.load.count = 1;
    attempt.load.hops[0] = (struct xb_pcie_seen){100, 32.0, 16, 0, 0};
    attempt.health_before.replays_known = true;
    attempt.health_before.throttle_known = true;
    attempt.health_before.nvlinks_known = true;
    attempt.health_before.nvlinks_active = NVLINKS;
    for (size_t i = 0; i < NVLINKS; i++)
        attempt.health_before.nvlinks[i] = (struct xb_nvlink){
            .known = true, .active = true, .rate = 26.562e9, .counted = {true, true, false, true}};
    for (size_t i = 0; i < XB_PCIE_COUNTERS; i++) {
        attempt.health_before.counted[i] = true;
        attempt.health_before.counts[i] = 10; /* before the test */
    }
    attempt.health_after = attempt.health_before;
    attempt.health_seconds = 1;
    for (size_t i = 0; i < 2; i++) /* an idle machine: bench/results/h200/link-idle.json */
        attempt.conditions[i] = (struct xb_link_conditions){.seconds = 0.15,
                                                            .cpus = 16,
                                                            .cpus_busy = 0.2,
                                                            .load_s = 140e-9,
                                                            .traffic_known = true,
                                                            .sent = i == 0 ? 5.2e9 : 60.2e9,
                                                            .received = i == 0 ? 59.5e9 : 0,
                                                            .memory_mhz = 3201,
                                                            .memory_best_mhz = 3201,
                                                            .mean = 55.3e9,
                                                            .fastest = 55.5e9};
    return attempt;
}

void make_slow(struct xb_link_attempt *attempt, bool is_back, double rate)
{
    struct xb_link_conditions *seen = &attempt->conditions[is_back];
    attempt->rates[is_back] = seen->mean = seen->fastest = rate;
    seen->sent = (is_back ? 1.08 : 0.09) * rate; /* with headers; requests */
    seen->received = (is_back ? 0 : 1.08) * rate;
}

struct xb_link_attempt behind_switch(double speed, unsigned width, double seen, unsigned seen_width)
{
    struct xb_link_attempt attempt = healthy();
    attempt.at_rest.count = 2;
    attempt.at_rest.hops[1] = make_hop(SWITCH, "0000:00:01.0", speed, width);
    attempt.after = attempt.at_rest;
    attempt.load.count = 2;
    attempt.load.hops[1] = (struct xb_pcie_seen){100, seen, seen_width, 0, 0};
    return attempt;
}

const struct xb_link_limits no_limits;

struct xb_verdict verdict_of(const struct xb_link_attempt *attempt,
                             const struct xb_link_limits *limits)
{
    static struct xb_link_device device; /* large */
    struct xb_verdict verdict;
    memset(&verdict, 0xa5, sizeof verdict);
    device = (struct xb_link_device){.info = {.pci_bdf = SLOT, .architecture = "sm_90"},
                                     .attempt_count = 1};
    device.attempts[0] = *attempt;
    xb_verdict_of_device(&device, limits, &verdict);
    return verdict;
}

/* ---- what follows ---- */

void assert_found_nothing(const struct xb_findings *found)
{
    if (found->reason_count > 0)
        fail_msg("%s: %s", found->reasons[0].code, found->reasons[0].text);
    assert_int_equal(found->level, XB_LEVEL_OK);
}

void assert_ok(const struct xb_verdict *verdict)
{
    assert_found_nothing(&verdict->found);
}

void assert_found_only(const struct xb_findings *found, enum xb_level level, const char *code,
                       const char *pieces)
{
    char copy[256];
    char *rest = NULL;
    for (size_t i = 1; i < found->reason_count; i++)
        print_error("besides: %s %s\n", found->reasons[i].code, found->reasons[i].text);
    assert_int_equal(found->reason_count, 1);
    assert_string_equal(found->reasons[0].code, code);
    assert_int_equal(found->reasons[0].level, level);
    assert_int_equal(found->level, level);
    snprintf(copy, sizeof copy, "%s", pieces);
    for (char *piece = strtok_r(copy, "|", &rest); piece != NULL;
         piece = strtok_r(NULL, "|", &rest))
        if (strstr(found->reasons[0].text, piece) == NULL)
            fail_msg("\"%s\" is not in \"%s\"", piece, found->reasons[0].text);
}

void assert_only(const struct xb_verdict *verdict, enum xb_level level, const char *code,
                 const char *pieces)
{
    assert_found_only(&verdict->found, level, code, pieces);
}

void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.9g is not %.9g", value, expected);
}

void assert_attempt(const struct xb_link_attempt *attempt, enum xb_level level, const char *code,
                    const char *pieces)
{
    struct xb_verdict verdict = verdict_of(attempt, &no_limits);
    assert_only(&verdict, level, code, pieces);
}

void assert_attempt_ok(const struct xb_link_attempt *attempt)
{
    struct xb_verdict verdict = verdict_of(attempt, &no_limits);
    assert_ok(&verdict);
}
