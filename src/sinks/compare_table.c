/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "compare_text.h"
#include "finish.h"
#include "text.h"
#include "xferbench/units.h"
#include "xferbench/version.h"

#include <libsmartcols/libsmartcols.h>
#include <stdlib.h>
#include <string.h>

#define LABEL_WIDTH 10

#define RED "\033[31m"
#define GREEN "\033[32m"
#define YELLOW "\033[33m"
#define NO_COLOUR "\033[0m"

/* What an outcome looks like; one that is only indicative, or forced, is never more than a caution.
 */
static const char *colour_of(enum xb_outcome outcome, bool sure)
{
    static const char *const colours[] = {[XB_OUTCOME_PASS] = GREEN,
                                          [XB_OUTCOME_IMPROVED] = GREEN,
                                          [XB_OUTCOME_INCONCLUSIVE] = YELLOW,
                                          [XB_OUTCOME_REGRESSION] = RED};
    return sure ? colours[outcome] : YELLOW;
}

/* ---- what is compared ---- */

static void print_file(FILE *stream, const char *side, const struct xb_record *record)
{
    char path[XB_COMPARE_VALUE];
    struct xb_words words;
    xb_note_print(stream, side, LABEL_WIDTH, "%s: %s",
                  xb_compare_plain(record->path, path, sizeof path),
                  xb_compare_file(record, &words));
}

static void print_header(FILE *stream, const struct xb_comparison *comparison)
{
    struct xb_words words;
    fprintf(stream, "xferbench %s compare\n", XB_VERSION);
    print_file(stream, "baseline", comparison->baseline);
    print_file(stream, "candidate", comparison->candidate);
    xb_note_print(stream, "rule", LABEL_WIDTH, "%s", xb_compare_rule(comparison, &words));
    if (xb_compare_needed(comparison, &words)[0] != '\0')
        xb_note_print(stream, "NOTE", LABEL_WIDTH, "%s", words.text);
    if (xb_compare_forced(comparison))
        xb_note_print(stream, "WARNING", LABEL_WIDTH, "%s",
                      xb_compare_forbidden(comparison, &words));
}

/* ---- tables ---- */

static enum xb_status out_of_memory(struct xb_error *error)
{
    return XB_FAIL(error, XB_ERR_MEMORY, "not enough memory to print the table");
}

/* Columns of the longest line. */
static size_t width_of(const char *text)
{
    size_t width = 0;
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        width = length > width ? length : width;
        text += length + (text[length] == '\n');
    }
    return width;
}

/* The table with `separator` between its columns; `text` is what was there before. */
static bool print_with(struct libscols_table *table, const char *separator, char **text)
{
    free(*text);
    *text = NULL;
    return scols_table_set_column_separator(table, separator) == 0 &&
           scols_print_table_to_string(table, text) == 0;
}

/* ---- cases ---- */

enum column {
    COLUMN_MODE,
    COLUMN_VARIANT,
    COLUMN_DIRECTION,
    COLUMN_SIZE,
    COLUMN_DEVICE,
    COLUMN_METRIC,
    COLUMN_BASELINE,
    COLUMN_CANDIDATE,
    COLUMN_RATIO,
    COLUMN_INTERVAL,
    COLUMN_P,
    COLUMN_VERDICT,
    COLUMN_COUNT
};

static const struct {
    const char *name;
    int flags;
} columns[COLUMN_COUNT] = {
    [COLUMN_MODE] = {"MODE", 0},
    [COLUMN_VARIANT] = {"VARIANT", 0},
    [COLUMN_DIRECTION] = {"DIR", 0},
    [COLUMN_SIZE] = {"SIZE", SCOLS_FL_RIGHT},
    [COLUMN_DEVICE] = {"DEVICE", 0},
    [COLUMN_METRIC] = {"METRIC", 0},
    [COLUMN_BASELINE] = {"BASELINE", SCOLS_FL_RIGHT},
    [COLUMN_CANDIDATE] = {"CANDIDATE", SCOLS_FL_RIGHT},
    [COLUMN_RATIO] = {"RATIO", SCOLS_FL_RIGHT},
    [COLUMN_INTERVAL] = {"INTERVAL", SCOLS_FL_RIGHT},
    [COLUMN_P] = {"P", SCOLS_FL_RIGHT},
    [COLUMN_VERDICT] = {"VERDICT", 0},
};

/* Which columns have something to say. */
struct contents {
    bool device, metric, p;
    char level[32];
};

static struct contents contents_of(const struct xb_comparison *comparison)
{
    struct contents contents = {.p = false};
    for (size_t i = 0; i < comparison->case_count; i++) {
        const struct xb_compared *compared = &comparison->cases[i];
        const struct xb_record_case *test = compared->test;
        contents.device =
            contents.device || test->device != 0 || test->peer >= 0 || test->simultaneous;
        contents.metric = contents.metric || compared->metric != XB_METRIC_BANDWIDTH;
        contents.p = contents.p || compared->basis == XB_BASIS_TEST;
    }
    xb_compare_common_level(comparison, contents.level, sizeof contents.level);
    return contents;
}

static bool add_columns(struct libscols_table *table, const struct contents *contents)
{
    char interval[64];
    snprintf(interval, sizeof interval, "%s%sINTERVAL", contents->level,
             contents->level[0] != '\0' ? " " : "");
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        bool hidden = (i == COLUMN_DEVICE && !contents->device) ||
                      (i == COLUMN_METRIC && !contents->metric) || (i == COLUMN_P && !contents->p);
        const char *name = i == COLUMN_INTERVAL ? interval : columns[i].name;
        struct libscols_column *column = scols_table_new_column(
            table, name, 0, columns[i].flags | (hidden ? SCOLS_FL_HIDDEN : 0));
        if (column == NULL)
            return false;
    }
    return true;
}

struct row {
    char cells[COLUMN_COUNT][XB_COMPARE_WORD];
};

static void fill_row(struct row *row, const struct xb_comparison *comparison,
                     const struct xb_compared *compared)
{
    const struct xb_record_case *test = compared->test;
    const size_t size = sizeof row->cells[0];
    char device[32];
    xb_compare_plain(test->mode, row->cells[COLUMN_MODE], 24);
    xb_compare_plain(test->variant, row->cells[COLUMN_VARIANT], 24);
    xb_compare_plain(test->direction, row->cells[COLUMN_DIRECTION], 16);
    xb_size_format(test->bytes, row->cells[COLUMN_SIZE], size);
    snprintf(row->cells[COLUMN_DEVICE], size, "%s%s",
             xb_record_case_device(test, device, sizeof device),
             test->simultaneous ? " of all" : "");
    snprintf(row->cells[COLUMN_METRIC], size, "%s", xb_metric_name(compared->metric));
    xb_compare_baseline(compared, false, row->cells[COLUMN_BASELINE], size);
    xb_compare_candidate(compared, false, row->cells[COLUMN_CANDIDATE], size);
    xb_compare_ratio(comparison, compared, row->cells[COLUMN_RATIO], size);
    xb_compare_interval(comparison, compared, "-", row->cells[COLUMN_INTERVAL], size);
    xb_compare_p(comparison, compared, row->cells[COLUMN_P], size);
    xb_compare_verdict(compared, row->cells[COLUMN_VERDICT], size);
}

static enum xb_status add_row(struct libscols_table *table, const struct xb_comparison *comparison,
                              const struct xb_compared *compared, struct xb_error *error)
{
    struct row row;
    fill_row(&row, comparison, compared);
    struct libscols_line *line = scols_table_new_line(table, NULL);
    if (line == NULL)
        return out_of_memory(error);
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        if (scols_line_set_data(line, i, row.cells[i]) != 0)
            return out_of_memory(error);
    bool sure = xb_compare_judged(compared) && !xb_compare_forced(comparison);
    const char *colour = colour_of(compared->outcome, sure);
    if (compared->basis != XB_BASIS_NONE &&
        scols_cell_set_color(scols_line_get_cell(line, COLUMN_VERDICT), colour) != 0)
        return out_of_memory(error);
    return XB_OK;
}

/* Breaks a column's texts: "host" and below it "latency", "PASS" and "(indicative," and "no gate)",
 * but not "no" and "gate)". */
static bool break_cells(struct libscols_table *table, enum column index)
{
    struct libscols_column *column = scols_table_get_column(table, index);
    int flags = columns[index].flags | SCOLS_FL_WRAP;
    bool ok = column != NULL &&
              (scols_column_is_hidden(column) || scols_column_set_flags(column, flags) == 0) &&
              scols_column_set_safechars(column, "\n") == 0 &&
              scols_column_set_wrapfunc(column, scols_wrapnl_chunksize, scols_wrapnl_nextchunk,
                                        NULL) == 0;
    struct libscols_iter *lines = scols_new_iter(SCOLS_ITER_FORWARD);
    struct libscols_line *line = NULL;
    ok = ok && lines != NULL;
    while (ok && scols_table_next_line(table, lines, &line) == 0) {
        char text[XB_COMPARE_WORD];
        snprintf(text, sizeof text, "%s", scols_line_get_column_data(line, column));
        bool all = strchr(text, '(') == NULL;
        for (char *c = text; *c != '\0'; c++)
            if (c > text && *c == ' ' && (all || c[1] == '(' || c[-1] == ','))
                *c = '\n';
        ok = scols_line_set_column_data(line, column, text) == 0;
    }
    scols_free_iter(lines);
    return ok;
}

/* The last resort, for names that nobody should have given. */
static bool wrap_names(struct libscols_table *table)
{
    bool ok = scols_table_set_termforce(table, SCOLS_TERMFORCE_ALWAYS) == 0 &&
              scols_table_set_termwidth(table, XB_LINE_COLUMNS) == 0;
    for (size_t i = COLUMN_MODE; ok && i <= COLUMN_DIRECTION; i++)
        ok = scols_column_set_flags(scols_table_get_column(table, i), SCOLS_FL_WRAP) == 0;
    return ok;
}

/* One step after the other for as long as the lines are too long. */
static bool make_narrower(struct libscols_table *table, size_t step)
{
    switch (step) {
    case 0: /* on a narrow terminal the library would drop columns; let the terminal wrap instead */
        return scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER) == 0;
    case 1:
        return break_cells(table, COLUMN_VERDICT);
    case 2:
        return break_cells(table, COLUMN_METRIC);
    default:
        return wrap_names(table);
    }
}

/* As generous as the lines have room for. NULL: no memory. */
static char *table_text(struct libscols_table *table, bool colour)
{
    static const char *const separators[] = {"  ", " "};
    char *text = NULL;
    const char *separator = NULL;
    bool ok = true;
    for (size_t i = 0; ok && i < 8 && (i == 0 || width_of(text) > XB_LINE_COLUMNS); i++) {
        separator = separators[i % 2];
        ok = (i % 2 != 0 || make_narrower(table, i / 2)) && print_with(table, separator, &text);
    }
    /* Last, for the widths are counted without it. */
    if (ok && colour)
        ok = scols_table_enable_colors(table, 1) == 0 && print_with(table, separator, &text);
    if (!ok) {
        free(text);
        text = NULL;
    }
    return text;
}

static enum xb_status print_cases(FILE *stream, const struct xb_comparison *comparison, bool colour,
                                  struct xb_error *error)
{
    struct contents contents = contents_of(comparison);
    enum xb_status status = XB_OK;
    struct libscols_table *table = scols_new_table();
    if (table == NULL || !add_columns(table, &contents)) {
        status = out_of_memory(error);
        goto release;
    }
    for (size_t i = 0; status == XB_OK && i < comparison->case_count; i++)
        status = add_row(table, comparison, &comparison->cases[i], error);
    if (status != XB_OK)
        goto release;
    char *text = table_text(table, colour);
    if (text == NULL)
        status = out_of_memory(error);
    else
        fprintf(stream, "\n%s\n", text);
    free(text);
release:
    scols_unref_table(table);
    return status;
}

/* ---- notes ---- */

/* Whether a case has the note of the one before it: it is told once for both. */
static bool same_note(const struct xb_comparison *comparison, size_t index)
{
    char note[XB_COMPARE_TEXT], before[XB_COMPARE_TEXT];
    return index > 0 && index < comparison->case_count &&
           strcmp(xb_compare_note(&comparison->cases[index], note, sizeof note),
                  xb_compare_note(&comparison->cases[index - 1], before, sizeof before)) == 0;
}

static void print_note(FILE *stream, const struct xb_comparison *comparison, size_t index)
{
    const struct xb_compared *compared = &comparison->cases[index];
    char name[XB_COMPARE_TEXT], note[XB_COMPARE_TEXT], more[48] = "";
    size_t others = 0;
    xb_compare_note(compared, note, sizeof note);
    if (note[0] == '\0' || same_note(comparison, index))
        return;
    while (same_note(comparison, index + others + 1))
        others++;
    if (others > 0)
        snprintf(more, sizeof more, " and the %zu below it", others);
    xb_note_print(stream, "case", LABEL_WIDTH, "%s%s: %s",
                  xb_compare_name(compared, name, sizeof name), more, note);
}

/* Where the heading cannot tell the level of all intervals: where each level begins. */
static void print_levels(FILE *stream, const struct xb_comparison *comparison)
{
    static const size_t most = 4;
    static const char unknown[] =
        "of the samples within single processes; its level cannot be told";
    char level[32], name[XB_COMPARE_TEXT], before[32] = "none yet";
    size_t changes = 0;
    if (xb_compare_common_level(comparison, level, sizeof level)[0] != '\0')
        return;
    for (size_t i = 0; i < comparison->case_count; i++) {
        const struct xb_compared *compared = &comparison->cases[i];
        if (!compared->has_interval ||
            strcmp(xb_compare_level(compared, level, sizeof level), before) == 0)
            continue;
        if (changes++ < most)
            xb_note_print(stream, "interval", LABEL_WIDTH, "from %s on: %s",
                          xb_compare_name(compared, name, sizeof name),
                          level[0] != '\0' ? level : unknown);
        snprintf(before, sizeof before, "%s", level);
    }
    if (changes > most)
        xb_note_print(stream, "interval", LABEL_WIDTH,
                      "and so on, with %zu changes more: the JSON has the level of each",
                      changes - most);
}

static void print_notes(FILE *stream, const struct xb_comparison *comparison)
{
    struct contents contents = contents_of(comparison);
    fputs("\nNotes\n", stream);
    xb_note_print(stream, "figures", LABEL_WIDTH,
                  "medians of the processes' medians; bandwidths in GB/s (10^9 bytes per second); "
                  "the ratio is the candidate's by the baseline's");
    if (contents.p)
        xb_note_print(stream, "P", LABEL_WIDTH,
                      "one-sided, of what the verdict says, or of what an INCONCLUSIVE case is "
                      "nearest to; with Holm's correction where REGRESSION or IMPROVED gates");
    print_levels(stream, comparison);
    for (size_t i = 0; i < comparison->case_count; i++)
        print_note(stream, comparison, i);
}

/* ---- differences ---- */

enum { NAME, BASELINE, CANDIDATE, SIDES };

static const char *const headers[SIDES] = {"CONDITION", "BASELINE", "CANDIDATE"};

struct difference_row {
    char cells[SIDES][XB_COMPARE_VALUE];
};

/* How wide each column would be on a line without end, and what its longest word needs. */
struct widths {
    size_t whole[SIDES], word[SIDES], given[SIDES];
};

static void fill_difference(struct difference_row *row, const struct xb_difference *difference)
{
    xb_compare_plain(difference->name, row->cells[NAME], sizeof row->cells[NAME]);
    xb_compare_sides(difference, row->cells[BASELINE], row->cells[CANDIDATE]);
}

static void widen(struct widths *widths, size_t column, const char *text)
{
    size_t whole = strlen(text);
    widths->whole[column] = whole > widths->whole[column] ? whole : widths->whole[column];
    while (*text != '\0') {
        size_t word = strcspn(text, " ");
        widths->word[column] = word > widths->word[column] ? word : widths->word[column];
        text += word + strspn(text + word, " ");
    }
}

/* What two columns get of the room for both: no more than they need, and where that is too much
 * half each, but for what the other one does not need. */
static void share(size_t room, const size_t needed[2], size_t given[2])
{
    size_t other = needed[1] < room / 2 ? needed[1] : room / 2;
    given[0] = needed[0] < room - other ? needed[0] : room - other;
    given[1] = needed[1] < room - given[0] ? needed[1] : room - given[0];
}

/* Columns as wide as their longest words if lines have room for them; names are kept whole as long
 * as they leave room for the values. */
static void set_widths(struct widths *widths)
{
    static const size_t separators = 4, most = XB_LINE_COLUMNS / 3;
    size_t words[2], given[2];
    widths->given[NAME] = widths->whole[NAME] < most ? widths->whole[NAME] : most;
    size_t room = XB_LINE_COLUMNS - separators - widths->given[NAME];
    share(room, &widths->word[BASELINE], words);
    /* What is left beyond the longest words is shared as well. */
    const size_t wanted[2] = {widths->whole[BASELINE] - words[0],
                              widths->whole[CANDIDATE] - words[1]};
    share(room - words[0] - words[1], wanted, given);
    widths->given[BASELINE] = words[0] + given[0];
    widths->given[CANDIDATE] = words[1] + given[1];
}

/* Breaks a text at blanks so that no line is longer than `width`; within a word only where it is
 * longer than that. `broken` holds twice as much as the text. */
static void break_words(const char *text, size_t width, char *broken)
{
    size_t used = 0; /* of the line */
    while (*text != '\0') {
        size_t word = strcspn(text, " ");
        if (used > 0 && used + 1 + word > width) {
            *broken++ = '\n';
            used = 0;
        } else if (used > 0) {
            *broken++ = ' ';
            used++;
        }
        for (size_t i = 0; i < word; i++) {
            if (used == width) {
                *broken++ = '\n';
                used = 0;
            }
            *broken++ = text[i];
            used++;
        }
        text += word + strspn(text + word, " ");
    }
    *broken = '\0';
}

/* Prints a row, on as many lines as its cells need. */
static void print_difference(FILE *stream, const struct difference_row *row,
                             const struct widths *widths)
{
    char broken[SIDES][2 * XB_COMPARE_VALUE];
    const char *rest[SIDES];
    for (size_t i = 0; i < SIDES; i++) {
        break_words(row->cells[i], widths->given[i], broken[i]);
        rest[i] = broken[i];
    }
    while (rest[NAME][0] != '\0' || rest[BASELINE][0] != '\0' || rest[CANDIDATE][0] != '\0') {
        struct xb_words line = {.length = 0};
        for (size_t i = 0; i < SIDES; i++) {
            int length = (int)strcspn(rest[i], "\n");
            xb_words_add(&line, "%-*.*s%s", (int)widths->given[i], length, rest[i],
                         i < CANDIDATE ? "  " : "");
            rest[i] += length + (rest[i][length] == '\n');
        }
        while (line.length > 0 && line.text[line.length - 1] == ' ')
            line.text[--line.length] = '\0';
        fprintf(stream, "%s\n", line.text);
    }
}

static void print_differences(FILE *stream, const struct xb_comparison *comparison, bool forbid)
{
    struct widths widths = {.whole = {0}};
    struct difference_row row;
    for (size_t i = 0; i < SIDES; i++)
        widen(&widths, i, headers[i]);
    for (size_t i = 0; i < comparison->difference_count; i++) {
        fill_difference(&row, &comparison->differences[i]);
        for (size_t j = 0; comparison->differences[i].forbids == forbid && j < SIDES; j++)
            widen(&widths, j, row.cells[j]);
    }
    set_widths(&widths);
    for (size_t i = 0; i < SIDES; i++)
        snprintf(row.cells[i], sizeof row.cells[i], "%s", headers[i]);
    print_difference(stream, &row, &widths);
    for (size_t i = 0; i < comparison->difference_count; i++) {
        fill_difference(&row, &comparison->differences[i]);
        if (comparison->differences[i].forbids == forbid)
            print_difference(stream, &row, &widths);
    }
}

static void print_all_differences(FILE *stream, const struct xb_comparison *comparison)
{
    if (xb_compare_differences(comparison, true) > 0) {
        fputs("\nNOT COMPARABLE: these must be the same in both files\n", stream);
        print_differences(stream, comparison, true);
    }
    if (xb_compare_differences(comparison, false) > 0) {
        fputs("\nContext that is not the same\n", stream);
        print_differences(stream, comparison, false);
    }
}

/* ---- the end ---- */

static void print_overall(FILE *stream, const struct xb_comparison *comparison, bool colour)
{
    char reason[XB_COMPARE_TEXT];
    char *rest = NULL;
    const char *verdict = xb_compare_overall(comparison);
    const char *forced = xb_compare_forced(comparison) ? " (FORCED: not comparable)" : "";
    const char *shade = xb_compare_refused(comparison)
                            ? RED
                            : colour_of(comparison->overall, !xb_compare_forced(comparison));
    fprintf(stream, "\nOverall: %s%s%s%s:", colour ? shade : "", verdict, colour ? NO_COLOUR : "",
            forced);
    size_t used = strlen("Overall: :") + strlen(verdict) + strlen(forced);
    xb_compare_plain(comparison->reason, reason, sizeof reason);
    for (char *word = strtok_r(reason, " ", &rest); word != NULL;
         word = strtok_r(NULL, " ", &rest)) {
        size_t length = strlen(word) + 1;
        if (used + length > XB_LINE_COLUMNS) {
            fputs("\n ", stream);
            used = 1;
        }
        used += length;
        fprintf(stream, " %s", word);
    }
    fputc('\n', stream);
}

enum xb_status xb_compare_table_write(FILE *stream, const struct xb_comparison *comparison,
                                      bool colour, struct xb_error *error)
{
    enum xb_status status = XB_OK;
    locale_t previous = xb_plain_locale_enter();
    print_header(stream, comparison);
    if (comparison->case_count > 0) {
        status = print_cases(stream, comparison, colour, error);
        if (status == XB_OK)
            print_notes(stream, comparison);
    }
    if (status == XB_OK) {
        print_all_differences(stream, comparison);
        print_overall(stream, comparison, colour);
        status = xb_sink_finish(stream, "the table", error);
    }
    xb_plain_locale_leave(previous);
    return status;
}
