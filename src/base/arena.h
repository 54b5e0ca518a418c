/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_BASE_ARENA_H
#define XFERBENCH_BASE_ARENA_H

#include "xferbench/status.h"

#include <stddef.h>

/* Texts and arrays that live as long as the thing that they are about, and are released together.
 */
struct xb_arena;

/* Zeroed memory, aligned for anything, in *arena, which is made with its first piece (NULL before).
 * NULL: no memory. */
void *xb_arena_allocate(struct xb_arena **arena, size_t bytes);

/* A text of any length, made as by printf, in *arena. NULL: no memory. */
const char *xb_arena_print(struct xb_arena **arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void xb_arena_free(struct xb_arena *arena); /* NULL is accepted */

#endif
