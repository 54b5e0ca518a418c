/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "testing.h"

#include "comparison_fixture.h"

/* ---- two records, and what is asked of them ---- */

/*
 * One case of which `against` pairs of 64 contradict that the ratio is below `bound`, or, where
 * `above`, that it is above: all of the candidate's processes are 1 % off to that side but the
 * last, which lies among the baseline's.
 */
static void add_contradicted(double bound, bool above, size_t against)
{
    struct xb_record_case *test = add_named(&after, "async", "h2d", MIB, false);
    size_t beyond = above ? 8 - against : against;
    measure(&before, add_named(&before, "async", "h2d", MIB, false), &xb_figure_bandwidth, RATE,
            STEP);
    measure(&after, test, &xb_figure_bandwidth, RATE * bound * (above ? 1.01 : 0.99), 0.0);
    measure_one(test, 7, &xb_figure_bandwidth,
                RATE * bound * (1.0 + STEP * ((double)beyond - 0.5)));
}

/* P(U <= 3) for eight a side: one order has U = 0, one 1, two 2, three 3. */
#define P_THREE (7.0 / 12870.0)

/* ---- many cases at once ---- */

TEST(adjusts_regressions)
{
    begin(8, 8);
    add_contradicted(0.98, false, 3);
    compare();
    assert_near(assert_case(0, XB_BASIS_TEST, XB_OUTCOME_REGRESSION, "")->p_regression, P_THREE);

    add_passing(17); /* 18 together */
    compare();
    assert_near(assert_case(0, XB_BASIS_TEST, XB_OUTCOME_REGRESSION, "")->p_regression,
                18 * P_THREE);
    assert_overall(XB_OUTCOME_REGRESSION, 1, "1 of 18 results");

    add_passing(2); /* 20: 0.0109 */
    compare();
    assert_near(assert_case(0, XB_BASIS_TEST, XB_OUTCOME_INCONCLUSIVE, "")->p_regression,
                20 * P_THREE);
    assert_int_equal(result.gating_count, 20);
    assert_int_equal(result.processes_needed, 7);
    assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "1 of 20 results scatters too much");
    assert_int_equal(count_judged(XB_OUTCOME_PASS), 19);

    gate("async"); /* one alone has all of alpha */
    compare();
    assert_near(assert_case(0, XB_BASIS_TEST, XB_OUTCOME_REGRESSION, "")->p_regression, P_THREE);
    assert_int_equal(result.gating_count, 1);
    assert_overall(XB_OUTCOME_REGRESSION, 1, "1 of 1 result");
}

/* The second of Holm's steps asks less than the first: 18 x 0.000544 and not 19. */
TEST(adjusts_step_by_step)
{
    begin(8, 8);
    add_contradicted(0.98, false, 3);
    add_passing(18);
    compare();
    assert_case(0, XB_BASIS_TEST, XB_OUTCOME_INCONCLUSIVE, "");
    measure(&after, &after.cases[1], &xb_figure_bandwidth, 0.9 * RATE, STEP);
    compare();
    assert_near(assert_case(0, XB_BASIS_TEST, XB_OUTCOME_REGRESSION, "")->p_regression,
                18 * P_THREE);
    assert_near(assert_case(1, XB_BASIS_TEST, XB_OUTCOME_REGRESSION, "")->p_regression,
                19.0 / 12870);
    assert_overall(XB_OUTCOME_REGRESSION, 1, "2 of 19 results");
}

TEST(adjusts_improvements)
{
    begin(8, 8);
    add_contradicted(1.02, true, 3);
    compare();
    assert_near(assert_case(0, XB_BASIS_TEST, XB_OUTCOME_IMPROVED, "")->p_improved, P_THREE);
    add_passing(19);
    compare();
    const struct xb_compared *compared = assert_case(0, XB_BASIS_TEST, XB_OUTCOME_PASS, "");
    assert_near(compared->p_improved, 20 * P_THREE);
    assert_overall(XB_OUTCOME_PASS, 0, "None of 20 results is slower");
}

/* That all pass is claimed only together: each may take all of alpha. */
TEST(does_not_adjust_what_passes)
{
    begin(8, 8);
    add_contradicted(0.98, true, 3);
    add_passing(19);
    compare();
    assert_near(assert_case(0, XB_BASIS_TEST, XB_OUTCOME_PASS, "")->p_pass, P_THREE);
    assert_overall(XB_OUTCOME_PASS, 0, "None of 20 results is slower");
}

TEST(needs_enough_processes)
{
    static const double ways[] = {1, 2, 6, 20, 70, 252, 924, 3432, 12870}; /* C(2 k, k) */
    static const size_t tests[] = {1, 2, 3, 9, 10, 34, 35, 60};
    for (size_t k = 1; k <= 8; k++)
        for (size_t t = 0; t < COUNT_OF(tests); t++) {
            bool enough = ways[k] >= (double)tests[t] / 0.01;
            size_t needed = 1;
            while (ways[needed] < (double)tests[t] / 0.01)
                needed++;
            begin(k, k);
            add_pinned(0.9);
            add_passing(tests[t] - 1);
            compare();
            assert_int_equal(result.gating_count, tests[t]);
            assert_int_equal(result.processes_needed, needed);
            assert_case(0, enough ? XB_BASIS_TEST : XB_BASIS_INDICATIVE, XB_OUTCOME_REGRESSION, "");
            char words[96];
            snprintf(words, sizeof words, "Measure with --processes %zu.", needed > 8 ? needed : 8);
            if (enough)
                assert_overall(XB_OUTCOME_REGRESSION, 1, "slower by 2 %");
            else
                assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, words);
            assert_int_equal(count_judged(XB_OUTCOME_REGRESSION), enough);
            assert_int_equal(count_judged(XB_OUTCOME_PASS), enough ? tests[t] - 1 : 0);
        }
}

/* 3 tests at 0.15 are just what three processes a side can do, C(6, 3) = 20: rounding must not
 * refuse it, and one test more is too many. */
TEST(takes_what_is_just_enough)
{
    static const double ways[] = {1, 2, 6, 20, 70};
    for (size_t k = 3; k <= 4; k++)
        for (size_t tests = 1; tests < 30 && (double)tests < 0.5 * ways[k]; tests++) {
            begin(k, k);
            request.alpha = (double)tests / ways[k];
            add_pinned(0.9);
            add_passing(tests - 1);
            compare();
            assert_case(0, XB_BASIS_TEST, XB_OUTCOME_REGRESSION, "");
            assert_int_equal(result.processes_needed, k);
            add_passing(1);
            compare();
            assert_case(0, XB_BASIS_INDICATIVE, XB_OUTCOME_REGRESSION, "");
        }
    begin(100, 100);
    request.alpha = 1e-60; /* C(200, 100) is 9e58 */
    add_pinned(0.9);
    compare();
    assert_case(0, XB_BASIS_INDICATIVE, XB_OUTCOME_REGRESSION, "");
    assert_int_equal(result.processes_needed, 0);
    assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "No number of processes is enough");
}

/* Cases that had too few processes, among others that had enough. */
TEST(does_not_pass_over_what_is_indicative)
{
    begin(8, 8);
    add_pinned(1.0);
    add_pinned(1.0);
    for (size_t i = 0; i < 7; i++)
        spoil(&before.cases[1], i, XB_RESULT_ERROR, XB_VERIFIED_UNKNOWN, "no memory");
    compare();
    assert_case(0, XB_BASIS_TEST, XB_OUTCOME_PASS, "");
    assert_case(1, XB_BASIS_INDICATIVE, XB_OUTCOME_PASS, "failed in 7 of 8");
    assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "1 of 2 results");
    measure(&after, &after.cases[0], &xb_figure_bandwidth, RATE / 2, STEP);
    compare();
    assert_overall(XB_OUTCOME_REGRESSION, 1, "1 of 2 results is slower");
    measure(&after, &after.cases[0], &xb_figure_bandwidth, RATE, STEP);
    gate("*/*/1M"); /* the first alone */
    compare();
    assert_case(1, XB_BASIS_INDICATIVE, XB_OUTCOME_PASS, "failed in 7 of 8");
    assert_overall(XB_OUTCOME_PASS, 0, "The result is not slower");
}

GROUP(NULL, finish_group)
