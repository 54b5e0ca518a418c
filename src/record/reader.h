/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_RECORD_READER_H
#define XFERBENCH_RECORD_READER_H

#include "base/json_read.h"
#include "internal.h"
#include "machine/topology.h"

/*
 * Reads documents into a record. base/json_read.h says how the first error is kept: once there is
 * one, every function here does nothing.
 */
struct xb_reader {
    struct xb_json_reader json;
    struct xb_record *record; /* that is filled; its texts are the tree's, or made in its arena */
    bool nodes[XB_NODES];     /* NUMA nodes that rows name, */
    size_t node_count;        /* and how many these are */
};

/* Zeroed room for `count` things in the record. NULL: nothing to fill, the reader has failed. */
void *xb_reader_room(struct xb_reader *reader, size_t count, size_t size);

/* An array of numbers, all above 0 or from 0 on. */
void xb_reader_need_numbers(struct xb_reader *reader, const cJSON *object, const char *key,
                            bool above_0, double most, const double **numbers, size_t *count);

/* The object at that key, of at most `most` keys: its members, whatever they are, as names and
 * values, which belong to the record. NULL: the reader has failed. */
struct xb_record_fact *xb_reader_read_facts(struct xb_reader *reader, const cJSON *object,
                                            const char *key, int most, size_t *count);

/* ---- parts of a document; each in its own file ---- */

/* Backend, program, host, environment and options, into reader->record. */
void xb_reader_read_conditions(struct xb_reader *reader, const cJSON *document);
/* Reads when measuring began, of one process or of several. */
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
/* The figures of a row, of which everything else has been read. */
void xb_reader_read_figures(struct xb_reader *reader, const cJSON *object,
                            const struct xb_record_case *test, struct xb_record_row *row);

#endif
