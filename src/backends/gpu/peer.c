/* SPDX-License-Identifier: Apache-2.0 */
/* Opens one device's memory to another device, and copies between two devices. */
#include "gpu.h"

#include "xferbench/slot_checks.h"

enum xb_status xb_gpu_peer_access(const struct xb_gpu_runtime *runtime, unsigned index,
                                  unsigned other, bool *can_access, struct xb_error *error)
{
    int answer = 0;
    XB_TRY(XB_GPU(error, runtime, runtime->can_access_peer(&answer, (int)index, (int)other),
                  "cannot read what %s device %u can do with the memory of device %u",
                  runtime->name, index, other));
    *can_access = answer != 0;
    return XB_OK;
}

enum xb_status xb_gpu_peer_open(struct xb_device *device, struct xb_device *other,
                                struct xb_error *error)
{
    const struct xb_gpu_runtime *runtime = xb_gpu_device_of(device)->runtime;
    XB_TRY(xb_gpu_select(device, error));
    struct xb_gpu_outcome outcome = runtime->open_peer(xb_gpu_device_of(other)->ordinal);
    if (outcome.code == runtime->peer_already_open)
        return XB_OK;
    return XB_GPU(error, runtime, outcome,
                  "%s device %u cannot be given access to the memory of device %u", runtime->name,
                  device->info.index, other->info.index);
}

void xb_gpu_peer_close(struct xb_device *device, struct xb_device *other)
{
    if (device == NULL || other == NULL)
        return;
    struct xb_error ignored;
    if (xb_gpu_select(device, &ignored) == XB_OK)
        (void)xb_gpu_device_of(device)->runtime->close_peer(xb_gpu_device_of(other)->ordinal);
}

enum xb_status xb_gpu_queue_copy_peer(struct xb_queue *queue, struct xb_buffer *target,
                                      uint64_t target_offset, struct xb_buffer *source,
                                      uint64_t source_offset, uint64_t bytes,
                                      struct xb_error *error)
{
    const struct xb_gpu_runtime *runtime = xb_gpu_device_of(queue->device)->runtime;
    XB_TRY(xb_peer_copy_check(queue, target, target_offset, source, source_offset, bytes, error));
    XB_TRY(xb_gpu_select(queue->device, error));
    return XB_GPU(
        error, runtime,
        runtime->copy_peer((char *)xb_gpu_buffer_address(target) + target_offset,
                           xb_gpu_device_of(target->device)->ordinal,
                           (const char *)xb_gpu_buffer_address(source) + source_offset,
                           xb_gpu_device_of(source->device)->ordinal, bytes, xb_gpu_stream(queue)),
        "a copy of %llu bytes from device %u to device %u failed", (unsigned long long)bytes,
        source->device->info.index, target->device->info.index);
}
