/* SPDX-License-Identifier: Apache-2.0 */
/* The table of cases: a row for each figure. */
#include "base/columns.h"
#include "table.h"
#include "text.h"
#include "xferbench/units.h"

#include <ctype.h>
#include <string.h>

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

/* A column, and its turn to go where lines are too long: first what only people who know statistics
 * read, which the JSON has, last what the percentage tells too. */
static const struct {
    const char *name;
    int flags;
    unsigned char turn;
} columns[COLUMN_COUNT] = {
    [COLUMN_MODE] = {"MODE", 0, 0},
    [COLUMN_VARIANT] = {"VARIANT", 0, 0},
    [COLUMN_DIRECTION] = {"DIR", 0, 0},
    [COLUMN_SIZE] = {"SIZE", SCOLS_FL_RIGHT, 0},
    [COLUMN_DEVICE] = {"DEVICE", 0, 0},
    [COLUMN_FIGURE] = {"FIGURE", 0, 0},
    [COLUMN_BASELINE] = {"BASELINE", SCOLS_FL_RIGHT, 5},
    [COLUMN_CANDIDATE] = {"CANDIDATE", SCOLS_FL_RIGHT, 5},
    [COLUMN_CHANGE] = {"CHANGE", SCOLS_FL_RIGHT, 0},
    [COLUMN_SURE] = {"SURE OF", 0, 4},
    [COLUMN_RATIO] = {"RATIO", SCOLS_FL_RIGHT, 3},
    [COLUMN_INTERVAL] = {"INTERVAL", SCOLS_FL_RIGHT, 2},
    [COLUMN_P] = {"P", SCOLS_FL_RIGHT, 1},
    [COLUMN_VERDICT] = {"VERDICT", 0, 0},
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

/* The columns that have something to say, as they were added. */
struct layout {
    enum column columns[COLUMN_COUNT];
    unsigned char turns[COLUMN_COUNT];
    size_t count;
};

/* "CHUNK". */
static const char *shout(const char *name, char *text, size_t size)
{
    xb_compare_plain(name, text, size);
    for (char *c = text; *c != '\0'; c++)
        *c = (char)toupper((unsigned char)*c);
    return text;
}

static bool add_columns(struct libscols_table *table, const struct contents *contents,
                        struct layout *layout)
{
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        char text[24];
        const char *name = i == COLUMN_SURE       ? contents->sure_of
                           : i == COLUMN_INTERVAL ? contents->interval
                                                  : columns[i].name;
        if (is_hidden(contents, i))
            continue;
        if (is_parameter(i))
            name = shout(contents->parameters->names[i - COLUMN_PARAMETER], text, sizeof text);
        if (scols_table_new_column(table, name, 0,
                                   is_parameter(i) ? SCOLS_FL_RIGHT : columns[i].flags) == NULL)
            return false;
        layout->columns[layout->count] = (enum column)i;
        layout->turns[layout->count++] = columns[i].turn;
    }
    return true;
}

struct row {
    char cells[COLUMN_COUNT][XB_COMPARE_WORD];
};

static void fill_row(struct row *row, const struct xb_comparison *comparison,
                     const struct contents *contents, const struct xb_compared *compared)
{
    const struct xb_record_case *test = compared->test;
    const size_t size = sizeof row->cells[0];
    char device[32], sure[XB_COMPARE_WORD], level[32];
    xb_compare_plain(test->mode, row->cells[COLUMN_MODE], 24);
    xb_compare_plain(test->variant, row->cells[COLUMN_VARIANT], 24);
    xb_compare_plain(test->direction, row->cells[COLUMN_DIRECTION], 16);
    xb_size_format(test->bytes, row->cells[COLUMN_SIZE], size);
    snprintf(row->cells[COLUMN_DEVICE], size, "%s%s",
             xb_record_case_device(test, device, sizeof device),
             test->simultaneous ? " of all" : "");
    for (size_t i = 0; i < XB_PARAMETERS_SHOWN; i++) {
        const struct xb_parameters *parameters = &comparison->parameters;
        char text[XB_COMPARE_WORD];
        const char *value = i < parameters->count
                                ? xb_parameter_text(test, parameters->names[i], text, sizeof text)
                                : "";
        xb_compare_plain(value != NULL ? value : "-", row->cells[COLUMN_PARAMETER + i], 24);
    }
    xb_compare_plain(compared->figure.name, row->cells[COLUMN_FIGURE], size);
    xb_compare_baseline(compared, false, row->cells[COLUMN_BASELINE], size);
    xb_compare_candidate(compared, false, row->cells[COLUMN_CANDIDATE], size);
    xb_compare_change(compared, row->cells[COLUMN_CHANGE], size);
    xb_compare_sure(compared, sure, sizeof sure);
    /* "95 %: at least 50 %" where the heading cannot say how sure that is. */
    bool is_told = contents->sure_of[0] != 'S' || strcmp(sure, "-") == 0;
    snprintf(row->cells[COLUMN_SURE], size, "%s%s%.40s",
             is_told ? "" : xb_compare_sureness(compared, level, sizeof level), is_told ? "" : ": ",
             sure);
    xb_compare_ratio(compared, row->cells[COLUMN_RATIO], size);
    xb_compare_interval(compared, "-", row->cells[COLUMN_INTERVAL], size);
    xb_compare_p(comparison, compared, row->cells[COLUMN_P], size);
    xb_compare_verdict(comparison, compared, row->cells[COLUMN_VERDICT], size);
}

/* False: no memory; fill() the same. */
static bool add_row(struct libscols_table *table, const struct layout *layout,
                    const struct row *row, enum xb_colour colour)
{
    struct libscols_line *line = scols_table_new_line(table, NULL);
    bool ok = line != NULL;
    for (size_t i = 0; ok && i < layout->count; i++)
        ok = scols_line_set_data(line, i, row->cells[layout->columns[i]]) == 0;
    if (!ok || colour == XB_COLOUR_NONE)
        return ok;
    struct libscols_cell *last = scols_line_get_cell(line, layout->count - 1);
    return scols_cell_set_color(last, xb_colour_code(colour)) == 0;
}

static bool fill(struct libscols_table *table, const struct xb_comparison *comparison,
                 struct layout *layout)
{
    struct contents contents = contents_of(comparison);
    bool ok = table != NULL && add_columns(table, &contents, layout);
    for (size_t i = 0; ok && i < comparison->case_count; i++) {
        struct row row;
        const struct xb_compared *compared = &comparison->cases[i];
        bool sure = xb_compare_judged(compared) && !xb_compare_forced(comparison);
        enum xb_colour colour = compared->basis != XB_BASIS_NONE
                                    ? xb_compare_colour(compared->outcome, sure)
                                    : XB_COLOUR_NONE;
        fill_row(&row, comparison, &contents, compared);
        ok = add_row(table, layout, &row, colour);
    }
    return ok;
}

static bool is_shown(struct libscols_table *table, const struct layout *layout, enum column index)
{
    for (size_t i = 0; i < layout->count; i++)
        if (layout->columns[i] == index)
            return !scols_column_is_hidden(scols_table_get_column(table, i));
    return false;
}

enum xb_status xb_compare_print_cases(FILE *stream, const struct xb_comparison *comparison,
                                      size_t width, bool colour, struct xb_compare_shown *shown,
                                      struct xb_error *error)
{
    struct layout layout = {.count = 0};
    struct libscols_table *table = scols_new_table();
    bool is_whole = fill(table, comparison, &layout);
    const struct xb_columns columns_of_table = {.width = width,
                                                .with_colours = colour,
                                                .turns = layout.turns,
                                                .elsewhere = "They are in --format json"};
    scols_ref_table(table); /* for is_shown() */
    is_whole = xb_columns_print(stream, "\n", table, is_whole, &columns_of_table);
    *shown = (struct xb_compare_shown){.sure = is_shown(table, &layout, COLUMN_SURE),
                                       .ratio = is_shown(table, &layout, COLUMN_RATIO),
                                       .interval = is_shown(table, &layout, COLUMN_INTERVAL),
                                       .p = is_shown(table, &layout, COLUMN_P)};
    scols_unref_table(table);
    return is_whole ? XB_OK : XB_FAIL(error, XB_ERR_MEMORY, "not enough memory to print the table");
}
