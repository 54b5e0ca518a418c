/* SPDX-License-Identifier: Apache-2.0 */
/* The ways to move many pieces: the options of the mode batch, its figures, and one iteration of
 * each variant. */
#include "batch.h"

#include "base/parallel.h"

#include <string.h>

const struct xb_option xb_option_batch = {
    XB_CHOICES("batch", "HOW", "each,call,graph,packed,kernel",
               "How the pieces are moved: 'each' one asynchronous copy a piece; 'call' one call of "
               "the runtime for many; 'graph' one copy a piece in a graph, which is launched again "
               "and again; 'packed' host threads and a kernel gather and scatter them around one "
               "copy; 'kernel' a kernel reads or writes them in the host's memory in place; "
               "'pitched' one copy of rows (--layout rows).",
               "each", "call", "graph", "packed", "kernel", "pitched")};

const struct xb_option xb_option_piece = {
    XB_SIZES("piece", "SIZE", "4K", 1, INT64_MAX,
             "How long a piece is: sizes, or a range that doubles such as 512..1M. --size is cut "
             "into pieces; the last may be shorter.")};

const struct xb_option xb_option_layout = {
    XB_CHOICES("layout", "HOW", "scattered",
               "Where pieces lie: 'scattered' in random order on both sides, 'host-scattered' or "
               "'device-scattered' on that side, 'contiguous' one behind the other, 'rows' every "
               "--pitch bytes on the host.",
               "scattered", "host-scattered", "device-scattered", "contiguous", "rows")};

const struct xb_option xb_option_pitch = {
    .name = "pitch",
    .type = XB_OPTION_SIZE,
    .argument = "SIZE",
    .default_text = "8K",
    .help = "With --layout rows: how far apart pieces begin in the host's memory.",
    .minimum = 1,
    .maximum = INT64_MAX,
};

const struct xb_option xb_option_call_pieces = {
    XB_COUNTS("call-pieces", "4096", 0, 1 << 24,
              "Most pieces in one call of --batch call; 0 for all of them.")};

const struct xb_option xb_option_blocks = {
    XB_COUNTS("blocks", "0", 0, 65535,
              "How many blocks of up to 1024 threads the kernel has; each keeps about one "
              "multiprocessor busy. 0 finds the fewest that are as fast as any number.")};

const struct xb_figure xb_figure_pieces_per_second = {
    XB_FIGURE("pieces_per_second", XB_UNIT_PER_SECOND, "Pieces moved in one second"),
    .more_is_better = true};
const struct xb_figure xb_figure_time_per_piece = {
    XB_FIGURE_TIME("time_per_piece", "The time of all pieces, divided by their number")};
const struct xb_figure xb_figure_blocks = {
    XB_FIGURE_NUMBER("blocks", "How many blocks of threads the kernel had")};
const struct xb_figure xb_figure_pack_time = {
    XB_FIGURE_TIME("pack_time", "Of packed, gathering the pieces alone")};
const struct xb_figure xb_figure_packed_copy_time = {
    XB_FIGURE_TIME("packed_copy_time", "Of packed, the one copy alone")};
const struct xb_figure xb_figure_unpack_time = {
    XB_FIGURE_TIME("unpack_time", "Of packed, scattering the pieces alone")};

enum xb_status xb_batch_check_variant(const struct xb_case *test, struct xb_error *error)
{
    const char *layout = xb_case_setting(test, &xb_option_layout)->word;
    if (xb_variant_number(test) != XB_BATCH_PITCHED || strcmp(layout, "rows") == 0)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_UNSUPPORTED, "'pitched' copies rows: give --layout rows");
}

/* ---- one iteration ---- */

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
    if (whole > 0)
        XB_TRY(context->device->backend->queue_copy_rows(context->queues[0], ends[0], ends[1],
                                                         layout->piece, whole, error));
    if (whole == layout->count)
        return XB_OK;
    const struct xb_piece *last = &layout->pieces[whole]; /* a shorter row */
    return context->device->backend->queue_copy(context->queues[0], ends[0].buffer,
                                                last->target_offset, ends[1].buffer,
                                                last->source_offset, last->bytes, error);
}

enum xb_status xb_batch_submit(struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_batch *state = context->state;
    const struct xb_backend *backend = context->device->backend;
    struct xb_buffer *source = xb_batch_source(state);
    struct xb_buffer *target = xb_batch_target(state);
    switch (state->how) {
    case XB_BATCH_EACH:
        for (size_t i = 0; i < state->layout.count; i++) {
            const struct xb_piece *piece = &state->layout.pieces[i];
            XB_TRY(backend->queue_copy(context->queues[0], target, piece->target_offset, source,
                                       piece->source_offset, piece->bytes, error));
        }
        return XB_OK;
    case XB_BATCH_CALL:
        for (size_t i = 0; i < state->list_count; i++)
            XB_TRY(backend->queue_copy_pieces(context->queues[0], state->lists[i], error));
        return XB_OK;
    case XB_BATCH_GRAPH:
        return backend->queue_graph(context->queues[0], state->graph, error);
    case XB_BATCH_PACKED:
        XB_TRY(xb_batch_submit_gathering(context, error));
        XB_TRY(xb_batch_submit_copy(context, error));
        return xb_batch_submit_scattering(context, error);
    case XB_BATCH_KERNEL:
        return submit_kernel_part(context, error);
    case XB_BATCH_PITCHED:
        return copy_rows(context, error);
    }
    return XB_OK;
}
