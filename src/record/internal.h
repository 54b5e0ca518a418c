/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_RECORD_INTERNAL_H
#define XFERBENCH_RECORD_INTERNAL_H

#include "base/arena.h"
#include "xferbench/record.h"

#define XB_RECORD_CASES 10000 /* the most in a file: a run takes no more */

struct xb_json_reader;

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
/* Refuses a figure that was read, the next one of the row, if its numbers do not fit together. */
void xb_record_check_figure(struct xb_json_reader *reader, const struct xb_record_row *row,
                            const struct xb_record_figure *figure);
/* A description by the median alone; n is 0 where that was computed from other figures. */
struct xb_statistics xb_record_median_only(double median, size_t n);

#endif
