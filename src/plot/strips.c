/* SPDX-License-Identifier: Apache-2.0 */
#include "pictures.h"

#include <math.h>
#include <string.h>

#define ROW 26.0
#define STACKED_ROW 42.0 /* of one whose name stands above it */
#define NAMES_MOST 200.0 /* beside their strips; longer ones stand above */
#define NOTES_MOST 150.0
#define DOT_COLUMNS 200 /* more than the room for dots has, at 4 pixels each */
#define DOTS_HIGH 5     /* samples that stand at one place */

struct frame {
    const struct xb_strips *strips;
    size_t count, level_count;
    bool is_stacked; /* names stand above their strips, not beside them */
    double row;      /* how high one is */
    double left, right, top, bottom;
    struct xb_ruler x;
};

static bool has_interval(const struct xb_strips *strips, const struct xb_strip *strip)
{
    return xb_scale_shows(strips->x.scale, strip->low) &&
           xb_scale_shows(strips->x.scale, strip->high) && strip->low <= strip->high;
}

/* Names that are short leave the axis room beside them. */
static struct frame make_frame(const struct xb_strips *strips)
{
    struct frame frame = {.strips = strips,
                          .count = xb_at_most(strips->count, XB_STRIPS_MOST),
                          .level_count = xb_at_most(strips->level_count, XB_LEVELS_MOST)};
    enum xb_scale scale = strips->x.scale;
    struct xb_range range = XB_RANGE_NONE;
    double names = 40.0;
    double notes = 0.0;
    for (size_t i = 0; i < frame.count; i++) {
        const struct xb_strip *strip = &strips->strips[i];
        names = fmax(names, xb_svg_text_width(strip->name));
        notes = fmax(notes, strip->note != NULL ? xb_svg_text_width(strip->note) : 0.0);
        xb_range_add(&range, scale, strip->middle);
        if (has_interval(strips, strip)) {
            xb_range_add(&range, scale, strip->low);
            xb_range_add(&range, scale, strip->high);
        }
        for (size_t k = 0; strip->samples != NULL && k < strip->sample_count; k++)
            xb_range_add(&range, scale, strip->samples[k]);
    }
    for (size_t i = 0; i < frame.level_count; i++)
        xb_range_add(&range, scale, strips->levels[i].at);
    if (strips->x_low < strips->x_high) {
        xb_range_add(&range, scale, strips->x_low);
        xb_range_add(&range, scale, strips->x_high);
    }
    frame.is_stacked = names > NAMES_MOST;
    frame.row = frame.is_stacked ? STACKED_ROW : ROW;
    frame.left = frame.is_stacked ? 20.0 : names + 20.0;
    frame.right = XB_PLOT_WIDTH - (frame.is_stacked ? 20.0
                                   : notes > 0.0    ? fmin(notes, NOTES_MOST) + 18.0
                                                    : 28.0);
    frame.top = 10.0 + XB_LINE_HEIGHT * (double)frame.level_count;
    frame.bottom = frame.top + frame.row * fmax((double)frame.count, 2.0);
    frame.x = xb_ruler_make(scale, range, strips->x_from_zero, frame.left, frame.right);
    return frame;
}

/* Samples at one place stand above and below each other, at most five. */
static void draw_samples(FILE *stream, const struct frame *frame, const struct xb_strip *strip,
                         double y)
{
    static const double levels[DOTS_HIGH] = {0.0, -3.5, 3.5, -7.0, 7.0};
    unsigned char filled[DOT_COLUMNS] = {0};
    xb_svg_path_begin(stream, "dots");
    for (size_t i = 0; i < strip->sample_count; i++) {
        if (!xb_scale_shows(frame->x.scale, strip->samples[i]))
            continue;
        double x = xb_ruler_place(&frame->x, strip->samples[i]);
        size_t column = xb_at_most((size_t)fmax((x - frame->left) / 3.5, 0.0), DOT_COLUMNS - 1);
        if (filled[column] < DOTS_HIGH)
            xb_svg_path_add(stream, "M# #h0", (double[]){x, y + levels[filled[column]++]});
    }
    xb_svg_path_end(stream);
}

/* The name, the note in the colour of what is said, and the strip. */
static void draw_strip(FILE *stream, const struct frame *frame, const struct xb_strip *strip,
                       double top)
{
    const char *look = strip->look != NULL ? strip->look : "";
    double y = top + (frame->is_stacked ? 30.0 : ROW / 2.0);
    double words = top + (frame->is_stacked ? 12.0 : ROW / 2.0) + XB_TEXT_DROP;
    xb_svg_text_within(stream, "halo", 8.0, words, XB_ANCHOR_START,
                       frame->is_stacked ? XB_PLOT_WIDTH - NOTES_MOST - 24.0 : frame->left - 20.0,
                       strip->name);
    if (strip->note != NULL) {
        xb_svg_group_begin(stream, look, NULL);
        if (frame->is_stacked)
            xb_svg_text_within(stream, "halo", XB_PLOT_WIDTH - 8.0, words, XB_ANCHOR_END,
                               NOTES_MOST, strip->note);
        else
            xb_svg_text_within(stream, "", frame->right + 10.0, words, XB_ANCHOR_START,
                               XB_PLOT_WIDTH - frame->right - 14.0, strip->note);
        xb_svg_group_end(stream);
    }
    xb_svg_group_begin(stream, look[0] != '\0' ? look : "series-1", NULL);
    if (has_interval(frame->strips, strip))
        xb_svg_line(stream, "interval", xb_ruler_place(&frame->x, strip->low), y,
                    xb_ruler_place(&frame->x, strip->high), y);
    if (strip->samples != NULL && strip->sample_count > 0)
        draw_samples(stream, frame, strip, y);
    if (xb_scale_shows(frame->x.scale, strip->middle)) {
        double x = xb_ruler_place(&frame->x, strip->middle);
        /* Each look has a marker of its own, so that it needs no colour. */
        size_t marker = strcmp(look, "bad") == 0 ? 1 : strcmp(look, "unsure") == 0 ? 4 : 0;
        if (strip->samples != NULL)
            xb_svg_line(stream, "whisker", x, y - 10.0, x, y + 10.0);
        else
            xb_svg_marker(stream, marker, x, y, NULL);
    }
    xb_svg_group_end(stream);
}

/* Names stand at the outer sides of their lines, a line of text each, so that no line goes through
 * the name of another. */
static void draw_level(FILE *stream, const struct frame *frame, size_t index)
{
    const struct xb_plot_level *levels = frame->strips->levels;
    double x = xb_ruler_place(&frame->x, levels[index].at);
    double y = 18.0 + XB_LINE_HEIGHT * (double)index;
    double width = xb_svg_text_width(levels[index].name);
    size_t lower = 0;
    if (!xb_scale_shows(frame->x.scale, levels[index].at))
        return;
    for (size_t k = 0; k < frame->level_count; k++)
        lower += levels[k].at < levels[index].at;
    /* But not outside the picture. */
    bool is_left =
        lower < frame->level_count / 2 ? width < x - 10.0 : width > XB_PLOT_WIDTH - x - 10.0;
    xb_svg_line(stream, "level", x, y - 8.0, x, frame->bottom);
    xb_svg_text_within(stream, "quiet", is_left ? x - 6.0 : x + 6.0, y,
                       is_left ? XB_ANCHOR_END : XB_ANCHOR_START,
                       is_left ? x - 10.0 : XB_PLOT_WIDTH - x - 10.0, levels[index].name);
}

void xb_strips_draw(FILE *stream, const void *picture, bool is_alone)
{
    const struct xb_strips *strips = picture;
    const struct frame frame = make_frame(strips);
    double height = frame.bottom + xb_ruler_bottom_room(strips->x.label) + 4.0;
    size_t more = strips->count - frame.count;
    xb_svg_begin(stream, &strips->picture, XB_PLOT_WIDTH,
                 height + (more > 0 ? XB_LINE_HEIGHT : 0.0), is_alone);
    for (size_t i = 0; i < frame.count && !frame.is_stacked; i += 2)
        xb_svg_rectangle(stream, "stripe", 0.0, frame.top + ROW * (double)i, XB_PLOT_WIDTH, ROW,
                         NULL);
    xb_ruler_draw_bottom(stream, &frame.x, frame.top, frame.bottom, strips->x.label);
    for (size_t i = 0; i < frame.level_count; i++)
        draw_level(stream, &frame, i);
    for (size_t i = 0; i < frame.count; i++)
        draw_strip(stream, &frame, &strips->strips[i], frame.top + frame.row * (double)i);
    if (strips->count == 0)
        xb_svg_text(stream, "quiet", XB_PLOT_WIDTH / 2.0, frame.top + ROW, XB_ANCHOR_MIDDLE,
                    "no data");
    if (more > 0)
        xb_svg_note(stream, height + 8.0, "%zu more are not drawn", more);
    xb_svg_end(stream);
}
