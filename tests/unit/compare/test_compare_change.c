/* SPDX-License-Identifier: Apache-2.0 */
/* What became of a figure, in words: never more than the interval says. */
#include "checks.h"
#include "compare_fixture.h"

#include "compare/text.h"

#include <math.h>
#include <string.h>

#include "testing.h"

static struct xb_compared compared_of(const struct xb_figure *figure, enum xb_outcome outcome,
                                      double low, double ratio, double high)
{
    return (struct xb_compared){.figure = *figure,
                                .basis = XB_BASIS_TEST,
                                .outcome = outcome,
                                .threshold = 0.02,
                                .has_ratio = true,
                                .ratio = ratio,
                                .has_interval = true,
                                .low = low,
                                .high = high,
                                .confidence = 0.98};
}

static void assert_says(const struct xb_compared *compared, const char *expected)
{
    assert_string_equal(XB_CASE_TEXT(NULL, compared, XB_CASE_SAYS), expected);
}

TEST(tells_the_side_that_matters)
{
    static const struct {
        enum xb_outcome outcome;
        double low, ratio, high;
        const char *rate, *time; /* the same numbers of either kind */
    } rows[] = {
        {XB_OUTCOME_REGRESSION, 0.4805, 0.49, 0.5049, "51.0 % slower, 99 % sure of at least 49.5 %",
         "51.0 % shorter, 99 % sure of at least 49.5 %"},
        {XB_OUTCOME_PASS, 0.9852, 0.9854, 0.9856, "1.5 % slower, 99 % sure of at most 1.5 %",
         "1.5 % shorter, 99 % sure of at least 1.4 %"},
        {XB_OUTCOME_PASS, 0.9999, 1.00001, 1.0002, "0.00 %, 99 % sure of at most 0.01 % slower",
         "0.00 %, 99 % sure of at most 0.02 % longer"},
        {XB_OUTCOME_PASS, 0.9999, 1.0010, 1.0020,
         "0.10 % faster, 99 % sure of at most 0.01 % slower",
         "0.10 % longer, 99 % sure of at most 0.20 %"},
        {XB_OUTCOME_INCONCLUSIVE, 0.9701, 0.985, 1.001, "1.5 % slower, 99 % sure of at most 3.0 %",
         "1.5 % shorter, 99 % sure of at most 0.10 % longer"},
        {XB_OUTCOME_IMPROVED, 1.0501, 1.06, 1.07, "6.0 % faster, 99 % sure of at least 5.0 %",
         "6.0 % longer, 99 % sure of at most 7.0 %"},
        {XB_OUTCOME_PASS, 1.0, 1.0, 1.0, "0.00 %, 99 % sure of not slower",
         "0.00 %, 99 % sure of not longer"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct xb_compared compared = compared_of(&xb_figure_bandwidth, rows[i].outcome,
                                                  rows[i].low, rows[i].ratio, rows[i].high);
        assert_says(&compared, rows[i].rate);
        compared.figure = xb_figure_latency_host;
        assert_says(&compared, rows[i].time);
    }
}

TEST(other_figures_are_higher_or_lower)
{
    static const struct xb_figure speed_up = {
        .name = "speed_up", .unit = XB_UNIT_RATIO, .more_is_better = true};
    struct xb_compared compared = compared_of(&speed_up, XB_OUTCOME_REGRESSION, 0.89, 0.9, 0.91);
    assert_says(&compared, "10.0 % lower, 99 % sure of at least 9.0 %");
    compared.outcome = XB_OUTCOME_IMPROVED;
    compared.low = 2.9;
    compared.ratio = 3.5;
    assert_says(&compared, "250 % higher, 99 % sure of at least 190 %");
}

/* Rounded, a bound must not say more, nor seem to lie beyond the threshold. */
TEST(rounds_to_what_is_sure)
{
    struct xb_compared compared =
        compared_of(&xb_figure_bandwidth, XB_OUTCOME_REGRESSION, 0.9, 0.95016, 0.96011);
    assert_says(&compared, "5.0 % slower, 99 % sure of at least 3.9 %");
    compared = compared_of(&xb_figure_bandwidth, XB_OUTCOME_PASS, 0.98004, 0.98005, 0.99);
    assert_says(&compared, "1.995 % slower, 99 % sure of at most 1.996 %");
    compared = compared_of(&xb_figure_bandwidth, XB_OUTCOME_REGRESSION, 0.9, 0.97996, 0.97999);
    assert_says(&compared, "2.004 % slower, 99 % sure of at least 2.001 %");
    compared = compared_of(&xb_figure_bandwidth, XB_OUTCOME_PASS, 0.9804, 0.985, 0.99);
    assert_says(&compared, "1.5 % slower, 99 % sure of at most 1.96 %"); /* not 2.0 % */
    compared = compared_of(&xb_figure_bandwidth, XB_OUTCOME_REGRESSION, 0.9, 0.95, 0.9793);
    assert_says(&compared, "5.0 % slower, 99 % sure of at least 2.07 %");
    compared = compared_of(&xb_figure_latency_host, XB_OUTCOME_PASS, 1.0, 1.01, 1.01934);
    assert_says(&compared, "1.0 % longer, 99 % sure of at most 1.94 %");
}

TEST(is_no_surer_than_the_interval)
{
    static const struct {
        double confidence;
        const char *sure;
    } rows[] = {{0.98, "99 %"},      {0.9786, "98.9 %"}, {0.9, "95 %"},     {0.999999, "99.9 %"},
                {1 / 3.0, "66.6 %"}, {1, "99.9 %"},      {0.002, "50.1 %"}, {0, ""}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct xb_compared compared = {.confidence = rows[i].confidence};
        assert_string_equal(XB_CASE_TEXT(NULL, &compared, XB_CASE_SURENESS), rows[i].sure);
    }
}

TEST(tells_nothing_that_is_not_there)
{
    struct xb_compared compared =
        compared_of(&xb_figure_bandwidth, XB_OUTCOME_REGRESSION, 0.89, 0.9, 0.91);
    compared.confidence = 0; /* an interval of samples: of what level nobody knows */
    assert_says(&compared, "10.0 % slower");
    assert_string_equal(XB_CASE_TEXT(NULL, &compared, XB_CASE_SURE), "-");
    compared.confidence = 0.98;
    compared.high = INFINITY;
    compared.low = -INFINITY;
    assert_says(&compared, "10.0 % slower");
    compared.has_interval = false;
    assert_says(&compared, "10.0 % slower");
    compared.ratio = NAN;
    assert_says(&compared, "-");
    compared.has_ratio = false;
    assert_says(&compared, "-");
}
