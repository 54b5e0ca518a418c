/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA runtime, linked statically: devices, and the table itself. */
#include "cuda.h"

#include <stdlib.h>

/* At the rated clock. Long enough for any enqueuing, short enough that a lost release is noticed.
 */
#define HOLD_LIMIT_S 20

static void device_close(struct xb_device *device)
{
    if (device == NULL)
        return;
    struct xb_cuda_device *closing = (struct xb_cuda_device *)device;
    struct xb_error ignored;
    if (xb_cuda_select(device, &ignored) == XB_OK) {
        (void)cudaFree(closing->found);
        (void)cudaFreeHost(closing->seen);
        (void)cudaGetLastError();
    }
    free(closing);
}

/* Creates the context, loads the kernels and takes what checks need. */
static enum xb_status prepare_device(struct xb_cuda_device *device, struct xb_error *error)
{
    unsigned index = device->base.info.index;
    enum xb_status status = XB_CUDA(error, cudaSetDevice(device->ordinal),
                                    "cannot create a context on CUDA device %u", index);
    if (status == XB_OK)
        status = XB_CUDA(error, xb_cuda_load_kernels(),
                         "cannot load xferbench's kernels (%s) onto CUDA device %u; this build has "
                         "code for sm_75 and newer",
                         device->base.info.architecture, index);
    int kilohertz = 0;
    if (status == XB_OK)
        status = XB_CUDA(error,
                         cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, device->ordinal),
                         "cannot read the clock rate of CUDA device %u", index);
    if (kilohertz <= 0)
        kilohertz = 2000000; /* not told: a GPU of today; the limit need not be exact */
    device->hold_limit = (long long)kilohertz * 1000 * HOLD_LIMIT_S;
    if (status == XB_OK)
        status = XB_CUDA(error, cudaMalloc((void **)&device->found, sizeof *device->found),
                         "no memory on CUDA device %u for the outcome of a check", index);
    if (status == XB_OK)
        status = XB_CUDA(error, cudaMallocHost((void **)&device->seen, sizeof *device->seen),
                         "no pinned memory for the outcome of a check");
    return status;
}

static enum xb_status device_open(struct xb_driver *driver, unsigned index,
                                  struct xb_device **device, struct xb_error *error)
{
    struct xb_cuda_device *opened = calloc(1, sizeof *opened);
    if (opened == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to open CUDA device %u", index);
    enum xb_status status = xb_cuda_device_info(driver, index, &opened->base.info, error);
    if (status != XB_OK) {
        free(opened);
        return status;
    }
    opened->base.backend = driver->backend;
    opened->ordinal = (int)index;
    status = prepare_device(opened, error);
    if (status != XB_OK) {
        device_close(&opened->base);
        return status;
    }
    *device = &opened->base;
    return XB_OK;
}

static enum xb_status device_memory(struct xb_device *device, uint64_t *free_bytes,
                                    struct xb_error *error)
{
    size_t free_now = 0;
    size_t total = 0;
    enum xb_status status = xb_cuda_select(device, error);
    if (status == XB_OK)
        status = XB_CUDA(error, cudaMemGetInfo(&free_now, &total),
                         "cannot read the free memory of CUDA device %u", device->info.index);
    if (status == XB_OK)
        *free_bytes = free_now;
    return status;
}

extern const struct xb_backend xb_cuda_backend;
const struct xb_backend xb_cuda_backend = {
    .abi = XB_BACKEND_ABI,
    .name = "cuda",
    .summary = "NVIDIA GPUs through the CUDA runtime",
    .automatic = true,
    .driver_open = xb_cuda_driver_open,
    .driver_close = xb_cuda_driver_close,
    .device_info = xb_cuda_device_info,
    .device_open = device_open,
    .device_close = device_close,
    .device_memory = device_memory,
    .buffer_allocate = xb_cuda_buffer_allocate,
    .buffer_advise = xb_cuda_buffer_advise,
    .buffer_free = xb_cuda_buffer_free,
    .queue_open = xb_cuda_queue_open,
    .queue_close = xb_cuda_queue_close,
    .queue_copy = xb_cuda_queue_copy,
    .queue_fill = xb_cuda_queue_fill,
    .queue_check = xb_cuda_queue_check,
    .queue_kernel_copy = xb_cuda_queue_kernel_copy,
    .queue_compute = xb_cuda_queue_compute,
    .queue_prefetch = xb_cuda_queue_prefetch,
    .queue_hold = xb_cuda_queue_hold,
    .queue_release = xb_cuda_queue_release,
    .queue_wait_event = xb_cuda_queue_wait_event,
    .queue_wait = xb_cuda_queue_wait,
    .event_open = xb_cuda_event_open,
    .event_close = xb_cuda_event_close,
    .event_record = xb_cuda_event_record,
    .event_elapsed = xb_cuda_event_elapsed,
    .peer_info = xb_cuda_peer_info,
    .peer_open = xb_cuda_peer_open,
    .peer_close = xb_cuda_peer_close,
    .queue_copy_peer = xb_cuda_queue_copy_peer,
    .range_push = xb_cuda_range_push,
    .range_pop = xb_cuda_range_pop,
};
