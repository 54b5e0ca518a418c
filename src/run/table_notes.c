/* SPDX-License-Identifier: Apache-2.0 */
/* What stands below the rows of the table: why some have no figure, and what to beware of. */
#define _GNU_SOURCE
#include "table.h"

#include "base/arena.h"
#include "base/note.h"
#include "base/plain_text.h"
#include "formats.h"
#include "record/rows.h"
#include "record/shown_parameters.h"
#include "xferbench/units.h"

#include <string.h>

#define MOST_WARNINGS 32 /* kinds of them; the rest stands in the JSON */

/* ---- names of rows ---- */

bool xb_table_names_devices(const struct xb_record *record)
{
    size_t devices = 0;
    xb_record_devices(record, &devices);
    bool named = devices > 1;
    for (size_t i = 0; i < record->case_count; i++)
        named = named || record->cases[i].simultaneous || record->cases[i].peer >= 0 ||
                record->cases[i].device != record->cases[0].device;
    return named;
}

/* What a name needs to tell its row from others. */
struct names {
    const struct xb_record *record;
    struct xb_parameters parameters;
    bool with_devices;
};

static struct names names_of(const struct xb_record *record)
{
    return (struct names){.record = record,
                          .parameters = xb_parameters_that_differ(record),
                          .with_devices = xb_table_names_devices(record)};
}

/* " sum of 4", " 0>1", " device 0 (with 3 others)"; nothing where there is one device only. */
static void add_device(struct xb_words *name, const struct names *names,
                       const struct xb_record_case *test)
{
    char device[48];
    if (!names->with_devices)
        return;
    xb_device_text(names->record, test, device, sizeof device);
    xb_words_add(name, "%s%s",
                 xb_case_is_of_pairs(test) || xb_record_is_sum(test) ? " " : " device ", device);
}

/* "pinned alloc h2d 1 GiB", with what else tells the row from others. */
static void add_name(struct xb_words *name, const struct names *names,
                     const struct xb_record_case *test)
{
    char text[64];
    xb_words_add(name, "%s %s %s %s", test->mode, test->variant, test->direction,
                 xb_size_format(test->bytes, text, sizeof text));
    for (size_t i = 0; i < names->parameters.count; i++) {
        const char *parameter = names->parameters.names[i];
        const char *value = xb_parameter_text(test, parameter, text, sizeof text);
        if (value != NULL)
            xb_words_add(name, " %s %s", parameter, value);
    }
    add_device(name, names, test);
}

/* ---- what is noted of cases: once for all of which the same is true ---- */

struct note {
    struct note *next;
    const struct xb_record_case *test; /* the first of them */
    size_t others;                     /* how many more */
    const char *text;
    enum xb_result_status status; /* of a case that is not ok */
    size_t processes;             /* in how many */
};

struct notes {
    const struct xb_record *record;
    struct xb_arena *arena; /* where the notes and their texts lie */
    struct note *first, *last;
    size_t count, most; /* kinds of them; 0: as many as there are */
    bool more;          /* there are others, which are not kept */
    bool failed;        /* no memory */
};

typedef bool same_note(const struct notes *notes, const struct note *a, const struct note *b);

static void append(struct notes *notes, const struct note *note)
{
    struct note *added = xb_arena_allocate(&notes->arena, sizeof *added);
    const char *text = xb_arena_print(&notes->arena, "%s", note->text);
    notes->failed = notes->failed || added == NULL || text == NULL;
    if (notes->failed)
        return;
    *added = *note;
    added->text = text;
    if (notes->last != NULL)
        notes->last->next = added;
    else
        notes->first = added;
    notes->last = added;
    notes->count++;
}

static void take(struct notes *notes, const struct note *note, same_note *same)
{
    for (struct note *known = notes->first; known != NULL; known = known->next)
        if (same(notes, known, note)) {
            known->others++;
            return;
        }
    notes->more = notes->more || (notes->most > 0 && notes->count == notes->most);
    if (!notes->more)
        append(notes, note);
}

static bool same_trouble(const struct notes *notes, const struct note *a, const struct note *b)
{
    (void)notes;
    return a->status == b->status && a->processes == b->processes && strcmp(a->text, b->text) == 0;
}

/* What was not run is one line for all (print_stop). */
static void take_trouble(struct notes *notes, const struct xb_record_case *test)
{
    if (xb_case_was_not_run(notes->record, test))
        return;
    char text[XB_RECORD_REASON];
    struct xb_record_summary summary = xb_record_summarize(notes->record, test);
    const char *reason = xb_record_reason(test, &summary, text, sizeof text);
    const struct note note = {.test = test,
                              .text = reason,
                              .status = summary.status,
                              .processes = summary.processes - summary.ok};
    if (reason != NULL)
        take(notes, &note, same_trouble);
}

/* Warnings of several processes rarely agree to the last figure: alike is the same. */
static bool same_warning(const struct notes *notes, const struct note *a, const struct note *b)
{
    return notes->record->is_merged ? xb_record_like_warnings(a->text, b->text)
                                    : strcmp(a->text, b->text) == 0;
}

static void take_warning(struct notes *notes, const struct xb_record_case *test, const char *text,
                         size_t processes)
{
    const struct note note = {.test = test, .text = text, .processes = processes};
    take(notes, &note, same_warning);
}

static void take_warnings(struct notes *notes, const struct xb_record_case *test)
{
    struct xb_record_warning warnings[XB_RECORD_WARNINGS];
    const struct xb_record_row *row = &test->rows[0];
    if (!notes->record->is_merged) {
        for (size_t i = 0; i < row->warning_count; i++)
            take_warning(notes, test, row->warning_texts[i], 1);
        return;
    }
    size_t count = xb_record_warnings(notes->record, test, warnings);
    for (size_t i = 0; i < count; i++)
        take_warning(notes, test, warnings[i].text, warnings[i].processes);
}

/* ---- they are printed: the first brings the heading ---- */

struct printer {
    FILE *stream;
    const struct xb_record *record;
    struct names names;
    bool begun;
};

static void print(struct printer *printer, const char *label, const struct xb_words *words)
{
    if (!printer->begun)
        fputs("\nNotes\n", printer->stream);
    printer->begun = true;
    xb_note_print(printer->stream, label, XB_TABLE_LABEL, "%s", words->text);
}

/* "pinned alloc h2d 1 GiB and 3 more rows" */
static struct xb_words words_of(const struct printer *printer, const struct note *note)
{
    struct xb_words words = {.length = 0};
    add_name(&words, &printer->names, note->test);
    if (note->others > 0)
        xb_words_add(&words, " and %zu more row%s", note->others, note->others > 1 ? "s" : "");
    return words;
}

static void print_trouble(struct printer *printer, const struct note *note)
{
    struct xb_words words = words_of(printer, note);
    size_t all = xb_record_summarize(printer->record, note->test).processes;
    if (note->processes < all)
        xb_words_add(&words, " in %zu of %zu processes%s", note->processes, all,
                     note->processes > 1 ? ", at the worst" : "");
    xb_words_add(&words, ": %s", note->text);
    print(printer, note->status == XB_RESULT_SKIPPED ? "skipped" : "ERROR", &words);
}

/* The first process's words stand for all: only their figures differ. */
static void print_warning(struct printer *printer, const struct note *note)
{
    struct xb_words words = words_of(printer, note);
    size_t all = xb_record_summarize(printer->record, note->test).processes;
    bool merged = printer->record->is_merged;
    xb_words_add(&words, merged ? ": %.400s" : ": %s", note->text);
    if (note->processes > 1)
        xb_words_add(&words, ", and like it in %zu more of %zu processes", note->processes - 1,
                     all);
    else if (merged && all > 1)
        xb_words_add(&words, ", in 1 of %zu processes", all);
    print(printer, "warning", &words);
}

static void print_stop(struct printer *printer)
{
    const struct xb_record *record = printer->record;
    const bool stopped[] = {record->interrupted, record->has_deadline && !record->deadline_met};
    static const char *const why[] = {"interrupted by a signal", "the deadline came"};
    size_t measured = 0;
    size_t not_run = 0;
    for (size_t i = 0; i < record->case_count; i++) {
        measured += xb_record_summarize(record, &record->cases[i]).status == XB_RESULT_OK;
        not_run += xb_case_was_not_run(record, &record->cases[i]);
    }
    for (size_t i = 0; i < 2; i++) {
        struct xb_words words = {.length = 0};
        if (!stopped[i])
            continue;
        if (record->is_merged)
            xb_words_add(&words, "%s: %zu of %zu processes were begun", why[i],
                         record->process_count, record->asked_processes);
        else
            xb_words_add(&words, "%s: %zu of %zu cases were measured", why[i], measured,
                         record->case_count);
        if (not_run > 0)
            xb_words_add(&words,
                         record->is_merged ? "; %zu cases were not run in any" : ", %zu not run",
                         not_run);
        print(printer, "STOPPED", &words);
    }
}

/* Why a process has no results: "process 2 of 3: ..." */
static bool add_failure(struct xb_words *words, const struct xb_record *record, size_t process)
{
    const char *failure = record->processes[process].failure;
    if (failure != NULL)
        xb_words_add(words, "process %zu of %zu: %s", process + 1, record->asked_processes,
                     failure);
    return failure != NULL;
}

static void print_failures(struct printer *printer)
{
    for (size_t i = 0; i < printer->record->process_count; i++) {
        struct xb_words words = {.length = 0};
        if (add_failure(&words, printer->record, i))
            print(printer, "FAILED", &words);
    }
}

/* In one process what was cut short counts all the same. */
static void print_cut(struct printer *printer)
{
    const struct xb_record *record = printer->record;
    char text[XB_RECORD_CUT];
    for (size_t i = 0; record->is_merged && i < record->case_count; i++) {
        struct xb_words words = {.length = 0};
        const char *cut = xb_record_cut_text(record, &record->cases[i], text, sizeof text);
        if (cut == NULL)
            continue;
        add_name(&words, &printer->names, &record->cases[i]);
        xb_words_add(&words, ": %s", cut);
        print(printer, "warning", &words);
    }
}

static void print_warnings(struct printer *printer, const struct notes *warnings)
{
    struct xb_words more = {.length = 0};
    for (const struct note *note = warnings->first; note != NULL; note = note->next)
        print_warning(printer, note);
    xb_words_add(&more, "and others, which stand in the JSON");
    if (warnings->more)
        print(printer, "warning", &more);
}

enum xb_status xb_table_notes(FILE *stream, const struct xb_record *record, struct xb_error *error)
{
    struct printer printer = {.stream = stream, .record = record, .names = names_of(record)};
    struct notes troubles = {.record = record};
    struct notes warnings = {.record = record, .most = MOST_WARNINGS};
    for (size_t i = 0; i < record->case_count; i++) {
        take_trouble(&troubles, &record->cases[i]);
        take_warnings(&warnings, &record->cases[i]);
    }
    bool failed = troubles.failed || warnings.failed;
    if (!failed) {
        print_stop(&printer);
        print_failures(&printer);
        for (const struct note *note = troubles.first; note != NULL; note = note->next)
            print_trouble(&printer, note);
        print_cut(&printer);
        print_warnings(&printer, &warnings);
    }
    xb_arena_free(troubles.arena);
    xb_arena_free(warnings.arena);
    return failed ? XB_FAIL(error, XB_ERR_MEMORY, "not enough memory to print the notes") : XB_OK;
}

/* ---- where no table tells ---- */

static void say_case(const struct names *names, const struct xb_record_case *test)
{
    const struct xb_record_row *row = &test->rows[0];
    struct xb_words words = {.length = 0};
    if (row->status != XB_RESULT_ERROR)
        return;
    add_name(&words, names, test);
    xb_say("%s: %s", words.text, row->reason != NULL ? row->reason : "no reason was given");
}

void xb_failures_say(const struct xb_record *record)
{
    const struct names names = names_of(record);
    for (size_t i = 0; record->is_merged && i < record->process_count; i++) {
        struct xb_words words = {.length = 0};
        if (record->role != NULL)
            xb_words_add(&words, "%s ", record->role);
        if (add_failure(&words, record, i))
            xb_say("%s", words.text);
    }
    for (size_t i = 0; !record->is_merged && i < record->case_count; i++)
        say_case(&names, &record->cases[i]);
}
