/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "base/stream.h"
#include "base/text.h"
#include "text.h"

#include <string.h>

/*
 * GitHub Flavored Markdown, which GitLab's is close enough to. A character reference cannot stand
 * for anything that has a meaning in Markdown (CommonMark 0.31, 6.2), so texts from files are
 * written with references for all but letters, digits and what is harmless everywhere. Mentions and
 * references to issues are made from the finished HTML, but not within <code>.
 */

static bool is_harmless(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           strchr(" .,/()%+", c) != NULL;
}

/* `text` is plain, and never the first of a line: there more has a meaning. */
static void put_escaped(FILE *stream, const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        if (is_harmless(*c) || *c == '-' || (*c == ':' && c[1] == ' '))
            fputc(*c, stream);
        else if (*c == '@')
            fputs("<code>&#64;</code>", stream);
        else
            fprintf(stream, "&#%u;", (unsigned)*c);
    }
}

/* A text that stands for itself: a path, a name, a value. */
static void put_code(FILE *stream, const char *text)
{
    fputs("<code>", stream);
    for (const char *c = text; *c != '\0'; c++) {
        if (is_harmless(*c))
            fputc(*c, stream);
        else
            fprintf(stream, "&#%u;", (unsigned)*c);
    }
    fputs("</code>", stream);
}

static void put_paragraph(FILE *stream, const char *label, const char *text)
{
    if (text[0] == '\0')
        return;
    fprintf(stream, "%s: ", label);
    put_escaped(stream, text);
    fputs("\n\n", stream);
}

static void put_cell(FILE *stream, const char *text)
{
    fputs(" | ", stream);
    put_escaped(stream, text);
}

/* ---- the whole ---- */

static void put_file(FILE *stream, const char *side, const struct xb_record *record)
{
    struct xb_words words;
    fprintf(stream, "| %s | ", side);
    put_code(stream, XB_PLAIN_VALUE(record->path));
    put_cell(stream, xb_compare_file(record, &words));
    fputs(" |\n", stream);
}

static void put_opening(FILE *stream, const struct xb_comparison *comparison)
{
    char reason[XB_COMPARE_TEXT];
    struct xb_words words;
    fprintf(stream, "## xferbench compare: %s%s\n\n", xb_compare_overall(comparison),
            xb_compare_forced(comparison) ? " (FORCED: not comparable)" : "");
    if (xb_compare_forced(comparison)) {
        fputs("<strong>", stream);
        put_escaped(stream, xb_compare_forbidden(comparison, &words));
        fputs("</strong>\n\n", stream);
    }
    put_paragraph(stream, "Reason", xb_compare_plain(comparison->reason, reason, sizeof reason));
    put_paragraph(stream, "Next", xb_compare_plain(comparison->next, reason, sizeof reason));
    put_paragraph(stream, "Changed", xb_compare_stack(comparison, &words));
    put_paragraph(stream, "Note", xb_compare_needed(comparison, &words));
    fputs("| | file | measured |\n|---|---|---|\n", stream);
    put_file(stream, "baseline", comparison->baseline);
    put_file(stream, "candidate", comparison->candidate);
    fputc('\n', stream);
    put_paragraph(stream, "Rule", xb_compare_rule(comparison, &words));
}

/* ---- cases ---- */

static void put_case(FILE *stream, const struct xb_comparison *comparison,
                     const struct xb_compared *compared, bool with_level)
{
    char text[XB_COMPARE_TEXT], level[32];
    bool bad = compared->gates && xb_compare_judged(compared) &&
               compared->outcome == XB_OUTCOME_REGRESSION;
    fputs("| ", stream);
    put_escaped(stream, xb_compare_name(comparison, compared, text, sizeof text));
    put_cell(stream, xb_compare_baseline(compared, true, text, sizeof text));
    put_cell(stream, xb_compare_candidate(compared, true, text, sizeof text));
    put_cell(stream, xb_compare_says(compared, text, sizeof text));
    put_cell(stream, xb_compare_ratio(compared, text, sizeof text));
    put_cell(stream, xb_compare_interval(compared, " to ", text, sizeof text));
    if (with_level && xb_compare_level(compared, level, sizeof level)[0] != '\0')
        fprintf(stream, " (%s)", level);
    put_cell(stream, xb_compare_p(comparison, compared, text, sizeof text));
    fputs(" | ", stream);
    xb_compare_verdict(comparison, compared, text, sizeof text);
    fputs(bad ? "<strong>" : "", stream);
    put_escaped(stream, text);
    fputs(bad ? "</strong>" : "", stream);
    put_cell(stream, xb_compare_note(compared, text, sizeof text));
    fputs(" |\n", stream);
}

/* ---- differences ---- */

static void put_differences(FILE *stream, const struct xb_comparison *comparison, bool forbid)
{
    char baseline[XB_COMPARE_VALUE], candidate[XB_COMPARE_VALUE];
    fputs("| condition | baseline | candidate |\n|---|---|---|\n", stream);
    for (size_t i = 0; i < comparison->difference_count; i++) {
        const struct xb_difference *difference = &comparison->differences[i];
        if (!xb_compare_is_listed(difference, forbid))
            continue;
        xb_compare_sides(difference, baseline, candidate);
        fputs("| ", stream);
        put_code(stream, XB_PLAIN_VALUE(difference->name));
        fputs(" | ", stream);
        put_code(stream, baseline);
        fputs(" | ", stream);
        put_code(stream, candidate);
        fputs(" |\n", stream);
    }
    fputc('\n', stream);
}

enum xb_status xb_compare_markdown_write(FILE *stream, const struct xb_comparison *comparison,
                                         struct xb_error *error)
{
    char level[32];
    size_t context = xb_compare_differences(comparison, false);
    locale_t previous = xb_plain_locale_enter();
    put_opening(stream, comparison);
    xb_compare_common_level(comparison, level, sizeof level);
    if (comparison->case_count > 0)
        fprintf(stream,
                "| case | baseline | candidate | change | ratio | %s%sinterval | P | verdict | "
                "note |\n|---|---:|---:|---|---:|---:|---:|---|---|\n",
                level, level[0] != '\0' ? " " : "");
    for (size_t i = 0; i < comparison->case_count; i++)
        put_case(stream, comparison, &comparison->cases[i], level[0] == '\0');
    if (comparison->case_count > 0)
        fputc('\n', stream);
    if (xb_compare_differences(comparison, true) > 0) {
        fputs("These must be the same in both files:\n\n", stream);
        put_differences(stream, comparison, true);
    }
    if (context > 0) {
        fprintf(stream, "<details><summary>Other differences: %zu</summary>\n\n", context);
        put_differences(stream, comparison, false);
        fputs("</details>\n", stream);
    }
    enum xb_status status = xb_stream_finish(stream, "the Markdown", error);
    xb_plain_locale_leave(previous);
    return status;
}
