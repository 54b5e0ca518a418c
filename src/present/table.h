/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/terminal.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * A table for people: first its columns are told, then its cells, row by row; then it is laid out
 * for a line of some width and printed. Titles and cells are copied, and made plain
 * (xb_make_plain).
 */
struct xb_table;

struct xb_table_column {
    const char *title; /* "" for none */
    const char *brief; /* the title where lines are too long; NULL: there is no shorter one */
    bool is_right;     /* its cells stand at its right edge, as figures do */
    /* When the column leaves a line that is too long: 1 first, 0 never. Columns of one turn go
     * together; before any of them go those that have a turn and nothing to show. */
    unsigned char turn;
    unsigned char
        least; /* cells may be cut in their middle, to so many characters; 0: they are not */
};

/* How it is printed. Zeroed: to a width of XB_PLAIN_COLUMNS, without colours, in ASCII. */
struct xb_table_look {
    size_t width;          /* that no line exceeds; 0: xb_terminal_columns() of the stream */
    const char *indent;    /* before each line; of a label, its width in blanks. NULL: none */
    const char *label;     /* in place of `indent` before the first line; NULL: `indent` */
    const char *elsewhere; /* "JSON has all": where to find the columns that went, which a line
                              below the table then names; NULL: they go without a word */
};

struct xb_table *xb_table_new(void);
/* One that has these columns; XB_TABLE: those of an array. */
struct xb_table *xb_table_with(const struct xb_table_column *columns, size_t count);
#define XB_TABLE(columns) xb_table_with((columns), sizeof(columns) / sizeof *(columns))
void xb_table_free(struct xb_table *table); /* NULL is accepted */

/* Adds a column. All are added before the first row. */
void xb_table_add_column(struct xb_table *table, const struct xb_table_column *column);

/* Begins a row; cells that it does not get are empty. */
void xb_table_row(struct xb_table *table);

/* Adds the next cell of the row. */
void xb_table_cell(struct xb_table *table, enum xb_colour colour, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define xb_table_text(table, ...) xb_table_cell((table), XB_COLOUR_NONE, __VA_ARGS__)

/* The same, a bar: `share` of the column's whole width, which is what other columns leave, up to 25
 * characters. It takes eighths of a character on a stream that is written in UTF-8, else '#'. */
void xb_table_bar(struct xb_table *table, double share);

/* The same, a curve in `count` characters: the height of each is that share of a line, in
 * blocks or, without UTF-8, in signs. */
void xb_table_curve(struct xb_table *table, const double *shares, size_t count);

/* Prints it: no line is longer than the width. For as long as lines are, first the space between
 * columns shrinks, then titles get brief, then columns go, then texts are cut. If that is still too
 * wide, each row becomes a paragraph: "MODE pinned  SIZE 1 GiB ...". No figure is ever cut.
 */
void xb_table_print(FILE *stream, struct xb_table *table, const struct xb_table_look *look);

/* Gives its titles, as row -1, and then its cells to a renderer, row by row from the left. */
typedef void xb_table_render(void *argument, int row, const char *text, bool is_right);
void xb_table_each(const struct xb_table *table, xb_table_render *render, void *argument);

/* Prints it as Markdown that a person can read as it is: columns are aligned, and all are there. */
void xb_table_markdown(FILE *stream, struct xb_table *table);
