/* SPDX-License-Identifier: Apache-2.0 */
/* The notes below the table. */
#include "table.h"
#include "text.h"

#include <stdio.h>
#include <string.h>

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

void xb_compare_print_notes(FILE *stream, const struct xb_comparison *comparison,
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
