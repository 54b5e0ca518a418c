/* SPDX-License-Identifier: Apache-2.0 */
/* One copy between ordinary host memory and the device: as a program that never heard of pinning
 * makes it, or through page-locked memory of its own. */
#include "modes/readings/readings.h"
#include "ring.h"
#include "transfer.h"

#include "machine/host_memory.h"

#include <math.h>
#include <string.h>

static const struct xb_option option_staging = {
    XB_CHOICES("staging", "WHO", "driver,ring",
               "Who copies pageable memory piece by piece through page-locked memory: 'driver' the "
               "runtime's own copy, 'ring' host threads (--threads) through their own ring "
               "(--ring-chunk, --ring-slots).",
               "driver", "ring")};

const struct xb_option xb_option_target = {
    XB_CHOICES("target", "STATE", "kept",
               "What a copy to the host finds there: 'kept' memory that is used again and again; "
               "'fresh' memory of which no page was touched, so that first touch is part of the "
               "copy, as it is of tensor.cpu().",
               "kept", "fresh")};

struct state {
    struct xb_transfer transfer; /* first: the shared hooks find it there */
    struct xb_buffer *slots;     /* of the ring */
    struct xb_ring *ring;        /* NULL: the driver does it */
};

static bool has_ring(const struct xb_case *test)
{
    return strcmp(test->variant, "ring") == 0;
}

static bool is_fresh(const struct xb_case *test)
{
    return xb_case_is(test, &xb_option_target, "fresh");
}

static void buffers(const struct xb_case *test, struct xb_buffers *all)
{
    xb_transfer_take(test, XB_MEMORY_PAGEABLE, all);
    if (!has_ring(test))
        return;
    const struct xb_ring_plan plan = xb_ring_plan_of(test);
    xb_take(all, XB_FIXED, XB_MEMORY_PINNED, xb_ring_bytes(&plan), offsetof(struct state, slots));
}

static enum xb_status check_options(const struct xb_case *test, struct xb_error *error)
{
    return has_ring(test) ? xb_chunk_check(test, &xb_option_ring_chunk, XB_RING_OPERATIONS, error)
                          : XB_OK;
}

static enum xb_status check(const struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_case *test = context->test;
    if (!is_fresh(test))
        return XB_OK;
    if (test->direction != XB_D2H)
        return XB_FAIL(error, XB_ERR_UNSUPPORTED,
                       "--target fresh is about copies to the host: this one reads memory there");
    if (test->bytes < 2 * xb_page_bytes())
        return XB_FAIL(error, XB_ERR_UNSUPPORTED,
                       "less than two pages (%llu bytes) need have no page of their own",
                       (unsigned long long)(2 * xb_page_bytes()));
    return XB_OK;
}

static enum xb_status setup(struct xb_mode_context *context, struct xb_error *error)
{
    struct state *state = context->state;
    XB_TRY(xb_transfer_setup(context, 1, error));
    context->one_iteration = is_fresh(context->test);
    if (!has_ring(context->test))
        return XB_OK;
    const struct xb_ring_plan plan = xb_ring_plan_of(context->test);
    context->host_timed = context->host_waits = true;
    context->operations_per_iteration = xb_ring_operations(&plan, context->test->bytes);
    return xb_ring_open(context, &plan, state->slots, &state->ring, error);
}

static enum xb_status copy_by_ring(struct xb_mode_context *context, xb_ring_submitter *submit,
                                   struct xb_error *error)
{
    const struct state *state = context->state;
    const struct xb_way *way = &state->transfer.ways[0];
    const struct xb_ring_copy copy = {.to_device = context->test->direction == XB_H2D,
                                      .queue = context->queues[0],
                                      .device = way->device,
                                      .device_offset = way->device_offset,
                                      .host = (char *)way->host->host_address + way->host_offset,
                                      .bytes = context->test->bytes};
    return submit(state->ring, &copy, error);
}

XB_SUBMIT(submit_host_copies, copy_by_ring, xb_ring_submit_host)
XB_SUBMIT(submit_device_copies, copy_by_ring, xb_ring_submit_device)

static enum xb_status submit(struct xb_mode_context *context, struct xb_error *error)
{
    return has_ring(context->test) ? copy_by_ring(context, xb_ring_submit, error)
                                   : xb_transfer_submit(context, error);
}

/* Gives back what is not kept: all whole pages of the target. */
static enum xb_status restore(struct xb_mode_context *context, struct xb_error *error)
{
    const struct state *state = context->state;
    const struct xb_way *way = &state->transfer.ways[0];
    (void)error;
    if (is_fresh(context->test))
        xb_pages_drop((char *)way->host->host_address + way->host_offset, context->test->bytes);
    return XB_OK;
}

XB_OWN_FIGURE(RATE, host_copy_rate,
              "The copies of the host's threads alone, between memory and ring");
XB_OWN_FIGURE(RATE, ring_link_rate, "The device's copies alone, between ring and device");

static bool is_wanted(const struct xb_mode_context *context)
{
    return has_ring(context->test) && !context->test->latency;
}

static enum xb_status verify(struct xb_mode_context *context, struct xb_result *result,
                             struct xb_error *error)
{
    XB_TRY(xb_transfer_verify(context, result, error));
    if (!is_wanted(context))
        return XB_OK;
    xb_host_rate_tell(context, result);
    const struct xb_ring_plan plan = xb_ring_plan_of(context->test);
    xb_result_detail_number(result, "threads", plan.threads);
    xb_result_detail_number(result, "ring_chunk_bytes", (double)plan.chunk);
    xb_result_detail_number(result, "ring_bytes", (double)xb_ring_bytes(&plan));
    double bound =
        fmin(xb_result_median(result, &host_copy_rate), xb_result_median(result, &ring_link_rate));
    if (bound > 0)
        xb_result_compute(result, &xb_figure_share_of_bound, result->bandwidth.median / bound);
    return XB_OK;
}

static void teardown(struct xb_mode_context *context)
{
    const struct state *state = context->state;
    xb_ring_close(state->ring);
    xb_transfer_teardown(context);
}

const struct xb_mode xb_mode_pageable = {
    .name = "pageable",
    .summary =
        "ordinary host memory, staged through page-locked memory by the driver or by threads",
    .description =
        "Copies one buffer of ordinary (pageable) host memory; every page was touched before, but "
        "for --target fresh. "
        "Most GPUs cannot read such memory (those with HMM or ATS can: see xferbench list), so "
        "somebody copies it piece by piece through page-locked memory. With --staging driver the "
        "driver does. That costs CPU time, and the call that starts the copy may return only "
        "when the data is moved. So the queue is never held, and SUBMIT shows how long the call "
        "took to return; --call sync makes the synchronous call instead. With --staging ring host "
        "threads copy through a small ring of "
        "page-locked chunks while the device copies the chunks before; up to 512 KiB the calling "
        "thread copies alone, unless --threads is given. The host's clock times it until the "
        "last byte is there. Beside it stand the threads' copies alone and the device's alone.",
    .calls = "malloc(), then cudaMemcpyAsync() (hipMemcpyAsync), which does not return before most "
             "of the data is moved. Faster: pin the memory, see `xferbench help pinned`.",
    XB_ALL_BY_DEFAULT(XB_H2D | XB_D2H),
    .variant_option = &option_staging,
    .names = XB_NAMES({"driver", "pageable"}, {"ring", "pageable, by a ring"}),
    .options = XB_OPTIONS(&option_staging, &xb_option_threads, &xb_option_ring_chunk,
                          &xb_option_ring_slots, &xb_option_host_offset, &xb_option_device_offset,
                          &xb_option_target, &xb_option_call),
    .parameters = XB_PARAMETERS({&xb_option_threads, "ring"}, {&xb_option_ring_chunk, "ring"},
                                {&xb_option_ring_slots, "ring"}, {&xb_option_host_offset, NULL},
                                {&xb_option_device_offset, NULL}, {&xb_option_target, NULL},
                                {&xb_option_call, "driver"}),
    .figures = XB_FIGURES(&host_copy_rate, &ring_link_rate, &xb_figure_share_of_bound,
                          &xb_figure_host_memory_rate, XB_COST_FIGURES),
    .reading = xb_pageable_reading,
    .say_first_thing = xb_pinning_advise,
    .ordinary = "driver",
    XB_HOOKS(struct state, buffers, setup, xb_transfer_prepare, submit, verify),
    .check_options = check_options,
    .check = check,
    .restore = restore,
    .references = XB_REFERENCES(
        {.figure = &host_copy_rate, .submit = submit_host_copies, .is_wanted = is_wanted},
        {.figure = &ring_link_rate, .submit = submit_device_copies, .is_wanted = is_wanted}),
    .teardown = teardown,
};
