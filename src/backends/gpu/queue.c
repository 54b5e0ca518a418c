/* SPDX-License-Identifier: Apache-2.0 */
/* Queues, which are the runtime's streams. */
#include "gpu.h"

#include "backends/slot_checks.h"

#include <stdlib.h>

struct gpu_queue {
    struct xb_queue base;
    void *stream;
    bool blocks; /* copies are the runtime's synchronous calls, on its default stream, NULL */
    void *pool;  /* that keeps memory for it; NULL: none was asked for */
    struct xb_gpu_hold hold;
};

static const struct xb_gpu_runtime *runtime_of(const struct xb_queue *queue)
{
    return xb_gpu_device_of(queue->device)->runtime;
}

struct xb_gpu_hold *xb_gpu_hold_of(struct xb_queue *queue)
{
    return &((struct gpu_queue *)queue)->hold;
}

void *xb_gpu_stream(const struct xb_queue *queue)
{
    return ((const struct gpu_queue *)queue)->stream;
}

void xb_gpu_queue_close(struct xb_queue *queue)
{
    if (queue == NULL)
        return;
    struct gpu_queue *closing = (struct gpu_queue *)queue;
    const struct xb_gpu_runtime *runtime = runtime_of(queue);
    struct xb_error ignored;
    (void)xb_gpu_select(queue->device, &ignored);
    if (closing->stream != NULL) {
        xb_gpu_queue_release(queue);
        (void)runtime->wait_for_stream(closing->stream);
    }
    if (closing->pool != NULL)
        (void)runtime->trim_pool(closing->pool);
    if (closing->stream != NULL)
        (void)runtime->close_stream(closing->stream);
    xb_gpu_hold_close(queue->device, &closing->hold);
    free(closing);
}

static enum xb_status open_queue(struct xb_device *device, bool blocks, struct xb_queue **queue,
                                 struct xb_error *error)
{
    const struct xb_gpu_runtime *runtime = xb_gpu_device_of(device)->runtime;
    struct gpu_queue *opened = calloc(1, sizeof *opened);
    if (opened == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to open a queue");
    opened->base.device = device;
    opened->blocks = blocks;
    enum xb_status status = xb_gpu_select(device, error);
    if (status == XB_OK)
        status =
            XB_GPU(error, runtime, runtime->open_stream(&opened->stream),
                   "cannot create a stream on %s device %u", runtime->name, device->info.index);
    if (status == XB_OK && !blocks && (device->info.capabilities & XB_CAP_HOLD) != 0)
        status = xb_gpu_hold_open(device, &opened->hold, error);
    return XB_OPENED(status, opened, xb_gpu_queue_close(&opened->base), queue);
}

enum xb_status xb_gpu_queue_open(struct xb_device *device, struct xb_queue **queue,
                                 struct xb_error *error)
{
    return open_queue(device, false, queue, error);
}

enum xb_status xb_gpu_queue_open_blocking(struct xb_device *device, struct xb_queue **queue,
                                          struct xb_error *error)
{
    return open_queue(device, true, queue, error);
}

enum xb_status xb_gpu_queue_use_pool(struct xb_queue *queue, struct xb_error *error)
{
    struct gpu_queue *using = (struct gpu_queue *)queue;
    const struct xb_gpu_runtime *runtime = runtime_of(queue);
    uint64_t most = UINT64_MAX;
    void *pool = NULL;
    if (using->pool != NULL)
        return XB_OK;
    XB_TRY(XB_GPU(error, runtime,
                  runtime->default_pool(&pool, xb_gpu_device_of(queue->device)->ordinal),
                  "%s device %u has no memory pool", runtime->name, queue->device->info.index));
    XB_TRY(XB_GPU(error, runtime, runtime->keep_in_pool(pool, &most),
                  "the memory pool of %s device %u cannot be told to keep memory", runtime->name,
                  queue->device->info.index));
    using->pool = pool;
    return XB_OK;
}

enum xb_gpu_way xb_gpu_way_between(const struct xb_buffer *target, const struct xb_buffer *source)
{
    return target->memory != XB_MEMORY_DEVICE   ? XB_GPU_TO_HOST
           : source->memory != XB_MEMORY_DEVICE ? XB_GPU_TO_DEVICE
                                                : XB_GPU_WITHIN;
}

enum xb_status xb_gpu_copy(struct xb_queue *queue, struct xb_buffer *target, uint64_t target_offset,
                           struct xb_buffer *source, uint64_t source_offset, uint64_t bytes,
                           struct xb_error *error)
{
    const struct xb_gpu_runtime *runtime = runtime_of(queue);
    void *to = xb_gpu_buffer_address(target, target_offset);
    const void *from = xb_gpu_buffer_address(source, source_offset);
    enum xb_gpu_way way = xb_gpu_way_between(target, source);
    return XB_GPU(error, runtime,
                  ((const struct gpu_queue *)queue)->blocks
                      ? runtime->copy_blocking(to, from, bytes, way)
                      : runtime->copy(to, from, bytes, way, xb_gpu_stream(queue)),
                  "a copy of %llu bytes from %s to %s memory failed", (unsigned long long)bytes,
                  xb_memory_name(source->memory), xb_memory_name(target->memory));
}

enum xb_status xb_gpu_queue_copy(struct xb_queue *queue, struct xb_buffer *target,
                                 uint64_t target_offset, struct xb_buffer *source,
                                 uint64_t source_offset, uint64_t bytes, struct xb_error *error)
{
    XB_TRY(xb_copy_check(queue, target, target_offset, source, source_offset, bytes, error));
    XB_TRY(xb_gpu_select(queue->device, error));
    return xb_gpu_copy(queue, target, target_offset, source, source_offset, bytes, error);
}

enum xb_status xb_gpu_queue_copy_peer(struct xb_queue *queue, struct xb_buffer *target,
                                      uint64_t target_offset, struct xb_buffer *source,
                                      uint64_t source_offset, uint64_t bytes,
                                      struct xb_error *error)
{
    XB_TRY(xb_peer_copy_check(queue, target, target_offset, source, source_offset, bytes, error));
    XB_TRY(xb_gpu_select(queue->device, error));
    return XB_GPU_CALL(
        error, queue->device,
        copy_peer(xb_gpu_buffer_address(target, target_offset),
                  xb_gpu_device_of(target->device)->ordinal,
                  xb_gpu_buffer_address(source, source_offset),
                  xb_gpu_device_of(source->device)->ordinal, bytes, xb_gpu_stream(queue)),
        "a copy of %llu bytes from device %u to device %u failed", (unsigned long long)bytes,
        source->device->info.index, target->device->info.index);
}

enum xb_status xb_gpu_queue_prefetch(struct xb_queue *queue, struct xb_buffer *buffer,
                                     uint64_t bytes, bool to_device, struct xb_error *error)
{
    int location = to_device ? xb_gpu_device_of(queue->device)->ordinal : XB_GPU_HOST;
    XB_TRY(xb_prefetch_check(buffer, bytes, error));
    XB_TRY(xb_gpu_select(queue->device, error));
    if (bytes == 0) /* the runtime refuses to move 0 bytes */
        return XB_OK;
    return XB_GPU_CALL(
        error, queue->device,
        prefetch(xb_gpu_buffer_address(buffer, 0), bytes, location, xb_gpu_stream(queue)),
        "%llu bytes of managed memory could not be moved to the %s", (unsigned long long)bytes,
        to_device ? "device" : "host");
}

enum xb_status xb_gpu_queue_wait_event(struct xb_queue *queue, struct xb_event *event,
                                       struct xb_error *error)
{
    const struct xb_gpu_runtime *runtime = runtime_of(queue);
    XB_TRY(xb_gpu_select(queue->device, error));
    return XB_GPU(error, runtime,
                  runtime->stream_wait_event(xb_gpu_stream(queue), xb_gpu_event(event)),
                  "a stream could not be made to wait for an event");
}

enum xb_status xb_gpu_queue_wait(struct xb_queue *queue, struct xb_error *error)
{
    const struct gpu_queue *awaited = (struct gpu_queue *)queue;
    const struct xb_gpu_runtime *runtime = runtime_of(queue);
    XB_TRY(xb_gpu_select(queue->device, error));
    if (awaited->blocks)
        XB_TRY(XB_GPU(error, runtime, runtime->wait_for_stream(NULL),
                      "copies on %s device %u failed", runtime->name, queue->device->info.index));
    XB_TRY(XB_GPU(error, runtime, runtime->wait_for_stream(awaited->stream),
                  "work on %s device %u failed", runtime->name, queue->device->info.index));
    if (xb_gpu_hold_expired(&awaited->hold))
        return XB_FAIL(error, XB_ERR_RUNTIME,
                       "a held stream went on without its release: times measured behind it are "
                       "wrong; the machine may be overloaded");
    return XB_OK;
}
