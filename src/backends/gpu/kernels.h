/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_BACKENDS_GPU_KERNELS_H
#define XFERBENCH_BACKENDS_GPU_KERNELS_H

/*
 * What the host and the kernels of kernels.cuh share. Read by the kernels' compilers too: built-in
 * types only, no system headers.
 */

#include "xferbench/access.h"
#include "xferbench/pattern.h"

/* What a held queue spins on: mapped host memory, one a queue. */
struct xb_gpu_gate {
    unsigned released; /* written by the host: holds up to this number are over */
    unsigned expired;  /* written by the device: a hold gave way by itself */
};

/* What a check found; first_offset starts at the highest value. In device memory. */
struct xb_gpu_check {
    unsigned long long wrong_bytes;
    unsigned long long first_offset;
};

/* Every kernel, and below its name in the text; a new one goes into both and into
 * src/backends/cuda/kernels.cu. */
enum xb_gpu_kernel {
    XB_GPU_FILL,
    XB_GPU_CHECK,
    XB_GPU_HOLD,
    XB_GPU_COPY_WIDE,    /* 16 bytes an access, in sequence */
    XB_GPU_COPY_WORDS,   /* 8 bytes an access, in sequence */
    XB_GPU_COPY_STRIDED, /* 8 bytes an access */
    XB_GPU_COPY_RANDOM,  /* 8 bytes an access */
    XB_GPU_COMPUTE
};
#define XB_GPU_KERNELS 8
#define XB_GPU_KERNEL_NAMES                                                                        \
    {                                                                                              \
        "xb_kernel_fill", "xb_kernel_check", "xb_kernel_hold", "xb_kernel_copy_wide",              \
            "xb_kernel_copy_words", "xb_kernel_copy_strided", "xb_kernel_copy_random",             \
            "xb_kernel_compute"                                                                    \
    }

/* Threads of a block, of every kernel but the hold, which has one. */
#define XB_GPU_THREADS 256u
/* Items that a thread of the copies and of computing takes in one go. */
#define XB_GPU_AT_ONCE 4u

#endif
