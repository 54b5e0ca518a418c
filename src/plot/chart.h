/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_PLOT_CHART_H
#define XFERBENCH_PLOT_CHART_H

#include "axis.h"
#include "svg.h"

/* A chart of curves: points over an axis, with bands of uncertainty and lines to compare with. */

struct xb_point {
    double x, y;
    double low, high; /* of its band; NAN: it has none */
    bool is_marked;   /* as a point that something is said of */
};

struct xb_series {
    const char *name;
    const struct xb_point *points; /* by rising x; one that is not finite ends the line */
    size_t count;
};

struct xb_chart {
    struct xb_picture picture;
    struct xb_axis x, y; /* y begins at 0 where it is linear, unless y_from_data */
    bool y_from_data;
    const struct xb_series *series;
    size_t series_count;
    const struct xb_plot_level *levels; /* of y; named at their right ends */
    size_t level_count;
    /* Upright lines, such as where a trend changed. */
    const double *marks;
    size_t mark_count;
};

/* As many of each are drawn; the legend says how many series more there are. */
#define XB_CHART_SERIES 32
#define XB_CHART_MARKS 16

/*
 * Draws it with a legend. Points that its axes cannot show (not finite, beyond 1e100, not positive
 * on a logarithmic one) are left out; a chart without a point says "no data". A line of very many
 * points goes through the first, least, largest and last of each pixel. `is_alone`: as a file of
 * its own, else in a page.
 */
void xb_chart_draw(FILE *stream, const void *picture, bool is_alone);

#endif
