/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_PLOT_INTERNAL_H
#define XFERBENCH_PLOT_INTERNAL_H

#include "chart.h"

/* What the kinds of pictures share. */

/* Values beyond it are not shown, so that no sum or difference of two is infinite. And as a length
 * it is longer than any. */
#define XB_PLOT_LARGE 1e100

#define XB_ELLIPSIS "\xE2\x80\xA6"

/* How wide pictures are that may choose, how high a line of text is, and how far the middle of a
 * line is above its base. */
#define XB_PLOT_WIDTH 640.0
#define XB_LINE_HEIGHT 18.0
#define XB_TEXT_DROP 4.5

/* ---- texts ---- */

/* At most so many bytes of a text, whole characters, as xb_markup_text() writes them. */
void xb_markup_write(FILE *stream, const char *text, size_t bytes);
/* A text that is cut where it is very long. */
void xb_markup_short(FILE *stream, const char *text);
/* How many bytes at the start of a text are at most so wide, and how wide these are. */
size_t xb_text_fitting(const char *text, double width, double *used);

/* ---- rulers: where a value of an axis stands in the picture ---- */

/* The least and the largest of some values; none yet: low > high. */
struct xb_range {
    double low, high;
};

#define XB_RANGE_NONE ((struct xb_range){1.0, 0.0})

bool xb_range_is_empty(struct xb_range range);
/* Leaves alone what an axis with this scale cannot show. */
void xb_range_add(struct xb_range *range, enum xb_scale scale, double value);

/* Whether an axis with this scale can show the value. */
bool xb_scale_shows(enum xb_scale scale, double value);

struct xb_ruler {
    enum xb_scale scale;
    double low, high; /* values at its ends; low < high */
    double from, to;  /* where they stand */
};

/* A ruler for these values, which ends a little outside them; `from_zero`: one that is linear
 * begins at 0 where no value is below it. */
struct xb_ruler xb_ruler_make(enum xb_scale scale, struct xb_range range, bool from_zero,
                              double from, double to);
/* Where a value stands: from `from` to `to`, whatever it is. */
double xb_ruler_place(const struct xb_ruler *ruler, double value);

#define XB_TICKS_MOST 16
#define XB_TICK_TEXT 40

/* The ticks of a ruler that lies, so few that their texts do not touch. Returns how many. */
size_t xb_ruler_ticks_across(const struct xb_ruler *ruler, double *ticks);
/* And of one that stands. */
size_t xb_ruler_ticks_up(const struct xb_ruler *ruler, double *ticks);

/* How much room the texts of a ruler that stands need at its left. */
double xb_ruler_left_room(const struct xb_ruler *ruler);
/* Draws it with lines across the picture from `left` to `right`, and its label above it. */
void xb_ruler_draw_left(FILE *stream, const struct xb_ruler *ruler, double left, double right,
                        const char *label);
/* How much room a ruler needs below it. */
double xb_ruler_bottom_room(const char *label);
/* Draws it with upright lines from `top` to `bottom`, and its label below it. */
void xb_ruler_draw_bottom(FILE *stream, const struct xb_ruler *ruler, double top, double bottom,
                          const char *label);

/* Ticks of dates, and their text. Like xb_axis_ticks() and xb_axis_tick_text(). */
size_t xb_date_ticks(double low, double high, double *ticks, size_t most);
const char *xb_date_text(double tick, char *text, size_t size);
/* Whether it is in the years 1 to 9999. */
bool xb_date_is_shown(double seconds);

/* A value with four digits; `text` holds 40 bytes. */
const char *xb_value_text(double value, char *text, size_t size);

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
