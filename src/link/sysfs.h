/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_LINK_SYSFS_H
#define XFERBENCH_LINK_SYSFS_H

#include "xferbench/link.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Single files of a PCI function in sysfs. A folder is given as its path; each function reads one
 * attribute, and what cannot be read or is not what the kernel writes there is false.
 */

/* Whether the text names a PCI function: domain:bus:device.function. Domains of more than 16 bits
 * exist (behind Intel's VMD). What is longer than a bdf[16] holds is none. */
bool xb_sysfs_is_bdf(const char *name);

/* The folder of the function at `bdf` without symbolic links, so that the folder around it is the
 * bridge above it. */
bool xb_sysfs_folder(const char *root, const char *bdf, char folder[PATH_MAX]);

/* The last component of a path. */
const char *xb_sysfs_name(const char *path);

/* The attribute as text, with its line end. False also if it is empty; cut after size - 1. */
bool xb_sysfs_text(const char *folder, const char *name, char *text, size_t size);

/* "32.0 GT/s PCIe"; kernels before 5.8 leave out "PCIe". Transfers per second and lane, in 10^9. */
bool xb_sysfs_speed(const char *folder, const char *name, double *gts);
bool xb_sysfs_width(const char *folder, const char *name, unsigned *lanes);

/* All four files of a link. Whatever could not be read is 0, and known is then false. Leaves `port`
 * alone. */
void xb_sysfs_link(const char *folder, struct xb_pcie_link *link);

/* -1 where none is named. */
int xb_sysfs_numa_node(const char *folder);
/* 0 if not known. */
unsigned xb_sysfs_vendor(const char *folder);

/* Of AMD's GPUs and of the switch on their package. What belongs to its CPUs has 0x1022. */
#define XB_VENDOR_AMD_GPU 0x1002u
/* Of the ports that QEMU emulates (Red Hat's): their link is none. */
#define XB_VENDOR_QEMU 0x1b36u

#endif
