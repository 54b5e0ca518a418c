/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_PLOT_CELLS_H
#define XFERBENCH_PLOT_CELLS_H

#include "svg.h"

/* A heat map: a matrix with a number in each cell, shaded from the least to the largest. */

struct xb_cells {
    struct xb_picture picture;
    const char *rows_are, *columns_are; /* "from", "to" */
    const char *const *row_names, *const *column_names;
    size_t row_count, column_count;
    const double *values;     /* row after row; NAN: an empty cell */
    const char *const *texts; /* what stands in each; NULL for an empty one */
    const char *unit;
};

/* As many rows and columns are drawn; the picture says how many more there are. */
#define XB_CELLS_MOST 64

/* A cell whose value is no number stands without shade. Values within 5 % have one shade. */
void xb_cells_draw(FILE *stream, const void *picture, bool is_alone);

#endif
