/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_ADVISE_MEASURE_H
#define XFERBENCH_ADVISE_MEASURE_H

#include "measure/run.h"
#include "predict.h"
#include "xferbench/record.h"

/* What advice has measured in this process. */
struct xb_advise_session {
    struct xb_run holder; /* the backend, its driver as long as it is open, and the deadline */
    char device[64];      /* a word of --device */
    bool is_cut;          /* the deadline came before all was measured */
};

/* The parts of a quick measurement: copies by each way, both ways at once, and page-locking. */
#define XB_ADVISE_RECORDS 3

/* Measures what predictions of the job need; *count records are there then, also after a failure.
 */
XB_MUST_CHECK enum xb_status xb_advise_measure(struct xb_advise_session *session,
                                               const struct xb_job *job,
                                               struct xb_record records[XB_ADVISE_RECORDS],
                                               size_t *count, struct xb_error *error);

/*
 * Runs the job itself, by every strategy that the job's mode knows. `file`: NULL, or the record
 * whose machine and device have to be these; XB_ERR_USAGE where they are others, before anything is
 * measured.
 */
XB_MUST_CHECK enum xb_status xb_advise_check(struct xb_advise_session *session,
                                             const struct xb_job *job, const char *gpu_time,
                                             uint64_t chunk, const struct xb_record *file,
                                             int device, struct xb_record *record,
                                             struct xb_error *error);

#endif
