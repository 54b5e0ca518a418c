/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_RECORD_INTERNAL_H
#define XFERBENCH_RECORD_INTERNAL_H

#include "base/arena.h"
#include "xferbench/record.h"

#define XB_RECORD_CASES 10000 /* the most in a file: a run takes no more */
#define XB_RECORD_MOST_BYTES (UINT64_C(1) << 53)
#define XB_RECORD_MOST_RATE 1e15   /* bytes per second: no machine has a thousandth of it */
#define XB_RECORD_MOST_SECONDS 1e6 /* of an operation: eleven days */

/* A row as it stands in a document: its case, and which process it is of. */
struct xb_record_entry {
    struct xb_record_case test; /* what it is, no rows */
    struct xb_record_row row;
    size_t process, index; /* of the process, and within its results */
    size_t order;          /* among all */
};

/* The rows of all documents of a file, in the order of the file. */
struct xb_record_entries {
    struct xb_record_entry *entries;
    size_t count;
};

/* Makes record->facts of what the record says of program, host, backend, devices and environment.
 * False where memory is short. */
XB_MUST_CHECK bool xb_record_make_facts(struct xb_record *record);

/* Orders them by their names. */
void xb_record_sort_facts(struct xb_record_fact *facts, size_t count);

/* A figure without its values. */
struct xb_record_figure xb_record_figure_of(const struct xb_figure *figure);
/* Describes it by its samples, of which it has one or more, and by their placements. XB_ERR_MEMORY.
 */
XB_MUST_CHECK enum xb_status xb_record_figure_describe(struct xb_record_figure *figure,
                                                       struct xb_error *error);
/* A description by the median alone; n is 0 where that was computed from other figures. */
struct xb_statistics xb_record_median_only(double median, size_t n);

#endif
