/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_BACKENDS_GPU_KERNELS_H
#define XFERBENCH_BACKENDS_GPU_KERNELS_H

/*
 * Types that the host and the kernels of kernels.cuh share. The kernels' compilers read this file
 * too, so it uses only built-in types and no system headers.
 */

#include "xferbench/access.h"
#include "xferbench/format.h"
#include "xferbench/pattern.h"
#include "xferbench/piece.h"

/* A held queue spins on this. Each queue has its own in mapped host memory. */
struct xb_gpu_gate {
    unsigned released; /* the host ends all holds up to this number */
    unsigned expired;  /* the device sets it if a hold gave up by itself */
};

/* The result of a check. The device lowers first_offset from the highest value. */
struct xb_gpu_check {
    unsigned long long wrong_bytes;
    unsigned long long first_offset;
};

/* All kernels, and below their names in kernels.cuh. Add a new one to both lists and to
 * src/backends/cuda/kernels.cu. */
enum xb_gpu_kernel {
    XB_GPU_FILL,
    XB_GPU_CHECK,
    XB_GPU_HOLD,
    XB_GPU_COPY_WIDE,    /* sequential, 16 bytes for each access */
    XB_GPU_COPY_WORDS,   /* sequential, 8 bytes for each access */
    XB_GPU_COPY_STRIDED, /* 8 bytes for each access */
    XB_GPU_COPY_RANDOM,  /* 8 bytes for each access */
    XB_GPU_COMPUTE,
    XB_GPU_CHAIN,
    XB_GPU_CHASE,
    XB_GPU_PIECES,
    XB_GPU_WIDEN_FP16, /* the decoders, in the order of enum xb_format */
    XB_GPU_WIDEN_BF16,
    XB_GPU_WIDEN_INT8,
    XB_GPU_WIDEN_FP8,
    XB_GPU_FOR,
    XB_GPU_LZ4,
    XB_GPU_CLEAR,
    XB_GPU_DIGEST
};
#define XB_GPU_KERNELS 19
#define XB_GPU_KERNEL_NAMES                                                                        \
    {                                                                                              \
        "xb_kernel_fill", "xb_kernel_check", "xb_kernel_hold", "xb_kernel_copy_wide",              \
            "xb_kernel_copy_words", "xb_kernel_copy_strided", "xb_kernel_copy_random",             \
            "xb_kernel_compute", "xb_kernel_chain", "xb_kernel_chase", "xb_kernel_pieces",         \
            "xb_kernel_widen_fp16", "xb_kernel_widen_bf16", "xb_kernel_widen_int8",                \
            "xb_kernel_widen_fp8", "xb_kernel_for", "xb_kernel_lz4", "xb_kernel_clear",            \
            "xb_kernel_digest"                                                                     \
    }

/* Threads in a block of every kernel except the hold, the chase and the clear, which have one, and
 * those for pieces and LZ4. */
#define XB_GPU_THREADS 256u
/* Items that one thread copies or computes in one turn. */
#define XB_GPU_AT_ONCE 4u

/* Threads in a block of the kernel for pieces: as many as a block may have, because whoever sets
 * the number of blocks counts in multiprocessors. */
#define XB_GPU_PIECE_THREADS 1024u
/* The kernel gets no longer pieces than this: longer ones are cut, so that a few large pieces keep
 * as many threads busy as many small ones. */
#define XB_GPU_PIECE_BYTES 2048u

/* So many neighbouring threads copy a piece, or decode a block of a chunk, together: a warp, and
 * half a wavefront of AMD. */
#define XB_GPU_LANES 32u
/* Threads in a block of the kernel for LZ4. Few, because the blocks of a chunk take unlike times,
 * and a block of threads keeps its place until the last of its warps is done. */
#define XB_GPU_LZ4_THREADS 64u

#endif
