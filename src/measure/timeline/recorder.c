/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* One more iteration of a case, recorded: stands between the mode and the backend, so that no mode
 * knows of it. As long as a recorder is there, calls of its devices' backends that submit or wait
 * are noted, and what they enqueue has an event on either side. Then when a case has one, and what
 * follows from it: the shares of the time in which the stages of a line were at work. */
#include "timeline.h"

#include "base/clock.h"
#include "base/memory.h"
#include "measure/engine/crew.h"
#include "measure/engine/stage.h"
#include "measure/sample/measure.h"
#include "xferbench/backend.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The most operations of devices that are recorded: each has two events. */
#define MOST_OPERATIONS 16384u
/* The most spans of threads: several calls, turns and waits an operation. */
#define MOST_CALLS ((size_t)8 * MOST_OPERATIONS)

/* Where a device's clock stands against the host's: a time of the device, since its base event, is
 * so many seconds later on the host's clock. */
struct alignment {
    double offset;
    double half; /* the offset is no further from the true one */
};

/* A device while it is recorded. */
struct recorded_device {
    struct xb_backend table; /* stands in for the real one; first: see recorded() */
    struct xb_recorder *recorder;
    struct xb_device *device;
    const struct xb_backend *real;
    struct xb_queue *queue; /* one of the device's */
    struct xb_event *base;  /* its times count from here */
    struct xb_event *probe;
    struct alignment seen[2]; /* before and after the iteration */
    double offset;            /* what is made of both */
};

struct recorded_queue {
    struct xb_queue *queue;
    size_t device;   /* index */
    unsigned number; /* among the device's */
    /* While the times of its operations are read: */
    struct xb_event *base; /* from which they count, */
    double base_time;      /* which is so long after the device's */
    double end;            /* of the latest operation */
    bool has_end;
};

/* What a queue did, between two events. */
struct operation {
    size_t queue;                  /* index */
    struct xb_event *start, *stop; /* NULL: not opened */
    double enqueued;               /* by the host's clock, before the first event was */
    struct xb_timeline_span span;
};

struct xb_recorder {
    struct recorded_device devices[XB_RUN_DEVICES];
    size_t device_count;
    struct recorded_queue *queues;
    size_t queue_count;
    struct operation *operations; /* MOST_OPERATIONS */
    size_t operation_count;
    /* MOST_CALLS, of threads; `track` is the thread's number. Several threads add to them. */
    struct xb_timeline_span *calls;
    size_t call_count;
    pthread_mutex_t lock; /* of the calls, left_out and the failure */
    uint64_t left_out, flows;
    const char *stage; /* of what is enqueued now */
    uint64_t item;
    unsigned workers;
    double begin, end; /* of the iteration, by the host's clock */
    bool has_failed;   /* to record: nothing more is */
    struct xb_error failure;
};

/* ---- threads ---- */

static void fail(struct xb_recorder *recorder, const struct xb_error *error)
{
    pthread_mutex_lock(&recorder->lock);
    if (!recorder->has_failed)
        recorder->failure = *error;
    recorder->has_failed = true;
    pthread_mutex_unlock(&recorder->lock);
}

void xb_recorder_stage(struct xb_recorder *recorder, const char *stage, uint64_t item)
{
    if (recorder == NULL)
        return;
    recorder->stage = stage;
    recorder->item = item;
}

/* Lanes have a crew each, with the same numbers. */
void xb_recorder_workers(struct xb_recorder *recorder, unsigned workers)
{
    if (recorder != NULL && workers > recorder->workers)
        recorder->workers = workers;
}

void xb_recorder_thread(struct xb_recorder *recorder, unsigned thread,
                        const struct xb_timeline_span *span)
{
    if (recorder == NULL)
        return;
    pthread_mutex_lock(&recorder->lock);
    if (recorder->call_count < MOST_CALLS) {
        recorder->calls[recorder->call_count] = *span;
        recorder->calls[recorder->call_count++].track = thread;
    } else {
        recorder->left_out++;
    }
    pthread_mutex_unlock(&recorder->lock);
}

/* ---- what is enqueued ---- */

/* A call while it is under way. */
struct call {
    struct xb_recorder *recorder;
    const struct xb_backend *real;
    struct xb_queue *queue;
    struct operation *operation;  /* NULL: not recorded */
    struct xb_timeline_span span; /* on the thread */
};

/* The table that the device's head points to is the first field of what is recorded of it. */
static struct recorded_device *recorded(const struct xb_device *device)
{
    union {
        const struct xb_backend *table;
        struct recorded_device *recorded;
    } from = {.table = device->backend};
    return from.recorded;
}

/* The index of a queue, which is added where it is new. */
static size_t find_queue(struct xb_recorder *recorder, struct xb_queue *queue)
{
    unsigned number = 0;
    size_t device = 0;
    for (size_t i = 0; i < recorder->queue_count; i++) {
        if (recorder->queues[i].queue == queue)
            return i;
        number += recorder->queues[i].queue->device == queue->device;
    }
    while (device < recorder->device_count && recorder->devices[device].device != queue->device)
        device++;
    if (device == recorder->device_count) {
        assert(device < XB_RUN_DEVICES);
        recorder->devices[recorder->device_count++] =
            (struct recorded_device){.recorder = recorder,
                                     .device = queue->device,
                                     .real = queue->device->backend,
                                     .queue = queue};
    }
    recorder->queues = xb_grow(recorder->queues, recorder->queue_count, sizeof *recorder->queues);
    recorder->queues[recorder->queue_count] =
        (struct recorded_queue){.queue = queue, .device = device, .number = number};
    return recorder->queue_count++;
}

/* Adds an operation, opens both of its events and records the first. NULL where there are too many
 * operations, or where recording has failed. */
static struct operation *start(struct call *call)
{
    struct xb_error error;
    struct xb_recorder *recorder = call->recorder;
    struct xb_device *device = call->queue->device;
    if (recorder->has_failed)
        return NULL;
    if (recorder->operation_count == MOST_OPERATIONS) {
        pthread_mutex_lock(&recorder->lock);
        recorder->left_out++;
        pthread_mutex_unlock(&recorder->lock);
        return NULL;
    }
    struct operation *operation = &recorder->operations[recorder->operation_count++];
    operation->queue = find_queue(recorder, call->queue);
    enum xb_status status = call->real->event_open(device, &operation->start, &error);
    if (status == XB_OK)
        status = call->real->event_open(device, &operation->stop, &error);
    operation->enqueued = xb_clock_now();
    call->span.begin = operation->enqueued;
    if (status == XB_OK)
        status = call->real->event_record(operation->start, call->queue, &error);
    if (status == XB_OK)
        return operation;
    fail(recorder, &error);
    return NULL;
}

/* A span of what the calling thread does now. */
static struct xb_timeline_span span_of(const struct xb_recorder *recorder, enum xb_span_kind kind,
                                       const char *name)
{
    struct xb_timeline_span span = {.kind = kind, .stage = recorder->stage, .item = recorder->item};
    snprintf(span.name, sizeof span.name, "%s", name);
    return span;
}

/* Begins a call of that slot which enqueues something of that kind and name. */
static struct call begin(struct xb_queue *queue, const char *slot, enum xb_span_kind kind,
                         const char *name, uint64_t bytes)
{
    struct recorded_device *device = recorded(queue->device);
    struct xb_recorder *recorder = device->recorder;
    struct call call = {.recorder = recorder,
                        .real = device->real,
                        .queue = queue,
                        .span = span_of(recorder, XB_SPAN_CALL, slot)};
    call.span.bytes = bytes;
    call.operation = start(&call);
    if (call.operation == NULL)
        return call;
    call.span.flow = ++recorder->flows;
    call.operation->span = call.span;
    call.operation->span.kind = kind;
    snprintf(call.operation->span.name, sizeof call.span.name, "%s", name);
    return call;
}

/* Ends it with what the real slot returned. */
static enum xb_status end(struct call *call, enum xb_status status)
{
    struct xb_error error;
    if (call->operation == NULL || status != XB_OK)
        return status;
    call->span.end = xb_clock_now();
    xb_recorder_thread(call->recorder, 0, &call->span);
    if (call->real->event_record(call->operation->stop, call->queue, &error) != XB_OK)
        fail(call->recorder, &error);
    return status;
}

/* All host memory that is neither pageable nor managed is page-locked. */
static const char *memory_word(const struct xb_buffer *buffer)
{
    return buffer->memory == XB_MEMORY_DEVICE     ? "Device"
           : buffer->memory == XB_MEMORY_PAGEABLE ? "Pageable"
           : buffer->memory == XB_MEMORY_MANAGED  ? "Managed"
                                                  : "Pinned";
}

/* "Memcpy HtoD (Pinned -> Device)", as profilers say. */
static struct call begin_copy(struct xb_queue *queue, const char *slot, const char *verb,
                              const struct xb_buffer *target, const struct xb_buffer *source,
                              uint64_t bytes)
{
    char name[48];
    char from = source->memory == XB_MEMORY_DEVICE ? 'D' : 'H';
    char to = target->memory == XB_MEMORY_DEVICE ? 'D' : 'H';
    if (from == 'D' && to == 'D' && target->device != source->device)
        from = to = 'P';
    snprintf(name, sizeof name, "%s %cto%c (%s -> %s)", verb, from, to, memory_word(source),
             memory_word(target));
    return begin(queue, slot, XB_SPAN_COPY, name, bytes);
}

/* The slots that enqueue something: their parameters and arguments between the queue and the error,
 * then what begins the call. What a graph copies its head does not say. */
#define COPY(X, slot)                                                                              \
    X(slot,                                                                                        \
      (struct xb_buffer * target, uint64_t target_offset, struct xb_buffer * source,               \
       uint64_t source_offset, uint64_t bytes),                                                    \
      (target, target_offset, source, source_offset, bytes), begin_copy, "Memcpy", target, source, \
      bytes)
#define SLOTS(X)                                                                                   \
    COPY(X, queue_copy)                                                                            \
    COPY(X, queue_copy_peer)                                                                       \
    X(queue_copy_pieces, (struct xb_pieces * list), (list), begin_copy, "Memcpy", list->target,    \
      list->source, list->bytes)                                                                   \
    X(queue_copy_rows,                                                                             \
      (struct xb_rows target, struct xb_rows source, uint64_t bytes, uint64_t count),              \
      (target, source, bytes, count), begin_copy, "Memcpy2D", target.buffer, source.buffer,        \
      bytes *count)                                                                                \
    X(queue_graph, (struct xb_graph * graph), (graph), begin, XB_SPAN_COPY, "graph of copies", 0)  \
    X(queue_prefetch, (struct xb_buffer * buffer, uint64_t bytes, bool to_device),                 \
      (buffer, bytes, to_device), begin, XB_SPAN_COPY,                                             \
      to_device ? "Unified Memory Memcpy HtoD" : "Unified Memory Memcpy DtoH", bytes)              \
    X(queue_fill, (struct xb_buffer * buffer, uint64_t bytes, struct xb_pattern pattern),          \
      (buffer, bytes, pattern), begin, XB_SPAN_KERNEL, "fill", bytes)                              \
    X(queue_check,                                                                                 \
      (struct xb_buffer * buffer, uint64_t bytes, struct xb_pattern pattern,                       \
       struct xb_mismatch * mismatch),                                                             \
      (buffer, bytes, pattern, mismatch), begin, XB_SPAN_KERNEL, "check", bytes)                   \
    X(queue_kernel_copy,                                                                           \
      (struct xb_buffer * target, uint64_t target_offset, struct xb_buffer * source,               \
       uint64_t source_offset, uint64_t bytes, enum xb_access access, unsigned together),          \
      (target, target_offset, source, source_offset, bytes, access, together), begin,              \
      XB_SPAN_KERNEL, "copy by kernel", bytes)                                                     \
    X(queue_compute, (struct xb_buffer * buffer, uint64_t offset, uint64_t bytes, uint64_t steps), \
      (buffer, offset, bytes, steps), begin, XB_SPAN_KERNEL, "compute", bytes)                     \
    X(queue_chain, (struct xb_buffer * buffer, uint64_t bytes, enum xb_access access),             \
      (buffer, bytes, access), begin, XB_SPAN_KERNEL, "chain", bytes)                              \
    X(queue_chase,                                                                                 \
      (struct xb_buffer * chain, struct xb_buffer * cursor, uint64_t loads, unsigned turn,         \
       bool bulk),                                                                                 \
      (chain, cursor, loads, turn, bulk), begin, XB_SPAN_KERNEL, "chase", 0)                       \
    X(queue_kernel_pieces, (struct xb_pieces * list, unsigned blocks, bool bulk),                  \
      (list, blocks, bulk), begin, XB_SPAN_KERNEL, "copy by kernel", list->bytes)                  \
    X(queue_decode, (const struct xb_decoding *decoding), (decoding), begin, XB_SPAN_KERNEL,       \
      "decode", decoding->bytes)                                                                   \
    X(queue_digest,                                                                                \
      (struct xb_buffer * buffer, uint64_t offset, uint64_t bytes, bool plain,                     \
       struct xb_buffer *target, uint64_t target_offset),                                          \
      (buffer, offset, bytes, plain, target, target_offset), begin, XB_SPAN_KERNEL, "digest",      \
      bytes)                                                                                       \
    X(queue_count, (struct xb_buffer * buffer, uint64_t bytes, uint64_t first),                    \
      (buffer, bytes, first), begin, XB_SPAN_KERNEL, "count", bytes)                               \
    X(queue_wait_event, (struct xb_event * event), (event), begin, XB_SPAN_WAIT,                   \
      "wait for an event", 0)

#define LIST(...) __VA_ARGS__
#define RECORD(slot, parameters, arguments, begin_call, ...)                                       \
    static enum xb_status slot(struct xb_queue *queue, LIST parameters, struct xb_error *error)    \
    {                                                                                              \
        struct call call = begin_call(queue, #slot, __VA_ARGS__);                                  \
        return end(&call, call.real->slot(queue, LIST arguments, error));                          \
    }
#define FILL(slot, ...) device->table.slot = slot;

SLOTS(RECORD)

/* ---- waits ---- */

/* Adds that the calling thread waited in that slot from `begun` until now. */
static enum xb_status add_wait(struct xb_recorder *recorder, const char *slot, double begun,
                               enum xb_status status)
{
    struct xb_timeline_span span = span_of(recorder, XB_SPAN_WAIT, slot);
    span.begin = begun;
    span.end = xb_clock_now();
    xb_recorder_thread(recorder, 0, &span);
    return status;
}

static enum xb_status queue_wait(struct xb_queue *queue, struct xb_error *error)
{
    const struct recorded_device *device = recorded(queue->device);
    double begun = xb_clock_now();
    return add_wait(device->recorder, "queue_wait", begun, device->real->queue_wait(queue, error));
}

static enum xb_status event_wait(struct xb_event *event, struct xb_error *error)
{
    const struct recorded_device *device = recorded(event->device);
    double begun = xb_clock_now();
    return add_wait(device->recorder, "event_wait", begun, device->real->event_wait(event, error));
}

/* ---- clocks ---- */

/*
 * When operations ran, on the host's clock. A device tells times between two events only. An event
 * on an idle queue is reached after the call that records it and before the wait for it returns:
 * that says where the device's clock stands, as narrowly as both are apart.
 */
/* How often a clock is looked at; the narrowest look counts. */
#define LOOKS 20
/* What rounding may make of two times that are one: cudaEventElapsedTime gives a float. */
#define NOISE_S 1e-6
/* A float of milliseconds is good for 30 ns up to here: times further on count from a nearer event.
 */
#define FAR_S 0.25
/* Keeps an operation behind its call when both are rounded to nanoseconds. */
#define MARGIN_S 2e-9

static enum xb_status look(const struct recorded_device *device, struct alignment *seen,
                           struct xb_error *error)
{
    double since = 0;
    double before = xb_clock_now();
    XB_TRY(device->real->event_record(device->probe, device->queue, error));
    XB_TRY(device->real->event_wait(device->probe, error));
    double after = xb_clock_now();
    XB_TRY(device->real->event_elapsed(device->base, device->probe, &since, error));
    *seen =
        (struct alignment){.offset = (before + after) / 2 - since, .half = (after - before) / 2};
    return XB_OK;
}

/* Has each device's clock looked at: `when` is 0 before the iteration, 1 after it. */
static enum xb_status align_all(struct xb_recorder *recorder, int when, struct xb_error *error)
{
    for (size_t i = 0; i < recorder->device_count; i++) {
        struct recorded_device *device = &recorder->devices[i];
        const struct xb_backend *real = device->real;
        if (device->base == NULL) {
            XB_TRY(real->event_open(device->device, &device->probe, error));
            XB_TRY(real->event_open(device->device, &device->base, error));
            XB_TRY(real->event_record(device->base, device->queue, error));
        }
        XB_TRY(real->queue_wait(device->queue, error));
        for (size_t k = 0; k < LOOKS; k++) {
            struct alignment seen;
            XB_TRY(look(device, &seen, error));
            if (k == 0 || seen.half < device->seen[when].half)
                device->seen[when] = seen;
        }
    }
    return XB_OK;
}

/* Both looks bound what the clocks may have drifted apart between them. Returns the error. */
static double join_looks(struct recorded_device *device)
{
    bool is_first = device->seen[0].half <= device->seen[1].half;
    const struct alignment *near = &device->seen[!is_first], *other = &device->seen[is_first];
    device->offset = near->offset;
    return fmax(near->half, fabs(other->offset - near->offset) + other->half);
}

/* Fills in when the next operation of its queue ran, on the device's clock. */
static enum xb_status read_times(struct xb_recorder *recorder, struct operation *operation,
                                 struct xb_error *error)
{
    struct recorded_queue *queue = &recorder->queues[operation->queue];
    const struct recorded_device *device = &recorder->devices[queue->device];
    struct xb_timeline_span *span = &operation->span;
    double since = 0, took = 0;
    if (queue->base == NULL)
        queue->base = device->base;
    XB_TRY(device->real->event_elapsed(queue->base, operation->start, &since, error));
    XB_TRY(device->real->event_elapsed(operation->start, operation->stop, &took, error));
    double begin = queue->base_time + since;
    if ((queue->has_end && begin < queue->end - NOISE_S) || took < -NOISE_S)
        return XB_FAIL(error, XB_ERR_RUNTIME,
                       "operations of one queue are %.3g us out of order by the device's clock",
                       1e6 * fmax(queue->end - begin, -took));
    span->begin = queue->has_end ? fmax(begin, queue->end) : begin;
    span->end = fmax(begin + took, span->begin);
    if (since > FAR_S) {
        queue->base = operation->start;
        queue->base_time = begin;
    }
    queue->end = span->end;
    queue->has_end = true;
    return XB_OK;
}

/* Nothing begins before it was enqueued, nor ends after all was waited for: where the looks leave
 * room for that, the clocks are brought closer. Returns by how much they moved. */
static double keep_order(struct xb_recorder *recorder, size_t index)
{
    struct recorded_device *device = &recorder->devices[index];
    double least = -INFINITY;
    for (size_t i = 0; i < recorder->operation_count; i++) {
        const struct operation *operation = &recorder->operations[i];
        if (recorder->queues[operation->queue].device == index)
            least = fmax(least, operation->enqueued - operation->span.begin);
    }
    double moved = fmax(least + MARGIN_S - device->offset, 0);
    device->offset += moved;
    return moved;
}

/* ---- beginning and end ---- */

/* Makes room, and writes to every page of it, so that none is first touched, and cleared, while the
 * clock runs. */
static void *make_room(size_t count, size_t size)
{
    char *memory = calloc(count, size);
    for (size_t at = 0; memory != NULL && at < count * size; at += 4096)
        ((volatile char *)memory)[at] = 0;
    return memory;
}

/* Lists the devices and queues of all lanes, in their order, and makes room for what they do. */
static enum xb_status open_recorder(struct xb_recorder *recorder,
                                    const struct xb_measurement *measurement,
                                    struct xb_error *error)
{
    for (size_t i = 0; i < measurement->lane_count; i++) {
        const struct xb_mode_context *context = &measurement->lanes[i].context;
        for (size_t k = 0; k < context->queue_count; k++)
            find_queue(recorder, context->queues[k]);
    }
    recorder->operations = make_room(MOST_OPERATIONS, sizeof *recorder->operations);
    recorder->calls = make_room(MOST_CALLS, sizeof *recorder->calls);
    return recorder->operations != NULL && recorder->calls != NULL
               ? XB_OK
               : XB_FAIL(error, XB_ERR_MEMORY, "no memory for it");
}

static void close_recorder(struct xb_recorder *recorder)
{
    for (size_t i = 0; i < recorder->operation_count; i++) {
        const struct operation *operation = &recorder->operations[i];
        const struct xb_backend *real =
            recorder->devices[recorder->queues[operation->queue].device].real;
        real->event_close(operation->start);
        real->event_close(operation->stop);
    }
    for (size_t i = 0; i < recorder->device_count; i++) {
        recorder->devices[i].real->event_close(recorder->devices[i].base);
        recorder->devices[i].real->event_close(recorder->devices[i].probe);
    }
    free(recorder->operations);
    free(recorder->queues);
    free(recorder->calls);
    pthread_mutex_destroy(&recorder->lock);
}

/* ---- the iteration ---- */

/* Has the lanes recorded from here on, or no more. */
static void attach(struct xb_recorder *recorder, struct xb_measurement *measurement, bool is_on)
{
    for (size_t i = 0; i < recorder->device_count; i++) {
        struct recorded_device *device = &recorder->devices[i];
        device->table = *device->real;
        device->table.queue_wait = queue_wait;
        device->table.event_wait = event_wait;
        SLOTS(FILL)
        device->device->backend = is_on ? &device->table : device->real;
    }
    for (size_t i = 0; i < measurement->lane_count; i++)
        measurement->lanes[i].context.recorder = is_on ? recorder : NULL;
}

static enum xb_status run_iteration(struct xb_recorder *recorder,
                                    struct xb_measurement *measurement, struct xb_error *error)
{
    enum xb_status status = XB_OK;
    attach(recorder, measurement, true);
    recorder->begin = xb_clock_now();
    for (size_t i = 0; status == XB_OK && i < measurement->lane_count; i++) {
        struct xb_mode_context *context = &measurement->lanes[i].context;
        status = context->test->mode->submit(context, error);
    }
    xb_recorder_stage(recorder, NULL, 0);
    for (size_t i = 0; i < recorder->queue_count; i++)
        status = xb_queues_wait(&recorder->queues[i].queue, 1, status, error);
    recorder->end = xb_clock_now();
    attach(recorder, measurement, false);
    return status;
}

/* ---- what was seen ---- */

static int compare(double a, double b)
{
    return (a > b) - (a < b);
}

/* Threads before queues, and each by its numbers. */
static int order_tracks(const void *a, const void *b)
{
    const struct xb_track *one = a, *other = b;
    int order = compare(one->kind, other->kind);
    order = order != 0 ? order : compare(one->device, other->device);
    return order != 0 ? order : compare(one->number, other->number);
}

/* By track, then by begin; what lies within another comes after it, and what took no time before
 * what begins then. */
static int order_spans(const void *a, const void *b)
{
    const struct xb_timeline_span *one = a, *other = b;
    int order = compare((double)one->track, (double)other->track);
    order = order != 0 ? order : compare(one->begin, other->begin);
    order = order != 0 ? order : compare(one->end > one->begin, other->end > other->begin);
    return order != 0 ? order : compare(other->end, one->end);
}

/* Adds a span to the timeline, on its track, which is added where it is new. There is room. */
static void add_span(struct xb_timeline *timeline, const struct xb_timeline_span *span,
                     struct xb_track track)
{
    size_t i = 0;
    while (i < timeline->track_count && order_tracks(&timeline->tracks[i], &track) != 0)
        i++;
    if (i == timeline->track_count)
        timeline->tracks[timeline->track_count++] = track;
    timeline->spans[timeline->span_count] = *span;
    timeline->spans[timeline->span_count++].track = i;
}

/* Adds all spans. */
static void add_spans(const struct xb_recorder *recorder, struct xb_timeline *timeline)
{
    for (size_t i = 0; i < recorder->call_count; i++) {
        struct xb_timeline_span span = recorder->calls[i];
        span.begin -= recorder->begin;
        span.end -= recorder->begin;
        add_span(timeline, &span,
                 (struct xb_track){.kind = XB_TRACK_THREAD, .number = (unsigned)span.track});
    }
    for (size_t i = 0; i < recorder->operation_count; i++) {
        const struct recorded_queue *queue = &recorder->queues[recorder->operations[i].queue];
        add_span(timeline, &recorder->operations[i].span,
                 (struct xb_track){.kind = XB_TRACK_QUEUE,
                                   .device = recorder->devices[queue->device].device->info.index,
                                   .number = queue->number});
    }
}

/* Aligns again after the iteration, and makes the timeline. */
static enum xb_status make_timeline(struct xb_recorder *recorder, struct xb_timeline *timeline,
                                    struct xb_error *error)
{
    size_t spans = recorder->call_count + recorder->operation_count;
    if (recorder->has_failed) {
        *error = recorder->failure;
        return error->status;
    }
    XB_TRY(align_all(recorder, 1, error));
    for (size_t i = 0; i < recorder->operation_count; i++)
        XB_TRY(read_times(recorder, &recorder->operations[i], error));
    for (size_t i = 0; i < recorder->device_count; i++) {
        double off = join_looks(&recorder->devices[i]);
        timeline->clock_error = fmax(timeline->clock_error, off + keep_order(recorder, i));
    }
    for (size_t i = 0; i < recorder->operation_count; i++) {
        struct operation *operation = &recorder->operations[i];
        size_t device = recorder->queues[operation->queue].device;
        double offset = recorder->devices[device].offset - recorder->begin;
        operation->span.begin += offset;
        operation->span.end += offset;
    }
    timeline->spans = calloc(spans + 1, sizeof *timeline->spans);
    if (timeline->spans == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for its %zu spans", spans);
    timeline->seconds = recorder->end - recorder->begin;
    timeline->workers = recorder->workers;
    timeline->left_out = recorder->left_out;
    timeline->tracks = xb_new(XB_CREW_THREADS + recorder->queue_count, sizeof *timeline->tracks);
    /* Once for the tracks, and again when these are in order. */
    add_spans(recorder, timeline);
    qsort(timeline->tracks, timeline->track_count, sizeof *timeline->tracks, order_tracks);
    timeline->span_count = 0;
    add_spans(recorder, timeline);
    qsort(timeline->spans, timeline->span_count, sizeof *timeline->spans, order_spans);
    return XB_OK;
}

/* Records one more iteration of all lanes, restored first, not held and not timed, and moves what
 * was seen to *timeline. Releases nothing of what the samples have. Fails where the iteration does;
 * where only recording fails it warns, and *timeline has no tracks. */
static enum xb_status record(struct xb_measurement *measurement, struct xb_timeline *timeline,
                             struct xb_error *error)
{
    struct xb_recorder recorder = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct xb_error why;
    *timeline = (struct xb_timeline){.tracks = NULL};
    XB_TRY(xb_measure_restore(measurement, error));
    enum xb_status status = XB_OK;
    enum xb_status recorded = open_recorder(&recorder, measurement, &why);
    if (recorded == XB_OK)
        recorded = align_all(&recorder, 0, &why);
    if (recorded == XB_OK) {
        status = run_iteration(&recorder, measurement, error);
        if (status == XB_OK)
            recorded = make_timeline(&recorder, timeline, &why);
    }
    close_recorder(&recorder);
    if (recorded != XB_OK)
        xb_result_warn(measurement->result, "the timeline could not be recorded: %.180s",
                       why.message);
    return status;
}

/* ---- what follows ---- */

static bool has_stage_figures(const struct xb_mode *mode)
{
    for (const struct xb_stage *stage = mode->stages; stage != NULL && stage->name != NULL; stage++)
        if (stage->busy != NULL || stage->wait != NULL || stage->through != NULL)
            return true;
    return false;
}

void xb_busy_time_add(struct xb_busy_time *work, const struct xb_timeline_span *span)
{
    if (!work->has_any)
        *work = (struct xb_busy_time){.begin = span->begin, .end = span->begin, .has_any = true};
    work->busy += fmax(span->end - fmax(span->begin, work->end), 0);
    work->end = fmax(work->end, span->end);
}

bool xb_stage_does(const struct xb_stage *stage, const struct xb_timeline_span *span)
{
    bool is_on_host = span->kind == XB_SPAN_WORK;
    bool is_on_device = span->kind == XB_SPAN_COPY || span->kind == XB_SPAN_KERNEL;
    return span->stage != NULL && strcmp(span->stage, stage->name) == 0 &&
           (stage->engine == XB_ENGINE_HOST ? is_on_host : is_on_device);
}

static int order_by_begin(const void *a, const void *b)
{
    const struct xb_timeline_span *one = *(const struct xb_timeline_span *const *)a;
    const struct xb_timeline_span *other = *(const struct xb_timeline_span *const *)b;
    return one->begin < other->begin ? -1 : one->begin > other->begin;
}

/* The seconds between the first span and the last in which none was under way. */
static double waited(const struct xb_busy_time *work)
{
    return work->end - work->begin - work->busy;
}

static struct xb_shares share_devices(const struct xb_stage *stage,
                                      const struct xb_timeline *timeline)
{
    struct xb_busy_time work = {.has_any = false};
    size_t count = 0;
    const struct xb_timeline_span **list =
        xb_new(timeline->span_count, sizeof(const struct xb_timeline_span *));
    for (size_t i = 0; i < timeline->span_count; i++)
        if (xb_stage_does(stage, &timeline->spans[i]))
            list[count++] = &timeline->spans[i];
    qsort(list, count, sizeof(const struct xb_timeline_span *), order_by_begin);
    for (size_t i = 0; i < count; i++)
        xb_busy_time_add(&work, list[i]);
    free(list);
    return (struct xb_shares){.busy = work.busy / timeline->seconds,
                              .wait = waited(&work) / timeline->seconds};
}

struct xb_shares xb_stage_shares(const struct xb_stage *stage, const struct xb_timeline *timeline)
{
    double whole = timeline->workers * timeline->seconds;
    struct xb_shares shares = {.busy = 0};
    if (stage->engine != XB_ENGINE_HOST)
        return share_devices(stage, timeline);
    for (size_t t = 0; timeline->workers > 0 && t < timeline->track_count; t++) {
        struct xb_busy_time work = {.has_any = false}; /* the spans of a track are in order */
        for (size_t i = 0; i < timeline->span_count; i++)
            if (timeline->spans[i].track == t && xb_stage_does(stage, &timeline->spans[i]))
                xb_busy_time_add(&work, &timeline->spans[i]);
        shares.busy += work.busy / whole;
        shares.wait += waited(&work) / whole;
    }
    return shares;
}

/* Adds how long each item was under way, up to the end of that stage. */
static enum xb_status add_items(struct xb_result *result, const struct xb_stage *last,
                                const struct xb_timeline *timeline, struct xb_error *error)
{
    enum xb_status status = XB_OK;
    uint64_t items = 0;
    for (size_t i = 0; i < timeline->span_count; i++)
        if (xb_stage_does(last, &timeline->spans[i]) && timeline->spans[i].item >= items)
            items = timeline->spans[i].item + 1;
    double *times = xb_new(2 * items, sizeof *times); /* of each its beginning and its end */
    for (uint64_t i = 0; i < items; i++)
        times[2 * i] = INFINITY;
    for (size_t i = 0; i < timeline->span_count; i++) {
        const struct xb_timeline_span *span = &timeline->spans[i];
        for (const struct xb_stage *stage = result->test.mode->stages; stage <= last; stage++)
            if (xb_stage_does(stage, span) && span->item < items) {
                double *own = &times[2 * span->item];
                own[0] = fmin(own[0], span->begin);
                own[1] = stage == last ? fmax(own[1], span->end) : own[1];
            }
    }
    for (uint64_t i = 0; status == XB_OK && i < items; i++)
        if (times[2 * i + 1] > times[2 * i])
            status =
                xb_result_sample(result, last->through, times[2 * i + 1] - times[2 * i], error);
    free(times);
    return status;
}

/* Without all operations there are no shares: what is missing would count as waiting. */
static enum xb_status add_stage_figures(struct xb_result *result,
                                        const struct xb_timeline *timeline, struct xb_error *error)
{
    if (!has_stage_figures(result->test.mode))
        return XB_OK;
    if (timeline->left_out > 0) {
        xb_result_warn(result,
                       "%llu operations were too many to record: nothing says which stage waited "
                       "(take larger chunks)",
                       (unsigned long long)timeline->left_out);
        return XB_OK;
    }
    for (const struct xb_stage *stage = result->test.mode->stages; stage->name != NULL; stage++) {
        struct xb_shares shares = xb_stage_shares(stage, timeline);
        if (stage->busy != NULL)
            xb_result_compute(result, stage->busy, shares.busy);
        if (stage->wait != NULL)
            xb_result_compute(result, stage->wait, shares.wait);
        if (stage->through != NULL)
            XB_TRY(add_items(result, stage, timeline, error));
    }
    return XB_OK;
}

/* An iteration that takes so much longer than the samples does not tell where their time went. */
#define MUCH_LONGER 1.2

enum xb_status xb_measure_record(struct xb_measurement *measurement, struct xb_error *error)
{
    struct xb_result *result = measurement->result;
    struct xb_timeline timeline;
    if (!measurement->run->keeps_timelines && !has_stage_figures(result->test.mode))
        return XB_OK;
    if (xb_measure_out_of_time(measurement))
        return XB_OK;
    enum xb_status status = record(measurement, &timeline, error);
    if (status == XB_ERR_STOPPED) /* all samples are there: only this one more was cut */
        return XB_OK;
    if (status != XB_OK || timeline.tracks == NULL)
        return status;
    double by_median = timeline.seconds * result->bandwidth.median / (double)result->bytes_moved;
    xb_result_detail_number(result, "recorded_time", timeline.seconds);
    xb_result_detail_number(result, "recorded_by_median", by_median);
    if (has_stage_figures(result->test.mode) && by_median > MUCH_LONGER)
        xb_result_warn(result,
                       "the recorded iteration took %.2f times as long as the samples: the shares "
                       "busy_ and wait_, and batch_time, are of that one",
                       by_median);
    status = add_stage_figures(result, &timeline, error);
    if (measurement->run->keeps_timelines) {
        result->timeline = xb_new(1, sizeof *result->timeline);
        *result->timeline = timeline;
    } else {
        xb_timeline_free(&timeline);
    }
    return status;
}
