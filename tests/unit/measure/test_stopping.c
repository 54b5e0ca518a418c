/* SPDX-License-Identifier: Apache-2.0 */
/* When sampling ends: an interval that is narrow enough, a fixed number, the time limit. */
#include "cases.h"
#include "measure/sample/stopping.h"

/* As the runner asks for a bandwidth, of several devices, for a hundred iterations a sample, for
 * percentiles of a latency, and for a fixed number. */
static const struct {
    const char *name;
    struct xb_stopping stopping;
} asked[] = {
    {"bandwidth", {.iterations = 1, .sure_samples = XB_STOP_LEAST_SAMPLES}},
    {"devices", {.iterations = 1, .sure_samples = XB_STOP_MIN_SAMPLES}},
    {"hundredfold", {.iterations = 100, .sure_samples = XB_STOP_LEAST_SAMPLES}},
    {"percentiles",
     {.iterations = 4096,
      .min_samples = XB_STOP_LATENCY_SAMPLES,
      .sure_samples = XB_STOP_LATENCY_SAMPLES}},
    {"thirty", {.fixed_samples = 30}},
    {"one", {.fixed_samples = 1}},
};

static struct xb_stopping stopping_of(const char *name)
{
    size_t i = 0;
    while (strcmp(asked[i].name, name) != 0)
        assert_true(++i < COUNT_OF(asked));
    struct xb_stopping stopping = asked[i].stopping;
    stopping.time_limit = 10;
    stopping.min_samples += stopping.min_samples == 0 ? XB_STOP_MIN_SAMPLES : 0;
    return stopping;
}

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

/* WHAT SECONDS SHARE ELAPSED COUNT...: samples that take so long, every second one by so much more,
 * so long after the first began. What is decided where there are so many, or for `each` with which
 * one it ends. */
static void obey(FILE *told, char **words)
{
    struct xb_samples samples = {0};
    struct xb_stopping stopping = stopping_of(words[0]);
    double low = strtod(words[1], NULL), high = low * (1 + strtod(words[2], NULL));
    double elapsed = strtod(words[3], NULL);
    enum xb_stop_reason reason = XB_STOP_NOT_YET;
    bool is_each = strcmp(words[4], "each") == 0;
    for (size_t n = 0; is_each && reason == XB_STOP_NOT_YET && n <= 1200; n++) {
        fill(&samples, n, low, high);
        reason = decide(&stopping, &samples, elapsed);
    }
    for (size_t i = 4; !is_each && words[i] != NULL; i++) {
        fill(&samples, strtoul(words[i], NULL, 10), low, high);
        reason = decide(&stopping, &samples, elapsed);
        fprintf(told, "%s%s", i > 4 ? "  " : "", xb_stop_reason_name(reason));
    }
    if (is_each)
        fprintf(told, "%s after %zu", xb_stop_reason_name(reason), samples.count);
    fprintf(told, "\n");
    xb_samples_free(&samples);
}

static void tell_agreement(FILE *told, char **words)
{
    struct xb_samples samples = {0};
    struct xb_error error;
    while (*++words != NULL)
        assert_int_equal(xb_samples_add(&samples, number_of(*words), &error), XB_OK);
    fprintf(told, "%s\n", xb_samples_agree(&samples) ? "yes" : "no");
    xb_samples_free(&samples);
}

static const struct verb verbs[] = {{"agree", tell_agreement}, {NULL, obey}};
TEST_CASES(it_ends_with_the_first_sample_that_is_enough, "runs/stopping", verbs, NULL)

/* The interval counts, not the spread: values outside the ranks [6, 15] do not matter. */
TEST(outliers_do_not_hinder)
{
    struct xb_samples samples = {0};
    struct xb_stopping stopping = stopping_of("bandwidth");
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
        struct xb_stopping stopping = stopping_of("bandwidth");
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

TEST(times_agree_within_a_hundredth)
{
    assert_true(xb_times_agree(1.0, 1.0));
    assert_true(xb_times_agree(1.0, 1.01) && xb_times_agree(1.01, 1.0));
    assert_false(xb_times_agree(1.0, 1.0101) || xb_times_agree(1.0101, 1.0));
}
