/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA backend's table. */
#include "cuda.h"

static enum xb_status device_open(struct xb_driver *driver, unsigned index,
                                  struct xb_device **device, struct xb_error *error)
{
    return xb_gpu_device_open(driver, &xb_cuda_runtime, index, device, error);
}

extern const struct xb_backend xb_cuda_backend;
const struct xb_backend xb_cuda_backend = {
    .name = "cuda",
    .summary = "NVIDIA GPUs through the CUDA runtime",
    .automatic = true,
    .driver_open = xb_cuda_driver_open,
    .driver_close = xb_cuda_driver_close,
    .device_info = xb_cuda_device_info,
    .device_health = xb_cuda_device_health,
    .device_open = device_open,
    .file_open = xb_cuda_file_open,
    .file_close = xb_cuda_file_close,
    .file_read = xb_cuda_file_read,
    .file_way = xb_cuda_file_way,
    .peer_info = xb_cuda_peer_info,
    .range_push = xb_cuda_range_push,
    .range_pop = xb_cuda_range_pop,
    .profiler_collect = xb_cuda_profiler_collect,
    XB_FILL(XB_GPU_SLOTS, xb_gpu_),
};
