/* SPDX-License-Identifier: Apache-2.0 */
#include "trip.h"

#include "proof.h"
#include "ring.h"

#define WORD UINT64_C(8)

__extension__ typedef unsigned __int128 wide;

static uint64_t whole_words(uint64_t bytes)
{
    return bytes / WORD * WORD;
}

/* Where the output of the chunk begins whose input begins there: the same share of the whole. */
static uint64_t out_at(const struct xb_trip_layout *layout, uint64_t in_offset)
{
    if (in_offset >= layout->in)
        return layout->out;
    return whole_words((uint64_t)((wide)layout->out * in_offset / layout->in));
}

struct xb_trip_layout xb_trip_lay_out(uint64_t in, uint64_t out, uint64_t chunk, uint64_t slots)
{
    struct xb_trip_layout layout = {
        .in = in, .out = out, .chunk = xb_lesser(chunk, xb_rounded_up(in, WORD)), .slots = slots};
    layout.count = xb_chunk_count(in, layout.chunk);
    layout.stride = layout.chunk;
    if (out > in && layout.count > 1) {
        /* The longest output of a chunk that is not the last: out_at rounds down. */
        uint64_t share = (uint64_t)((wide)out * layout.chunk / in);
        layout.stride = xb_larger(layout.chunk, whole_words(share) + WORD);
    }
    struct xb_trip_part last = xb_trip_part_at(&layout, layout.count - 1, 0);
    layout.device_bytes = slots > 0 ? slots * layout.stride
                                    : last.device_offset + xb_larger(last.in.bytes, last.out.bytes);
    return layout;
}

struct xb_trip_part xb_trip_part_at(const struct xb_trip_layout *layout, uint64_t index,
                                    unsigned slot)
{
    struct xb_trip_part part = {.in = xb_chunk_at(layout->in, layout->chunk, index),
                                .device_offset =
                                    (layout->slots > 0 ? slot : index) * layout->stride};
    part.out.offset = out_at(layout, part.in.offset);
    part.out.bytes = out_at(layout, part.in.offset + part.in.bytes) - part.out.offset;
    return part;
}

void xb_trip_take(const struct xb_case *test, enum xb_taking how, uint64_t device_bytes,
                  struct xb_buffers *all)
{
    enum xb_memory memory = xb_host_memory_of(test->variant);
    xb_take(all, XB_OF_CASE, memory, test->bytes, offsetof(struct xb_trip, in));
    xb_take(all, XB_OF_CASE, memory, test->bytes, offsetof(struct xb_trip, out));
    xb_take(all, how, XB_MEMORY_DEVICE, device_bytes, offsetof(struct xb_trip, data));
}

enum xb_status xb_trip_fill(struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_trip *trip = context->state;
    struct xb_pattern before = xb_proof_before(context->test->seed);
    if (trip->out != NULL)
        XB_TRY(xb_proof_fill(context->queues[0], trip->out, trip->layout.out, before, error));
    return xb_proof_fill(context->queues[0], trip->in, trip->layout.in, before, error);
}

enum xb_status xb_trip_prepare(struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_trip *trip = context->state;
    return xb_proof_fill(context->queues[0], trip->in, trip->layout.in,
                         xb_proof_after(context->test->seed), error);
}

static enum xb_status copy(struct xb_mode_context *context, const struct xb_turn *turn,
                           bool to_device, struct xb_error *error)
{
    const struct xb_trip *trip = context->state;
    const struct xb_backend *backend = context->device->backend;
    const struct xb_trip_part part = xb_trip_part_at(&trip->layout, turn->item, turn->slot);
    const struct xb_chunk chunk = to_device ? part.in : part.out;
    struct xb_buffer *host = to_device ? trip->in : trip->out;
    if (chunk.bytes == 0)
        return XB_OK;
    if (trip->ring != NULL) {
        char *memory = (char *)host->host_address + chunk.offset;
        const struct xb_ring_copy copy = {to_device,          turn->queue, trip->data,
                                          part.device_offset, memory,      chunk.bytes};
        return xb_ring_submit(trip->ring, &copy, error);
    }
    return to_device ? backend->queue_copy(turn->queue, trip->data, part.device_offset, host,
                                           chunk.offset, chunk.bytes, error)
                     : backend->queue_copy(turn->queue, host, chunk.offset, trip->data,
                                           part.device_offset, chunk.bytes, error);
}

enum xb_status xb_trip_in(struct xb_mode_context *context, const struct xb_turn *turn,
                          struct xb_error *error)
{
    return copy(context, turn, true, error);
}

enum xb_status xb_trip_out(struct xb_mode_context *context, const struct xb_turn *turn,
                           struct xb_error *error)
{
    return copy(context, turn, false, error);
}

enum xb_status xb_trip_kernel(struct xb_mode_context *context, const struct xb_turn *turn,
                              struct xb_error *error)
{
    const struct xb_trip *trip = context->state;
    const struct xb_trip_part part = xb_trip_part_at(&trip->layout, turn->item, turn->slot);
    if (trip->steps == 0)
        return XB_OK;
    return context->device->backend->queue_compute(turn->queue, trip->data, part.device_offset,
                                                   part.in.bytes, trip->steps, error);
}
