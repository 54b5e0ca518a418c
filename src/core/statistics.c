/* SPDX-License-Identifier: Apache-2.0 */
#include "xferbench/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CONFIDENCE_TAIL 0.025 /* on either side of a 95 % interval */

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

static double median_of_sorted(const double *sorted, size_t count)
{
    double upper = sorted[count / 2];
    return count % 2 == 1 ? upper : (sorted[count / 2 - 1] + upper) / 2.0;
}

double xb_median_of(double *values, size_t count)
{
    if (count == 0)
        return 0.0;
    qsort(values, count, sizeof *values, compare);
    return median_of_sorted(values, count);
}

/* Type 7 of Hyndman and Fan, "Sample quantiles in statistical packages", 1996. */
static double quantile_of_sorted(const double *sorted, size_t count, double p)
{
    double position = (double)(count - 1) * p;
    size_t below = (size_t)position;
    if (below + 1 >= count)
        return sorted[count - 1];
    return sorted[below] + (position - (double)below) * (sorted[below + 1] - sorted[below]);
}

enum xb_status xb_statistics_compute(const double *values, size_t count,
                                     struct xb_statistics *statistics, struct xb_error *error)
{
    double *sorted = malloc(count * sizeof *sorted);
    if (sorted == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to sort %zu samples", count);
    memcpy(sorted, values, count * sizeof *sorted);

    struct xb_statistics s = {.n = count, .median = xb_median_of(sorted, count)};
    size_t low = 0;
    size_t high = 0;
    s.has_interval = xb_interval_ranks(count, &low, &high);
    if (s.has_interval) {
        s.ci95_low = sorted[low - 1];
        s.ci95_high = sorted[high - 1];
    }
    s.min = sorted[0];
    s.max = sorted[count - 1];
    s.p5 = quantile_of_sorted(sorted, count, 0.05);
    s.p95 = quantile_of_sorted(sorted, count, 0.95);
    for (size_t i = 0; i < count; i++)
        sorted[i] = fabs(sorted[i] - s.median);
    s.mad = xb_median_of(sorted, count);
    *statistics = s;
    free(sorted);
    return XB_OK;
}

enum xb_status xb_latency_compute(const struct xb_samples *times, struct xb_latency *latency,
                                  struct xb_error *error)
{
    size_t count = times->count;
    double *sorted = malloc(count * sizeof *sorted);
    if (sorted == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to sort %zu times", count);
    memcpy(sorted, times->values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare);
    *latency = (struct xb_latency){.n = count,
                                   .min = sorted[0],
                                   .p50 = quantile_of_sorted(sorted, count, 0.50),
                                   .p95 = quantile_of_sorted(sorted, count, 0.95),
                                   .p99 = quantile_of_sorted(sorted, count, 0.99),
                                   .max = sorted[count - 1]};
    free(sorted);
    return XB_OK;
}

/*
 * Adds up C(n, 0), C(n, 1), ... until the sum passes 0.025 * 2^n. Term and sum carry a common power
 * of two, because C(n, k) leaves a double's range from n = 1030 on; scaling by a power of two
 * rounds nothing. At n = 10^6 the sum is off by 2e-10 of its value at most (three roundings for
 * each of n / 2 steps), and no n up to there has a sum that comes nearer than 4e-10 to the bound.
 */
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
