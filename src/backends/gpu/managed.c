/* SPDX-License-Identifier: Apache-2.0 */
/* Says where the pages of managed memory should be. */
#include "gpu.h"

#include "xferbench/slot_checks.h"

enum xb_status xb_gpu_buffer_advise(struct xb_buffer *buffer, enum xb_advice advice,
                                    struct xb_error *error)
{
    if (buffer->memory != XB_MEMORY_MANAGED)
        return XB_FAIL(error, XB_ERR_USAGE, "only managed memory takes advice, not %s",
                       xb_memory_name(buffer->memory));
    const struct xb_gpu_device *device = xb_gpu_device_of(buffer->device);
    const struct xb_gpu_runtime *runtime = device->runtime;
    void *address = xb_gpu_buffer_address(buffer);
    bool stay = advice == XB_ADVICE_STAY_ON_HOST;
    /* Do not take back advice that was never given: older ROCm refuses that. */
    if (!stay && !xb_gpu_buffer_is_advised(buffer))
        return XB_OK;
    xb_gpu_buffer_set_advised(buffer, stay);
    XB_TRY(xb_gpu_select(buffer->device, error));
    XB_TRY(XB_GPU(error, runtime,
                  runtime->advise(address, buffer->bytes, stay ? XB_GPU_PREFER : XB_GPU_UNPREFER,
                                  XB_GPU_HOST),
                  "the runtime does not take advice on where managed memory belongs"));
    return XB_GPU(
        error, runtime,
        runtime->advise(address, buffer->bytes, stay ? XB_GPU_MAP : XB_GPU_UNMAP, device->ordinal),
        "the runtime does not take advice on who uses managed memory");
}

enum xb_status xb_gpu_queue_prefetch(struct xb_queue *queue, struct xb_buffer *buffer,
                                     uint64_t bytes, bool to_device, struct xb_error *error)
{
    const struct xb_gpu_device *device = xb_gpu_device_of(queue->device);
    XB_TRY(xb_prefetch_check(buffer, bytes, error));
    XB_TRY(xb_gpu_select(queue->device, error));
    if (bytes == 0) /* the runtime refuses to move 0 bytes */
        return XB_OK;
    return XB_GPU(error, device->runtime,
                  device->runtime->prefetch(xb_gpu_buffer_address(buffer), bytes,
                                            to_device ? device->ordinal : XB_GPU_HOST,
                                            xb_gpu_stream(queue)),
                  "%llu bytes of managed memory could not be moved to the %s",
                  (unsigned long long)bytes, to_device ? "device" : "host");
}
