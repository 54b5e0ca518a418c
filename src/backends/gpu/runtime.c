/* SPDX-License-Identifier: Apache-2.0 */
/* What comes before a call of the runtime, and after it: which device it is for, and its errors. */
#include "gpu.h"

#include "base/text.h"

enum xb_status xb_gpu_status(struct xb_error *error, const struct xb_gpu_runtime *runtime,
                             struct xb_gpu_outcome outcome, const char *file, int line,
                             const char *format, ...)
{
    if (outcome.code == 0)
        return XB_OK;
    char message[512];
    XB_FORMAT(message, sizeof message, format);
    enum xb_status status = outcome.code == runtime->out_of_memory ? XB_ERR_MEMORY : XB_ERR_RUNTIME;
    return xb_error_set(error, status, file, line, outcome.call, (int64_t)outcome.code,
                        runtime->error_name(outcome.code), "%s: %s", message,
                        runtime->error_text(outcome.code));
}

enum xb_status xb_gpu_probe_devices(struct xb_probe *probe, const struct xb_gpu_runtime *runtime,
                                    struct xb_gpu_outcome counted, int count, const char *reason,
                                    struct xb_error *error)
{
    const char *name = runtime->error_name(counted.code);
    char what[48];
    snprintf(what, sizeof what, "%s devices", runtime->name);
    probe->device_count = counted.code == 0 && count > 0 ? (unsigned)count : 0;
    if (probe->device_count > 0) {
        xb_probe_add(probe, true, what, "%d", count);
        return XB_OK;
    }
    if (reason != NULL)
        xb_probe_add(probe, false, what, "%s", reason);
    else
        xb_probe_add(probe, false, what, "not counted: %s (%s, %d)",
                     runtime->error_text(counted.code), name, counted.code);
    return XB_FAIL_NATIVE(error, XB_ERR_UNAVAILABLE, counted.call, (int64_t)counted.code, name,
                          "%s: no usable device", runtime->name);
}

enum xb_status xb_gpu_select(const struct xb_device *device, struct xb_error *error)
{
    return XB_GPU_CALL(error, device, set_device(xb_gpu_device_of(device)->ordinal),
                       "cannot use %s device %u", XB_GPU_NAMED(device));
}

enum xb_status xb_gpu_peer_access(const struct xb_gpu_runtime *runtime, unsigned index,
                                  unsigned other, bool *can_access, struct xb_error *error)
{
    int answer = 0;
    XB_TRY(XB_GPU(error, runtime, runtime->can_access_peer(&answer, (int)index, (int)other),
                  "cannot read what %s device %u can do with the memory of device %u",
                  runtime->name, index, other));
    *can_access = answer != 0;
    return XB_OK;
}
