/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What a kernel's text needs to be C++ for the CPU, and what runs such a kernel. */

#include "launch.h"

#include <type_traits>
#include <utility>

#define __global__
#define __device__
#define __launch_bounds__(threads)

struct standin_index {
    unsigned x;
};
static thread_local standin_index blockIdx, threadIdx, blockDim, gridDim;

template <auto KERNEL> struct standin_entry;

template <typename... PARAMETER, void (*KERNEL)(PARAMETER...)> struct standin_entry<KERNEL> {
    static_assert(sizeof...(PARAMETER) <= STANDIN_PARAMETERS);
    static_assert(((sizeof(PARAMETER) <= STANDIN_PARAMETER_BYTES) && ...));

    template <std::size_t... PLACE>
    static void call(void *const *parameters, std::index_sequence<PLACE...>)
    {
        KERNEL(*static_cast<PARAMETER *>(parameters[PLACE])...);
    }

    static void run(void *const *parameters, unsigned blocks, unsigned threads)
    {
        gridDim.x = blocks;
        blockDim.x = threads;
        for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++)
            for (threadIdx.x = 0; threadIdx.x < threads; threadIdx.x++)
                call(parameters, std::index_sequence_for<PARAMETER...>());
    }

    static constexpr standin_kernel describe(const char *name)
    {
        return {name,
                sizeof...(PARAMETER),
                {sizeof(PARAMETER)...},
                {std::is_pointer_v<PARAMETER>...},
                run};
    }
};
