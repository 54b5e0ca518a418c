/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "measure/engine/stage.h"
#include "shared_options.h"

/*
 * A trip: data goes to the device in chunks, a kernel computes on them, and a result comes back.
 * What modes that do so share: how the chunks lie, and the stages. The state of such a mode begins
 * with struct xb_trip.
 */

/*
 * How input and output lie in chunks: chunk i of the input goes into a slot of the device's buffer,
 * and what comes back of it is the slot's beginning. Each chunk brings its share of the output, in
 * whole words but for the last, so that chunks can be sent, computed and fetched apart.
 */
struct xb_trip_layout {
    uint64_t in, out;      /* bytes of the whole */
    uint64_t chunk, count; /* of the input; chunk is a multiple of 8 */
    uint64_t slots;        /* 0: each chunk has a slot of its own */
    uint64_t stride;       /* from slot to slot: where no more comes back than went in, `chunk` */
    uint64_t device_bytes; /* of all slots */
};

struct xb_trip_part {
    struct xb_chunk in, out; /* on the host; `out` may be empty */
    uint64_t device_offset;  /* of the slot; a multiple of 8 */
};

/* `in` is 1 or more. A chunk that is longer than the input makes one chunk. */
struct xb_trip_layout xb_trip_lay_out(uint64_t in, uint64_t out, uint64_t chunk, uint64_t slots);
/* Where a chunk lies; in which slot counts only where chunks share them. */
struct xb_trip_part xb_trip_part_at(const struct xb_trip_layout *layout, uint64_t index,
                                    unsigned slot);

struct xb_trip {
    struct xb_trip_layout layout;
    struct xb_buffer *in, *out; /* on the host; `out` is NULL where nothing comes back */
    struct xb_buffer *data;     /* on the device */
    struct xb_ring *ring;       /* by which the copies go; NULL: without */
    uint64_t steps;             /* of the kernel, on every word; 0: no kernel */
};

/* `buffers` of a mode whose state begins with it, whose result is as long as its input, and which
 * takes so much of the device's memory. */
void xb_trip_take(const struct xb_case *test, enum xb_taking how, uint64_t device_bytes,
                  struct xb_buffers *all);

/* Fills both ends on the host with xb_proof_before, as `setup` must: nothing is right there that an
 * earlier case left in this memory. */
xb_submit xb_trip_fill;

/* `prepare` of a mode whose input is a buffer like any other: writes the other pattern to it, so
 * that nothing that has come back is right any more. */
xb_submit xb_trip_prepare;

enum { XB_TRIP_IN, XB_TRIP_KERNEL, XB_TRIP_OUT };

xb_stage_run xb_trip_in, xb_trip_kernel, xb_trip_out;

/* The stages by those functions, or by the mode's own. */
#define XB_TRIP_STAGES(in, kernel, out)                                                            \
    ((const struct xb_stage[]){{.name = "in", .engine = XB_ENGINE_COPY, .run = (in)},              \
                               {.name = "kernel", .engine = XB_ENGINE_COMPUTE, .run = (kernel)},   \
                               {.name = "out", .engine = XB_ENGINE_COPY, .run = (out)},            \
                               {.name = NULL}})
