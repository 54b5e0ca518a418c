/* SPDX-License-Identifier: Apache-2.0 */
/* Why rows of a result have no figure, what to beware of, and what kept the run from its end. Of
 * rows of which the same is true it is said once. */
#include "section.h"

#include "ways.h"
#include "xferbench/units.h"

#include <string.h>

#define KINDS 60 /* of notes: more are counted */

struct note {
    const char *label; /* "skipped" */
    const char *text;
    const struct xb_record_case *test; /* the first of them */
    size_t others;
};

struct notes {
    const struct xb_record *record;
    struct note all[KINDS];
    size_t count, left_out;
};

static void add(struct notes *notes, const struct xb_record_case *test, const char *label,
                const char *text)
{
    for (size_t i = 0; i < notes->count; i++) {
        struct note *note = &notes->all[i];
        /* Warnings of several processes rarely agree to the last figure: alike is the same. */
        if (note->label == label &&
            (notes->record->is_merged ? xb_record_like_warnings(note->text, text)
                                      : strcmp(note->text, text) == 0)) {
            note->others++;
            return;
        }
    }
    if (notes->count == KINDS) {
        notes->left_out++;
        return;
    }
    notes->all[notes->count++] = (struct note){.label = label, .text = text, .test = test};
}

static void collect(struct xb_page *page, struct notes *notes, const struct xb_record_case *test)
{
    static const char *const labels[] = {"", "skipped", "ERROR"};
    struct xb_record_warning warnings[XB_RECORD_WARNINGS];
    char text[XB_RECORD_CUT];
    struct xb_record_summary summary = xb_record_summarize(notes->record, test);
    const char *reason = xb_record_reason(test, &summary, text, sizeof text);
    if (reason == text)
        reason = xb_page_print(page, "%s", text);
    if (summary.status != XB_RESULT_OK)
        add(notes, test, labels[summary.status], reason != NULL ? reason : "no reason was given");
    if (xb_record_cut_text(notes->record, test, text, sizeof text) != NULL)
        add(notes, test, "cut short", xb_page_print(page, "%s", text));
    size_t count = xb_record_warnings(notes->record, test, warnings);
    for (size_t i = 0; i < count; i++)
        add(notes, test, "warning", warnings[i].text);
}

static void write(struct xb_page *page, const struct xb_report_document *document)
{
    const struct xb_record *record = document->record;
    if (record == NULL)
        return;
    const struct xb_ways ways = {.record = record, .parameters = xb_parameters_that_differ(record)};
    struct notes notes = {.record = record};
    for (size_t i = 0; i < record->case_count; i++)
        collect(page, &notes, &record->cases[i]);
    if (record->interrupted)
        xb_page_paragraph(page, "A signal stopped the run before its end.");
    if (record->has_deadline && !record->deadline_met)
        xb_page_paragraph(page, "The deadline stopped the run before its end.");
    for (size_t i = 0; i < record->process_count; i++)
        if (record->processes[i].failure != NULL)
            xb_page_paragraph(page, "Process %zu of %zu failed: %s", i + 1, record->asked_processes,
                              record->processes[i].failure);
    if (notes.count == 0)
        return;
    xb_page_table_begin(page, "Notes", "Case|#And more|What|Why");
    for (size_t i = 0; i < notes.count; i++) {
        const struct note *note = &notes.all[i];
        xb_page_cell(page, "%s %s, %s", xb_way_name(page, &ways, note->test), note->test->direction,
                     XB_SIZE_TEXT(note->test->bytes));
        xb_page_cell_if(page, note->others > 0, "%zu", note->others);
        XB_PAGE_CELLS(page, note->label, note->text);
    }
    xb_page_table_end(page);
    if (notes.left_out > 0)
        xb_page_remark(page, "%zu more notes are in the file only.", notes.left_out);
}

const struct xb_section xb_section_notes = {"notes", "Notes", write};
