/* SPDX-License-Identifier: Apache-2.0 */
/* What stands below the rows of the table: why some have no figure, and what to beware of. */
#define _GNU_SOURCE
#include "table.h"

#include "alike.h"
#include "base/arena.h"
#include "base/note.h"
#include "base/plain_text.h"
#include "formats.h"
#include "machine/start.h"
#include "record/rows.h"
#include "record/shown_parameters.h"
#include "xferbench/units.h"

#include <string.h>

#define MOST_WARNINGS 32 /* kinds of them; the rest stands in the JSON */

/* ---- names of rows ---- */

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
                          .with_devices = xb_rows_name_devices(record)};
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

/* ---- why cases have no figure: once for all of which the same is true ---- */

struct trouble {
    struct trouble *next;
    const struct xb_record_case *test; /* the first of them */
    size_t others;                     /* how many more */
    const char *text;
    enum xb_result_status status;
    size_t processes; /* in how many */
};

struct troubles {
    const struct xb_record *record;
    struct xb_arena *arena; /* where they and their texts lie */
    struct trouble *first, *last;
    bool failed; /* no memory */
};

static void append_trouble(struct troubles *troubles, const struct trouble *trouble)
{
    struct trouble *added = xb_arena_allocate(&troubles->arena, sizeof *added);
    const char *text = xb_arena_print(&troubles->arena, "%s", trouble->text);
    troubles->failed = troubles->failed || added == NULL || text == NULL;
    if (troubles->failed)
        return;
    *added = *trouble;
    added->text = text;
    if (troubles->last != NULL)
        troubles->last->next = added;
    else
        troubles->first = added;
    troubles->last = added;
}

static bool same_trouble(const struct trouble *a, const struct trouble *b)
{
    return a->status == b->status && a->processes == b->processes && strcmp(a->text, b->text) == 0;
}

/* What was not run is one line for all (print_stop). */
static void take_trouble(struct troubles *troubles, const struct xb_record_case *test)
{
    if (xb_case_was_not_run(troubles->record, test))
        return;
    char text[XB_RECORD_REASON];
    struct xb_record_summary summary = xb_record_summarize(troubles->record, test);
    const char *reason = xb_record_reason(test, &summary, text, sizeof text);
    const struct trouble trouble = {.test = test,
                                    .text = reason,
                                    .status = summary.status,
                                    .processes = summary.processes - summary.ok};
    if (reason == NULL)
        return;
    for (struct trouble *known = troubles->first; known != NULL; known = known->next)
        if (same_trouble(known, &trouble)) {
            known->others++;
            return;
        }
    append_trouble(troubles, &trouble);
}

/* ---- warnings: once for all that differ in their numbers only ---- */

struct warning {
    struct xb_alike alike;
    const struct xb_record_case *first, *last; /* rows that have it */
    size_t rows;
    size_t last_process;
    size_t processes;    /* of the last row, that have it */
    size_t fewest, most; /* the same of the rows before */
};

struct warnings {
    const struct xb_record *record;
    struct warning kinds[MOST_WARNINGS];
    size_t count;
    bool more; /* there are others, which are not kept */
};

/* Takes the last row to those before it. */
static void end_row(struct warning *warning)
{
    size_t processes = warning->processes;
    if (warning->fewest == 0 || processes < warning->fewest)
        warning->fewest = processes;
    warning->most = processes > warning->most ? processes : warning->most;
}

static void count_row(struct warning *warning, const struct xb_record_case *test, size_t process)
{
    if (warning->last == test) {
        warning->processes += warning->last_process != process;
    } else {
        end_row(warning);
        warning->rows++;
        warning->last = test;
        warning->processes = 1;
    }
    warning->last_process = process;
}

static void take_warning(struct warnings *warnings, const struct xb_record_case *test,
                         size_t process, const char *text)
{
    for (size_t i = 0; i < warnings->count; i++)
        if (xb_alike_add(&warnings->kinds[i].alike, text)) {
            count_row(&warnings->kinds[i], test, process);
            return;
        }
    warnings->more = warnings->more || warnings->count == MOST_WARNINGS;
    if (warnings->count < MOST_WARNINGS)
        warnings->kinds[warnings->count++] = (struct warning){.alike = xb_alike_begin(text),
                                                              .first = test,
                                                              .last = test,
                                                              .rows = 1,
                                                              .last_process = process,
                                                              .processes = 1};
}

static void take_warnings(struct warnings *warnings, const struct xb_record_case *test)
{
    for (size_t i = 0; i < warnings->record->process_count; i++)
        for (size_t k = 0; k < test->rows[i].warning_count; k++)
            take_warning(warnings, test, i, test->rows[i].warning_texts[k]);
}

/* ---- they are printed: the first brings the heading ---- */

struct printer {
    FILE *stream;
    const struct xb_record *record;
    struct names names;
    bool begun;
};

static void print(struct printer *printer, enum xb_colour colour, const char *label,
                  const struct xb_words *words)
{
    if (!printer->begun) {
        fputc('\n', printer->stream);
        xb_heading_print(printer->stream, XB_COLOUR_TITLE, "Notes");
    }
    printer->begun = true;
    xb_note_print_in(printer->stream, colour, label, XB_TABLE_LABEL, "%s", words->text);
}

/* "pinned alloc h2d 1 GiB and 3 more rows: the copy failed" */
static void print_trouble(struct printer *printer, const struct trouble *trouble)
{
    struct xb_words words = {.length = 0};
    size_t all = xb_record_summarize(printer->record, trouble->test).processes;
    bool is_skipped = trouble->status == XB_RESULT_SKIPPED;
    add_name(&words, &printer->names, trouble->test);
    if (trouble->others > 0)
        xb_words_add(&words, " and %zu more row%s", trouble->others,
                     trouble->others > 1 ? "s" : "");
    if (trouble->processes < all)
        xb_words_add(&words, " in %zu of %zu processes%s", trouble->processes, all,
                     trouble->processes > 1 ? ", at the worst" : "");
    xb_words_add(&words, ": %s", trouble->text);
    print(printer, is_skipped ? XB_COLOUR_WARNING : XB_COLOUR_BAD, is_skipped ? "skipped" : "ERROR",
          &words);
}

/* " in 1 to 3 of 5 processes", " in all 5 processes"; nothing of one process. */
static void add_processes(struct xb_words *words, const struct xb_record *record,
                          const struct warning *warning)
{
    if (!record->is_merged || record->process_count < 2)
        return;
    if (warning->fewest == record->process_count && warning->fewest == 2) {
        xb_words_add(words, " in both processes");
        return;
    }
    if (warning->fewest == record->process_count) {
        xb_words_add(words, " in all %zu processes", record->process_count);
        return;
    }
    xb_words_add(words, " in %zu", warning->fewest);
    if (warning->most > warning->fewest)
        xb_words_add(words, " to %zu", warning->most);
    xb_words_add(words, " of %zu processes", record->process_count);
}

/* "12 rows: the median is known only to within 4 to 13 %"; if there are one or two, by name. */
static void add_warning(struct xb_words *words, const struct printer *printer,
                        struct warning *warning, size_t from)
{
    struct xb_words text = {.length = 0};
    if (warning->rows > 2)
        xb_words_add(words, "%zu rows", warning->rows);
    else
        add_name(words, &printer->names, warning->first);
    if (warning->rows == 2)
        xb_words_add(words, " and 1 more row");
    end_row(warning);
    add_processes(words, printer->record, warning);
    xb_alike_say(&warning->alike, from, &text);
    xb_words_add(words, printer->record->is_merged ? ": %.400s" : ": %s", text.text);
}

static const char noisy[] = "noisy: ";

static bool is_noisy(const struct warning *warning)
{
    return strncmp(warning->alike.text, noisy, strlen(noisy)) == 0;
}

/* All kinds of noise are one note. */
static void print_noise(struct printer *printer, struct warnings *warnings)
{
    struct xb_words words = {.length = 0};
    for (size_t i = 0; i < warnings->count; i++) {
        struct warning *warning = &warnings->kinds[i];
        if (!is_noisy(warning))
            continue;
        xb_words_add(&words, "%s", words.length > 0 ? "; " : "");
        add_warning(&words, printer, warning, strlen(noisy));
    }
    if (words.length > 0)
        print(printer, XB_COLOUR_WARNING, "noisy", &words);
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
        print(printer, XB_COLOUR_BAD, "STOPPED", &words);
    }
}

/* What went wrong with a process as a whole: "process 2 of 3: ..." */
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
            print(printer, XB_COLOUR_BAD, "FAILED", &words);
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
        print(printer, XB_COLOUR_WARNING, "warning", &words);
    }
}

/* Where nodes were to begin at once: whether this one did. */
static void print_start(struct printer *printer)
{
    const struct xb_record_start *start = &printer->record->start;
    const struct xb_clock_state clock = {.is_known = start->clock_known,
                                         .is_synchronised = start->synchronised};
    char text[XB_START_WARNING];
    struct xb_words words = {.length = 0};
    if (start->asked == NULL || xb_start_warning(start->late_s, &clock, text) == NULL)
        return;
    xb_words_add(&words, "%s", text);
    print(printer, XB_COLOUR_WARNING, "warning", &words);
}

static void print_warnings(struct printer *printer, struct warnings *warnings)
{
    struct xb_words more = {.length = 0};
    for (size_t i = 0; i < warnings->count; i++) {
        struct xb_words words = {.length = 0};
        if (is_noisy(&warnings->kinds[i]))
            continue;
        add_warning(&words, printer, &warnings->kinds[i], 0);
        print(printer, XB_COLOUR_WARNING, "warning", &words);
    }
    xb_words_add(&more, "there are more: the JSON has all");
    if (warnings->more)
        print(printer, XB_COLOUR_WARNING, "warning", &more);
}

enum xb_status xb_table_notes(FILE *stream, const struct xb_record *record, struct xb_error *error)
{
    struct printer printer = {.stream = stream, .record = record, .names = names_of(record)};
    struct troubles troubles = {.record = record};
    struct warnings warnings = {.record = record};
    for (size_t i = 0; i < record->case_count; i++) {
        take_trouble(&troubles, &record->cases[i]);
        take_warnings(&warnings, &record->cases[i]);
    }
    bool failed = troubles.failed;
    if (!failed) {
        print_stop(&printer);
        print_start(&printer);
        print_failures(&printer);
        for (const struct trouble *trouble = troubles.first; trouble != NULL;
             trouble = trouble->next)
            print_trouble(&printer, trouble);
        print_cut(&printer);
        print_noise(&printer, &warnings);
        print_warnings(&printer, &warnings);
    }
    xb_arena_free(troubles.arena);
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
