/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_FLEET_TABLE_INTERNAL_H
#define XFERBENCH_FLEET_TABLE_INTERNAL_H

#include "base/note.h"
#include "base/terminal.h"
#include "judgement.h"

/* The parts of the table, each in a file of its name, and the helpers that they share. */

#define XB_FLEET_ROWS 30 /* that a terminal shows at most; a file gets all of them */

/* A row of the table: a finding of a node; or of a GPU, with its other figures, and with those of
 * the node's other GPUs that are off as much for the same reason. */
struct xb_fleet_row {
    size_t first;     /* index of the finding, the worst of them */
    size_t gpus, all; /* how many GPUs it is of, and how many the node has */
    size_t more;      /* other findings in it */
};

struct xb_fleet_view {
    FILE *stream;
    const struct xb_fleet_judgement *judgement;
    size_t columns;   /* width of a line */
    size_t prose;     /* width of a line of sentences */
    bool verbose;     /* the figures too, and all columns */
    size_t most_rows; /* that are printed */
    struct xb_fleet_row *rows;
    size_t row_count;
};

/* "55.44 GB/s", "3.31 us"; "-" for NAN. */
const char *xb_fleet_table_value(const char *unit, double value, char text[64]);
/* "-12.3 %"; with one digit more if the share is small. */
const char *xb_fleet_table_share(double share, bool with_sign, char *text, size_t size);
/* "4,000" */
const char *xb_fleet_table_count(size_t count, char *text, size_t size);
/* The same, in memory of the block that it stands in. */
#define COUNT(count) xb_fleet_table_count((count), (char[24]){0}, 24)

/* Prints sentences, wrapped, in a colour. */
void xb_fleet_table_put(const struct xb_fleet_view *view, enum xb_colour colour, const char *format,
                        ...) __attribute__((format(printf, 3, 4)));

/* table_findings.c: makes the rows; free() them. XB_ERR_MEMORY. */
XB_MUST_CHECK enum xb_status xb_fleet_table_rows(struct xb_fleet_view *view,
                                                 struct xb_error *error);
/* table_findings.c. XB_ERR_MEMORY. */
XB_MUST_CHECK enum xb_status xb_fleet_table_findings(const struct xb_fleet_view *view,
                                                     struct xb_error *error);
/* table_figures.c */
void xb_fleet_table_figures(const struct xb_fleet_view *view);

#endif
