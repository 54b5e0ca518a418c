/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "record/record.h"

/* A grid of many pieces (mode batch with --pieces): by the size of a piece and the number of pieces
 * the ways that were measured. Reading, pictures and --format crossovers are made of it. */

struct xb_cell_way {
    const struct xb_record_case *test;
    uint64_t piece, pieces;    /* of its cell */
    struct xb_statistics rate; /* bytes per second */
    bool is_tie;               /* it is not certain that the fastest is faster, or it is that one */
};

struct xb_piece_cell {
    size_t row, column;
    const struct xb_cell_way *ways; /* one or more, the fastest by the median first */
    size_t count, ties;
};

/* The cells of one device, direction, layout and alignment. */
struct xb_piece_grid {
    const struct xb_record *record;
    const struct xb_record_case *of;  /* any of them */
    const uint64_t *pieces, *numbers; /* of rows and of columns, rising */
    size_t row_count, column_count;
    const struct xb_piece_cell *cells; /* that were measured, row after row */
    size_t cell_count;
};

/* Whether a case is of a cell. */
bool xb_case_is_in_grid(const struct xb_record_case *test);

typedef void xb_piece_grid_visit(void *argument, const struct xb_piece_grid *grid);

/* Calls `visit` for each grid of a record; it lasts as long as the call. */
void xb_piece_grids_each(const struct xb_record *record, xb_piece_grid_visit *visit,
                         void *argument);

/* How many pieces a call takes where that is part of the way; 0: it is not, or one takes all. */
uint64_t xb_way_call_pieces(const struct xb_record_case *test);
