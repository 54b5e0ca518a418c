/* SPDX-License-Identifier: Apache-2.0 */
/* The table of results, a row for each, and that of the conditions that differ. */
#include "internal.h"
#include "text.h"
#include "xferbench/units.h"

#include "record/rows.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum xb_colour xb_compare_colour(enum xb_outcome outcome, bool sure)
{
    static const enum xb_colour colours[] = {[XB_OUTCOME_PASS] = XB_COLOUR_GOOD,
                                             [XB_OUTCOME_IMPROVED] = XB_COLOUR_GOOD,
                                             [XB_OUTCOME_INCONCLUSIVE] = XB_COLOUR_WARNING,
                                             [XB_OUTCOME_REGRESSION] = XB_COLOUR_BAD};
    return sure ? colours[outcome] : XB_COLOUR_WARNING;
}

/* ---- rows ---- */

static int by_loss(const void *a, const void *b)
{
    const struct xb_compared *left = *(const struct xb_compared *const *)a;
    const struct xb_compared *right = *(const struct xb_compared *const *)b;
    double loss = xb_compared_loss(left), other = xb_compared_loss(right);
    if (left->gates != right->gates)
        return left->gates ? -1 : 1;
    if (loss > other || loss < other)
        return loss > other ? -1 : 1;
    return (left > right) - (left < right);
}

const struct xb_compared **xb_compare_sorted(const struct xb_comparison *comparison)
{
    const struct xb_compared **rows =
        calloc(comparison->case_count + 1, sizeof(const struct xb_compared *));
    for (size_t i = 0; rows != NULL && i < comparison->case_count; i++)
        rows[i] = &comparison->cases[i];
    if (rows != NULL)
        qsort(rows, comparison->case_count, sizeof(const struct xb_compared *), by_loss);
    return rows;
}

static bool has_note_of(const struct xb_comparison *comparison,
                        const struct xb_compared *const *rows, size_t index, const char *note)
{
    char other[XB_COMPARE_TEXT];
    return index < comparison->case_count &&
           strcmp(xb_compare_note(rows[index], other, sizeof other), note) == 0;
}

const char *xb_compare_row_note(const struct xb_comparison *comparison,
                                const struct xb_compared *const *rows, size_t index,
                                struct xb_words *words)
{
    char name[XB_COMPARE_TEXT], note[XB_COMPARE_TEXT];
    size_t others = 0;
    *words = (struct xb_words){.length = 0};
    xb_compare_note(rows[index], note, sizeof note);
    if (note[0] == '\0' || (index > 0 && has_note_of(comparison, rows, index - 1, note)))
        return words->text;
    while (has_note_of(comparison, rows, index + others + 1, note))
        others++;
    xb_words_add(words, "%s", xb_compare_title(comparison, rows[index], name, sizeof name));
    if (others == 1)
        xb_words_add(words, " and the next one");
    else if (others > 1)
        xb_words_add(words, " and the next %zu", others);
    xb_words_add(words, ": %s", note);
    return words->text;
}

/* ---- cells ---- */

struct view {
    const struct xb_comparison *comparison;
    bool is_indicative;   /* all verdicts are, which the heading says once */
    bool is_one_rate;     /* all figures are bandwidths: the unit stands above the table */
    char sureness[32];    /* of all rows that have one; "" where they differ */
    char sure_title[48];  /* "99% SURE OF" */
    char level[32];       /* of all intervals; "" where they differ */
    char level_title[48]; /* "98% INTERVAL" */
};

enum column { METHOD, DIRECTION, SIZE, DEVICE, FIGURE, BASELINE, CANDIDATE, CHANGE, SURE, RATIO };
enum { INTERVAL = RATIO + 1, P, VERDICT, COLUMNS };

/* What a result is called. */
static void fill_name(const struct view *view, size_t column, const struct xb_compared *compared,
                      char *text, size_t size)
{
    if (column == METHOD)
        xb_compare_method(view->comparison, compared, text, size);
    else if (column == DIRECTION)
        xb_compare_plain(compared->test->direction, text, 16);
    else if (column == SIZE)
        xb_size_format(compared->test->bytes, text, size);
    else if (column == DEVICE)
        xb_compare_device(compared, text, size);
    else
        xb_compare_plain(compared->figure.name, text, XB_COMPARE_WORD);
}

/* "95 %: at least 50 %" where the heading cannot say how sure that is. */
static void fill_sure(const struct view *view, const struct xb_compared *compared, char *text,
                      size_t size)
{
    char sure[XB_COMPARE_WORD], level[32];
    xb_compare_sure(compared, sure, sizeof sure);
    bool is_told = view->sureness[0] != '\0' || strcmp(sure, "-") == 0;
    snprintf(text, size, "%s%s%s",
             is_told ? "" : xb_compare_sureness(compared, level, sizeof level), is_told ? "" : ": ",
             sure);
}

static void fill_interval(const struct view *view, const struct xb_compared *compared, char *text,
                          size_t size)
{
    char level[32];
    xb_compare_interval(compared, "-", text, size);
    size_t used = strlen(text);
    if (view->level[0] == '\0' && compared->has_interval &&
        xb_compare_level(compared, level, sizeof level)[0] != '\0')
        snprintf(text + used, size - used, " (%s)", level);
}

/* What became of it. */
static void fill(const struct view *view, size_t column, const struct xb_compared *compared,
                 char *text, size_t size)
{
    struct xb_compared bare = *compared;
    if (view->is_indicative && bare.basis == XB_BASIS_INDICATIVE)
        bare.basis = XB_BASIS_TEST; /* the heading says it */
    if (column <= FIGURE)
        fill_name(view, column, compared, text, size);
    else if (column == BASELINE)
        xb_compare_baseline(compared, !view->is_one_rate, text, size);
    else if (column == CANDIDATE)
        xb_compare_candidate(compared, !view->is_one_rate, text, size);
    else if (column == CHANGE)
        xb_compare_change(compared, text, size);
    else if (column == SURE)
        fill_sure(view, compared, text, size);
    else if (column == RATIO)
        xb_compare_ratio(compared, text, size);
    else if (column == INTERVAL)
        fill_interval(view, compared, text, size);
    else if (column == P)
        xb_compare_p(view->comparison, compared, text, size);
    else
        xb_compare_verdict(view->comparison, &bare, text, size);
}

/* ---- columns ---- */

/* What says what a result is stands above the table where it is the same in all rows. Statistics,
 * which are details, go first from lines that are too long, last what the percentage tells too. */
static const struct xb_table_column columns[COLUMNS] = {
    [METHOD] = {.title = "METHOD", .least = 24},
    [DIRECTION] = {.title = "DIR"},
    [SIZE] = {.title = "SIZE", .is_right = true},
    [DEVICE] = {.title = "GPU"},
    [FIGURE] = {.title = "FIGURE"},
    [BASELINE] = {.title = "BASELINE", .is_right = true, .turn = 5},
    [CANDIDATE] = {.title = "CANDIDATE", .is_right = true, .turn = 5},
    [CHANGE] = {.title = "CHANGE", .is_right = true},
    [SURE] = {.title = "SURE OF", .turn = 4},
    [RATIO] = {.title = "RATIO", .is_right = true, .turn = 3},
    [INTERVAL] = {.title = "INTERVAL", .is_right = true, .turn = 2},
    [P] = {.title = "P", .is_right = true, .turn = 1},
    [VERDICT] = {.title = "VERDICT"},
};

/* Whether all rows have the same in a column, which is `text` then. */
static bool is_shared(const struct view *view, size_t column, char *text, size_t size)
{
    char other[XB_COMPARE_TEXT];
    for (size_t i = 0; i < view->comparison->case_count; i++) {
        fill(view, column, &view->comparison->cases[i], i == 0 ? text : other, size);
        if (i > 0 && strcmp(text, other) != 0)
            return false;
    }
    return true;
}

/* "99% SURE OF", where all rows are as sure. */
static void head_sure(struct view *view)
{
    char own[32], *blank;
    bool any = false;
    for (size_t i = 0; i < view->comparison->case_count; i++) {
        const struct xb_compared *compared = &view->comparison->cases[i];
        xb_compare_sureness(compared, own, sizeof own);
        if (!compared->has_interval || own[0] == '\0' || strcmp(own, view->sureness) == 0)
            continue;
        snprintf(view->sureness, sizeof view->sureness, "%s", any ? "" : own);
        if (any)
            break;
        any = true;
    }
    snprintf(own, sizeof own, "%s", view->sureness);
    if ((blank = strchr(own, ' ')) != NULL)
        memmove(blank, blank + 1, strlen(blank));
    snprintf(view->sure_title, sizeof view->sure_title, "%s%sSURE OF", own,
             own[0] != '\0' ? " " : "");
}

static struct view view_of(const struct xb_comparison *comparison)
{
    struct view view = {.comparison = comparison, .is_one_rate = true};
    bool is_certain = false;
    for (size_t i = 0; i < comparison->case_count; i++) {
        const struct xb_compared *compared = &comparison->cases[i];
        view.is_indicative = view.is_indicative || compared->basis == XB_BASIS_INDICATIVE;
        is_certain = is_certain ||
                     (xb_compare_judged(compared) && !xb_compared_is_apart(comparison, compared));
        view.is_one_rate = view.is_one_rate && xb_compare_is_rate(&compared->figure);
    }
    view.is_indicative = view.is_indicative && !is_certain;
    head_sure(&view);
    xb_compare_common_level(comparison, view.level, sizeof view.level);
    snprintf(view.level_title, sizeof view.level_title, "%s%sINTERVAL", view.level,
             view.level[0] != '\0' ? " " : "");
    return view;
}

/* Adds to what stands above the table; GPU 0 goes without saying. */
static void share(const struct view *view, size_t column, const char *text, struct xb_words *shared)
{
    const char *comma = shared->length > 0 ? ", " : "";
    if (column == DIRECTION)
        text = xb_direction_words(view->comparison->cases[0].test);
    if (column != DEVICE)
        xb_words_add(shared, "%s%s", comma, text);
    else if (strcmp(text, "0") != 0)
        xb_words_add(shared, "%sGPU %s", comma, text);
    if (column == FIGURE && view->is_one_rate)
        xb_words_add(shared, " in GB/s");
}

/* Whether the column is one of the table's; if all rows have the same `shared` gets it. A table
 * names its rows by the method at least. */
static bool is_column(const struct view *view, const struct xb_compare_look *look, size_t column,
                      struct xb_words *shared)
{
    char text[XB_COMPARE_TEXT], other[XB_COMPARE_TEXT];
    bool shared_by_all = is_shared(view, column, text, sizeof text);
    bool is_detail = column >= SURE && column <= P;
    if (column > FIGURE)
        return !is_detail || (look->is_whole && !(shared_by_all && strcmp(text, "-") == 0));
    if (!shared_by_all)
        return true;
    if (column == METHOD && is_shared(view, DIRECTION, other, sizeof other) &&
        is_shared(view, SIZE, other, sizeof other) && is_shared(view, DEVICE, other, sizeof other))
        return true;
    share(view, column, text, shared);
    return false;
}

static void add_columns(struct xb_table *table, const struct view *view, const bool *has)
{
    for (size_t i = 0; i < COLUMNS; i++) {
        struct xb_table_column column = columns[i];
        if (i == SURE) {
            column.title = view->sure_title;
        } else if (i == INTERVAL) {
            column.title = view->level_title;
        } else if (i == VERDICT && view->is_indicative) {
            column.title = "VERDICT (indicative)";
            column.brief = "INDICATIVE";
        }
        if (has[i])
            xb_table_add_column(table, &column);
    }
}

static void add_cell(struct xb_table *table, xb_compare_quote *quote, enum xb_colour colour,
                     const char *text)
{
    char quoted[2 * XB_COMPARE_TEXT];
    xb_table_cell(table, colour, "%s", quote != NULL ? quote(text, quoted, sizeof quoted) : text);
}

struct xb_table *xb_compare_cases_table(const struct xb_comparison *comparison,
                                        const struct xb_compare_look *look, struct xb_words *shared)
{
    struct view view = view_of(comparison);
    struct xb_table *table = xb_table_new();
    bool has[COLUMNS];
    *shared = (struct xb_words){.length = 0};
    for (size_t i = 0; i < COLUMNS; i++)
        has[i] = is_column(&view, look, i, shared);
    shared->text[0] = (char)toupper((unsigned char)shared->text[0]);
    add_columns(table, &view, has);
    for (size_t i = 0; i < comparison->case_count; i++) {
        const struct xb_compared *compared = look->rows[i];
        bool sure = xb_compare_judged(compared) && !xb_compare_forced(comparison);
        enum xb_colour colour = compared->basis != XB_BASIS_NONE
                                    ? xb_compare_colour(compared->outcome, sure)
                                    : XB_COLOUR_NONE;
        xb_table_row(table);
        for (size_t k = 0; k < COLUMNS; k++) {
            char text[XB_COMPARE_TEXT];
            if (!has[k])
                continue;
            fill(&view, k, compared, text, sizeof text);
            add_cell(table, look->quote, k == VERDICT ? colour : XB_COLOUR_NONE, text);
        }
    }
    return table;
}

/* ---- conditions ---- */

struct xb_table *xb_compare_differences_table(const struct xb_comparison *comparison, bool forbid,
                                              xb_compare_quote *quote)
{
    static const char *const titles[] = {"CONDITION", "BASELINE", "CANDIDATE"};
    char baseline[XB_COMPARE_VALUE], candidate[XB_COMPARE_VALUE];
    struct xb_table *table = xb_table_new();
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
        xb_table_add_column(table, &(struct xb_table_column){.title = titles[i], .least = 20});
    for (size_t i = 0; i < comparison->difference_count; i++) {
        const struct xb_difference *difference = &comparison->differences[i];
        if (!xb_compare_is_listed(difference, forbid))
            continue;
        xb_compare_sides(difference, baseline, candidate);
        xb_table_row(table);
        add_cell(table, quote, XB_COLOUR_NONE, XB_PLAIN_VALUE(difference->name));
        add_cell(table, quote, XB_COLOUR_NONE, baseline);
        add_cell(table, quote, XB_COLOUR_NONE, candidate);
    }
    return table;
}
