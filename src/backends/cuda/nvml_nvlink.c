/* SPDX-License-Identifier: Apache-2.0 */
/* Reads NVLinks from NVML: which are active, how fast they are, what they count, where they lead.
 */
#include "nvml.h"

#include <stdio.h>

#define P2P_CAPABILITY_NVLINK 2 /* NVML_P2P_CAPS_INDEX_NVLINK */
#define P2P_OK 0                /* NVML_P2P_STATUS_OK */
#define P2P_UNKNOWN 6           /* NVML_P2P_STATUS_UNKNOWN */
#define LINK_INACTIVE 0         /* NVML_FEATURE_DISABLED */
#define REMOTE_IS_GPU 0         /* NVML_NVLINK_DEVICE_TYPE_GPU */
#define REMOTE_IS_CPU 1         /* NVML_NVLINK_DEVICE_TYPE_IBMNPU */
/* Both are in megabytes per second: one belongs to the link in the scope, the other is common to
 * all active links. */
#define FIELD_LINK_SPEED 164u  /* NVML_FI_DEV_NVLINK_GET_SPEED */
#define FIELD_COMMON_SPEED 90u /* NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON */

/* ---- one link ---- */

/*
 * Where each counter is read: in the first of these fields that there is, else by the function
 * nvmlDeviceGetNvLinkErrorCounter. Fields 161 to 163 end with Hopper, 214 and 215 begin with
 * Blackwell, older drivers have the function alone (NVML API Reference Guide, "Field Value Enums"
 * and "Change Log"). These are what `nvidia-smi nvlink -e` shows.
 *
 * The function has two more, CRC_DATA and ECC_DATA. Nobody may take them for errors: on two healthy
 * H200s (driver 580.159.04) both rose on every link, by 0 to 4 in 3 s at rest and by 30 to 90 in
 * 1.6 TB of copies between the two, while all others and nvidia-smi stayed at 0. The link repairs
 * what they count; nothing is sent again.
 */
#define NONE 0
#define FIELDS 2
static const struct {
    unsigned fields[FIELDS]; /* NVML_FI_DEV_NVLINK_..., or NONE */
    int counter;             /* 1 + nvmlNvLinkErrorCounter_t, or NONE */
} sources[XB_NVLINK_COUNTERS] = {
    [XB_NVLINK_REPLAYS] = {{161}, 1},         /* ERROR_DL_REPLAY */
    [XB_NVLINK_RECOVERIES] = {{162, 215}, 2}, /* ERROR_DL_RECOVERY, COUNT_LINK_RECOVERY_EVENTS */
    [XB_NVLINK_FAILED_RECOVERIES] = {{214}, NONE}, /* COUNT_LINK_RECOVERY_FAILED_EVENTS */
    [XB_NVLINK_CRC_ERRORS] = {{163}, 3},           /* ERROR_DL_CRC */
};

static bool read_count(const struct xb_nvml *nvml, xb_nvml_device device, unsigned link,
                       enum xb_nvlink_counter which, uint64_t *count)
{
    for (size_t i = 0; i < FIELDS && sources[which].fields[i] != NONE; i++) {
        double value = 0;
        if (!xb_nvml_number(device, sources[which].fields[i], link, &value) || value < 0)
            continue;
        *count = (uint64_t)value;
        return true;
    }
    unsigned long long counted = 0;
    if (sources[which].counter == NONE || nvml->link_errors == NULL ||
        nvml->link_errors(device, link, sources[which].counter - 1, &counted) != XB_NVML_SUCCESS)
        return false;
    *count = counted;
    return true;
}

/* Bytes per second each way; 0 where unknown. */
static double read_rate(xb_nvml_device device, unsigned link)
{
    double megabytes = 0;
    if (!xb_nvml_number(device, FIELD_LINK_SPEED, link, &megabytes) || megabytes <= 0)
        (void)xb_nvml_number(device, FIELD_COMMON_SPEED, 0, &megabytes);
    return megabytes > 0 ? megabytes * 1e6 : 0;
}

static bool read_state(const struct xb_nvml *nvml, xb_nvml_device device, unsigned link,
                       bool *active)
{
    int state = LINK_INACTIVE;
    if (nvml->link_state == NULL || nvml->link_state(device, link, &state) != XB_NVML_SUCCESS)
        return false;
    *active = state != LINK_INACTIVE;
    return true;
}

/* ---- all links of a device ---- */

static void read_link(const struct xb_nvml *nvml, xb_nvml_device device, unsigned number,
                      struct xb_nvlink *link)
{
    link->known = read_state(nvml, device, number, &link->active);
    if (!link->known)
        return;
    if (link->active)
        link->rate = read_rate(device, number);
    for (enum xb_nvlink_counter i = 0; i < XB_NVLINK_COUNTERS; i++)
        link->counted[i] = read_count(nvml, device, number, i, &link->counts[i]);
}

void xb_nvml_read_nvlinks(xb_nvml_device device, struct xb_device_health *health)
{
    const struct xb_nvml *nvml = xb_nvml_get();
    for (unsigned i = 0; i < XB_NVLINKS && nvml != NULL; i++) {
        struct xb_nvlink *link = &health->nvlinks[i];
        read_link(nvml, device, i, link);
        health->nvlinks_known = health->nvlinks_known || link->known;
        health->nvlinks_active += link->known && link->active;
        health->nvlinks_inactive += link->known && !link->active;
    }
}

/* ---- a pair of devices ---- */

/* Whether a link may lead to `other`. A switch leads to every device, a CPU to none. If the library
 * does not tell what the link leads to, we count it. */
static bool link_leads_to(const struct xb_nvml *nvml, xb_nvml_device device, unsigned link,
                          const struct xb_nvml_pci *other)
{
    int type = 0;
    if (nvml->link_remote_type == NULL ||
        nvml->link_remote_type(device, link, &type) != XB_NVML_SUCCESS)
        return true;
    if (type != REMOTE_IS_GPU)
        return type != REMOTE_IS_CPU;
    struct xb_nvml_pci remote = {.bus_id = ""};
    if (nvml->link_remote_pci == NULL ||
        nvml->link_remote_pci(device, link, &remote) != XB_NVML_SUCCESS)
        return true;
    return remote.domain == other->domain && remote.bus == other->bus &&
           remote.device == other->device;
}

/* Counts the links from `device` to `other`. *first becomes the number of the first link. */
static unsigned count_links(const struct xb_nvml *nvml, xb_nvml_device device, xb_nvml_device other,
                            unsigned *first)
{
    struct xb_nvml_pci pci = {.bus_id = ""};
    if (nvml->pci_info == NULL || nvml->pci_info(other, &pci) != XB_NVML_SUCCESS)
        return 0;
    unsigned count = 0;
    for (unsigned link = 0; link < XB_NVLINKS; link++) {
        bool active = false;
        if (!read_state(nvml, device, link, &active) || !active ||
            !link_leads_to(nvml, device, link, &pci))
            continue;
        if (count++ == 0)
            *first = link;
    }
    return count;
}

bool xb_nvml_describe_pair(const char *bus_id, const char *other_bus_id, struct xb_peer_info *info)
{
    const struct xb_nvml *nvml = xb_nvml_get();
    xb_nvml_device device = NULL;
    xb_nvml_device other = NULL;
    int nvlink = !P2P_OK;
    if (nvml == NULL || nvml->p2p_status == NULL || !xb_nvml_find(bus_id, &device) ||
        !xb_nvml_find(other_bus_id, &other) ||
        nvml->p2p_status(device, other, P2P_CAPABILITY_NVLINK, &nvlink) != XB_NVML_SUCCESS)
        return false;
    if (nvlink != P2P_OK)
        return nvlink != P2P_UNKNOWN;
    snprintf(info->link, sizeof info->link, "NVLink");
    unsigned first = 0;
    info->links = count_links(nvml, device, other, &first);
    info->link_rate = read_rate(device, first);
    return true;
}
