/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_REPORT_CHANGE_H
#define XFERBENCH_REPORT_CHANGE_H

#include "xferbench/error.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether a row of values changed, and where.
 *
 * Whether: by the maximally selected rank statistic (Lausen and Schumacher, Biometrics 48, 1992).
 * Of the ways to cut the row in two it takes the one whose parts differ most by ranks, for what
 * chance makes of parts of such sizes; so a change in the last few values is seen as well as one in
 * the middle. How likely it is that chance alone makes such a difference, at whatever place, is
 * counted in rows of the same values in another order: so the probability is right for few values
 * and for equal ones. It takes the values for independent, and finds one change; a slow drift looks
 * like one too.
 *
 * Where: at the cut that explains most, which is the one with the least sum of distances of the
 * values from the median of their part. (Ranks alone cannot tell the last value before a change
 * from the first after it.)
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

/* Of `count` values, at most XB_CHANGE_VALUES; one of `rows` rows that are looked at together.
 * XB_ERR_MEMORY. */
XB_MUST_CHECK enum xb_status xb_change_find(const double *values, size_t count, size_t rows,
                                            struct xb_change *change, struct xb_error *error);

#endif
