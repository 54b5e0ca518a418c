/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "testing.h"

#include "comparison_fixture.h"

/* ---- two records, and what is asked of them ---- */

/* One case, eight processes a side, compared. */
static const struct xb_compared *verdict_of(double ratio, enum xb_outcome outcome)
{
    begin(8, 8);
    add_pinned(ratio);
    compare();
    assert_int_equal(result.case_count, 1);
    return assert_case(0, XB_BASIS_TEST, outcome, "");
}

/* ---- figures ---- */

TEST(names_outcomes)
{
    assert_string_equal(xb_outcome_name(XB_OUTCOME_PASS), "PASS");
    assert_string_equal(xb_outcome_name(XB_OUTCOME_IMPROVED), "IMPROVED");
    assert_string_equal(xb_outcome_name(XB_OUTCOME_INCONCLUSIVE), "INCONCLUSIVE");
    assert_string_equal(xb_outcome_name(XB_OUTCOME_REGRESSION), "REGRESSION");
    assert_string_equal(xb_outcome_name((enum xb_outcome)99), "unknown");
}

TEST(passes_what_is_the_same)
{
    const struct xb_compared *compared = verdict_of(1.0, XB_OUTCOME_PASS);
    assert_ptr_equal(compared->test, &after.cases[0]);
    assert_string_equal(compared->figure.name, "bandwidth");
    assert_int_equal(xb_presence_of(compared), XB_IN_BOTH);
    assert_true(compared->gates);
    assert_int_equal(compared->baseline.processes, 8);
    assert_int_equal(compared->candidate.processes, 8);
    assert_near(compared->baseline.median, RATE * (1.0 + 3.5 * STEP));
    assert_near(compared->candidate.median, RATE * (1.0 + 3.5 * STEP));
    assert_true(compared->has_ratio);
    assert_near(compared->ratio, 1.0);
    assert_true(compared->has_interval);
    assert_true(compared->low > 0.9992 && compared->low < 1.0);
    assert_true(compared->high > 1.0 && compared->high < 1.0008);
    assert_near(compared->confidence, 0.98);
    assert_near(compared->p_pass, 1.0 / 12870.0);
    assert_near(compared->p_regression, 1.0);
    assert_near(compared->p_improved, 1.0);
    assert_int_equal(result.gating_count, 1);
    assert_int_equal(result.processes_needed, 5);
    assert_true(result.comparable);
    assert_int_equal(result.difference_count, 0);
    assert_overall(XB_OUTCOME_PASS, 0, "The result is not slower by 2 % or more");
}

TEST(judges_bandwidth)
{
    const struct xb_compared *compared = verdict_of(0.97, XB_OUTCOME_REGRESSION);
    assert_near(compared->p_regression, 1.0 / 12870.0);
    assert_near(compared->p_pass, 1.0);
    assert_near(compared->ratio, 0.97);
    assert_true(compared->low < 0.97 && compared->high > 0.97 && compared->high < 0.98);
    assert_near(compared->candidate.median, 0.97 * RATE * (1.0 + 3.5 * STEP));
    assert_overall(XB_OUTCOME_REGRESSION, 1, "1 of 1 result is slower by 2 % or more");
    verdict_of(0.985, XB_OUTCOME_PASS);
    verdict_of(1.015, XB_OUTCOME_PASS);
    compared = verdict_of(1.03, XB_OUTCOME_IMPROVED);
    assert_near(compared->p_improved, 1.0 / 12870.0);
    assert_near(compared->p_pass, 1.0 / 12870.0);
    assert_overall(XB_OUTCOME_IMPROVED, 0, "The result is faster by 2 % or more");
    verdict_of(0.98, XB_OUTCOME_INCONCLUSIVE);
    assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "1 of 1 result scatters too much");
    verdict_of(1.02, XB_OUTCOME_PASS);
}

TEST(judges_latency_the_other_way)
{
    static const struct {
        double ratio;
        enum xb_outcome outcome;
    } expected[] = {{1.03, XB_OUTCOME_REGRESSION},   {1.015, XB_OUTCOME_PASS},
                    {1.0, XB_OUTCOME_PASS},          {0.985, XB_OUTCOME_PASS},
                    {0.97, XB_OUTCOME_IMPROVED},     {0.98, XB_OUTCOME_PASS},
                    {1.02, XB_OUTCOME_INCONCLUSIVE}, {10.0, XB_OUTCOME_REGRESSION}};
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        begin(8, 8);
        add_latency(expected[i].ratio, 1.0);
        compare();
        assert_int_equal(result.case_count, 2);
        const struct xb_compared *host = assert_case(0, XB_BASIS_TEST, expected[i].outcome, "");
        const struct xb_compared *device = assert_case(1, XB_BASIS_TEST, XB_OUTCOME_PASS, "");
        assert_string_equal(host->figure.name, "latency_host");
        assert_near(host->ratio, expected[i].ratio);
        assert_near(host->baseline.median, SECONDS * (1.0 + 3.5 * STEP));
        assert_string_equal(device->figure.name, "latency_device");
        assert_near(device->ratio, 1.0);
        assert_near(device->p_pass, 1.0 / 12870.0);

        begin(8, 8);
        add_latency(1.0, expected[i].ratio);
        compare();
        assert_case(0, XB_BASIS_TEST, XB_OUTCOME_PASS, "");
        assert_case(1, XB_BASIS_TEST, expected[i].outcome, "");
        assert_int_equal(result.gating_count, 2);
        assert_int_equal(result.processes_needed, 5);
        assert_int_equal(result.overall, expected[i].outcome);
    }
}

/* However a ratio of just the threshold is rounded, it is neither less nor more. */
TEST(says_nothing_on_the_boundary)
{
    for (int i = 0; i < 200; i++) {
        double rate = RATE * (1.0 + 0.0137 * i);
        begin(8, 8);
        measure(&before, add_named(&before, "pinned", "h2d", MIB, false), &xb_figure_bandwidth,
                rate, 0.0);
        measure(&after, add_named(&after, "pinned", "h2d", MIB, false), &xb_figure_bandwidth,
                rate * 0.98, 0.0);
        compare();
        const struct xb_compared *loss = assert_case(0, XB_BASIS_TEST, XB_OUTCOME_INCONCLUSIVE, "");
        assert_near(loss->p_regression, 1.0);
        assert_near(loss->p_pass, 1.0);
        assert_near(loss->high, 0.98);
        measure(&after, &after.cases[0], &xb_figure_bandwidth, rate * 1.02, 0.0);
        compare();
        const struct xb_compared *gain = assert_case(0, XB_BASIS_TEST, XB_OUTCOME_PASS, "");
        assert_near(gain->p_improved, 1.0);
    }
    for (int i = 0; i < 200; i++) {
        double seconds = SECONDS * (1.0 + 0.0137 * i);
        begin(8, 8);
        measure(&before, add_named(&before, "pinned", "h2d", 8, true), &xb_figure_latency_host,
                seconds, 0.0);
        measure(&after, add_named(&after, "pinned", "h2d", 8, true), &xb_figure_latency_host,
                seconds * 1.02, 0.0);
        compare();
        const struct xb_compared *loss = assert_case(0, XB_BASIS_TEST, XB_OUTCOME_INCONCLUSIVE, "");
        assert_near(loss->p_regression, 1.0);
        assert_near(loss->p_pass, 1.0);
        measure(&after, &after.cases[0], &xb_figure_latency_host, seconds * 0.98, 0.0);
        compare();
        const struct xb_compared *gain = assert_case(0, XB_BASIS_TEST, XB_OUTCOME_PASS, "");
        assert_near(gain->p_improved, 1.0);
    }
}

TEST(takes_a_threshold_of_nothing)
{
    static const struct {
        double ratio;
        enum xb_outcome outcome;
    } expected[] = {{0.999, XB_OUTCOME_REGRESSION},
                    {1.0, XB_OUTCOME_INCONCLUSIVE},
                    {1.001, XB_OUTCOME_IMPROVED}};
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        begin(8, 8);
        request.threshold = 0.0;
        add_pinned(expected[i].ratio);
        compare();
        assert_case(0, XB_BASIS_TEST, expected[i].outcome, "");
    }
}

/* One bad process of eight moves neither the ratio nor the verdict; three leave it open. */
TEST(estimates_from_all_pairs)
{
    begin(8, 8);
    add_pinned(1.0);
    measure_one(&after.cases[0], 3, &xb_figure_bandwidth, RATE / 10); /* one bad process */
    compare();
    const struct xb_compared *compared =
        assert_case(0, XB_BASIS_TEST, XB_OUTCOME_PASS, "1 of 8 processes");
    assert_true(fabs(compared->ratio - 1.0) < 0.001);
    assert_true(compared->p_pass > 1e-4 && compared->p_pass <= 0.01);
    measure_one(&after.cases[0], 4, &xb_figure_bandwidth, RATE / 10);
    measure_one(&after.cases[0], 5, &xb_figure_bandwidth, RATE / 10);
    compare();
    assert_case(0, XB_BASIS_TEST, XB_OUTCOME_INCONCLUSIVE, "3 of 8 processes");
}

TEST(compares_unequal_numbers)
{
    static const struct {
        size_t n, m;
        double p; /* 1 / C(n + m, n) */
    } sides[] = {{5, 8, 1.0 / 1287}, {8, 5, 1.0 / 1287}, {5, 20, 1.0 / 53130}};
    for (size_t i = 0; i < COUNT_OF(sides); i++) {
        begin(sides[i].n, sides[i].m);
        add_pinned(0.96);
        compare();
        const struct xb_compared *compared =
            assert_case(0, XB_BASIS_TEST, XB_OUTCOME_REGRESSION, "");
        assert_int_equal(compared->baseline.processes, sides[i].n);
        assert_int_equal(compared->candidate.processes, sides[i].m);
        assert_near(compared->p_regression, sides[i].p);
        begin(sides[i].n, sides[i].m);
        add_pinned(1.0);
        compare();
        assert_case(0, XB_BASIS_TEST, XB_OUTCOME_PASS, "");
    }
    begin(2, 8); /* C(10, 2) = 45 */
    add_pinned(0.96);
    compare();
    const struct xb_compared *compared =
        assert_case(0, XB_BASIS_INDICATIVE, XB_OUTCOME_REGRESSION, "");
    assert_near(compared->confidence, 1.0 - 2.0 / 45);
    assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "2 processes a file cannot decide.");
}

/* However many there are on the other side: a lucky few against a hundred would look certain. */
TEST(needs_enough_processes_on_either_side)
{
    static const size_t sides[][2] = {{4, 8}, {8, 4}, {4, 100}, {100, 4}, {1, 100}, {2, 20}};
    for (size_t i = 0; i < COUNT_OF(sides); i++) {
        begin(sides[i][0], sides[i][1]);
        add_pinned(0.9);
        compare();
        assert_case(0, XB_BASIS_INDICATIVE, XB_OUTCOME_REGRESSION, "");
        assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "Measure with --processes 8.");
    }
}

TEST(compares_a_hundred_processes)
{
    begin(100, 100);
    add_pinned(0.96);
    add_pinned(1.0);
    compare();
    const struct xb_compared *compared = assert_case(0, XB_BASIS_TEST, XB_OUTCOME_REGRESSION, "");
    assert_int_equal(compared->baseline.processes, 100);
    assert_int_equal(compared->candidate.processes, 100);
    assert_case(1, XB_BASIS_TEST, XB_OUTCOME_PASS, "");
    assert_overall(XB_OUTCOME_REGRESSION, 1, "1 of 2 results");
}

/* ---- all together ---- */

TEST(puts_a_regression_before_all_else)
{
    begin(8, 8);
    add_pinned(1.0);
    add_pinned(1.5);
    compare();
    assert_overall(XB_OUTCOME_IMPROVED, 0,
                   "None of 2 results is slower by 2 % or more, and 1 is faster");
    add_pinned(0.98);
    compare();
    assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "1 of 3 results scatters too much");
    add_pinned(0.9);
    compare();
    assert_overall(XB_OUTCOME_REGRESSION, 1, "1 of 4 results is slower");
}

TEST(compares_what_cannot_be_compared_only_by_force)
{
    begin(8, 8);
    add_pinned(0.9);
    after.backend = "hip";
    compare();
    assert_false(result.comparable);
    assert_null(result.cases);
    assert_int_equal(result.case_count, 0);
    assert_overall(XB_OUTCOME_INCONCLUSIVE, 4, "--force compares them anyway");
    request.force = true;
    compare();
    assert_false(result.comparable);
    assert_int_equal(result.difference_count, 1);
    assert_case(0, XB_BASIS_TEST, XB_OUTCOME_REGRESSION, "");
    assert_overall(XB_OUTCOME_REGRESSION, 1, "1 of 1 result");
    after.backend = "cuda"; /* force changes nothing where it is not needed */
    compare();
    assert_true(result.comparable);
    assert_overall(XB_OUTCOME_REGRESSION, 1, "1 of 1 result");
}

TEST(releases_what_is_empty)
{
    struct xb_comparison empty = {0};
    xb_comparison_free(&empty);
    begin(8, 8);
    add_pinned(1.0);
    set_fact(&after, "kernel", "6.9.0");
    compare();
    xb_comparison_free(&result);
    assert_null(result.cases);
    assert_null(result.differences);
    assert_null(result.texts);
    xb_comparison_free(&result);
}

GROUP(NULL, finish_group)
