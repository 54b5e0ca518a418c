/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_BACKENDS_HIP_CODE_CACHE_H
#define XFERBENCH_BACKENDS_HIP_CODE_CACHE_H

#include "compiler.h"

#include <stdbool.h>

/*
 * A cache of compiled kernels in $XDG_CACHE_HOME/xferbench or ~/.cache/xferbench. It has a file for
 * each architecture, version of the runtime, and text of the kernels. The code runs on the device,
 * so a file is used only if it is complete and unchanged, and if nobody else can write it.
 */

/* Loads the code of the kernels. Returns false if it is not there or cannot be trusted. */
bool xb_hip_cache_load(const char *architecture, int version, struct xb_hip_code *code);

/* Stores the code for the next run and replaces an older file. Returns false if that fails; then
 * the next run only has to compile again. */
bool xb_hip_cache_store(const char *architecture, int version, const struct xb_hip_code *code);

#endif
