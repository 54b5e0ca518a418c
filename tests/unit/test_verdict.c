/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* strtok_r */
#include "xferbench/verdict.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define SLOT "0000:0f:00.0"
#define SWITCH "0000:0c:00.0"

/* ---- what is observed: a healthy H200, and what is changed of it ---- */

static struct xb_pcie_end make_end(const char *bdf, double speed, unsigned width)
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

static struct xb_pcie_hop make_hop(const char *lower, const char *upper, double speed,
                                   unsigned width)
{
    return (struct xb_pcie_hop){.lower = make_end(lower, speed, width),
                                .upper = make_end(upper, speed, width),
                                .has_upper = true};
}

static struct xb_link_attempt healthy(void)
{
    struct xb_link_attempt attempt = {.h2d = 55.4e9, .d2h = 55.3e9};
    attempt.at_rest.present = true;
    attempt.at_rest.count = 1;
    attempt.at_rest.hops[0] = make_hop(SLOT, "0000:0e:00.0", 32.0, 16);
    attempt.after = attempt.at_rest;
    attempt.load.count = 1;
    attempt.load.hops[0] = (struct xb_pcie_seen){100, 32.0, 16, 0, 0};
    attempt.health_before.replays_known = true;
    attempt.health_before.throttle_known = true;
    attempt.health_before.nvlinks_known = true;
    attempt.health_before.nvlinks_active = 18;
    attempt.health_before.nvlink_errors_known = true;
    attempt.health_after = attempt.health_before;
    return attempt;
}

/* Behind a switch, whose upper link is such. */
static struct xb_link_attempt behind_switch(double speed, unsigned width, double seen,
                                            unsigned seen_width)
{
    struct xb_link_attempt attempt = healthy();
    attempt.at_rest.count = 2;
    attempt.at_rest.hops[1] = make_hop(SWITCH, "0000:00:01.0", speed, width);
    attempt.after = attempt.at_rest;
    attempt.load.count = 2;
    attempt.load.hops[1] = (struct xb_pcie_seen){100, seen, seen_width, 0, 0};
    return attempt;
}

static const struct xb_link_limits no_limits;

static struct xb_verdict verdict_of(const struct xb_link_attempt *attempt,
                                    const struct xb_link_limits *limits)
{
    struct xb_verdict verdict;
    memset(&verdict, 0xa5, sizeof verdict);
    xb_verdict_of_attempt(attempt, limits, &verdict);
    return verdict;
}

/* ---- what follows ---- */

static const struct xb_reason *find(const struct xb_verdict *verdict, const char *code)
{
    for (size_t i = 0; i < verdict->reason_count; i++)
        if (strcmp(verdict->reasons[i].code, code) == 0)
            return &verdict->reasons[i];
    return NULL;
}

static void assert_ok(const struct xb_verdict *verdict)
{
    if (verdict->reason_count > 0)
        fail_msg("%s: %s", verdict->reasons[0].code, verdict->reasons[0].text);
    assert_int_equal(verdict->level, XB_LEVEL_OK);
}

/* The one reason there is; its text has every piece, which are separated by '|'. */
static void assert_only(const struct xb_verdict *verdict, enum xb_level level, const char *code,
                        const char *pieces)
{
    char copy[256];
    char *rest = NULL;
    for (size_t i = 1; i < verdict->reason_count; i++)
        print_error("besides: %s %s\n", verdict->reasons[i].code, verdict->reasons[i].text);
    assert_int_equal(verdict->reason_count, 1);
    assert_string_equal(verdict->reasons[0].code, code);
    assert_int_equal(verdict->reasons[0].level, level);
    assert_int_equal(verdict->level, level);
    snprintf(copy, sizeof copy, "%s", pieces);
    for (char *piece = strtok_r(copy, "|", &rest); piece != NULL;
         piece = strtok_r(NULL, "|", &rest))
        if (strstr(verdict->reasons[0].text, piece) == NULL)
            fail_msg("\"%s\" is not in \"%s\"", piece, verdict->reasons[0].text);
}

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.9g is not %.9g", value, expected);
}

/* For one attempt without limits. */
static void assert_attempt(const struct xb_link_attempt *attempt, enum xb_level level,
                           const char *code, const char *pieces)
{
    struct xb_verdict verdict = verdict_of(attempt, &no_limits);
    assert_only(&verdict, level, code, pieces);
}

static void assert_attempt_ok(const struct xb_link_attempt *attempt)
{
    struct xb_verdict verdict = verdict_of(attempt, &no_limits);
    assert_ok(&verdict);
}

/* ---- levels, limits ---- */

static void orders_levels(void **state)
{
    static const enum xb_level order[] = {XB_LEVEL_OK, XB_LEVEL_UNKNOWN, XB_LEVEL_WARNING,
                                          XB_LEVEL_CRITICAL};
    (void)state;
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 4; j++)
            assert_int_equal(xb_level_worse(order[i], order[j]), order[i > j ? i : j]);
    assert_string_equal(xb_level_name(XB_LEVEL_OK), "OK");
    assert_string_equal(xb_level_name(XB_LEVEL_WARNING), "WARNING");
    assert_string_equal(xb_level_name(XB_LEVEL_CRITICAL), "CRITICAL");
    assert_string_equal(xb_level_name(XB_LEVEL_UNKNOWN), "UNKNOWN");
    assert_string_equal(xb_limit_source_name(XB_LIMIT_DEFAULT), "default");
    assert_string_equal(xb_limit_source_name(XB_LIMIT_FILE), "file");
    assert_string_equal(xb_limit_source_name(XB_LIMIT_COMMAND_LINE), "command line");
}

static void has_default_shares(void **state)
{
    (void)state;
    assert_near(xb_default_warn_share(32.0), 0.90, 0.0);
    assert_near(xb_default_critical_share(16.0), 0.80, 0.0);
    assert_near(xb_default_warn_share(8.0), 0.85, 0.0);
    assert_near(xb_default_critical_share(8.0), 0.70, 0.0);
}

static void reads_expectations(void **state)
{
    static const struct {
        const char *text;
        unsigned generation, width;
    } rows[] = {{"gen5x16", 5, 16}, {"GEN4X8", 4, 8}, {"Gen1", 1, 0}, {"gen6", 6, 0},
                {"x16", 0, 16},     {"X1", 0, 1},     {"x12", 0, 12}, {"x32", 0, 32}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct xb_link_limits limits = {0};
        struct xb_error error;
        assert_int_equal(xb_expect_parse(rows[i].text, XB_LIMIT_FILE, &limits, &error), XB_OK);
        assert_int_equal(limits.generation.is_set, rows[i].generation > 0);
        assert_int_equal(limits.width.is_set, rows[i].width > 0);
        assert_near(limits.generation.value, rows[i].generation, 0.0);
        assert_near(limits.width.value, rows[i].width, 0.0);
        if (rows[i].width > 0)
            assert_int_equal(limits.width.source, XB_LIMIT_FILE);
    }
}

static void refuses_what_is_no_expectation(void **state)
{
    static const char *const texts[] = {
        "",   "gen",  "gen0",  "gen7",   "gen05",    "gen55",    "gen5x",      "gen5x0",
        "x",  "x3",   "x64",   "x016",   "gen5x160", "gen5 x16", " gen5x16",   "gen5x16 ",
        "16", "5x16", "gen-5", "gen5.0", "x16gen5",  "gen5y16",  "generation5"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct xb_link_limits limits = {.width = {true, 8.0, XB_LIMIT_COMMAND_LINE}};
        struct xb_error error = {0};
        if (xb_expect_parse(texts[i], XB_LIMIT_FILE, &limits, &error) != XB_ERR_USAGE)
            fail_msg("\"%s\" passes", texts[i]);
        assert_non_null(strstr(error.message, "gen5x16"));
        assert_false(limits.generation.is_set);
        assert_near(limits.width.value, 8.0, 0.0);
    }
}

/* ---- the link ---- */

static void finds_a_healthy_link_ok(void **state)
{
    struct xb_link_attempt attempt = healthy();
    struct xb_verdict verdict = verdict_of(&attempt, &no_limits);
    (void)state;
    assert_ok(&verdict);
    assert_near(verdict.h2d_share, 0.953, 0.001);
    assert_near(verdict.d2h_share, 0.963, 0.001);
    assert_int_equal(verdict.bottleneck, 0);
    assert_int_equal(verdict.ceiling.payload, 256);
    assert_int_equal(verdict.ceiling.read_request, 4096);
    assert_near(verdict.min_h2d, 0.8 * verdict.ceiling.h2d, 0.0);
    assert_near(verdict.warn_h2d, 0.9 * verdict.ceiling.h2d, 0.0);
    assert_near(verdict.min_d2h, 0.8 * verdict.ceiling.d2h, 0.0);
    assert_near(verdict.warn_d2h, 0.9 * verdict.ceiling.d2h, 0.0);
    assert_int_equal(verdict.limit_source, XB_LIMIT_DEFAULT);
}

static void finds_a_virtual_machine_ok(void **state)
{
    struct xb_link_attempt attempt = healthy();
    (void)state;
    attempt.at_rest.hops[0].has_upper = false;
    memset(&attempt.at_rest.hops[0].upper, 0, sizeof attempt.at_rest.hops[0].upper);
    attempt.after = attempt.at_rest;
    assert_attempt_ok(&attempt);
}

static void judges_the_width(void **state)
{
    struct xb_link_attempt attempt = healthy();
    (void)state;
    attempt.load.hops[0].width = 8;
    attempt.h2d = attempt.d2h = 27.5e9; /* what x8 can do: no second reason */
    assert_attempt(&attempt, XB_LEVEL_CRITICAL, "XB-LINK-WIDTH",
                   "x8 of x16 at " SLOT ": reseat the card or check bifurcation");
    attempt.at_rest.hops[0].has_upper = attempt.after.hops[0].has_upper = false;
    assert_attempt(&attempt, XB_LEVEL_WARNING, "XB-LINK-WIDTH",
                   "x8 of x16 at " SLOT "|the slot cannot be seen from here (virtual machine)");
}

static void judges_the_speed(void **state)
{
    struct xb_link_attempt attempt = healthy();
    (void)state;
    attempt.load.hops[0].speed_gts = 8.0;
    attempt.h2d = attempt.d2h = 13.5e9;
    assert_attempt(&attempt, XB_LEVEL_CRITICAL, "XB-LINK-SPEED",
                   "Gen3 under load|slot and GPU can do Gen5|" SLOT "|BIOS|riser|reseat");
    attempt.at_rest.hops[0].has_upper = attempt.after.hops[0].has_upper = false;
    assert_attempt(&attempt, XB_LEVEL_WARNING, "XB-LINK-SPEED",
                   "Gen3 under load|can do Gen5|virtual machine");
}

static void does_not_accuse_a_slot_that_tells_nothing(void **state)
{
    struct xb_link_attempt attempt = healthy();
    (void)state;
    attempt.load.hops[0].width = 8;
    attempt.h2d = attempt.d2h = 27.5e9;
    attempt.at_rest.hops[0].upper.link = (struct xb_pcie_link){0};
    attempt.after = attempt.at_rest;
    assert_attempt(&attempt, XB_LEVEL_WARNING, "XB-LINK-WIDTH", "the other end does not tell");
}

/* What only one end can do is nothing to ask for. */
static void asks_for_no_more_than_both_ends_can(void **state)
{
    struct xb_link_attempt attempt = healthy();
    (void)state;
    attempt.at_rest.hops[0].upper = make_end("0000:0e:00.0", 16.0, 16);
    attempt.after = attempt.at_rest;
    attempt.load.hops[0] = (struct xb_pcie_seen){9, 16.0, 16, 3, 0};
    attempt.h2d = attempt.d2h = 27.5e9;
    assert_attempt_ok(&attempt);
}

static void wonders_at_a_slot_with_fewer_lanes(void **state)
{
    struct xb_link_attempt attempt = healthy();
    struct xb_link_limits limits = {.generation = {true, 5.0, XB_LIMIT_FILE}};
    (void)state;
    attempt.at_rest.hops[0].upper.link.max_width = 8;
    attempt.after = attempt.at_rest;
    attempt.load.hops[0].width = 8;
    attempt.h2d = attempt.d2h = 27.5e9;
    assert_attempt(&attempt, XB_LEVEL_WARNING, "XB-LINK-SLOT",
                   "the port has x8 and the card could do x16|" SLOT "|bifurcation|--expect");
    struct xb_verdict verdict = verdict_of(&attempt, &limits); /* which says nothing of lanes */
    assert_only(&verdict, XB_LEVEL_WARNING, "XB-LINK-SLOT", "x8");
    limits.width = (struct xb_limit){true, 8.0, XB_LIMIT_FILE};
    verdict = verdict_of(&attempt, &limits);
    assert_ok(&verdict);
    attempt.at_rest.hops[0].upper.vendor = 0x1b36;
    assert_attempt(&attempt, XB_LEVEL_WARNING, "XB-LINK-WIDTH", "virtual machine");

    attempt = healthy();
    attempt.after.hops[0].upper.link.max_width = 8; /* it had more before */
    assert_attempt_ok(&attempt);
    attempt.at_rest.hops[0].lower.link.max_width = 8;
    attempt.at_rest.hops[0].upper.link.max_width = 8;
    attempt.load.hops[0].width = 8; /* the card tells its best only when awake */
    attempt.h2d = attempt.d2h = 27.5e9;
    assert_attempt(&attempt, XB_LEVEL_WARNING, "XB-LINK-SLOT", "x8|x16");
    attempt = healthy();
    attempt.at_rest.hops[0].upper.link.max_width = 0; /* not known */
    attempt.after = attempt.at_rest;
    assert_attempt_ok(&attempt);
    attempt = behind_switch(32.0, 16, 32.0, 16); /* not the slot */
    attempt.at_rest.hops[1].upper.link.max_width = 8;
    attempt.after = attempt.at_rest;
    attempt.load.hops[1].width = 8;
    attempt.h2d = attempt.d2h = 27.5e9;
    assert_attempt(&attempt, XB_LEVEL_WARNING, "XB-LINK-BOTTLENECK", SWITCH);
    attempt.at_rest.hops[0].on_package = true; /* then it is */
    attempt.after = attempt.at_rest;
    assert_attempt(&attempt, XB_LEVEL_WARNING, "XB-LINK-SLOT", SWITCH);
}

/* QEMU's port may say anything of itself. */
static void does_not_believe_an_emulated_port(void **state)
{
    struct xb_link_attempt attempt = healthy();
    (void)state;
    attempt.at_rest.hops[0].upper = make_end("0000:00:02.0", 2.5, 1);
    attempt.at_rest.hops[0].upper.vendor = 0x1b36;
    attempt.after = attempt.at_rest;
    assert_attempt_ok(&attempt);
    attempt.load.hops[0].speed_gts = 16.0;
    attempt.h2d = attempt.d2h = 27.5e9;
    assert_attempt(&attempt, XB_LEVEL_WARNING, "XB-LINK-SPEED",
                   "Gen4 under load|the device can do Gen5|virtual machine");
    attempt.load.hops[0] = (struct xb_pcie_seen){9, 32.0, 8, 0, 0};
    assert_attempt(&attempt, XB_LEVEL_WARNING, "XB-LINK-WIDTH", "x8 of x16|virtual machine");
}

static void judges_a_link_that_falls(void **state)
{
    struct xb_link_attempt attempt = behind_switch(32.0, 16, 32.0, 16);
    (void)state;
    attempt.load.hops[1].changes = 5;
    assert_attempt_ok(&attempt);
    attempt.load.hops[1].drops = 2;
    assert_attempt(&attempt, XB_LEVEL_WARNING, "XB-LINK-UNSTABLE",
                   SWITCH " fell while data moved|2 times in attempt 1 of 1|reseat|riser|ASPM");
    attempt.at_rest.hops[1].on_package = true;
    assert_attempt_ok(&attempt);
    attempt.load.hops[0].drops = 1;
    assert_attempt(&attempt, XB_LEVEL_WARNING, "XB-LINK-UNSTABLE", SLOT);
    attempt.after.present = false; /* which explains it */
    assert_attempt(&attempt, XB_LEVEL_CRITICAL, "XB-DEVICE-GONE", "bus");
}

/* Some GPUs call 2.5 GT/s their maximum while they idle. */
static void takes_the_maximum_after_the_transfers(void **state)
{
    struct xb_link_attempt attempt = healthy();
    (void)state;
    attempt.at_rest.hops[0].lower.link.max_speed_gts = 2.5;
    attempt.at_rest.hops[0].lower.link.max_width = 8;
    attempt.load.hops[0] = (struct xb_pcie_seen){9, 32.0, 8, 0, 0};
    attempt.h2d = attempt.d2h = 27.5e9;
    assert_attempt(&attempt, XB_LEVEL_CRITICAL, "XB-LINK-WIDTH", "x8 of x16");
    attempt.load.hops[0] = (struct xb_pcie_seen){9, 16.0, 16, 0, 0};
    assert_attempt(&attempt, XB_LEVEL_CRITICAL, "XB-LINK-SPEED", "Gen4|Gen5");
}

static void needs_a_reading_under_load(void **state)
{
    struct xb_link_attempt attempt = healthy();
    (void)state;
    attempt.load.hops[0] = (struct xb_pcie_seen){0};
    assert_attempt(&attempt, XB_LEVEL_UNKNOWN, "XB-LINK-UNREADABLE", SLOT "|could not be read");
    attempt = healthy();
    attempt.load.count = 0;
    assert_attempt(&attempt, XB_LEVEL_UNKNOWN, "XB-LINK-UNREADABLE", SLOT);
    attempt = healthy();
    attempt.at_rest.hops[0].lower.link = attempt.at_rest.hops[0].upper.link =
        (struct xb_pcie_link){0};
    attempt.after = attempt.at_rest;
    assert_attempt(&attempt, XB_LEVEL_UNKNOWN, "XB-LINK-UNREADABLE", SLOT "|max_link_speed");
}

static void has_limits_of_its_own_for_a_link_that_is_not_readable(void **state)
{
    struct xb_link_attempt attempt = healthy();
    struct xb_link_limits limits = {.min_d2h = {true, 60e9, XB_LIMIT_COMMAND_LINE}};
    (void)state;
    attempt.load.hops[0] = (struct xb_pcie_seen){0};
    struct xb_verdict verdict = verdict_of(&attempt, &limits);
    assert_int_equal(verdict.level, XB_LEVEL_CRITICAL);
    assert_string_equal(verdict.reasons[0].code, "XB-BW-D2H");
    assert_string_equal(verdict.reasons[1].code, "XB-LINK-UNREADABLE");
    assert_near(verdict.h2d_share, 0.0, 0.0);
    assert_false(verdict.ceiling.known);
}

static void knows_no_link_without_a_device_in_sysfs(void **state)
{
    struct xb_link_attempt attempt = {.h2d = 10e9, .d2h = 10e9};
    (void)state;
    assert_attempt(&attempt, XB_LEVEL_UNKNOWN, "XB-LINK-NONE",
                   "not a PCI device, or sysfs does not show it");
}

static void never_judges_a_link_on_the_package(void **state)
{
    struct xb_link_attempt attempt = behind_switch(32.0, 16, 32.0, 16);
    struct xb_verdict verdict;
    (void)state;
    attempt.at_rest.hops[0].on_package = true;
    attempt.load.hops[0] = (struct xb_pcie_seen){5, 2.5, 1, 0, 0};
    verdict = verdict_of(&attempt, &no_limits);
    assert_ok(&verdict);
    assert_int_equal(verdict.bottleneck, 1);

    attempt.at_rest.hops[1].on_package = true; /* above the slot it makes no sense, but no harm */
    attempt.at_rest.hops[0].on_package = false;
    attempt.load.hops[0] = (struct xb_pcie_seen){5, 32.0, 16, 0, 0};
    attempt.load.hops[1] = (struct xb_pcie_seen){5, 2.5, 1, 0, 0};
    assert_attempt_ok(&attempt);

    attempt = behind_switch(32.0, 16, 32.0, 8); /* that is the slot here */
    attempt.at_rest.hops[0].on_package = true;
    attempt.load.hops[0] = (struct xb_pcie_seen){5, 2.5, 1, 0, 0};
    attempt.h2d = attempt.d2h = 27.5e9;
    assert_attempt(&attempt, XB_LEVEL_CRITICAL, "XB-LINK-WIDTH", SWITCH "|reseat the card");
    attempt.load.hops[1].readings = 0;
    assert_attempt(&attempt, XB_LEVEL_UNKNOWN, "XB-LINK-UNREADABLE", SWITCH);
}

static void judges_links_further_up(void **state)
{
    struct xb_link_attempt attempt = behind_switch(32.0, 16, 32.0, 8);
    (void)state;
    attempt.h2d = attempt.d2h = 27.5e9;
    assert_attempt(&attempt, XB_LEVEL_CRITICAL, "XB-LINK-WIDTH", "x8 of x16 at " SWITCH);
    attempt = behind_switch(32.0, 16, 16.0, 16);
    attempt.h2d = attempt.d2h = 27.5e9;
    assert_attempt(&attempt, XB_LEVEL_CRITICAL, "XB-LINK-SPEED", "Gen4|" SWITCH "|Gen5");
    attempt.at_rest.hops[1].has_upper = attempt.after.hops[1].has_upper = false;
    assert_attempt(&attempt, XB_LEVEL_WARNING, "XB-LINK-SPEED",
                   "Gen4|" SWITCH ", its port can do Gen5|virtual machine");
    attempt = behind_switch(32.0, 16, 0.0, 0);
    attempt.load.hops[1].readings = 0; /* not readable: nothing to say */
    assert_attempt_ok(&attempt);
}

static void names_the_bottleneck(void **state)
{
    struct xb_link_attempt attempt = behind_switch(16.0, 16, 16.0, 16);
    struct xb_verdict verdict;
    (void)state;
    attempt.h2d = attempt.d2h = 27.5e9;
    verdict = verdict_of(&attempt, &no_limits);
    assert_only(&verdict, XB_LEVEL_WARNING, "XB-LINK-BOTTLENECK",
                SWITCH "|Gen4 x16|its own is Gen5 x16");
    assert_int_equal(verdict.bottleneck, 1);
    assert_near(verdict.ceiling.speed_gts, 16.0, 0.0);

    /* A wider link that is slower carries as much: none is the bottleneck. */
    attempt = behind_switch(16.0, 32, 16.0, 32);
    verdict = verdict_of(&attempt, &no_limits);
    assert_ok(&verdict);
    assert_int_equal(verdict.bottleneck, 0);

    /* The next link up that carries no less is not named too; one that carries less is. */
    attempt = behind_switch(16.0, 16, 16.0, 16);
    attempt.h2d = attempt.d2h = 27.5e9;
    attempt.at_rest.hops[2] = make_hop("0000:0a:00.0", "0000:00:02.0", 32.0, 8);
    attempt.load.hops[2] = (struct xb_pcie_seen){9, 32.0, 8, 0, 0};
    attempt.at_rest.count = attempt.load.count = 3;
    attempt.after = attempt.at_rest;
    verdict = verdict_of(&attempt, &no_limits);
    assert_int_equal(verdict.reason_count, 1);
    attempt.at_rest.hops[2] = make_hop("0000:0a:00.0", "0000:00:02.0", 16.0, 8);
    attempt.load.hops[2] = (struct xb_pcie_seen){9, 16.0, 8, 0, 0};
    attempt.after = attempt.at_rest;
    attempt.h2d = attempt.d2h = 13.9e9;
    verdict = verdict_of(&attempt, &no_limits);
    assert_int_equal(verdict.reason_count, 2);
    assert_int_equal(verdict.bottleneck, 2);
}

static void takes_the_least_payload_on_the_way(void **state)
{
    struct xb_link_attempt attempt = behind_switch(32.0, 16, 32.0, 16);
    (void)state;
    attempt.h2d = attempt.d2h = 52.0e9;
    attempt.at_rest.hops[1].upper.control.max_payload = 128;
    attempt.at_rest.hops[1].upper.control.max_read_request = 512; /* its own requests */
    struct xb_verdict verdict = verdict_of(&attempt, &no_limits);
    assert_int_equal(verdict.ceiling.payload, 128);
    assert_int_equal(verdict.ceiling.read_request, 4096);
    attempt.at_rest.hops[1].upper.control.known = false;
    verdict = verdict_of(&attempt, &no_limits);
    assert_int_equal(verdict.ceiling.payload, 256);
    attempt.at_rest.hops[0].lower.control.known = false;
    verdict = verdict_of(&attempt, &no_limits);
    assert_true(verdict.ceiling.payload_assumed);
}

static void expects_what_it_is_told(void **state)
{
    static const struct {
        const char *text;
        bool met;
        const char *piece;
    } rows[] = {{"gen5x16", true, ""},
                {"gen4x8", true, ""},
                {"gen6x16", false, "Gen5 x16 under load at " SLOT ", expected is Gen6 x16"},
                {"gen6", false, "expected is Gen6 or better"},
                {"x32", false, "expected is x32 or better"}};
    struct xb_link_attempt attempt = healthy();
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct xb_link_limits limits = {0};
        struct xb_error error;
        assert_int_equal(xb_expect_parse(rows[i].text, XB_LIMIT_COMMAND_LINE, &limits, &error),
                         XB_OK);
        struct xb_verdict verdict = verdict_of(&attempt, &limits);
        if (rows[i].met)
            assert_ok(&verdict);
        else
            assert_only(&verdict, XB_LEVEL_CRITICAL, "XB-LINK-EXPECT", rows[i].piece);
    }
}

/* Of the slot's link, for what it names. */
static void takes_an_expectation_in_place_of_both_ends(void **state)
{
    static const struct {
        const char *text;
        const char *code; /* NULL: OK */
    } rows[] = {{"gen4x8", NULL},
                {"x8", "XB-LINK-SPEED"},
                {"gen4", "XB-LINK-WIDTH"},
                {"gen5x8", "XB-LINK-EXPECT"},
                {"gen4x16", "XB-LINK-EXPECT"}};
    struct xb_link_attempt attempt = healthy();
    struct xb_link_limits limits;
    struct xb_error error;
    struct xb_verdict verdict;
    (void)state;
    attempt.load.hops[0] = (struct xb_pcie_seen){9, 16.0, 8, 0, 0};
    attempt.h2d = attempt.d2h = 14.0e9;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        limits = (struct xb_link_limits){0};
        assert_int_equal(xb_expect_parse(rows[i].text, XB_LIMIT_FILE, &limits, &error), XB_OK);
        verdict = verdict_of(&attempt, &limits);
        if (rows[i].code == NULL)
            assert_ok(&verdict);
        else
            assert_only(&verdict, XB_LEVEL_CRITICAL, rows[i].code, SLOT);
    }
    attempt = behind_switch(32.0, 16, 16.0, 16); /* further up it does not hold */
    attempt.h2d = attempt.d2h = 27.5e9;
    limits = (struct xb_link_limits){0};
    assert_int_equal(xb_expect_parse("gen4x16", XB_LIMIT_FILE, &limits, &error), XB_OK);
    verdict = verdict_of(&attempt, &limits);
    assert_only(&verdict, XB_LEVEL_CRITICAL, "XB-LINK-SPEED", SWITCH);
    attempt = healthy();
    attempt.at_rest.hops[0].lower.link = attempt.at_rest.hops[0].upper.link =
        (struct xb_pcie_link){0};
    attempt.after = attempt.at_rest; /* nobody needs what they can do */
    verdict = verdict_of(&attempt, &limits);
    assert_ok(&verdict);
    limits.width.is_set = false;
    verdict = verdict_of(&attempt, &limits);
    assert_only(&verdict, XB_LEVEL_UNKNOWN, "XB-LINK-UNREADABLE", SLOT);
}

/* ---- bandwidth ---- */

/* Exactly at a limit is not below it. */
static void judges_shares_of_the_ceiling(void **state)
{
    struct xb_link_attempt attempt = healthy();
    (void)state;
    for (int d2h = 0; d2h < 2; d2h++) {
        const char *code = d2h ? "XB-BW-D2H" : "XB-BW-H2D";
        attempt = healthy();
        double *measured = d2h ? &attempt.d2h : &attempt.h2d;
        struct xb_ceiling ceiling = xb_ceiling_of(32.0, 16, &attempt.at_rest.hops[0].lower.control);
        double full = d2h ? ceiling.d2h : ceiling.h2d;
        *measured = 0.9 * full;
        assert_attempt_ok(&attempt);
        *measured = nextafter(0.9 * full, 0.0);
        assert_attempt(&attempt, XB_LEVEL_WARNING, code, "0.900|Gen5 x16|below 0.90");
        *measured = 0.8 * full;
        assert_attempt(&attempt, XB_LEVEL_WARNING, code, "below 0.90");
        *measured = nextafter(0.8 * full, 0.0);
        assert_attempt(&attempt, XB_LEVEL_CRITICAL, code, "below 0.80");
    }
}

static void asks_less_of_slow_links(void **state)
{
    struct xb_link_attempt attempt = healthy();
    (void)state;
    attempt.at_rest.hops[0] = make_hop(SLOT, "0000:0e:00.0", 8.0, 16);
    attempt.after = attempt.at_rest;
    attempt.load.hops[0] = (struct xb_pcie_seen){5, 8.0, 16, 0, 0};
    struct xb_ceiling ceiling = xb_ceiling_of(8.0, 16, &attempt.at_rest.hops[0].lower.control);
    attempt.h2d = 0.85 * ceiling.h2d;
    attempt.d2h = 0.85 * ceiling.d2h;
    assert_attempt_ok(&attempt);
    attempt.h2d = 0.70 * ceiling.h2d;
    assert_attempt(&attempt, XB_LEVEL_WARNING, "XB-BW-H2D", "below 0.85");
    attempt.h2d = 0.69 * ceiling.h2d;
    assert_attempt(&attempt, XB_LEVEL_CRITICAL, "XB-BW-H2D", "below 0.70");
}

static void takes_shares_that_are_set(void **state)
{
    struct xb_link_attempt attempt = healthy();
    struct xb_link_limits limits = {.warn_share = {true, 0.97, XB_LIMIT_FILE},
                                    .critical_share = {true, 0.96, XB_LIMIT_FILE}};
    (void)state;
    struct xb_verdict verdict = verdict_of(&attempt, &limits);
    assert_int_equal(verdict.reason_count, 2);
    assert_int_equal(find(&verdict, "XB-BW-H2D")->level, XB_LEVEL_CRITICAL);
    assert_int_equal(find(&verdict, "XB-BW-D2H")->level, XB_LEVEL_WARNING);
    assert_int_equal(verdict.limit_source, XB_LIMIT_FILE);

    /* One alone moves the other's default to itself where that would be on its wrong side. */
    limits.warn_share.is_set = false;
    verdict = verdict_of(&attempt, &limits);
    assert_near(verdict.warn_h2d, verdict.min_h2d, 0.0);
    limits.warn_share = (struct xb_limit){true, 0.5, XB_LIMIT_FILE};
    limits.critical_share.is_set = false;
    attempt.h2d = 30e9;
    verdict = verdict_of(&attempt, &limits);
    assert_ok(&verdict);
    assert_near(verdict.min_h2d, 0.5 * verdict.ceiling.h2d, 0.0);
    assert_int_equal(verdict.limit_source, XB_LIMIT_DEFAULT);
}

static void takes_a_limit_in_place_of_shares(void **state)
{
    struct xb_link_attempt attempt = healthy();
    struct xb_link_limits limits = {.min_h2d = {true, 60e9, XB_LIMIT_COMMAND_LINE}};
    (void)state;
    struct xb_verdict verdict = verdict_of(&attempt, &limits);
    assert_only(&verdict, XB_LEVEL_CRITICAL, "XB-BW-H2D",
                "55.40 GB/s|below the limit of 60.00 GB/s|command line");
    assert_near(verdict.min_h2d, 60e9, 0.0);
    assert_near(verdict.warn_h2d, 0.0, 0.0);
    assert_near(verdict.warn_d2h, 0.9 * verdict.ceiling.d2h, 0.0);
    assert_int_equal(verdict.limit_source, XB_LIMIT_COMMAND_LINE);

    limits.min_h2d = (struct xb_limit){true, 20e9, XB_LIMIT_FILE};
    limits.min_d2h = (struct xb_limit){true, 20e9, XB_LIMIT_FILE};
    attempt.h2d = attempt.d2h = 20e9; /* far below any share, but that is not asked */
    verdict = verdict_of(&attempt, &limits);
    assert_ok(&verdict);
    attempt.d2h = nextafter(20e9, 0.0);
    verdict = verdict_of(&attempt, &limits);
    assert_only(&verdict, XB_LEVEL_CRITICAL, "XB-BW-D2H", "d2h|file");
}

static void needs_a_limit_where_no_ceiling_is_known(void **state)
{
    struct xb_link_attempt attempt = healthy();
    struct xb_link_limits limits = {.min_h2d = {true, 50e9, XB_LIMIT_FILE}};
    struct xb_verdict verdict;
    (void)state;
    attempt.at_rest.hops[0] = make_hop(SLOT, "0000:0e:00.0", 64.0, 16);
    attempt.after = attempt.at_rest;
    attempt.load.hops[0] = (struct xb_pcie_seen){5, 64.0, 16, 0, 0};
    assert_attempt(&attempt, XB_LEVEL_UNKNOWN, "XB-BW-NO-LIMIT", "Gen6 x16|--min-h2d");
    verdict = verdict_of(&attempt, &limits);
    assert_only(&verdict, XB_LEVEL_UNKNOWN, "XB-BW-NO-LIMIT", "Gen6"); /* for the other way */
    limits.min_d2h = limits.min_h2d;
    verdict = verdict_of(&attempt, &limits);
    assert_ok(&verdict);

    /* Gen6 x8 carries less than Gen5 x16, but not so little that Gen5 x8 does not limit it. */
    attempt = behind_switch(64.0, 8, 64.0, 8);
    verdict = verdict_of(&attempt, &limits);
    assert_int_equal(verdict.bottleneck, 1);
    attempt.load.hops[0].width = 8;
    verdict = verdict_of(&attempt, &limits);
    assert_int_equal(verdict.bottleneck, 0);
}

static void disbelieves_what_the_link_cannot_carry(void **state)
{
    struct xb_link_attempt attempt = healthy();
    struct xb_ceiling ceiling = xb_ceiling_of(32.0, 16, &attempt.at_rest.hops[0].lower.control);
    struct xb_link_limits limits = {.min_h2d = {true, 50e9, XB_LIMIT_COMMAND_LINE}};
    struct xb_verdict verdict;
    (void)state;
    double most = ceiling.raw * 0.9973 * 256 / 276;
    assert_near(ceiling.most, most, 1.0);
    attempt.h2d = attempt.d2h = 1.0099 * most;
    assert_attempt_ok(&attempt);
    attempt.d2h = 55e9;
    attempt.h2d = 1.0101 * most;
    assert_attempt(&attempt, XB_LEVEL_UNKNOWN, "XB-BW-ABOVE",
                   "h2d|more than|the data did not cross it, or the link was read wrongly");
    verdict = verdict_of(&attempt, &limits); /* whatever is asked for */
    assert_only(&verdict, XB_LEVEL_UNKNOWN, "XB-BW-ABOVE", "h2d");

    /* Packets may be larger than assumed, but bytes are not faster than the line. */
    attempt.at_rest.hops[0].lower.control.known = false;
    attempt.at_rest.hops[0].upper.control.known = false;
    assert_attempt_ok(&attempt);
    attempt.h2d = 1.021 * ceiling.raw;
    assert_attempt(&attempt, XB_LEVEL_UNKNOWN, "XB-BW-ABOVE", "h2d");
    attempt.h2d = 55e9;
    attempt.d2h = 1.021 * ceiling.raw;
    assert_attempt(&attempt, XB_LEVEL_UNKNOWN, "XB-BW-ABOVE", "d2h");
}

/* ---- what happened ---- */

static void tells_why_a_test_failed(void **state)
{
    struct xb_link_attempt attempt = healthy();
    (void)state;
    attempt.d2h = 0.0;
    memset(attempt.failure, 'x', sizeof attempt.failure - 1); /* longer than a reason */
    assert_attempt(&attempt, XB_LEVEL_UNKNOWN, "XB-TEST-FAILED", "xxx");
    strcpy(attempt.failure, "out of memory");
    assert_attempt(&attempt, XB_LEVEL_UNKNOWN, "XB-TEST-FAILED", "out of memory");
    attempt.failure[0] = '\0';
    assert_attempt(&attempt, XB_LEVEL_UNKNOWN, "XB-TEST-FAILED", "no bandwidth was measured");
    attempt.d2h = NAN;
    assert_attempt(&attempt, XB_LEVEL_UNKNOWN, "XB-TEST-FAILED", "no bandwidth was measured");
    attempt.d2h = INFINITY;
    assert_attempt(&attempt, XB_LEVEL_UNKNOWN, "XB-TEST-FAILED", "no bandwidth was measured");
    attempt = healthy();
    strcpy(attempt.failure, "could not be repeated");
    assert_attempt(&attempt, XB_LEVEL_UNKNOWN, "XB-TEST-FAILED", "could not be repeated");
    attempt = healthy();
    attempt.h2d = 0.0;
    assert_attempt(&attempt, XB_LEVEL_UNKNOWN, "XB-TEST-FAILED", "no bandwidth was measured");
}

static void finds_wrong_data(void **state)
{
    struct xb_link_attempt attempt = healthy();
    (void)state;
    attempt.data_wrong = true;
    assert_attempt(&attempt, XB_LEVEL_CRITICAL, "XB-DATA-WRONG", "arrived wrong");
    attempt.h2d = 0.0;
    strcpy(attempt.failure, "at byte 4096");
    assert_attempt(&attempt, XB_LEVEL_CRITICAL, "XB-DATA-WRONG", "arrived wrong|at byte 4096");
}

static void finds_a_device_that_vanished(void **state)
{
    struct xb_link_attempt attempt = healthy();
    (void)state;
    attempt.load.gone = true;
    assert_attempt(&attempt, XB_LEVEL_CRITICAL, "XB-DEVICE-GONE", "fell off the bus: see dmesg");
    attempt = healthy();
    memset(&attempt.after, 0, sizeof attempt.after);
    attempt.load.hops[0].readings = 0; /* which it explains */
    assert_attempt(&attempt, XB_LEVEL_CRITICAL, "XB-DEVICE-GONE", "fell off the bus");
}

/* Its folder stays. */
static void finds_a_device_that_does_not_answer(void **state)
{
    struct xb_link_attempt attempt = healthy();
    (void)state;
    attempt.after.dead = true;
    assert_attempt(&attempt, XB_LEVEL_CRITICAL, "XB-DEVICE-GONE",
                   "does not answer on the bus: see dmesg (Xid 79)");
    attempt = healthy();
    attempt.at_rest.dead = true;
    attempt.load.hops[0].readings = 0;
    assert_attempt(&attempt, XB_LEVEL_CRITICAL, "XB-DEVICE-GONE", "does not answer");
}

static void counts_errors_at_either_end(void **state)
{
    (void)state;
    for (int upper = 0; upper < 2; upper++) {
        for (int hop = 0; hop < 2; hop++) {
            struct xb_link_attempt attempt = behind_switch(32.0, 16, 32.0, 16);
            struct xb_pcie_hop *before = &attempt.at_rest.hops[hop];
            struct xb_pcie_hop *after = &attempt.after.hops[hop];
            struct xb_pcie_end *end = upper ? &after->upper : &after->lower;
            char text[64];
            (upper ? &before->upper : &before->lower)->aer.correctable = 40;
            end->aer.correctable = 45; /* as many as a good link may have */
            assert_attempt_ok(&attempt);
            end->aer.correctable = 46;
            snprintf(text, sizeof text, "6 correctable errors at %s", end->bdf);
            assert_attempt(&attempt, XB_LEVEL_WARNING, "XB-AER-CORRECTABLE", text);
            end->aer.correctable = 40;
            end->aer.nonfatal = 2;
            snprintf(text, sizeof text, "2 uncorrectable errors (0 of them fatal) at %s", end->bdf);
            assert_attempt(&attempt, XB_LEVEL_CRITICAL, "XB-AER-UNCORRECTABLE", text);
            end->aer.nonfatal = 0;
            end->aer.fatal = 1;
            assert_attempt(&attempt, XB_LEVEL_CRITICAL, "XB-AER-UNCORRECTABLE", "1 of them fatal");
            end->aer = (struct xb_pcie_aer){.known = true, .correctable = 39}; /* went down */
            assert_attempt_ok(&attempt);
            end->aer = (struct xb_pcie_aer){.correctable = 99}; /* not known after */
            assert_attempt_ok(&attempt);
        }
    }
}

/* Ends are told apart by their names: a hop that appears does not shift counters. */
static void compares_the_same_ends(void **state)
{
    struct xb_link_attempt attempt = behind_switch(32.0, 16, 32.0, 16);
    (void)state;
    attempt.at_rest.hops[1].upper.aer.correctable = 5;
    attempt.after.hops[0] = attempt.at_rest.hops[1];
    attempt.after.count = 1;
    assert_attempt_ok(&attempt);
}

static void looks_at_the_devices_health(void **state)
{
    struct xb_link_attempt attempt = healthy();
    struct xb_device_health *after = &attempt.health_after;
    (void)state;
    after->replays = 5;
    assert_attempt_ok(&attempt);
    after->replays = 6;
    assert_attempt(&attempt, XB_LEVEL_WARNING, "XB-PCIE-REPLAY", "6 packets");
    attempt.health_before.replays_known = false;
    assert_attempt_ok(&attempt);
    attempt = healthy();
    attempt.health_before.replays = 9; /* went down */
    assert_attempt_ok(&attempt);

    attempt = healthy();
    after->slowed_by_hardware = true;
    strcpy(after->throttle, "hw thermal slowdown");
    assert_attempt(&attempt, XB_LEVEL_WARNING, "XB-THROTTLE", "(hw thermal slowdown)");
    after->throttle_known = false;
    assert_attempt_ok(&attempt);
    attempt = healthy();
    attempt.health_before.slowed_by_hardware = true;
    assert_attempt(&attempt, XB_LEVEL_WARNING, "XB-THROTTLE", "no reason is told");
    attempt = healthy();
    strcpy(after->throttle, "power cap"); /* that a user set */
    assert_attempt_ok(&attempt);

    attempt = healthy();
    /* Cards with bridges have links that lead nowhere: no fault. */
    after->nvlinks_active = 12;
    after->nvlinks_inactive = 6;
    assert_attempt_ok(&attempt);

    attempt = healthy();
    after->nvlink_errors = 12;
    assert_attempt(&attempt, XB_LEVEL_WARNING, "XB-NVLINK-ERRORS", "12 NVLink errors");
    after->nvlink_errors_known = false;
    assert_attempt_ok(&attempt);
}

static void sorts_reasons(void **state)
{
    struct xb_link_attempt attempt = healthy();
    (void)state;
    attempt.load.hops[0].width = 8;            /* critical */
    attempt.h2d = attempt.d2h = 50e9;          /* unknown: above x8 */
    attempt.health_after.replays = 6;          /* warning */
    attempt.after.hops[0].lower.aer.fatal = 1; /* critical */
    attempt.data_wrong = true;                 /* critical */
    struct xb_verdict verdict = verdict_of(&attempt, &no_limits);
    static const char *const codes[] = {"XB-DATA-WRONG",  "XB-LINK-WIDTH", "XB-AER-UNCORRECTABLE",
                                        "XB-PCIE-REPLAY", "XB-BW-ABOVE",   "XB-BW-ABOVE"};
    assert_int_equal(verdict.level, XB_LEVEL_CRITICAL);
    assert_int_equal(verdict.reason_count, 6);
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(verdict.reasons[i].code, codes[i]);
}

/* 16 ends with two reasons each, and others: the critical ones stay. */
static void keeps_the_worst_of_too_many_reasons(void **state)
{
    struct xb_link_attempt attempt = healthy();
    (void)state;
    attempt.at_rest.count = attempt.load.count = XB_PCIE_HOPS;
    for (unsigned i = 0; i < XB_PCIE_HOPS; i++) {
        char lower[24];
        char upper[24];
        snprintf(lower, sizeof lower, "0000:%02x:00.0", 2 * i);
        snprintf(upper, sizeof upper, "0000:%02x:00.0", 2 * i + 1);
        attempt.at_rest.hops[i] = make_hop(lower, upper, 32.0, 16);
        attempt.load.hops[i] = attempt.load.hops[0];
    }
    attempt.after = attempt.at_rest;
    for (size_t i = 0; i < XB_PCIE_HOPS; i++)
        attempt.after.hops[i].lower.aer.correctable = attempt.after.hops[i].upper.aer.correctable =
            attempt.after.hops[i].lower.aer.fatal = attempt.after.hops[i].upper.aer.fatal = 1;
    struct xb_verdict verdict = verdict_of(&attempt, &no_limits);
    assert_int_equal(verdict.reason_count, XB_VERDICT_REASONS);
    for (size_t i = 0; i < XB_VERDICT_REASONS; i++)
        assert_string_equal(verdict.reasons[i].code, "XB-AER-UNCORRECTABLE");
    assert_int_equal(verdict.level, XB_LEVEL_CRITICAL);
}

/* ---- devices ---- */

static struct xb_link_device device; /* large */

static void make_device(size_t attempts)
{
    memset(&device, 0, sizeof device);
    strcpy(device.info.pci_bdf, SLOT);
    device.attempt_count = attempts;
    for (size_t i = 0; i < attempts; i++)
        device.attempts[i] = healthy();
}

static struct xb_verdict verdict_of_device(size_t expected_best)
{
    struct xb_verdict verdict;
    size_t best = 99;
    memset(&verdict, 0xa5, sizeof verdict);
    xb_verdict_of_device(&device, &no_limits, &verdict, &best);
    assert_int_equal(best, expected_best);
    return verdict;
}

static void takes_the_best_attempt(void **state)
{
    struct xb_verdict verdict;
    (void)state;
    make_device(3);
    device.attempts[0].h2d = 30e9; /* critical */
    device.attempts[1].h2d = 50e9; /* warning */
    verdict = verdict_of_device(2);
    assert_ok(&verdict);
    device.attempts[2].d2h = 40e9; /* critical */
    verdict = verdict_of_device(1);
    assert_only(&verdict, XB_LEVEL_WARNING, "XB-BW-H2D", "50.00");
    device.attempts[0].h2d = 51e9; /* as bad, and more */
    verdict = verdict_of_device(0);
    assert_only(&verdict, XB_LEVEL_WARNING, "XB-BW-H2D", "51.00");
    device.attempts[2] = device.attempts[1] = device.attempts[0]; /* the first of equals */
    verdict = verdict_of_device(0);
    assert_int_equal(verdict.level, XB_LEVEL_WARNING);
}

/* An attempt that could not be judged hides no defect. */
static void takes_a_bad_attempt_before_one_that_tells_nothing(void **state)
{
    struct xb_verdict verdict;
    (void)state;
    make_device(3);
    device.attempts[0].h2d = device.attempts[0].d2h = 0.0;
    device.attempts[1].h2d = 30e9;
    device.attempts[2].load.hops[0].readings = 0;
    verdict = verdict_of_device(1);
    assert_only(&verdict, XB_LEVEL_CRITICAL, "XB-BW-H2D", "30.00");
}

static void keeps_what_any_attempt_counted(void **state)
{
    struct xb_verdict verdict;
    (void)state;
    make_device(3);
    device.attempts[0].h2d = 50e9;
    device.attempts[0].after.hops[0].lower.aer.correctable = 5;
    device.attempts[1].after.hops[0].lower.aer.correctable = 5;
    device.attempts[2].d2h = 50e9;
    verdict = verdict_of_device(1);
    assert_ok(&verdict); /* no attempt had too many */
    device.attempts[0].after.hops[0].lower.aer.correctable = 6;
    verdict = verdict_of_device(1);
    assert_only(&verdict, XB_LEVEL_WARNING, "XB-AER-CORRECTABLE", "11 correctable errors at " SLOT);

    make_device(2);
    device.attempts[0].after.hops[0].upper.aer.nonfatal = 1;
    device.attempts[1].h2d = 50e9; /* that attempt is worse by its own */
    verdict = verdict_of_device(0);
    assert_only(&verdict, XB_LEVEL_CRITICAL, "XB-AER-UNCORRECTABLE", "1 uncorrectable");

    make_device(2);
    device.attempts[0].health_after.replays = 5;
    device.attempts[0].h2d = 55e9;
    device.attempts[1].health_after.replays = 1;
    verdict = verdict_of_device(1);
    assert_ok(&verdict);
    device.attempts[0].health_after.replays = 9;
    verdict = verdict_of_device(1);
    assert_only(&verdict, XB_LEVEL_WARNING, "XB-PCIE-REPLAY", "10 packets");

    make_device(2);
    device.attempts[0].health_after.nvlink_errors = 4;
    device.attempts[0].h2d = 55e9;
    verdict = verdict_of_device(1);
    assert_only(&verdict, XB_LEVEL_WARNING, "XB-NVLINK-ERRORS", "4 NVLink");
}

static void keeps_wrong_data_and_a_device_that_vanished(void **state)
{
    struct xb_verdict verdict;
    (void)state;
    make_device(2);
    device.attempts[0].data_wrong = true; /* though its copies are as fast */
    device.attempts[0].h2d = 56e9;
    verdict = verdict_of_device(1);
    assert_only(&verdict, XB_LEVEL_CRITICAL, "XB-DATA-WRONG", "arrived wrong");

    make_device(2);
    device.attempts[0].load.gone = true;
    verdict = verdict_of_device(1);
    assert_only(&verdict, XB_LEVEL_CRITICAL, "XB-DEVICE-GONE", "bus");

    make_device(2);
    device.attempts[0].after.dead = true;
    verdict = verdict_of_device(1);
    assert_only(&verdict, XB_LEVEL_CRITICAL, "XB-DEVICE-GONE", "does not answer");

    make_device(2);
    memset(&device.attempts[1], 0, sizeof device.attempts[1]); /* lost between the two */
    verdict = verdict_of_device(0);
    assert_only(&verdict, XB_LEVEL_CRITICAL, "XB-DEVICE-GONE", "bus");
}

static void forgets_what_only_other_attempts_had(void **state)
{
    struct xb_verdict verdict;
    (void)state;
    make_device(2);
    device.attempts[0].health_after.slowed_by_hardware = true;
    device.attempts[0].h2d = 20e9;
    verdict = verdict_of_device(1);
    assert_ok(&verdict);
}

static void finds_a_link_that_was_less_in_another_attempt(void **state)
{
    struct xb_link_limits limits = {.width = {true, 16.0, XB_LIMIT_FILE}};
    struct xb_verdict verdict;
    size_t best;
    (void)state;
    make_device(3);
    device.attempts[0].load.hops[0].width = 8;
    device.attempts[0].h2d = 20e9;
    device.attempts[1].load.hops[0].speed_gts = 2.5; /* one reason is enough */
    device.attempts[1].h2d = 5e9;
    verdict = verdict_of_device(2);
    assert_only(&verdict, XB_LEVEL_WARNING, "XB-LINK-UNSTABLE",
                "attempt 1 of 3 ran at Gen5 x8 at " SLOT "|reseat|riser|ASPM");
    xb_verdict_of_device(&device, &limits, &verdict, &best); /* less than expected is less too */
    assert_only(&verdict, XB_LEVEL_WARNING, "XB-LINK-UNSTABLE", "attempt 1 of 3");
    limits.width.value = 8.0;
    limits.generation = (struct xb_limit){true, 1.0, XB_LIMIT_FILE};
    xb_verdict_of_device(&device, &limits, &verdict, &best);
    assert_ok(&verdict); /* it was never less than that */

    make_device(2); /* always so: that is another matter */
    for (size_t i = 0; i < 2; i++) {
        device.attempts[i].load.hops[0].width = 8;
        device.attempts[i].h2d = device.attempts[i].d2h = 27.5e9;
    }
    verdict = verdict_of_device(0);
    assert_only(&verdict, XB_LEVEL_CRITICAL, "XB-LINK-WIDTH", "x8");

    make_device(2);
    device.attempts[0] = behind_switch(32.0, 16, 16.0, 16); /* further up */
    device.attempts[1] = behind_switch(32.0, 16, 32.0, 16);
    verdict = verdict_of_device(1);
    assert_only(&verdict, XB_LEVEL_WARNING, "XB-LINK-UNSTABLE", "Gen4 x16 at " SWITCH);

    make_device(2);
    device.attempts[0].load.hops[0].drops = 3; /* of an attempt that does not count otherwise */
    device.attempts[0].h2d = 50e9;
    verdict = verdict_of_device(1);
    assert_only(&verdict, XB_LEVEL_WARNING, "XB-LINK-UNSTABLE", "3 times in attempt 1 of 2");
}

static void cannot_judge_what_has_no_link(void **state)
{
    struct xb_verdict verdict;
    (void)state;
    for (size_t attempts = 0; attempts < 2; attempts++) {
        make_device(attempts);
        device.info.shares_host_memory = true;
        device.attempts[0].h2d = 200e9; /* across no link, so above nothing */
        verdict = verdict_of_device(0);
        assert_only(&verdict, XB_LEVEL_UNKNOWN, "XB-LINK-NONE", "nothing crosses a link");
        make_device(attempts);
        device.info.coherent_with_host = true;
        device.attempts[0].h2d = 340e9;
        verdict = verdict_of_device(0);
        assert_only(&verdict, XB_LEVEL_UNKNOWN, "XB-LINK-NONE", "NVLink-C2C");
        make_device(attempts);
        device.info.pci_bdf[0] = '\0'; /* the host backend */
        verdict = verdict_of_device(0);
        assert_only(&verdict, XB_LEVEL_UNKNOWN, "XB-LINK-NONE",
                    "not a PCI device, or sysfs does not show it");
    }
    make_device(1);
    device.info.shares_host_memory = true;
    device.attempts[0].data_wrong = true;
    verdict = verdict_of_device(0);
    assert_int_equal(verdict.level, XB_LEVEL_CRITICAL);
}

static void tells_of_the_deadline(void **state)
{
    struct xb_verdict verdict;
    (void)state;
    make_device(0);
    verdict = verdict_of_device(0);
    assert_only(&verdict, XB_LEVEL_UNKNOWN, "XB-TEST-FAILED", "no transfer test was made");
    device.cut = true;
    verdict = verdict_of_device(0);
    assert_only(&verdict, XB_LEVEL_UNKNOWN, "XB-DEADLINE", "--deadline");
    make_device(2);
    device.cut = true;
    device.attempts[1].h2d = 0.0;
    verdict = verdict_of_device(0); /* a good one was in time */
    assert_ok(&verdict);
    device.attempts[0].h2d = 30e9;
    verdict = verdict_of_device(0);
    assert_int_equal(verdict.level, XB_LEVEL_CRITICAL);
    assert_string_equal(verdict.reasons[1].code, "XB-DEADLINE");
}

static void tells_of_a_signal(void **state)
{
    struct xb_verdict verdict;
    (void)state;
    make_device(0);
    device.cut = device.interrupted = true;
    verdict = verdict_of_device(0);
    assert_only(&verdict, XB_LEVEL_UNKNOWN, "XB-INTERRUPTED", "a signal ended the test");
    make_device(1);
    device.interrupted = true; /* after it was done */
    verdict = verdict_of_device(0);
    assert_ok(&verdict);
    device.cut = true; /* a good one was in time */
    verdict = verdict_of_device(0);
    assert_ok(&verdict);
}

static void tells_of_a_device_that_is_not_there(void **state)
{
    struct xb_verdict verdict;
    (void)state;
    make_device(0);
    device.missing = device.cut = true;
    device.info.pci_bdf[0] = '\0';
    verdict = verdict_of_device(0);
    assert_only(&verdict, XB_LEVEL_CRITICAL, "XB-DEVICE-MISSING",
                "fewer devices are there than --count asks for: see lspci and dmesg");
}

static void tells_the_link_under_load(void **state)
{
    unsigned generation = 9;
    unsigned width = 9;
    (void)state;
    make_device(2);
    device.attempts[0].load.hops[0] = (struct xb_pcie_seen){5, 8.0, 16, 0, 0};
    device.attempts[1].load.hops[0] = (struct xb_pcie_seen){5, 32.0, 8, 0, 0};
    assert_true(xb_link_under_load(&device, &generation, &width));
    assert_int_equal(generation, 5);
    assert_int_equal(width, 16);
    make_device(1);
    device.attempts[0].load.hops[0].readings = 0;
    assert_false(xb_link_under_load(&device, &generation, &width));
    assert_int_equal(generation, 0);
    assert_int_equal(width, 0);
    device.attempts[0] = behind_switch(16.0, 8, 16.0, 8);
    device.attempts[0].at_rest.hops[0].on_package = true;
    assert_true(xb_link_under_load(&device, &generation, &width));
    assert_int_equal(generation, 4);
    assert_int_equal(width, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_levels),
        cmocka_unit_test(has_default_shares),
        cmocka_unit_test(reads_expectations),
        cmocka_unit_test(refuses_what_is_no_expectation),
        cmocka_unit_test(finds_a_healthy_link_ok),
        cmocka_unit_test(finds_a_virtual_machine_ok),
        cmocka_unit_test(judges_the_width),
        cmocka_unit_test(judges_the_speed),
        cmocka_unit_test(does_not_accuse_a_slot_that_tells_nothing),
        cmocka_unit_test(asks_for_no_more_than_both_ends_can),
        cmocka_unit_test(wonders_at_a_slot_with_fewer_lanes),
        cmocka_unit_test(does_not_believe_an_emulated_port),
        cmocka_unit_test(judges_a_link_that_falls),
        cmocka_unit_test(takes_the_maximum_after_the_transfers),
        cmocka_unit_test(needs_a_reading_under_load),
        cmocka_unit_test(has_limits_of_its_own_for_a_link_that_is_not_readable),
        cmocka_unit_test(knows_no_link_without_a_device_in_sysfs),
        cmocka_unit_test(never_judges_a_link_on_the_package),
        cmocka_unit_test(judges_links_further_up),
        cmocka_unit_test(names_the_bottleneck),
        cmocka_unit_test(takes_the_least_payload_on_the_way),
        cmocka_unit_test(expects_what_it_is_told),
        cmocka_unit_test(takes_an_expectation_in_place_of_both_ends),
        cmocka_unit_test(judges_shares_of_the_ceiling),
        cmocka_unit_test(asks_less_of_slow_links),
        cmocka_unit_test(takes_shares_that_are_set),
        cmocka_unit_test(takes_a_limit_in_place_of_shares),
        cmocka_unit_test(needs_a_limit_where_no_ceiling_is_known),
        cmocka_unit_test(disbelieves_what_the_link_cannot_carry),
        cmocka_unit_test(tells_why_a_test_failed),
        cmocka_unit_test(finds_wrong_data),
        cmocka_unit_test(finds_a_device_that_vanished),
        cmocka_unit_test(finds_a_device_that_does_not_answer),
        cmocka_unit_test(counts_errors_at_either_end),
        cmocka_unit_test(compares_the_same_ends),
        cmocka_unit_test(looks_at_the_devices_health),
        cmocka_unit_test(sorts_reasons),
        cmocka_unit_test(keeps_the_worst_of_too_many_reasons),
        cmocka_unit_test(takes_the_best_attempt),
        cmocka_unit_test(takes_a_bad_attempt_before_one_that_tells_nothing),
        cmocka_unit_test(keeps_what_any_attempt_counted),
        cmocka_unit_test(keeps_wrong_data_and_a_device_that_vanished),
        cmocka_unit_test(forgets_what_only_other_attempts_had),
        cmocka_unit_test(finds_a_link_that_was_less_in_another_attempt),
        cmocka_unit_test(cannot_judge_what_has_no_link),
        cmocka_unit_test(tells_of_the_deadline),
        cmocka_unit_test(tells_of_a_signal),
        cmocka_unit_test(tells_of_a_device_that_is_not_there),
        cmocka_unit_test(tells_the_link_under_load),
    };
    return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}
