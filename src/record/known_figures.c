/* SPDX-License-Identifier: Apache-2.0 */
/* The figures that the runner takes of every mode's cases. */
#include "xferbench/figure.h"

#include <stddef.h>

const struct xb_figure xb_figure_bandwidth = {
    .name = "bandwidth",
    .unit = XB_UNIT_RATE,
    .more_is_better = true,
    .gates = true,
    .help = "The bytes that one iteration moves, divided by its time",
};
const struct xb_figure xb_figure_bandwidth_h2d = {
    .name = "bandwidth_h2d",
    .unit = XB_UNIT_RATE,
    .more_is_better = true,
    .help = "Both ways at once: the part from host to device",
};
const struct xb_figure xb_figure_bandwidth_d2h = {
    .name = "bandwidth_d2h",
    .unit = XB_UNIT_RATE,
    .more_is_better = true,
    .help = "Both ways at once: the part from device to host",
};
const struct xb_figure xb_figure_latency_host = {
    .name = "latency_host",
    .unit = XB_UNIT_SECONDS,
    .gates = true,
    .help = "A single operation until the host knows that it is done, by the host's clock",
};
const struct xb_figure xb_figure_latency_device = {
    .name = "latency_device",
    .unit = XB_UNIT_SECONDS,
    .gates = true,
    .help = "A single operation between two events of the device",
};
const struct xb_figure xb_figure_overlap = {
    .name = "overlap",
    .unit = XB_UNIT_RATIO,
    .more_is_better = true,
    .help = "The share of the time in which both ways, or all devices, moved data",
};
const struct xb_figure xb_figure_share_of_alone = {
    .name = "share_of_alone",
    .unit = XB_UNIT_RATIO,
    .more_is_better = true,
    .help = "The bandwidth of a device beside others, divided by its bandwidth alone",
};
const struct xb_figure xb_figure_share_of_ceiling = {
    .name = "share_of_ceiling",
    .unit = XB_UNIT_RATIO,
    .more_is_better = true,
    .help = "The bandwidth of one way, divided by the most that the PCIe link can carry that way",
};
const struct xb_figure xb_figure_share_of_ceiling_h2d = {
    .name = "share_of_ceiling_h2d",
    .unit = XB_UNIT_RATIO,
    .more_is_better = true,
    .help = "Both ways at once: the same, of the part from host to device",
};
const struct xb_figure xb_figure_share_of_ceiling_d2h = {
    .name = "share_of_ceiling_d2h",
    .unit = XB_UNIT_RATIO,
    .more_is_better = true,
    .help = "Both ways at once: the same, of the part from device to host",
};
const struct xb_figure xb_figure_between_placements = {
    .name = "between_placements",
    .unit = XB_UNIT_RATIO,
    .help =
        "How much the bandwidth differs by where the host's memory lies: the highest median of a "
        "placement minus the lowest, divided by the median of all",
};
const struct xb_figure xb_figure_submit_time = {
    .name = "submit_time",
    .unit = XB_UNIT_SECONDS,
    .help = "How long the call that starts one iteration blocks, by the host's clock",
};
const struct xb_figure xb_figure_wall_time = {
    .name = "wall_time",
    .unit = XB_UNIT_SECONDS,
    .help = "One iteration until its data is there, by the host's clock",
};
const struct xb_figure xb_figure_setup_time = {
    .name = "setup_time",
    .unit = XB_UNIT_SECONDS,
    .help =
        "How long preparing the case took: making, page-locking and filling memory. Memory kept "
        "from the case before costs nothing. A mode that measures preparing memory takes samples "
        "of that alone",
};

const struct xb_figure *const xb_runner_figures[] = {
    &xb_figure_bandwidth,
    &xb_figure_bandwidth_h2d,
    &xb_figure_bandwidth_d2h,
    &xb_figure_latency_host,
    &xb_figure_latency_device,
    &xb_figure_overlap,
    &xb_figure_share_of_alone,
    &xb_figure_share_of_ceiling,
    &xb_figure_share_of_ceiling_h2d,
    &xb_figure_share_of_ceiling_d2h,
    &xb_figure_between_placements,
    &xb_figure_submit_time,
    &xb_figure_wall_time,
    &xb_figure_setup_time,
    NULL,
};
