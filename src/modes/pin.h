/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "transfer.h"

#include "machine/host_memory.h"
#include "xferbench/statistics.h"

/* What the files of mode pin share. */

/* How memory gets page-locked; the words of --pin-by, in their order. */
enum xb_pin_way { XB_PIN_ALLOC, XB_PIN_REGISTER, XB_PIN_USED, XB_PIN_USED_HUGE, XB_PIN_COPY };

/* Ends with NULL. */
extern const char *const xb_pin_words[];

#define XB_PIN_HUGE_PAGE (UINT64_C(2) << 20)

/* How often memory is page-locked in a case: fewer times where the time limit is over before, but
 * this often at least. */
#define XB_PIN_LEAST 3u
#define XB_PIN_MOST 20u

/* What the kernel and the device counted right before the data had memory and right after it was
 * page-locked for the first time. */
struct xb_pin_counts {
    bool on_host, on_device, huge; /* whether both are known */
    bool restarted;                /* `highest` of the second began to count at the first */
    struct xb_process_memory before, after;
    uint64_t device_before, device_after; /* free */
    uint64_t huge_before, huge_after;
};

struct xb_pin {
    struct xb_transfer transfer; /* first: the shared hooks find it there */
    enum xb_pin_way way;
    void *used;             /* memory of ours that is page-locked in place; NULL: none */
    struct xb_buffer *data; /* of `copy` the memory that the data stays in; NULL: none */
    struct xb_buffer *pinned;
    struct xb_buffer *pageable; /* what the references copy: `data`, or other memory like it */
    struct xb_ring *ring;       /* NULL: none */
    struct xb_crew *crew;
    double setup_times[XB_PIN_MOST], unpin_times[XB_PIN_MOST]; /* seconds */
    size_t setup_count, unpin_count;
    struct xb_pin_counts counts;
};

/* For setup: makes the memory of the data where it is there before it is page-locked, then
 * page-locks, times that, undoes it and does it again, and leaves it page-locked. */
XB_MUST_CHECK enum xb_status xb_pin_memory(struct xb_mode_context *context, struct xb_error *error);

/* Undoes the page-lock and times that. */
void xb_pin_undo(struct xb_mode_context *context);

/* For teardown: releases all of the above, whatever there is of it. */
void xb_pin_release(struct xb_mode_context *context);

/* For verify: adds the figures and details of time and memory. XB_ERR_MEMORY only. */
XB_MUST_CHECK enum xb_status xb_pin_tell(const struct xb_mode_context *context,
                                         struct xb_result *result, struct xb_error *error);

extern const struct xb_figure xb_figure_unpin_time;
extern const struct xb_figure xb_figure_peak_host_memory, xb_figure_peak_device_memory;
/* After how many copies page-locking has paid, against the driver's copies and against a ring. */
extern const struct xb_figure xb_figure_break_even_copies, xb_figure_break_even_copies_ring;
extern const struct xb_figure xb_figure_pageable_time, xb_figure_ring_time;

enum xb_pin_outcome { XB_PIN_UNSURE, XB_PIN_PAYS, XB_PIN_NEVER_PAYS };

/* Whether a copy of page-locked memory takes less time than the reference: only where even the slow
 * end of its interval does, against the fast end of the reference's; never where even the fast end
 * does not, against the slow one. Where there is no interval, the samples' ends count. */
enum xb_pin_outcome xb_pin_judge(double bytes, const struct xb_statistics *bandwidth,
                                 const struct xb_statistics *reference);

extern const struct xb_reading_line xb_pin_reading[];
bool xb_pin_say_cost(struct xb_reading *reading, int device, uint64_t bytes);
