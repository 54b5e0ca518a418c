/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/backend.h"

#include <stdint.h>

/* Writes bytes [offset, offset + bytes) of the pattern to `memory`, which stands for byte `offset`.
 * Any alignment and length. Uses the CPUs that the process is bound to for large ranges; blocks;
 * cannot fail. */
void xb_host_fill(void *memory, uint64_t offset, uint64_t bytes, struct xb_pattern pattern);
/* Reads the first byte of every XB_HOST_PAGE, by the calling thread: a page that is elsewhere
 * faults and is fetched. Returns their sum. */
#define XB_HOST_PAGE 4096
uint64_t xb_host_read_pages(const void *memory, uint64_t bytes);

/* Compares memory with the same range of the pattern. Blocks. Reads a wrong block of 4 KiB twice:
 * where it is right the second time, one byte counts as wrong, at its beginning. */
struct xb_mismatch xb_host_check(const void *memory, uint64_t offset, uint64_t bytes,
                                 struct xb_pattern pattern);

/* Makes the digest (pattern.h) of memory at any address, as queue_digest does: zeros fill up the
 * last word. Uses the CPUs that the process is bound to for large ranges; blocks; cannot fail. */
uint64_t xb_digest_memory(const void *memory, uint64_t bytes);

/* Makes the digest that memory would have after `steps` of queue_compute; leaves it as it is. */
uint64_t xb_digest_stepped(const void *memory, uint64_t bytes, uint64_t steps);
