/* SPDX-License-Identifier: Apache-2.0 */
/* The timelines of a trace: what each thread and stream did when, a picture a case. */
#include "report.h"

#include "base/units.h"
#include "trace/trace.h"

#include <math.h>
#include <string.h>

#define DRAWN 12 /* cases */
#define LABEL 48
#define SHARED 20.0 /* timelines that differ by less share one axis */

/* A case as a picture, and what the table tells of its tracks. */
struct drawing {
    const char *title;
    struct xb_spans spans;
    const char *names[XB_TRACE_TRACKS]; /* of tracks with spans */
    size_t places[XB_TRACE_TRACKS];     /* of all tracks among those */
    struct track {
        double work, wait; /* seconds */
        size_t spans;
        uint64_t bytes; /* of copies, kernels and work */
    } tracks[XB_TRACE_TRACKS];
    const char *kinds[XB_SPANS_KINDS];
    double length;
};

/* "Memcpy HtoD" for "Memcpy HtoD (Pinned -> Device)". The last of too many kinds is all others. */
static size_t kind_of(struct xb_page *page, struct drawing *drawing,
                      const struct xb_trace_span *span)
{
    const char *text = span->stage != NULL ? span->stage : span->name;
    size_t *count = &drawing->spans.kind_count;
    char label[LABEL];
    size_t kind = 0;
    snprintf(label, sizeof label, "%s", span->kind == XB_SPAN_CALL ? "submit" : text);
    char *bracket = strstr(label, " (");
    if (bracket != NULL && bracket > label)
        *bracket = '\0';
    while (kind < *count && strcmp(drawing->kinds[kind], label) != 0)
        kind++;
    if (kind == XB_SPANS_KINDS)
        return XB_SPANS_KINDS - 1;
    if (kind == *count)
        drawing->kinds[(*count)++] =
            kind + 1 == XB_SPANS_KINDS ? "other" : xb_page_print(page, "%s", label);
    return kind;
}

static void fill(struct xb_page *page, const struct xb_trace_case *of, double longest,
                 struct drawing *drawing)
{
    struct xb_drawn_span *drawn = xb_page_new(page, of->span_count, sizeof *drawn);
    double first = of->span_count > 0 ? of->spans[0].begin : 0.0;
    double last = first;
    drawing->title = xb_page_print(page, "One iteration of %.280s", of->name);
    drawing->spans = (struct xb_spans){
        .tracks = drawing->names, .kinds = drawing->kinds, .spans = drawn, .count = of->span_count};
    for (size_t i = 0; i < of->span_count; i++)
        drawing->tracks[of->spans[i].track].spans++;
    /* Tracks on which nothing happened are left out. */
    for (size_t i = 0; i < of->track_count; i++) {
        drawing->places[i] = drawing->spans.track_count;
        if (drawing->tracks[i].spans > 0)
            drawing->names[drawing->spans.track_count++] = of->tracks[i];
    }
    for (size_t i = 0; i < of->span_count; i++) {
        const struct xb_trace_span *span = &of->spans[i];
        struct track *track = &drawing->tracks[span->track];
        bool is_wait = span->kind == XB_SPAN_WAIT;
        /* A wait is drawn in the colour of what it waits for, where that has one. */
        drawn[i] = (struct xb_drawn_span){
            span->begin,
            span->end,
            drawing->places[span->track],
            is_wait && span->stage == NULL ? 0 : kind_of(page, drawing, span),
            is_wait,
            span->name};
        *(is_wait ? &track->wait : &track->work) += span->end - span->begin;
        if (!is_wait && span->kind != XB_SPAN_CALL)
            track->bytes += span->bytes;
        first = fmin(first, span->begin);
        last = fmax(last, span->end);
    }
    drawing->length = last - first;
    /* An axis of the longest of all; but a short one would be a stroke. */
    drawing->spans.length = longest < SHARED * drawing->length ? longest : 0.0;
}

/* "1.20 ms (37 %)"; NULL where there is none. */
static const char *share_of(struct xb_page *page, const struct drawing *drawing, double seconds)
{
    return seconds > 0 && drawing->length > 0
               ? xb_page_print(page, "%s (%.0f %%)", XB_DURATION_TEXT(seconds),
                               100 * seconds / drawing->length)
               : NULL;
}

void xb_write_timelines(struct xb_page *page, const struct xb_report_document *document)
{
    const struct xb_trace *trace = document->trace;
    struct drawing *drawings = xb_page_new(page, trace->case_count, sizeof *drawings);
    for (size_t i = 0; i < trace->case_count; i++) {
        const struct xb_trace_case *of = &trace->cases[i];
        struct drawing *drawing = &drawings[i];
        const char *more = "";
        size_t busiest = 0;
        fill(page, of, document->longest, drawing);
        for (size_t k = 0; k < of->track_count; k++)
            if (drawing->tracks[k].work > drawing->tracks[busiest].work)
                busiest = k;
        double work = drawing->tracks[busiest].work;
        if (drawing->length > 0 && work > 0)
            more = xb_page_print(page, " The busiest is %.200s, %.0f %% of the time.",
                                 of->tracks[busiest], 100 * work / drawing->length);
        if (i < DRAWN)
            xb_page_picture(
                page, xb_spans_draw, &drawing->spans, drawing->title,
                "%zu spans on %zu threads and streams in %s, one below the other; time goes from "
                "left to right, and waits are pale.%s",
                of->span_count, drawing->spans.track_count, XB_DURATION_TEXT(drawing->length),
                more);
    }
    if (trace->case_count > DRAWN)
        xb_page_remark(page, "Of %zu cases the first %d have a picture.", trace->case_count, DRAWN);
    xb_page_fold_begin(page, NULL, "Numbers", "", "");
    for (size_t i = 0; i < trace->case_count; i++) {
        xb_page_table_begin(page, drawings[i].title,
                            "Thread or stream|#Spans|#At work|#Waiting|#Data");
        for (size_t k = 0; k < trace->cases[i].track_count; k++) {
            const struct track *track = &drawings[i].tracks[k];
            if (track->spans > 0)
                XB_PAGE_CELLS(page, trace->cases[i].tracks[k],
                              xb_page_print(page, "%zu", track->spans),
                              share_of(page, &drawings[i], track->work),
                              share_of(page, &drawings[i], track->wait),
                              track->bytes > 0 ? XB_SIZE_TEXT(track->bytes) : NULL);
        }
        xb_page_table_end(page);
    }
    xb_page_fold_end(page);
}
