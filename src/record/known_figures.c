/* SPDX-License-Identifier: Apache-2.0 */
/* The figures that the runner takes of every mode's cases. */
#include "xferbench/figure.h"

#include <stddef.h>

const struct xb_figure xb_figure_bandwidth = {
    XB_FIGURE_RATE("bandwidth", "The bytes that one iteration moves, divided by its time"),
    .gates = true};
const struct xb_figure xb_figure_bandwidth_h2d = {
    XB_FIGURE_RATE("bandwidth_h2d", "Both ways at once: the part from host to device")};
const struct xb_figure xb_figure_bandwidth_d2h = {
    XB_FIGURE_RATE("bandwidth_d2h", "Both ways at once: the part from device to host")};
const struct xb_figure xb_figure_latency_host = {
    XB_FIGURE_TIME("latency_host",
                   "A single operation until the host knows that it is done, by the host's clock"),
    .gates = true};
const struct xb_figure xb_figure_latency_device = {
    XB_FIGURE_TIME("latency_device", "A single operation between two events of the device"),
    .gates = true};
const struct xb_figure xb_figure_overlap = {XB_FIGURE_GAIN(
    "overlap", "The share of the time in which both ways, or all devices, moved data")};
const struct xb_figure xb_figure_share_of_alone = {XB_FIGURE_GAIN(
    "share_of_alone", "The bandwidth of a device beside others, divided by its bandwidth alone")};
const struct xb_figure xb_figure_share_of_ceiling = {XB_FIGURE_GAIN(
    "share_of_ceiling",
    "The bandwidth of one way, divided by the most that the PCIe link can carry that way")};
const struct xb_figure xb_figure_share_of_ceiling_h2d = {XB_FIGURE_GAIN(
    "share_of_ceiling_h2d", "Both ways at once: the same, of the part from host to device")};
const struct xb_figure xb_figure_share_of_ceiling_d2h = {XB_FIGURE_GAIN(
    "share_of_ceiling_d2h", "Both ways at once: the same, of the part from device to host")};
const struct xb_figure xb_figure_between_placements = {
    XB_FIGURE_NUMBER("between_placements",
                     "How much the bandwidth differs by where the host's memory lies: the highest "
                     "median of a placement minus the lowest, divided by the median of all")};
const struct xb_figure xb_figure_submit_time = {XB_FIGURE_TIME(
    "submit_time", "How long the call that starts one iteration blocks, by the host's clock")};
const struct xb_figure xb_figure_wall_time = {
    XB_FIGURE_TIME("wall_time", "One iteration until its data is there, by the host's clock")};
const struct xb_figure xb_figure_setup_time = {XB_FIGURE_TIME(
    "setup_time", "How long preparing the case took: making, page-locking and filling memory. "
                  "Memory kept from the case before costs nothing. A mode that measures preparing "
                  "memory takes samples of that alone")};

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
