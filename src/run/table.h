/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_RUN_TABLE_H
#define XFERBENCH_RUN_TABLE_H

#include "reading/list.h"
#include "record/shown_parameters.h"
#include "xferbench/record.h"

#include <stdio.h>

/* What the parts of the table share. */

#define XB_TABLE_LABEL 9 /* the width of "warning" and the like before their text */
#define XB_TABLE_CELL 64 /* characters of a cell */
#define XB_TABLE_COLUMNS 32

/* ---- table_columns.c ---- */

/* The columns that the rows of a record need. */
struct xb_table_layout {
    const struct xb_record *record;
    unsigned rows, processes; /* of which kinds they are: table_columns.c's own */
    struct xb_parameters parameters;
    struct {
        const struct xb_column *column; /* NULL: of a parameter, */
        const char *parameter;          /* this one */
    } shown[XB_TABLE_COLUMNS];
    size_t shown_count;
};

struct xb_table_layout xb_table_layout_of(const struct xb_record *record);
/* The header of a column, in `name` (XB_TABLE_CELL). */
const char *xb_table_column_name(const struct xb_table_layout *layout, size_t index, char *name);
/* Whether its cells stand at its right edge, as figures do. */
bool xb_table_column_is_right(const struct xb_table_layout *layout, size_t index);
/* When it goes from a line that is too narrow for all: 1 first; 0: never (xb_columns.turns). */
unsigned char xb_table_column_turn(const struct xb_table_layout *layout, size_t index);
/* What a column shows of a case, in `cell` (XB_TABLE_CELL): "-" for nothing. */
void xb_table_fill_cell(const struct xb_table_layout *layout, size_t index,
                        const struct xb_record_case *test, char *cell);

/* ---- table_notes.c ---- */

/* Why rows have no figure, what to beware of, and what kept the run from its end: what is skipped,
 * noisy or warned of in a line each if `brief`. Prints nothing where there is nothing to say.
 * XB_ERR_MEMORY only. */
XB_MUST_CHECK enum xb_status xb_table_notes(FILE *stream, const struct xb_record *record,
                                            bool brief, const struct xb_reading_list *reading,
                                            struct xb_error *error);

#endif
