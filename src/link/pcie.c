/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* PATH_MAX */
#include "xferbench/link.h"

#include "pcie_internal.h"
#include "sysfs.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* PCI Express Base Specification 5.0, 4.2 (coding) and 8.1 (rates); 6.0 for the last. */
static const struct {
    double gts;
    double coding; /* data bits a bit on the line; 0 where no figure is certain */
} generations[] = {
    {2.5, 8.0 / 10.0},     {5.0, 8.0 / 10.0},     {8.0, 128.0 / 130.0},
    {16.0, 128.0 / 130.0}, {32.0, 128.0 / 130.0}, {64.0, 0.0},
};

static bool is_below_amd(const char *folder)
{
    char above[PATH_MAX];
    int length = snprintf(above, sizeof above, "%s/..", folder);

    return length >= 0 && (size_t)length < sizeof above &&
           xb_sysfs_vendor(above) == XB_VENDOR_AMD_GPU;
}

/*
 * The folder of the port through which the device meets its slot, without symbolic links, so that
 * the folder around it is the bridge above it. The device is asked before its bridges are: another
 * vendor's card has no switch of AMD's on it, whatever it is plugged into.
 */
static bool find_port(const char *root, const char *bdf, char folder[PATH_MAX])
{
    if (!xb_sysfs_folder(root, bdf, folder))
        return false;
    if (xb_sysfs_vendor(folder) != XB_VENDOR_AMD_GPU)
        return true;
    while (is_below_amd(folder)) {
        char *slash = strrchr(folder, '/');
        if (slash == NULL)
            return false;
        *slash = '\0';
    }
    return true;
}

struct xb_pcie_link xb_pcie_link_read_at(const char *root, const char *bdf)
{
    struct xb_pcie_link link = {0};
    char folder[PATH_MAX];

    if (!find_port(root, bdf, folder))
        return link;
    xb_sysfs_link(folder, &link);
    const char *name = xb_sysfs_name(folder);
    if (link.known && strlen(name) < sizeof link.port)
        memcpy(link.port, name, strlen(name) + 1);
    return link;
}

struct xb_pcie_link xb_pcie_link_read(const char *bdf)
{
    return xb_pcie_link_read_at(XB_PCI_DEVICES, bdf);
}

unsigned xb_pcie_generation(double speed_gts)
{
    for (unsigned i = 0; i < sizeof generations / sizeof *generations; i++)
        if (generations[i].gts == speed_gts)
            return i + 1;
    return 0;
}

double xb_pcie_raw_rate(double speed_gts, unsigned width)
{
    unsigned generation = xb_pcie_generation(speed_gts);

    if (generation == 0)
        return 0.0;
    return speed_gts * 1e9 / 8.0 * generations[generation - 1].coding * width;
}

int xb_pcie_numa_node_at(const char *root, const char *bdf)
{
    char folder[PATH_MAX];

    return xb_sysfs_folder(root, bdf, folder) ? xb_sysfs_numa_node(folder) : -1;
}

int xb_pcie_numa_node(const char *bdf)
{
    return xb_pcie_numa_node_at(XB_PCI_DEVICES, bdf);
}
