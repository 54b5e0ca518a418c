/* SPDX-License-Identifier: Apache-2.0 */
/* Two devices: what they can do with each other's memory, and copies between them. */
#include "cuda.h"
#include "nvml.h"

#include <stdio.h>
#include <string.h>

static int ordinal_of(const struct xb_device *device)
{
    return ((const struct xb_cuda_device *)device)->ordinal;
}

static enum xb_status read_bus_id(unsigned index, char *text, int size, struct xb_error *error)
{
    return XB_CUDA(error, cudaDeviceGetPCIBusId(text, size, (int)index),
                   "cannot read the PCI address of CUDA device %u", index);
}

enum xb_status xb_cuda_peer_info(struct xb_driver *driver, unsigned index, unsigned other,
                                 struct xb_peer_info *info, struct xb_error *error)
{
    (void)driver;
    int can_access = 0;
    char bus_id[32] = "";
    char other_bus_id[32] = "";
    enum xb_status status = XB_CUDA(
        error, cudaDeviceCanAccessPeer(&can_access, (int)index, (int)other),
        "cannot read what CUDA device %u can do with the memory of device %u", index, other);
    if (status == XB_OK)
        status = read_bus_id(index, bus_id, (int)sizeof bus_id, error);
    if (status == XB_OK)
        status = read_bus_id(other, other_bus_id, (int)sizeof other_bus_id, error);
    if (status != XB_OK)
        return status;
    memset(info, 0, sizeof *info);
    info->can_access = can_access != 0;
    bool known = xb_nvml_describe_pair(bus_id, other_bus_id, info);
    /* Whoever reaches a peer without NVLink does so over the bus. */
    if (known && info->can_access && info->link[0] == '\0')
        snprintf(info->link, sizeof info->link, "PCIe");
    return XB_OK;
}

enum xb_status xb_cuda_peer_open(struct xb_device *device, struct xb_device *other,
                                 struct xb_error *error)
{
    enum xb_status status = xb_cuda_select(device, error);
    if (status != XB_OK)
        return status;
    cudaError_t code = cudaDeviceEnablePeerAccess(ordinal_of(other), 0);
    if (code == cudaErrorPeerAccessAlreadyEnabled) {
        (void)cudaGetLastError(); /* what is wanted is there; nobody shall find this error later */
        return XB_OK;
    }
    return xb_cuda_status(error, code, "cudaDeviceEnablePeerAccess", __FILE__, __LINE__,
                          "CUDA device %u cannot be given access to the memory of device %u",
                          device->info.index, other->info.index);
}

void xb_cuda_peer_close(struct xb_device *device, struct xb_device *other)
{
    if (device == NULL || other == NULL)
        return;
    struct xb_error ignored;
    if (xb_cuda_select(device, &ignored) == XB_OK)
        (void)cudaDeviceDisablePeerAccess(ordinal_of(other));
    (void)cudaGetLastError();
}

enum xb_status xb_cuda_queue_copy_peer(struct xb_queue *queue, struct xb_buffer *target,
                                       uint64_t target_offset, struct xb_buffer *source,
                                       uint64_t source_offset, uint64_t bytes,
                                       struct xb_error *error)
{
    enum xb_status status =
        xb_peer_copy_check(queue, target, target_offset, source, source_offset, bytes, error);
    if (status == XB_OK)
        status = xb_cuda_select(queue->device, error);
    if (status != XB_OK)
        return status;
    return XB_CUDA(error,
                   cudaMemcpyPeerAsync((char *)xb_cuda_buffer_address(target) + target_offset,
                                       ordinal_of(target->device),
                                       (const char *)xb_cuda_buffer_address(source) + source_offset,
                                       ordinal_of(source->device), bytes, xb_cuda_stream(queue)),
                   "a copy of %llu bytes from device %u to device %u failed",
                   (unsigned long long)bytes, source->device->info.index,
                   target->device->info.index);
}
