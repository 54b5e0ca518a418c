/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "record/record.h"

/* A grid of many pieces (mode batch with --pieces): by the size of a piece and the number of pieces
 * the ways that were measured. Reading, pictures and --format crossovers are made of it. */

#define XB_CELL_WAYS 32

struct xb_cell_way {
    const struct xb_record_case *test;
    struct xb_statistics rate; /* bytes per second */
    bool is_tie;               /* it is not certain that the fastest is faster, or it is that one */
};

struct xb_piece_cell {
    struct xb_cell_way ways[XB_CELL_WAYS]; /* by the median, the fastest first */
    size_t count;                          /* 0: nothing was measured */
};

/* The cells of one device, direction, layout and alignment. */
struct xb_piece_grid {
    const struct xb_record *record;
    const struct xb_record_case *of;  /* any of them */
    const uint64_t *pieces, *numbers; /* rising */
    size_t row_count, column_count;
    const struct xb_piece_cell *cells; /* row after row; a row is of one size of a piece */
};

/* Whether a case is of a cell. */
bool xb_case_is_in_grid(const struct xb_record_case *test);

typedef void xb_piece_grid_visit(void *argument, const struct xb_piece_grid *grid);

/* Calls `visit` for each grid of a record; it lasts as long as the call. */
void xb_piece_grids_each(const struct xb_record *record, xb_piece_grid_visit *visit,
                         void *argument);

/* How many pieces a call takes where that is part of the way; 0: it is not, or one takes all. */
uint64_t xb_way_call_pieces(const struct xb_record_case *test);

/* How many ways are as fast as the fastest, itself included. */
size_t xb_cell_ties(const struct xb_piece_cell *cell);
