/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* AMD's roctx, which a profiler puts into a program. The backend finds it only in a program that is
 * linked to this library, or where LD_PRELOAD names it. */
#include "control.h"
#include "internal.h"

#include <string.h>

char standin_told[4096];

const char *standin_told_profiler(void)
{
    return standin_told;
}

static int note(char letter, int object, int change)
{
    pthread_mutex_lock(&standin_lock);
    size_t length = strlen(standin_told);
    if (length + 1 < sizeof standin_told)
        standin_told[length] = letter;
    standin_live[object] += (unsigned)change;
    pthread_mutex_unlock(&standin_lock);
    return 0;
}

#pragma GCC visibility push(default)

int roctxRangePushA(const char *name)
{
    char letter = 'c';
    if (strncmp(name, "sample", 6) == 0)
        letter = strncmp(name, "samples of ", 11) == 0 ? 'S' : 's';
    return note(letter, STANDIN_RANGE, 1);
}

int roctxRangePop(void)
{
    return note(')', STANDIN_RANGE, -1);
}

/* Thread 0 is all of them. */
int roctxProfilerResume(uint64_t thread)
{
    return note(thread == 0 ? '<' : '?', STANDIN_CAPTURE, 1);
}

int roctxProfilerPause(uint64_t thread)
{
    return note(thread == 0 ? '>' : '?', STANDIN_CAPTURE, -1);
}

#pragma GCC visibility pop
