/* SPDX-License-Identifier: Apache-2.0 */
/* What two records are found to differ in: texts beside this file, and what takes many of them. */
#include "base/options.h"
#include "comparison_fixture.h"

#include <math.h>

/* ---- texts ---- */

TEST_CASES(verdicts_by_figures, "compare/figures", comparison_verbs, begin_comparison)
TEST_CASES(verdicts_by_what_became_of_cases, "compare/failures", comparison_verbs, begin_comparison)
TEST_CASES(gates_and_thresholds, "compare/gates", comparison_verbs, begin_comparison)
TEST_CASES(conditions_options_and_parameters, "compare/conditions", comparison_verbs,
           begin_comparison)
TEST_CASES(words_of_gates_and_thresholds, "compare/words", comparison_verbs, begin_comparison)

/* ---- what takes many comparisons ---- */

static void assert_only(enum xb_basis basis, enum xb_outcome outcome)
{
    compare();
    assert_int_equal(result.cases[0].basis, basis);
    assert_string_equal(xb_outcome_name(result.cases[0].outcome), xb_outcome_name(outcome));
}

/* However a ratio of just the threshold is rounded, it is neither less nor more. */
TEST(says_nothing_on_the_boundary)
{
    const struct xb_figure *const figures[] = {&xb_figure_bandwidth, &xb_figure_latency_host};
    for (size_t i = 0; i < 400; i++) {
        const struct xb_figure *figure = figures[i % 2];
        double value = (i % 2 == 0 ? RATE : SECONDS) * (1.0 + 0.00685 * (double)i);
        double sign = i % 2 == 0 ? 1 : -1;
        begin(8, 8);
        measure(&before, add_named(&before, "pinned", "h2d", 8, i % 2), figure, value, 0.0);
        measure(&after, add_named(&after, "pinned", "h2d", 8, i % 2), figure,
                value * (1 - sign * 0.02), 0.0);
        assert_only(XB_BASIS_TEST, XB_OUTCOME_INCONCLUSIVE);
        assert_true(result.cases[0].p_regression == 1.0 && result.cases[0].p_pass == 1.0);
        measure(&after, &after.cases[0], figure, value * (1 + sign * 0.02), 0.0);
        assert_only(XB_BASIS_TEST, XB_OUTCOME_PASS);
        assert_true(result.cases[0].p_improved == 1.0);
    }
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
            add_pinned(0.9, 1);
            add_pinned(1, tests[t] - 1);
            assert_only(enough ? XB_BASIS_TEST : XB_BASIS_INDICATIVE, XB_OUTCOME_REGRESSION);
            assert_int_equal(result.gating_count, tests[t]);
            assert_int_equal(result.processes_needed, needed);
            assert_int_equal(xb_comparison_exit_code(&result), enough ? 1 : 3);
            char words[96];
            snprintf(words, sizeof words, "Measure with --processes %zu.", needed > 8 ? needed : 8);
            assert_string_equal(result.next, enough ? "" : words);
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
            add_pinned(0.9, 1);
            add_pinned(1, tests - 1);
            assert_only(XB_BASIS_TEST, XB_OUTCOME_REGRESSION);
            assert_int_equal(result.processes_needed, k);
            add_pinned(1, 1);
            assert_only(XB_BASIS_INDICATIVE, XB_OUTCOME_REGRESSION);
        }
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
    for (size_t i = 0; i < 2 * COUNT_OF(all); i++) {
        begin(8, 8);
        request.rows = rows;
        add_pinned(1, 1);
        struct xb_record_case *test = i % 2 == 0 ? &before.cases[0] : &after.cases[0];
        test->parameters = &all[i / 2].fact;
        test->parameter_count = 1;
        compare();
        assert_int_equal(result.case_count, 1);
        assert_int_equal(result.cases[0].same_settings, all[i / 2].is_usual);
    }
}

/* ---- the rest ---- */

TEST(names_outcomes)
{
    assert_string_equal(xb_outcome_name((enum xb_outcome)99), "unknown");
}

TEST(releases_what_is_empty)
{
    struct xb_comparison empty = {0};
    struct xb_gates gates = {0};
    xb_comparison_free(&empty);
    xb_gates_free(&gates);
    begin(8, 8);
    add_pinned(1, 1);
    set_fact(&after, "kernel", "6.9.0");
    compare();
    for (int i = 0; i < 2; i++) {
        xb_comparison_free(&result);
        assert_null(result.cases);
        assert_null(result.differences);
        assert_null(result.texts);
    }
}

/* As a file of this program has them, so that texts can be compared. */
TEST(a_configuration_reads_as_its_file)
{
    static const struct xb_option time = {
        .name = "time", .type = XB_OPTION_DURATION, .default_text = "50ms"};
    static const struct xb_option kinds = {
        .name = "kinds", .type = XB_OPTION_CHOICES, .argument = "KIND", .default_text = "a,b"};
    static const struct xb_option flag = {.name = "flag", .type = XB_OPTION_FLAG};
    static const struct xb_option text = {.name = "text", .type = XB_OPTION_TEXT};
    static const struct xb_option sizes = {
        .name = "sizes", .type = XB_OPTION_SIZES, .default_text = "0,1..4K", .maximum = 4096};
    static const struct xb_option counts = {
        .name = "counts", .type = XB_OPTION_COUNTS, .default_text = "4,16,8", .maximum = 64};
    static const struct xb_option *const rows[] = {&time,  &kinds,  &flag, &text,
                                                   &sizes, &counts, NULL};
    static const char *const expected[] = {"0.05",
                                           "[\"a\",\"b\"]",
                                           "false",
                                           NULL,
                                           "[0,1,2,4,8,16,32,64,128,256,512,1024,2048,4096]",
                                           "[4,16,8]"};
    char *argv[] = {(char[]){"program"}, NULL};
    struct xb_config config;
    struct xb_error error;
    struct xb_record record;
    assert_int_equal(xb_config_parse(rows, 1, argv, &config, &error), XB_OK);
    xb_record_of_config(&config, &record);
    xb_config_free(&config);
    assert_int_equal(record.option_count, COUNT_OF(expected));
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        assert_string_equal(record.options[i].name, rows[i]->name);
        if (expected[i] == NULL)
            assert_null(record.options[i].value);
        else
            assert_string_equal(record.options[i].value, expected[i]);
    }
    xb_record_free(&record);
}

GROUP(NULL, finish_comparison)
