/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_SHOW_CASES_H
#define XFERBENCH_SHOW_CASES_H

#include "compare/comparison.h"

/* The cases that --case names: gates without a figure (xb_gates_parse). No gates are all cases. */

/* XB_ERR_USAGE says what to write; then nothing is left to free. */
XB_MUST_CHECK enum xb_status xb_show_read_cases(const char *text, struct xb_gates *cases,
                                                struct xb_error *error);

/* Drops the others. XB_ERR_USAGE, with the modes that there are, where none is left. */
XB_MUST_CHECK enum xb_status xb_show_keep_of_record(struct xb_record *record,
                                                    const struct xb_gates *cases,
                                                    struct xb_error *error);
/* The same of a comparison's rows: its verdict stays that of all. */
XB_MUST_CHECK enum xb_status xb_show_keep_of_comparison(const char *path,
                                                        struct xb_comparison *comparison,
                                                        const struct xb_gates *cases,
                                                        struct xb_error *error);

/* Says that these are not all; nothing where they are. */
void xb_show_say_kept(FILE *stream, size_t kept, size_t all);

#endif
