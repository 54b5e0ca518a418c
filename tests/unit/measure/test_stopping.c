/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/sample/stopping.h"

#include <stdlib.h>

#include "testing.h"

/* As the runner asks for a bandwidth, and for percentiles of a latency. */
static const struct xb_stopping usual = {.iterations = 1,
                                         .time_limit = 10.0,
                                         .min_samples = XB_STOP_MIN_SAMPLES,
                                         .sure_samples = XB_STOP_LEAST_SAMPLES};
static const struct xb_stopping percentiles = {.iterations = 4096,
                                               .time_limit = 10.0,
                                               .min_samples = XB_STOP_LATENCY_SAMPLES,
                                               .sure_samples = XB_STOP_LATENCY_SAMPLES};

/* Fills `samples` up to `count` with low, high, low, high, ... */
static void fill(struct xb_samples *samples, size_t count, double low, double high)
{
    struct xb_error error;
    while (samples->count < count)
        assert_int_equal(xb_samples_add(samples, samples->count % 2 == 0 ? low : high, &error),
                         XB_OK);
}

static enum xb_stop_reason decide(struct xb_stopping *stopping, const struct xb_samples *samples,
                                  double elapsed)
{
    struct xb_error error;
    enum xb_stop_reason reason = XB_STOP_INTERRUPTED;
    assert_int_equal(xb_stopping_decide(stopping, samples, elapsed, &reason, &error), XB_OK);
    return reason;
}

TEST(fixed_count_is_kept)
{
    struct xb_samples samples = {0};
    struct xb_stopping stopping = {.fixed_samples = 30, .time_limit = 1.0};
    assert_int_equal(decide(&stopping, &samples, 0.0), XB_STOP_NOT_YET);
    /* Neither the same value 29 times nor time beyond the limit ends it. */
    fill(&samples, 29, 1.0, 1.0);
    assert_int_equal(decide(&stopping, &samples, 0.5), XB_STOP_NOT_YET);
    assert_int_equal(decide(&stopping, &samples, 100.0), XB_STOP_NOT_YET);
    fill(&samples, 30, 1.0, 1.0);
    assert_int_equal(decide(&stopping, &samples, 0.5), XB_STOP_FIXED);
    fill(&samples, 31, 1.0, 1.0);
    assert_int_equal(decide(&stopping, &samples, 0.5), XB_STOP_FIXED);
    xb_samples_free(&samples);

    struct xb_stopping one = {.fixed_samples = 1, .time_limit = 1.0};
    fill(&samples, 1, 1.0, 1.0);
    assert_int_equal(decide(&one, &samples, 0.0), XB_STOP_FIXED);
    xb_samples_free(&samples);
}

TEST(six_equal_samples_converge)
{
    struct xb_samples samples = {0};
    struct xb_stopping stopping = usual;
    for (size_t n = 0; n < 6; n++) {
        fill(&samples, n, 9e-3, 9e-3);
        assert_int_equal(decide(&stopping, &samples, 1.0), XB_STOP_NOT_YET);
    }
    fill(&samples, 6, 9e-3, 9e-3);
    assert_int_equal(decide(&stopping, &samples, 1.0), XB_STOP_CONVERGED);
    xb_samples_free(&samples);
}

/* Fewer than 20 have to last 50 ms together, all their iterations counted. */
TEST(few_samples_have_to_last)
{
    static const struct {
        double seconds;
        uint64_t iterations;
        size_t count;
    } rows[] = {{8.2e-3, 1, 7}, {8.4e-3, 1, 6}, {4e-3, 1, 13}, {4.2e-3, 2, 6}, {1e-5, 100, 20}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct xb_samples samples = {0};
        struct xb_stopping stopping = usual;
        stopping.iterations = rows[i].iterations;
        for (size_t n = 0; n < rows[i].count; n++) {
            fill(&samples, n, rows[i].seconds, rows[i].seconds);
            assert_int_equal(decide(&stopping, &samples, 1.0), XB_STOP_NOT_YET);
        }
        fill(&samples, rows[i].count, rows[i].seconds, rows[i].seconds);
        assert_int_equal(decide(&stopping, &samples, 1.0), XB_STOP_CONVERGED);
        xb_samples_free(&samples);
    }
}

/*
 * Half of them at t and half at t (1 + d): the interval is from the one to the other, at 6 (ranks 1
 * and 6), 10 (2 and 9) and 18 (5 and 14), and the median in the middle. Half the width is 0.1 % of
 * it at d = 0.002 / 0.999 = 0.002002, and 0.5 % at d = 0.01 / 0.995 = 0.01005. All last 100 ms, or
 * 150 ms and a little more.
 */
TEST(few_samples_take_a_narrow_interval)
{
    static const struct {
        size_t count;
        double all_s, d;
        enum xb_stop_reason reason;
    } rows[] = {
        {6, 0.1, 0.00200, XB_STOP_CONVERGED},    {6, 0.1, 0.00201, XB_STOP_NOT_YET},
        {10, 0.1, 0.00200, XB_STOP_CONVERGED},   {10, 0.1, 0.00201, XB_STOP_NOT_YET},
        {18, 0.1, 0.00200, XB_STOP_CONVERGED},   {18, 0.1, 0.00201, XB_STOP_NOT_YET},
        {20, 0.1, 0.00201, XB_STOP_CONVERGED},   {18, 0.148, 0.00201, XB_STOP_NOT_YET},
        {6, 0.1501, 0.0100, XB_STOP_CONVERGED},  {6, 0.1501, 0.0101, XB_STOP_NOT_YET},
        {18, 0.1501, 0.0100, XB_STOP_CONVERGED}, {18, 0.1501, 0.0101, XB_STOP_NOT_YET},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct xb_samples samples = {0};
        struct xb_stopping stopping = usual;
        double least = rows[i].all_s / (double)rows[i].count;
        fill(&samples, rows[i].count, least, least * (1 + rows[i].d));
        assert_int_equal(decide(&stopping, &samples, 1.0), rows[i].reason);
        xb_samples_free(&samples);
    }
}

/* Where few samples do not say enough, they do not however long they are. */
TEST(long_samples_need_not_do)
{
    struct xb_samples samples = {0};
    struct xb_stopping stopping = usual;
    stopping.sure_samples = XB_STOP_MIN_SAMPLES;
    fill(&samples, 19, 0.1, 0.1);
    assert_int_equal(decide(&stopping, &samples, 1.0), XB_STOP_NOT_YET);
    xb_samples_free(&samples);
}

/* However the looks before it fell: what is too wide at 19 may do at 20. */
TEST(the_twentieth_is_looked_at)
{
    struct xb_samples samples = {0};
    struct xb_stopping stopping = usual;
    for (size_t n = 1; n < 20; n++) {
        fill(&samples, n, 5e-3, 5.025e-3);
        assert_int_equal(decide(&stopping, &samples, 1.0), XB_STOP_NOT_YET);
    }
    fill(&samples, 20, 5e-3, 5.025e-3);
    assert_int_equal(decide(&stopping, &samples, 1.0), XB_STOP_CONVERGED);
    xb_samples_free(&samples);
}

/*
 * Ten samples at 2 and ten at 2 + d: median 2 + d/2, interval [2, 2 + d] (ranks 6 and 15), half
 * its width d/2. It is 0.5 % of the median at d = 0.02 / 0.995 = 0.020100...
 */
TEST(half_width_is_the_bound)
{
    static const struct {
        double d;
        enum xb_stop_reason reason;
    } rows[] = {
        {0.0200, XB_STOP_CONVERGED},
        {0.0201, XB_STOP_CONVERGED},
        {0.0202, XB_STOP_NOT_YET},
        {0.0300, XB_STOP_NOT_YET},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct xb_samples samples = {0};
        struct xb_stopping stopping = usual;
        fill(&samples, 20, 2.0, 2.0 + rows[i].d);
        assert_int_equal(decide(&stopping, &samples, 1.0), rows[i].reason);
        xb_samples_free(&samples);
    }
}

/* The interval counts, not the spread: values outside the ranks [6, 15] do not matter. */
TEST(outliers_do_not_hinder)
{
    struct xb_samples samples = {0};
    struct xb_stopping stopping = usual;
    fill(&samples, 5, 90.0, 90.0);
    fill(&samples, 10, 0.1, 0.1);
    fill(&samples, 20, 1.0, 1.0);
    assert_int_equal(decide(&stopping, &samples, 1.0), XB_STOP_CONVERGED);
    xb_samples_free(&samples);
}

TEST(time_limit_ends_it)
{
    struct xb_samples samples = {0};
    struct xb_stopping stopping = usual;
    fill(&samples, 40, 1.0, 2.0);
    assert_int_equal(decide(&stopping, &samples, 9.999), XB_STOP_NOT_YET);
    assert_int_equal(decide(&stopping, &samples, 10.0), XB_STOP_TIME_LIMIT);
    assert_int_equal(decide(&stopping, &samples, 11.0), XB_STOP_TIME_LIMIT);
    xb_samples_free(&samples);
}

TEST(time_limit_waits_for_an_interval)
{
    struct xb_samples samples = {0};
    struct xb_stopping stopping = usual;
    for (size_t n = 0; n < 6; n++) {
        fill(&samples, n, 1.0, 2.0);
        assert_int_equal(decide(&stopping, &samples, 1000.0), XB_STOP_NOT_YET);
    }
    fill(&samples, 6, 1.0, 2.0);
    assert_int_equal(decide(&stopping, &samples, 1000.0), XB_STOP_TIME_LIMIT);
    xb_samples_free(&samples);
}

/* Both at once: converged says more. */
TEST(converged_comes_before_the_time_limit)
{
    struct xb_samples samples = {0};
    struct xb_stopping stopping = usual;
    fill(&samples, 20, 1.0, 1.0);
    assert_int_equal(decide(&stopping, &samples, 1000.0), XB_STOP_CONVERGED);
    xb_samples_free(&samples);
}

/* After a look at n that found too wide an interval, the next is at n + n/10, rounded up. */
TEST(looks_are_rare)
{
    static const struct {
        size_t first, next;
    } rows[] = {{20, 22}, {21, 24}, {30, 33}, {31, 35}, {99, 109}, {1000, 1100}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct xb_samples samples = {0};
        struct xb_stopping stopping = usual;
        fill(&samples, rows[i].first, 1.0, 2.0);
        assert_int_equal(decide(&stopping, &samples, 1.0), XB_STOP_NOT_YET);
        /* From here on a look would find no width at all. */
        for (size_t n = 0; n < rows[i].first; n++)
            samples.values[n] = 1.0;
        for (size_t n = rows[i].first; n < rows[i].next; n++) {
            fill(&samples, n, 1.0, 1.0);
            assert_int_equal(decide(&stopping, &samples, 1.0), XB_STOP_NOT_YET);
        }
        fill(&samples, rows[i].next, 1.0, 1.0);
        assert_int_equal(decide(&stopping, &samples, 1.0), XB_STOP_CONVERGED);
        xb_samples_free(&samples);
    }
}

/* Percentiles far out want more samples than a median: equal ones do not end it before. */
TEST(a_larger_minimum_is_kept)
{
    struct xb_samples samples = {0};
    struct xb_stopping stopping = percentiles;
    for (size_t n = 0; n < 1000; n += n < 990 ? 10 : 1) {
        fill(&samples, n, 3e-6, 3e-6);
        assert_int_equal(decide(&stopping, &samples, 9.0), XB_STOP_NOT_YET);
    }
    fill(&samples, 1000, 3e-6, 3e-6);
    assert_int_equal(decide(&stopping, &samples, 9.0), XB_STOP_CONVERGED);
    xb_samples_free(&samples);

    struct xb_stopping late = percentiles;
    fill(&samples, 6, 3e-6, 3e-6);
    assert_int_equal(decide(&late, &samples, 10.0), XB_STOP_TIME_LIMIT);
    xb_samples_free(&samples);
}

TEST(reasons_have_names)
{
    assert_string_equal(xb_stop_reason_name(XB_STOP_CONVERGED), "converged");
    assert_string_equal(xb_stop_reason_name(XB_STOP_TIME_LIMIT), "time-limit");
    assert_string_equal(xb_stop_reason_name(XB_STOP_FIXED), "fixed");
    assert_string_equal(xb_stop_reason_name(XB_STOP_DEADLINE), "deadline");
    assert_string_equal(xb_stop_reason_name(XB_STOP_INTERRUPTED), "interrupted");
    assert_string_equal(xb_stop_reason_name(XB_STOP_NOT_YET), "not-yet");
}

static bool agree(size_t count, const double *values)
{
    double copy[8];
    for (size_t i = 0; i < count; i++)
        copy[i] = values[i];
    const struct xb_samples samples = {.values = copy, .count = count, .capacity = 8};
    return xb_samples_agree(&samples);
}

#define AGREE(...)                                                                                 \
    agree(sizeof((const double[]){__VA_ARGS__}) / sizeof(double), (const double[]){__VA_ARGS__})

TEST(last_three_decide)
{
    const struct xb_samples none = {0};
    assert_false(xb_samples_agree(&none));
    assert_false(AGREE(1.0));
    assert_false(AGREE(1.0, 1.0));
    assert_true(AGREE(1.0, 1.0, 1.0));
    assert_true(AGREE(9.0, 5.0, 1.0, 1.0, 1.0));
    assert_false(AGREE(1.0, 1.0, 1.0, 1.0, 2.0));
    assert_false(AGREE(1.0, 1.0, 1.0, 2.0, 1.0));
    assert_false(AGREE(1.0, 1.0, 2.0, 1.0, 1.0));
    assert_true(AGREE(1.0, 2.0, 1.0, 1.0, 1.0));
}

/* Of the least of them, whichever place it has; in seconds as they come. */
TEST(spread_is_the_bound)
{
    assert_true(AGREE(1.0, 1.005, 1.01));
    assert_true(AGREE(1.01, 1.0, 1.005));
    assert_true(AGREE(1.005, 1.01, 1.0));
    assert_false(AGREE(1.0, 1.005, 1.0101));
    assert_false(AGREE(1.0101, 1.0, 1.005));
    assert_false(AGREE(1.005, 1.0101, 1.0));
    assert_true(AGREE(3.00e-6, 3.02e-6, 3.01e-6));
    assert_false(AGREE(3.00e-6, 3.04e-6, 3.01e-6));
}

TEST(two_agree_within_the_bound)
{
    assert_true(xb_times_agree(1.0, 1.0));
    assert_true(xb_times_agree(1.0, 1.01) && xb_times_agree(1.01, 1.0));
    assert_false(xb_times_agree(1.0, 1.0101) || xb_times_agree(1.0101, 1.0));
}
