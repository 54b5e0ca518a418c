/* SPDX-License-Identifier: Apache-2.0 */
/* The page of some files, section by section. */
#include "report.h"

#include "base/interrupt.h"
#include "base/stream.h"

#include <math.h>
#include <stdlib.h>

#define COMMON 3 /* sections of all files together */
#define FIRST 1  /* of them, the answer, before what each file says */

#define OF(kind) (1u << XB_DOCUMENT_##kind)
#define OF_RUN (OF(RESULT) | OF(PROCESSES))

/* In the order of the page. The name is lower case letters and dashes: part of the ids of its
 * pictures, and of their files' names. */
static const struct {
    const char *name, *title;
    unsigned kinds; /* of files that have it */
    xb_write_section *write;
} sections[] = {
    {"advice", "What the figures mean", OF_RUN, xb_write_advice},
    {"notes", "Notes", OF_RUN, xb_write_notes},
    {"ratios", "Ratios", OF(COMPARE), xb_write_ratios},
    {"differences", "What differs", OF(COMPARE), xb_write_differences},
    {"strategies", "Strategies", OF(ADVISE), xb_write_strategies},
    {"devices", "Devices", OF(LIST), xb_write_devices},
    {"findings", "Findings", OF(FLEET), xb_write_findings},
    {"by-size", "By size", OF_RUN, xb_write_by_size},
    {"by-mode", "By mode", OF_RUN, xb_write_by_mode},
    {"verdicts", "Verdicts", OF(LINK), xb_write_verdicts},
    {"path", "The link", OF(LINK), xb_write_path},
    {"matrices", "Pairs and nodes", OF_RUN | OF(LINK), xb_write_matrices},
    {"samples", "How samples spread", OF_RUN, xb_write_samples},
    {"numbers", "All rows", OF_RUN, xb_write_rows},
    {"timelines", "Timelines", OF(TRACE), xb_write_timelines},
};
static const struct xb_common_section *const common_sections[COMMON] = {
    &xb_section_fleet,
    &xb_section_trends,
    &xb_section_conditions,
};

/* What is kept of a file once it is gone. */
struct file {
    const char *path;
    const char *title; /* "2. all-1g-7.json: result" */
    enum xb_document_kind kind;
    double date;
    const char *problem; /* why it is left out; NULL: it is not */
    bool in_full;        /* it is shown with its pictures */
    struct xb_answer answer;
};

struct report {
    const struct xb_report_request *request;
    struct xb_page *page;
    struct file *files;
    struct xb_arena *texts; /* of the files */
    void *states[COMMON];
    bool speaks[COMMON];
    size_t in_full, left_out; /* files */
};

static bool has_failed(const struct report *report)
{
    return report->page->error.status != XB_OK;
}

/* Reads a file. False: it is listed under "Left out", and the report goes on. */
static bool read_document(struct report *report, size_t index, struct xb_report_document *document)
{
    struct xb_error cause;
    if (xb_report_document_read(report->request, index, document, &cause) == XB_OK)
        return true;
    report->files[index].problem = xb_arena_copy(&report->texts, cause.message);
    report->left_out++;
    if (report->request->tell != NULL)
        report->request->tell(&cause);
    return false;
}

/* A user may have enough before the page of many files is done. */
static bool goes_on(struct report *report)
{
    if (!has_failed(report) && xb_interrupt_signal() != 0)
        (void)XB_FAIL(&report->page->error, XB_ERR_STOPPED,
                      "stopped by a signal: there is no report");
    return !has_failed(report);
}

/* What is told of all files takes what it needs of this one. */
static void take_file(struct report *report, size_t index)
{
    struct xb_error *error = &report->page->error;
    struct file *file = &report->files[index];
    struct xb_report_document document;
    file->path = report->request->paths[index];
    file->kind = XB_DOCUMENT_FOREIGN;
    file->date = (double)NAN;
    if (read_document(report, index, &document)) {
        enum xb_status status = XB_OK;
        file->answer = xb_answer_make(&document, &report->texts);
        for (size_t i = 0; status == XB_OK && i < COMMON; i++)
            status = common_sections[i]->take(report->states[i], &document, error);
        file->kind = document.kind;
        file->date = document.date;
        xb_report_document_free(&document);
    }
    file->title =
        xb_arena_print(&report->texts, "%zu. %.300s: %s", index + 1,
                       xb_report_file_name(file->path), xb_document_kind_name(file->kind));
}

/* Chooses which files are shown in full: the newest of each kind in turn, until there are enough.
 * If two have no date, the first is the newer. */
static void choose(struct report *report)
{
    bool more = true;
    while (more && report->in_full < XB_REPORT_FILES) {
        more = false;
        for (int kind = 0; kind < XB_DOCUMENT_FOREIGN && report->in_full < XB_REPORT_FILES;
             kind++) {
            struct file *newest = NULL;
            for (size_t i = 0; i < report->request->count; i++) {
                struct file *file = &report->files[i];
                if ((int)file->kind == kind && file->problem == NULL && !file->in_full &&
                    (newest == NULL || file->date > newest->date ||
                     (isfinite(file->date) && !isfinite(newest->date))))
                    newest = file;
            }
            if (newest == NULL)
                continue;
            newest->in_full = true;
            report->in_full++;
            more = true;
        }
    }
}

/* ---- the top of the page ---- */

static void write_left_out(struct xb_page *page, const struct report *report)
{
    if (report->left_out == 0)
        return;
    xb_page_section_begin(page, 2, "left-out", "Left out");
    xb_page_paragraph(page, "%zu of %zu files could not be read.", report->left_out,
                      report->request->count);
    xb_page_table_begin(page, "Files that could not be read", "File|Why");
    for (size_t i = 0; i < report->request->count; i++) {
        if (report->files[i].problem == NULL)
            continue;
        XB_PAGE_CELLS(page, xb_page_print(page, "%zu. %.200s", i + 1, report->files[i].path),
                      report->files[i].problem);
    }
    xb_page_table_end(page);
    xb_page_section_end(page);
}

static void write_files(struct xb_page *page, const struct report *report)
{
    /* than stand in full */
    bool more = report->in_full + report->left_out < report->request->count;
    xb_page_section_begin(page, 2, "files", "Files");
    if (more)
        xb_page_paragraph(page,
                          "%zu of %zu files are shown with their pictures: of each kind the "
                          "newest. What is said of all files together counts every one.",
                          report->in_full, report->request->count);
    xb_page_table_begin(page, "Files", "File|Kind|Written|Of");
    if (more)
        xb_page_column(page, "In short", false);
    for (size_t i = 0; i < report->request->count; i++) {
        const struct file *file = &report->files[i];
        if (file->problem != NULL)
            continue;
        XB_PAGE_CELLS(
            page, xb_page_print(page, "%zu. %.200s", i + 1, xb_report_file_name(file->path)),
            xb_document_kind_name(file->kind), XB_REPORT_DATE(file->date), file->answer.subject);
        if (more)
            xb_page_cell(page, file->answer.count > 0 ? file->answer.lines[0] : "");
    }
    xb_page_table_end(page);
    xb_page_section_end(page);
}

static void write_common(struct xb_page *page, const struct report *report, size_t from, size_t to)
{
    for (size_t i = from; !has_failed(report) && i < to; i++) {
        const struct xb_common_section *section = common_sections[i];
        if (!report->speaks[i])
            continue;
        xb_page_section_begin(page, 2, section->name, section->title);
        xb_page_share(page, 2); /* the other half is for what comes behind it */
        section->write(page, report->states[i]);
        xb_page_section_end(page);
    }
}

/* The file is read a second time. */
static void write_file(struct xb_page *page, struct report *report, size_t index)
{
    const struct file *file = &report->files[index];
    struct xb_report_document document;
    char id[XB_PAGE_ID];
    char date[32];
    snprintf(id, sizeof id, "file-%zu", index + 1);
    fputs("<article>\n", page->stream);
    xb_page_heading(page, 2, id, file->title);
    if (read_document(report, index, &document)) {
        xb_report_date(file->date, date, sizeof date);
        xb_page_remark(page, "%s%s%.1000s", date, date[0] != '\0' ? ", " : "", file->path);
        for (size_t i = 0; !has_failed(report) && i < sizeof sections / sizeof sections[0]; i++) {
            if ((sections[i].kinds >> document.kind & 1) == 0)
                continue;
            snprintf(id, sizeof id, "file-%zu-%s", index + 1, sections[i].name);
            xb_page_section_begin(page, 3, id, sections[i].title);
            sections[i].write(page, &document);
            xb_page_section_end(page);
        }
        xb_report_document_free(&document);
    } else {
        xb_page_paragraph(page, "%s", file->problem != NULL ? file->problem : "");
    }
    fputs("</article>\n", page->stream);
}

/* A link to a part of the page, by its id, if there is that part. */
static void write_link(struct xb_page *page, bool is_there, const char *id, const char *title)
{
    if (!is_there)
        return;
    fprintf(page->stream, "<li><a href=\"#%s\">", id);
    xb_page_write(page, "", title, "</a></li>\n");
}

static void list_common(struct xb_page *page, const struct report *report, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        write_link(page, report->speaks[i], common_sections[i]->name, common_sections[i]->title);
}

/* Links to the parts of a page of several files. */
static void write_contents(struct xb_page *page, const struct report *report)
{
    char id[32];
    fputs("<nav aria-label=\"Contents\">\n<ul>\n", page->stream);
    list_common(page, report, 0, FIRST);
    write_link(page, true, "short", "In short");
    write_link(page, report->left_out > 0, "left-out", "Left out");
    write_link(page, true, "files", "Files");
    list_common(page, report, FIRST, COMMON);
    for (size_t i = 0; i < report->request->count; i++) {
        snprintf(id, sizeof id, "file-%zu", i + 1);
        write_link(page, report->files[i].in_full, id, report->files[i].title);
    }
    fputs("</ul>\n</nav>\n", page->stream);
}

static void write_page(struct xb_page *page, struct report *report)
{
    size_t count = report->request->count;
    size_t left = report->in_full;
    char title[300];
    if (count == 1)
        snprintf(title, sizeof title, "%.200s: xferbench report",
                 xb_report_file_name(report->request->paths[0]));
    else
        snprintf(title, sizeof title, "xferbench report of %zu files", count);
    xb_page_begin(page, title);
    if (count > 1)
        write_contents(page, report);
    write_common(page, report, 0, FIRST);
    xb_page_section_begin(page, 2, "short", "In short");
    for (size_t i = 0; i < report->request->count; i++) {
        const struct file *file = &report->files[i];
        if (file->in_full)
            xb_page_list(page, i + 1, xb_report_file_name(file->path), file->answer.subject,
                         file->answer.look, file->answer.lines, file->answer.count);
    }
    if (report->in_full == 0)
        xb_page_paragraph(page, "There is nothing to show: no file could be read.");
    xb_page_section_end(page);
    write_left_out(page, report);
    if (count > 1)
        write_files(page, report);
    write_common(page, report, FIRST, COMMON);
    for (size_t i = 0; i < count && goes_on(report); i++) {
        if (!report->files[i].in_full)
            continue;
        /* What one file does not need of its share is for those behind it. */
        xb_page_share(page, left--);
        write_file(page, report, i);
    }
    xb_page_end(page);
}

enum xb_status xb_report_write(struct xb_page *page, const struct xb_report_request *request,
                               size_t *left_out)
{
    struct report report = {
        .request = request, .page = page, .files = xb_new(request->count, sizeof *report.files)};
    struct xb_memory_text whole = {.text = NULL};
    FILE *stream = page->stream;
    page->error.status = XB_OK;
    for (size_t i = 0; i < COMMON; i++)
        report.states[i] = xb_new(1, common_sections[i]->state_size);
    for (size_t i = 0; goes_on(&report) && i < request->count; i++)
        take_file(&report, i);
    for (size_t i = 0; !has_failed(&report) && i < COMMON; i++)
        report.speaks[i] = common_sections[i]->finish(report.states[i]);
    if (!has_failed(&report)) {
        choose(&report);
        /* Into memory first: what is left out depends on how long the page is. */
        page->stream = xb_memory_text_begin(&whole);
        write_page(page, &report);
        xb_memory_text_end(&whole);
        page->stream = stream;
    }
    if (!has_failed(&report))
        (void)fwrite(whole.text, 1, whole.length, stream);
    free(whole.text);
    for (size_t i = 0; i < COMMON; i++) {
        common_sections[i]->free(report.states[i]);
        free(report.states[i]);
    }
    *left_out = report.left_out;
    xb_arena_free(report.texts);
    free(report.files);
    return page->error.status;
}
