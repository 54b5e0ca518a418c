/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_TESTS_HIP_CUDA_HIP_SIDE_H
#define XFERBENCH_TESTS_HIP_CUDA_HIP_SIDE_H

#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_runtime_api.h>

#include "cuda_side.h"

/* HIP's own number for what the CUDA side returned. */
hipError_t standin_hip_error(int result);

/* The refusal of a call that HIP would refuse. */
#define REFUSE_UNLESS(condition, error)                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return (error);                                                                        \
    } while (0)

#endif
