/* SPDX-License-Identifier: Apache-2.0 */

#include "testing.h"

#include "comparison_fixture.h"

TEST(compares_no_figures_of_different_clocks)
{
    begin(8, 8);
    add_pinned(0.5);
    for (size_t i = 0; i < 8; i++)
        after.cases[0].rows[i].timer = "host-clock";
    compare();
    const struct xb_compared *compared = assert_case(
        0, XB_BASIS_STATUS, XB_OUTCOME_INCONCLUSIVE,
        "not timed by the same clock: device-event in the baseline, host-clock in the candidate");
    assert_false(compared->has_ratio);
    assert_int_equal(compared->baseline.processes, 8);
    assert_int_equal(result.gating_count, 0);
    assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "1 of 1 result");
    after.cases[0].rows[5].timer = "device-event";
    compare();
    assert_case(0, XB_BASIS_STATUS, XB_OUTCOME_INCONCLUSIVE,
                "device-event in the baseline, not always the same in the candidate");
    before.cases[0].rows[7].timer = "host-clock";
    compare();
    assert_case(0, XB_BASIS_STATUS, XB_OUTCOME_INCONCLUSIVE,
                "not always the same in the baseline, not always the same in the candidate");
    for (size_t i = 0; i < 8; i++)
        before.cases[0].rows[i].timer = after.cases[0].rows[i].timer = "host-clock";
    spoil(&before.cases[0], 0, XB_RESULT_ERROR, XB_VERIFIED_UNKNOWN, "x"); /* has no clock */
    compare();
    assert_case(0, XB_BASIS_TEST, XB_OUTCOME_REGRESSION, "failed in 1 of 8");
}

TEST(wants_both_clocks_of_a_latency)
{
    for (int side = 0; side < 2; side++) {
        begin(8, 8);
        add_latency(1.0, 1.0);
        struct xb_record *lacking = side == 0 ? &before : &after;
        for (size_t i = 0; i < 8; i++)
            lacking->cases[0].rows[i].figure_count = 1; /* the device's is the second */
        compare();
        assert_int_equal(result.case_count, 2);
        assert_case(0, XB_BASIS_TEST, XB_OUTCOME_PASS, "");
        assert_case(1, XB_BASIS_STATUS, XB_OUTCOME_INCONCLUSIVE,
                    side == 0 ? "the baseline has no latency_device"
                              : "the candidate has no latency_device");
        for (size_t i = 0; i < 8; i++)
            lacking->cases[0].rows[i].timer = "host-clock";
        compare();
        assert_case(0, XB_BASIS_STATUS, XB_OUTCOME_INCONCLUSIVE, "not timed by the same clock");
        assert_case(1, XB_BASIS_STATUS, XB_OUTCOME_INCONCLUSIVE, "not timed by the same clock");
    }
    begin(8, 8); /* neither has it */
    measure(&before, add_named(&before, "async", "h2d", 8, true), &xb_figure_latency_host, SECONDS,
            STEP);
    measure(&after, add_named(&after, "async", "h2d", 8, true), &xb_figure_latency_host, SECONDS,
            STEP);
    compare();
    assert_int_equal(result.case_count, 1);
    assert_case(0, XB_BASIS_TEST, XB_OUTCOME_PASS, "");
}

/* A latency that one file has alone stands there by both clocks. */
TEST(lists_both_clocks_of_one_file)
{
    begin(8, 8);
    struct xb_record_case *test = add_named(&after, "async", "h2d", 8, true);
    measure(&after, test, &xb_figure_latency_host, SECONDS, STEP);
    measure(&after, test, &xb_figure_latency_device, SECONDS, STEP);
    test = add_named(&before, "async", "d2h", 8, true);
    measure(&before, test, &xb_figure_latency_host, SECONDS, STEP);
    measure(&before, test, &xb_figure_latency_device, SECONDS, STEP);
    compare();
    assert_int_equal(result.case_count, 4);
    assert_string_equal(result.cases[1].figure.name, "latency_device");
    assert_string_equal(result.cases[3].figure.name, "latency_device");
    assert_int_equal(result.cases[1].baseline.processes, 8);
    assert_int_equal(result.cases[3].candidate.processes, 8);
}

GROUP(NULL, finish_group)
