/* SPDX-License-Identifier: Apache-2.0 */
/* When sampling ends: an interval that is narrow enough, a fixed number, the time limit. */
#include "measure/sample/stopping.h"

#include "testing.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* As the runner asks for a bandwidth, of several devices, for percentiles of a latency, and for a
 * fixed number. */
static const struct xb_stopping bandwidth = {.iterations = 1,
                                             .time_limit = 10.0,
                                             .min_samples = XB_STOP_MIN_SAMPLES,
                                             .sure_samples = XB_STOP_LEAST_SAMPLES};
static const struct xb_stopping devices = {.iterations = 1,
                                           .time_limit = 10.0,
                                           .min_samples = XB_STOP_MIN_SAMPLES,
                                           .sure_samples = XB_STOP_MIN_SAMPLES};
static const struct xb_stopping hundredfold = {.iterations = 100,
                                               .time_limit = 10.0,
                                               .min_samples = XB_STOP_MIN_SAMPLES,
                                               .sure_samples = XB_STOP_LEAST_SAMPLES};
static const struct xb_stopping percentiles = {.iterations = 4096,
                                               .time_limit = 10.0,
                                               .min_samples = XB_STOP_LATENCY_SAMPLES,
                                               .sure_samples = XB_STOP_LATENCY_SAMPLES};
static const struct xb_stopping thirty = {.fixed_samples = 30, .time_limit = 1.0};
static const struct xb_stopping one = {.fixed_samples = 1, .time_limit = 1.0};

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

/*
 * Asked after each sample from `from` on, it ends with the `count`th and no sooner. Fewer than 20
 * samples have to last 50 ms together, all their iterations counted, and to have an interval of
 * 0.1 % to either side, or 0.5 % where they last 150 ms.
 *
 * Half of them at t and half at t (1 + d): the interval is from the one to the other, at 6 (ranks 1
 * and 6), 10 (2 and 9), 18 (5 and 14) and 20 (6 and 15), and the median in the middle. Half the
 * width is 0.1 % of it at d = 0.002 / 0.999 = 0.002002, and 0.5 % at d = 0.01 / 0.995 = 0.01005.
 */
TEST(it_ends_with_the_first_sample_that_is_enough)
{
    static const struct {
        const struct xb_stopping *asked;
        double low, d; /* d: how much more every second one takes, as a share */
        double elapsed;
        size_t from, count;
        enum xb_stop_reason reason;
    } rows[] = {
        {&bandwidth, 9e-3, 0, 1, 0, 6, XB_STOP_CONVERGED},
        {&bandwidth, 8.4e-3, 0, 1, 0, 6, XB_STOP_CONVERGED},
        {&bandwidth, 8.2e-3, 0, 1, 0, 7, XB_STOP_CONVERGED},
        {&bandwidth, 4e-3, 0, 1, 0, 13, XB_STOP_CONVERGED},
        {&hundredfold, 8.4e-5, 0, 1, 0, 6, XB_STOP_CONVERGED},
        {&hundredfold, 1e-5, 0, 1, 0, 20, XB_STOP_CONVERGED},
        {&devices, 0.1, 0, 1, 0, 20, XB_STOP_CONVERGED}, /* however long they are */
        /* Narrow enough for few, or not, but for twenty. */
        {&bandwidth, 0.1 / 6, 0.00200, 1, 6, 6, XB_STOP_CONVERGED},
        {&bandwidth, 0.1 / 10, 0.00200, 1, 10, 10, XB_STOP_CONVERGED},
        {&bandwidth, 0.1 / 18, 0.00200, 1, 18, 18, XB_STOP_CONVERGED},
        {&bandwidth, 0.1 / 20, 0.00201, 1, 0, 20, XB_STOP_CONVERGED},
        {&bandwidth, 0.148 / 18, 0.00201, 1, 18, 20, XB_STOP_CONVERGED},
        {&bandwidth, 0.1501 / 6, 0.0100, 1, 6, 6, XB_STOP_CONVERGED},
        {&bandwidth, 0.1501 / 18, 0.0100, 1, 18, 18, XB_STOP_CONVERGED},
        {&bandwidth, 0.1501 / 6, 0.0101, 1, 6, 22, XB_STOP_NOT_YET},
        {&bandwidth, 5e-3, 0.005, 1, 1, 20, XB_STOP_CONVERGED},
        {&bandwidth, 2, 0.01004, 1, 20, 20, XB_STOP_CONVERGED},
        {&bandwidth, 2, 0.01010, 1, 20, 21, XB_STOP_NOT_YET},
        /* Percentiles far out want more samples than a median. */
        {&percentiles, 3e-6, 0, 9, 0, 1000, XB_STOP_CONVERGED},
        {&percentiles, 3e-6, 0, 10, 6, 6, XB_STOP_TIME_LIMIT},
        /* The time limit waits for an interval. Both at once: converged says more. */
        {&bandwidth, 1, 1, 1000, 0, 6, XB_STOP_TIME_LIMIT},
        {&bandwidth, 1, 1, 10, 40, 40, XB_STOP_TIME_LIMIT},
        {&bandwidth, 1, 1, 9.999, 40, 41, XB_STOP_NOT_YET},
        {&bandwidth, 1, 0, 1000, 20, 20, XB_STOP_CONVERGED},
        /* A fixed number is kept: neither equal samples nor the time limit end it. */
        {&thirty, 1, 0, 0.5, 0, 30, XB_STOP_FIXED},
        {&thirty, 1, 0, 100, 0, 30, XB_STOP_FIXED},
        {&thirty, 1, 0, 0.5, 31, 31, XB_STOP_FIXED},
        {&one, 1, 0, 0, 0, 1, XB_STOP_FIXED},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct xb_samples samples = {0};
        struct xb_stopping stopping = *rows[i].asked;
        double high = rows[i].low * (1 + rows[i].d);
        enum xb_stop_reason reason = XB_STOP_NOT_YET;
        for (size_t n = rows[i].from; n <= rows[i].count; n++) {
            fill(&samples, n, rows[i].low, high);
            if (reason != XB_STOP_NOT_YET)
                fail_msg("row %zu ended before %zu samples", i, n);
            reason = decide(&stopping, &samples, rows[i].elapsed);
        }
        if (reason != rows[i].reason)
            fail_msg("row %zu: %s", i, xb_stop_reason_name(reason));
        xb_samples_free(&samples);
    }
}

/* The interval counts, not the spread: values outside the ranks [6, 15] do not matter. */
TEST(outliers_do_not_hinder)
{
    struct xb_samples samples = {0};
    struct xb_stopping stopping = bandwidth;
    fill(&samples, 5, 90.0, 90.0);
    fill(&samples, 10, 0.1, 0.1);
    fill(&samples, 20, 1.0, 1.0);
    assert_int_equal(decide(&stopping, &samples, 1.0), XB_STOP_CONVERGED);
    xb_samples_free(&samples);
}

/* After a look at n that found too wide an interval, the next is at n + n/10, rounded up. */
TEST(looks_are_rare)
{
    static const size_t rows[][2] = {{20, 22}, {21, 24},  {30, 33},
                                     {31, 35}, {99, 109}, {1000, 1100}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct xb_samples samples = {0};
        struct xb_stopping stopping = bandwidth;
        fill(&samples, rows[i][0], 1.0, 2.0);
        assert_int_equal(decide(&stopping, &samples, 1.0), XB_STOP_NOT_YET);
        /* From here on a look would find no width at all. */
        for (size_t n = 0; n < rows[i][0]; n++)
            samples.values[n] = 1.0;
        for (size_t n = rows[i][0]; n <= rows[i][1]; n++) {
            fill(&samples, n, 1.0, 1.0);
            assert_int_equal(decide(&stopping, &samples, 1.0),
                             n < rows[i][1] ? XB_STOP_NOT_YET : XB_STOP_CONVERGED);
        }
        xb_samples_free(&samples);
    }
}

TEST(reasons_have_names)
{
    static const char *const names[] = {[XB_STOP_CONVERGED] = "converged",
                                        [XB_STOP_TIME_LIMIT] = "time-limit",
                                        [XB_STOP_FIXED] = "fixed",
                                        [XB_STOP_DEADLINE] = "deadline",
                                        [XB_STOP_INTERRUPTED] = "interrupted",
                                        [XB_STOP_NOT_YET] = "not-yet"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        assert_string_equal(xb_stop_reason_name((enum xb_stop_reason)i), names[i]);
}

/* The last three decide, by 1 % of the least of them, whichever place it has; in seconds as they
 * come. */
TEST(samples_agree_or_do_not)
{
    static const struct {
        size_t count;
        double values[5];
        bool agree;
    } rows[] = {
        {0, {0}, false},
        {1, {1}, false},
        {2, {1, 1}, false},
        {3, {1, 1, 1}, true},
        {5, {9, 5, 1, 1, 1}, true},
        {5, {1, 1, 1, 1, 2}, false},
        {5, {1, 1, 1, 2, 1}, false},
        {5, {1, 1, 2, 1, 1}, false},
        {5, {1, 2, 1, 1, 1}, true},
        {3, {1.0, 1.005, 1.01}, true},
        {3, {1.01, 1.0, 1.005}, true},
        {3, {1.005, 1.01, 1.0}, true},
        {3, {1.0, 1.005, 1.0101}, false},
        {3, {1.0101, 1.0, 1.005}, false},
        {3, {1.005, 1.0101, 1.0}, false},
        {3, {3.00e-6, 3.02e-6, 3.01e-6}, true},
        {3, {3.00e-6, 3.04e-6, 3.01e-6}, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        double values[5];
        for (size_t k = 0; k < 5; k++)
            values[k] = rows[i].values[k];
        const struct xb_samples samples = {.values = values, .count = rows[i].count, .capacity = 5};
        assert_int_equal(xb_samples_agree(&samples), rows[i].agree);
    }
    assert_true(xb_times_agree(1.0, 1.0));
    assert_true(xb_times_agree(1.0, 1.01) && xb_times_agree(1.01, 1.0));
    assert_false(xb_times_agree(1.0, 1.0101) || xb_times_agree(1.0101, 1.0));
}
