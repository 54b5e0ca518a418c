/* SPDX-License-Identifier: Apache-2.0 */
#include "read.h"

#include "base/arena.h"
#include "base/json_read.h"

#include <math.h>
#include <string.h>

#define LONGEST_US 1e12 /* longer than any run */

/* An event and where it is: a thread of a process, which are a track of a case. */
struct event {
    const cJSON *item;
    const char *phase, *name;
    size_t process; /* from 1 */
    size_t thread;  /* from 0, which is the case itself */
};

static struct event read_event(struct xb_json_reader *r, const cJSON *item)
{
    struct event event = {.item = item};
    event.phase = xb_json_get_text(r, item, "ph");
    event.name = xb_json_get_text(r, item, "name");
    event.process = (size_t)xb_json_get_whole(r, item, "pid", 1, XB_TRACE_CASES);
    event.thread = (size_t)xb_json_get_whole(r, item, "tid", 0, XB_TRACE_TRACKS);
    return event;
}

static bool is_phase(const struct event *event, const char *phase)
{
    return strcmp(event->phase, phase) == 0;
}

static bool is_span(const struct event *event)
{
    return is_phase(event, "X");
}

/* Calls `take` for each event, until one is refused. */
static void each_event(struct xb_json_reader *r, const cJSON *root, struct xb_trace *trace,
                       void (*take)(struct xb_json_reader *r, const struct event *event,
                                    struct xb_trace *trace))
{
    const cJSON *events = xb_json_get_array(r, root, "traceEvents");
    size_t outer = xb_place_enter(&r->place, "traceEvents");
    size_t index = 0;
    for (const cJSON *item = events != NULL ? events->child : NULL;
         item != NULL && !xb_json_failed(r); item = item->next) {
        size_t inner = xb_place_enter_item(&r->place, index++);
        struct event event = read_event(r, item);
        if (!xb_json_failed(r))
            take(r, &event, trace);
        xb_place_leave(&r->place, inner);
    }
    xb_place_leave(&r->place, outer);
}

/* ---- first: how much there is ---- */

/* Arrows and counters are of cases and tracks too, but tell nothing that is kept. */
static void count(struct xb_json_reader *r, const struct event *event, struct xb_trace *trace)
{
    static const char *const passed_over[] = {"s", "f", "C"};
    struct xb_trace_case *own = &trace->cases[event->process - 1];
    bool is_known = is_phase(event, "M") || is_span(event);
    for (size_t i = 0; i < sizeof passed_over / sizeof *passed_over; i++)
        is_known = is_known || is_phase(event, passed_over[i]);
    if (!is_known)
        xb_json_refuse(r, "ph", "is \"%.20s\", which xferbench does not write", event->phase);
    if (is_span(event) && event->thread == 0)
        xb_json_refuse(r, "tid", "is 0, but spans are on threads from 1");
    if (event->process > trace->case_count)
        trace->case_count = event->process;
    if (event->thread > own->track_count)
        own->track_count = event->thread;
    own->span_count += is_span(event);
}

static void allocate(struct xb_json_reader *r, struct xb_trace *trace)
{
    for (size_t i = 0; i < trace->case_count; i++) {
        struct xb_trace_case *own = &trace->cases[i];
        own->tracks =
            xb_arena_allocate(&trace->memory, (own->track_count + 1) * sizeof *own->tracks);
        own->spans = xb_arena_allocate(&trace->memory, (own->span_count + 1) * sizeof *own->spans);
        own->span_count = 0; /* filled so far */
        if (own->tracks == NULL || own->spans == NULL) {
            xb_json_refuse_memory(r);
            return;
        }
    }
}

/* ---- then: what it is ---- */

static void take_name(struct xb_json_reader *r, const struct event *event,
                      struct xb_trace_case *own)
{
    bool is_case = strcmp(event->name, "process_name") == 0;
    bool is_track = strcmp(event->name, "thread_name") == 0;
    if (!is_case && !is_track)
        return;
    const cJSON *arguments = xb_json_get_object(r, event->item, "args");
    size_t outer = xb_place_enter(&r->place, "args");
    const char *name = xb_json_get_text(r, arguments, "name");
    xb_place_leave(&r->place, outer);
    if (is_case)
        own->name = name;
    else if (event->thread == 0)
        xb_json_refuse(r, "tid", "is 0, but threads count from 1");
    else
        own->tracks[event->thread - 1] = name;
}

static enum xb_span_kind read_kind(struct xb_json_reader *r, const cJSON *item)
{
    static const char *const names[] = {
        [XB_SPAN_WORK] = "work", [XB_SPAN_CALL] = "call",     [XB_SPAN_WAIT] = "wait",
        [XB_SPAN_COPY] = "copy", [XB_SPAN_KERNEL] = "kernel",
    };
    const char *category = xb_json_get_text(r, item, "cat");
    for (size_t i = 0; category != NULL && i < sizeof names / sizeof *names; i++)
        if (names[i] != NULL && strcmp(names[i], category) == 0)
            return (enum xb_span_kind)i;
    if (category != NULL)
        xb_json_refuse(r, "cat", "is \"%.20s\", which xferbench does not write", category);
    return XB_SPAN_WAIT;
}

/* In seconds. */
static double read_time(struct xb_json_reader *r, const cJSON *item, const char *key)
{
    double time = xb_json_get_known_number(r, item, key, LONGEST_US);
    if (!xb_json_failed(r) && isnan(time))
        xb_json_refuse(r, key, "is not known, but every span has it");
    return time / 1e6;
}

static void take_span(struct xb_json_reader *r, const struct event *event,
                      struct xb_trace_case *own)
{
    struct xb_trace_span *span = &own->spans[own->span_count++];
    span->name = event->name;
    span->kind = read_kind(r, event->item);
    span->track = event->thread - 1;
    span->begin = read_time(r, event->item, "ts");
    span->end = span->begin + read_time(r, event->item, "dur");
    const cJSON *arguments = xb_json_get_object(r, event->item, "args");
    size_t outer = xb_place_enter(&r->place, "args");
    span->stage = xb_json_get_optional_text(r, arguments, "stage");
    span->bytes = xb_json_get_optional_whole(r, arguments, "bytes", UINT64_C(1) << 53);
    xb_place_leave(&r->place, outer);
}

static void take(struct xb_json_reader *r, const struct event *event, struct xb_trace *trace)
{
    struct xb_trace_case *own = &trace->cases[event->process - 1];
    if (is_phase(event, "M"))
        take_name(r, event, own);
    else if (is_span(event))
        take_span(r, event, own);
}

static void check_names(struct xb_json_reader *r, const struct xb_trace *trace)
{
    for (size_t i = 0; i < trace->case_count && !xb_json_failed(r); i++) {
        const struct xb_trace_case *own = &trace->cases[i];
        if (own->name == NULL)
            xb_json_refuse(r, "traceEvents", "has no process_name of process %zu", i + 1);
        for (size_t k = 0; k < own->track_count && !xb_json_failed(r); k++)
            if (own->tracks[k] == NULL)
                xb_json_refuse(r, "traceEvents", "has no thread_name of thread %zu in process %zu",
                               k + 1, i + 1);
    }
}

enum xb_status xb_trace_read(const char *path, const struct cJSON *root, struct xb_trace *trace,
                             struct xb_error *error)
{
    struct xb_json_reader reader = {.place = {.path = path}};
    *trace = (struct xb_trace){.cases = NULL};
    trace->cases = xb_arena_allocate(&trace->memory, XB_TRACE_CASES * sizeof *trace->cases);
    if (trace->cases == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "%s: no memory to read it", path);
    each_event(&reader, root, trace, count);
    if (!xb_json_failed(&reader))
        allocate(&reader, trace);
    if (!xb_json_failed(&reader))
        each_event(&reader, root, trace, take);
    check_names(&reader, trace);
    if (!xb_json_failed(&reader))
        return XB_OK;
    xb_trace_free(trace);
    *error = reader.error;
    return error->status;
}

void xb_trace_free(struct xb_trace *trace)
{
    xb_arena_free(trace->memory);
    *trace = (struct xb_trace){.cases = NULL};
}
