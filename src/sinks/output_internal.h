/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_SINKS_OUTPUT_INTERNAL_H
#define XFERBENCH_SINKS_OUTPUT_INTERNAL_H

#include "xferbench/sink.h"

/* What output_file.c (which kind of file, opening, closing), output_replace.c (regular files) and
 * output_pipe.c (pipes and FIFOs) share. */

/* "cannot write 'PATH': No such file or directory (ENOENT): ADVICE". The user can choose another
 * place, so this is XB_ERR_USAGE. */
enum xb_status xb_output_refuse(struct xb_error *error, const char *path, const char *call,
                                int code);
enum xb_status xb_output_no_memory(struct xb_error *error, const char *path);

/* ---- regular files ---- */

/* Opens the file that is to replace output->target. */
XB_MUST_CHECK enum xb_status xb_replacement_open(struct xb_output *output, struct xb_error *error);
/*
 * Puts the file, flushed and synced, in the place of the target and closes it. Returns the call
 * that failed, with errno set, or NULL. `kept`: if it failed, the path of a file that has all that
 * was written, to be freed; NULL where there is none.
 */
const char *xb_replacement_finish(struct xb_output *output, char **kept);

/* ---- pipes ---- */

/*
 * Opens the FIFO `path` for writing. Where nobody reads it, says so once and waits until somebody
 * does: XB_ERR_STOPPED when a signal or `deadline` comes first.
 */
XB_MUST_CHECK enum xb_status xb_fifo_open(const char *path, double deadline, int *fd,
                                          struct xb_error *error);
/*
 * A stream on the pipe `fd`, which it closes in the end. A write fails with EINTR when a signal
 * comes while it waits for the reader, and with ETIMEDOUT when the reader takes nothing and
 * `deadline`, or the first write if that is later, was some seconds ago. NULL where memory is
 * short; then `fd` stays open.
 */
FILE *xb_pipe_stream(int fd, double deadline);

#endif
