/* SPDX-License-Identifier: Apache-2.0 */
/* The HIP backend's table. */
#include "hip.h"

static enum xb_status device_open(struct xb_driver *driver, unsigned index,
                                  struct xb_device **device, struct xb_error *error)
{
    return xb_gpu_device_open(driver, &xb_hip_runtime, index, device, error);
}

extern const struct xb_backend xb_hip_backend;
const struct xb_backend xb_hip_backend = {
    .name = "hip",
    .summary = "AMD GPUs through the HIP runtime",
    .automatic = true,
    .driver_open = xb_hip_driver_open,
    .driver_close = xb_hip_driver_close,
    .device_info = xb_hip_device_info,
    .device_open = device_open,
    .peer_info = xb_hip_peer_info,
    .range_push = xb_hip_range_push,
    .range_pop = xb_hip_range_pop,
    .profiler_collect = xb_hip_profiler_collect,
    XB_FILL(XB_GPU_SLOTS, xb_gpu_),
};
