/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* The last text made, with those before it behind it. */
struct xb_arena {
    struct xb_arena *next;
    char text[];
};

const char *xb_arena_print(struct xb_arena **arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    struct xb_arena *made = length < 0 ? NULL : malloc(sizeof *made + (size_t)length + 1);
    if (made == NULL)
        return NULL;
    va_start(arguments, format);
    vsnprintf(made->text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    made->next = *arena;
    *arena = made;
    return made->text;
}

void xb_arena_free(struct xb_arena *arena)
{
    while (arena != NULL) {
        struct xb_arena *next = arena->next;
        free(arena);
        arena = next;
    }
}
