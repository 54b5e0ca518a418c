/* SPDX-License-Identifier: Apache-2.0 */
#include "verdict_fixture.h"

#include <math.h>

/* ---- what follows ---- */

static const struct xb_finding *find(const struct xb_verdict *verdict, const char *code)
{
    for (size_t i = 0; i < verdict->found.reason_count; i++)
        if (strcmp(verdict->found.reasons[i].code, code) == 0)
            return &verdict->found.reasons[i];
    return NULL;
}

/* ---- bandwidth ---- */

static double ceiling_of(const struct xb_link_attempt *attempt, bool is_back)
{
    const struct xb_pcie_seen *seen = &attempt->load.hops[0];
    struct xb_ceiling ceiling =
        xb_ceiling_of(seen->speed_gts, seen->width, &attempt->at_rest.hops[0].lower.control);
    return is_back ? ceiling.d2h : ceiling.h2d;
}

/* Exactly at a limit is not below it. Where the link itself shows a fault, 0.80 is CRITICAL. */
TEST(judges_shares_of_the_ceiling)
{
    for (int is_back = 0; is_back < 2; is_back++) {
        const char *code = is_back ? "XB-BW-D2H" : "XB-BW-H2D";
        struct xb_link_attempt attempt = healthy();
        double full = ceiling_of(&attempt, is_back);
        make_slow(&attempt, is_back, 0.9 * full);
        assert_attempt_ok(&attempt);
        make_slow(&attempt, is_back, nextafter(0.9 * full, 0.0));
        assert_attempt(&attempt, XB_LEVEL_WARNING, "XB-SLOW-UNEXPLAINED",
                       "0.900|Gen5 x16|below 0.90");
        make_slow(&attempt, is_back, 0.6 * full);
        assert_attempt(&attempt, XB_LEVEL_WARNING, "XB-SLOW-UNEXPLAINED", "below 0.90");
        make_slow(&attempt, is_back, nextafter(0.6 * full, 0.0));
        assert_attempt(&attempt, XB_LEVEL_CRITICAL, "XB-SLOW-UNEXPLAINED", "below 0.60");

        attempt.health_after.replays = 6; /* WARNING */
        make_slow(&attempt, is_back, 0.8 * full);
        struct xb_verdict verdict = verdict_of(&attempt, &no_limits);
        assert_int_equal(find(&verdict, code)->level, XB_LEVEL_WARNING);
        make_slow(&attempt, is_back, nextafter(0.8 * full, 0.0));
        verdict = verdict_of(&attempt, &no_limits);
        assert_int_equal(find(&verdict, code)->level, XB_LEVEL_CRITICAL);
        assert_int_equal(verdict.found.reason_count, 2);
    }
}

TEST(asks_less_of_slow_links)
{
    struct xb_link_attempt attempt = healthy();
    attempt.at_rest.hops[0] = make_hop(SLOT, "0000:0e:00.0", 8.0, 16);
    attempt.after = attempt.at_rest;
    attempt.load.hops[0] = (struct xb_pcie_seen){5, 8.0, 16, 0, 0};
    make_slow(&attempt, false, 0.85 * ceiling_of(&attempt, false));
    make_slow(&attempt, true, 0.85 * ceiling_of(&attempt, true));
    assert_attempt_ok(&attempt);
    make_slow(&attempt, false, 0.84 * ceiling_of(&attempt, false));
    assert_attempt(&attempt, XB_LEVEL_WARNING, "XB-SLOW-UNEXPLAINED", "below 0.85");
    attempt.health_after.replays = 6;
    make_slow(&attempt, false, 0.69 * ceiling_of(&attempt, false));
    struct xb_verdict verdict = verdict_of(&attempt, &no_limits);
    assert_int_equal(find(&verdict, "XB-BW-H2D")->level, XB_LEVEL_CRITICAL);
    assert_non_null(strstr(find(&verdict, "XB-BW-H2D")->text, "below 0.70"));
}

/* ---- what else went on ---- */

static void slow(struct xb_link_conditions *seen)
{
    (void)seen;
}
static void on_a_busy_host(struct xb_link_conditions *seen)
{
    seen->cpus_busy = 2.0;
}
static void on_a_host_almost_idle(struct xb_link_conditions *seen)
{
    seen->cpus_busy = 1.99;
}
static void with_busy_memory(struct xb_link_conditions *seen)
{
    seen->load_s = 250e-9;
}
static void with_far_memory(struct xb_link_conditions *seen)
{
    seen->memory_is_far = true;
}
static void slowed_down(struct xb_link_conditions *seen)
{
    seen->slowed_by_hardware = true;
    strcpy(seen->throttle, "hardware thermal slowdown");
}
static void with_slow_memory(struct xb_link_conditions *seen)
{
    seen->memory_mhz = 2880; /* of 3201 */
}
static void at_times(struct xb_link_conditions *seen)
{
    seen->fastest = 53e9;
}
static void beside_copies_to(struct xb_link_conditions *seen)
{
    seen->received += 30e9;
}
static void beside_copies_back(struct xb_link_conditions *seen)
{
    seen->sent += 30e9;
}
static void with_nothing_known(struct xb_link_conditions *seen)
{
    *seen = (struct xb_link_conditions){.seconds = 0};
}

/* The link's own faults are told as ever, whatever else goes on. */
TEST(what_else_went_on_makes_a_loss_unknown)
{
    static const struct {
        void (*change)(struct xb_link_conditions *seen);
        const char *code, *pieces;
    } rows[] = {
        {slow, NULL, NULL},
        {on_a_host_almost_idle, NULL, NULL},
        {with_nothing_known, NULL, NULL},
        {on_a_busy_host, "XB-HOST-BUSY", "other processes kept 2.0 of 16 CPUs busy"},
        {with_busy_memory, "XB-HOST-BUSY", "a load from the host's memory took 250 ns"},
        {with_far_memory, "XB-MEMORY-FAR", "far NUMA node"},
        {slowed_down, "XB-CLOCKS-LOW", "slowed the GPU down (hardware thermal slowdown)"},
        {with_slow_memory, "XB-CLOCKS-LOW", "2880 of 3201 MHz"},
        {at_times, "XB-SLOW-AT-TIMES", "53.00 GB/s"},
        {beside_copies_to, "XB-OTHER-TRAFFIC", "the link carried"},
        {beside_copies_back, "XB-OTHER-TRAFFIC", "the link carried"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int is_back = 0; is_back < 2; is_back++) {
            struct xb_link_attempt attempt = healthy();
            make_slow(&attempt, is_back, 28e9); /* half */
            rows[i].change(&attempt.conditions[is_back]);
            if (rows[i].code == NULL) /* other traffic that cannot be seen may be there */
                assert_attempt(&attempt,
                               rows[i].change == with_nothing_known ? XB_LEVEL_WARNING
                                                                    : XB_LEVEL_CRITICAL,
                               "XB-SLOW-UNEXPLAINED", "28.00");
            else
                assert_attempt(&attempt, XB_LEVEL_UNKNOWN, rows[i].code, rows[i].pieces);
            attempt.health_after.replays += 6;
            struct xb_verdict verdict = verdict_of(&attempt, &no_limits);
            assert_int_equal(verdict.found.level, XB_LEVEL_CRITICAL);
            assert_non_null(find(&verdict, "XB-PCIE-REPLAY"));
            assert_int_equal(find(&verdict, is_back ? "XB-BW-D2H" : "XB-BW-H2D")->level,
                             XB_LEVEL_CRITICAL);
            assert_int_equal(verdict.found.reason_count, 2);
            /* Full speed needs no reason why not. */
            attempt = healthy();
            rows[i].change(&attempt.conditions[is_back]);
            assert_attempt_ok(&attempt);
        }
    }
}

/* The other direction's conditions are not those of the slow copies. */
TEST(only_the_slow_copies_own_time_counts)
{
    struct xb_link_attempt attempt = healthy();
    make_slow(&attempt, false, 28e9);
    on_a_busy_host(&attempt.conditions[1]);
    assert_attempt(&attempt, XB_LEVEL_CRITICAL, "XB-SLOW-UNEXPLAINED", "28.00");
}

/* A limit that somebody set is told in every case. */
TEST(a_limit_of_ones_own_is_always_told)
{
    struct xb_link_attempt attempt = healthy();
    const struct xb_link_limits least = {.min_h2d = {true, 54e9, XB_LIMIT_COMMAND_LINE}};
    const struct xb_link_limits share = {.warn_share = {true, 0.93, XB_LIMIT_FILE}};
    attempt.rates[XB_TO_GPU] = 53e9; /* the fastest copies are above */
    struct xb_verdict verdict = verdict_of(&attempt, &least);
    assert_only(&verdict, XB_LEVEL_CRITICAL, "XB-BW-H2D", "below the limit of 54.00 GB/s");
    verdict = verdict_of(&attempt, &share);
    assert_only(&verdict, XB_LEVEL_WARNING, "XB-BW-H2D", "below 0.93");
    make_slow(&attempt, false, 43e9); /* 0.74: a milder limit makes no harsher verdict */
    verdict = verdict_of(&attempt, &share);
    assert_only(&verdict, XB_LEVEL_WARNING, "XB-BW-H2D", "below 0.93");
    on_a_busy_host(&attempt.conditions[0]);
    verdict = verdict_of(&attempt, &least);
    assert_int_equal(verdict.found.level, XB_LEVEL_UNKNOWN);
    assert_non_null(strstr(find(&verdict, "XB-BW-H2D")->text, "below the limit of 54.00 GB/s"));
    assert_non_null(strstr(find(&verdict, "XB-HOST-BUSY")->text, "h2d; meanwhile other processes"));
    verdict = verdict_of(&attempt, &share);
    assert_int_equal(verdict.found.level, XB_LEVEL_UNKNOWN);
    assert_non_null(find(&verdict, "XB-BW-H2D"));
}

TEST(takes_shares_that_are_set)
{
    struct xb_link_attempt attempt = healthy();
    struct xb_link_limits limits = {.warn_share = {true, 0.97, XB_LIMIT_FILE},
                                    .critical_share = {true, 0.96, XB_LIMIT_FILE}};
    struct xb_verdict verdict = verdict_of(&attempt, &limits);
    assert_int_equal(verdict.found.reason_count, 2);
    assert_int_equal(find(&verdict, "XB-BW-H2D")->level, XB_LEVEL_CRITICAL);
    assert_int_equal(find(&verdict, "XB-BW-D2H")->level, XB_LEVEL_WARNING);
    assert_int_equal(verdict.ways[XB_TO_GPU].source, XB_LIMIT_FILE);

    /* One alone moves the other's default to itself where that would be on its wrong side. */
    limits.warn_share.is_set = false;
    verdict = verdict_of(&attempt, &limits);
    assert_near(verdict.ways[XB_TO_GPU].warning, verdict.ways[XB_TO_GPU].critical, 0.0);
    limits.warn_share = (struct xb_limit){true, 0.5, XB_LIMIT_FILE};
    limits.critical_share.is_set = false;
    attempt.rates[XB_TO_GPU] = 30e9;
    verdict = verdict_of(&attempt, &limits);
    assert_ok(&verdict);
    assert_near(verdict.ways[XB_TO_GPU].critical, 0.5 * verdict.ceiling.h2d, 0.0);
    assert_int_equal(verdict.ways[XB_TO_GPU].source, XB_LIMIT_DEFAULT);
}

TEST(takes_a_limit_in_place_of_shares)
{
    struct xb_link_attempt attempt = healthy();
    struct xb_link_limits limits = {.min_h2d = {true, 60e9, XB_LIMIT_COMMAND_LINE}};
    struct xb_verdict verdict = verdict_of(&attempt, &limits);
    assert_only(&verdict, XB_LEVEL_CRITICAL, "XB-BW-H2D",
                "55.40 GB/s|below the limit of 60.00 GB/s|command line");
    assert_near(verdict.ways[XB_TO_GPU].critical, 60e9, 0.0);
    assert_near(verdict.ways[XB_TO_GPU].warning, 0.0, 0.0);
    assert_near(verdict.ways[XB_BACK].warning, 0.9 * verdict.ceiling.d2h, 0.0);
    assert_int_equal(verdict.ways[XB_TO_GPU].source, XB_LIMIT_COMMAND_LINE);

    limits.min_h2d = (struct xb_limit){true, 20e9, XB_LIMIT_FILE};
    limits.min_d2h = (struct xb_limit){true, 20e9, XB_LIMIT_FILE};
    attempt.rates[XB_TO_GPU] = attempt.rates[XB_BACK] = 20e9; /* far below any share, not asked */
    verdict = verdict_of(&attempt, &limits);
    assert_ok(&verdict);
    make_slow(&attempt, true, nextafter(20e9, 0.0));
    verdict = verdict_of(&attempt, &limits);
    assert_only(&verdict, XB_LEVEL_CRITICAL, "XB-BW-D2H", "d2h|file");
}

TEST(needs_a_limit_where_no_ceiling_is_known)
{
    struct xb_link_attempt attempt = healthy();
    struct xb_link_limits limits = {.min_h2d = {true, 50e9, XB_LIMIT_FILE}};
    struct xb_verdict verdict;
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

TEST(disbelieves_what_the_link_cannot_carry)
{
    struct xb_link_attempt attempt = healthy();
    struct xb_ceiling ceiling = xb_ceiling_of(32.0, 16, &attempt.at_rest.hops[0].lower.control);
    struct xb_link_limits limits = {.min_h2d = {true, 50e9, XB_LIMIT_COMMAND_LINE}};
    struct xb_verdict verdict;
    double most = ceiling.raw * 0.9973 * 256 / 276;
    assert_near(ceiling.most, most, 1.0);
    attempt.rates[XB_TO_GPU] = attempt.rates[XB_BACK] = 1.0099 * most;
    assert_attempt_ok(&attempt);
    attempt.rates[XB_BACK] = 55e9;
    attempt.rates[XB_TO_GPU] = 1.0101 * most;
    assert_attempt(&attempt, XB_LEVEL_UNKNOWN, "XB-BW-ABOVE",
                   "h2d|more than|the data did not cross it, or the link was read wrongly");
    verdict = verdict_of(&attempt, &limits); /* whatever is asked for */
    assert_only(&verdict, XB_LEVEL_UNKNOWN, "XB-BW-ABOVE", "h2d");

    /* Packets may be larger than assumed, but bytes are not faster than the line. */
    attempt.at_rest.hops[0].lower.control.known = false;
    attempt.at_rest.hops[0].upper.control.known = false;
    assert_attempt_ok(&attempt);
    attempt.rates[XB_TO_GPU] = 1.021 * ceiling.raw;
    assert_attempt(&attempt, XB_LEVEL_UNKNOWN, "XB-BW-ABOVE", "h2d");
    attempt.rates[XB_TO_GPU] = 55e9;
    attempt.rates[XB_BACK] = 1.021 * ceiling.raw;
    assert_attempt(&attempt, XB_LEVEL_UNKNOWN, "XB-BW-ABOVE", "d2h");
}
