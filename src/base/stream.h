/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "memory.h"

#include <stdio.h>

/* Says what to do about an errno of opening or writing. Static text. */
const char *xb_output_advice(int code);

/* Flushes, and tells whether all was written. `what` is "the table". */
enum xb_status xb_stream_finish(FILE *stream, const char *what, struct xb_error *error);
/* "cannot write the table: Broken pipe (EPIPE): ADVICE", for a write that left this errno. */
enum xb_status xb_stream_fail(const char *what, int code, struct xb_error *error);

/* A text that is written as a file is, into memory. Zero-initialise; do not move it while open. */
struct xb_memory_text {
    FILE *stream; /* between begin and end */
    char *text;   /* with a zero behind it, to be freed */
    size_t length, room;
};

FILE *xb_memory_text_begin(struct xb_memory_text *text); /* returns text->stream */
void xb_memory_text_end(struct xb_memory_text *text);
/* Ends it too, and keeps it in *arena: there is nothing to free. */
const char *xb_memory_text_keep(struct xb_memory_text *text, struct xb_arena **arena);

/* Writing to pipes and FIFOs whose reader is late, slow or gone. `deadline`: clock.h; 0: none. */

/* Opens the FIFO `path` for writing, and waits for its reader, which it says once. Returns the
 * descriptor, or -1 with errno set: EINTR if a signal came first, ETIMEDOUT if the deadline. */
int xb_fifo_open(const char *path, double deadline);

/* Opens a stream on the pipe `fd`, which closes with it. A write fails with EINTR if a signal comes
 * while it waits for the reader; with ETIMEDOUT if the reader reads nothing until some seconds
 * after `deadline`, or after the first write if that was later. */
FILE *xb_pipe_stream(int fd, double deadline);
