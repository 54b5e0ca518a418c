/* SPDX-License-Identifier: Apache-2.0 */
#include "verdict_fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* ---- what follows ---- */

static const struct xb_reason *find(const struct xb_verdict *verdict, const char *code)
{
    for (size_t i = 0; i < verdict->found.reason_count; i++)
        if (strcmp(verdict->found.reasons[i].code, code) == 0)
            return &verdict->found.reasons[i];
    return NULL;
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
    assert_int_equal(verdict.found.reason_count, 2);
    assert_int_equal(find(&verdict, "XB-BW-H2D")->level, XB_LEVEL_CRITICAL);
    assert_int_equal(find(&verdict, "XB-BW-D2H")->level, XB_LEVEL_WARNING);
    assert_int_equal(verdict.h2d.source, XB_LIMIT_FILE);

    /* One alone moves the other's default to itself where that would be on its wrong side. */
    limits.warn_share.is_set = false;
    verdict = verdict_of(&attempt, &limits);
    assert_near(verdict.h2d.warning, verdict.h2d.critical, 0.0);
    limits.warn_share = (struct xb_limit){true, 0.5, XB_LIMIT_FILE};
    limits.critical_share.is_set = false;
    attempt.h2d = 30e9;
    verdict = verdict_of(&attempt, &limits);
    assert_ok(&verdict);
    assert_near(verdict.h2d.critical, 0.5 * verdict.ceiling.h2d, 0.0);
    assert_int_equal(verdict.h2d.source, XB_LIMIT_DEFAULT);
}

static void takes_a_limit_in_place_of_shares(void **state)
{
    struct xb_link_attempt attempt = healthy();
    struct xb_link_limits limits = {.min_h2d = {true, 60e9, XB_LIMIT_COMMAND_LINE}};
    (void)state;
    struct xb_verdict verdict = verdict_of(&attempt, &limits);
    assert_only(&verdict, XB_LEVEL_CRITICAL, "XB-BW-H2D",
                "55.40 GB/s|below the limit of 60.00 GB/s|command line");
    assert_near(verdict.h2d.critical, 60e9, 0.0);
    assert_near(verdict.h2d.warning, 0.0, 0.0);
    assert_near(verdict.d2h.warning, 0.9 * verdict.ceiling.d2h, 0.0);
    assert_int_equal(verdict.h2d.source, XB_LIMIT_COMMAND_LINE);

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(judges_shares_of_the_ceiling),
        cmocka_unit_test(asks_less_of_slow_links),
        cmocka_unit_test(takes_shares_that_are_set),
        cmocka_unit_test(takes_a_limit_in_place_of_shares),
        cmocka_unit_test(needs_a_limit_where_no_ceiling_is_known),
        cmocka_unit_test(disbelieves_what_the_link_cannot_carry),
    };
    return cmocka_run_group_tests_name("verdict_bandwidth", tests, NULL, NULL);
}
