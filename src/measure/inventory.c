/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory.h"

#include "backends/choice.h"

#include <stdlib.h>
#include <string.h>

/* Describes the devices of an open backend. */
static enum xb_status describe_devices(struct xb_found_backend *found, struct xb_driver *driver,
                                       struct xb_error *error)
{
    found->devices = calloc(found->probe.device_count, sizeof *found->devices);
    found->failures = calloc(found->probe.device_count, sizeof *found->failures);
    if (found->devices == NULL || found->failures == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for a list of %u devices",
                       found->probe.device_count);
    for (unsigned i = 0; i < found->probe.device_count; i++) {
        struct xb_device_info *info = &found->devices[found->device_count];
        struct xb_error *failure = &found->failures[found->failed_count];
        if (driver->backend->device_info(driver, i, info, failure) == XB_OK)
            found->device_count++;
        else
            found->failed_count++;
    }
    return XB_OK;
}

static enum xb_status look_at(struct xb_found_backend *found, struct xb_error *error)
{
    struct xb_driver *driver = xb_backend_open(found->entry, &found->probe);
    if (driver == NULL)
        return XB_OK;
    found->usable = true;
    enum xb_status status = describe_devices(found, driver, error);
    driver->backend->driver_close(driver);
    return status;
}

enum xb_status xb_inventory_take(struct xb_inventory *inventory, struct xb_error *error)
{
    memset(inventory, 0, sizeof *inventory);
    for (size_t i = 0; xb_backends[i].name != NULL && i < XB_INVENTORY_BACKENDS; i++) {
        struct xb_found_backend *found = &inventory->backends[inventory->count++];
        found->entry = &xb_backends[i];
        enum xb_status status = look_at(found, error);
        if (status != XB_OK)
            return status;
    }
    return XB_OK;
}

void xb_inventory_free(struct xb_inventory *inventory)
{
    for (size_t i = 0; i < inventory->count; i++) {
        free(inventory->backends[i].devices);
        free(inventory->backends[i].failures);
    }
}
