/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_BACKENDS_HIP_COMPILER_H
#define XFERBENCH_BACKENDS_HIP_COMPILER_H

#include "xferbench/error.h"

/*
 * hipRTC in a process of its own. Releases up to 6.4 abort the process that asks for an
 * architecture they do not know (seen with 5.2.3, 5.7.1 and 6.4.3), and a process may not fork once
 * HIP is initialised. So a process that waits is forked before that, and it forks one more for
 * every text that is to be compiled.
 */

/* The code of all kernels for one architecture. Release with free. */
struct xb_hip_code {
    void *bytes;
    size_t size;
};

/*
 * Forks the waiting process: after the library is opened, before any of its functions is called. It
 * ends when this process does. Doing so twice is once: a process that was lost is not
 * replaced.
 */
XB_MUST_CHECK enum xb_status xb_hip_compiler_start(struct xb_error *error);

/*
 * Compiles the kernels for an architecture such as "gfx90a", with the hipRTC that belongs to a
 * runtime of major version `major`. Blocks; any thread may call it. XB_ERR_UNSUPPORTED, with the
 * reason, where hipRTC is missing, does not know the architecture, or fails; XB_ERR_STOPPED where a
 * signal or the deadline came first (xb_interrupt_is_due).
 */
XB_MUST_CHECK enum xb_status xb_hip_compile(const char *architecture, int major,
                                            struct xb_hip_code *code, struct xb_error *error);

/* What goes into every compilation beside the architecture, as one text: the key of a cache. */
extern const char xb_hip_compile_options[];

/* The text of the kernels, made by the build from src/backends/gpu/kernels.cuh and what it
 * includes; ends with a zero byte. */
extern const char xb_hip_kernel_text[];

#endif
