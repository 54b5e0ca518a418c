/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

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

/* Makes room for one more item of that size behind the `count` that `items` has, by realloc(): it
 * doubles whenever the count is a power of two. NULL: no memory, and `items` is as it was. */
void *xb_array_grow(void *items, size_t count, size_t size);
