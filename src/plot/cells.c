/* SPDX-License-Identifier: Apache-2.0 */
#include "pictures.h"

#include <math.h>

#define STEPS 7 /* shades of the style sheet */
#define CELL_HEIGHT 30.0
#define CELL_LEAST 48.0
#define NAMES_MOST 160.0
#define COLUMN_NAMES_MOST 96.0
#define WIDTH_LEAST 360.0
#define NARROW 0.05 /* of the larger one */
#define KEY_BOX 26.0

struct frame {
    const struct xb_cells *cells;
    size_t rows, columns;
    double left, top, cell;
    struct xb_range range;
};

static const char *text_at(const struct frame *frame, size_t row, size_t column)
{
    const char *text = frame->cells->texts[row * frame->cells->column_count + column];
    return text != NULL ? text : "";
}

static struct frame make_frame(const struct xb_cells *cells)
{
    struct frame frame = {.cells = cells, .cell = CELL_LEAST, .range = XB_RANGE_NONE};
    frame.rows = xb_at_most(cells->row_count, XB_CELLS_MOST);
    frame.columns = xb_at_most(cells->column_count, XB_CELLS_MOST);
    double names = xb_svg_text_width(cells->rows_are);
    for (size_t i = 0; i < frame.rows; i++)
        names = fmax(names, xb_svg_text_width(cells->row_names[i]));
    for (size_t k = 0; k < frame.columns; k++)
        frame.cell = fmax(frame.cell, xb_svg_text_width(cells->column_names[k]) + 10.0);
    for (size_t i = 0; i < frame.rows; i++)
        for (size_t k = 0; k < frame.columns; k++) {
            frame.cell = fmax(frame.cell, xb_svg_text_width(text_at(&frame, i, k)) + 10.0);
            xb_range_add(&frame.range, XB_SCALE_LINEAR, cells->values[i * cells->column_count + k]);
        }
    frame.cell = fmin(frame.cell, COLUMN_NAMES_MOST);
    frame.left = fmin(names, NAMES_MOST) + 18.0;
    frame.top = 50.0;
    return frame;
}

/* Shades would make a difference of nothing look large: values that are nearly equal have one. */
static bool is_narrow(struct xb_range range)
{
    return range.high - range.low <= NARROW * fmax(fabs(range.high), fabs(range.low));
}

/* The class of a shade, from 1. */
static const char *step_look(int step)
{
    static const char *const looks[STEPS] = {"step-1", "step-2", "step-3", "step-4",
                                             "step-5", "step-6", "step-7"};
    return looks[step < 1 ? 0 : step > STEPS ? STEPS - 1 : step - 1];
}

static void draw_cell(FILE *stream, const struct frame *frame, size_t row, size_t column)
{
    const struct xb_cells *cells = frame->cells;
    struct xb_range range = frame->range;
    const char *text = text_at(frame, row, column);
    double value = cells->values[row * cells->column_count + column];
    double x = frame->left + frame->cell * (double)column;
    double y = frame->top + CELL_HEIGHT * (double)row;
    double middle = x + frame->cell / 2.0;
    char tip[400];
    if (!xb_scale_shows(XB_SCALE_LINEAR, value)) {
        xb_svg_text_within(stream, "quiet", middle, y + CELL_HEIGHT / 2.0 + XB_TEXT_DROP,
                           XB_ANCHOR_MIDDLE, frame->cell - 4.0, text[0] != '\0' ? text : "-");
        return;
    }
    double share = (value - range.low) / (range.high - range.low);
    snprintf(tip, sizeof tip, "%.40s %.100s, %.40s %.100s: %.40s %.20s", cells->rows_are,
             cells->row_names[row], cells->columns_are, cells->column_names[column], text,
             cells->unit);
    xb_svg_group_begin(stream, step_look(is_narrow(range) ? 2 : (int)(share * STEPS) + 1), tip);
    xb_svg_rectangle(stream, "", x, y, frame->cell - 2.0, CELL_HEIGHT - 2.0, NULL);
    xb_svg_text_within(stream, "", middle - 1.0, y + CELL_HEIGHT / 2.0 - 1.0 + XB_TEXT_DROP,
                       XB_ANCHOR_MIDDLE, frame->cell - 4.0, text);
    xb_svg_group_end(stream);
}

/* Draws what the shades mean: from the least to the largest value. */
static void draw_key(FILE *stream, const struct frame *frame, double y)
{
    const char *low = XB_VALUE_TEXT(frame->range.low);
    const char *high = XB_VALUE_TEXT(frame->range.high);
    double x = 8.0;
    if (xb_range_is_empty(frame->range)) {
        xb_svg_note(stream, y + XB_TEXT_DROP, "no data");
        return;
    }
    if (is_narrow(frame->range)) {
        xb_svg_note(stream, y + XB_TEXT_DROP, "%s to %s %.20s: nearly equal, one shade", low, high,
                    frame->cells->unit);
        return;
    }
    xb_svg_note(stream, y + XB_TEXT_DROP, "%s", low);
    x += xb_svg_text_width(low) + 6.0;
    for (int step = 1; step <= STEPS; step++, x += KEY_BOX) {
        xb_svg_group_begin(stream, step_look(step), NULL);
        xb_svg_rectangle(stream, "", x, y - 6.0, KEY_BOX - 2.0, 12.0, NULL);
        xb_svg_group_end(stream);
    }
    xb_svg_text(stream, "quiet", x + 4.0, y + XB_TEXT_DROP, XB_ANCHOR_START, high);
    xb_svg_text(stream, "quiet", x + 4.0 + xb_svg_text_width(high) + 6.0, y + XB_TEXT_DROP,
                XB_ANCHOR_START, frame->cells->unit);
}

void xb_cells_draw(FILE *stream, const void *picture, bool is_alone)
{
    const struct xb_cells *cells = picture;
    struct frame frame = make_frame(cells);
    bool is_cut = frame.rows < cells->row_count || frame.columns < cells->column_count;
    double width = fmax(frame.left + frame.cell * (double)frame.columns + 8.0, WIDTH_LEAST);
    double key = frame.top + CELL_HEIGHT * (double)frame.rows + 20.0;
    xb_svg_begin(stream, &cells->picture, width, key + (is_cut ? 36.0 : 18.0), is_alone);
    xb_svg_text_within(stream, "quiet", 8.0, frame.top - 10.0, XB_ANCHOR_START, frame.left - 16.0,
                       cells->rows_are);
    xb_svg_text(stream, "quiet", frame.left, 18.0, XB_ANCHOR_START, cells->columns_are);
    for (size_t i = 0; i < frame.rows; i++)
        xb_svg_text_within(stream, "", frame.left - 10.0,
                           frame.top + CELL_HEIGHT * ((double)i + 0.5) - 1.0 + XB_TEXT_DROP,
                           XB_ANCHOR_END, frame.left - 14.0, cells->row_names[i]);
    for (size_t k = 0; k < frame.columns; k++)
        xb_svg_text_within(stream, "", frame.left + frame.cell * ((double)k + 0.5) - 1.0,
                           frame.top - 10.0, XB_ANCHOR_MIDDLE, frame.cell - 4.0,
                           cells->column_names[k]);
    for (size_t i = 0; i < frame.rows; i++)
        for (size_t k = 0; k < frame.columns; k++)
            draw_cell(stream, &frame, i, k);
    draw_key(stream, &frame, key);
    if (is_cut)
        xb_svg_note(stream, key + 24.0, "%zu more rows and %zu more columns are not drawn",
                    cells->row_count - frame.rows, cells->column_count - frame.columns);
    xb_svg_end(stream);
}
