/* SPDX-License-Identifier: Apache-2.0 */
#include "verdict_fixture.h"

TEST(finds_a_healthy_link_ok)
{
    struct xb_link_attempt attempt = healthy();
    struct xb_verdict verdict = verdict_of(&attempt, &no_limits);
    assert_ok(&verdict);
    assert_near(verdict.ways[XB_TO_GPU].share, 0.953, 0.001);
    assert_near(verdict.ways[XB_BACK].share, 0.963, 0.001);
    assert_int_equal(verdict.bottleneck, 0);
    assert_int_equal(verdict.ceiling.payload, 256);
    assert_int_equal(verdict.ceiling.read_request, 4096);
    assert_near(verdict.ways[XB_TO_GPU].critical, 0.6 * verdict.ceiling.h2d, 0.0);
    assert_near(verdict.ways[XB_TO_GPU].warning, 0.9 * verdict.ceiling.h2d, 0.0);
    assert_near(verdict.ways[XB_BACK].critical, 0.6 * verdict.ceiling.d2h, 0.0);
    assert_near(verdict.ways[XB_BACK].warning, 0.9 * verdict.ceiling.d2h, 0.0);
    assert_int_equal(verdict.ways[XB_TO_GPU].source, XB_LIMIT_DEFAULT);
}

TEST(finds_a_virtual_machine_ok)
{
    struct xb_link_attempt attempt = healthy();
    attempt.at_rest.hops[0].has_upper = false;
    memset(&attempt.at_rest.hops[0].upper, 0, sizeof attempt.at_rest.hops[0].upper);
    attempt.after = attempt.at_rest;
    assert_attempt_ok(&attempt);
}

TEST(judges_the_width)
{
    struct xb_link_attempt attempt = healthy();
    attempt.load.hops[0].width = 8;
    attempt.rates[XB_TO_GPU] = attempt.rates[XB_BACK] = 27.5e9; /* x8 can: no second reason */
    assert_attempt(&attempt, XB_LEVEL_CRITICAL, "XB-LINK-WIDTH",
                   "x8 of x16 at " SLOT ": reseat the card or check bifurcation");
    attempt.at_rest.hops[0].has_upper = attempt.after.hops[0].has_upper = false;
    assert_attempt(&attempt, XB_LEVEL_WARNING, "XB-LINK-WIDTH",
                   "x8 of x16 at " SLOT "|the slot cannot be seen from here (virtual machine)");
}

TEST(judges_the_speed)
{
    struct xb_link_attempt attempt = healthy();
    attempt.load.hops[0].speed_gts = 8.0;
    attempt.rates[XB_TO_GPU] = attempt.rates[XB_BACK] = 13.5e9;
    assert_attempt(&attempt, XB_LEVEL_CRITICAL, "XB-LINK-SPEED",
                   "Gen3 under load|slot and GPU can do Gen5|" SLOT "|BIOS|riser|reseat");
    attempt.at_rest.hops[0].has_upper = attempt.after.hops[0].has_upper = false;
    assert_attempt(&attempt, XB_LEVEL_WARNING, "XB-LINK-SPEED",
                   "Gen3 under load|can do Gen5|virtual machine");
}

TEST(does_not_accuse_a_slot_that_tells_nothing)
{
    struct xb_link_attempt attempt = healthy();
    attempt.load.hops[0].width = 8;
    attempt.rates[XB_TO_GPU] = attempt.rates[XB_BACK] = 27.5e9;
    attempt.at_rest.hops[0].upper.link = (struct xb_pcie_link){0};
    attempt.after = attempt.at_rest;
    assert_attempt(&attempt, XB_LEVEL_WARNING, "XB-LINK-WIDTH", "the other end does not say");
}

/* What only one end can do is nothing to ask for. */
TEST(asks_for_no_more_than_both_ends_can)
{
    struct xb_link_attempt attempt = healthy();
    attempt.at_rest.hops[0].upper = make_end("0000:0e:00.0", 16.0, 16);
    attempt.after = attempt.at_rest;
    attempt.load.hops[0] = (struct xb_pcie_seen){9, 16.0, 16, 3, 0};
    attempt.rates[XB_TO_GPU] = attempt.rates[XB_BACK] = 27.5e9;
    assert_attempt_ok(&attempt);
}

TEST(wonders_at_a_slot_with_fewer_lanes)
{
    struct xb_link_attempt attempt = healthy();
    struct xb_link_limits limits = {.generation = {true, 5.0, XB_LIMIT_FILE}};
    attempt.at_rest.hops[0].upper.link.max_width = 8;
    attempt.after = attempt.at_rest;
    attempt.load.hops[0].width = 8;
    attempt.rates[XB_TO_GPU] = attempt.rates[XB_BACK] = 27.5e9;
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
    attempt.rates[XB_TO_GPU] = attempt.rates[XB_BACK] = 27.5e9;
    assert_attempt(&attempt, XB_LEVEL_WARNING, "XB-LINK-SLOT", "x8|x16");
    attempt = healthy();
    attempt.at_rest.hops[0].upper.link.max_width = 0; /* not known */
    attempt.after = attempt.at_rest;
    assert_attempt_ok(&attempt);
    attempt = behind_switch(32.0, 16, 32.0, 16); /* not the slot */
    attempt.at_rest.hops[1].upper.link.max_width = 8;
    attempt.after = attempt.at_rest;
    attempt.load.hops[1].width = 8;
    attempt.rates[XB_TO_GPU] = attempt.rates[XB_BACK] = 27.5e9;
    assert_attempt(&attempt, XB_LEVEL_WARNING, "XB-LINK-BOTTLENECK", SWITCH);
    attempt.at_rest.hops[0].on_package = true; /* then it is */
    attempt.after = attempt.at_rest;
    assert_attempt(&attempt, XB_LEVEL_WARNING, "XB-LINK-SLOT", SWITCH);
}

/* QEMU's port may say anything of itself. */
TEST(does_not_believe_an_emulated_port)
{
    struct xb_link_attempt attempt = healthy();
    attempt.at_rest.hops[0].upper = make_end("0000:00:02.0", 2.5, 1);
    attempt.at_rest.hops[0].upper.vendor = 0x1b36;
    attempt.after = attempt.at_rest;
    assert_attempt_ok(&attempt);
    attempt.load.hops[0].speed_gts = 16.0;
    attempt.rates[XB_TO_GPU] = attempt.rates[XB_BACK] = 27.5e9;
    assert_attempt(&attempt, XB_LEVEL_WARNING, "XB-LINK-SPEED",
                   "Gen4 under load|the device can do Gen5|virtual machine");
    attempt.load.hops[0] = (struct xb_pcie_seen){9, 32.0, 8, 0, 0};
    assert_attempt(&attempt, XB_LEVEL_WARNING, "XB-LINK-WIDTH", "x8 of x16|virtual machine");
}

TEST(judges_a_link_that_falls)
{
    struct xb_link_attempt attempt = behind_switch(32.0, 16, 32.0, 16);
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
TEST(takes_the_maximum_after_the_transfers)
{
    struct xb_link_attempt attempt = healthy();
    attempt.at_rest.hops[0].lower.link.max_speed_gts = 2.5;
    attempt.at_rest.hops[0].lower.link.max_width = 8;
    attempt.load.hops[0] = (struct xb_pcie_seen){9, 32.0, 8, 0, 0};
    attempt.rates[XB_TO_GPU] = attempt.rates[XB_BACK] = 27.5e9;
    assert_attempt(&attempt, XB_LEVEL_CRITICAL, "XB-LINK-WIDTH", "x8 of x16");
    attempt.load.hops[0] = (struct xb_pcie_seen){9, 16.0, 16, 0, 0};
    assert_attempt(&attempt, XB_LEVEL_CRITICAL, "XB-LINK-SPEED", "Gen4|Gen5");
}

TEST(needs_a_reading_under_load)
{
    struct xb_link_attempt attempt = healthy();
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

TEST(has_limits_of_its_own_for_a_link_that_is_not_readable)
{
    struct xb_link_attempt attempt = healthy();
    struct xb_link_limits limits = {.min_d2h = {true, 60e9, XB_LIMIT_COMMAND_LINE}};
    attempt.load.hops[0] = (struct xb_pcie_seen){0};
    struct xb_verdict verdict = verdict_of(&attempt, &limits);
    assert_int_equal(verdict.found.level, XB_LEVEL_CRITICAL);
    assert_string_equal(verdict.found.reasons[0].code, "XB-BW-D2H");
    assert_string_equal(verdict.found.reasons[1].code, "XB-LINK-UNREADABLE");
    assert_near(verdict.ways[XB_TO_GPU].share, 0.0, 0.0);
    assert_false(verdict.ceiling.known);
}

TEST(knows_no_link_without_a_device_in_sysfs)
{
    struct xb_link_attempt attempt = {.rates = {10e9, 10e9}};
    assert_attempt(&attempt, XB_LEVEL_UNKNOWN, "XB-LINK-NONE",
                   "not a PCI device, or sysfs does not show it");
}

TEST(never_judges_a_link_on_the_package)
{
    struct xb_link_attempt attempt = behind_switch(32.0, 16, 32.0, 16);
    struct xb_verdict verdict;
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
    attempt.rates[XB_TO_GPU] = attempt.rates[XB_BACK] = 27.5e9;
    assert_attempt(&attempt, XB_LEVEL_CRITICAL, "XB-LINK-WIDTH", SWITCH "|reseat the card");
    attempt.load.hops[1].readings = 0;
    assert_attempt(&attempt, XB_LEVEL_UNKNOWN, "XB-LINK-UNREADABLE", SWITCH);
}

TEST(judges_links_further_up)
{
    struct xb_link_attempt attempt = behind_switch(32.0, 16, 32.0, 8);
    attempt.rates[XB_TO_GPU] = attempt.rates[XB_BACK] = 27.5e9;
    assert_attempt(&attempt, XB_LEVEL_CRITICAL, "XB-LINK-WIDTH", "x8 of x16 at " SWITCH);
    attempt = behind_switch(32.0, 16, 16.0, 16);
    attempt.rates[XB_TO_GPU] = attempt.rates[XB_BACK] = 27.5e9;
    assert_attempt(&attempt, XB_LEVEL_CRITICAL, "XB-LINK-SPEED", "Gen4|" SWITCH "|Gen5");
    attempt.at_rest.hops[1].has_upper = attempt.after.hops[1].has_upper = false;
    assert_attempt(&attempt, XB_LEVEL_WARNING, "XB-LINK-SPEED",
                   "Gen4|" SWITCH ", its port can do Gen5|virtual machine");
    attempt = behind_switch(32.0, 16, 0.0, 0);
    attempt.load.hops[1].readings = 0; /* not readable: nothing to say */
    assert_attempt_ok(&attempt);
}

TEST(names_the_bottleneck)
{
    struct xb_link_attempt attempt = behind_switch(16.0, 16, 16.0, 16);
    struct xb_verdict verdict;
    attempt.rates[XB_TO_GPU] = attempt.rates[XB_BACK] = 27.5e9;
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
    attempt.rates[XB_TO_GPU] = attempt.rates[XB_BACK] = 27.5e9;
    attempt.at_rest.hops[2] = make_hop("0000:0a:00.0", "0000:00:02.0", 32.0, 8);
    attempt.load.hops[2] = (struct xb_pcie_seen){9, 32.0, 8, 0, 0};
    attempt.at_rest.count = attempt.load.count = 3;
    attempt.after = attempt.at_rest;
    verdict = verdict_of(&attempt, &no_limits);
    assert_int_equal(verdict.found.reason_count, 1);
    attempt.at_rest.hops[2] = make_hop("0000:0a:00.0", "0000:00:02.0", 16.0, 8);
    attempt.load.hops[2] = (struct xb_pcie_seen){9, 16.0, 8, 0, 0};
    attempt.after = attempt.at_rest;
    attempt.rates[XB_TO_GPU] = attempt.rates[XB_BACK] = 13.9e9;
    verdict = verdict_of(&attempt, &no_limits);
    assert_int_equal(verdict.found.reason_count, 2);
    assert_int_equal(verdict.bottleneck, 2);
}

TEST(takes_the_least_payload_on_the_way)
{
    struct xb_link_attempt attempt = behind_switch(32.0, 16, 32.0, 16);
    attempt.rates[XB_TO_GPU] = attempt.rates[XB_BACK] = 52.0e9;
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

TEST(expects_what_it_is_told)
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
TEST(takes_an_expectation_in_place_of_both_ends)
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
    attempt.load.hops[0] = (struct xb_pcie_seen){9, 16.0, 8, 0, 0};
    attempt.rates[XB_TO_GPU] = attempt.rates[XB_BACK] = 14.0e9;
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
    attempt.rates[XB_TO_GPU] = attempt.rates[XB_BACK] = 27.5e9;
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
