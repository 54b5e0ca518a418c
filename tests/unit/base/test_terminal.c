/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* posix_openpt, ptsname_r */
#include "base/terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "testing.h"

/* A terminal of our own: what the test runs in may have none. */
struct terminal {
    int master;
    FILE *stream;
};

static const char *const variables[] = {"COLUMNS", "NO_COLOR", "TERM",
                                        "LC_ALL",  "LC_CTYPE", "LANG"};

static int open_terminal(void **state)
{
    static struct terminal terminal;
    char name[64];
    terminal.master = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(terminal.master >= 0);
    assert_int_equal(grantpt(terminal.master), 0);
    assert_int_equal(unlockpt(terminal.master), 0);
    assert_int_equal(ptsname_r(terminal.master, name, sizeof name), 0);
    int fd = open(name, O_RDWR | O_NOCTTY);
    assert_true(fd >= 0);
    terminal.stream = fdopen(fd, "w");
    assert_non_null(terminal.stream);
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        unsetenv(variables[i]);
    *state = &terminal;
    return 0;
}

static int close_terminal(void **state)
{
    struct terminal *terminal = *state;
    fclose(terminal->stream);
    close(terminal->master);
    return 0;
}

static void set_columns(const struct terminal *terminal, unsigned short columns)
{
    const struct winsize window = {.ws_row = 24, .ws_col = columns};
    assert_int_equal(ioctl(terminal->master, TIOCSWINSZ, &window), 0);
}

TEST_WITH(terminal_has_the_width_of_its_window, open_terminal, close_terminal)
{
    struct terminal *terminal = *state;
    setenv("COLUMNS", "70", 1);
    set_columns(terminal, 132);
    assert_int_equal(xb_terminal_columns(terminal->stream), 132);
    assert_int_equal(xb_terminal_prose_columns(terminal->stream), 100);
    set_columns(terminal, 60);
    assert_int_equal(xb_terminal_columns(terminal->stream), 60);
    assert_int_equal(xb_terminal_prose_columns(terminal->stream), 60);
    set_columns(terminal, 3);
    assert_int_equal(xb_terminal_columns(terminal->stream), 40);
}

TEST_WITH(terminal_without_a_window_takes_the_environment, open_terminal, close_terminal)
{
    struct terminal *terminal = *state;
    set_columns(terminal, 0);
    assert_int_equal(xb_terminal_columns(terminal->stream), 80);
    setenv("COLUMNS", "70", 1);
    assert_int_equal(xb_terminal_columns(terminal->stream), 70);
    setenv("COLUMNS", "70x", 1);
    assert_int_equal(xb_terminal_columns(terminal->stream), 80);
    setenv("COLUMNS", "99999999999999999999", 1);
    assert_int_equal(xb_terminal_columns(terminal->stream), 1000);
}

TEST_WITH(terminal_has_the_height_of_its_window, open_terminal, close_terminal)
{
    struct terminal *terminal = *state;
    set_columns(terminal, 80);
    assert_int_equal(xb_terminal_rows(terminal->stream), 24);
    const struct winsize window = {.ws_row = 7, .ws_col = 80};
    assert_int_equal(ioctl(terminal->master, TIOCSWINSZ, &window), 0);
    assert_int_equal(xb_terminal_rows(terminal->stream), 7);
    const struct winsize unknown = {.ws_row = 0, .ws_col = 80};
    assert_int_equal(ioctl(terminal->master, TIOCSWINSZ, &unknown), 0);
    assert_int_equal(xb_terminal_rows(terminal->stream), 24);
}

TEST_WITH(dumb_terminal_has_no_cursor, open_terminal, close_terminal)
{
    struct terminal *terminal = *state;
    assert_true(xb_terminal_has_cursor(terminal->stream));
    setenv("TERM", "xterm", 1);
    setenv("NO_COLOR", "1", 1);
    assert_true(xb_terminal_has_cursor(terminal->stream));
    setenv("TERM", "dumb", 1);
    assert_false(xb_terminal_has_cursor(terminal->stream));
}

TEST_WITH(narrow_terminal_has_no_cursor, open_terminal, close_terminal)
{
    struct terminal *terminal = *state;
    set_columns(terminal, 40);
    assert_true(xb_terminal_has_cursor(terminal->stream));
    set_columns(terminal, 39);
    assert_false(xb_terminal_has_cursor(terminal->stream));
    assert_true(xb_terminal_has_colours(terminal->stream));
}

TEST_WITH(all_else_has_one_width_and_no_colours, open_terminal, close_terminal)
{
    char *text = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length);
    FILE *null = fopen("/dev/null", "w");
    assert_non_null(memory);
    assert_non_null(null);
    setenv("COLUMNS", "70", 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    FILE *const streams[] = {memory, null};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(xb_terminal_columns(streams[i]), 100);
        assert_int_equal(xb_terminal_rows(streams[i]), 0);
        assert_false(xb_terminal_has_cursor(streams[i]));
        assert_false(xb_terminal_has_colours(streams[i]));
        assert_string_equal(xb_colour_begin(streams[i], XB_COLOUR_BAD), "");
        assert_string_equal(xb_colour_end(streams[i], XB_COLOUR_BAD), "");
    }
    fclose(null);
    fclose(memory);
    free(text);
}

TEST_WITH(colours_can_be_refused, open_terminal, close_terminal)
{
    struct terminal *terminal = *state;
    assert_true(xb_terminal_has_colours(terminal->stream));
    assert_string_equal(xb_colour_begin(terminal->stream, XB_COLOUR_BAD), "\033[31m");
    assert_string_equal(xb_colour_end(terminal->stream, XB_COLOUR_BAD), "\033[0m");
    assert_string_equal(xb_colour_begin(terminal->stream, XB_COLOUR_NONE), "");
    assert_string_equal(xb_colour_end(terminal->stream, XB_COLOUR_NONE), "");
    setenv("NO_COLOR", "", 1);
    assert_true(xb_terminal_has_colours(terminal->stream));
    setenv("NO_COLOR", "1", 1);
    assert_false(xb_terminal_has_colours(terminal->stream));
    unsetenv("NO_COLOR");
    setenv("TERM", "dumb", 1);
    assert_false(xb_terminal_has_colours(terminal->stream));
}

TEST_WITH(first_locale_that_is_set_tells_of_utf8, open_terminal, close_terminal)
{
    assert_false(xb_locale_has_utf8());
    setenv("LANG", "de_DE.utf8", 1);
    assert_true(xb_locale_has_utf8());
    setenv("LC_CTYPE", "C", 1);
    assert_false(xb_locale_has_utf8());
    setenv("LC_ALL", "en_US.UTF-8@euro", 1);
    assert_true(xb_locale_has_utf8());
    setenv("LC_ALL", "", 1);
    assert_false(xb_locale_has_utf8());
}
