/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "measure/run.h"

#include <stdio.h>

/*
 * Writes timelines as Chrome trace events, which Perfetto and chrome://tracing open
 * (docs/timeline.md): a process a case, a thread a track. Cases are written as they finish.
 * Zero-initialise.
 */
struct xb_chrome {
    FILE *stream; /* borrowed */
    size_t count; /* of cases */
    bool has_event;
    struct xb_chrome_case *cases;
};

enum xb_status xb_chrome_begin(struct xb_chrome *chrome, FILE *stream, struct xb_error *error);
/* Writes the timeline of a result that has one. */
enum xb_status xb_chrome_add(struct xb_chrome *chrome, const struct xb_result *result,
                             struct xb_error *error);
/* Ends the document and flushes. */
enum xb_status xb_chrome_end(struct xb_chrome *chrome, const struct xb_run *run,
                             struct xb_error *error);
/* Releases what it holds, but not the stream. */
void xb_chrome_free(struct xb_chrome *chrome);

/* A drawing is not made wider. */
#define XB_TIMELINE_WIDTH 80

/*
 * Draws the timeline of a result that has one, in `width` columns, 40 or more: a row a stage of the
 * mode's line, else a row a thread and a stream; time goes from left to right. A
 * failure of the stream shows when it is flushed.
 */
void xb_timeline_print(FILE *stream, size_t width, const struct xb_result *result);

/* An item that something works on, from its first span to the end of its last. */
struct xb_trace_item {
    uint64_t item;
    double begin, end;
    bool is_wait; /* for a drawing */
};
/* Makes one of those that are of one item, in their order; returns how many they are then. */
size_t xb_trace_join(struct xb_trace_item *items, size_t count);

#define XB_TRACK_NAME 96

/* "thread 0 (submits)", "thread 3 (reads)", "stream 2", "device 1 stream 0" where there are
 * several devices. Returns `text`. */
const char *xb_track_name(const struct xb_timeline *timeline, size_t track, char *text,
                          size_t size);
