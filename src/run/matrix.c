/* SPDX-License-Identifier: Apache-2.0 */
/* What every kind of matrix is made of: which cases belong to one, rows, columns, cells, title. */
#define _GNU_SOURCE
#include "matrix.h"
#include "base/note.h"
#include "base/text.h"
#include "matrix_internal.h"
#include "record/mode_list.h"
#include "record/rows.h"
#include "record/shown_parameters.h"
#include "xferbench/mode.h"
#include "xferbench/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PLACE_WIDTH 6 /* of a row's number */

/* ---- which cases ---- */

static int by_kind(const struct xb_record_case *a, const struct xb_record_case *b, const void *kind)
{
    const struct xb_matrix_kind *of = kind;
    return of->is_one ? 0 : xb_cases_order(a, b, of->but);
}

enum xb_status xb_matrix_visit_all(const struct xb_record *record,
                                   const struct xb_matrix_kind *kind, xb_matrix_visit *visit,
                                   void *argument, struct xb_error *error)
{
    const struct xb_parameters parameters = xb_parameters_that_differ(record);
    enum xb_status status = XB_OK;
    size_t count = 0;
    const struct xb_record_case **cases =
        calloc(record->case_count + 1, sizeof(const struct xb_record_case *));
    for (size_t i = 0; cases != NULL && i < record->case_count; i++)
        if (kind->holds(record, &record->cases[i]))
            cases[count++] = &record->cases[i];
    if (cases == NULL || !xb_cases_group(cases, count, by_kind, kind))
        status = XB_FAIL(error, XB_ERR_MEMORY, "not enough memory for a matrix");
    for (size_t i = 0, equal = 0; status == XB_OK && i < count; i += equal) {
        equal = xb_cases_equal(cases + i, count - i, by_kind, kind);
        const struct xb_matrix matrix = {kind, record, &parameters, cases + i, equal};
        status = visit(&matrix, argument, error);
    }
    free(cases);
    return status;
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

/* ---- a matrix ---- */

static int widest_cell(const struct xb_matrix_grid *grid)
{
    size_t width = 4;
    for (size_t i = 0; i < grid->row_count * grid->column_count; i++)
        if (grid->texts[i] != NULL && strlen(grid->texts[i]) > width)
            width = strlen(grid->texts[i]);
    return (int)width;
}

/* Columns that fit into a line, for all rows. */
static void print_block(FILE *stream, const struct xb_matrix_grid *grid, size_t first,
                        size_t behind, int width)
{
    fprintf(stream, "%*s", PLACE_WIDTH, "");
    for (size_t k = first; k < behind; k++)
        fprintf(stream, "  %*s", width, grid->column_names[k]);
    for (size_t i = 0; i < grid->row_count; i++) {
        fprintf(stream, "\n%*s", PLACE_WIDTH, grid->row_names[i]);
        for (size_t k = first; k < behind; k++) {
            const char *text = grid->texts[i * grid->column_count + k];
            fprintf(stream, "  %*s", width, text != NULL ? text : "-");
        }
    }
    fputc('\n', stream);
}

enum xb_status xb_matrix_print_cells(FILE *stream, const struct xb_matrix *matrix,
                                     struct xb_error *error)
{
    struct xb_arena *memory = NULL;
    struct xb_matrix_grid grid = {.title = NULL};
    bool ok = xb_matrix_make_grid(matrix, SIZE_MAX, "", "", &grid, &memory);
    int width = ok ? widest_cell(&grid) : 1;
    int room = ((int)xb_terminal_columns(stream) - PLACE_WIDTH) / (width + 2);
    size_t step = room > 0 ? (size_t)room : 1;
    for (size_t k = 0; ok && k < grid.column_count; k += step)
        print_block(stream, &grid, k, k + step < grid.column_count ? k + step : grid.column_count,
                    width);
    xb_arena_free(memory);
    return ok ? XB_OK : XB_FAIL(error, XB_ERR_MEMORY, "not enough memory to print the table");
}

/* ---- titles ---- */

/* ", chunk 8 MiB" for what tells this matrix from others of its mode. */
static void add_parameters(struct xb_words *words, const struct xb_matrix *matrix)
{
    const char *unsaid = matrix->kind->unsaid;
    for (size_t i = 0; i < matrix->parameters->count; i++) {
        char text[XB_MATRIX_CELL];
        const char *name = matrix->parameters->names[i];
        const char *value = xb_parameter_text(matrix->cases[0], name, text, sizeof text);
        if (value != NULL && (unsaid == NULL || strcmp(name, unsaid) != 0))
            xb_words_add(words, ", %s %s", name, value);
    }
}

void xb_matrix_add_title(struct xb_words *words, const struct xb_matrix *matrix)
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
    add_parameters(words, matrix);
    if (of->simultaneous)
        xb_words_add(words, ", at the same time");
    matrix->kind->axes(matrix, axes, sizeof axes);
    xb_words_add(words, ", %s (%s)", unit, axes);
}

enum xb_status xb_matrix_print_one(const struct xb_matrix *matrix, void *argument,
                                   struct xb_error *error)
{
    struct xb_matrix_printing *printing = argument;
    struct xb_words words = {.length = 0};
    xb_matrix_add_title(&words, matrix);
    if (!printing->first)
        fputc('\n', printing->stream);
    printing->first = false;
    xb_heading_print(printing->stream, XB_COLOUR_TITLE, "%s", words.text);
    return xb_matrix_print_cells(printing->stream, matrix, error);
}
