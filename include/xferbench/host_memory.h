/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_HOST_MEMORY_H
#define XFERBENCH_HOST_MEMORY_H

#include "xferbench/error.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Bytes this process may take without driving the machine into swap or the OOM killer: the least of
 * MemAvailable (proc(5)), what the memory cgroups above the process (v1 and v2) leave and what its
 * own address space limit (ulimit -v) leaves, less a reserve of 1/16 and at least 64 MiB for
 * everything else that runs.
 */
XB_MUST_CHECK enum xb_status xb_host_memory_available(uint64_t *bytes, struct xb_error *error);

/*
 * What bounds that, and what to do about it: "can be had under the limit on address space (ulimit
 * -v), ...; take a smaller size or raise that limit". Returns `text`.
 */
const char *xb_host_memory_reach(char *text, size_t size);

/*
 * ": the limit on locked memory (ulimit -l) is 8 MiB ..." where this process may not lock `bytes`,
 * for the end of a message about a lock that failed; else "". Returns `text`.
 */
const char *xb_host_memory_lock_limit(uint64_t bytes, char *text, size_t size);

/*
 * Maps `bytes` of anonymous memory and touches every page, under the calling thread's memory
 * policy, with several threads. Refuses with XB_ERR_MEMORY, before it maps anything, what
 * xb_host_memory_available does not cover. Release with xb_pages_unmap.
 */
XB_MUST_CHECK enum xb_status xb_pages_map(uint64_t bytes, void **address, struct xb_error *error);
/*
 * The same in huge pages where the kernel gives them, which makes the first touch and a later page
 * lock several times as fast. Aligned to 2 MiB; the pages behind the last whole 2 MiB stay small.
 */
XB_MUST_CHECK enum xb_status xb_pages_map_huge(uint64_t bytes, void **address,
                                               struct xb_error *error);
/* Releases what either of the two has mapped; `bytes` as given there. NULL is no memory. */
void xb_pages_unmap(void *address, uint64_t bytes);

/* XB_ERR_MEMORY with the limit in the message if `bytes` more would not fit. */
XB_MUST_CHECK enum xb_status xb_host_memory_check(uint64_t bytes, struct xb_error *error);

#endif
