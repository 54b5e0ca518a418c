/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MEASURE_INVENTORY_H
#define XFERBENCH_MEASURE_INVENTORY_H

#include "backends/registry.h"

#define XB_INVENTORY_BACKENDS 16

/* What is there: backends and their devices. */
struct xb_inventory {
    struct xb_found_backend {
        const struct xb_backend_entry *entry;
        bool usable; /* it is built in and can run here */
        struct xb_probe probe;
        struct xb_device_info *devices;
        size_t device_count;
        struct xb_error *failures; /* of devices that do not describe themselves */
        size_t failed_count;
    } backends[XB_INVENTORY_BACKENDS];
    size_t count;
};

/*
 * Looks at every backend of the registry. It is no failure if one cannot run or a device does not
 * describe itself: the inventory says why. XB_ERR_MEMORY only. Release with xb_inventory_free,
 * after a failure too.
 */
XB_MUST_CHECK enum xb_status xb_inventory_take(struct xb_inventory *inventory,
                                               struct xb_error *error);
void xb_inventory_free(struct xb_inventory *inventory);

#endif
