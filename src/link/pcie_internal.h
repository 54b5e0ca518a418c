/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_LINK_PCIE_INTERNAL_H
#define XFERBENCH_LINK_PCIE_INTERNAL_H

/* xb_pcie_numa_node under another root than /sys/bus/pci/devices: for tests. */
int xb_pcie_numa_node_at(const char *root, const char *bdf);

#endif
