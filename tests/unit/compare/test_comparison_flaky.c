/* SPDX-License-Identifier: Apache-2.0 */
/* Cases that do not work, or have wrong data, in some processes of both files. */
#include "compare/internal.h"
#include "compare/text.h"

#include <math.h>

#include "testing.h"

#include "comparison_fixture.h"

/* One case, by `ratio`, of so many processes in either file. */
static void begin_one(size_t processes, double ratio)
{
    begin(processes, processes);
    add_pinned(ratio);
}

/* In the first `count` processes that are still fine. */
static void spoil_some(struct xb_record *record, size_t count, enum xb_verified verified,
                       const char *reason)
{
    for (size_t i = 0; count > 0; i++) {
        if (record->cases[0].rows[i].status == XB_RESULT_OK) {
            spoil(&record->cases[0], i, XB_RESULT_ERROR, verified, reason);
            count--;
        }
    }
}

/* What would not help is not asked for: not by the verdict, and not beside it. */
static void expect_overall(int code, const char *words)
{
    assert_overall(code == 1 ? XB_OUTCOME_REGRESSION : XB_OUTCOME_INCONCLUSIVE, code, words);
    assert_null(strstr(result.reason, "too few processes"));
    assert_string_equal(xb_compare_needed(&result, XB_NEW_WORDS), "");
}

/* ---- Fisher's exact test ---- */

static void expect_probability(size_t before_bad, size_t n, size_t after_bad, size_t m,
                               double expected)
{
    double probability = xb_fisher_probability(before_bad, n, after_bad, m);
    if (fabs(probability - expected) > 1e-12 * expected)
        fail_msg("%zu of %zu, %zu of %zu: %.17g, not %.17g", before_bad, n, after_bad, m,
                 probability, expected);
}

TEST(fisher_gives_what_is_in_books)
{
    /* The lady tasting tea: 4 of 4 by chance in 1 of 70, 3 or more in 17 of 70. */
    expect_probability(0, 4, 4, 4, 1.0 / 70);
    expect_probability(1, 4, 3, 4, 17.0 / 70);
    expect_probability(1, 8, 7, 8, 65.0 / 12870);
    expect_probability(0, 8, 8, 8, 1.0 / 12870);
    expect_probability(1, 8, 1, 8, 1 - 28.0 / 120);
    expect_probability(8, 8, 8, 8, 1);
    expect_probability(0, 8, 0, 8, 1);
    expect_probability(7, 8, 1, 8, 1 - 1.0 / 12870);
    expect_probability(3, 3, 0, 100, 1);
    expect_probability(0, 100, 1, 1, 1.0 / 101);
    expect_probability(0, 0, 3, 3, 1); /* with nothing beside it there is nothing to tell */
}

/* Each way to deal out the bad ones is as likely: all of up to 6 and 6 processes are counted. */
TEST(fisher_counts_every_deal)
{
    for (unsigned n = 1; n <= 6; n++) {
        for (unsigned m = 1; m <= 6; m++) {
            unsigned deals[13][7] = {{0}}; /* by bad ones, and how many of them are among the m */
            for (unsigned deal = 0; deal < 1u << (n + m); deal++)
                deals[__builtin_popcount(deal)][__builtin_popcount(deal & ((1u << m) - 1))]++;
            for (unsigned a = 0; a <= n; a++) {
                for (unsigned b = 0; b <= m; b++) {
                    unsigned all = 0;
                    unsigned as_bad = 0;
                    for (unsigned k = 0; k <= m; k++) {
                        all += deals[a + b][k];
                        as_bad += k >= b ? deals[a + b][k] : 0;
                    }
                    expect_probability(a, n, b, m, (double)as_bad / all);
                }
            }
        }
    }
}

/* ---- verdicts ---- */

TEST(more_wrong_data_is_a_regression)
{
    begin_one(8, 1.0);
    spoil_some(&before, 1, XB_VERIFIED_FALSE, "byte 7");
    spoil_some(&after, 7, XB_VERIFIED_FALSE, "byte 8");
    compare();
    assert_case(
        0, XB_BASIS_STATUS, XB_OUTCOME_REGRESSION,
        "wrong data in 7 of 8 processes of the candidate: byte 8; wrong data in 1 of 8 of the "
        "baseline");
    expect_overall(1, "1 of 1 result no longer works.");
}

/* However many figures gate, and however fast it has become. */
TEST(more_wrong_data_shares_no_alpha)
{
    begin_one(8, 2.0);
    for (int i = 0; i < 30; i++)
        add_pinned(1.0);
    spoil_some(&before, 1, XB_VERIFIED_FALSE, "byte 7");
    spoil_some(&after, 7, XB_VERIFIED_FALSE, "byte 8");
    compare();
    assert_case(0, XB_BASIS_STATUS, XB_OUTCOME_REGRESSION, "wrong data in 7 of 8");
    expect_overall(1, "1 of 31 results");
}

/* Failures before do not excuse wrong data now. */
TEST(wrong_data_is_counted_apart)
{
    begin_one(8, 1.0);
    spoil_some(&before, 1, XB_VERIFIED_FALSE, "byte 7");
    spoil_some(&before, 7, XB_VERIFIED_UNKNOWN, "no memory");
    spoil_some(&after, 7, XB_VERIFIED_FALSE, "byte 8");
    compare();
    assert_case(0, XB_BASIS_STATUS, XB_OUTCOME_REGRESSION, "wrong data in 1 of 8 of the baseline");
    expect_overall(1, "1 of 1 result");
}

TEST(more_failures_are_a_regression)
{
    begin_one(8, 1.0);
    spoil_some(&before, 1, XB_VERIFIED_UNKNOWN, "no memory");
    spoil_some(&after, 7, XB_VERIFIED_UNKNOWN, "illegal address");
    compare();
    assert_case(
        0, XB_BASIS_STATUS, XB_OUTCOME_REGRESSION,
        "failed in 7 of 8 processes of the candidate: illegal address; failed in 1 of 8 of the "
        "baseline");
    expect_overall(1, "1 of 1 result");
}

/* What chance alone would do is not called one, and is no question of how many processes. */
TEST(as_much_is_not_and_more_processes_are_not_asked_for)
{
    static const struct {
        size_t processes, before, after;
    } rows[] = {{8, 1, 2}, {8, 1, 6}, {8, 7, 7}, {4, 1, 3}, {2, 1, 1}, {8, 7, 1}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        begin_one(rows[i].processes, 1.0);
        spoil_some(&before, rows[i].before, XB_VERIFIED_FALSE, "byte 7");
        spoil_some(&after, rows[i].after, XB_VERIFIED_FALSE, "byte 8");
        compare();
        assert_case(0, result.cases[0].basis, XB_OUTCOME_INCONCLUSIVE, "wrong data in ");
        expect_overall(3, "1 of 1 result failed, or had wrong data, in processes of "
                          "both files.");
    }
}

/* What others lack is told beside it. */
TEST(what_is_broken_comes_first)
{
    begin_one(2, 1.0);
    add_pinned(1.0);
    spoil_some(&before, 1, XB_VERIFIED_FALSE, "byte 7");
    spoil_some(&after, 1, XB_VERIFIED_FALSE, "byte 8");
    compare();
    assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "1 of 2 results failed");
    assert_non_null(strstr(xb_compare_needed(&result, XB_NEW_WORDS), "a figure has 2 in a file"));
}

TEST(processes_that_were_cut_short_do_not_count)
{
    begin_one(8, 1.0);
    spoil_some(&before, 1, XB_VERIFIED_FALSE, "byte 7");
    spoil_some(&after, 7, XB_VERIFIED_FALSE, "byte 8");
    for (size_t i = 2; i < 8; i++) { /* 1 of 2 are left */
        before.cases[0].rows[i] = (struct xb_record_row){.is_there = false};
        before.processes[i].interrupted = true;
    }
    compare();
    assert_case(0, XB_BASIS_INDICATIVE, XB_OUTCOME_INCONCLUSIVE, "wrong data in 7 of 8");
    expect_overall(3, "Find out why first");
}

GROUP(NULL, finish_group)
