/* SPDX-License-Identifier: Apache-2.0 */
#include "base/columns.h"
#include "base/stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MODE, RATE, LEAST, MOST, COUNT, PROVEN, COLUMNS };

static const char *const names[] = {"MODE", "GB/s", "MIN", "MAX", "N", "VERIFIED"};
static const char *const rows[][COLUMNS] = {
    {"double-buffer", "80.83", "79.87", "81.48", "20", "yes"},
    {"pinned", "55.31", "55.00", "55.44", "20", "NO"},
    {"peer", "skipped", "-", "-", "-", "-"},
};
static const unsigned char turns[] = {0, 0, 2, 2, 1, 0};

static struct libscols_table *make_table(void)
{
    struct libscols_table *table = scols_new_table();
    assert_non_null(table);
    for (size_t i = 0; i < COLUMNS; i++)
        assert_non_null(scols_table_new_column(table, names[i], 0,
                                               i > MODE && i < PROVEN ? SCOLS_FL_RIGHT : 0));
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        struct libscols_line *line = scols_table_new_line(table, NULL);
        assert_non_null(line);
        for (size_t i = 0; i < COLUMNS; i++)
            assert_int_equal(scols_line_set_data(line, i, rows[row][i]), 0);
        if (strcmp(rows[row][PROVEN], "NO") == 0)
            assert_int_equal(scols_cell_set_color(scols_line_get_cell(line, PROVEN), "\033[31m"),
                             0);
    }
    return table;
}

static void assert_table(struct xb_columns columns, const char *expected)
{
    struct xb_memory_text printed = {.text = NULL};
    struct xb_error error;
    columns.wordy = PROVEN;
    assert_non_null(xb_memory_text_begin(&printed));
    assert_true(xb_columns_print(printed.stream, "", make_table(), true, &columns));
    assert_int_equal(xb_memory_text_end(&printed, "a table", &error), XB_OK);
    assert_string_equal(printed.text, expected);
    free(printed.text);
}

static void space_between_columns_shrinks_first(void **state)
{
    (void)state;
    assert_table((struct xb_columns){.width = 54, .brief = "OK", .turns = turns},
                 "MODE              GB/s    MIN    MAX   N  VERIFIED\n"
                 "double-buffer    80.83  79.87  81.48  20  yes\n"
                 "pinned           55.31  55.00  55.44  20  NO\n"
                 "peer           skipped      -      -   -  -\n");
    assert_table((struct xb_columns){.width = 48, .brief = "OK", .turns = turns},
                 "MODE             GB/s   MIN   MAX  N VERIFIED\n"
                 "double-buffer   80.83 79.87 81.48 20 yes\n"
                 "pinned          55.31 55.00 55.44 20 NO\n"
                 "peer          skipped     -     -  - -\n");
    assert_table((struct xb_columns){.width = 44, .brief = "OK", .turns = turns},
                 "MODE             GB/s   MIN   MAX  N OK\n"
                 "double-buffer   80.83 79.87 81.48 20 yes\n"
                 "pinned          55.31 55.00 55.44 20 NO\n"
                 "peer          skipped     -     -  - -\n");
}

static void columns_go_in_their_turn_and_are_named(void **state)
{
    (void)state;
    assert_table((struct xb_columns){.width = 39, .brief = "OK", .turns = turns},
                 "MODE             GB/s   MIN   MAX OK\n"
                 "double-buffer   80.83 79.87 81.48 yes\n"
                 "pinned          55.31 55.00 55.44 NO\n"
                 "peer          skipped     -     - -\n"
                 "\n"
                 "Not shown in 39 columns: N.\n");
    assert_table(
        (struct xb_columns){
            .width = 36, .brief = "OK", .turns = turns, .elsewhere = "--json has them"},
        "MODE             GB/s OK\n"
        "double-buffer   80.83 yes\n"
        "pinned          55.31 NO\n"
        "peer          skipped -\n"
        "\n"
        "Not shown in 36 columns: MIN, MAX,\n"
        "  N. --json has them.\n");
}

static void rows_that_do_not_fit_become_paragraphs(void **state)
{
    (void)state;
    assert_table((struct xb_columns){.width = 24, .brief = "OK", .turns = turns},
                 "MODE double-buffer\n"
                 "  GB/s 80.83\n"
                 "  VERIFIED yes\n"
                 "MODE pinned  GB/s 55.31\n"
                 "  VERIFIED NO\n"
                 "MODE peer  GB/s skipped\n"
                 "\n"
                 "Not shown in 24 columns:\n"
                 "  MIN, MAX, N.\n");
    assert_table((struct xb_columns){.width = 40}, "MODE double-buffer  GB/s 80.83\n"
                                                   "  MIN 79.87  MAX 81.48  N 20\n"
                                                   "  VERIFIED yes\n"
                                                   "MODE pinned  GB/s 55.31  MIN 55.00\n"
                                                   "  MAX 55.44  N 20  VERIFIED NO\n"
                                                   "MODE peer  GB/s skipped\n");
}

/* Names differ at either end. If cutting them is not enough, they stay whole. */
static void long_names_are_cut_before_rows_become_paragraphs(void **state)
{
    (void)state;
    assert_table((struct xb_columns){.width = 24, .brief = "OK", .turns = turns, .least = 9},
                 "MODE            GB/s OK\n"
                 "doubl...ffer   80.83 yes\n"
                 "pinned         55.31 NO\n"
                 "peer         skipped -\n"
                 "\n"
                 "Not shown in 24 columns:\n"
                 "  MIN, MAX, N.\n");
    assert_table((struct xb_columns){.width = 20, .brief = "OK", .turns = turns, .least = 9},
                 "MODE double-buffer\n"
                 "  GB/s 80.83\n"
                 "  VERIFIED yes\n"
                 "MODE pinned\n"
                 "  GB/s 55.31\n"
                 "  VERIFIED NO\n"
                 "MODE peer\n"
                 "  GB/s skipped\n"
                 "\n"
                 "Not shown in 20\n"
                 "  columns: MIN, MAX,\n"
                 "  N.\n");
}

static void long_cell_breaks_between_words(void **state)
{
    struct libscols_table *table = scols_new_table();
    const struct xb_columns columns = {.width = 24};
    (void)state;
    assert_non_null(table);
    assert_non_null(scols_table_new_column(table, "DEVICE", 0, 0));
    struct libscols_line *line = scols_table_new_line(table, NULL);
    assert_non_null(line);
    assert_int_equal(scols_line_set_data(line, 0, "a card with a name of 41 letters or more"), 0);
    char *text = xb_columns_fit(table, &columns);
    assert_non_null(text);
    assert_string_equal(text, "DEVICE a card with a\n  name of 41 letters or\n  more\n");
    free(text);
    scols_unref_table(table);
}

/* The library never makes a column narrower than it once was. */
static void brief_header_narrows_a_column_between_others(void **state)
{
    static const char *const cells[] = {"0000:0f:00.0", "Gen5 x16", "Gen4 x8"};
    static const char *const headers[] = {"LINK", "UNDER LOAD", "BEST"};
    static const unsigned char last_goes[] = {0, 0, 1};
    const struct xb_columns columns = {
        .width = 29, .wordy = 1, .brief = "LOAD", .turns = last_goes};
    struct libscols_table *table = scols_new_table();
    (void)state;
    assert_non_null(table);
    for (size_t i = 0; i < 3; i++)
        assert_non_null(scols_table_new_column(table, headers[i], 0, 0));
    struct libscols_line *line = scols_table_new_line(table, NULL);
    assert_non_null(line);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(scols_line_set_data(line, i, cells[i]), 0);
    char *text = xb_columns_fit(table, &columns);
    assert_non_null(text);
    assert_string_equal(text, "LINK         LOAD     BEST\n"
                              "0000:0f:00.0 Gen5 x16 Gen4 x8\n");
    free(text);
    scols_unref_table(table);
}

static void label_indents_the_table(void **state)
{
    (void)state;
    assert_table(
        (struct xb_columns){.width = 44, .brief = "OK", .turns = turns, .label = "  rows  "},
        "  rows  MODE             GB/s OK\n"
        "        double-buffer   80.83 yes\n"
        "        pinned          55.31 NO\n"
        "        peer          skipped -\n"
        "        Not shown in 44 columns: MIN, MAX,\n"
        "          N.\n");
}

static void colours_take_no_column(void **state)
{
    (void)state;
    assert_table(
        (struct xb_columns){.width = 25, .brief = "OK", .turns = turns, .with_colours = true},
        "MODE             GB/s OK\n"
        "double-buffer   80.83 yes\n"
        "pinned          55.31 \033[31mNO\033[0m\n"
        "peer          skipped -\n"
        "\n"
        "Not shown in 25 columns:\n"
        "  MIN, MAX, N.\n");
    assert_table(
        (struct xb_columns){.width = 24, .brief = "OK", .turns = turns, .with_colours = true},
        "MODE double-buffer\n"
        "  GB/s 80.83\n"
        "  VERIFIED yes\n"
        "MODE pinned  GB/s 55.31\n"
        "  VERIFIED \033[31mNO\033[0m\n"
        "MODE peer  GB/s skipped\n"
        "\n"
        "Not shown in 24 columns:\n"
        "  MIN, MAX, N.\n");
}

static void widest_line_counts(void **state)
{
    (void)state;
    assert_int_equal(xb_widest_line(""), 0);
    assert_int_equal(xb_widest_line("a\nabc\nab"), 3);
    assert_int_equal(xb_widest_line("ab\n"), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(space_between_columns_shrinks_first),
        cmocka_unit_test(columns_go_in_their_turn_and_are_named),
        cmocka_unit_test(rows_that_do_not_fit_become_paragraphs),
        cmocka_unit_test(long_names_are_cut_before_rows_become_paragraphs),
        cmocka_unit_test(long_cell_breaks_between_words),
        cmocka_unit_test(brief_header_narrows_a_column_between_others),
        cmocka_unit_test(label_indents_the_table),
        cmocka_unit_test(colours_take_no_column),
        cmocka_unit_test(widest_line_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
