/* SPDX-License-Identifier: Apache-2.0 */
/* Which cases of two files are compared where their parameters differ. */

#include "testing.h"

#include "comparison_fixture.h"

#include "run/request.h"

/* ---- cases with parameters ---- */

static const struct xb_record_fact small = {.name = "pitch", .value = "65536"};
static const struct xb_record_fact large = {.name = "pitch", .value = "8388608"};
static const struct xb_record_fact larger = {.name = "pitch", .value = "16777216"};
static const struct xb_record_fact way = {.name = "way", .value = "8388608"};

/* NULL: without any. */
static void add_case(struct xb_record *record, const struct xb_record_fact *parameter, double rate)
{
    struct xb_record_case *test = add_named(record, "batch", "h2d", MIB, false);
    test->parameters = parameter;
    test->parameter_count = parameter != NULL;
    measure(record, test, &xb_figure_bandwidth, rate, STEP);
    fixture_sort(record);
}

static void begin_with(const struct xb_record_fact *baseline,
                       const struct xb_record_fact *candidate)
{
    begin(8, 8);
    request.rows = xb_run_rows();
    add_case(&before, baseline, RATE);
    add_case(&after, candidate, RATE);
}

static void assert_pair(size_t i, enum xb_presence presence, const char *note)
{
    assert_true(i < result.case_count);
    assert_int_equal(xb_presence_of(&result.cases[i]), presence);
    assert_case(i, result.cases[i].basis, result.cases[i].outcome, note);
}

/* There is one row, of both files, and it is not compared. */
static void assert_apart(const char *note)
{
    assert_int_equal(result.case_count, 1);
    assert_int_equal(xb_presence_of(&result.cases[0]), XB_IN_BOTH);
    assert_case(0, XB_BASIS_STATUS, XB_OUTCOME_INCONCLUSIVE, note);
    assert_string_equal(result.cases[0].note, note);
    assert_true(xb_compared_is_apart(&result, &result.cases[0]));
    assert_false(result.cases[0].has_ratio);
    assert_int_equal(xb_comparison_exit_code(&result), 4);
}

/* ---- pairs ---- */

TEST(pairs_cases_with_the_same_parameters)
{
    begin_with(&large, &small);
    add_case(&before, &small, RATE);
    add_case(&after, &large, 0.9 * RATE);
    compare();
    assert_int_equal(result.case_count, 2);
    assert_case(0, XB_BASIS_TEST, XB_OUTCOME_REGRESSION, "");
    assert_case(1, XB_BASIS_TEST, XB_OUTCOME_PASS, "");
    assert_string_equal(result.cases[0].test->parameters[0].value, "8388608");
    assert_int_equal(result.parameters.count, 1);
    assert_string_equal(result.parameters.names[0], "pitch");
}

/* A case whose memory lies on a NUMA node that was named is not the one near its device, which is
 * all that files have from before there was --numa. */
TEST(keeps_numa_nodes_apart)
{
    static const struct xb_record_fact zero = {.name = "numa", .value = "0"};
    static const struct xb_record_fact one = {.name = "numa", .value = "1"};
    begin_with(NULL, &zero);
    compare();
    assert_apart("measured with numa 0, the baseline with no such parameter");
    begin_with(&zero, &one);
    compare();
    assert_apart("measured with numa 1, the baseline with numa 0");
    begin_with(&one, NULL);
    add_case(&before, NULL, RATE);
    add_case(&after, &one, RATE);
    compare();
    assert_int_equal(result.case_count, 2);
    assert_case(0, XB_BASIS_TEST, XB_OUTCOME_PASS, "");
    assert_case(1, XB_BASIS_TEST, XB_OUTCOME_PASS, "");
    assert_int_equal(result.parameters.count, 1);
    assert_string_equal(result.parameters.names[0], "numa");
}

/* The value of another parameter is not this one's. */
TEST(keeps_other_parameters_apart)
{
    begin_with(&large, &small);
    compare();
    assert_apart("measured with pitch 64 KiB, the baseline with pitch 8 MiB");
    begin_with(&large, &way);
    compare();
    assert_apart("measured with way 8388608, the baseline with pitch 8 MiB");
    request.force = true;
    compare();
    assert_pair(0, XB_IN_BOTH, "measured with way 8388608, the baseline with pitch 8 MiB");
    assert_overall(XB_OUTCOME_PASS, 0, "The result is not slower");
}

/* Nothing else of the comparison is the worse for it; but where it is all that gates, nobody may
 * take that for a success. */
TEST(leaves_the_other_rows_comparable)
{
    begin_with(&large, &small);
    add_both("pinned", "h2d", MIB, 1.0);
    compare();
    assert_true(result.comparable);
    assert_true(xb_compared_is_apart(&result, &result.cases[0]));
    assert_case(1, XB_BASIS_TEST, XB_OUTCOME_PASS, "");
    assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "1 of 2 results cannot be compared");
    gate("pinned");
    compare();
    assert_overall(XB_OUTCOME_PASS, 0, "The result is not slower");
    gate("batch");
    compare();
    assert_overall(XB_OUTCOME_INCONCLUSIVE, 4, "The only result that counts was measured with");
    gate("pinned,batch");
    spoil(&after.cases[1], 0, XB_RESULT_ERROR, XB_VERIFIED_UNKNOWN, "broken");
    compare();
    assert_overall(XB_OUTCOME_REGRESSION, 1, "1 of 2 results no longer works");
}

/* Wrong data is wrong under any settings. */
TEST(wrong_data_of_another_setting_is_a_regression)
{
    begin_with(&large, &small);
    spoil(&after.cases[0], 0, XB_RESULT_ERROR, XB_VERIFIED_FALSE, "byte 3");
    compare();
    assert_case(0, XB_BASIS_STATUS, XB_OUTCOME_REGRESSION, "wrong data in 1 of 8");
    assert_false(xb_compared_is_apart(&result, &result.cases[0]));
    assert_overall(XB_OUTCOME_REGRESSION, 1, "1 of 1 result");
}

/* The rows say themselves what the option was: nothing else is refused. */
TEST(an_option_that_is_a_parameter_is_told_by_the_rows)
{
    begin_with(&large, &small);
    set_option(&after, "pitch", "65536");
    compare();
    assert_true(result.comparable);
    assert_int_equal(result.difference_count, 1);
    assert_string_equal(result.differences[0].name, "option --pitch");
    assert_false(result.differences[0].forbids);
    assert_true(result.differences[0].of_rows);
    assert_apart("measured with pitch 64 KiB, the baseline with pitch 8 MiB");
    request.force = true;
    compare();
    assert_int_equal(result.case_count, 1);
    assert_pair(0, XB_IN_BOTH, "measured with pitch 64 KiB, the baseline with pitch 8 MiB");
    assert_int_equal(result.parameters.count, 0);
    assert_overall(XB_OUTCOME_PASS, 0, "The result is not slower");
}

/* Which of two would it be? */
TEST(pairs_by_force_only_what_is_left_over)
{
    begin_with(&large, &small);
    set_option(&after, "time-limit", "0.5");
    request.force = true;
    add_case(&before, &larger, RATE);
    compare();
    assert_int_equal(result.case_count, 3);
    assert_pair(0, XB_ONLY_IN_BASELINE, "");
    assert_pair(1, XB_ONLY_IN_BASELINE, "");
    assert_pair(2, XB_ONLY_IN_CANDIDATE, "");
    add_case(&after, &larger, RATE); /* then one is left over in either file */
    compare();
    assert_int_equal(result.case_count, 2);
    assert_pair(0, XB_IN_BOTH, "measured with pitch 64 KiB, the baseline with pitch 8 MiB");
    assert_pair(1, XB_IN_BOTH, "");
}

/* An older program did not have the option, and measured as it is by default. */
TEST(takes_a_parameter_that_a_file_lacks_for_the_default)
{
    struct xb_record defaults = make_record(1);
    for (int side = 0; side < 2; side++) {
        begin_with(side == 0 ? NULL : &large, side == 0 ? &large : NULL);
        compare(); /* whose default nobody knows */
        assert_false(result.cases[0].same_settings);
        request.defaults = &defaults;
        set_option(&defaults, "pitch", "8388608");
        compare();
        assert_int_equal(result.case_count, 1);
        assert_pair(0, XB_IN_BOTH, "");
        assert_overall(XB_OUTCOME_PASS, 0, "The result is not slower");
        set_option(&defaults, "pitch", "4096");
        compare();
        assert_false(result.cases[0].same_settings);
    }
    xb_record_free(&defaults);
}

/* Before there was the option, the first word of its default list was measured. */
TEST(takes_a_word_that_a_file_lacks_for_the_first_by_default)
{
    static const struct xb_record_fact engine = {.name = "by", .value = "engine", .is_text = true};
    static const struct xb_record_fact kernel = {.name = "by", .value = "kernel", .is_text = true};
    static const struct xb_record_fact pairs = {.name = "pairs", .value = "0:1", .is_text = true};
    begin_with(NULL, &kernel);
    add_case(&after, &engine, 0.9 * RATE);
    compare();
    assert_int_equal(result.case_count, 2);
    assert_pair(0, XB_IN_BOTH, "");
    assert_int_equal(result.cases[0].outcome, XB_OUTCOME_REGRESSION);
    assert_pair(1, XB_ONLY_IN_CANDIDATE, "");
    begin_with(&kernel, NULL);
    add_case(&before, &engine, RATE);
    compare();
    assert_int_equal(result.case_count, 2);
    assert_pair(0, XB_ONLY_IN_BASELINE, "");
    assert_pair(1, XB_IN_BOTH, "");
    begin_with(NULL, &engine);
    compare();
    assert_int_equal(result.case_count, 1);
    assert_pair(0, XB_IN_BOTH, "");
    begin_with(&engine, NULL);
    compare();
    assert_int_equal(result.case_count, 1);
    begin_with(NULL, &kernel);
    compare();
    assert_false(result.cases[0].same_settings);
    begin_with(NULL, &pairs); /* a list without a default */
    compare();
    assert_false(result.cases[0].same_settings);
}

/* A list of numbers is as one of words. */
TEST(takes_a_number_that_a_file_lacks_for_the_first_by_default)
{
    static const struct xb_option pieces = {
        .name = "piece", .type = XB_OPTION_SIZES, .default_text = "256K,4K"};
    static const struct xb_option blocks = {
        .name = "blocks", .type = XB_OPTION_COUNTS, .default_text = "8,4", .maximum = 64};
    static const struct xb_option *const rows[] = {&pieces, &blocks, NULL};
    static const struct {
        struct xb_record_fact fact;
        bool is_usual;
    } all[] = {
        {{.name = "piece", .value = "262144"}, true}, {{.name = "piece", .value = "4096"}, false},
        {{.name = "blocks", .value = "8"}, true},     {{.name = "blocks", .value = "4"}, false},
        {{.name = "layout", .value = "8"}, false},
    };
    for (size_t i = 0; i < COUNT_OF(all); i++)
        for (int side = 0; side < 2; side++) {
            begin_with(side == 0 ? NULL : &all[i].fact, side == 0 ? &all[i].fact : NULL);
            request.rows = rows;
            compare();
            assert_int_equal(result.case_count, 1);
            assert_int_equal(result.cases[0].same_settings, all[i].is_usual);
        }
    begin_with(&all[0].fact, &all[1].fact); /* two numbers are two cases */
    request.rows = rows;
    compare();
    assert_false(result.cases[0].same_settings);
}

/* What only the candidate has comes last, in its order. */
TEST(keeps_the_order_of_the_files)
{
    begin(8, 8);
    add_case(&before, &large, RATE);
    add_pinned(1.0);
    measure(&after, add_named(&after, "async", "h2d", MIB, false), &xb_figure_bandwidth, RATE,
            STEP);
    add_both("pinned", "d2h", MIB, 1.0);
    compare();
    assert_int_equal(result.case_count, 4);
    assert_pair(0, XB_ONLY_IN_BASELINE, "");
    assert_pair(1, XB_IN_BOTH, "");
    assert_pair(2, XB_IN_BOTH, "");
    assert_pair(3, XB_ONLY_IN_CANDIDATE, "");
}

GROUP(NULL, finish_group)
