/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Types that the host and the kernels of kernels.cuh share. The kernels' compilers read this too:
 * built-in types only, no system headers. */

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

/* The kernels of all GPUs: XB_GPU_FILL is xb_kernel_fill of kernels.cuh. */
#define XB_GPU_KERNEL_LIST(X)                                                                      \
    X(FILL, fill)                                                                                  \
    X(CHECK, check)                                                                                \
    X(HOLD, hold)                                                                                  \
    /* Sequential: 16 and 8 bytes for each access; in another order 8 bytes. */                    \
    X(COPY_WIDE, copy_wide)                                                                        \
    X(COPY_WORDS, copy_words)                                                                      \
    X(COPY_STRIDED, copy_strided)                                                                  \
    X(COPY_RANDOM, copy_random)                                                                    \
    X(COMPUTE, compute)                                                                            \
    X(CHAIN, chain)                                                                                \
    X(CHASE, chase)                                                                                \
    X(PIECES, pieces)                                                                              \
    /* The decoders, in the order of enum xb_format. */                                            \
    X(WIDEN_FP16, widen_fp16)                                                                      \
    X(WIDEN_BF16, widen_bf16)                                                                      \
    X(WIDEN_INT8, widen_int8)                                                                      \
    X(WIDEN_FP8, widen_fp8)                                                                        \
    X(FOR, for)                                                                                    \
    X(LZ4, lz4)                                                                                    \
    X(CLEAR, clear)                                                                                \
    X(DIGEST, digest)                                                                              \
    X(SUM, sum)                                                                                    \
    X(COUNT, count)
#define XB_GPU_KERNEL_NUMBER(NAME, name) XB_GPU_##NAME,
enum xb_gpu_kernel {
    XB_GPU_KERNEL_LIST(XB_GPU_KERNEL_NUMBER) XB_GPU_KERNELS,
    /* Those of CUDA alone, in cuda/bulk.cuh. */
    XB_GPU_BULK = XB_GPU_KERNELS,
    XB_GPU_CHASE_BULK,
    XB_GPU_ALL_KERNELS
};
#define XB_GPU_KERNEL_NAME(NAME, name) "xb_kernel_" #name,
#define XB_GPU_KERNEL_NAMES XB_GPU_KERNEL_LIST(XB_GPU_KERNEL_NAME)

/* Threads in a block of every kernel but the hold, chase and clear (1), pieces and LZ4. */
#define XB_GPU_THREADS 256u
/* Items that one thread copies or computes in one turn. */
#define XB_GPU_AT_ONCE 4u

/* Threads in a block of the kernel for pieces: the most, because whoever sets the number of blocks
 * counts in multiprocessors. */
#define XB_GPU_PIECE_THREADS 1024u
/* Longer pieces are cut, so that a few large ones keep as many threads busy as many small ones. */
#define XB_GPU_PIECE_BYTES 2048u
/* Shared memory of each warp that makes bulk copies: room for four such pieces. */
#define XB_GPU_BULK_BYTES 8192u

/* How many neighbouring threads copy a piece, or decode a block of a chunk, together: a warp, and
 * half a wavefront of AMD. */
#define XB_GPU_LANES 32u
/* Threads in a block of the kernel for LZ4: few, because a block keeps its place until its last
 * warp is done, and the blocks of a chunk take unlike times. */
#define XB_GPU_LZ4_THREADS 64u
