/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A function in a header that C and the kernels' compilers read alike: nvcc and NVRTC define the
 * one, hipcc and hipRTC the other. */
#if defined(__CUDACC__) || defined(__HIP__)
#define XB_KERNEL_FUNCTION static __host__ __device__ inline
#else
#define XB_KERNEL_FUNCTION static inline
#endif
