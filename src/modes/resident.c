/* SPDX-License-Identifier: Apache-2.0 */
/* Data that stays on the device from kernel to kernel, beside a trip to the host after each. */
#include "modes/readings/readings.h"
#include "proof.h"
#include "trip.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct xb_option option_steps = {
    XB_COUNTS("steps", "8", 1, 1000,
              "How many kernels, one after the other, compute on the data: a number, a list (1,8) "
              "or a range that doubles (1..64).")};

/* What a kernel does to each word. So little takes no longer than reading and writing the memory
 * once: it is the work that trips to the host hurt most. */
#define KERNEL_STEPS 2u

struct state {
    struct xb_trip trip; /* of one chunk */
    uint64_t kernels;
};

static void buffers(const struct xb_case *test, struct xb_buffers *all)
{
    xb_trip_take(test, XB_OF_CASE, test->bytes, all);
}

/* A stage of the trip, all of the data at once. */
static enum xb_status run(struct xb_mode_context *context, xb_stage_run *stage,
                          struct xb_error *error)
{
    const struct xb_turn turn = {.queue = context->queues[0]};
    return stage(context, &turn, error);
}

XB_SUBMIT(submit_in, run, xb_trip_in)
XB_SUBMIT(submit_out, run, xb_trip_out)

static enum xb_status submit_kernels(struct xb_mode_context *context, struct xb_error *error)
{
    const struct state *state = context->state;
    for (uint64_t i = 0; i < state->kernels; i++)
        XB_TRY(run(context, xb_trip_kernel, error));
    return XB_OK;
}

static enum xb_status submit(struct xb_mode_context *context, struct xb_error *error)
{
    XB_TRY(submit_in(context, error));
    XB_TRY(submit_kernels(context, error));
    return submit_out(context, error);
}

/* What a kernel left goes to the host and comes back from there for the next one. */
static enum xb_status submit_round_trips(struct xb_mode_context *context, struct xb_error *error)
{
    const struct state *state = context->state;
    for (uint64_t i = 0; i < state->kernels; i++) {
        XB_TRY(context->device->backend->queue_copy(context->queues[0], state->trip.data, 0,
                                                    i == 0 ? state->trip.in : state->trip.out, 0,
                                                    context->test->bytes, error));
        XB_TRY(run(context, xb_trip_kernel, error));
        XB_TRY(submit_out(context, error));
    }
    return XB_OK;
}

const struct xb_figure xb_figure_resident_time = {XB_FIGURE_TIME(
    "resident_time",
    "All kernels with the data kept on the device, with one copy in and one copy out")};
const struct xb_figure xb_figure_round_trip_time = {XB_FIGURE_TIME(
    "round_trip_time", "The same kernels, each with a copy in before it and a copy out behind it")};
const struct xb_figure xb_figure_trip_cost = {XB_FIGURE_TIME(
    "trip_cost", "What each trip between two kernels costs, out of the device and in again")};
XB_OWN_FIGURE(GAIN, predicted_speed_up,
              "speed_up as the times of the copies and kernels alone predict it");
static const struct xb_reference references[] = {
    {.figure = &xb_figure_round_trip_time, .submit = submit_round_trips},
    {.figure = &xb_figure_in_time, .submit = submit_in},
    {.figure = &xb_figure_kernel_time, .submit = submit_kernels},
    {.figure = &xb_figure_out_time, .submit = submit_out},
    {.figure = NULL},
};

static enum xb_status setup(struct xb_mode_context *context, struct xb_error *error)
{
    struct state *state = context->state;
    const struct xb_case *test = context->test;
    state->trip.layout = xb_trip_lay_out(test->bytes, test->bytes, UINT64_MAX, 0);
    state->trip.steps = KERNEL_STEPS;
    state->kernels = xb_case_setting(test, &option_steps)->count;
    context->operations_per_iteration = 3 * state->kernels; /* of the round trips */
    context->bytes_moved = 2 * test->bytes;
    context->hold = true;
    XB_TRY(xb_borrow(context, NULL, 1, error));
    return xb_trip_fill(context, error);
}

static enum xb_status verify(struct xb_mode_context *context, struct xb_result *result,
                             struct xb_error *error)
{
    enum { TRIPS, IN, KERNELS, OUT, TIMES };
    const struct state *state = context->state;
    double seconds[TIMES] = {0};
    double kernels = (double)state->kernels;
    double resident = (double)result->bytes_moved / result->bandwidth.median;
    (void)error;
    xb_proof_conclude_steps(result, state->trip.in, state->trip.out, state->kernels * KERNEL_STEPS);
    xb_result_compute(result, &xb_figure_resident_time, resident);
    for (size_t i = 0; i < TIMES; i++) {
        seconds[i] = xb_result_median(result, references[i].figure);
        if (!(seconds[i] > 0))
            return XB_OK; /* cut short: not all were timed */
    }
    double copies = seconds[IN] + seconds[OUT];
    xb_result_compute(result, &xb_figure_speed_up, seconds[TRIPS] / resident);
    xb_result_compute(result, &predicted_speed_up,
                      (kernels * copies + seconds[KERNELS]) / (copies + seconds[KERNELS]));
    if (state->kernels > 1) /* noise can make the trips cost less than nothing */
        xb_result_compute(result, &xb_figure_trip_cost,
                          fmax(0, (seconds[TRIPS] - resident) / (kernels - 1)));
    return XB_OK;
}

const struct xb_mode xb_mode_resident = {
    .name = "resident",
    .summary =
        "data kept on the device from kernel to kernel, beside a trip to the host after each",
    .description =
        "Copies one buffer to the device, runs --steps kernels on it one after the other, and "
        "copies it back once. Each kernel reads and writes every word once. The row shows the "
        "bytes in and out divided by the time. Beside it the same kernels are timed with a copy "
        "in before each and a copy out after each, like a program that fetches the data after "
        "every step. The host does nothing with the data and nothing waits for it, so this is the "
        "least that such trips cost. speed_up is how many times as long they take, trip_cost what "
        "each trip between two kernels adds, and predicted_speed_up what the times of the copies "
        "and kernels alone predict. Checks every word that the kernels made. --mode all leaves "
        "this mode out.",
    .calls = "no cudaMemcpyAsync() (hipMemcpyAsync) between kernels. PyTorch: no tensor.cpu(), "
             "tensor.item() or print(tensor) between steps.",
    XB_ALL_BY_DEFAULT(XB_BIDIR),
    .only_named = true,
    .variant_option = &xb_option_host_memory,
    .names = XB_NAMES({"registered", "resident"}, {"alloc", "resident, allocated"},
                      {"write-combined", "resident, write-combined"}),
    .options = XB_OPTIONS(&xb_option_host_memory, &option_steps),
    .parameters = XB_PARAMETERS({&option_steps, NULL}),
    .figures = XB_FIGURES(&xb_figure_resident_time, &xb_figure_round_trip_time, &xb_figure_in_time,
                          &xb_figure_kernel_time, &xb_figure_out_time, &xb_figure_speed_up,
                          &predicted_speed_up, &xb_figure_trip_cost),
    .reading = XB_READING({.label = "resident", .code = "XB-RESIDENT", .say = xb_resident_say}),
    .answer = xb_resident_say,
    XB_HOOKS(struct state, buffers, setup, xb_trip_prepare, submit, verify),
    .capabilities = xb_kernel_capabilities,
    .check_variant = xb_host_memory_refuse_pageable,
    .references = references,
};
