/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_RUN_MATRIX_INTERNAL_H
#define XFERBENCH_RUN_MATRIX_INTERNAL_H

#include "base/note.h"
#include "record/shown_parameters.h"
#include "xferbench/record.h"

#include <stdio.h>

/* What every kind of matrix is made of (matrix.c). */

#define XB_MATRIX_CELL 64 /* characters of a cell */
/* The place of what several have together, behind those that have numbers. */
#define XB_MATRIX_ALL (-1)

struct xb_matrix;

/* What stands down and across, and which cases. */
struct xb_matrix_kind {
    /* Whether a case stands in a matrix of this kind. */
    bool (*holds)(const struct xb_record *record, const struct xb_record_case *test);
    /* Whether two that do differ in nothing but their places. */
    bool (*alike)(const struct xb_record_case *a, const struct xb_record_case *b);
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
    const struct xb_record_case **cases; /* room for all of the record */
    size_t count;
};

/* Begins one without cases. False: no memory. Free matrix->cases either way. */
bool xb_matrix_open(struct xb_matrix *matrix, const struct xb_matrix_kind *kind,
                    const struct xb_record *record);

/* Whether a case of the record, the first of its matrix, stands for it. */
bool xb_matrix_begins(const struct xb_matrix *matrix, size_t index);
/* Puts the cases into it that belong to the matrix of `of`. */
void xb_matrix_collect(struct xb_matrix *matrix, const struct xb_record_case *of);
/* "peer direct-read, d2d, 1 GiB, GB/s (rows: from, columns: to)". */
void xb_matrix_add_title(struct xb_words *words, const struct xb_matrix *matrix,
                         const struct xb_parameters *parameters);

/* Of pairs of devices, and of NUMA nodes with devices. */
extern const struct xb_matrix_kind xb_matrix_of_pairs, xb_matrix_of_nodes;
/* Whether the record has matrices of nodes: of one node that was named there is none. */
bool xb_matrix_has_nodes(const struct xb_record *record);

/* Prints every matrix of the kind that the record has, with an empty line before each but, where
 * `first`, the first. Calls `each`, which may be NULL, for each. */
void xb_matrix_print_each(FILE *stream, struct xb_matrix *matrix, bool first,
                          void (*each)(const struct xb_matrix *matrix, void *argument),
                          void *argument);

/* Prints rows and columns of the cases that are in it. Columns that do not fit into a line stand
 * below. */
void xb_matrix_print_cells(FILE *stream, const struct xb_matrix *matrix);

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
