/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <linux/limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* What the place that a stream writes to can show. All but a terminal has one width and no colours,
 * so that what is kept does not depend on a window. */

/* Columns of what is no terminal, and the most of a sentence: longer lines are hard to read. */
#define XB_PLAIN_COLUMNS 100
/* A terminal that is narrower, or says so, is written to as if it had as many. */
#define XB_LEAST_COLUMNS 40

bool xb_is_terminal(FILE *stream);
/* How many columns a line may take: of a terminal that does not know, what COLUMNS says, else 80.
 * Changes with the window: ask once for each table. */
size_t xb_terminal_columns(FILE *stream);
/* How many a sentence may take: XB_PLAIN_COLUMNS at most. */
size_t xb_terminal_prose_columns(FILE *stream);
/* How many lines it shows at a time: of a terminal that does not know 24; 0 of what is none. */
size_t xb_terminal_rows(FILE *stream);
/* Whether the cursor can go back to what is written: on a terminal, unless it is a dumb one (TERM),
 * or narrower than XB_LEAST_COLUMNS, where long lines take several. */
bool xb_terminal_has_cursor(FILE *stream);

/* What --color says, in the order of its words. */
enum xb_colours { XB_COLOURS_AUTO, XB_COLOURS_ALWAYS, XB_COLOURS_NEVER };
void xb_terminal_want_colours(enum xb_colours colours);

/* Whether to colour. AUTO: on a terminal, unless it is a dumb one (TERM) or NO_COLOR has any value
 * (https://no-color.org). ALWAYS: everywhere but in a text in memory. */
bool xb_terminal_has_colours(FILE *stream);

/* Whether texts may have UTF-8, on a terminal or not: LC_ALL, LC_CTYPE or LANG, the first set. */
bool xb_locale_has_utf8(void);

enum xb_colour {
    XB_COLOUR_NONE,
    XB_COLOUR_GOOD,
    XB_COLOUR_WARNING,
    XB_COLOUR_BAD,
    XB_COLOUR_TITLE
};

/* What begins and ends a text in that colour, static; "" where there are none. Takes no column. */
const char *xb_colour_begin(FILE *stream, enum xb_colour colour);
const char *xb_colour_end(FILE *stream, enum xb_colour colour);

/* Large enough for any text of a run with a row's name before it, and for any path. */
#define XB_NOTE_SIZE (PATH_MAX + 512)

/* Makes a text plain ASCII in place, no longer than before. A blank replaces the second of two
 * colons or hashes, which could begin a command of a CI system (xb_plain_text). */
void xb_make_plain(char *text);

/* How much of the text takes `room` characters at most and cuts no word, no number from its unit. A
 * comma or colon at the end is left out too. */
size_t xb_whole_words(const char *text, size_t room);

/* Prints words within xb_terminal_prose_columns(), behind `used` columns of the first line; further
 * lines are indented. */
void xb_wrapped_print(FILE *stream, const char *text, int indent, int used);

/* Prints words after a label in that colour, padded to `width`, and further lines under the first,
 * within xb_terminal_prose_columns(). A terminal breaks words longer than a line: paths. */
void xb_note_print_in(FILE *stream, enum xb_colour colour, const char *label, int width,
                      const char *format, ...) __attribute__((format(printf, 5, 6)));
#define xb_note_print(stream, label, width, ...)                                                   \
    xb_note_print_in((stream), XB_COLOUR_NONE, (label), (width), __VA_ARGS__)

/* Prints words without a label in that colour, within `width`; further lines are indented by 2. */
void xb_lines_print_in(FILE *stream, size_t width, enum xb_colour colour, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
#define xb_lines_print(stream, width, ...)                                                         \
    xb_lines_print_in((stream), (width), XB_COLOUR_NONE, __VA_ARGS__)
/* Prints such words as what stands above others. */
#define xb_heading_print(stream, colour, ...)                                                      \
    xb_lines_print_in((stream), xb_terminal_prose_columns(stream), (colour), __VA_ARGS__)

/* A line that is built piece by piece. Text that does not fit is left out. Zero-initialise. */
struct xb_words {
    char text[XB_NOTE_SIZE];
    size_t length;
};

void xb_words_add(struct xb_words *words, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Behind a noun of which there are so many. */
#define XB_PLURAL(count) ((count) == 1 ? "" : "s")
