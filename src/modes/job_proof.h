/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MODES_JOB_PROOF_H
#define XFERBENCH_MODES_JOB_PROOF_H

#include "job_layout.h"

/* The proof that all of a job arrived, was computed on, and came back. */

struct xb_job_proof {
    const struct xb_job_layout *layout;
    unsigned long long seed;
    uint64_t steps;             /* of the kernel, on every word */
    struct xb_buffer *in, *out; /* on the host; `out` is NULL where nothing comes back */
    struct xb_buffer *data;     /* on the device */
    struct xb_buffer *piece;    /* on the host, xb_job_piece_bytes of it, where less comes back than
                                   goes in; else NULL */
};

/* What did not come back is fetched in pieces of this length when all is done, to look at it. */
uint64_t xb_job_piece_bytes(const struct xb_job_layout *layout);

/* Another pattern than the input's: what the device's buffer holds beside it, before and after
 * prepare. */
struct xb_pattern xb_job_beside(unsigned long long seed, bool is_after);

/* Adds what is wrong, as xb_proof_conclude takes it. Blocks. */
XB_MUST_CHECK enum xb_status xb_job_check(struct xb_queue *queue, const struct xb_job_proof *proof,
                                          struct xb_mismatch *all, struct xb_mismatch *spots,
                                          struct xb_error *error);

#endif
