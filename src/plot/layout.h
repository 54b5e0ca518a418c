/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "svg.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Where things stand that pictures have in common. */

/* ---- axes: what values they can show, and where their ticks are ---- */

/* Values beyond it are not shown, so that no sum or difference of two is infinite. And as a length
 * it is longer than any. */
#define XB_PLOT_LARGE 1e100

enum xb_scale {
    XB_SCALE_LINEAR,
    XB_SCALE_SIZE, /* logarithmic to base 2, ticks such as 4 KiB */
    XB_SCALE_DATE, /* seconds since 1970, ticks are dates in UTC */
    XB_SCALE_NAMES /* whole numbers from 0, ticks are names of a ruler */
};

struct xb_axis {
    enum xb_scale scale;
    const char *label; /* "GB/s"; "" for none */
};

/* A line over the whole picture at a value of its axis, such as a ceiling. */
struct xb_plot_level {
    const char *name;
    double at;
};

/* As many levels of a picture are drawn. */
#define XB_LEVELS_MOST 8

/* Whether an axis with this scale can show the value, and all from `low` to `high`. */
bool xb_scale_shows(enum xb_scale scale, double value);
bool xb_scale_spans(enum xb_scale scale, double low, double high);

/* The places of ticks on an axis from `low` to `high`, rising; at most `most`. Returns how many: 0
 * where the axis cannot show its ends, or they are not rising. */
size_t xb_axis_ticks(enum xb_scale scale, double low, double high, double *ticks, size_t most);

/* How wide pictures are that may choose (as a telephone), and how high a line of text is. */
#define XB_PLOT_WIDTH 440.0
#define XB_LINE_HEIGHT 18.0

#define xb_at_most(count, most) ((count) < (most) ? (count) : (most))

/* ---- rulers: where a value of an axis stands in the picture ---- */

/* The least and the largest of some values; none yet: low > high. */
struct xb_range {
    double low, high;
};

#define XB_RANGE_NONE ((struct xb_range){(double)INFINITY, -(double)INFINITY})

#define xb_range_is_empty(range) ((range).low > (range).high)
/* Leaves out what an axis with this scale cannot show: a value, or all from one to another. */
void xb_range_add(struct xb_range *range, enum xb_scale scale, double value);
void xb_range_span(struct xb_range *range, enum xb_scale scale, double low, double high);

struct xb_ruler {
    enum xb_scale scale;
    double low, high;         /* values at its ends; low < high */
    double from, to;          /* where they stand */
    const char *const *names; /* of its ticks; NULL: they are numbers, sizes or dates */
};

/* A ruler for these values, which ends a little outside them; `from_zero`: one that is linear
 * begins at 0 where no value is below it. */
struct xb_ruler xb_ruler_make(enum xb_scale scale, struct xb_range range, bool from_zero,
                              double from, double to);
/* Where a value stands: from `from` to `to`, whatever it is. */
double xb_ruler_place(const struct xb_ruler *ruler, double value);
/* The same on a ruler of a frame. */
#define XB_X(frame, value) xb_ruler_place(&(frame)->x, (value))
#define XB_Y(frame, value) xb_ruler_place(&(frame)->y, (value))

/* What stands at a tick; `text` holds 40 bytes. */
const char *xb_tick_text(const struct xb_ruler *ruler, double tick, char *text, size_t size);
/* The same in memory that lasts as long as the block in which the call stands. */
#define XB_TICK_TEXT(ruler, tick) xb_tick_text((ruler), (tick), (char[40]){0}, 40)

#define XB_TICKS_MOST 16
#define XB_PLOT_SIDE 12.0 /* from the ends of a field to those of a ruler with names */

/* How much room the texts of a ruler that stands need at its left. */
double xb_ruler_left_room(const struct xb_ruler *ruler);

/* Moves places apart that are nearer to each other than `apart`, as little as that takes, and keeps
 * them from `low` to `high` where that has room. They need not be in order, and stay in theirs. */
void xb_spread(double *places, size_t count, double apart, double low, double high);

/* ---- frames: what surrounds every picture that has axes ---- */

#define XB_LEGEND_MOST 32

struct xb_frame {
    const struct xb_picture *picture;
    double width;
    double left, right, top, bottom; /* of the field */
    double row;                      /* height of its rows, every other one shaded; 0: no rows */
    struct xb_ruler x, y;
    const char *x_label, *y_label; /* of a ruler below the field, and at its left; NULL: none */
    bool is_empty;                 /* says "no data" */
    /* Its own: the legend, notes below all, and where they stand. */
    struct xb_legend_item {
        const char *sample, *look, *name;
        double x, y, width; /* where its sample begins; width of the name behind it */
    } items[XB_LEGEND_MOST];
    size_t item_count, note_count;
    char notes[3][128];
    double legend_x, legend_y; /* of the next name, from the legend's first */
    double legend_top, notes_top;
};

/* Adds a name to the legend, behind a sample of its look: "line", which has its marker, "marker" or
 * "dot" alone, or a box of the class "span", "wait" or "band"; "": of the look alone. */
void xb_frame_item(struct xb_frame *frame, const char *sample, const char *look, const char *name);
void xb_frame_note(struct xb_frame *frame, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Returns how many of these are drawn, `most` at most. A note says how many more there are. */
size_t xb_frame_take(struct xb_frame *frame, size_t count, size_t most, const char *what);
/* Begins the picture: as high as all that is in it, with rows and rulers. */
void xb_frame_begin(FILE *stream, struct xb_frame *frame, bool is_alone);
/* Ends it with the legend and the notes. */
void xb_frame_end(FILE *stream, const struct xb_frame *frame);

/* ---- names beside points: none covers another name or what else must be seen ---- */

struct xb_box {
    double left, right, top, bottom;
};

struct xb_caption {
    double x, y;       /* the point */
    const char *name;  /* NULL: it has none */
    bool is_placed;    /* no name is yet */
    struct xb_box box; /* of its name */
};

/* As many are placed. */
#define XB_CAPTIONS_MOST 24

/* Draws the names in turn, each as near to its point as the field has room beside what is taken,
 * with a line to the point from one that stands apart from it; leaves out those without room. Adds
 * the places of names to `taken`, which has room for XB_CAPTIONS_MOST more. Returns how many names
 * it drew. */
size_t xb_captions_draw(FILE *stream, struct xb_caption *captions, size_t count,
                        const struct xb_box *field, struct xb_box *taken, size_t taken_count);
