/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What the runtime, in C, knows of the kernels, which are C++. */

#include "backends/gpu/kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

#define STANDIN_PARAMETERS 6
#define STANDIN_PARAMETER_BYTES 32

struct standin_kernel {
    const char *name;
    unsigned count; /* of parameters */
    unsigned char bytes[STANDIN_PARAMETERS];
    unsigned char is_pointer[STANDIN_PARAMETERS];
    /* Runs every thread of every block, one after the other; `parameters` as of a launch. */
    void (*run)(void *const *parameters, unsigned blocks, unsigned threads);
};

extern const struct standin_kernel standin_kernels[XB_GPU_KERNELS];

/* Launches a kernel of the caller's own on a stream of the current device; returns HIP's error. */
__attribute__((visibility("default"))) int standin_launch(const struct standin_kernel *kernel,
                                                          unsigned blocks, unsigned threads,
                                                          void *const *parameters, void *stream);

#ifdef __cplusplus
}
#endif
