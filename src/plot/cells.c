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

struct grid {
    const struct xb_cells *cells;
    size_t rows, columns;
    double left, top, cell;
    struct xb_range range;
};

static struct grid place_cells(const struct xb_cells *cells)
{
    struct grid grid = {.cells = cells, .top = 50.0, .range = XB_RANGE_NONE};
    grid.rows = xb_at_most(cells->row_count, XB_CELLS_MOST);
    grid.columns = xb_at_most(cells->column_count, XB_CELLS_MOST);
    double names = xb_svg_widest(cells->row_names, grid.rows, xb_svg_text_width(cells->rows_are));
    grid.cell = xb_svg_widest(cells->column_names, grid.columns, CELL_LEAST - 10.0) + 10.0;
    for (size_t i = 0; i < grid.rows; i++)
        for (size_t k = 0; k < grid.columns; k++) {
            const size_t at = i * cells->column_count + k;
            const char *text = cells->texts[at] != NULL ? cells->texts[at] : "";
            grid.cell = fmax(grid.cell, xb_svg_text_width(text) + 10.0);
            xb_range_add(&grid.range, XB_SCALE_LINEAR, cells->values[at]);
        }
    grid.cell = fmin(grid.cell, COLUMN_NAMES_MOST);
    grid.left = fmin(names, NAMES_MOST) + 18.0;
    return grid;
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

static void draw_cell(FILE *stream, const struct grid *grid, size_t row, size_t column)
{
    const struct xb_cells *cells = grid->cells;
    struct xb_range range = grid->range;
    const size_t at = row * cells->column_count + column;
    const char *text = cells->texts[at] != NULL ? cells->texts[at] : "";
    double value = cells->values[at];
    double x = grid->left + grid->cell * (double)column;
    double y = grid->top + CELL_HEIGHT * (double)row;
    double middle = x + grid->cell / 2.0;
    char tip[400];
    if (!xb_scale_shows(XB_SCALE_LINEAR, value)) {
        xb_svg_text_within(stream, "quiet", middle, y + CELL_HEIGHT / 2.0, XB_ANCHOR_MIDDLE,
                           grid->cell - 4.0, text[0] != '\0' ? text : "-");
        return;
    }
    double share = (value - range.low) / (range.high - range.low);
    snprintf(tip, sizeof tip, "%.40s %.100s, %.40s %.100s: %.40s %.20s", cells->rows_are,
             cells->row_names[row], cells->columns_are, cells->column_names[column], text,
             cells->unit);
    xb_svg_group_begin(stream, step_look(is_narrow(range) ? 2 : (int)(share * STEPS) + 1), tip);
    xb_svg_rectangle(stream, "", x, y, grid->cell - 2.0, CELL_HEIGHT - 2.0, NULL);
    xb_svg_text_within(stream, "", middle - 1.0, y + CELL_HEIGHT / 2.0 - 1.0, XB_ANCHOR_MIDDLE,
                       grid->cell - 4.0, text);
    xb_svg_group_end(stream);
}

void xb_cells_draw(FILE *stream, const void *picture, bool is_alone)
{
    const struct xb_cells *cells = picture;
    struct grid grid = place_cells(cells);
    double bottom = grid.top + CELL_HEIGHT * (double)grid.rows;
    struct xb_frame frame = {
        .picture = &cells->picture,
        .width = fmax(grid.left + grid.cell * (double)grid.columns + 8.0, WIDTH_LEAST),
        .bottom = bottom + 20.0};
    bool has_key = !xb_range_is_empty(grid.range) && !is_narrow(grid.range);
    if (xb_range_is_empty(grid.range))
        xb_frame_note(&frame, "no data");
    else if (!has_key)
        xb_frame_note(&frame, "%s to %s %.20s: nearly equal, one shade",
                      XB_VALUE_TEXT(grid.range.low), XB_VALUE_TEXT(grid.range.high), cells->unit);
    if (grid.rows < cells->row_count || grid.columns < cells->column_count)
        xb_frame_note(&frame, "%zu more rows and %zu more columns are not drawn",
                      cells->row_count - grid.rows, cells->column_count - grid.columns);
    xb_frame_begin(stream, &frame, is_alone);
    xb_svg_text_within(stream, "quiet", 8.0, grid.top - 14.5, XB_ANCHOR_START, grid.left - 16.0,
                       cells->rows_are);
    xb_svg_text(stream, "quiet", grid.left, 13.5, XB_ANCHOR_START, cells->columns_are);
    for (size_t i = 0; i < grid.rows; i++)
        xb_svg_text_within(stream, "", grid.left - 10.0,
                           grid.top + CELL_HEIGHT * ((double)i + 0.5) - 1.0, XB_ANCHOR_END,
                           grid.left - 14.0, cells->row_names[i]);
    for (size_t k = 0; k < grid.columns; k++)
        xb_svg_text_within(stream, "", grid.left + grid.cell * ((double)k + 0.5) - 1.0,
                           grid.top - 14.5, XB_ANCHOR_MIDDLE, grid.cell - 4.0,
                           cells->column_names[k]);
    for (size_t i = 0; i < grid.rows; i++)
        for (size_t k = 0; k < grid.columns; k++)
            draw_cell(stream, &grid, i, k);
    if (has_key) { /* what the shades mean: from the least to the largest value */
        const char *low = XB_VALUE_TEXT(grid.range.low), *high = XB_VALUE_TEXT(grid.range.high);
        double x = 8.0 + xb_svg_text_width(low) + 6.0, y = bottom + 18.0;
        xb_svg_text(stream, "quiet", 8.0, y, XB_ANCHOR_START, low);
        for (int step = 1; step <= STEPS; step++, x += KEY_BOX) {
            xb_svg_group_begin(stream, step_look(step), NULL);
            xb_svg_rectangle(stream, "", x, bottom + 12.0, KEY_BOX - 2.0, 12.0, NULL);
            xb_svg_group_end(stream);
        }
        xb_svg_text(stream, "quiet", x + 4.0, y, XB_ANCHOR_START, high);
        xb_svg_text(stream, "quiet", x + 4.0 + xb_svg_text_width(high) + 6.0, y, XB_ANCHOR_START,
                    cells->unit);
    }
    xb_frame_end(stream, &frame);
}
