/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdio.h>

/* Writing to pipes and FIFOs whose reader may be late, slow or gone. `deadline` is on the clock of
 * src/base/clock.h, 0 for none. */

/*
 * Opens the FIFO `path` for writing. If it has no reader, says so once and waits for one. Returns
 * the descriptor, or -1 with errno set: EINTR if a signal came first, ETIMEDOUT if the deadline.
 */
int xb_fifo_open(const char *path, double deadline);

/*
 * Opens a stream on the pipe `fd`; closing the stream closes `fd`. A write fails with EINTR if a
 * signal comes while it waits for the reader. It fails with ETIMEDOUT if the reader reads nothing
 * until some seconds after `deadline`, or after the first write if that was later. Returns NULL if
 * there is no memory; `fd` then stays open.
 */
FILE *xb_pipe_stream(int fd, double deadline);
