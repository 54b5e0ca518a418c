/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/json_write.h"
#include "base/options.h"
#include "record/record.h"

#include <stdio.h>

/* Where results go. Each format is written from a record: of this process, of several, or of a
 * file; of a finished run or of an interrupted one. Each flushes, and reports a failed write. */

/* What standard output gets of a record: for people, or for a program. */
enum xb_record_format { XB_AS_TABLE, XB_AS_MARKDOWN, XB_AS_CROSSOVERS };

/* What the text for people shows beside the answer, its picture and what to do. */
struct xb_table_view {
    enum xb_record_format format; /* of which this is the first */
    bool all_columns;             /* every row with every column, in place of bars */
    bool all_reading;             /* every statement, in place of what to do */
    bool all_notes;               /* devices with all that is known, each warning */
};

/* The rows of --format, --columns, --reading and --verbose, and what a configuration that has them
 * asks for. */
extern const struct xb_option xb_option_format, xb_option_columns, xb_option_reading,
    xb_option_verbose;
struct xb_table_view xb_table_view_of(const struct xb_config *config);

/* The format that the view asks for; as a table the text for people: on what, the answer, results,
 * what to do, and what to beware of. */
enum xb_status xb_table_write(FILE *stream, const struct xb_record *record,
                              const struct xb_table_view *view, struct xb_error *error);
/* JSON after docs/crossovers.schema.json, of grids of pieces. XB_ERR_USAGE where there is none. */
enum xb_status xb_crossovers_write(FILE *stream, const struct xb_record *record,
                                   struct xb_error *error);
/* Says on stderr what failed and why, for where no table does: a line for each case, or of several
 * processes for each that failed as a whole (what failed in the others they said themselves). */
void xb_failures_say(const struct xb_record *record);
/* JSON after docs/result.schema.json, of a record of one process. XB_ERR_SYSTEM, XB_ERR_MEMORY. */
enum xb_status xb_result_json_write(FILE *stream, const struct xb_record *record,
                                    enum xb_json_form form, struct xb_error *error);
/* CSV after RFC 4180: a header, then a line a case. Its columns: docs/measurement.md. */
enum xb_status xb_csv_write(FILE *stream, const struct xb_record *record, struct xb_error *error);

/* One such CSV of several records: first every record is asked what columns it needs, then the
 * header is written, and the lines of each record, which need not be kept between the two.
 * Zero-initialise; release with xb_csv_free. */
struct xb_csv {
    /* Those besides the fixed ones, in the order in which they were met: figures, which come first,
     * and parameters, which have no unit. */
    struct xb_csv_column {
        const char *name, *unit;
    } * columns;
    size_t count;
    struct xb_arena *texts; /* of these */
};

/* Adds the columns that this record needs. XB_ERR_USAGE for more than a CSV has. */
enum xb_status xb_csv_add_columns(struct xb_csv *csv, const struct xb_record *record,
                                  struct xb_error *error);
enum xb_status xb_csv_write_header(FILE *stream, const struct xb_csv *csv, struct xb_error *error);
enum xb_status xb_csv_write_lines(FILE *stream, const struct xb_csv *csv,
                                  const struct xb_record *record, struct xb_error *error);
void xb_csv_free(struct xb_csv *csv);
