/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "library.h"

/* Shared by the files of the HIP backend. backend.h has the contract of the slots. */

/* Calls a function of the opened library. If the library lacks it, the outcome is
 * hipErrorNotSupported. */
#define XB_HIP_CALL(function, ...)                                                                 \
    ((struct xb_gpu_outcome){.code = (int)(xb_hip.functions.function != NULL                       \
                                               ? xb_hip.functions.function(__VA_ARGS__)            \
                                               : hipErrorNotSupported),                            \
                             .call = #function})

/* runtime.c */
extern const struct xb_gpu_runtime xb_hip_runtime;

/* kernels.c */
enum xb_status xb_hip_load_kernels(struct xb_gpu_device *device, struct xb_error *error);
void xb_hip_unload_kernels(struct xb_gpu_device *device);
