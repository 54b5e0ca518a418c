/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a device's state from NVML: clocks, what throttles them, and errors of its links. */
#include "nvml.h"

#include <stdio.h>
#include <string.h>

#define CLOCK_SM 1        /* NVML_CLOCK_SM */
#define CLOCK_MEMORY 2    /* NVML_CLOCK_MEM */
#define NVLINKS_MOST 18u  /* NVML_NVLINK_MAX_LINKS */
#define NVLINK_COUNTERS 5 /* NVML_NVLINK_ERROR_DL_REPLAY to NVML_NVLINK_ERROR_DL_ECC_DATA */

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

/* Adds up the link's error counters. Returns false if this driver has none of them. */
static bool add_errors(const struct xb_nvml *nvml, xb_nvml_device device, unsigned link,
                       uint64_t *errors)
{
    bool known = false;
    for (int counter = 0; nvml->link_errors != NULL && counter < NVLINK_COUNTERS; counter++) {
        unsigned long long count = 0;
        if (nvml->link_errors(device, link, counter, &count) != XB_NVML_SUCCESS)
            continue;
        known = true;
        *errors += count;
    }
    return known;
}

static void read_links(const struct xb_nvml *nvml, xb_nvml_device device,
                       struct xb_device_health *health)
{
    for (unsigned link = 0; nvml->link_state != NULL && link < NVLINKS_MOST; link++) {
        int active = 0;
        if (nvml->link_state(device, link, &active) != XB_NVML_SUCCESS)
            continue;
        health->nvlinks_known = true;
        if (active == 0) {
            health->nvlinks_inactive++;
            continue;
        }
        health->nvlinks_active++;
        if (add_errors(nvml, device, link, &health->nvlink_errors))
            health->nvlink_errors_known = true;
    }
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
    read_links(nvml, device, health);
}
