/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_CORE_ARENA_H
#define XFERBENCH_CORE_ARENA_H

#include "xferbench/status.h"

/* Texts that live as long as the thing that they are about, and are released together. */
struct xb_arena;

/* A text of any length, made as by printf, in *arena, which is made with its first text (NULL
 * before). NULL: no memory. */
const char *xb_arena_print(struct xb_arena **arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void xb_arena_free(struct xb_arena *arena); /* NULL is accepted */

#endif
