/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_SINKS_LINK_FACTS_H
#define XFERBENCH_SINKS_LINK_FACTS_H

#include "xferbench/link_report.h"

/* What the formats of `xferbench link` read out of a report alike. */

/* CRITICAL, WARNING, UNKNOWN: in this order devices that are not OK are told. */
#define XB_LINK_BAD_LEVELS 3
extern const enum xb_level xb_link_bad_levels[XB_LINK_BAD_LEVELS];

/* The attempt that the verdict is about, or NULL for a device without one. */
const struct xb_link_attempt *xb_link_judged(const struct xb_link_report *report, size_t device);

/* How many attempts and hops there are, whatever the counts say: never past their arrays. */
size_t xb_link_attempts(const struct xb_link_device *device);
size_t xb_link_hops(const struct xb_pcie_path *path);

/* Whether a figure is one: 0 stands for none. */
bool xb_link_known(double value);

/* What a hop was seen to do under load, or NULL where no reading of it was good. */
const struct xb_pcie_seen *xb_link_seen(const struct xb_link_attempt *attempt, size_t hop);

/* The same of the hop that limits the device's path; NULL also where none was judged. */
const struct xb_pcie_seen *xb_link_bottleneck(const struct xb_link_report *report, size_t device);

/* What both ends of a hop can do, by the better of the readings before and after: some devices
 * lower what they call their maximum while they idle. 0 where it is not known. */
double xb_link_best_speed(const struct xb_link_attempt *attempt, size_t hop);
unsigned xb_link_best_width(const struct xb_link_attempt *attempt, size_t hop);

/* "Gen5 x16"; "48 GT/s x16" for a rate that is no generation; "-" where neither is known. */
const char *xb_link_lanes(double speed_gts, unsigned width, char *text, size_t size);

/* Errors that one end of a hop counted in all attempts together. Not known where no attempt read it
 * both before and after. One that went back was reset, and no rise. */
struct xb_pcie_aer xb_link_errors_at(const struct xb_link_device *device, size_t hop, bool upper);
/* Of all ends of the path together. */
struct xb_pcie_aer xb_link_errors(const struct xb_link_device *device);
/* The hops of the device's longest path: what xb_link_errors_at may be asked for. */
size_t xb_link_hops_of(const struct xb_link_device *device);
/* Packets sent again in all attempts together; false where that is not known. */
bool xb_link_replays(const struct xb_link_device *device, uint64_t *replays);

/* Whether reason `index` is the first of its code: a code is told once. */
bool xb_link_first_of_code(const struct xb_verdict *verdict, size_t index);

/* Where the limits of one direction come from: bytes per second, or else a share of the ceiling. */
enum xb_limit_source xb_link_source(const struct xb_limit *bandwidth,
                                    const struct xb_link_limits *limits);

/*
 * Writes text for a line that a shell or a monitoring core may take apart: printable ASCII, without
 * quotes, the bar that begins performance data, and what else a shell gives a meaning. (NHC's die()
 * gives its message to eval between apostrophes; Nagios' illegal_macro_output_chars.)
 */
void xb_link_put_safe(FILE *stream, const char *text);

#endif
