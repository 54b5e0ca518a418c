/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "proof.h"
#include "shared_options.h"

/* Where the pieces of a transfer lie on either side, and the proof that each came to its place. */

/* One side of the transfer. */
struct xb_layout_side {
    bool scattered;  /* in an order without a pattern; else one behind the other */
    uint64_t pitch;  /* how far apart pieces begin that lie in order; 0: no gaps */
    uint64_t offset; /* of the first byte that any piece may use */
};

/* `bytes` in pieces of `piece` bytes, of which the last may be shorter. */
struct xb_layout {
    uint64_t bytes, piece;
    struct xb_layout_side source, target;
    unsigned long long seed; /* decides which order it is, where one is scattered */
    /* Made by xb_layout_make: */
    struct xb_piece *pieces;
    size_t count;
    uint64_t source_span, target_span; /* up to the end of the last byte that is used */
};

/* How many bytes from the buffer's beginning a side takes. Saturates. */
uint64_t xb_layout_span(uint64_t bytes, uint64_t piece, const struct xb_layout_side *side);

/* Makes the list. XB_ERR_MEMORY only; xb_layout_free takes what was never made, too. */
enum xb_status xb_layout_make(struct xb_layout *layout, struct xb_error *error);
void xb_layout_free(struct xb_layout *layout);

/* What moved the pieces and where the proof has room. */
struct xb_piece_proof {
    const struct xb_layout *layout;
    struct xb_queue *queue;
    struct xb_buffer *source, *target; /* one of them DEVICE memory, the other the host's */
    struct xb_buffer *room;   /* of the host, as long as the device's side with what is behind */
    struct xb_pattern moved;  /* what the source holds */
    struct xb_pattern around; /* what the target held before, and still holds around the pieces */
    uint64_t behind;          /* so many bytes behind the last one are around them too */
};

/*
 * Checks every byte of every piece in the target against the pattern at its place in the source,
 * and every byte around the pieces: adds what is wrong to *all. Then compares all pieces with the
 * source itself, without a pattern: adds to *compared. The device's side is fetched by a copy.
 * Blocks.
 */
enum xb_status xb_piece_proof_check(const struct xb_piece_proof *proof, struct xb_mismatch *all,
                                    struct xb_mismatch *compared, struct xb_error *error);
