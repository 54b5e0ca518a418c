/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MEASURE_SHARES_H
#define XFERBENCH_MEASURE_SHARES_H

#include "xferbench/stage.h"
#include "xferbench/timeline.h"

/* The shares of an iteration's time in which a stage was at work, and in which it waited between
 * its first beginning and its last end. */
struct xb_shares {
    double busy, wait;
};

/* Whether the span is the stage's own work: neither a call that enqueues it nor a wait. */
bool xb_stage_does(const struct xb_stage *stage, const struct xb_timeline_span *span);

/*
 * A device's stage is at work while any queue works for it. The host's has the mean of its threads
 * (timeline->workers), those included that found nothing to do. Where operations were left out the
 * shares are wrong: what is missing counts as waiting. XB_ERR_MEMORY only.
 */
XB_MUST_CHECK enum xb_status xb_stage_shares(const struct xb_stage *stage,
                                             const struct xb_timeline *timeline,
                                             struct xb_shares *shares, struct xb_error *error);

#endif
