/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_REPORT_ANSWER_H
#define XFERBENCH_REPORT_ANSWER_H

#include "base/arena.h"
#include "document.h"

/* What a file says in short: what stands on top of the page. It outlives the file. */

#define XB_ANSWER_LINES 8

struct xb_answer {
    const char *subject; /* "NVIDIA H200 in host vm-1" */
    const char *lines[XB_ANSWER_LINES];
    size_t count;
    const char *look; /* class of the page: "good", "bad", "unsure" or "" */
};

/* The texts lie in *texts. XB_ERR_MEMORY only. */
XB_MUST_CHECK enum xb_status xb_answer_make(const struct xb_report_document *document,
                                            struct xb_arena **texts, struct xb_answer *answer,
                                            struct xb_error *error);

#endif
