/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The names of modes and variants that advice rests on: the one place of this room that has them.
 */

/* How a job can be done. */
enum xb_strategy {
    XB_STRATEGY_PAGEABLE,   /* ordinary memory, the driver's copies, one step after the other */
    XB_STRATEGY_RING,       /* ordinary memory through a page-locked ring of host threads */
    XB_STRATEGY_PINNED,     /* page-locked memory, one step after the other */
    XB_STRATEGY_OVERLAPPED, /* page-locked memory in chunks, all three steps at once */
    XB_STRATEGIES
};

struct xb_strategy_words {
    const char *name; /* also the variant of the mode that runs such a job, and its word of --way */
    const char *way;  /* for people: "pinned, overlapped" */
    const char *text; /* "pinned memory, copies and kernels overlapped" */
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
    XB_COST_REGISTER, /* page-locking memory that is in use */
    XB_COST_COPY_IN,  /* through page-locked memory: the host copies, then the device */
    XB_COST_COPY_OUT,
    XB_COST_COPY_ROOM, /* making that memory */
    XB_COSTS
};

/* The rows that tell a cost. */
struct xb_cost_source {
    const char *mode;
    const char *variants[4]; /* ends with NULL; one of them counts */
    const char *direction;   /* NULL: any */
    bool is_setup;           /* what counts is setup_time and not the copy */
    bool is_by_device;       /* the device copies, and no CPU has a part in it */
};
extern const struct xb_cost_source xb_cost_sources[XB_COSTS];

/* Rows that go both ways at once. */
extern const struct xb_cost_source xb_both_ways_source;

/* With these `run` measures all rows into one file; and those of data in page-locked memory. */
extern const char xb_all_rows_options[];
extern const char xb_pinned_rows_options[];

/* The mode that runs whole jobs, and the options of it that say which. */
extern const char xb_job_mode[];

/* Words of --memory. */
extern const char *const xb_memory_words[];
#define XB_MEMORY_WORD_USUAL "pageable"
#define XB_MEMORY_WORD_PINNED 1

/* Words that have `run` measure what a prediction needs. End with NULL. */
extern const char *const xb_copies_words[];
extern const char *const xb_both_ways_words[];
extern const char *const xb_pinning_words[];
