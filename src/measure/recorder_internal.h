/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Shared between the files of the recorder. */

#include "xferbench/backend.h"
#include "xferbench/timeline.h"

#include <pthread.h>

/* The most operations of devices that are recorded: each has two events. */
#define XB_RECORDED_OPERATIONS 16384u
/* The most spans of threads: several calls, turns and waits an operation. */
#define XB_RECORDED_CALLS ((size_t)8 * XB_RECORDED_OPERATIONS)

/* Where a device's clock stands against the host's: a time of the device, since its base event, is
 * so many seconds later on the host's clock. */
struct xb_alignment {
    double offset;
    double half; /* the offset is no further from the true one */
};

/* A device while it is recorded. */
struct xb_recorded_device {
    struct xb_backend table; /* stands in for the real one */
    struct xb_recorder *recorder;
    struct xb_device *device;
    const struct xb_backend *real;
    struct xb_queue *queue; /* one of the device's */
    struct xb_event *base;  /* its times count from here */
    struct xb_event *probe;
    struct xb_alignment before, after; /* the iteration */
    double offset;                     /* what is made of both */
};

struct xb_recorded_queue {
    struct xb_queue *queue;
    size_t device;   /* index */
    unsigned number; /* among the device's */
};

/* What a queue did, between two events. */
struct xb_recorded_operation {
    size_t queue;                  /* index */
    struct xb_event *start, *stop; /* NULL: not opened */
    double enqueued;               /* by the host's clock, before the first event was */
    struct xb_timeline_span span;
};

struct xb_recorder {
    struct xb_recorded_device *devices;
    size_t device_count;
    struct xb_recorded_queue *queues;
    size_t queue_count, queue_room;
    struct xb_recorded_operation *operations;
    size_t operation_count, operation_room;
    /* Of threads; `track` is the thread's number. Several threads add to them. */
    struct xb_timeline_span *calls;
    size_t call_count, call_room;
    pthread_mutex_t lock; /* of the calls, left_out and the failure */
    uint64_t left_out, flows;
    const char *stage; /* of what is enqueued now */
    uint64_t item;
    unsigned workers;
    double begin, end; /* of the iteration, by the host's clock */
    bool has_failed;   /* to record: nothing more is */
    struct xb_error failure;
};

/* recorder.c */
void xb_recorder_fail(struct xb_recorder *recorder, const struct xb_error *error);
/* Adds a span of a thread, whose number is in its `track`. */
void xb_recorder_add_call(struct xb_recorder *recorder, const struct xb_timeline_span *span);
/* A place for one more operation of the queue; NULL where none is to be recorded. */
struct xb_recorded_operation *xb_recorder_add_operation(struct xb_recorder *recorder,
                                                        struct xb_queue *queue);

/* recorder_slots.c: makes the device's table out of the real one. */
void xb_recorder_wrap(struct xb_recorded_device *device);

/* recorder_clock.c: opens what aligning takes, and aligns for the first time. */
XB_MUST_CHECK enum xb_status xb_recorder_align(struct xb_recorded_device *device,
                                               struct xb_alignment *alignment,
                                               struct xb_error *error);
/* Gives every operation its times on the host's clock, and tells by how much they may be off. */
XB_MUST_CHECK enum xb_status xb_recorder_resolve(struct xb_recorder *recorder, double *clock_error,
                                                 struct xb_error *error);
