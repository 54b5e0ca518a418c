/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a device's state from NVML: clocks, what throttles them, replays of its PCIe link. */
#include "nvml.h"

#include <stdio.h>
#include <string.h>

#define CLOCK_SM 1     /* NVML_CLOCK_SM */
#define CLOCK_MEMORY 2 /* NVML_CLOCK_MEM */

/* The bits of nvmlClocksThrottleReason*, with words shortened from the NVML API Reference Guide. */
static const struct {
    unsigned long long bit;
    const char *words;
    bool by_hardware;
} reasons[] = {
    {0x1, "idle", false},
    {0x2, "application clocks setting", false},
    {0x4, "power cap", false},
    {0x8, "hardware slowdown", false}, /* the bit is also set while clocks change */
    {0x10, "sync boost", false},
    {0x20, "software thermal slowdown", false},
    {0x40, "hardware thermal slowdown", true},
    {0x80, "hardware power brake", true},
    {0x100, "display clock setting", false},
};

static void read_throttle(const struct xb_nvml *nvml, xb_nvml_device device,
                          struct xb_device_health *health)
{
    unsigned long long now = 0;
    if (nvml->throttle_reasons == NULL || nvml->throttle_reasons(device, &now) != XB_NVML_SUCCESS)
        return;
    health->throttle_known = true;
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        size_t length = strlen(health->throttle);
        if ((now & reasons[i].bit) == 0)
            continue;
        snprintf(health->throttle + length, sizeof health->throttle - length, "%s%s",
                 length > 0 ? ", " : "", reasons[i].words);
        health->slowed_by_hardware = health->slowed_by_hardware || reasons[i].by_hardware;
    }
}

static void read_clocks(const struct xb_nvml *nvml, xb_nvml_device device,
                        struct xb_device_health *health)
{
    health->clocks_known =
        nvml->clock != NULL &&
        nvml->clock(device, CLOCK_SM, &health->sm_clock_mhz) == XB_NVML_SUCCESS &&
        nvml->clock(device, CLOCK_MEMORY, &health->memory_clock_mhz) == XB_NVML_SUCCESS;
}

static void read_replays(const struct xb_nvml *nvml, xb_nvml_device device,
                         struct xb_device_health *health)
{
    unsigned replays = 0;
    health->replays_known =
        nvml->pcie_replays != NULL && nvml->pcie_replays(device, &replays) == XB_NVML_SUCCESS;
    health->replays = replays;
}

void xb_nvml_health(const char *bus_id, struct xb_device_health *health)
{
    const struct xb_nvml *nvml = xb_nvml_get();
    xb_nvml_device device = NULL;
    memset(health, 0, sizeof *health);
    if (nvml == NULL || !xb_nvml_find(bus_id, &device))
        return;
    read_replays(nvml, device, health);
    read_clocks(nvml, device, health);
    read_throttle(nvml, device, health);
    xb_nvml_read_nvlinks(device, health);
}
