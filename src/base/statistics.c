/* SPDX-License-Identifier: Apache-2.0 */
#include "statistics.h"

#include "memory.h"

#include <math.h>
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

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;
    return (a > b) - (a < b);
}

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
    size_t low = 0;
    size_t high = 0;
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

enum xb_status xb_statistics_compute(const double *values, size_t count,
                                     struct xb_statistics *statistics, struct xb_error *error)
{
    double *sorted = xb_try(count, sizeof *sorted);
    if (sorted == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to sort %zu samples", count);
    memcpy(sorted, values, count * sizeof *sorted);
    *statistics = xb_statistics_of(sorted, count);
    free(sorted);
    return XB_OK;
}

enum xb_status xb_statistics_compute_groups(const double *values, const size_t *sizes, size_t count,
                                            struct xb_statistics *statistics,
                                            struct xb_error *error)
{
    size_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += sizes[i];
    if (total == 0)
        return XB_FAIL(error, XB_ERR_INTERNAL, "there are no samples to describe");
    double *sorted = xb_try(total + count, sizeof *sorted);
    if (sorted == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to sort %zu samples", total);
    memcpy(sorted, values, total * sizeof *sorted);
    double *medians = sorted + total;
    for (size_t i = 0, at = 0; i < count; at += sizes[i], i++)
        medians[i] = xb_median_of(sorted + at, sizes[i]);
    struct xb_statistics of_groups = xb_statistics_of(medians, count);
    *statistics = xb_statistics_of(sorted, total);
    statistics->has_interval = of_groups.has_interval;
    statistics->ci95_low = of_groups.ci95_low;
    statistics->ci95_high = of_groups.ci95_high;
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
