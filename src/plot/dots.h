/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_PLOT_DOTS_H
#define XFERBENCH_PLOT_DOTS_H

#include "axis.h"
#include "svg.h"

/*
 * Draws very many values by their places from left to right, such as a fleet's GPUs by node, and at
 * the right a histogram over the same axis. Values that stand out are drawn one by one, with names;
 * many others are drawn together. So the picture stays small for any number of values.
 */

struct xb_dot {
    size_t place; /* from the left, the first is 0 */
    double value;
};

/* A value that stands out. */
struct xb_dot_out {
    size_t place;
    double value;
    bool is_bad;      /* false: it is only unusual, and looks different */
    const char *name; /* stands beside it if there is room; NULL: none */
    const char *tip;  /* NULL: none */
};

struct xb_dots {
    struct xb_picture picture;
    const char *const *places; /* their names */
    size_t place_count;
    const char *places_are; /* "nodes in the order of their names" */
    struct xb_axis y;
    /* The axis ends about here; a value beyond is an arrow at its edge. */
    double y_low, y_high;
    const struct xb_dot *dots; /* the ordinary values */
    size_t count;
    const struct xb_dot_out *outs; /* the worst first */
    size_t out_count;
    double band_low, band_high;         /* NAN: there is none */
    const struct xb_plot_level *levels; /* of y; named at their right ends */
    size_t level_count;
    /* Words for the legend: "as their siblings", "slow", "fast", "1 spread". */
    const char *dots_are, *bad_are, *others_are, *band_is;
    const char *counted; /* what is counted: "GPUs" */
};

/* At most so many values that stand out are drawn one by one; the others together. */
#define XB_DOTS_OUT 200

/* Leaves out values that the axis cannot show or that have no place. */
void xb_dots_draw(FILE *stream, const void *picture, bool is_alone);

#endif
