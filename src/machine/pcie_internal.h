/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MACHINE_PCIE_INTERNAL_H
#define XFERBENCH_MACHINE_PCIE_INTERNAL_H

struct xb_pcie_link;

/* Reads all four figures of a link in the folder of one of its ends. Numbers that cannot be read
 * stay as they are, and `known` is then false. Does not touch `port`. */
void xb_pcie_link_fill(const char *folder, struct xb_pcie_link *link);

/* Like xb_pcie_numa_node, but under another root than /sys/bus/pci/devices: for tests. */
int xb_pcie_numa_node_at(const char *root, const char *bdf);

#endif
