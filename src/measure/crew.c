/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "xferbench/crew.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct xb_crew;

struct member {
    struct xb_crew *crew;
    unsigned number;
    pthread_t thread;
};

struct xb_crew {
    pthread_mutex_t mutex;       /* over all that follows but `members` */
    pthread_cond_t may_begin;    /* for the members: there is an item to begin, or it is over */
    pthread_cond_t was_done;     /* for the owner: an item that it waits for was done */
    struct xb_crew_job job;      /* count 0: there is none */
    uint64_t limit, next, begun; /* begun: items that are being worked on */
    uint64_t awaited;            /* the item that the owner waits for */
    bool *done;                  /* of each item of the job */
    bool closing;
    struct member *members;
    unsigned thread_count;
};

/* Takes the next item; false where the crew is closed instead. The mutex is held. */
static bool take(struct xb_crew *crew, uint64_t *item)
{
    while (crew->next >= crew->limit && !crew->closing)
        pthread_cond_wait(&crew->may_begin, &crew->mutex);
    if (crew->next >= crew->limit)
        return false;
    *item = crew->next++;
    crew->begun++;
    return true;
}

static void *work(void *argument)
{
    const struct member *member = argument;
    struct xb_crew *crew = member->crew;
    uint64_t item = 0;
    pthread_mutex_lock(&crew->mutex);
    while (take(crew, &item)) {
        struct xb_crew_job job = crew->job;
        pthread_mutex_unlock(&crew->mutex);
        job.work(job.argument, item, member->number);
        pthread_mutex_lock(&crew->mutex);
        crew->done[item] = true;
        crew->begun--;
        if (item == crew->awaited || crew->begun == 0)
            pthread_cond_signal(&crew->was_done);
    }
    pthread_mutex_unlock(&crew->mutex);
    return NULL;
}

/* Starts the threads. On failure those that run are counted, for xb_crew_close. */
static enum xb_status start(struct xb_crew *crew, unsigned threads, struct xb_error *error)
{
    while (crew->thread_count < threads) {
        struct member *member = &crew->members[crew->thread_count];
        *member = (struct member){.crew = crew, .number = crew->thread_count};
        int code = pthread_create(&member->thread, NULL, work, member);
        if (code != 0)
            return XB_FAIL(error, XB_ERR_RUNTIME,
                           "of %u threads only %u could be started (%s); take fewer by --threads",
                           threads, crew->thread_count, strerror(code));
        crew->thread_count++;
    }
    return XB_OK;
}

enum xb_status xb_crew_open(unsigned threads, struct xb_crew **crew, struct xb_error *error)
{
    struct xb_crew *opened = calloc(1, sizeof *opened);
    struct member *members = calloc(threads, sizeof *members);
    if (opened == NULL || members == NULL) {
        free(opened);
        free(members);
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for %u threads", threads);
    }
    opened->members = members;
    pthread_mutex_init(&opened->mutex, NULL);
    pthread_cond_init(&opened->may_begin, NULL);
    pthread_cond_init(&opened->was_done, NULL);
    enum xb_status status = start(opened, threads, error);
    if (status != XB_OK) {
        xb_crew_close(opened);
        return status;
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
    while (crew->thread_count > 0)
        pthread_join(crew->members[--crew->thread_count].thread, NULL);
    pthread_cond_destroy(&crew->was_done);
    pthread_cond_destroy(&crew->may_begin);
    pthread_mutex_destroy(&crew->mutex);
    free(crew->members);
    free(crew);
}

unsigned xb_crew_threads(const struct xb_crew *crew)
{
    return crew->thread_count;
}

enum xb_status xb_crew_begin(struct xb_crew *crew, const struct xb_crew_job *job,
                             struct xb_error *error)
{
    bool *done = calloc(job->count, sizeof *done);
    if (done == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for a list of %llu items",
                       (unsigned long long)job->count);
    pthread_mutex_lock(&crew->mutex);
    crew->job = *job;
    crew->done = done;
    crew->limit = crew->next = 0;
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
    pthread_mutex_lock(&crew->mutex);
    crew->awaited = item;
    while (!crew->done[item])
        pthread_cond_wait(&crew->was_done, &crew->mutex);
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
    enum xb_status status = xb_crew_begin(crew, job, error);
    if (status != XB_OK)
        return status;
    xb_crew_allow(crew, job->count);
    for (uint64_t item = 0; item < job->count; item++)
        xb_crew_wait(crew, item);
    xb_crew_end(crew);
    return XB_OK;
}
