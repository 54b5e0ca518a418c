/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "measure/run.h"

/*
 * The PCIe links of a device's path while data moves. An idle link trains down, so a reading proves
 * what the link is only if it ended before the data had arrived. So a look is made between the
 * release of a repetition and the wait for it, and counted afterwards, once its time is known.
 */

/* One reading of every hop, not counted yet. */
struct xb_link_look {
    bool made;
    double end; /* on the clock of base/clock.h */
    struct {
        double speed_gts;
        unsigned width; /* 0: not readable */
    } hops[XB_PCIE_HOPS];
};

/* Reads the path of a device that is open: its hops, and the sizes of packets. */
void xb_link_load_open(const struct xb_run *run, struct xb_run_device *device);

/* Reads speed and width of every hop now. Takes some ten microseconds a hop. */
void xb_link_look_make(const struct xb_run *run, const struct xb_run_device *device,
                       struct xb_link_look *look);

/* Counts the look in device->load if data was still on its way when it ended: `begin` is when the
 * first operation could start, on the same clock, and `seconds` what all took. */
void xb_link_look_count(const struct xb_link_look *look, double begin, double seconds,
                        struct xb_run_device *device);
