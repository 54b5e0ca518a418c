/* SPDX-License-Identifier: Apache-2.0 */
/* The keys: "Trace Event Format" of the Chromium project. */
#include "trace.h"

#include "base/json_fields.h"
#include "base/memory.h"
#include "base/order.h"
#include "base/stream.h"
#include "measure/plan/case.h"
#include "xferbench/version.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WHAT "the trace"

/* What the end of the file tells of a case. */
struct xb_chrome_case {
    size_t process;
    char name[256];
    double clock_error_us, recorded, sampled;
    unsigned workers;
    uint64_t left_out;
};
typedef struct xb_chrome_case chrome_case;

static const struct xb_field case_fields[] = {
    XB_FIELD("pid", SIZE, chrome_case, process),
    XB_FIELD("case", TEXT, chrome_case, name),
    XB_FIELD("clock_error_us", DOUBLE, chrome_case, clock_error_us),
    XB_FIELD("recorded_seconds", DOUBLE, chrome_case, recorded),
    XB_FIELD("sampled_seconds", DOUBLE, chrome_case, sampled),
    XB_FIELD("workers", UNSIGNED, chrome_case, workers),
    XB_FIELD("left_out", UINT64, chrome_case, left_out),
    XB_FIELDS_END};
static const struct xb_field cases_fields[] = {
    XB_LIST("cases", struct xb_chrome, cases, count, SIZE_MAX, case_fields), XB_FIELDS_END};

static const struct xb_field device_fields[] = {
    XB_FIELD("index", UNSIGNED, struct xb_run_device, info.index),
    XB_FIELD("name", TEXT, struct xb_run_device, info.name), XB_FIELDS_END};
static const struct xb_field devices_fields[] = {
    XB_LIST("devices", struct xb_run, devices, device_count, SIZE_MAX, device_fields),
    XB_FIELDS_END};

/* The case that is written, and the nanosecond that is its zero. */
struct page {
    struct xb_chrome *chrome;
    const struct xb_timeline *timeline;
    int64_t zero;
    enum xb_status status; /* of the first failure */
    struct xb_error *error;
};

/* One rounding for beginnings and ends alike, so that what lies within another still does. */
static int64_t nanoseconds(double seconds)
{
    return llround(seconds * 1e9);
}

static double timestamp(const struct page *page, double seconds)
{
    return (double)(nanoseconds(seconds) - page->zero) / 1000;
}

/* An event of a thread, whose numbers are from 1; 0 is the case itself. */
static void begin_event(const struct page *page, struct xb_json *json, const char *phase,
                        const char *name, size_t thread)
{
    xb_json_begin(json);
    xb_json_open_object(json, NULL);
    xb_json_put_text(json, "ph", phase);
    xb_json_put_text(json, "name", name);
    xb_json_put_whole(json, "pid", page->chrome->count + 1);
    xb_json_put_whole(json, "tid", thread);
}

static void end_event(struct page *page, struct xb_json *json)
{
    struct xb_chrome *chrome = page->chrome;
    struct xb_error other;
    const bool goes_on = page->status == XB_OK;
    xb_json_close(json);
    if (goes_on)
        fputs(chrome->has_event ? ",\n" : "\n", chrome->stream);
    chrome->has_event = true;
    enum xb_status status =
        xb_json_finish_as(json, chrome->stream, XB_JSON_PART, WHAT, goes_on ? page->error : &other);
    page->status = goes_on ? status : page->status;
}

static void write_metadata(struct page *page, const char *what, size_t thread, const char *name,
                           uint64_t sort_index)
{
    struct xb_json json;
    begin_event(page, &json, "M", what, thread);
    xb_json_open_object(&json, "args");
    if (name != NULL)
        xb_json_put_text(&json, "name", name);
    else
        xb_json_put_whole(&json, "sort_index", sort_index);
    xb_json_close(&json);
    end_event(page, &json);
}

/* A span, and where there is an arrow its end: "s" at the call, "f" at what it submitted. */
static void write_span(struct page *page, const struct xb_timeline_span *span)
{
    static const char *const kinds[] = {
        [XB_SPAN_WORK] = "work", [XB_SPAN_CALL] = "call",     [XB_SPAN_WAIT] = "wait",
        [XB_SPAN_COPY] = "copy", [XB_SPAN_KERNEL] = "kernel",
    };
    struct xb_json json;
    int64_t length = nanoseconds(span->end) - nanoseconds(span->begin);
    bool is_at_work = span->kind != XB_SPAN_CALL && span->kind != XB_SPAN_WAIT;
    begin_event(page, &json, "X", span->name, span->track + 1);
    xb_json_put_text(&json, "cat", kinds[span->kind]);
    xb_json_put_number(&json, "ts", timestamp(page, span->begin));
    xb_json_put_number(&json, "dur", (double)length / 1000);
    xb_json_open_object(&json, "args");
    if (span->bytes > 0)
        xb_json_put_whole(&json, "bytes", span->bytes);
    if (span->bytes > 0 && is_at_work && span->end > span->begin)
        xb_json_put_number(&json, "GB/s",
                           round(1e-6 * (double)span->bytes / (span->end - span->begin)) / 1e3);
    if (span->stage != NULL) {
        xb_json_put_text(&json, "stage", span->stage);
        xb_json_put_whole(&json, "item", span->item);
    }
    if (span->flow > 0)
        xb_json_put_whole(&json, "correlation", span->flow);
    xb_json_close(&json);
    end_event(page, &json);
    if (span->flow == 0)
        return;
    bool is_call = span->kind == XB_SPAN_CALL;
    begin_event(page, &json, is_call ? "s" : "f", "submits", span->track + 1);
    xb_json_put_text(&json, "cat", "ac2g");
    /* Numbers are one a file, so that no arrow leads from case to case. */
    xb_json_put_whole(&json, "id", ((uint64_t)page->chrome->count << 32) + span->flow);
    if (!is_call)
        xb_json_put_text(&json, "bp", "e");
    xb_json_put_number(&json, "ts", timestamp(page, span->begin));
    end_event(page, &json);
}

/* Where a counter changes. */
struct edge {
    double seconds, change;
};

XB_COMPARER(order_edges, struct edge, XB_BY(seconds), XB_BY(change))

/* Adds up the edges. Counts what is at work, so that no rest of the rounding stays at the end. */
static void write_edges(struct page *page, struct edge *edges, size_t count, const char *name)
{
    double value = 0;
    long at_work = 0;
    qsort(edges, count, sizeof *edges, order_edges);
    for (size_t i = 0; i < count; i++) {
        at_work += edges[i].change > 0 ? 1 : -1;
        value = at_work > 0 ? value + edges[i].change : 0;
        if (i + 1 < count && !(edges[i + 1].seconds > edges[i].seconds))
            continue;
        struct xb_json json;
        begin_event(page, &json, "C", name, 0);
        xb_json_put_number(&json, "ts", timestamp(page, edges[i].seconds));
        xb_json_open_object(&json, "args");
        xb_json_put_number(&json, "value", value);
        xb_json_close(&json);
        end_event(page, &json);
    }
}

/* Puts the rate of all spans of that kind whose name has that word. */
static void write_rates(struct page *page, enum xb_span_kind kind, const char *word,
                        struct edge *edges)
{
    const struct xb_timeline *timeline = page->timeline;
    char name[64];
    size_t count = 0;
    XB_EACH (span, timeline->spans, timeline->span_count) {
        if (span->kind != kind || span->bytes == 0 || !(span->end > span->begin) ||
            strstr(span->name, word) == NULL)
            continue;
        double rate = 1e-9 * (double)span->bytes / (span->end - span->begin);
        edges[count++] = (struct edge){span->begin, rate};
        edges[count++] = (struct edge){span->end, -rate};
    }
    snprintf(name, sizeof name, "GB/s %s", word);
    write_edges(page, edges, count, name);
}

static void write_items(struct page *page, struct xb_trace_item *items, struct edge *edges)
{
    size_t count = 0;
    XB_EACH (span, page->timeline->spans, page->timeline->span_count) {
        /* A call that enqueues work for an item is none of its spans, nor is a wait for it. */
        if (span->stage != NULL && span->kind != XB_SPAN_CALL && span->kind != XB_SPAN_WAIT)
            items[count++] =
                (struct xb_trace_item){.item = span->item, .begin = span->begin, .end = span->end};
    }
    count = xb_trace_join(items, count);
    for (size_t i = 0; i < count; i++) {
        edges[2 * i] = (struct edge){items[i].begin, 1};
        edges[2 * i + 1] = (struct edge){items[i].end, -1};
    }
    write_edges(page, edges, 2 * count, "items under way");
}

/*
 * Puts what follows from the spans, in the order of time: "GB/s HtoD" and the like of the copies
 * that are under way, "GB/s read" of the turns of a host's stage `read`, each taken to be even over
 * its span, and "items under way" by items of a line, each from its first span to the end of its
 * last.
 */
static void write_counters(struct page *page)
{
    static const char *const ways[] = {"HtoD", "DtoH", "DtoD", "PtoP"};
    const struct xb_timeline *timeline = page->timeline;
    const char *stage = NULL; /* of the host, of which a mode has one */
    struct edge *edges = xb_new(2 * timeline->span_count, sizeof *edges);
    struct xb_trace_item *items = xb_new(timeline->span_count, sizeof *items);
    for (size_t i = 0; stage == NULL && i < timeline->span_count; i++)
        if (timeline->spans[i].kind == XB_SPAN_WORK)
            stage = timeline->spans[i].stage;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        write_rates(page, XB_SPAN_COPY, ways[i], edges);
    if (stage != NULL)
        write_rates(page, XB_SPAN_WORK, stage, edges);
    write_items(page, items, edges);
    free(edges);
    free(items);
}

enum xb_status xb_chrome_add(struct xb_chrome *chrome, const struct xb_result *result,
                             struct xb_error *error)
{
    const struct xb_timeline *timeline = result->timeline;
    struct page page = {.chrome = chrome, .timeline = timeline, .error = error};
    chrome->cases = xb_grow(chrome->cases, chrome->count, sizeof *chrome->cases);
    struct xb_chrome_case *own = &chrome->cases[chrome->count];
    *own = (struct xb_chrome_case){
        .process = chrome->count + 1,
        .clock_error_us = timeline->clock_error * 1e6,
        .recorded = timeline->seconds,
        .sampled = (double)result->bytes_moved / result->bandwidth.median,
        .workers = timeline->workers,
        .left_out = timeline->left_out,
    };
    xb_case_text(&result->test, own->name, sizeof own->name);
    /* Where the clocks' error puts something before the beginning, all of it is shown later. */
    for (size_t i = 0; i < timeline->span_count; i++)
        if (nanoseconds(timeline->spans[i].begin) < page.zero)
            page.zero = nanoseconds(timeline->spans[i].begin);
    char text[XB_TRACK_NAME];
    write_metadata(&page, "process_name", 0, own->name, 0);
    write_metadata(&page, "process_sort_index", 0, NULL, chrome->count);
    for (size_t i = 0; i < timeline->track_count; i++) {
        xb_track_name(timeline, i, text, sizeof text);
        write_metadata(&page, "thread_name", i + 1, text, 0);
        write_metadata(&page, "thread_sort_index", i + 1, NULL, i);
    }
    for (size_t i = 0; page.status == XB_OK && i < timeline->span_count; i++)
        write_span(&page, &timeline->spans[i]);
    if (page.status == XB_OK)
        write_counters(&page);
    chrome->count++;
    return page.status != XB_OK ? page.status : xb_stream_finish(chrome->stream, WHAT, error);
}

enum xb_status xb_chrome_begin(struct xb_chrome *chrome, FILE *stream, struct xb_error *error)
{
    *chrome = (struct xb_chrome){.stream = stream};
    if (fputs("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [", stream) >= 0)
        return XB_OK;
    return xb_stream_fail(WHAT, errno, error);
}

enum xb_status xb_chrome_end(struct xb_chrome *chrome, const struct xb_run *run,
                             struct xb_error *error)
{
    double clock_error_us = 0;
    struct xb_json json;
    for (size_t i = 0; i < chrome->count; i++)
        clock_error_us = fmax(clock_error_us, chrome->cases[i].clock_error_us);
    fputs("\n], \"otherData\": ", chrome->stream);
    xb_json_begin(&json);
    xb_json_open_object(&json, NULL);
    xb_json_put_text(&json, "tool", "xferbench " XB_VERSION);
    xb_json_put_text(&json, "backend", run->backend->name);
    xb_fields_put(&json, devices_fields, run);
    xb_json_put_number(&json, "clock_error_us", clock_error_us);
    xb_fields_put(&json, cases_fields, chrome);
    xb_json_close(&json);
    XB_TRY(xb_json_finish_as(&json, chrome->stream, XB_JSON_PART, WHAT, error));
    fputs("}\n", chrome->stream);
    return xb_stream_finish(chrome->stream, WHAT, error);
}

void xb_chrome_free(struct xb_chrome *chrome)
{
    free(chrome->cases);
    *chrome = (struct xb_chrome){.stream = NULL};
}
