/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Where Linux shows PCI devices. */
#define XB_PCI_DEVICES "/sys/bus/pci/devices"

/*
 * A PCIe link as Linux shows it for one device (Documentation/ABI/testing/sysfs-bus-pci). An idle
 * GPU trains its link down, so a reading is meaningful only right after data moved.
 */
struct xb_pcie_link {
    bool known;       /* all four numbers were read; if false, those that were not are 0 */
    double speed_gts; /* 10^9 transfers per second on each lane */
    unsigned width;   /* lanes */
    double max_speed_gts;
    unsigned max_width;
    char port[16]; /* BDF of the function whose link this is (see below); "" if not known */
};

/*
 * Reads the link of the device at `bdf` ("0000:0f:00.0"). known is false if any file is unreadable
 * or does not hold a number.
 *
 * AMD's cards have a switch on the package. The GPU's own link leads only to that switch, so its
 * rate says nothing about the slot. For such a card this reads the link of the switch's port that
 * faces the slot, and never the inner link instead. `port` names the function that was read.
 */
struct xb_pcie_link xb_pcie_link_read(const char *bdf);

/* Like xb_pcie_link_read, but under another root than /sys/bus/pci/devices: for tests. */
struct xb_pcie_link xb_pcie_link_read_at(const char *root, const char *bdf);

/* Generation 1 to 6 for 2.5, 5, 8, 16, 32, 64 GT/s; 0 for any other rate. */
unsigned xb_pcie_generation(double speed_gts);

/* A PCIe link as "Gen5 x16"; "12 GT/s x16" for a rate of no generation. `text` holds 32. */
const char *xb_lanes_text(double speed_gts, unsigned width, char *text, size_t size);

/*
 * Bytes per second in one direction after line coding: 8b/10b up to 5 GT/s, 128b/130b up to 32 (PCI
 * Express Base Specification 5.0, 4.2). 0 for 64 GT/s, because published tables disagree about its
 * FLIT overhead, and for a rate that no generation has.
 */
double xb_pcie_raw_rate(double speed_gts, unsigned width);

/* The same, for telling which of two links carries less: also of 64 GT/s and of a rate that no
 * generation has, by the bytes of packets in a FLIT. Nothing else may be concluded from it. */
double xb_pcie_rate_to_compare(double speed_gts, unsigned width);

/* Reads all four figures of a link in the folder of one of its ends. Numbers that cannot be read
 * stay as they are, and `known` is then false. Does not touch `port`. */
void xb_pcie_link_fill(const char *folder, struct xb_pcie_link *link);

/* The NUMA node that sysfs names for the device at `bdf`, or -1 if it names none. */
int xb_pcie_numa_node(const char *bdf);
int xb_pcie_numa_node_at(const char *root, const char *bdf); /* for tests, as above */
