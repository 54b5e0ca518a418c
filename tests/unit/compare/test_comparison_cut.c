/* SPDX-License-Identifier: Apache-2.0 */

#include "testing.h"

#include "comparison_fixture.h"

TEST(blames_no_run_that_was_cut_short)
{
    for (int deadline = 0; deadline < 2; deadline++)
        for (int there = 0; there < 2; there++) {
            begin(8, 8);
            add_pinned(1.0);
            for (size_t i = 0; i < 8; i++) {
                after.processes[i].interrupted = deadline == 0;
                after.processes[i].deadline_met = deadline == 0;
                if (there)
                    cut_short(&after.cases[0], i);
                else
                    after.cases[0].rows[i] = (struct xb_record_row){.is_there = false};
            }
            compare();
            assert_case(0, XB_BASIS_STATUS, XB_OUTCOME_INCONCLUSIVE,
                        "the candidate's run was cut short before this case");
            assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "1 of 1 result");

            /* In a single one of them it was skipped for a reason of its own. */
            after.processes[3].interrupted = there;
            after.processes[3].deadline_met = true;
            after.processes[3].failure = "it was ended by SIGSEGV";
            if (there)
                spoil(&after.cases[0], 3, XB_RESULT_SKIPPED, XB_VERIFIED_UNKNOWN, "too large");
            compare();
            assert_case(0, XB_BASIS_STATUS, XB_OUTCOME_REGRESSION,
                        there ? "skipped in 1 of 8 processes of the candidate: too large"
                              : "not measured in 1 of 8 processes of the candidate: it was ended "
                                "by SIGSEGV");
        }
}

/* What failed before the signal came has failed. */
TEST(blames_what_failed_before_it_was_cut_short)
{
    begin(8, 8);
    add_pinned(1.0);
    after.processes[7].interrupted = true;
    spoil(&after.cases[0], 7, XB_RESULT_ERROR, XB_VERIFIED_FALSE, "byte 1");
    compare();
    assert_case(0, XB_BASIS_STATUS, XB_OUTCOME_REGRESSION, "wrong data in 1 of 8");
}

TEST(compares_the_processes_that_are_left)
{
    for (int side = 0; side < 2; side++) {
        begin(8, 8);
        add_pinned(1.0);
        add_pinned(1.0);
        struct xb_record *cut = side == 0 ? &before : &after;
        cut->processes[7].interrupted = true;
        cut_short(&cut->cases[1], 7);
        compare();
        assert_case(0, XB_BASIS_TEST, XB_OUTCOME_PASS, ""); /* before the signal */
        const struct xb_compared *compared =
            assert_case(1, XB_BASIS_TEST, XB_OUTCOME_PASS,
                        "a run was cut short: there are fewer processes than asked for");
        assert_int_equal(compared->baseline.processes, side == 0 ? 7 : 8);
        assert_int_equal(compared->candidate.processes, side == 0 ? 8 : 7);
        assert_near(compared->p_pass, 1.0 / 6435);
        for (size_t i = 2; i < 7; i++) { /* and too few of them are not enough */
            cut->processes[i].deadline_met = false;
            cut_short(&cut->cases[1], i);
        }
        compare();
        assert_case(1, XB_BASIS_INDICATIVE, XB_OUTCOME_PASS, "a run was cut short");
        assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "1 of 2 results");
    }
}

/* A row that a signal ended has figures of another kind than full ones, and is no failure. */
TEST(takes_rows_that_were_cut_short_for_not_reached)
{
    for (int side = 0; side < 2; side++) {
        begin(8, 8);
        add_pinned(1.0);
        struct xb_record *cut = side == 0 ? &before : &after;
        cut->processes[7].interrupted = true;
        cut->cases[0].rows[7].is_cut = true; /* as the reader leaves it */
        cut->cases[0].rows[7].figure_count = 0;
        compare();
        const struct xb_compared *compared =
            assert_case(0, XB_BASIS_TEST, XB_OUTCOME_PASS,
                        "a run was cut short: there are fewer processes than asked for");
        assert_int_equal(side == 0 ? compared->baseline.processes : compared->candidate.processes,
                         7);
    }
    begin(1, 1); /* and there is nothing left where it is the only one */
    add_pinned(1.0);
    after.processes[0].deadline_met = false;
    after.cases[0].rows[0].is_cut = true;
    after.cases[0].rows[0].figure_count = 0;
    compare();
    assert_case(0, XB_BASIS_STATUS, XB_OUTCOME_INCONCLUSIVE,
                "the candidate's run was cut short before this case");
}

TEST(judges_nothing_before_which_the_baseline_was_cut)
{
    begin(1, 1);
    add_pinned(1.0);
    before.processes[0].interrupted = true;
    cut_short(&before.cases[0], 0);
    compare();
    assert_case(0, XB_BASIS_STATUS, XB_OUTCOME_INCONCLUSIVE,
                "the baseline's run was cut short before this case");
    assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "1 of 1 result");
}

GROUP(NULL, finish_group)
