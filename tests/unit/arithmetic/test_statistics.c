/* SPDX-License-Identifier: Apache-2.0 */
#include "base/statistics.h"

#include <math.h>

#include "testing.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* Equal but for the last digits, in which p5 and p95 may be rounded. */
static void assert_near(double actual, double expected, const char *what)
{
    if (!(fabs(actual - expected) <= 1e-14 * fabs(expected)))
        fail_msg("%s is %.17g, not %.17g", what, actual, expected);
}

TEST(samples_grow)
{
    struct xb_samples samples = {0};
    struct xb_error error;
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(xb_samples_add(&samples, (double)i / 2.0, &error), XB_OK);
    assert_int_equal(samples.count, 1000);
    assert_true(samples.capacity >= samples.count);
    for (size_t i = 0; i < 1000; i++)
        assert_true(samples.values[i] == (double)i / 2.0);
    xb_samples_free(&samples);
    assert_null(samples.values);
    assert_int_equal(samples.count, 0);
    assert_int_equal(samples.capacity, 0);
    assert_int_equal(xb_samples_add(&samples, 1.0, &error), XB_OK);
    assert_int_equal(samples.count, 1);
    xb_samples_free(&samples);
    xb_samples_free(&samples);
}

/*
 * median, p5, p95, mad: computed with python3 in fractions.Fraction, and p5 and p95 again with
 * statistics.quantiles(values, n=20, method="inclusive"), which is type 7.
 */
TEST(values_are_described)
{
    static const struct {
        size_t n;
        double values[20];
        struct xb_statistics expected;
    } rows[] = {
        {1, {5}, {.n = 1, .median = 5, .min = 5, .max = 5, .p5 = 5, .p95 = 5, .mad = 0}},
        {2, {8, 2}, {.n = 2, .median = 5, .min = 2, .max = 8, .p5 = 2.3, .p95 = 7.7, .mad = 3}},
        {6,
         {100, 1, 3, 2, 5, 4},
         {.n = 6,
          .median = 3.5,
          .has_interval = true,
          .ci95_low = 1,
          .ci95_high = 100,
          .min = 1,
          .max = 100,
          .p5 = 1.25,
          .p95 = 76.25,
          .mad = 1.5}},
        {7,
         {9, 1, 4, 7, 2, 30, 3},
         {.n = 7,
          .median = 4,
          .has_interval = true,
          .ci95_low = 1,
          .ci95_high = 30,
          .min = 1,
          .max = 30,
          .p5 = 1.3,
          .p95 = 23.7,
          .mad = 3}},
        {10,
         {3, 1, 4, 1, 5, 9, 2, 6, 5, 35},
         {.n = 10,
          .median = 4.5,
          .has_interval = true,
          .ci95_low = 1,
          .ci95_high = 9,
          .min = 1,
          .max = 35,
          .p5 = 1,
          .p95 = 23.3,
          .mad = 2}},
        {20,
         {12, 7, 3, 14, 6, 11, 8, 10, 2, 13, 5, 18, 4, 16, 9, 15, 1, 17, 40, 64},
         {.n = 20,
          .median = 10.5,
          .has_interval = true,
          .ci95_low = 6,
          .ci95_high = 15,
          .min = 1,
          .max = 64,
          .p5 = 1.95,
          .p95 = 41.2,
          .mad = 5}},
        {3,
         {-4, 0, -10},
         {.n = 3, .median = -4, .min = -10, .max = 0, .p5 = -9.4, .p95 = -0.4, .mad = 4}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct xb_statistics *expected = &rows[i].expected;
        struct xb_statistics s;
        struct xb_error error;
        double values[20];
        memset(&s, 0xA5, sizeof s);
        memcpy(values, rows[i].values, sizeof values);
        assert_int_equal(xb_statistics_compute(values, rows[i].n, &s, &error), XB_OK);
        assert_memory_equal(values, rows[i].values, sizeof values);
        assert_int_equal(s.n, expected->n);
        assert_near(s.median, expected->median, "median");
        assert_int_equal(s.has_interval, expected->has_interval);
        assert_near(s.ci95_low, expected->ci95_low, "ci95_low");
        assert_near(s.ci95_high, expected->ci95_high, "ci95_high");
        assert_near(s.min, expected->min, "min");
        assert_near(s.max, expected->max, "max");
        assert_near(s.p5, expected->p5, "p5");
        assert_near(s.p95, expected->p95, "p95");
        assert_near(s.mad, expected->mad, "mad");
    }
}

/* Where (n - 1) p is a whole number, the quantile is a value, not a mixture. */
TEST(quantile_may_be_a_value)
{
    double values[21];
    struct xb_statistics s;
    struct xb_error error;
    for (size_t i = 0; i < 21; i++)
        values[i] = (double)((i * 8) % 21);
    assert_int_equal(xb_statistics_compute(values, 21, &s, &error), XB_OK);
    assert_near(s.p5, 1.0, "p5");
    assert_near(s.p95, 19.0, "p95");
}

/* Type 7 by hand: of n values the p-quantile lies (n - 1) p ranks above the least. */
TEST(percentiles_of_many_and_of_few)
{
    double values[1001];
    struct xb_statistics s;
    struct xb_error error;
    for (size_t i = 0; i < 1001; i++)
        values[i] = (double)((i * 8) % 1001); /* 0 ... 1000 out of order: ranks are values */
    memset(&s, 0xA5, sizeof s);
    assert_int_equal(xb_statistics_compute(values, 1001, &s, &error), XB_OK);
    assert_int_equal(s.n, 1001);
    assert_near(s.min, 0.0, "min");
    assert_near(s.median, 500.0, "median");
    assert_near(s.p95, 950.0, "p95");
    assert_near(s.p99, 990.0, "p99");
    assert_near(s.max, 1000.0, "max");
    assert_true(values[1] == 8.0); /* and the samples keep their order */

    const double few[] = {30.0, 10.0};
    assert_int_equal(xb_statistics_compute(few, 2, &s, &error), XB_OK);
    assert_near(s.median, 20.0, "median");
    assert_near(s.p95, 29.0, "p95");
    assert_near(s.p99, 29.8, "p99");

    assert_int_equal(xb_statistics_compute(few, 1, &s, &error), XB_OK);
    assert_int_equal(s.n, 1);
    assert_true(s.min == 30.0 && s.median == 30.0 && s.p95 == 30.0);
    assert_true(s.p99 == 30.0 && s.max == 30.0);
}

TEST(median_sorts)
{
    double values[] = {3.0, -1.0, 2.0, 2.0, 1e300};
    const double sorted[] = {-1.0, 2.0, 2.0, 3.0, 1e300};
    assert_true(xb_median_of(values, 5) == 2.0);
    assert_memory_equal(values, sorted, sizeof sorted);
    assert_true(xb_median_of(values + 1, 4) == 2.5);
    assert_true(xb_median_of(values, 2) == 0.5);
    assert_true(xb_median_of(values, 1) == -1.0);
    assert_true(xb_median_of(values, 0) == 0.0);
    assert_true(xb_median_of(NULL, 0) == 0.0);
}

TEST(few_values_have_no_interval)
{
    for (size_t n = 0; n < 6; n++) {
        size_t low = 77;
        size_t high = 88;
        assert_false(xb_interval_ranks(n, &low, &high));
    }
}

/*
 * Computed with python3 in whole numbers: the largest low with
 * 40 * sum(math.comb(n, k) for k in range(low)) <= 2**n. The last three are, of all n up to 10^6,
 * those whose sum comes nearest to the bound (relative distance 4.7e-10, 3.6e-9, 9.9e-9): a sum in
 * plain doubles with more error than that gets them wrong.
 */
TEST(ranks_are_exact)
{
    static const struct {
        size_t n, low, high;
    } rows[] = {
        {6, 1, 6},
        {7, 1, 7},
        {8, 1, 8},
        {9, 2, 8},
        {10, 2, 9},
        {11, 2, 10},
        {12, 3, 10},
        {15, 4, 12},
        {16, 4, 13},
        {17, 5, 13},
        {18, 5, 14},
        {19, 5, 15},
        {20, 6, 15},
        {21, 6, 16},
        {25, 8, 18},
        {30, 10, 21},
        {50, 18, 33},
        {71, 27, 45},
        {99, 40, 60},
        {100, 40, 61},
        {101, 41, 61},
        {500, 228, 273},
        {1000, 469, 532},
        {1029, 483, 547},
        {1030, 484, 547},
        {1031, 484, 548},
        {2000, 956, 1045},
        {2048, 980, 1069},
        {5000, 2431, 2570},
        {10000, 4902, 5099},
        {65536, 32517, 33020},
        {100000, 49690, 50311},
        {123457, 61384, 62074},
        {500000, 249307, 250694},
        {999999, 499020, 500980},
        {1000000, 499020, 500981},
        {965643, 481858, 483786},
        {858491, 428337, 430155},
        {966646, 482360, 484287},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        size_t low = 0;
        size_t high = 0;
        assert_true(xb_interval_ranks(rows[i].n, &low, &high));
        if (low != rows[i].low || high != rows[i].high)
            fail_msg("n = %zu has [%zu, %zu], not [%zu, %zu]", rows[i].n, rows[i].low, rows[i].high,
                     low, high);
    }
}

/* Medians 3, 10, 5, 7, 1, 9 of groups: 1 to 10 bound the median of groups, whatever is in them. */
TEST(groups_bound_the_median_of_groups)
{
    static const double values[] = {2, 3, 100, 10, 5, 5, 5, 5, 6, 8, 1, 9, 9};
    static const size_t sizes[] = {3, 1, 4, 2, 1, 2};
    struct xb_statistics s;
    struct xb_error error;
    assert_int_equal(xb_statistics_compute_groups(values, sizes, 6, &s, &error), XB_OK);
    assert_int_equal(s.n, 13);
    assert_true(s.has_interval);
    assert_true(s.ci95_low == 1 && s.ci95_high == 10);
    assert_true(s.median == 5 && s.min == 1 && s.max == 100); /* of the values */
}

TEST(few_groups_have_no_interval)
{
    static const double values[] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const size_t sizes[] = {2, 2, 2, 1, 1};
    struct xb_statistics s;
    struct xb_error error;
    assert_int_equal(xb_statistics_compute_groups(values, sizes, 5, &s, &error), XB_OK);
    assert_false(s.has_interval);
    assert_true(s.median == 4.5);
}

/* The definition in whole numbers, for every n for which 40 * 2^n fits in 64 bits. */
TEST(ranks_follow_the_definition)
{
    uint64_t row[59] = {1}; /* C(n, k): Pascal's triangle */
    for (size_t n = 1; n <= 58; n++) {
        for (size_t k = n; k > 0; k--)
            row[k] += row[k - 1];
        size_t expected = 0;
        for (uint64_t sum = row[0]; 40 * sum <= UINT64_C(1) << n; sum += row[expected])
            expected++;
        size_t low = 0;
        size_t high = n + 1;
        assert_int_equal(xb_interval_ranks(n, &low, &high), n >= 6);
        assert_int_equal(low, expected);
        assert_int_equal(high, n + 1 - expected);
    }
}
