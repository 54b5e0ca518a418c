/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cuda_side.h"

/* HIP's headers, and the types that the backend has in place of what these may lack. */
#include "backends/hip/library.h"

/* HIP's own number for what the CUDA side returned. */
hipError_t standin_hip_error(int result);

/* The refusal of a call that HIP would refuse. */
#define REFUSE_UNLESS(condition, error)                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return (error);                                                                        \
    } while (0)
