/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/terminal.h"
#include "reading/list.h"
#include "record/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* What the parts of the table share. */

#define XB_TABLE_LABEL 9 /* the width of "warning" and the like before their text */

/* Whether a case has a row. Pairs of devices stand in matrices; how far processes differ, only a
 * row can say. Cases that were not run are counted in a note. */
bool xb_table_has_row(const struct xb_record *record, const struct xb_record_case *test);

/* Adds on what a record was measured: "2 x NVIDIA H200, PCIe Gen5 x16, driver 580.1, CUDA 13.0". */
void xb_table_name_devices(struct xb_words *words, const struct xb_record *record);

enum xb_row_kind { XB_ROWS_ALONE, XB_ROWS_TOGETHER, XB_ROWS_ALL };

/* The rows of what ran alone, of what ran at the same time, or all with those of pairs. Release
 * with xb_table_free. */
struct xb_table *xb_table_of_rows(const struct xb_record *record, enum xb_row_kind which);

/* Why rows have no figure, what to beware of, and what kept the run from its end: what is skipped,
 * noisy or warned of in a line each if `brief`. Prints nothing where there is nothing to say. */
void xb_table_notes(FILE *stream, const struct xb_record *record, bool brief,
                    const struct xb_reading_list *reading);

/* The results as bars, the fastest first; of several sizes, devices or values of a parameter as a
 * small matrix, and of one method as its curve. What stands in another table than that of rows is
 * left out. `only_sweeps`: nothing of one value. */
void xb_overview_bars(FILE *stream, const struct xb_record *record, bool only_sweeps);

/* Prints a table and frees it. `elsewhere`: where to find columns that have no room, or NULL. */
void xb_table_finish(FILE *stream, struct xb_table *table, const char *elsewhere);

/* Texts that differ in their numbers only, as "known only to within 4 %" and "... 13 %" do: one
 * text says them all, "known only to within 4 to 13 %". */

#define XB_ALIKE_NUMBERS 8 /* those behind them must be equal */

struct xb_alike {
    const char *text; /* the first of them */
    struct {
        const char *least, *most; /* where the texts have them */
    } numbers[XB_ALIKE_NUMBERS];  /* as many as it has */
};

/* Begins with one text. It and all that are added must outlast the struct. */
struct xb_alike xb_alike_begin(const char *text);

/* Adds a text. False if it differs in more than numbers: nothing changes then. */
bool xb_alike_add(struct xb_alike *alike, const char *text);

/* Adds the text that says them all, from that place of the first one on. */
void xb_alike_say(const struct xb_alike *alike, size_t from, struct xb_words *words);
