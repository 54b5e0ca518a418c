/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Reads single attributes of a PCI function in sysfs. `folder` is the path of the function's
 * folder. A function returns false if the attribute cannot be read or holds something that the
 * kernel does not write there.
 */

/* Whether the text names a PCI function: domain:bus:device.function. Domains of more than 16 bits
 * exist (behind Intel's VMD). Returns false for a name that does not fit in a bdf[16]. */
bool xb_sysfs_is_bdf(const char *name);

/* Writes "FOLDER/NAME". Returns false if that is too long for a path. */
bool xb_sysfs_path(const char *folder, const char *name, char path[PATH_MAX]);

/* Finds the folder of the function at `bdf`, with symbolic links resolved, so that the folder
 * around it is the bridge above it. */
bool xb_sysfs_folder(const char *root, const char *bdf, char folder[PATH_MAX]);

/* The last component of a path. */
const char *xb_sysfs_name(const char *path);

/* Reads the attribute as text, with its newline, cut after size - 1 bytes. Also false if it is
 * empty. */
bool xb_sysfs_text(const char *folder, const char *name, char *text, size_t size);

/* Reads an attribute such as "32.0 GT/s PCIe" (kernels before 5.8 leave out "PCIe"), in 10^9
 * transfers per second on each lane. */
bool xb_sysfs_speed(const char *folder, const char *name, double *gts);
bool xb_sysfs_width(const char *folder, const char *name, unsigned *lanes);

/* The function's NUMA node, or -1 if sysfs names none. */
int xb_sysfs_numa_node(const char *folder);
/* The number of the function's vendor, or 0 if not known. */
unsigned xb_sysfs_vendor(const char *folder);

/* AMD's number for its GPUs and for the switch on their package. Its CPUs have 0x1022. */
#define XB_VENDOR_AMD_GPU 0x1002u
/* Red Hat's number, which QEMU gives to the ports that it emulates. */
#define XB_VENDOR_QEMU 0x1b36u
