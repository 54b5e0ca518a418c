/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "note.h"
#include "text.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

void xb_make_plain(char *text)
{
    char *const start = text;
    char *out = text;
    while (*text != '\0') {
        size_t length = xb_utf8_length(text);
        bool plain = *text >= ' ' && *text <= '~';
        *out++ = plain ? *text : strchr("\t\r\n", *text) != NULL ? ' ' : '?';
        text += length > 0 ? length : 1;
    }
    *out = '\0';
    for (char *c = start; c[0] != '\0'; c++)
        if ((c[0] == ':' || c[0] == '#') && c[1] == c[0])
            c[1] = ' ';
}

/* The length of the unit behind a number, with the blank before it, or 0: a line must not break
 * between the two. */
static int unit_length(const char *word, const char *rest)
{
    static const char *const units[] = {"%",  "GB/s", "B",  "KiB", "MiB", "GiB",
                                        "ns", "us",   "ms", "s",   "min", "h"};
    word += strspn(word, "(+-");
    if (rest == NULL || *word < '0' || *word > '9')
        return 0;
    size_t length = strcspn(rest, " ,;:.)");
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strlen(units[i]) == length && strncmp(rest, units[i], length) == 0)
            return (int)strcspn(rest, " ") + 1;
    return 0;
}

/* Where words are printed, line by line. */
struct lines {
    FILE *stream;
    int width, indent; /* of a line; of all of them but the first */
    int used;          /* of the one that is printed */
    bool is_begun;     /* it has a word */
};

static void begin_line(struct lines *lines)
{
    fprintf(lines->stream, "\n%*s", lines->indent, "");
    lines->used = lines->indent;
    lines->is_begun = false;
}

/* A path may be longer than a line. In a file it stays whole, to be searched for; a window would
 * break it anyway, and without the indent. */
static void put_word(struct lines *lines, const char *word, int length)
{
    int room = lines->width - lines->used;
    while (length > room && room > 0 && xb_is_terminal(lines->stream)) {
        fprintf(lines->stream, "%.*s", room, word);
        word += room;
        length -= room;
        begin_line(lines);
        room = lines->width - lines->used;
    }
    lines->used += fprintf(lines->stream, "%s", word);
    lines->is_begun = true;
}

/* Breaks the text, which it spoils, into lines. */
static void put_words(struct lines *lines, char *text)
{
    char *rest = NULL;
    xb_make_plain(text);
    for (char *word = strtok_r(text, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        int length = (int)strlen(word);
        if (lines->is_begun && lines->used + 1 + length + unit_length(word, rest) > lines->width)
            begin_line(lines);
        if (lines->is_begun)
            lines->used += fprintf(lines->stream, " ");
        put_word(lines, word, length);
    }
}

static void print_note(FILE *stream, enum xb_colour colour, const char *label, int width,
                       const char *format, va_list arguments)
{
    struct lines lines = {.stream = stream, .width = (int)xb_terminal_prose_columns(stream)};
    char text[XB_NOTE_SIZE];
    int length = (int)strlen(label);
    vsnprintf(text, sizeof text, format, arguments);
    lines.indent = lines.used = 2 + (length > width ? length : width);
    fprintf(stream, "  %s%s%s%*s", xb_colour_begin(stream, colour), label,
            xb_colour_end(stream, colour), lines.indent - 2 - length, "");
    put_words(&lines, text);
    fputc('\n', stream);
}

void xb_note_print(FILE *stream, const char *label, int width, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_note(stream, XB_COLOUR_NONE, label, width, format, arguments);
    va_end(arguments);
}

void xb_note_print_in(FILE *stream, enum xb_colour colour, const char *label, int width,
                      const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_note(stream, colour, label, width, format, arguments);
    va_end(arguments);
}

static void print_lines(FILE *stream, size_t width, enum xb_colour colour, const char *format,
                        va_list arguments)
{
    struct lines lines = {.stream = stream, .width = (int)width, .indent = 2};
    char text[XB_NOTE_SIZE];
    vsnprintf(text, sizeof text, format, arguments);
    fputs(xb_colour_begin(stream, colour), stream);
    put_words(&lines, text);
    fprintf(stream, "%s\n", xb_colour_end(stream, colour));
}

void xb_lines_print(FILE *stream, size_t width, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_lines(stream, width, XB_COLOUR_NONE, format, arguments);
    va_end(arguments);
}

void xb_heading_print(FILE *stream, enum xb_colour colour, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_lines(stream, xb_terminal_prose_columns(stream), colour, format, arguments);
    va_end(arguments);
}

void xb_words_add(struct xb_words *words, const char *format, ...)
{
    va_list arguments;
    size_t room = sizeof words->text - words->length;
    va_start(arguments, format);
    int more = vsnprintf(words->text + words->length, room, format, arguments);
    va_end(arguments);
    if (more > 0)
        words->length += (size_t)more < room ? (size_t)more : room - 1;
}
