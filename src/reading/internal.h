/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/memory.h"
#include "list.h"

/* Begins a statement, in place of one that was not kept; of several devices (-1) or sizes (0). */
void xb_reading_begin(struct xb_reading *reading, const char *label, const char *code, int device,
                      uint64_t bytes);
/* Adds the statement to the list, unless it has no words, or lacks a figure. */
void xb_reading_keep(struct xb_reading *reading);
/* Whether its host memory lies on a NUMA node that counts: devices of several that ran at the same
 * time are spoken of node by node (together.c). */
bool xb_reading_is_placed(const struct xb_record_case *test);

/* Returns the figure by which copies one way are compared: for small ones their whole time, because
 * the device's clock leaves out what it takes to start one; for single operations the host's
 * latency; else the bandwidth. */
const struct xb_figure *xb_reading_figure(const struct xb_record_case *test);
/* Returns the bytes a second of a copy one way, computed from that figure. */
double xb_reading_speed(const struct xb_reading *reading, const struct xb_record_case *test);
/* Whether it is of one device that had the machine for itself, between it and the host. */
bool xb_reading_alone(const struct xb_record_case *test);
/* A usable case of a device alone whose bandwidth is that of the buffer moved once, h2d or d2h; not
 * of a mode that is about something else (only_named in mode.h). */
bool xb_reading_one_way(const struct xb_reading *reading, const struct xb_record_case *test);
/* As above, of any length: a small one has the time that copies of its size are compared by. */
bool xb_reading_one_way_of_any(const struct xb_reading *reading, const struct xb_record_case *test);
/* Such a case, in that direction or any for NULL, that the device's clock timed and whose time is
 * that of one crossing of the link: a filter. */
bool xb_reading_crosses_link(const struct xb_reading *reading, const struct xb_record_case *test,
                             const void *direction);

/* Sets the list's answer. */
void xb_reading_make_answer(struct xb_reading *reading);

/* The fastest case of each mode and variant in one direction (cases that differ in parameters alone
 * are one way), and the best of all; NULL: there is none. */
#define XB_READING_WAYS 64 /* more modes and variants come from no run */
struct xb_reading_ways {
    const struct xb_record_case *all[XB_READING_WAYS];
    size_t count;
    const struct xb_record_case *best;
};
struct xb_reading_ways xb_reading_collect_ways(const struct xb_reading *reading,
                                               enum xb_direction direction);
bool xb_reading_is_one_method(const struct xb_record_case *a, const struct xb_record_case *b);

/* ---- what is said of any mode ---- */

xb_reading_say xb_reading_say_link, xb_reading_say_slow_link, xb_reading_say_counted,
    xb_reading_say_both_ways, xb_reading_say_group, xb_reading_say_numa, xb_reading_say_slow;

/* Before the modes' lines, and behind them. Each ends with a label of NULL. */
extern const struct xb_reading_line xb_reading_first[], xb_reading_last[];

/* About devices that ran at the same time; says nothing by itself. */
extern const struct xb_reading_line xb_reading_together;
/* Says it of the largest sum of each kind. */
void xb_reading_say_together(struct xb_reading *reading);

/* The same about a set of transfers. */
extern const struct xb_reading_line xb_reading_set;
void xb_reading_say_set(struct xb_reading *reading);
