/* SPDX-License-Identifier: Apache-2.0 */
/* Queues are CUDA streams, events are CUDA events. */
#include "cuda.h"

#include <stdlib.h>

struct cuda_queue {
    struct xb_queue base;
    cudaStream_t stream;
    struct xb_cuda_gate *gate;        /* pinned; the host's view */
    struct xb_cuda_gate *device_gate; /* the same, the device's view */
    unsigned holds;
};

struct cuda_event {
    struct xb_event base;
    cudaEvent_t event;
};

cudaStream_t xb_cuda_stream(const struct xb_queue *queue)
{
    return ((const struct cuda_queue *)queue)->stream;
}

static cudaEvent_t event_of(const struct xb_event *event)
{
    return ((const struct cuda_event *)event)->event;
}

void xb_cuda_queue_close(struct xb_queue *queue)
{
    if (queue == NULL)
        return;
    struct cuda_queue *closing = (struct cuda_queue *)queue;
    struct xb_error ignored;
    (void)xb_cuda_select(queue->device, &ignored);
    if (closing->stream != NULL) {
        if (closing->gate != NULL)
            xb_cuda_queue_release(queue);
        (void)cudaStreamSynchronize(closing->stream);
        (void)cudaStreamDestroy(closing->stream);
    }
    (void)cudaFreeHost(closing->gate);
    (void)cudaGetLastError();
    free(closing);
}

enum xb_status xb_cuda_queue_open(struct xb_device *device, struct xb_queue **queue,
                                  struct xb_error *error)
{
    struct cuda_queue *opened = calloc(1, sizeof *opened);
    if (opened == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to open a queue");
    opened->base.device = device;
    enum xb_status status = xb_cuda_select(device, error);
    if (status == XB_OK)
        status = XB_CUDA(error, cudaStreamCreateWithFlags(&opened->stream, cudaStreamNonBlocking),
                         "cannot create a stream on CUDA device %u", device->info.index);
    if (status == XB_OK && (device->info.capabilities & XB_CAP_HOLD) != 0) {
        status = XB_CUDA(
            error, cudaHostAlloc((void **)&opened->gate, sizeof *opened->gate, cudaHostAllocMapped),
            "no mapped host memory to hold a stream with");
        if (status == XB_OK) {
            *opened->gate = (struct xb_cuda_gate){0};
            status = XB_CUDA(
                error, cudaHostGetDevicePointer((void **)&opened->device_gate, opened->gate, 0),
                "cannot map the memory to hold a stream with");
        }
    }
    if (status != XB_OK) {
        xb_cuda_queue_close(&opened->base);
        return status;
    }
    *queue = &opened->base;
    return XB_OK;
}

enum xb_status xb_cuda_queue_copy(struct xb_queue *queue, struct xb_buffer *target,
                                  uint64_t target_offset, struct xb_buffer *source,
                                  uint64_t source_offset, uint64_t bytes, struct xb_error *error)
{
    enum xb_status status =
        xb_copy_check(queue, target, target_offset, source, source_offset, bytes, error);
    if (status == XB_OK)
        status = xb_cuda_select(queue->device, error);
    if (status != XB_OK)
        return status;
    enum cudaMemcpyKind kind =
        target->memory == XB_MEMORY_DEVICE ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
    return XB_CUDA(error,
                   cudaMemcpyAsync((char *)xb_cuda_buffer_address(target) + target_offset,
                                   (const char *)xb_cuda_buffer_address(source) + source_offset,
                                   bytes, kind, xb_cuda_stream(queue)),
                   "a copy of %llu bytes from %s to %s memory failed", (unsigned long long)bytes,
                   xb_memory_name(source->memory), xb_memory_name(target->memory));
}

enum xb_status xb_cuda_queue_fill(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                                  struct xb_pattern pattern, struct xb_error *error)
{
    enum xb_status status = xb_device_range_check(buffer, bytes, error);
    if (status == XB_OK)
        status = xb_cuda_select(queue->device, error);
    if (status == XB_OK)
        status = XB_CUDA(error,
                         xb_cuda_launch_fill(xb_cuda_kernel_address(buffer), bytes, pattern,
                                             xb_cuda_stream(queue)),
                         "the kernel that writes the pattern could not be launched");
    return status;
}

enum xb_status xb_cuda_queue_check(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                                   struct xb_pattern pattern, struct xb_mismatch *mismatch,
                                   struct xb_error *error)
{
    const struct xb_cuda_device *device = (struct xb_cuda_device *)queue->device;
    cudaStream_t stream = xb_cuda_stream(queue);
    enum xb_status status = xb_device_range_check(buffer, bytes, error);
    if (status == XB_OK)
        status = xb_cuda_select(queue->device, error);
    if (status != XB_OK)
        return status;
    *device->seen = (struct xb_cuda_check){.wrong_bytes = 0, .first_offset = ~0ULL};
    status = XB_CUDA(error,
                     cudaMemcpyAsync(device->found, device->seen, sizeof *device->found,
                                     cudaMemcpyHostToDevice, stream),
                     "the outcome of a check could not be reset");
    if (status == XB_OK)
        status = XB_CUDA(error,
                         xb_cuda_launch_check(xb_cuda_kernel_address(buffer), bytes, pattern,
                                              device->found, stream),
                         "the kernel that checks the pattern could not be launched");
    if (status == XB_OK)
        status = XB_CUDA(error,
                         cudaMemcpyAsync(device->seen, device->found, sizeof *device->seen,
                                         cudaMemcpyDeviceToHost, stream),
                         "the outcome of a check could not be fetched");
    /* Waited for even after a failure: the memory it goes to is used again. */
    struct xb_error waited;
    enum xb_status wait_status = xb_cuda_queue_wait(queue, &waited);
    if (status == XB_OK && wait_status != XB_OK) {
        *error = waited;
        status = wait_status;
    }
    if (status == XB_OK) {
        mismatch->wrong_bytes = device->seen->wrong_bytes;
        mismatch->first_offset = device->seen->first_offset;
    }
    return status;
}

enum xb_status xb_cuda_queue_kernel_copy(struct xb_queue *queue, struct xb_buffer *target,
                                         uint64_t target_offset, struct xb_buffer *source,
                                         uint64_t source_offset, uint64_t bytes,
                                         enum xb_access access, struct xb_error *error)
{
    enum xb_status status =
        xb_kernel_copy_check(queue, target, target_offset, source, source_offset, bytes, error);
    if (status == XB_OK)
        status = xb_cuda_select(queue->device, error);
    if (status != XB_OK)
        return status;
    return XB_CUDA(error,
                   xb_cuda_launch_copy((char *)xb_cuda_kernel_address(target) + target_offset,
                                       (const char *)xb_cuda_kernel_address(source) + source_offset,
                                       bytes, access, xb_cuda_stream(queue)),
                   "the kernel that copies from %s to %s memory could not be launched",
                   xb_memory_name(source->memory), xb_memory_name(target->memory));
}

enum xb_status xb_cuda_queue_compute(struct xb_queue *queue, struct xb_buffer *buffer,
                                     uint64_t offset, uint64_t bytes, uint64_t steps,
                                     struct xb_error *error)
{
    enum xb_status status = xb_compute_check(buffer, offset, bytes, error);
    if (status == XB_OK)
        status = xb_cuda_select(queue->device, error);
    if (status == XB_OK)
        status = XB_CUDA(error,
                         xb_cuda_launch_compute((char *)xb_cuda_kernel_address(buffer) + offset,
                                                bytes / 8, steps, xb_cuda_stream(queue)),
                         "the kernel that computes could not be launched");
    return status;
}

enum xb_status xb_cuda_queue_hold(struct xb_queue *queue, struct xb_error *error)
{
    struct cuda_queue *held = (struct cuda_queue *)queue;
    const struct xb_cuda_device *device = (struct xb_cuda_device *)queue->device;
    enum xb_status status = xb_cuda_select(queue->device, error);
    if (status == XB_OK)
        status = XB_CUDA(error,
                         xb_cuda_launch_hold(held->device_gate, held->holds + 1, device->hold_limit,
                                             held->stream),
                         "the kernel that holds a stream could not be launched");
    if (status == XB_OK)
        held->holds++;
    return status;
}

void xb_cuda_queue_release(struct xb_queue *queue)
{
    const struct cuda_queue *held = (struct cuda_queue *)queue;
    __atomic_store_n(&held->gate->released, held->holds, __ATOMIC_RELEASE);
}

enum xb_status xb_cuda_queue_wait_event(struct xb_queue *queue, struct xb_event *event,
                                        struct xb_error *error)
{
    enum xb_status status = xb_cuda_select(queue->device, error);
    if (status == XB_OK)
        status = XB_CUDA(error, cudaStreamWaitEvent(xb_cuda_stream(queue), event_of(event), 0),
                         "a stream could not be made to wait for an event");
    return status;
}

enum xb_status xb_cuda_queue_wait(struct xb_queue *queue, struct xb_error *error)
{
    const struct cuda_queue *awaited = (struct cuda_queue *)queue;
    enum xb_status status = xb_cuda_select(queue->device, error);
    if (status == XB_OK)
        status = XB_CUDA(error, cudaStreamSynchronize(awaited->stream),
                         "work on CUDA device %u failed", queue->device->info.index);
    if (status == XB_OK && awaited->gate != NULL &&
        __atomic_exchange_n(&awaited->gate->expired, 0u, __ATOMIC_ACQ_REL) != 0)
        status = XB_FAIL(error, XB_ERR_RUNTIME,
                         "a held stream gave way without a release: times taken behind it mean "
                         "nothing; the machine may be overloaded");
    return status;
}

enum xb_status xb_cuda_event_open(struct xb_device *device, struct xb_event **event,
                                  struct xb_error *error)
{
    struct cuda_event *opened = calloc(1, sizeof *opened);
    if (opened == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to open an event");
    opened->base.device = device;
    enum xb_status status = xb_cuda_select(device, error);
    if (status == XB_OK)
        status = XB_CUDA(error, cudaEventCreate(&opened->event),
                         "cannot create an event on CUDA device %u", device->info.index);
    if (status != XB_OK) {
        free(opened);
        return status;
    }
    *event = &opened->base;
    return XB_OK;
}

void xb_cuda_event_close(struct xb_event *event)
{
    if (event == NULL)
        return;
    struct xb_error ignored;
    (void)xb_cuda_select(event->device, &ignored);
    (void)cudaEventDestroy(event_of(event));
    (void)cudaGetLastError();
    free(event);
}

enum xb_status xb_cuda_event_record(struct xb_event *event, struct xb_queue *queue,
                                    struct xb_error *error)
{
    enum xb_status status = xb_cuda_select(queue->device, error);
    if (status == XB_OK)
        status = XB_CUDA(error, cudaEventRecord(event_of(event), xb_cuda_stream(queue)),
                         "an event could not be recorded");
    return status;
}

enum xb_status xb_cuda_event_elapsed(struct xb_event *start, struct xb_event *stop, double *seconds,
                                     struct xb_error *error)
{
    float milliseconds = 0;
    enum xb_status status = xb_cuda_select(start->device, error);
    if (status == XB_OK)
        status =
            XB_CUDA(error, cudaEventElapsedTime(&milliseconds, event_of(start), event_of(stop)),
                    "the time between two events could not be read");
    if (status == XB_OK)
        *seconds = (double)milliseconds * 1e-3;
    return status;
}
