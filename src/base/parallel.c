/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* sched_getaffinity */
#include "parallel.h"

#include "memory.h"
#include "units.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

#define MAX_THREADS 16u
/* Give each thread several parts, so that one that starts late or is delayed does fewer. */
#define PARTS_PER_THREAD 4u

struct job {
    void (*work)(void *argument, uint64_t begin, uint64_t end);
    void *argument;
    uint64_t total, grain, grains, parts;
    _Atomic uint64_t next; /* the first part that no thread works on yet */
    atomic_bool lacks_memory;
};

int xb_thread_start(pthread_t *thread, void *(*work)(void *argument), void *argument)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(thread, NULL, work, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}

unsigned xb_cpus_allowed(void)
{
    /* The call fails if our set is smaller than the kernel's, which has at most 8192 CPUs. */
    cpu_set_t sets[8192 / CPU_SETSIZE];
    if (sched_getaffinity(0, sizeof sets, sets) != 0)
        return 1;
    return (unsigned)CPU_COUNT_S(sizeof sets, sets);
}

/* Where part `part` begins, or for part == parts where the last one ends. The first
 * (grains % parts) parts are one grain longer than the others. */
static uint64_t part_begin(const struct job *job, uint64_t part)
{
    if (part == job->parts)
        return job->total;
    return (part * (job->grains / job->parts) + xb_lesser(part, job->grains % job->parts)) *
           job->grain;
}

static void *work_on_parts(void *argument)
{
    struct job *job = argument;
    jmp_buf catcher;
    uint64_t part;
    if (setjmp(catcher) != 0) {
        atomic_store(&job->lacks_memory, true);
        atomic_store(&job->next, job->parts);
    }
    xb_memory_catch(&catcher);
    while ((part = atomic_fetch_add(&job->next, 1)) < job->parts)
        job->work(job->argument, part_begin(job, part), part_begin(job, part + 1));
    xb_memory_catch(NULL); /* such work does not split again */
    return NULL;
}

void xb_parallel_for(uint64_t total, uint64_t grain,
                     void (*work)(void *argument, uint64_t begin, uint64_t end), void *argument)
{
    uint64_t grains = total / grain + (total % grain != 0);
    uint64_t threads = xb_lesser(xb_lesser(xb_cpus_allowed(), MAX_THREADS), grains);
    struct job job = {.work = work,
                      .argument = argument,
                      .total = total,
                      .grain = grain,
                      .grains = grains,
                      .parts = xb_lesser(threads * PARTS_PER_THREAD, grains)};
    pthread_t helpers[MAX_THREADS];
    unsigned started = 0;
    /* The threads that run share all parts: if one cannot be created, the work takes longer. */
    while (started + 1 < threads &&
           pthread_create(&helpers[started], NULL, work_on_parts, &job) == 0)
        started++;
    work_on_parts(&job);
    while (started > 0)
        pthread_join(helpers[--started], NULL);
    if (job.lacks_memory)
        xb_memory_end(0);
}
