/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/rank_test.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static void assert_within(double actual, double expected, double share, const char *what)
{
    if (!(fabs(actual - expected) <= share * fabs(expected)))
        fail_msg("%s is %.17g, not %.17g", what, actual, expected);
}

/*
 * An order of n + m values: bit r of `seconds` says that the value of rank r is of the second side.
 * Gives the values, which are the ranks, and returns U.
 */
static size_t order_of(unsigned seconds, size_t n, size_t m, double *first, double *second)
{
    size_t firsts = 0;
    size_t u = 0;
    for (size_t rank = 0; rank < n + m; rank++) {
        if ((seconds >> rank & 1U) == 0) {
            first[firsts++] = (double)rank;
        } else {
            second[rank - firsts] = (double)rank;
            u += firsts;
        }
    }
    return u;
}

static bool has_bits(unsigned word, size_t bits)
{
    size_t count = 0;
    for (; word != 0; word &= word - 1)
        count++;
    return count == bits;
}

/* Every order of few values, counted one by one. Both sides of == are the nearest double. */
TEST(distribution_is_that_of_all_orders)
{
    for (size_t n = 1; n <= 6; n++) {
        for (size_t m = 1; m <= 6; m++) {
            size_t counts[37] = {0};
            size_t total = 0;
            double first[6];
            double second[6];
            for (unsigned seconds = 0; seconds < 1U << (n + m); seconds++) {
                if (!has_bits(seconds, m))
                    continue;
                counts[order_of(seconds, n, m, first, second)]++;
                total++;
            }
            size_t sum = 0;
            for (size_t u = 0; u <= n * m; u++) {
                sum += counts[u];
                double expected = (double)sum / (double)total;
                if (u < (n * m + 1) / 2)
                    assert_true(xb_rank_probability(n, m, u) == expected);
                else
                    assert_within(xb_rank_probability(n, m, u), expected, 1e-15, "an upper P");
            }
            assert_true(xb_rank_least_probability(n, m) == 1.0 / (double)total);
        }
    }
}

TEST(distribution_is_symmetric_and_sums_to_one)
{
    static const size_t sizes[][2] = {{1, 1}, {1, 9}, {7, 9}, {8, 8}, {3, 40}, {30, 31}};
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        size_t n = sizes[i][0];
        size_t m = sizes[i][1];
        double before = 0.0;
        assert_true(xb_rank_probability(n, m, 0) == xb_rank_least_probability(n, m));
        for (size_t u = 0; u < n * m; u++) {
            double p = xb_rank_probability(n, m, u);
            assert_true(p > before || before > 0.999999);
            assert_true(p >= before && p <= 1.0);
            assert_true(p == xb_rank_probability(m, n, u));
            assert_within(p + xb_rank_probability(n, m, n * m - 1 - u), 1.0, 1e-12, "the sum");
            before = p;
        }
        assert_true(xb_rank_probability(n, m, n * m) == 1.0);
        assert_true(xb_rank_probability(n, m, n * m + 1) == 1.0);
        assert_within(before + xb_rank_least_probability(n, m), 1.0, 1e-12, "the last step");
    }
}

/* The same recurrence with python3, but in whole numbers: what rounding adds shows here. */
TEST(tails_of_large_sets_are_exact)
{
    static const struct {
        size_t n, m, u;
        double expected;
    } rows[] = {
        {100, 100, 0, 1.1043803465997514e-59},    {100, 100, 1, 2.2087606931995028e-59},
        {100, 100, 50, 1.4312449021632262e-53},   {100, 100, 1000, 2.8723550143618725e-27},
        {100, 100, 2000, 9.196194317150158e-15},  {100, 100, 3000, 3.385765332249088e-07},
        {100, 100, 3500, 0.00011050617210445985}, {100, 100, 4000, 0.007188544260578844},
        {100, 100, 4500, 0.11140684020349743},    {100, 100, 4999, 0.4995137141327081},
        {37, 100, 0, 2.562432662705838e-34},      {37, 100, 300, 1.3701438878888055e-17},
        {100, 37, 900, 1.0411067952788257e-06},   {37, 100, 1400, 0.014446396432381253},
        {37, 100, 1849, 0.49903732096764967},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_within(xb_rank_probability(rows[i].n, rows[i].m, rows[i].u), rows[i].expected, 1e-12,
                      "P");
}

/*
 * Orders with U = u are the partitions of u into at most n parts of at most m; with 100 a side that
 * is all partitions for u up to 100. Their numbers, by Euler's product, are whole and exact.
 */
TEST(far_tail_counts_partitions)
{
    uint64_t partitions[101] = {1};
    for (size_t part = 1; part <= 100; part++) {
        for (size_t u = part; u <= 100; u++)
            partitions[u] += partitions[u - part];
    }
    assert_int_equal(partitions[100], 190569292);
    uint64_t sum = 0;
    for (size_t u = 0; u <= 100; u++) {
        sum += partitions[u];
        if (u % 10 == 0)
            assert_within(xb_rank_probability(100, 100, u) / xb_rank_least_probability(100, 100),
                          (double)sum, 1e-12, "a number of partitions");
    }
}

/* Mean n m / 2, variance n m (n + m + 1) / 12, half a step added. */
TEST(large_sets_are_nearly_normal)
{
    static const size_t rows[] = {4000, 4200, 4400, 4600, 4800, 4999, 5001, 5200, 5500, 6000};
    double deviation = sqrt(100.0 * 100.0 * 201.0 / 12.0);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        double z = ((double)rows[i] + 0.5 - 5000.0) / deviation;
        assert_within(xb_rank_probability(100, 100, rows[i]), 0.5 * erfc(-z / sqrt(2.0)), 0.02,
                      "P");
    }
}

/*
 * Tables of critical values in textbooks (two-sided 5 %, one-sided 5 % and 1 %) give the largest U
 * that rejects, one less than c. Each was counted again in whole numbers with python3.
 */
TEST(critical_values_are_those_of_the_tables)
{
    static const struct {
        size_t n, m;
        double alpha;
        size_t rejecting;
    } rows[] = {
        {5, 5, 0.025, 2},    {8, 8, 0.025, 13}, {10, 10, 0.025, 23},    {5, 10, 0.025, 8},
        {8, 8, 0.01, 9},     {5, 5, 0.01, 1},   {12, 20, 0.05, 77},     {20, 20, 0.025, 127},
        {20, 20, 0.01, 114}, {3, 3, 0.05, 0},   {100, 100, 0.01, 4049}, {100, 100, 0.025, 4197},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_int_equal(xb_rank_critical(rows[i].n, rows[i].m, rows[i].alpha),
                         rows[i].rejecting + 1);
        assert_int_equal(xb_rank_critical(rows[i].m, rows[i].n, rows[i].alpha),
                         rows[i].rejecting + 1);
    }
}

TEST(critical_value_follows_its_definition)
{
    static const double alphas[] = {1e-9, 0.001, 0.005, 0.01, 0.025, 0.05,
                                    0.1,  0.3,   0.5,   0.7,  0.99};
    for (size_t n = 1; n <= 11; n++) {
        for (size_t m = 1; m <= 11; m++) {
            for (size_t i = 0; i < COUNT_OF(alphas); i++) {
                size_t c = xb_rank_critical(n, m, alphas[i]);
                assert_true(c <= n * m);
                if (c > 0)
                    assert_true(xb_rank_probability(n, m, c - 1) <= alphas[i]);
                if (c < n * m)
                    assert_true(xb_rank_probability(n, m, c) > alphas[i]);
            }
        }
    }
    assert_int_equal(xb_rank_critical(4, 4, 0.01), 0);
    assert_int_equal(xb_rank_critical(1, 1, 0.0), 0);
    assert_int_equal(xb_rank_critical(1, 1, 1.0), 1);
    assert_int_equal(xb_rank_critical(5, 7, 2.0), 35);
    assert_int_equal(xb_rank_critical(100, 100, 1.2e-59), 1);
    assert_int_equal(xb_rank_critical(100, 100, 1.1e-59), 0);
}

/* P(U <= u) of one value against 99 is (u + 1) / 100, and an alpha in per cent is reached. */
TEST(equality_rejects)
{
    for (size_t percent = 1; percent < 50; percent++)
        assert_int_equal(xb_rank_critical(1, 99, (double)percent / 100.0), percent);
    assert_int_equal(xb_rank_critical(3, 3, 0.05), 1);
    assert_int_equal(xb_rank_critical(3, 3, 0.1), 2);
    assert_int_equal(xb_rank_critical(3, 3, nextafter(0.05, 0.0)), 0);
    assert_int_equal(xb_rank_critical(3, 3, 0.2), 3);
}

TEST(least_probability_is_one_order)
{
    assert_true(xb_rank_least_probability(1, 1) == 0.5);
    assert_true(xb_rank_least_probability(5, 5) == 1.0 / 252.0);
    assert_true(xb_rank_least_probability(8, 8) == 1.0 / 12870.0);
    assert_true(xb_rank_least_probability(25, 25) == 1.0 / 126410606437752.0);
    assert_true(xb_rank_least_probability(100, 1) == 1.0 / 101.0);
    assert_true(xb_rank_least_probability(1, 100) == 1.0 / 101.0);
    assert_within(xb_rank_least_probability(100, 100), 1.1043803465997514e-59, 3e-14, "P");
    assert_within(xb_rank_least_probability(37, 100), 2.562432662705838e-34, 3e-14, "P");
    assert_true(xb_rank_least_probability(37, 100) == xb_rank_least_probability(100, 37));
}

TEST(enough_values_can_gate)
{
    static const struct {
        size_t tests;
        double alpha;
        size_t expected;
    } rows[] = {
        {1, 0.05, 3},
        {2, 0.05, 4},
        {3, 0.05, 4},
        {4, 0.05, 5},
        {12, 0.05, 5},
        {13, 0.05, 6},
        {46, 0.05, 6},
        {47, 0.05, 7},
        {171, 0.05, 7},
        {172, 0.05, 8},
        {643, 0.05, 8},
        {644, 0.05, 9},
        {1, 0.5, 1},
        {0, 0.05, 1},
        {128, 0.01, 8},
        {129, 0.01, 9},
        /* alpha / tests is 1 / C(2 k, k) itself. */
        {2, 0.1, 3},
        {7, 0.1, 4},
        {8, 0.1, 5},
        {3, 0.15, 3},
        {4, 0.15, 4},
        {1287, 0.1, 8},
        {1288, 0.1, 9},
        {46189, 0.25, 10},
        {156009, 0.015, 13},
        {156010, 0.015, 14},
        {8223903, 0.205, 14}, /* in doubles alpha times C(28, 14) is less */
        {11433231, 0.285, 14},
        /* The end of what 100 values can do. */
        {1, 1.1043803465997514e-59, 100},
        {1, 1.1043803465e-59, 0},
        {1, 1e-60, 0},
        {1, 0.0, 0},
        {SIZE_MAX, 0.05, 36},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        size_t needed = xb_rank_values_needed(rows[i].tests, rows[i].alpha);
        if (needed != rows[i].expected)
            fail_msg("%zu tests at %g need %zu, not %zu", rows[i].tests, rows[i].alpha,
                     rows[i].expected, needed);
    }
}

/* Whole numbers: the differences are -4, -1, 1, 1, 4, 5, 6, 8, 10, and 1, 1, 2, 3, 3, 3, 3, 2, 1,
 * 1 of the 20 orders have U = 0, 1, ... 9. */
TEST(shift_by_hand)
{
    const double first[] = {15, 10, 12};
    const double second[] = {11, 20, 16};
    static const struct {
        double alpha, low, high, tail;
    } rows[] = {
        {0.001, -4, 10, 1.0 / 20}, {0.049, -4, 10, 1.0 / 20}, {0.05, -4, 10, 0.05},
        {0.099, -4, 10, 0.099},    {0.1, -1, 8, 0.1},         {0.2, 1, 6, 0.2},
        {0.34, 1, 6, 0.34},        {0.35, 1, 5, 0.35},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct xb_shift shift = xb_shift_estimate(first, 3, second, 3, rows[i].alpha);
        assert_true(shift.estimate == 4.0);
        assert_true(shift.low == rows[i].low && shift.high == rows[i].high);
        assert_true(shift.tail == rows[i].tail);
    }
    const double two[] = {1, 0};
    const double other[] = {5, 3};
    assert_true(xb_shift_estimate(two, 2, other, 2, 0.05).estimate == 3.5); /* of 2, 3, 4, 5 */
    assert_true(xb_shift_estimate(two, 1, other, 2, 0.05).estimate == 3.0); /* of 2, 4 */
    assert_true(xb_shift_estimate(two, 1, other, 1, 0.05).low == 4.0);
    assert_true(xb_shift_estimate(two, 1, other, 1, 0.05).high == 4.0);
    assert_true(xb_shift_estimate(two, 1, other, 1, 0.05).tail == 0.5);
    assert_true(xb_shift_estimate(two, 1, other, 1, 0.5).tail == 0.5);
}

/*
 * The example of Hollander, Wolfe and Chicken, table 4.1 (water's way through a membrane), with
 * what they give for it: P = 0.1272, estimate -0.305, and -0.76 to 0.15 at 96 %.
 */
TEST(shift_of_the_textbook)
{
    const double first[] = {0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46};
    const double second[] = {1.15, 0.88, 0.90, 0.74, 1.21};
    struct xb_shift shift = xb_shift_estimate(first, 10, second, 5, 0.02);
    assert_true(fabs(shift.estimate + 0.305) < 1e-12);
    assert_true(fabs(shift.low + 0.76) < 1e-12);
    assert_true(fabs(shift.high - 0.15) < 1e-12);
    assert_true(fabs(xb_shift_probability(first, 10, second, 5, 0.0) - 0.1272) < 0.00005);
}

/* Differences that are all the same, up to the last one that a table has room for. */
TEST(largest_sets_are_taken)
{
    double first[XB_RANK_LARGEST];
    double second[XB_RANK_LARGEST];
    for (size_t i = 0; i < XB_RANK_LARGEST; i++) {
        first[i] = 1.0 + (double)(i % 2);
        second[i] = 3.0 + (double)(i % 2);
    }
    struct xb_shift shift = xb_shift_estimate(first, 100, second, 100, 0.01);
    assert_true(shift.estimate == 2.0);
    assert_true(shift.low == 2.0 && shift.high == 2.0 && shift.tail == 0.01); /* ranks 4050, 5951 */
    assert_true(xb_shift_estimate(first, 100, second, 100, 1e-10).low == 1.0);
    assert_true(xb_shift_estimate(first, 100, second, 100, 1e-10).high == 3.0);
    assert_true(xb_shift_probability(first, 100, second, 100, 3.5) ==
                xb_rank_least_probability(100, 100));
    assert_true(xb_shift_probability(first, 100, second, 100, 1.0) == 1.0);
}

TEST(ties_count_against_rejecting)
{
    const double first[] = {5, 5, 5};
    const double second[] = {7, 7, 7};
    assert_true(xb_shift_probability(first, 3, second, 3, 2.0) == 1.0);
    assert_true(xb_shift_probability(first, 3, second, 3, nextafter(2.0, 3.0)) == 0.05);
    assert_true(xb_shift_probability(first, 3, second, 3, nextafter(2.0, 1.0)) == 1.0);
    /* "2 or less" against "more": the sides exchanged. */
    assert_true(xb_shift_probability(second, 3, first, 3, -2.0) == 1.0);
    assert_true(xb_shift_probability(second, 3, first, 3, nextafter(-2.0, 0.0)) == 0.05);
    /* One tie of nine pairs: as U = 1, not 0 and not 1/2. */
    const double low[] = {1, 2, 3};
    const double high[] = {3, 4, 5};
    assert_true(xb_shift_probability(high, 3, low, 3, 0.0) == 0.1);
}

/* A step of Knuth's generator, high bits only: small whole numbers, many of them equal. */
static double next_value(uint64_t *state, unsigned range)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)((*state >> 33) % range) / 8.0;
}

/* The bounds at alpha and P are two views of one test, also where values are equal. */
TEST(bounds_and_probability_agree)
{
    static const double alphas[] = {0.005, 0.01, 0.025, 0.05, 0.1, 0.2};
    uint64_t random = 1;
    size_t rejected = 0;
    for (size_t round = 0; round < 300; round++) {
        double first[9];
        double second[9];
        size_t n = 1 + round % 9;
        size_t m = 1 + round / 9 % 9;
        for (size_t i = 0; i < 9; i++) {
            first[i] = next_value(&random, round % 2 == 0 ? 12 : 1000000) * 0.1;
            second[i] = next_value(&random, round % 2 == 0 ? 12 : 1000000) * 0.1;
        }
        double alpha = alphas[round % COUNT_OF(alphas)];
        struct xb_shift shift = xb_shift_estimate(first, n, second, m, alpha);
        for (size_t i = 0; i < n * m && xb_rank_critical(n, m, alpha) > 0; i++) {
            double edge = second[i / n] - first[i % n];
            const double limits[] = {nextafter(edge, -INFINITY), edge, nextafter(edge, INFINITY)};
            for (size_t j = 0; j < COUNT_OF(limits); j++) {
                double limit = limits[j];
                bool less = xb_shift_probability(first, n, second, m, limit) <= alpha;
                bool more = xb_shift_probability(second, m, first, n, -limit) <= alpha;
                assert_int_equal(less, shift.high < limit);
                assert_int_equal(more, shift.low > limit);
                rejected += less;
            }
        }
    }
    assert_true(rejected > 500); /* of about 15,000: neither always nor never */
}

/*
 * Of all orders of two sides that do not differ, the share whose upper bound lies below 0 (and
 * whose lower bound lies above) is P(U <= c - 1), on the dot.
 */
TEST(bounds_miss_as_often_as_they_say)
{
    static const double alphas[] = {0.02, 0.05, 0.1, 0.25};
    for (size_t n = 2; n <= 5; n++) {
        for (size_t m = 2; m <= 5; m++) {
            for (size_t i = 0; i < COUNT_OF(alphas); i++) {
                size_t total = 0;
                size_t below = 0;
                size_t above = 0;
                double first[5];
                double second[5];
                for (unsigned seconds = 0; seconds < 1U << (n + m); seconds++) {
                    if (!has_bits(seconds, m))
                        continue;
                    (void)order_of(seconds, n, m, first, second);
                    struct xb_shift shift = xb_shift_estimate(first, n, second, m, alphas[i]);
                    total++;
                    below += shift.high < 0.0;
                    above += shift.low > 0.0;
                }
                size_t c = xb_rank_critical(n, m, alphas[i]);
                double share = xb_rank_probability(n, m, c > 0 ? c - 1 : 0);
                assert_true((double)below / (double)total == share);
                assert_true((double)above / (double)total == share);
            }
        }
    }
}

TEST(exchange_turns_the_sign)
{
    const double first[] = {3.1, 2.7, 8.8, 4.2, 5.0, 6.1, 0.3};
    const double second[] = {4.4, 1.9, 7.3, 9.9, 2.2};
    struct xb_shift there = xb_shift_estimate(first, 7, second, 5, 0.05);
    struct xb_shift back = xb_shift_estimate(second, 5, first, 7, 0.05);
    assert_true(there.estimate == -back.estimate);
    assert_true(there.low == -back.high && there.high == -back.low);
    assert_true(there.tail == back.tail);
    assert_true(there.low < there.estimate && there.estimate < there.high);
}

TEST(holm_by_hand)
{
    /* In order: 4 * 0.005, 3 * 0.01, 2 * 0.03, and 1 * 0.04, which is less than the one before. */
    double four[] = {0.01, 0.04, 0.03, 0.005};
    const double expected[] = {0.03, 0.06, 0.06, 0.02};
    xb_holm_adjust(four, 4);
    for (size_t i = 0; i < 4; i++)
        assert_within(four[i], expected[i], 1e-15, "an adjusted P");

    double equal[] = {0.125, 0.5, 0.125, 0.125};
    const double of_equal[] = {0.5, 0.5, 0.5, 0.5};
    xb_holm_adjust(equal, 4);
    assert_memory_equal(equal, of_equal, sizeof equal);

    double large[] = {0.75, 1.0, 0.25};
    const double of_large[] = {1.0, 1.0, 0.75};
    xb_holm_adjust(large, 3);
    assert_memory_equal(large, of_large, sizeof large);

    double one = 0.3;
    xb_holm_adjust(&one, 1);
    assert_true(one == 0.3);
    xb_holm_adjust(NULL, 0);
}
