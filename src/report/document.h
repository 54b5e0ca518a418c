/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/memory.h"
#include "page.h"
#include "record/document.h"
#include "xferbench/error.h"
#include "xferbench/options.h"

#include <stddef.h>

/* One file, as it was read: what the sections of a report speak of. It is in memory only as long
 * as they do. */
struct xb_report_document {
    size_t number; /* in the report, from 1 */
    const char *path;
    enum xb_document_kind kind;
    double date; /* seconds since 1970; NAN where the file does not say */

    /* The file's text, with a zero byte after it; borrowed. */
    const char *text;
    size_t length;

    /* By its kind one of these is not NULL: */
    const struct xb_record *record;         /* RESULT and PROCESSES (xferbench/record.h), */
    const struct xb_reading_list *reading;  /* and what can be said of it (reading/list.h) */
    const struct xb_link_file *link;        /* LINK (link/read.h) */
    const struct xb_comparison *comparison; /* COMPARE (compare/comparison.h) */
    const struct xb_trace *trace;           /* TRACE (trace/read.h) */
    const struct cJSON *tree; /* LIST, ADVISE, FLEET and TRACE: nobody has checked its content */

    /* The options as they are by default, in a record that has nothing else; NULL: not known. */
    const struct xb_record *defaults;
    const struct xb_option *const *rows; /* of these options, to NULL; NULL: not known */

    struct xb_report_held *held; /* where these lie; document.c's own */
};

/*
 * Reads the text, which has a zero byte behind it. XB_ERR_USAGE names the file and the place of
 * whatever is wrong; XB_ERR_MEMORY. On failure nothing is left to free. `path` is borrowed.
 */
XB_MUST_CHECK enum xb_status xb_report_document_parse(const char *path, const char *text,
                                                      size_t length,
                                                      struct xb_report_document *document,
                                                      struct xb_error *error);
void xb_report_document_free(struct xb_report_document *document);

/* A text in a tree that nobody has checked: "-" where there is none of that key. */
const char *xb_report_text(const struct cJSON *object, const char *key);
/* A number in it, or what to take otherwise. */
double xb_report_number(const struct cJSON *object, const char *key, double otherwise);

/* "2026-11-21 05:18 UTC"; "" for NAN. */
const char *xb_report_date(double date, char *text, size_t size);

/* "all-1g-7.json" of a path. */
const char *xb_report_file_name(const char *path);

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

/* More files than these are read and counted, but not shown one by one. */
#define XB_REPORT_FILES 20

struct xb_report_request {
    char *const *paths;
    size_t count;
    /* Reads a file's text, with a zero byte behind it; release it with free(3). */
    enum xb_status (*read)(const char *path, char **text, size_t *length, struct xb_error *error);
    /* The options as they are by default (xb_record_of_defaults); NULL: not known. */
    const struct xb_record *defaults;
    /* The options of `run` and of every mode; ends with NULL. NULL: not known. */
    const struct xb_option *const *rows;
    /* Told of every file that is left out, and why. NULL: nobody is. */
    void (*tell)(const struct xb_error *error);
};

/*
 * Writes the page of these files. Each is read twice, one at a time: once for what is told of all
 * together, and once for what is told of it, if it is among those that the page shows. So memory is
 * needed for one of them. *left_out is how many could not be read: they are no failure.
 * XB_ERR_MEMORY, or why a picture's file could not be written, in page->error; of page->stream the
 * caller looks at ferror().
 */
XB_MUST_CHECK enum xb_status
xb_report_write(struct xb_page *page, const struct xb_report_request *request, size_t *left_out);
