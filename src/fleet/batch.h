/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_FLEET_BATCH_H
#define XFERBENCH_FLEET_BATCH_H

#include "taking.h"

/*
 * Collects documents, and reads a whole batch of them with several threads. They come into the
 * fleet in the order in which they were added, so it does not matter which thread is faster.
 */

#define XB_BATCH_PIECES 256
#define XB_BATCH_BYTES ((size_t)32 << 20) /* of text; the last document may exceed it */

struct xb_batch_piece {
    char *path;
    size_t number; /* of the document in its file; 0: it is the only one, or none */
    uint64_t line; /* where it begins; 0: it is the only one */
    char *text;    /* NULL: it is broken, and `why` says why */
    size_t length;
    char why[XB_TAKING_WHY];
    bool is_foreign;       /* it is not broken, but it is of no node */
    struct xb_fleet taken; /* a fleet of this document alone */
    enum xb_status status;
    struct xb_error error;
};

struct xb_batch {
    struct xb_fleet *fleet;
    struct xb_fleet_terms terms;
    struct xb_batch_piece *pieces;
    size_t count;
    size_t bytes; /* of their texts */
};

/* XB_ERR_MEMORY. */
XB_MUST_CHECK enum xb_status xb_batch_open(struct xb_batch *batch, struct xb_fleet *fleet,
                                           struct xb_error *error);
void xb_batch_close(struct xb_batch *batch); /* also after a failed xb_batch_open */

/* Adds a document, or with a `text` of NULL the reason why there is none; copies both. A full batch
 * has room for one more. */
XB_MUST_CHECK enum xb_status xb_batch_add(struct xb_batch *batch, const char *path, size_t number,
                                          uint64_t line, const char *text, size_t length,
                                          const char *why, struct xb_error *error);
/* Says that the last one added is the only one in its file. */
void xb_batch_is_alone(struct xb_batch *batch);
/* Whether it is time for xb_batch_run(). */
bool xb_batch_is_full(const struct xb_batch *batch);
/* Reads its documents into the fleet, and empties it. XB_ERR_MEMORY; XB_ERR_STOPPED after a signal.
 */
XB_MUST_CHECK enum xb_status xb_batch_run(struct xb_batch *batch, struct xb_error *error);

#endif
