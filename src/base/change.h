/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether a row of values changed, and where: docs/report.md, "Changes by date", tells by which
 * test. It counts rows of the same values in another order, so the probability is right for few
 * values and for equal ones. Ranks alone cannot tell the last value before a change from the first
 * after it: the place is the cut with the least sum of distances of the values from the median of
 * their part.
 */

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
