/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_PLOT_RULER_H
#define XFERBENCH_PLOT_RULER_H

#include "axis.h"

#include <stdio.h>

/* Rulers: where a value of an axis stands in the picture. */

/* The least and the largest of some values; none yet: low > high. */
struct xb_range {
    double low, high;
};

#define XB_RANGE_NONE ((struct xb_range){1.0, 0.0})

bool xb_range_is_empty(struct xb_range range);
/* Leaves alone what an axis with this scale cannot show. */
void xb_range_add(struct xb_range *range, enum xb_scale scale, double value);

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

/* How much room the names of levels need at the right; 0: there is none to show. At most
 * XB_LEVELS_MOST. */
double xb_levels_room(enum xb_scale scale, const struct xb_plot_level *levels, size_t count);
/* Draws levels of a ruler that stands as lines across, with their names behind them, in a picture
 * that is so wide. The names are kept below `top`. */
void xb_levels_draw(FILE *stream, const struct xb_ruler *ruler, const struct xb_plot_level *levels,
                    size_t count, struct xb_range across, double width, double top);

#endif
