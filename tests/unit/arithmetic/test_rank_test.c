/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"
#include "compare/rank_test.h"

#include <math.h>

/* ---- texts ---- */

static double next_to(const char *word)
{
    char text[64];
    size_t length = strlen(word) - 1;
    char last = word[length];
    if (last != '+' && last != '-')
        return number_of(word);
    snprintf(text, sizeof text, "%.*s", (int)length, word);
    return nextafter(number_of(text), last == '+' ? INFINITY : -INFINITY);
}

static void tell_tail(FILE *told, char **words)
{
    fprintf(told, "%.12g\n",
            xb_rank_probability(strtoul(words[1], NULL, 10), strtoul(words[2], NULL, 10),
                                strtoul(words[3], NULL, 10)));
}

static void tell_critical(FILE *told, char **words)
{
    size_t n = strtoul(words[1], NULL, 10), m = strtoul(words[2], NULL, 10);
    size_t critical = xb_rank_critical(n, m, next_to(words[3]));
    assert_int_equal(xb_rank_critical(m, n, next_to(words[3])), critical);
    fprintf(told, "%zu\n", critical);
}

static void tell_needed(FILE *told, char **words)
{
    fprintf(told, "%zu\n", xb_rank_values_needed(strtoul(words[1], NULL, 10), number_of(words[2])));
}

static size_t list_of(const char *text, double *values)
{
    size_t count = 1;
    for (const char *c = text; *c != '\0'; c++)
        count += *c == ',';
    for (size_t i = 0; i < count; i++)
        values[i] = number_of(item_of(text, i));
    return count;
}

static void tell_shift(FILE *told, char **words)
{
    double first[20], second[20];
    size_t n = list_of(words[1], first), m = list_of(words[2], second);
    if (strcmp(words[0], "less") == 0) {
        fprintf(told, "%.12g\n", xb_shift_probability(first, n, second, m, next_to(words[3])));
        return;
    }
    struct xb_shift shift = xb_shift_estimate(first, n, second, m, number_of(words[3]));
    fprintf(told, "%.12g from %.12g to %.12g at %.12g\n", shift.estimate, shift.low, shift.high,
            shift.tail);
}

static void tell_holm(FILE *told, char **words)
{
    double values[20];
    size_t count = 0;
    for (; words[1 + count] != NULL; count++)
        values[count] = number_of(words[1 + count]);
    xb_holm_adjust(values, count);
    for (size_t i = 0; i < count; i++)
        fprintf(told, "%.12g%s", values[i], i + 1 < count ? " " : "\n");
}

static const struct verb verbs[] = {
    {"tail", tell_tail},   {"critical", tell_critical}, {"needed", tell_needed},
    {"shift", tell_shift}, {"less", tell_shift},        {"holm", tell_holm},
    {NULL, NULL},
};
TEST_CASES(by_hand_and_by_textbooks, "arithmetic/rank_test", verbs, NULL)

/* ---- all orders ---- */

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
                    assert_true(fabs(xb_rank_probability(n, m, u) - expected) <= 1e-15);
            }
            assert_true(xb_rank_least_probability(n, m) == 1.0 / (double)total);
        }
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
}

/* P(U <= u) of one value against 99 is (u + 1) / 100, and an alpha in per cent is reached. */
TEST(equality_rejects)
{
    for (size_t percent = 1; percent < 50; percent++)
        assert_int_equal(xb_rank_critical(1, 99, (double)percent / 100.0), percent);
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
