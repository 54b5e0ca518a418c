/* SPDX-License-Identifier: Apache-2.0 */
#include "pictures.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define ROW 30.0
#define BAR 18.0
#define TOP 12.0
#define NAMES_MOST 170.0
#define PIXELS 640 /* more than the room for spans has */
/* Spans drawn one by one on a track; those that do not overlap are fewer. */
#define ALONE_MOST 1000

struct frame {
    const struct xb_spans *spans;
    size_t tracks, kinds;
    double begin;  /* of all */
    double factor; /* seconds to the unit of the axis */
    double left, right, bottom;
    struct xb_ruler x;
    const char *unit; /* of the axis */
};

static bool is_drawn(const struct frame *frame, const struct xb_drawn_span *span)
{
    return span->track < frame->tracks && xb_scale_shows(XB_SCALE_LINEAR, span->begin) &&
           xb_scale_shows(XB_SCALE_LINEAR, span->end) && span->begin <= span->end;
}

static struct frame make_frame(const struct xb_spans *spans)
{
    static const struct {
        const char *name;
        double factor;
    } units[] = {{"s", 1.0}, {"ms", 1e3}, {"us", 1e6}, {"ns", 1e9}};
    struct frame frame = {.spans = spans};
    struct xb_range range = XB_RANGE_NONE;
    frame.tracks = xb_at_most(spans->track_count, XB_SPANS_TRACKS);
    frame.kinds = xb_at_most(spans->kind_count, XB_SPANS_KINDS);
    for (size_t i = 0; i < spans->count; i++)
        if (is_drawn(&frame, &spans->spans[i])) {
            xb_range_add(&range, XB_SCALE_LINEAR, spans->spans[i].begin);
            xb_range_add(&range, XB_SCALE_LINEAR, spans->spans[i].end);
        }
    double names = 40.0;
    for (size_t i = 0; i < frame.tracks; i++)
        names = fmax(names, xb_svg_text_width(spans->tracks[i]));
    frame.left = fmin(names, NAMES_MOST) + 20.0;
    frame.right = XB_PLOT_WIDTH - 20.0;
    frame.bottom = TOP + ROW * fmax((double)frame.tracks, 1.0);
    /* The largest unit in which the end is 1 or more. */
    size_t unit = 0;
    double seconds = range.low <= range.high ? range.high - range.low : 0.0;
    while (unit + 1 < sizeof units / sizeof *units && seconds * units[unit].factor < 1.0 &&
           seconds > 0.0)
        unit++;
    frame.begin = range.low;
    frame.unit = units[unit].name;
    frame.factor = units[unit].factor;
    double length = seconds * frame.factor;
    frame.x = (struct xb_ruler){XB_SCALE_LINEAR, 0.0, length > 0.0 ? length : 1.0, frame.left,
                                frame.right};
    return frame;
}

static double place(const struct frame *frame, double seconds)
{
    return xb_ruler_place(&frame->x, (seconds - frame->begin) * frame->factor);
}

static void draw_bar(FILE *stream, size_t kind, bool is_wait, double x, double y, double width,
                     const char *tip)
{
    xb_svg_group_begin(stream, xb_series_look(kind), NULL);
    xb_svg_rectangle(stream, is_wait ? "wait" : "span", x, y, width, BAR, tip);
    xb_svg_group_end(stream);
}

/* What narrow spans of each kind cover of each pixel, in seconds; work before waits. */
struct narrow {
    float covered[2 * XB_SPANS_KINDS][PIXELS];
};

/* The kind that covers most of a pixel; NO_KIND: nothing covers it. */
#define NO_KIND SIZE_MAX

static size_t most_of(const struct narrow *narrow, size_t pixel)
{
    size_t most = NO_KIND;
    for (size_t row = 0; row < 2 * (size_t)XB_SPANS_KINDS; row++) {
        float covered = narrow->covered[row][pixel];
        if (covered > 0.0f && (most == NO_KIND || covered > narrow->covered[most][pixel]))
            most = row;
    }
    return most;
}

static void draw_track(FILE *stream, const struct frame *frame, size_t track)
{
    struct narrow narrow = {{{0}}};
    double y = TOP + ROW * (double)track + (ROW - BAR) / 2.0;
    size_t drawn = 0;
    xb_svg_text_within(stream, "", 8.0, y + BAR / 2.0 + XB_TEXT_DROP, XB_ANCHOR_START,
                       frame->left - 16.0, frame->spans->tracks[track]);
    for (size_t i = 0; i < frame->spans->count; i++) {
        const struct xb_drawn_span *span = &frame->spans->spans[i];
        if (span->track != track || !is_drawn(frame, span))
            continue;
        size_t kind = xb_at_most(span->kind, XB_SPANS_KINDS - 1);
        double x = place(frame, span->begin);
        double end = place(frame, span->end);
        if (end - x >= 1.0 && drawn < ALONE_MOST) {
            draw_bar(stream, kind, span->is_wait, x, y, end - x, span->tip);
            drawn++;
            continue;
        }
        size_t from = (size_t)(x - frame->left);
        size_t to = (size_t)(end - frame->left);
        double share = (span->end - span->begin) / (double)(to - from + 1);
        for (size_t pixel = from; pixel <= to && pixel < PIXELS; pixel++)
            narrow.covered[kind + (span->is_wait ? XB_SPANS_KINDS : 0)][pixel] +=
                (float)fmax(share, 1e-30);
    }
    for (size_t pixel = 0; pixel < PIXELS;) {
        size_t from = pixel;
        size_t row = most_of(&narrow, from);
        while (pixel < PIXELS && most_of(&narrow, pixel) == row)
            pixel++;
        if (row != NO_KIND)
            draw_bar(stream, row, row >= XB_SPANS_KINDS, frame->left + (double)from, y,
                     (double)(pixel - from), NULL);
    }
}

void xb_spans_draw(FILE *stream, const void *picture, bool is_alone)
{
    const struct xb_spans *spans = picture;
    struct frame frame = make_frame(spans);
    struct xb_legend_item items[XB_SPANS_KINDS + 1];
    size_t waits = 0;
    for (size_t i = 0; i < spans->count; i++)
        waits = spans->spans[i].is_wait ? 1 : waits;
    for (size_t i = 0; i < frame.kinds + waits; i++)
        items[i] = (struct xb_legend_item){.look = xb_series_look(i == frame.kinds ? 5 : i),
                                           .name = i == frame.kinds ? "waiting" : spans->kinds[i],
                                           .sample = XB_SAMPLE_BOX,
                                           .size = 22.0,
                                           .box = i == frame.kinds ? "wait" : "span",
                                           .is_coloured = true};
    double first = frame.bottom + xb_ruler_bottom_room(frame.unit) + XB_LINE_HEIGHT;
    double height =
        xb_legend_draw(NULL, items, frame.kinds + waits, XB_PLOT_WIDTH, first) + XB_LINE_HEIGHT;
    size_t more = spans->track_count - frame.tracks;
    xb_svg_begin(stream, &spans->picture, XB_PLOT_WIDTH, height + (more > 0 ? XB_LINE_HEIGHT : 0.0),
                 is_alone);
    for (size_t i = 0; i < frame.tracks; i += 2)
        xb_svg_rectangle(stream, "stripe", 0.0, TOP + ROW * (double)i, XB_PLOT_WIDTH, ROW, NULL);
    xb_ruler_draw_bottom(stream, &frame.x, TOP, frame.bottom, frame.unit);
    for (size_t i = 0; i < frame.tracks; i++)
        draw_track(stream, &frame, i);
    if (spans->count == 0)
        xb_svg_text(stream, "quiet", (frame.left + frame.right) / 2.0, TOP + 20.0, XB_ANCHOR_MIDDLE,
                    "no data");
    (void)xb_legend_draw(stream, items, frame.kinds + waits, XB_PLOT_WIDTH, first);
    if (more > 0)
        xb_svg_note(stream, height + 4.0, "%zu more tracks are not drawn", more);
    xb_svg_end(stream);
}
