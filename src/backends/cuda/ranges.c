/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* PATH_MAX */
/*
 * What NVIDIA's profilers are told: named ranges, and from where to where they may collect. NVTX
 * consists of headers only. A profiler sets an environment variable to the library that records the
 * ranges. Without a profiler, a range costs one check of a pointer.
 */
#include "cuda.h"

/* NVTX uses PATH_MAX, but its headers in CUDA 11 and 12 do not include the header that defines it.
 */
#include <limits.h>

#include <nvtx3/nvToolsExt.h>

/* The runtime has them, also where its header for them, a package of its own, is not installed. */
cudaError_t CUDARTAPI cudaProfilerStart(void);
cudaError_t CUDARTAPI cudaProfilerStop(void);

void xb_cuda_range_push(const char *name)
{
    (void)nvtxRangePushA(name);
}

void xb_cuda_range_pop(void)
{
    (void)nvtxRangePop();
}

/* An error of these calls is the profiler's. No later call may report it as its own. */
void xb_cuda_profiler_collect(bool on)
{
    if ((on ? cudaProfilerStart() : cudaProfilerStop()) != cudaSuccess)
        (void)cudaGetLastError();
}
