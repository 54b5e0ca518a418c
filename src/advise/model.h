/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/terminal.h"
#include "record/record.h"

/* The names of modes and variants that advice rests on: no other place of this room has them. */

/* How a job can be done. */
enum xb_strategy {
    XB_STRATEGY_PAGEABLE,   /* ordinary memory, the driver's copies, one step after the other */
    XB_STRATEGY_RING,       /* ordinary memory through a page-locked ring of host threads */
    XB_STRATEGY_PINNED,     /* page-locked memory, one step after the other */
    XB_STRATEGY_OVERLAPPED, /* page-locked memory in chunks, all three steps at once */
    XB_STRATEGY_MANAGED,    /* from here on in place, without copies: pages move on faults */
    XB_STRATEGY_PREFETCH,   /* pages move on request, one step after the other */
    XB_STRATEGY_ZERO_COPY,  /* page-locked memory, which the kernel reads and writes */
    XB_STRATEGIES
};

/* Where a job's data lies, or has to: words of --memory. */
enum xb_job_memory { XB_JOB_PAGEABLE, XB_JOB_PINNED, XB_JOB_MANAGED, XB_JOB_MEMORIES };
#define XB_JOB_MEMORY_USUAL "pageable"
extern const char *const xb_memory_words[];
const char *xb_memory_word(int memory);

struct xb_strategy_words {
    const char *name; /* also the variant of the mode that runs such a job, and its word of --way */
    const char *way;  /* for people: "pinned, overlapped" */
    const char *text; /* "pinned memory, copies and kernels overlapped" */
    enum xb_job_memory memory;
    const char *left_out; /* what its time is without; NULL for nothing */
};
extern const struct xb_strategy_words xb_strategy_words[XB_STRATEGIES];

/* What things cost that a prediction is made of. */
enum xb_cost_kind {
    XB_COST_PAGEABLE_IN,
    XB_COST_PAGEABLE_OUT,
    XB_COST_RING_IN,
    XB_COST_RING_OUT,
    XB_COST_PINNED_IN,
    XB_COST_PINNED_OUT,
    XB_COST_PINNED_BOTH, /* as much in and out at once */
    XB_COST_REGISTER,    /* page-locking memory that is in use */
    XB_COST_COPY_IN,     /* through page-locked memory: the host copies, then the device */
    XB_COST_COPY_OUT,
    XB_COST_COPY_ROOM, /* making that memory */
    XB_COST_FAULT_IN,
    XB_COST_FAULT_OUT,
    XB_COST_PREFETCH_IN,
    XB_COST_PREFETCH_OUT,
    XB_COST_ZERO_COPY_IN, /* kernels that read so much over the link, write it, or both at once */
    XB_COST_ZERO_COPY_OUT,
    XB_COST_ZERO_COPY_BOTH,
    XB_COSTS
};

/* The rows that tell a cost. */
struct xb_cost_source {
    const char *mode;
    const char *variants[4]; /* ends with NULL; one of them counts */
    const char *direction;   /* NULL: any */
    bool is_setup;           /* what counts is setup_time and not the copy */
    bool is_by_device;       /* the device copies, and no CPU has a part in it */
    const char *only[4];     /* parameters and the only value of each that counts; NULL: any */
};
extern const struct xb_cost_source xb_cost_sources[XB_COSTS];

/* With these words `run` measures all rows, for data in each memory: without a kernel to work in
 * place, and with one. Each ends with NULL. */
extern const char *const xb_rows_words[XB_JOB_MEMORIES][2][7];
/* The mode that runs whole jobs. */
extern const char xb_job_mode[];

/* What copies cost, from measured rows: time over bytes, for each cost a line from measured size to
 * measured size. Only rows count that are ok, whose data was verified, of one device alone. */

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
    bool has_others;     /* rows of other settings, which do not count */
    bool is_by_device;   /* as in struct xb_cost_source */
    const char *lacking; /* why there are no points, of a row that was skipped; NULL: no such row */
};

struct xb_costs {
    int device;            /* whose rows count */
    uint64_t memory_bytes; /* that it has; 0: not known */
    struct xb_cost costs[XB_COSTS];
    struct xb_arena *points; /* of all of them */
    /* Bytes per second of each way when both are in use, at the largest size; 0: not measured. */
    double both_in, both_out;
};

/* Fills in what the record tells, which has to outlive the costs. For each cost the rows of one
 * setting count (a variant and its parameters), because a program has one: of the settings near the
 * device, or of all where none is, that with the most sizes; of several the one that is fastest at
 * its largest. */
void xb_costs_read(struct xb_costs *costs, const struct xb_record *record);
void xb_costs_free(struct xb_costs *costs);

/* From this size on a copy's time grows with its bytes: such a row tells the rate of any larger. */
#define XB_COST_LARGE (UINT64_C(16) << 20)

/* Whether rows tell what that many bytes cost: there are some, and the largest is large or an
 * eighth of it. 0 bytes are always known. */
bool xb_cost_is_known(const struct xb_cost *cost, uint64_t bytes);

/* Seconds of one operation alone, or behind another one, of a cost that is known; 0 for 0 bytes.
 * Between two measured sizes on the line through both, beyond the largest what that takes and the
 * further bytes by its rate, below the smallest its share of that and the start of a copy, with
 * wide bounds. */
double xb_cost_seconds(const struct xb_cost *cost, uint64_t bytes, bool is_alone,
                       enum xb_estimate estimate);
/* How long the call blocks that starts such a copy: of the nearest size. 0: not measured. */
double xb_cost_call(const struct xb_cost *cost, uint64_t bytes);

/* The row of that size, else of the next larger, else the largest; NULL where there is none. */
const struct xb_record_case *xb_cost_row(const struct xb_cost *cost, uint64_t bytes);
/* On which rows it rests: "pinned registered h2d: between rows of 256 MiB and 512 MiB". */
void xb_cost_basis(const struct xb_cost *cost, uint64_t bytes, struct xb_words *words);
