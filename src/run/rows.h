/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_RUN_ROWS_H
#define XFERBENCH_RUN_ROWS_H

#include "xferbench/record.h"

/* Cases of devices that ran at the same time stand side by side in a record: first the case of all
 * of them together, their sum, then one of each. */

/* Whether it is the case of all devices together. */
bool xb_case_is_sum(const struct xb_record_case *test);

/* How many devices ran at the same time as this case's, itself included; 0 for a case of one alone
 * or where the sum is not there. `test` is one of record->cases. */
size_t xb_group_size(const struct xb_record *record, const struct xb_record_case *test);

/* "0", "0>1" for a pair, "sum of 4" and "0 (with 3 others)" for devices that ran at the same time.
 */
const char *xb_device_text(const struct xb_record *record, const struct xb_record_case *test,
                           char *text, size_t size);

/* Whether two cases are of one mode, variant, direction, size and parameters. They may be of
 * different devices. */
bool xb_cases_alike(const struct xb_record_case *a, const struct xb_record_case *b);

/* The largest size below `below` of any case; 0 where there is none. */
uint64_t xb_rows_size_below(const struct xb_record *record, uint64_t below);

#endif
