/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_CLI_DEADLINE_H
#define XFERBENCH_CLI_DEADLINE_H

#include "xferbench/run.h"

/*
 * Keeps the deadline of a run where a call of the driver does not return. The runner looks at the
 * clock between calls and needs nobody for that; a thread of its own watches it, and where the
 * program is still at work XB_DEADLINE_GRACE_S past the deadline it writes what is measured, says
 * on stderr what did not end, and ends the process.
 *
 * The thread never reads what the runner may be writing: it has a copy of the run, renewed under a
 * lock when a case has ended. A call that returns after all finds the lock taken, and waits for the
 * end of the process.
 */
#define XB_DEADLINE_GRACE_S 5.0

/* Writes a run, of which every result is final, everywhere it was asked for; returns whether that
 * worked. Called in the watching thread; the caller's own thread is stuck. */
typedef bool xb_deadline_write(void *argument, const struct xb_run *run);

/* Begins to watch, where `deadline` is not 0. Without that all that follows does nothing. */
XB_MUST_CHECK enum xb_status xb_deadline_watch(double deadline, struct xb_error *error);

/* What is done from here on, as in "looking for devices"; static text. NULL: nothing that hangs in
 * a driver; it is given the time that it takes. */
void xb_deadline_doing(const char *what);

/* From here on cases of the run are measured, and `write` is called where one of them hangs. */
XB_MUST_CHECK enum xb_status xb_deadline_measuring(const struct xb_run *run,
                                                   xb_deadline_write *write, void *argument,
                                                   struct xb_error *error);

/* More of its results are final. */
void xb_deadline_finished(const struct xb_run *run);

#endif
