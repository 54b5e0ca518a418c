/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* PATH_MAX */
/*
 * Named ranges for NVIDIA's profilers. NVTX consists of headers only. A profiler sets an
 * environment variable to the library that records the ranges. Without a profiler, a range costs
 * one call through a pointer.
 */
#include "cuda.h"

/* NVTX uses PATH_MAX, but its headers in CUDA 11 and 12 do not include the header that defines it.
 */
#include <limits.h>

#include <nvtx3/nvToolsExt.h>

void xb_cuda_range_push(const char *name)
{
    (void)nvtxRangePushA(name);
}

void xb_cuda_range_pop(void)
{
    (void)nvtxRangePop();
}
