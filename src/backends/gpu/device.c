/* SPDX-License-Identifier: Apache-2.0 */
/* Opens devices, and one's memory to another. */
#include "gpu.h"

#include <stdlib.h>

/* A hold gives up after this time at the rated clock: long enough to enqueue anything, short enough
 * to notice a lost release. */
#define HOLD_LIMIT_S 20
/* A usual clock for a GPU that does not tell its own. The limit need not be exact. */
#define USUAL_KILOHERTZ 2000000

void xb_gpu_device_close(struct xb_device *device)
{
    if (device == NULL)
        return;
    struct xb_gpu_device *closing = (struct xb_gpu_device *)device;
    struct xb_error ignored;
    xb_gpu_buffer_free(closing->window);
    (void)xb_gpu_select(device, &ignored);
    if (closing->device_result != NULL)
        (void)closing->runtime->release(closing->device_result);
    if (closing->host_result != NULL)
        (void)closing->runtime->release_host(closing->host_result);
    if (closing->runtime->unload_kernels != NULL)
        closing->runtime->unload_kernels(closing);
    free(closing);
}

/* Finds out what kernels need to know of the device, allocates memory for the result of a check,
 * and tries whether holds work. */
static enum xb_status prepare_for_kernels(struct xb_gpu_device *device, struct xb_error *error)
{
    struct xb_device *base = &device->base;
    int kilohertz = 0;
    int multiprocessors = 0;
    XB_TRY(XB_GPU_CALL(error, base, clock_rate(device->ordinal, &kilohertz),
                       "cannot read the clock rate of %s device %u", XB_GPU_NAMED(base)));
    if (kilohertz <= 0)
        kilohertz = USUAL_KILOHERTZ;
    device->hold_limit = (unsigned long long)kilohertz * 1000 * HOLD_LIMIT_S;
    XB_TRY(XB_GPU_CALL(error, base, multiprocessors(device->ordinal, &multiprocessors),
                       "cannot read how many multiprocessors %s device %u has",
                       XB_GPU_NAMED(base)));
    device->multiprocessors = multiprocessors > 0 ? (unsigned)multiprocessors : 1;
    base->info.multiprocessors = device->multiprocessors;
    XB_TRY(XB_GPU_CALL(error, base,
                       allocate((void **)&device->device_result, sizeof *device->device_result),
                       "no memory on %s device %u for the outcome of a check", XB_GPU_NAMED(base)));
    XB_TRY(XB_GPU_CALL(
        error, base,
        allocate_host((void **)&device->host_result, sizeof *device->host_result, XB_MEMORY_PINNED),
        "no pinned memory for the outcome of a check"));
    if (device->runtime->hold_is_proven || (base->info.capabilities & XB_CAP_HOLD) == 0)
        return XB_OK;
    return xb_gpu_hold_prove(device, error);
}

/* Creates the context, loads the kernels, and tries what only a trial shows. */
static enum xb_status prepare_device(struct xb_gpu_device *device, struct xb_error *error)
{
    const struct xb_gpu_runtime *runtime = device->runtime;
    struct xb_device *base = &device->base;
    struct xb_device_info *info = &base->info;
    XB_TRY(XB_GPU_CALL(error, base, set_device(device->ordinal),
                       "cannot create a context on %s device %u", XB_GPU_NAMED(base)));
    if ((info->capabilities & XB_CAP_ROWS) != 0) {
        int bytes = 0;
        XB_TRY(XB_GPU_CALL(error, base, max_pitch(device->ordinal, &bytes),
                           "cannot read how far apart the rows of a copy on %s device %u may be",
                           XB_GPU_NAMED(base)));
        device->max_pitch = bytes > 0 ? (uint64_t)bytes : 0;
    }
    enum xb_status status = XB_ERR_UNSUPPORTED;
    const char *reason = "it can run no kernels";
    if ((info->capabilities & XB_CAP_KERNELS) != 0) {
        status = runtime->load_kernels(device, error);
        reason = error->message;
    }
    if (status == XB_ERR_UNSUPPORTED) {
        /* The device can still copy, and the host can check. What it never had keeps its reason. */
        const uint32_t lost = XB_CAP_KERNELS | XB_CAP_HOLD | XB_CAP_MANAGED | XB_CAP_BULK;
        xb_device_withhold(info, lost & info->capabilities, reason);
    } else if (status != XB_OK) {
        return status;
    } else {
        XB_TRY(prepare_for_kernels(device, error));
    }
    if (runtime->batch_is_proven || (info->capabilities & XB_CAP_BATCH) == 0)
        return XB_OK;
    return xb_gpu_batch_prove(device, error);
}

enum xb_status xb_gpu_device_open(struct xb_driver *driver, const struct xb_gpu_runtime *runtime,
                                  unsigned index, struct xb_device **device, struct xb_error *error)
{
    struct xb_device_info info;
    XB_TRY(driver->backend->device_info(driver, index, &info, error));
    struct xb_gpu_device *opened = calloc(1, sizeof *opened);
    if (opened == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to open %s device %u", runtime->name,
                       index);
    *opened = (struct xb_gpu_device){
        .base = {driver->backend, info}, .runtime = runtime, .ordinal = (int)index};
    enum xb_status status = prepare_device(opened, error);
    return XB_OPENED(status, opened, xb_gpu_device_close(&opened->base), device);
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
