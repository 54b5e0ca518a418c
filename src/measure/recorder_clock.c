/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * When operations ran, on the host's clock. A device tells times between two events only. An event
 * on an idle queue is reached after the call that records it and before the wait for it returns:
 * that says where the device's clock stands, as narrowly as both are apart.
 */
#include "recorder_internal.h"

#include "base/clock.h"

#include <math.h>

/* How often a clock is looked at; the narrowest look counts. */
#define LOOKS 20
/* What rounding may make of two times that are one: cudaEventElapsedTime gives a float. */
#define NOISE_S 1e-6
/* A float of milliseconds is good for 30 ns up to here: times further on count from a nearer event.
 */
#define FAR_S 0.25
/* Keeps an operation behind its call when both are rounded to nanoseconds. */
#define MARGIN_S 2e-9

static enum xb_status look(const struct xb_recorded_device *device, struct xb_alignment *seen,
                           struct xb_error *error)
{
    double since = 0;
    double before = xb_clock_now();
    enum xb_status status = device->real->event_record(device->probe, device->queue, error);
    if (status == XB_OK)
        status = device->real->event_wait(device->probe, error);
    double after = xb_clock_now();
    if (status == XB_OK)
        status = device->real->event_elapsed(device->base, device->probe, &since, error);
    *seen =
        (struct xb_alignment){.offset = (before + after) / 2 - since, .half = (after - before) / 2};
    return status;
}

enum xb_status xb_recorder_align(struct xb_recorded_device *device, struct xb_alignment *alignment,
                                 struct xb_error *error)
{
    if (device->base == NULL) {
        const struct xb_backend *real = device->real;
        XB_TRY(real->event_open(device->device, &device->probe, error));
        XB_TRY(real->event_open(device->device, &device->base, error));
        XB_TRY(real->event_record(device->base, device->queue, error));
    }
    XB_TRY(device->real->queue_wait(device->queue, error));
    for (size_t i = 0; i < LOOKS; i++) {
        struct xb_alignment seen;
        XB_TRY(look(device, &seen, error));
        if (i == 0 || seen.half < alignment->half)
            *alignment = seen;
    }
    return XB_OK;
}

/* Both looks bound what the clocks may have drifted apart between them. Returns the error. */
static double join_looks(struct xb_recorded_device *device)
{
    bool is_first = device->before.half <= device->after.half;
    const struct xb_alignment *near = is_first ? &device->before : &device->after;
    const struct xb_alignment *other = is_first ? &device->after : &device->before;
    device->offset = near->offset;
    return fmax(near->half, fabs(other->offset - near->offset) + other->half);
}

/* Times of a queue, while its operations are gone through. */
struct course {
    struct xb_event *base;
    double base_time; /* since the device's base */
    double end;       /* of the latest operation */
    bool has_end;
};

/* Fills in when the operation ran, on the device's clock. */
static enum xb_status read_times(const struct xb_backend *real, struct course *course,
                                 struct xb_recorded_operation *operation, struct xb_error *error)
{
    struct xb_timeline_span *span = &operation->span;
    double since = 0;
    double took = 0;
    XB_TRY(real->event_elapsed(course->base, operation->start, &since, error));
    XB_TRY(real->event_elapsed(operation->start, operation->stop, &took, error));
    double begin = course->base_time + since;
    if ((course->has_end && begin < course->end - NOISE_S) || took < -NOISE_S)
        return XB_FAIL(error, XB_ERR_RUNTIME,
                       "operations of one queue are %.3g us out of order by the device's clock",
                       1e6 * fmax(course->end - begin, -took));
    span->begin = course->has_end ? fmax(begin, course->end) : begin;
    span->end = fmax(begin + took, span->begin);
    if (since > FAR_S) {
        course->base = operation->start;
        course->base_time = begin;
    }
    course->end = span->end;
    course->has_end = true;
    return XB_OK;
}

static enum xb_status read_queue(struct xb_recorder *recorder, size_t queue, struct xb_error *error)
{
    const struct xb_recorded_device *device = &recorder->devices[recorder->queues[queue].device];
    struct course course = {.base = device->base};
    for (size_t i = 0; i < recorder->operation_count; i++)
        if (recorder->operations[i].queue == queue)
            XB_TRY(read_times(device->real, &course, &recorder->operations[i], error));
    return XB_OK;
}

/* Nothing begins before it was enqueued, nor ends after all was waited for: where the looks leave
 * room for that, the clocks are brought closer. Returns by how much they moved. */
static double keep_order(struct xb_recorder *recorder, size_t index)
{
    struct xb_recorded_device *device = &recorder->devices[index];
    double least = -INFINITY;
    for (size_t i = 0; i < recorder->operation_count; i++) {
        const struct xb_recorded_operation *operation = &recorder->operations[i];
        if (recorder->queues[operation->queue].device == index)
            least = fmax(least, operation->enqueued - operation->span.begin);
    }
    double moved = fmax(least + MARGIN_S - device->offset, 0);
    device->offset += moved;
    return moved;
}

enum xb_status xb_recorder_resolve(struct xb_recorder *recorder, double *clock_error,
                                   struct xb_error *error)
{
    *clock_error = 0;
    for (size_t i = 0; i < recorder->queue_count; i++)
        XB_TRY(read_queue(recorder, i, error));
    for (size_t i = 0; i < recorder->device_count; i++) {
        double off = join_looks(&recorder->devices[i]);
        off += keep_order(recorder, i);
        *clock_error = fmax(*clock_error, off);
    }
    for (size_t i = 0; i < recorder->operation_count; i++) {
        struct xb_recorded_operation *operation = &recorder->operations[i];
        size_t device = recorder->queues[operation->queue].device;
        double offset = recorder->devices[device].offset - recorder->begin;
        operation->span.begin += offset;
        operation->span.end += offset;
    }
    return XB_OK;
}
