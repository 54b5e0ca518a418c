/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "backends/gpu/gpu.h"

#include <cuda_runtime_api.h>

/* Shared by the files of the CUDA backend. backend.h has the contract of the slots. */

/* The first version of CUDA that copies many pieces by one call. */
#define XB_CUDA_BATCH 12080

/* runtime.c */

/* The outcome of a call. Clears the runtime's last error, so that no later call reports it as its
 * own. */
struct xb_gpu_outcome xb_cuda_outcome(cudaError_t code, const char *call);
#define XB_CUDA_CALL(function, ...) xb_cuda_outcome(function(__VA_ARGS__), #function)

extern const struct xb_gpu_runtime xb_cuda_runtime;

/* kernels.cu */

/* The runtime's handle of a kernel. */
const void *xb_cuda_kernel(enum xb_gpu_kernel kernel);
