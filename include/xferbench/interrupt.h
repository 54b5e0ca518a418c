/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_INTERRUPT_H
#define XFERBENCH_INTERRUPT_H

/*
 * From here on the first SIGINT, SIGTERM or SIGHUP is only noted, so that the run can write what it
 * has; a second one kills as usual. A write to a closed pipe or past a file's limit fails from here
 * on instead of killing.
 */
void xb_interrupt_catch(void);

/* The signal that was caught, 0 for none yet. */
int xb_interrupt_signal(void);

#endif
