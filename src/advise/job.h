/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_ADVISE_JOB_H
#define XFERBENCH_ADVISE_JOB_H

#include <stdbool.h>
#include <stdint.h>

/* What is asked: work that a GPU could do in place of the CPU. */
struct xb_job {
    uint64_t in;       /* bytes to the device, 1 or more */
    uint64_t out;      /* bytes back, 0 for none */
    double gpu_time;   /* of the kernels, in seconds; 0 for none */
    double cpu_time;   /* the same work without a GPU; 0 where nobody asks */
    uint64_t times;    /* how often the job runs: what is paid once is divided by it */
    bool is_in_pinned; /* where its data lies: in page-locked memory, or in ordinary memory */
};

/* The same job `factor` times as large: bytes and times grow with it. Neither size falls to 0. */
struct xb_job xb_job_scaled(const struct xb_job *job, double factor);

#endif
