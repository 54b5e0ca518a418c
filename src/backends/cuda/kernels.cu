/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels.h"

/* Enough threads to fill any GPU; every kernel strides over the rest. */
#define BLOCKS 1024
#define THREADS 256

/* What copies and computing use instead: a thread has AT_ONCE items in flight, a block takes TILE
 * items in one go, and blocks are many more than run at once, so that the last ones are soon done.
 */
#define AT_ONCE 4u
#define TILE (AT_ONCE * THREADS)
#define TILES_BLOCKS 65536

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

/* The bytes behind the last whole T, one a thread: fewer than a block has threads. */
template <typename T> __device__ static void copy_rest(T *target, const T *source, u64 bytes)
{
    u64 place = bytes / sizeof(T) * sizeof(T) + threadIdx.x;
    if (blockIdx.x == 0 && place < bytes)
        ((unsigned char *)target)[place] = ((const unsigned char *)source)[place];
}

/*
 * A block takes one tile after the other, and a thread AT_ONCE items of each: all its loads are on
 * their way before its first store waits for one. Neighbouring threads take neighbouring items, so
 * that every load of a warp is whole lines. T is the 16-byte vector where both sides are aligned to
 * it: a link carries the fewest requests then.
 */
template <typename T> static __global__ void copy_sequential(T *target, const T *source, u64 bytes)
{
    u64 items = bytes / sizeof(T);
    for (u64 first = (u64)blockIdx.x * TILE + threadIdx.x; first < items;
         first += (u64)gridDim.x * TILE) {
        T moved[AT_ONCE];
#pragma unroll
        for (unsigned k = 0; k < AT_ONCE; k++)
            if (first + k * THREADS < items)
                moved[k] = source[first + k * THREADS];
#pragma unroll
        for (unsigned k = 0; k < AT_ONCE; k++)
            if (first + k * THREADS < items)
                target[first + k * THREADS] = moved[k];
    }
    copy_rest(target, source, bytes);
}

/* The same by words, turn by turn in another order. The order is a template's argument: it is not
 * chosen anew for every word. */
template <enum xb_access ACCESS>
static __global__ void copy_scattered(u64 *target, const u64 *source, u64 bytes)
{
    u64 words = bytes / 8;
    for (u64 first = (u64)blockIdx.x * TILE + threadIdx.x; first < words;
         first += (u64)gridDim.x * TILE) {
        u64 place[AT_ONCE];
        u64 moved[AT_ONCE];
#pragma unroll
        for (unsigned k = 0; k < AT_ONCE; k++)
            if (first + k * THREADS < words) {
                place[k] = xb_access_word(ACCESS, words, first + k * THREADS);
                moved[k] = source[place[k]];
            }
#pragma unroll
        for (unsigned k = 0; k < AT_ONCE; k++)
            if (first + k * THREADS < words)
                target[place[k]] = moved[k];
    }
    copy_rest(target, source, bytes);
}

/* AT_ONCE words a thread, step by step in turn: a step of one hides the wait for another's. */
static __global__ void compute(u64 *memory, u64 words, u64 steps)
{
    for (u64 first = (u64)blockIdx.x * TILE + threadIdx.x; first < words;
         first += (u64)gridDim.x * TILE) {
        u64 word[AT_ONCE];
#pragma unroll
        for (unsigned k = 0; k < AT_ONCE; k++)
            word[k] = first + k * THREADS < words ? memory[first + k * THREADS] : 0;
#pragma unroll 4
        for (u64 step = 0; step < steps; step++) {
#pragma unroll
            for (unsigned k = 0; k < AT_ONCE; k++) {
                word[k] = xb_compute_step(word[k]);
                /* The word may have changed here, for all the compiler knows: else it makes one
                 * multiplication of the steps it unrolls, since their factors are constants. (Seen
                 * in the machine code of sm_75, 90 and 120: one a step, in a loop.) */
                asm volatile("" : "+l"(word[k]));
            }
        }
#pragma unroll
        for (unsigned k = 0; k < AT_ONCE; k++)
            if (first + k * THREADS < words)
                memory[first + k * THREADS] = word[k];
    }
}

/* As many blocks as there is work for, one at least, `most` at most. */
static unsigned blocks_for(u64 items, u64 items_a_block, unsigned most)
{
    u64 blocks = items / items_a_block + (items % items_a_block != 0);
    return blocks == 0 ? 1 : blocks > most ? most : (unsigned)blocks;
}

cudaError_t xb_cuda_load_kernels(void)
{
    const void *kernels[] = {
        (const void *)fill,
        (const void *)check,
        (const void *)hold,
        (const void *)copy_sequential<uint4>,
        (const void *)copy_sequential<u64>,
        (const void *)copy_scattered<XB_ACCESS_STRIDED>,
        (const void *)copy_scattered<XB_ACCESS_RANDOM>,
        (const void *)compute,
    };
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
    fill<<<blocks_for(bytes / 8, THREADS, BLOCKS), THREADS, 0, stream>>>((u64 *)memory, bytes,
                                                                         pattern);
    return cudaGetLastError();
}

cudaError_t xb_cuda_launch_check(const void *memory, unsigned long long bytes,
                                 struct xb_pattern pattern, struct xb_cuda_check *found,
                                 cudaStream_t stream)
{
    check<<<blocks_for(bytes / 8, THREADS, BLOCKS), THREADS, 0, stream>>>((const u64 *)memory,
                                                                          bytes, pattern, found);
    return cudaGetLastError();
}

cudaError_t xb_cuda_launch_hold(struct xb_cuda_gate *gate, unsigned number, long long limit,
                                cudaStream_t stream)
{
    hold<<<1, 1, 0, stream>>>(gate, number, limit);
    return cudaGetLastError();
}

cudaError_t xb_cuda_launch_copy(void *target, const void *source, unsigned long long bytes,
                                enum xb_access access, cudaStream_t stream)
{
    bool wide = access == XB_ACCESS_SEQUENTIAL && (u64)target % sizeof(uint4) == 0 &&
                (u64)source % sizeof(uint4) == 0;
    unsigned blocks = blocks_for(bytes / (wide ? sizeof(uint4) : 8), TILE, TILES_BLOCKS);
    u64 *to = (u64 *)target;
    const u64 *from = (const u64 *)source;
    if (wide)
        copy_sequential<<<blocks, THREADS, 0, stream>>>((uint4 *)target, (const uint4 *)source,
                                                        bytes);
    else if (access == XB_ACCESS_STRIDED)
        copy_scattered<XB_ACCESS_STRIDED><<<blocks, THREADS, 0, stream>>>(to, from, bytes);
    else if (access == XB_ACCESS_RANDOM)
        copy_scattered<XB_ACCESS_RANDOM><<<blocks, THREADS, 0, stream>>>(to, from, bytes);
    else
        copy_sequential<<<blocks, THREADS, 0, stream>>>(to, from, bytes);
    return cudaGetLastError();
}

cudaError_t xb_cuda_launch_compute(void *memory, unsigned long long words, unsigned long long steps,
                                   cudaStream_t stream)
{
    unsigned blocks = blocks_for(words, TILE, TILES_BLOCKS);
    compute<<<blocks, THREADS, 0, stream>>>((u64 *)memory, words, steps);
    return cudaGetLastError();
}
