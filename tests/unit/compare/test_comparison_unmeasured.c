/* SPDX-License-Identifier: Apache-2.0 */

#include "testing.h"

#include "comparison_fixture.h"

#include <math.h>

TEST(takes_a_flaky_baseline_as_it_is)
{
    begin(8, 8);
    add_pinned(0.9);
    add_pinned(1.0);
    spoil(&before.cases[0], 2, XB_RESULT_ERROR, XB_VERIFIED_UNKNOWN, "no memory");
    before.cases[1].rows[7] = (struct xb_record_row){.is_there = false};
    compare();
    const struct xb_compared *compared =
        assert_case(0, XB_BASIS_TEST, XB_OUTCOME_REGRESSION,
                    "failed in 1 of 8 processes of the baseline: no memory");
    assert_int_equal(compared->baseline.processes, 7);
    assert_int_equal(compared->candidate.processes, 8);
    assert_near(compared->p_regression, 2.0 / 6435.0);
    assert_case(1, XB_BASIS_TEST, XB_OUTCOME_PASS, "not measured in 1 of 8 processes of the base");
}

TEST(finds_what_works_no_more)
{
    static const struct {
        enum xb_result_status status;
        enum xb_verified verified;
        const char *reason, *note;
    } rows[] = {
        {XB_RESULT_SKIPPED, XB_VERIFIED_UNKNOWN, "too large",
         "skipped in 1 of 8 processes of the candidate: too large"},
        {XB_RESULT_ERROR, XB_VERIFIED_UNKNOWN, "cudaErrorX",
         "failed in 1 of 8 processes of the candidate: cudaErrorX"},
        {XB_RESULT_ERROR, XB_VERIFIED_TRUE, NULL, "failed in 1 of 8 processes of the candidate"},
        {XB_RESULT_ERROR, XB_VERIFIED_FALSE, "byte 7",
         "wrong data in 1 of 8 processes of the candidate: byte 7"}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        begin(8, 8);
        add_pinned(2.0);
        add_pinned(1.0);
        spoil(&after.cases[0], 6, rows[i].status, rows[i].verified, rows[i].reason);
        compare();
        assert_case(0, XB_BASIS_STATUS, XB_OUTCOME_REGRESSION, rows[i].note);
        assert_int_equal(result.gating_count, 1); /* no test of figures */
        assert_overall(XB_OUTCOME_REGRESSION, 1, "1 of 2 results no longer works.");
    }
    begin(8, 8);
    add_pinned(1.0);
    after.cases[0].rows[0] = (struct xb_record_row){.is_there = false}; /* its process died */
    compare();
    assert_case(0, XB_BASIS_STATUS, XB_OUTCOME_REGRESSION,
                "not measured in 1 of 8 processes of the candidate");
    begin(1, 1); /* also where figures could not tell */
    add_pinned(1.0);
    add_latency(1.0, 1.0);
    spoil(&after.cases[1], 0, XB_RESULT_ERROR, XB_VERIFIED_FALSE, "byte 7");
    compare();
    assert_case(0, XB_BASIS_INDICATIVE, XB_OUTCOME_PASS, "");
    assert_case(1, XB_BASIS_STATUS, XB_OUTCOME_REGRESSION, "wrong data in 1 of 1");
    assert_case(2, XB_BASIS_STATUS, XB_OUTCOME_REGRESSION, "wrong data in 1 of 1");
    assert_overall(XB_OUTCOME_REGRESSION, 1, "2 of 3 results");
}

TEST(names_the_worst_that_happened)
{
    begin(8, 8);
    add_pinned(1.0);
    spoil(&after.cases[0], 0, XB_RESULT_SKIPPED, XB_VERIFIED_UNKNOWN, "later");
    spoil(&after.cases[0], 1, XB_RESULT_SKIPPED, XB_VERIFIED_UNKNOWN, "later");
    compare();
    assert_case(0, XB_BASIS_STATUS, XB_OUTCOME_REGRESSION, "skipped in 2 of 8");
    after.cases[0].rows[2] = (struct xb_record_row){.is_there = false};
    compare();
    assert_case(0, XB_BASIS_STATUS, XB_OUTCOME_REGRESSION, "not measured in 1 of 8");
    spoil(&after.cases[0], 3, XB_RESULT_ERROR, XB_VERIFIED_UNKNOWN, "first");
    spoil(&after.cases[0], 4, XB_RESULT_ERROR, XB_VERIFIED_UNKNOWN, "second");
    compare();
    assert_case(0, XB_BASIS_STATUS, XB_OUTCOME_REGRESSION,
                "failed in 2 of 8 processes of the "
                "candidate: first");
    spoil(&after.cases[0], 5, XB_RESULT_ERROR, XB_VERIFIED_FALSE, "byte 1");
    compare();
    assert_case(0, XB_BASIS_STATUS, XB_OUTCOME_REGRESSION, "wrong data in 1 of 8");
}

/* It did not always work before either. */
TEST(blames_nobody_where_both_are_flaky)
{
    begin(8, 8);
    for (int better = 0; better < 2; better++) {
        begin(8, 8);
        add_pinned(better ? 2.0 : 1.0);
        spoil(&before.cases[0], 0, XB_RESULT_ERROR, XB_VERIFIED_UNKNOWN, "no memory");
        spoil(&after.cases[0], 1, XB_RESULT_ERROR, XB_VERIFIED_UNKNOWN, "no memory either");
        compare();
        assert_case(0, XB_BASIS_TEST, XB_OUTCOME_INCONCLUSIVE, "candidate: no memory either");
        assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "1 of 1 result");
    }
}

/* One bad process of the baseline must not let everything through. */
TEST(finds_what_is_worse_than_a_flaky_baseline)
{
    begin(8, 8);
    add_pinned(0.5); /* by its figures */
    add_pinned(1.0); /* or because nothing is left of it */
    for (size_t i = 0; i < 2; i++) {
        spoil(&before.cases[i], 0, XB_RESULT_ERROR, XB_VERIFIED_UNKNOWN, "no memory");
        spoil(&after.cases[i], 1, XB_RESULT_ERROR, XB_VERIFIED_UNKNOWN, "no memory either");
    }
    for (size_t i = 0; i < 8; i++)
        spoil(&after.cases[1], i, XB_RESULT_ERROR, XB_VERIFIED_UNKNOWN, "illegal address");
    compare();
    const struct xb_compared *compared =
        assert_case(0, XB_BASIS_TEST, XB_OUTCOME_REGRESSION, "no memory either");
    assert_int_equal(compared->baseline.processes, 7);
    assert_int_equal(compared->candidate.processes, 7);
    assert_case(1, XB_BASIS_STATUS, XB_OUTCOME_REGRESSION, "failed in 8 of 8 processes");
    assert_overall(XB_OUTCOME_REGRESSION, 1,
                   "1 of 2 results is slower by 2 % or more. 1 of 2 results no longer works.");
}

/* Whatever there was to compare with. */
TEST(finds_wrong_data_everywhere)
{
    begin(8, 8);
    add_pinned(1.0);
    add_pinned(1.0);
    for (size_t i = 0; i < 8; i++)
        spoil(&before.cases[0], i, XB_RESULT_SKIPPED, XB_VERIFIED_UNKNOWN, "cannot");
    spoil(&after.cases[0], 3, XB_RESULT_ERROR, XB_VERIFIED_FALSE, "byte 5");
    spoil(add_named(&after, "managed", "h2d", MIB, false), 2, XB_RESULT_ERROR, XB_VERIFIED_FALSE,
          "byte 6");
    compare();
    assert_case(0, XB_BASIS_STATUS, XB_OUTCOME_REGRESSION, "wrong data in 1 of 8");
    assert_case(2, XB_BASIS_STATUS, XB_OUTCOME_REGRESSION, "byte 6");
    assert_overall(XB_OUTCOME_REGRESSION, 1, "2 of 3 results");
}

/* One of two gates judges nothing: a case that it names would pass unseen. */
TEST(does_not_pass_an_idle_gate)
{
    begin(8, 8);
    add_pinned(1.0);
    add_both("zero-copy", "h2d", MIB, 1.0);
    for (size_t i = 0; i < 8; i++)
        spoil(&before.cases[1], i, XB_RESULT_SKIPPED, XB_VERIFIED_UNKNOWN, "cannot");
    gate("pinned,zero-copy");
    compare();
    assert_case(0, XB_BASIS_TEST, XB_OUTCOME_PASS, "");
    assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "Gate 2 of --gate has nothing to judge");
    assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "Measure them in both files, or take that gate out");
    gate("pinned");
    compare();
    assert_overall(XB_OUTCOME_PASS, 0, "The result is not slower");
}

TEST(finds_wrong_data_also_after_a_flaky_baseline)
{
    begin(8, 8);
    add_pinned(1.0);
    spoil(&before.cases[0], 0, XB_RESULT_ERROR, XB_VERIFIED_UNKNOWN, "no memory");
    spoil(&after.cases[0], 1, XB_RESULT_ERROR, XB_VERIFIED_FALSE, "byte 7");
    compare();
    assert_case(0, XB_BASIS_STATUS, XB_OUTCOME_REGRESSION, "wrong data in 1 of 8");
    spoil(&before.cases[0], 2, XB_RESULT_ERROR, XB_VERIFIED_FALSE, "byte 8"); /* as before */
    compare();
    assert_case(0, XB_BASIS_TEST, XB_OUTCOME_INCONCLUSIVE, "wrong data in 1 of 8");
}

/* The typical process passes; that some do not is told. */
TEST(tells_of_a_minority_that_is_worse)
{
    begin(8, 8);
    add_pinned(1.0);
    add_latency(1.0, 1.0);
    compare();
    assert_case(0, XB_BASIS_TEST, XB_OUTCOME_PASS, "");
    assert_string_equal(result.cases[0].note, "");
    figure_of(&after.cases[0], 3, &xb_figure_bandwidth)->statistics.median /= 10;
    figure_of(&after.cases[1], 5, &xb_figure_latency_host)->statistics.median *= 10;
    compare();
    assert_case(0, XB_BASIS_TEST, XB_OUTCOME_PASS,
                "1 of 8 processes of the candidate are worse by 2 % or more");
    assert_case(1, XB_BASIS_TEST, XB_OUTCOME_PASS, "1 of 8 processes");
    assert_string_equal(result.cases[2].note, "");
    figure_of(&after.cases[0], 3, &xb_figure_bandwidth)->statistics.median *=
        100; /* faster is not worse */
    compare();
    assert_string_equal(result.cases[0].note, "");
}

TEST(judges_nothing_that_was_not_measured_before)
{
    for (int both = 0; both < 2; both++) {
        begin(2, 2);
        add_pinned(1.0);
        for (size_t i = 0; i < 2; i++) {
            spoil(&before.cases[0], i, XB_RESULT_SKIPPED, XB_VERIFIED_UNKNOWN, "cannot");
            if (both)
                spoil(&after.cases[0], i, XB_RESULT_ERROR, XB_VERIFIED_UNKNOWN, "cannot");
        }
        compare();
        const struct xb_compared *compared =
            assert_case(0, XB_BASIS_NONE, XB_OUTCOME_PASS,
                        both ? "failed in 2 of 2 processes of the candidate: cannot"
                             : "skipped in 2 of 2 processes of the baseline: cannot");
        assert_false(compared->gates);
        assert_false(compared->has_ratio);
        assert_int_equal(xb_presence_of(compared), XB_IN_BOTH);
        assert_int_equal(compared->baseline.processes, 0);
        assert_true(isnan(compared->baseline.median));
        assert_int_equal(compared->candidate.processes, both ? 0 : 2);
        assert_overall(XB_OUTCOME_INCONCLUSIVE, 3,
                       "No result that counts was measured in both files");
        assert_int_equal(count_judged(XB_OUTCOME_PASS), 0);
    }
}

TEST(lists_what_one_file_has)
{
    begin(8, 8);
    add_pinned(1.0);
    measure(&after, add_named(&after, "managed", "h2d", MIB, false), &xb_figure_bandwidth, RATE,
            STEP);
    add_both("async", "h2d", MIB, 1.0);
    compare();
    const struct xb_compared *compared = assert_case(2, XB_BASIS_NONE, XB_OUTCOME_PASS, "");
    assert_int_equal(xb_presence_of(compared), XB_ONLY_IN_CANDIDATE);
    assert_ptr_equal(compared->test, &after.cases[1]);
    assert_int_equal(compared->candidate.processes, 8);
    assert_near(compared->candidate.median, RATE * (1.0 + 3.5 * STEP));
    assert_false(compared->gates);
    assert_false(compared->has_ratio);
    assert_overall(XB_OUTCOME_PASS, 0, "None of 2 results is slower");

    measure(&before, add_named(&before, "peer", "d2d", MIB, false), &xb_figure_bandwidth, RATE,
            STEP);
    compare();
    compared = assert_case(2, XB_BASIS_STATUS, XB_OUTCOME_INCONCLUSIVE, "");
    assert_int_equal(xb_presence_of(compared), XB_ONLY_IN_BASELINE);
    assert_ptr_equal(compared->test, &before.cases[2]);
    assert_int_equal(compared->baseline.processes, 8);
    assert_true(compared->gates);
    assert_case(3, XB_BASIS_NONE, XB_OUTCOME_PASS, ""); /* comes last */
    assert_int_equal(result.case_count, 4);
    assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "1 of 3 results");

    begin(8, 8); /* never measured, and no longer there */
    spoil(add_named(&before, "peer", "d2d", MIB, false), 0, XB_RESULT_SKIPPED, XB_VERIFIED_UNKNOWN,
          "one device");
    add_pinned(1.0);
    compare();
    assert_case(0, XB_BASIS_NONE, XB_OUTCOME_PASS, "not measured in 7 of 8");
    assert_overall(XB_OUTCOME_PASS, 0, "The result is not slower");
}

TEST(compares_nothing_with_nothing)
{
    begin(8, 8);
    compare();
    assert_int_equal(result.case_count, 0);
    assert_int_equal(result.gating_count, 0);
    assert_int_equal(result.processes_needed, 5); /* for one */
    assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "No result that counts was measured in both files");
}

/* Everything that makes a case another one. */
TEST(matches_the_same_case_only)
{
    for (int i = 0; i < 8; i++) {
        begin(8, 8);
        add_pinned(1.0);
        struct xb_record_case *test = &after.cases[0];
        test->mode = i == 0 ? "async" : test->mode;
        test->variant = i == 1 ? "alloc" : test->variant;
        test->direction = i == 2 ? "d2h" : test->direction;
        test->bytes += i == 3;
        test->device = i == 4 ? -1 : test->device;
        test->peer = i == 5 ? 1 : test->peer;
        test->latency = i == 6;
        if (test->latency)
            for (size_t p = 0; p < 8; p++) {
                test->rows[p].figure_count = 0;
                measure_one(test, p, &xb_figure_latency_host, SECONDS);
            }
        test->simultaneous = i == 7;
        compare();
        assert_int_equal(result.case_count, 2);
        assert_case(0, XB_BASIS_STATUS, XB_OUTCOME_INCONCLUSIVE, "");
        assert_case(1, XB_BASIS_NONE, XB_OUTCOME_PASS, "");
    }
}

GROUP(NULL, finish_group)
