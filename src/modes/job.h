/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "trip.h"

/* --way, --gpu-time, --job-out, and how long a job takes. */
extern const struct xb_option xb_option_way, xb_option_gpu_time, xb_option_job_out;
extern const struct xb_figure xb_job_time;

/* So many chunks are under way when chunks overlap: one comes in, one is computed on, one leaves,
 * and one more keeps all three busy where they do not take the same time. On an H200 double-buffer
 * came to 96 % of its bound with three and to 99 % with four
 * (bench/results/h200/double-buffer.json, double-buffer-4.json). */
#define XB_JOB_QUEUES 4u

/* The proof that all of a job arrived, was computed on, and came back. */

struct xb_job_proof {
    const struct xb_trip *trip;
    unsigned long long seed;
    struct xb_buffer *piece; /* on the host, where less comes back than goes in; else NULL */
};

/* Another pattern than the input's: what the device's buffer holds beside it, before and after
 * prepare. */
struct xb_pattern xb_job_beside(unsigned long long seed, bool is_after);

/* Adds what is wrong, as xb_proof_conclude takes it. Blocks. */
enum xb_status xb_job_check(struct xb_queue *queue, const struct xb_job_proof *proof,
                            struct xb_mismatch *all, struct xb_mismatch *spots,
                            struct xb_error *error);
