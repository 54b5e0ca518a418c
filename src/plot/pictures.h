/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "layout.h"
#include "svg.h"

/*
 * The kinds of pictures. Each is a struct that begins with its struct xb_picture, and a function
 * that draws one: as a file of its own (`is_alone`), else in a page. What an axis cannot show (not
 * finite, beyond XB_PLOT_LARGE, not positive on a logarithmic one) is left out, and a picture
 * without anything says "no data".
 */
typedef void xb_draw(FILE *stream, const void *picture, bool is_alone);
xb_draw xb_chart_draw, xb_lengths_draw, xb_strips_draw, xb_cells_draw, xb_dots_draw, xb_spans_draw,
    xb_tree_draw;

/* As many are drawn; the picture says how many more there are. */
#define XB_CHART_SERIES 32
#define XB_LENGTHS_MOST 60
#define XB_STRIPS_MOST 200
#define XB_CELLS_MOST 64 /* rows, and columns */
#define XB_DOTS_OUT 200  /* values that stand out: the others have no marker */
#define XB_SPANS_TRACKS 64
#define XB_SPANS_KINDS XB_PLOT_SERIES /* what is of a kind beyond is drawn as of the last */
#define XB_TREE_MOST 64

/*
 * A chart of curves: points over an axis, with bands of uncertainty and lines to compare with. The
 * names of curves stand at their ends; many or long ones in a legend.
 */

struct xb_point {
    double x, y;
    double low, high; /* of its band; NAN: it has none */
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
    double y_least, y_most; /* y reaches them at least; both 0: there is no such rule */
    const struct xb_series *series;
    size_t series_count;
    const struct xb_plot_level *levels; /* of y; named at their right ends */
    size_t level_count;
    double mark; /* an upright line, such as where a trend changed; 0: none */
};

/*
 * Bars that lie and begin at 0: a row a name, in it a bar for each series, such as a machine, and
 * its value as a text at the right edge. The bars have no axis: their values are there.
 */

struct xb_length {
    double value;     /* NAN or 0: there is no bar */
    const char *text; /* "55.34", "FAILED"; NULL: nothing */
    const char *look; /* class in place of the series'; NULL: the series' */
    const char *tip;  /* NULL: none */
};

struct xb_lengths {
    struct xb_picture picture;
    const char *const *rows;
    size_t row_count;
    const char *const *series; /* of several the legend names each */
    size_t series_count;
    const struct xb_length *bars; /* row after row, one for each series */
    struct xb_plot_level level;   /* such as what the link carries; at 0: none */
    double end;                   /* what the axis reaches at least: as pictures beside it; or 0 */
};

/*
 * One line a thing, one below the other over a common axis: the samples of a case as points with
 * their median and its interval, or a ratio with its interval. Five samples at most are drawn at
 * one place.
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
    const struct xb_strip *strips;
    size_t count;
    const struct xb_plot_level *levels; /* upright lines, such as a ratio of 1 and the threshold */
    size_t level_count;
};

/* A heat map: a matrix with a number in each cell, shaded from the least to the largest. Values
 * within 5 % have one shade, and a cell whose value is no number has none. */
struct xb_cells {
    struct xb_picture picture;
    const char *rows_are, *columns_are; /* "from", "to" */
    const char *const *row_names, *const *column_names;
    size_t row_count, column_count;
    const double *values;     /* row after row; NAN: an empty cell */
    const char *const *texts; /* what stands in each; NULL for an empty one */
    const char *unit;
};

/*
 * Very many values by their places from left to right, such as a fleet's GPUs by node, and at the
 * right a histogram over the same axis. Values that stand out are drawn one by one, with names;
 * of very many others near each other one is drawn. So the picture stays small for any number.
 */

struct xb_dot {
    size_t place; /* from the left, the first is 0 */
    double value;
    bool is_bad;      /* of those that stand out; false: it is only unusual, and looks different */
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
    const struct xb_dot *dots; /* those that stand out, the worst first, then the ordinary ones */
    size_t count, out_count;
    double band_low, band_high;         /* NAN: there is none */
    const struct xb_plot_level *levels; /* of y; named above their right ends */
    size_t level_count;
    /* Words for the legend: of ordinary, bad and unusual values ("as their siblings", "slow",
     * "fast"), and of the band ("1 spread"). */
    const char *are[3], *band_is;
    const char *counted; /* what is counted: "GPUs" */
};

/*
 * What happened when: tracks one below the other over a common time, with spans on them. Spans that
 * would be narrower than a pixel are drawn together, as the kind that covers most of the pixel, so
 * that the picture stays small however many there are. The axis begins at 0 with the first
 * beginning. A span without a track, or that ends before it begins, is left out.
 */

struct xb_drawn_span {
    double begin, end; /* seconds */
    size_t track;
    size_t kind; /* index of `kinds`: its colour */
    bool is_wait;
    const char *tip; /* NULL: none */
};

struct xb_spans {
    struct xb_picture picture;
    const char *const *tracks;
    size_t track_count;
    const char *const *kinds; /* names for the legend */
    size_t kind_count;
    const struct xb_drawn_span *spans;
    size_t count;
    double length; /* seconds that the axis reaches at least, as pictures beside it; or 0 */
};

/* A tree of named boxes from the top down, such as the way from a CPU by its bridges to a GPU. */

struct xb_node {
    size_t parent;    /* index of an earlier node; its own index: a root */
    const char *name; /* in the box, up to three lines parted by '\n' */
    /* Beside the line to its parent, such as "Gen4 x8", up to two lines; NULL: nothing. */
    const char *edge;
    const char *look;      /* class of the box: "good", "bad", "unsure" or "" */
    const char *edge_look; /* class of that line; NULL: as the box */
};

struct xb_tree {
    struct xb_picture picture;
    const struct xb_node *nodes;
    size_t count;
};
