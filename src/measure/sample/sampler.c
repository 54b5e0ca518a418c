/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "sampler.h"

#include "base/clock.h"
#include "base/memory.h"

#include "measure/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Opens an event on the device of the queue that it will be recorded on. */
static enum xb_status open_event(const struct xb_mode_context *context, size_t queue,
                                 struct xb_event **event, struct xb_error *error)
{
    return context->device->backend->event_open(context->queues[queue]->device, event, error);
}

static enum xb_status open_events(struct xb_sampler *sampler, struct xb_error *error)
{
    const struct xb_mode_context *context = sampler->context;
    XB_TRY(open_event(context, 0, &sampler->start, error));
    XB_TRY(open_event(context, 0, &sampler->stop, error));
    for (size_t i = 0; i < context->queue_count; i++) {
        XB_TRY(open_event(context, i, &sampler->queues[i].join, error));
        if (context->span_count > 0)
            XB_TRY(open_event(context, i, &sampler->queues[i].start, error));
    }
    for (size_t i = 0; i < context->span_count; i++)
        XB_TRY(open_event(context, context->spans[i].first_queue, &sampler->span_stops[i], error));
    return XB_OK;
}

enum xb_status xb_sampler_open(struct xb_sampler *sampler, struct xb_mode_context *context,
                               struct xb_error *error)
{
    *sampler = (struct xb_sampler){.context = context,
                                   .queues = xb_new(context->queue_count, sizeof *sampler->queues)};
    enum xb_status status = open_events(sampler, error);
    if (status != XB_OK)
        xb_sampler_close(sampler);
    return status;
}

void xb_sampler_close(struct xb_sampler *sampler)
{
    if (sampler->context == NULL)
        return;
    const struct xb_backend *backend = sampler->context->device->backend;
    for (size_t i = 0; i < XB_SPANS; i++)
        backend->event_close(sampler->span_stops[i]);
    for (size_t i = 0; i < sampler->context->queue_count; i++) {
        backend->event_close(sampler->queues[i].join);
        backend->event_close(sampler->queues[i].start);
    }
    free(sampler->queues);
    backend->event_close(sampler->stop);
    backend->event_close(sampler->start);
    memset(sampler, 0, sizeof *sampler);
}

/* Starts the clock on the first queue, makes the others wait for it, and starts the spans'. */
static enum xb_status fork_queues(struct xb_sampler *sampler, struct xb_error *error)
{
    const struct xb_mode_context *context = sampler->context;
    const struct xb_backend *backend = context->device->backend;
    XB_TRY(backend->event_record(sampler->start, context->queues[0], error));
    for (size_t i = 1; i < context->queue_count; i++)
        XB_TRY(backend->queue_wait_event(context->queues[i], sampler->start, error));
    for (size_t i = 0; context->span_count > 0 && i < context->queue_count; i++)
        XB_TRY(backend->event_record(sampler->queues[i].start, context->queues[i], error));
    return XB_OK;
}

/* Makes queues[first] wait for the `count` - 1 queues behind it. */
static enum xb_status join(struct xb_sampler *sampler, size_t first, size_t count,
                           struct xb_error *error)
{
    const struct xb_mode_context *context = sampler->context;
    const struct xb_backend *backend = context->device->backend;
    for (size_t i = first + 1; i < first + count; i++) {
        struct xb_event *done = sampler->queues[i].join;
        XB_TRY(backend->event_record(done, context->queues[i], error));
        XB_TRY(backend->queue_wait_event(context->queues[first], done, error));
    }
    return XB_OK;
}

/* Stops each span's clock once its own queues are done, and makes the first queue wait for it. */
static enum xb_status join_spans(struct xb_sampler *sampler, struct xb_error *error)
{
    const struct xb_mode_context *context = sampler->context;
    const struct xb_backend *backend = context->device->backend;
    for (size_t i = 0; i < context->span_count; i++) {
        const struct xb_span *span = &context->spans[i];
        XB_TRY(join(sampler, span->first_queue, span->queue_count, error));
        XB_TRY(backend->event_record(sampler->span_stops[i], context->queues[span->first_queue],
                                     error));
    }
    /* Only once all clocks stand: else the first span's time would hold a wait for the second. */
    for (size_t i = 0; i < context->span_count; i++)
        if (context->spans[i].first_queue != 0)
            XB_TRY(backend->queue_wait_event(context->queues[0], sampler->span_stops[i], error));
    return XB_OK;
}

enum xb_status xb_sampler_begin(struct xb_sampler *sampler, xb_submit *submit, uint64_t iterations,
                                bool held, struct xb_timing *timing, struct xb_error *error)
{
    struct xb_mode_context *context = sampler->context;
    const struct xb_backend *backend = context->device->backend;
    memset(timing, 0, sizeof *timing);
    sampler->held = false;
    if (held)
        XB_TRY(backend->queue_hold(context->queues[0], error));
    sampler->held = held;
    XB_TRY(fork_queues(sampler, error));
    sampler->begin = xb_clock_now();
    for (uint64_t i = 0; i < iterations; i++)
        XB_TRY(submit(context, error));
    timing->submit = xb_clock_now() - sampler->begin;
    XB_TRY(context->span_count > 0 ? join_spans(sampler, error)
                                   : join(sampler, 0, context->queue_count, error));
    return backend->event_record(sampler->stop, context->queues[0], error);
}

void xb_sampler_release(struct xb_sampler *sampler)
{
    const struct xb_mode_context *context = sampler->context;
    if (sampler->held)
        context->device->backend->queue_release(context->queues[0]);
}

enum xb_status xb_queues_wait(struct xb_queue *const *queues, size_t count, enum xb_status status,
                              struct xb_error *error)
{
    for (size_t i = 0; i < count; i++) {
        struct xb_error later;
        enum xb_status waited = queues[i]->device->backend->queue_wait(queues[i], &later);
        if (status == XB_OK && waited != XB_OK) {
            status = waited;
            *error = later;
        }
    }
    return status;
}

/* Waits for every queue. The first ends last, because it joins the others. */
static enum xb_status wait_for_queues(struct xb_sampler *sampler, enum xb_status status,
                                      struct xb_timing *timing, struct xb_error *error)
{
    const struct xb_mode_context *context = sampler->context;
    status = xb_queues_wait(context->queues, 1, status, error);
    timing->wall = xb_clock_now() - sampler->begin;
    return xb_queues_wait(context->queues + 1, context->queue_count - 1, status, error);
}

/*
 * Reads the time of a span. Its queues wait for the same event but need not start together: the
 * copy engine may serve all of one queue before another's first operation, its start event
 * included. So the earliest start counts. Queues of another device than the first queue's are left
 * out: their events cannot be compared with its events.
 */
static enum xb_status read_span(const struct xb_sampler *sampler, size_t index, double *seconds,
                                struct xb_error *error)
{
    const struct xb_mode_context *context = sampler->context;
    const struct xb_span *span = &context->spans[index];
    *seconds = 0;
    for (size_t i = span->first_queue; i < span->first_queue + span->queue_count; i++) {
        double since = 0;
        if (context->queues[i]->device != context->queues[span->first_queue]->device)
            continue;
        XB_TRY(context->device->backend->event_elapsed(sampler->queues[i].start,
                                                       sampler->span_stops[index], &since, error));
        *seconds = since > *seconds ? since : *seconds;
    }
    return XB_OK;
}

enum xb_status xb_sampler_finish(struct xb_sampler *sampler, enum xb_status status,
                                 struct xb_timing *timing, struct xb_error *error)
{
    const struct xb_mode_context *context = sampler->context;
    const struct xb_backend *backend = context->device->backend;
    XB_TRY(wait_for_queues(sampler, status, timing, error));
    XB_TRY(backend->event_elapsed(sampler->start, sampler->stop, &timing->device, error));
    for (size_t i = 0; i < context->span_count; i++)
        XB_TRY(read_span(sampler, i, &timing->spans[i], error));
    return XB_OK;
}

enum xb_status xb_sampler_repeat(struct xb_sampler *sampler, xb_submit *submit, uint64_t iterations,
                                 bool held, struct xb_timing *timing, struct xb_error *error)
{
    enum xb_status status = xb_sampler_begin(sampler, submit, iterations, held, timing, error);
    xb_sampler_release(sampler);
    return xb_sampler_finish(sampler, status, timing, error);
}

enum xb_status xb_sampler_repeat_bare(struct xb_sampler *sampler, xb_submit *submit,
                                      struct xb_timing *timing, struct xb_error *error)
{
    memset(timing, 0, sizeof *timing);
    sampler->begin = xb_clock_now();
    enum xb_status status = submit(sampler->context, error);
    timing->submit = xb_clock_now() - sampler->begin;
    status = wait_for_queues(sampler, status, timing, error);
    /* No queue joined the others, so the end of the last one counts. */
    timing->wall = xb_clock_now() - sampler->begin;
    return status;
}

/* At most: more than one, because the first finds caches and clocks cold. Two that agree are
 * enough. */
#define TIME_REPETITIONS 3

/* The least time of some repetitions. */
static enum xb_status find_least(struct xb_sampler *sampler, xb_submit *submit, double *seconds,
                                 struct xb_error *error)
{
    double last = 0;
    *seconds = INFINITY;
    for (int i = 0; i < TIME_REPETITIONS; i++) {
        struct xb_timing timing;
        if (xb_run_should_stop(sampler->context->run))
            return XB_FAIL(error, XB_ERR_STOPPED, "setting up was not finished");
        XB_TRY(xb_sampler_repeat(sampler, submit, 1, false, &timing, error));
        *seconds = fmin(*seconds, timing.device);
        if (i > 0 && xb_times_agree(last, timing.device))
            break;
        last = timing.device;
    }
    return XB_OK;
}

enum xb_status xb_mode_time(struct xb_mode_context *context, xb_submit *submit, double *seconds,
                            struct xb_error *error)
{
    struct xb_sampler sampler;
    XB_TRY(xb_sampler_open(&sampler, context, error));
    enum xb_status status = find_least(&sampler, submit, seconds, error);
    xb_sampler_close(&sampler);
    return status;
}
