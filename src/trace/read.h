/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/json_fields.h"
#include "measure/timeline/timeline.h"

/* What --trace wrote, read back (docs/timeline.md): cases with their tracks and spans. Arrows and
 * counters follow from the spans, and are passed over. */

#define XB_TRACE_CASES 1000
#define XB_TRACE_TRACKS 1000 /* of a case */

struct xb_arena;

/* What every event is: on a thread of a process, which are a track of a case. */
struct xb_trace_event {
    const char *phase, *name;
    size_t process; /* from 1 */
    size_t thread;  /* from 0, which is the case itself */
};
extern const struct xb_field xb_trace_event_fields[];

/* What a span is besides. */
struct xb_trace_times {
    enum xb_span_kind kind;
    double begin_us, length_us;
};
extern const struct xb_field xb_trace_times_fields[];

struct xb_trace_span {
    const char *name;
    enum xb_span_kind kind;
    size_t track;
    double begin, end; /* seconds since the case's zero */
    const char *stage; /* NULL: of none */
    uint64_t bytes;    /* 0: none */
};

struct xb_trace_case {
    const char *name;
    const char **tracks; /* their names */
    size_t track_count;
    struct xb_trace_span *spans; /* in the order of the file */
    size_t span_count;
};

struct xb_trace {
    struct xb_trace_case *cases;
    size_t case_count;
    struct xb_arena *memory;
};

/*
 * Reads the tree of a file, which must outlive *trace: texts are its. `path` is for messages only.
 * XB_ERR_USAGE names the file and the place of whatever is wrong: events that --trace does not
 * write, numbers that no run can give, a case or a track without its name. On
 * failure nothing is left to free.
 */
XB_MUST_CHECK enum xb_status xb_trace_read(const char *path, const struct cJSON *root,
                                           struct xb_trace *trace, struct xb_error *error);
void xb_trace_free(struct xb_trace *trace); /* accepts a zeroed one */
