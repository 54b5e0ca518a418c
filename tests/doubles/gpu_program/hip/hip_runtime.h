/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * In place of HIP's header, for programs that `advise --code` prints: compiled by the C++ compiler
 * and linked with the runtime on the CPU (tests/doubles/hip_cpu), which refuses wrong use and tells
 * what was left open. Kernels run on its threads. What that library lacks is here. Before it is
 * compiled, `kernel<<<how>>>(...)` has to become `standin_launcher<kernel>(how)(...)`.
 */

#include "entry.h"

#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_runtime_api.h>

#include <cstring>

static hipError_t standin_launched = hipSuccess;

template <auto KERNEL> struct standin_launcher;

template <typename... PARAMETER, void (*KERNEL)(PARAMETER...)> struct standin_launcher<KERNEL> {
    unsigned blocks, threads;
    hipStream_t stream;

    standin_launcher(unsigned grid, unsigned block, unsigned, hipStream_t on)
        : blocks(grid), threads(block), stream(on)
    {
    }

    void operator()(PARAMETER... parameter) const
    {
        static constexpr standin_kernel described =
            standin_entry<KERNEL>::describe("program's own");
        void *const parameters[] = {&parameter...};
        standin_launched =
            hipError_t(standin_launch(&described, blocks, threads, parameters, stream));
    }
};

extern "C" hipError_t hipGetLastError(void)
{
    hipError_t latest = standin_launched;
    standin_launched = hipSuccess;
    return latest;
}

/* Device memory is the process's own; nothing is enqueued when these programs call it. */
extern "C" hipError_t hipMemset(void *memory, int byte, size_t bytes)
{
    memset(memory, byte, bytes);
    return hipSuccess;
}

extern "C" hipError_t hipDeviceSynchronize(void)
{
    return hipSuccess;
}
