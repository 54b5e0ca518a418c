/* SPDX-License-Identifier: Apache-2.0 */
#include "verdict_fixture.h"

#include <math.h>

TEST(tells_why_a_test_failed)
{
    struct xb_link_attempt attempt = healthy();
    attempt.rates[XB_BACK] = 0.0;
    memset(attempt.failure, 'x', sizeof attempt.failure - 1); /* longer than a reason */
    assert_attempt(&attempt, XB_LEVEL_UNKNOWN, "XB-TEST-FAILED", "xxx");
    strcpy(attempt.failure, "out of memory");
    assert_attempt(&attempt, XB_LEVEL_UNKNOWN, "XB-TEST-FAILED", "out of memory");
    attempt.failure[0] = '\0';
    assert_attempt(&attempt, XB_LEVEL_UNKNOWN, "XB-TEST-FAILED", "no bandwidth was measured");
    attempt.rates[XB_BACK] = NAN;
    assert_attempt(&attempt, XB_LEVEL_UNKNOWN, "XB-TEST-FAILED", "no bandwidth was measured");
    attempt.rates[XB_BACK] = INFINITY;
    assert_attempt(&attempt, XB_LEVEL_UNKNOWN, "XB-TEST-FAILED", "no bandwidth was measured");
    attempt = healthy();
    strcpy(attempt.failure, "could not be repeated");
    assert_attempt(&attempt, XB_LEVEL_UNKNOWN, "XB-TEST-FAILED", "could not be repeated");
    attempt = healthy();
    attempt.rates[XB_TO_GPU] = 0.0;
    assert_attempt(&attempt, XB_LEVEL_UNKNOWN, "XB-TEST-FAILED", "no bandwidth was measured");
}

TEST(finds_wrong_data)
{
    struct xb_link_attempt attempt = healthy();
    attempt.data_wrong = true;
    assert_attempt(&attempt, XB_LEVEL_CRITICAL, "XB-DATA-WRONG", "arrived wrong");
    attempt.rates[XB_TO_GPU] = 0.0;
    strcpy(attempt.failure, "at byte 4096");
    assert_attempt(&attempt, XB_LEVEL_CRITICAL, "XB-DATA-WRONG", "arrived wrong|at byte 4096");
}

TEST(finds_a_device_that_vanished)
{
    struct xb_link_attempt attempt = healthy();
    attempt.load.gone = true;
    assert_attempt(&attempt, XB_LEVEL_CRITICAL, "XB-DEVICE-GONE", "fell off the bus: see dmesg");
    attempt = healthy();
    memset(&attempt.after, 0, sizeof attempt.after);
    attempt.load.hops[0].readings = 0; /* which it explains */
    assert_attempt(&attempt, XB_LEVEL_CRITICAL, "XB-DEVICE-GONE", "fell off the bus");
}

/* Its folder stays. */
TEST(finds_a_device_that_does_not_answer)
{
    struct xb_link_attempt attempt = healthy();
    attempt.after.dead = true;
    assert_attempt(&attempt, XB_LEVEL_CRITICAL, "XB-DEVICE-GONE",
                   "does not answer on the bus: see dmesg (Xid 79)");
    attempt = healthy();
    attempt.at_rest.dead = true;
    attempt.load.hops[0].readings = 0;
    assert_attempt(&attempt, XB_LEVEL_CRITICAL, "XB-DEVICE-GONE", "does not answer");
}

TEST(counts_errors_at_either_end)
{
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
TEST(compares_the_same_ends)
{
    struct xb_link_attempt attempt = behind_switch(32.0, 16, 32.0, 16);
    attempt.at_rest.hops[1].upper.aer.correctable = 5;
    attempt.after.hops[0] = attempt.at_rest.hops[1];
    attempt.after.count = 1;
    assert_attempt_ok(&attempt);
}

TEST(looks_at_the_devices_health)
{
    struct xb_link_attempt attempt = healthy();
    struct xb_device_health *after = &attempt.health_after;
    attempt.health_seconds = 10;
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
    assert_attempt(&attempt, XB_LEVEL_WARNING, "XB-THROTTLE", "no reason given");
    attempt = healthy();
    strcpy(after->throttle, "power cap"); /* that a user set */
    assert_attempt_ok(&attempt);
}

/* A count of `each` a second in each of three attempts, of which an architecture is known. */
static struct xb_verdict counted(enum xb_pcie_counter counter, uint64_t each,
                                 const char *architecture)
{
    static struct xb_link_device device; /* large */
    struct xb_verdict verdict;
    device = (struct xb_link_device){.info.pci_bdf = SLOT, .attempt_count = 3};
    strcpy(device.info.architecture, architecture);
    for (size_t i = 0; i < 3; i++) {
        device.attempts[i] = healthy();
        device.attempts[i].health_after.counts[counter] += each;
        device.attempts[i].conditions[1].retrains = counter == XB_PCIE_RETRAINS ? each : 0;
    }
    xb_verdict_of_device(&device, &no_limits, &verdict);
    assert_int_equal(
        xb_verdict_is_open(&device, &verdict),
        verdict.found.level != XB_LEVEL_OK ||
            (each > 0 && counter != XB_PCIE_UNSUPPORTED && strcmp(architecture, "sm_90") == 0));
    return verdict;
}

/* On a Hopper; elsewhere nobody knows what healthy links count. */
TEST(judges_what_the_device_counts)
{
    for (enum xb_pcie_counter i = 0; i < XB_PCIE_COUNTERS; i++) {
        bool is_grave = i == XB_PCIE_NONFATAL || i == XB_PCIE_FATAL;
        struct xb_verdict verdict = counted(i, 1, "sm_90");
        if (i == XB_PCIE_UNSUPPORTED)
            assert_ok(&verdict);
        else if (i == XB_PCIE_RETRAINS)
            assert_only(&verdict, XB_LEVEL_WARNING, "XB-PCIE-RETRAIN", "trained again|count 3");
        else
            assert_only(&verdict, is_grave ? XB_LEVEL_CRITICAL : XB_LEVEL_WARNING, "XB-PCIE-ERRORS",
                        xb_pcie_counters[i].words);
        verdict = counted(i, 1, "sm_80");
        assert_ok(&verdict);
        assert_int_equal(verdict.facts.rises[i], 3);
        assert_int_equal(verdict.facts.since_boot[i], 11);
        verdict = counted(i, 0, "sm_90");
        assert_ok(&verdict);
    }
}

static void assert_judged(const struct xb_link_device *device, const char *code)
{
    struct xb_verdict verdict;
    xb_verdict_of_device(device, &no_limits, &verdict);
    assert_string_equal(verdict.found.reason_count > 0 ? verdict.found.reasons[0].code : "", code);
}

/* Wrong bits are allowed now and then: not in each attempt, once a second. One event may count
 * several times, in several counters. */
TEST(judges_rates)
{
    static struct xb_link_device device; /* large */
    struct xb_link_attempt *attempts = device.attempts;
    device = (struct xb_link_device){.info = {.pci_bdf = SLOT, .architecture = "sm_90"},
                                     .attempt_count = 3};
    for (size_t i = 0; i < 3; i++)
        attempts[i] = healthy();
    attempts[0].health_after.replays += 5;
    attempts[0].health_after.counts[XB_PCIE_LANE_ERRORS] += 11; /* seen */
    assert_judged(&device, "");
    attempts[1].health_after.counts[XB_PCIE_LANE_ERRORS]++;
    assert_judged(&device, "XB-PCIE-ERRORS");
    attempts[0] = attempts[1] = healthy();
    for (size_t i = 0; i < 2; i++)
        attempts[i].health_after.replays++;
    assert_judged(&device, "XB-PCIE-REPLAY"); /* 2 in 3 s */
    attempts[2].health_seconds = 2;           /* in 4 s */
    assert_judged(&device, "");
    for (size_t i = 0; i < XB_PCIE_COUNTERS; i++)
        attempts[2].health_after.counted[i] = false; /* whose seconds do not count then */
    assert_judged(&device, "XB-PCIE-REPLAY");
    attempts[0] = attempts[1] = attempts[2] = healthy();
    attempts[1].health_after.counts[XB_PCIE_RETRAINS]++; /* at rest: no fault */
    assert_judged(&device, "");
    attempts[1].conditions[0].retrains = 1; /* by one wrong bit */
    assert_judged(&device, "");
    attempts[0].conditions[1].retrains = 1;
    assert_judged(&device, "XB-PCIE-RETRAIN");
    attempts[0] = healthy();
    attempts[1] = healthy();
    attempts[1].health_after.counts[XB_PCIE_FATAL] = 0; /* reset */
    assert_judged(&device, "");
    attempts[1].health_after.counted[XB_PCIE_FATAL] = false;
    attempts[1].health_after.counts[XB_PCIE_FATAL] = 99;
    assert_judged(&device, "");
}

TEST(sorts_reasons)
{
    struct xb_link_attempt attempt = healthy();
    attempt.load.hops[0].width = 8;                           /* critical */
    attempt.rates[XB_TO_GPU] = attempt.rates[XB_BACK] = 50e9; /* unknown: above x8 */
    attempt.health_after.replays = 6;                         /* warning */
    attempt.after.hops[0].lower.aer.fatal = 1;                /* critical */
    attempt.data_wrong = true;                                /* critical */
    struct xb_verdict verdict = verdict_of(&attempt, &no_limits);
    static const char *const codes[] = {"XB-DATA-WRONG",  "XB-LINK-WIDTH", "XB-AER-UNCORRECTABLE",
                                        "XB-PCIE-REPLAY", "XB-BW-ABOVE",   "XB-BW-ABOVE"};
    assert_int_equal(verdict.found.level, XB_LEVEL_CRITICAL);
    assert_int_equal(verdict.found.reason_count, 6);
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(verdict.found.reasons[i].code, codes[i]);
}

/* 16 ends with two reasons each, and others: the critical ones stay. */
TEST(keeps_the_worst_of_too_many_reasons)
{
    struct xb_link_attempt attempt = healthy();
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
    assert_int_equal(verdict.found.reason_count, XB_FINDINGS);
    for (size_t i = 0; i < XB_FINDINGS; i++)
        assert_string_equal(verdict.found.reasons[i].code, "XB-AER-UNCORRECTABLE");
    assert_int_equal(verdict.found.level, XB_LEVEL_CRITICAL);
}
