/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * What the place that a stream writes to can show: how wide it is, and whether it has colours.
 * Everything but a terminal (a pipe, a file, a text in memory) has one width and no colours, so
 * that what is kept does not depend on the window it was made in.
 */

/* Columns of what is no terminal. Sentences are not made wider than this on a terminal either,
 * because longer lines are hard to read. */
#define XB_PLAIN_COLUMNS 100

/* A terminal that is narrower, or says so, is written to as if it had as many. */
#define XB_LEAST_COLUMNS 40

bool xb_is_terminal(FILE *stream);

/* How many columns a line may take: of a terminal that does not know its width what COLUMNS says,
 * else 80. Changes with the window: ask once for each table. */
size_t xb_terminal_columns(FILE *stream);

/* The same for sentences: XB_PLAIN_COLUMNS at most. */
size_t xb_terminal_prose_columns(FILE *stream);

/* How many lines it shows at a time: of a terminal that does not know 24; 0 of what is none. */
size_t xb_terminal_rows(FILE *stream);

/* Whether the cursor can go back to what is written: on a terminal, unless it is a dumb one (TERM),
 * or narrower than XB_LEAST_COLUMNS, because lines that are wider than it take several. */
bool xb_terminal_has_cursor(FILE *stream);

/* What --color says, in the order of its words. */
enum xb_colours { XB_COLOURS_AUTO, XB_COLOURS_ALWAYS, XB_COLOURS_NEVER };
void xb_terminal_want_colours(enum xb_colours colours);

/* Whether to colour. AUTO: on a terminal, unless it is a dumb one (TERM) or NO_COLOR has any value
 * (https://no-color.org). ALWAYS: everywhere but in a text in memory. */
bool xb_terminal_has_colours(FILE *stream);

/* Whether texts may have UTF-8 in them: by LC_ALL, LC_CTYPE or LANG, the first that is set. The
 * same for a pipe and a terminal. */
bool xb_locale_has_utf8(void);

enum xb_colour {
    XB_COLOUR_NONE,
    XB_COLOUR_GOOD,
    XB_COLOUR_WARNING,
    XB_COLOUR_BAD,
    XB_COLOUR_TITLE
};

/* What begins and ends a text in that colour; "" where the stream has no colours. They take no
 * column. Static memory. */
const char *xb_colour_begin(FILE *stream, enum xb_colour colour);
const char *xb_colour_end(FILE *stream, enum xb_colour colour);
