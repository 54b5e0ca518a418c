/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/error.h"

#include <setjmp.h>

/* The memory of bookkeeping. There is little of it, and without it nothing useful can be done:
 * these never return NULL but end the program (xb_memory_end). What a benchmark may really lack
 * (buffers to be measured, samples, whole files) is allocated with malloc() and reported by its
 * caller. For the main thread, for the work of xb_parallel_for, and for the thread that writes the
 * results where the main one is stuck at the deadline: other threads report what they lack. */

void *xb_new(size_t count, size_t size); /* zeroed; for 0 bytes, too, there is something to free */
char *xb_copy_part(const char *text, size_t length); /* to the text's end at the most */
#define xb_copy(text) xb_copy_part((text), SIZE_MAX)
char *xb_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* As xb_new, of a length that a device, an option or a file says, and NULL where there is none. */
void *xb_try(size_t count, size_t size);
/* What realloc() does, for `bytes` of at least 1. */
void *xb_resize(void *items, size_t bytes);
/* Makes room for one more item of that size behind `count`: doubles when that is a power of two. */
void *xb_grow(void *items, size_t count, size_t size);

/* Pieces that live as long as the thing that they are about, and are released together. Zeroed, and
 * aligned for anything. *arena is made with its first piece: NULL before. */
struct xb_arena;
void *xb_arena_new(struct xb_arena **arena, size_t bytes);
const char *xb_arena_copy(struct xb_arena **arena, const char *text);
const char *xb_arena_print(struct xb_arena **arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void xb_arena_free(struct xb_arena *arena); /* NULL is accepted */

/* Sets memory aside, which is given up when those above first find none: then what was measured can
 * still be written under a limit on address space. XB_ERR_MEMORY. */
enum xb_status xb_memory_reserve(size_t bytes, struct xb_error *error);

/* What tells the user of a failure, and returns the exit code: 1 before the first such call. */
void xb_memory_end_with(int (*fail)(const struct xb_error *error));

/* What else is done then: temporary files are removed (output.c), children are killed (child.c). */
typedef void xb_memory_end_hook(void);
void xb_memory_end_also(xb_memory_end_hook *hook);

/* Calls these, and exits: files without a name vanish. In the work of xb_parallel_for it ends that
 * work, and the main thread does the rest. */
_Noreturn void xb_memory_end(size_t bytes);

/* Where xb_memory_end goes to in this thread; NULL for nowhere: it ends the program. */
void xb_memory_catch(jmp_buf *catcher);
