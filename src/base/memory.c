/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "memory.h"

#include "text.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int (*tell)(const struct xb_error *error);
static _Atomic(xb_memory_end_hook *) hooks[2];
static _Thread_local jmp_buf *caught_by;
static _Atomic(void *) reserve;

enum xb_status xb_memory_reserve(size_t bytes, struct xb_error *error)
{
    void *made = malloc(bytes);
    free(atomic_exchange(&reserve, made));
    return made != NULL
               ? XB_OK
               : XB_FAIL(error, XB_ERR_MEMORY, "no memory for the results (%zu bytes)", bytes);
}

void xb_memory_end_with(int (*fail)(const struct xb_error *error))
{
    tell = fail;
}

void xb_memory_end_also(xb_memory_end_hook *hook)
{
    for (size_t i = 0; i < sizeof hooks / sizeof hooks[0]; i++) {
        xb_memory_end_hook *here = NULL;
        if (atomic_compare_exchange_strong(&hooks[i], &here, hook) || here == hook)
            return;
    }
}

void xb_memory_catch(jmp_buf *catcher)
{
    caught_by = catcher;
}

void xb_memory_end(size_t bytes)
{
    if (caught_by != NULL)
        longjmp(*caught_by, 1);
    struct xb_error error;
    (void)XB_FAIL(&error, XB_ERR_MEMORY,
                  "no memory (%zu bytes more): raise the limit (ulimit -v, the job's --mem), or "
                  "ask for less at once",
                  bytes);
    int code = tell != NULL ? tell(&error) : EXIT_FAILURE;
    for (size_t i = 0; i < sizeof hooks / sizeof hooks[0]; i++)
        if (hooks[i] != NULL)
            hooks[i]();
    (void)fflush(stdout);
    _exit(code);
}

/* Whether there was something set aside: it is free now. */
static bool spend_reserve(void)
{
    void *aside = atomic_exchange(&reserve, NULL);
    free(aside);
    return aside != NULL;
}

void *xb_resize(void *items, size_t bytes)
{
    void *made = realloc(items, bytes);
    if (made == NULL && spend_reserve())
        made = realloc(items, bytes);
    if (made == NULL)
        xb_memory_end(bytes);
    return made;
}

void *xb_try(size_t count, size_t size)
{
    void *made = calloc(count > 0 ? count : 1, size);
    return made == NULL && spend_reserve() ? calloc(count > 0 ? count : 1, size) : made;
}

/* The bytes of `count` things; more than there can be where the product is too large. */
static size_t product(size_t count, size_t size)
{
    size_t bytes;
    return __builtin_mul_overflow(count, size, &bytes) ? SIZE_MAX / 2 : bytes;
}

void *xb_new(size_t count, size_t size)
{
    size_t bytes = product(count, size);
    return memset(xb_resize(NULL, bytes > 0 ? bytes : 1), 0, bytes);
}

void *xb_grow(void *items, size_t count, size_t size)
{
    if ((count & (count - 1)) != 0) /* neither a power of two nor none yet: there is room */
        return items;
    return xb_resize(items, product(count > 0 ? 2 * count : 1, size));
}

char *xb_copy_part(const char *text, size_t length)
{
    size_t whole = strnlen(text, length);
    return memcpy(xb_new(whole + 1, 1), text, whole);
}

/* The bytes that such a text takes, with the zero behind it. */
static size_t room_for(const char *format, va_list arguments)
{
    int length = vsnprintf(NULL, 0, format, arguments);
    return length > 0 ? (size_t)length + 1 : 1;
}

char *xb_print(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t bytes = room_for(format, arguments);
    va_end(arguments);
    char *text = xb_new(bytes, 1);
    XB_FORMAT(text, bytes, format);
    return text;
}

/* The last piece made, with those before it behind it. */
struct xb_arena {
    struct xb_arena *next;
    max_align_t piece[];
};

void *xb_arena_new(struct xb_arena **arena, size_t bytes)
{
    struct xb_arena *made = xb_resize(NULL, bytes <= SIZE_MAX / 2 ? sizeof *made + bytes : bytes);
    made->next = *arena;
    *arena = made;
    return memset(made->piece, 0, bytes);
}

const char *xb_arena_copy(struct xb_arena **arena, const char *text)
{
    size_t bytes = strlen(text) + 1;
    return memcpy(xb_arena_new(arena, bytes), text, bytes);
}

const char *xb_arena_print(struct xb_arena **arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t bytes = room_for(format, arguments);
    va_end(arguments);
    char *text = xb_arena_new(arena, bytes);
    XB_FORMAT(text, bytes, format);
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
