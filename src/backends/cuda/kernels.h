/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_BACKENDS_CUDA_KERNELS_H
#define XFERBENCH_BACKENDS_CUDA_KERNELS_H

#include "xferbench/access.h"
#include "xferbench/pattern.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a held queue spins on: mapped host memory, one a queue. */
struct xb_cuda_gate {
    unsigned released; /* written by the host: holds up to this number are over */
    unsigned expired;  /* written by the device: a hold gave way by itself */
};

/* What a check found; first_offset starts at the highest value. In device memory. */
struct xb_cuda_check {
    unsigned long long wrong_bytes;
    unsigned long long first_offset;
};

/*
 * Loads every kernel onto the current device: loading one behind a held stream would deadlock. A
 * new kernel, and every instance of a template, has to be named in it.
 */
cudaError_t xb_cuda_load_kernels(void);

/* Launches on `stream`; the pointers are device pointers. Errors are those of the launch. */
cudaError_t xb_cuda_launch_fill(void *memory, unsigned long long bytes, struct xb_pattern pattern,
                                cudaStream_t stream);
cudaError_t xb_cuda_launch_check(const void *memory, unsigned long long bytes,
                                 struct xb_pattern pattern, struct xb_cuda_check *found,
                                 cudaStream_t stream);
/* Spins until gate->released >= number, or for `limit` cycles of the device's clock. */
cudaError_t xb_cuda_launch_hold(struct xb_cuda_gate *gate, unsigned number, long long limit,
                                cudaStream_t stream);
/* Copies every word in the order of `access`; both pointers are multiples of 8. */
cudaError_t xb_cuda_launch_copy(void *target, const void *source, unsigned long long bytes,
                                enum xb_access access, cudaStream_t stream);
/* Takes `words` words through `steps` steps each, in place. */
cudaError_t xb_cuda_launch_compute(void *memory, unsigned long long words, unsigned long long steps,
                                   cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
