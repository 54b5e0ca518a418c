/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/*
 * Queues and events of the host backend. A queue is a list of operations and a worker thread that
 * runs them in order. All queues and events of the process share one lock and one condition,
 * because an operation takes much longer than locking.
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
    uint64_t enqueued; /* how many records were enqueued */
    uint64_t reached;  /* how many of them the queues have reached */
    double time;       /* when the latest was reached */
};

struct operation {
    struct operation *next;
    enum operation_kind kind;
    struct xb_host_work work;
    struct host_event *event;
    uint64_t number; /* AWAIT: wait for this record of the event; HOLD: the number of the hold */
};

struct host_queue {
    struct xb_queue base;
    pthread_t worker;
    struct operation *first, *last;
    uint64_t enqueued, completed;
    uint64_t holds, releases;
    bool hold_expired;
    bool closing;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static pthread_once_t changed_once = PTHREAD_ONCE_INIT;

static void init_changed(void)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* Waits for the release of hold `number`, with the lock held. Sets hold_expired if the release does
 * not come in time. */
static void await_release(struct host_queue *queue, uint64_t number)
{
    struct timespec limit;
    clock_gettime(CLOCK_MONOTONIC, &limit);
    limit.tv_sec += HOLD_LIMIT_S;
    while (queue->releases < number) {
        if (pthread_cond_timedwait(&changed, &lock, &limit) == ETIMEDOUT) {
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
        break;
    case OPERATION_AWAIT:
        while (operation->event->reached < operation->number)
            pthread_cond_wait(&changed, &lock);
        break;
    case OPERATION_HOLD:
        await_release(queue, operation->number);
        break;
    }
}

static void *work(void *argument)
{
    struct host_queue *queue = argument;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (queue->first == NULL && !queue->closing)
            pthread_cond_wait(&changed, &lock);
        struct operation *operation = queue->first;
        if (operation == NULL)
            break;
        run(queue, operation);
        queue->first = operation->next;
        if (queue->first == NULL)
            queue->last = NULL;
        queue->completed++;
        pthread_cond_broadcast(&changed);
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
    pthread_cond_broadcast(&changed);
    return XB_OK;
}

enum xb_status xb_host_queue_enqueue(struct xb_queue *queue, const struct xb_host_work *work,
                                     struct xb_error *error)
{
    struct operation operation = {.kind = OPERATION_WORK, .work = *work};
    pthread_mutex_lock(&lock);
    enum xb_status status = append((struct host_queue *)queue, &operation, error);
    pthread_mutex_unlock(&lock);
    return status;
}

enum xb_status xb_host_queue_open(struct xb_device *device, struct xb_queue **queue,
                                  struct xb_error *error)
{
    pthread_once(&changed_once, init_changed);
    struct host_queue *opened = calloc(1, sizeof *opened);
    if (opened == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to open a queue");
    opened->base.device = device;
    int code = pthread_create(&opened->worker, NULL, work, opened);
    if (code != 0) {
        free(opened);
        return XB_FAIL_ERRNO(error, "pthread_create", code,
                             "the host backend cannot start the thread of a queue; see ulimit -u");
    }
    *queue = &opened->base;
    return XB_OK;
}

void xb_host_queue_close(struct xb_queue *queue)
{
    if (queue == NULL)
        return;
    struct host_queue *closing = (struct host_queue *)queue;
    pthread_mutex_lock(&lock);
    closing->releases = closing->holds;
    closing->closing = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    pthread_join(closing->worker, NULL);
    free(closing);
}

enum xb_status xb_host_queue_hold(struct xb_queue *queue, struct xb_error *error)
{
    struct host_queue *held = (struct host_queue *)queue;
    pthread_mutex_lock(&lock);
    struct operation operation = {.kind = OPERATION_HOLD, .number = held->holds + 1};
    enum xb_status status = append(held, &operation, error);
    if (status == XB_OK)
        held->holds++;
    pthread_mutex_unlock(&lock);
    return status;
}

void xb_host_queue_release(struct xb_queue *queue)
{
    struct host_queue *held = (struct host_queue *)queue;
    pthread_mutex_lock(&lock);
    held->releases = held->holds;
    pthread_cond_broadcast(&changed);
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
    pthread_mutex_unlock(&lock);
    return status;
}

enum xb_status xb_host_queue_wait(struct xb_queue *queue, struct xb_error *error)
{
    struct host_queue *awaited = (struct host_queue *)queue;
    pthread_mutex_lock(&lock);
    uint64_t target = awaited->enqueued;
    while (awaited->completed < target)
        pthread_cond_wait(&changed, &lock);
    bool expired = awaited->hold_expired;
    awaited->hold_expired = false;
    pthread_mutex_unlock(&lock);
    if (expired)
        return XB_FAIL(error, XB_ERR_RUNTIME,
                       "a held queue gave way after %d s without a release: times taken behind it "
                       "mean nothing; the machine may be overloaded",
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
    *event = &opened->base;
    return XB_OK;
}

void xb_host_event_close(struct xb_event *event)
{
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
    pthread_mutex_unlock(&lock);
    return status;
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
