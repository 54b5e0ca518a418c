/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/result.h"

#include <stdio.h>

/* A drawing is not made wider. */
#define XB_TIMELINE_WIDTH 80

/*
 * Draws the timeline of a result that has one, in `width` columns, 40 or more: a row a stage of the
 * mode's line, else a row a thread and a stream; time goes from left to right. XB_ERR_MEMORY only:
 * a failure of the stream shows when it is flushed.
 */
XB_MUST_CHECK enum xb_status xb_timeline_print(FILE *stream, size_t width,
                                               const struct xb_result *result,
                                               struct xb_error *error);

#define XB_TRACK_NAME 96

/* "thread 0 (submits)", "thread 3 (reads)", "stream 2", "device 1 stream 0" where there are
 * several devices. Returns `text`. */
const char *xb_track_name(const struct xb_timeline *timeline, size_t track, char *text,
                          size_t size);
