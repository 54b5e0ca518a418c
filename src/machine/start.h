/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/* When measuring begins: at once, or at a time that several nodes have agreed on. */

/* How well this node's clock is kept, from adjtimex(2), which changes nothing here. */
struct xb_clock_state {
    bool is_known;        /* false: the kernel does not tell, as in some containers */
    bool is_synchronised; /* chronyd, ntpd or the like keeps it */
    double error_s;       /* the clock's largest possible error, as the kernel estimates it */
};

/* How it began. Zeroed: nothing has begun. Times are on the clock of base/day_time.h. */
struct xb_start {
    double asked; /* the agreed time; 0: none */
    double began; /* when measuring began; 0: it did not */
    struct xb_clock_state clock;
};

/* A later start gets a warning. */
#define XB_START_LATE_S 0.1

/*
 * Waits for the time `at`, 0 for none, and notes when measuring begins, which is now. Where a
 * signal or the deadline (on the clock of base/clock.h, 0 for none) ends the wait, nothing has
 * begun, and whoever measures finds out why.
 */
void xb_start_wait(double at, double deadline, struct xb_start *start);

/*
 * A warning for an agreed start: this node began `late_s` after it (NAN: not known), or nothing
 * keeps its clock. NULL for none; else in `text`, which holds XB_START_WARNING bytes.
 */
#define XB_START_WARNING 256
const char *xb_start_warning(double late_s, const struct xb_clock_state *clock, char *text);
