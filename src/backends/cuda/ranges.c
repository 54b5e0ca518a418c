/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* PATH_MAX */
/*
 * Named ranges for NVIDIA's profilers. NVTX is headers only: a profiler names the library that
 * takes the ranges in the environment, and without one a range costs a call through a pointer.
 */
#include "cuda.h"

/* NVTX uses PATH_MAX. Its headers in CUDA 11 and 12 do not include what defines it. */
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
