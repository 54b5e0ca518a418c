/* SPDX-License-Identifier: Apache-2.0 */
/* The table of cases: a row for each figure. */
#include "base/note.h"
#include "table.h"
#include "text.h"
#include "xferbench/units.h"

#include <ctype.h>
#include <libsmartcols/libsmartcols.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- columns and rows ---- */

enum column {
    COLUMN_MODE,
    COLUMN_VARIANT,
    COLUMN_DIRECTION,
    COLUMN_SIZE,
    COLUMN_DEVICE,
    COLUMN_PARAMETER, /* the first of them */
    COLUMN_LAST_PARAMETER = COLUMN_PARAMETER + XB_PARAMETERS_SHOWN - 1,
    COLUMN_FIGURE,
    COLUMN_BASELINE,
    COLUMN_CANDIDATE,
    COLUMN_CHANGE,
    COLUMN_SURE,
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
    [COLUMN_FIGURE] = {"FIGURE", 0},
    [COLUMN_BASELINE] = {"BASELINE", SCOLS_FL_RIGHT},
    [COLUMN_CANDIDATE] = {"CANDIDATE", SCOLS_FL_RIGHT},
    [COLUMN_CHANGE] = {"CHANGE", SCOLS_FL_RIGHT},
    [COLUMN_SURE] = {"SURE OF", 0},
    [COLUMN_RATIO] = {"RATIO", SCOLS_FL_RIGHT},
    [COLUMN_INTERVAL] = {"INTERVAL", SCOLS_FL_RIGHT},
    [COLUMN_P] = {"P", SCOLS_FL_RIGHT},
    [COLUMN_VERDICT] = {"VERDICT", 0},
};

/* Which columns have something to say. */
struct contents {
    const struct xb_parameters *parameters; /* a column each */
    bool device, figure, sure, p;
    char sure_of[64], interval[64];
};

/* "99% SURE OF", where all rows are as sure; the others say it themselves. */
static void head_sure(const struct xb_comparison *comparison, struct contents *contents)
{
    char common[32] = "", own[32];
    for (size_t i = 0; i < comparison->case_count; i++) {
        const struct xb_compared *compared = &comparison->cases[i];
        if (!compared->has_interval || !(compared->confidence > 0))
            continue;
        xb_compare_sureness(compared, own, sizeof own);
        bool differs = contents->sure && strcmp(own, common) != 0;
        snprintf(common, sizeof common, "%s", differs ? "" : own);
        contents->sure = true;
        if (differs)
            break;
    }
    char *blank = strchr(common, ' ');
    if (blank != NULL)
        memmove(blank, blank + 1, strlen(blank));
    snprintf(contents->sure_of, sizeof contents->sure_of, "%s%sSURE OF", common,
             common[0] != '\0' ? " " : "");
}

static struct contents contents_of(const struct xb_comparison *comparison)
{
    struct contents contents = {.parameters = &comparison->parameters};
    char level[32];
    for (size_t i = 0; i < comparison->case_count; i++) {
        const struct xb_compared *compared = &comparison->cases[i];
        const struct xb_record_case *test = compared->test;
        contents.device =
            contents.device || test->device != 0 || test->peer >= 0 || test->simultaneous;
        contents.figure =
            contents.figure || strcmp(compared->figure.name, xb_figure_bandwidth.name) != 0;
        contents.p = contents.p || compared->basis == XB_BASIS_TEST;
    }
    xb_compare_common_level(comparison, level, sizeof level);
    head_sure(comparison, &contents);
    snprintf(contents.interval, sizeof contents.interval, "%s%sINTERVAL", level,
             level[0] != '\0' ? " " : "");
    return contents;
}

static bool is_parameter(size_t column)
{
    return column >= COLUMN_PARAMETER && column <= COLUMN_LAST_PARAMETER;
}

static bool is_hidden(const struct contents *contents, size_t column)
{
    return (is_parameter(column) && column - COLUMN_PARAMETER >= contents->parameters->count) ||
           (column == COLUMN_DEVICE && !contents->device) ||
           (column == COLUMN_FIGURE && !contents->figure) ||
           (column == COLUMN_SURE && !contents->sure) || (column == COLUMN_P && !contents->p);
}

/* "CHUNK". */
static const char *heading(const struct contents *contents, size_t column, char *text, size_t size)
{
    if (column == COLUMN_SURE)
        return contents->sure_of;
    if (column == COLUMN_INTERVAL)
        return contents->interval;
    if (!is_parameter(column) || is_hidden(contents, column))
        return columns[column].name != NULL ? columns[column].name : "";
    xb_compare_plain(contents->parameters->names[column - COLUMN_PARAMETER], text, size);
    for (char *c = text; *c != '\0'; c++)
        *c = (char)toupper((unsigned char)*c);
    return text;
}

static bool add_columns(struct libscols_table *table, const struct contents *contents)
{
    char text[24];
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        int flags = (is_parameter(i) ? SCOLS_FL_RIGHT : columns[i].flags) |
                    (is_hidden(contents, i) ? SCOLS_FL_HIDDEN : 0);
        const char *name = heading(contents, i, text, sizeof text);
        if (scols_table_new_column(table, name, 0, flags) == NULL)
            return false;
    }
    return true;
}

struct row {
    char cells[COLUMN_COUNT][XB_COMPARE_WORD];
};

static void fill_parameters(struct row *row, const struct xb_parameters *parameters,
                            const struct xb_record_case *test)
{
    for (size_t i = 0; i < XB_PARAMETERS_SHOWN; i++) {
        char text[XB_COMPARE_WORD];
        const char *value = i < parameters->count
                                ? xb_parameter_text(test, parameters->names[i], text, sizeof text)
                                : "";
        xb_compare_plain(value != NULL ? value : "-", row->cells[COLUMN_PARAMETER + i], 24);
    }
}

/* "at least 50 %"; "95 %: at least 50 %" where the heading cannot say how sure that is. */
static void fill_sure(struct row *row, const struct contents *contents,
                      const struct xb_compared *compared)
{
    char sure[XB_COMPARE_WORD], level[32];
    xb_compare_sure(compared, sure, sizeof sure);
    bool is_told = contents->sure_of[0] != 'S' || strcmp(sure, "-") == 0;
    snprintf(row->cells[COLUMN_SURE], sizeof row->cells[0], "%s%s%.40s",
             is_told ? "" : xb_compare_sureness(compared, level, sizeof level), is_told ? "" : ": ",
             sure);
}

static void fill_row(struct row *row, const struct xb_comparison *comparison,
                     const struct contents *contents, const struct xb_compared *compared)
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
    fill_parameters(row, &comparison->parameters, test);
    xb_compare_plain(compared->figure.name, row->cells[COLUMN_FIGURE], size);
    xb_compare_baseline(compared, false, row->cells[COLUMN_BASELINE], size);
    xb_compare_candidate(compared, false, row->cells[COLUMN_CANDIDATE], size);
    xb_compare_change(compared, row->cells[COLUMN_CHANGE], size);
    fill_sure(row, contents, compared);
    xb_compare_ratio(compared, row->cells[COLUMN_RATIO], size);
    xb_compare_interval(compared, "-", row->cells[COLUMN_INTERVAL], size);
    xb_compare_p(comparison, compared, row->cells[COLUMN_P], size);
    xb_compare_verdict(comparison, compared, row->cells[COLUMN_VERDICT], size);
}

static enum xb_status add_row(struct libscols_table *table, const struct xb_comparison *comparison,
                              const struct contents *contents, const struct xb_compared *compared,
                              struct xb_error *error)
{
    struct row row;
    fill_row(&row, comparison, contents, compared);
    struct libscols_line *line = scols_table_new_line(table, NULL);
    if (line == NULL)
        return out_of_memory(error);
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        if (scols_line_set_data(line, i, row.cells[i]) != 0)
            return out_of_memory(error);
    bool sure = xb_compare_judged(compared) && !xb_compare_forced(comparison);
    const char *colour = xb_compare_colour(compared->outcome, sure);
    if (compared->basis != XB_BASIS_NONE &&
        scols_cell_set_color(scols_line_get_cell(line, COLUMN_VERDICT), colour) != 0)
        return out_of_memory(error);
    return XB_OK;
}

/* "PASS" and "(indicative," and "does not count)", but not "does" and "not". */
static void break_verdict(const char *text, char *broken, size_t size)
{
    snprintf(broken, size, "%s", text);
    for (char *c = broken; *c != '\0'; c++)
        if (*c == ' ' && (c[1] == '(' || c[-1] == ','))
            *c = '\n';
}

/* Behind every `mark` that is not the last character. */
static void break_behind(char mark, const char *text, char *broken, size_t size)
{
    char *end = broken + size - 2;
    while (*text != '\0' && broken < end) {
        *broken++ = *text;
        if (*text++ == mark && *text != '\0')
            *broken++ = '\n';
    }
    *broken = '\0';
}

/* "latency_" and "host". */
static void break_figure(const char *text, char *broken, size_t size)
{
    break_behind('_', text, broken, size);
}

/* "0.9987-" and "1.0012"; "double-" and "buffer". */
static void break_at_dash(const char *text, char *broken, size_t size)
{
    break_behind('-', text, broken, size);
}

/* Takes the breaks out again. */
static void join_lines(const char *text, char *joined, size_t size)
{
    char *end = joined + size - 1;
    for (; *text != '\0' && joined < end; text++)
        if (*text != '\n')
            *joined++ = *text;
    *joined = '\0';
}

/* Writes the texts of a column on several lines each. */
static bool break_cells(struct libscols_table *table, enum column index,
                        void (*break_text)(const char *text, char *broken, size_t size))
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
        char text[2 * XB_COMPARE_WORD];
        break_text(scols_line_get_column_data(line, column), text, sizeof text);
        ok = scols_line_set_column_data(line, column, text) == 0;
    }
    scols_free_iter(lines);
    return ok;
}

/* The last resort, for names that nobody should have given: they are broken anywhere. */
static bool wrap_names(struct libscols_table *table, size_t columns_wide)
{
    bool ok = scols_table_set_termforce(table, SCOLS_TERMFORCE_ALWAYS) == 0 &&
              scols_table_set_termwidth(table, columns_wide) == 0;
    for (size_t i = COLUMN_MODE; ok && i <= COLUMN_DIRECTION; i++) {
        struct libscols_column *column = scols_table_get_column(table, i);
        ok = break_cells(table, (enum column)i, join_lines) &&
             scols_column_set_wrapfunc(column, NULL, NULL, NULL) == 0;
    }
    return ok;
}

static bool hide(struct libscols_table *table, enum column index)
{
    struct libscols_column *column = scols_table_get_column(table, index);
    int flags = column != NULL ? scols_column_get_flags(column) : 0;
    return column != NULL && scols_column_set_flags(column, flags | SCOLS_FL_HIDDEN) == 0;
}

/* What a table loses where lines are too long, in this order: first what only people who know
 * statistics read, which the JSON has, last what the percentage tells too. */
enum step {
    NO_DROPPING,
    HIDE_P,
    HIDE_INTERVAL,
    HIDE_RATIO,
    BREAK_VERDICTS,
    BREAK_FIGURES,
    HIDE_SURE,
    BREAK_NAMES,
    HIDE_BASELINE,
    HIDE_CANDIDATE,
    ANYWHERE,
    STEPS
};

static bool make_narrower(struct libscols_table *table, enum step step, size_t columns_wide)
{
    static const enum column hidden[STEPS] = {[HIDE_P] = COLUMN_P,
                                              [HIDE_INTERVAL] = COLUMN_INTERVAL,
                                              [HIDE_RATIO] = COLUMN_RATIO,
                                              [HIDE_SURE] = COLUMN_SURE,
                                              [HIDE_BASELINE] = COLUMN_BASELINE,
                                              [HIDE_CANDIDATE] = COLUMN_CANDIDATE};
    switch (step) {
    case NO_DROPPING: /* by itself the library would drop columns without a word */
        return scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER) == 0;
    case BREAK_VERDICTS:
        return break_cells(table, COLUMN_VERDICT, break_verdict);
    case BREAK_FIGURES:
        return break_cells(table, COLUMN_FIGURE, break_figure);
    case BREAK_NAMES:
        return break_cells(table, COLUMN_MODE, break_at_dash) &&
               break_cells(table, COLUMN_VARIANT, break_at_dash);
    case ANYWHERE:
    case STEPS:
        return wrap_names(table, columns_wide);
    default:
        return hide(table, hidden[step]);
    }
}

/* As generous as the lines have room for. NULL: no memory. */
static char *table_text(struct libscols_table *table, size_t columns_wide, bool colour)
{
    static const char *const separators[] = {"  ", " "};
    char *text = NULL;
    const char *separator = NULL;
    bool ok = true;
    for (size_t i = 0; ok && i / 2 < STEPS && (i == 0 || width_of(text) > columns_wide); i++) {
        separator = separators[i % 2];
        ok = (i % 2 != 0 || make_narrower(table, (enum step)(i / 2), columns_wide)) &&
             print_with(table, separator, &text);
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

static enum xb_status fill(struct libscols_table *table, const struct xb_comparison *comparison,
                           struct xb_error *error)
{
    struct contents contents = contents_of(comparison);
    if (!add_columns(table, &contents))
        return out_of_memory(error);
    for (size_t i = 0; i < comparison->case_count; i++) {
        enum xb_status status = add_row(table, comparison, &contents, &comparison->cases[i], error);
        if (status != XB_OK)
            return status;
    }
    return XB_OK;
}

static bool is_shown(struct libscols_table *table, enum column index)
{
    const struct libscols_column *column = scols_table_get_column(table, index);
    return column != NULL && (scols_column_get_flags(column) & SCOLS_FL_HIDDEN) == 0;
}

enum xb_status xb_compare_print_cases(FILE *stream, const struct xb_comparison *comparison,
                                      size_t columns_wide, bool colour,
                                      struct xb_compare_shown *shown, struct xb_error *error)
{
    struct libscols_table *table = scols_new_table();
    if (table == NULL)
        return out_of_memory(error);
    enum xb_status status = fill(table, comparison, error);
    char *text = status == XB_OK ? table_text(table, columns_wide, colour) : NULL;
    *shown = (struct xb_compare_shown){.sure = is_shown(table, COLUMN_SURE),
                                       .ratio = is_shown(table, COLUMN_RATIO),
                                       .interval = is_shown(table, COLUMN_INTERVAL),
                                       .p = is_shown(table, COLUMN_P)};
    if (text != NULL)
        fprintf(stream, "\n%s\n", text);
    else if (status == XB_OK)
        status = out_of_memory(error);
    free(text);
    scols_unref_table(table);
    return status;
}
