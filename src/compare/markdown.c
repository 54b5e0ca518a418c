/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "base/stream.h"
#include "base/text.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

/*
 * GitHub Flavored Markdown, which GitLab's is close enough to, and which a person can read as it
 * is: a text that has a character with a meaning stands in a code span, in which none has one, and
 * from which GitHub makes neither mentions nor references.
 */

static bool is_harmless(const char *c)
{
    return (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
           strchr(" .,/()%+-;=?'", *c) != NULL || (*c == ':' && (c[1] == ' ' || c[1] == '\0')) ||
           (*c == '>' && c[1] == ' ') || (*c == '<' && c[1] >= '0' && c[1] <= '9');
}

/* `text` is plain, and never the first of a line: there more has a meaning. */
static const char *quote(const char *text, char *quoted, size_t size)
{
    const char *c = text;
    while (*c != '\0' && is_harmless(c))
        c++;
    if (*c == '\0')
        return text;
    snprintf(quoted, size, "`%.*s`", (int)size - 3, text);
    for (char *q = quoted + 1; q[1] != '\0'; q++)
        *q = *q == '`' ? '\'' : *q;
    return quoted;
}

static void put(FILE *stream, const char *before, const char *text, const char *after)
{
    char quoted[XB_NOTE_SIZE + 3];
    fprintf(stream, "%s%s%s", before, quote(text, quoted, sizeof quoted), after);
}

/* ---- the whole ---- */

static void put_file(FILE *stream, const char *side, const struct xb_record *record)
{
    struct xb_words words;
    put(stream, side, XB_PLAIN_VALUE(record->path), ", ");
    put(stream, "", xb_compare_file(record, &words), "\n");
}

static void put_answer(FILE *stream, const struct xb_comparison *comparison)
{
    char text[XB_COMPARE_TEXT];
    struct xb_words words;
    fprintf(stream, "## xferbench compare: %s%s\n\n", xb_compare_overall(comparison),
            xb_compare_forced(comparison) ? " (FORCED: not comparable)" : "");
    put(stream, "", xb_compare_plain(comparison->reason, text, sizeof text), "\n\n");
    if (comparison->next[0] != '\0')
        put(stream, "Next: ", xb_compare_plain(comparison->next, text, sizeof text), "\n\n");
    if (xb_compare_forced(comparison))
        put(stream, "", xb_compare_forbidden(comparison, &words), "\n\n");
}

static enum xb_status put_table(FILE *stream, struct xb_table *table, struct xb_error *error)
{
    enum xb_status status = xb_table_markdown(stream, table, error);
    xb_table_free(table);
    fputc('\n', stream);
    return status;
}

static enum xb_status put_cases(FILE *stream, const struct xb_comparison *comparison,
                                struct xb_error *error)
{
    const struct xb_compared **rows = xb_compare_sorted(comparison);
    const struct xb_compare_look look = {.rows = rows, .is_whole = true, .quote = quote};
    struct xb_words words;
    bool any = false;
    if (rows == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "not enough memory to write the table");
    struct xb_table *table = xb_compare_cases_table(comparison, &look, &words);
    if (words.length > 0)
        put(stream, "", words.text, "\n\n");
    enum xb_status status = put_table(stream, table, error);
    for (size_t i = 0; i < comparison->case_count; i++) {
        if (xb_compare_row_note(comparison, rows, i, &words)[0] == '\0')
            continue;
        put(stream, "- ", words.text, "\n");
        any = true;
    }
    fputs(any ? "\n" : "", stream);
    free(rows);
    return status;
}

enum xb_status xb_compare_markdown_write(FILE *stream, const struct xb_comparison *comparison,
                                         struct xb_error *error)
{
    size_t others = xb_compare_differences(comparison, false);
    enum xb_status status = XB_OK;
    struct xb_words words;
    put_answer(stream, comparison);
    if (comparison->case_count > 0)
        status = put_cases(stream, comparison, error);
    if (status == XB_OK && xb_compare_differences(comparison, true) > 0) {
        fputs("These must be the same in both files:\n\n", stream);
        status = put_table(stream, xb_compare_differences_table(comparison, true, quote), error);
    }
    put_file(stream, "- baseline: ", comparison->baseline);
    put_file(stream, "- candidate: ", comparison->candidate);
    if (xb_compare_stack(comparison, &words)[0] != '\0')
        put(stream, "- changed: ", words.text, "\n");
    put(stream, "- rule: ", xb_compare_rule(comparison, &words), "\n");
    if (status == XB_OK && others > 0) {
        fprintf(stream, "\n<details><summary>Other differences: %zu</summary>\n\n", others);
        status = put_table(stream, xb_compare_differences_table(comparison, false, quote), error);
        fputs("</details>\n", stream);
    }
    return status == XB_OK ? xb_stream_finish(stream, "the Markdown", error) : status;
}
