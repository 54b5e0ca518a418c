/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MACHINE_HOST_MEMORY_INTERNAL_H
#define XFERBENCH_MACHINE_HOST_MEMORY_INTERNAL_H

#include "xferbench/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * These functions put `root` before every path that they read ("" for the machine itself), so that
 * tests can describe a machine in a directory.
 */

/* The tightest of all limits. */
struct xb_memory_limit {
    uint64_t bytes;   /* bytes left under this limit; the reserve is not subtracted yet */
    bool is_set;      /* somebody set it (ulimit, cgroup) below what the machine has */
    char source[320]; /* the limit's name: "MemAvailable in /proc/meminfo" */
};

XB_MUST_CHECK enum xb_status xb_memory_limit_find(const char *root, struct xb_memory_limit *limit,
                                                  struct xb_error *error);

/* Subtracts the reserve for other programs from `bytes` that are left. */
uint64_t xb_memory_without_reserve(uint64_t bytes);

XB_MUST_CHECK enum xb_status xb_host_memory_check_at(const char *root, uint64_t bytes,
                                                     struct xb_error *error);

/* The text of xb_host_memory_limit_text for a given limit. */
const char *xb_memory_limit_text(const struct xb_memory_limit *limit, char *text, size_t size);

#endif
