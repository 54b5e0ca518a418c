/* SPDX-License-Identifier: Apache-2.0 */
/* Rows with names at their left: strips, and bars with their values behind them. */
#include "pictures.h"

#include <math.h>

#define ROW 26.0
#define STACKED_ROW 42.0 /* of one whose name stands above it */
#define NAMES_MOST 150.0 /* beside their strips; longer ones stand above */
#define NOTES_MOST 110.0
#define DOT_COLUMNS 200 /* more than the room for dots has, at 4 pixels each */
#define DOTS_HIGH 5     /* samples that stand at one place */

/* Upright lines. Their names stand at the outer sides, a line of text each, so that no line goes
 * through the name of another; but not outside the picture. */
static void draw_levels(FILE *stream, const struct xb_frame *frame,
                        const struct xb_plot_level *levels, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct xb_plot_level *level = &levels[i];
        double x = XB_X(frame, level->at), y = 13.5 + XB_LINE_HEIGHT * (double)i;
        double width = xb_svg_text_width(level->name), behind = frame->width - x - 10.0;
        size_t lower = 0;
        if (!xb_scale_shows(frame->x.scale, level->at))
            continue;
        for (size_t k = 0; k < count; k++)
            lower += levels[k].at < level->at;
        bool is_left = lower < count / 2 ? width < x - 10.0 : width > behind;
        xb_svg_line(stream, "level", x, y - 3.5, x, frame->bottom);
        xb_svg_text(stream, is_left ? "quiet end" : "quiet", is_left ? x - 6.0 : x + 6.0, y,
                    is_left ? x - 10.0 : behind, level->name);
    }
}

/* The name, the note in the colour of what is said, and the strip. */
static void draw_strip(FILE *stream, const struct xb_frame *frame, const struct xb_strip *strip,
                       double top)
{
    /* Samples at one place stand above and below each other, at most five. */
    static const double levels[DOTS_HIGH] = {0.0, -3.5, 3.5, -7.0, 7.0};
    unsigned char filled[DOT_COLUMNS] = {0};
    const char *look = strip->look != NULL ? strip->look : "";
    bool is_stacked = frame->row > ROW;
    double y = top + (is_stacked ? 30.0 : ROW / 2.0);
    double words = top + (is_stacked ? 12.0 : ROW / 2.0);
    xb_svg_text(stream, "halo", 8.0, words, is_stacked ? frame->width - 16.0 : frame->left - 20.0,
                strip->name);
    xb_svg_group_begin(stream, look[0] != '\0' ? look : "series-1", NULL);
    if (strip->note != NULL)
        xb_svg_text(stream, "halo end", frame->width - 8.0, y, NOTES_MOST, strip->note);
    if (xb_scale_spans(frame->x.scale, strip->low, strip->high))
        xb_svg_line(stream, "interval", XB_X(frame, strip->low), y, XB_X(frame, strip->high), y);
    if (strip->samples != NULL && strip->sample_count > 0) {
        xb_svg_path_begin(stream, "dots");
        for (size_t i = 0; i < strip->sample_count; i++) {
            double x = XB_X(frame, strip->samples[i]);
            size_t column = xb_at_most((size_t)fmax((x - frame->left) / 3.5, 0.0), DOT_COLUMNS - 1);
            if (xb_scale_shows(frame->x.scale, strip->samples[i]) && filled[column] < DOTS_HIGH)
                xb_svg_form(stream, "M# #h0", x, y + levels[filled[column]++]);
        }
        xb_svg_path_end(stream);
    }
    if (xb_scale_shows(frame->x.scale, strip->middle)) {
        double x = XB_X(frame, strip->middle);
        if (strip->samples != NULL)
            xb_svg_line(stream, "whisker", x, y - 10.0, x, y + 10.0);
        else
            xb_svg_marker(stream, look, x, y, NULL);
    }
    xb_svg_group_end(stream);
}

void xb_strips_draw(FILE *stream, const void *picture, bool is_alone)
{
    const struct xb_strips *strips = picture;
    const size_t level_count = xb_at_most(strips->level_count, XB_LEVELS_MOST);
    struct xb_frame frame = {.picture = &strips->picture,
                             .width = XB_PLOT_WIDTH,
                             .x_label = strips->x.label,
                             .is_empty = strips->count == 0};
    const size_t count = xb_frame_take(&frame, strips->count, XB_STRIPS_MOST, "are");
    const enum xb_scale scale = strips->x.scale;
    struct xb_range range = XB_RANGE_NONE;
    double names = 40.0, notes = 0.0;
    for (size_t i = 0; i < count; i++) {
        const struct xb_strip *strip = &strips->strips[i];
        names = fmax(names, xb_svg_text_width(strip->name));
        notes = fmax(notes, strip->note != NULL ? xb_svg_text_width(strip->note) : 0.0);
        xb_range_add(&range, scale, strip->middle);
        xb_range_span(&range, scale, strip->low, strip->high);
        for (size_t k = 0; strip->samples != NULL && k < strip->sample_count; k++)
            xb_range_add(&range, scale, strip->samples[k]);
    }
    for (size_t i = 0; i < level_count; i++)
        xb_range_add(&range, scale, strips->levels[i].at);
    if (strips->x_low < strips->x_high)
        xb_range_span(&range, scale, strips->x_low, strips->x_high);
    /* Names that are short leave the axis room beside them; else they stand above their strips. */
    frame.row = names > NAMES_MOST ? STACKED_ROW : ROW;
    frame.left = names > NAMES_MOST ? 20.0 : names + 20.0;
    frame.right = frame.width - (notes > 0.0 ? fmin(notes, NOTES_MOST) + 18.0 : 28.0);
    frame.top = 10.0 + XB_LINE_HEIGHT * (double)level_count;
    frame.bottom = frame.top + frame.row * fmax((double)count, 2.0);
    frame.x = xb_ruler_make(scale, range, false, frame.left, frame.right);
    xb_frame_begin(stream, &frame, is_alone);
    draw_levels(stream, &frame, strips->levels, level_count);
    for (size_t i = 0; i < count; i++)
        draw_strip(stream, &frame, &strips->strips[i], frame.top + frame.row * (double)i);
    xb_frame_end(stream, &frame);
}

#define BAR 16.0
#define BETWEEN_BARS 9.0
#define BAR_NAMES_MOST 170.0 /* beside their bars; longer ones stand above */
#define BAR_VALUES_MOST 90.0

void xb_lengths_draw(FILE *stream, const void *picture, bool is_alone)
{
    const struct xb_lengths *lengths = picture;
    struct xb_frame frame = {.picture = &lengths->picture, .width = XB_PLOT_WIDTH};
    const size_t rows = xb_frame_take(&frame, lengths->row_count, XB_LENGTHS_MOST, "are");
    const size_t across = xb_at_most(lengths->series_count, XB_PLOT_SERIES);
    const size_t level_count = lengths->level.at > 0.0;
    struct xb_range range = XB_RANGE_NONE;
    double values = 20.0;
    const double names = xb_svg_widest(lengths->rows, rows, 40.0);
    const double above = names > BAR_NAMES_MOST ? XB_LINE_HEIGHT : 0.0; /* for a row's name */
    const double bars = BAR * fmax((double)across, 1.0), row = above + bars + BETWEEN_BARS;
    xb_range_add(&range, XB_SCALE_LINEAR, lengths->end);
    xb_range_add(&range, XB_SCALE_LINEAR, lengths->level.at);
    for (size_t i = 0; i < rows * across; i++) {
        const struct xb_length *bar =
            &lengths->bars[i / across * lengths->series_count + i % across];
        xb_range_add(&range, XB_SCALE_LINEAR, bar->value);
        values = fmax(values, bar->text != NULL ? xb_svg_text_width(bar->text) * 1.1 : 0.0);
    }
    for (size_t k = 0; across > 1 && k < across; k++)
        xb_frame_item(&frame, "span", xb_series_look(k), lengths->series[k]);
    frame.top = level_count > 0 ? 24.0 : 4.0;
    frame.bottom = frame.top + row * fmax((double)rows, 1.0);
    frame.left = above > 0.0 ? 12.0 : names + 14.0;
    frame.right = frame.width - fmin(values, BAR_VALUES_MOST) - 14.0;
    frame.x = (struct xb_ruler){XB_SCALE_LINEAR, 0.0,         fmax(range.high, 1e-90),
                                frame.left,      frame.right, NULL};
    frame.is_empty = rows == 0 || across == 0;
    xb_frame_begin(stream, &frame, is_alone);
    for (size_t i = 0; i < rows; i++) {
        double top = frame.top + row * (double)i + BETWEEN_BARS / 2.0;
        xb_svg_text(
            stream, above > 0.0 ? "" : "end", above > 0.0 ? frame.left + 4.0 : frame.left - 8.0,
            above > 0.0 ? top + 8.5 : top + bars / 2.0, frame.width - frame.left, lengths->rows[i]);
        top += above;
        for (size_t k = 0; k < across; k++, top += BAR) {
            const struct xb_length *bar = &lengths->bars[i * lengths->series_count + k];
            bool is_drawn = xb_scale_shows(XB_SCALE_LINEAR, bar->value) && bar->value > 0.0;
            if (is_drawn) {
                double width = XB_X(&frame, bar->value) - frame.left;
                xb_svg_group_begin(stream, bar->look != NULL ? bar->look : xb_series_look(k),
                                   bar->tip);
                xb_svg_rectangle(stream, "span", frame.left, top, fmax(width, 1.0), BAR - 1.0,
                                 NULL);
                xb_svg_group_end(stream);
            }
            if (bar->text != NULL)
                xb_svg_text(stream, is_drawn ? "strong end" : "quiet end", frame.width - 6.0,
                            top + BAR / 2.0, BAR_VALUES_MOST, bar->text);
        }
    }
    xb_svg_line(stream, "axis", frame.left, frame.top, frame.left, frame.bottom);
    draw_levels(stream, &frame, &lengths->level, level_count);
    xb_frame_end(stream, &frame);
}
