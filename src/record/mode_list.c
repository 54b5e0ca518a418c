/* SPDX-License-Identifier: Apache-2.0 */
#include "mode_list.h"

#include "base/options.h"

#include <string.h>

const char *xb_group_name(enum xb_group group)
{
    static const char *const names[] = {NULL, "one-to-all", "all-to-one", "all-to-all", NULL};
    return names[group];
}

const char *xb_direction_name(enum xb_direction direction)
{
    static const char *const names[] = {
        [0] = "mixed", [XB_H2D] = "h2d", [XB_D2H] = "d2h", [XB_D2D] = "d2d", [XB_BIDIR] = "bidir"};
    const char *name = (size_t)direction < sizeof names / sizeof names[0] ? names[direction] : NULL;
    return name != NULL ? name : "unknown";
}

const struct xb_mode *xb_mode_find(const char *name)
{
    for (const struct xb_mode *const *mode = xb_modes; *mode != NULL; mode++)
        if (strcmp((*mode)->name, name) == 0)
            return *mode;
    return NULL;
}

bool xb_modes_take(const char *option)
{
    for (size_t i = 0; xb_modes[i] != NULL; i++)
        if (xb_option_find(xb_modes[i]->options, option) != NULL)
            return true;
    return false;
}

static const struct xb_figure *find_figure(const struct xb_figure *const *figures, const char *name)
{
    while (figures != NULL && *figures != NULL && strcmp((*figures)->name, name) != 0)
        figures++;
    return figures != NULL ? *figures : NULL;
}

bool xb_mode_declares(const struct xb_mode *mode, const struct xb_figure *figure)
{
    return find_figure(mode->figures, figure->name) == figure;
}

const struct xb_figure *xb_figure_find(const char *name)
{
    const struct xb_figure *found = find_figure(xb_runner_figures, name);
    for (size_t m = 0; found == NULL && xb_modes[m] != NULL; m++)
        found = find_figure(xb_modes[m]->figures, name);
    return found;
}

bool xb_mode_has_latency(const char *mode)
{
    const struct xb_mode *known = xb_mode_find(mode);
    return known != NULL && known->latency != NULL;
}

const struct xb_figure *xb_mode_main_figure(const char *mode, bool latency)
{
    if (xb_mode_has_latency(mode))
        return xb_mode_find(mode)->latency;
    return latency ? &xb_figure_latency_host : &xb_figure_bandwidth;
}

bool xb_case_is_single(const struct xb_case *test)
{
    return test->latency && test->mode->latency == NULL;
}

const struct xb_figure xb_figure_bandwidth = {
    XB_FIGURE_RATE("bandwidth", "The bytes that one iteration moves, divided by its time"),
    .gates = true};
const struct xb_figure xb_figure_bandwidth_h2d = {
    XB_FIGURE_RATE("bandwidth_h2d", "Both ways at once: the part from host to device")};
const struct xb_figure xb_figure_bandwidth_d2h = {
    XB_FIGURE_RATE("bandwidth_d2h", "Both ways at once: the part from device to host")};
const struct xb_figure xb_figure_bandwidth_sum_of_ways = {
    XB_FIGURE_RATE("bandwidth_sum_of_ways",
                   "Both ways at once: the sum of the two rates, each by its own way's time, as "
                   "nvbandwidth adds them up; bandwidth is by the time of the whole")};
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

const struct xb_figure xb_figure_cpu_time = {
    XB_FIGURE_TIME("cpu_time", "CPU time of all of the process's threads until the calls of one "
                               "iteration return; with submit_time: how busy they keep the CPU")};
const struct xb_figure xb_figure_peak_host_memory = {
    XB_FIGURE("peak_host_memory", XB_UNIT_BYTES,
              "Host memory of the case, without what only its proof takes, and by how much the "
              "process grew during an iteration (VmHWM; the least of three)")};
const struct xb_figure xb_figure_peak_device_memory = {
    XB_FIGURE("peak_device_memory", XB_UNIT_BYTES,
              "Device memory of the case, without what only its proof takes")};

const struct xb_figure *const xb_runner_figures[] = {&xb_figure_bandwidth,
                                                     &xb_figure_bandwidth_h2d,
                                                     &xb_figure_bandwidth_d2h,
                                                     &xb_figure_bandwidth_sum_of_ways,
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
                                                     NULL};
