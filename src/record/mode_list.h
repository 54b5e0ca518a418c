/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/mode.h"

/* The modes, in the order in which they are measured; ends with NULL. CMake writes the definition
 * (cmake/registry_list.c.in) for each program; a test program brings its own. */
extern const struct xb_mode *const xb_modes[];

/* The mode of that name, or NULL. */
const struct xb_mode *xb_mode_find(const char *name);
/* Whether a mode has an option of that name. */
bool xb_modes_take(const char *option);
/* The figure of that name, of the runner's or of any mode's; NULL for none. */
const struct xb_figure *xb_figure_find(const char *name);

/* The figure that such a case is about, which it has wherever it is ok: its mode's own latency, or
 * else latency_host or the bandwidth, as of a mode that this program does not have. */
const struct xb_figure *xb_mode_main_figure(const char *mode, bool latency);
/* Whether that is a latency of the mode's own. */
bool xb_mode_has_latency(const char *mode);

/* Whether a figure is one of those that the mode declares. */
bool xb_mode_declares(const struct xb_mode *mode, const struct xb_figure *figure);

/* Whether operations are timed one by one: not for a mode with a latency of its own. */
bool xb_case_is_single(const struct xb_case *test);
