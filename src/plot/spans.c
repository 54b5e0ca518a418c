/* SPDX-License-Identifier: Apache-2.0 */
#include "pictures.h"

#include <math.h>

#define ROW 30.0
#define BAR 18.0
#define TOP 12.0
#define NAMES_MOST 140.0
#define PIXELS 440 /* more than the room for spans has */
/* Spans drawn one by one on a track; those that do not overlap are fewer. */
#define ALONE_MOST 1000

struct drawing {
    const struct xb_spans *spans;
    size_t tracks;
    double begin;            /* of all */
    struct xb_ruler seconds; /* from there on */
    struct xb_frame frame;
};

static bool is_drawn(const struct drawing *drawing, const struct xb_drawn_span *span)
{
    return span->track < drawing->tracks && xb_scale_spans(XB_SCALE_LINEAR, span->begin, span->end);
}

static void draw_bar(FILE *stream, size_t kind, bool is_wait, double x, double y, double width,
                     const char *tip)
{
    xb_svg_group_begin(stream, xb_series_look(kind), NULL);
    xb_svg_rectangle(stream, is_wait ? "wait" : "span", x, y, width, BAR, tip);
    xb_svg_group_end(stream);
}

#define ROWS (2 * (size_t)XB_SPANS_KINDS) /* a kind's work, and behind all of them its waits */

/* What covers most of a pixel; ROWS: nothing does. */
static size_t most_of(const float *covered)
{
    size_t most = ROWS;
    for (size_t row = 0; row < ROWS; row++)
        if (covered[row] > (most < ROWS ? covered[most] : 0.0f))
            most = row;
    return most;
}

static void draw_track(FILE *stream, const struct drawing *drawing, size_t track)
{
    float narrow[PIXELS][ROWS] = {{0}}; /* what narrow spans cover of each pixel, in seconds */
    double y = TOP + ROW * (double)track + (ROW - BAR) / 2.0;
    size_t drawn = 0;
    xb_svg_text(stream, "", 8.0, y + BAR / 2.0, drawing->frame.left - 16.0,
                drawing->spans->tracks[track]);
    for (size_t i = 0; i < drawing->spans->count; i++) {
        const struct xb_drawn_span *span = &drawing->spans->spans[i];
        if (span->track != track || !is_drawn(drawing, span))
            continue;
        size_t kind = xb_at_most(span->kind, XB_SPANS_KINDS - 1);
        double x = xb_ruler_place(&drawing->seconds, span->begin - drawing->begin);
        double end = xb_ruler_place(&drawing->seconds, span->end - drawing->begin);
        if (end - x >= 1.0 && drawn < ALONE_MOST) {
            draw_bar(stream, kind, span->is_wait, x, y, end - x, span->tip);
            drawn++;
            continue;
        }
        size_t from = (size_t)(x - drawing->frame.left);
        size_t to = (size_t)(end - drawing->frame.left);
        double share = (span->end - span->begin) / (double)(to - from + 1);
        for (size_t pixel = from; pixel <= to && pixel < PIXELS; pixel++)
            narrow[pixel][kind + (span->is_wait ? XB_SPANS_KINDS : 0)] += (float)fmax(share, 1e-30);
    }
    for (size_t from = 0, end; from < PIXELS; from = end) {
        size_t row = most_of(narrow[from]);
        for (end = from + 1; end < PIXELS && most_of(narrow[end]) == row;)
            end++;
        if (row < ROWS)
            draw_bar(stream, row, row >= XB_SPANS_KINDS, drawing->frame.left + (double)from, y,
                     (double)(end - from), NULL);
    }
}

void xb_spans_draw(FILE *stream, const void *picture, bool is_alone)
{
    static const char *const units[] = {"s", "ms", "us", "ns"};
    const struct xb_spans *spans = picture;
    struct drawing drawing = {.spans = spans,
                              .frame = {.picture = &spans->picture,
                                        .width = XB_PLOT_WIDTH,
                                        .top = TOP,
                                        .row = ROW,
                                        .is_empty = spans->count == 0}};
    struct xb_frame *frame = &drawing.frame;
    drawing.tracks = xb_frame_take(frame, spans->track_count, XB_SPANS_TRACKS, "tracks are");
    struct xb_range range = XB_RANGE_NONE;
    bool any_waits = false;
    for (size_t i = 0; i < spans->count; i++) {
        any_waits = any_waits || spans->spans[i].is_wait;
        if (is_drawn(&drawing, &spans->spans[i]))
            xb_range_span(&range, XB_SCALE_LINEAR, spans->spans[i].begin, spans->spans[i].end);
    }
    double seconds = xb_range_is_empty(range) ? 0.0 : range.high - range.low;
    if (xb_scale_shows(XB_SCALE_LINEAR, spans->length))
        seconds = fmax(seconds, spans->length);
    /* The largest unit in which the end is 1 or more. */
    const double thousands =
        seconds > 0.0 ? fmin(fmax(ceil(-log10(seconds) / 3.0), 0.0), 3.0) : 0.0;
    drawing.begin = range.low;
    frame->x_label = units[(size_t)thousands];
    frame->left = fmin(xb_svg_widest(spans->tracks, drawing.tracks, 40.0), NAMES_MOST) + 14.0;
    frame->right = frame->width - 16.0;
    frame->bottom = frame->top + ROW * fmax((double)drawing.tracks, 1.0);
    drawing.seconds = (struct xb_ruler){
        XB_SCALE_LINEAR, 0.0, seconds > 0.0 ? seconds : 1.0, frame->left, frame->right, NULL};
    frame->x = drawing.seconds;
    frame->x.high *= pow(1e3, thousands);
    for (size_t i = 0; i < spans->kind_count && i < XB_SPANS_KINDS; i++)
        xb_frame_item(frame, "span", xb_series_look(i), spans->kinds[i]);
    if (any_waits)
        xb_frame_item(frame, "wait", xb_series_look(5), "waiting");
    xb_frame_begin(stream, frame, is_alone);
    for (size_t i = 0; i < drawing.tracks; i++)
        draw_track(stream, &drawing, i);
    xb_frame_end(stream, frame);
}
