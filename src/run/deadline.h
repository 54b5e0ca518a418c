/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "measure/run.h"

/*
 * Keeps the deadline of what is measured even if a call of the driver does not return. The runner
 * looks at the clock between calls. A second thread watches it too: if the program is still at work
 * XB_DEADLINE_GRACE_S after the deadline, that thread writes what is measured, says on stderr what
 * did not end, and ends the process. It never reads what the runner may be writing: it has a copy
 * of the run, renewed under a lock when a case has ended. A call that returns after all finds the
 * lock held, and waits for the end of the process.
 */
#define XB_DEADLINE_GRACE_S 5.0

/* Writes a run, of which every result is final, everywhere it was asked for; returns whether that
 * worked. Called in the watching thread; the caller's own thread is stuck. */
typedef bool xb_deadline_write(void *argument, const struct xb_run *run);

/* When a --deadline from now on ends, on the clock of src/base/clock.h; 0 for none. */
double xb_deadline_of(double seconds);

/* Begins to watch, also where waiting knows no run (xb_interrupt_is_due). For a deadline of 0
 * neither this nor the following does anything. `code`: the exit code if something hangs. */
enum xb_status xb_deadline_watch(double deadline, int code, struct xb_error *error);

/* Tells what is done from here on, such as "looking for devices"; static text. NULL: nothing that
 * can hang in a driver, so it may take as long as it takes. */
void xb_deadline_doing(const char *what);

/* Tells that cases of the run are measured from here on. `write` is called if one of them hangs. */
void xb_deadline_measuring(const struct xb_run *run, xb_deadline_write *write, void *argument);

/* Tells that more results of the run are final. */
void xb_deadline_finished(const struct xb_run *run);
