/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MODES_BATCH_H
#define XFERBENCH_MODES_BATCH_H

#include "piece_layout.h"

/* What the files of the mode batch share. */

/* ---- batch_options.c ---- */

extern const char *const xb_batch_words[]; /* of --batch, in the order of enum xb_batch_how */
extern const struct xb_option xb_option_batch, xb_option_piece, xb_option_layout, xb_option_pitch;
extern const struct xb_option xb_option_call_pieces, xb_option_blocks;
/* Only rows have a pitch. */
enum xb_status xb_batch_check_variant(const struct xb_case *test, struct xb_error *error);
extern const struct xb_figure xb_figure_pieces_per_second, xb_figure_time_per_piece;
extern const struct xb_figure xb_figure_blocks;
/* The parts of `packed`. */
extern const struct xb_figure xb_figure_pack_time, xb_figure_packed_copy_time;
extern const struct xb_figure xb_figure_unpack_time;
extern const struct xb_figure *const xb_batch_figures[]; /* all of them; ends with NULL */

/* ---- the state of a case ---- */

enum xb_batch_how {
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

/* batch_reading.c; ends with a label of NULL */
extern const struct xb_reading_line xb_batch_reading[];
bool xb_batch_say_pieces(struct xb_reading *reading, int device, uint64_t bytes);

#endif
