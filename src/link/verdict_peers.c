/* SPDX-License-Identifier: Apache-2.0 */
/* What only several devices together show: links that one has and another lacks. */
#include "peers.h"

#include "verdict_internal.h"

#include <string.h>

/* With less than this share of the links that another GPU has, a GPU is CRITICAL. */
#define CRITICAL_SHARE 0.5

/* The latest reading that tells how many NVLinks are active; NULL where none does. */
static const struct xb_device_health *latest(const struct xb_link_device *device)
{
    if (device->peers.after.nvlinks_known)
        return &device->peers.after;
    for (size_t i = xb_link_attempts(device); i > 0; i--) {
        const struct xb_link_attempt *attempt = &device->attempts[i - 1];
        if (attempt->health_after.nvlinks_known)
            return &attempt->health_after;
        if (attempt->health_before.nvlinks_known)
            return &attempt->health_before;
    }
    return NULL;
}

/* The device of that name with the most active NVLinks; NULL where none of them tells. */
static const struct xb_link_device *find_most(const struct xb_link_device *devices, size_t count,
                                              const char *name)
{
    const struct xb_link_device *most = NULL;
    for (size_t i = 0; i < count; i++) {
        if (latest(&devices[i]) == NULL || strcmp(devices[i].info.name, name) != 0)
            continue;
        if (most == NULL || latest(&devices[i])->nvlinks_active > latest(most)->nvlinks_active)
            most = &devices[i];
    }
    return most;
}

/* Whether the device's links lead to a switch: then each of them leads to every other device, so
 * that those to several devices add up to more than it has. */
static bool is_switched(const struct xb_link_device *devices, size_t place,
                        const struct xb_link_pair *pairs, size_t pair_count)
{
    unsigned links = 0;
    for (size_t i = 0; i < pair_count; i++)
        if (pairs[i].from == place && xb_pair_attempts(&pairs[i]) > 0)
            links += pairs[i].attempts[0].there.links;
    return links > latest(&devices[place])->nvlinks_active;
}

void xb_verdict_compare_nvlinks(const struct xb_link_device *devices, size_t device_count,
                                const struct xb_link_pair *pairs, size_t pair_count,
                                struct xb_verdict *verdicts)
{
    for (size_t i = 0; i < device_count; i++) {
        const struct xb_device_health *own = latest(&devices[i]);
        const struct xb_link_device *most = find_most(devices, device_count, devices[i].info.name);
        if (own == NULL || own->nvlinks_active >= latest(most)->nvlinks_active)
            continue;
        if (own->nvlinks_active == 0 &&
            !is_switched(devices, (size_t)(most - devices), pairs, pair_count))
            continue;
        unsigned others = latest(most)->nvlinks_active;
        bool is_critical = own->nvlinks_active < CRITICAL_SHARE * others;
        xb_reason_add(&verdicts[i].found, is_critical ? XB_LEVEL_CRITICAL : XB_LEVEL_WARNING,
                      "XB-NVLINK-LINKS",
                      "%u NVLinks are active, device %u of the same name has %u: see "
                      "nvidia-smi nvlink -s and dmesg (Xid 74), reset the GPU or reseat it",
                      own->nvlinks_active, most->info.index, others);
    }
}
