/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MODES_STAGE_FIGURES_H
#define XFERBENCH_MODES_STAGE_FIGURES_H

#include "xferbench/figure.h"

/* Figures of modes that work in stages, such as bringing data to the device, computing on it and
 * taking it back. */

/* What one iteration has of each stage, measured alone. */
extern const struct xb_figure xb_figure_in_time, xb_figure_kernel_time, xb_figure_out_time;

/* How near the whole is to what its slowest stage alone allows. */
extern const struct xb_figure xb_figure_share_of_bound;

/* How many times as fast as the plain way. */
extern const struct xb_figure xb_figure_speed_up;

/* The same work in a row. */
extern const struct xb_figure xb_figure_serial_time;

/* The kernels alone, by the whole. */
extern const struct xb_figure xb_figure_gpu_busy;

#endif
