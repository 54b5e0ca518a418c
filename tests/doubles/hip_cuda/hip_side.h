/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "../hip_answers.h"
#include "cuda_side.h"

/* HIP's own number for what the CUDA side returned. */
hipError_t standin_hip_error(int result);

/* A function of HIP that refuses a call for one reason, and else passes it on. */
#define FORWARD(name, parameters, condition, refusal, call)                                        \
    hipError_t name parameters                                                                     \
    {                                                                                              \
        REFUSE_UNLESS(condition, refusal);                                                         \
        return standin_hip_error(standin_##call);                                                  \
    }
