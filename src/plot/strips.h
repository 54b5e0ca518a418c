/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_PLOT_STRIPS_H
#define XFERBENCH_PLOT_STRIPS_H

#include "axis.h"
#include "svg.h"

/*
 * One line a thing, one below the other over a common axis: the samples of a case as points with
 * their median and its interval, or a ratio with its interval.
 */

struct xb_strip {
    const char *name;
    const double *samples; /* NULL: none */
    size_t sample_count;
    double middle, low, high; /* the median and its interval; NAN: there is none */
    const char *look;         /* class of what is said of it: "good", "bad", "unsure" or "" */
    const char *note;         /* a few words at its right end; NULL: none */
};

struct xb_strips {
    struct xb_picture picture;
    struct xb_axis x;
    double x_low, x_high; /* the axis reaches them at least; both 0: there is no such rule */
    bool x_from_zero;     /* so that distances from the left compare as the values do */
    const struct xb_strip *strips;
    size_t count;
    /* Upright lines, such as a ratio of 1 and the threshold. */
    const struct xb_plot_level *levels;
    size_t level_count;
};

/* As many are drawn; the picture says how many more there are. */
#define XB_STRIPS_MOST 200

/* What the axis cannot show is left out. Of samples that stand at one place five are drawn. */
void xb_strips_draw(FILE *stream, const void *picture, bool is_alone);

#endif
