/* SPDX-License-Identifier: Apache-2.0 */
/* A pipeline: while one chunk is computed on, the next arrives and the last leaves. */
#include "proof.h"
#include "shared_options.h"

#include "xferbench/result.h"
#include "xferbench/workspace.h"

#include <string.h>

static const struct xb_option option_buffers = {
    .name = "buffers",
    .type = XB_OPTION_COUNT,
    .argument = "N",
    .default_text = "3",
    .help = "How many chunks are on the device at a time, each with a queue of its own.",
    .minimum = 2,
    .maximum = 32,
};

static const struct xb_option option_kernel_time = {
    .name = "kernel-time",
    .type = XB_OPTION_TEXT,
    .argument = "TIME",
    .default_text = "auto",
    .help = "How long the kernel computes on a chunk: 'auto' as long as the chunk's copies take "
            "in the pipeline beside it and 5 % more, 'none' for no kernel, or a duration such as "
            "500us.",
};

/* So long that nobody waits for it, and the linear search for it stays exact in a double. */
#define MAX_STEPS (UINT64_C(1) << 24)
/* By how much a kernel that is tuned to the copies is longer than they are: the computing then sets
 * the pace, and not the scatter of the copies. */
#define TUNED_LONGER 1.05

struct state {
    enum xb_memory memory;
    struct xb_buffer *in, *out; /* on the host */
    struct xb_buffer *slots;    /* on the device, `buffers` chunks */
    uint64_t chunk, count;
    uint64_t buffers; /* in turn; while the kernel is tuned one less than there are */
    uint64_t steps;   /* of the kernel, on every word */
};

static uint32_t capabilities(const char *variant)
{
    return XB_CAP_KERNELS | xb_host_memory_capabilities(variant);
}

/* What --kernel-time says, in seconds; 0 for none, negative for auto. */
static enum xb_status kernel_time(const struct xb_config *config, double *seconds,
                                  struct xb_error *error)
{
    const char *text = xb_config_get(config, "kernel-time")->text;
    *seconds = strcmp(text, "auto") == 0 ? -1 : 0;
    if (strcmp(text, "auto") == 0 || strcmp(text, "none") == 0)
        return XB_OK;
    struct xb_error cause;
    if (xb_duration_parse(text, seconds, &cause) == XB_OK && *seconds <= 1)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_USAGE,
                   "--kernel-time: '%.40s' is neither auto nor none nor a time of at most 1s, such "
                   "as 500us",
                   text);
}

static enum xb_status check_options(const struct xb_case *test, const struct xb_config *config,
                                    struct xb_error *error)
{
    double seconds;
    uint64_t chunk = xb_config_get(config, "chunk")->count;
    enum xb_status status = kernel_time(config, &seconds, error);
    if (status == XB_OK && chunk % 8 != 0)
        status = XB_FAIL(error, XB_ERR_USAGE,
                         "--chunk %llu: the kernel of %s computes on words of 8 bytes; take a "
                         "multiple of 8",
                         (unsigned long long)chunk, test->mode->name);
    return status == XB_OK ? xb_chunk_check(test, config, 3, error) : status;
}

static enum xb_status check(const struct xb_mode_context *context, struct xb_error *error)
{
    return xb_host_memory_refuse_pageable(context->test, error);
}

static struct xb_needs needs(const struct xb_case *test, const struct xb_config *config)
{
    uint64_t chunk = xb_config_get(config, "chunk")->count;
    uint64_t buffers = xb_config_get(config, "buffers")->count;
    uint64_t least = chunk < test->bytes ? chunk : test->bytes;
    return (struct xb_needs){.host_bytes = 2 * test->bytes, .device_bytes = buffers * least};
}

/* ---- the three stages of a chunk ---- */

static uint64_t slot_of(const struct state *state, uint64_t index)
{
    return index % state->buffers;
}

static enum xb_status copy_into(struct xb_mode_context *context, size_t queue, uint64_t index,
                                uint64_t slot, struct xb_error *error)
{
    const struct state *state = context->state;
    struct xb_chunk chunk = xb_chunk_at(context->test->bytes, state->chunk, index);
    return context->device->backend->queue_copy(context->queues[queue], state->slots,
                                                slot * state->chunk, state->in, chunk.offset,
                                                chunk.bytes, error);
}

static enum xb_status copy_out_of(struct xb_mode_context *context, size_t queue, uint64_t index,
                                  uint64_t slot, struct xb_error *error)
{
    const struct state *state = context->state;
    struct xb_chunk chunk = xb_chunk_at(context->test->bytes, state->chunk, index);
    return context->device->backend->queue_copy(context->queues[queue], state->out, chunk.offset,
                                                state->slots, slot * state->chunk, chunk.bytes,
                                                error);
}

static enum xb_status copy_in(struct xb_mode_context *context, size_t queue, uint64_t index,
                              struct xb_error *error)
{
    return copy_into(context, queue, index, slot_of(context->state, index), error);
}

static enum xb_status compute(struct xb_mode_context *context, size_t queue, uint64_t index,
                              struct xb_error *error)
{
    const struct state *state = context->state;
    struct xb_chunk chunk = xb_chunk_at(context->test->bytes, state->chunk, index);
    if (state->steps == 0)
        return XB_OK;
    return context->device->backend->queue_compute(context->queues[queue], state->slots,
                                                   slot_of(state, index) * state->chunk,
                                                   chunk.bytes, state->steps, error);
}

static enum xb_status copy_out(struct xb_mode_context *context, size_t queue, uint64_t index,
                               struct xb_error *error)
{
    return copy_out_of(context, queue, index, slot_of(context->state, index), error);
}

typedef enum xb_status stage(struct xb_mode_context *context, size_t queue, uint64_t index,
                             struct xb_error *error);

/* All chunks through some stages, the queue chosen by `spread`: every chunk's own, or the first. */
static enum xb_status run_stages(struct xb_mode_context *context, stage *const stages[],
                                 size_t stage_count, bool spread, struct xb_error *error)
{
    const struct state *state = context->state;
    enum xb_status status = XB_OK;
    for (uint64_t i = 0; i < state->count; i++)
        for (size_t s = 0; status == XB_OK && s < stage_count; s++)
            status = stages[s](context, spread ? i % state->buffers : 0, i, error);
    return status;
}

static stage *const all_stages[] = {copy_in, compute, copy_out};

/* A slot's queue keeps its chunks in order; different slots' stages overlap. */
static enum xb_status submit(struct xb_mode_context *context, struct xb_error *error)
{
    return run_stages(context, all_stages, 3, true, error);
}

static enum xb_status submit_serial(struct xb_mode_context *context, struct xb_error *error)
{
    return run_stages(context, all_stages, 3, false, error);
}

static enum xb_status submit_in(struct xb_mode_context *context, struct xb_error *error)
{
    return run_stages(context, &all_stages[0], 1, false, error);
}

/* On all queues, as in the pipeline: one kernel's end may hide behind the next one's beginning. */
static enum xb_status submit_kernel(struct xb_mode_context *context, struct xb_error *error)
{
    return run_stages(context, &all_stages[1], 1, true, error);
}

static enum xb_status submit_out(struct xb_mode_context *context, struct xb_error *error)
{
    return run_stages(context, &all_stages[2], 1, false, error);
}

/* Both ways at once, each on a queue and in a slot of its own: what the link leaves the pipeline's
 * copies. */
static enum xb_status submit_copies(struct xb_mode_context *context, struct xb_error *error)
{
    const struct state *state = context->state;
    enum xb_status status = XB_OK;
    for (uint64_t i = 0; status == XB_OK && i < state->count; i++) {
        status = copy_into(context, 0, i, 0, error);
        if (status == XB_OK)
            status = copy_out_of(context, 1, i, 1, error);
    }
    return status;
}

static const struct xb_reference references[] = {
    {"serial", submit_serial, 2}, {"h2d", submit_in, 1},        {"kernel", submit_kernel, 0},
    {"d2h", submit_out, 1},       {"copies", submit_copies, 2}, {NULL, NULL, 0},
};

/* ---- setup ---- */

/*
 * Finds the steps with which the kernels of all chunks take `target` seconds. Few steps take as
 * long as one, because memory is slower; beyond those the time is a straight line.
 */
static enum xb_status tune(struct xb_mode_context *context, double target, struct xb_error *error)
{
    struct state *state = context->state;
    double seconds = 0;
    enum xb_status status = XB_OK;
    state->steps = 1;
    do {
        state->steps *= 8;
        status = xb_mode_time(context, submit_kernel, &seconds, error);
    } while (status == XB_OK && seconds < target / 4 && state->steps < MAX_STEPS);
    /* Twice: what is left of the flat part in the first step shows in the second. */
    for (int i = 0; status == XB_OK && i < 2; i++) {
        double wanted = (double)state->steps * target / seconds;
        state->steps = wanted < 1                   ? 1
                       : wanted > (double)MAX_STEPS ? MAX_STEPS
                                                    : (uint64_t)(wanted + 0.5);
        if (i == 0)
            status = xb_mode_time(context, submit_kernel, &seconds, error);
    }
    return status;
}

/*
 * What the copies of all chunks take in this pipeline while one of its buffers is the kernel's: so
 * long the kernel may take for the copies to hide behind it, and it behind them. With a kernel of a
 * single step, because what it costs to go from copying to computing and back is part of it.
 */
static enum xb_status time_of_copies(struct xb_mode_context *context, double *seconds,
                                     struct xb_error *error)
{
    struct state *state = context->state;
    state->buffers--;
    state->steps = 1;
    enum xb_status status = xb_mode_time(context, submit, seconds, error);
    state->buffers++;
    *seconds *= TUNED_LONGER;
    return status;
}

static enum xb_status choose_steps(struct xb_mode_context *context, struct xb_error *error)
{
    struct state *state = context->state;
    double target = 0;
    enum xb_status status = kernel_time(context->config, &target, error);
    if (status != XB_OK || target == 0)
        return status;
    if (target < 0)
        status = time_of_copies(context, &target, error);
    else
        target *= (double)state->count;
    if (status == XB_OK)
        status = tune(context, target, error);
    return status;
}

static enum xb_status take_buffers(struct xb_mode_context *context, struct xb_error *error)
{
    struct state *state = context->state;
    struct xb_workspace *workspace = context->workspace;
    uint64_t bytes = context->test->bytes;
    enum xb_status status =
        xb_workspace_buffer(workspace, 0, state->memory, bytes, &state->in, error);
    if (status == XB_OK)
        status = xb_workspace_buffer(workspace, 1, state->memory, bytes, &state->out, error);
    if (status == XB_OK)
        status = xb_workspace_buffer(workspace, 0, XB_MEMORY_DEVICE, state->buffers * state->chunk,
                                     &state->slots, error);
    if (status == XB_OK)
        status = xb_workspace_queues(workspace, state->buffers, &context->queues, error);
    return status;
}

static enum xb_status setup(struct xb_mode_context *context, struct xb_error *error)
{
    struct state *state = context->state;
    const struct xb_case *test = context->test;
    state->memory = xb_host_memory_of(test->variant);
    state->chunk = xb_config_get(context->config, "chunk")->count;
    if (state->chunk > test->bytes) /* one chunk: whole words, as the kernel wants them */
        state->chunk = (test->bytes + 7) / 8 * 8;
    state->count = xb_chunk_count(test->bytes, state->chunk);
    state->buffers = xb_config_get(context->config, "buffers")->count;
    context->queue_count = state->buffers;
    context->operations_per_iteration = 3 * state->count;
    context->bytes_moved = 2 * test->bytes;
    context->hold = true;
    enum xb_status status = take_buffers(context, error);
    if (status != XB_OK)
        return status;
    xb_host_fill(state->in->host_address, 0, test->bytes, xb_proof_before(test->seed));
    return choose_steps(context, error);
}

/* What leaves from now on comes from other data: nothing of it is at the target yet. */
static enum xb_status prepare(struct xb_mode_context *context, struct xb_error *error)
{
    const struct state *state = context->state;
    (void)error;
    xb_host_fill(state->in->host_address, 0, context->test->bytes,
                 xb_proof_after(context->test->seed));
    return XB_OK;
}

/* ---- what it came to ---- */

/* Whether words here and there are what that many single steps make of what went in. */
static void check_steps(const struct xb_mode_context *context, struct xb_mismatch *found)
{
    const struct state *state = context->state;
    uint64_t words = context->test->bytes / 8;
    for (uint64_t i = 0; i < 16 && words > 0; i++) {
        uint64_t at = i + 1 == 16 ? words - 1 : words / 16 * i;
        unsigned long long word;
        memcpy(&word, (char *)state->in->host_address + at * 8, 8);
        for (uint64_t step = 0; step < state->steps; step++)
            word = xb_compute_step(word);
        if (memcmp(&word, (char *)state->out->host_address + at * 8, 8) != 0 &&
            found->wrong_bytes++ == 0)
            found->first_offset = at * 8;
    }
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* Against the same work in a row, and against the slowest stage: the kernels, or the copies with
 * both ways in use, as the pipeline has them. */
static enum xb_status compare_with_stages(struct xb_result *result, bool computes,
                                          struct xb_error *error)
{
    const char *const names[] = {"serial", "h2d", "kernel", "d2h", "copies"};
    double seconds[5] = {0};
    double overlapped = (double)result->bytes_moved / result->bandwidth.median;
    for (size_t i = 0; i < 5; i++) {
        enum xb_status status = xb_result_part_median(result, names[i], &seconds[i], error);
        if (status != XB_OK)
            return status;
        if (!(seconds[i] > 0) && (i != 2 || computes))
            return XB_OK; /* no time for all of them */
    }
    if (!computes) /* what an empty one takes is not computing */
        seconds[2] = 0;
    double bound = larger(larger(seconds[1], seconds[2]), larger(seconds[3], seconds[4]));
    xb_result_detail_number(result, "overlapped_s", overlapped);
    xb_result_detail_number(result, "serial_s", seconds[0]);
    xb_result_detail_number(result, "speed_up", seconds[0] / overlapped);
    xb_result_detail_number(result, "bound_s", bound);
    xb_result_detail_number(result, "efficiency", bound / overlapped);
    if (computes)
        xb_result_detail_number(result, "compute_share", seconds[2] / overlapped);
    return XB_OK;
}

static enum xb_status verify(struct xb_mode_context *context, struct xb_result *result,
                             struct xb_error *error)
{
    const struct state *state = context->state;
    struct xb_pattern expected = xb_proof_after(context->test->seed);
    struct xb_mismatch spots = {0};
    expected.steps = state->steps;
    xb_result_detail_number(result, "buffers", (double)state->buffers);
    xb_result_detail_number(result, "chunk_bytes", (double)state->chunk);
    xb_result_detail_number(result, "compute_steps", (double)state->steps);
    xb_result_detail_text(result, "verified_by", "host");
    enum xb_status status = compare_with_stages(result, state->steps > 0, error);
    if (status != XB_OK)
        return status;
    struct xb_mismatch all =
        xb_host_check(state->out->host_address, 0, context->test->bytes, expected);
    check_steps(context, &spots);
    xb_proof_conclude(result, &all, &spots);
    return XB_OK;
}

static const struct xb_option *const options[] = {&xb_option_host_memory, &xb_option_chunk,
                                                  &option_buffers, &option_kernel_time, NULL};

const struct xb_mode xb_mode_double_buffer = {
    .name = "double-buffer",
    .summary = "a pipeline: copy in, compute, copy out, overlapped over several buffers",
    .description =
        "Sends one buffer through the device in chunks of --chunk: in, a kernel that computes on "
        "every word, and out, with --buffers chunks under way at a time. The same work is timed "
        "in a row first, and each stage alone. The row shows the bytes that went in and out by "
        "the time of the overlapped run; its record how much faster that is than in a row, the "
        "share of the time in which the device computed, and the efficiency: the slowest stage "
        "by the whole, where the copies' stage is both ways at once, because that is how the "
        "pipeline has the link. Filling and draining the pipeline is part of the time. What the "
        "kernel made of the data is checked, every word.",
    .directions = XB_BIDIR,
    .by_default = XB_BIDIR,
    .variant_option = &xb_option_host_memory,
    .options = options,
    .state_bytes = sizeof(struct state),
    .capabilities = capabilities,
    .needs = needs,
    .check_options = check_options,
    .check = check,
    .setup = setup,
    .references = references,
    .prepare = prepare,
    .submit = submit,
    .verify = verify,
};
