/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_RECORD_READER_H
#define XFERBENCH_RECORD_READER_H

#include "base/json_read.h"
#include "measure/node_choice.h"
#include "xferbench/record.h"

/* A record while it is read. base/json_read.h says how the first error is kept: once there is one,
 * every function here does nothing. */
struct xb_reader {
    struct xb_json_reader json;
    struct xb_record *record;        /* that is filled */
    bool nodes[XB_NODES];            /* NUMA nodes that rows name, */
    size_t node_count;               /* and how many these are */
    struct xb_record_entry *entries; /* the rows of all documents, in the order of the file */
    size_t entry_count;
    size_t process; /* whose rows are read */
};

/* Adds the results of a document, that of reader->process, of which all else has been read. */
void xb_reader_read_rows(struct xb_reader *reader, const cJSON *document);
/* Makes the record's cases of the rows of all documents. */
void xb_reader_make_cases(struct xb_reader *reader);

#endif
