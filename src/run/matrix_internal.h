/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_RUN_MATRIX_INTERNAL_H
#define XFERBENCH_RUN_MATRIX_INTERNAL_H

#include "base/arena.h"
#include "base/note.h"
#include "record/shown_parameters.h"
#include "xferbench/record.h"

#include <stdio.h>

/* What every kind of matrix is made of (matrix.c). */

#define XB_MATRIX_CELL 64 /* characters of a cell */
/* The place of what several have together, behind those that have numbers. */
#define XB_MATRIX_ALL (-1)

struct xb_matrix;
struct xb_matrix_grid; /* matrix.h */

/* What stands down and across, and which cases. */
struct xb_matrix_kind {
    /* Whether a case stands in a matrix of this kind. */
    bool (*holds)(const struct xb_record *record, const struct xb_record_case *test);
    unsigned but; /* what those of one matrix may differ in (record/rows.h) */
    bool is_one;  /* all of them are one matrix */
    /* The number of its row and of its column: 0 and up, or XB_MATRIX_ALL. */
    int (*row)(const struct xb_record_case *test);
    int (*column)(const struct xb_record_case *test);
    bool same_places; /* both are of the same things, and each of them has a row and a column */
    /* Writes what a cell shows of a case; leaves it alone where that is nothing. */
    void (*fill)(const struct xb_record *record, const struct xb_record_case *test, char *cell);
    /* "rows: from, columns: to", for the title of the cases of a matrix; more may follow. */
    void (*axes)(const struct xb_matrix *matrix, char *text, size_t size);
    const char *unsaid; /* a parameter that the title need not say; NULL: none */
};

/* The cases of a matrix, in the order of the record. */
struct xb_matrix {
    const struct xb_matrix_kind *kind;
    const struct xb_record *record;
    const struct xb_parameters *parameters; /* that tell the record's rows apart */
    const struct xb_record_case *const *cases;
    size_t count;
};

/* Calls `visit` for each matrix of the kind that the record has, until it fails. XB_ERR_MEMORY, or
 * what `visit` returned. */
typedef enum xb_status xb_matrix_visit(const struct xb_matrix *matrix, void *argument,
                                       struct xb_error *error);
XB_MUST_CHECK enum xb_status xb_matrix_visit_all(const struct xb_record *record,
                                                 const struct xb_matrix_kind *kind,
                                                 xb_matrix_visit *visit, void *argument,
                                                 struct xb_error *error);
/* "peer direct-read, d2d, 1 GiB, GB/s (rows: from, columns: to)". */
void xb_matrix_add_title(struct xb_words *words, const struct xb_matrix *matrix);

/* Of pairs of devices, and of NUMA nodes with devices. */
extern const struct xb_matrix_kind xb_matrix_of_pairs, xb_matrix_of_nodes;
/* Whether the record has matrices of nodes: of one node that was named there is none. */
bool xb_matrix_has_nodes(const struct xb_record *record);

/* Makes names, values and texts of a grid, with at most so many rows and columns; a name is the
 * noun and a number. All of it lies in *memory. False where that is short. */
bool xb_matrix_make_grid(const struct xb_matrix *matrix, size_t most, const char *row_noun,
                         const char *column_noun, struct xb_matrix_grid *grid,
                         struct xb_arena **memory);

/* Prints rows and columns of the cases that are in it. Columns that do not fit into a line stand
 * below. XB_ERR_MEMORY only. */
XB_MUST_CHECK enum xb_status xb_matrix_print_cells(FILE *stream, const struct xb_matrix *matrix,
                                                   struct xb_error *error);
struct xb_matrix_printing {
    FILE *stream;
    bool first; /* nothing stands above, so that no empty line is needed */
};
/* An xb_matrix_visit with such an argument: the same below the matrix's title. */
XB_MUST_CHECK enum xb_status xb_matrix_print_one(const struct xb_matrix *matrix, void *argument,
                                                 struct xb_error *error);

/* Puts a text into a cell, in plain characters. */
void xb_matrix_set_text(char *cell, const char *text);

/* Fills a cell with the figure that a case is about, or else why there is none. */
void xb_matrix_fill_figure(const struct xb_record *record, const struct xb_record_case *test,
                           char *cell);

/* The case's detail of that name, of the first process that has it; NULL for none. */
const struct xb_record_detail *xb_matrix_detail(const struct xb_record *record,
                                                const struct xb_record_case *test,
                                                const char *name);

#endif
