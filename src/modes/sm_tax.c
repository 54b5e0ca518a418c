/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "batch.h"

#include "base/clock.h"
#include "measure/run.h"

#include <math.h>

/* What programs compute beside a transfer is many kernels and not one: a kernel that takes all of a
 * device lets another's blocks in only when it ends. This many of them go into the time of one
 * iteration, if that leaves each long enough. */
#define KERNELS_AN_ITERATION 20
#define LONGEST_S 400e-6
/* Each computes for so many times as long as it takes to read and write its words: else it would be
 * the memory that both want. */
#define COMPUTES 3.0

/* They go on for longer than the iteration takes, which may be slower beside them. */
#define LONGER 2.0
#define MOST_KERNELS 800

#define REPETITIONS 3

const struct xb_figure xb_figure_sm_tax = {
    XB_FIGURE_NUMBER("sm_tax", "How much slower kernels compute while the transfer runs: the time "
                               "that they lose, divided by the transfer's time")};

/* The kernels, and the clock on their queue. */
struct load {
    struct xb_mode_context *context;
    struct xb_buffer *buffer;
    struct xb_event *start, *stop;
    uint64_t steps;
    unsigned kernels;
    bool first; /* the kernels are enqueued before the iteration */
};

static enum xb_status enqueue(const struct load *load, struct xb_error *error)
{
    struct xb_mode_context *context = load->context;
    const struct xb_backend *backend = context->device->backend;
    enum xb_status status = backend->event_record(load->start, context->queues[1], error);
    for (unsigned i = 0; status == XB_OK && i < load->kernels; i++)
        status = backend->queue_compute(context->queues[1], load->buffer, 0, XB_SM_TAX_BYTES,
                                        load->steps, error);
    return status != XB_OK ? status : backend->event_record(load->stop, context->queues[1], error);
}

static enum xb_status wait_for(const struct load *load, double *seconds, struct xb_error *error)
{
    const struct xb_backend *backend = load->context->device->backend;
    XB_TRY(backend->queue_wait(load->context->queues[1], error));
    return backend->event_elapsed(load->start, load->stop, seconds, error);
}

static enum xb_status time_alone(const struct load *load, double *seconds, struct xb_error *error)
{
    enum xb_status status = enqueue(load, error);
    struct xb_error later;
    enum xb_status waited = wait_for(load, seconds, status == XB_OK ? error : &later);
    return status != XB_OK ? status : waited;
}

/* Both at the same time: what the kernels took and what the iteration took. */
static enum xb_status time_beside(const struct load *load, xb_submit *submit, double *seconds,
                                  double *iteration, struct xb_error *error)
{
    struct xb_mode_context *context = load->context;
    struct xb_error later;
    double begin = xb_clock_now();
    enum xb_status status = load->first ? enqueue(load, error) : submit(context, error);
    if (status == XB_OK)
        status = load->first ? submit(context, error) : enqueue(load, error);
    enum xb_status waited =
        context->device->backend->queue_wait(context->queues[0], status == XB_OK ? error : &later);
    *iteration = xb_clock_now() - begin;
    status = status != XB_OK ? status : waited;
    waited = wait_for(load, seconds, status == XB_OK ? error : &later);
    return status != XB_OK ? status : waited;
}

/* Finds the steps with which a kernel takes about as long as it should. */
static enum xb_status tune(struct load *load, double seconds, struct xb_error *error)
{
    double alone = 0;
    double few = 0;
    load->kernels = 8;
    load->steps = 1;
    /* Once to warm up; then few steps, and more: from there the time grows along a line. */
    for (int i = 0; i < 2; i++) {
        XB_TRY(time_alone(load, &few, error));
    }
    const uint64_t more = 65;
    load->steps = more;
    XB_TRY(time_alone(load, &alone, error));
    double target =
        fmax(fmin(seconds / KERNELS_AN_ITERATION, LONGEST_S), COMPUTES * few / load->kernels);
    double a_step = (alone - few) / load->kernels / (double)(more - 1);
    double left = target - few / load->kernels;
    load->steps = a_step > 0 && left > 0 ? 1 + (uint64_t)fmin(left / a_step, 1e6) : 1;
    XB_TRY(time_alone(load, &alone, error));
    double kernels = ceil(LONGER * seconds / (alone / load->kernels));
    load->kernels = kernels < MOST_KERNELS ? (unsigned)kernels + 1 : MOST_KERNELS;
    return XB_OK;
}

static enum xb_status measure(struct load *load, xb_submit *submit, double seconds,
                              struct xb_result *result, struct xb_error *error)
{
    struct xb_mode_context *context = load->context;
    const struct xb_backend *backend = context->device->backend;
    XB_TRY(xb_proof_fill(context->queues[1], load->buffer, XB_SM_TAX_BYTES,
                         xb_proof_before(context->test->seed), error));
    XB_TRY(backend->event_open(context->device, &load->start, error));
    XB_TRY(backend->event_open(context->device, &load->stop, error));
    XB_TRY(tune(load, seconds, error));
    for (int i = 0; i < REPETITIONS; i++) {
        double alone = 0;
        double beside = 0;
        double iteration = 0;
        if (xb_run_should_stop(context->run))
            return XB_OK;
        XB_TRY(time_alone(load, &alone, error));
        XB_TRY(time_beside(load, submit, &beside, &iteration, error));
        /* Less than nothing is noise. */
        XB_TRY(xb_result_sample(result, &xb_figure_sm_tax,
                                fmax((beside - alone) / fmin(iteration, beside), 0), error));
    }
    return XB_OK;
}

enum xb_status xb_sm_tax_measure(struct xb_mode_context *context, xb_submit *submit, double seconds,
                                 bool keeps_caller, unsigned number, struct xb_result *result,
                                 struct xb_error *error)
{
    const struct xb_backend *backend = context->device->backend;
    struct load load = {.context = context, .first = keeps_caller};
    if (xb_run_should_stop(context->run))
        return XB_OK;
    XB_TRY(xb_workspace_buffer(context->workspace, number, XB_MEMORY_DEVICE, XB_SM_TAX_BYTES, false,
                               &load.buffer, error));
    enum xb_status status = measure(&load, submit, seconds, result, error);
    backend->event_close(load.stop);
    backend->event_close(load.start);
    return status;
}
