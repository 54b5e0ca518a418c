/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Streams and events. A stream is a list of operations and a worker thread that runs them. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* One record of an event. Who waits for it keeps it, whatever becomes of the event: recording that
 * anew, or destroying it, does not change what is waited for. */
struct standin_record {
    unsigned holders;
    bool done;
    int64_t time_ns;
};

struct ihipEvent_t {
    struct standin_head head;
    struct standin_record *latest; /* NULL: never recorded */
};

struct ihipStream_t {
    struct standin_head head;
    pthread_t worker;
    struct standin_operation *first, *last;
    pthread_cond_t asked; /* for the worker: the first operation, or closing */
    bool closing;
    struct ihipGraph *captured; /* what is enqueued goes there */
    bool has_copied;
    bool by_h2d;     /* its first copy was to the device, and chose the engine of all that follow */
    double clock_ns; /* which only copies move, where a test sets their rate */
};

/* For who waits for a stream or an event: an operation is done, or a stream is gone. */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static uint64_t operations;

/* ---- the worker ---- */

static void drop(struct standin_record *record)
{
    if (record != NULL && --record->holders == 0)
        free(record);
}

static void copy(struct standin_operation *operation)
{
    size_t rows = operation->rows > 0 ? operation->rows : 1;
    for (size_t row = 0; row < rows; row++) {
        unsigned char *to = (unsigned char *)operation->to + row * operation->to_pitch;
        memmove(to, (const char *)operation->from + row * operation->from_pitch, operation->bytes);
        if (operation->damage && row == rows / 2)
            to[operation->bytes / 2] ^= 0x10;
    }
}

/* The part of an operation that takes time, without the lock. */
static void move(struct standin_operation *operation)
{
    if (operation->delay_us > 0)
        usleep((useconds_t)operation->delay_us);
    if (operation->kind == STANDIN_COPY) {
        copy(operation);
    } else if (operation->kind == STANDIN_LAUNCH) {
        void *parameters[STANDIN_PARAMETERS];
        for (size_t i = 0; i < STANDIN_PARAMETERS; i++)
            parameters[i] = operation->parameters[i];
        operation->kernel->run(parameters, operation->blocks, operation->threads);
        /* The gate of a hold orders what comes after its release. The kernel reads it without a
         * sanitizer looking; here is one told. */
        if (operation->kernel == &standin_kernels[XB_GPU_HOLD])
            (void)__atomic_load_n(*(unsigned **)parameters[0], __ATOMIC_ACQUIRE);
    }
}

static int64_t now_ns(const struct ihipStream_t *stream, const struct standin_operation *operation)
{
    struct timespec now;
    if (operation->rate > 0)
        return (int64_t)stream->clock_ns;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void run(struct ihipStream_t *stream, struct standin_operation *operation)
{
    struct standin_record *record = operation->record;
    pthread_mutex_unlock(&standin_lock);
    move(operation);
    pthread_mutex_lock(&standin_lock);
    if (operation->kind == STANDIN_COPY && operation->rate > 0)
        stream->clock_ns += (double)operation->bytes *
                            (double)(operation->rows > 0 ? operation->rows : 1) / operation->rate;
    if (operation->kind == STANDIN_RECORD) {
        record->time_ns = now_ns(stream, operation);
        record->done = true;
    }
    while (operation->kind == STANDIN_AWAIT && !record->done)
        pthread_cond_wait(&changed, &standin_lock);
    if (operation->kind == STANDIN_AWAIT && stream->clock_ns < (double)record->time_ns)
        stream->clock_ns = (double)record->time_ns;
    drop(record);
}

static void *work(void *argument)
{
    struct ihipStream_t *stream = argument;
    pthread_mutex_lock(&standin_lock);
    for (;;) {
        while (stream->first == NULL && !stream->closing)
            pthread_cond_wait(&stream->asked, &standin_lock);
        struct standin_operation *operation = stream->first;
        if (operation == NULL)
            break;
        run(stream, operation);
        stream->first = operation->next;
        if (stream->first == NULL)
            stream->last = NULL;
        pthread_cond_broadcast(&changed);
        free(operation);
    }
    pthread_mutex_unlock(&standin_lock);
    return NULL;
}

/* ---- for the other files ---- */

int standin_stream_device(hipStream_t stream)
{
    return standin_is(stream, STANDIN_STREAM) && !stream->closing ? stream->head.device : -1;
}

struct ihipGraph **standin_captured(hipStream_t stream)
{
    return &stream->captured;
}

/* What the engine does to an operation: the rate of a copy, and of a clock that goes by copies. */
static void choose_engine(struct ihipStream_t *stream, struct standin_operation *operation)
{
    const char *damage = getenv("XB_STANDIN_DAMAGE");
    operation->rate = standin_setting("XB_STANDIN_RATE", 0);
    if (operation->kind != STANDIN_COPY)
        return;
    if (!stream->has_copied)
        stream->by_h2d = operation->way == hipMemcpyHostToDevice;
    stream->has_copied = true;
    if (operation->way != hipMemcpyDeviceToHost || !stream->by_h2d)
        return;
    if (operation->rate > 0)
        operation->rate = standin_setting("XB_STANDIN_RATE_AFTER_H2D", (int)operation->rate);
    if (damage != NULL && strcmp(damage, "d2h-after-h2d") == 0)
        operation->damage = true;
}

hipError_t standin_enqueue(hipStream_t stream, const struct standin_operation *template)
{
    if (stream->captured != NULL)
        return standin_append(stream->captured, template);
    struct standin_operation *operation = malloc(sizeof *operation);
    REFUSE_IF(operation == NULL, hipErrorOutOfMemory);
    *operation = *template;
    operation->next = NULL;
    operation->number = ++operations;
    operation->delay_us = standin_setting("XB_STANDIN_DELAY_US", 0);
    choose_engine(stream, operation);
    if (operation->record != NULL)
        operation->record->holders++;
    if (stream->last != NULL)
        stream->last->next = operation;
    else
        stream->first = operation;
    stream->last = operation;
    if (stream->first == operation) /* else the worker is at another, and finds it by itself */
        pthread_cond_signal(&stream->asked);
    return hipSuccess;
}

/* A stream keeps an operation in front until it is done. */
static bool is_busy(const struct ihipStream_t *stream, uint64_t number)
{
    return stream->first != NULL && stream->first->number <= number;
}

void standin_finish(hipStream_t stream)
{
    uint64_t number = operations;
    while (is_busy(stream, number))
        pthread_cond_wait(&changed, &standin_lock);
}

void standin_finish_all(void)
{
    uint64_t number = operations;
    const struct standin_head *stream = standin_open[STANDIN_STREAM];
    while (stream != NULL) {
        if (is_busy((const struct ihipStream_t *)stream, number)) {
            pthread_cond_wait(&changed, &standin_lock);
            stream = standin_open[STANDIN_STREAM]; /* one may have been closed meanwhile */
        } else {
            stream = stream->next;
        }
    }
}

/* ---- streams ---- */

hipError_t hipStreamCreateWithFlags(hipStream_t *stream, unsigned flags)
{
    STANDIN_ENTER(hipStreamCreateWithFlags);
    REFUSE_IF(stream == NULL || (flags & ~(unsigned)hipStreamNonBlocking) != 0,
              hipErrorInvalidValue);
    struct ihipStream_t *opened = calloc(1, sizeof *opened);
    REFUSE_IF(opened == NULL, hipErrorOutOfMemory);
    pthread_cond_init(&opened->asked, NULL);
    if (pthread_create(&opened->worker, NULL, work, opened) != 0) {
        free(opened);
        return hipErrorOutOfMemory;
    }
    pthread_mutex_lock(&standin_lock);
    standin_keep(opened, STANDIN_STREAM);
    pthread_mutex_unlock(&standin_lock);
    *stream = opened;
    return hipSuccess;
}

static hipError_t destroy_stream(hipStream_t stream)
{
    pthread_mutex_lock(&standin_lock);
    bool known = standin_stream_device(stream) >= 0;
    if (known) {
        stream->closing = true;
        pthread_cond_signal(&stream->asked);
    }
    pthread_mutex_unlock(&standin_lock);
    REFUSE_IF(!known, hipErrorInvalidHandle);
    pthread_join(stream->worker, NULL);
    pthread_mutex_lock(&standin_lock);
    (void)standin_forget(stream, STANDIN_STREAM);
    if (stream->captured != NULL)
        standin_drop_graph(stream->captured);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&standin_lock);
    free(stream);
    return hipSuccess;
}

hipError_t hipStreamDestroy(hipStream_t stream)
{
    STANDIN_FREE(hipStreamDestroy, destroy_stream(stream));
}

hipError_t hipStreamSynchronize(hipStream_t stream)
{
    STANDIN_ENTER(hipStreamSynchronize);
    if (stream == NULL) /* the default one, on which only hipMemcpy works */
        return hipSuccess;
    pthread_mutex_lock(&standin_lock);
    bool known = standin_stream_device(stream) >= 0;
    bool captures = known && stream->captured != NULL;
    if (known && !captures)
        standin_finish(stream);
    pthread_mutex_unlock(&standin_lock);
    return captures ? hipErrorStreamCaptureUnsupported : known ? hipSuccess : hipErrorInvalidHandle;
}

/* ---- events ---- */

hipError_t hipEventCreate(hipEvent_t *event)
{
    STANDIN_ENTER(hipEventCreate);
    struct ihipEvent_t *opened = calloc(1, sizeof *opened);
    REFUSE_IF(opened == NULL, hipErrorOutOfMemory);
    pthread_mutex_lock(&standin_lock);
    standin_keep(opened, STANDIN_EVENT);
    pthread_mutex_unlock(&standin_lock);
    *event = opened;
    return hipSuccess;
}

static hipError_t destroy_event(hipEvent_t event)
{
    pthread_mutex_lock(&standin_lock);
    bool known = standin_forget(event, STANDIN_EVENT);
    if (known) {
        drop(event->latest);
        free(event);
    }
    pthread_mutex_unlock(&standin_lock);
    return known ? hipSuccess : hipErrorInvalidHandle;
}

hipError_t hipEventDestroy(hipEvent_t event)
{
    STANDIN_FREE(hipEventDestroy, destroy_event(event));
}

static hipError_t record(hipEvent_t event, hipStream_t stream)
{
    int device = standin_stream_device(stream);
    REFUSE_IF(device < 0 || !standin_is(event, STANDIN_EVENT) || event->head.device != device,
              hipErrorInvalidHandle);
    REFUSE_IF(stream->captured != NULL,
              hipErrorStreamCaptureUnsupported); /* AMD's would make it a part of the graph */
    struct standin_record *latest = calloc(1, sizeof *latest);
    REFUSE_IF(latest == NULL, hipErrorOutOfMemory);
    latest->holders = 1; /* the event */
    const struct standin_operation operation = {.kind = STANDIN_RECORD, .record = latest};
    hipError_t result = standin_enqueue(stream, &operation);
    if (result == hipSuccess) {
        drop(event->latest);
        event->latest = latest;
    } else {
        free(latest);
    }
    return result;
}

hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream)
{
    STANDIN_ENTER(hipEventRecord);
    return STANDIN_LOCKED(record(event, stream));
}

hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags)
{
    STANDIN_ENTER(hipStreamWaitEvent);
    REFUSE_IF(flags != 0, hipErrorInvalidValue);
    pthread_mutex_lock(&standin_lock);
    hipError_t result = hipSuccess;
    if (standin_stream_device(stream) < 0 || !standin_is(event, STANDIN_EVENT)) {
        result = hipErrorInvalidHandle;
    } else if (stream->captured != NULL) {
        result = hipErrorStreamCaptureUnsupported;
    } else if (event->latest != NULL) {
        const struct standin_operation operation = {.kind = STANDIN_AWAIT, .record = event->latest};
        result = standin_enqueue(stream, &operation);
    }
    pthread_mutex_unlock(&standin_lock);
    return result;
}

hipError_t hipEventSynchronize(hipEvent_t event)
{
    STANDIN_ENTER(hipEventSynchronize);
    pthread_mutex_lock(&standin_lock);
    bool known = standin_is(event, STANDIN_EVENT);
    struct standin_record *awaited = known ? event->latest : NULL;
    if (awaited != NULL) {
        awaited->holders++;
        while (!awaited->done)
            pthread_cond_wait(&changed, &standin_lock);
        drop(awaited);
    }
    pthread_mutex_unlock(&standin_lock);
    return known ? hipSuccess : hipErrorInvalidHandle;
}

static hipError_t elapsed(float *milliseconds, hipEvent_t start, hipEvent_t stop)
{
    REFUSE_IF(!standin_is(start, STANDIN_EVENT) || !standin_is(stop, STANDIN_EVENT) ||
                  start->head.device != stop->head.device || start->latest == NULL ||
                  stop->latest == NULL,
              hipErrorInvalidHandle);
    REFUSE_IF(!start->latest->done || !stop->latest->done, hipErrorNotReady);
    int64_t between_ns = stop->latest->time_ns - start->latest->time_ns;
    *milliseconds = (float)((double)between_ns / 1e6);
    return hipSuccess;
}

hipError_t hipEventElapsedTime(float *milliseconds, hipEvent_t start, hipEvent_t stop)
{
    STANDIN_ENTER(hipEventElapsedTime);
    REFUSE_IF(milliseconds == NULL, hipErrorInvalidValue);
    return STANDIN_LOCKED(elapsed(milliseconds, start, stop));
}
