/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* clock_gettime, for base/clock.h */
#include "link_load.h"

#include "base/clock.h"

#include <string.h>

static const char *sysfs_of(const struct xb_run *run)
{
    return run->sysfs != NULL ? run->sysfs : XB_PCI_DEVICES;
}

void xb_link_load_open(const struct xb_run *run, struct xb_run_device *device)
{
    xb_pcie_path_read(sysfs_of(run), device->info.pci_bdf, &device->path);
    memset(&device->load, 0, sizeof device->load);
    device->load.count = xb_pcie_path_hops(&device->path);
}

void xb_link_look_make(const struct xb_run *run, const struct xb_run_device *device,
                       struct xb_link_look *look)
{
    memset(look, 0, sizeof *look);
    look->made = device->load.count > 0;
    for (size_t i = 0; i < device->load.count; i++)
        if (!xb_pcie_hop_read(sysfs_of(run), &device->path.hops[i], &look->hops[i].speed_gts,
                              &look->hops[i].width))
            look->hops[i].width = 0;
    look->end = xb_clock_now();
}

void xb_link_look_count(const struct xb_link_look *look, double begin, double seconds,
                        struct xb_run_device *device)
{
    if (!look->made || look->end >= begin + seconds)
        return;
    for (size_t i = 0; i < device->load.count; i++) {
        struct xb_pcie_seen *seen = &device->load.hops[i];
        if (look->hops[i].width == 0)
            continue;
        seen->readings++;
        if (look->hops[i].speed_gts > seen->speed_gts)
            seen->speed_gts = look->hops[i].speed_gts;
        if (look->hops[i].width > seen->width)
            seen->width = look->hops[i].width;
    }
}
