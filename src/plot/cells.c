/* SPDX-License-Identifier: Apache-2.0 */
#include "pictures.h"

#include <math.h>
#include <string.h>

#define STEPS 7 /* shades of the style sheet */
#define CELL_HEIGHT 30.0
#define CELL_LEAST 48.0
#define NAMES_MOST 160.0
#define COLUMN_NAMES_MOST 96.0
#define WIDTH_LEAST 360.0
#define NARROW 0.05 /* of the larger one */

/* And the texts on them. */
static const char *const shades[STEPS] = {"step-1 light", "step-2 light", "step-3 light",
                                          "step-4 light", "step-5 deep",  "step-6 deep",
                                          "step-7 deep"};

struct grid {
    const struct xb_cells *cells;
    size_t rows, columns;
    double cell; /* its width */
    struct xb_range range;
    bool is_narrow; /* nearly equal values have one shade, or nothing would look like a lot */
    struct xb_frame frame;
};

static void place_cells(struct grid *grid)
{
    const struct xb_cells *cells = grid->cells;
    struct xb_frame *frame = &grid->frame;
    struct xb_range *range = &grid->range;
    double names = xb_svg_widest(cells->row_names, grid->rows, xb_svg_text_width(cells->rows_are));
    grid->cell = xb_svg_widest(cells->column_names, grid->columns, CELL_LEAST - 10.0) + 10.0;
    for (size_t i = 0; i < grid->rows * grid->columns; i++) {
        const size_t at = i / grid->columns * cells->column_count + i % grid->columns;
        const char *text = cells->texts[at] != NULL ? cells->texts[at] : "";
        grid->cell = fmax(grid->cell, xb_svg_text_width(text) + 10.0);
        xb_range_add(range, XB_SCALE_LINEAR, cells->values[at]);
    }
    grid->is_narrow =
        range->high - range->low <= NARROW * fmax(fabs(range->high), fabs(range->low));
    grid->cell = fmin(grid->cell, COLUMN_NAMES_MOST);
    frame->left = fmin(names, NAMES_MOST) + 18.0;
    frame->width = fmax(frame->left + grid->cell * (double)grid->columns + 8.0, WIDTH_LEAST);
    frame->bottom = frame->top + CELL_HEIGHT * (double)grid->rows;
}

static void draw_cell(FILE *stream, const struct grid *grid, size_t row, size_t column)
{
    const struct xb_cells *cells = grid->cells;
    const size_t at = row * cells->column_count + column;
    const char *text = cells->texts[at] != NULL ? cells->texts[at] : "";
    double share = (cells->values[at] - grid->range.low) / (grid->range.high - grid->range.low);
    double x = grid->frame.left + grid->cell * (double)column;
    double y = grid->frame.top + CELL_HEIGHT * (double)row;
    double middle = x + grid->cell / 2.0 - 1.0;
    char tip[400];
    if (!xb_scale_shows(XB_SCALE_LINEAR, cells->values[at])) {
        xb_svg_text(stream, "quiet middle", middle, y + CELL_HEIGHT / 2.0 - 1.0, grid->cell - 4.0,
                    text[0] != '\0' ? text : "-");
        return;
    }
    snprintf(tip, sizeof tip, "%.40s %.100s, %.40s %.100s: %.40s %.20s", cells->rows_are,
             cells->row_names[row], cells->columns_are, cells->column_names[column], text,
             cells->unit);
    xb_svg_group_begin(stream, shades[grid->is_narrow ? 1 : (int)fmin(share * STEPS, STEPS - 1)],
                       tip);
    xb_svg_rectangle(stream, "", x, y, grid->cell - 2.0, CELL_HEIGHT - 2.0, NULL);
    xb_svg_text(stream, "middle", middle, y + CELL_HEIGHT / 2.0 - 1.0, grid->cell - 4.0, text);
    xb_svg_group_end(stream);
}

void xb_cells_draw(FILE *stream, const void *picture, bool is_alone)
{
    const struct xb_cells *cells = picture;
    struct grid grid = {.cells = cells,
                        .rows = xb_at_most(cells->row_count, XB_CELLS_MOST),
                        .columns = xb_at_most(cells->column_count, XB_CELLS_MOST),
                        .range = XB_RANGE_NONE,
                        .frame = {.picture = &cells->picture, .top = 50.0}};
    struct xb_frame *frame = &grid.frame;
    char shade_names[STEPS][40]; /* the values at which they begin */
    place_cells(&grid);
    const double low = grid.range.low, high = grid.range.high;
    char lowest[32], highest[32];
    snprintf(lowest, sizeof lowest, "%.4g", low + 0.0);
    snprintf(highest, sizeof highest, "%.4g", high + 0.0);
    for (int step = 0; step < STEPS && !grid.is_narrow; step++) {
        snprintf(shade_names[step], sizeof shade_names[step], "%.4g",
                 low + (high - low) * step / STEPS);
        xb_frame_item(frame, "", shades[step], shade_names[step]);
    }
    if (xb_range_is_empty(grid.range))
        xb_frame_note(frame, "no data");
    else if (strcmp(lowest, highest) == 0)
        xb_frame_note(frame, "all %s %.20s", lowest, cells->unit);
    else
        xb_frame_note(frame, "%s to %s %.20s: %s", lowest, highest, cells->unit,
                      grid.is_narrow ? "nearly equal, one shade" : "a shade begins at its number");
    if (grid.rows < cells->row_count || grid.columns < cells->column_count)
        xb_frame_note(frame, "%zu more rows and %zu more columns are not drawn",
                      cells->row_count - grid.rows, cells->column_count - grid.columns);
    xb_frame_begin(stream, frame, is_alone);
    xb_svg_text(stream, "quiet", 8.0, frame->top - 14.5, frame->left - 16.0, cells->rows_are);
    xb_svg_text(stream, "quiet", frame->left, 13.5, frame->width - frame->left, cells->columns_are);
    for (size_t i = 0; i < grid.rows; i++)
        xb_svg_text(stream, "end", frame->left - 10.0,
                    frame->top + CELL_HEIGHT * ((double)i + 0.5) - 1.0, frame->left - 14.0,
                    cells->row_names[i]);
    for (size_t k = 0; k < grid.columns; k++)
        xb_svg_text(stream, "middle", frame->left + grid.cell * ((double)k + 0.5) - 1.0,
                    frame->top - 14.5, grid.cell - 4.0, cells->column_names[k]);
    for (size_t i = 0; i < grid.rows * grid.columns; i++)
        draw_cell(stream, &grid, i / grid.columns, i % grid.columns);
    xb_frame_end(stream, frame);
}
