/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels' own text, compiled for the CPU: what a test of the HIP backend runs is what a GPU
 * runs. Never with a thread sanitizer: the gate of a hold is a volatile that two processors share,
 * which C++ calls a race.
 */
#include "entry.h"

#include <sched.h>
#include <time.h>

struct alignas(16) uint4 {
    unsigned x, y, z, w;
};

struct alignas(16) float4 {
    float x, y, z, w;
};

static inline void atomicAdd(unsigned long long *target, unsigned long long value)
{
    __atomic_fetch_add(target, value, __ATOMIC_RELAXED);
}

static inline void atomicMin(unsigned long long *target, unsigned long long value)
{
    unsigned long long seen = __atomic_load_n(target, __ATOMIC_RELAXED);
    while (value < seen && !__atomic_compare_exchange_n(target, &seen, value, false,
                                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
}

/* In nanoseconds: the clock rate that the stand-in gives is 1 GHz. Only a kernel that spins asks
 * for the time, and whom it waits for may need its processor. */
static inline long long clock64()
{
    struct timespec now;
    sched_yield();
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static inline void __threadfence_system()
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

#include "backends/gpu/kernels.cuh"

#define ENTRY(kernel) standin_entry<kernel>::describe(#kernel)
constexpr standin_kernel standin_kernels[XB_GPU_KERNELS] = {
    ENTRY(xb_kernel_fill),        ENTRY(xb_kernel_check),      ENTRY(xb_kernel_hold),
    ENTRY(xb_kernel_copy_wide),   ENTRY(xb_kernel_copy_words), ENTRY(xb_kernel_copy_strided),
    ENTRY(xb_kernel_copy_random), ENTRY(xb_kernel_compute),    ENTRY(xb_kernel_chain),
    ENTRY(xb_kernel_chase),       ENTRY(xb_kernel_pieces),     ENTRY(xb_kernel_widen_fp16),
    ENTRY(xb_kernel_widen_bf16),  ENTRY(xb_kernel_widen_int8), ENTRY(xb_kernel_widen_fp8),
    ENTRY(xb_kernel_for),         ENTRY(xb_kernel_lz4),        ENTRY(xb_kernel_clear),
    ENTRY(xb_kernel_digest),      ENTRY(xb_kernel_sum),        ENTRY(xb_kernel_count)};
