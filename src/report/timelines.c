/* SPDX-License-Identifier: Apache-2.0 */
/* The timelines of a trace: what each thread and stream did when, a picture a case. */
#include "sections.h"

#include "base/note.h"
#include "plot/spans.h"
#include "trace/read.h"
#include "xferbench/units.h"

#include <stdlib.h>
#include <string.h>

#define DRAWN 12 /* cases */
#define LABEL 48
#define OTHER "other"

static bool speaks(const struct xb_report_document *document)
{
    return document->trace != NULL && document->trace->case_count > 0;
}

/* What is told of a track in the table. */
struct track {
    double work, wait; /* seconds */
    size_t spans;
    uint64_t bytes; /* of copies, kernels and work */
};

struct drawing {
    struct xb_drawn_span *spans;
    size_t count;
    const char *names[XB_TRACE_TRACKS]; /* of tracks with spans */
    size_t places[XB_TRACE_TRACKS];     /* of all tracks among those */
    struct track tracks[XB_TRACE_TRACKS];
    size_t track_count;
    char kinds[XB_SPANS_KINDS][LABEL];
    const char *kind_names[XB_SPANS_KINDS];
    size_t kind_count;
    char title[320], description[1024];
    double length;
};

/* ---- kinds ---- */

/* "Memcpy HtoD" of "Memcpy HtoD (Pinned -> Device)". */
static void take_label(const struct xb_trace_span *span, char *label)
{
    const char *text = span->stage != NULL ? span->stage : span->name;
    if (span->kind == XB_SPAN_CALL)
        text = "submit";
    snprintf(label, LABEL, "%.47s", text);
    char *bracket = strstr(label, " (");
    if (bracket != NULL && bracket > label)
        *bracket = '\0';
}

/* The last of too many kinds is all others. */
static size_t kind_of(struct drawing *drawing, const char *label)
{
    for (size_t i = 0; i < drawing->kind_count; i++)
        if (strcmp(drawing->kinds[i], label) == 0)
            return i;
    if (drawing->kind_count == XB_SPANS_KINDS)
        return XB_SPANS_KINDS - 1;
    size_t kind = drawing->kind_count++;
    snprintf(drawing->kinds[kind], LABEL, "%s", kind + 1 == XB_SPANS_KINDS ? OTHER : label);
    drawing->kind_names[kind] = drawing->kinds[kind];
    return kind;
}

/* ---- tracks ---- */

/* Tracks on which nothing happened are left out. */
static void place_tracks(const struct xb_trace_case *of, struct drawing *drawing)
{
    for (size_t i = 0; i < of->span_count; i++)
        drawing->tracks[of->spans[i].track].spans++;
    for (size_t i = 0; i < of->track_count; i++) {
        drawing->places[i] = drawing->track_count;
        if (drawing->tracks[i].spans > 0)
            drawing->names[drawing->track_count++] = of->tracks[i];
    }
}

static void add_to_track(struct track *track, const struct xb_trace_span *span)
{
    double seconds = span->end - span->begin;
    if (span->kind == XB_SPAN_WAIT) {
        track->wait += seconds;
        return;
    }
    track->work += seconds;
    if (span->kind != XB_SPAN_CALL)
        track->bytes += span->bytes;
}

static void fill(const struct xb_trace_case *of, struct drawing *drawing)
{
    double first = of->span_count > 0 ? of->spans[0].begin : 0.0;
    double last = first;
    place_tracks(of, drawing);
    for (size_t i = 0; i < of->span_count; i++) {
        const struct xb_trace_span *span = &of->spans[i];
        bool is_wait = span->kind == XB_SPAN_WAIT;
        char label[LABEL];
        take_label(span, label);
        /* A wait is drawn in the colour of what it waits for, where that has one. */
        drawing->spans[drawing->count++] = (struct xb_drawn_span){
            .begin = span->begin,
            .end = span->end,
            .track = drawing->places[span->track],
            .kind = is_wait && span->stage == NULL ? 0 : kind_of(drawing, label),
            .is_wait = is_wait,
            .tip = span->name};
        add_to_track(&drawing->tracks[span->track], span);
        first = span->begin < first ? span->begin : first;
        last = span->end > last ? span->end : last;
    }
    drawing->length = last - first;
}

/* ---- words ---- */

static void describe(const struct xb_trace_case *of, struct drawing *drawing)
{
    char text[32];
    size_t busiest = 0;
    for (size_t i = 0; i < of->track_count; i++)
        if (drawing->tracks[i].work > drawing->tracks[busiest].work)
            busiest = i;
    snprintf(drawing->title, sizeof drawing->title, "One iteration of %.280s", of->name);
    int used = snprintf(drawing->description, sizeof drawing->description,
                        "%zu spans on %zu threads and streams in %s, one below the other; time "
                        "goes from left to right, and waits are pale.",
                        of->span_count, drawing->track_count,
                        xb_duration_format(drawing->length, text, sizeof text));
    if (drawing->length > 0 && drawing->tracks[busiest].work > 0)
        snprintf(drawing->description + used, sizeof drawing->description - (size_t)used,
                 " The busiest is %.200s, %.0f %% of the time.", of->tracks[busiest],
                 100 * drawing->tracks[busiest].work / drawing->length);
}

static void put_time(struct xb_page *page, const struct drawing *drawing, double seconds)
{
    char text[32];
    if (seconds > 0 && drawing->length > 0)
        xb_page_cell(page, "%s (%.0f %%)", xb_duration_format(seconds, text, sizeof text),
                     100 * seconds / drawing->length);
    else
        xb_page_cell(page, "-");
}

static void write_table(struct xb_page *page, const struct xb_trace_case *of,
                        const struct drawing *drawing)
{
    char text[32];
    xb_page_table_begin(page, drawing->title);
    xb_page_column(page, "Thread or stream", false);
    xb_page_column(page, "Spans", true);
    xb_page_column(page, "At work", true);
    xb_page_column(page, "Waiting", true);
    xb_page_column(page, "Data", true);
    for (size_t i = 0; i < of->track_count; i++) {
        const struct track *track = &drawing->tracks[i];
        if (track->spans == 0)
            continue;
        xb_page_cell(page, "%s", of->tracks[i]);
        xb_page_cell(page, "%zu", track->spans);
        put_time(page, drawing, track->work);
        put_time(page, drawing, track->wait);
        xb_page_cell(page, "%s",
                     track->bytes > 0 ? xb_size_format(track->bytes, text, sizeof text) : "-");
    }
    xb_page_table_end(page);
}

/* ---- a case ---- */

static enum xb_status draw(struct xb_page *page, const struct drawing *drawing,
                           struct xb_error *error)
{
    const struct xb_spans spans = {
        .picture = {.title = drawing->title, .description = drawing->description},
        .tracks = drawing->names,
        .track_count = drawing->track_count,
        .kinds = drawing->kind_names,
        .kind_count = drawing->kind_count,
        .spans = drawing->spans,
        .count = drawing->count};
    return xb_page_spans(page, &spans, error);
}

static enum xb_status write_case(struct xb_page *page, const struct xb_trace_case *of,
                                 bool is_drawn, struct xb_error *error)
{
    enum xb_status status = XB_OK;
    struct drawing *drawing = calloc(1, sizeof *drawing);
    struct xb_drawn_span *spans = calloc(of->span_count + 1, sizeof *spans);
    if (drawing == NULL || spans == NULL) {
        status = XB_FAIL(error, XB_ERR_MEMORY, "no memory for the pictures of a report");
    } else {
        drawing->spans = spans;
        fill(of, drawing);
        describe(of, drawing);
        if (is_drawn)
            status = draw(page, drawing, error);
        if (status == XB_OK)
            write_table(page, of, drawing);
    }
    free(spans);
    free(drawing);
    return status;
}

static enum xb_status write(struct xb_page *page, const struct xb_report_document *document,
                            struct xb_error *error)
{
    const struct xb_trace *trace = document->trace;
    enum xb_status status = XB_OK;
    for (size_t i = 0; status == XB_OK && i < trace->case_count; i++)
        status = write_case(page, &trace->cases[i], i < DRAWN, error);
    if (status == XB_OK && trace->case_count > DRAWN)
        xb_page_remark(page, "Of %zu cases the first %d have a picture.", trace->case_count, DRAWN);
    return status;
}

const struct xb_section xb_section_timelines = {
    .name = "timelines",
    .title = "Timelines",
    .speaks = speaks,
    .write = write,
};
