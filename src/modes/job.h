/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "shared_options.h"

/* --way, --gpu-time, --job-out, and how long a job takes. */
extern const struct xb_option xb_option_way, xb_option_gpu_time, xb_option_job_out;
extern const struct xb_figure xb_job_time;

/* So many chunks are under way when chunks overlap: one comes in, one is computed on, one leaves,
 * and one more keeps all three busy where they do not take the same time. On an H200 double-buffer
 * came to 96 % of its bound with three and to 99 % with four
 * (bench/results/h200/double-buffer.json, double-buffer-4.json). */
#define XB_JOB_QUEUES 4u

/*
 * How a job's input and output lie in chunks: chunk i of the input goes into a slot of the device's
 * buffer, and what comes back of it is the slot's beginning. Each chunk brings its share of the
 * output, in whole words but for the last, so that chunks can be sent, computed and fetched apart.
 */
struct xb_job_layout {
    uint64_t in, out;      /* bytes of the whole */
    uint64_t chunk, count; /* of the input; chunk is a multiple of 8 */
    uint64_t stride;       /* from slot to slot: where no more comes back than went in, `chunk` */
    uint64_t device_bytes; /* of all slots */
};

struct xb_job_part {
    struct xb_chunk in, out; /* on the host; `out` may be empty */
    uint64_t device_offset;  /* of the slot; a multiple of 8 */
};

/* `in` is 1 or more. A chunk that is longer than the input makes one chunk. */
struct xb_job_layout xb_job_lay_out(uint64_t in, uint64_t out, uint64_t chunk);
struct xb_job_part xb_job_part_at(const struct xb_job_layout *layout, uint64_t index);

/* The proof that all of a job arrived, was computed on, and came back. */

struct xb_job_proof {
    const struct xb_job_layout *layout;
    unsigned long long seed;
    uint64_t steps;             /* of the kernel, on every word */
    struct xb_buffer *in, *out; /* on the host; `out` is NULL where nothing comes back */
    struct xb_buffer *data;     /* on the device */
    struct xb_buffer *piece;    /* on the host, where less comes back than goes in; else NULL */
};

/* Another pattern than the input's: what the device's buffer holds beside it, before and after
 * prepare. */
struct xb_pattern xb_job_beside(unsigned long long seed, bool is_after);

/* Adds what is wrong, as xb_proof_conclude takes it. Blocks. */
XB_MUST_CHECK enum xb_status xb_job_check(struct xb_queue *queue, const struct xb_job_proof *proof,
                                          struct xb_mismatch *all, struct xb_mismatch *spots,
                                          struct xb_error *error);
