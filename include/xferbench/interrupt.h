/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_INTERRUPT_H
#define XFERBENCH_INTERRUPT_H

#include <stdbool.h>

/*
 * From here on the first SIGINT, SIGTERM or SIGHUP is only noted, so that the run can write what it
 * has. One that comes within a second of it is the same request, which often arrives twice: from
 * timeout(1), from whoever signals all processes at once, from a parent that passes it on. A later
 * one kills as usual. A write to a closed pipe or past a file's limit fails from here on instead of
 * killing.
 */
void xb_interrupt_catch(void);

/* The same, but a second request is only noted as well; the third kills. */
void xb_interrupt_catch_twice(void);

/* The signal that was caught first, 0 for none yet. */
int xb_interrupt_signal(void);

/* How many requests were noted. */
int xb_interrupt_count(void);

/* When waiting ends without a signal, on the clock of src/core/clock.h. For what waits deep down
 * and knows no run: a compiler. To be set before there is a second thread; never where it is not
 * set. */
void xb_interrupt_set_deadline(double when);

/* Whether a signal was caught, or that deadline has come: nothing more is to be waited for. */
bool xb_interrupt_is_due(void);

#endif
