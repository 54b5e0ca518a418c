/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "output.h"

/* Shared by output_file.c (which kind of file, opening, closing), output_replace.c (regular files)
 * and output_pipe.c (pipes and FIFOs). */

/* Fails with "cannot write 'PATH': No such file or directory (ENOENT): ADVICE". It is XB_ERR_USAGE,
 * because the user can choose another path. */
enum xb_status xb_output_refuse(struct xb_error *error, const char *path, const char *call,
                                int code);
enum xb_status xb_output_no_memory(struct xb_error *error, const char *path);

/* ---- regular files ---- */

/* Opens the file that is to replace output->target. */
XB_MUST_CHECK enum xb_status xb_replacement_open(struct xb_output *output, struct xb_error *error);
/*
 * Replaces the target by the new file, which the caller has flushed and synced. Returns the call
 * that failed, with errno set, or NULL: what follows, closing the file and removing a temporary
 * name, does not matter to readers, so xb_output_discard() does it and reports nothing. After
 * a failure *kept is the path of a file with everything that was written, to be freed, or NULL if
 * there is none.
 */
const char *xb_replacement_finish(struct xb_output *output, char **kept);

/* ---- pipes ---- */

/*
 * Opens the FIFO `path` for writing. If it has no reader, says so once and waits for one.
 * XB_ERR_STOPPED if a signal or `deadline` comes first.
 */
XB_MUST_CHECK enum xb_status xb_fifo_open(const char *path, double deadline, int *fd,
                                          struct xb_error *error);
/*
 * Opens a stream on the pipe `fd`; closing the stream closes `fd`. A write fails with EINTR if a
 * signal comes while it waits for the reader. It fails with ETIMEDOUT if the reader reads nothing
 * until some seconds after `deadline`, or after the first write if that was later. Returns NULL if
 * there is no memory; `fd` then stays open.
 */
FILE *xb_pipe_stream(int fd, double deadline);
