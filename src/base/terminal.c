/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "terminal.h"

#include "text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* A terminal that nobody knows the size of counts as one of: */
#define USUAL_COLUMNS 80
#define USUAL_ROWS 24

/* A wider one than any window is a mistake of who set it. */
#define MOST_COLUMNS 1000

bool xb_is_terminal(FILE *stream)
{
    int fd = fileno(stream); /* -1 of a text in memory */
    return fd >= 0 && isatty(fd) == 1;
}

static bool is_given(const char *value)
{
    return value != NULL && value[0] != '\0';
}

/* How many columns a terminal has, however few. */
static size_t columns_of_window(FILE *stream)
{
    struct winsize window;
    if (ioctl(fileno(stream), TIOCGWINSZ, &window) == 0 && window.ws_col > 0)
        return window.ws_col;
    const char *text = getenv("COLUMNS");
    char *end = NULL;
    long columns = is_given(text) ? strtol(text, &end, 10) : 0;
    return columns > 0 && *end == '\0' ? (size_t)columns : USUAL_COLUMNS;
}

size_t xb_terminal_columns(FILE *stream)
{
    if (!xb_is_terminal(stream))
        return XB_PLAIN_COLUMNS;
    size_t columns = columns_of_window(stream);
    if (columns < XB_LEAST_COLUMNS)
        return XB_LEAST_COLUMNS;
    return columns < MOST_COLUMNS ? columns : MOST_COLUMNS;
}

size_t xb_terminal_prose_columns(FILE *stream)
{
    size_t columns = xb_terminal_columns(stream);
    return columns < XB_PLAIN_COLUMNS ? columns : XB_PLAIN_COLUMNS;
}

size_t xb_terminal_rows(FILE *stream)
{
    struct winsize window;
    if (!xb_is_terminal(stream))
        return 0;
    return ioctl(fileno(stream), TIOCGWINSZ, &window) == 0 && window.ws_row > 0 ? window.ws_row
                                                                                : USUAL_ROWS;
}

static bool is_dumb(void)
{
    const char *terminal = getenv("TERM");
    return terminal != NULL && strcmp(terminal, "dumb") == 0;
}

bool xb_terminal_has_cursor(FILE *stream)
{
    return xb_is_terminal(stream) && !is_dumb() && columns_of_window(stream) >= XB_LEAST_COLUMNS;
}

static enum xb_colours wanted_colours = XB_COLOURS_AUTO;

void xb_terminal_want_colours(enum xb_colours colours)
{
    wanted_colours = colours;
}

bool xb_terminal_has_colours(FILE *stream)
{
    if (wanted_colours != XB_COLOURS_AUTO)
        return wanted_colours == XB_COLOURS_ALWAYS;
    return xb_is_terminal(stream) && !is_dumb() && !is_given(getenv("NO_COLOR"));
}

bool xb_locale_has_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = getenv(names[i]);
        const char *charset = is_given(value) ? strchr(value, '.') : NULL;
        if (is_given(value))
            return charset != NULL && (strncasecmp(charset, ".UTF-8", 6) == 0 ||
                                       strncasecmp(charset, ".UTF8", 5) == 0);
    }
    return false;
}

const char *xb_colour_begin(FILE *stream, enum xb_colour colour)
{
    static const char *const codes[] = {[XB_COLOUR_GOOD] = "\033[32m",
                                        [XB_COLOUR_WARNING] = "\033[33m",
                                        [XB_COLOUR_BAD] = "\033[31m",
                                        [XB_COLOUR_TITLE] = "\033[1m"};
    return colour != XB_COLOUR_NONE && xb_terminal_has_colours(stream) ? codes[colour] : "";
}

const char *xb_colour_end(FILE *stream, enum xb_colour colour)
{
    return xb_colour_begin(stream, colour)[0] != '\0' ? "\033[0m" : "";
}

void xb_make_plain(char *text)
{
    char *const start = text;
    char *out = text;
    while (*text != '\0') {
        size_t length = xb_utf8_length(text);
        *out++ = *text >= ' ' && *text <= '~' ? *text : strchr("\t\r\n", *text) ? ' ' : '?';
        text += length > 0 ? length : 1;
    }
    *out = '\0';
    for (char *c = start; c[0] != '\0'; c++)
        if ((c[0] == ':' || c[0] == '#') && c[1] == c[0])
            c[1] = ' ';
}

/* Whether no line may break between two words: "55.3 GB/s", "18 x 26.6", "Gen5 x16". */
static bool belong_together(const char *word, const char *next)
{
    static const char *const units[] = {"%",  "GB/s", "B",  "KiB", "MiB", "GiB", "KB", "MB",
                                        "GB", "ns",   "us", "ms",  "s",   "min", "h"};
    size_t length = strcspn(next, " ,;:.)");
    word += strspn(word, "(+-");
    if (strncmp(word, "Gen", 3) == 0)
        return next[0] == 'x' && isdigit((unsigned char)next[1]);
    if (!isdigit((unsigned char)word[0]))
        return strncmp(word, "x ", 2) == 0 && isdigit((unsigned char)next[0]);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strlen(units[i]) == length && strncmp(next, units[i], length) == 0)
            return true;
    return strncmp(next, "x ", 2) == 0;
}

/* The length of a word and of all behind it that have to stand in the same line. */
static int length_together(const char *word)
{
    const char *last = word;
    const char *end = word + strcspn(word, " ");
    while (end[0] == ' ' && belong_together(last, end + 1)) {
        last = end + 1;
        end = last + strcspn(last, " ");
    }
    return (int)(end - word);
}

size_t xb_whole_words(const char *text, size_t room)
{
    size_t end = 0, begin = strspn(text, " ");
    while (text[begin] != '\0' && begin + (size_t)length_together(text + begin) <= room) {
        end = begin + (size_t)length_together(text + begin);
        begin = end + strspn(text + end, " ");
    }
    while (text[begin] != '\0' && end > 0 && strchr(",;:", text[end - 1]) != NULL)
        end--;
    return end;
}

/* Prints words in lines of `width`. All but the first line, which has `used` columns already, are
 * indented. `breaks`: words longer than a line, such as paths, are broken. In a file they stay
 * whole, to be searched for; a window would break them anyway, and without the indent. */
static void write_words(FILE *stream, const char *text, int width, int indent, int used,
                        bool breaks)
{
    bool is_begun = false; /* the line has a word */
    for (const char *word = text + strspn(text, " "); word[0] != '\0'; word += strspn(word, " ")) {
        int length = (int)strcspn(word, " ");
        if (is_begun && used + 1 + length_together(word) > width) {
            fprintf(stream, "\n%*s", indent, "");
            used = indent;
        } else if (is_begun) {
            used += fprintf(stream, " ");
        }
        for (int room = width - used; breaks && length > room && room > 0; room = width - used) {
            fprintf(stream, "%.*s\n%*s", room, word, indent, "");
            word += room;
            length -= room;
            used = indent;
        }
        used += fprintf(stream, "%.*s", length, word);
        is_begun = true;
        word += length;
    }
}

void xb_wrapped_print(FILE *stream, const char *text, int indent, int used)
{
    write_words(stream, text, (int)xb_terminal_prose_columns(stream), indent, used, false);
    fputc('\n', stream);
}

void xb_note_print_in(FILE *stream, enum xb_colour colour, const char *label, int width,
                      const char *format, ...)
{
    char text[XB_NOTE_SIZE];
    int length = (int)strlen(label);
    int indent = 2 + (length > width ? length : width);
    XB_FORMAT(text, sizeof text, format);
    xb_make_plain(text);
    fprintf(stream, "  %s%s%s%*s", xb_colour_begin(stream, colour), label,
            xb_colour_end(stream, colour), indent - 2 - length, "");
    write_words(stream, text, (int)xb_terminal_prose_columns(stream), indent, indent,
                xb_is_terminal(stream));
    fputc('\n', stream);
}

void xb_lines_print_in(FILE *stream, size_t width, enum xb_colour colour, const char *format, ...)
{
    char text[XB_NOTE_SIZE];
    XB_FORMAT(text, sizeof text, format);
    xb_make_plain(text);
    fputs(xb_colour_begin(stream, colour), stream);
    write_words(stream, text, (int)width, 2, 0, xb_is_terminal(stream));
    fprintf(stream, "%s\n", xb_colour_end(stream, colour));
}

void xb_words_add(struct xb_words *words, const char *format, ...)
{
    XB_FORMAT(words->text + words->length, sizeof words->text - words->length, format);
    words->length += strlen(words->text + words->length);
}

void xb_say(const char *format, ...)
{
    char text[2048], plain[4096];
    XB_FORMAT(text, sizeof text, format);
    xb_plain_text(text, plain, sizeof plain);
    if (!xb_is_terminal(stderr)) { /* one line, for grep, in one write: others write there too */
        fprintf(stderr, "xferbench: %s\n", plain);
        return;
    }
    fputs("xferbench: ", stderr);
    xb_wrapped_print(stderr, plain, 2, (int)strlen("xferbench: "));
}

void xb_debug(const char *topic, const char *format, ...)
{
    const char *wanted = getenv("XFERBENCH_DEBUG");
    char text[512];
    if (wanted == NULL || !xb_list_has(wanted, topic))
        return;
    XB_FORMAT(text, sizeof text, format);
    xb_say("%s: %s", topic, text);
}
