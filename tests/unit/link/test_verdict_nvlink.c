/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of NVLinks: what a healthy link does too is no reason. */
#include "verdict_fixture.h"

#include <math.h>

#define FIXTURE_TEST(function) TEST_WITH(function, start, NULL)

static struct xb_link_attempt attempt; /* large */
static struct xb_nvlink *const before = attempt.health_before.nvlinks;
static struct xb_nvlink *const after = attempt.health_after.nvlinks;

static int start(NO_STATE)
{
    attempt = healthy();
    return 0;
}

FIXTURE_TEST(what_was_before_the_test_is_not_judged)
{
    for (size_t i = 0; i < NVLINKS; i++)
        for (size_t j = 0; j < XB_NVLINK_COUNTERS; j++)
            before[i].counts[j] = after[i].counts[j] = 1000;
    assert_attempt_ok(&attempt);
    after[3].counts[XB_NVLINK_RECOVERIES] = 7; /* somebody reset them */
    assert_attempt_ok(&attempt);
}

FIXTURE_TEST(a_recovery_is_a_fault)
{
    before[4].counts[XB_NVLINK_RECOVERIES] = 5;
    after[4].counts[XB_NVLINK_RECOVERIES] = 6;
    assert_attempt(&attempt, XB_LEVEL_WARNING, "XB-NVLINK-ERRORS",
                   "1 recovery (0 failed) of link 4 during|nvidia-smi nvlink -e");
    after[17].counts[XB_NVLINK_RECOVERIES] = 2;
    assert_attempt(&attempt, XB_LEVEL_WARNING, "XB-NVLINK-ERRORS",
                   "3 recoveries (0 failed) of links 4, 17 during");
    before[4].counted[XB_NVLINK_RECOVERIES] = false;
    assert_attempt(&attempt, XB_LEVEL_WARNING, "XB-NVLINK-ERRORS", "2 recoveries|of link 17");
    after[17].counted[XB_NVLINK_RECOVERIES] = false;
    assert_attempt_ok(&attempt);
}

FIXTURE_TEST(a_failed_recovery_is_a_fault)
{
    before[0].counted[XB_NVLINK_FAILED_RECOVERIES] = true;
    after[0].counted[XB_NVLINK_FAILED_RECOVERIES] = true;
    after[0].counts[XB_NVLINK_FAILED_RECOVERIES] = 1;
    assert_attempt(&attempt, XB_LEVEL_WARNING, "XB-NVLINK-ERRORS", "(1 failed) of link 0 during");
}

/* The link sends again what arrived wrong: the data is right. */
FIXTURE_TEST(crc_errors_are_not_judged)
{
    for (size_t i = 0; i < NVLINKS; i++)
        after[i].counts[XB_NVLINK_CRC_ERRORS] = 1000000;
    assert_attempt_ok(&attempt);
}

FIXTURE_TEST(replays_count_from_what_wrong_bits_explain)
{
    uint64_t most = xb_nvlink_replays_allowed(2 * 8 * 26.562e9);
    for (size_t i = 0; i < NVLINKS; i++)
        after[i].counts[XB_NVLINK_REPLAYS] = most;
    assert_attempt_ok(&attempt);
    after[2].counts[XB_NVLINK_REPLAYS] = after[9].counts[XB_NVLINK_REPLAYS] = 50;
    assert_attempt(&attempt, XB_LEVEL_WARNING, "XB-NVLINK-REPLAY",
                   "50 replays on link 2 during the test, a healthy link has 7 at most|"
                   "too many on links 2, 9");
    after[9].counts[XB_NVLINK_REPLAYS] = 51;
    before[2].rate = 10 * before[9].rate; /* allows more */
    assert_attempt(&attempt, XB_LEVEL_WARNING, "XB-NVLINK-REPLAY",
                   "51 replays on link 9 during the test, a healthy link has 7 at most");
    after[2].counts[XB_NVLINK_REPLAYS] = 90;
    assert_attempt(&attempt, XB_LEVEL_WARNING, "XB-NVLINK-REPLAY",
                   "90 replays on link 2 during|too many on links 2, 9");
    before[2].rate = before[9].rate;
    after[2].counts[XB_NVLINK_REPLAYS] = most;
    assert_attempt(&attempt, XB_LEVEL_WARNING, "XB-NVLINK-REPLAY",
                   "51 replays on link 9 during the test, a healthy link has 7 at most");
    attempt.health_seconds = 200; /* in which that many are usual */
    assert_attempt_ok(&attempt);
    attempt.health_seconds = 1;
    before[2].rate = before[9].rate = 0; /* how many are too many is not known */
    assert_attempt_ok(&attempt);
}

FIXTURE_TEST(a_link_that_goes_down_is_a_fault)
{
    before[5].active = false; /* bridges leave links that lead nowhere */
    after[5].active = false;
    assert_attempt_ok(&attempt);
    after[11].active = false;
    assert_attempt(&attempt, XB_LEVEL_CRITICAL, "XB-NVLINK-DOWN", "link 11 went down");
}

FIXTURE_TEST(a_link_that_cannot_be_read_any_more_is_unknown)
{
    before[5].active = false;
    after[5] = (struct xb_nvlink){.known = false}; /* it leads nowhere */
    assert_attempt_ok(&attempt);
    after[11] = (struct xb_nvlink){.known = false};
    assert_attempt(&attempt, XB_LEVEL_UNKNOWN, "XB-NVLINK-UNREADABLE",
                   "link 11 could no longer be read");
    attempt.health_after = (struct xb_device_health){.nvlinks_known = false}; /* nor is anything */
    assert_attempt_ok(&attempt);
}

FIXTURE_TEST(tells_every_link_of_the_most_that_there_can_be)
{
    for (size_t i = 0; i < XB_NVLINKS; i++) {
        before[i] = before[0];
        after[i] = before[0];
        after[i].counts[XB_NVLINK_RECOVERIES] = UINT64_MAX / XB_NVLINKS;
    }
    assert_attempt(&attempt, XB_LEVEL_WARNING, "XB-NVLINK-ERRORS",
                   "of links 0, 1, 2,|34, 35 during");
}

/* Sums over attempts: each has its own readings, and what lies between them is not counted. */
FIXTURE_TEST(adds_up_attempts)
{
    struct xb_nvlink_facts facts = {.counted = {false}};
    after[1].counts[XB_NVLINK_REPLAYS] = 2;
    after[2].counts[XB_NVLINK_REPLAYS] = 3;
    xb_nvlink_facts_add(&facts, &attempt.health_before, &attempt.health_after, 2);
    xb_nvlink_facts_add(&facts, &attempt.health_before, &attempt.health_after, 1);
    assert_int_equal(facts.links[1].rises[XB_NVLINK_REPLAYS], 4);
    assert_int_equal(facts.rises[XB_NVLINK_REPLAYS], 10);
    assert_near(facts.links[1].bits, 3 * 2 * 8 * 26.562e9, 1);
    assert_true(facts.counted[XB_NVLINK_REPLAYS]);
    assert_false(facts.counted[XB_NVLINK_FAILED_RECOVERIES]);
    assert_false(facts.links[NVLINKS].counted[XB_NVLINK_REPLAYS]);
}

/* The probability that a Poisson distribution gives k or more. */
static double tail(double mean, uint64_t k)
{
    double sum = 0;
    for (uint64_t i = k; i < k + 1000; i++)
        sum += exp((double)i * log(mean) - mean - lgamma((double)i + 1));
    return sum;
}

FIXTURE_TEST(allows_what_a_healthy_link_may_have)
{
    static const double means[] = {1e-9, 1e-6, 0.01, 0.4, 1, 5, 20, 300};
    uint64_t last = 0;
    for (size_t i = 0; i < sizeof means / sizeof means[0]; i++) {
        uint64_t most = xb_nvlink_replays_allowed(means[i] / XB_NVLINK_BIT_ERROR_RATE);
        if (!(tail(means[i], most + 1) < XB_NVLINK_FALSE_ALARM))
            fail_msg("mean %g: more than %d is too likely", means[i], (int)most);
        /* The bound is close: a few less would be an alarm too often. */
        if (most > 3 &&
            !(tail(means[i], most - 3 - (uint64_t)sqrt(means[i])) > XB_NVLINK_FALSE_ALARM))
            fail_msg("mean %g: %d is far too many", means[i], (int)most);
        assert_true(most >= last);
        last = most;
    }
    assert_int_equal(xb_nvlink_replays_allowed(0), 0);
    assert_int_equal(xb_nvlink_replays_allowed(-1), 0);
    assert_int_equal(xb_nvlink_replays_allowed(NAN), 0);
    assert_true(xb_nvlink_replays_allowed(INFINITY) == UINT64_MAX);
    assert_true(xb_nvlink_replays_allowed(1e300) == UINT64_MAX);
}
