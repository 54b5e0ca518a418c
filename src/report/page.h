/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/memory.h"
#include "base/stream.h"
#include "base/terminal.h"
#include "plot/pictures.h"
#include "xferbench/error.h"

#include <stdbool.h>
#include <stdio.h>

/* The page that a report writes: HTML that is well-formed XML too. Every text that comes in here
 * is escaped. A failed write shows in ferror(page->stream), which the caller looks at once at
 * the end. */

/* A page stays small whatever its files are: what is more is counted, and said. */
#define XB_PAGE_PICTURES 120 /* in all */
#define XB_PAGE_ROWS 1000    /* of a table */
#define XB_PAGE_ROWS_LEAST 3 /* of a table, however full the page is */
#define XB_PAGE_BYTES 900000 /* about: what comes last of a file may be a little more */
#define XB_PAGE_COLUMNS 48
#define XB_PAGE_ID 96

struct xb_page {
    FILE *stream;
    const char *folder; /* where each picture also goes alone; NULL: nowhere */
    /* What failed first, such as a picture's file; XB_OK before. Nobody shows the page then. */
    struct xb_error error;
    const char *subject; /* what the ids of pictures, and the names of their files, begin with */
    /* page.c's own: */
    struct xb_arena *memory; /* of the section that is written */
    struct xb_memory_text terminal;
    const char *id, *title;  /* of its heading */
    int level;               /* of its heading; 0 once that is written */
    bool has_tiles;          /* a row of them is begun */
    bool is_closed;          /* it is opened by who wants to read it */
    char (*ids)[XB_PAGE_ID]; /* of the pictures so far */
    size_t pictures;
    size_t left_out; /* pictures, of the section */
    long full_at;    /* see xb_page_share() */
    struct {
        bool numbers[XB_PAGE_COLUMNS]; /* which columns are of numbers */
        size_t columns, column;
        size_t rows, left_out;
        bool is_shown; /* the row that is written */
    } table;
};

/* Zeroed memory that lasts to the end of the section, and a text that does. */
#define xb_page_new(page, count, size) xb_arena_new(&(page)->memory, (count) * (size))
#define xb_page_print(page, ...) xb_arena_print(&(page)->memory, __VA_ARGS__)

/* The class of what is bad, good, or neither is known of. */
#define XB_LOOK(is_bad, is_good) ((is_bad) ? "bad" : (is_good) ? "good" : "unsure")

/* ---- frame ---- */

/* `under` stands below the title. page->stream tells how much was written to it (ftell). */
void xb_page_begin(struct xb_page *page, const char *title, const char *under);
void xb_page_end(struct xb_page *page);
/* A section: its heading (level 2 or 3) is written when anything below it is; without a title it
 * has none. What the reader need not see first is closed: its heading opens it. */
void xb_page_section_begin(struct xb_page *page, int level, bool is_closed, const char *id,
                           const char *title);
/* Says what was left out of it, and releases its memory. */
void xb_page_section_end(struct xb_page *page);
/* A part that is closed, such as all of a file: what it says in short stands beside its name.
 * `id`: NULL for none; `look`: class of what is said, as "good", "bad", "unsure" or "". */
void xb_page_fold_begin(struct xb_page *page, const char *id, const char *name, const char *look,
                        const char *said);
#define xb_page_fold_end(page) ((void)fputs("</details>\n", (page)->stream))

/* What comes now may take one part of so many of what is left of XB_PAGE_BYTES; behind that it has
 * no pictures, and XB_PAGE_ROWS_LEAST rows in each table. Before the first call there is no end. */
void xb_page_share(struct xb_page *page, size_t parts);

/* A box with a figure or a verdict in large letters, and what it is. Several stand in a row. */
void xb_page_tile(struct xb_page *page, const char *look, const char *value, const char *text);

/* ---- words ---- */

/* Writes a text between two pieces of markup, escaped. */
void xb_page_write(struct xb_page *page, const char *before, const char *text, const char *after);
/* Does so with printed words, as a part of the section. */
void xb_page_words(struct xb_page *page, const char *before, const char *after, const char *format,
                   ...) __attribute__((format(printf, 4, 5)));
#define xb_page_paragraph(page, ...) xb_page_words((page), "<p>", "</p>\n", __VA_ARGS__)
/* Smaller and paler: what is left out, or how something was made. */
#define xb_page_remark(page, ...)                                                                  \
    xb_page_words((page), "<p class=\"remark\">", "</p>\n", __VA_ARGS__)
/* A remark that so many more are left out; nothing where there are none. */
#define xb_page_more(page, count, words)                                                           \
    do {                                                                                           \
        if ((count) > 0)                                                                           \
            xb_page_remark((page), "%zu more " words, (count));                                    \
    } while (0)

/* What a command prints for a terminal: begin, print to the stream, end with what came of it. */
FILE *xb_page_terminal_begin(struct xb_page *page);
void xb_page_terminal_end(struct xb_page *page, enum xb_status printed);

/* ---- tables: numbers below a picture, or facts ---- */

/* `columns`: "#SIZE|WAY", with a '#' before one of numbers; xb_page_column() adds others. A row has
 * a cell for each: the first is its heading. Rows beyond XB_PAGE_ROWS are counted only. */
void xb_page_table_begin(struct xb_page *page, const char *caption, const char *columns);
void xb_page_column(struct xb_page *page, const char *name, bool is_number);
void xb_page_cell(struct xb_page *page, const char *text); /* NULL: "-" */
/* Cells, one after the other. */
#define XB_PAGE_CELLS(page, ...)                                                                   \
    xb_page_cells((page), (const char *const[]){__VA_ARGS__},                                      \
                  sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))
void xb_page_cells(struct xb_page *page, const char *const *texts, size_t count);
void xb_page_table_end(struct xb_page *page);

/* Draws a picture, which begins with its struct xb_picture, with this title and a printed
 * description. Its id is made of page->subject and the title; FOLDER/ID.svg has it alone. Beyond
 * XB_PAGE_PICTURES nothing is drawn, and the section's end says so: the page has all numbers. */
void xb_page_picture(struct xb_page *page, xb_draw *draw, void *picture, const char *title,
                     const char *format, ...) __attribute__((format(printf, 5, 6)));
