/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/*
 * A library that bench/profile.sh preloads into a build with -finstrument-functions: notes when
 * each function of the program began and ended, in every thread, and writes that to the file that
 * PROFILE_OUT names when the program ends. One line a call:
 *
 *     number, number of its caller (0: none), thread, offset in the program, begin and end in us
 *
 * by the real-time clock, which the script can read too. Calls shorter than SHORTEST_US are left
 * out: their time is their caller's own.
 */
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define DEPTH 128u
#define CALLS 500000u
#define SHORTEST_US 20

struct call {
    uint32_t number, caller, thread;
    uintptr_t function;
    int64_t begin, end;
};

static struct call calls[CALLS];
static atomic_uint call_count, next_number = 1, next_thread = 1;

static _Thread_local struct call stack[DEPTH];
static _Thread_local uint32_t depth, thread;

void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (int64_t)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

void __cyg_profile_func_enter(void *function, void *site)
{
    (void)site;
    if (thread == 0)
        thread = atomic_fetch_add(&next_thread, 1);
    if (depth < DEPTH)
        stack[depth] = (struct call){.number = atomic_fetch_add(&next_number, 1),
                                     .caller = depth > 0 ? stack[depth - 1].number : 0,
                                     .thread = thread,
                                     .function = (uintptr_t)function,
                                     .begin = now()};
    depth++;
}

void __cyg_profile_func_exit(void *function, void *site)
{
    (void)function;
    (void)site;
    if (--depth >= DEPTH)
        return;
    struct call *call = &stack[depth];
    call->end = now();
    if (call->end - call->begin < SHORTEST_US)
        return;
    uint32_t place = atomic_fetch_add(&call_count, 1);
    if (place < CALLS)
        calls[place] = *call;
}

/* The program itself is the first object. */
static int find_program(struct dl_phdr_info *object, size_t size, void *base)
{
    (void)size;
    *(uintptr_t *)base = object->dlpi_addr;
    return 1;
}

__attribute__((destructor)) static void write_calls(void)
{
    const char *path = getenv("PROFILE_OUT");
    FILE *file = path != NULL ? fopen(path, "w") : NULL;
    if (file == NULL)
        return;
    uintptr_t base = 0;
    dl_iterate_phdr(find_program, &base);
    uint32_t count = atomic_load(&call_count);
    if (count > CALLS)
        fprintf(stderr, "profile: %u calls are left out\n", count - CALLS);
    for (uint32_t i = 0; i < count && i < CALLS; i++)
        fprintf(file, "%u %u %u %llx %lld %lld\n", calls[i].number, calls[i].caller,
                calls[i].thread, (unsigned long long)(calls[i].function - base),
                (long long)calls[i].begin, (long long)calls[i].end);
    fclose(file);
}
