/* SPDX-License-Identifier: Apache-2.0 */
/* What a verdict finds, whatever the limits are: links and counters. */
#include "verdict_fixture.h"

static struct xb_link_device device; /* large */
static struct xb_link_facts facts;

static void make_device(size_t attempts)
{
    memset(&device, 0, sizeof device);
    device.attempt_count = attempts;
    for (size_t i = 0; i < attempts; i++)
        device.attempts[i] = behind_switch(16.0, 8, 16.0, 8);
}

static void find(size_t best)
{
    memset(&facts, 0xa5, sizeof facts);
    xb_link_facts_find(&device, best, &facts);
}

TEST(finds_every_hop)
{
    make_device(2);
    device.attempts[1].at_rest.hops[0].on_package = true;
    device.attempts[1].at_rest.hops[1].has_upper = false;
    device.attempts[1].load.hops[1] = (struct xb_pcie_seen){9, 16.0, 4, 7, 3};
    find(1);
    assert_int_equal(facts.hop_count, 2);
    assert_int_equal(facts.slot, 1);
    assert_true(facts.hops[0].on_package && facts.hops[0].has_upper);
    assert_string_equal(facts.hops[0].upper, "0000:0e:00.0");
    const struct xb_link_hop *hop = &facts.hops[1];
    assert_string_equal(hop->lower, SWITCH);
    assert_string_equal(hop->upper, "");
    assert_false(hop->on_package || hop->has_upper);
    assert_near(hop->at_rest.speed_gts, 2.5, 0.0);
    assert_near(hop->load.speed_gts, 16.0, 0.0);
    assert_int_equal(hop->load.width, 4);
    assert_int_equal(hop->best.width, 8);
    assert_int_equal(hop->changes, 7);
    assert_int_equal(hop->drops, 3);
    find(2); /* There is no such attempt. */
    assert_int_equal(facts.hop_count, 0);
    device.attempts[0].at_rest.present = false;
    find(0);
    assert_int_equal(facts.hop_count, 0);
}

/* Where the upper end is not seen any more, the card alone is no measure: what it could do in
 * another slot would be asked of this one. */
TEST(does_not_ask_for_more_when_the_upper_end_is_gone)
{
    struct xb_link_attempt attempt = healthy();
    attempt.at_rest.hops[0].upper = make_end("0000:0e:00.0", 16.0, 16);
    attempt.after = attempt.at_rest;
    attempt.after.hops[0].has_upper = false;
    attempt.load.hops[0] = (struct xb_pcie_seen){9, 16.0, 16, 0, 0};
    attempt.rates[XB_TO_GPU] = attempt.rates[XB_BACK] = 27.5e9;
    struct xb_verdict verdict = verdict_of(&attempt, &no_limits);
    assert_ok(&verdict);
    assert_near(verdict.facts.hops[0].best.speed_gts, 16.0, 0.0);
    attempt.after.hops[0] = make_hop(SWITCH, "0000:00:01.0", 32.0, 16); /* another link */
    verdict = verdict_of(&attempt, &no_limits);
    assert_near(verdict.facts.hops[0].best.speed_gts, 16.0, 0.0);
    attempt.after.hops[0] = attempt.at_rest.hops[0];
    attempt.after.hops[0].upper = make_end("0000:0e:00.0", 32.0, 16); /* It tells more awake. */
    verdict = verdict_of(&attempt, &no_limits);
    assert_near(verdict.facts.hops[0].best.speed_gts, 32.0, 0.0);
}

static const struct xb_link_port *port_of(const char *bdf)
{
    for (size_t i = 0; i < facts.port_count; i++)
        if (strcmp(facts.ports[i].bdf, bdf) == 0)
            return &facts.ports[i];
    fail_msg("%s is not among the ports", bdf);
    return NULL;
}

/* A port keeps its errors when its hop moves, and takes over nobody else's. */
TEST(counts_errors_by_port)
{
    make_device(2);
    device.attempts[0].after.hops[1].lower.aer.correctable = 4;
    device.attempts[1].at_rest.hops[0] = device.attempts[1].at_rest.hops[1];
    device.attempts[1].at_rest.count = 1;
    device.attempts[1].after.hops[1].lower.aer.correctable = 3;
    device.attempts[1].after.hops[0].lower.aer.fatal = 9; /* which was not there before */
    find(1);
    assert_int_equal(facts.port_count, 4);
    const struct xb_link_port *port = port_of(SWITCH);
    assert_int_equal(port->hop, 1);
    assert_false(port->is_upper);
    assert_true(port->errors.known);
    assert_int_equal(port->errors.correctable, 7);
    assert_int_equal(port->most_correctable, 4);
    assert_int_equal(port_of(SLOT)->errors.fatal, 0);
    assert_true(port_of("0000:00:01.0")->is_upper);
    assert_int_equal(facts.errors.correctable, 7);
    assert_int_equal(facts.errors.fatal, 0);
}

TEST(knows_no_errors_without_two_readings)
{
    make_device(1);
    device.attempts[0].after.present = false;
    find(0);
    assert_int_equal(facts.port_count, 4);
    assert_false(facts.errors.known);
    assert_false(port_of(SLOT)->errors.known);
    make_device(1);
    device.attempts[0].after.hops[0].has_upper = false;
    find(0);
    assert_false(port_of("0000:0e:00.0")->errors.known);
    assert_true(port_of(SLOT)->errors.known);
}

TEST(counts_what_the_vendor_counts)
{
    make_device(3);
    device.attempts[0].health_after.replays = 2;
    device.attempts[1].health_after.replays = 5;
    device.attempts[2].health_before.replays = 8; /* It was reset. */
    find(0);
    assert_true(facts.replays_known);
    assert_int_equal(facts.replays, 7);
    assert_int_equal(facts.most_replays, 5);
    for (size_t i = 0; i < 3; i++)
        device.attempts[i].health_before.replays_known = false;
    find(0);
    assert_false(facts.replays_known);
}

/* Limits hold for a device without an attempt too, each with its origin. */
TEST(knows_the_limits_without_an_attempt)
{
    const struct xb_link_limits limits = {.min_h2d = {true, 48e9, XB_LIMIT_COMMAND_LINE},
                                          .critical_share = {true, 0.5, XB_LIMIT_FILE}};
    struct xb_verdict verdict;
    make_device(0);
    xb_verdict_of_device(&device, &limits, &verdict);
    assert_near(verdict.ways[XB_TO_GPU].critical, 48e9, 0.0);
    assert_int_equal(verdict.ways[XB_TO_GPU].source, XB_LIMIT_COMMAND_LINE);
    assert_near(verdict.ways[XB_BACK].critical, 0.0, 0.0);
    assert_int_equal(verdict.ways[XB_BACK].source, XB_LIMIT_FILE);
    assert_near(verdict.limits.critical_share.value, 0.5, 0.0);
}
