/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "text.h"

#include "base/stream.h"
#include "base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define LABEL 10 /* columns of a note's label */

struct text {
    FILE *stream;
    const struct xb_comparison *comparison;
    size_t columns, prose; /* of lines, and of those that are sentences */
    bool is_verbose;
    struct xb_error *error;
};

/* ---- the answer ---- */

/* "REGRESSION: 5 of 6 results ...", the worst of them, and what to do. */
static void print_answer(const struct text *out)
{
    const struct xb_comparison *comparison = out->comparison;
    char reason[XB_COMPARE_TEXT];
    struct xb_words words;
    enum xb_colour shade =
        xb_comparison_is_refused(comparison)
            ? XB_COLOUR_BAD
            : xb_compare_colour(comparison->overall, !xb_compare_forced(comparison));
    xb_compare_plain(comparison->reason, reason, sizeof reason);
    char *worst = strstr(reason, " Worst: ");
    if (worst != NULL)
        *worst++ = '\0';
    reason[0] = (char)tolower((unsigned char)reason[0]);
    xb_heading_print(out->stream, shade, "%s%s: %s", xb_compare_overall(comparison),
                     xb_compare_forced(comparison) ? " (FORCED: not comparable)" : "", reason);
    if (worst != NULL)
        xb_lines_print(out->stream, out->prose, "%s", worst);
    if (comparison->next[0] != '\0')
        xb_lines_print(out->stream, out->prose, "%s",
                       xb_compare_plain(comparison->next, reason, sizeof reason));
    if (xb_compare_forced(comparison))
        xb_lines_print(out->stream, out->prose, "%s", xb_compare_forbidden(comparison, &words));
}

/* ---- the picture ---- */

static enum xb_status print_table(const struct text *out, struct xb_table *table,
                                  const char *elsewhere)
{
    const struct xb_table_look look = {.width = out->columns, .elsewhere = elsewhere};
    enum xb_status status = xb_table_print(out->stream, table, &look, out->error);
    xb_table_free(table);
    return status;
}

/* What a row cannot say; and, of all columns, what they are. */
static void print_notes(const struct text *out, const struct xb_compared *const *rows)
{
    struct xb_words words;
    bool any = false;
    for (size_t i = 0; i < out->comparison->case_count; i++) {
        if (xb_compare_row_note(out->comparison, rows, i, &words)[0] == '\0')
            continue;
        fputs(any ? "" : "\n", out->stream);
        xb_lines_print(out->stream, out->prose, "%s", words.text);
        any = true;
    }
    if (!out->is_verbose)
        return;
    fputc('\n', out->stream);
    xb_note_print(out->stream, "figures", LABEL,
                  "medians over the processes; RATIO is the candidate's divided by the baseline's");
    xb_note_print(out->stream, "sure of", LABEL,
                  "how large the change is at least, or a loss at most, each row by itself");
    xb_note_print(out->stream, "P", LABEL, "how likely data like this is if the verdict is wrong");
}

static enum xb_status print_cases(const struct text *out)
{
    const struct xb_compared **rows = xb_compare_sorted(out->comparison);
    const struct xb_compare_look look = {.rows = rows, .is_whole = out->is_verbose};
    struct xb_words shared;
    if (rows == NULL)
        return XB_FAIL(out->error, XB_ERR_MEMORY, "not enough memory to print the table");
    struct xb_table *table = xb_compare_cases_table(out->comparison, &look, &shared);
    fputc('\n', out->stream);
    if (shared.length > 0)
        xb_heading_print(out->stream, XB_COLOUR_TITLE, "%s", shared.text);
    enum xb_status status =
        print_table(out, table, out->is_verbose ? "They are in --format json" : NULL);
    if (status == XB_OK)
        print_notes(out, rows);
    free(rows);
    return status;
}

/* ---- how sure ---- */

/* The conditions that differ: those that forbid a comparison as a table, the others by name. */
static enum xb_status print_differences(const struct text *out)
{
    const struct xb_comparison *comparison = out->comparison;
    enum xb_status status = XB_OK;
    struct xb_words words = {.length = 0};
    if (xb_compare_differences(comparison, true) > 0) {
        fputs("\nThese must be the same in both files\n", out->stream);
        status = print_table(out, xb_compare_differences_table(comparison, true, NULL), NULL);
    }
    if (status != XB_OK || xb_compare_differences(comparison, false) == 0)
        return status;
    if (out->is_verbose) {
        fputs("\nOther differences\n", out->stream);
        return print_table(out, xb_compare_differences_table(comparison, false, NULL), NULL);
    }
    for (size_t i = 0; i < comparison->difference_count; i++)
        if (xb_compare_is_listed(&comparison->differences[i], false))
            xb_words_add(&words, "%s%s", words.length > 0 ? ", " : "",
                         XB_PLAIN_WORD(comparison->differences[i].name));
    fputc('\n', out->stream);
    xb_note_print(out->stream, "differ", LABEL, "%s (--verbose)", words.text);
    return XB_OK;
}

static void print_files(const struct text *out)
{
    const struct xb_comparison *comparison = out->comparison;
    struct xb_words words, other;
    xb_compare_file(comparison->baseline, &words);
    xb_compare_file(comparison->candidate, &other);
    if (out->is_verbose || xb_compare_differences(comparison, false) == 0)
        fputc('\n', out->stream);
    if (!out->is_verbose && strcmp(words.text, other.text) == 0) {
        xb_note_print(out->stream, "each file", LABEL, "%s", words.text);
    } else {
        xb_note_print(out->stream, "baseline", LABEL, "%s: %s",
                      XB_PLAIN_VALUE(comparison->baseline->path), words.text);
        xb_note_print(out->stream, "candidate", LABEL, "%s: %s",
                      XB_PLAIN_VALUE(comparison->candidate->path), other.text);
    }
    if (xb_compare_stack(comparison, &words)[0] != '\0')
        xb_note_print(out->stream, "changed", LABEL, "%s", words.text);
    if (!out->is_verbose)
        return;
    xb_note_print(out->stream, "rule", LABEL, "%s", xb_compare_rule(comparison, &words));
    xb_note_print(out->stream, "program", LABEL, "xferbench %s",
                  XB_PLAIN_WORD(comparison->version));
}

enum xb_status xb_compare_table_write(FILE *stream, const struct xb_comparison *comparison,
                                      size_t columns, bool is_verbose, struct xb_error *error)
{
    const struct text out = {.stream = stream,
                             .comparison = comparison,
                             .columns = columns,
                             .prose = columns < XB_PLAIN_COLUMNS ? columns : XB_PLAIN_COLUMNS,
                             .is_verbose = is_verbose,
                             .error = error};
    enum xb_status status = XB_OK;
    print_answer(&out);
    if (comparison->case_count > 0)
        status = print_cases(&out);
    if (status == XB_OK)
        status = print_differences(&out);
    if (status == XB_OK) {
        print_files(&out);
        status = xb_stream_finish(stream, "the table", error);
    }
    return status;
}
