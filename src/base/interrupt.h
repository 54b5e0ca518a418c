/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/* After this call the first SIGINT, SIGTERM or SIGHUP is only noted, so that the run can write its
 * results. Another signal within a second counts as the same request, which often arrives twice:
 * from timeout(1), from somebody who signals all processes at once, or from a parent that passes it
 * on. A later signal kills as usual. A write to a closed pipe, or beyond the limit of a file's
 * size, now fails instead of killing the process. */
void xb_interrupt_catch(void);

/* Like xb_interrupt_catch, but notes a second request too; the third kills. */
void xb_interrupt_catch_twice(void);

/* The signal that was caught first, or 0 if none was. */
int xb_interrupt_signal(void);

/* How many requests were noted. */
int xb_interrupt_count(void);

/* Sets when waiting ends without a signal, on the clock of src/base/clock.h; at first never. This
 * is for code that waits but knows no run, such as a compiler. Call it before there are threads. */
void xb_interrupt_set_deadline(double when);

/* Whether to stop waiting, because a signal was caught or the deadline has come. */
bool xb_interrupt_is_due(void);
