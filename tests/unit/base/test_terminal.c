/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* posix_openpt, ptsname_r */
#include "base/stream.h"
#include "base/terminal.h"
#include "rows.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* A terminal of our own: what the test runs in may have none. */
struct terminal {
    int master;
    FILE *stream;
};

static const char *const variables[] = {"COLUMNS", "NO_COLOR", "TERM",
                                        "LC_ALL",  "LC_CTYPE", "LANG"};

static struct terminal terminal;

static void forget_variables(void)
{
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        unsetenv(variables[i]);
}

static int open_terminal(NO_STATE)
{
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
    return 0;
}

static int close_terminal(NO_STATE)
{
    fclose(terminal.stream);
    return close(terminal.master);
}

/* "variables | columns and rows of the window": what the terminal has then. */
static void say_terminal(const struct row *row, char said[ROW_TEXT])
{
    char settings[200], *rest = NULL;
    struct winsize window = {.ws_row = 0};
    forget_variables();
    snprintf(settings, sizeof settings, "%s", row->part[0]);
    for (char *name = strtok_r(settings, " ", &rest); name != NULL;
         name = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(name, '=');
        *value = '\0';
        assert_int_equal(setenv(name, value + 1, 1), 0);
    }
    assert_int_equal(sscanf(row->part[1], "%hu x %hu", &window.ws_col, &window.ws_row), 2);
    assert_int_equal(ioctl(terminal.master, TIOCSWINSZ, &window), 0);
    say_also(said, "%zu columns, %zu of prose, %zu rows, %scursor, %scolours, %sUTF-8",
             (size_t)xb_terminal_columns(terminal.stream),
             (size_t)xb_terminal_prose_columns(terminal.stream),
             (size_t)xb_terminal_rows(terminal.stream),
             xb_terminal_has_cursor(terminal.stream) ? "" : "no ",
             xb_terminal_has_colours(terminal.stream) ? "" : "no ",
             xb_locale_has_utf8() ? "" : "no ");
}
TEST_ROWS(a_terminal_is_as_its_window_and_variables_say, say_terminal)

TEST(colours_are_codes_of_the_terminal)
{
    forget_variables();
    assert_string_equal(xb_colour_begin(terminal.stream, XB_COLOUR_BAD), "\033[31m");
    assert_string_equal(xb_colour_end(terminal.stream, XB_COLOUR_BAD), "\033[0m");
    assert_string_equal(xb_colour_begin(terminal.stream, XB_COLOUR_NONE), "");
    assert_string_equal(xb_colour_end(terminal.stream, XB_COLOUR_NONE), "");
}

TEST(all_else_has_one_width_and_no_colours)
{
    struct xb_memory_text text = {.text = NULL};
    FILE *memory = xb_memory_text_begin(&text);
    FILE *null = fopen("/dev/null", "w");
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
    xb_memory_text_end(&text);
    free(text.text);
}

/* "width | text": in lines that fit, or with a label and an indentation. */
static void say_lines(const struct row *row, char said[ROW_TEXT])
{
    struct xb_memory_text printed = {.text = NULL};
    FILE *stream = xb_memory_text_begin(&printed);
    if (row->count == 2)
        xb_lines_print(stream, (unsigned)row_number(row, 0), "%s", row->part[1]);
    else
        xb_note_print(stream, row->part[1], (int)row_number(row, 0), "%s", row->part[2]);
    xb_memory_text_end(&printed);
    say_also(said, "%s", printed.text);
    free(printed.text);
}
TEST_ROWS(lines_stay_within_the_width, say_lines)

GROUP(open_terminal, close_terminal)
