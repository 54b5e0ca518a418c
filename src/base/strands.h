/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_BASE_STRANDS_H
#define XFERBENCH_BASE_STRANDS_H

#include "xferbench/error.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Puts documents together that come in mixed pieces, each with the label of its sender. `srun
 * --label` cuts the output of a task into pieces of 1024 bytes and puts the task's number before
 * each; a piece may begin and end anywhere in a document.
 */
struct xb_strands;

struct xb_strand {
    const char *text; /* a whole document, with a zero byte behind it; NULL for a broken one */
    size_t length;
    uint64_t line;   /* of the stream, where it begins */
    const char *why; /* why it is broken, static text; NULL for a whole one */
};

/* `largest`: bytes of a document; all that are open together may have 16 times as many, labels
 * included. */
XB_MUST_CHECK enum xb_status xb_strands_open(struct xb_strands **strands, size_t largest,
                                             struct xb_error *error);
void xb_strands_close(struct xb_strands *strands); /* accepts NULL */

/* Whether a document of that label has begun but not ended, as far as its pieces tell. */
bool xb_strands_is_open(const struct xb_strands *strands, const char *label, size_t length);

/* The text after a label, or a later part of it. */
struct xb_strand_part {
    const char *label;
    size_t label_length;
    uint64_t line; /* of the stream */
    bool begins;   /* it stands right behind the label */
    bool blank;    /* then: but for a blank */
    const char *text;
    size_t length;
};

/*
 * A part that begins with `{` begins a document, unless its label has an open document that may
 * have an object there. *taken is how many bytes it took. These are fewer than `length` only if a
 * document ended there or was broken: then *strand holds it until the next call, and the caller
 * gives the rest again. Else strand->text and strand->why are NULL. XB_ERR_MEMORY.
 */
XB_MUST_CHECK enum xb_status xb_strands_take(struct xb_strands *strands,
                                             const struct xb_strand_part *part, size_t *taken,
                                             struct xb_strand *strand, struct xb_error *error);

/* At the end of the stream: the next document that has not ended; false if none is left. */
bool xb_strands_next_open(struct xb_strands *strands, struct xb_strand *strand);

#endif
