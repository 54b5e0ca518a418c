/* SPDX-License-Identifier: Apache-2.0 */
#include "nvml.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define P2P_CAPABILITY_NVLINK 2 /* NVML_P2P_CAPS_INDEX_NVLINK */
#define P2P_OK 0                /* NVML_P2P_STATUS_OK */
#define P2P_UNKNOWN 6           /* NVML_P2P_STATUS_UNKNOWN */
#define LINK_ACTIVE 1           /* NVML_FEATURE_ENABLED */
#define LINKS_MOST 18u          /* NVML_NVLINK_MAX_LINKS */
#define REMOTE_IS_GPU 0         /* NVML_NVLINK_DEVICE_TYPE_GPU */
#define REMOTE_IS_CPU 1         /* NVML_NVLINK_DEVICE_TYPE_IBMNPU */
/* Both are in megabytes per second: one is common to all active links, the other belongs to the
 * link in the scope. */
#define FIELD_COMMON_SPEED 90u /* NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON */
#define FIELD_LINK_SPEED 164u  /* NVML_FI_DEV_NVLINK_GET_SPEED */

/* The library writes to these structures, so they must have its layout on every machine. */
_Static_assert(sizeof(struct xb_nvml_field) == 40, "nvmlFieldValue_t has 40 bytes");
_Static_assert(sizeof(struct xb_nvml_pci) == 68, "nvmlPciInfo_t has 68 bytes");

static struct xb_nvml library;
static bool usable;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void find_functions(void *handle)
{
    static const struct {
        const char *name;
        size_t offset;
    } functions[] = {
        {"nvmlInit_v2", offsetof(struct xb_nvml, init)},
        {"nvmlDeviceGetHandleByPciBusId_v2", offsetof(struct xb_nvml, device_by_bus_id)},
        {"nvmlDeviceGetPciInfo_v3", offsetof(struct xb_nvml, pci_info)},
        {"nvmlDeviceGetP2PStatus", offsetof(struct xb_nvml, p2p_status)},
        {"nvmlDeviceGetNvLinkState", offsetof(struct xb_nvml, link_state)},
        {"nvmlDeviceGetNvLinkRemoteDeviceType", offsetof(struct xb_nvml, link_remote_type)},
        {"nvmlDeviceGetNvLinkRemotePciInfo_v2", offsetof(struct xb_nvml, link_remote_pci)},
        {"nvmlDeviceGetFieldValues", offsetof(struct xb_nvml, field_values)},
        {"nvmlDeviceGetPcieReplayCounter", offsetof(struct xb_nvml, pcie_replays)},
        {"nvmlDeviceGetClockInfo", offsetof(struct xb_nvml, clock)},
        {"nvmlDeviceGetCurrentClocksThrottleReasons", offsetof(struct xb_nvml, throttle_reasons)},
        {"nvmlDeviceGetNvLinkErrorCounter", offsetof(struct xb_nvml, link_errors)},
    };
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        /* C has no conversion from an object pointer to a function pointer. POSIX gives both the
         * same representation, so we copy the bytes. */
        void *found = dlsym(handle, functions[i].name);
        memcpy((char *)&library + functions[i].offset, &found, sizeof found);
    }
}

static void open_library(void)
{
    void *handle = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (handle == NULL)
        return;
    find_functions(handle);
    usable = library.init != NULL && library.init() == XB_NVML_SUCCESS;
}

const struct xb_nvml *xb_nvml_get(void)
{
    pthread_once(&once, open_library);
    return usable ? &library : NULL;
}

bool xb_nvml_find(const char *bus_id, xb_nvml_device *device)
{
    const struct xb_nvml *nvml = xb_nvml_get();
    return nvml != NULL && nvml->device_by_bus_id != NULL &&
           nvml->device_by_bus_id(bus_id, device) == XB_NVML_SUCCESS;
}

bool xb_nvml_number(xb_nvml_device device, unsigned field, unsigned scope, double *value)
{
    const struct xb_nvml *nvml = xb_nvml_get();
    struct xb_nvml_field asked = {.field = field, .scope = scope};
    if (nvml == NULL || nvml->field_values == NULL ||
        nvml->field_values(device, 1, &asked) != XB_NVML_SUCCESS || asked.result != XB_NVML_SUCCESS)
        return false;
    switch (asked.type) {
    case XB_NVML_DOUBLE:
        *value = asked.value.as_double;
        return true;
    case XB_NVML_UNSIGNED:
        *value = asked.value.as_unsigned;
        return true;
    case XB_NVML_UNSIGNED_LONG:
        *value = (double)asked.value.as_unsigned_long;
        return true;
    case XB_NVML_UNSIGNED_LONG_LONG:
        *value = (double)asked.value.as_unsigned_long_long;
        return true;
    case XB_NVML_SIGNED_LONG_LONG:
        *value = (double)asked.value.as_signed_long_long;
        return true;
    default:
        return false;
    }
}

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
    if (nvml->link_state == NULL || nvml->pci_info == NULL ||
        nvml->pci_info(other, &pci) != XB_NVML_SUCCESS)
        return 0;
    unsigned count = 0;
    for (unsigned link = 0; link < LINKS_MOST; link++) {
        int active = 0;
        if (nvml->link_state(device, link, &active) != XB_NVML_SUCCESS || active != LINK_ACTIVE ||
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
    double megabytes = 0;
    if (!xb_nvml_number(device, FIELD_COMMON_SPEED, 0, &megabytes) || megabytes <= 0)
        (void)xb_nvml_number(device, FIELD_LINK_SPEED, first, &megabytes);
    if (megabytes > 0)
        info->link_rate = megabytes * 1e6;
    return true;
}
