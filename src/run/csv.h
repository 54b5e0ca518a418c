/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_RUN_CSV_H
#define XFERBENCH_RUN_CSV_H

#include "xferbench/record.h"

#include <stdio.h>

/*
 * One CSV of several records, after RFC 4180: first every record is asked what columns it needs,
 * then the header is written, and the lines of each record. No record need be kept between the two.
 */

/* A figure that has a column because some record has it. */
struct xb_csv_figure {
    const char *name, *unit;
};

/* Zero-initialise; release with xb_csv_free. */
struct xb_csv {
    /* Those besides the fixed columns, each in the order in which they were met. */
    struct xb_csv_figure *figures;
    size_t figure_count;
    const char **parameters;
    size_t parameter_count;
    struct xb_arena *texts; /* of both */
};

/* Adds the columns that this record needs. XB_ERR_MEMORY only. */
XB_MUST_CHECK enum xb_status xb_csv_add_columns(struct xb_csv *csv, const struct xb_record *record,
                                                struct xb_error *error);
/* Each reports a failed write. */
XB_MUST_CHECK enum xb_status xb_csv_write_header(FILE *stream, const struct xb_csv *csv,
                                                 struct xb_error *error);
XB_MUST_CHECK enum xb_status xb_csv_write_lines(FILE *stream, const struct xb_csv *csv,
                                                const struct xb_record *record,
                                                struct xb_error *error);
void xb_csv_free(struct xb_csv *csv);

#endif
