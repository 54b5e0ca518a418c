/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_RUN_ETA_H
#define XFERBENCH_RUN_ETA_H

#include "measure/run.h"

/*
 * When a run will be done: what was estimated of the cases that are left, scaled by how much longer
 * or shorter the cases took that are done. Zero-initialise.
 */
struct xb_eta {
    double guessed_done; /* seconds that were estimated of cases that are done, */
    double took;         /* and what those took */
    double guessed_left; /* of the others, the one at work included */
    double guessed_now;  /* of that one */
    double begun;        /* when it began, on the clock of src/base/clock.h */
    size_t taken;        /* of the run's results, so many are counted */
};

/* For a run that is planned and about to begin. */
void xb_eta_begin(struct xb_eta *eta, const struct xb_run *run, double now);
/* More results of it are final. */
void xb_eta_finished(struct xb_eta *eta, const struct xb_run *run, double now);

/* The seconds that are left, the deadline's at most; NAN as long as no case tells how fast it goes.
 */
double xb_eta_left(const struct xb_eta *eta, const struct xb_run *run, double now);

/* The same of equal parts, of which `done` took so many seconds and `left` are left. */
double xb_eta_of_parts(size_t done, double took, size_t left);

#define XB_ETA_TEXT 32
/* "4 s", "15 s", "2 min": no finer than an estimate is, and 1 s at least. `text` holds XB_ETA_TEXT.
 */
const char *xb_eta_duration(double seconds, char *text);
/* ", about 40 s left": as coarse as it is known. "" for NAN. `text` holds XB_ETA_TEXT. */
const char *xb_eta_text(double seconds, char *text);

#endif
