/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "arena.h"
#include "xferbench/error.h"

#include <stddef.h>
#include <stdio.h>

/* Flushes, and tells whether all was written. `what` is "the table". */
XB_MUST_CHECK enum xb_status xb_stream_finish(FILE *stream, const char *what,
                                              struct xb_error *error);

/* "cannot write the table: Broken pipe (EPIPE): ADVICE", for a write that left this errno. */
enum xb_status xb_stream_fail(const char *what, int code, struct xb_error *error);

/*
 * A text that is written as a file is, into memory. open_memstream() will not do: where memory is
 * lacking it leaves out what did not fit, or all of it, and neither ferror() nor fclose() tells.
 * Zero-initialise; it may not move between its begin and its end.
 */
struct xb_memory_text {
    FILE *stream; /* between begin and end; NULL: no memory */
    char *text;   /* with a zero behind it, to be freed: after an end that did not fail */
    size_t length, room;
};

/* Returns text->stream. After NULL, too, comes the end, which tells what was missing. */
FILE *xb_memory_text_begin(struct xb_memory_text *text);
/* Closes the stream, whatever was written. XB_ERR_MEMORY, "no memory for WHAT", if it is not all
 * there; then nothing is. */
XB_MUST_CHECK enum xb_status xb_memory_text_end(struct xb_memory_text *text, const char *what,
                                                struct xb_error *error);
/* The same for a text that is to be kept in *arena: there is nothing to free. */
XB_MUST_CHECK enum xb_status xb_memory_text_keep(struct xb_memory_text *text, const char *what,
                                                 struct xb_arena **arena, const char **kept,
                                                 struct xb_error *error);
