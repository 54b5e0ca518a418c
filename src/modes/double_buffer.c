/* SPDX-License-Identifier: Apache-2.0 */
/* A pipeline: while one chunk is computed on, the next arrives and the last leaves. */
#include "kernel_time.h"
#include "modes/readings/readings.h"
#include "proof.h"
#include "trip.h"

#include <math.h>
#include <string.h>

static enum xb_status check_options(const struct xb_case *test, struct xb_error *error)
{
    double seconds;
    XB_TRY(xb_kernel_time_read(test, &seconds, error));
    XB_TRY(xb_chunk_check_words(test, 8, error));
    return xb_chunk_check(test, &xb_option_chunk, 3, error);
}

static struct xb_trip_layout layout_of(const struct xb_case *test)
{
    return xb_trip_lay_out(test->bytes, test->bytes, xb_case_setting(test, &xb_option_chunk)->count,
                           xb_case_setting(test, &xb_option_buffers)->count);
}

static void buffers(const struct xb_case *test, struct xb_buffers *all)
{
    xb_trip_take(test, XB_FIXED, layout_of(test).device_bytes, all);
}

const struct xb_figure xb_figure_copies_time = {
    XB_FIGURE_TIME("copies_time", "The copies both ways at once, without the kernels")};

/* Both ways at once: the pipeline's copies share the link like this, so they cannot be faster. */
static const struct xb_line_part copies_alone = {.stages = 1u << XB_TRIP_IN | 1u << XB_TRIP_OUT};

static const struct xb_reference references[] = {
    {.figure = &xb_figure_serial_time, .part = &(const struct xb_line_part){.in_a_row = true}},
    {.figure = &xb_figure_in_time, .part = XB_STAGE_ALONE(XB_TRIP_IN)},
    {.figure = &xb_figure_kernel_time, .part = XB_STAGE_ALONE(XB_TRIP_KERNEL)},
    {.figure = &xb_figure_out_time, .part = XB_STAGE_ALONE(XB_TRIP_OUT)},
    {.figure = &xb_figure_copies_time, .part = &copies_alone},
    {.figure = NULL},
};

static enum xb_status setup(struct xb_mode_context *context, struct xb_error *error)
{
    struct xb_trip *trip = context->state;
    const struct xb_case *test = context->test;
    double target = 0; /* what the kernels of all chunks take */
    XB_TRY(xb_kernel_time_read(test, &target, error));
    trip->layout = layout_of(test);
    const struct xb_line_plan plan = {.items = trip->layout.count,
                                      .slots = (unsigned)trip->layout.slots};
    context->operations_per_iteration = 3 * plan.items;
    context->bytes_moved = 2 * test->bytes;
    context->hold = true;
    XB_TRY(xb_borrow(context, NULL, plan.slots, error));
    XB_TRY(xb_line_open(context, &plan, error));
    XB_TRY(xb_trip_fill(context, error));
    if (target == 0)
        return XB_OK;
    target *= (double)plan.items;
    if (target < 0) {
        /* By default they take what the copies take in this pipeline while the kernel keeps one of
         * its buffers to itself: a kernel that takes as long hides the copies, and they hide the
         * kernel. That is timed with a kernel of a single step, because going from copying to
         * computing and back costs time too. */
        trip->steps = 1;
        XB_TRY(xb_line_time(context, &(const struct xb_line_part){.slots = plan.slots - 1}, &target,
                            error));
        target *= XB_KERNEL_TUNED_LONGER;
    }
    return xb_kernel_time_tune_stage(context, XB_TRIP_KERNEL, test->bytes, trip->layout.chunk,
                                     target, &trip->steps, error);
}

/* Compares also with the same work in a row, and with the slowest stage: the kernels, or the copies
 * with both ways in use, as the pipeline has them. */
static enum xb_status verify(struct xb_mode_context *context, struct xb_result *result,
                             struct xb_error *error)
{
    enum { SERIAL, IN, KERNELS, OUT, COPIES, TIMES };
    const struct xb_trip *trip = context->state;
    const bool computes = trip->steps > 0;
    double seconds[TIMES] = {0};
    double whole = (double)result->bytes_moved / result->bandwidth.median;
    (void)error;
    xb_proof_conclude_steps(result, trip->in, trip->out, trip->steps);
    for (size_t i = 0; i < TIMES; i++) {
        if (i == KERNELS && !computes)
            continue; /* the time found is that of enqueuing nothing */
        seconds[i] = xb_result_median(result, references[i].figure);
        if (!(seconds[i] > 0))
            return XB_OK; /* cut short: not all stages were timed */
    }
    double bound = fmax(fmax(seconds[IN], seconds[KERNELS]), fmax(seconds[OUT], seconds[COPIES]));
    xb_result_compute(result, &xb_figure_speed_up, seconds[SERIAL] / whole);
    xb_result_compute(result, &xb_figure_share_of_bound, bound / whole);
    if (computes)
        xb_result_compute(result, &xb_figure_gpu_busy, seconds[KERNELS] / whole);
    return XB_OK;
}

const struct xb_mode xb_mode_double_buffer = {
    .name = "double-buffer",
    .summary = "a pipeline: copy in, compute, copy out, overlapped over several buffers",
    .description =
        "Sends one buffer through the device in chunks of --chunk: in, a kernel that computes on "
        "every word, and out, with --buffers chunks under way at a time. The same work is timed "
        "one step after the other first, and each stage alone. The row shows the bytes in and out "
        "divided by the time of the overlapped run. Its other figures tell how much faster "
        "overlap is (speed_up), the share of the time in which the device computed (gpu_busy), "
        "and how near it is to the best possible (share_of_bound): the slowest stage's time "
        "divided by the whole. The copies are one stage, both ways at once, because the pipeline "
        "uses the link that way. Filling and draining the pipeline is part of the time. Checks "
        "every word that the kernel made.",
    .calls =
        "on each of two streams or more, chunk by chunk: cudaMemcpyAsync() in, the kernel, "
        "cudaMemcpyAsync() out (hipMemcpyAsync), all with pinned memory. PyTorch: "
        "DataLoader(num_workers=N, pin_memory=True), and tensor.to(device, non_blocking=True).",
    XB_ALL_BY_DEFAULT(XB_BIDIR),
    .variant_option = &xb_option_host_memory,
    .names = XB_NAMES({"registered", "double-buffer"}, {"alloc", "double-buffer, allocated"},
                      {"write-combined", "double-buffer, write-combined"}),
    .options = XB_OPTIONS(&xb_option_host_memory, &xb_option_chunk, &xb_option_buffers,
                          &xb_option_kernel_time),
    .parameters = XB_PARAMETERS({&xb_option_chunk, NULL}, {&xb_option_buffers, NULL},
                                {&xb_option_kernel_time, NULL}),
    .figures = XB_FIGURES(XB_COST_FIGURES, &xb_figure_serial_time, &xb_figure_in_time,
                          &xb_figure_kernel_time, &xb_figure_out_time, &xb_figure_copies_time,
                          &xb_figure_speed_up, &xb_figure_share_of_bound, &xb_figure_gpu_busy),
    .reading = xb_double_buffer_reading,
    .answer = xb_double_buffer_answer,
    XB_HOOKS(struct xb_trip, buffers, setup, xb_trip_prepare, xb_line_submit, verify),
    .capabilities = xb_kernel_capabilities,
    .check_options = check_options,
    .check_variant = xb_host_memory_refuse_pageable,
    .stages = XB_TRIP_STAGES(xb_trip_in, xb_trip_kernel, xb_trip_out),
    .references = references,
};
