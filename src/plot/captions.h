/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_PLOT_CAPTIONS_H
#define XFERBENCH_PLOT_CAPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Places names beside points, so that no name covers another name or a named point. */

struct xb_caption {
    double x, y;      /* the point */
    const char *name; /* NULL: it has none, but no name may cover the point */
    /* The place of its name: */
    bool is_placed;
    double text_x, text_y; /* its left end, and the middle of its line */
};

/* As many are placed. */
#define XB_CAPTIONS_MOST 24

/* Places the names in turn, each as near to its point as the box has room, and leaves out those
 * without room. Returns how many it placed. */
size_t xb_captions_place(struct xb_caption *captions, size_t count, double left, double right,
                         double top, double bottom);

/* Draws the placed names, with a line to the point from each that stands apart from it. */
void xb_captions_draw(FILE *stream, const struct xb_caption *captions, size_t count);

#endif
