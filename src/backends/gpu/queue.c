/* SPDX-License-Identifier: Apache-2.0 */
/* Queues, which are the runtime's streams, and events, whose times come from the device's clock. */
#include "gpu.h"

#include "backends/slot_checks.h"

#include <stdlib.h>

/* ---- holds: a kernel that spins on host memory until the host releases it ---- */

static enum xb_status open_hold(struct xb_gpu_queue *queue, struct xb_error *error)
{
    struct xb_device *device = queue->base.device;
    XB_TRY(XB_GPU_CALL(error, device,
                       allocate_host((void **)&queue->gate, sizeof *queue->gate, XB_MEMORY_MAPPED),
                       "no mapped host memory to hold a stream with"));
    *queue->gate = (struct xb_gpu_gate){0};
    return XB_GPU_CALL(error, device, device_pointer((void **)&queue->device_gate, queue->gate),
                       "cannot map the memory to hold a stream with");
}

void xb_gpu_queue_release(struct xb_queue *queue)
{
    const struct xb_gpu_queue *held = (const struct xb_gpu_queue *)queue;
    if (held->gate != NULL)
        __atomic_store_n(&held->gate->released, held->holds, __ATOMIC_RELEASE);
}

bool xb_gpu_hold_expired(const struct xb_queue *queue)
{
    struct xb_gpu_gate *gate = ((const struct xb_gpu_queue *)queue)->gate;
    return gate != NULL && __atomic_exchange_n(&gate->expired, 0u, __ATOMIC_ACQ_REL) != 0;
}

/* ---- queues ---- */

void xb_gpu_queue_close(struct xb_queue *queue)
{
    if (queue == NULL)
        return;
    struct xb_gpu_queue *closing = (struct xb_gpu_queue *)queue;
    const struct xb_gpu_runtime *runtime = xb_gpu_device_of(queue->device)->runtime;
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
    if (closing->gate != NULL)
        (void)runtime->release_host(closing->gate);
    free(closing);
}

static enum xb_status open_queue(struct xb_device *device, bool blocks, struct xb_queue **queue,
                                 struct xb_error *error)
{
    struct xb_gpu_queue *opened = calloc(1, sizeof *opened);
    if (opened == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to open a queue");
    opened->base.device = device;
    opened->blocks = blocks;
    enum xb_status status = xb_gpu_select(device, error);
    if (status == XB_OK)
        status = XB_GPU_CALL(error, device, open_stream(&opened->stream),
                             "cannot create a stream on %s device %u", XB_GPU_NAMED(device));
    if (status == XB_OK && !blocks && (device->info.capabilities & XB_CAP_HOLD) != 0)
        status = open_hold(opened, error);
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

enum xb_status xb_gpu_queue_wait(struct xb_queue *queue, struct xb_error *error)
{
    const struct xb_device *device = queue->device;
    XB_TRY(xb_gpu_select(device, error));
    if (((const struct xb_gpu_queue *)queue)->blocks)
        XB_TRY(XB_GPU_CALL(error, device, wait_for_stream(NULL), "copies on %s device %u failed",
                           XB_GPU_NAMED(device)));
    XB_TRY(XB_GPU_CALL(error, device, wait_for_stream(xb_gpu_stream(queue)),
                       "work on %s device %u failed", XB_GPU_NAMED(device)));
    if (xb_gpu_hold_expired(queue))
        return XB_FAIL(error, XB_ERR_RUNTIME,
                       "a held stream went on without its release: times measured behind it are "
                       "wrong; the machine may be overloaded");
    return XB_OK;
}

/* ---- copies ---- */

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
    const struct xb_gpu_runtime *runtime = xb_gpu_device_of(queue->device)->runtime;
    void *to = xb_gpu_buffer_address(target, target_offset);
    const void *from = xb_gpu_buffer_address(source, source_offset);
    enum xb_gpu_way way = xb_gpu_way_between(target, source);
    return XB_GPU(error, runtime,
                  ((const struct xb_gpu_queue *)queue)->blocks
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

/* ---- events ---- */

struct gpu_event {
    struct xb_event base;
    void *event;
};

static void *native(const struct xb_event *event)
{
    return ((const struct gpu_event *)event)->event;
}

enum xb_status xb_gpu_event_open(struct xb_device *device, struct xb_event **event,
                                 struct xb_error *error)
{
    struct gpu_event *opened = calloc(1, sizeof *opened);
    if (opened == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to open an event");
    opened->base.device = device;
    enum xb_status status = xb_gpu_select(device, error);
    if (status == XB_OK)
        status = XB_GPU_CALL(error, device, open_event(&opened->event),
                             "cannot create an event on %s device %u", XB_GPU_NAMED(device));
    return XB_OPENED(status, opened, free(opened), event);
}

void xb_gpu_event_close(struct xb_event *event)
{
    if (event == NULL)
        return;
    struct xb_error ignored;
    (void)xb_gpu_select(event->device, &ignored);
    (void)xb_gpu_device_of(event->device)->runtime->close_event(native(event));
    free(event);
}

enum xb_status xb_gpu_event_record(struct xb_event *event, struct xb_queue *queue,
                                   struct xb_error *error)
{
    XB_TRY(xb_gpu_select(queue->device, error));
    return XB_GPU_CALL(error, event->device, record_event(native(event), xb_gpu_stream(queue)),
                       "an event could not be recorded");
}

enum xb_status xb_gpu_queue_wait_event(struct xb_queue *queue, struct xb_event *event,
                                       struct xb_error *error)
{
    XB_TRY(xb_gpu_select(queue->device, error));
    return XB_GPU_CALL(error, queue->device, stream_wait_event(xb_gpu_stream(queue), native(event)),
                       "a stream could not be made to wait for an event");
}

enum xb_status xb_gpu_event_wait(struct xb_event *event, struct xb_error *error)
{
    XB_TRY(xb_gpu_select(event->device, error));
    return XB_GPU_CALL(error, event->device, wait_for_event(native(event)),
                       "what stands before an event failed");
}

enum xb_status xb_gpu_event_elapsed(struct xb_event *start, struct xb_event *stop, double *seconds,
                                    struct xb_error *error)
{
    float milliseconds = 0;
    XB_TRY(xb_gpu_select(start->device, error));
    XB_TRY(XB_GPU_CALL(error, start->device, elapsed(&milliseconds, native(start), native(stop)),
                       "the time between two events could not be read"));
    *seconds = (double)milliseconds * 1e-3;
    return XB_OK;
}
