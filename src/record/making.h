/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/json_read.h"
#include "base/memory.h"
#include "machine/topology.h"
#include "record.h"
#include "xferbench/backend.h"

/* The record's own copy of a text; NULL for one that is not there. */
const char *xb_record_keep_text(struct xb_record *record, const char *text);
/* Names one more library in record->left_out. */
void xb_record_add_left_out(struct xb_record *record, const char *library);
/* Fills record->start. */
void xb_record_keep_start(struct xb_record *record, const struct xb_start *start);

/* A row of a process, and the case that it is of, which has no rows. */
struct xb_record_entry {
    struct xb_record_case test;
    struct xb_record_row row;
    size_t process, index; /* of the process, and within its results */
};

/* Makes record->cases of the rows of its processes, in the order of the first of each, and the
 * index. Refuses more than `most` cases, and a case that a process has twice. */
void xb_record_make_cases(struct xb_json_reader *reader, struct xb_record *record,
                          const struct xb_record_entry *entries, size_t count, size_t most);
/* Makes record->index of its cases, for xb_record_find. */
void xb_record_make_index(struct xb_record *record);

/* Under which conditions something is measured. Any of them may be NULL. */
struct xb_conditions {
    const struct xb_config *config;
    const char *backend;          /* its name */
    const struct xb_probe *probe; /* of that backend; not NULL where it is there */
    const struct xb_topology *topology;
    const struct xb_start *start; /* how it began */
};

/* Makes a record without devices and results: the program, the machine and the environment as they
 * are now, and what *conditions says, of which it keeps names of options only. XB_ERR_USAGE, as of
 * xb_node_check(), leaves nothing to free. */
enum xb_status xb_record_of_conditions(const struct xb_conditions *conditions,
                                       struct xb_record *record, struct xb_error *error);

#define XB_RECORD_CASES 10000 /* the most in a file: a run takes no more */

/* Makes record->facts of what it says of program, host, backend, devices and environment. */
void xb_record_make_facts(struct xb_record *record);
/* Orders them by their names. */
void xb_record_sort_facts(struct xb_record_fact *facts, size_t count);

/* A figure without its values. */
struct xb_record_figure xb_record_figure_of(const struct xb_figure *figure);
/* Describes it by its samples, one or more, and by their placements. */
void xb_record_figure_describe(struct xb_record_figure *figure);
/* A description by the median alone; n is 0 where that was computed from other figures. */
struct xb_statistics xb_record_median_only(double median, size_t n);
