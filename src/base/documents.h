/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/error.h"

#include <stdbool.h>
#include <sys/types.h>

/* Gives the next bytes, `size` at most; 0 at the end, -1 with errno for a failure. */
typedef ssize_t xb_documents_read(void *from, char *buffer, size_t size);

/* Cuts a stream into its JSON objects, one per line, or printed over several, or mixed. It finds an
 * object's end by brackets and texts and parses nothing: a whole piece may still be no JSON. A
 * broken document is a piece too, and says why. The next one begins where a line begins with `{`:
 * one that was cut short never spoils the next. */
struct xb_documents {
    xb_documents_read *read; /* bytes of what is read */
    void *from;
    size_t largest;    /* most bytes of a document */
    char *window;      /* the bytes that were read and are still needed */
    size_t capacity;   /* of the window, without one byte after it */
    size_t begin, at;  /* in the window: the first byte not yet given, and how far it is scanned */
    size_t end;        /* of the bytes in the window */
    size_t held;       /* where a zero byte stands after a piece, in place of `holds` */
    char holds;        /* the byte that stood there */
    bool is_held;      /* there is such a zero byte */
    bool is_over;      /* the stream has ended */
    bool is_told;      /* the caller knows of `failure` */
    int failure;       /* errno if the stream could not be read to its end; else 0 */
    uint64_t line;     /* from 1, at `at` */
    bool line_is_open; /* `at` is not where a line begins */
};

struct xb_document_piece {
    const char *text; /* ends with a zero byte; valid until the next call; NULL: it is broken */
    size_t length;
    uint64_t line;   /* where it begins, from 1 */
    const char *why; /* why it is broken, static text; NULL for a whole one */
    bool is_none;    /* it is lines in which no document begins */
};

void xb_documents_open(struct xb_documents *documents, xb_documents_read *read, void *from,
                       size_t largest);
/* Gives the next piece; *any is false after the last. Blocks while the stream does, and takes twice
 * `largest` of memory at the most. XB_ERR_MEMORY; XB_ERR_STOPPED after a signal. */
enum xb_status xb_documents_next(struct xb_documents *documents, struct xb_document_piece *piece,
                                 bool *any, struct xb_error *error);
void xb_documents_close(struct xb_documents *documents);
