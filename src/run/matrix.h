/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "record/record.h"

#include <stdbool.h>
#include <stdio.h>

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

/* As many rows and columns of a matrix are given to others. */
#define XB_MATRIX_MOST 40

/* A matrix as texts and numbers, for a picture of it. */
struct xb_matrix_grid {
    const char *title; /* "peer, direct read, one way, 1 GiB, GB/s (rows: from, columns: to)" */
    const char *unit;  /* "GB/s", "us" */
    const char *rows_are, *columns_are;
    const char *const *row_names, *const *column_names;
    size_t row_count, column_count;
    size_t left_out; /* cells that are in further rows or columns */
    /* Row after row. A cell of several pairs or devices together has a text, but no number, because
     * it is of another size than the rest. NULL and NAN: nothing was measured. */
    const double *values;
    const char *const *texts;
};

/* Takes one; it lasts until this returns. */
typedef void xb_matrix_use(void *argument, const struct xb_matrix_grid *grid);

/* Whether a record has any matrix. */
bool xb_matrix_is_there(const struct xb_record *record);
/* Calls `use` for each matrix of a record, those of pairs first. */
void xb_matrix_each(const struct xb_record *record, xb_matrix_use *use, void *argument);
