/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "columns.h"

#include "note.h"
#include "stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t xb_widest_line(const char *text)
{
    size_t widest = 0;
    for (;;) {
        size_t length = strcspn(text, "\n");
        widest = length > widest ? length : widest;
        if (text[length] == '\0')
            return widest;
        text += length + 1;
    }
}

void xb_cut_middle(const char *text, size_t room, char *cut)
{
    size_t length = strlen(text);
    size_t behind = (room - 3) / 2;
    if (length <= room)
        snprintf(cut, room + 1, "%s", text);
    else
        snprintf(cut, room + 1, "%.*s...%s", (int)(room - 3 - behind), text,
                 text + length - behind);
}

bool xb_columns_paint(struct libscols_cell *cell, FILE *stream, enum xb_colour colour)
{
    const char *code = xb_colour_begin(stream, colour);
    return cell != NULL && (code[0] == '\0' || scols_cell_set_color(cell, code) == 0);
}

static const char *name_of(struct libscols_column *column)
{
    const char *name = scols_cell_get_data(scols_column_get_header(column));
    return name != NULL ? name : "";
}

/* Prints the table as it is; *text is to be freed in any case. scols_print_table_to_string() would
 * not tell of memory that is lacking, as open_memstream() does not. */
static bool print_whole(struct libscols_table *table, bool colours, struct xb_memory_text *text)
{
    struct xb_error error;
    FILE *stream = xb_memory_text_begin(text);
    bool ok = stream != NULL && scols_table_enable_colors(table, colours) == 0 &&
              scols_table_set_stream(table, stream) == 0 && scols_print_table(table) == 0;
    if (xb_memory_text_end(text, "a table", &error) != XB_OK)
        return false;
    /* Takes away the blanks at the ends of lines: an empty last column has some. */
    char *out = text->text;
    for (const char *at = text->text; *at != '\0'; at++) {
        size_t blanks = strspn(at, " ");
        if (blanks > 0 && (at[blanks] == '\n' || at[blanks] == '\0'))
            at += blanks;
        if (*at == '\0')
            break;
        *out++ = *at;
    }
    *out = '\0';
    return ok;
}

/* The columns that a line of the table itself may take. */
static size_t room_of(const struct xb_columns *columns)
{
    return columns->width - (columns->label != NULL ? strlen(columns->label) : 0);
}

/* ---- columns go ---- */

/* Hides the columns whose turn it is. *more: there are others whose turn comes. */
static bool hide(struct libscols_table *table, const struct xb_columns *columns, unsigned turn,
                 bool *more)
{
    *more = false;
    for (size_t i = 0; columns->turns != NULL && i < scols_table_get_ncols(table); i++) {
        struct libscols_column *column = scols_table_get_column(table, i);
        int flags = scols_column_get_flags(column) | SCOLS_FL_HIDDEN;
        *more = *more || columns->turns[i] > turn;
        if (columns->turns[i] == turn && scols_column_set_flags(column, flags) != 0)
            return false;
    }
    return true;
}

/* Whether a column that went before that one has the same name: of two clocks, say. */
static bool is_named(struct libscols_table *table, size_t index)
{
    const char *name = name_of(scols_table_get_column(table, index));
    for (size_t i = 0; i < index; i++) {
        struct libscols_column *column = scols_table_get_column(table, i);
        if (scols_column_is_hidden(column) && strcmp(name_of(column), name) == 0)
            return true;
    }
    return false;
}

/* "Not shown in 80 columns: MIN, MAX. They are in --json and --csv." */
static void print_hidden(FILE *stream, struct libscols_table *table,
                         const struct xb_columns *columns)
{
    struct xb_words words = {.length = 0};
    for (size_t i = 0; i < scols_table_get_ncols(table); i++) {
        struct libscols_column *column = scols_table_get_column(table, i);
        if (scols_column_is_hidden(column) && !is_named(table, i))
            xb_words_add(&words, "%s%s", words.length > 0 ? ", " : "", name_of(column));
    }
    if (words.length == 0)
        return;
    if (columns->label == NULL)
        fputc('\n', stream);
    xb_lines_print(stream, room_of(columns), "Not shown in %zu columns: %s.%s%s%s", columns->width,
                   words.text, columns->elsewhere != NULL ? " " : "",
                   columns->elsewhere != NULL ? columns->elsewhere : "",
                   columns->elsewhere != NULL ? "." : "");
}

/* ---- rows become paragraphs ---- */

#define INDENT 2 /* of all lines of a paragraph but the first */

/* The paragraph that a row becomes, while it is printed. */
struct paragraph {
    FILE *stream;
    size_t width, used; /* of a line */
    bool with_colours;
};

static void begin_line(struct paragraph *paragraph)
{
    fprintf(paragraph->stream, "\n%*s", INDENT, "");
    paragraph->used = INDENT;
}

/* Some words, and a line break only between words that have no room in one line. */
static void print_words(struct paragraph *paragraph, const char *text)
{
    for (const char *word = text; word[0] != '\0'; word += strspn(word, " ")) {
        size_t length = strcspn(word, " ");
        bool is_first = paragraph->used <= INDENT || word == text;
        if (!is_first && paragraph->used + 1 + length > paragraph->width) {
            begin_line(paragraph);
            is_first = true;
        }
        fprintf(paragraph->stream, "%s%.*s", is_first ? "" : " ", (int)length, word);
        paragraph->used += length + !is_first;
        word += length;
    }
}

/* "SIZE 256 MiB": in one line, if one has room for it. */
static void print_cell(struct paragraph *paragraph, const char *name, struct libscols_cell *cell)
{
    const char *data = scols_cell_get_data(cell);
    const char *colour = paragraph->with_colours ? scols_cell_get_color(cell) : NULL;
    const char *blank = name[0] != '\0' ? " " : "";
    size_t length = strlen(name) + strlen(blank) + strlen(data);
    if (paragraph->used > 0 && paragraph->used + 2 + length > paragraph->width)
        begin_line(paragraph);
    else if (paragraph->used > 0)
        paragraph->used += (size_t)fprintf(paragraph->stream, "  ");
    paragraph->used += (size_t)fprintf(paragraph->stream, "%s", name);
    if (paragraph->used + strlen(blank) + strcspn(data, " ") > paragraph->width)
        begin_line(paragraph);
    else
        paragraph->used += (size_t)fprintf(paragraph->stream, "%s", blank);
    fputs(colour != NULL ? colour : "", paragraph->stream);
    print_words(paragraph, data);
    fputs(colour != NULL ? "\033[0m" : "", paragraph->stream);
}

static void print_row(FILE *stream, struct libscols_table *table, struct libscols_line *line,
                      const struct xb_columns *columns)
{
    struct paragraph paragraph = {
        .stream = stream, .width = room_of(columns), .with_colours = columns->with_colours};
    for (size_t i = 0; i < scols_table_get_ncols(table); i++) {
        struct libscols_column *column = scols_table_get_column(table, i);
        struct libscols_cell *cell = scols_line_get_cell(line, i);
        const char *data = cell != NULL ? scols_cell_get_data(cell) : NULL;
        if (!scols_column_is_hidden(column) && data != NULL && data[0] != '\0' &&
            strcmp(data, "-") != 0)
            print_cell(&paragraph, name_of(column), cell);
    }
    fputc('\n', stream);
}

/* What is brief for a header may say too little in a sentence: the whole name comes back. */
static bool print_rows(FILE *stream, struct libscols_table *table, const struct xb_columns *columns,
                       const char *wordy)
{
    if (columns->brief != NULL &&
        scols_cell_set_data(scols_column_get_header(scols_table_get_column(table, columns->wordy)),
                            wordy) != 0)
        return false;
    struct libscols_iter *lines = scols_new_iter(SCOLS_ITER_FORWARD);
    struct libscols_line *line = NULL;
    while (lines != NULL && scols_table_next_line(table, lines, &line) == 0)
        print_row(stream, table, line, columns);
    scols_free_iter(lines);
    return lines != NULL;
}

/* ---- what fits ---- */

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* The width of each column but for its header; NULL: no memory. Release with free(). */
static size_t *cell_widths(struct libscols_table *table)
{
    size_t count = scols_table_get_ncols(table);
    size_t *widths = calloc(count, sizeof *widths);
    struct libscols_iter *lines = scols_new_iter(SCOLS_ITER_FORWARD);
    struct libscols_line *line = NULL;
    bool ok = widths != NULL && lines != NULL;
    while (ok && scols_table_next_line(table, lines, &line) == 0)
        for (size_t i = 0; i < count; i++) {
            struct libscols_cell *cell = scols_line_get_cell(line, i);
            const char *data = cell != NULL ? scols_cell_get_data(cell) : NULL;
            widths[i] = larger(widths[i], data != NULL ? strlen(data) : 0);
        }
    scols_free_iter(lines);
    if (ok)
        return widths;
    free(widths);
    return NULL;
}

/* Whether the lines would fit with so many blanks between columns. */
static bool fits(struct libscols_table *table, const size_t *widths, size_t blanks, size_t room)
{
    size_t used = 0;
    size_t behind = 0; /* where the last column that is not empty ends */
    for (size_t i = 0; i < scols_table_get_ncols(table); i++) {
        struct libscols_column *column = scols_table_get_column(table, i);
        size_t width = larger(widths[i], strlen(name_of(column)));
        if (scols_column_is_hidden(column))
            continue;
        behind = width > 0 ? used + width : behind;
        used += width + blanks;
    }
    return behind <= room;
}

/* Cuts the cells of the first column that are longer than `room`. */
static bool cut_names(struct libscols_table *table, size_t room)
{
    char *name = malloc(room + 1);
    struct libscols_iter *lines = scols_new_iter(SCOLS_ITER_FORWARD);
    struct libscols_line *line = NULL;
    bool ok = name != NULL && lines != NULL;
    while (ok && scols_table_next_line(table, lines, &line) == 0) {
        struct libscols_cell *cell = scols_line_get_cell(line, 0);
        const char *data = cell != NULL ? scols_cell_get_data(cell) : NULL;
        if (data == NULL || strlen(data) <= room)
            continue;
        xb_cut_middle(data, room, name);
        ok = scols_cell_set_data(cell, name) == 0;
    }
    scols_free_iter(lines);
    free(name);
    return ok;
}

/* Takes from the table what it has to lose. All before it is printed: the library never makes a
 * column narrower than it once was. *separator is what then stands between columns. */
static bool make_narrower(struct libscols_table *table, const struct xb_columns *columns,
                          const char **separator)
{
    size_t room = room_of(columns);
    size_t *widths = cell_widths(table);
    bool ok = widths != NULL;
    bool is_wide = ok && !fits(table, widths, 2, room);
    *separator = is_wide ? " " : "  ";
    is_wide = is_wide && !fits(table, widths, 1, room);
    if (is_wide && columns->brief != NULL) {
        struct libscols_column *column = scols_table_get_column(table, columns->wordy);
        ok = scols_cell_set_data(scols_column_get_header(column), columns->brief) == 0;
    }
    bool more = is_wide;
    for (unsigned turn = 1; ok && more && !fits(table, widths, 1, room); turn++)
        ok = hide(table, columns, turn, &more);
    if (ok && columns->least > 0 && !fits(table, widths, 1, room)) {
        size_t behind = 0; /* what the columns behind the first take, with a blank before each */
        for (size_t i = 1; i < scols_table_get_ncols(table); i++) {
            struct libscols_column *column = scols_table_get_column(table, i);
            if (!scols_column_is_hidden(column))
                behind += 1 + larger(widths[i], strlen(name_of(column)));
        }
        if (behind + columns->least <= room)
            ok = cut_names(table, room - behind);
    }
    free(widths);
    return ok;
}

/* The table, or its rows as paragraphs, and what it lacks. */
static bool write_fitting(FILE *stream, struct libscols_table *table,
                          const struct xb_columns *columns, const char *wordy, const char *text)
{
    struct xb_memory_text coloured = {.text = NULL};
    bool ok = true;
    if (xb_widest_line(text) > room_of(columns)) {
        ok = print_rows(stream, table, columns, wordy);
    } else if (columns->with_colours) { /* last, for widths are counted without them */
        ok = print_whole(table, true, &coloured);
        fputs(ok ? coloured.text : "", stream);
    } else {
        fputs(text, stream);
    }
    free(coloured.text);
    print_hidden(stream, table, columns);
    return ok;
}

char *xb_columns_fit(struct libscols_table *table, const struct xb_columns *columns)
{
    struct xb_memory_text fitting = {.text = NULL};
    struct xb_error error;
    struct xb_memory_text text = {.text = NULL};
    const char *separator = NULL;
    /* The name of the wordy column, which may be about to change. */
    char *wordy = strdup(
        columns->brief != NULL ? name_of(scols_table_get_column(table, columns->wordy)) : "");
    bool ok = wordy != NULL && make_narrower(table, columns, &separator) &&
              /* On a terminal the library would drop columns of its own choice. */
              scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER) == 0 &&
              scols_table_set_column_separator(table, separator) == 0 &&
              print_whole(table, false, &text) && xb_memory_text_begin(&fitting) != NULL &&
              write_fitting(fitting.stream, table, columns, wordy, text.text);
    if (xb_memory_text_end(&fitting, "a table", &error) != XB_OK)
        ok = false;
    free(wordy);
    free(text.text);
    if (!ok)
        free(fitting.text);
    return ok ? fitting.text : NULL;
}

bool xb_columns_print(FILE *stream, const char *before, struct libscols_table *table, bool is_whole,
                      const struct xb_columns *columns)
{
    const char *label = columns->label != NULL ? columns->label : "";
    char *text = is_whole ? xb_columns_fit(table, columns) : NULL;
    scols_unref_table(table);
    if (text == NULL)
        return false;
    fputs(before, stream);
    for (const char *line = text; line[0] != '\0'; line += strcspn(line, "\n") + 1)
        fprintf(stream, "%*s%.*s\n", (int)strlen(label), line == text ? label : "",
                (int)strcspn(line, "\n"), line);
    free(text);
    return true;
}
