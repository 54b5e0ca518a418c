/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* What values an axis can show, and where its ticks are. */

/* Values beyond it are not shown, so that no sum or difference of two is infinite. And as a length
 * it is longer than any. */
#define XB_PLOT_LARGE 1e100

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

/* A line over the whole picture at a value of its axis, such as a ceiling. */
struct xb_plot_level {
    const char *name;
    double at;
};

/* As many levels of a picture are drawn. */
#define XB_LEVELS_MOST 8

/* Whether an axis with this scale can show the value. */
bool xb_scale_shows(enum xb_scale scale, double value);

/* The places of ticks on an axis from `low` to `high`, rising; at most `most`. Returns how many: 0
 * where the axis cannot show its ends, or they are not rising. */
size_t xb_axis_ticks(enum xb_scale scale, double low, double high, double *ticks, size_t most);
/* What stands at a tick; `text` holds 40 bytes. */
const char *xb_axis_tick_text(enum xb_scale scale, double tick, char *text, size_t size);

/* A value with four digits; `text` holds 40 bytes. */
const char *xb_value_text(double value, char *text, size_t size);
