/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_COMPARE_TABLE_H
#define XFERBENCH_COMPARE_TABLE_H

#include "base/terminal.h"
#include "comparison.h"
#include "present/table.h"
#include "text.h"

/* The tables that text and Markdown have in common. */

/* The colour of an outcome; of one that is only indicative, or forced, that of a caution. */
enum xb_colour xb_compare_colour(enum xb_outcome outcome, bool sure);

/* The results that were compared, the worst first, those that count before the others; release with
 * free(). NULL: no memory. */
const struct xb_compared **xb_compare_sorted(const struct xb_comparison *comparison);

/* How a text of a file is written into a table, whose cell lasts as long as the block. */
typedef const char *xb_compare_quote(const char *text, char *quoted, size_t size);

struct xb_compare_look {
    const struct xb_compared **rows;
    bool is_whole;           /* also what people read who know statistics */
    xb_compare_quote *quote; /* NULL: as it is */
};

/*
 * A row for each result; `shared` gets what all of them have in common and no column tells: "To the
 * GPU, 1 GiB, bandwidth in GB/s". Where memory is short printing the table says so, as it does for
 * that of the conditions that differ: those that forbid a comparison, or the others.
 */
struct xb_table *xb_compare_cases_table(const struct xb_comparison *comparison,
                                        const struct xb_compare_look *look,
                                        struct xb_words *shared);
struct xb_table *xb_compare_differences_table(const struct xb_comparison *comparison, bool forbid,
                                              xb_compare_quote *quote);

/* The note of the row at that place of `rows`, of which it counts those behind it that have the
 * same: "pinned to the GPU, 1 GiB and the next 2: only in the baseline". "" for none, and for one
 * that an earlier row told. */
const char *xb_compare_row_note(const struct xb_comparison *comparison,
                                const struct xb_compared *const *rows, size_t index,
                                struct xb_words *words);

#endif
