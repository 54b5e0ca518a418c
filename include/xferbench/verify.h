/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/pattern.h"

#include <stdint.h>

/* What a check against a pattern found. first_offset means something only if wrong_bytes is not 0.
 */
struct xb_mismatch {
    uint64_t wrong_bytes;
    uint64_t first_offset; /* in bytes from the start of the pattern */
};

/*
 * Writes bytes [offset, offset + bytes) of the pattern to `memory`, which holds byte `offset`
 * already. Any alignment and length. Splits large ranges over the CPUs the process is bound to;
 * blocks until done; cannot fail.
 */
void xb_host_fill(void *memory, uint64_t offset, uint64_t bytes, struct xb_pattern pattern);

/* Compares memory with the same range of the pattern. Blocks until done. A wrong block of 4 KiB is
 * read twice: where it is right the second time, wrong_bytes has one byte for it, at its beginning.
 */
struct xb_mismatch xb_host_check(const void *memory, uint64_t offset, uint64_t bytes,
                                 struct xb_pattern pattern);

/*
 * The digest (pattern.h) of memory at any address, as queue_digest makes it: the bytes behind the
 * last whole word count as a word with zeros behind them. Splits large ranges over the CPUs the
 * process is bound to; blocks until done; cannot fail.
 */
uint64_t xb_digest_memory(const void *memory, uint64_t bytes);

/* The same of what queue_compute would make of that memory by so many steps; leaves it as it is. */
uint64_t xb_digest_stepped(const void *memory, uint64_t bytes, uint64_t steps);

/* The same of bytes [offset, offset + bytes) of a pattern, with its steps on every whole word of
 * them. Words count from the range's beginning, which is a multiple of 8. */
uint64_t xb_digest_pattern(struct xb_pattern pattern, uint64_t offset, uint64_t bytes);
