/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "terminal.h"

#include <linux/limits.h>
#include <stddef.h>
#include <stdio.h>

/* Large enough for any text of a run with a row's name before it, and for any path. */
#define XB_NOTE_SIZE (PATH_MAX + 512)

/* Makes a text plain ASCII in place, because a note may hold a driver's message or a user's file
 * name. It does not get longer. A blank replaces the second of two colons or hashes in a row, which
 * could begin a command of a CI system (xb_plain_text). */
void xb_make_plain(char *text);

/* How much of the text takes `room` characters at most and cuts no word, and no number from its
 * unit. What is left out behind a comma or colon leaves that out too. */
size_t xb_whole_words(const char *text, size_t room);

/* Prints words within xb_terminal_prose_columns(), behind `used` columns of the first line; further
 * lines are indented. Words stay whole. */
void xb_wrapped_print(FILE *stream, const char *text, int indent, int used);

/* Prints words after a label in that colour, padded to `width`, and further lines under the first
 * word: within xb_terminal_prose_columns(). A word longer than a line, a path, is broken on a
 * terminal only. */
void xb_note_print_in(FILE *stream, enum xb_colour colour, const char *label, int width,
                      const char *format, ...) __attribute__((format(printf, 5, 6)));
#define xb_note_print(stream, label, width, ...)                                                   \
    xb_note_print_in((stream), XB_COLOUR_NONE, (label), (width), __VA_ARGS__)

/* Prints words without a label in that colour, within `width`; further lines are indented by 2. */
void xb_lines_print_in(FILE *stream, size_t width, enum xb_colour colour, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
#define xb_lines_print(stream, width, ...)                                                         \
    xb_lines_print_in((stream), (width), XB_COLOUR_NONE, __VA_ARGS__)
/* The same for what stands above others. */
#define xb_heading_print(stream, colour, ...)                                                      \
    xb_lines_print_in((stream), xb_terminal_prose_columns(stream), (colour), __VA_ARGS__)

/* A line that is built piece by piece. Text that does not fit is left out. Zero-initialise. */
struct xb_words {
    char text[XB_NOTE_SIZE];
    size_t length;
};

void xb_words_add(struct xb_words *words, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
