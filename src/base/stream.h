/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_BASE_STREAM_H
#define XFERBENCH_BASE_STREAM_H

#include "xferbench/error.h"

#include <stdio.h>

/* Flushes, and tells whether all was written. `what` is "the table". */
XB_MUST_CHECK enum xb_status xb_stream_finish(FILE *stream, const char *what,
                                              struct xb_error *error);

/* "cannot write the table: Broken pipe (EPIPE): ADVICE", for a write that left this errno. */
enum xb_status xb_stream_fail(const char *what, int code, struct xb_error *error);

#endif
