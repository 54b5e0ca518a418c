/* SPDX-License-Identifier: Apache-2.0 */
/* Bars that lie, by name, each with its value behind it. */
#include "pictures.h"

#include <math.h>

#define BAR 16.0
#define BETWEEN_ROWS 9.0
#define NAMES_MOST 215.0
#define VALUES_MOST 90.0

void xb_lengths_draw(FILE *stream, const void *picture, bool is_alone)
{
    const struct xb_lengths *lengths = picture;
    const size_t rows = xb_at_most(lengths->row_count, XB_LENGTHS_MOST);
    const size_t across = xb_at_most(lengths->series_count, XB_PLOT_SERIES);
    const bool has_level =
        lengths->level.at > 0.0 && xb_scale_shows(XB_SCALE_LINEAR, lengths->level.at);
    struct xb_range range = XB_RANGE_NONE;
    double values = 20.0;
    double row = BAR * fmax((double)across, 1.0) + BETWEEN_ROWS;
    struct xb_frame frame = {.picture = &lengths->picture, .width = XB_PLOT_WIDTH};
    xb_range_add(&range, XB_SCALE_LINEAR, lengths->end);
    xb_range_add(&range, XB_SCALE_LINEAR, has_level ? lengths->level.at : 0.0);
    for (size_t i = 0; i < rows * across; i++) {
        const struct xb_length *bar =
            &lengths->bars[i / across * lengths->series_count + i % across];
        xb_range_add(&range, XB_SCALE_LINEAR, bar->value);
        values = fmax(values, bar->text != NULL ? xb_svg_text_width(bar->text) * 1.1 : 0.0);
    }
    for (size_t k = 0; across > 1 && k < across; k++)
        xb_frame_item(&frame, "span", xb_series_look(k), lengths->series[k]);
    frame.top = has_level ? 24.0 : 4.0;
    frame.bottom = frame.top + row * fmax((double)rows, 1.0);
    frame.left = fmin(xb_svg_widest(lengths->rows, rows, 40.0), NAMES_MOST) + 14.0;
    frame.right = frame.width - fmin(values, VALUES_MOST) - 14.0;
    frame.x =
        (struct xb_ruler){XB_SCALE_LINEAR, 0.0, fmax(range.high, 1e-90), frame.left, frame.right};
    frame.is_empty = rows == 0 || across == 0;
    xb_frame_more(&frame, lengths->row_count - rows, "are");
    xb_frame_begin(stream, &frame, is_alone);
    for (size_t i = 0; i < rows; i++) {
        double top = frame.top + row * (double)i + BETWEEN_ROWS / 2.0;
        xb_svg_text_within(stream, "", frame.left - 8.0,
                           top + (row - BETWEEN_ROWS) / 2.0 + XB_TEXT_DROP, XB_ANCHOR_END,
                           frame.left - 10.0, lengths->rows[i]);
        for (size_t k = 0; k < across; k++, top += BAR) {
            const struct xb_length *bar = &lengths->bars[i * lengths->series_count + k];
            bool is_drawn = xb_scale_shows(XB_SCALE_LINEAR, bar->value) && bar->value > 0.0;
            if (is_drawn) {
                double width = xb_ruler_place(&frame.x, bar->value) - frame.left;
                xb_svg_group_begin(stream, bar->look != NULL ? bar->look : xb_series_look(k),
                                   bar->tip);
                xb_svg_rectangle(stream, "span", frame.left, top, fmax(width, 1.0), BAR - 1.0,
                                 NULL);
                xb_svg_group_end(stream);
            }
            if (bar->text != NULL)
                xb_svg_text_within(stream, is_drawn ? "strong" : "quiet", frame.width - 6.0,
                                   top + BAR / 2.0 + XB_TEXT_DROP, XB_ANCHOR_END, VALUES_MOST,
                                   bar->text);
        }
    }
    xb_svg_line(stream, "axis", frame.left, frame.top, frame.left, frame.bottom);
    if (has_level) {
        double x = xb_ruler_place(&frame.x, lengths->level.at);
        xb_svg_line(stream, "level", x, frame.top - 4.0, x, frame.bottom);
        xb_svg_text_within(stream, "quiet", x, 14.0, XB_ANCHOR_END, x - 8.0, lengths->level.name);
    }
    xb_frame_end(stream, &frame);
}
