/* SPDX-License-Identifier: Apache-2.0 */
#include "bulk.cuh"

/* Lists the kernels by address and not by name, so that the compiler notices a missing one. */
extern "C" const void *xb_cuda_kernel(enum xb_gpu_kernel kernel)
{
#define X(NAME, name) (const void *)xb_kernel_##name,
    static const void *const kernels[] = {XB_GPU_KERNEL_LIST(X)(const void *) xb_kernel_bulk,
                                          (const void *)xb_kernel_chase_bulk};
#undef X
    return kernels[kernel];
}
