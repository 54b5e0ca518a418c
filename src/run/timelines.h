/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_RUN_TIMELINES_H
#define XFERBENCH_RUN_TIMELINES_H

#include "base/output.h"
#include "base/stream.h"
#include "measure/run.h"
#include "trace/chrome.h"

#include <pthread.h>

/*
 * Where timelines go: each is written and drawn when its case has ended, and freed, so that no more
 * than one is in memory. What is drawn waits for the table. Zero-initialise.
 */
struct xb_timelines {
    struct xb_output *output; /* of --trace; its stream is NULL where that is not given */
    struct xb_chrome chrome;
    struct xb_memory_text drawn; /* its stream is NULL where --timeline is not given */
    size_t taken;                /* of the run's results */
    pthread_mutex_t lock; /* held while a case is written: --deadline may end the run meanwhile */
    bool has_begun, has_failed;
    struct xb_error failure; /* the first */
};

XB_MUST_CHECK enum xb_status xb_timelines_begin(struct xb_timelines *timelines,
                                                const struct xb_run *run, struct xb_output *output,
                                                struct xb_error *error);
/* Takes the timelines of the results that are final since the last call. */
void xb_timelines_take(struct xb_timelines *timelines, const struct xb_run *run);
/* Ends and commits the trace, and prints what was drawn. Says so and returns false where a part of
 * it failed; the file is then as it was. */
bool xb_timelines_end(struct xb_timelines *timelines, const struct xb_run *run);
void xb_timelines_free(struct xb_timelines *timelines);

#endif
