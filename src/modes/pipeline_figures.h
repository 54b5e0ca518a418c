/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MODES_PIPELINE_FIGURES_H
#define XFERBENCH_MODES_PIPELINE_FIGURES_H

#include "xferbench/figure.h"

/* Figures of modes that bring data to the device, compute on it and take it back. */

/* What one iteration has of each stage, measured alone. */
extern const struct xb_figure xb_figure_in_time, xb_figure_kernel_time, xb_figure_out_time;

/* How many times as fast as the plain way. */
extern const struct xb_figure xb_figure_speed_up;

#endif
