/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/* After this call SIGINT, SIGTERM and SIGHUP are only noted, once or twice, so that the run can
 * write its results; a later one kills as usual. One within a second is the same request, which
 * often arrives twice: from timeout(1), or from a parent that passes it on. A write to a closed
 * pipe, or beyond a file's largest size, fails instead of killing the process. */
#define xb_interrupt_catch() xb_interrupt_catch_times(1)
#define xb_interrupt_catch_twice() xb_interrupt_catch_times(2)
void xb_interrupt_catch_times(int requests);

/* The signal that was caught first, or 0 if none was. */
int xb_interrupt_signal(void);

/* How many requests were noted. */
int xb_interrupt_count(void);

/* Sets when waiting ends without a signal (clock.h), for code that knows no run, such as a
 * compiler. Call it before there are threads. */
void xb_interrupt_set_deadline(double when);

/* Whether to stop waiting, because a signal was caught or the deadline has come. */
bool xb_interrupt_is_due(void);
