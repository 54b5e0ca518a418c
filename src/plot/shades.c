/* SPDX-License-Identifier: Apache-2.0 */
#include "shades.h"

#include "svg.h"

#include <math.h>
#include <string.h>

void xb_shades_begin(struct xb_shades *shades, double left, double top)
{
    memset(shades, 0, sizeof *shades);
    /* Whole pixels are shorter to write, and cells have sharp edges. */
    shades->left = round(left);
    shades->top = round(top);
}

static size_t cell_at(double distance, size_t count)
{
    double cell = fmin(fmax(distance / XB_SHADE_CELL, 0.0), (double)(count - 1));
    return (size_t)cell;
}

void xb_shades_add(struct xb_shades *shades, double x, double y)
{
    shades->counts[cell_at(x - shades->left, XB_SHADE_COLUMNS)]
                  [cell_at(y - shades->top, XB_SHADE_ROWS)]++;
}

/* 0: no shade. */
static size_t shade_of(unsigned count)
{
    return count >= 16 ? 3 : count >= 4 ? 2 : count > 0;
}

/* Cells of one shade above each other are drawn as one line. */
static void draw_column(FILE *stream, const struct xb_shades *shades, size_t column, size_t shade)
{
    const unsigned *counts = shades->counts[column];
    double x = shades->left + XB_SHADE_CELL * (double)column + XB_SHADE_CELL / 2.0;
    for (size_t row = 0; row < XB_SHADE_ROWS;) {
        size_t end = row;
        while (end < XB_SHADE_ROWS && shade_of(counts[end]) == shade)
            end++;
        if (end > row) {
            xb_svg_path_move(stream, x, shades->top + XB_SHADE_CELL * (double)row);
            xb_svg_path_down(stream, XB_SHADE_CELL * (double)(end - row));
        }
        row = end + 1;
    }
}

void xb_shades_draw(FILE *stream, const struct xb_shades *shades)
{
    char look[32];
    for (size_t shade = 1; shade <= XB_SHADES; shade++) {
        snprintf(look, sizeof look, "cells cells-%zu", shade);
        xb_svg_path_begin(stream, look);
        for (size_t column = 0; column < XB_SHADE_COLUMNS; column++)
            draw_column(stream, shades, column, shade);
        xb_svg_path_end(stream);
    }
}
