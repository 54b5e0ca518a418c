/* SPDX-License-Identifier: Apache-2.0 */
#include "statistics.h"

#include "memory.h"
#include "order.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CONFIDENCE_TAIL 0.025 /* the probability on each side of a 95 % interval */

enum xb_status xb_samples_add(struct xb_samples *samples, double value, struct xb_error *error)
{
    if (samples->count == samples->capacity) {
        size_t capacity = samples->capacity > 0 ? 2 * samples->capacity : 64;
        double *grown = realloc(samples->values, capacity * sizeof *grown);
        if (grown == NULL)
            return XB_FAIL(error, XB_ERR_MEMORY, "no memory for %zu samples", capacity);
        samples->values = grown;
        samples->capacity = capacity;
    }
    samples->values[samples->count++] = value;
    return XB_OK;
}

void xb_samples_free(struct xb_samples *samples)
{
    free(samples->values);
    *samples = (struct xb_samples){0};
}

XB_COMPARER(compare, double, XB_ORDER(*a, *b))

double xb_median_of(double *values, size_t count)
{
    if (count == 0)
        return 0.0;
    qsort(values, count, sizeof *values, compare);
    double upper = values[count / 2];
    return count % 2 == 1 ? upper : (values[count / 2 - 1] + upper) / 2.0;
}

/* The quantile of type 7 in Hyndman and Fan, "Sample quantiles in statistical packages", 1996. */
static double quantile_of_sorted(const double *sorted, size_t count, double p)
{
    double position = (double)(count - 1) * p;
    size_t below = (size_t)position;
    if (below + 1 >= count)
        return sorted[count - 1];
    return sorted[below] + (position - (double)below) * (sorted[below + 1] - sorted[below]);
}

struct xb_statistics xb_statistics_of(double *values, size_t count)
{
    struct xb_statistics s = {.n = count, .median = xb_median_of(values, count)};
    size_t low = 0, high = 0;
    s.has_interval = xb_interval_ranks(count, &low, &high);
    if (s.has_interval) {
        s.ci95_low = values[low - 1];
        s.ci95_high = values[high - 1];
    }
    s.min = values[0];
    s.max = values[count - 1];
    s.p5 = quantile_of_sorted(values, count, 0.05);
    s.p95 = quantile_of_sorted(values, count, 0.95);
    s.p99 = quantile_of_sorted(values, count, 0.99);
    for (size_t i = 0; i < count; i++)
        values[i] = fabs(values[i] - s.median);
    s.mad = xb_median_of(values, count);
    return s;
}

enum xb_status xb_statistics_compute_groups(const double *values, const size_t *sizes, size_t count,
                                            struct xb_statistics *statistics,
                                            struct xb_error *error)
{
    const size_t groups = sizes != NULL ? count : 0;
    size_t total = sizes != NULL ? 0 : count;
    for (size_t i = 0; i < groups; i++)
        total += sizes[i];
    if (total == 0)
        return XB_FAIL(error, XB_ERR_INTERNAL, "there are no samples to describe");
    struct xb_statistics of_groups = {.n = 0};
    double *sorted = xb_try(total + groups, sizeof *sorted);
    if (sorted == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to sort %zu samples", total);
    double *medians = sorted + total;
    memcpy(sorted, values, total * sizeof *sorted);
    for (size_t i = 0, at = 0; i < groups; at += sizes[i], i++)
        medians[i] = xb_median_of(sorted + at, sizes[i]);
    if (groups > 0)
        of_groups = xb_statistics_of(medians, groups);
    *statistics = xb_statistics_of(sorted, total);
    if (groups > 0) {
        statistics->has_interval = of_groups.has_interval;
        statistics->ci95_low = of_groups.ci95_low;
        statistics->ci95_high = of_groups.ci95_high;
    }
    free(sorted);
    return XB_OK;
}

/* Adds up C(n, 0), C(n, 1), ... until the sum passes 0.025 * 2^n. From n = 1030 on, C(n, k) exceeds
 * the range of a double, so term and sum share a power of two as a factor; scaling by it rounds
 * nothing. At n = 10^6 the relative error of the sum is at most 2e-10 (three roundings in each of n
 * / 2 steps). Up to there no sum comes nearer than 4e-10 to the bound, so the ranks are exact. */
bool xb_interval_ranks(size_t n, size_t *low, size_t *high)
{
    double term = 1.0; /* C(n, rank) */
    double sum = 1.0;  /* P(Binomial(n, 1/2) < rank + 1) once multiplied by 2^exponent */
    long exponent = -(long)n;
    size_t rank = 0;
    if (n < 6)
        return false;
    while (scalbln(sum, exponent) <= CONFIDENCE_TAIL) {
        term *= (double)(n - rank) / (double)(rank + 1);
        rank++;
        sum += term;
        if (sum > 0x1p500) {
            term *= 0x1p-500;
            sum *= 0x1p-500;
            exponent += 500;
        }
    }
    *low = rank;
    *high = n + 1 - rank;
    return true;
}

/* ---- a change in a row of values ---- */

/* Orders in which the values are looked at. Fewer are enough for the level among 40 long rows, and
 * counting does not take seconds. */
#define ORDERS 9999
#define ORDERS_OF_LONG 4999
#define LONG 200
#define HITS_ENOUGH 250 /* so many orders as extreme: chance it is */

/* The largest, over all cuts, of |2 * (sum of the first t ranks) - t * (count + 1)|, which for
 * parts of a row by chance is 0 in the mean, by its standard deviation but for a factor that all
 * cuts share. */
static double statistic_of(const double *ranks, size_t count)
{
    double n = (double)count, sum = 0.0, most = 0.0;
    for (size_t t = 1; t + XB_CHANGE_SIDE <= count; t++) {
        double before = (double)t;
        sum += ranks[t - 1];
        double size = 2.0 * sum - before * (n + 1.0);
        /* Squares, because they need no root. */
        if (t >= XB_CHANGE_SIDE)
            most = fmax(most, size * size / (before * (n - before)));
    }
    return most;
}

/* The share of orders that are at least as extreme, the row's own among them. They are of Knuth's
 * MMIX generator ("The Art of Computer Programming" 2, 3.3.4): the same orders each time, so that a
 * report of the same files says the same. */
static double probability_of(double *ranks, size_t count, double statistic)
{
    const size_t most = count > LONG ? ORDERS_OF_LONG : ORDERS;
    uint64_t state = 1;
    size_t hits = 1, orders = 1;
    while (orders <= most && hits < HITS_ENOUGH) {
        for (size_t i = count; i > 1; i--) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            size_t other = (size_t)((state >> 32) * i >> 32);
            double rank = ranks[i - 1];
            ranks[i - 1] = ranks[other];
            ranks[other] = rank;
        }
        orders++;
        hits += statistic_of(ranks, count) >= statistic; /* sums of halves are exact */
    }
    return (double)hits / (double)orders;
}

/* The sum of the distances of the values from their median, which is *median. */
static double spread_of(const double *values, size_t count, double *room, double *median)
{
    double sum = 0.0;
    memcpy(room, values, count * sizeof *room);
    *median = xb_median_of(room, count);
    for (size_t i = 0; i < count; i++)
        sum += fabs(values[i] - *median);
    return sum;
}

struct xb_change xb_change_find(const double *values, size_t count, size_t rows)
{
    struct xb_change change = {.probability = 1.0};
    if (count < 2 * (size_t)XB_CHANGE_SIDE || count > XB_CHANGE_VALUES)
        return change;
    double *ranks = xb_new(count, sizeof *ranks);
    /* Ranks from 1; equal values share the mean of theirs. */
    for (size_t i = 0; i < count; i++) {
        size_t less = 0, equal = 0;
        for (size_t k = 0; k < count; k++) {
            less += values[k] < values[i];
            equal += values[k] == values[i];
        }
        ranks[i] = (double)less + ((double)equal + 1.0) / 2.0;
    }
    change.is_tested = true;
    change.probability = probability_of(ranks, count, statistic_of(ranks, count));
    change.is_there = change.probability * (double)rows <= XB_CHANGE_LEVEL;
    double least = (double)INFINITY;
    for (size_t t = XB_CHANGE_SIDE; change.is_there && t + XB_CHANGE_SIDE <= count; t++) {
        double before, after;
        double sum =
            spread_of(values, t, ranks, &before) + spread_of(values + t, count - t, ranks, &after);
        if (sum < least) {
            least = sum;
            change.at = t;
            change.before = before;
            change.after = after;
        }
    }
    free(ranks);
    return change;
}
