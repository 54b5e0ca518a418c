/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/terminal.h"
#include "ways.h"
#include "xferbench/record.h"

/*
 * What copies cost, from measured rows: time over bytes, for each cost a line from measured size to
 * measured size. Only rows count that are ok, whose data was verified, of one device alone.
 */

/* A time: from the medians, and from both ends of their 95 % intervals. */
enum xb_estimate { XB_LOW, XB_MIDDLE, XB_HIGH, XB_ESTIMATES };

struct xb_cost_point {
    uint64_t bytes;
    double alone[XB_ESTIMATES];  /* seconds of one operation until the host knows that it is done */
    double behind[XB_ESTIMATES]; /* seconds that it adds behind another one of its kind */
    double call;                 /* seconds for which the call that starts it blocks; 0: unknown */
    size_t rows;                 /* of setup_time: it is their mean */
    const struct xb_record_case *test; /* the row; belongs to the record */
};

struct xb_cost {
    struct xb_cost_point *points; /* by size, each size once */
    size_t count;
    bool has_others;   /* rows of other settings, which do not count */
    bool is_by_device; /* as in struct xb_cost_source */
};

struct xb_costs {
    int device;            /* whose rows count */
    uint64_t memory_bytes; /* that it has; 0: not known */
    struct xb_cost costs[XB_COSTS];
    /* Bytes per second of each way when both are in use, at the largest size; 0: not measured. */
    double both_in, both_out;
    const struct xb_record_case *both;
};

/*
 * Fills in what the records tell, which have to outlive the costs. For each cost the rows of one
 * setting count (a variant and its parameters), because a program has one: of the settings near the
 * device, or of all where none is, that with the most sizes; of several the one that is fastest at
 * its largest. XB_ERR_MEMORY; *costs has to be freed then, too.
 */
XB_MUST_CHECK enum xb_status xb_costs_read(struct xb_costs *costs, const struct xb_record *records,
                                           size_t count, struct xb_error *error);
void xb_costs_free(struct xb_costs *costs);

/* From this size on a copy's time grows with its bytes: such a row tells the rate of any larger. */
#define XB_COST_LARGE (UINT64_C(16) << 20)

/* Whether rows tell what that many bytes cost: there are some, and the largest is large or an
 * eighth of it. 0 bytes are always known. */
bool xb_cost_is_known(const struct xb_cost *cost, uint64_t bytes);

/*
 * Seconds, of a cost that is known; 0 for 0 bytes. Between two measured sizes on the line through
 * both, beyond the largest what that takes and the further bytes by its rate, below the smallest
 * its share of that and the start of a copy, with wide bounds.
 */
double xb_cost_alone(const struct xb_cost *cost, uint64_t bytes, enum xb_estimate estimate);
double xb_cost_behind(const struct xb_cost *cost, uint64_t bytes, enum xb_estimate estimate);
/* How long the call blocks that starts such a copy: of the nearest size. 0: not measured. */
double xb_cost_call(const struct xb_cost *cost, uint64_t bytes);

/* On which rows it rests: "pinned registered h2d: between rows of 256 MiB and 512 MiB". */
void xb_cost_basis(const struct xb_cost *cost, uint64_t bytes, struct xb_words *words);
