/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/* A figure: one measured quantity of a case, the runner's or declared by a mode (mode.h). Tables,
 * Reading, files and compare know a figure only by what stands here. */
struct xb_figure {
    const char *name; /* snake_case, one meaning a name: "bandwidth" */
    const char *unit; /* of its values: XB_UNIT_... */
    bool more_is_better;
    bool gates;       /* `compare` judges by it without being asked */
    const char *help; /* what it is, for docs/options.md: a sentence without its full stop */
};

#define XB_UNIT_RATE "B/s"
#define XB_UNIT_SECONDS "s"
#define XB_UNIT_BYTES "B"
#define XB_UNIT_PER_SECOND "1/s"
#define XB_UNIT_RATIO "1" /* shares from 0 to 1, factors, counts */

/* How a figure begins. More is better of a gain, a share or a factor; a number is any other without
 * a unit. */
#define XB_FIGURE(named, of, what) .name = (named), .unit = (of), .help = (what)
#define XB_FIGURE_TIME(named, what) XB_FIGURE(named, XB_UNIT_SECONDS, what)
#define XB_FIGURE_NUMBER(named, what) XB_FIGURE(named, XB_UNIT_RATIO, what)
#define XB_FIGURE_GAIN(named, what) XB_FIGURE_NUMBER(named, what), .more_is_better = true
#define XB_FIGURE_RATE(named, what) XB_FIGURE(named, XB_UNIT_RATE, what), .more_is_better = true

/* ---- the runner's own; definitions in src/record/known_figures.c ---- */

/* Bandwidth: for every case but those of single operations. */
extern const struct xb_figure xb_figure_bandwidth;
/* Bandwidth each way, from the same samples, of a case that goes both ways. */
extern const struct xb_figure xb_figure_bandwidth_h2d, xb_figure_bandwidth_d2h;
/* The sum of two ways' rates, of each sample: what other tools call the bandwidth of both. */
extern const struct xb_figure xb_figure_bandwidth_sum_of_ways;
/* Time of single operations (--latency), by either clock. */
extern const struct xb_figure xb_figure_latency_host, xb_figure_latency_device;
/* The share of the time in which both ways, or all devices, were at work. */
extern const struct xb_figure xb_figure_overlap;
/* For a device that ran beside others: its bandwidth as a share of what it had alone. */
extern const struct xb_figure xb_figure_share_of_alone;
/* What a copy that the device timed reaches of what its PCIe path can carry, if known
 * (docs/link-ceilings.md): one way, and each way of a case that goes both ways. */
extern const struct xb_figure xb_figure_share_of_ceiling;
extern const struct xb_figure xb_figure_share_of_ceiling_h2d, xb_figure_share_of_ceiling_d2h;
/* How far apart the bandwidths of several placements of the host's memory are. */
extern const struct xb_figure xb_figure_between_placements;
/* Host's clock: until the call that starts an operation returned, and until it was done. */
extern const struct xb_figure xb_figure_submit_time, xb_figure_wall_time;
/* What preparing a case took: mostly making, page-locking and filling memory. */
extern const struct xb_figure xb_figure_setup_time;
/* What one iteration costs besides time: of a mode that declares all three of them. */
extern const struct xb_figure xb_figure_cpu_time;
extern const struct xb_figure xb_figure_peak_host_memory, xb_figure_peak_device_memory;
#define XB_COST_FIGURES                                                                            \
    &xb_figure_cpu_time, &xb_figure_peak_host_memory, &xb_figure_peak_device_memory

/* All of them; ends with NULL. */
extern const struct xb_figure *const xb_runner_figures[];
