/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_RUN_PROGRESS_H
#define XFERBENCH_RUN_PROGRESS_H

#include "measure/run.h"

/* A line on stderr that tells what is measured, when stderr is a terminal and the work is long. */
struct xb_progress {
    bool enabled;
    bool shown;
    double begin, last;
};
void xb_progress_start(struct xb_progress *progress, bool enabled);
/* An observer's callback; the argument is the struct xb_progress. */
void xb_progress_show(void *argument, const struct xb_run *run, size_t samples, double bandwidth);
/* The same for a process that begins, the `number`th of `total`; `role` may be NULL. */
void xb_progress_show_process(struct xb_progress *progress, size_t number, size_t total,
                              const char *role);
void xb_progress_clear(struct xb_progress *progress);

#endif
