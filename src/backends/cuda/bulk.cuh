/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Kernels that have the engine for bulk copies of each multiprocessor (TMA) copy: from global to
 * shared memory, and from there to global memory. NVIDIA's "PTX ISA" has the instructions, from
 * release 8.0 on. For other processors the kernels are empty, and nobody launches them. */
#include "backends/gpu/kernels.cuh"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && __CUDACC_VER_MAJOR__ >= 12
#define HAS_BULK
#endif

#ifdef HAS_BULK
#define SHARED(pointer) ((unsigned)__cvta_generic_to_shared(pointer))

__device__ static void barrier_open(u64 *barrier)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n\t"
                 "fence.mbarrier_init.release.cluster;" ::"r"(SHARED(barrier))
                 : "memory");
}

/* The barrier's phase ends when so many bytes have arrived. */
__device__ static void barrier_expect(u64 *barrier, unsigned bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(SHARED(barrier)),
                 "r"(bytes)
                 : "memory");
}

/* Waits for the end of a phase of that parity, which is 0 for the first. */
__device__ static void barrier_wait(u64 *barrier, unsigned parity)
{
    unsigned ended = 0;
    while (ended == 0)
        asm volatile("{\n\t.reg .pred ended;\n\t"
                     "mbarrier.try_wait.parity.shared::cta.b64 ended, [%1], %2;\n\t"
                     "selp.u32 %0, 1, 0, ended;\n\t}"
                     : "=r"(ended)
                     : "r"(SHARED(barrier)), "r"(parity)
                     : "memory");
}

__device__ static void bulk_load(void *to, const void *from, unsigned bytes, u64 *barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];" ::"r"(SHARED(to)),
                 "l"(from), "r"(bytes), "r"(SHARED(barrier))
                 : "memory");
}

__device__ static void bulk_store(void *to, const void *from, unsigned bytes)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\n\t"
                 "cp.async.bulk.commit_group;" ::"l"(to),
                 "r"(SHARED(from)), "r"(bytes)
                 : "memory");
}
#endif

/* Piece `index` of the list or, without one, of `bytes` that lie in one piece. */
__device__ static struct xb_piece piece_at(const struct xb_piece *pieces, u64 index, unsigned slot,
                                           u64 bytes)
{
    if (pieces != NULL)
        return pieces[index];
    u64 offset = index * slot;
    struct xb_piece piece = {offset, offset, bytes - offset < slot ? bytes - offset : slot};
    return piece;
}

/* Copies pieces of `slot` bytes at most. A warp takes as many at a time as its part of the shared
 * memory has slots; meanwhile other warps have the engine busy. What does not begin or end at
 * multiples of 16 bytes the warp copies itself. */
extern "C" __global__ void __launch_bounds__(XB_GPU_PIECE_THREADS)
    xb_kernel_bulk(char *target, const char *source, const struct xb_piece *pieces, u64 count,
                   unsigned slot, u64 bytes)
{
#ifdef HAS_BULK
    extern __shared__ __align__(128) char room[];
    __shared__ u64 barriers[XB_GPU_PIECE_THREADS / LANES];
    const unsigned lane = threadIdx.x % LANES;
    const unsigned warp = threadIdx.x / LANES;
    const unsigned slots = XB_GPU_BULK_BYTES / slot;
    const u64 step = ALL_THREADS / LANES * slots;
    char *mine = room + warp * XB_GPU_BULK_BYTES + lane % slots * slot;
    u64 *barrier = &barriers[warp];
    unsigned parity = 0;
    if (lane == 0)
        barrier_open(barrier);
    __syncwarp();
    for (u64 first = ((u64)warp * gridDim.x + blockIdx.x) * slots; first < count; first += step) {
        struct xb_piece piece = {0, 0, 0};
        if (lane < slots && first + lane < count)
            piece = piece_at(pieces, first + lane, slot, bytes);
        char *to = target + piece.target_offset;
        const char *from = source + piece.source_offset;
        const bool is_odd = ((u64)to | (u64)from | piece.bytes) % 16 != 0;
        const unsigned length = is_odd ? 0 : (unsigned)piece.bytes;
        const unsigned all = __reduce_add_sync(~0u, length);
        /* What this lane stored before has left its slot. */
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
        if (lane == 0)
            barrier_expect(barrier, all);
        __syncwarp();
        if (length > 0)
            bulk_load(mine, from, length, barrier);
        for (unsigned odd = __ballot_sync(~0u, is_odd); odd != 0; odd &= odd - 1) {
            const int who = __ffs(odd) - 1;
            char *tos[AT_ONCE] = {(char *)__shfl_sync(~0u, (u64)to, who)};
            const char *froms[AT_ONCE] = {(const char *)__shfl_sync(~0u, (u64)from, who)};
            const unsigned lengths[AT_ONCE] = {__shfl_sync(~0u, (unsigned)piece.bytes, who)};
            copy_aligned(tos, froms, lengths, (u64)tos[0] | (u64)froms[0], lane);
        }
        barrier_wait(barrier, parity);
        parity ^= 1;
        if (length > 0)
            bulk_store(to, mine, length);
    }
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
#endif
}

/* As xb_kernel_chase; each load is a bulk copy of a line. */
extern "C" __global__ void xb_kernel_chase_bulk(const char *chain, u64 *cursor, u64 loads,
                                                unsigned turn)
{
#ifdef HAS_BULK
    __shared__ __align__(128) char line[XB_CHAIN_LINE];
    __shared__ u64 barrier;
    if (blockIdx.x != turn)
        return;
    const char *next = chain + *cursor;
    barrier_open(&barrier);
    for (u64 i = 0; i < loads; i++) {
        barrier_expect(&barrier, sizeof line);
        bulk_load(line, next, sizeof line, &barrier);
        barrier_wait(&barrier, (unsigned)i % 2);
        next = *(const char *const volatile *)line;
    }
    *cursor = (u64)(next - chain);
#endif
}
