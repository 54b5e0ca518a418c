/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_TRACE_WORDS_H
#define XFERBENCH_TRACE_WORDS_H

#include "xferbench/timeline.h"

#define XB_TRACK_NAME 96

/* "thread 0 (submits)", "thread 3 (reads)", "stream 2", "device 1 stream 0" where there are
 * several devices. Returns `text`. */
const char *xb_track_name(const struct xb_timeline *timeline, size_t track, char *text,
                          size_t size);

/* Seconds of the track, without what overlaps, in which it did something else than wait. */
double xb_track_busy(const struct xb_timeline *timeline, size_t track);

#endif
