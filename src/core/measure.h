/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_CORE_MEASURE_H
#define XFERBENCH_CORE_MEASURE_H

#include "sampler.h"

#include "xferbench/run.h"

/* What measuring one case needs at hand. Zero-initialise what is below the line. */
struct xb_measurement {
    struct xb_run *run;
    const struct xb_run_observer *observer;
    struct xb_run_device *where; /* its link is noted while the device is still awake */
    struct xb_result *result;
    struct xb_mode_context context;
    double time_limit; /* seconds */
    /* ---- */
    struct xb_sampler sampler;
    uint64_t iterations; /* in one sample */
    bool held;
    struct xb_samples warm_up;
};

/*
 * Sets the case of measurement->result up, measures it, verifies it and takes it down again. The
 * result is final afterwards, whatever happened.
 */
void xb_measure(struct xb_measurement *measurement);

/* Makes the result an error row. */
void xb_result_fail(struct xb_result *result, const struct xb_error *error);
/* Makes it a skipped row. */
void xb_result_skip(struct xb_result *result, const char *reason);

#endif
