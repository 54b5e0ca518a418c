/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/terminal.h"
#include "page.h"
#include "record/shown_parameters.h"
#include "xferbench/error.h"
#include "xferbench/record.h"

/*
 * The cases of a record as pictures show them: a group is what stands in one picture (a direction
 * of a device, or of the pairs), a way is one of its curves: cases that differ in nothing but their
 * size. Only cases with a figure are in it. However many cases a file has, there are not more than
 * so many.
 */
#define XB_WAY_GROUPS 12
#define XB_WAYS 40 /* in a group */

struct xb_way {
    const struct xb_record_case **cases; /* by rising size */
    size_t count;
};

struct xb_way_group {
    const struct xb_record_case *first; /* of its cases: it tells what all have in common */
    struct xb_way ways[XB_WAYS];
    size_t count;
    size_t left_out; /* cases of further ways */
};

struct xb_ways {
    const struct xb_record *record;
    struct xb_parameters parameters; /* that tell ways apart */
    struct xb_way_group *groups;
    size_t count;
    size_t left_out; /* cases of further groups */
};

/* The figure that a case is about, in GB/s or microseconds (xb_way_unit), its interval NAN where
 * there is none. False: it has no such figure. */
bool xb_way_value(const struct xb_record *record, const struct xb_record_case *test,
                  struct xb_statistics *value);
/* Whether that is a rate, of which more is better; false: a time. */
bool xb_way_is_rate(const struct xb_record_case *test);
/* "GB/s" or "us". */
const char *xb_way_unit(const struct xb_record_case *test);
/* A cell: "55.31 to 55.38", or "-" for NAN. */
void xb_way_put_interval(struct xb_page *page, double low, double high);

/* "pinned registered", with the parameters that tell it from others; and of a pair its devices. */
const char *xb_way_name(struct xb_page *page, const struct xb_ways *ways,
                        const struct xb_record_case *test);
/* "Host to device", "Both ways at once, device 1", "Latency, host to device". */
const char *xb_way_group_name(struct xb_page *page, const struct xb_ways *ways,
                              const struct xb_way_group *group);

typedef void xb_way_group_write(struct xb_page *page, const struct xb_ways *ways,
                                const struct xb_way_group *group);
/* Says what the levels mean, and writes each group that passes; nothing where none does. Returns
 * how many cases are left out because they are of further groups. */
size_t xb_ways_write(struct xb_page *page, const struct xb_record *record,
                     bool (*passes)(const struct xb_way_group *group), xb_way_group_write *write);

/* The largest and the smallest size in the group. */
uint64_t xb_way_group_largest(const struct xb_way_group *group);
uint64_t xb_way_group_smallest(const struct xb_way_group *group);
/* The case of that size; NULL: the way has none. */
const struct xb_record_case *xb_way_case(const struct xb_way *way, uint64_t bytes);

/* What the link of the group's device carries in its direction, in GB/s: raw, and of a program's
 * data. Those that are not known, and of data that crosses no such link or not only that, are left
 * out. Returns how many levels there are. */
#define XB_WAY_LEVELS 2
size_t xb_way_group_levels(const struct xb_ways *ways, const struct xb_way_group *group,
                           struct xb_plot_level *levels);

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
