/* SPDX-License-Identifier: Apache-2.0 */
/* For people, as text and as Markdown: the answer, the table of results, a row for each, and that
 * of the conditions that differ. */
#define _GNU_SOURCE
#include "text.h"

#include "base/order.h"
#include "base/stream.h"
#include "internal.h"
#include "present/table.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Where a comparison goes, as text or as Markdown. */
struct out {
    FILE *stream;
    const struct xb_comparison *comparison;
    size_t columns, prose; /* of lines, and of those that are sentences */
    bool is_whole;         /* also what people read who know statistics */
    bool is_markdown;
    /* What the table of results says in its headings or above it. */
    bool is_indicative; /* all verdicts are, which the heading says once */
    bool is_one_rate;   /* all figures are bandwidths: the unit stands above the table */
    char sureness[32];  /* of all rows that have one; "" where they differ */
    char level[32];     /* of all intervals; "" where they differ */
};

XB_POINTER_COMPARER(by_loss, struct xb_compared, XB_BY_GREATEST(gates),
                    XB_ORDER(xb_compared_loss(b), xb_compared_loss(a)), XB_ORDER(a, b))

/* The colour of an outcome; of one that is only indicative, or forced, that of a caution. */
static enum xb_colour colour_of(enum xb_outcome outcome, bool sure)
{
    if (!sure || outcome == XB_OUTCOME_INCONCLUSIVE)
        return XB_COLOUR_WARNING;
    return outcome == XB_OUTCOME_REGRESSION ? XB_COLOUR_BAD : XB_COLOUR_GOOD;
}

/* Quotes a text for GitHub Flavored Markdown, which GitLab's is close enough to, and which a person
 * can read as it is: a text that has a character with a meaning stands in a code span, in which
 * none has one, and from which GitHub makes neither mentions nor references. `text` is plain, and
 * never the first of a line: there more has a meaning. */
static const char *quote(const char *text, char *quoted, size_t size)
{
    const char *c = text;
    while (isalnum((unsigned char)*c) || (*c != '\0' && strchr(" .,/()%+-;=?'", *c) != NULL) ||
           (*c == ':' && (c[1] == ' ' || c[1] == '\0')) || (*c == '>' && c[1] == ' ') ||
           (*c == '<' && isdigit((unsigned char)c[1])))
        c++;
    if (*c == '\0')
        return text;
    snprintf(quoted, size, "`%.*s`", (int)size - 3, text);
    for (char *q = quoted + 1; q[1] != '\0'; q++)
        *q = *q == '`' ? '\'' : *q;
    return quoted;
}

static void print_quoted(const struct out *out, const char *before, const char *text,
                         const char *after)
{
    char quoted[XB_NOTE_SIZE + 3];
    fprintf(out->stream, "%s%s%s", before, quote(text, quoted, sizeof quoted), after);
}

static void add_cell(struct xb_table *table, bool is_markdown, enum xb_colour colour,
                     const char *text)
{
    char quoted[2 * XB_COMPARE_TEXT];
    xb_table_cell(table, colour, "%s", is_markdown ? quote(text, quoted, sizeof quoted) : text);
}

enum column { METHOD, DIRECTION, SIZE, DEVICE, FIGURE, BASELINE, CANDIDATE, CHANGE, SURE, RATIO };
enum { INTERVAL = RATIO + 1, P, VERDICT, COLUMNS };

/* What says what a result is stands above the table where it is the same in all rows. Statistics,
 * which are details, go first from lines that are too long, last what the percentage tells too. */
static const struct {
    struct xb_table_column column;
    enum xb_compared_part part;
} all_columns[COLUMNS] = {
    [METHOD] = {{.title = "METHOD", .least = 24}, XB_CASE_METHOD},
    [DIRECTION] = {{.title = "DIR"}, XB_CASE_DIRECTION},
    [SIZE] = {{.title = "SIZE", .is_right = true}, XB_CASE_SIZE},
    [DEVICE] = {{.title = "GPU"}, XB_CASE_DEVICE},
    [FIGURE] = {{.title = "FIGURE"}, XB_CASE_FIGURE},
    [BASELINE] = {{.title = "BASELINE", .is_right = true, .turn = 5}, XB_CASE_BASELINE},
    [CANDIDATE] = {{.title = "CANDIDATE", .is_right = true, .turn = 5}, XB_CASE_CANDIDATE},
    [CHANGE] = {{.title = "CHANGE", .is_right = true}, XB_CASE_CHANGE},
    [SURE] = {{.title = "SURE OF", .turn = 4}, XB_CASE_SURE},
    [RATIO] = {{.title = "RATIO", .is_right = true, .turn = 3}, XB_CASE_RATIO},
    [INTERVAL] = {{.title = "INTERVAL", .is_right = true, .turn = 2}, XB_CASE_INTERVAL},
    [P] = {{.title = "P", .is_right = true, .turn = 1}, XB_CASE_P},
    [VERDICT] = {{.title = "VERDICT"}, XB_CASE_VERDICT},
};

/* What all rows with an interval have of that part; "" where they differ. */
static void find_common(const struct xb_comparison *comparison, enum xb_compared_part part,
                        bool may_be_empty, char common[32])
{
    bool any = false;
    for (size_t i = 0; i < comparison->case_count; i++) {
        const char *own = XB_CASE_TEXT(comparison, &comparison->cases[i], part);
        if (!comparison->cases[i].has_interval || (own[0] == '\0' && !may_be_empty))
            continue;
        if (any && strcmp(own, common) != 0) {
            common[0] = '\0';
            return;
        }
        snprintf(common, 32, "%s", own);
        any = true;
    }
}

/* By all rows. */
static void find_headings(struct out *out)
{
    const struct xb_comparison *comparison = out->comparison;
    bool is_certain = false;
    out->is_one_rate = true;
    XB_EACH (compared, comparison->cases, comparison->case_count) {
        out->is_indicative = out->is_indicative || compared->basis == XB_BASIS_INDICATIVE;
        is_certain = is_certain ||
                     (xb_compare_judged(compared) && !xb_compared_is_apart(comparison, compared));
        out->is_one_rate = out->is_one_rate && xb_compare_is_rate(&compared->figure);
    }
    out->is_indicative = out->is_indicative && !is_certain;
    find_common(comparison, XB_CASE_SURENESS, false, out->sureness);
    find_common(comparison, XB_CASE_LEVEL, true, out->level);
}

/* What stands in a cell; `text` holds XB_COMPARE_TEXT. */
static void fill(const struct out *out, size_t column, const struct xb_compared *compared,
                 char *text)
{
    const struct xb_comparison *comparison = out->comparison;
    struct xb_compared bare = *compared;
    if (column == VERDICT && out->is_indicative && bare.basis == XB_BASIS_INDICATIVE)
        bare.basis = XB_BASIS_TEST; /* the heading says it */
    xb_compared_text(comparison, &bare, all_columns[column].part, text);
    if (out->is_one_rate && (column == BASELINE || column == CANDIDATE))
        text[strcspn(text, " ")] = '\0'; /* the unit stands above the table */
    /* "95 %: at least 50 %" where the heading cannot say how sure that is. */
    if (column == SURE && out->sureness[0] == '\0' && strcmp(text, "-") != 0)
        snprintf(text, XB_COMPARE_TEXT, "%s: %s", XB_SAID(SURENESS), XB_SAID(SURE));
    const char *level = XB_SAID(LEVEL);
    if (column == INTERVAL && out->level[0] == '\0' && compared->has_interval && level[0] != '\0')
        snprintf(text + strlen(text), XB_COMPARE_TEXT - strlen(text), " (%s)", level);
}

/* Whether all rows have the same in a column, which is `text` then. */
static bool is_shared(const struct out *out, size_t column, char *text)
{
    char other[XB_COMPARE_TEXT];
    for (size_t i = 0; i < out->comparison->case_count; i++) {
        fill(out, column, &out->comparison->cases[i], i == 0 ? text : other);
        if (i > 0 && strcmp(text, other) != 0)
            return false;
    }
    return true;
}

/* Whether the column is one of the table's; if all rows have the same `shared` gets it. A table
 * names its rows by the method at least. */
static bool is_column(const struct out *out, size_t column, struct xb_words *shared)
{
    char text[XB_COMPARE_TEXT], other[XB_COMPARE_TEXT];
    bool shared_by_all = is_shared(out, column, text);
    bool is_detail = column >= SURE && column <= P;
    if (column > FIGURE)
        return !is_detail || (out->is_whole && !(shared_by_all && strcmp(text, "-") == 0));
    if (!shared_by_all || (column == METHOD && is_shared(out, DIRECTION, other) &&
                           is_shared(out, SIZE, other) && is_shared(out, DEVICE, other)))
        return true;
    const char *comma = shared->length > 0 ? ", " : "";
    if (column != DEVICE)
        xb_words_add(shared, "%s%s%s", comma,
                     column == DIRECTION ? xb_direction_words(out->comparison->cases[0].test)
                                         : text,
                     column == FIGURE && out->is_one_rate ? " in GB/s" : "");
    else if (strcmp(text, "0") != 0) /* GPU 0 goes without saying */
        xb_words_add(shared, "%sGPU %s", comma, text);
    return false;
}

/* A row for each result; `shared` gets what all of them have in common and no column tells: "To the
 * GPU, 1 GiB, bandwidth in GB/s". */
static struct xb_table *cases_table(const struct out *out, const struct xb_compared *const *rows,
                                    struct xb_words *shared)
{
    const struct xb_comparison *comparison = out->comparison;
    struct xb_table *table = xb_table_new();
    bool has[COLUMNS];
    char sure[48], level[48]; /* "99% SURE OF", "98% INTERVAL" */
    int whole = (int)strcspn(out->sureness, " ");
    snprintf(sure, sizeof sure, "%.*s%s SURE OF", whole, out->sureness,
             out->sureness[whole] != '\0' ? out->sureness + whole + 1 : "");
    snprintf(level, sizeof level, "%s INTERVAL", out->level);
    for (size_t i = 0; i < COLUMNS; i++) {
        struct xb_table_column column = all_columns[i].column;
        has[i] = is_column(out, i, shared);
        if (i == SURE && out->sureness[0] != '\0') {
            column.title = sure;
        } else if (i == INTERVAL && out->level[0] != '\0') {
            column.title = level;
        } else if (i == VERDICT && out->is_indicative) {
            column.title = "VERDICT (indicative)";
            column.brief = "INDICATIVE";
        }
        if (has[i])
            xb_table_add_column(table, &column);
    }
    shared->text[0] = (char)toupper((unsigned char)shared->text[0]);
    for (size_t i = 0; i < comparison->case_count; i++) {
        const struct xb_compared *compared = rows[i];
        bool is_sure = xb_compare_judged(compared) && !xb_compare_forced(comparison);
        enum xb_colour colour = compared->basis != XB_BASIS_NONE
                                    ? colour_of(compared->outcome, is_sure)
                                    : XB_COLOUR_NONE;
        xb_table_row(table);
        for (size_t k = 0; k < COLUMNS; k++) {
            char text[XB_COMPARE_TEXT];
            if (!has[k])
                continue;
            fill(out, k, compared, text);
            add_cell(table, out->is_markdown, k == VERDICT ? colour : XB_COLOUR_NONE, text);
        }
    }
    return table;
}

static void print_table(const struct out *out, struct xb_table *table, const char *elsewhere)
{
    const struct xb_table_look look = {.width = out->columns, .elsewhere = elsewhere};
    if (out->is_markdown) {
        xb_table_markdown(out->stream, table);
        fputc('\n', out->stream);
    } else {
        xb_table_print(out->stream, table, &look);
    }
    xb_table_free(table);
}

/* The conditions that forbid a comparison, or the others. */
static void print_conditions(const struct out *out, bool forbid)
{
    const struct xb_comparison *comparison = out->comparison;
    static const char *const titles[] = {"CONDITION", "BASELINE", "CANDIDATE"};
    char baseline[XB_COMPARE_VALUE], candidate[XB_COMPARE_VALUE];
    struct xb_table *table = xb_table_new();
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
        xb_table_add_column(table, &(struct xb_table_column){.title = titles[i], .least = 20});
    XB_EACH (difference, comparison->differences, comparison->difference_count) {
        if (!xb_compare_is_listed(difference, forbid))
            continue;
        xb_compare_sides(difference, baseline, candidate);
        xb_table_row(table);
        add_cell(table, out->is_markdown, XB_COLOUR_NONE, XB_PLAIN_VALUE(difference->name));
        add_cell(table, out->is_markdown, XB_COLOUR_NONE, baseline);
        add_cell(table, out->is_markdown, XB_COLOUR_NONE, candidate);
    }
    print_table(out, table, NULL);
}

/* Prints the table of results, the worst first, those that count before the others; and what a row
 * cannot say. */
static void print_cases(const struct out *out)
{
    const struct xb_comparison *comparison = out->comparison;
    size_t count = comparison->case_count;
    const struct xb_compared **rows = xb_new(count, sizeof(const struct xb_compared *));
    struct xb_words shared = {.length = 0};
    bool any = false;
    for (size_t i = 0; i < count; i++)
        rows[i] = &comparison->cases[i];
    qsort(rows, count, sizeof(const struct xb_compared *), by_loss);
    struct xb_table *table = cases_table(out, rows, &shared);
    fputs(out->is_markdown ? "" : "\n", out->stream);
    if (shared.length > 0 && out->is_markdown)
        print_quoted(out, "", shared.text, "\n\n");
    else if (shared.length > 0)
        xb_heading_print(out->stream, XB_COLOUR_TITLE, "%s", shared.text);
    print_table(out, table, out->is_whole ? "They are in --format json" : NULL);
    /* Rows behind one another may have the same note: "pinned to the GPU, 1 GiB and the next 2:
     * only in the baseline". */
    for (size_t i = 0, next = 1; i < count; i = next++) {
        const char *note = XB_CASE_TEXT(comparison, rows[i], XB_CASE_NOTE);
        struct xb_words words = {.length = 0};
        while (next < count &&
               strcmp(XB_CASE_TEXT(comparison, rows[next], XB_CASE_NOTE), note) == 0)
            next++;
        if (note[0] == '\0')
            continue;
        xb_words_add(&words, "%s", XB_CASE_TEXT(comparison, rows[i], XB_CASE_TITLE));
        if (next - i == 2)
            xb_words_add(&words, " and the next one");
        else if (next - i > 2)
            xb_words_add(&words, " and the next %zu", next - i - 1);
        xb_words_add(&words, ": %s", note);
        fputs(any || out->is_markdown ? "" : "\n", out->stream);
        if (out->is_markdown)
            print_quoted(out, "- ", words.text, "\n");
        else
            xb_lines_print(out->stream, out->prose, "%s", words.text);
        any = true;
    }
    fputs(any && out->is_markdown ? "\n" : "", out->stream);
    free(rows);
}

#define LABEL 10 /* columns of a note's label */

/* "REGRESSION: 5 of 6 results ...", the worst of them, and what to do. */
static void print_answer(const struct out *out)
{
    const struct xb_comparison *comparison = out->comparison;
    char reason[XB_COMPARE_TEXT];
    bool forced = xb_compare_forced(comparison);
    enum xb_colour shade = xb_comparison_is_refused(comparison)
                               ? XB_COLOUR_BAD
                               : colour_of(comparison->overall, !forced);
    xb_compare_plain(comparison->reason, reason, sizeof reason);
    char *worst = strstr(reason, " Worst: ");
    if (worst != NULL)
        *worst++ = '\0';
    reason[0] = (char)tolower((unsigned char)reason[0]);
    xb_heading_print(out->stream, shade, "%s%s: %s", xb_compare_overall(comparison),
                     xb_compare_caution(comparison), reason);
    if (worst != NULL)
        xb_lines_print(out->stream, out->prose, "%s", worst);
    if (comparison->next[0] != '\0')
        xb_lines_print(out->stream, out->prose, "%s", XB_PLAIN_TEXT(comparison->next));
    if (forced)
        xb_lines_print(out->stream, out->prose, "%s",
                       xb_compare_forbidden(comparison, XB_NEW_WORDS));
}

/* The conditions that differ: those that forbid a comparison as a table, the others by name. */
static void print_differences(const struct out *out)
{
    const struct xb_comparison *comparison = out->comparison;
    struct xb_words words = {.length = 0};
    if (xb_compare_differences(comparison, true) > 0) {
        fputs("\nThese must be the same in both files\n", out->stream);
        print_conditions(out, true);
    }
    if (xb_compare_differences(comparison, false) == 0)
        return;
    if (out->is_whole) {
        fputs("\nOther differences\n", out->stream);
        print_conditions(out, false);
        return;
    }
    XB_EACH (difference, comparison->differences, comparison->difference_count)
        if (xb_compare_is_listed(difference, false))
            xb_words_add(&words, "%s%s", words.length > 0 ? ", " : "",
                         XB_PLAIN_WORD(difference->name));
    fputc('\n', out->stream);
    xb_note_print(out->stream, "differ", LABEL, "%s (--verbose)", words.text);
}

static void print_files(const struct out *out)
{
    const struct xb_comparison *comparison = out->comparison;
    const char *baseline = xb_compare_file(comparison->baseline, XB_NEW_WORDS);
    const char *candidate = xb_compare_file(comparison->candidate, XB_NEW_WORDS);
    const char *stack = xb_compare_stack(comparison, XB_NEW_WORDS);
    if (out->is_whole || xb_compare_differences(comparison, false) == 0)
        fputc('\n', out->stream);
    if (!out->is_whole && strcmp(baseline, candidate) == 0) {
        xb_note_print(out->stream, "each file", LABEL, "%s", baseline);
    } else {
        xb_note_print(out->stream, "baseline", LABEL, "%s: %s",
                      XB_PLAIN_VALUE(comparison->baseline->path), baseline);
        xb_note_print(out->stream, "candidate", LABEL, "%s: %s",
                      XB_PLAIN_VALUE(comparison->candidate->path), candidate);
    }
    if (stack[0] != '\0')
        xb_note_print(out->stream, "changed", LABEL, "%s", stack);
    if (!out->is_whole)
        return;
    xb_note_print(out->stream, "rule", LABEL, "%s", xb_compare_rule(comparison, XB_NEW_WORDS));
    xb_note_print(out->stream, "program", LABEL, "xferbench %s",
                  XB_PLAIN_WORD(comparison->version));
}

enum xb_status xb_compare_table_write(FILE *stream, const struct xb_comparison *comparison,
                                      size_t columns, bool is_verbose, struct xb_error *error)
{
    struct out out = {.stream = stream,
                      .comparison = comparison,
                      .columns = columns,
                      .prose = columns < XB_PLAIN_COLUMNS ? columns : XB_PLAIN_COLUMNS,
                      .is_whole = is_verbose};
    find_headings(&out);
    print_answer(&out);
    if (comparison->case_count > 0)
        print_cases(&out);
    if (comparison->case_count > 0 && is_verbose) {
        fputc('\n', stream);
        xb_note_print(
            stream, "figures", LABEL,
            "medians over the processes; RATIO is the candidate's divided by the baseline's");
        xb_note_print(stream, "sure of", LABEL,
                      "how large the change is at least, or a loss at most, each row by itself");
        xb_note_print(stream, "P", LABEL, "how likely data like this is if the verdict is wrong");
    }
    print_differences(&out);
    print_files(&out);
    return xb_stream_finish(stream, "the table", error);
}

enum xb_status xb_compare_markdown_write(FILE *stream, const struct xb_comparison *comparison,
                                         struct xb_error *error)
{
    struct out out = {
        .stream = stream, .comparison = comparison, .is_whole = true, .is_markdown = true};
    const struct xb_record *const files[] = {comparison->baseline, comparison->candidate};
    const char *stack = xb_compare_stack(comparison, XB_NEW_WORDS);
    size_t others = xb_compare_differences(comparison, false);
    find_headings(&out);
    fprintf(stream, "## xferbench compare: %s%s\n\n", xb_compare_overall(comparison),
            xb_compare_caution(comparison));
    print_quoted(&out, "", XB_PLAIN_TEXT(comparison->reason), "\n\n");
    if (comparison->next[0] != '\0')
        print_quoted(&out, "Next: ", XB_PLAIN_TEXT(comparison->next), "\n\n");
    if (xb_compare_forced(comparison))
        print_quoted(&out, "", xb_compare_forbidden(comparison, XB_NEW_WORDS), "\n\n");
    if (comparison->case_count > 0)
        print_cases(&out);
    if (xb_compare_differences(comparison, true) > 0) {
        fputs("These must be the same in both files:\n\n", stream);
        print_conditions(&out, true);
    }
    for (size_t i = 0; i < 2; i++) {
        print_quoted(
            &out, i == 0 ? "- baseline: " : "- candidate: ", XB_PLAIN_VALUE(files[i]->path), ", ");
        print_quoted(&out, "", xb_compare_file(files[i], XB_NEW_WORDS), "\n");
    }
    if (stack[0] != '\0')
        print_quoted(&out, "- changed: ", stack, "\n");
    print_quoted(&out, "- rule: ", xb_compare_rule(comparison, XB_NEW_WORDS), "\n");
    if (others > 0) {
        fprintf(stream, "\n<details><summary>Other differences: %zu</summary>\n\n", others);
        print_conditions(&out, false);
        fputs("</details>\n", stream);
    }
    return xb_stream_finish(stream, "the Markdown", error);
}
