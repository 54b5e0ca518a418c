/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MEASURE_MODE_CHOICE_H
#define XFERBENCH_MEASURE_MODE_CHOICE_H

#include "xferbench/mode.h"

/* The modes that a run measures. */
struct xb_mode_choice {
    const struct xb_mode *modes[64];
    size_t count;
};

/* Reads --mode. XB_ERR_USAGE for a mode that there is not; the message says which there are. */
XB_MUST_CHECK enum xb_status xb_mode_choose(const struct xb_config *config,
                                            struct xb_mode_choice *choice, struct xb_error *error);

/* XB_ERR_USAGE where the chosen modes would pass over something that the user asked for: an option,
 * a direction, several devices at the same time. */
XB_MUST_CHECK enum xb_status xb_mode_choice_check(const struct xb_config *config,
                                                  const struct xb_mode_choice *choice,
                                                  struct xb_error *error);

/* The directions in which a mode is measured: bits of enum xb_direction; 0 for none. */
unsigned xb_mode_directions(const struct xb_config *config, const struct xb_mode *mode);
/* Those in which several devices are measured at the same time, as --simultaneous asks for. */
unsigned xb_mode_directions_together(const struct xb_config *config, const struct xb_mode *mode);

/* For --mode and --device: XB_ERR_USAGE for 'all' with other words beside it. 'all' says everything
 * already, so one of them is a mistake. */
XB_MUST_CHECK enum xb_status xb_choice_refuse_all_beside_others(const struct xb_value *value,
                                                                struct xb_error *error);

#endif
