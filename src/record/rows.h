/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "record.h"

/* Cases of devices or pairs that ran at the same time stand side by side in a record: first the
 * case of all of them together, their sum (xb_record_is_sum), then one of each. */

/* Whether it is of a pair of devices, or the sum of pairs. */
bool xb_case_is_of_pairs(const struct xb_record_case *test);

/* Whether it stands in a matrix of pairs: every pair does, and the sum of pairs that are there. */
bool xb_case_is_in_matrix(const struct xb_record *record, const struct xb_record_case *test);

/* How many devices or pairs ran at the same time as this case's, itself included; 0 for a case of
 * one alone or where the sum is not there. `test` is one of record->cases. */
size_t xb_group_size(const struct xb_record *record, const struct xb_record_case *test);

/* "0", "0>1" for a pair; of those that ran at the same time "sum of 4" and "0 (with 3 others)", and
 * of pairs "0>all" and "0>1 (with 2 others)". */
const char *xb_device_text(const struct xb_record *record, const struct xb_record_case *test,
                           char *text, size_t size);

/* What cases may differ in, and be alike all the same. */
enum {
    XB_BUT_SIZE = 1,
    XB_BUT_DEVICES = 2, /* device and peer */
    XB_BUT_NODE = 4,    /* the NUMA node of the host's memory */
    XB_BUT_PARAMETERS = 8
};

/* Orders cases by everything that makes them, but for that; 0: they are alike. */
int xb_cases_order(const struct xb_record_case *a, const struct xb_record_case *b, unsigned but);

/* Whether a signal or the deadline came before it was measured in any process: then there is
 * nothing to show of it but that. */
bool xb_case_was_not_run(const struct xb_record *record, const struct xb_record_case *test);

/* Whether a row must say of which device it is: there are several, or pairs. */
bool xb_rows_name_devices(const struct xb_record *record);

/* The largest size below `below` of any case; 0 where there is none. */
uint64_t xb_rows_size_below(const struct xb_record *record, uint64_t below);

/* What people call the method of a case: "pinned", "pageable, by a ring"; "mode variant" of one
 * that this build does not know. Plain ASCII, written to `text`. */
const char *xb_method_name(const struct xb_record_case *test, char *text, size_t size);

/* "to the GPU", "back to the host", "both ways", "within the GPU"; of pairs "one way". */
const char *xb_direction_words(const struct xb_record_case *test);
