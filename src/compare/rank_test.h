/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* How far two small sets of independent values lie apart, however they are distributed: the
 * Mann-Whitney (Wilcoxon rank sum) test by its exact null distribution, and the Hodges-Lehmann
 * estimate with the interval of that test (Hollander, Wolfe and Chicken, "Nonparametric Statistical
 * Methods", 3rd ed., sections 4.1 to 4.3). */

/* The most values a side. */
#define XB_RANK_LARGEST 100

/* P(U <= u) where nothing but chance orders n and m values, for U, the number of pairs in which the
 * second side's value is the larger. Exact for values without ties. 1 <= n, m <= XB_RANK_LARGEST.
 */
double xb_rank_probability(size_t n, size_t m, size_t u);

/* The largest c with P(U <= c - 1) <= alpha: one-sided tests at alpha reject when fewer than c
 * pairs speak against it. 0 where even the most extreme order is likelier than alpha. */
size_t xb_rank_critical(size_t n, size_t m, double alpha);

/* 1 / C(n + m, n): the least P that the test can give. */
double xb_rank_least_probability(size_t n, size_t m);

/* The least k for which k values a side can gate `tests` tests at alpha: the least P is at most
 * alpha / tests, as Holm's first step asks. 0 where XB_RANK_LARGEST is not enough. */
size_t xb_rank_values_needed(size_t tests, double alpha);

/* How much larger the values of the second side are than those of the first. */
struct xb_shift {
    double estimate;  /* Hodges-Lehmann: the median of all pairwise differences */
    double low, high; /* bounds, each exceeded with a probability of at most `tail` */
    double tail;      /* alpha where `critical` allows it, else that of the outermost pairs */
};

/* Estimates the shift from `first` (n values) to `second` (m). The bounds are the critical-th
 * smallest and largest of the n * m differences; where xb_rank_critical gives none, the smallest
 * and the largest. */
struct xb_shift xb_shift_estimate(const double *first, size_t n, const double *second, size_t m,
                                  double alpha);

/* One-sided P for "the shift is `limit` or more" against "it is less": low where the second side
 * lies below first + limit. A tie counts against rejecting. For "`limit` or less" give the sides
 * exchanged and -limit. */
double xb_shift_probability(const double *first, size_t n, const double *second, size_t m,
                            double limit);

/* Adjusts `count` P values in place for being tested together (Holm, "A simple sequentially
 * rejective multiple test procedure", Scandinavian Journal of Statistics 6, 1979): where those that
 * are at most alpha are rejected, any of it is false with a probability of at most alpha. */
void xb_holm_adjust(double *probabilities, size_t count);
