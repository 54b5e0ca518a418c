/* SPDX-License-Identifier: Apache-2.0 */
/* Cases with wrong data in every process of both files, and what the verdict advises where both
 * files have failures. */

#include "testing.h"

#include "comparison_fixture.h"

#define CHANCE "did so more often in the candidate."
#define NO_MORE "Find out why first: more processes do not help."

/* The first `count` processes of a case. */
static void spoil_first(struct xb_record_case *test, size_t count, enum xb_verified verified)
{
    for (size_t i = 0; i < count; i++)
        spoil(test, i, XB_RESULT_ERROR, verified, "byte 7");
}

/* One case that fails in so many of `processes` of either file, the others as fast as before. */
static void begin_with(size_t processes, size_t baseline, size_t candidate,
                       enum xb_verified verified)
{
    begin(processes, processes);
    add_pinned(1.0);
    spoil_first(&before.cases[0], baseline, verified);
    spoil_first(&after.cases[0], candidate, verified);
}

/* ---- in every process of both files ---- */

/* A machine that always corrupts must not pass beside cases that do. */
TEST(wrong_data_in_all_does_not_pass)
{
    begin_with(6, 6, 6, XB_VERIFIED_FALSE);
    add_passing(1);
    compare();
    const struct xb_compared *compared = assert_case(
        0, XB_BASIS_STATUS, XB_OUTCOME_INCONCLUSIVE,
        "wrong data in 6 of 6 processes of the candidate: byte 7; wrong data in 6 of 6 of the "
        "baseline (P 1)");
    assert_true(compared->gates);
    assert_true(compared->cannot_pass);
    assert_case(1, XB_BASIS_TEST, XB_OUTCOME_PASS, "");
    assert_overall(XB_OUTCOME_INCONCLUSIVE, 3,
                   "1 of 2 results failed, or had wrong data, in processes of both "
                   "files.");
}

/* A case that did not work at all, now and then with wrong data, and still has some. */
TEST(some_wrong_data_where_nothing_worked_does_not_pass)
{
    begin_with(6, 6, 6, XB_VERIFIED_UNKNOWN);
    spoil(&before.cases[0], 5, XB_RESULT_ERROR, XB_VERIFIED_FALSE, "byte 7");
    spoil(&after.cases[0], 5, XB_RESULT_ERROR, XB_VERIFIED_FALSE, "byte 7");
    compare();
    assert_case(0, XB_BASIS_STATUS, XB_OUTCOME_INCONCLUSIVE, "wrong data in 1 of 6");
    assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, NO_MORE);
}

/* Where one gates, it must be told of too. */
TEST(wrong_data_in_all_is_told_only_where_it_gates)
{
    begin_with(6, 6, 6, XB_VERIFIED_FALSE);
    add_both("async", "h2d", MIB, 1.0);
    gate("async");
    compare();
    assert_overall(XB_OUTCOME_PASS, 0, "The result is not slower");
    gate("pinned");
    compare();
    assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "1 of 1 result failed");
}

/* What is always refused, such as a mode that the device cannot do, is no news. */
TEST(failures_in_all_are_listed)
{
    begin_with(6, 6, 6, XB_VERIFIED_UNKNOWN);
    add_passing(1);
    compare();
    assert_case(0, XB_BASIS_NONE, XB_OUTCOME_PASS, "failed in 6 of 6 processes of the candidate");
    assert_overall(XB_OUTCOME_PASS, 0, "The result is not slower");
}

TEST(wrong_data_that_is_gone_is_listed)
{
    begin_with(6, 6, 0, XB_VERIFIED_FALSE);
    add_passing(1);
    compare();
    assert_case(0, XB_BASIS_NONE, XB_OUTCOME_PASS,
                "wrong data in 6 of 6 processes of the baseline");
    assert_overall(XB_OUTCOME_PASS, 0, "The result is not slower");
}

/* ---- what more processes can tell ---- */

TEST(more_processes_are_advised_where_the_rate_is_higher)
{
    static const struct {
        size_t processes, before, after;
        enum xb_outcome outcome;
        const char *p, *advice;
    } rows[] = {{8, 1, 6, XB_OUTCOME_INCONCLUSIVE, "of the baseline (P 0.02)", "1 " CHANCE},
                {16, 2, 12, XB_OUTCOME_REGRESSION, "of the baseline (P 0.00048)", "1 of 1"},
                {8, 6, 6, XB_OUTCOME_INCONCLUSIVE, "of the baseline (P 0.72)", NO_MORE},
                {8, 6, 1, XB_OUTCOME_INCONCLUSIVE, "of the baseline (P 1)", NO_MORE}};
    static const enum xb_verified kinds[] = {XB_VERIFIED_FALSE, XB_VERIFIED_UNKNOWN};
    for (size_t i = 0; i < COUNT_OF(rows) * COUNT_OF(kinds); i++) {
        size_t row = i / COUNT_OF(kinds);
        begin_with(rows[row].processes, rows[row].before, rows[row].after,
                   kinds[i % COUNT_OF(kinds)]);
        compare();
        assert_case(0, result.cases[0].basis, rows[row].outcome, rows[row].p);
        assert_overall(rows[row].outcome, rows[row].outcome == XB_OUTCOME_REGRESSION ? 1 : 3,
                       rows[row].advice);
    }
}

/* The same for wrong data where nothing worked. */
TEST(more_wrong_data_where_nothing_worked_may_be_chance)
{
    begin_with(6, 6, 6, XB_VERIFIED_UNKNOWN);
    spoil_first(&before.cases[0], 3, XB_VERIFIED_FALSE);
    spoil_first(&after.cases[0], 5, XB_VERIFIED_FALSE);
    compare();
    assert_case(0, XB_BASIS_STATUS, XB_OUTCOME_INCONCLUSIVE, "wrong data in 5 of 6");
    assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "1 " CHANCE);
}

/* A share, not a number: half of the candidate's four are more than a third of six. */
TEST(rates_are_compared_where_the_files_differ_in_length)
{
    for (int swapped = 0; swapped < 2; swapped++) {
        begin(swapped ? 4 : 6, swapped ? 6 : 4);
        add_pinned(1.0);
        spoil_first(&before.cases[0], 2, XB_VERIFIED_UNKNOWN);
        spoil_first(&after.cases[0], 2, XB_VERIFIED_UNKNOWN);
        compare();
        assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, swapped ? NO_MORE : "1 " CHANCE);
    }
}

/* A P beside a verdict that does not come from it would be read as its reason. */
TEST(no_p_is_told_where_no_test_decides)
{
    begin_with(8, 1, 8, XB_VERIFIED_UNKNOWN); /* nothing is left */
    spoil(&before.cases[0], 0, XB_RESULT_ERROR, XB_VERIFIED_FALSE, "byte 7");
    spoil(&after.cases[0], 0, XB_RESULT_ERROR, XB_VERIFIED_FALSE, "byte 7");
    compare();
    assert_case(0, XB_BASIS_STATUS, XB_OUTCOME_REGRESSION, "wrong data in 1 of 8 of the baseline");
    assert_null(strstr(result.cases[0].note, "(P"));
    begin_with(8, 0, 1, XB_VERIFIED_UNKNOWN); /* it always worked */
    compare();
    assert_case(0, XB_BASIS_STATUS, XB_OUTCOME_REGRESSION, "failed in 1 of 8");
    assert_null(strstr(result.cases[0].note, "(P"));
}

GROUP(NULL, finish_group)
