/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "testing.h"

#include "comparison_fixture.h"

TEST(gates_by_mode_direction_and_size)
{
    static const struct {
        const char *gates;
        const char *expected; /* of the five cases below */
    } rows[] = {{"pinned", "11000"},
                {"*", "11111"},
                {"*/d2h", "01010"},
                {"pinned/d2h", "01000"},
                {"*/*/64M", "10100"},
                {"*/*/1..64M", "10110"},
                {"*/*/64M..1G", "11101"},
                {"*/*/65M..1G", "01001"},
                {"*/*/1..63M", "00010"},
                {"async/h2d/64M,pinned/d2h", "01100"},
                {"pageable,pinned/h2d", "10001"}};
    begin(8, 8);
    add_both("pinned", "h2d", 64 * MIB, 1.0);
    add_both("pinned", "d2h", 1024 * MIB, 1.0);
    add_both("async", "h2d", 64 * MIB, 1.0);
    add_both("async", "d2h", 1 * MIB, 1.0);
    add_both("pageable", "bidir", 256 * MIB, 1.0);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        size_t count = 0;
        gate(rows[i].gates);
        compare();
        assert_int_equal(result.case_count, 5);
        for (size_t c = 0; c < 5; c++) {
            assert_int_equal(result.cases[c].gates, rows[i].expected[c] == '1');
            count += rows[i].expected[c] == '1';
        }
        assert_int_equal(result.gating_count, count);
        assert_int_equal(count_judged(XB_OUTCOME_PASS), count);
    }
}

TEST(leaves_out_what_does_not_gate)
{
    begin(8, 8);
    add_pinned(1.0);
    gate("pinned");
    add_both("async", "h2d", MIB, 0.5);
    add_both("async", "d2h", MIB, 2.0);
    add_both("async", "bidir", MIB, 0.98);
    add_both("pageable", "h2d", MIB, 1.0);
    measure(&before, add_named(&before, "pageable", "d2h", MIB, false), &xb_figure_bandwidth, RATE,
            STEP);
    measure(&after, add_named(&after, "pageable", "bidir", MIB, false), &xb_figure_bandwidth, RATE,
            STEP);
    spoil(&after.cases[4], 0, XB_RESULT_ERROR, XB_VERIFIED_FALSE, "byte 3");
    compare();
    assert_int_equal(result.case_count, 7);
    assert_true(result.cases[0].gates);
    for (size_t i = 1; i < 7; i++)
        assert_false(result.cases[i].gates);
    assert_case(0, XB_BASIS_TEST, XB_OUTCOME_PASS, "");
    assert_case(1, XB_BASIS_TEST, XB_OUTCOME_REGRESSION, "");
    assert_case(2, XB_BASIS_TEST, XB_OUTCOME_IMPROVED, "");
    assert_case(3, XB_BASIS_TEST, XB_OUTCOME_INCONCLUSIVE, "");
    assert_case(4, XB_BASIS_STATUS, XB_OUTCOME_REGRESSION, "wrong data");
    assert_case(5, XB_BASIS_STATUS, XB_OUTCOME_INCONCLUSIVE, "");
    assert_case(6, XB_BASIS_NONE, XB_OUTCOME_PASS, "");
    assert_int_equal(result.gating_count, 1);
    assert_int_equal(count_judged(XB_OUTCOME_REGRESSION), 0);
    assert_int_equal(count_judged(XB_OUTCOME_IMPROVED), 0);
    assert_overall(XB_OUTCOME_PASS, 0, "The result is not slower");
}

/* Each at its own alpha, so that many others take nothing from it. */
TEST(judges_at_full_alpha_what_does_not_gate)
{
    begin(5, 5);
    add_both("async", "h2d", MIB, 0.9);
    add_passing(20);
    gate("pinned");
    compare();
    assert_near(assert_case(0, XB_BASIS_TEST, XB_OUTCOME_REGRESSION, "")->p_regression, 1.0 / 252);
    assert_case(1, XB_BASIS_INDICATIVE, XB_OUTCOME_PASS, ""); /* 20 take seven a side */
    assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "5 processes a file cannot decide.");
    gate("async");
    compare();
    assert_case(0, XB_BASIS_TEST, XB_OUTCOME_REGRESSION, "");
    assert_case(1, XB_BASIS_TEST, XB_OUTCOME_PASS, "");
}

static void assert_gate_refused(const char *text, const char *words)
{
    struct xb_error error;
    gate(text);
    xb_comparison_free(&result);
    memset(&result, 0xa5, sizeof result);
    assert_int_equal(xb_compare(&before, &after, &request, &result, &error), XB_ERR_USAGE);
    if (strstr(error.message, words) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.message, words);
    assert_null(result.cases); /* nothing is left to free */
    assert_null(result.differences);
    assert_null(result.texts);
}

TEST(refuses_a_gate_that_nothing_passes)
{
    begin(8, 8);
    add_pinned(1.0); /* h2d, 1 MiB */
    add_named(&before, "peer", "d2d", 2 * MIB, false);
    add_named(&after, "zero-copy", "d2h", 4 * MIB, false);
    assert_gate_refused("pined", "no mode is called \"pined\"; did you mean pinned?");
    assert_gate_refused("qqqqqq", "no mode is called \"qqqqqq\"; the files have pinned, ");
    assert_gate_refused("h2d", "no mode is called h2d: that is a direction. Write '*/h2d' for all "
                               "modes, or MODE/h2d");
    assert_gate_refused("bandwidth", "that is a figure. Write '*/*/*/bandwidth' for all modes");
    assert_gate_refused("pinned/d2h", "gate 1 (mode pinned, direction d2h, any size");
    assert_gate_refused("*/*/3M", "mode any, direction any, 3145728 to 3145728 bytes");
    assert_gate_refused("pinned,async,peer", "gate 2 (mode async");
    assert_gate_refused("pinned/*/2M..1G", "gate 1 (mode pinned");
    gate("peer,zero-copy"); /* in one of the files is enough not to be refused */
    compare();
    assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "Gate 1 of --gate has nothing to judge");
}

/* ---- figures that do not gate by themselves ---- */

/* As a mode declares it: computed, so that it has neither samples nor an interval. */
static const struct xb_figure speed_up = {
    .name = "speed_up", .unit = XB_UNIT_RATIO, .more_is_better = true};

static void compute(struct xb_record *record, struct xb_record_case *test, double value)
{
    for (size_t i = 0; i < record->process_count; i++)
        figure_of(test, i, &speed_up)->statistics = xb_record_median_only(value, 0);
}

/* A case whose bandwidth stays, and whose speed-up changes by `ratio`. */
static void add_double_buffer(double ratio)
{
    add_both("double-buffer", "h2d", 64 * MIB, 1.0);
    compute(&before, &before.cases[before.case_count - 1], 1.6);
    compute(&after, &after.cases[after.case_count - 1], 1.6 * ratio);
}

TEST(compares_a_figure_that_a_gate_names)
{
    begin(8, 8);
    add_pinned(1.0);
    add_double_buffer(0.9);
    compare(); /* nobody asked for it */
    assert_int_equal(result.case_count, 2);
    assert_overall(XB_OUTCOME_PASS, 0, "None of 2 results is slower");

    gate("double-buffer/*/*/speed_up");
    compare();
    assert_int_equal(result.case_count, 3);
    assert_false(result.cases[0].gates);
    assert_false(result.cases[1].gates);
    const struct xb_compared *compared = assert_case(2, XB_BASIS_TEST, XB_OUTCOME_REGRESSION, "");
    assert_string_equal(compared->figure.name, "speed_up");
    assert_string_equal(compared->figure.unit, "1");
    assert_true(compared->gates);
    assert_near(compared->ratio, 0.9);
    assert_near(compared->baseline.median, 1.6);
    assert_int_equal(result.gating_count, 1);
    assert_overall(XB_OUTCOME_REGRESSION, 1, "1 of 1 result");

    gate("pinned,double-buffer/*/*/speed_up"); /* by itself, and by name */
    compare();
    assert_int_equal(result.gating_count, 2);
    assert_true(result.cases[0].gates);
    gate("*/*/*/bandwidth"); /* the other one is then not compared */
    compare();
    assert_int_equal(result.case_count, 2);
    assert_overall(XB_OUTCOME_PASS, 0, "None of 2 results is slower");
}

/* One process a side has no interval of a figure that has no samples. */
TEST(compares_computed_figures_of_one_process)
{
    begin(1, 1);
    add_double_buffer(0.9);
    gate("*/*/*/speed_up");
    compare();
    const struct xb_compared *compared =
        assert_case(1, XB_BASIS_INDICATIVE, XB_OUTCOME_REGRESSION, "");
    assert_false(compared->has_interval);
    assert_near(compared->ratio, 0.9);
    assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "One process a file cannot decide.");
}

/* A case that failed everywhere has its own figure, and what the baseline had. */
TEST(judges_a_named_figure_that_is_gone)
{
    begin(8, 8);
    add_double_buffer(1.0);
    for (size_t i = 0; i < 8; i++)
        spoil(&after.cases[0], i, XB_RESULT_ERROR, XB_VERIFIED_UNKNOWN, "no memory");
    gate("*/*/*/speed_up");
    compare();
    assert_case(0, XB_BASIS_STATUS, XB_OUTCOME_REGRESSION, "failed in 8 of 8 processes");
    assert_case(1, XB_BASIS_STATUS, XB_OUTCOME_REGRESSION, "failed in 8 of 8 processes");
    assert_overall(XB_OUTCOME_REGRESSION, 1, "1 of 1 result");

    for (size_t i = 0; i < 8; i++) /* in both: nothing is left to judge, which is no slip */
        spoil(&before.cases[0], i, XB_RESULT_ERROR, XB_VERIFIED_UNKNOWN, "no memory");
    compare();
    assert_int_equal(result.case_count, 1);
    assert_string_equal(result.cases[0].figure.name, "bandwidth");
    assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "Gate 1 of --gate has nothing to judge");

    begin(8, 8); /* it works, but no longer has the figure */
    add_both("double-buffer", "h2d", MIB, 1.0);
    compute(&before, &before.cases[0], 1.6);
    gate("*/*/*/speed_up");
    compare();
    assert_case(1, XB_BASIS_STATUS, XB_OUTCOME_INCONCLUSIVE, "the candidate has no speed_up");
    assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "1 of 1 result");
}

/* A share may be 0, and of 0 there is no ratio. */
TEST(takes_no_ratio_of_nothing)
{
    for (int side = 0; side < 2; side++) {
        begin(8, 8);
        add_double_buffer(1.0);
        struct xb_record *record = side == 0 ? &before : &after;
        figure_of(&record->cases[0], 3, &speed_up)->statistics.median =
            side == 0 ? 0.0 : (double)NAN;
        gate("*/*/*/speed_up");
        compare();
        const struct xb_compared *compared =
            assert_case(1, XB_BASIS_STATUS, XB_OUTCOME_INCONCLUSIVE,
                        side == 0 ? "speed_up is not above 0 in 1 of 8 processes of the baseline"
                                  : "speed_up is not above 0 in 1 of 8 processes of the candidate");
        assert_false(compared->has_ratio);
    }
}

/* The same name for another thing. */
TEST(does_not_compare_other_units)
{
    for (int i = 0; i < 2; i++) {
        begin(8, 8);
        add_double_buffer(1.0);
        for (size_t p = 0; p < 8; p++) {
            struct xb_record_figure *figure = figure_of(&after.cases[0], p, &speed_up);
            figure->unit = i == 0 ? "s" : figure->unit;
            figure->more_is_better = i == 0;
        }
        gate("*/*/*/speed_up");
        compare();
        assert_case(1, XB_BASIS_STATUS, XB_OUTCOME_INCONCLUSIVE,
                    "speed_up does not mean the same in both files");
    }
}

TEST(refuses_a_figure_that_no_case_has)
{
    begin(8, 8);
    add_pinned(1.0);
    add_double_buffer(1.0);
    add_latency(1.0, 1.0);
    assert_gate_refused("double-buffer/*/*/speedup",
                        "no case of gate 1 (mode double-buffer, direction any, any size) "
                        "has a figure \"speedup\"; did you mean speed_up? They have: bandwidth, "
                        "speed_up");
    assert_gate_refused("pinned/*/*/speed_up", "They have: bandwidth");
    assert_gate_refused("*,async/*/*/bandwidth", "They have: latency_host, latency_device");
    assert_gate_refused("*/*/*/zzz", "a figure \"zzz\". They have: bandwidth, speed_up, latency_");
}

GROUP(NULL, finish_group)
