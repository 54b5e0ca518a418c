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
    const char *label; /* begins the first line that xb_columns_print() writes; the others are
                          indented as far. NULL: none */
    bool with_colours; /* xb_terminal_has_colours(): of cells by xb_columns_paint() */
    size_t wordy;      /* the column whose header may become */
    const char *brief; /* this; NULL: none */
    /* For each column 0 if it stays, or its turn to go: 1 goes first. Those that have the same turn
     * go together. NULL: all stay. */
    const unsigned char *turns;
    const char *elsewhere; /* "They are in --json": where to find what went; NULL: nowhere */
    size_t least; /* the first column has names that may be cut in the middle, to so many characters
                     and no fewer; 0: they may not */
};

/*
 * Prints the table to a text whose lines fit into columns->width. For as long as they are too
 * long, first the space between columns shrinks, then a header gets brief, then columns go, which
 * a last line below the table names. Then names in the first column are cut, if columns->least
 * allows it. If that is still too wide, each row becomes a paragraph: "MODE pinned  VARIANT alloc
 * ...". No figure is ever cut. Cells are plain ASCII.
 * Returns NULL if there is no memory. Release with free().
 */
char *xb_columns_fit(struct libscols_table *table, const struct xb_columns *columns);
/* Writes that text behind `before`, if the table is whole, and frees the table. False: no memory.
 */
bool xb_columns_print(FILE *stream, const char *before, struct libscols_table *table, bool is_whole,
                      const struct xb_columns *columns);

/* Writes the text into `cut`, of room + 1 bytes; a longer one with "..." in its middle, because
 * names differ at either end. `room` is 5 at least. */
void xb_cut_middle(const char *text, size_t room, char *cut);

/* Colours a cell for where its table is printed, if that has colours. False: no memory, or there is
 * no cell. */
bool xb_columns_paint(struct libscols_cell *cell, FILE *stream, enum xb_colour colour);

/* The number of columns that the longest line of a text takes; without escape sequences in it. */
size_t xb_widest_line(const char *text);

#endif
