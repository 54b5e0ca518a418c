/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "arena.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The last piece made, with those before it behind it. */
struct xb_arena {
    struct xb_arena *next;
    max_align_t piece[];
};

void *xb_arena_allocate(struct xb_arena **arena, size_t bytes)
{
    struct xb_arena *made = bytes <= SIZE_MAX - sizeof *made ? malloc(sizeof *made + bytes) : NULL;
    if (made == NULL)
        return NULL;
    made->next = *arena;
    *arena = made;
    return memset(made->piece, 0, bytes);
}

const char *xb_arena_print(struct xb_arena **arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *text = length < 0 ? NULL : xb_arena_allocate(arena, (size_t)length + 1);
    if (text == NULL)
        return NULL;
    va_start(arguments, format);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    return text;
}

void xb_arena_free(struct xb_arena *arena)
{
    while (arena != NULL) {
        struct xb_arena *next = arena->next;
        free(arena);
        arena = next;
    }
}

void *xb_array_grow(void *items, size_t count, size_t size)
{
    if ((count & (count - 1)) != 0) /* neither a power of two nor none yet: there is room */
        return items;
    return realloc(items, (count > 0 ? 2 * count : 1) * size);
}
