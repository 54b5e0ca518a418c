/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/error.h"

#include <stdbool.h>

/* Samples in the order in which they were taken. Zero-initialise; release with xb_samples_free. */
struct xb_samples {
    double *values;
    size_t count;
    size_t capacity;
};

enum xb_status xb_samples_add(struct xb_samples *samples, double value, struct xb_error *error);
void xb_samples_free(struct xb_samples *samples);

/* A description of n values, in their unit. No value is dropped. */
struct xb_statistics {
    size_t n;
    double median;              /* for an even n the mean of the two in the middle */
    bool has_interval;          /* n >= 6 */
    double ci95_low, ci95_high; /* of the median; xb_interval_ranks */
    double min, max;
    double p5, p95, p99; /* linear between closest ranks (Hyndman and Fan 1996, type 7) */
    double mad;          /* median absolute deviation from the median, not scaled */
};

/* Describes values without memory of its own, so it cannot fail: overwrites `values`. */
struct xb_statistics xb_statistics_of(double *values, size_t count);

/* Describes values in groups, one behind the other: sizes[i] >= 1 in the i-th. Groups differ by
 * more than what is within them, so the interval is that of the median of their medians: none for
 * `count` < 6. The rest describes the values. XB_ERR_MEMORY. Where `sizes` is NULL they are `count`
 * values, 1 or more, of no groups. */
enum xb_status xb_statistics_compute_groups(const double *values, const size_t *sizes, size_t count,
                                            struct xb_statistics *statistics,
                                            struct xb_error *error);
#define xb_statistics_compute(values, count, statistics, error)                                    \
    xb_statistics_compute_groups((values), NULL, (count), (statistics), (error))

/* Finds the ranks (1-based) of the order statistics that bound the median with at least 95 %
 * confidence: the largest l with P(Binomial(n, 1/2) < l) <= 0.025, and n + 1 - l (David and
 * Nagaraja, "Order Statistics", 3rd ed., section 7.1). False where n < 6 has none. */
bool xb_interval_ranks(size_t n, size_t *low, size_t *high);

/* The median alone; 0 for no values. Sorts `values`. */
double xb_median_of(double *values, size_t count);

/* Whether a row of values changed, and where (docs/report.md, "Changes by date"): by counting rows
 * of the same values in another order, so the probability is right for few values and equal ones.
 * The place is the cut with the least sum of distances of the values from the median of their part:
 * ranks alone cannot tell the last value before a change from the first after it. */
#define XB_CHANGE_SIDE 5     /* values that each part has at least */
#define XB_CHANGE_LEVEL 0.01 /* of a false change among all rows that are looked at together */
#define XB_CHANGE_VALUES 1000

struct xb_change {
    bool is_tested;       /* the row is long enough */
    bool is_there;        /* the probability is small enough */
    size_t at;            /* the first value after it */
    double probability;   /* of chance alone */
    double before, after; /* medians of both parts */
};

/* Judges a row of at most XB_CHANGE_VALUES values, one of `rows` that are looked at together. */
struct xb_change xb_change_find(const double *values, size_t count, size_t rows);
