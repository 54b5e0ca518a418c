/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "measure.h"

#include "base/clock.h"

#include "base/interrupt.h"

#include <math.h>

bool xb_measure_out_of_time(const struct xb_measurement *measurement)
{
    const struct xb_run *run = measurement->run;
    return xb_run_should_stop(run) ||
           (run->deadline > 0 && xb_clock_now() + measurement->last_wall > run->deadline);
}

void xb_measure_note_cut(struct xb_measurement *measurement)
{
    measurement->result->stop_reason =
        xb_interrupt_signal() != 0 ? XB_STOP_INTERRUPTED : XB_STOP_DEADLINE;
}

void xb_measure_tell(const struct xb_measurement *measurement, size_t samples, double seconds)
{
    const struct xb_run_observer *observer = measurement->observer;
    if (observer != NULL && seconds > 0)
        observer->progress(observer->argument, measurement->run, samples,
                           (double)measurement->result->bytes_moved / seconds);
}

enum xb_status xb_measure_restore(const struct xb_measurement *measurement, struct xb_error *error)
{
    for (size_t i = 0; i < measurement->lane_count; i++) {
        struct xb_mode_context *context = &measurement->lanes[i].context;
        if (context->test->mode->restore != NULL)
            XB_TRY(context->test->mode->restore(context, error));
    }
    return XB_OK;
}

double xb_lane_seconds(const struct xb_lane *lane)
{
    const struct xb_mode_context *context = &lane->context;
    return !context->host_timed  ? lane->timing.device
           : context->host_waits ? lane->timing.wall
                                 : lane->timing.submit;
}

uint64_t xb_lane_operations(const struct xb_lane *lane)
{
    const struct xb_mode_context *context = &lane->context;
    unsigned here = context->share.of;
    unsigned there = context->peer_share.of;
    return context->operations_per_iteration * (here > there ? here : there);
}

/*
 * Has a lane's time count from the earliest start of all lanes whose clock is of the same device.
 * They are released together, but need not start together: a device that has fewer queues than the
 * lanes take begins one when another is done (GPU_MAX_HW_QUEUES, CUDA_DEVICE_MAX_CONNECTIONS). By
 * its own start alone each would seem as fast as without the others, and so would their sum.
 */
static enum xb_status count_from_earliest(struct xb_measurement *measurement, struct xb_lane *lane,
                                          struct xb_error *error)
{
    const struct xb_device *clock = lane->context.queues[0]->device;
    for (size_t i = 0; i < measurement->lane_count; i++) {
        const struct xb_lane *other = &measurement->lanes[i];
        double since = 0;
        if (other == lane || other->context.queues[0]->device != clock)
            continue;
        XB_TRY(xb_sampler_elapsed(&other->sampler, &lane->sampler, &since, error));
        lane->timing.device = fmax(lane->timing.device, since);
    }
    return XB_OK;
}

/* Waits for every lane that was begun, and fills in what each took. `status` is what beginning them
 * returned. */
static enum xb_status finish_lanes(struct xb_measurement *measurement, size_t begun,
                                   enum xb_status status, double *seconds, struct xb_error *error)
{
    *seconds = 0;
    for (size_t i = 0; i < begun; i++) {
        struct xb_lane *lane = &measurement->lanes[i];
        status = xb_sampler_finish(&lane->sampler, status, &lane->timing, error);
    }
    for (size_t i = 0; status == XB_OK && i < begun; i++) {
        struct xb_lane *lane = &measurement->lanes[i];
        status = count_from_earliest(measurement, lane, error);
        *seconds = fmax(*seconds, xb_lane_seconds(lane));
    }
    return status;
}

enum xb_status xb_measure_repeat(struct xb_measurement *measurement, xb_submit *submit,
                                 uint64_t iterations, bool held, double *seconds,
                                 struct xb_error *error)
{
    const struct xb_backend *backend = measurement->run->backend;
    double begin = xb_clock_now();
    XB_TRY(xb_measure_restore(measurement, error));
    enum xb_status status = XB_OK;
    size_t begun = 0;
    double started = xb_clock_now();
    if (backend->range_push != NULL)
        backend->range_push("sample");
    while (status == XB_OK && begun < measurement->lane_count) {
        struct xb_lane *lane = &measurement->lanes[begun++];
        status = xb_sampler_begin(&lane->sampler, submit, iterations, held, &lane->timing, error);
    }
    if (held)
        started = xb_clock_now();
    for (size_t i = 0; i < begun; i++)
        xb_sampler_release(&measurement->lanes[i].sampler);
    /* Looks at the links while the data is on its way, and counts that once its time is known. */
    for (size_t i = 0; measurement->looks_at_links && status == XB_OK && i < begun; i++)
        xb_link_look_make(measurement->run, measurement->lanes[i].where,
                          &measurement->lanes[i].look);
    status = finish_lanes(measurement, begun, status, seconds, error);
    for (size_t i = 0; measurement->looks_at_links && status == XB_OK && i < begun; i++) {
        struct xb_lane *lane = &measurement->lanes[i];
        xb_link_look_count(&lane->look, started, lane->timing.device, lane->where);
    }
    if (backend->range_pop != NULL)
        backend->range_pop();
    measurement->last_wall = xb_clock_now() - begin;
    return status;
}
