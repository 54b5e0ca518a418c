/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE
#include "crew.h"

#include "base/memory.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Who waits looks so often before it sleeps, and lets others run in between. To be woken takes
 * microseconds of the waker's time too, several in a virtual machine, and chunks come every ten. */
#define LOOKS 200u

struct member {
    struct xb_crew *crew;
    unsigned number;
    pthread_t thread;
};

struct xb_crew {
    pthread_mutex_t mutex;    /* over all that follows up to `members`, but what is atomic is read
                                 without it by who is about to wait */
    pthread_cond_t may_begin; /* for the members: there is an item to begin, or it is over */
    pthread_cond_t was_done;  /* for the owner: an item that it waits for was done */
    struct xb_crew_job job;   /* count 0: there is none */
    _Atomic uint64_t limit, next;
    _Atomic bool *done; /* of each item of the job */
    _Atomic bool closing;
    uint64_t begun;   /* how many items are being worked on */
    uint64_t awaited; /* the item that the owner waits for */
    struct member *members;
    unsigned member_count; /* the owner is none */
};

/* Works on the next item; the mutex is held, but not meanwhile. */
static void work_on_next(struct xb_crew *crew, unsigned thread)
{
    uint64_t item = crew->next;
    struct xb_crew_job job = crew->job;
    crew->next = item + 1;
    crew->begun++;
    pthread_mutex_unlock(&crew->mutex);
    job.work(job.argument, item, thread);
    pthread_mutex_lock(&crew->mutex);
    crew->done[item] = true;
    crew->begun--;
    if (item == crew->awaited || crew->begun == 0)
        pthread_cond_signal(&crew->was_done);
}

static bool may_begin(struct xb_crew *crew)
{
    return crew->next < crew->limit;
}

static void *work(void *argument)
{
    const struct member *member = argument;
    struct xb_crew *crew = member->crew;
    while (!crew->closing) {
        for (unsigned look = 0; look < LOOKS && !may_begin(crew) && !crew->closing; look++)
            sched_yield();
        pthread_mutex_lock(&crew->mutex);
        while (!may_begin(crew) && !crew->closing)
            pthread_cond_wait(&crew->may_begin, &crew->mutex);
        if (!crew->closing)
            work_on_next(crew, member->number);
        pthread_mutex_unlock(&crew->mutex);
    }
    return NULL;
}

enum xb_status xb_crew_open(unsigned threads, struct xb_crew **crew, struct xb_error *error)
{
    struct xb_crew *opened = xb_new(1, sizeof *opened);
    opened->members = xb_new(threads, sizeof *opened->members);
    pthread_mutex_init(&opened->mutex, NULL);
    pthread_cond_init(&opened->may_begin, NULL);
    pthread_cond_init(&opened->was_done, NULL);
    while (opened->member_count + 1 < threads) {
        struct member *member = &opened->members[opened->member_count];
        *member = (struct member){.crew = opened, .number = opened->member_count + 1};
        int code = pthread_create(&member->thread, NULL, work, member);
        if (code != 0) {
            unsigned started = opened->member_count + 1;
            xb_crew_close(opened);
            return XB_FAIL(error, XB_ERR_RUNTIME,
                           "of %u threads only %u could be started (%s); take fewer of them",
                           threads, started, strerror(code));
        }
        opened->member_count++;
    }
    *crew = opened;
    return XB_OK;
}

void xb_crew_close(struct xb_crew *crew)
{
    if (crew == NULL)
        return;
    xb_crew_end(crew);
    pthread_mutex_lock(&crew->mutex);
    crew->closing = true;
    pthread_cond_broadcast(&crew->may_begin);
    pthread_mutex_unlock(&crew->mutex);
    while (crew->member_count > 0)
        pthread_join(crew->members[--crew->member_count].thread, NULL);
    pthread_cond_destroy(&crew->was_done);
    pthread_cond_destroy(&crew->may_begin);
    pthread_mutex_destroy(&crew->mutex);
    free(crew->members);
    free(crew);
}

unsigned xb_crew_threads(const struct xb_crew *crew)
{
    return crew->member_count + 1;
}

enum xb_status xb_crew_begin(struct xb_crew *crew, const struct xb_crew_job *job,
                             struct xb_error *error)
{
    _Atomic bool *done = calloc(job->count, sizeof *done);
    if (done == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for a list of %llu items",
                       (unsigned long long)job->count);
    pthread_mutex_lock(&crew->mutex);
    crew->job = *job;
    crew->done = done;
    pthread_mutex_unlock(&crew->mutex);
    return XB_OK;
}

void xb_crew_allow(struct xb_crew *crew, uint64_t limit)
{
    pthread_mutex_lock(&crew->mutex);
    if (limit > crew->job.count)
        limit = crew->job.count;
    if (limit > crew->limit + 1)
        pthread_cond_broadcast(&crew->may_begin);
    else if (limit > crew->limit)
        pthread_cond_signal(&crew->may_begin);
    if (limit > crew->limit)
        crew->limit = limit;
    pthread_mutex_unlock(&crew->mutex);
}

void xb_crew_wait(struct xb_crew *crew, uint64_t item)
{
    bool is_alone = crew->member_count == 0;
    for (unsigned look = 0; look < LOOKS && !is_alone && !crew->done[item]; look++)
        sched_yield();
    pthread_mutex_lock(&crew->mutex);
    crew->awaited = item;
    while (!crew->done[item]) {
        if (is_alone)
            work_on_next(crew, 0);
        else
            pthread_cond_wait(&crew->was_done, &crew->mutex);
    }
    pthread_mutex_unlock(&crew->mutex);
}

void xb_crew_end(struct xb_crew *crew)
{
    pthread_mutex_lock(&crew->mutex);
    crew->limit = crew->next;
    while (crew->begun > 0)
        pthread_cond_wait(&crew->was_done, &crew->mutex);
    free(crew->done);
    crew->done = NULL;
    crew->limit = crew->next = 0;
    crew->job = (struct xb_crew_job){.count = 0};
    pthread_mutex_unlock(&crew->mutex);
}

enum xb_status xb_crew_run(struct xb_crew *crew, const struct xb_crew_job *job,
                           struct xb_error *error)
{
    XB_TRY(xb_crew_begin(crew, job, error));
    xb_crew_allow(crew, job->count);
    for (uint64_t item = 0; item < job->count; item++)
        xb_crew_wait(crew, item);
    xb_crew_end(crew);
    return XB_OK;
}
