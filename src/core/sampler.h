/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_CORE_SAMPLER_H
#define XFERBENCH_CORE_SAMPLER_H

#include "xferbench/mode.h"

/* Takes one timed repetition of a case, with the device's clock and the host's. */
struct xb_sampler {
    struct xb_mode_context *context;
    struct xb_event *start, *stop;
    struct xb_event **joins; /* one a queue but the first */
};

/* What one repetition of `iterations` iterations took, in seconds, all of them together. */
struct xb_timing {
    double device; /* between the events around it */
    double submit; /* host: until the last submit returned */
    double wall;   /* host: from the first submit until the data was there */
};

XB_MUST_CHECK enum xb_status xb_sampler_open(struct xb_sampler *sampler,
                                             struct xb_mode_context *context,
                                             struct xb_error *error);
void xb_sampler_close(struct xb_sampler *sampler);

/*
 * Submits `iterations` iterations and waits for them. With `held` the queues stand still until all
 * is enqueued, so that enqueuing is no part of timing->device; timing->wall then means nothing and
 * is 0. Never held for what may block in submit.
 */
XB_MUST_CHECK enum xb_status xb_sampler_take(struct xb_sampler *sampler, uint64_t iterations,
                                             bool held, struct xb_timing *timing,
                                             struct xb_error *error);

#endif
