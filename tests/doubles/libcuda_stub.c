/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands in for NVIDIA's libcuda.so.1 where there is none, as far as the CUDA runtime asks before
 * it gives up. XFERBENCH_CUDA_STUB in the environment says why it must:
 *
 *   old-driver  the driver supports CUDA 11.0 only
 *   mismatch    the kernel's part of the driver is of another version than this library
 *   anything else, or nothing: the driver is new enough, and there is no device
 *
 * The runtime looks up more functions, the newest way to look them up among them; it does without
 * those it does not find until cuInit succeeds, which it never does here.
 */
#include <cuda.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool asked_for(const char *what)
{
    const char *word = getenv("XFERBENCH_CUDA_STUB");
    return word != NULL && strcmp(word, what) == 0;
}

CUresult CUDAAPI cuDriverGetVersion(int *version)
{
    *version = asked_for("old-driver") ? 11000 : CUDA_VERSION;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuInit(unsigned int flags)
{
    (void)flags;
    return asked_for("mismatch") ? CUDA_ERROR_SYSTEM_DRIVER_MISMATCH : CUDA_ERROR_NO_DEVICE;
}
