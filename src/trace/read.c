/* SPDX-License-Identifier: Apache-2.0 */
#include "trace.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define LONGEST_US UINT64_C(1000000000000) /* longer than any run */

typedef struct xb_trace_event event;
typedef struct xb_trace_times times;

const struct xb_field xb_trace_event_fields[] = {
    XB_FIELD("ph", STRING, event, phase, XB_NOT_EMPTY),
    XB_FIELD("name", STRING, event, name, XB_NOT_EMPTY),
    XB_FIELD("pid", SIZE, event, process, .least = 1, .most = XB_TRACE_CASES),
    XB_FIELD("tid", SIZE, event, thread, .most = XB_TRACE_TRACKS), XB_FIELDS_END};

static const char *kind_word(int kind)
{
    static const char *const words[] = {
        [XB_SPAN_WORK] = "work", [XB_SPAN_CALL] = "call",     [XB_SPAN_WAIT] = "wait",
        [XB_SPAN_COPY] = "copy", [XB_SPAN_KERNEL] = "kernel",
    };
    return words[kind];
}

const struct xb_field xb_trace_times_fields[] = {
    XB_FIELD("cat", WORD, times, kind, .word = kind_word, .most = XB_SPAN_KERNEL),
    XB_FIELD("ts", DOUBLE, times, begin_us, .most = LONGEST_US),
    XB_FIELD("dur", DOUBLE, times, length_us, .most = LONGEST_US), XB_FIELDS_END};

static void take_name(struct xb_json_reader *r, const cJSON *item, const event *of,
                      struct xb_trace_case *own)
{
    bool is_case = strcmp(of->name, "process_name") == 0;
    if (!is_case && strcmp(of->name, "thread_name") != 0)
        return;
    const cJSON *arguments = xb_json_get_object(r, item, "args");
    size_t outer = xb_place_enter(&r->place, "args");
    const char *name = xb_json_get_text(r, arguments, "name");
    xb_place_leave(&r->place, outer);
    if (is_case)
        own->name = name;
    else if (of->thread == 0)
        xb_json_refuse(r, "tid", "is 0, but threads count from 1");
    else
        own->tracks[of->thread - 1] = name;
}

static void take_span(struct xb_json_reader *r, const cJSON *item, const event *of,
                      struct xb_trace_case *own)
{
    times when = {.kind = XB_SPAN_WAIT};
    if (of->thread == 0)
        xb_json_refuse(r, "tid", "is 0, but spans are on threads from 1");
    xb_fields_read(r, item, xb_trace_times_fields, &when);
    const cJSON *arguments = xb_json_get_object(r, item, "args");
    size_t outer = xb_place_enter(&r->place, "args");
    own->spans = xb_grow(own->spans, own->span_count, sizeof *own->spans);
    own->spans[own->span_count++] = (struct xb_trace_span){
        .name = of->name,
        .kind = when.kind,
        .track = of->thread - 1,
        .begin = when.begin_us / 1e6,
        .end = when.begin_us / 1e6 + when.length_us / 1e6,
        .stage = xb_json_get_optional_text(r, arguments, "stage"),
        .bytes = xb_json_get_optional_whole(r, arguments, "bytes", UINT64_C(1) << 53),
    };
    xb_place_leave(&r->place, outer);
}

/* Arrows and counters are of cases and tracks too, but tell nothing that is kept. */
static void take(struct xb_json_reader *r, const cJSON *item, size_t index, void *to)
{
    struct xb_trace *trace = to;
    event of = {.process = 1};
    (void)index;
    xb_fields_read(r, item, xb_trace_event_fields, &of);
    if (xb_json_failed(r))
        return;
    struct xb_trace_case *own = &trace->cases[of.process - 1];
    trace->case_count = of.process > trace->case_count ? of.process : trace->case_count;
    own->track_count = of.thread > own->track_count ? of.thread : own->track_count;
    if (own->tracks == NULL)
        own->tracks = xb_new(XB_TRACE_TRACKS, sizeof *own->tracks);
    if (of.phase[1] != '\0' || strchr("MXsfC", of.phase[0]) == NULL)
        xb_json_refuse(r, "ph", "is \"%.20s\", which xferbench does not write", of.phase);
    else if (of.phase[0] == 'M')
        take_name(r, item, &of, own);
    else if (of.phase[0] == 'X')
        take_span(r, item, &of, own);
}

enum xb_status xb_trace_read(const char *path, const struct cJSON *root, struct xb_trace *trace,
                             struct xb_error *error)
{
    struct xb_json_reader reader = {.place = {.path = path}};
    *trace = (struct xb_trace){.cases = xb_new(XB_TRACE_CASES, sizeof *trace->cases)};
    (void)xb_fields_read_each(&reader, root, "traceEvents", SIZE_MAX, take, trace);
    for (size_t i = 0; i < trace->case_count && !xb_json_failed(&reader); i++) {
        const struct xb_trace_case *own = &trace->cases[i];
        if (own->name == NULL)
            xb_json_refuse(&reader, "traceEvents", "has no process_name of process %zu", i + 1);
        for (size_t k = 0; k < own->track_count && !xb_json_failed(&reader); k++)
            if (own->tracks[k] == NULL)
                xb_json_refuse(&reader, "traceEvents",
                               "has no thread_name of thread %zu in process %zu", k + 1, i + 1);
    }
    if (!xb_json_failed(&reader))
        return XB_OK;
    xb_trace_free(trace);
    *error = reader.error;
    return error->status;
}

void xb_trace_free(struct xb_trace *trace)
{
    for (size_t i = 0; i < trace->case_count; i++) {
        free(trace->cases[i].tracks);
        free(trace->cases[i].spans);
    }
    free(trace->cases);
    *trace = (struct xb_trace){.cases = NULL};
}
