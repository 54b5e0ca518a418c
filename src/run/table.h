/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_RUN_TABLE_H
#define XFERBENCH_RUN_TABLE_H

#include "reading/list.h"
#include "xferbench/record.h"

#include <stdio.h>

/* What the parts of the table share. */

#define XB_TABLE_LABEL 9 /* the width of "warning" and the like before their text */

/* ---- table_rows.c ---- */

/* Whether a case has a row. Pairs of devices stand in matrices; how far processes differ, only a
 * row can say. Cases that were not run are counted in a note. */
bool xb_table_has_row(const struct xb_record *record, const struct xb_record_case *test);

enum xb_row_kind { XB_ROWS_ALONE, XB_ROWS_TOGETHER, XB_ROWS_ALL };

/* The rows of what ran alone, of what ran at the same time, or all with those of pairs. Release
 * with xb_table_free. */
struct xb_table *xb_table_of_rows(const struct xb_record *record, enum xb_row_kind which);

/* ---- table_notes.c ---- */

/* Why rows have no figure, what to beware of, and what kept the run from its end: what is skipped,
 * noisy or warned of in a line each if `brief`. Prints nothing where there is nothing to say.
 * XB_ERR_MEMORY only. */
XB_MUST_CHECK enum xb_status xb_table_notes(FILE *stream, const struct xb_record *record,
                                            bool brief, const struct xb_reading_list *reading,
                                            struct xb_error *error);

#endif
