/* SPDX-License-Identifier: Apache-2.0 */
#include "verdict_fixture.h"

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
    memset(&verdict, 0xa5, sizeof verdict);
    xb_verdict_of_device(&device, &no_limits, &verdict);
    assert_int_equal(verdict.best, expected_best);
    return verdict;
}

TEST(takes_the_best_attempt)
{
    struct xb_verdict verdict;
    make_device(3);
    make_slow(&device.attempts[0], false, 30e9);
    make_slow(&device.attempts[1], false, 50e9);
    verdict = verdict_of_device(2);
    assert_ok(&verdict);
    make_slow(&device.attempts[2], false, 40e9);
    verdict = verdict_of_device(1);
    assert_only(&verdict, XB_LEVEL_WARNING, "XB-SLOW-UNEXPLAINED", "h2d 50.00");
    make_slow(&device.attempts[0], false, 51e9); /* as bad, and more */
    verdict = verdict_of_device(0);
    assert_only(&verdict, XB_LEVEL_WARNING, "XB-SLOW-UNEXPLAINED", "h2d 51.00");
    device.attempts[2] = device.attempts[1] = device.attempts[0]; /* the first of equals */
    verdict = verdict_of_device(0);
    assert_int_equal(verdict.found.level, XB_LEVEL_WARNING);
}

/* An attempt that could not be judged hides no defect. */
TEST(takes_a_bad_attempt_before_one_that_tells_nothing)
{
    struct xb_verdict verdict;
    make_device(3);
    device.attempts[0].rates[XB_TO_GPU] = device.attempts[0].rates[XB_BACK] = 0.0;
    make_slow(&device.attempts[1], false, 30e9);
    make_slow(&device.attempts[2], false, 30e9);
    device.attempts[2].load.hops[0].readings = 0;
    verdict = verdict_of_device(1);
    assert_only(&verdict, XB_LEVEL_CRITICAL, "XB-SLOW-UNEXPLAINED", "30.00");
}

/* CRITICAL is what no attempt contradicts. */
TEST(far_below_is_so_in_every_attempt)
{
    struct xb_verdict verdict;
    make_device(2);
    make_slow(&device.attempts[0], false, 30e9);
    make_slow(&device.attempts[1], false, 29e9);
    verdict = verdict_of_device(0);
    assert_only(&verdict, XB_LEVEL_CRITICAL, "XB-SLOW-UNEXPLAINED", "30.00");
    make_slow(&device.attempts[1], false, 36e9);
    make_slow(&device.attempts[1], true, 20e9); /* the first is the best by far */
    verdict = verdict_of_device(0);
    assert_only(&verdict, XB_LEVEL_WARNING, "XB-SLOW-UNEXPLAINED", "30.00");
    make_slow(&device.attempts[1], false, 0); /* it failed */
    device.attempts[1].rates[XB_TO_GPU] = 0;
    verdict = verdict_of_device(0);
    assert_only(&verdict, XB_LEVEL_CRITICAL, "XB-SLOW-UNEXPLAINED", "30.00");
    device.attempts[0].conditions[0].traffic_known = false; /* there may have been any */
    verdict = verdict_of_device(0);
    assert_only(&verdict, XB_LEVEL_WARNING, "XB-SLOW-UNEXPLAINED", "30.00");
}

/* One attempt beside other work is enough for a doubt; one at full speed needs none. */
TEST(what_else_went_on_in_any_slow_attempt_counts)
{
    struct xb_verdict verdict;
    make_device(3);
    for (size_t i = 0; i < 3; i++)
        make_slow(&device.attempts[i], false, 45e9 + 1e9 * (double)i);
    device.attempts[0].conditions[0].cpus_busy = 12;
    verdict = verdict_of_device(2);
    assert_only(&verdict, XB_LEVEL_UNKNOWN, "XB-HOST-BUSY", "h2d 47.00|12.0 of 16 CPUs");
    device.attempts[0].conditions[0].cpus_busy = 0;
    device.attempts[0].conditions[1].cpus_busy = 12; /* not while slow copies ran */
    verdict = verdict_of_device(2);
    assert_only(&verdict, XB_LEVEL_WARNING, "XB-SLOW-UNEXPLAINED", "47.00");
    device.attempts[0].rates[XB_TO_GPU] = 54e9; /* the link can do it */
    make_slow(&device.attempts[0], true, 10e9);
    verdict = verdict_of_device(2);
    assert_only(&verdict, XB_LEVEL_UNKNOWN, "XB-SLOW-AT-TIMES", "another attempt reached 54.00");
}

TEST(keeps_what_any_attempt_counted)
{
    struct xb_verdict verdict;
    make_device(3);
    device.attempts[0].rates[XB_TO_GPU] = 50e9;
    device.attempts[0].after.hops[0].lower.aer.correctable = 5;
    device.attempts[1].after.hops[0].lower.aer.correctable = 5;
    device.attempts[2].rates[XB_BACK] = 50e9;
    verdict = verdict_of_device(1);
    assert_ok(&verdict); /* no attempt had too many */
    device.attempts[0].after.hops[0].lower.aer.correctable = 6;
    verdict = verdict_of_device(1);
    assert_only(&verdict, XB_LEVEL_WARNING, "XB-AER-CORRECTABLE", "11 correctable errors at " SLOT);

    make_device(2);
    device.attempts[0].after.hops[0].upper.aer.nonfatal = 1;
    device.attempts[1].rates[XB_TO_GPU] = 50e9; /* that attempt is worse by its own */
    verdict = verdict_of_device(0);
    assert_only(&verdict, XB_LEVEL_CRITICAL, "XB-AER-UNCORRECTABLE", "1 uncorrectable");

    make_device(2);
    device.attempts[0].health_after.replays = 5;
    device.attempts[0].rates[XB_TO_GPU] = 55e9;
    device.attempts[1].health_after.replays = 1;
    verdict = verdict_of_device(1);
    assert_ok(&verdict);
    device.attempts[0].health_after.replays = 9;
    verdict = verdict_of_device(1);
    assert_only(&verdict, XB_LEVEL_WARNING, "XB-PCIE-REPLAY", "10 packets");

    make_device(2);
    device.attempts[0].health_after.nvlinks[7].counts[XB_NVLINK_RECOVERIES] = 4;
    device.attempts[0].rates[XB_TO_GPU] = 55e9;
    verdict = verdict_of_device(1);
    assert_only(&verdict, XB_LEVEL_WARNING, "XB-NVLINK-ERRORS", "4 recoveries|of link 7");
}

TEST(keeps_wrong_data_and_a_device_that_vanished)
{
    struct xb_verdict verdict;
    make_device(2);
    device.attempts[0].data_wrong = true; /* though its copies are as fast */
    device.attempts[0].rates[XB_TO_GPU] = 56e9;
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

TEST(forgets_what_only_other_attempts_had)
{
    struct xb_verdict verdict;
    make_device(2);
    device.attempts[0].health_after.slowed_by_hardware = true;
    device.attempts[0].rates[XB_TO_GPU] = 20e9;
    verdict = verdict_of_device(1);
    assert_ok(&verdict);
}

TEST(finds_a_link_that_was_less_in_another_attempt)
{
    struct xb_link_limits limits = {.width = {true, 16.0, XB_LIMIT_FILE}};
    struct xb_verdict verdict;
    make_device(3);
    device.attempts[0].load.hops[0].width = 8;
    device.attempts[0].rates[XB_TO_GPU] = 20e9;
    device.attempts[1].load.hops[0].speed_gts = 2.5; /* one reason is enough */
    device.attempts[1].rates[XB_TO_GPU] = 5e9;
    verdict = verdict_of_device(2);
    assert_only(&verdict, XB_LEVEL_WARNING, "XB-LINK-UNSTABLE",
                "attempt 1 of 3 ran at Gen5 x8 at " SLOT "|reseat|riser|ASPM");
    xb_verdict_of_device(&device, &limits, &verdict); /* less than expected is less too */
    assert_only(&verdict, XB_LEVEL_WARNING, "XB-LINK-UNSTABLE", "attempt 1 of 3");
    limits.width.value = 8.0;
    limits.generation = (struct xb_limit){true, 1.0, XB_LIMIT_FILE};
    xb_verdict_of_device(&device, &limits, &verdict);
    assert_ok(&verdict); /* it was never less than that */

    make_device(2); /* always so: that is another matter */
    for (size_t i = 0; i < 2; i++) {
        device.attempts[i].load.hops[0].width = 8;
        device.attempts[i].rates[XB_TO_GPU] = device.attempts[i].rates[XB_BACK] = 27.5e9;
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
    device.attempts[0].rates[XB_TO_GPU] = 50e9;
    verdict = verdict_of_device(1);
    assert_only(&verdict, XB_LEVEL_WARNING, "XB-LINK-UNSTABLE", "3 times in attempt 1 of 2");
}

TEST(cannot_judge_what_has_no_link)
{
    struct xb_verdict verdict;
    for (size_t attempts = 0; attempts < 2; attempts++) {
        make_device(attempts);
        device.info.shares_host_memory = true;
        device.attempts[0].rates[XB_TO_GPU] = 200e9; /* across no link, so above nothing */
        verdict = verdict_of_device(0);
        assert_only(&verdict, XB_LEVEL_UNKNOWN, "XB-LINK-NONE", "nothing crosses a link");
        make_device(attempts);
        device.info.coherent_with_host = true;
        device.attempts[0].rates[XB_TO_GPU] = 340e9;
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
    assert_int_equal(verdict.found.level, XB_LEVEL_CRITICAL);
}

TEST(tells_of_the_deadline)
{
    struct xb_verdict verdict;
    make_device(0);
    verdict = verdict_of_device(0);
    assert_only(&verdict, XB_LEVEL_UNKNOWN, "XB-TEST-FAILED", "no transfer test was made");
    device.cut = true;
    verdict = verdict_of_device(0);
    assert_only(&verdict, XB_LEVEL_UNKNOWN, "XB-DEADLINE", "--deadline");
    make_device(2);
    device.cut = true;
    device.attempts[1].rates[XB_TO_GPU] = 0.0;
    verdict = verdict_of_device(0); /* a good one was in time */
    assert_ok(&verdict);
    make_slow(&device.attempts[0], false, 30e9);
    verdict = verdict_of_device(0);
    assert_int_equal(verdict.found.level, XB_LEVEL_WARNING); /* further attempts were to come */
    assert_string_equal(verdict.found.reasons[1].code, "XB-DEADLINE");
}

TEST(tells_of_a_signal)
{
    struct xb_verdict verdict;
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

TEST(tells_of_a_device_that_is_not_there)
{
    struct xb_verdict verdict;
    make_device(0);
    device.missing = device.cut = true;
    device.info.pci_bdf[0] = '\0';
    verdict = verdict_of_device(0);
    assert_only(&verdict, XB_LEVEL_CRITICAL, "XB-DEVICE-MISSING",
                "there are fewer devices than --count asks for: see lspci and dmesg");
}

TEST(tells_the_link_under_load)
{
    unsigned generation = 9;
    unsigned width = 9;
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
