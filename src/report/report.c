/* SPDX-License-Identifier: Apache-2.0 */
/* The whole page: what all files say in short, then one after the other. */
#define _POSIX_C_SOURCE 200809L /* gmtime_r */
#include "report.h"

#include "answer.h"
#include "base/interrupt.h"
#include "base/stream.h"
#include "section.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_COMMON 8 /* common sections */

/* What is kept of a file once it is gone. */
struct file {
    const char *path;
    enum xb_document_kind kind;
    double date;
    const char *problem; /* why it is left out; NULL: it is not */
    bool in_full;        /* it is shown with its pictures */
    struct xb_answer answer;
};

struct report {
    const struct xb_report_request *request;
    struct file *files;
    struct xb_arena *texts; /* of the files */
    void *states[MOST_COMMON];
    size_t left_out;
};

/* ---- the first time: what is told of all files ---- */

static enum xb_status take(struct report *report, struct file *file,
                           const struct xb_report_document *document, struct xb_error *error)
{
    enum xb_status status = xb_answer_make(document, &report->texts, &file->answer, error);
    for (size_t i = 0; status == XB_OK && xb_common_sections[i] != NULL && i < MOST_COMMON; i++)
        status = xb_common_sections[i]->take(&report->states[i], document, error);
    file->kind = document->kind;
    file->date = document->date;
    return status;
}

/* Leaves the file's text to the caller, to free. */
static enum xb_status read_document(const struct report *report, size_t index,
                                    struct xb_report_document *document, char **text,
                                    struct xb_error *error)
{
    const char *path = report->request->paths[index];
    size_t length = 0;
    *text = NULL;
    enum xb_status status = report->request->read(path, text, &length, error);
    if (status == XB_OK)
        status = xb_report_document_parse(path, *text, length, document, error);
    if (status == XB_OK) {
        document->text = *text;
        document->length = length;
        document->number = index + 1;
        document->defaults = report->request->defaults;
        document->rows = report->request->rows;
    }
    return status;
}

/* One that cannot be read, or not any more, does not keep the others from the page. */
static enum xb_status leave_out(struct report *report, struct file *file,
                                const struct xb_error *cause, struct xb_error *error)
{
    file->problem = xb_arena_print(&report->texts, "%s", cause->message);
    report->left_out++;
    if (report->request->tell != NULL)
        report->request->tell(cause);
    return file->problem != NULL ? XB_OK : XB_FAIL(error, XB_ERR_MEMORY, "no memory for a report");
}

/* Of many files a user may have enough before the page is done. */
static enum xb_status check_stop(struct xb_error *error)
{
    if (xb_interrupt_signal() == 0)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_STOPPED, "stopped by a signal: there is no report");
}

/* What is told of all files takes what it needs of this one. */
static enum xb_status take_file(struct report *report, size_t index, struct xb_error *error)
{
    struct file *file = &report->files[index];
    struct xb_report_document document;
    struct xb_error cause;
    char *text = NULL;
    enum xb_status status = XB_OK;
    file->path = report->request->paths[index];
    file->kind = XB_DOCUMENT_FOREIGN;
    file->date = (double)NAN;
    if (read_document(report, index, &document, &text, &cause) == XB_OK) {
        status = take(report, file, &document, error);
        xb_report_document_free(&document);
    } else {
        status = leave_out(report, file, &cause, error);
    }
    free(text);
    return status;
}

static enum xb_status take_all(struct report *report, struct xb_error *error)
{
    enum xb_status status = XB_OK;
    for (size_t i = 0; status == XB_OK && i < report->request->count; i++) {
        status = check_stop(error);
        if (status == XB_OK)
            status = take_file(report, i, error);
    }
    for (size_t i = 0; status == XB_OK && xb_common_sections[i] != NULL && i < MOST_COMMON; i++)
        if (report->states[i] != NULL && xb_common_sections[i]->finish != NULL)
            status = xb_common_sections[i]->finish(report->states[i], error);
    return status;
}

/* The newest of a kind that is not chosen yet; of two without a date the first. NULL: none. */
static struct file *newest(const struct report *report, enum xb_document_kind kind)
{
    struct file *found = NULL;
    for (size_t i = 0; i < report->request->count; i++) {
        struct file *file = &report->files[i];
        if (file->kind != kind || file->problem != NULL || file->in_full)
            continue;
        if (found == NULL || file->date > found->date ||
            (isfinite(file->date) && !isfinite(found->date)))
            found = file;
    }
    return found;
}

/* Of each kind in turn the newest, until there are enough. */
static void choose(struct report *report)
{
    size_t chosen = 0;
    bool more = true;
    while (more && chosen < XB_REPORT_FILES) {
        more = false;
        for (int kind = 0; kind < XB_DOCUMENT_FOREIGN && chosen < XB_REPORT_FILES; kind++) {
            struct file *file = newest(report, (enum xb_document_kind)kind);
            more = more || file != NULL;
            if (file == NULL)
                continue;
            file->in_full = true;
            chosen++;
        }
    }
}

/* ---- the top of the page ---- */

static const char *date_text(double date, char *text, size_t size)
{
    time_t seconds = isfinite(date) ? (time_t)date : 0;
    struct tm utc;
    text[0] = '\0';
    if (isfinite(date) && gmtime_r(&seconds, &utc) != NULL)
        strftime(text, size, "%Y-%m-%d %H:%M UTC", &utc);
    return text;
}

static size_t count_in_full(const struct report *report)
{
    size_t count = 0;
    for (size_t i = 0; i < report->request->count; i++)
        count += report->files[i].in_full;
    return count;
}

static void write_answer(struct xb_page *page, size_t number, const struct file *file)
{
    const struct xb_answer *answer = &file->answer;
    xb_page_list_begin(page, number, xb_report_file_name(file->path), answer->subject);
    for (size_t i = 0; i < answer->count; i++)
        xb_page_list_item(page, i == 0 ? answer->look : "", answer->lines[i]);
    xb_page_list_end(page);
}

static void write_answers(struct xb_page *page, const struct report *report)
{
    xb_page_section_begin(page, 2, "short", "In short");
    for (size_t i = 0; i < report->request->count; i++)
        if (report->files[i].in_full)
            write_answer(page, i + 1, &report->files[i]);
    if (count_in_full(report) == 0)
        xb_page_paragraph(page, "There is nothing to show: no file could be read.");
    xb_page_section_end(page);
}

static void write_left_out(struct xb_page *page, const struct report *report)
{
    if (report->left_out == 0)
        return;
    xb_page_section_begin(page, 2, "left-out", "Left out");
    xb_page_paragraph(page, "%zu of %zu files could not be read.", report->left_out,
                      report->request->count);
    xb_page_table_begin(page, "Files that could not be read");
    xb_page_column(page, "File", false);
    xb_page_column(page, "Why", false);
    for (size_t i = 0; i < report->request->count; i++) {
        if (report->files[i].problem == NULL)
            continue;
        xb_page_cell(page, "%zu. %.200s", i + 1, report->files[i].path);
        xb_page_cell(page, "%s", report->files[i].problem);
    }
    xb_page_table_end(page);
    xb_page_section_end(page);
}

static void write_files(struct xb_page *page, const struct report *report)
{
    size_t in_full = count_in_full(report);
    bool more = in_full + report->left_out < report->request->count; /* than stand in full */
    char date[32];
    xb_page_section_begin(page, 2, "files", "Files");
    if (more)
        xb_page_paragraph(page,
                          "%zu of %zu files are shown with their pictures: of each kind the "
                          "newest. What is said of all files together counts every one.",
                          in_full, report->request->count);
    xb_page_table_begin(page, "Files");
    xb_page_column(page, "File", false);
    xb_page_column(page, "Kind", false);
    xb_page_column(page, "Written", false);
    xb_page_column(page, "Of", false);
    if (more)
        xb_page_column(page, "In short", false);
    for (size_t i = 0; i < report->request->count; i++) {
        const struct file *file = &report->files[i];
        if (file->problem != NULL)
            continue;
        xb_page_cell(page, "%zu. %.200s", i + 1, xb_report_file_name(file->path));
        xb_page_cell(page, "%s", xb_document_kind_name(file->kind));
        xb_page_cell(page, "%s", date_text(file->date, date, sizeof date));
        xb_page_cell(page, "%s", file->answer.subject);
        if (more)
            xb_page_cell(page, "%s", file->answer.count > 0 ? file->answer.lines[0] : "");
    }
    xb_page_table_end(page);
    xb_page_section_end(page);
}

/* ---- sections ---- */

static enum xb_status write_common(struct xb_page *page, const struct report *report,
                                   bool comes_first, struct xb_error *error)
{
    enum xb_status status = XB_OK;
    for (size_t i = 0; status == XB_OK && xb_common_sections[i] != NULL && i < MOST_COMMON; i++) {
        const struct xb_common_section *section = xb_common_sections[i];
        if (section->comes_first != comes_first || !section->speaks(report->states[i]))
            continue;
        xb_page_section_begin(page, 2, section->name, section->title);
        xb_page_share(page, 2); /* the other half is for what comes behind it */
        status = section->write(page, report->states[i], error);
        xb_page_section_end(page);
    }
    return status;
}

static enum xb_status write_sections(struct xb_page *page,
                                     const struct xb_report_document *document,
                                     struct xb_error *error)
{
    enum xb_status status = XB_OK;
    for (size_t i = 0; status == XB_OK && xb_sections[i] != NULL; i++) {
        const struct xb_section *section = xb_sections[i];
        char id[XB_PAGE_ID];
        if (!section->speaks(document))
            continue;
        snprintf(id, sizeof id, "file-%zu-%s", document->number, section->name);
        xb_page_section_begin(page, 3, id, section->title);
        status = section->write(page, document, error);
        xb_page_section_end(page);
    }
    return status;
}

static void title_of(const struct report *report, size_t index, char *title, size_t size)
{
    const struct file *file = &report->files[index];
    snprintf(title, size, "%zu. %.300s: %s", index + 1, xb_report_file_name(file->path),
             xb_document_kind_name(file->kind));
}

/* The second time. */
static enum xb_status write_file(struct xb_page *page, struct report *report, size_t index,
                                 struct xb_error *error)
{
    struct file *file = &report->files[index];
    struct xb_report_document document;
    struct xb_error cause;
    char id[32];
    char title[512];
    char date[32];
    char *text = NULL;
    enum xb_status status = check_stop(error);
    if (status != XB_OK)
        return status;
    snprintf(id, sizeof id, "file-%zu", index + 1);
    title_of(report, index, title, sizeof title);
    xb_page_file_begin(page, id, title);
    if (read_document(report, index, &document, &text, &cause) == XB_OK) {
        date_text(file->date, date, sizeof date);
        xb_page_remark(page, "%s%s%.1000s", date, date[0] != '\0' ? ", " : "", file->path);
        status = xb_report_document_interpret(&document, error);
        if (status == XB_OK)
            status = write_sections(page, &document, error);
        xb_report_document_free(&document);
    } else {
        status = leave_out(report, file, &cause, error);
        xb_page_paragraph(page, "%s", cause.message);
    }
    free(text);
    xb_page_file_end(page);
    return status;
}

static void list_common(struct xb_page *page, const struct report *report, bool comes_first)
{
    for (size_t i = 0; xb_common_sections[i] != NULL && i < MOST_COMMON; i++) {
        const struct xb_common_section *section = xb_common_sections[i];
        if (section->comes_first == comes_first && section->speaks(report->states[i]))
            xb_page_contents_item(page, section->name, section->title);
    }
}

/* Links to the parts of a page of several files. */
static void write_contents(struct xb_page *page, const struct report *report)
{
    char id[32];
    char title[512];
    xb_page_contents_begin(page);
    list_common(page, report, true);
    xb_page_contents_item(page, "short", "In short");
    if (report->left_out > 0)
        xb_page_contents_item(page, "left-out", "Left out");
    xb_page_contents_item(page, "files", "Files");
    list_common(page, report, false);
    for (size_t i = 0; i < report->request->count; i++) {
        if (!report->files[i].in_full)
            continue;
        snprintf(id, sizeof id, "file-%zu", i + 1);
        title_of(report, i, title, sizeof title);
        xb_page_contents_item(page, id, title);
    }
    xb_page_contents_end(page);
}

/* Each may take its share of what is left, and what it does not need is for those behind it. */
static enum xb_status write_all_files(struct xb_page *page, struct report *report,
                                      struct xb_error *error)
{
    enum xb_status status = XB_OK;
    size_t left = count_in_full(report);
    for (size_t i = 0; status == XB_OK && i < report->request->count; i++) {
        if (!report->files[i].in_full)
            continue;
        xb_page_share(page, left--);
        status = write_file(page, report, i, error);
    }
    return status;
}

static enum xb_status write_page(struct xb_page *page, struct report *report,
                                 struct xb_error *error)
{
    enum xb_status status = XB_OK;
    char title[300];
    if (report->request->count == 1)
        snprintf(title, sizeof title, "%.200s: xferbench report",
                 xb_report_file_name(report->request->paths[0]));
    else
        snprintf(title, sizeof title, "xferbench report of %zu files", report->request->count);
    xb_page_begin(page, title);
    if (report->request->count > 1)
        write_contents(page, report);
    status = write_common(page, report, true, error);
    write_answers(page, report);
    write_left_out(page, report);
    if (report->request->count > 1)
        write_files(page, report);
    if (status == XB_OK)
        status = write_common(page, report, false, error);
    if (status == XB_OK)
        status = write_all_files(page, report, error);
    xb_page_end(page);
    return status;
}

/* Into memory first: what is left out depends on how long the page is. */
static enum xb_status write_stream(struct xb_page *page, struct report *report,
                                   struct xb_error *error)
{
    FILE *stream = page->stream;
    struct xb_memory_text whole = {.text = NULL};
    enum xb_status status = XB_OK;
    page->stream = xb_memory_text_begin(&whole);
    if (page->stream != NULL)
        status = write_page(page, report, error);
    page->stream = stream;
    if (xb_memory_text_end(&whole, "a report", error) != XB_OK)
        return XB_ERR_MEMORY;
    if (status == XB_OK)
        (void)fwrite(whole.text, 1, whole.length, stream);
    free(whole.text);
    return status;
}

enum xb_status xb_report_write(struct xb_page *page, const struct xb_report_request *request,
                               size_t *left_out, struct xb_error *error)
{
    struct report report = {.request = request,
                            .files = calloc(request->count + 1, sizeof *report.files)};
    if (report.files == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for a report");
    enum xb_status status = take_all(&report, error);
    choose(&report);
    if (status == XB_OK)
        status = write_stream(page, &report, error);
    for (size_t i = 0; xb_common_sections[i] != NULL && i < MOST_COMMON; i++)
        xb_common_sections[i]->free(report.states[i]);
    *left_out = report.left_out;
    xb_arena_free(report.texts);
    free(report.files);
    return status;
}
