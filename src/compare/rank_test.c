/* SPDX-License-Identifier: Apache-2.0 */
#include "rank_test.h"

#include "base/memory.h"
#include "base/order.h"
#include "base/statistics.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* How far, as a share, rounding may lift a figure above a bound that it equals. It is far too
 * narrow to matter to anybody's alpha. */
#define ROUNDING 1e-12

/* C(n + m, n), 9e58 at most. Exact up to 25 values a side; beyond, two roundings a step leave an
 * error of 3e-14 of it. */
static double orders(size_t n, size_t m)
{
    size_t fewer = n < m ? n : m;
    double count = 1.0;
    for (size_t i = 1; i <= fewer; i++)
        count = count * (double)(n + m - fewer + i) / (double)i;
    return count;
}

double xb_rank_least_probability(size_t n, size_t m)
{
    return 1.0 / orders(n, m);
}

/*
 * rows[j * (largest + 1) + u]: of all orders of i and j values, how many have U = u <= largest. The
 * largest of them all is either of the second side, and makes i pairs with the first, or of the
 * first and makes none (Mann and Whitney, Annals of Mathematical Statistics 18, 1947):
 *
 *     f(i, j, u) = f(i, j - 1, u - i) + f(i - 1, j, u)
 *
 * Row j holds f(i - 1, j, .) until it is added to. Nothing is ever subtracted, so that the least
 * tail is as good as the greatest count: every figure is a sum of positive ones, with n + m
 * roundings at most on the way to it, and below 2^53 with none.
 */
static void count_orders(double *rows, size_t n, size_t m, size_t largest)
{
    size_t width = largest + 1;
    for (size_t j = 0; j <= m; j++)
        rows[j * width] = 1.0;
    for (size_t i = 1; i <= n; i++)
        for (size_t j = 1; j <= m; j++) {
            const double *shorter = rows + (j - 1) * width;
            double *row = rows + j * width;
            size_t last = i * j < largest ? i * j : largest;
            for (size_t u = i; u <= last; u++)
                row[u] += shorter[u - i];
        }
}

/* The largest U whose count is stored, the middle for the largest n and m: the rest mirrors it. */
#define LARGEST_U ((XB_RANK_LARGEST * XB_RANK_LARGEST - 1) / 2)

/* P(U <= u) for every u up to (n * m - 1) / 2. Adding up at most 5000 counts leaves an error of
 * 6e-13 of the sum at most; up to 25 values a side P is the double nearest to the true one. It is
 * good until the next call, and kept for it: all cases of two files have as many processes. */
static const double *tail_of(size_t n, size_t m)
{
    static _Thread_local struct {
        size_t n, m;
        double tail[LARGEST_U + 1];
    } last;
    assert(n >= 1 && n <= XB_RANK_LARGEST && m >= 1 && m <= XB_RANK_LARGEST);
    if (last.n == n && last.m == m)
        return last.tail;
    size_t largest = (n * m - 1) / 2;
    size_t longer = n > m ? n : m;
    size_t shorter = n > m ? m : n; /* U is distributed alike for (n, m) and (m, n) */
    double *rows = xb_new((shorter + 1) * (largest + 1), sizeof *rows);
    count_orders(rows, longer, shorter, largest);

    const double *counts = rows + shorter * (largest + 1);
    double total = orders(n, m), sum = 0.0;
    for (size_t u = 0; u <= largest; u++) {
        sum += counts[u];
        last.tail[u] = sum / total;
    }
    last.n = n;
    last.m = m;
    free(rows);
    return last.tail;
}

double xb_rank_probability(size_t n, size_t m, size_t u)
{
    if (u >= n * m)
        return 1.0;
    /* U and n * m - U are distributed alike: no sum that passes 1. */
    size_t rest = n * m - 1 - u;
    const double *tail = tail_of(n, m);
    return rest < u ? 1.0 - tail[rest] : tail[u];
}

/* Compares without any slack, so that a P from xb_rank_probability is at most alpha exactly where
 * the bounds say so. Where P equals an alpha such as 0.05 (three values a side), both are the
 * double nearest to the same number. */
size_t xb_rank_critical(size_t n, size_t m, double alpha)
{
    size_t largest = (n * m - 1) / 2; /* u and what mirrors it, n * m - 1 - u, meet here */
    const double *tail = tail_of(n, m);
    size_t c = 0;
    while (c < n * m && (c <= largest ? tail[c] : 1.0 - tail[n * m - 1 - c]) <= alpha)
        c++;
    return c;
}

/* Neither alpha nor the product below is free of rounding: 0.1 and seven tests stand on the edge of
 * what four values a side can do, 1/70, and must not fall off it. */
size_t xb_rank_values_needed(size_t tests, double alpha)
{
    for (size_t k = 1; k <= XB_RANK_LARGEST; k++)
        if ((double)tests <= alpha * orders(k, k) * (1.0 + ROUNDING))
            return k;
    return 0;
}

/* The one place where it is taken: the bounds and U must see the same figure, bit by bit. */
static double difference(double first, double second)
{
    return second - first;
}

struct xb_shift xb_shift_estimate(const double *first, size_t n, const double *second, size_t m,
                                  double alpha)
{
    size_t critical = xb_rank_critical(n, m, alpha);
    size_t pairs = n * m;
    assert(pairs > 0);
    double *differences = xb_new(pairs, sizeof *differences);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++)
            differences[i * m + j] = difference(first[i], second[j]);
    size_t place = critical > 0 ? critical : 1;
    struct xb_shift shift = {.estimate = xb_median_of(differences, pairs)}; /* sorts them */
    shift.low = differences[place - 1];
    shift.high = differences[pairs - place];
    shift.tail = critical > 0 ? alpha : xb_rank_least_probability(n, m);
    free(differences);
    return shift;
}

/* P is at most alpha where fewer than the critical number of differences reach the limit, and that
 * is where the critical-th largest of them, xb_shift's `high`, lies below it. */
double xb_shift_probability(const double *first, size_t n, const double *second, size_t m,
                            double limit)
{
    size_t u = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++)
            u += difference(first[i], second[j]) >= limit;
    return xb_rank_probability(n, m, u);
}

struct ranked {
    double probability;
    size_t index;
};

XB_COMPARER(compare, struct ranked, XB_BY(probability))

void xb_holm_adjust(double *probabilities, size_t count)
{
    struct ranked *sorted = xb_new(count, sizeof *sorted);
    for (size_t i = 0; i < count; i++)
        sorted[i] = (struct ranked){.probability = probabilities[i], .index = i};
    qsort(sorted, count, sizeof *sorted, compare);

    /* The least is tested among all, the next among the rest, while each before is rejected. */
    double adjusted = 0.0;
    for (size_t i = 0; i < count; i++) {
        adjusted = fmax(adjusted, (double)(count - i) * sorted[i].probability);
        probabilities[sorted[i].index] = fmin(adjusted, 1.0);
    }
    free(sorted);
}
