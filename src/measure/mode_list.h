/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MEASURE_MODE_LIST_H
#define XFERBENCH_MEASURE_MODE_LIST_H

#include "xferbench/mode.h"

/*
 * The modes, in the order in which they are measured; ends with NULL. CMake writes the definition
 * (cmake/registry_list.c.in) for each program; a test program brings its own.
 */
extern const struct xb_mode *const xb_modes[];

/*
 * Checks every table of such a list: unique names, mandatory hooks. Done once, before it is used.
 * XB_ERR_INTERNAL names the mode and what it lacks.
 */
XB_MUST_CHECK enum xb_status xb_modes_check(const struct xb_mode *const *modes,
                                            struct xb_error *error);

/* The mode of that name, or NULL. */
const struct xb_mode *xb_mode_find(const char *name);
/* The figure of that name, of the runner's or of any mode's; NULL for none. */
const struct xb_figure *xb_figure_find(const char *name);

#endif
