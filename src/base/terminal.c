/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* struct winsize */
#include "terminal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Of a terminal that nobody knows the size of. */
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

/* Of a terminal, however few. */
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

/* What begins the colour; of XB_COLOUR_NONE what ends any. */
static const char *code_of(enum xb_colour colour)
{
    static const char *const codes[] = {[XB_COLOUR_NONE] = "\033[0m",
                                        [XB_COLOUR_GOOD] = "\033[32m",
                                        [XB_COLOUR_WARNING] = "\033[33m",
                                        [XB_COLOUR_BAD] = "\033[31m",
                                        [XB_COLOUR_TITLE] = "\033[1m"};
    return codes[colour];
}

const char *xb_colour_begin(FILE *stream, enum xb_colour colour)
{
    bool any = colour != XB_COLOUR_NONE && xb_terminal_has_colours(stream);
    return any ? code_of(colour) : "";
}

const char *xb_colour_end(FILE *stream, enum xb_colour colour)
{
    bool any = colour != XB_COLOUR_NONE && xb_terminal_has_colours(stream);
    return any ? code_of(XB_COLOUR_NONE) : "";
}
