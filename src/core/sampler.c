/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "sampler.h"

#include "clock.h"

#include <stdlib.h>
#include <string.h>

enum xb_status xb_sampler_open(struct xb_sampler *sampler, struct xb_mode_context *context,
                               struct xb_error *error)
{
    const struct xb_backend *backend = context->device->backend;
    size_t join_count = context->queue_count - 1;
    memset(sampler, 0, sizeof *sampler);
    sampler->context = context;
    enum xb_status status = backend->event_open(context->device, &sampler->start, error);
    if (status == XB_OK)
        status = backend->event_open(context->device, &sampler->stop, error);
    if (status == XB_OK) {
        sampler->joins = calloc(join_count + 1, sizeof(struct xb_event *));
        if (sampler->joins == NULL)
            status = XB_FAIL(error, XB_ERR_MEMORY, "no memory for %zu events", join_count);
    }
    for (size_t i = 0; status == XB_OK && i < join_count; i++)
        status = backend->event_open(context->device, &sampler->joins[i], error);
    if (status != XB_OK)
        xb_sampler_close(sampler);
    return status;
}

void xb_sampler_close(struct xb_sampler *sampler)
{
    if (sampler->context == NULL)
        return;
    const struct xb_backend *backend = sampler->context->device->backend;
    for (size_t i = 0; sampler->joins != NULL && i + 1 < sampler->context->queue_count; i++)
        backend->event_close(sampler->joins[i]);
    free(sampler->joins);
    backend->event_close(sampler->stop);
    backend->event_close(sampler->start);
    memset(sampler, 0, sizeof *sampler);
}

/* Starts the clock on the first queue and makes the others wait for it. */
static enum xb_status fork_queues(struct xb_sampler *sampler, struct xb_error *error)
{
    const struct xb_mode_context *context = sampler->context;
    const struct xb_backend *backend = context->device->backend;
    enum xb_status status = backend->event_record(sampler->start, context->queues[0], error);
    for (size_t i = 1; status == XB_OK && i < context->queue_count; i++)
        status = backend->queue_wait_event(context->queues[i], sampler->start, error);
    return status;
}

/* Stops the clock on the first queue once all queues are done. */
static enum xb_status join_queues(struct xb_sampler *sampler, struct xb_error *error)
{
    const struct xb_mode_context *context = sampler->context;
    const struct xb_backend *backend = context->device->backend;
    enum xb_status status = XB_OK;
    for (size_t i = 1; status == XB_OK && i < context->queue_count; i++) {
        status = backend->event_record(sampler->joins[i - 1], context->queues[i], error);
        if (status == XB_OK)
            status = backend->queue_wait_event(context->queues[0], sampler->joins[i - 1], error);
    }
    if (status == XB_OK)
        status = backend->event_record(sampler->stop, context->queues[0], error);
    return status;
}

/* Enqueues the whole repetition. */
static enum xb_status enqueue(struct xb_sampler *sampler, uint64_t iterations,
                              struct xb_timing *timing, double *begin, struct xb_error *error)
{
    struct xb_mode_context *context = sampler->context;
    enum xb_status status = fork_queues(sampler, error);
    if (status != XB_OK)
        return status;
    *begin = xb_clock_now();
    for (uint64_t i = 0; status == XB_OK && i < iterations; i++)
        status = context->test->mode->submit(context, error);
    timing->submit = xb_clock_now() - *begin;
    if (status == XB_OK)
        status = join_queues(sampler, error);
    return status;
}

enum xb_status xb_sampler_take(struct xb_sampler *sampler, uint64_t iterations, bool held,
                               struct xb_timing *timing, struct xb_error *error)
{
    const struct xb_mode_context *context = sampler->context;
    const struct xb_backend *backend = context->device->backend;
    struct xb_queue *clock_queue = context->queues[0];
    double begin = 0;

    memset(timing, 0, sizeof *timing);
    if (held) {
        enum xb_status status = backend->queue_hold(clock_queue, error);
        if (status != XB_OK)
            return status;
    }
    enum xb_status status = enqueue(sampler, iterations, timing, &begin, error);
    if (held)
        backend->queue_release(clock_queue);

    /* Every queue is waited for even after a failure: nothing may be in flight when buffers go. */
    for (size_t i = 0; i < context->queue_count; i++) {
        struct xb_error later;
        enum xb_status waited = backend->queue_wait(context->queues[i], &later);
        if (status == XB_OK && waited != XB_OK) {
            status = waited;
            *error = later;
        }
        if (i == 0 && !held) /* the first queue ends last: it joins the others */
            timing->wall = xb_clock_now() - begin;
    }
    if (status != XB_OK)
        return status;
    return backend->event_elapsed(sampler->start, sampler->stop, &timing->device, error);
}
