/* SPDX-License-Identifier: Apache-2.0 */
/* The HIP backend's table. */
#include "hip.h"

static enum xb_status device_open(struct xb_driver *driver, unsigned index,
                                  struct xb_device **device, struct xb_error *error)
{
    struct xb_device_info info;
    enum xb_status status = xb_hip_device_info(driver, index, &info, error);
    if (status != XB_OK)
        return status;
    return xb_gpu_device_open(driver->backend, &xb_hip_runtime, &info, device, error);
}

extern const struct xb_backend xb_hip_backend;
static const char *const calls[XB_CALLS] = {[XB_CALL_ALLOCATE_PINNED] = "hipHostMalloc()",
                                            [XB_CALL_PIN] = "hipHostRegister()",
                                            [XB_CALL_COPY_ASYNC] = "hipMemcpyAsync()",
                                            [XB_CALL_PREFETCH] = "hipMemPrefetchAsync()",
                                            [XB_CALL_COPY_BATCH] = "hipMemcpyBatchAsync()",
                                            [XB_CALL_ALLOCATE_MAPPED] = "hipHostMalloc()",
                                            [XB_CALL_COPY_PEER] = "hipMemcpyPeerAsync()",
                                            [XB_CALL_ENABLE_PEER] = "hipDeviceEnablePeerAccess()"};

const struct xb_backend xb_hip_backend = {
    .abi = XB_BACKEND_ABI,
    .name = "hip",
    .calls = calls,
    .summary = "AMD GPUs through the HIP runtime",
    .automatic = true,
    .driver_open = xb_hip_driver_open,
    .driver_close = xb_hip_driver_close,
    .device_info = xb_hip_device_info,
    .device_open = device_open,
    .peer_info = xb_hip_peer_info,
    XB_GPU_SLOTS,
};
