/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "piece_layout.h"

/* What the files of the mode batch share. */

/* ---- batch_ways.c ---- */

extern const struct xb_option xb_option_batch, xb_option_piece, xb_option_layout, xb_option_pitch;
extern const struct xb_option xb_option_call_pieces, xb_option_blocks;
/* Only rows have a pitch. */
enum xb_status xb_batch_check_variant(const struct xb_case *test, struct xb_error *error);
extern const struct xb_figure xb_figure_pieces_per_second, xb_figure_time_per_piece;
extern const struct xb_figure xb_figure_blocks;
/* The parts of `packed`. */
extern const struct xb_figure xb_figure_pack_time, xb_figure_packed_copy_time;
extern const struct xb_figure xb_figure_unpack_time;

/* ---- the state of a case ---- */

enum xb_batch_how { /* the words of --batch */
                    XB_BATCH_EACH,
                    XB_BATCH_CALL,
                    XB_BATCH_GRAPH,
                    XB_BATCH_PACKED,
                    XB_BATCH_KERNEL,
                    XB_BATCH_PITCHED
};

struct xb_batch {
    enum xb_batch_how how;
    bool to_device;
    struct xb_layout layout;
    struct xb_buffer *host, *device;
    struct xb_buffer *room;   /* of the host: where pieces are packed, and the proof's room */
    struct xb_buffer *packed; /* of the device */
    /* Of the whole transfer, one a call; of packed its part within the device. */
    struct xb_pieces **lists;
    size_t list_count;
    struct xb_graph *graph;
    unsigned blocks;
};

static inline struct xb_buffer *xb_batch_source(const struct xb_batch *state)
{
    return state->to_device ? state->host : state->device;
}

static inline struct xb_buffer *xb_batch_target(const struct xb_batch *state)
{
    return state->to_device ? state->device : state->host;
}

/* Where piece `index` lies among packed ones. */
static inline uint64_t xb_batch_packed_offset(const struct xb_batch *state, size_t index)
{
    return index * state->layout.piece;
}

/* ---- batch_ways.c: one iteration, and the parts of `packed` alone ---- */

xb_submit xb_batch_submit;
xb_submit xb_batch_submit_gathering, xb_batch_submit_copy, xb_batch_submit_scattering;

/* ---- sm_tax.c: what a transfer takes from kernels that compute at the same time ---- */

extern const struct xb_figure xb_figure_sm_tax;

/* How many bytes of device memory the computing kernels work on: so many that each has some tens of
 * times as many blocks as there is room for, and one block more or less in a row makes no step. */
#define XB_SM_TAX_BYTES (UINT64_C(256) << 20)

/*
 * Measures the SM tax of one iteration of `submit`, which takes about `seconds`, and adds its
 * samples to the result: kernels compute one after the other on queue 1 of the context, alone and
 * beside the iteration, and the tax is the time that they lose by the time that the iteration
 * takes. 0.1 is a tenth of their speed. They are enqueued right after the iteration or, where
 * `keeps_caller` says that its submit waits for part of the work, before it. Device buffer `number`
 * of the workspace is theirs. Adds nothing where the run is to stop. Blocks.
 */
XB_MUST_CHECK enum xb_status xb_sm_tax_measure(struct xb_mode_context *context, xb_submit *submit,
                                               double seconds, bool keeps_caller, unsigned number,
                                               struct xb_result *result, struct xb_error *error);

/* batch_reading.c; ends with a label of NULL */
extern const struct xb_reading_line xb_batch_reading[];
bool xb_batch_say_pieces(struct xb_reading *reading, int device, uint64_t bytes);
