/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_BASE_COLUMNS_H
#define XFERBENCH_BASE_COLUMNS_H

#include "terminal.h"

#include <libsmartcols/libsmartcols.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* How a table may be made narrower. Its columns are counted from 0, as they were added. */
struct xb_columns {
    size_t width;      /* that no line exceeds: xb_terminal_columns() */
    const char *label; /* begins the first line; the others are indented as far. NULL: none */
    bool with_colours; /* xb_terminal_has_colours(): of cells by xb_columns_paint() */
    size_t wordy;      /* the column whose header may become */
    const char *brief; /* this; NULL: none */
    /* For each column 0 if it stays, or its turn to go: 1 goes first. Those that have the same turn
     * go together. NULL: all stay. */
    const unsigned char *turns;
    const char *elsewhere; /* "They are in --json": where to find what went; NULL: nowhere */
};

/*
 * Prints the table to a text whose lines fit into columns->width. For as long as they are too
 * long, first the space between columns shrinks, then a header gets brief, then columns go, which
 * a last line below the table names. If those that stay are still too wide, each row becomes a
 * paragraph: "MODE pinned  VARIANT alloc ...". No figure is ever cut. Cells are plain ASCII.
 * Returns NULL if there is no memory. Release with free().
 */
char *xb_columns_fit(struct libscols_table *table, const struct xb_columns *columns);

/* Colours a cell for where its table is printed, if that has colours. False: no memory, or there is
 * no cell. */
bool xb_columns_paint(struct libscols_cell *cell, FILE *stream, enum xb_colour colour);

/* The number of columns that the longest line of a text takes; without escape sequences in it. */
size_t xb_widest_line(const char *text);

#endif
