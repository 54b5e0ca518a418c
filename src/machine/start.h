/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MACHINE_START_H
#define XFERBENCH_MACHINE_START_H

#include "barrier.h"
#include "clock_state.h"

/* When measuring begins: at once, or at a time that several nodes have agreed on. */

enum xb_start_by { XB_START_AT_ONCE, XB_START_AT_TIME, XB_START_AT_BARRIER };

/* When to begin. */
struct xb_start_request {
    enum xb_start_by by;
    double at;                 /* AT_TIME: on the clock of base/day_time.h */
    struct xb_barrier barrier; /* AT_BARRIER */
    double deadline;           /* waits no longer than this, on base/clock.h's clock; 0: none */
};

/* How it began. Zeroed: nothing has begun. */
struct xb_start {
    enum xb_start_by by;
    double asked; /* the agreed time; 0: none */
    double began; /* when measuring began; 0: it did not */
    struct xb_clock_state clock;
};

/* A later start gets a warning. */
#define XB_START_LATE_S 0.1

/*
 * Waits for the time or for the others, and notes when measuring begins, which is now. XB_OK also
 * where a signal or the deadline ended the wait for a time: then nothing has begun, and whoever
 * measures finds out why. The errors of xb_barrier_meet().
 */
XB_MUST_CHECK enum xb_status xb_start_wait(const struct xb_start_request *request,
                                           struct xb_start *start, struct xb_error *error);

/*
 * A warning for an agreed start: this node began `late_s` after it (NAN: not known), or nothing
 * keeps its clock. NULL for none; else in `text`, which holds XB_START_WARNING bytes.
 */
#define XB_START_WARNING 256
const char *xb_start_warning(double late_s, const struct xb_clock_state *clock, char *text);

/* "start-at", "barrier"; NULL for at once. */
const char *xb_start_by_name(enum xb_start_by by);

#endif
