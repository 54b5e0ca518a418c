/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "testing.h"

#include "comparison_fixture.h"

static const struct xb_compared *indication_of(double ratio, enum xb_outcome outcome)
{
    begin(1, 1);
    add_pinned(ratio);
    compare();
    const struct xb_compared *compared = assert_case(0, XB_BASIS_INDICATIVE, outcome, "");
    assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "One process a file cannot decide.");
    for (int i = XB_OUTCOME_PASS; i <= XB_OUTCOME_REGRESSION; i++)
        assert_int_equal(count_judged((enum xb_outcome)i), 0);
    return compared;
}

TEST(indicates_by_intervals)
{
    const struct xb_compared *compared = indication_of(0.97, XB_OUTCOME_REGRESSION);
    assert_near(compared->ratio, 0.97);
    assert_true(compared->has_interval);
    assert_near(compared->low, 0.97 * 0.999 / 1.001);
    assert_near(compared->high, 0.97 * 1.001 / 0.999);
    assert_true(compared->confidence == 0.0);
    assert_non_null(strstr(result.reason, "As measured: pinned to the GPU, 1 MiB, 3.0 % slower."));
    indication_of(0.977, XB_OUTCOME_REGRESSION);
    indication_of(0.979, XB_OUTCOME_INCONCLUSIVE); /* by itself below, but not all of it */
    indication_of(0.98, XB_OUTCOME_INCONCLUSIVE);
    indication_of(0.981, XB_OUTCOME_INCONCLUSIVE);
    indication_of(0.983, XB_OUTCOME_PASS);
    indication_of(1.0, XB_OUTCOME_PASS);
    indication_of(1.021, XB_OUTCOME_PASS);
    indication_of(1.023, XB_OUTCOME_IMPROVED);
    assert_non_null(strstr(result.reason, "As measured, none is slower."));
}

TEST(indicates_by_the_ratio_without_intervals)
{
    static const struct {
        double ratio;
        enum xb_outcome more, less; /* where more is better, and where less is */
    } expected[] = {{0.97, XB_OUTCOME_REGRESSION, XB_OUTCOME_IMPROVED},
                    {0.979, XB_OUTCOME_REGRESSION, XB_OUTCOME_IMPROVED},
                    {0.981, XB_OUTCOME_PASS, XB_OUTCOME_PASS},
                    {1.0, XB_OUTCOME_PASS, XB_OUTCOME_PASS},
                    {1.019, XB_OUTCOME_PASS, XB_OUTCOME_PASS},
                    {1.021, XB_OUTCOME_IMPROVED, XB_OUTCOME_REGRESSION},
                    {1.03, XB_OUTCOME_IMPROVED, XB_OUTCOME_REGRESSION}};
    for (size_t i = 0; i < COUNT_OF(expected); i++)
        for (int side = 0; side < 2; side++) {
            begin(1, 1);
            add_pinned(expected[i].ratio);
            add_latency(expected[i].ratio, 1.0);
            figure_of(&(side == 0 ? &before : &after)->cases[0], 0, &xb_figure_bandwidth)
                ->statistics.has_interval = false;
            compare();
            const struct xb_compared *compared =
                assert_case(0, XB_BASIS_INDICATIVE, expected[i].more, "");
            assert_false(compared->has_interval);
            assert_case(1, XB_BASIS_INDICATIVE, expected[i].less, "");
            assert_case(2, XB_BASIS_INDICATIVE, XB_OUTCOME_PASS, "");
        }
}

/* The one process that measured it need not be the first. */
TEST(finds_the_only_process)
{
    begin(3, 1);
    struct xb_record_case *test = add_named(&before, "pinned", "h2d", MIB, false);
    measure(&after, add_named(&after, "pinned", "h2d", MIB, false), &xb_figure_bandwidth, RATE,
            0.0);
    spoil(test, 0, XB_RESULT_SKIPPED, XB_VERIFIED_UNKNOWN, "no memory");
    spoil(test, 1, XB_RESULT_SKIPPED, XB_VERIFIED_UNKNOWN, "no memory");
    measure_one(test, 2, &xb_figure_bandwidth, RATE);
    compare();
    const struct xb_compared *compared =
        assert_case(0, XB_BASIS_INDICATIVE, XB_OUTCOME_PASS,
                    "skipped in 2 of 3 processes of the baseline: no memory");
    assert_near(compared->low, 0.999 / 1.001);
    assert_near(compared->high, 1.001 / 0.999);
}

/* The extremes of all pairs, with what they are worth. */
TEST(tells_how_little_few_processes_say)
{
    begin(2, 2);
    add_pinned(0.9);
    compare();
    const struct xb_compared *compared =
        assert_case(0, XB_BASIS_INDICATIVE, XB_OUTCOME_REGRESSION, "");
    assert_near(compared->confidence, 1.0 - 2.0 / 6.0);
    assert_near(compared->low, 0.9 / (1.0 + STEP));
    assert_near(compared->high, 0.9 * (1.0 + STEP));

    begin(1, 3); /* one process against several: between processes, not within them */
    add_pinned(0.9);
    compare();
    compared = assert_case(0, XB_BASIS_INDICATIVE, XB_OUTCOME_REGRESSION, "");
    assert_near(compared->confidence, 1.0 - 2.0 / 4.0);
    assert_near(compared->low, 0.9);
    assert_near(compared->high, 0.9 * (1.0 + 2 * STEP));
}

/* Three processes a side, whose ratios lie between these two. */
static void assert_latency_between(double low, double high, enum xb_outcome outcome)
{
    begin(3, 3);
    add_latency(1.0, 1.0);
    for (size_t i = 0; i < 3; i++) {
        measure_one(&before.cases[0], i, &xb_figure_latency_device, SECONDS);
        measure_one(&after.cases[0], i, &xb_figure_latency_device,
                    SECONDS * (low + (high - low) * 0.5 * (double)i));
    }
    compare();
    const char *note = (low + high) / 2 < 1.02 && high > 1.02 ? "1 of 3 processes" : "";
    const struct xb_compared *compared = assert_case(1, XB_BASIS_INDICATIVE, outcome, note);
    assert_near(compared->low, low);
    assert_near(compared->high, high);
}

TEST(indicates_latency_the_other_way)
{
    assert_latency_between(1.021, 1.04, XB_OUTCOME_REGRESSION);
    assert_latency_between(1.019, 1.04, XB_OUTCOME_INCONCLUSIVE);
    assert_latency_between(0.99, 1.021, XB_OUTCOME_INCONCLUSIVE);
    assert_latency_between(0.99, 1.019, XB_OUTCOME_PASS);
    assert_latency_between(0.95, 1.019, XB_OUTCOME_PASS);
    assert_latency_between(0.95, 0.981, XB_OUTCOME_PASS);
    assert_latency_between(0.95, 0.979, XB_OUTCOME_IMPROVED);
}

GROUP(NULL, finish_group)
