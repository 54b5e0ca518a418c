/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of bookkeeping that is lacking once, in a program that is otherwise xferbench.
 * XB_LACKING_MEMORY=N in the environment is the piece that there is no memory for, counted from 1;
 * the file XB_LACKING_NOTE is made then.
 */
#define _POSIX_C_SOURCE 200809L

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

static void *give(void *items, size_t bytes)
{
    static atomic_long asked;
    const char *lacking = getenv("XB_LACKING_MEMORY");
    long number = atomic_fetch_add(&asked, 1) + 1;
    if (lacking == NULL || number != atol(lacking))
        return realloc(items, bytes);
    const char *note = getenv("XB_LACKING_NOTE");
    int made = note != NULL ? open(note, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (made >= 0)
        close(made);
    return NULL;
}

#define realloc give
#include "base/memory.c" /* NOLINT(bugprone-suspicious-include) */
