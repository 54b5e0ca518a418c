/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_BACKENDS_HIP_CODE_CACHE_H
#define XFERBENCH_BACKENDS_HIP_CODE_CACHE_H

#include "compiler.h"

#include <stdbool.h>

/*
 * Compiled kernels, kept in $XDG_CACHE_HOME/xferbench or ~/.cache/xferbench: a file for each
 * architecture, version of the runtime, and text of the kernels. Code from there runs on the
 * device, so a file is taken only whole, unchanged, and if nobody else can write it.
 */

/* The code of these kernels, if it is there and can be trusted; else false. */
bool xb_hip_cache_load(const char *architecture, int version, struct xb_hip_code *code);

/* Keeps the code for next time, in place of what is there. False where that is not possible: a
 * loss of time, not of anything else. */
bool xb_hip_cache_store(const char *architecture, int version, const struct xb_hip_code *code);

#endif
