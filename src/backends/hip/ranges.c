/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* RTLD_DEFAULT */
/*
 * What AMD's profilers are told, through the library roctx: named ranges, and from where to where
 * they may collect. rocprofv3 --marker-trace has the loader put that library into the program, and
 * LD_PRELOAD does for any other tool. We take what is there and open nothing: without a profiler a
 * range costs one check of a pointer.
 */
#include "hip.h"

#include "backends/symbols.h"

#include <stdint.h>

/* As in AMD's rocprofiler-sdk-roctx/roctx.h. libroctx64, which is older, has only the first two. */
static struct roctx {
    int (*push)(const char *name);
    int (*pop)(void);
    int (*resume)(uint64_t thread); /* 0: all threads */
    int (*pause)(uint64_t thread);
} roctx;

void xb_hip_find_ranges(void)
{
    static const struct xb_symbol symbols[] = {
        {"roctxRangePushA", offsetof(struct roctx, push), "ranges"},
        {"roctxRangePop", offsetof(struct roctx, pop), "ranges"},
        {"roctxProfilerResume", offsetof(struct roctx, resume), "captures"},
        {"roctxProfilerPause", offsetof(struct roctx, pause), "captures"},
    };
    (void)xb_symbols_find(RTLD_DEFAULT, symbols, sizeof symbols / sizeof symbols[0], &roctx);
}

void xb_hip_range_push(const char *name)
{
    if (roctx.push != NULL)
        (void)roctx.push(name);
}

void xb_hip_range_pop(void)
{
    if (roctx.pop != NULL)
        (void)roctx.pop();
}

void xb_hip_profiler_collect(bool on)
{
    int (*call)(uint64_t thread) = on ? roctx.resume : roctx.pause;
    if (call != NULL)
        (void)call(0);
}
