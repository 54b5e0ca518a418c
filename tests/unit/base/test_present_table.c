/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "base/stream.h"
#include "present/table.h"
#include "rows.h"

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

/* Of numbers, of which the bar of one is too short to be seen. */
static struct xb_table *make_short_bar(void)
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
    return table;
}

static struct xb_table *make_long_cell(void)
{
    struct xb_table *table = xb_table_new();
    xb_table_add_column(table, &(struct xb_table_column){.title = "DEVICE"});
    xb_table_row(table);
    xb_table_cell(table, XB_COLOUR_NONE, "a card with a name of 41 letters or more");
    return table;
}

static struct xb_table *make_with_bar_in_text(void)
{
    struct xb_table *table = make_table();
    xb_table_row(table);
    xb_table_cell(table, XB_COLOUR_NONE, "a|b");
    return table;
}

/* "table | width | locale, label or markdown" */
static void say_table(const struct row *row, char said[ROW_TEXT])
{
    static const struct {
        const char *name;
        struct xb_table *(*make)(void);
    } tables[] = {{"modes", make_table},
                  {"bars", make_bars},
                  {"short bar", make_short_bar},
                  {"long cell", make_long_cell},
                  {"a|b", make_with_bar_in_text}};
    struct xb_table_look look = {.width = row_number(row, 1), .elsewhere = "JSON has all"};
    struct xb_memory_text printed = {.text = NULL};
    size_t i = 0;
    while (strcmp(tables[i].name, row->part[0]) != 0)
        i++;
    struct xb_table *table = tables[i].make();
    setenv("LC_ALL", strcmp(row->part[2], "UTF-8") == 0 ? "C.UTF-8" : "C", 1);
    if (strcmp(row->part[2], "label") == 0) {
        look.label = "  rows  ";
        look.indent = "        ";
    }
    FILE *stream = xb_memory_text_begin(&printed);
    if (strcmp(row->part[2], "markdown") == 0)
        xb_table_markdown(stream, table);
    else
        xb_table_print(stream, table, &look);
    xb_memory_text_end(&printed);
    say_also(said, "%s", printed.text);
    free(printed.text);
    xb_table_free(table);
}

TEST_ROWS(lines_get_shorter_step_by_step, say_table)
TEST_ROWS(a_label_stands_before_the_first_line, say_table)
TEST_ROWS(bars_take_the_room_that_is_left, say_table)
TEST_ROWS(markdown_can_be_read_as_it_is, say_table)
