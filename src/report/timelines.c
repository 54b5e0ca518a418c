/* SPDX-License-Identifier: Apache-2.0 */
/* The timelines of a trace: what each thread and stream did when, a picture a case. */
#include "report.h"

#include "base/units.h"
#include "trace/profile.h"

#include <math.h>
#include <string.h>

#define DRAWN 12 /* cases */
#define LABEL 48
#define SHARED 20.0 /* timelines that differ by less share one axis */

/* A case as a picture, and what the table tells of its tracks. */
struct drawing {
    const char *title;
    struct xb_spans spans;
    const char **names; /* of tracks with spans */
    struct track {
        const char *name;
        size_t place;      /* among those with spans */
        double work, wait; /* seconds */
        size_t spans;
        uint64_t bytes; /* of copies, kernels and work */
    } * tracks;         /* the first stands for all that the trace does not name */
    size_t track_count;
    const char *kinds[XB_SPANS_KINDS];
    double length;
};

/* "Memcpy HtoD" for "Memcpy HtoD (Pinned -> Device)". The last of too many kinds is all others. */
static size_t kind_of(struct xb_page *page, struct drawing *drawing, const char *text)
{
    size_t *count = &drawing->spans.kind_count;
    char label[LABEL];
    size_t kind = 0;
    snprintf(label, sizeof label, "%s", text);
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

/* Lists the tracks of a case. `at` is where each is, by its place in names. */
static void list_tracks(struct xb_page *page, const struct xb_profile *of, size_t *at,
                        struct drawing *drawing)
{
    size_t count = of->track_count + 1;
    drawing->track_count = count;
    drawing->tracks = xb_page_new(page, count, sizeof *drawing->tracks);
    drawing->names = xb_page_new(page, count, sizeof *drawing->names);
    drawing->tracks[0].name = "without a name";
    for (size_t i = 1; i < count; i++) {
        drawing->tracks[i].name = of->tracks[i - 1].name;
        at[of->tracks[i - 1].track] = i;
    }
    for (size_t i = 0; i < of->count; i++)
        drawing->tracks[at[of->activities[i].track]].spans++;
    /* Tracks on which nothing happened are left out. */
    for (size_t i = 0; i < count; i++) {
        drawing->tracks[i].place = drawing->spans.track_count;
        if (drawing->tracks[i].spans > 0)
            drawing->names[drawing->spans.track_count++] = drawing->tracks[i].name;
    }
}

static void fill(struct xb_page *page, const struct xb_report_document *document,
                 const struct xb_profile *of, size_t *at, struct drawing *drawing)
{
    const char *const *names = document->trace->names;
    struct xb_drawn_span *drawn = xb_page_new(page, of->count, sizeof *drawn);
    double first = INFINITY, last = -INFINITY;
    drawing->title =
        xb_page_print(page, "One iteration of %.280s", of->name != NULL ? of->name : "a case");
    list_tracks(page, of, at, drawing);
    for (size_t i = 0; i < of->count; i++) {
        const struct xb_activity *span = &of->activities[i];
        struct track *track = &drawing->tracks[at[span->track]];
        bool is_wait = span->kind == XB_ACTIVITY_WAIT, is_call = span->kind == XB_ACTIVITY_CALL;
        const char *kind = names[span->stage != 0 ? span->stage : span->name];
        /* A wait is drawn in the colour of what it waits for, where that has one. */
        drawn[i] = (struct xb_drawn_span){
            (double)span->begin / 1e9,
            (double)span->end / 1e9,
            track->place,
            is_wait && span->stage == 0 ? 0 : kind_of(page, drawing, is_call ? "submit" : kind),
            is_wait,
            names[span->name]};
        *(is_wait ? &track->wait : &track->work) += drawn[i].end - drawn[i].begin;
        if (!is_wait && !is_call)
            track->bytes += span->bytes;
        first = fmin(first, drawn[i].begin);
        last = fmax(last, drawn[i].end);
    }
    drawing->length = fmax(last - first, 0.0);
    drawing->spans.tracks = drawing->names;
    drawing->spans.kinds = drawing->kinds;
    drawing->spans.spans = drawn;
    drawing->spans.count = of->count;
    /* An axis of the longest of all; but a short one would be a stroke. */
    drawing->spans.length = document->longest < SHARED * drawing->length ? document->longest : 0.0;
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
    const struct xb_profiles *trace = document->trace;
    struct drawing *drawings = xb_page_new(page, trace->count, sizeof *drawings);
    size_t *at = xb_page_new(page, trace->name_count, sizeof *at);
    for (size_t i = 0; i < trace->count; i++) {
        struct drawing *drawing = &drawings[i];
        const char *more = "";
        fill(page, document, &trace->items[i], at, drawing);
        const struct track *busiest = &drawing->tracks[0];
        for (size_t k = 0; k < drawing->track_count; k++)
            if (drawing->tracks[k].work > busiest->work)
                busiest = &drawing->tracks[k];
        if (drawing->length > 0 && busiest->work > 0)
            more = xb_page_print(page, " The busiest is %.200s, %.0f %% of the time.",
                                 busiest->name, 100 * busiest->work / drawing->length);
        if (i < DRAWN)
            xb_page_picture(
                page, xb_spans_draw, &drawing->spans, drawing->title,
                "%zu spans on %zu threads and streams in %s, one below the other; time goes from "
                "left to right, and waits are pale.%s",
                drawing->spans.count, drawing->spans.track_count, XB_DURATION_TEXT(drawing->length),
                more);
    }
    if (trace->count > DRAWN)
        xb_page_remark(page, "Of %zu cases the first %d have a picture.", trace->count, DRAWN);
    if (trace->left_out > 0)
        xb_page_remark(page,
                       "%zu events are left out: their times cannot be, or they are too long.",
                       trace->left_out);
    xb_page_fold_begin(page, NULL, "Numbers", "", "");
    XB_EACH (drawing, drawings, trace->count) {
        xb_page_table_begin(page, drawing->title,
                            "Thread or stream|#Spans|#At work|#Waiting|#Data");
        XB_EACH (track, drawing->tracks, drawing->track_count)
            if (track->spans > 0)
                XB_PAGE_CELLS(page, track->name, xb_page_print(page, "%zu", track->spans),
                              share_of(page, drawing, track->work),
                              share_of(page, drawing, track->wait),
                              track->bytes > 0 ? XB_SIZE_TEXT(track->bytes) : NULL);
        xb_page_table_end(page);
    }
    xb_page_fold_end(page);
}
