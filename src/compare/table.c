/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "table.h"
#include "base/stream.h"
#include "base/terminal.h"
#include "base/text.h"
#include "text.h"

#include <string.h>

enum xb_colour xb_compare_colour(enum xb_outcome outcome, bool sure)
{
    static const enum xb_colour colours[] = {[XB_OUTCOME_PASS] = XB_COLOUR_GOOD,
                                             [XB_OUTCOME_IMPROVED] = XB_COLOUR_GOOD,
                                             [XB_OUTCOME_INCONCLUSIVE] = XB_COLOUR_WARNING,
                                             [XB_OUTCOME_REGRESSION] = XB_COLOUR_BAD};
    return sure ? colours[outcome] : XB_COLOUR_WARNING;
}

/* ---- what is compared ---- */

static void print_file(FILE *stream, const char *side, const struct xb_record *record)
{
    char path[XB_COMPARE_VALUE];
    struct xb_words words;
    xb_note_print(stream, side, XB_COMPARE_LABEL, "%s: %s",
                  xb_compare_plain(record->path, path, sizeof path),
                  xb_compare_file(record, &words));
}

static void print_header(FILE *stream, const struct xb_comparison *comparison)
{
    struct xb_words words;
    char version[XB_COMPARE_WORD];
    fprintf(stream, "xferbench %s compare\n",
            xb_compare_plain(comparison->version, version, sizeof version));
    print_file(stream, "baseline", comparison->baseline);
    print_file(stream, "candidate", comparison->candidate);
    if (xb_compare_stack(comparison, &words)[0] != '\0')
        xb_note_print(stream, "changed", XB_COMPARE_LABEL, "%s", words.text);
    xb_note_print(stream, "rule", XB_COMPARE_LABEL, "%s", xb_compare_rule(comparison, &words));
    if (xb_compare_needed(comparison, &words)[0] != '\0')
        xb_note_print(stream, "NOTE", XB_COMPARE_LABEL, "%s", words.text);
    if (xb_compare_forced(comparison))
        xb_note_print(stream, "WARNING", XB_COMPARE_LABEL, "%s",
                      xb_compare_forbidden(comparison, &words));
}

/* ---- the end ---- */

/* Columns of a unit behind a number, which stays with it. */
static size_t unit_length(const char *word, const char *rest)
{
    return word[0] >= '0' && word[0] <= '9' && rest != NULL && rest[0] == '%'
               ? 1 + strcspn(rest, " ")
               : 0;
}

/* Goes on in a line of which `used` columns are taken, and below it. */
static void print_wrapped(FILE *stream, char *text, size_t used, size_t columns)
{
    char *rest = NULL;
    for (char *word = strtok_r(text, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        size_t length = strlen(word) + 1;
        if (used + length + unit_length(word, rest) > columns) {
            fputs("\n ", stream);
            used = 1;
        }
        used += length;
        fprintf(stream, " %s", word);
    }
    fputc('\n', stream);
}

static void print_overall(FILE *stream, const struct xb_comparison *comparison, size_t columns,
                          bool colour)
{
    char text[XB_COMPARE_TEXT];
    const char *verdict = xb_compare_overall(comparison);
    const char *forced = xb_compare_forced(comparison) ? " (FORCED: not comparable)" : "";
    enum xb_colour shade =
        xb_comparison_is_refused(comparison)
            ? XB_COLOUR_BAD
            : xb_compare_colour(comparison->overall, !xb_compare_forced(comparison));
    fprintf(stream, "\nOverall: %s%s%s%s:", colour ? xb_colour_code(shade) : "", verdict,
            colour ? xb_colour_code(XB_COLOUR_NONE) : "", forced);
    size_t used = strlen("Overall: :") + strlen(verdict) + strlen(forced);
    xb_compare_plain(comparison->reason, text, sizeof text);
    print_wrapped(stream, text, used, columns);
    if (comparison->next[0] == '\0')
        return;
    fputs("Next:", stream);
    xb_compare_plain(comparison->next, text, sizeof text);
    print_wrapped(stream, text, strlen("Next:"), columns);
}

static enum xb_status print_all(FILE *stream, const struct xb_comparison *comparison,
                                size_t columns, bool colour, struct xb_error *error)
{
    size_t prose = columns < XB_PLAIN_COLUMNS ? columns : XB_PLAIN_COLUMNS;
    print_header(stream, comparison);
    if (comparison->case_count > 0) {
        struct xb_compare_shown shown;
        enum xb_status status =
            xb_compare_print_cases(stream, comparison, columns, colour, &shown, error);
        if (status != XB_OK)
            return status;
        xb_compare_print_notes(stream, comparison, &shown);
    }
    xb_compare_print_differences(stream, comparison, columns);
    print_overall(stream, comparison, prose, colour);
    return xb_stream_finish(stream, "the table", error);
}

enum xb_status xb_compare_table_write(FILE *stream, const struct xb_comparison *comparison,
                                      size_t columns, bool colour, struct xb_error *error)
{
    locale_t previous = xb_plain_locale_enter();
    enum xb_status status = print_all(stream, comparison, columns, colour, error);
    xb_plain_locale_leave(previous);
    return status;
}
