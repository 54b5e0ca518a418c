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
    struct xb_words words;
    xb_note_print(stream, side, XB_COMPARE_LABEL, "%s: %s", XB_PLAIN_VALUE(record->path),
                  xb_compare_file(record, &words));
}

/* ---- the notes below the cases ---- */

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
        snprintf(more, sizeof more, others > 1 ? " and the next %zu" : " and the next one", others);
    xb_note_print(stream, "case", XB_COMPARE_LABEL, "%s%s: %s",
                  xb_compare_name(comparison, compared, name, sizeof name), more, note);
}

/* Where the heading cannot tell the level of all intervals: where each level begins. */
static void print_levels(FILE *stream, const struct xb_comparison *comparison)
{
    static const size_t most = 4;
    static const char unknown[] = "of the samples within single processes; its level is not known";
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
            xb_note_print(stream, "interval", XB_COMPARE_LABEL, "from %s on: %s",
                          xb_compare_name(comparison, compared, name, sizeof name),
                          level[0] != '\0' ? level : unknown);
        snprintf(before, sizeof before, "%s", level);
    }
    if (changes > most)
        xb_note_print(stream, "interval", XB_COMPARE_LABEL,
                      "and so on, with %zu changes more: the JSON has the level of each",
                      changes - most);
}

/* What the numbers are, and what there is to say of a case. */
static void print_notes(FILE *stream, const struct xb_comparison *comparison,
                        const struct xb_compare_shown *shown)
{
    fputs("\nNotes\n", stream);
    xb_note_print(stream, "figures", XB_COMPARE_LABEL,
                  "medians over the processes, bandwidths in GB/s (10^9 bytes per second)%s",
                  shown->ratio ? "; RATIO is the candidate's figure divided by the baseline's"
                               : "");
    if (shown->sure)
        xb_note_print(stream, "sure of", XB_COMPARE_LABEL,
                      "how large the change is at least, or a loss at most: each row by itself");
    if (shown->p)
        xb_note_print(stream, "P", XB_COMPARE_LABEL,
                      "how likely data like this is if the verdict is wrong");
    if (shown->interval)
        print_levels(stream, comparison);
    for (size_t i = 0; i < comparison->case_count; i++)
        print_note(stream, comparison, i);
}

/* ---- the end ---- */

/* Goes on in a line of which `used` columns are taken, and below it. */
static void print_wrapped(FILE *stream, char *text, size_t used, size_t columns)
{
    char *rest = NULL;
    for (char *word = strtok_r(text, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        size_t length = strlen(word) + 1;
        /* A unit stays with the number before it. */
        bool has_unit = word[0] >= '0' && word[0] <= '9' && rest != NULL && rest[0] == '%';
        if (used + length + (has_unit ? 1 + strcspn(rest, " ") : 0) > columns) {
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

enum xb_status xb_compare_table_write(FILE *stream, const struct xb_comparison *comparison,
                                      size_t columns, bool colour, struct xb_error *error)
{
    struct xb_words words;
    size_t prose = columns < XB_PLAIN_COLUMNS ? columns : XB_PLAIN_COLUMNS;
    enum xb_status status = XB_OK;
    locale_t previous = xb_plain_locale_enter();
    fprintf(stream, "xferbench %s compare\n", XB_PLAIN_WORD(comparison->version));
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
    if (comparison->case_count > 0) {
        struct xb_compare_shown shown;
        status = xb_compare_print_cases(stream, comparison, columns, colour, &shown, error);
        if (status == XB_OK)
            print_notes(stream, comparison, &shown);
    }
    if (status == XB_OK) {
        xb_compare_print_differences(stream, comparison, columns);
        print_overall(stream, comparison, prose, colour);
        status = xb_stream_finish(stream, "the table", error);
    }
    xb_plain_locale_leave(previous);
    return status;
}
