/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_PLOT_SHADES_H
#define XFERBENCH_PLOT_SHADES_H

#include <stddef.h>
#include <stdio.h>

/* Draws very many points as cells, shaded by how many points are in them: the picture stays small
 * for any number of points. */

#define XB_SHADE_CELL 4.0 /* pixels */
#define XB_SHADE_ROWS 66
#define XB_SHADE_COLUMNS 180
#define XB_SHADES 3 /* of 1, of 4 and of 16 points or more */

struct xb_shades {
    double left, top;
    unsigned counts[XB_SHADE_COLUMNS][XB_SHADE_ROWS];
};

void xb_shades_begin(struct xb_shades *shades, double left, double top);
/* A point outside counts in the nearest cell. */
void xb_shades_add(struct xb_shades *shades, double x, double y);
/* Draws them in the colour of the SVG group around them. */
void xb_shades_draw(FILE *stream, const struct xb_shades *shades);

#endif
