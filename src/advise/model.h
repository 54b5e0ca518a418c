/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_ADVISE_MODEL_H
#define XFERBENCH_ADVISE_MODEL_H

#include "ways.h"
#include "xferbench/record.h"

/*
 * What copies cost, from measured rows: time over bytes, for each cost a line from measured size to
 * measured size. Only rows count that are ok, whose data was verified, of one device alone.
 */

/* Of a time: the middle is that of medians, the others of the ends of their 95 % intervals. */
enum xb_estimate { XB_LOW, XB_MIDDLE, XB_HIGH, XB_ESTIMATES };

struct xb_cost_point {
    uint64_t bytes;
    double alone[XB_ESTIMATES];  /* seconds of one operation until the host knows that it is done */
    double behind[XB_ESTIMATES]; /* seconds that it adds behind another one of its kind */
    double call;                 /* seconds for which the call that starts it blocks; 0: unknown */
    const struct xb_record_case *test; /* the row; belongs to the record */
};

#define XB_COST_POINTS 64
struct xb_cost {
    struct xb_cost_point points[XB_COST_POINTS]; /* by size, each size once */
    size_t count;
};

struct xb_costs {
    int device; /* whose rows count */
    struct xb_cost costs[XB_COSTS];
    /* Bytes per second of each way when both are in use, at the largest size; 0: not measured. */
    double both_in, both_out;
    const struct xb_record_case *both;
};

/* Adds what a record tells. It has to outlive the costs. */
void xb_costs_add(struct xb_costs *costs, const struct xb_record *record);

/* At sizes up to this a copy's time is how long it takes to start and to wait, whatever it moves:
 * the time of the smallest row stands for anything smaller. */
#define XB_COST_SMALL (UINT64_C(64) << 10)

/* Whether rows tell what that many bytes cost: there are some, and none but a small one is larger
 * than all that is asked. 0 bytes are always known. */
bool xb_cost_is_known(const struct xb_cost *cost, uint64_t bytes);

/*
 * Seconds, of a cost that is known; 0 for 0 bytes. Between two measured sizes on the line through
 * both, beyond the largest by its rate, below the smallest what the smallest takes.
 */
double xb_cost_alone(const struct xb_cost *cost, uint64_t bytes, enum xb_estimate estimate);
double xb_cost_behind(const struct xb_cost *cost, uint64_t bytes, enum xb_estimate estimate);
/* How long the call blocks that starts such a copy: of the nearest size. 0: not measured. */
double xb_cost_call(const struct xb_cost *cost, uint64_t bytes);

#define XB_COST_TEXT 160
/* On which rows it rests: "pinned registered h2d: rows of 256 MiB and 512 MiB". */
const char *xb_cost_basis(const struct xb_cost *cost, uint64_t bytes, char *text, size_t size);

#endif
