/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* One repetition of a case on all of its lanes, and a look at their links meanwhile. */
#include "measure.h"

#include "base/clock.h"
#include "base/interrupt.h"
#include "measure/plan/case.h"
#include "sampler.h"

#include <math.h>
#include <string.h>

static const char *sysfs_of(const struct xb_run *run)
{
    return run->sysfs != NULL ? run->sysfs : XB_PCI_DEVICES;
}

void xb_link_load_open(const struct xb_run *run, struct xb_run_device *device)
{
    xb_pcie_path_read(sysfs_of(run), device->info.pci_bdf, &device->path);
    memset(&device->load, 0, sizeof device->load);
    device->load.count = xb_pcie_path_hops(&device->path);
}

void xb_link_look_make(const struct xb_run *run, const struct xb_run_device *device,
                       struct xb_link_look *look)
{
    memset(look, 0, sizeof *look);
    for (size_t i = 0; i < device->load.count; i++)
        if (!xb_pcie_hop_read(sysfs_of(run), &device->path.hops[i], &look->hops[i].speed_gts,
                              &look->hops[i].width))
            look->hops[i].width = 0;
    look->end = xb_clock_now();
}

void xb_link_look_count(const struct xb_link_look *look, double begin, double seconds,
                        struct xb_run_device *device)
{
    for (size_t i = 0; look->end < begin + seconds && i < device->load.count; i++) {
        struct xb_pcie_seen *seen = &device->load.hops[i];
        if (look->hops[i].width == 0)
            continue;
        seen->readings++;
        seen->speed_gts = fmax(seen->speed_gts, look->hops[i].speed_gts);
        if (look->hops[i].width > seen->width)
            seen->width = look->hops[i].width;
    }
}

/* ---- a repetition ---- */

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
    if (observer != NULL && observer->progress != NULL && seconds > 0)
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

uint64_t xb_most_operations(const struct xb_measurement *measurement)
{
    const struct xb_run *run = measurement->run;
    uint64_t most = 0;
    for (size_t d = 0; d < run->device_count; d++) {
        uint64_t here = 0;
        for (size_t i = 0; i < measurement->lane_count; i++) {
            const struct xb_mode_context *context = &measurement->lanes[i].context;
            if (xb_case_concerns(context->test, run->devices[d].info.index))
                here += context->operations_per_iteration;
        }
        most = here > most ? here : most;
    }
    return most;
}

/*
 * Waits for every lane that was begun, and fills in what each took. `status` is what beginning them
 * returned. A lane's time counts from the earliest start of all lanes whose clock is of the same
 * device: they are released together, but need not start together, because a device that has fewer
 * queues than the lanes take begins one when another is done (GPU_MAX_HW_QUEUES,
 * CUDA_DEVICE_MAX_CONNECTIONS). By its own start alone each would seem as fast as without the
 * others, and so would their sum. Between devices the host's releases tell who began later: it may
 * have been interrupted between them.
 */
static enum xb_status finish_lanes(struct xb_measurement *measurement, size_t begun,
                                   enum xb_status status, double *seconds, struct xb_error *error)
{
    struct xb_lane *lanes = measurement->lanes;
    *seconds = 0;
    for (size_t i = 0; i < begun; i++)
        status = xb_sampler_finish(&lanes[i].sampler, status, &lanes[i].timing, error);
    XB_TRY(status);
    for (size_t i = 0; i < begun; i++) {
        const struct xb_device *clock = lanes[i].context.queues[0]->device;
        size_t first = 0; /* of its device */
        while (lanes[first].context.queues[0]->device != clock)
            first++;
        lanes[i].lag = lanes[first].released - lanes[0].released;
        for (size_t k = 0; k < measurement->lane_count; k++) {
            double since = 0;
            if (k == i || lanes[k].context.queues[0]->device != clock)
                continue;
            XB_TRY(clock->backend->event_elapsed(lanes[k].sampler.start, lanes[i].sampler.stop,
                                                 &since, error));
            lanes[i].timing.device = fmax(lanes[i].timing.device, since);
        }
        *seconds = fmax(*seconds, lanes[i].lag + xb_lane_seconds(&lanes[i]));
    }
    return XB_OK;
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
        status = xb_sampler_begin(&lane->sampler,
                                  submit != NULL ? submit : lane->context.test->mode->submit,
                                  iterations, held, &lane->timing, error);
    }
    if (held)
        started = xb_clock_now();
    for (size_t i = 0; i < begun; i++) {
        measurement->lanes[i].released = begun > 1 ? xb_clock_now() : started;
        xb_sampler_release(&measurement->lanes[i].sampler);
    }
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
