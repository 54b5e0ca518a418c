/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "damaged_backend.h"

enum xb_damage xb_damaged_how;

static struct xb_backend table;

enum xb_status xb_damage_driver_open(struct xb_driver **driver, struct xb_probe *probe,
                                     struct xb_error *error)
{
    enum xb_status status = xb_damager.inner->driver_open(driver, probe, error);
    if (status == XB_OK)
        (*driver)->backend = &table;
    return status;
}

void xb_damage_driver_close(struct xb_driver *driver)
{
    if (driver != NULL)
        driver->backend = xb_damager.inner;
    xb_damager.inner->driver_close(driver);
}

/* Several operations stand in for one, and as many must fit behind a hold. */
static void describe(struct xb_device_info *info)
{
    info->held_operations /= XB_DAMAGE_OPERATIONS;
}

enum xb_status xb_damage_device_info(struct xb_driver *driver, unsigned index,
                                     struct xb_device_info *info, struct xb_error *error)
{
    enum xb_status status = xb_damager.inner->device_info(driver, index, info, error);
    if (status == XB_OK)
        describe(info);
    return status;
}

enum xb_status xb_damage_device_open(struct xb_driver *driver, unsigned index,
                                     struct xb_device **device, struct xb_error *error)
{
    XB_TRY(xb_damager.inner->device_open(driver, index, device, error));
    (*device)->backend = &table;
    describe(&(*device)->info);
    return XB_OK;
}

void xb_damage_device_close(struct xb_device *device)
{
    if (device != NULL)
        device->backend = xb_damager.inner;
    xb_damager.inner->device_close(device);
}

/* Takes the place of a slot that is there: the others have none of it. */
#define WRAP(slot)                                                                                 \
    if (inner->slot != NULL)                                                                       \
    table.slot = xb_damage_##slot

const struct xb_backend *xb_damaged_wrap(const struct xb_backend *inner)
{
    xb_damager = (struct xb_damager){&xb_damaged_how, inner, NULL};
    table = *inner; /* with those slots that need no help, and those that are not there */
    WRAP(driver_open);
    WRAP(driver_close);
    WRAP(device_info);
    WRAP(device_open);
    WRAP(device_close);
    WRAP(queue_copy);
    WRAP(queue_kernel_copy);
    WRAP(queue_chase);
    WRAP(queue_copy_peer);
    WRAP(queue_prefetch);
    WRAP(queue_decode);
    WRAP(file_read);
    WRAP(pieces_open);
    WRAP(pieces_close);
    WRAP(queue_copy_pieces);
    WRAP(queue_kernel_pieces);
    WRAP(graph_open);
    WRAP(graph_close);
    WRAP(queue_graph);
    WRAP(queue_copy_rows);
    return &table;
}
