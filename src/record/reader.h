/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_RECORD_READER_H
#define XFERBENCH_RECORD_READER_H

#include "base/json_read.h"
#include "internal.h"

/*
 * Reads documents into a record. base/json_read.h says how the first error is kept: once there is
 * one, every function here does nothing.
 */
struct xb_reader {
    struct xb_json_reader json;
    struct xb_record *record; /* that is filled; its texts are the tree's, or made in its arena */
    unsigned version;         /* of the document that is read: 1 or 2 */
};

/* Zeroed room for `count` things in the record. NULL: nothing to fill, the reader has failed. */
void *xb_reader_room(struct xb_reader *reader, size_t count, size_t size);

/* An array of numbers, all above 0 or from 0 on. */
void xb_reader_need_numbers(struct xb_reader *reader, const cJSON *object, const char *key,
                            bool above_0, double most, const double **numbers, size_t *count);

/* Describes a figure by its samples, of which it has one or more. False: the reader has failed. */
bool xb_reader_describe(struct xb_reader *reader, struct xb_record_figure *figure);

/* The members of an object, whatever they are, as names and values. `object` may be NULL. */
void xb_reader_take_facts(struct xb_reader *reader, const cJSON *object,
                          const struct xb_record_fact **facts, size_t *count);

/* ---- parts of a document; each in its own file ---- */

/* Backend, program, host, environment and options, into reader->record. */
void xb_reader_read_conditions(struct xb_reader *reader, const cJSON *document);
/* Reads when measuring began, of one process or of several. Leaves *start alone if the document
 * does not say it. */
void xb_reader_read_start(struct xb_reader *reader, const cJSON *document,
                          struct xb_record_start *start);
/* Fails where the document, whose devices *process has, was measured under other conditions than
 * reader->record. */
void xb_reader_check_conditions(struct xb_reader *reader, const cJSON *document,
                                struct xb_record_process *process);
/* The devices of one process's document. The backend has been read. */
void xb_reader_read_devices(struct xb_reader *reader, const cJSON *document,
                            struct xb_record_process *process);
/* The results of one process's document. Appends to *entries. The options have been read. */
void xb_reader_read_rows(struct xb_reader *reader, const cJSON *document, size_t process,
                         struct xb_record_entries *entries);
/* What of a row is in another form in every version: parameters into *test, and of a row that is ok
 * the figures into *row, of which everything else has been read. */
void xb_reader_read_parameters(struct xb_reader *reader, const cJSON *object,
                               struct xb_record_case *test);
void xb_reader_read_figures(struct xb_reader *reader, const cJSON *object,
                            const struct xb_record_case *test, struct xb_record_row *row);

/* Whether a median is that of these samples but for rounding: fails at `key` where it is not, as
 * somebody changed one of them by hand, or a fault of ours broke it. */
void xb_reader_check_median(struct xb_reader *reader, const char *key, double own, double median,
                            const char *unit);
/* Whether median and interval of *statistics fit together. */
void xb_reader_check_interval(struct xb_reader *reader, const struct xb_statistics *statistics);
/* Whether each of the smallest, the percentiles and the largest that is known is at least as large
 * as the one before. */
void xb_reader_check_order(struct xb_reader *reader, const struct xb_record_figure *figure);

/* ---- documents of version 1 (version_1.c) ---- */

void xb_version_1_read_parameters(struct xb_reader *reader, struct xb_record_case *test);
void xb_version_1_read_figures(struct xb_reader *reader, const cJSON *object,
                               const struct xb_record_case *test, struct xb_record_row *row);
/* Whether a detail is still one: others are figures or parameters now, or follow from figures. */
bool xb_version_1_has_detail(const char *name);
/* A device of version 1 does not say it. */
bool xb_version_1_shares_host_memory(const char *backend, const struct xb_record_device *device);

#endif
