/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/error.h"

#include <stdbool.h>

/* Runs hipRTC in a process of its own, because releases up to 6.4 abort a process that asks for an
 * architecture they do not know (seen with 5.2.3, 5.7.1 and 6.4.3). No process may fork after HIP
 * is initialised, so a waiting process is forked before, and forks another for every
 * compilation. */

/* The code of all kernels for one architecture. Release with free. */
struct xb_hip_code {
    void *bytes;
    size_t size;
};

/* Forks the waiting process, which ends when this one does. Call it after the library is opened and
 * before any of its functions is called. A second call does nothing, even if the waiting process
 * has died. */
enum xb_status xb_hip_compiler_start(struct xb_error *error);

/* Compiles the kernels for an architecture such as "gfx90a", with the hipRTC of a runtime of major
 * version `major`. Blocks; any thread. XB_ERR_UNSUPPORTED with the reason if hipRTC is missing,
 * does not know the architecture, or fails; XB_ERR_STOPPED if a signal or the deadline comes first
 * (xb_interrupt_is_due). */
enum xb_status xb_hip_compile(const char *architecture, int major, struct xb_hip_code *code,
                              struct xb_error *error);

/* All compiler options except the architecture, as one text. It is part of the cache's key. */
extern const char xb_hip_compile_options[];

/* The source text of the kernels, with a zero byte at its end, which the build makes from
 * src/backends/gpu/kernels.cuh and what it includes. */
extern const char xb_hip_kernel_text[];
