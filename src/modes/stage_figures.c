/* SPDX-License-Identifier: Apache-2.0 */
#include "stage_figures.h"

const struct xb_figure xb_figure_in_time = {
    .name = "in_time",
    .unit = XB_UNIT_SECONDS,
    .help = "The copies into the device alone",
};
const struct xb_figure xb_figure_kernel_time = {
    .name = "kernel_time",
    .unit = XB_UNIT_SECONDS,
    .help = "The kernels alone",
};
const struct xb_figure xb_figure_out_time = {
    .name = "out_time",
    .unit = XB_UNIT_SECONDS,
    .help = "The copies out of the device alone",
};
const struct xb_figure xb_figure_speed_up = {
    .name = "speed_up",
    .unit = XB_UNIT_RATIO,
    .more_is_better = true,
    .help = "How many times as fast as the same work done the plain way",
};

const struct xb_figure xb_figure_share_of_bound = {
    .name = "share_of_bound",
    .unit = XB_UNIT_RATIO,
    .more_is_better = true,
    .help = "The bandwidth divided by that of the slowest stage alone: 1 is the best possible",
};

const struct xb_figure xb_figure_serial_time = {
    .name = "serial_time",
    .unit = XB_UNIT_SECONDS,
    .help = "The same work, one step after the other",
};

const struct xb_figure xb_figure_gpu_busy = {
    .name = "gpu_busy",
    .unit = XB_UNIT_RATIO,
    .more_is_better = true,
    .help = "The share of the time in which the device computed: its kernels' time alone, divided "
            "by the whole",
};
