/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_PLOT_AXIS_DATE_H
#define XFERBENCH_PLOT_AXIS_DATE_H

#include <stdbool.h>
#include <stddef.h>

/* Ticks of dates, and their text. Like xb_axis_ticks() and xb_axis_tick_text(). */
size_t xb_date_ticks(double low, double high, double *ticks, size_t most);
const char *xb_date_text(double tick, char *text, size_t size);
/* Whether it is in the years 1 to 9999. */
bool xb_date_is_shown(double seconds);

#endif
