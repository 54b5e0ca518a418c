/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* From the files of a case to a line that is ready to run, and back. */
#include "kernel_time.h"
#include "pipeline.h"
#include "proof.h"
#include "shared_options.h"

#include "xferbench/stage.h"
#include "xferbench/verify.h"
#include "xferbench/workspace.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

unsigned xb_pipeline_slots(const struct xb_case *test)
{
    return xb_order_is_overlapped(test->variant)
               ? (unsigned)xb_case_setting(test, &xb_option_buffers)->count
               : 1;
}

uint64_t xb_pipeline_slot_bytes(const struct xb_case *test)
{
    uint64_t chunk = xb_case_setting(test, &xb_option_chunk)->count;
    return xb_chunk_count(chunk, XB_STORAGE_BLOCK) * XB_STORAGE_BLOCK;
}

const struct xb_line_part xb_pipeline_parts[XB_PIPELINE_STAGES] = {
    {.stages = 1u << XB_PIPELINE_READ},
    {.stages = 1u << XB_PIPELINE_IN},
    {.stages = 1u << XB_PIPELINE_COMPUTE},
    {.stages = 1u << XB_PIPELINE_OUT},
};

bool xb_pipeline_copies_in(const struct xb_mode_context *context)
{
    return !xb_io_is_by_device(context->test);
}

/* ---- setup ---- */

static enum xb_status borrow_buffers(struct xb_mode_context *context, struct xb_error *error)
{
    struct xb_pipeline *state = context->state;
    const struct xb_case *test = context->test;
    uint64_t item = state->source.item_most;
    uint64_t slots = xb_pipeline_slots(test) * item;
    uint64_t results = state->source.items * XB_PIPELINE_RESULT_BYTES;
    uint64_t pinned = xb_io_is_by_device(test) ? 0 : slots;
    uint64_t pageable = xb_order_is_pageable(test->variant) ? slots : 0;
    const struct xb_borrowing wanted[] = {{&state->pinned, 0, XB_MEMORY_REGISTERED, pinned, true},
                                          {&state->pageable, 1, XB_MEMORY_PAGEABLE, pageable, true},
                                          {&state->results, 2, XB_MEMORY_PINNED, 2 * results, true},
                                          {&state->scratch, 3, XB_MEMORY_PAGEABLE, item, true},
                                          {&state->slots, 0, XB_MEMORY_DEVICE, slots, true},
                                          {&state->digests, 1, XB_MEMORY_DEVICE, results, true}};
    return xb_borrow(context, wanted, sizeof wanted / sizeof wanted[0], error);
}

/* Has the host's threads read to that buffer from now on. */
static enum xb_status read_to(struct xb_mode_context *context, struct xb_buffer *buffer,
                              struct xb_error *error)
{
    struct xb_pipeline *state = context->state;
    const struct xb_reader_plan plan = {
        .io = xb_io_of(context->test),
        .threads = xb_readers_of(context->test) + 1, /* of which one submits */
        .memory = buffer->host_address,
        .memory_bytes = xb_pipeline_slots(context->test) * state->source.item_most,
        .opens_each = state->source.batch > 0,
    };
    xb_reader_close(state->reader);
    state->reader = NULL;
    state->host = buffer;
    return xb_reader_open(state->source.files, &plan, &state->reader, error);
}

static enum xb_status open_file(struct xb_mode_context *context, struct xb_error *error)
{
    struct xb_pipeline *state = context->state;
    enum xb_status status = XB_OK;
    if (xb_io_is_direct(context->test))
        status = xb_files_check_direct(state->source.files, error);
    if (status != XB_OK)
        return status;
    if (!xb_io_is_by_device(context->test))
        return read_to(context, state->pinned, error);
    status = xb_files_open_direct(state->source.files, 0, &state->descriptor, error);
    state->is_open = status == XB_OK;
    return status == XB_OK ? context->device->backend->file_open(context->device, state->descriptor,
                                                                 &state->file, error)
                           : status;
}

static enum xb_status open_line(struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_pipeline *state = context->state;
    const struct xb_line_plan plan = {
        .items = state->source.items,
        .slots = xb_pipeline_slots(context->test),
        .in_a_row = !xb_order_is_overlapped(context->test->variant),
        .threads = xb_readers_of(context->test) + 1,
        .pieces = state->source.pieces,
        .frees = state->file != NULL ? XB_PIPELINE_OUT : XB_PIPELINE_IN,
    };
    enum xb_status status =
        xb_workspace_queues(context->workspace, plan.slots, &context->queues, error);
    context->queue_count = plan.slots;
    return status == XB_OK ? xb_line_open(context, &plan, error) : status;
}

static enum xb_status time_part(struct xb_mode_context *context, const struct xb_line_part *part,
                                double *seconds, struct xb_error *error)
{
    xb_line_take(context, part);
    enum xb_status status = xb_mode_time(context, xb_line_submit, seconds, error);
    xb_line_take(context, NULL);
    return status;
}

/* Finds the steps with which the kernels of all items take `target` seconds. */
static enum xb_status tune_steps(struct xb_mode_context *context, double target,
                                 struct xb_error *error)
{
    struct xb_pipeline *state = context->state;
    const struct xb_source *source = &state->source;
    return xb_kernel_time_tune_stage(context, XB_PIPELINE_COMPUTE, source->bytes,
                                     xb_chunk_count(source->bytes, source->items), target,
                                     &state->steps, error);
}

/* What 'auto' asks for: 5 % more than the slower of reading and copying from page-locked memory,
 * for all items. */
static enum xb_status find_target(struct xb_mode_context *context, double *target,
                                  struct xb_error *error)
{
    double reading = 0;
    double copying = 0;
    enum xb_status status =
        time_part(context, &xb_pipeline_parts[XB_PIPELINE_READ], &reading, error);
    if (status == XB_OK && xb_pipeline_copies_in(context))
        status = time_part(context, &xb_pipeline_parts[XB_PIPELINE_IN], &copying, error);
    *target = XB_KERNEL_TUNED_LONGER * (reading > copying ? reading : copying);
    return status;
}

/* What a kernel is to be the same for: everything but the order and the buffers. */
static void name_work(const struct xb_case *test, char name[XB_WORKSPACE_NAME])
{
    snprintf(name, XB_WORKSPACE_NAME,
             "pipeline %llu bytes %s %u readers %llu a batch %llu a chunk %s",
             (unsigned long long)test->bytes, xb_case_setting(test, &xb_option_io)->word,
             xb_readers_of(test),
             (unsigned long long)xb_case_setting(test, &xb_option_batch_files)->count,
             (unsigned long long)xb_case_setting(test, &xb_option_chunk)->count,
             xb_case_setting(test, &xb_option_kernel_time)->word);
}

/* Finds the steps of the kernel, or takes those of another order of the same work: orders are
 * compared, and another kernel would be other work. */
static enum xb_status choose_steps(struct xb_mode_context *context, struct xb_error *error)
{
    struct xb_pipeline *state = context->state;
    char name[XB_WORKSPACE_NAME];
    double target = 0;
    enum xb_status status = xb_kernel_time_read(context->test, &target, error);
    if (status != XB_OK || target == 0)
        return status;
    name_work(context->test, name);
    if (xb_workspace_recall(context->workspace, name, &state->steps))
        return XB_OK;
    if (target > 0)
        target *= (double)state->source.items;
    else
        status = find_target(context, &target, error);
    if (status == XB_OK)
        status = tune_steps(context, target, error);
    if (status == XB_OK)
        xb_workspace_remember(context->workspace, name, state->steps);
    return status;
}

enum xb_status xb_pipeline_look_at_cache(const struct xb_pipeline *state, double *share,
                                         struct xb_error *error)
{
    enum xb_status status =
        xb_files_cached_share(state->source.files, state->source.bytes, share, error);
    if (status != XB_ERR_UNSUPPORTED)
        return status;
    *share = NAN;
    return XB_OK;
}

enum xb_status xb_pipeline_setup(struct xb_mode_context *context, struct xb_error *error)
{
    struct xb_pipeline *state = context->state;
    XB_TRY(xb_source_open(context, &state->source, error));
    XB_TRY(xb_pipeline_look_at_cache(state, &state->cached_at_first, error));
    XB_TRY(borrow_buffers(context, error));
    XB_TRY(open_file(context, error));
    XB_TRY(open_line(context, error));
    context->operations_per_iteration = XB_PIPELINE_OPERATIONS * state->source.items;
    context->bytes_moved = state->source.bytes;
    context->host_timed = context->host_waits = true;
    XB_TRY(choose_steps(context, error));
    if (state->pageable != NULL)
        XB_TRY(read_to(context, state->pageable, error));
    return XB_OK;
}

void xb_pipeline_teardown(struct xb_mode_context *context)
{
    struct xb_pipeline *state = context->state;
    xb_reader_close(state->reader);
    if (state->file != NULL)
        context->device->backend->file_close(state->file);
    if (state->is_open)
        close(state->descriptor);
    xb_source_close(&state->source);
}

/* Makes wrong what the slots hold of the iteration before and would be right again without being
 * read or copied. The device fills from the beginning only, which does no harm. */
static enum xb_status spoil_slots(struct xb_mode_context *context, struct xb_pattern wrong,
                                  struct xb_error *error)
{
    const struct xb_pipeline *state = context->state;
    unsigned slots = xb_pipeline_slots(context->test);
    uint64_t end = 0;
    for (unsigned i = 0; i < slots; i++) {
        struct xb_source_own own = xb_source_own(&state->source, slots, i);
        uint64_t at = i * state->source.item_most + own.from;
        if (own.from == own.until)
            continue;
        end = i * state->source.item_most + own.until;
        if (state->host != NULL)
            xb_host_fill((char *)state->host->host_address + at, at, end - at, wrong);
    }
    return end > 0 ? xb_proof_fill(context->queues[0], state->slots, end, wrong, error) : XB_OK;
}

const unsigned long long *xb_pipeline_digests(const struct xb_mode_context *context)
{
    const struct xb_pipeline *state = context->state;
    const unsigned long long *back = state->results->host_address;
    return xb_line_was_stopped(context) ? back + state->source.items : back;
}

/* A stage alone is not verified, and `in` would copy what the CPU's caches hold of the filling: it
 * is slower then than out of memory. */
enum xb_status xb_pipeline_restore(struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_pipeline *state = context->state;
    struct xb_pattern wrong = xb_proof_around(context->test->seed);
    uint64_t results = state->source.items * XB_PIPELINE_RESULT_BYTES;
    char *back = state->results->host_address;
    if (!xb_line_is_whole(context))
        return XB_OK;
    memcpy(back + results, back, results);
    xb_host_fill(back, 0, results, wrong);
    enum xb_status status =
        xb_proof_fill(context->queues[0], state->digests, results, wrong, error);
    return status == XB_OK ? spoil_slots(context, wrong, error) : status;
}

/* Nothing is to be made wrong: restore does that before every iteration. */
enum xb_status xb_pipeline_prepare(struct xb_mode_context *context, struct xb_error *error)
{
    struct xb_pipeline *state = context->state;
    return xb_pipeline_look_at_cache(state, &state->cached_before, error);
}
