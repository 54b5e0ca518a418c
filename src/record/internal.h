/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_RECORD_INTERNAL_H
#define XFERBENCH_RECORD_INTERNAL_H

#include "../core/arena.h"
#include "json.h"
#include "xferbench/record.h"

#define XB_RECORD_CASES 10000 /* the most in a file: a run takes no more */

/* A row as it stands in a document: its case, and which process it is of. */
struct xb_record_entry {
    struct xb_record_case test; /* the names only, no rows */
    struct xb_record_row row;
    size_t process, index; /* of the process, and within its results */
    size_t order;          /* among all */
};

/* Orders cases by what they are; 0: the same case. */
int xb_record_compare_cases(const struct xb_record_case *a, const struct xb_record_case *b);

/* Reads `results` of one process's document. Appends to *entries, which grows. */
XB_MUST_CHECK enum xb_status xb_record_read_rows(struct xb_place *place, const cJSON *document,
                                                 size_t process, struct xb_record_entry **entries,
                                                 size_t *count, struct xb_error *error);

/* Reads the devices of one process's document. */
XB_MUST_CHECK enum xb_status xb_record_read_devices(struct xb_place *place, const cJSON *document,
                                                    struct xb_record_process *process,
                                                    struct xb_error *error);

/* Adds each member of `config` as an option, whose texts the record does not own. False where
 * memory is short. */
bool xb_record_append_options(struct xb_record *record, const cJSON *config);

/* Reads backend, driver, options and facts of a document into *record. */
XB_MUST_CHECK enum xb_status xb_record_read_conditions(struct xb_place *place,
                                                       const cJSON *document,
                                                       struct xb_record *record,
                                                       struct xb_error *error);

/* XB_ERR_USAGE if the document, whose devices `process` has, was measured under other conditions
 * than *record. */
XB_MUST_CHECK enum xb_status xb_record_check_conditions(struct xb_place *place,
                                                        const cJSON *document,
                                                        const struct xb_record *record,
                                                        struct xb_record_process *process,
                                                        struct xb_error *error);

#endif
