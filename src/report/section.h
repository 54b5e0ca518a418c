/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_REPORT_SECTION_H
#define XFERBENCH_REPORT_SECTION_H

#include "document.h"
#include "page.h"

/*
 * The page is made of sections. Each says whether it has anything to say of a file, and writes it
 * with the functions of page.h. A section is one file and one word in sections.c.
 */

/* What is said of one file below its heading. */
struct xb_section {
    /* Lower case letters and dashes; it is part of the ids of its pictures, and of their files'
     * names. */
    const char *name;
    const char *title; /* its heading */
    bool (*speaks)(const struct xb_report_document *document);
    /* Its heading is there already. Failures of the stream show at the end of the page; others,
     * mostly XB_ERR_MEMORY, end the report. */
    enum xb_status (*write)(struct xb_page *page, const struct xb_report_document *document,
                            struct xb_error *error);
};

/* What is said of several files together, such as a trend. Every file goes by once; it is gone
 * afterwards, so that memory is needed only for what take() keeps. */
struct xb_common_section {
    const char *name, *title;
    bool comes_first; /* it is the answer, before what each file says */
    /* `*state` is NULL with the first file. XB_ERR_MEMORY only. */
    enum xb_status (*take)(void **state, const struct xb_report_document *document,
                           struct xb_error *error);
    /* Called after the last file, to judge everything that take() kept. NULL: not needed.
     * XB_ERR_MEMORY only. */
    enum xb_status (*finish)(void *state, struct xb_error *error);
    /* Whether there is anything to say; `state` is NULL where nothing was taken. */
    bool (*speaks)(const void *state);
    enum xb_status (*write)(struct xb_page *page, const void *state, struct xb_error *error);
    void (*free)(void *state); /* accepts NULL */
};

/* In the order of the page; both end with NULL. */
extern const struct xb_section *const xb_sections[];
extern const struct xb_common_section *const xb_common_sections[];

#endif
