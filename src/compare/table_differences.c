/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the conditions that differ. */
#include "table.h"
#include "text.h"

#include <stdio.h>
#include <string.h>

enum { NAME, BASELINE, CANDIDATE, SIDES };

static const char *const headers[SIDES] = {"CONDITION", "BASELINE", "CANDIDATE"};

struct difference_row {
    char cells[SIDES][XB_COMPARE_VALUE];
};

/* How wide each column would be on a line without end, and what its longest word needs. */
struct widths {
    size_t whole[SIDES], word[SIDES], given[SIDES];
};

static void fill_difference(struct difference_row *row, const struct xb_difference *difference)
{
    xb_compare_plain(difference->name, row->cells[NAME], sizeof row->cells[NAME]);
    xb_compare_sides(difference, row->cells[BASELINE], row->cells[CANDIDATE]);
}

static void widen(struct widths *widths, size_t column, const char *text)
{
    size_t whole = strlen(text);
    widths->whole[column] = whole > widths->whole[column] ? whole : widths->whole[column];
    while (*text != '\0') {
        size_t word = strcspn(text, " ");
        widths->word[column] = word > widths->word[column] ? word : widths->word[column];
        text += word + strspn(text + word, " ");
    }
}

/* What two columns get of the room for both: no more than they need, and where that is too much
 * half each, but for what the other one does not need. */
static void share(size_t room, const size_t needed[2], size_t given[2])
{
    size_t other = needed[1] < room / 2 ? needed[1] : room / 2;
    given[0] = needed[0] < room - other ? needed[0] : room - other;
    given[1] = needed[1] < room - given[0] ? needed[1] : room - given[0];
}

/* Columns as wide as their longest words if lines have room for them; names are kept whole as long
 * as they leave room for the values. */
static void set_widths(struct widths *widths, size_t columns)
{
    static const size_t separators = 4;
    const size_t most = columns / 3;
    size_t words[2], given[2];
    widths->given[NAME] = widths->whole[NAME] < most ? widths->whole[NAME] : most;
    size_t room = columns - separators - widths->given[NAME];
    share(room, &widths->word[BASELINE], words);
    /* What is left beyond the longest words is shared as well. */
    const size_t wanted[2] = {widths->whole[BASELINE] - words[0],
                              widths->whole[CANDIDATE] - words[1]};
    share(room - words[0] - words[1], wanted, given);
    widths->given[BASELINE] = words[0] + given[0];
    widths->given[CANDIDATE] = words[1] + given[1];
}

/* Breaks a text at blanks so that no line is longer than `width`; within a word only where it is
 * longer than that. `broken` holds twice as much as the text. */
static void break_words(const char *text, size_t width, char *broken)
{
    size_t used = 0; /* of the line */
    while (*text != '\0') {
        size_t word = strcspn(text, " ");
        if (used > 0 && used + 1 + word > width) {
            *broken++ = '\n';
            used = 0;
        } else if (used > 0) {
            *broken++ = ' ';
            used++;
        }
        for (size_t i = 0; i < word; i++) {
            if (used == width) {
                *broken++ = '\n';
                used = 0;
            }
            *broken++ = text[i];
            used++;
        }
        text += word + strspn(text + word, " ");
    }
    *broken = '\0';
}

/* Prints a row, on as many lines as its cells need. */
static void print_difference(FILE *stream, const struct difference_row *row,
                             const struct widths *widths)
{
    char broken[SIDES][2 * XB_COMPARE_VALUE];
    const char *rest[SIDES];
    for (size_t i = 0; i < SIDES; i++) {
        break_words(row->cells[i], widths->given[i], broken[i]);
        rest[i] = broken[i];
    }
    while (rest[NAME][0] != '\0' || rest[BASELINE][0] != '\0' || rest[CANDIDATE][0] != '\0') {
        struct xb_words line = {.length = 0};
        for (size_t i = 0; i < SIDES; i++) {
            int length = (int)strcspn(rest[i], "\n");
            xb_words_add(&line, "%-*.*s%s", (int)widths->given[i], length, rest[i],
                         i < CANDIDATE ? "  " : "");
            rest[i] += length + (rest[i][length] == '\n');
        }
        while (line.length > 0 && line.text[line.length - 1] == ' ')
            line.text[--line.length] = '\0';
        fprintf(stream, "%s\n", line.text);
    }
}

static void print_differences(FILE *stream, const struct xb_comparison *comparison, size_t columns,
                              bool forbid)
{
    struct widths widths = {.whole = {0}};
    struct difference_row row;
    for (size_t i = 0; i < SIDES; i++)
        widen(&widths, i, headers[i]);
    for (size_t i = 0; i < comparison->difference_count; i++) {
        fill_difference(&row, &comparison->differences[i]);
        for (size_t j = 0; xb_compare_is_listed(&comparison->differences[i], forbid) && j < SIDES;
             j++)
            widen(&widths, j, row.cells[j]);
    }
    set_widths(&widths, columns);
    for (size_t i = 0; i < SIDES; i++)
        snprintf(row.cells[i], sizeof row.cells[i], "%s", headers[i]);
    print_difference(stream, &row, &widths);
    for (size_t i = 0; i < comparison->difference_count; i++) {
        fill_difference(&row, &comparison->differences[i]);
        if (xb_compare_is_listed(&comparison->differences[i], forbid))
            print_difference(stream, &row, &widths);
    }
}

void xb_compare_print_differences(FILE *stream, const struct xb_comparison *comparison,
                                  size_t columns)
{
    if (xb_compare_differences(comparison, true) > 0) {
        fputs("\nNOT COMPARABLE: these must be the same in both files\n", stream);
        print_differences(stream, comparison, columns, true);
    }
    if (xb_compare_differences(comparison, false) > 0) {
        fputs("\nOther differences\n", stream);
        print_differences(stream, comparison, columns, false);
    }
}
