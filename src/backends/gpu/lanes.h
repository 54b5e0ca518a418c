/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What threads that work together need of each other, for codecs/lz4_decode.h and the digest: the
 * lanes of a warp, or of half a wavefront of AMD. On the CPU one thread does all. The kernels'
 * compilers read this too: built-in types only, no system headers. */

#if defined(__CUDA_ARCH__)
#define XB_GPU_TOGETHER 32u
#define XB_LANES_SYNC() __syncwarp()
#define XB_LANES_TAKE(mine, lane, bytes) __shfl_sync(0xFFFFFFFFu, mine, lane)
#define XB_LANES_SWAP(mine, lane, apart) __shfl_sync(0xFFFFFFFFu, mine, (lane) ^ (apart))
#elif defined(__AMDGCN__)
#define XB_GPU_TOGETHER 32u
/* The lanes of a wavefront run in step: it is only memory whose order must be kept. */
#define XB_LANES_SYNC() __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront")
#define XB_LANES_TAKE(mine, lane, bytes) __shfl(mine, lane, 32)
#define XB_LANES_SWAP(mine, lane, apart) __shfl(mine, (lane) ^ (apart), 32)
#else
#define XB_GPU_TOGETHER 1u
#define XB_LANES_SWAP(mine, lane, apart) (mine) /* never asked for: there is no other lane */
#endif
