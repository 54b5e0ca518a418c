/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_CORE_HOST_MEMORY_INTERNAL_H
#define XFERBENCH_CORE_HOST_MEMORY_INTERNAL_H

#include "xferbench/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * host_memory.h over another tree than "/": `root` is put before every path that is read ("" for
 * the machine itself), so that tests can describe a machine in a directory.
 */

/* The tightest of all limits. */
struct xb_memory_limit {
    uint64_t bytes;   /* what it leaves, before the reserve */
    bool is_set;      /* by somebody (ulimit, cgroup): it is less than the machine has */
    char source[320]; /* what sets it: "MemAvailable in /proc/meminfo" */
};

XB_MUST_CHECK enum xb_status xb_memory_limit_find(const char *root, struct xb_memory_limit *limit,
                                                  struct xb_error *error);

/* What may be taken of `bytes` that are left: all but the reserve. */
uint64_t xb_memory_less_reserve(uint64_t bytes);

XB_MUST_CHECK enum xb_status xb_host_memory_check_at(const char *root, uint64_t bytes,
                                                     struct xb_error *error);

/* xb_host_memory_reach of that limit. */
const char *xb_memory_reach(const struct xb_memory_limit *limit, char *text, size_t size);

#endif
