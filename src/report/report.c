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

/* In the order of the page: what a file is about, then what only some want to know. */
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
    {"grids", "Many pieces", xb_write_grids, OF_RUN, true},
    {"matrices", "Pairs and nodes", xb_write_matrices, OF_RUN | OF(LINK), true},
    {"numbers", "All results", xb_write_rows, OF_RUN, false},
    {"reading", "Reading and notes", xb_write_reading, OF_RUN, false},
    {"samples", "How samples spread", xb_write_samples, OF_RUN, false},
    {"link-details", "All that is known of the links", xb_write_link_details, OF(LINK), false},
    {"comparison", "As compare prints it", xb_write_comparison, OF(COMPARE), false},
};

struct report {
    const struct xb_report_request *request;
    struct xb_page *page;
    struct xb_report_document *files;                     /* all that were named */
    struct xb_report_document *kept[XB_REPORT_FILES + 1]; /* those that are shown one by one */
    struct xb_arena *texts;                               /* of the files */
    void *states[COMMON];
    bool speaks[COMMON];
    size_t kept_count, left_out;
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

/* Keeps of each kind the newest in turn, XB_REPORT_FILES in all. One that is let go would not come
 * back: what stands before it only grows. If two have no date, the first is the newer. */
static void keep_newest(struct report *report)
{
    size_t counts[XB_DOCUMENT_FOREIGN] = {0};
    size_t oldest = SIZE_MAX;
    int most = 0;
    if (report->kept_count <= XB_REPORT_FILES)
        return;
    for (size_t i = 0; i < report->kept_count; i++)
        counts[report->kept[i]->kind]++;
    for (int kind = 0; kind < XB_DOCUMENT_FOREIGN; kind++)
        most = counts[kind] >= counts[most] ? kind : most;
    /* fmax() takes a date that is not known for -INFINITY. */
    for (size_t i = 0; i < report->kept_count; i++)
        if ((int)report->kept[i]->kind == most &&
            (oldest == SIZE_MAX || !(fmax(report->kept[i]->date, -INFINITY) >
                                     fmax(report->kept[oldest]->date, -INFINITY))))
            oldest = i;
    xb_report_document_free(report->kept[oldest]);
    report->kept_count--;
    for (size_t i = oldest; i < report->kept_count; i++)
        report->kept[i] = report->kept[i + 1];
}

/* Reads a file, and has what is told of all files take its part; or lists it under "Left out". */
static void take_file(struct report *report, size_t index)
{
    struct xb_report_document *file = &report->files[index];
    struct xb_error cause;
    *file = (struct xb_report_document){.number = index + 1,
                                        .path = report->request->paths[index],
                                        .request = report->request,
                                        .texts = &report->texts};
    if (xb_report_document_read(file, &cause) == XB_OK) {
        for (size_t i = 0; !has_failed(report) && i < COMMON; i++)
            common_sections[i]->take(report->states[i], file, &report->page->error);
        free(file->text);
        file->text = NULL;
        report->kept[report->kept_count++] = file;
        keep_newest(report);
    } else {
        file->problem = xb_arena_copy(&report->texts, cause.message);
        report->left_out++;
        if (report->request->tell != NULL)
            (void)report->request->tell(&cause);
    }
}

/* ---- parts of the page ---- */

/* The files that could not be read; or all others, where not all are shown one by one. */
static void write_files(struct xb_page *page, const struct report *report, bool are_read)
{
    const size_t count = report->request->count;
    if (are_read ? report->kept_count + report->left_out == count : report->left_out == 0)
        return;
    xb_page_section_begin(page, 2, are_read, are_read ? "files" : "left-out",
                          are_read ? "All files" : "Left out");
    if (are_read)
        xb_page_paragraph(page,
                          "%zu of %zu files are shown with their pictures: of each kind the "
                          "newest. What is said of all files together counts every one.",
                          report->kept_count, count);
    else
        xb_page_paragraph(page, "%zu of %zu files could not be read.", report->left_out, count);
    xb_page_table_begin(page, are_read ? "Files" : "Files that could not be read",
                        are_read ? "File|Kind|Written|Of|In short" : "File|Why");
    for (size_t i = 0; i < count; i++) {
        const struct xb_report_document *file = &report->files[i];
        const char *name = are_read ? xb_report_file_name(file->path) : file->path;
        if (are_read != (file->problem == NULL))
            continue;
        xb_page_cell(page, xb_page_print(page, "%zu. %.200s", i + 1, name));
        if (are_read)
            XB_PAGE_CELLS(page, xb_document_kind_name(file->kind), XB_REPORT_DATE(file->date),
                          file->answer.subject, file->answer.line);
        else
            xb_page_cell(page, file->problem);
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
                           const struct xb_report_document *file, bool is_front, bool are_beside)
{
    const bool is_alone = report->request->count == 1;
    bool is_first = true;
    page->subject = file->answer.subject;
    for (size_t i = 0; !has_failed(report) && i < sizeof sections / sizeof sections[0]; i++) {
        /* What stands side by side is the first section alone. */
        bool is_shown = file->is_drawn && (are_beside ? i == 0 : sections[i].is_front);
        if ((sections[i].kinds >> file->kind & 1) == 0 || is_shown != is_front)
            continue;
        xb_page_section_begin(page, is_front || is_alone ? 2 : 3, !is_front && is_alone,
                              xb_page_print(page, "file-%zu-%s", file->number, sections[i].name),
                              sections[i].title);
        if (is_front && is_first && file->answer.verdict != NULL && file->record == NULL)
            xb_page_tile(page, file->answer.look, file->answer.verdict, file->answer.line);
        is_first = false;
        sections[i].write(page, file);
        xb_page_section_end(page);
    }
}

/* Chooses what the page is about: results, else all files of the first one's kind. Returns how many
 * results `shown` has. */
static size_t choose_front(struct report *report, struct xb_report_document **shown)
{
    struct xb_report_document *results[XB_REPORT_FILES];
    size_t count = 0, chosen = 0;
    bool differ = false;
    for (size_t i = 0; i < report->kept_count; i++)
        if (report->kept[i]->record != NULL)
            results[count++] = report->kept[i];
    if (report->speaks[FLEET])
        return 0;
    if (count > 0)
        chosen = xb_choose_results(results, count, shown);
    /* What tells files apart that stand side by side: the first of these that differs in all. */
    for (size_t n = 0; !differ; n++) {
        differ = true;
        for (size_t i = 0; i < chosen; i++) {
            const struct xb_record *record = shown[i]->record;
            size_t devices;
            const struct xb_record_device *device = xb_record_devices(record, &devices);
            const char *model = devices > 0 ? device[0].name : "";
            const char *const names[] = {
                strncmp(model, "NVIDIA ", 7) == 0 ? model + 7 : model,
                record->host.hostname != NULL ? record->host.hostname : "",
                record->driver != NULL ? record->driver : "",
                xb_arena_print(&report->texts, "%.16s", XB_REPORT_DATE(shown[i]->date)),
                xb_report_file_name(shown[i]->path),
                xb_arena_print(&report->texts, "file %zu", shown[i]->number)};
            shown[i]->label = names[n];
            for (size_t k = 0; k < i; k++)
                differ = differ && strcmp(shown[k]->label, names[n]) != 0;
            differ = differ && names[n][0] != '\0';
        }
    }
    for (size_t i = 0; i < chosen; i++)
        shown[i]->is_drawn = true;
    for (size_t i = 0; chosen == 0 && i < report->kept_count; i++)
        report->kept[i]->is_drawn = report->kept[i]->kind == report->kept[0]->kind;
    return chosen;
}

/* The title names what the page is about; what stands under it on what that was measured. */
static void begin_page(struct xb_page *page, const struct report *report,
                       struct xb_report_document *const *shown, size_t count)
{
    struct xb_words title = {.length = 0}, under = {.length = 0};
    const size_t files = report->request->count;
    const bool is_fleet = report->speaks[FLEET];
    const char *last = "";
    for (size_t i = 0; i < report->kept_count && !is_fleet; i++) {
        const struct xb_report_document *file = report->kept[i];
        if (!file->is_drawn || strcmp(last, file->answer.subject) == 0)
            continue;
        last = file->answer.subject;
        xb_words_add(&title, "%s%.200s", title.length > 0 ? ", " : "", last);
    }
    const bool any = title.length > 0;
    if (!any)
        xb_words_add(&title, "%s%zu files", is_fleet ? "Fleet: " : "", files);
    if (count == 1)
        xb_table_name_devices(&under, shown[0]->record);
    for (size_t i = 0; i < files && (count == 1 || files == 1); i++)
        if (report->files[i].is_drawn)
            xb_words_add(&under, "%s%s", under.length > 0 ? ", " : "",
                         XB_REPORT_DATE(report->files[i].date));
    if (files > 1 && any)
        xb_words_add(&under, "%s%zu files", under.length > 0 ? ", " : "", files);
    else if (files == 1)
        xb_words_add(&under, "%s%.300s", under.length > 0 ? ", " : "",
                     xb_report_file_name(report->files[0].path));
    xb_page_begin(page, title.text, under.text);
}

static void write_page(struct xb_page *page, struct report *report)
{
    struct xb_report_document *shown[XB_REPORT_SHOWN];
    const bool has_folds = report->request->count > 1;
    size_t count = choose_front(report, shown);
    begin_page(page, report, shown, count);
    write_common(page, report, FLEET);
    if (count > 1) {
        xb_page_section_begin(page, 2, false, "results", "");
        page->subject = "side by side";
        xb_write_results(page, (const struct xb_report_document *const *)shown, count);
        xb_page_section_end(page);
    }
    for (size_t i = 0; count < 2 && i < report->kept_count; i++)
        if (report->kept[i]->is_drawn)
            write_sections(page, report, report->kept[i], true, false);
    write_common(page, report, TRENDS);
    write_files(page, report, false);
    for (size_t i = 0; i < report->kept_count && goes_on(report); i++) {
        const struct xb_report_document *file = report->kept[i];
        /* What one file does not need of its share is for those behind it. */
        xb_page_share(page, report->kept_count - i);
        if (has_folds)
            xb_page_fold_begin(page, xb_page_print(page, "file-%zu", file->number),
                               xb_page_print(page, "%zu. %.300s: %s", file->number,
                                             xb_report_file_name(file->path),
                                             xb_document_kind_name(file->kind)),
                               file->answer.look, file->answer.line);
        write_sections(page, report, file, false, count > 1);
        if (has_folds)
            xb_page_fold_end(page);
    }
    write_common(page, report, CONDITIONS);
    write_files(page, report, true);
    xb_page_end(page);
}

enum xb_status xb_report_write(struct xb_page *page, const struct xb_report_request *request,
                               size_t *left_out)
{
    struct report report = {
        .request = request, .page = page, .files = xb_new(request->count, sizeof *report.files)};
    struct xb_memory_text whole = {.text = NULL};
    FILE *stream = page->stream;
    double longest = 0.0;
    page->error.status = XB_OK;
    for (size_t i = 0; i < COMMON; i++)
        report.states[i] = xb_new(1, common_sections[i]->state_size);
    for (size_t i = 0; goes_on(&report) && i < request->count; i++)
        take_file(&report, i);
    for (size_t i = 0; !has_failed(&report) && i < COMMON; i++)
        report.speaks[i] = common_sections[i]->finish(report.states[i]);
    if (!has_failed(&report)) {
        /* Timelines that are to be compared share one axis. */
        for (size_t i = 0; i < report.kept_count; i++)
            longest = fmax(longest, report.kept[i]->longest);
        for (size_t i = 0; i < report.kept_count; i++)
            report.kept[i]->longest = longest;
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
        if (common_sections[i]->free != NULL)
            common_sections[i]->free(report.states[i]);
        free(report.states[i]);
    }
    for (size_t i = 0; i < report.kept_count; i++)
        xb_report_document_free(report.kept[i]);
    *left_out = report.left_out;
    xb_arena_free(report.texts);
    free(report.files);
    return page->error.status;
}
