/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/options.h"
#include "page.h"
#include "record/document.h"
#include "record/rows.h"

#include <stddef.h>

/* More files than these are read and counted, but not shown one by one. */
#define XB_REPORT_FILES 20
/* At most so many stand side by side in one picture. */
#define XB_REPORT_SHOWN 4

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
    int (*tell)(const struct xb_error *error);
};

/* What a file says in short. It outlives what the file holds. */
struct xb_answer {
    const char *subject; /* "NVIDIA H200 on vm-1" */
    const char *verdict; /* a word or a figure: "OK", "REGRESSION"; NULL: there is none */
    const char *line;    /* a sentence, or the first words of one */
    const char *look;    /* class of the page: "good", "bad", "unsure" or "" */
};

/* One file, as it was read: what the sections of a report speak of. */
struct xb_report_document {
    size_t number; /* in the report, from 1 */
    const char *path;
    enum xb_document_kind kind;
    double date;         /* seconds since 1970; NAN where the file does not say */
    const char *problem; /* why it is left out; NULL: it is not */
    struct xb_answer answer;
    bool is_drawn; /* above: in front of the page */

    const char *label; /* what tells it from those beside it in a picture: "H200" */
    double longest;    /* seconds of its longest timeline, then of that of all in the page */

    char *text; /* with a zero byte behind it; only until every common section took it */
    size_t length;

    /* By its kind one of these is not NULL: */
    const struct xb_record *record;         /* RESULT and PROCESSES (record/record.h), */
    const struct xb_reading_list *reading;  /* and what can be said of it (reading/list.h) */
    const struct xb_parameters *parameters; /* and what tells its cases apart */
    const struct xb_link_file *link;        /* LINK (link/report.h) */
    const struct xb_comparison *comparison; /* COMPARE (compare/comparison.h) */
    const struct xb_profiles *trace;        /* TRACE (trace/profile.h) */
    struct cJSON *tree; /* LIST, ADVISE and FLEET: nobody has checked its content */

    const struct xb_report_request *request;
    struct xb_arena **texts;     /* of the report: where what outlives the file lies */
    struct xb_report_held *held; /* where these lie; document.c's own */
};

/* Reads the file of a document that has number, path, request and texts. XB_ERR_USAGE names the
 * place of whatever is wrong. On failure nothing is left to free. */
enum xb_status xb_report_document_read(struct xb_report_document *document, struct xb_error *error);
/* What it says in short stays. */
void xb_report_document_free(struct xb_report_document *document);

/* Members of a tree that nobody checked: anything or NULL; a text or "-"; a number or else that. */
const struct cJSON *xb_report_member(const struct cJSON *object, const char *key);
const char *xb_report_text(const struct cJSON *object, const char *key);
double xb_report_number(const struct cJSON *object, const char *key, double otherwise);

/* "2026-11-21 05:18 UTC"; "" for NAN. */
const char *xb_report_date(double date, char *text, size_t size);
#define XB_REPORT_DATE(date) xb_report_date((date), (char[64]){0}, 64)

/* "all-1g-7.json" of a path. */
const char *xb_report_file_name(const char *path);

/* ---- sections ---- */

/* The page is made of sections. Each writes with the functions of page.h; one that writes nothing
 * is not in the page. These say something of one file below its heading. */
typedef void xb_write_section(struct xb_page *page, const struct xb_report_document *document);
xb_write_section xb_write_reading, xb_write_samples, xb_write_rows, xb_write_links,
    xb_write_link_details, xb_write_grids, xb_write_matrices, xb_write_ratios, xb_write_comparison,
    xb_write_strategies, xb_write_devices, xb_write_findings, xb_write_timelines;

/* A table of the terminal with all its columns: of every row, or of what ran at the same time. */
void xb_write_table_of_rows(struct xb_page *page, const char *caption,
                            const struct xb_record *record, bool only_together);
/* Chooses which results are drawn together: the one with the most copies between host and GPU, and
 * those that measured the same, XB_REPORT_SHOWN at most. Returns how many `shown` has. */
size_t xb_choose_results(struct xb_report_document *const *documents, size_t count,
                         struct xb_report_document **shown);
/* In short, as bars and curves, and what to do; of several side by side, with a table. */
void xb_write_results(struct xb_page *page, const struct xb_report_document *const *documents,
                      size_t count);

/* What is said of several files together, such as a trend. Every file goes by once, and is gone. */
struct xb_common_section {
    const char *name, *title;
    size_t state_size; /* of a state, which is zeros before the first file */
    /* What fails is in *error: XB_ERR_STOPPED after a signal. */
    void (*take)(void *state, const struct xb_report_document *document, struct xb_error *error);
    /* Judges what take() kept, once after the last file; false: there is nothing to say. */
    bool (*finish)(void *state);
    void (*write)(struct xb_page *page, void *state);
    void (*free)(void *state); /* what the state points to, beside document->texts; or NULL */
};

extern const struct xb_common_section xb_section_fleet; /* GPUs of many nodes, by their siblings */
extern const struct xb_common_section xb_section_trends;
extern const struct xb_common_section xb_section_conditions;

/* ---- cases ---- */

/* "pinned to the GPU, 1 GiB", with what tells it from others: parameters, of several the GPU. */
const char *xb_case_name(struct xb_arena **texts, const struct xb_report_document *document,
                         const struct xb_record_case *test);
/* Adds ", chunk 8 MiB" for each parameter that has not its default, but for one (or NULL): the same
 * in any file, also of an older program, which lacks some. */
void xb_case_add_parameters(struct xb_words *words, const struct xb_report_document *document,
                            const struct xb_record_case *test, const struct xb_option *but);

/* Writes the page of these files. Each is read once, and XB_REPORT_FILES of them stay in memory.
 * *left_out is how many could not be read, which is no failure. What failed is in page->error,
 * too. */
enum xb_status xb_report_write(struct xb_page *page, const struct xb_report_request *request,
                               size_t *left_out);
