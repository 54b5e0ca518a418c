/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* One line of a CSV after RFC 4180, written cell by cell. */
struct xb_csv_line {
    FILE *stream;
    bool begun;    /* it has a cell */
    bool has_text; /* the last cell has some of its text */
};

void xb_csv_put(struct xb_csv_line *line, const char *text);
/* An unknown value, and a number that is not finite, give an empty cell. */
void xb_csv_put_whole(struct xb_csv_line *line, bool known, uint64_t value);
void xb_csv_put_number(struct xb_csv_line *line, bool known, double value);
void xb_csv_end(struct xb_csv_line *line);

/* ---- a cell of several parts: between quotes if one of them needs quotes ---- */

/* Writes the comma before a cell, if it is not the first. */
void xb_csv_separate(struct xb_csv_line *line);
bool xb_csv_needs_quotes(const char *text);
/* Writes a text with quotes doubled (RFC 4180, 2.7) and invalid UTF-8 replaced. Writes a line break
 * as \n, and so on: a result must be one line for every reader. A cell that begins with = + - or @
 * gets a ' before it, because spreadsheets would compute it, and a text may come from anybody. */
void xb_csv_put_part(struct xb_csv_line *line, const char *text);
