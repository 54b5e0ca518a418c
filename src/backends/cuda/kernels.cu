/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/gpu/kernels.cuh"

/* Lists the kernels by address and not by name, so that the compiler notices a missing one. */
extern "C" const void *xb_cuda_kernel(enum xb_gpu_kernel kernel)
{
    static const void *const kernels[] = {
        (const void *)xb_kernel_fill,        (const void *)xb_kernel_check,
        (const void *)xb_kernel_hold,        (const void *)xb_kernel_copy_wide,
        (const void *)xb_kernel_copy_words,  (const void *)xb_kernel_copy_strided,
        (const void *)xb_kernel_copy_random, (const void *)xb_kernel_compute,
        (const void *)xb_kernel_chain,       (const void *)xb_kernel_chase,
        (const void *)xb_kernel_pieces,      (const void *)xb_kernel_widen_fp16,
        (const void *)xb_kernel_widen_bf16,  (const void *)xb_kernel_widen_int8,
        (const void *)xb_kernel_widen_fp8,   (const void *)xb_kernel_for,
        (const void *)xb_kernel_lz4,         (const void *)xb_kernel_clear,
        (const void *)xb_kernel_digest,
    };
    static_assert(sizeof kernels / sizeof kernels[0] == XB_GPU_KERNELS, "one of each");
    return kernels[kernel];
}
