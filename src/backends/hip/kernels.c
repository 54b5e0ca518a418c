/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* Loads the kernels onto a device: from the cache, or compiled by hipRTC. */
#include "compiler.h"
#include "hip.h"

#include "base/clock.h"

#include <pthread.h>
#include <stdlib.h>

static const char *const names[XB_GPU_KERNELS] = XB_GPU_KERNEL_NAMES;

void xb_hip_unload_kernels(struct xb_gpu_device *device)
{
    if (device->module != NULL)
        (void)xb_hip.functions.unload_module(device->module);
    device->module = NULL;
    free(device->code);
    device->code = NULL;
}

/* Call xb_hip_unload_kernels even if this fails. */
static enum xb_status load_module(struct xb_gpu_device *device, struct xb_error *error)
{
    hipModule_t module = NULL;
    enum xb_status status =
        XB_GPU(error, &xb_hip_runtime,
               XB_HIP_CALL(load_module, "hipModuleLoadData", &module, device->code),
               "cannot load the kernels for %s onto HIP device %u", device->base.info.architecture,
               device->base.info.index);
    device->module = module;
    for (int i = 0; status == XB_OK && i < XB_GPU_KERNELS; i++) {
        hipFunction_t kernel = NULL;
        status = XB_GPU(error, &xb_hip_runtime,
                        XB_HIP_CALL(find_kernel, "hipModuleGetFunction", &kernel, module, names[i]),
                        "the compiled kernels lack %s", names[i]);
        device->kernels[i] = kernel;
    }
    return status;
}

/* Loads the code onto the current device, which then owns it. We keep the code, because HIP does
 * not say whether the runtime copies it. */
static enum xb_status load(struct xb_gpu_device *device, const struct xb_hip_code *code,
                           struct xb_error *error)
{
    device->code = code->bytes;
    enum xb_status status = load_module(device, error);
    if (status != XB_OK)
        xb_hip_unload_kernels(device);
    return status;
}

/* Whether the failure means that the code does not suit the device, and not that something broke.
 */
static bool is_unsuitable(const struct xb_error *error)
{
    return error->native_code == hipErrorNoBinaryForGpu ||
           error->native_code == hipErrorInvalidImage ||
           error->native_code == hipErrorInvalidKernelFile ||
           error->native_code == hipErrorSharedObjectInitFailed ||
           error->native_code == hipErrorNotFound;
}

static bool load_from_cache(struct xb_gpu_device *device)
{
    struct xb_hip_code code;
    struct xb_error ignored; /* if the code does not load, it is compiled again */
    if (!xb_hip_cache_load(device->base.info.architecture, xb_hip_version(), &code))
        return false;
    return load(device, &code, &ignored) == XB_OK;
}

static enum xb_status load_or_compile(struct xb_gpu_device *device, struct xb_error *error)
{
    struct xb_device_info *info = &device->base.info;
    struct xb_hip_code code;
    double begin = xb_clock_now();
    if (load_from_cache(device)) {
        xb_device_fact(info, "kernels", "compiled by hipRTC before, taken from the cache");
        return XB_OK;
    }
    int version = xb_hip_version();
    XB_TRY(xb_hip_compile(info->architecture, XB_HIP_MAJOR(version), &code, error));
    bool kept = xb_hip_cache_store(info->architecture, version, &code);
    enum xb_status status = load(device, &code, error);
    if (status == XB_ERR_RUNTIME && is_unsuitable(error))
        error->status = status = XB_ERR_UNSUPPORTED;
    if (status != XB_OK)
        return status;
    xb_device_fact(info, "kernels", "compiled by hipRTC in %.2f s, %s the cache",
                   xb_clock_now() - begin, kept ? "now in" : "and they could not be kept in");
    return XB_OK;
}

/* One device after the other, so that what is compiled for the first is in the cache for those like
 * it. */
enum xb_status xb_hip_load_kernels(struct xb_gpu_device *device, struct xb_error *error)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    enum xb_status status = load_or_compile(device, error);
    pthread_mutex_unlock(&lock);
    return status;
}
