/* SPDX-License-Identifier: Apache-2.0 */
/* Matrices as texts and numbers. */
#include "matrix.h"
#include "matrix_internal.h"

#include "record/mode_list.h"

#include <math.h>
#include <stdlib.h>

/* Numbers of rows or columns, rising; what several have together, XB_MATRIX_ALL, comes last. */
struct places {
    int *numbers;
    size_t count;
};

/* The largest unsigned number is that of all together. */
static int by_number(const void *a, const void *b)
{
    unsigned left = *(const unsigned *)a;
    unsigned right = *(const unsigned *)b;
    return (left > right) - (left < right);
}

/* Sorts them, each once; of more than there is room for the largest go, but for all together. */
static void sort_places(struct places *places, size_t most)
{
    size_t count = 0;
    qsort(places->numbers, places->count, sizeof *places->numbers, by_number);
    for (size_t i = 0; i < places->count; i++)
        if (count == 0 || places->numbers[i] != places->numbers[count - 1])
            places->numbers[count++] = places->numbers[i];
    bool all = count > 0 && places->numbers[count - 1] == XB_MATRIX_ALL;
    places->count = count - all < most ? count : most - 1 + all;
    if (all)
        places->numbers[places->count - 1] = XB_MATRIX_ALL;
}

/* Its index; false where it has none. */
static bool find_place(const struct places *places, int number, size_t *index)
{
    const int *found =
        bsearch(&number, places->numbers, places->count, sizeof *places->numbers, by_number);
    *index = found != NULL ? (size_t)(found - places->numbers) : 0;
    return found != NULL;
}

static void find_places(const struct xb_matrix *matrix, size_t most, struct places *rows,
                        struct places *columns)
{
    const struct xb_matrix_kind *kind = matrix->kind;
    for (size_t i = 0; i < matrix->count; i++) {
        int row = kind->row(matrix->cases[i]);
        int column = kind->column(matrix->cases[i]);
        rows->numbers[rows->count++] = row;
        columns->numbers[columns->count++] = column;
        if (kind->same_places && row != XB_MATRIX_ALL)
            columns->numbers[columns->count++] = row;
        if (kind->same_places && column != XB_MATRIX_ALL)
            rows->numbers[rows->count++] = column;
    }
    sort_places(rows, most);
    sort_places(columns, most);
}

/* NULL where memory is short. */
static const char **name_places(const struct places *places, const char *noun,
                                struct xb_arena **memory)
{
    bool ok = true;
    const char **names = xb_arena_allocate(memory, (places->count + 1) * sizeof *names);
    for (size_t i = 0; names != NULL && ok && i < places->count; i++) {
        names[i] = places->numbers[i] == XB_MATRIX_ALL
                       ? "all"
                       : xb_arena_print(memory, "%s%d", noun, places->numbers[i]);
        ok = names[i] != NULL;
    }
    return ok ? names : NULL;
}

static double value_of(const struct xb_matrix *matrix, const struct xb_record_case *test)
{
    const struct xb_figure *figure = xb_mode_main_figure(test->mode, test->latency);
    if (xb_record_is_sum(test) || test->device < 0)
        return (double)NAN;
    return xb_record_median(matrix->record, test, figure->name) * (test->latency ? 1e6 : 1e-9);
}

/* Every case goes to its cell, if no case that stands there already says something. */
static bool fill(const struct xb_matrix *matrix, const struct places *rows,
                 const struct places *columns, struct xb_matrix_grid *grid,
                 struct xb_arena **memory)
{
    const size_t cells = rows->count * columns->count;
    double *values = xb_arena_allocate(memory, (cells + 1) * sizeof *values);
    const char **texts = xb_arena_allocate(memory, (cells + 1) * sizeof *texts);
    bool ok = values != NULL && texts != NULL;
    for (size_t i = 0; ok && i < cells; i++)
        values[i] = (double)NAN;
    for (size_t i = 0; ok && i < matrix->count; i++) {
        const struct xb_record_case *test = matrix->cases[i];
        size_t row, column;
        char cell[XB_MATRIX_CELL] = "";
        if (!find_place(rows, matrix->kind->row(test), &row) ||
            !find_place(columns, matrix->kind->column(test), &column)) {
            grid->left_out++;
            continue;
        }
        size_t at = row * columns->count + column;
        if (texts[at] == NULL)
            matrix->kind->fill(matrix->record, test, cell);
        if (cell[0] == '\0')
            continue;
        texts[at] = xb_arena_print(memory, "%s", cell);
        values[at] = value_of(matrix, test);
        ok = texts[at] != NULL;
    }
    grid->values = values;
    grid->texts = texts;
    return ok;
}

bool xb_matrix_make_grid(const struct xb_matrix *matrix, size_t most, const char *row_noun,
                         const char *column_noun, struct xb_matrix_grid *grid,
                         struct xb_arena **memory)
{
    struct places rows = {.numbers = calloc(2 * matrix->count, sizeof *rows.numbers)};
    struct places columns = {.numbers = calloc(2 * matrix->count, sizeof *columns.numbers)};
    bool ok = rows.numbers != NULL && columns.numbers != NULL;
    if (ok) {
        find_places(matrix, most, &rows, &columns);
        grid->row_count = rows.count;
        grid->column_count = columns.count;
        grid->row_names = name_places(&rows, row_noun, memory);
        grid->column_names = name_places(&columns, column_noun, memory);
        ok = grid->row_names != NULL && grid->column_names != NULL &&
             fill(matrix, &rows, &columns, grid, memory);
    }
    free(rows.numbers);
    free(columns.numbers);
    return ok;
}

/* ---- for pictures ---- */

struct use {
    xb_matrix_use *use;
    void *argument;
};

static enum xb_status use_one(const struct xb_matrix *matrix, void *argument,
                              struct xb_error *error)
{
    const struct use *use = argument;
    bool is_pairs = matrix->kind == &xb_matrix_of_pairs;
    struct xb_words title = {.length = 0};
    struct xb_arena *memory = NULL;
    xb_matrix_add_title(&title, matrix);
    struct xb_matrix_grid grid = {.title = title.text,
                                  .unit = matrix->cases[0]->latency ? "us" : "GB/s",
                                  .rows_are = is_pairs ? "from" : "memory on",
                                  .columns_are = is_pairs ? "to" : "of"};
    enum xb_status status =
        xb_matrix_make_grid(matrix, XB_MATRIX_MOST, is_pairs ? "device " : "node ", "device ",
                            &grid, &memory)
            ? use->use(use->argument, &grid, error)
            : XB_FAIL(error, XB_ERR_MEMORY, "not enough memory for a matrix");
    xb_arena_free(memory);
    return status;
}

bool xb_matrix_is_there(const struct xb_record *record)
{
    for (size_t i = 0; i < record->case_count; i++)
        if (xb_matrix_of_pairs.holds(record, &record->cases[i]))
            return true;
    return xb_matrix_has_nodes(record);
}

enum xb_status xb_matrix_each(const struct xb_record *record, xb_matrix_use *use, void *argument,
                              struct xb_error *error)
{
    struct use own = {use, argument};
    enum xb_status status = xb_matrix_visit_all(record, &xb_matrix_of_pairs, use_one, &own, error);
    if (status == XB_OK && xb_matrix_has_nodes(record))
        status = xb_matrix_visit_all(record, &xb_matrix_of_nodes, use_one, &own, error);
    return status;
}
