/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "model.h"

/* What is asked: work that a GPU could do in place of the CPU. */
struct xb_job {
    uint64_t in;     /* bytes to the device, 1 or more */
    uint64_t out;    /* bytes back, 0 for none */
    double gpu_time; /* of the kernels, in seconds; 0 for none */
    double cpu_time; /* the same work without a GPU; 0 where nobody asks */
    uint64_t times;  /* how often the job runs: what is paid once is divided by it */
    unsigned memory; /* enum xb_job_memory: where its data lies */
};

/* The same job `factor` times as large: bytes and times grow with it. Neither size falls to 0. */
struct xb_job xb_job_scaled(const struct xb_job *job, double factor);

/* Whether it can be done in place: a kernel works, and no more comes back than goes in. */
bool xb_job_fits_in_place(const struct xb_job *job);
/* With these words `run` measures all that predictions of the job need; the last is NULL. */
const char *const *xb_job_rows_words(const struct xb_job *job);

/* How long a job takes by each strategy. The formulas stand in docs/advise.md. */

/* Whether it is for such a job: data in ordinary memory may be taken to other, and no other. */
bool xb_strategy_is_asked(const struct xb_job *job, enum xb_strategy strategy);

/* What takes the largest part of the time. */
enum xb_limit_by {
    XB_LIMIT_COPY_IN,
    XB_LIMIT_KERNEL,
    XB_LIMIT_COPY_OUT,
    XB_LIMIT_COPIES, /* both ways at once */
    XB_LIMIT_CALLS,  /* that start copies and kernels */
    XB_LIMIT_LINK,   /* which the kernel reads and writes over */
    XB_LIMIT_PINNING
};

/* Why there is no prediction. */
enum xb_unknown {
    XB_UNKNOWN_ROWS,      /* some are missing */
    XB_UNKNOWN_LACKING,   /* the device cannot do what they are of */
    XB_UNKNOWN_SMALL,     /* too little comes in to cut it into chunks */
    XB_UNKNOWN_ONE_STEP,  /* nothing goes on beside the copy in */
    XB_UNKNOWN_IN_PLACE,  /* there is no kernel to work in place, or more comes back than goes in */
    XB_UNKNOWN_TOO_LARGE, /* the device has not as much memory */
    XB_UNKNOWN_NOT_ASKED  /* of other memory than the data's */
};

/* What was asked of a cost. */
struct xb_cost_use {
    enum xb_cost_kind kind;
    uint64_t bytes;
};
#define XB_COST_USES 8

struct xb_prediction {
    enum xb_strategy strategy;
    bool is_known;
    enum xb_unknown why;       /* it is not */
    enum xb_cost_kind missing; /* which rows are, and of what size */
    uint64_t missing_bytes;
    const char *lacking;          /* what the device lacks */
    double at_least;              /* seconds a run, of what is known of it */
    double total[XB_ESTIMATES];   /* seconds a run, everything included */
    bool has_ends;                /* rows told more than medians: the ends differ from these */
    double running[XB_ESTIMATES]; /* the same without getting data into the memory it needs */
    double in, kernel, out;       /* each step alone, seconds */
    double copies;                /* overlapped: both ways at once */
    double pinning[XB_ESTIMATES]; /* a run, of getting the data there */
    bool has_pinning;             /* that takes any time, because it is */
    bool is_copied;               /* copied there, and not page-locked where it lies */
    double by_cpu;                /* seconds of that which no run is spared: the CPU copies */
    uint64_t chunk;               /* overlapped: bytes that come in at a time; else 0 */
    enum xb_limit_by limit;
    double limit_seconds;
    struct xb_cost_use uses[XB_COST_USES]; /* what it rests on */
    size_t use_count;
    bool uses_both_ways; /* rows of copies both ways at once; false: none, or not needed */
    /* Overlapped: there are none. The time is one of copies that do not slow each other, and its
     * high end one of copies that go one after the other. */
    bool lacks_both_ways;
};

/* Whether it is not known for want of rows, and what is known of it takes less than `seconds`. */
bool xb_prediction_may_beat(const struct xb_prediction *prediction, double seconds);

void xb_predict(const struct xb_costs *costs, const struct xb_job *job, enum xb_strategy strategy,
                struct xb_prediction *prediction);

struct xb_predictions {
    struct xb_job job;
    struct xb_prediction each[XB_STRATEGIES];
    /* The fastest, or a simpler one that takes no 1 % longer; NULL where none is known. */
    const struct xb_prediction *best;
};

/* All strategies. */
void xb_predict_all(const struct xb_costs *costs, const struct xb_job *job,
                    struct xb_predictions *all);

/* The least of all that are known, in seconds; INFINITY where none is. */
double xb_predictions_least(const struct xb_predictions *all, enum xb_estimate estimate);

/* A size at which the outcome changes, in bytes of input. 0 where it is not known, or there is
 * none: the outcome stays the same to the end of what was looked at. */
struct xb_edge {
    double low, middle, high; /* `middle` only where both others are known */
};

/* Where GPU and CPU take as long, if bytes, GPU time and CPU time grow together. */
struct xb_break_even {
    bool is_known;         /* false: nothing can be predicted, or nobody asks */
    bool is_sure;          /* that the GPU wins somewhere, or nowhere */
    bool wins;             /* false: at no size looked at */
    struct xb_edge from;   /* the GPU may win from `low` on, and does from `high` on */
    struct xb_edge to;     /* up to `low` it does, and up to `high` it may */
    double least, most;    /* sizes looked at; 0 where there is an edge that way */
    bool fills_device;     /* `most` is as much as the device's memory holds */
    uint64_t smallest_row; /* its bytes */
};
struct xb_break_even xb_find_break_even(const struct xb_costs *costs, const struct xb_job *job);
