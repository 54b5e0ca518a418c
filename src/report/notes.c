/* SPDX-License-Identifier: Apache-2.0 */
/* Why rows of a result have no figure, what to beware of, and what kept the run from its end. Of
 * rows of which the same is true it is said once. */
#include "sections.h"

#include "ways.h"
#include "xferbench/units.h"

#include <stdlib.h>
#include <string.h>

#define KINDS 60 /* of notes: more are counted */

struct note {
    const char *label; /* "skipped" */
    const char *text;
    const struct xb_record_case *test; /* the first of them */
    size_t others;
    char own[XB_RECORD_CUT]; /* where the text is made */
};

struct notes {
    const struct xb_record *record;
    struct note all[KINDS];
    size_t count, left_out;
};

static bool has_trouble(const struct xb_record *record)
{
    bool found = record->interrupted || (record->has_deadline && !record->deadline_met);
    for (size_t i = 0; i < record->process_count; i++)
        found = found || record->processes[i].failure != NULL;
    return found;
}

static bool has_note(const struct xb_record *record, const struct xb_record_case *test)
{
    for (size_t i = 0; i < record->process_count; i++)
        if (!test->rows[i].is_there || test->rows[i].status != XB_RESULT_OK ||
            test->rows[i].is_cut || test->rows[i].warning_count > 0)
            return true;
    return false;
}

static bool speaks(const struct xb_report_document *document)
{
    const struct xb_record *record = document->record;
    if (record == NULL)
        return false;
    for (size_t i = 0; i < record->case_count; i++)
        if (has_note(record, &record->cases[i]))
            return true;
    return has_trouble(record);
}

/* ---- collecting ---- */

/* Warnings of several processes rarely agree to the last figure: alike is the same. */
static bool same_text(const struct xb_record *record, const char *a, const char *b)
{
    return record->is_merged ? xb_record_like_warnings(a, b) : strcmp(a, b) == 0;
}

/* `text` outlives the notes, or lies in a buffer and is kept in the note. */
static void add(struct notes *notes, const struct xb_record_case *test, const char *label,
                const char *text, bool is_buffer)
{
    for (size_t i = 0; i < notes->count; i++)
        if (notes->all[i].label == label && same_text(notes->record, notes->all[i].text, text)) {
            notes->all[i].others++;
            return;
        }
    if (notes->count == KINDS) {
        notes->left_out++;
        return;
    }
    struct note *note = &notes->all[notes->count++];
    *note = (struct note){.label = label, .text = text, .test = test};
    if (is_buffer) {
        snprintf(note->own, sizeof note->own, "%s", text);
        note->text = note->own;
    }
}

static void collect(struct notes *notes, const struct xb_record_case *test)
{
    static const char *const labels[] = {"", "skipped", "ERROR"};
    struct xb_record_warning warnings[XB_RECORD_WARNINGS];
    char text[XB_RECORD_CUT];
    struct xb_record_summary summary = xb_record_summarize(notes->record, test);
    const char *reason = xb_record_reason(test, &summary, text, sizeof text);
    if (summary.status != XB_RESULT_OK)
        add(notes, test, labels[summary.status], reason != NULL ? reason : "no reason was given",
            reason == text);
    const char *cut = xb_record_cut_text(notes->record, test, text, sizeof text);
    if (cut != NULL)
        add(notes, test, "cut short", cut, true);
    size_t count = xb_record_warnings(notes->record, test, warnings);
    for (size_t i = 0; i < count; i++)
        add(notes, test, "warning", warnings[i].text, false);
}

/* ---- writing ---- */

static void write_troubles(struct xb_page *page, const struct xb_record *record)
{
    if (record->interrupted)
        xb_page_paragraph(page, "A signal stopped the run before its end.");
    if (record->has_deadline && !record->deadline_met)
        xb_page_paragraph(page, "The deadline stopped the run before its end.");
    for (size_t i = 0; i < record->process_count; i++)
        if (record->processes[i].failure != NULL)
            xb_page_paragraph(page, "Process %zu of %zu failed: %s", i + 1, record->asked_processes,
                              record->processes[i].failure);
}

static void write_table(struct xb_page *page, const struct notes *notes)
{
    const struct xb_ways ways = {.record = notes->record,
                                 .parameters = xb_parameters_that_differ(notes->record)};
    char size[32];
    xb_page_table_begin(page, "Notes");
    xb_page_column(page, "Case", false);
    xb_page_column(page, "And more", true);
    xb_page_column(page, "What", false);
    xb_page_column(page, "Why", false);
    for (size_t i = 0; i < notes->count; i++) {
        const struct note *note = &notes->all[i];
        struct xb_words name = {.length = 0};
        xb_way_add_name(&name, &ways, note->test);
        xb_page_cell(page, "%s %s, %s", name.text, note->test->direction,
                     xb_size_format(note->test->bytes, size, sizeof size));
        if (note->others > 0)
            xb_page_cell(page, "%zu", note->others);
        else
            xb_page_cell(page, "-");
        xb_page_cell(page, "%s", note->label);
        xb_page_cell(page, "%s", note->text);
    }
    xb_page_table_end(page);
    if (notes->left_out > 0)
        xb_page_remark(page, "%zu more notes are in the file only.", notes->left_out);
}

static enum xb_status write(struct xb_page *page, const struct xb_report_document *document,
                            struct xb_error *error)
{
    const struct xb_record *record = document->record;
    struct notes *notes = calloc(1, sizeof *notes);
    if (notes == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for a report");
    notes->record = record;
    for (size_t i = 0; i < record->case_count; i++)
        collect(notes, &record->cases[i]);
    write_troubles(page, record);
    if (notes->count > 0)
        write_table(page, notes);
    free(notes);
    return XB_OK;
}

const struct xb_section xb_section_notes = {
    .name = "notes",
    .title = "Notes",
    .speaks = speaks,
    .write = write,
};
