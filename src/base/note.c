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

static void print_wrapped(FILE *stream, const char *label, int width, char *text)
{
    int indent = fprintf(stream, "  %-*s", width, label);
    int used = indent;
    char *rest = NULL;
    xb_make_plain(text);
    for (char *word = strtok_r(text, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        int length = (int)strlen(word);
        if (used > indent && used + 1 + length + unit_length(word, rest) > XB_LINE_COLUMNS)
            used = fprintf(stream, "\n%*s", indent, "") - 1;
        used += fprintf(stream, used > indent ? " %s" : "%s", word);
    }
    fputc('\n', stream);
}

void xb_note_print(FILE *stream, const char *label, int width, const char *format, ...)
{
    char text[XB_NOTE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    print_wrapped(stream, label, width, text);
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
