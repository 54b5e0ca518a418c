/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* The slots that stand between a mode and its backend while an iteration is recorded. */
#include "recorder_internal.h"

#include "base/clock.h"

#include <stdio.h>

/* A call while it is under way. */
struct call {
    struct xb_recorder *recorder;
    const struct xb_backend *real;
    struct xb_queue *queue;
    struct xb_recorded_operation *operation; /* NULL: not recorded */
    struct xb_timeline_span span;            /* on the thread */
};

/* The table that the device's head points to is the first field of what is recorded of it. */
static struct xb_recorded_device *recorded(const struct xb_device *device)
{
    union {
        const struct xb_backend *table;
        struct xb_recorded_device *recorded;
    } from = {.table = device->backend};
    return from.recorded;
}

static void name_span(struct xb_timeline_span *span, const char *name)
{
    snprintf(span->name, sizeof span->name, "%s", name);
}

/* ---- what is enqueued ---- */

/* Opens both events and records the first. Gives the operation up where that fails. */
static struct xb_recorded_operation *start(struct call *call)
{
    struct xb_error error;
    struct xb_device *device = call->queue->device;
    struct xb_recorded_operation *operation =
        xb_recorder_add_operation(call->recorder, call->queue);
    if (operation == NULL)
        return NULL;
    enum xb_status status = call->real->event_open(device, &operation->start, &error);
    if (status == XB_OK)
        status = call->real->event_open(device, &operation->stop, &error);
    operation->enqueued = xb_clock_now();
    call->span.begin = operation->enqueued;
    if (status == XB_OK)
        status = call->real->event_record(operation->start, call->queue, &error);
    if (status == XB_OK)
        return operation;
    xb_recorder_fail(call->recorder, &error);
    return NULL;
}

/* Begins a call of that slot which enqueues something of that kind and name. */
static struct call begin(struct xb_queue *queue, const char *slot, enum xb_span_kind kind,
                         const char *name, uint64_t bytes)
{
    struct xb_recorded_device *device = recorded(queue->device);
    struct xb_recorder *recorder = device->recorder;
    struct call call = {.recorder = recorder,
                        .real = device->real,
                        .queue = queue,
                        .span = {.kind = XB_SPAN_CALL,
                                 .stage = recorder->stage,
                                 .item = recorder->item,
                                 .bytes = bytes}};
    name_span(&call.span, slot);
    call.operation = start(&call);
    if (call.operation == NULL)
        return call;
    call.span.flow = ++recorder->flows;
    call.operation->span = call.span;
    call.operation->span.kind = kind;
    name_span(&call.operation->span, name);
    return call;
}

/* Ends it with what the real slot returned. */
static enum xb_status end(struct call *call, enum xb_status status)
{
    struct xb_error error;
    if (call->operation == NULL || status != XB_OK)
        return status;
    call->span.end = xb_clock_now();
    xb_recorder_add_call(call->recorder, &call->span);
    if (call->real->event_record(call->operation->stop, call->queue, &error) != XB_OK)
        xb_recorder_fail(call->recorder, &error);
    return status;
}

/* ---- copies ---- */

static const char *memory_word(const struct xb_buffer *buffer)
{
    switch (buffer->memory) {
    case XB_MEMORY_DEVICE:
        return "Device";
    case XB_MEMORY_PAGEABLE:
        return "Pageable";
    case XB_MEMORY_MANAGED:
        return "Managed";
    default:
        return "Pinned"; /* all other host memory is page-locked */
    }
}

static char side_of(const struct xb_buffer *buffer)
{
    return buffer->memory == XB_MEMORY_DEVICE ? 'D' : 'H';
}

/* "Memcpy HtoD (Pinned -> Device)", as profilers say. */
static struct call begin_copy(struct xb_queue *queue, const char *slot, const char *verb,
                              const struct xb_buffer *target, const struct xb_buffer *source,
                              uint64_t bytes)
{
    char name[48];
    bool is_peer =
        side_of(target) == 'D' && side_of(source) == 'D' && target->device != source->device;
    snprintf(name, sizeof name, "%s %cto%c (%s -> %s)", verb, is_peer ? 'P' : side_of(source),
             is_peer ? 'P' : side_of(target), memory_word(source), memory_word(target));
    return begin(queue, slot, XB_SPAN_COPY, name, bytes);
}

static enum xb_status queue_copy(struct xb_queue *queue, struct xb_buffer *target,
                                 uint64_t target_offset, struct xb_buffer *source,
                                 uint64_t source_offset, uint64_t bytes, struct xb_error *error)
{
    struct call call = begin_copy(queue, "queue_copy", "Memcpy", target, source, bytes);
    return end(&call, call.real->queue_copy(queue, target, target_offset, source, source_offset,
                                            bytes, error));
}

static enum xb_status queue_copy_peer(struct xb_queue *queue, struct xb_buffer *target,
                                      uint64_t target_offset, struct xb_buffer *source,
                                      uint64_t source_offset, uint64_t bytes,
                                      struct xb_error *error)
{
    struct call call = begin_copy(queue, "queue_copy_peer", "Memcpy", target, source, bytes);
    return end(&call, call.real->queue_copy_peer(queue, target, target_offset, source,
                                                 source_offset, bytes, error));
}

static enum xb_status queue_copy_pieces(struct xb_queue *queue, struct xb_pieces *list,
                                        struct xb_error *error)
{
    struct call call =
        begin_copy(queue, "queue_copy_pieces", "Memcpy", list->target, list->source, list->bytes);
    return end(&call, call.real->queue_copy_pieces(queue, list, error));
}

static enum xb_status queue_copy_rows(struct xb_queue *queue, struct xb_rows target,
                                      struct xb_rows source, uint64_t bytes, uint64_t count,
                                      struct xb_error *error)
{
    struct call call = begin_copy(queue, "queue_copy_rows", "Memcpy2D", target.buffer,
                                  source.buffer, bytes * count);
    return end(&call, call.real->queue_copy_rows(queue, target, source, bytes, count, error));
}

/* What a graph copies its head does not say. */
static enum xb_status queue_graph(struct xb_queue *queue, struct xb_graph *graph,
                                  struct xb_error *error)
{
    struct call call = begin(queue, "queue_graph", XB_SPAN_COPY, "graph of copies", 0);
    return end(&call, call.real->queue_graph(queue, graph, error));
}

static enum xb_status queue_prefetch(struct xb_queue *queue, struct xb_buffer *buffer,
                                     uint64_t bytes, bool to_device, struct xb_error *error)
{
    const char *name = to_device ? "Unified Memory Memcpy HtoD" : "Unified Memory Memcpy DtoH";
    struct call call = begin(queue, "queue_prefetch", XB_SPAN_COPY, name, bytes);
    return end(&call, call.real->queue_prefetch(queue, buffer, bytes, to_device, error));
}

/* ---- kernels ---- */

static enum xb_status queue_fill(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                                 struct xb_pattern pattern, struct xb_error *error)
{
    struct call call = begin(queue, "queue_fill", XB_SPAN_KERNEL, "fill", bytes);
    return end(&call, call.real->queue_fill(queue, buffer, bytes, pattern, error));
}

static enum xb_status queue_check(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                                  struct xb_pattern pattern, struct xb_mismatch *mismatch,
                                  struct xb_error *error)
{
    struct call call = begin(queue, "queue_check", XB_SPAN_KERNEL, "check", bytes);
    return end(&call, call.real->queue_check(queue, buffer, bytes, pattern, mismatch, error));
}

static enum xb_status queue_kernel_copy(struct xb_queue *queue, struct xb_buffer *target,
                                        uint64_t target_offset, struct xb_buffer *source,
                                        uint64_t source_offset, uint64_t bytes,
                                        enum xb_access access, unsigned together,
                                        struct xb_error *error)
{
    struct call call = begin(queue, "queue_kernel_copy", XB_SPAN_KERNEL, "copy by kernel", bytes);
    return end(&call, call.real->queue_kernel_copy(queue, target, target_offset, source,
                                                   source_offset, bytes, access, together, error));
}

static enum xb_status queue_compute(struct xb_queue *queue, struct xb_buffer *buffer,
                                    uint64_t offset, uint64_t bytes, uint64_t steps,
                                    struct xb_error *error)
{
    struct call call = begin(queue, "queue_compute", XB_SPAN_KERNEL, "compute", bytes);
    return end(&call, call.real->queue_compute(queue, buffer, offset, bytes, steps, error));
}

static enum xb_status queue_chain(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                                  enum xb_access access, struct xb_error *error)
{
    struct call call = begin(queue, "queue_chain", XB_SPAN_KERNEL, "chain", bytes);
    return end(&call, call.real->queue_chain(queue, buffer, bytes, access, error));
}

static enum xb_status queue_chase(struct xb_queue *queue, struct xb_buffer *chain,
                                  struct xb_buffer *cursor, uint64_t loads, unsigned turn,
                                  struct xb_error *error)
{
    struct call call = begin(queue, "queue_chase", XB_SPAN_KERNEL, "chase", 0);
    return end(&call, call.real->queue_chase(queue, chain, cursor, loads, turn, error));
}

static enum xb_status queue_kernel_pieces(struct xb_queue *queue, struct xb_pieces *list,
                                          unsigned blocks, struct xb_error *error)
{
    struct call call =
        begin(queue, "queue_kernel_pieces", XB_SPAN_KERNEL, "copy by kernel", list->bytes);
    return end(&call, call.real->queue_kernel_pieces(queue, list, blocks, error));
}

static enum xb_status queue_decode(struct xb_queue *queue, const struct xb_decoding *decoding,
                                   struct xb_error *error)
{
    struct call call = begin(queue, "queue_decode", XB_SPAN_KERNEL, "decode", decoding->bytes);
    return end(&call, call.real->queue_decode(queue, decoding, error));
}

static enum xb_status queue_digest(struct xb_queue *queue, struct xb_buffer *buffer,
                                   uint64_t offset, uint64_t bytes, struct xb_buffer *target,
                                   uint64_t target_offset, struct xb_error *error)
{
    struct call call = begin(queue, "queue_digest", XB_SPAN_KERNEL, "digest", bytes);
    return end(&call,
               call.real->queue_digest(queue, buffer, offset, bytes, target, target_offset, error));
}

/* ---- waits ---- */

static enum xb_status queue_wait_event(struct xb_queue *queue, struct xb_event *event,
                                       struct xb_error *error)
{
    struct call call = begin(queue, "queue_wait_event", XB_SPAN_WAIT, "wait for an event", 0);
    return end(&call, call.real->queue_wait_event(queue, event, error));
}

/* Notes that the calling thread waited from `begun` until now. */
static void note_wait(struct xb_recorder *recorder, const char *slot, double begun)
{
    struct xb_timeline_span span = {.kind = XB_SPAN_WAIT,
                                    .stage = recorder->stage,
                                    .item = recorder->item,
                                    .begin = begun,
                                    .end = xb_clock_now()};
    name_span(&span, slot);
    xb_recorder_add_call(recorder, &span);
}

static enum xb_status queue_wait(struct xb_queue *queue, struct xb_error *error)
{
    const struct xb_recorded_device *device = recorded(queue->device);
    double begun = xb_clock_now();
    enum xb_status status = device->real->queue_wait(queue, error);
    note_wait(device->recorder, "queue_wait", begun);
    return status;
}

static enum xb_status event_wait(struct xb_event *event, struct xb_error *error)
{
    const struct xb_recorded_device *device = recorded(event->device);
    double begun = xb_clock_now();
    enum xb_status status = device->real->event_wait(event, error);
    note_wait(device->recorder, "event_wait", begun);
    return status;
}

void xb_recorder_wrap(struct xb_recorded_device *device)
{
    struct xb_backend *table = &device->table;
    *table = *device->real;
    table->queue_copy = queue_copy;
    table->queue_copy_peer = queue_copy_peer;
    table->queue_copy_pieces = queue_copy_pieces;
    table->queue_copy_rows = queue_copy_rows;
    table->queue_graph = queue_graph;
    table->queue_prefetch = queue_prefetch;
    table->queue_fill = queue_fill;
    table->queue_check = queue_check;
    table->queue_kernel_copy = queue_kernel_copy;
    table->queue_compute = queue_compute;
    table->queue_chain = queue_chain;
    table->queue_chase = queue_chase;
    table->queue_kernel_pieces = queue_kernel_pieces;
    table->queue_decode = queue_decode;
    table->queue_digest = queue_digest;
    table->queue_wait_event = queue_wait_event;
    table->queue_wait = queue_wait;
    table->event_wait = event_wait;
}
