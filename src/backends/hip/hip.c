/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* RTLD_DEFAULT */
/* The HIP backend: looks for what it needs, describes it, and tells profilers of ranges. */
#include "hip.h"
#include "compiler.h"

#include "machine/pcie.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Programs reach every computing AMD GPU through this file. Without it we do not open the runtime,
 * which would take ten times as long as all other checks. */
#define KERNEL_DRIVER "/dev/kfd"
#define LEAST_VERSION 50000000

extern const struct xb_backend xb_hip_backend;

static int version;

int xb_hip_version(void)
{
    return version;
}

static enum xb_status check_kernel_driver(struct xb_probe *probe, struct xb_error *error)
{
    bool ok = access(KERNEL_DRIVER, F_OK) == 0;
    bool needed = xb_hip_override() == NULL;
    struct xb_probe_check *check =
        xb_gpu_probe_add(probe, ok || !needed, "kernel driver " KERNEL_DRIVER);
    XB_GPU_FOUND(check, "%s",
                 ok ? "found"
                 : needed
                     ? "not found: no AMD GPU, its driver amdgpu is not loaded, or the container "
                       "does not have the device"
                     : "not found, and not needed: " XB_HIP_OVERRIDE " is set");
    /* Only a module that was installed apart from the kernel has a version of its own. */
    char line[64] = "";
    if (xb_sysfs_text("/sys/module/amdgpu", "version", line, sizeof line))
        snprintf(probe->driver_version, sizeof probe->driver_version, "%.*s",
                 (int)strcspn(line, "\n"), line);
    if (check->ok)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_UNAVAILABLE, "HIP: there is no %s", KERNEL_DRIVER);
}

/* What AMD's profilers are told, through the library roctx: named ranges, and from where to where
 * they may collect. rocprofv3 --marker-trace or LD_PRELOAD put that library into the program. We
 * take what is there and open nothing: without a profiler a range costs one check of a pointer.
 *
 * As in AMD's rocprofiler-sdk-roctx/roctx.h. libroctx64, which is older, has only the first two. */
static struct roctx {
    int (*push)(const char *name);
    int (*pop)(void);
    int (*resume)(uint64_t thread); /* 0: all threads */
    int (*pause)(uint64_t thread);
} roctx;

static void find_ranges(void)
{
    static const struct xb_symbol symbols[] = {
        {"roctxRangePushA", offsetof(struct roctx, push), "ranges"},
        {"roctxRangePop", offsetof(struct roctx, pop), "ranges"},
        {"roctxProfilerResume", offsetof(struct roctx, resume), "captures"},
        {"roctxProfilerPause", offsetof(struct roctx, pause), "captures"},
    };
    (void)xb_symbols_find(RTLD_DEFAULT, symbols, sizeof symbols / sizeof symbols[0], &roctx);
}

static enum xb_status check_library(struct xb_probe *probe, struct xb_error *error)
{
    enum xb_status status = xb_hip_library_open(error);
    if (status == XB_OK) {
        find_ranges();
        /* The compiling process must be forked before any function of the library is called. */
        status = xb_hip_compiler_start(error);
    }
    struct xb_probe_check *check =
        xb_gpu_probe_add(probe, status == XB_OK, "HIP runtime libamdhip64");
    if (xb_hip.overridden)
        snprintf(probe->runtime_override, sizeof probe->runtime_override, "%s", XB_HIP_OVERRIDE);
    snprintf(probe->runtime_library, sizeof probe->runtime_library, "%s", xb_hip.path);
    if (status != XB_OK)
        XB_GPU_FOUND(check, "%s", error->message);
    else
        XB_GPU_FOUND(check, "%s%s", xb_hip.path,
                     xb_hip.overridden ? ", named by " XB_HIP_OVERRIDE : "");
    return status;
}

static enum xb_status check_version(struct xb_probe *probe, struct xb_error *error)
{
    int found = 0;
    hipError_t code = xb_hip.functions.runtime_version(&found);
    bool ok = code == hipSuccess && found >= LEAST_VERSION;
    struct xb_probe_check *check = xb_gpu_probe_add(probe, ok, "HIP runtime's version");
    snprintf(probe->runtime_version, sizeof probe->runtime_version, "%d.%d.%d", XB_HIP_MAJOR(found),
             found / 100000 % 100, found % 100000);
    version = found;
    if (ok) {
        XB_GPU_FOUND(check, "%s", probe->runtime_version);
        return XB_OK;
    }
    if (code == hipSuccess)
        XB_GPU_FOUND(check, "%s: too old; install ROCm 5.0 or newer", probe->runtime_version);
    else
        XB_GPU_FOUND(check, "not told: %s (%d)", xb_hip.functions.error_name(code), (int)code);
    return XB_FAIL_NATIVE(error, XB_ERR_UNAVAILABLE, "hipRuntimeGetVersion", (int64_t)code,
                          xb_hip.functions.error_name(code), "HIP: no runtime of use: %s",
                          check->found);
}

static enum xb_status check_devices(struct xb_probe *probe, struct xb_error *error)
{
    int count = 0;
    hipError_t code = xb_hip.functions.device_count(&count);
    bool ok = code == hipSuccess && count > 0;
    struct xb_probe_check *check = xb_gpu_probe_add(probe, ok, "HIP devices");
    if (ok)
        XB_GPU_FOUND(check, "%d", count);
    else if (code == hipErrorNoDevice || code == hipSuccess)
        XB_GPU_FOUND(check,
                     "none: no GPU that HIP supports, none that this user may open (groups render "
                     "and video), or HIP_VISIBLE_DEVICES or ROCR_VISIBLE_DEVICES hides it");
    else
        XB_GPU_FOUND(check, "not counted: %s (%s, %d)", xb_hip.functions.error_text(code),
                     xb_hip.functions.error_name(code), (int)code);
    probe->device_count = ok ? (unsigned)count : 0;
    if (ok)
        return XB_OK;
    return XB_FAIL_NATIVE(error, XB_ERR_UNAVAILABLE, "hipGetDeviceCount", (int64_t)code,
                          xb_hip.functions.error_name(code), "HIP: no usable device");
}

static enum xb_status driver_open(struct xb_driver **driver, struct xb_probe *probe,
                                  struct xb_error *error)
{
    memset(probe, 0, sizeof *probe);
    XB_TRY(check_kernel_driver(probe, error));
    XB_TRY(check_library(probe, error));
    XB_TRY(check_version(probe, error));
    XB_TRY(check_devices(probe, error));
    return xb_driver_make(&xb_hip_backend, "HIP", driver, error);
}

static void range_push(const char *name)
{
    if (roctx.push != NULL)
        (void)roctx.push(name);
}

static void range_pop(void)
{
    if (roctx.pop != NULL)
        (void)roctx.pop();
}

static void profiler_collect(bool on)
{
    int (*call)(uint64_t thread) = on ? roctx.resume : roctx.pause;
    if (call != NULL)
        (void)call(0);
}

static enum xb_status device_open(struct xb_driver *driver, unsigned index,
                                  struct xb_device **device, struct xb_error *error)
{
    return xb_gpu_device_open(driver, &xb_hip_runtime, index, device, error);
}

const struct xb_backend xb_hip_backend = {
    .name = "hip",
    .summary = "AMD GPUs through the HIP runtime",
    .automatic = true,
    .driver_open = driver_open,
    .driver_close = xb_driver_drop,
    .device_info = xb_hip_device_info,
    .device_open = device_open,
    .peer_info = xb_hip_peer_info,
    .range_push = range_push,
    .range_pop = range_pop,
    .profiler_collect = profiler_collect,
    XB_FILL(XB_GPU_SLOTS, xb_gpu_),
};
