/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_COMPARE_TABLE_H
#define XFERBENCH_COMPARE_TABLE_H

#include "base/terminal.h"
#include "comparison.h"

/* The parts of the table for people, each with an empty line before it. */

#define XB_COMPARE_LABEL 10 /* columns of a note's label */

/* The colour of an outcome; of one that is only indicative, or forced, that of a caution. */
enum xb_colour xb_compare_colour(enum xb_outcome outcome, bool sure);

/* Which columns a table of cases has that a note explains. */
struct xb_compare_shown {
    bool sure, ratio, interval, p;
};

/* A row for each figure of a case, with as many of its columns as lines have room for.
 * XB_ERR_MEMORY. */
XB_MUST_CHECK enum xb_status
xb_compare_print_cases(FILE *stream, const struct xb_comparison *comparison, size_t columns,
                       bool colour, struct xb_compare_shown *shown, struct xb_error *error);
/* The conditions that differ: first those that forbid a comparison. Nothing where there are none.
 */
void xb_compare_print_differences(FILE *stream, const struct xb_comparison *comparison,
                                  size_t columns);

#endif
