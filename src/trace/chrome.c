/* SPDX-License-Identifier: Apache-2.0 */
/* The keys: "Trace Event Format" of the Chromium project. */
#include "chrome.h"

#include "base/stream.h"
#include "counters.h"
#include "read.h"
#include "words.h"

#include "measure/case.h"
#include "xferbench/version.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

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

/* ---- events ---- */

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

static void begin_event(const struct page *page, struct xb_json *json, const char *phase,
                        const char *name, size_t thread)
{
    xb_json_begin(json);
    xb_json_open_object(json, NULL);
    xb_fields_put(json, xb_trace_event_fields,
                  &(struct xb_trace_event){phase, name, page->chrome->count + 1, thread});
}

static void end_event(struct page *page, struct xb_json *json)
{
    struct xb_chrome *chrome = page->chrome;
    struct xb_error error;
    xb_json_close(json);
    if (page->status == XB_OK)
        fputs(chrome->has_event ? ",\n" : "\n", chrome->stream);
    chrome->has_event = true;
    /* Ends the JSON's hold of the locale also where something failed before. */
    enum xb_status status = xb_json_finish_part(json, chrome->stream, WHAT, &error);
    if (page->status == XB_OK && status != XB_OK) {
        page->status = status;
        *page->error = error;
    }
}

static void put_metadata(struct page *page, const char *what, size_t thread, const char *key,
                         const char *text, uint64_t number)
{
    struct xb_json json;
    begin_event(page, &json, "M", what, thread);
    xb_json_open_object(&json, "args");
    if (text != NULL)
        xb_json_put_text(&json, key, text);
    else
        xb_json_put_whole(&json, key, number);
    xb_json_close(&json);
    end_event(page, &json);
}

static void put_arguments(struct xb_json *json, const struct xb_timeline_span *span)
{
    bool is_at_work = span->kind != XB_SPAN_CALL && span->kind != XB_SPAN_WAIT;
    xb_json_open_object(json, "args");
    if (span->bytes > 0)
        xb_json_put_whole(json, "bytes", span->bytes);
    if (span->bytes > 0 && is_at_work && span->end > span->begin)
        xb_json_put_number(json, "GB/s",
                           round(1e-6 * (double)span->bytes / (span->end - span->begin)) / 1e3);
    if (span->stage != NULL) {
        xb_json_put_text(json, "stage", span->stage);
        xb_json_put_whole(json, "item", span->item);
    }
    xb_json_close(json);
}

static void put_span(struct page *page, const struct xb_timeline_span *span)
{
    struct xb_json json;
    int64_t length = nanoseconds(span->end) - nanoseconds(span->begin);
    begin_event(page, &json, "X", span->name, span->track + 1);
    xb_fields_put(
        &json, xb_trace_times_fields,
        &(struct xb_trace_times){span->kind, timestamp(page, span->begin), (double)length / 1000});
    put_arguments(&json, span);
    end_event(page, &json);
}

/* An arrow's end: "s" at the call, "f" at what it submitted. */
static void put_flow(struct page *page, const struct xb_timeline_span *span)
{
    struct xb_json json;
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

static void put_counter(void *argument, const char *name, double seconds, double value)
{
    struct page *page = argument;
    struct xb_json json;
    begin_event(page, &json, "C", name, 0);
    xb_json_put_number(&json, "ts", timestamp(page, seconds));
    xb_json_open_object(&json, "args");
    xb_json_put_number(&json, "value", value);
    xb_json_close(&json);
    end_event(page, &json);
}

/* ---- a case ---- */

/* Where the clocks' error puts something before the beginning, all of it is shown later. */
static int64_t find_zero(const struct xb_timeline *timeline)
{
    double first = 0;
    for (size_t i = 0; i < timeline->span_count; i++)
        first = fmin(first, timeline->spans[i].begin);
    return nanoseconds(first);
}

static void put_tracks(struct page *page, const char *name)
{
    char text[XB_TRACK_NAME];
    put_metadata(page, "process_name", 0, "name", name, 0);
    put_metadata(page, "process_sort_index", 0, "sort_index", NULL, page->chrome->count);
    for (size_t i = 0; i < page->timeline->track_count; i++) {
        put_metadata(page, "thread_name", i + 1, "name",
                     xb_track_name(page->timeline, i, text, sizeof text), 0);
        put_metadata(page, "thread_sort_index", i + 1, "sort_index", NULL, i);
    }
}

static void put_spans(struct page *page)
{
    const struct xb_timeline *timeline = page->timeline;
    for (size_t i = 0; page->status == XB_OK && i < timeline->span_count; i++) {
        put_span(page, &timeline->spans[i]);
        if (timeline->spans[i].flow > 0)
            put_flow(page, &timeline->spans[i]);
    }
}

enum xb_status xb_chrome_add(struct xb_chrome *chrome, const struct xb_result *result,
                             struct xb_error *error)
{
    const struct xb_timeline *timeline = result->timeline;
    struct page page = {.chrome = chrome, .timeline = timeline, .error = error};
    struct xb_chrome_case *cases = realloc(chrome->cases, (chrome->count + 1) * sizeof *cases);
    if (cases == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to write %s", WHAT);
    chrome->cases = cases;
    struct xb_chrome_case *own = &cases[chrome->count];
    *own = (struct xb_chrome_case){
        .process = chrome->count + 1,
        .clock_error_us = timeline->clock_error * 1e6,
        .recorded = timeline->seconds,
        .sampled = (double)result->bytes_moved / result->bandwidth.median,
        .workers = timeline->workers,
        .left_out = timeline->left_out,
    };
    xb_case_text(&result->test, own->name, sizeof own->name);
    page.zero = find_zero(timeline);
    put_tracks(&page, own->name);
    put_spans(&page);
    if (page.status == XB_OK)
        page.status = xb_counters_put(timeline, put_counter, &page, error);
    chrome->count++;
    return page.status != XB_OK ? page.status : xb_stream_finish(chrome->stream, WHAT, error);
}

/* ---- the file ---- */

enum xb_status xb_chrome_begin(struct xb_chrome *chrome, FILE *stream, struct xb_error *error)
{
    *chrome = (struct xb_chrome){.stream = stream};
    if (fputs("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [", stream) >= 0)
        return XB_OK;
    return xb_stream_fail(WHAT, errno, error);
}

static void put_other_data(struct xb_json *json, const struct xb_chrome *chrome,
                           const struct xb_run *run)
{
    double clock_error_us = 0;
    xb_json_open_object(json, NULL);
    xb_json_put_text(json, "tool", "xferbench " XB_VERSION);
    xb_json_put_text(json, "backend", run->backend->name);
    xb_fields_put(json, devices_fields, run);
    for (size_t i = 0; i < chrome->count; i++)
        clock_error_us = fmax(clock_error_us, chrome->cases[i].clock_error_us);
    xb_json_put_number(json, "clock_error_us", clock_error_us);
    xb_fields_put(json, cases_fields, chrome);
    xb_json_close(json);
}

enum xb_status xb_chrome_end(struct xb_chrome *chrome, const struct xb_run *run,
                             struct xb_error *error)
{
    struct xb_json json;
    fputs("\n], \"otherData\": ", chrome->stream);
    xb_json_begin(&json);
    put_other_data(&json, chrome, run);
    enum xb_status status = xb_json_finish_part(&json, chrome->stream, WHAT, error);
    if (status != XB_OK)
        return status;
    fputs("}\n", chrome->stream);
    return xb_stream_finish(chrome->stream, WHAT, error);
}

void xb_chrome_free(struct xb_chrome *chrome)
{
    free(chrome->cases);
    *chrome = (struct xb_chrome){.stream = NULL};
}
