/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* Files of the fake backend: the host backend's, with faults. */
#include "fake_internal.h"

enum xb_status xb_fake_file_open(struct xb_device *device, int descriptor, struct xb_file **file,
                                 struct xb_error *error)
{
    if (xb_fake_fails("file_open", error))
        return error->status;
    return xb_host_file_open(device, descriptor, file, error);
}

void xb_fake_file_close(struct xb_file *file)
{
    xb_host_file_close(file);
}

enum xb_status xb_fake_file_read(struct xb_file *file, uint64_t file_offset,
                                 struct xb_buffer *buffer, uint64_t offset, uint64_t bytes,
                                 struct xb_error *error)
{
    if (xb_fake_fails("file_read", error))
        return error->status;
    return xb_damage_file_read(xb_fake.damage, &xb_host_backend, file, file_offset, buffer, offset,
                               bytes, error);
}

enum xb_status xb_fake_file_way(struct xb_file *file, struct xb_file_way *way,
                                struct xb_error *error)
{
    if (xb_fake_fails("file_way", error))
        return error->status;
    return xb_host_file_way(file, way, error);
}
