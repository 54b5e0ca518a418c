/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_FLEET_TABLE_INTERNAL_H
#define XFERBENCH_FLEET_TABLE_INTERNAL_H

#include "base/note.h"
#include "base/terminal.h"
#include "judgement.h"

/* The parts of the table, each in a file of its name, and the helpers that they share. */

/* A terminal shows at most so many rows, reasons and figures; a file gets all of them. */
#define XB_FLEET_ROWS 30
#define XB_FLEET_FIGURES 8

struct xb_fleet_view {
    FILE *stream;
    const struct xb_fleet_judgement *judgement;
    size_t columns; /* width of a line */
    size_t prose;   /* width of a line of sentences */
    bool colours;
    size_t rows;    /* most rows of a list */
    size_t figures; /* most figures to draw */
};

/* "55.44 GB/s", "3.31 us"; "-" for NAN. */
const char *xb_fleet_table_value(const char *unit, double value, char *text, size_t size);
/* "-12.3 %"; with one digit more if the share is small. */
const char *xb_fleet_table_share(double share, bool with_sign, char *text, size_t size);
/* "4,000" */
const char *xb_fleet_table_count(size_t count, char *text, size_t size);

/* Prints sentences, wrapped, in a colour. */
void xb_fleet_table_put(const struct xb_fleet_view *view, enum xb_colour colour, const char *format,
                        ...) __attribute__((format(printf, 3, 4)));

/* table_findings.c. False: no memory. */
bool xb_fleet_table_findings(const struct xb_fleet_view *view);
/* table_figures.c */
void xb_fleet_table_figures(const struct xb_fleet_view *view);

#endif
