/* SPDX-License-Identifier: Apache-2.0 */
/* What every kind of matrix is made of: which cases belong to one, rows, columns, cells, title. */
#define _GNU_SOURCE
#include "base/note.h"
#include "base/text.h"
#include "matrix_internal.h"
#include "measure/mode_list.h"
#include "record/rows.h"
#include "record/shown_parameters.h"
#include "xferbench/mode.h"
#include "xferbench/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PLACE_WIDTH 6 /* of a row's number */

/* ---- which cases ---- */

bool xb_matrix_open(struct xb_matrix *matrix, const struct xb_matrix_kind *kind,
                    const struct xb_record *record)
{
    *matrix = (struct xb_matrix){
        .kind = kind,
        .record = record,
        .cases = calloc(record->case_count + 1, sizeof(const struct xb_record_case *))};
    return matrix->cases != NULL;
}

/* Whether a case belongs to the matrix of `of`. */
static bool belongs(const struct xb_matrix *matrix, const struct xb_record_case *test,
                    const struct xb_record_case *of)
{
    return matrix->kind->holds(matrix->record, test) && matrix->kind->alike(test, of) &&
           test->latency == of->latency && test->simultaneous == of->simultaneous;
}

void xb_matrix_collect(struct xb_matrix *matrix, const struct xb_record_case *of)
{
    const struct xb_record *record = matrix->record;
    matrix->count = 0;
    for (size_t i = 0; i < record->case_count; i++)
        if (belongs(matrix, &record->cases[i], of))
            matrix->cases[matrix->count++] = &record->cases[i];
}

/* ---- cells ---- */

void xb_matrix_set_text(char *cell, const char *text)
{
    snprintf(cell, XB_MATRIX_CELL, "%s", text);
    xb_make_plain(cell);
}

void xb_matrix_fill_figure(const struct xb_record *record, const struct xb_record_case *test,
                           char *cell)
{
    const struct xb_figure *figure = xb_mode_main_figure(test->mode, test->latency);
    double median = xb_record_median(record, test, figure->name);
    enum xb_result_status status = xb_record_summarize(record, test).status;
    if (test->latency && isfinite(median))
        snprintf(cell, XB_MATRIX_CELL, "%.*f", xb_decimals_for(1e6 * median), 1e6 * median);
    else if (isfinite(median))
        xb_rate_text(median, cell, XB_MATRIX_CELL);
    else if (status != XB_RESULT_OK)
        xb_matrix_set_text(cell, status == XB_RESULT_SKIPPED ? "skip" : "ERR");
}

const struct xb_record_detail *xb_matrix_detail(const struct xb_record *record,
                                                const struct xb_record_case *test, const char *name)
{
    for (size_t p = 0; p < record->process_count; p++) {
        const struct xb_record_row *row = &test->rows[p];
        for (size_t i = 0; i < row->detail_count; i++)
            if (strcmp(row->details[i].name, name) == 0)
                return &row->details[i];
    }
    return NULL;
}

/*
 * What stands at a place: the first case of it that has something to say. Only the matrix of links
 * has several cases of a place.
 */
static void cell_at(const struct xb_matrix *matrix, int row, int column, char *text)
{
    xb_matrix_set_text(text, "-");
    for (size_t i = 0; i < matrix->count && strcmp(text, "-") == 0; i++) {
        const struct xb_record_case *test = matrix->cases[i];
        if (matrix->kind->row(test) == row && matrix->kind->column(test) == column)
            matrix->kind->fill(matrix->record, test, text);
    }
}

/* ---- a matrix ---- */

/* Whether a number has a row and a column: that of a device that is an end of any pair has both.
 * XB_MATRIX_ALL has only that of the two in which a case stands. */
static bool takes_part(const struct xb_matrix *matrix, int place, bool as_row)
{
    const struct xb_matrix_kind *kind = matrix->kind;
    for (size_t i = 0; i < matrix->count; i++) {
        const struct xb_record_case *test = matrix->cases[i];
        bool either = kind->same_places && place != XB_MATRIX_ALL;
        if ((kind->row(test) == place && (either || as_row)) ||
            (kind->column(test) == place && (either || !as_row)))
            return true;
    }
    return false;
}

/* One more than the highest number of a row or a column here. */
static int place_limit(const struct xb_matrix *matrix)
{
    int limit = 0;
    for (size_t i = 0; i < matrix->count; i++) {
        int row = matrix->kind->row(matrix->cases[i]);
        int column = matrix->kind->column(matrix->cases[i]);
        limit = row >= limit ? row + 1 : limit;
        limit = column >= limit ? column + 1 : limit;
    }
    return limit;
}

static int widest_cell(const struct xb_matrix *matrix)
{
    size_t width = 4;
    for (size_t i = 0; i < matrix->count; i++) {
        const struct xb_record_case *test = matrix->cases[i];
        char text[XB_MATRIX_CELL];
        cell_at(matrix, matrix->kind->row(test), matrix->kind->column(test), text);
        width = strlen(text) > width ? strlen(text) : width;
    }
    return (int)width;
}

static void print_place(FILE *stream, int place, int width)
{
    if (place == XB_MATRIX_ALL)
        fprintf(stream, "%*s", width, "all");
    else
        fprintf(stream, "%*d", width, place);
}

/* The numbers in turn, and XB_MATRIX_ALL at the end, which is the place behind the last number. */
static int place_at(int turn, int limit)
{
    return turn < limit ? turn : XB_MATRIX_ALL;
}

/* Some of the columns: as many as fit into a line, from one of the turns on. */
struct block {
    int first, behind; /* turns */
    int limit;         /* of all */
    int width;         /* of a cell */
    int room;          /* cells of a line */
};

/* The columns that fit, from block.behind on. False where there are none. */
static bool next_block(const struct xb_matrix *matrix, struct block *block)
{
    int count = 0;
    block->first = block->behind;
    while (block->behind <= block->limit && (count < block->room || count == 0))
        count += takes_part(matrix, place_at(block->behind++, block->limit), false);
    return count > 0;
}

static void print_line(FILE *stream, const struct xb_matrix *matrix, const struct block *block,
                       int row)
{
    fputc('\n', stream);
    print_place(stream, row, PLACE_WIDTH);
    for (int turn = block->first; turn < block->behind; turn++) {
        char text[XB_MATRIX_CELL];
        int column = place_at(turn, block->limit);
        if (!takes_part(matrix, column, false))
            continue;
        cell_at(matrix, row, column, text);
        fprintf(stream, "  %*s", block->width, text);
    }
}

static void print_block(FILE *stream, const struct xb_matrix *matrix, const struct block *block)
{
    fprintf(stream, "%*s", PLACE_WIDTH, "");
    for (int turn = block->first; turn < block->behind; turn++) {
        int place = place_at(turn, block->limit);
        if (!takes_part(matrix, place, false))
            continue;
        fputs("  ", stream);
        print_place(stream, place, block->width);
    }
    for (int turn = 0; turn <= block->limit; turn++)
        if (takes_part(matrix, place_at(turn, block->limit), true))
            print_line(stream, matrix, block, place_at(turn, block->limit));
    fputc('\n', stream);
}

void xb_matrix_print_cells(FILE *stream, const struct xb_matrix *matrix)
{
    struct block block = {.limit = place_limit(matrix), .width = widest_cell(matrix)};
    block.room = ((int)xb_terminal_columns(stream) - PLACE_WIDTH) / (block.width + 2);
    while (next_block(matrix, &block))
        print_block(stream, matrix, &block);
}

/* ---- titles ---- */

/* ", chunk 8 MiB" for what tells this matrix from others of its mode. */
static void add_parameters(struct xb_words *words, const struct xb_matrix *matrix,
                           const struct xb_parameters *parameters)
{
    const char *unsaid = matrix->kind->unsaid;
    for (size_t i = 0; i < parameters->count; i++) {
        char text[XB_MATRIX_CELL];
        const char *name = parameters->names[i];
        const char *value = xb_parameter_text(matrix->cases[0], name, text, sizeof text);
        if (value != NULL && (unsaid == NULL || strcmp(name, unsaid) != 0))
            xb_words_add(words, ", %s %s", name, value);
    }
}

void xb_matrix_add_title(struct xb_words *words, const struct xb_matrix *matrix,
                         const struct xb_parameters *parameters)
{
    const struct xb_record_case *of = matrix->cases[0]; /* any stands for all */
    char bytes[32], axes[2 * XB_MATRIX_CELL];
    bool both_ways = strcmp(of->direction, xb_direction_name(XB_BIDIR)) == 0;
    const char *unit = xb_mode_has_latency(of->mode) ? "latency p50 in us"
                       : of->latency                 ? "host latency p50 in us"
                       : both_ways                   ? "GB/s both ways together"
                                                     : "GB/s";
    xb_words_add(words, "%s %s, %s, %s", of->mode, of->variant, of->direction,
                 xb_size_format(of->bytes, bytes, sizeof bytes));
    add_parameters(words, matrix, parameters);
    if (of->simultaneous)
        xb_words_add(words, ", at the same time");
    matrix->kind->axes(matrix, axes, sizeof axes);
    xb_words_add(words, ", %s (%s)", unit, axes);
}

static void print_title(FILE *stream, const struct xb_matrix *matrix,
                        const struct xb_parameters *parameters)
{
    struct xb_words words = {.length = 0};
    xb_matrix_add_title(&words, matrix, parameters);
    xb_heading_print(stream, XB_COLOUR_TITLE, "%s", words.text);
}

/* ---- all matrices of a kind ---- */

bool xb_matrix_begins(const struct xb_matrix *matrix, size_t index)
{
    const struct xb_record *record = matrix->record;
    if (!matrix->kind->holds(record, &record->cases[index]))
        return false;
    for (size_t i = 0; i < index; i++)
        if (belongs(matrix, &record->cases[i], &record->cases[index]))
            return false;
    return true;
}

void xb_matrix_print_each(FILE *stream, struct xb_matrix *matrix, bool first,
                          void (*each)(const struct xb_matrix *matrix, void *argument),
                          void *argument)
{
    const struct xb_record *record = matrix->record;
    const struct xb_parameters parameters = xb_parameters_that_differ(record);
    for (size_t i = 0; i < record->case_count; i++) {
        if (!xb_matrix_begins(matrix, i))
            continue;
        if (!first)
            fputc('\n', stream);
        first = false;
        xb_matrix_collect(matrix, &record->cases[i]);
        print_title(stream, matrix, &parameters);
        xb_matrix_print_cells(stream, matrix);
        if (each != NULL)
            each(matrix, argument);
    }
}
