/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* PATH_MAX */
#include "pcie.h"

#include "sysfs.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* PCI Express Base Specification 5.0, 4.2 (coding) and 8.1 (rates); 6.0 for the last. */
static const struct {
    double gts;
    double coding; /* data bits for each bit on the line; 0 if no figure is certain */
} generations[] = {
    {2.5, 8.0 / 10.0},     {5.0, 8.0 / 10.0},     {8.0, 128.0 / 130.0},
    {16.0, 128.0 / 130.0}, {32.0, 128.0 / 130.0}, {64.0, 0.0},
};

/* Of a FLIT of 256 bytes 242 are packets (PCI Express Base Specification 6.0, 4.2.3). Other
 * overhead is not counted. */
#define FLIT_SHARE (242.0 / 256.0)

void xb_pcie_link_fill(const char *folder, struct xb_pcie_link *link)
{
    bool speed = xb_sysfs_speed(folder, "current_link_speed", &link->speed_gts);
    bool width = xb_sysfs_width(folder, "current_link_width", &link->width);
    bool max_speed = xb_sysfs_speed(folder, "max_link_speed", &link->max_speed_gts);
    bool max_width = xb_sysfs_width(folder, "max_link_width", &link->max_width);
    link->known = speed && width && max_speed && max_width;
}

/*
 * Reads the port that connects the device to its slot. The path has no symbolic links, so that the
 * folder around it is the bridge above it. Only a device from AMD is searched for AMD's switch:
 * another vendor's card has none, even if it is plugged into one.
 */
struct xb_pcie_link xb_pcie_link_read_at(const char *root, const char *bdf)
{
    struct xb_pcie_link link = {0};
    char folder[PATH_MAX];
    char above[PATH_MAX];
    if (!xb_sysfs_folder(root, bdf, folder))
        return link;
    /* As long as the bridge above has AMD's number for GPUs and their switch. */
    while (xb_sysfs_vendor(folder) == XB_VENDOR_AMD_GPU && xb_sysfs_path(folder, "..", above) &&
           xb_sysfs_vendor(above) == XB_VENDOR_AMD_GPU) {
        char *slash = strrchr(folder, '/');
        if (slash == NULL)
            return link;
        *slash = '\0';
    }
    xb_pcie_link_fill(folder, &link);
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

const char *xb_lanes_text(double speed_gts, unsigned width, char *text, size_t size)
{
    unsigned generation = xb_pcie_generation(speed_gts);
    if (generation > 0)
        snprintf(text, size, "Gen%u x%u", generation, width);
    else
        snprintf(text, size, "%g GT/s x%u", speed_gts, width);
    return text;
}

double xb_pcie_raw_rate(double speed_gts, unsigned width)
{
    unsigned generation = xb_pcie_generation(speed_gts);
    if (generation == 0)
        return 0.0;
    return speed_gts * 1e9 / 8.0 * generations[generation - 1].coding * width;
}

double xb_pcie_rate_to_compare(double speed_gts, unsigned width)
{
    double raw = xb_pcie_raw_rate(speed_gts, width);
    return raw > 0.0 ? raw : speed_gts * 1e9 / 8.0 * width * FLIT_SHARE;
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
