/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "library.h"

#include "backends/gpu/gpu.h"

/* Shared by the files of the HIP backend. backend.h has the contract of the slots. */

/* Calls a function of the opened library; `symbol` is its name there. If the library lacks the
 * function, the outcome is hipErrorNotSupported. */
#define XB_HIP_CALL(field, symbol, ...)                                                            \
    ((struct xb_gpu_outcome){.code = (int)(xb_hip.functions.field != NULL                          \
                                               ? xb_hip.functions.field(__VA_ARGS__)               \
                                               : hipErrorNotSupported),                            \
                             .call = (symbol)})

/* runtime.c */
extern const struct xb_gpu_runtime xb_hip_runtime;

/* kernels.c */
enum xb_status xb_hip_load_kernels(struct xb_gpu_device *device, struct xb_error *error);
void xb_hip_unload_kernels(struct xb_gpu_device *device);
