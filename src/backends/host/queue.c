/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/*
 * Queues and events of the host backend. A queue is a list of operations and a worker thread that
 * runs them in order. All queues and events of the process share one lock, because an operation
 * takes much longer than locking. Each has conditions of its own, because waking a thread that has
 * nothing to do takes as long as a small copy.
 */
#include "host.h"

#include "base/clock.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

/* A hold gives up after this time. That is long enough to enqueue anything, and short enough to
 * notice that a release was lost. */
#define HOLD_LIMIT_S 20

enum operation_kind { OPERATION_WORK, OPERATION_RECORD, OPERATION_AWAIT, OPERATION_HOLD };

struct host_event {
    struct xb_event base;
    uint64_t enqueued;       /* how many records were enqueued */
    uint64_t reached;        /* how many of them the queues have reached */
    double time;             /* when the latest was reached */
    pthread_cond_t recorded; /* a queue reached a record: for whoever waits for it */
};

struct operation {
    struct operation *next;
    enum operation_kind kind;
    struct xb_host_work work;
    struct host_event *event;
    uint64_t number; /* AWAIT: wait for this record of the event; HOLD: the number of the hold */
};

#define NOBODY_WAITS UINT64_MAX

struct host_queue {
    struct xb_queue base;
    pthread_t worker;
    struct operation *first, *last;
    uint64_t enqueued, completed;
    uint64_t holds, releases;
    uint64_t awaited;     /* the least `completed` that somebody waits for, or NOBODY_WAITS */
    pthread_cond_t asked; /* the first operation, a release, or closing: for the worker */
    pthread_cond_t done;  /* `completed` reached `awaited`: for those who wait */
    bool hold_expired;
    bool closing;
    bool blocks; /* its copies are waited for */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void free_queue(struct host_queue *queue)
{
    pthread_cond_destroy(&queue->asked);
    pthread_cond_destroy(&queue->done);
    free(queue);
}

/* Waits for the release of hold `number`, with the lock held. Sets hold_expired if the release does
 * not come in time. */
static void await_release(struct host_queue *queue, uint64_t number)
{
    struct timespec limit;
    clock_gettime(CLOCK_MONOTONIC, &limit);
    limit.tv_sec += HOLD_LIMIT_S;
    while (queue->releases < number) {
        if (pthread_cond_timedwait(&queue->asked, &lock, &limit) == ETIMEDOUT) {
            queue->hold_expired = queue->releases < number;
            return;
        }
    }
}

/* Runs one operation. Called and returns with the lock held. */
static void run(struct host_queue *queue, const struct operation *operation)
{
    switch (operation->kind) {
    case OPERATION_WORK:
        pthread_mutex_unlock(&lock);
        operation->work.run(&operation->work);
        pthread_mutex_lock(&lock);
        break;
    case OPERATION_RECORD:
        operation->event->reached++;
        operation->event->time = xb_clock_now();
        pthread_cond_broadcast(&operation->event->recorded);
        break;
    case OPERATION_AWAIT:
        while (operation->event->reached < operation->number)
            pthread_cond_wait(&operation->event->recorded, &lock);
        break;
    case OPERATION_HOLD:
        await_release(queue, operation->number);
        break;
    }
}

/* Counts one more operation as done, and wakes who waited for it. Called and returns with the lock
 * held, and gives it to those in between. */
static void complete(struct host_queue *queue)
{
    queue->completed++;
    if (queue->completed < queue->awaited)
        return;
    queue->awaited = NOBODY_WAITS;
    pthread_mutex_unlock(&lock);
    pthread_cond_broadcast(&queue->done);
    pthread_mutex_lock(&lock);
}

static void *work(void *argument)
{
    struct host_queue *queue = argument;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (queue->first == NULL && !queue->closing)
            pthread_cond_wait(&queue->asked, &lock);
        struct operation *operation = queue->first;
        if (operation == NULL)
            break;
        run(queue, operation);
        queue->first = operation->next;
        if (queue->first == NULL)
            queue->last = NULL;
        complete(queue);
        free(operation);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* Appends a copy of *template to the queue, with the lock held. */
static enum xb_status append(struct host_queue *queue, const struct operation *template,
                             struct xb_error *error)
{
    struct operation *operation = malloc(sizeof *operation);
    if (operation == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to enqueue an operation");
    *operation = *template;
    operation->next = NULL;
    if (queue->last != NULL)
        queue->last->next = operation;
    else
        queue->first = operation;
    queue->last = operation;
    queue->enqueued++;
    return XB_OK;
}

/* Unlocks behind append(), and only then wakes the worker, which would have to wait for the lock. A
 * worker that has an operation already finds the next one by itself. */
static void unlock_and_wake(struct host_queue *queue)
{
    bool wakes = queue->first != NULL && queue->first == queue->last;
    pthread_mutex_unlock(&lock);
    if (wakes)
        pthread_cond_signal(&queue->asked);
}

enum xb_status xb_host_queue_enqueue(struct xb_queue *queue, const struct xb_host_work *work,
                                     struct xb_error *error)
{
    struct operation operation = {.kind = OPERATION_WORK, .work = *work};
    pthread_mutex_lock(&lock);
    enum xb_status status = append((struct host_queue *)queue, &operation, error);
    unlock_and_wake((struct host_queue *)queue);
    return status;
}

enum xb_status xb_host_queue_open(struct xb_device *device, struct xb_queue **queue,
                                  struct xb_error *error)
{
    struct host_queue *opened = calloc(1, sizeof *opened);
    if (opened == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to open a queue");
    opened->base.device = device;
    opened->awaited = NOBODY_WAITS;
    /* A hold's time limit is one of the monotonic clock. With glibc none of these calls can fail.
     */
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&opened->asked, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_cond_init(&opened->done, NULL);
    int code = pthread_create(&opened->worker, NULL, work, opened);
    if (code != 0) {
        free_queue(opened);
        return XB_FAIL_ERRNO(error, "pthread_create", code,
                             "the host backend cannot start the thread of a queue; see ulimit -u");
    }
    *queue = &opened->base;
    return XB_OK;
}

enum xb_status xb_host_queue_open_blocking(struct xb_device *device, struct xb_queue **queue,
                                           struct xb_error *error)
{
    XB_TRY(xb_host_queue_open(device, queue, error));
    ((struct host_queue *)*queue)->blocks = true;
    return XB_OK;
}

bool xb_host_queue_blocks(const struct xb_queue *queue)
{
    return ((const struct host_queue *)queue)->blocks;
}

void xb_host_queue_close(struct xb_queue *queue)
{
    if (queue == NULL)
        return;
    struct host_queue *closing = (struct host_queue *)queue;
    pthread_mutex_lock(&lock);
    closing->releases = closing->holds;
    closing->closing = true;
    pthread_cond_signal(&closing->asked);
    pthread_mutex_unlock(&lock);
    pthread_join(closing->worker, NULL);
    free_queue(closing);
}

enum xb_status xb_host_queue_hold(struct xb_queue *queue, struct xb_error *error)
{
    struct host_queue *held = (struct host_queue *)queue;
    pthread_mutex_lock(&lock);
    struct operation operation = {.kind = OPERATION_HOLD, .number = held->holds + 1};
    enum xb_status status = append(held, &operation, error);
    if (status == XB_OK)
        held->holds++;
    unlock_and_wake(held);
    return status;
}

void xb_host_queue_release(struct xb_queue *queue)
{
    struct host_queue *held = (struct host_queue *)queue;
    pthread_mutex_lock(&lock);
    held->releases = held->holds;
    pthread_cond_signal(&held->asked);
    pthread_mutex_unlock(&lock);
}

enum xb_status xb_host_queue_wait_event(struct xb_queue *queue, struct xb_event *event,
                                        struct xb_error *error)
{
    struct host_event *awaited = (struct host_event *)event;
    pthread_mutex_lock(&lock);
    struct operation operation = {
        .kind = OPERATION_AWAIT, .event = awaited, .number = awaited->enqueued};
    enum xb_status status = append((struct host_queue *)queue, &operation, error);
    unlock_and_wake((struct host_queue *)queue);
    return status;
}

enum xb_status xb_host_queue_wait(struct xb_queue *queue, struct xb_error *error)
{
    struct host_queue *awaited = (struct host_queue *)queue;
    pthread_mutex_lock(&lock);
    uint64_t target = awaited->enqueued;
    while (awaited->completed < target) {
        if (target < awaited->awaited)
            awaited->awaited = target;
        pthread_cond_wait(&awaited->done, &lock);
    }
    bool expired = awaited->hold_expired;
    awaited->hold_expired = false;
    pthread_mutex_unlock(&lock);
    if (expired)
        return XB_FAIL(error, XB_ERR_RUNTIME,
                       "a held queue went on after %d s without its release: times measured "
                       "behind it are wrong; the machine may be overloaded",
                       HOLD_LIMIT_S);
    return XB_OK;
}

enum xb_status xb_host_event_open(struct xb_device *device, struct xb_event **event,
                                  struct xb_error *error)
{
    struct host_event *opened = calloc(1, sizeof *opened);
    if (opened == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to open an event");
    opened->base.device = device;
    pthread_cond_init(&opened->recorded, NULL);
    *event = &opened->base;
    return XB_OK;
}

void xb_host_event_close(struct xb_event *event)
{
    if (event == NULL)
        return;
    pthread_cond_destroy(&((struct host_event *)event)->recorded);
    free(event);
}

enum xb_status xb_host_event_record(struct xb_event *event, struct xb_queue *queue,
                                    struct xb_error *error)
{
    struct host_event *recorded = (struct host_event *)event;
    pthread_mutex_lock(&lock);
    struct operation operation = {.kind = OPERATION_RECORD, .event = recorded};
    enum xb_status status = append((struct host_queue *)queue, &operation, error);
    if (status == XB_OK)
        recorded->enqueued++;
    unlock_and_wake((struct host_queue *)queue);
    return status;
}

enum xb_status xb_host_event_wait(struct xb_event *event, struct xb_error *error)
{
    (void)error;
    struct host_event *awaited = (struct host_event *)event;
    pthread_mutex_lock(&lock);
    uint64_t number = awaited->enqueued;
    while (awaited->reached < number)
        pthread_cond_wait(&awaited->recorded, &lock);
    pthread_mutex_unlock(&lock);
    return XB_OK;
}

enum xb_status xb_host_event_elapsed(struct xb_event *start, struct xb_event *stop, double *seconds,
                                     struct xb_error *error)
{
    const struct host_event *from = (struct host_event *)start;
    const struct host_event *to = (struct host_event *)stop;
    pthread_mutex_lock(&lock);
    bool reached = from->reached > 0 && from->reached == from->enqueued && to->reached > 0 &&
                   to->reached == to->enqueued;
    double elapsed = to->time - from->time;
    pthread_mutex_unlock(&lock);
    if (!reached)
        return XB_FAIL(error, XB_ERR_USAGE,
                       "the time between two events was asked for before both were reached");
    *seconds = elapsed;
    return XB_OK;
}
