/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_REPORT_ANSWER_INTERNAL_H
#define XFERBENCH_REPORT_ANSWER_INTERNAL_H

#include "base/note.h"

#include <stdbool.h>

struct xb_answer;
struct xb_arena;
struct xb_record;
struct xb_link_file;
struct xb_comparison;
struct xb_report_document;

/* An answer that is being made. */
struct xb_answering {
    struct xb_arena **texts; /* where its texts lie */
    struct xb_answer *answer;
    bool failed; /* memory was short */
};

/* Beyond XB_ANSWER_LINES they are left out. */
void xb_answer_line(struct xb_answering *answering, const struct xb_words *words);
void xb_answer_subject(struct xb_answering *answering, const struct xb_words *words);

/* One a kind of file. */
void xb_answer_record(struct xb_answering *answering, const struct xb_record *record);
void xb_answer_link(struct xb_answering *answering, const struct xb_link_file *file);
void xb_answer_comparison(struct xb_answering *answering, const struct xb_comparison *comparison);
void xb_answer_tree(struct xb_answering *answering, const struct xb_report_document *document);

#endif
