/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "base/stream.h"
#include "present/table.h"

#include "testing.h"

static const struct xb_table_column columns[] = {
    {.title = "MODE", .least = 9},
    {.title = "GB/s", .is_right = true},
    {.title = "EMPTY", .is_right = true, .turn = 3},
    {.title = "MIN", .is_right = true, .turn = 2},
    {.title = "N", .is_right = true, .turn = 1},
    {.title = "VERIFIED", .brief = "OK"},
};
#define COLUMNS (sizeof columns / sizeof columns[0])

static struct xb_table *make_table(void)
{
    static const char *const rows[][COLUMNS] = {
        {"double-buffer", "80.83", "-", "79.87", "20", "yes"},
        {"peer", "skipped", "-", "-", "-", "-"},
    };
    struct xb_table *table = xb_table_new();
    for (size_t i = 0; i < COLUMNS; i++)
        xb_table_add_column(table, &columns[i]);
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        xb_table_row(table);
        for (size_t i = 0; i < COLUMNS; i++)
            xb_table_cell(table, XB_COLOUR_NONE, "%s", rows[row][i]);
    }
    return table;
}

/* Frees the table. */
static void assert_printed(struct xb_table *table, const struct xb_table_look *look,
                           const char *expected)
{
    struct xb_memory_text printed = {.text = NULL};
    (void)xb_memory_text_begin(&printed);
    if (look != NULL)
        xb_table_print(printed.stream, table, look);
    else
        xb_table_markdown(printed.stream, table);
    xb_memory_text_end(&printed);
    assert_string_equal(printed.text, expected);
    free(printed.text);
    xb_table_free(table);
}

TEST(lines_get_shorter_step_by_step)
{
    static const struct {
        size_t width;
        const char *expected;
    } rows[] = {
        {55, "MODE              GB/s  EMPTY    MIN   N  VERIFIED\n"
             "double-buffer    80.83      -  79.87  20  yes\n"
             "peer           skipped      -      -   -  -\n"},
        {46, "MODE             GB/s EMPTY   MIN  N VERIFIED\n"
             "double-buffer   80.83     - 79.87 20 yes\n"
             "peer          skipped     -     -  - -\n"},
        {40, "MODE             GB/s EMPTY   MIN  N OK\n"
             "double-buffer   80.83     - 79.87 20 yes\n"
             "peer          skipped     -     -  - -\n"},
        /* What shows nothing goes first, and need not be named. */
        {39, "MODE             GB/s   MIN  N OK\n"
             "double-buffer   80.83 79.87 20 yes\n"
             "peer          skipped     -  - -\n"},
        {33, "MODE             GB/s   MIN OK\n"
             "double-buffer   80.83 79.87 yes\n"
             "peer          skipped     - -\n"
             "\n"
             "Not shown in 33 columns: N. JSON\n"
             "  has all.\n"},
        /* Names differ at either end. */
        {23, "MODE           GB/s OK\n"
             "doub...ffer   80.83 yes\n"
             "peer        skipped -\n"
             "\n"
             "Not shown in 23\n"
             "  columns: MIN, N. JSON\n"
             "  has all.\n"},
        {20, "MODE double-buffer\n"
             "  GB/s 80.83\n"
             "  VERIFIED yes\n"
             "MODE peer\n"
             "  GB/s skipped\n"
             "\n"
             "Not shown in 20\n"
             "  columns: MIN, N.\n"
             "  JSON has all.\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_printed(make_table(),
                       &(struct xb_table_look){.width = rows[i].width, .elsewhere = "JSON has all"},
                       rows[i].expected);
}

TEST(long_cell_breaks_between_words)
{
    struct xb_table *table = xb_table_new();
    xb_table_add_column(table, &(struct xb_table_column){.title = "DEVICE"});
    xb_table_row(table);
    xb_table_cell(table, XB_COLOUR_NONE, "a card with a name of 41 letters or more");
    assert_printed(table, &(struct xb_table_look){.width = 24},
                   "DEVICE a card with a\n  name of 41 letters or\n  more\n");
}

TEST(label_stands_before_the_first_line)
{
    assert_printed(make_table(),
                   &(struct xb_table_look){.width = 60, .label = "  rows  ", .indent = "        "},
                   "  rows  MODE              GB/s  EMPTY    MIN   N  VERIFIED\n"
                   "        double-buffer    80.83      -  79.87  20  yes\n"
                   "        peer           skipped      -      -   -  -\n");
}

static struct xb_table *make_bars(void)
{
    struct xb_table *table = xb_table_new();
    xb_table_add_column(table, &(struct xb_table_column){.title = "To the GPU"});
    xb_table_add_column(table, &(struct xb_table_column){.title = "of 58.1"});
    xb_table_add_column(table, &(struct xb_table_column){.title = "", .is_right = true});
    static const double shares[] = {1, 0.5, 0.05};
    for (size_t i = 0; i < 3; i++) {
        xb_table_row(table);
        xb_table_cell(table, XB_COLOUR_NONE, "way %zu", i);
        xb_table_bar(table, shares[i]);
        xb_table_cell(table, XB_COLOUR_NONE, "%.0f %%", 100 * shares[i]);
    }
    return table;
}

TEST(bars_take_the_room_that_is_left)
{
    setenv("LC_ALL", "C", 1);
    assert_printed(make_bars(), &(struct xb_table_look){.width = 29},
                   "To the GPU  of 58.1\n"
                   "way 0       ##########  100 %\n"
                   "way 1       #####        50 %\n"
                   "way 2       #             5 %\n");
    setenv("LC_ALL", "C.UTF-8", 1);
    assert_printed(
        make_bars(), &(struct xb_table_look){.width = 29},
        "To the GPU  of 58.1\n"
        "way 0       \u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588  100 %\n"
        "way 1       \u2588\u2588\u2588\u2588\u2588        50 %\n"
        "way 2       \u258c             5 %\n");
}

TEST(a_bar_too_short_to_be_seen_leaves_no_blank)
{
    struct xb_table *table = xb_table_new();
    xb_table_add_column(table, &(struct xb_table_column){.title = "GB/s"});
    xb_table_add_column(table, &(struct xb_table_column){.title = ""});
    static const double shares[] = {1, 0.001};
    for (size_t i = 0; i < 2; i++) {
        xb_table_row(table);
        xb_table_cell(table, XB_COLOUR_NONE, "%.0f", 1000 * shares[i]);
        xb_table_bar(table, shares[i]);
    }
    setenv("LC_ALL", "C", 1);
    assert_printed(table, &(struct xb_table_look){.width = 16},
                   "GB/s\n"
                   "1000  ##########\n"
                   "1\n");
}

TEST(markdown_can_be_read_as_it_is)
{
    struct xb_table *table = make_table();
    xb_table_row(table);
    xb_table_cell(table, XB_COLOUR_NONE, "a|b");
    assert_printed(table, NULL,
                   "| MODE          |    GB/s | EMPTY |   MIN |  N | VERIFIED |\n"
                   "|---------------|--------:|------:|------:|---:|----------|\n"
                   "| double-buffer |   80.83 |     - | 79.87 | 20 | yes      |\n"
                   "| peer          | skipped |     - |     - |  - | -        |\n"
                   "| a\\|b           |         |       |       |    |          |\n");
}
