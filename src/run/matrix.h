/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "record/record.h"

#include <stdbool.h>
#include <stdio.h>

struct xb_cells;

/*
 * The cases of pairs of devices: a matrix for each mode, variant, direction, size and parameters,
 * with sources down and destinations across. Prints nothing where there are none. `first` tells
 * that nothing stands above, so that no empty line is needed. `brief`: of pairs that are alike a
 * line is enough.
 */
void xb_matrix_print(FILE *stream, const struct xb_record *record, bool first, bool brief);

/*
 * The cases of several NUMA nodes, or of all there are: a matrix for each mode, variant, direction,
 * size and parameters, with nodes down and devices across, and what to know of them below. A
 * device's own node is marked. Prints nothing where one node or none was named. The same `first`.
 */
void xb_matrix_print_nodes(FILE *stream, const struct xb_record *record, bool first);

/* Takes a matrix as texts and numbers (plot/pictures.h), of which only the picture's description is
 * lacking; it lasts until this returns. A cell of several pairs or devices together has a text, but
 * no number, because it is of another size than the rest. `left_out` cells are in further rows or
 * columns. */
typedef void xb_matrix_use(void *argument, struct xb_cells *cells, size_t left_out);

/* Calls `use` for each matrix of a record, those of pairs first. */
void xb_matrix_each(const struct xb_record *record, xb_matrix_use *use, void *argument);
