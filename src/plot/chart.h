/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_PLOT_CHART_H
#define XFERBENCH_PLOT_CHART_H

#include "svg.h"

#include <stdbool.h>

/* A chart of curves: points over an axis, with bands of uncertainty and lines to compare with. */

enum xb_scale {
    XB_SCALE_LINEAR,
    XB_SCALE_SIZE, /* logarithmic to base 2, ticks such as 4 KiB */
    XB_SCALE_LOG,  /* logarithmic to base 10 */
    XB_SCALE_DATE  /* seconds since 1970, ticks are dates in UTC */
};

struct xb_axis {
    enum xb_scale scale;
    const char *label; /* "GB/s" */
};

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

/* A horizontal line over the whole width, such as a ceiling. */
struct xb_level {
    const char *name;
    double y;
};

struct xb_chart {
    struct xb_picture picture;
    struct xb_axis x, y; /* y begins at 0 where it is linear, unless y_from_data */
    bool y_from_data;
    const struct xb_series *series;
    size_t series_count;
    const struct xb_level *levels;
    size_t level_count;
    /* Upright lines, such as where a trend changed. */
    const double *marks;
    size_t mark_count;
};

/* Draws it with a legend. Points that its axes cannot show (not finite, or not positive on a
 * logarithmic one) are left out; a chart without a point says "no data". `alone`: as a file of its
 * own, else in a page. */
void xb_chart_draw(FILE *stream, const struct xb_chart *chart, bool alone);

/* The places of ticks on an axis from `low` to `high`, rising; at most `most`. Returns how many. */
size_t xb_axis_ticks(enum xb_scale scale, double low, double high, double *ticks, size_t most);
/* What stands at a tick. */
const char *xb_axis_tick_text(enum xb_scale scale, double tick, char *text, size_t size);

#endif
