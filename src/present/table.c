/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include "base/memory.h"
#include "base/order.h"
#include "base/terminal.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BAR 25
#define LEAST_BAR 8
#define PARAGRAPH_INDENT 2 /* of all lines of a paragraph but the first */

struct cell {
    const char *text; /* NULL: empty */
    double bar;       /* a bar where text is NULL and this is not 0 */
    enum xb_colour colour;
};

struct column {
    struct xb_table_column of;
    const char *title; /* as it is shown */
    size_t width;      /* of title and cells */
    bool is_bar, is_hidden;
};

struct xb_table {
    struct xb_arena *texts;
    struct column *columns;
    struct cell *cells;                     /* row by row */
    size_t column_count, row_count, filled; /* cells of the last row that have been told */
    size_t gap;                             /* between columns */
};

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* How many columns of a line the text takes: what follows the first byte of a character takes none.
 */
static size_t width_of(const char *text)
{
    size_t width = 0;
    for (; *text != '\0'; text++)
        width += ((unsigned char)*text & 0xC0) != 0x80;
    return width;
}

/* ---- cells ---- */

struct xb_table *xb_table_new(void)
{
    return xb_new(1, sizeof(struct xb_table));
}

void xb_table_free(struct xb_table *table)
{
    if (table == NULL)
        return;
    xb_arena_free(table->texts);
    free(table->columns);
    free(table->cells);
    free(table);
}

/* A copy in plain ASCII: it may come from a file. */
static const char *keep_plain(struct xb_table *table, const char *text)
{
    struct xb_words words = {.length = 0};
    xb_words_add(&words, "%s", text);
    xb_make_plain(words.text);
    return xb_arena_copy(&table->texts, words.text);
}

void xb_table_add_column(struct xb_table *table, const struct xb_table_column *column)
{
    table->columns = xb_grow(table->columns, table->column_count, sizeof *table->columns);
    struct column *added = &table->columns[table->column_count++];
    *added = (struct column){.of = *column};
    added->of.title = keep_plain(table, column->title);
    if (column->brief != NULL)
        added->of.brief = keep_plain(table, column->brief);
}

struct xb_table *xb_table_with(const struct xb_table_column *columns, size_t count)
{
    struct xb_table *table = xb_table_new();
    for (size_t i = 0; i < count; i++)
        xb_table_add_column(table, &columns[i]);
    return table;
}

void xb_table_row(struct xb_table *table)
{
    const size_t row = table->column_count * sizeof(struct cell);
    table->cells = xb_grow(table->cells, table->row_count, row);
    memset(table->cells + table->row_count++ * table->column_count, 0, row);
    table->filled = 0;
}

/* The cell whose turn it is; NULL behind the last column. */
static struct cell *next_cell(struct xb_table *table)
{
    if (table->filled == table->column_count)
        return NULL;
    return &table->cells[(table->row_count - 1) * table->column_count + table->filled++];
}

void xb_table_cell(struct xb_table *table, enum xb_colour colour, const char *format, ...)
{
    struct cell *cell = next_cell(table);
    struct xb_words words = {.length = 0};
    if (cell == NULL)
        return;
    XB_FORMAT(words.text, sizeof words.text, format);
    *cell = (struct cell){.text = keep_plain(table, words.text), .colour = colour};
}

void xb_table_bar(struct xb_table *table, double share)
{
    struct cell *cell = next_cell(table);
    if (cell == NULL)
        return;
    cell->bar = isfinite(share) ? fmin(fmax(share, 0), 1) : 0;
    table->columns[table->filled - 1].is_bar = true;
}

void xb_table_curve(struct xb_table *table, const double *shares, size_t count)
{
    struct cell *cell = next_cell(table);
    struct xb_words words = {.length = 0};
    for (size_t i = 0; i < count; i++) {
        /* What is there is seen, however small. */
        bool is_there = isfinite(shares[i]) && shares[i] > 0;
        long eighths = is_there ? lround(fmin(fmax(8 * shares[i], 1), 8)) : 0;
        if (xb_locale_has_utf8())
            xb_words_add(&words, is_there ? "\xE2\x96%c" : " ",
                         (char)(0x80 + eighths)); /* U+2581 */
        else /* two hashes in a row begin a command of a CI system */
            xb_words_add(&words, "%c", " ..--==@@"[eighths]);
    }
    if (cell != NULL)
        cell->text = xb_arena_copy(&table->texts, words.text);
}

static const struct cell *cell_of(const struct xb_table *table, size_t row, size_t column)
{
    return &table->cells[row * table->column_count + column];
}

static const char *text_of(const struct cell *cell)
{
    return cell->text != NULL ? cell->text : "";
}

/* ---- layout: what makes lines shorter, in this order ---- */

static void measure_column(struct xb_table *table, size_t index)
{
    struct column *column = &table->columns[index];
    column->width = width_of(column->title);
    if (column->is_bar)
        column->width = larger(column->width, LEAST_BAR);
    for (size_t row = 0; row < table->row_count; row++)
        column->width = larger(column->width, width_of(text_of(cell_of(table, row, index))));
}

static size_t width_of_table(const struct xb_table *table)
{
    size_t used = 0;
    for (size_t i = 0; i < table->column_count; i++)
        if (!table->columns[i].is_hidden)
            used += (used > 0 ? table->gap : 0) + table->columns[i].width;
    return used;
}

static bool shows_nothing(const struct xb_table *table, size_t column)
{
    for (size_t row = 0; row < table->row_count; row++) {
        const struct cell *cell = cell_of(table, row, column);
        if (cell->bar > 0 || (text_of(cell)[0] != '\0' && strcmp(text_of(cell), "-") != 0))
            return false;
    }
    return true;
}

static void cut_texts(struct xb_table *table, size_t room)
{
    for (size_t i = 0; i < table->column_count; i++) {
        struct column *column = &table->columns[i];
        size_t over = width_of_table(table) - room;
        size_t least = larger(column->of.least, width_of(column->title));
        if (width_of_table(table) <= room || column->of.least == 0 || column->width < over + least)
            continue;
        column->width -= over;
        for (size_t row = 0; row < table->row_count; row++) {
            struct cell *cell = &table->cells[row * table->column_count + i];
            char cut[XB_NOTE_SIZE];
            if (width_of(text_of(cell)) <= column->width)
                continue;
            /* Cut in the middle: names differ at either end. The column is at least 5 wide. */
            size_t length = strlen(cell->text);
            size_t behind = (column->width - 3) / 2;
            if (length <= column->width)
                snprintf(cut, column->width + 1, "%s", cell->text);
            else
                snprintf(cut, column->width + 1, "%.*s...%s", (int)(column->width - 3 - behind),
                         cell->text, cell->text + length - behind);
            cell->text = xb_arena_copy(&table->texts, cut);
        }
    }
}

/* Returns whether the lines fit. */
static bool lay_out(struct xb_table *table, size_t room)
{
    table->gap = 2;
    for (size_t i = 0; i < table->column_count; i++) {
        table->columns[i].is_hidden = false;
        table->columns[i].title = table->columns[i].of.title;
        measure_column(table, i);
    }
    if (width_of_table(table) > room)
        table->gap = 1;
    bool is_brief = width_of_table(table) > room;
    unsigned last = 0;
    for (size_t i = 0; is_brief && i < table->column_count; i++) {
        struct column *column = &table->columns[i];
        column->title = column->of.brief != NULL ? column->of.brief : column->title;
        last = column->of.turn > last ? column->of.turn : last;
        measure_column(table, i);
    }
    bool hides = width_of_table(table) > room; /* first those with a turn that show nothing */
    for (size_t i = 0; hides && i < table->column_count; i++)
        table->columns[i].is_hidden = table->columns[i].of.turn > 0 && shows_nothing(table, i);
    for (unsigned turn = 1; turn <= last && width_of_table(table) > room; turn++)
        for (size_t i = 0; i < table->column_count; i++)
            table->columns[i].is_hidden =
                table->columns[i].is_hidden || table->columns[i].of.turn == turn;
    if (width_of_table(table) > room)
        cut_texts(table, room);
    bool fits = width_of_table(table) <= room;
    for (size_t width = LEAST_BAR + 1; fits && width <= MOST_BAR; width++)
        XB_EACH (column, table->columns, table->column_count)
            if (column->is_bar && !column->is_hidden && column->width < width &&
                width_of_table(table) < room)
                column->width = width;
    return fits;
}

/* ---- bytes ---- */

/* What a bar fills of so many columns, in eighths of one; whole columns without UTF-8. */
static size_t bar_parts(double share, size_t width)
{
    size_t fine = xb_locale_has_utf8() ? 8 : 1;
    return (size_t)lround(share * (double)(width * fine)) * (8 / fine);
}

/* Nothing stands behind the last one. */
static void print_bar(FILE *stream, double share, size_t width, bool is_last)
{
    size_t parts = bar_parts(share, width);
    size_t used = (parts + 7) / 8;
    for (size_t i = 0; i < parts / 8; i++)
        fputs(xb_locale_has_utf8() ? "\xE2\x96\x88" : "#", stream);
    if (parts % 8 > 0) /* U+258F, an eighth, to U+2589 */
        fprintf(stream, "\xE2\x96%c", (char)(0x90 - parts % 8));
    fprintf(stream, "%*s", is_last ? 0 : (int)(width - used), "");
}

/* One line; the titles where `row` is NULL. */
static void print_line(FILE *stream, const struct xb_table *table, const struct cell *row)
{
    size_t gap = 0, last = 0; /* nothing stands behind the last cell that has something to show */
    for (size_t i = 0; i < table->column_count; i++) {
        const struct column *column = &table->columns[i];
        bool shows = row == NULL      ? column->title[0] != '\0'
                     : row[i].bar > 0 ? bar_parts(row[i].bar, column->width) > 0
                                      : text_of(&row[i])[0] != '\0';
        if (shows && !column->is_hidden)
            last = i;
    }
    for (size_t i = 0; i <= last; i++) {
        const struct column *column = &table->columns[i];
        if (column->is_hidden)
            continue;
        fprintf(stream, "%*s", (int)gap, "");
        gap = table->gap;
        if (row != NULL && row[i].text == NULL && column->is_bar) {
            print_bar(stream, row[i].bar, column->width, i == last);
            continue;
        }
        const char *text = row != NULL ? text_of(&row[i]) : column->title;
        enum xb_colour colour = row != NULL ? row[i].colour : XB_COLOUR_TITLE;
        int pad = (int)(column->width - width_of(text)), length = (int)strlen(text);
        while (i == last && length > 0 && text[length - 1] == ' ')
            length--;
        fprintf(stream, "%*s%s%.*s%s%*s", column->of.is_right ? pad : 0, "",
                xb_colour_begin(stream, colour), length, text, xb_colour_end(stream, colour),
                column->of.is_right || i == last ? 0 : pad, "");
    }
    fputc('\n', stream);
}

/* ---- rows as paragraphs ---- */

/* The paragraph that a row becomes, while it is printed. */
struct paragraph {
    FILE *stream;
    size_t width, used; /* of a line */
};

/* Begins a line where the next `length` characters, with `gap` blanks before them, have no room. */
static void make_room(struct paragraph *paragraph, size_t gap, size_t length)
{
    if (paragraph->used > PARAGRAPH_INDENT && paragraph->used + gap + length > paragraph->width) {
        fprintf(paragraph->stream, "\n%*s", PARAGRAPH_INDENT, "");
        paragraph->used = PARAGRAPH_INDENT;
    } else {
        gap = paragraph->used > PARAGRAPH_INDENT ? gap : 0;
        paragraph->used += (size_t)fprintf(paragraph->stream, "%*s", (int)gap, "");
    }
}

/* "SIZE 256 MiB": in one line, if one has room for it; else broken between words. */
static void print_cell(struct paragraph *paragraph, const char *name, const struct cell *cell)
{
    const char *text = text_of(cell) + strspn(text_of(cell), " ");
    size_t gap = name[0] != '\0' ? 1 : 0;
    make_room(paragraph, 2, width_of(name) + gap + width_of(text));
    paragraph->used += (size_t)fprintf(paragraph->stream, "%s", name);
    fputs(xb_colour_begin(paragraph->stream, cell->colour), paragraph->stream);
    while (text[0] != '\0') {
        size_t length = strcspn(text, " ");
        make_room(paragraph, gap, length);
        paragraph->used += (size_t)fprintf(paragraph->stream, "%.*s", (int)length, text);
        text += length + strspn(text + length, " ");
        gap = 1;
    }
    fputs(xb_colour_end(paragraph->stream, cell->colour), paragraph->stream);
}

/* ---- the whole ---- */

/* "Not shown in 80 columns: MIN, MAX. JSON has all." */
static void print_hidden(FILE *stream, const struct xb_table *table, size_t width,
                         const struct xb_table_look *look)
{
    struct xb_words words = {.length = 0};
    for (size_t i = 0; i < table->column_count; i++) {
        const struct column *column = &table->columns[i];
        size_t first = 0; /* two columns may have one title */
        while (strcmp(table->columns[first].of.title, column->of.title) != 0)
            first++;
        if (column->is_hidden && first == i && !shows_nothing(table, i))
            xb_words_add(&words, "%s%s", words.length > 0 ? ", " : "", column->of.title);
    }
    if (words.length == 0 || look->elsewhere == NULL)
        return;
    if (look->indent != NULL) {
        xb_note_print(stream, "", (int)strlen(look->indent) - 1,
                      "Not shown in %zu columns: %s. %s.", width, words.text, look->elsewhere);
    } else {
        fputc('\n', stream);
        xb_lines_print(stream, width, "Not shown in %zu columns: %s. %s.", width, words.text,
                       look->elsewhere);
    }
}

void xb_table_print(FILE *stream, struct xb_table *table, const struct xb_table_look *look)
{
    const char *indent = look->indent != NULL ? look->indent : "";
    const char *before = look->label != NULL ? look->label : indent;
    size_t width = look->width > 0 ? look->width : xb_terminal_columns(stream);
    size_t room = width > strlen(indent) ? width - strlen(indent) : 1;
    bool fits = lay_out(table, room);
    bool has_titles = false;
    for (size_t i = 0; i < table->column_count; i++)
        has_titles = has_titles || table->columns[i].of.title[0] != '\0';
    for (size_t row = 0; row <= table->row_count; row++) {
        const struct cell *cells = row > 0 ? cell_of(table, row - 1, 0) : NULL;
        if (row == 0 && (!fits || !has_titles))
            continue;
        fputs(before, stream);
        before = indent;
        if (fits) {
            print_line(stream, table, cells);
            continue;
        }
        struct paragraph paragraph = {.stream = stream, .width = room};
        for (size_t i = 0; i < table->column_count; i++)
            if (!table->columns[i].is_hidden && text_of(&cells[i])[0] != '\0' &&
                strcmp(text_of(&cells[i]), "-") != 0)
                print_cell(&paragraph, table->columns[i].of.title, &cells[i]);
        fputc('\n', stream);
    }
    print_hidden(stream, table, width, look);
}

/* ---- other forms ---- */

void xb_table_each(const struct xb_table *table, xb_table_render *render, void *argument)
{
    for (size_t i = 0; i < table->column_count; i++)
        render(argument, -1, table->columns[i].of.title, table->columns[i].of.is_right);
    for (size_t row = 0; row < table->row_count; row++)
        for (size_t i = 0; i < table->column_count; i++)
            render(argument, (int)row, text_of(cell_of(table, row, i)),
                   table->columns[i].of.is_right);
}

/* A '|' would begin a cell. */
static void print_markdown_cell(FILE *stream, const struct column *column, const char *text)
{
    int pad = (int)(column->width - width_of(text));
    fprintf(stream, "| %*s", column->of.is_right ? pad : 0, "");
    for (; *text != '\0'; text++)
        fprintf(stream, "%s%c", *text == '|' ? "\\" : "", *text);
    fprintf(stream, "%*s ", column->of.is_right ? 0 : pad, "");
}

void xb_table_markdown(FILE *stream, struct xb_table *table)
{
    for (size_t i = 0; i < table->column_count; i++) {
        table->columns[i].title = table->columns[i].of.title;
        measure_column(table, i);
        print_markdown_cell(stream, &table->columns[i], table->columns[i].title);
    }
    fputs("|\n", stream);
    for (size_t i = 0; i < table->column_count; i++) {
        fputs("|", stream);
        for (size_t k = 0; k < table->columns[i].width + 1; k++)
            fputc('-', stream);
        fputc(table->columns[i].of.is_right ? ':' : '-', stream);
    }
    fputs("|\n", stream);
    for (size_t row = 0; row < table->row_count; row++) {
        for (size_t i = 0; i < table->column_count; i++)
            print_markdown_cell(stream, &table->columns[i], text_of(cell_of(table, row, i)));
        fputs("|\n", stream);
    }
}
