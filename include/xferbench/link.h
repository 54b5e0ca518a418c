/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_LINK_H
#define XFERBENCH_LINK_H

#include <stdbool.h>

/* Where Linux shows PCI devices. */
#define XB_PCI_DEVICES "/sys/bus/pci/devices"

/*
 * A PCIe link as Linux shows it for one device (Documentation/ABI/testing/sysfs-bus-pci). An idle
 * GPU trains its link down, so a reading says something only when data has just moved.
 */
struct xb_pcie_link {
    bool known;       /* all four are; where not, one that could not be read is 0 */
    double speed_gts; /* transfers per second and lane, in 10^9 */
    unsigned width;   /* lanes */
    double max_speed_gts;
    unsigned max_width;
    char port[16]; /* whose link this is, as a BDF: below; "" if not known */
};

/*
 * Reads the link of the device at `bdf` ("0000:0f:00.0"). known is false if any file is unreadable
 * or does not hold a number.
 *
 * AMD's cards have a switch on the package, and the GPU's own link only leads to it: its rate says
 * nothing of the slot's. There the link read is the one of the switch's port that faces the slot,
 * and never the inner one in its place. `port` tells.
 */
struct xb_pcie_link xb_pcie_link_read(const char *bdf);

/* The same under another root than /sys/bus/pci/devices: for tests. */
struct xb_pcie_link xb_pcie_link_read_at(const char *root, const char *bdf);

/* Generation 1 to 6 for 2.5, 5, 8, 16, 32, 64 GT/s; 0 for any other rate. */
unsigned xb_pcie_generation(double speed_gts);

/*
 * Bytes per second one way after line coding: 8b/10b up to 5 GT/s, 128b/130b up to 32 (PCI Express
 * Base Specification 5.0, 4.2). 0 for 64 GT/s, whose FLIT overhead the published tables disagree
 * on, and for any rate that is no generation.
 */
double xb_pcie_raw_rate(double speed_gts, unsigned width);

/* The NUMA node sysfs gives for the device at `bdf`, or -1 where it gives none. */
int xb_pcie_numa_node(const char *bdf);

#endif
