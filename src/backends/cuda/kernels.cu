/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels.h"

/* Enough threads to fill any GPU; every kernel strides over the rest. */
#define BLOCKS 1024
#define THREADS 256

typedef unsigned long long u64;

static __global__ void fill(u64 *memory, u64 bytes, struct xb_pattern pattern)
{
    u64 words = bytes / 8;
    u64 first = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    for (u64 i = first; i < words; i += (u64)gridDim.x * blockDim.x)
        memory[i] = xb_pattern_word(pattern, i);
    if (first < bytes % 8) /* the bytes behind the last whole word, one a thread */
        ((unsigned char *)memory)[words * 8 + first] =
            (unsigned char)(xb_pattern_word(pattern, words) >> (8 * first));
}

/* Notes the bytes in which two words differ; only the lowest `count` bytes are looked at. */
__device__ static void compare(u64 read, u64 wanted, u64 offset, unsigned count,
                               struct xb_cuda_check *found)
{
    u64 difference = read ^ wanted;
    if (difference == 0)
        return;
    u64 wrong = 0;
    u64 lowest = 0;
    for (unsigned byte = count; byte-- > 0;) {
        if (((difference >> (8 * byte)) & 0xFF) != 0) {
            wrong++;
            lowest = byte;
        }
    }
    if (wrong != 0) {
        atomicAdd(&found->wrong_bytes, wrong);
        atomicMin(&found->first_offset, offset + lowest);
    }
}

static __global__ void check(const u64 *memory, u64 bytes, struct xb_pattern pattern,
                             struct xb_cuda_check *found)
{
    u64 words = bytes / 8;
    u64 first = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    for (u64 i = first; i < words; i += (u64)gridDim.x * blockDim.x)
        compare(memory[i], xb_pattern_word(pattern, i), i * 8, 8, found);
    if (first < bytes % 8) {
        u64 read = ((const unsigned char *)memory)[words * 8 + first];
        u64 wanted = (xb_pattern_word(pattern, words) >> (8 * first)) & 0xFF;
        compare(read, wanted, words * 8 + first, 1, found);
    }
}

static __global__ void hold(volatile struct xb_cuda_gate *gate, unsigned number, long long limit)
{
    long long start = clock64();
    while (gate->released < number) {
        if (clock64() - start > limit) {
            gate->expired = 1;
            break;
        }
    }
    __threadfence_system();
}

/* As many blocks as there is work for, one at least. */
static unsigned blocks_for(u64 bytes)
{
    u64 blocks = (bytes / 8 + THREADS - 1) / THREADS;
    return blocks == 0 ? 1 : blocks > BLOCKS ? BLOCKS : (unsigned)blocks;
}

cudaError_t xb_cuda_load_kernels(void)
{
    const void *kernels[] = {(const void *)fill, (const void *)check, (const void *)hold};
    for (const void *kernel : kernels) {
        struct cudaFuncAttributes attributes;
        cudaError_t code = cudaFuncGetAttributes(&attributes, kernel);
        if (code != cudaSuccess)
            return code;
    }
    return cudaSuccess;
}

cudaError_t xb_cuda_launch_fill(void *memory, unsigned long long bytes, struct xb_pattern pattern,
                                cudaStream_t stream)
{
    fill<<<blocks_for(bytes), THREADS, 0, stream>>>((u64 *)memory, bytes, pattern);
    return cudaGetLastError();
}

cudaError_t xb_cuda_launch_check(const void *memory, unsigned long long bytes,
                                 struct xb_pattern pattern, struct xb_cuda_check *found,
                                 cudaStream_t stream)
{
    check<<<blocks_for(bytes), THREADS, 0, stream>>>((const u64 *)memory, bytes, pattern, found);
    return cudaGetLastError();
}

cudaError_t xb_cuda_launch_hold(struct xb_cuda_gate *gate, unsigned number, long long limit,
                                cudaStream_t stream)
{
    hold<<<1, 1, 0, stream>>>(gate, number, limit);
    return cudaGetLastError();
}
