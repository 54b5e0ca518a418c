/* SPDX-License-Identifier: Apache-2.0 */
/* The page of some files, section by section. */
#include "report.h"

#include "base/interrupt.h"
#include "base/stream.h"
#include "run/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COMMON 3 /* sections of all files together */
enum { FLEET, TRENDS, CONDITIONS };
static const struct xb_common_section *const common_sections[COMMON] = {
    [FLEET] = &xb_section_fleet,
    [TRENDS] = &xb_section_trends,
    [CONDITIONS] = &xb_section_conditions,
};

#define OF(kind) (1u << XB_DOCUMENT_##kind)
#define OF_RUN (OF(RESULT) | OF(PROCESSES))

static void write_results(struct xb_page *page, const struct xb_report_document *document)
{
    xb_write_results(page, &document, 1);
}

/* In the order of the page: first what a file is about, then what only some readers want to know.
 */
static const struct {
    const char *name, *title;
    xb_write_section *write;
    unsigned kinds; /* of files that have it */
    bool is_front;  /* open, if the page is about this file */
} sections[] = {
    {"results", "", write_results, OF_RUN, true},
    {"links", "", xb_write_links, OF(LINK), true},
    {"ratios", "", xb_write_ratios, OF(COMPARE), true},
    {"strategies", "Strategies", xb_write_strategies, OF(ADVISE), true},
    {"devices", "Devices", xb_write_devices, OF(LIST), true},
    {"findings", "Findings", xb_write_findings, OF(FLEET), true},
    {"timelines", "Timelines", xb_write_timelines, OF(TRACE), true},
    {"matrices", "Pairs and nodes", xb_write_matrices, OF_RUN | OF(LINK), true},
    {"numbers", "All results", xb_write_rows, OF_RUN, false},
    {"reading", "What the figures mean", xb_write_reading, OF_RUN, false},
    {"notes", "Notes", xb_write_notes, OF_RUN, false},
    {"samples", "How samples spread", xb_write_samples, OF_RUN, false},
    {"link-details", "All that is known of the links", xb_write_link_details, OF(LINK), false},
    {"comparison", "As compare prints it", xb_write_comparison, OF(COMPARE), false},
};

/* What is kept of every file. */
struct file {
    const char *path;
    const char *title;   /* "2. all-1g-7.json: result" */
    const char *problem; /* why it is left out; NULL: it is not */
    enum xb_document_kind kind;
    double date;
    struct xb_answer answer;
    struct xb_report_document *document; /* NULL: it is not shown one by one */
    bool is_drawn;                       /* above: in front of the page */
};

struct report {
    const struct xb_report_request *request;
    struct xb_page *page;
    struct file *files;
    struct xb_arena *texts; /* of the files */
    void *states[COMMON];
    bool speaks[COMMON];
    size_t kept, left_out; /* files */
};

static bool has_failed(const struct report *report)
{
    return report->page->error.status != XB_OK;
}

/* A user may have enough before the page of many files is done. */
static bool goes_on(struct report *report)
{
    if (!has_failed(report) && xb_interrupt_signal() != 0)
        (void)XB_FAIL(&report->page->error, XB_ERR_STOPPED,
                      "stopped by a signal: there is no report");
    return !has_failed(report);
}

static void let_go(struct report *report, struct file *file)
{
    xb_report_document_free(file->document);
    free(file->document);
    file->document = NULL;
    report->kept--;
}

/* Keeps of each kind the newest in turn, XB_REPORT_FILES in all. One that is let go would not come
 * back: what stands before it only grows. If two have no date, the first is the newer. */
static void keep_newest(struct report *report)
{
    size_t counts[XB_DOCUMENT_FOREIGN] = {0};
    int most = 0;
    struct file *oldest = NULL;
    if (report->kept <= XB_REPORT_FILES)
        return;
    for (size_t i = 0; i < report->request->count; i++)
        if (report->files[i].document != NULL)
            counts[report->files[i].kind]++;
    for (int kind = 0; kind < XB_DOCUMENT_FOREIGN; kind++)
        most = counts[kind] >= counts[most] ? kind : most;
    for (size_t i = 0; i < report->request->count; i++) {
        struct file *file = &report->files[i];
        if (file->document != NULL && (int)file->kind == most &&
            (oldest == NULL || !(file->date > oldest->date)) &&
            !(oldest != NULL && isnan(oldest->date) && isfinite(file->date)))
            oldest = file;
    }
    let_go(report, oldest);
}

/* Reads a file. If that fails it is listed under "Left out", and the report goes on. What is told
 * of all files takes what it needs of this one. */
static void take_file(struct report *report, size_t index)
{
    struct xb_error *error = &report->page->error;
    struct file *file = &report->files[index];
    struct xb_report_document *document = xb_new(1, sizeof *document);
    struct xb_error cause;
    *file = (struct file){
        .path = report->request->paths[index], .kind = XB_DOCUMENT_FOREIGN, .date = (double)NAN};
    if (xb_report_document_read(report->request, index, document, &cause) == XB_OK) {
        enum xb_status status = XB_OK;
        file->answer = xb_answer_make(document, &report->texts);
        for (size_t i = 0; status == XB_OK && i < COMMON; i++)
            status = common_sections[i]->take(report->states[i], document, error);
        xb_report_document_forget_text(document);
        file->kind = document->kind;
        file->date = document->date;
        file->document = document;
        report->kept++;
        keep_newest(report);
    } else {
        free(document);
        file->problem = xb_arena_copy(&report->texts, cause.message);
        report->left_out++;
        if (report->request->tell != NULL)
            report->request->tell(&cause);
    }
    file->title =
        xb_arena_print(&report->texts, "%zu. %.300s: %s", index + 1,
                       xb_report_file_name(file->path), xb_document_kind_name(file->kind));
}

/* ---- parts of the page ---- */

static void write_left_out(struct xb_page *page, const struct report *report)
{
    if (report->left_out == 0)
        return;
    xb_page_section_begin(page, 2, false, "left-out", "Left out");
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

/* All files, where not all are shown one by one. */
static void write_files(struct xb_page *page, const struct report *report)
{
    if (report->kept + report->left_out == report->request->count)
        return;
    xb_page_section_begin(page, 2, true, "files", "All files");
    xb_page_paragraph(page,
                      "%zu of %zu files are shown with their pictures: of each kind the newest. "
                      "What is said of all files together counts every one.",
                      report->kept, report->request->count);
    xb_page_table_begin(page, "Files", "File|Kind|Written|Of|In short");
    for (size_t i = 0; i < report->request->count; i++) {
        const struct file *file = &report->files[i];
        if (file->problem == NULL)
            XB_PAGE_CELLS(
                page, xb_page_print(page, "%zu. %.200s", i + 1, xb_report_file_name(file->path)),
                xb_document_kind_name(file->kind), XB_REPORT_DATE(file->date), file->answer.subject,
                file->answer.line);
    }
    xb_page_table_end(page);
    xb_page_section_end(page);
}

static void write_common(struct xb_page *page, const struct report *report, size_t which)
{
    const struct xb_common_section *section = common_sections[which];
    if (has_failed(report) || !report->speaks[which])
        return;
    xb_page_section_begin(page, 2, which == CONDITIONS, section->name,
                          which == FLEET ? "" : section->title);
    xb_page_share(page, 2); /* the other half is for what comes behind it */
    page->subject = section->name;
    section->write(page, report->states[which]);
    xb_page_section_end(page);
}

/* What the page has of one file: what it is about, open, or the rest. */
static void write_sections(struct xb_page *page, const struct report *report,
                           const struct file *file, bool is_front)
{
    const bool is_alone = report->request->count == 1;
    bool is_first = true;
    char id[XB_PAGE_ID];
    page->subject = file->answer.subject;
    for (size_t i = 0; !has_failed(report) && i < sizeof sections / sizeof sections[0]; i++) {
        if ((sections[i].kinds >> file->kind & 1) == 0 || (is_front && !sections[i].is_front) ||
            (!is_front && file->is_drawn && sections[i].is_front))
            continue;
        snprintf(id, sizeof id, "file-%zu-%s", file->document->number, sections[i].name);
        xb_page_section_begin(page, is_front || is_alone ? 2 : 3, !is_front && is_alone, id,
                              sections[i].title);
        if (is_front && is_first && file->answer.verdict != NULL) {
            xb_page_tiles_begin(page);
            xb_page_tile(page, file->answer.look, file->answer.verdict, file->answer.line);
            xb_page_tiles_end(page);
        }
        is_first = false;
        sections[i].write(page, file->document);
        xb_page_section_end(page);
    }
}

/* What tells files apart that stand beside each other: the first of these that differs in all. */
static void name_apart(struct report *report, const struct xb_report_document **shown, size_t count)
{
    const char *names[6][XB_REPORT_SHOWN];
    for (size_t i = 0; i < count; i++) {
        const struct xb_record *record = shown[i]->record;
        size_t devices;
        const struct xb_record_device *device = xb_record_devices(record, &devices);
        const char *model = devices > 0 ? device[0].name : "";
        names[0][i] = strncmp(model, "NVIDIA ", 7) == 0 ? model + 7 : model;
        names[1][i] = record->host.hostname != NULL ? record->host.hostname : "";
        names[2][i] = record->driver != NULL ? record->driver : "";
        names[3][i] = xb_arena_print(&report->texts, "%.16s", XB_REPORT_DATE(shown[i]->date));
        names[4][i] = xb_report_file_name(shown[i]->path);
        names[5][i] = xb_arena_print(&report->texts, "file %zu", shown[i]->number);
    }
    for (size_t n = 0; n < 6; n++) {
        bool differ = true;
        for (size_t i = 0; i < count; i++)
            for (size_t k = 0; k < i; k++)
                differ = differ && strcmp(names[n][i], names[n][k]) != 0;
        for (size_t i = 0; differ && i < count; i++)
            report->files[shown[i]->number - 1].document->label = names[n][i];
        if (differ)
            return;
    }
}

/* Chooses what the page is about: results, else all files of the first one's kind. Returns how many
 * results `shown` has. */
static size_t choose_front(struct report *report, const struct xb_report_document **shown)
{
    const struct xb_report_document *results[XB_REPORT_FILES];
    size_t count = 0, chosen = 0;
    enum xb_document_kind kind = XB_DOCUMENT_FOREIGN;
    for (size_t i = 0; i < report->request->count; i++) {
        const struct file *file = &report->files[i];
        if (file->document == NULL)
            continue;
        kind = kind == XB_DOCUMENT_FOREIGN ? file->kind : kind;
        if (file->document->record != NULL)
            results[count++] = file->document;
    }
    if (report->speaks[FLEET])
        return 0;
    if (count > 0)
        chosen = xb_choose_results(results, count, shown);
    name_apart(report, shown, chosen);
    for (size_t i = 0; i < chosen; i++)
        report->files[shown[i]->number - 1].is_drawn = true;
    for (size_t i = 0; chosen == 0 && i < report->request->count; i++)
        report->files[i].is_drawn =
            report->files[i].document != NULL && report->files[i].kind == kind;
    return chosen;
}

/* The title names what the page is about; what stands under it on what that was measured. */
static void begin_page(struct xb_page *page, const struct report *report,
                       const struct xb_report_document *const *shown, size_t count)
{
    struct xb_words title = {.length = 0}, under = {.length = 0};
    const size_t files = report->request->count;
    bool any = false;
    for (size_t i = 0; i < files && !report->speaks[FLEET]; i++) {
        const struct file *file = &report->files[i];
        const struct file *last = &report->files[i > 0 ? i - 1 : 0];
        if (!file->is_drawn ||
            (i > 0 && last->is_drawn && strcmp(last->answer.subject, file->answer.subject) == 0))
            continue;
        xb_words_add(&title, "%s%.200s", any ? ", " : "", file->answer.subject);
        any = true;
    }
    if (!any)
        xb_words_add(&title, "%s%zu files", report->speaks[FLEET] ? "Fleet: " : "", files);
    if (count == 1)
        xb_table_name_devices(&under, shown[0]->record);
    for (size_t i = 0; i < files && (count == 1 || files == 1); i++)
        if (report->files[i].is_drawn)
            xb_words_add(&under, "%s%s", under.length > 0 ? ", " : "",
                         XB_REPORT_DATE(report->files[i].date));
    if (files > 1 && any)
        xb_words_add(&under, "%s%zu files", under.length > 0 ? ", " : "", files);
    xb_page_begin(page, title.text, under.text);
}

static void write_page(struct xb_page *page, struct report *report)
{
    const struct xb_report_document *shown[XB_REPORT_SHOWN];
    const size_t files = report->request->count;
    size_t count = choose_front(report, shown);
    size_t left = report->kept;
    char id[32];
    begin_page(page, report, shown, count);
    write_common(page, report, FLEET);
    if (count > 1) {
        xb_page_section_begin(page, 2, false, "results", "");
        page->subject = "side by side";
        xb_write_results(page, shown, count);
        xb_page_section_end(page);
    }
    for (size_t i = 0; count < 2 && i < files; i++)
        if (report->files[i].is_drawn)
            write_sections(page, report, &report->files[i], true);
    write_common(page, report, TRENDS);
    write_left_out(page, report);
    for (size_t i = 0; i < files && goes_on(report); i++) {
        const struct file *file = &report->files[i];
        if (file->document == NULL)
            continue;
        /* What one file does not need of its share is for those behind it. */
        xb_page_share(page, left--);
        snprintf(id, sizeof id, "file-%zu", i + 1);
        if (files > 1)
            xb_page_fold_begin(page, id, file->title, file->answer.look, file->answer.line);
        write_sections(page, report, file, false);
        if (files > 1)
            xb_page_fold_end(page);
    }
    write_common(page, report, CONDITIONS);
    write_files(page, report);
    xb_page_end(page);
}

/* Timelines that are to be compared share one axis. */
static void share_axis(struct report *report)
{
    double longest = 0.0;
    for (size_t i = 0; i < report->request->count; i++)
        if (report->files[i].document != NULL && report->files[i].document->trace != NULL)
            longest = fmax(longest, xb_longest_timeline(report->files[i].document->trace));
    for (size_t i = 0; i < report->request->count; i++)
        if (report->files[i].document != NULL)
            report->files[i].document->longest = longest;
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
        share_axis(&report);
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
    for (size_t i = 0; i < request->count; i++)
        if (report.files[i].document != NULL)
            let_go(&report, &report.files[i]);
    *left_out = report.left_out;
    xb_arena_free(report.texts);
    free(report.files);
    return page->error.status;
}
