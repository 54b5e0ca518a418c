/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_RUN_PROGRESS_H
#define XFERBENCH_RUN_PROGRESS_H

#include "eta.h"
#include "live_rows.h"
#include "measure/run.h"

/*
 * What stderr shows while the work is long, when it is a terminal: the cases that are done
 * (live_rows.h), and below them a line that tells what is measured and when it will be done.
 */
struct xb_progress {
    bool enabled;
    bool shown; /* the line is */
    double begin, last;
    bool is_planned; /* these are known: */
    struct xb_eta eta;
    struct xb_live_rows rows;
};
void xb_progress_start(struct xb_progress *progress, bool enabled);
/* Tells the plan, before it begins. Without it no rows are shown, and nothing of the time left. */
void xb_progress_plan(struct xb_progress *progress, const struct xb_run *run);
/* An observer's callback; the argument is the struct xb_progress. */
void xb_progress_show(void *argument, const struct xb_run *run, size_t samples, double bandwidth);
/* More results of the planned run are final. */
void xb_progress_finished(struct xb_progress *progress, const struct xb_run *run);

/* Of several processes the one that begins. */
struct xb_progress_process {
    size_t number, total; /* it is the `number`th of so many of its role */
    const char *role;     /* NULL for none */
    size_t done, all;     /* of all roles together */
    double deadline;      /* 0 for none */
};
/* The line for it. */
void xb_progress_show_process(struct xb_progress *progress,
                              const struct xb_progress_process *process);
/* Wipes everything out. */
void xb_progress_clear(struct xb_progress *progress);

#define XB_PROGRESS_LINE 256
/* What a line of progress says. */
struct xb_progress_text {
    size_t number, total;
    const char *test; /* the case's name */
    size_t samples;   /* 0: it is warming up */
    double bandwidth; /* bytes per second */
    double left;      /* seconds; NAN where that is not known */
};
/* "[3/17] pinned registered h2d 1 GiB device 0: 9 samples, 55.34 GB/s, about 7 s left", in
 * `columns` at most: first the samples go, then the name is cut, then the rate goes. `line` holds
 * XB_PROGRESS_LINE. */
const char *xb_progress_text(const struct xb_progress_text *text, size_t columns, char *line);

#endif
