/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a device's state from NVML: its PCIe link, clocks, what throttles them. */
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

/* NVML_FI_DEV_PCIE_L0_TO_RECOVERY_COUNTER and NVML_FI_DEV_PCIE_COUNT_... (NVML API Reference Guide,
 * "Field Value Enums"). H100s and H200s tell them in virtual machines and without root. */
static const unsigned counter_fields[XB_PCIE_COUNTERS] = {
    [XB_PCIE_RETRAINS] = 169,        [XB_PCIE_CORRECTABLE] = 173, [XB_PCIE_NAKS_RECEIVED] = 174,
    [XB_PCIE_RECEIVER_ERRORS] = 175, [XB_PCIE_BAD_TLPS] = 176,    [XB_PCIE_NAKS_SENT] = 177,
    [XB_PCIE_BAD_DLLPS] = 178,       [XB_PCIE_NONFATAL] = 179,    [XB_PCIE_FATAL] = 180,
    [XB_PCIE_UNSUPPORTED] = 181,     [XB_PCIE_LCRC_ERRORS] = 182, [XB_PCIE_LANE_ERRORS] = 183,
};

/* Both count at every reading, 150 us apart, what crossed the link (an H100, driver 580.159.04). */
#define FIELD_BYTES_SENT 197u     /* NVML_FI_DEV_PCIE_COUNT_TX_BYTES: by the device */
#define FIELD_BYTES_RECEIVED 198u /* NVML_FI_DEV_PCIE_COUNT_RX_BYTES */

static bool read_count(xb_nvml_device device, unsigned field, uint64_t *count)
{
    double value = 0;
    bool known = xb_nvml_number(device, field, 0, &value) && value >= 0 && value < 0x1p64;
    *count = known ? (uint64_t)value : 0;
    return known;
}

void xb_nvml_health(const char *bus_id, unsigned parts, struct xb_device_health *health)
{
    const struct xb_nvml *nvml = xb_nvml_get();
    xb_nvml_device device = NULL;
    memset(health, 0, sizeof *health);
    if (nvml == NULL || !xb_nvml_find(bus_id, &device))
        return;
    if (parts & XB_HEALTH_COUNTERS) {
        unsigned replays = 0;
        health->replays_known =
            nvml->pcie_replays != NULL && nvml->pcie_replays(device, &replays) == XB_NVML_SUCCESS;
        health->replays = replays;
        for (size_t i = 0; i < XB_PCIE_COUNTERS; i++)
            health->counted[i] = read_count(device, counter_fields[i], &health->counts[i]);
    }
    if (parts & XB_HEALTH_TRAFFIC) {
        uint64_t sent, received;
        health->counted[XB_PCIE_RETRAINS] =
            read_count(device, counter_fields[XB_PCIE_RETRAINS], &health->counts[XB_PCIE_RETRAINS]);
        health->traffic_known = read_count(device, FIELD_BYTES_SENT, &sent) &&
                                read_count(device, FIELD_BYTES_RECEIVED, &received);
        health->bytes_sent = health->traffic_known ? (uint32_t)sent : 0;
        health->bytes_received = health->traffic_known ? (uint32_t)received : 0;
    }
    if (parts & XB_HEALTH_CLOCKS) {
        health->clocks_known =
            nvml->clock != NULL &&
            nvml->clock(device, CLOCK_SM, &health->sm_clock_mhz) == XB_NVML_SUCCESS &&
            nvml->clock(device, CLOCK_MEMORY, &health->memory_clock_mhz) == XB_NVML_SUCCESS;
        if (nvml->best_clock == NULL ||
            nvml->best_clock(device, CLOCK_MEMORY, &health->memory_clock_best_mhz) !=
                XB_NVML_SUCCESS)
            health->memory_clock_best_mhz = 0;
        read_throttle(nvml, device, health);
    }
    if (parts & XB_HEALTH_NVLINKS)
        xb_nvml_read_nvlinks(device, health);
}
