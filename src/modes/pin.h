/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "shared_options.h"

#include "machine/host_memory.h"

/* What mode pin and its Reading share. */

/* How memory gets page-locked; the words of --pin-by, in their order. */
enum xb_pin_way { XB_PIN_ALLOC, XB_PIN_REGISTER, XB_PIN_USED, XB_PIN_USED_HUGE, XB_PIN_COPY };

/* Ends with NULL. */
extern const char *const xb_pin_words[];

/* How often memory is page-locked in a case: fewer times where the time limit is over before, but
 * this often at least. */
#define XB_PIN_LEAST 3u
#define XB_PIN_MOST 20u

extern const struct xb_figure xb_figure_pin_peak_host_memory;
/* After how many copies page-locking has paid, against the driver's copies and against a ring. */
extern const struct xb_figure xb_figure_break_even_copies, xb_figure_break_even_copies_ring;
extern const struct xb_figure xb_figure_pageable_time, xb_figure_ring_time;

enum xb_pin_outcome { XB_PIN_UNSURE, XB_PIN_PAYS, XB_PIN_NEVER_PAYS };

/* The ends of its interval or, where there is none, of its samples. */
static inline double xb_pin_low_end(const struct xb_statistics *s)
{
    return s->has_interval ? s->ci95_low : s->min;
}

static inline double xb_pin_high_end(const struct xb_statistics *s)
{
    return s->has_interval ? s->ci95_high : s->max;
}

/* Whether a copy of page-locked memory takes less time than the reference: only where even the slow
 * end of its interval does, against the fast end of the reference's; never where even the fast end
 * does not, against the slow one. */
static inline enum xb_pin_outcome xb_pin_judge(double bytes, const struct xb_statistics *bandwidth,
                                               const struct xb_statistics *reference)
{
    if (bytes / xb_pin_low_end(bandwidth) < xb_pin_low_end(reference))
        return XB_PIN_PAYS;
    return bytes / xb_pin_high_end(bandwidth) >= xb_pin_high_end(reference) ? XB_PIN_NEVER_PAYS
                                                                            : XB_PIN_UNSURE;
}
