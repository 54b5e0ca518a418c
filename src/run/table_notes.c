/* SPDX-License-Identifier: Apache-2.0 */
/* What stands below the rows of the table: why some have no figure, and what to beware of. */
#include "table.h"

#include "base/memory.h"
#include "base/order.h"
#include "base/text.h"
#include "base/units.h"
#include "formats.h"
#include "machine/node.h"

#include <stdlib.h>
#include <string.h>

static const char noisy[] = "noisy: ";

static bool is_noise(const char *warning)
{
    return strncmp(warning, noisy, strlen(noisy)) == 0;
}

#define MOST_WARNINGS 32 /* kinds of them; the rest stands in the JSON */

struct printer { /* of the notes */
    FILE *stream;
    const struct xb_record *record;
    struct xb_parameters parameters; /* that the name of a row tells */
    bool brief; /* no heading, and one line of what was not run, and of what is noisy */
    bool begun;
};

__attribute__((format(printf, 4, 5))) static void
print(struct printer *printer, enum xb_colour colour, const char *label, const char *format, ...)
{
    char text[XB_NOTE_SIZE];
    XB_FORMAT(text, sizeof text, format);
    if (printer->brief) {
        xb_heading_print(printer->stream, colour, "%s%s%s", label, label[0] != '\0' ? ": " : "",
                         text);
        return;
    }
    if (!printer->begun) {
        fputc('\n', printer->stream);
        xb_heading_print(printer->stream, XB_COLOUR_TITLE, "Notes");
    }
    printer->begun = true;
    xb_note_print_in(printer->stream, colour, label, XB_TABLE_LABEL, "%s", text);
}

/* "pinned alloc h2d 1 GiB", with what else tells the row from others; where there are several
 * devices " sum of 4", " 0>1", " GPU 0 (with 3 others)". */
#define NAME(printer, test) name_of((printer), (test), &(struct xb_words){.length = 0})
static const char *name_of(const struct printer *printer, const struct xb_record_case *test,
                           struct xb_words *name)
{
    char text[64];
    xb_words_add(name, "%s %s %s %s", test->mode, test->variant, test->direction,
                 XB_SIZE_TEXT(test->bytes));
    for (size_t i = 0; i < printer->parameters.count; i++) {
        const char *parameter = printer->parameters.names[i];
        const char *value = xb_parameter_text(test, parameter, text, sizeof text);
        if (value != NULL)
            xb_words_add(name, " %s %s", parameter, value);
    }
    if (xb_rows_name_devices(printer->record))
        xb_words_add(name, "%s%s",
                     xb_case_is_of_pairs(test) || xb_record_is_sum(test) ? " " : " GPU ",
                     xb_device_text(printer->record, test, text, sizeof text));
    return name->text;
}

/* Why a case has no figure; NULL if it has one, or was not run: print_stop() tells of these. */
static const char *trouble_of(const struct xb_record *record, const struct xb_record_case *test,
                              struct xb_record_summary *summary, char *text)
{
    *summary = xb_record_summarize(record, test);
    return xb_case_was_not_run(record, test)
               ? NULL
               : xb_record_reason(test, summary, text, XB_RECORD_REASON);
}

/* How much of a reason is told. */
static int told_of(const struct printer *printer, const struct xb_record_summary *summary,
                   const char *reason)
{
    bool is_short = printer->brief && summary->status == XB_RESULT_SKIPPED;
    return (int)(is_short ? strcspn(reason, ":,") : strlen(reason));
}

static int by_trouble(const struct xb_record_case *a, const struct xb_record_case *b,
                      const void *argument)
{
    const struct printer *printer = argument;
    struct xb_record_summary left, right;
    char one[XB_RECORD_REASON], other[XB_RECORD_REASON];
    const char *its = trouble_of(printer->record, a, &left, one);
    const char *others = trouble_of(printer->record, b, &right, other);
    int length = told_of(printer, &left, its), others_length = told_of(printer, &right, others);
    int order = strncmp(its, others, (size_t)(length > others_length ? length : others_length));
    return XB_FIRST_ORDER(order, XB_ORDER(left.status, right.status),
                          XB_ORDER(left.processes - left.ok, right.processes - right.ok));
}

/* "pinned alloc h2d 1 GiB and 3 more rows: the copy failed" */
static void print_troubles(struct printer *printer)
{
    const struct xb_record *record = printer->record;
    struct xb_words not_run = {.length = 0};
    struct xb_record_summary summary;
    char text[XB_RECORD_REASON], method[64];
    size_t count = 0;
    const struct xb_record_case **cases =
        xb_new(record->case_count, sizeof(const struct xb_record_case *));
    XB_EACH_CASE (test, record)
        if (trouble_of(record, test, &summary, text) != NULL)
            cases[count++] = test;
    xb_cases_group(cases, count, by_trouble, printer);
    for (size_t i = 0, equal = 0; i < count; i += equal) {
        struct xb_words more = {.length = 0};
        const char *reason = trouble_of(record, cases[i], &summary, text);
        size_t processes = summary.processes - summary.ok;
        bool is_skipped = summary.status == XB_RESULT_SKIPPED;
        equal = xb_cases_equal(cases + i, count - i, by_trouble, printer);
        if (printer->brief && is_skipped) {
            /* "Not run: peer, direct read (needs two GPUs)" */
            xb_words_add(&not_run, "%s%s", not_run.length > 0 ? "; " : "",
                         xb_method_name(cases[i], method, sizeof method));
            if (equal > 1)
                xb_words_add(&not_run, " and %zu more", equal - 1);
            xb_words_add(&not_run, " (%.*s)", told_of(printer, &summary, reason), reason);
            continue;
        }
        if (equal > 1)
            xb_words_add(&more, " and %zu more row%s", equal - 1, equal > 2 ? "s" : "");
        if (processes < summary.processes)
            xb_words_add(&more, " in %zu of %zu processes%s", processes, summary.processes,
                         processes > 1 ? ", at the worst" : "");
        print(printer, is_skipped ? XB_COLOUR_WARNING : XB_COLOUR_BAD,
              is_skipped ? "skipped" : "ERROR", "%s%s: %s", NAME(printer, cases[i]), more.text,
              reason);
    }
    free(cases);
    if (not_run.length > 0)
        print(printer, XB_COLOUR_WARNING, "Not run", "%s", not_run.text);
}

/* Where the number ends that begins there: digits, perhaps with a point; `text` where none does. */
static const char *number_end(const char *text)
{
    static const char digits[] = "0123456789";
    const char *end = text + strspn(text, digits);
    size_t behind = end > text && *end == '.' ? strspn(end + 1, digits) : 0;
    return behind > 0 ? end + 1 + behind : end;
}

/* Numbers are words of their own and no names: nodes 0 and 3 are not "node 0 to 3". */
struct xb_alike xb_alike_begin(const char *text)
{
    static const char *const named[] = {"node ", "device ", "GPU ", "lies on "};
    struct xb_alike alike = {.text = text};
    for (const char *c = text, *end; *c != '\0' && alike.count != XB_ALIKE_NUMBERS; c = end) {
        bool is_own = c == text || c[-1] == ' ' || c[-1] == '(';
        end = number_end(c);
        for (size_t i = 0; is_own && i < sizeof named / sizeof named[0]; i++) {
            size_t length = strlen(named[i]);
            is_own = (size_t)(c - text) < length || strncmp(c - length, named[i], length) != 0;
        }
        if (end == c)
            end++;
        else if (is_own && strchr(" ,;:)%", *end == '.' ? end[1] : *end) != NULL)
            alike.numbers[alike.count++] = (struct xb_alike_number){c, end, c, c};
    }
    return alike;
}

bool xb_alike_add(struct xb_alike *alike, const char *text)
{
    const struct xb_alike other = xb_alike_begin(text);
    const char *a = alike->text, *b = text; /* what is not compared yet */
    for (size_t i = 0; other.count == alike->count && i < alike->count; i++) {
        const struct xb_alike_number *one = &alike->numbers[i], *two = &other.numbers[i];
        if (one->begin - a != two->begin - b || strncmp(a, b, (size_t)(one->begin - a)) != 0)
            return false;
        a = one->end;
        b = two->end;
    }
    if (other.count != alike->count || strcmp(a, b) != 0)
        return false;
    for (size_t i = 0; i < alike->count; i++) {
        struct xb_alike_number *number = &alike->numbers[i];
        const char *added = other.numbers[i].begin;
        if (strtod(added, NULL) < strtod(number->least, NULL))
            number->least = added;
        if (strtod(added, NULL) > strtod(number->most, NULL))
            number->most = added;
    }
    return true;
}

void xb_alike_say(const struct xb_alike *alike, size_t from, struct xb_words *words)
{
    const char *text = alike->text + from;
    bool ends = false; /* the number before this one and it are a range in the text itself */
    for (size_t i = 0; i < alike->count; i++) {
        const struct xb_alike_number *number = &alike->numbers[i];
        const char *least = number->least, *most = number->most;
        bool begins = i + 1 < alike->count && number[1].begin == number->end + strlen(" to ") &&
                      strncmp(number->end, " to ", strlen(" to ")) == 0;
        if (number->begin >= text) {
            xb_words_add(words, "%.*s", (int)(number->begin - text), text);
            if (!ends)
                xb_words_add(words, "%.*s", (int)(number_end(least) - least), least);
            if (ends || (!begins && strtod(least, NULL) < strtod(most, NULL)))
                xb_words_add(words, "%s%.*s", ends ? "" : " to ", (int)(number_end(most) - most),
                             most);
            text = number->end;
        }
        ends = begins;
    }
    xb_words_add(words, "%s", text);
}

struct warning {
    struct xb_alike alike;
    const struct xb_record_case *first; /* row that has it, of so many: */
    size_t rows;
    size_t fewest, most; /* processes of such a row that have it */
    bool is_noise;
};

/* "12 rows: the median is known only to within 4 to 13 %"; if there are one or two, by name. */
static void add_warning(struct xb_words *words, const struct printer *printer,
                        const struct warning *warning)
{
    struct xb_words text = {.length = 0};
    if (warning->rows > 2)
        xb_words_add(words, "%zu rows", warning->rows);
    else
        xb_words_add(words, "%s%s", NAME(printer, warning->first),
                     warning->rows == 2 ? " and 1 more row" : "");
    /* " in 1 to 3 of 5 processes", " in all 5 processes"; nothing of one process. */
    size_t all = printer->record->is_merged ? printer->record->process_count : 1;
    if (warning->fewest == all && all > 1)
        xb_words_add(words, all == 2 ? " in both processes" : " in all %zu processes", all);
    else if (all > 1 && warning->most > warning->fewest)
        xb_words_add(words, " in %zu to %zu of %zu processes", warning->fewest, warning->most, all);
    else if (all > 1)
        xb_words_add(words, " in %zu of %zu processes", warning->fewest, all);
    xb_alike_say(&warning->alike, warning->is_noise ? strlen(noisy) : 0, &text);
    xb_words_add(words, printer->record->is_merged ? ": %.400s" : ": %s", text.text);
}

/* Says each kind of warnings once; all kinds of noise are one note. */
static void print_warnings(struct printer *printer)
{
    const struct xb_record *record = printer->record;
    struct warning kinds[MOST_WARNINGS];
    struct xb_words noise = {.length = 0};
    bool more = false; /* than MOST_WARNINGS */
    size_t count = 0;
    XB_EACH_CASE (test, record) {
        size_t processes[MOST_WARNINGS] = {0}; /* that have it in this row */
        for (size_t p = 0; p < record->process_count; p++) {
            bool has[MOST_WARNINGS] = {false};
            for (size_t k = 0; k < test->rows[p].warning_count; k++) {
                const char *text = test->rows[p].warning_texts[k];
                size_t kind = 0;
                while (kind < count && !xb_alike_add(&kinds[kind].alike, text))
                    kind++;
                more = more || kind == MOST_WARNINGS;
                if (kind == MOST_WARNINGS)
                    continue;
                if (kind == count)
                    kinds[count++] = (struct warning){.alike = xb_alike_begin(text),
                                                      .first = test,
                                                      .fewest = SIZE_MAX,
                                                      .is_noise = is_noise(text)};
                processes[kind] += !has[kind];
                has[kind] = true;
            }
        }
        for (size_t k = 0; k < count; k++) {
            struct warning *kind = &kinds[k];
            kind->rows += processes[k] > 0;
            if (processes[k] > 0 && processes[k] < kind->fewest)
                kind->fewest = processes[k];
            kind->most = processes[k] > kind->most ? processes[k] : kind->most;
        }
    }
    for (size_t i = 0; i < count; i++)
        if (kinds[i].is_noise) {
            xb_words_add(&noise, "%s", noise.length > 0 ? "; " : "");
            add_warning(&noise, printer, &kinds[i]);
        }
    if (noise.length > 0)
        print(printer, XB_COLOUR_WARNING, "noisy", "%s", noise.text);
    for (size_t i = 0; i < count; i++)
        if (!kinds[i].is_noise) {
            struct xb_words words = {.length = 0};
            add_warning(&words, printer, &kinds[i]);
            print(printer, XB_COLOUR_WARNING, "warning", "%s", words.text);
        }
    if (more)
        print(printer, XB_COLOUR_WARNING, "warning", "there are more: the JSON has all");
}

static void add_count(struct xb_words *words, const char *of, size_t count, const char *unit)
{
    if (count > 0)
        xb_words_add(words, "%s: %zu %s%s. ", of, count, unit, count > 1 ? "s" : "");
}

/* "Noisy: 4 results. Too noisy to tell: 2 comparisons. Details: --verbose" */
static void count_warnings(struct printer *printer, const struct xb_reading_list *reading)
{
    const struct xb_record *record = printer->record;
    struct xb_words words = {.length = 0};
    size_t noise = 0, others = 0, untold = 0;
    XB_EACH_CASE (test, record) {
        bool has[2] = {false}; /* others, noise */
        for (size_t p = 0; p < record->process_count; p++)
            for (size_t k = 0; k < test->rows[p].warning_count; k++)
                has[is_noise(test->rows[p].warning_texts[k])] = true;
        others += has[0];
        noise += has[1];
    }
    for (size_t i = 0; i < reading->count; i++)
        untold += reading->entries[i].is_untold;
    add_count(&words, "Noisy", noise, "result");
    add_count(&words, "With a warning", others, "result");
    add_count(&words, "Too noisy to tell", untold, "comparison");
    if (words.length > 0)
        print(printer, XB_COLOUR_WARNING, "", "%sDetails: --verbose", words.text);
}

static void print_stop(struct printer *printer)
{
    const struct xb_record *record = printer->record;
    const bool stopped[] = {record->interrupted, record->has_deadline && !record->deadline_met};
    static const char *const why[] = {"interrupted by a signal", "the deadline came"};
    const bool merged = record->is_merged;
    struct xb_words rest = {.length = 0};
    size_t measured = 0, not_run = 0;
    XB_EACH_CASE (test, record) {
        measured += xb_record_summarize(record, test).status == XB_RESULT_OK;
        not_run += xb_case_was_not_run(record, test);
    }
    if (not_run > 0)
        xb_words_add(&rest, merged ? "; %zu cases were not run in any" : ", %zu not run", not_run);
    for (size_t i = 0; i < 2; i++)
        if (stopped[i])
            print(printer, XB_COLOUR_BAD, "STOPPED", "%s: %zu of %zu %s%s", why[i],
                  merged ? record->process_count : measured,
                  merged ? record->asked_processes : record->case_count,
                  merged ? "processes were begun" : "cases were measured", rest.text);
}

#define FAILURE_FORMAT "process %zu of %zu: %s" /* as a whole */

void xb_table_notes(FILE *stream, const struct xb_record *record, bool brief,
                    const struct xb_reading_list *reading)
{
    struct printer printer = {stream, record, xb_parameters_that_differ(record), brief, false};
    const struct xb_record_start *start = &record->start;
    const struct xb_clock_state clock = {.is_known = start->clock_known,
                                         .is_synchronised = start->synchronised};
    char late[XB_START_WARNING], text[XB_RECORD_CUT];
    print_stop(&printer);
    /* Where nodes were to begin at once: whether this one did. */
    if (start->asked != NULL && xb_start_warning(start->late_s, &clock, late) != NULL)
        print(&printer, XB_COLOUR_WARNING, "warning", "%s", late);
    for (size_t i = 0; i < record->process_count; i++)
        if (record->processes[i].failure != NULL)
            print(&printer, XB_COLOUR_BAD, "FAILED", FAILURE_FORMAT, i + 1, record->asked_processes,
                  record->processes[i].failure);
    print_troubles(&printer);
    /* In one process what was cut short counts all the same. */
    XB_EACH_CASE (test, record)
        if (record->is_merged && xb_record_cut_text(record, test, text, sizeof text) != NULL)
            print(&printer, XB_COLOUR_WARNING, "warning", "%s: %s", NAME(&printer, test), text);
    if (brief)
        count_warnings(&printer, reading);
    else
        print_warnings(&printer);
}

void xb_failures_say(const struct xb_record *record)
{
    const struct printer printer = {.record = record,
                                    .parameters = xb_parameters_that_differ(record)};
    for (size_t i = 0; record->is_merged && i < record->process_count; i++)
        if (record->processes[i].failure != NULL)
            xb_say("%s%s" FAILURE_FORMAT, record->role != NULL ? record->role : "",
                   record->role != NULL ? " " : "", i + 1, record->asked_processes,
                   record->processes[i].failure);
    XB_EACH_CASE (test, record)
        if (!record->is_merged && test->rows[0].status == XB_RESULT_ERROR)
            xb_say("%s: %s", NAME(&printer, test),
                   test->rows[0].reason != NULL ? test->rows[0].reason : "no reason was given");
}
