/* SPDX-License-Identifier: Apache-2.0 */
/* The ways to move many pieces: one iteration of each variant of the mode batch. */
#include "batch.h"

#include "base/parallel.h"

#include <string.h>

static enum xb_status copy_each(struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_batch *state = context->state;
    const struct xb_backend *backend = context->device->backend;
    struct xb_buffer *source = xb_batch_source(state);
    struct xb_buffer *target = xb_batch_target(state);
    for (size_t i = 0; i < state->layout.count; i++) {
        const struct xb_piece *piece = &state->layout.pieces[i];
        XB_TRY(backend->queue_copy(context->queues[0], target, piece->target_offset, source,
                                   piece->source_offset, piece->bytes, error));
    }
    return XB_OK;
}

static enum xb_status call_for_lists(struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_batch *state = context->state;
    for (size_t i = 0; i < state->list_count; i++)
        XB_TRY(context->device->backend->queue_copy_pieces(context->queues[0], state->lists[i],
                                                           error));
    return XB_OK;
}

/* Host threads move pieces between their places and the room. */
static void move_on_host(void *argument, uint64_t begin, uint64_t end)
{
    const struct xb_batch *state = argument;
    char *places = state->host->host_address;
    char *room = state->room->host_address;
    for (uint64_t i = begin; i < end; i++) {
        const struct xb_piece *piece = &state->layout.pieces[i];
        if (state->to_device)
            memcpy(room + xb_batch_packed_offset(state, i), places + piece->source_offset,
                   piece->bytes);
        else
            memcpy(places + piece->target_offset, room + xb_batch_packed_offset(state, i),
                   piece->bytes);
    }
}

/* Less than this is no work for another thread. */
#define LEAST_BYTES_A_THREAD (UINT64_C(256) << 10)

/* Waits for the queue first: what is in the room may be under way, or not there yet. */
static enum xb_status submit_host_part(struct xb_mode_context *context, struct xb_error *error)
{
    struct xb_batch *state = context->state;
    uint64_t piece = state->layout.piece;
    uint64_t grain = piece >= LEAST_BYTES_A_THREAD ? 1 : LEAST_BYTES_A_THREAD / piece;
    XB_TRY(context->device->backend->queue_wait(context->queues[0], error));
    xb_parallel_for(state->layout.count, grain, move_on_host, state);
    return XB_OK;
}

static enum xb_status submit_kernel_part(struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_batch *state = context->state;
    return context->device->backend->queue_kernel_pieces(context->queues[0], state->lists[0],
                                                         state->blocks, error);
}

enum xb_status xb_batch_submit_copy(struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_batch *state = context->state;
    return context->device->backend->queue_copy(
        context->queues[0], state->to_device ? state->packed : state->room, 0,
        state->to_device ? state->room : state->packed, 0, state->layout.bytes, error);
}

enum xb_status xb_batch_submit_gathering(struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_batch *state = context->state;
    return state->to_device ? submit_host_part(context, error) : submit_kernel_part(context, error);
}

enum xb_status xb_batch_submit_scattering(struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_batch *state = context->state;
    return state->to_device ? submit_kernel_part(context, error) : submit_host_part(context, error);
}

static enum xb_status submit_packed(struct xb_mode_context *context, struct xb_error *error)
{
    enum xb_status status = xb_batch_submit_gathering(context, error);
    if (status == XB_OK)
        status = xb_batch_submit_copy(context, error);
    return status == XB_OK ? xb_batch_submit_scattering(context, error) : status;
}

static enum xb_status copy_rows(struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_batch *state = context->state;
    const struct xb_layout *layout = &state->layout;
    struct xb_rows ends[] = {
        {xb_batch_target(state), layout->target.offset, layout->target.pitch},
        {xb_batch_source(state), layout->source.offset, layout->source.pitch},
    };
    uint64_t whole = layout->bytes / layout->piece;
    for (int i = 0; i < 2; i++)
        ends[i].pitch = ends[i].pitch > 0 ? ends[i].pitch : layout->piece;
    enum xb_status status = XB_OK;
    if (whole > 0)
        status = context->device->backend->queue_copy_rows(context->queues[0], ends[0], ends[1],
                                                           layout->piece, whole, error);
    if (status != XB_OK || whole == layout->count)
        return status;
    const struct xb_piece *last = &layout->pieces[whole]; /* a shorter row */
    return context->device->backend->queue_copy(context->queues[0], ends[0].buffer,
                                                last->target_offset, ends[1].buffer,
                                                last->source_offset, last->bytes, error);
}

enum xb_status xb_batch_submit(struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_batch *state = context->state;
    const struct xb_backend *backend = context->device->backend;
    switch (state->how) {
    case XB_BATCH_EACH:
        return copy_each(context, error);
    case XB_BATCH_CALL:
        return call_for_lists(context, error);
    case XB_BATCH_GRAPH:
        return backend->queue_graph(context->queues[0], state->graph, error);
    case XB_BATCH_PACKED:
        return submit_packed(context, error);
    case XB_BATCH_KERNEL:
        return submit_kernel_part(context, error);
    case XB_BATCH_PITCHED:
        return copy_rows(context, error);
    }
    return XB_OK;
}
