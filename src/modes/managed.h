/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "shared_options.h"

/* What the Reading knows of the mode managed. */

/* --touched: how many percent of the memory are touched. --touch-order: in which order. */
extern const struct xb_option xb_option_touched, xb_option_touch_order;

/* The way without faults: all of the memory prefetched, and then touched as much. */
extern const struct xb_figure xb_figure_full_copy_time;
