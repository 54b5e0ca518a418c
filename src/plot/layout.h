/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_PLOT_LAYOUT_H
#define XFERBENCH_PLOT_LAYOUT_H

#include <stddef.h>

/* Where things stand that pictures have in common. */

/* How wide pictures are that may choose, how high a line of text is, and how far the middle of a
 * line is above its base. */
#define XB_PLOT_WIDTH 640.0
#define XB_LINE_HEIGHT 18.0
#define XB_TEXT_DROP 4.5

/* ---- legends: items in rows as wide as the picture ---- */

#define XB_LEGEND_KEY 30.0 /* how wide the sample before a name is */

struct xb_legend {
    double left, right;
    double x, y; /* where the next item would stand: the middle of its line */
};

/* Places an item; its sample begins at *x, its middle is at *y. Returns how wide its name may be.
 */
double xb_legend_place(struct xb_legend *legend, const char *name, double *x, double *y);

/* ---- names beside lines ---- */

/* Moves places apart that are nearer to each other than `apart`, as little as that takes, and keeps
 * them from `low` to `high` where that has room. They need not be in order, and stay in theirs. */
void xb_spread(double *places, size_t count, double apart, double low, double high);

#endif
