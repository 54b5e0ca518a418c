/* SPDX-License-Identifier: Apache-2.0 */
/* Matrices as texts and numbers, for pictures of them. */
#include "base/arena.h"
#include "base/note.h"
#include "matrix.h"
#include "matrix_internal.h"
#include "measure/mode_list.h"

#include <math.h>
#include <stdlib.h>

/* Numbers of rows or columns, rising; what several have together comes last. */
struct places {
    int numbers[XB_MATRIX_MOST];
    size_t count;
    bool all;
};

struct grid {
    struct xb_matrix_grid grid;
    struct places rows, columns;
    double *values;
    const char **texts;
    struct xb_arena *memory;
    struct xb_words title;
};

/* Adds a number, in its order; of more than there is room for the largest goes. */
static void add_place(struct places *places, int number)
{
    size_t at = 0;
    if (number == XB_MATRIX_ALL) {
        places->all = true;
        return;
    }
    while (at < places->count && places->numbers[at] < number)
        at++;
    /* The last place is kept for all together. */
    if (at == XB_MATRIX_MOST - 1 || (at < places->count && places->numbers[at] == number))
        return;
    if (places->count < XB_MATRIX_MOST - 1)
        places->count++;
    for (size_t i = places->count - 1; i > at; i--)
        places->numbers[i] = places->numbers[i - 1];
    places->numbers[at] = number;
}

/* Its index; false where it has none. */
static bool find_place(const struct places *places, int number, size_t *index)
{
    if (number == XB_MATRIX_ALL) {
        *index = places->count;
        return places->all;
    }
    for (*index = 0; *index < places->count; (*index)++)
        if (places->numbers[*index] == number)
            return true;
    return false;
}

static void find_places(const struct xb_matrix *matrix, struct grid *own)
{
    const struct xb_matrix_kind *kind = matrix->kind;
    for (size_t i = 0; i < matrix->count; i++) {
        int row = kind->row(matrix->cases[i]);
        int column = kind->column(matrix->cases[i]);
        add_place(&own->rows, row);
        add_place(&own->columns, column);
        if (kind->same_places && row != XB_MATRIX_ALL)
            add_place(&own->columns, row);
        if (kind->same_places && column != XB_MATRIX_ALL)
            add_place(&own->rows, column);
    }
    own->grid.row_count = own->rows.count + own->rows.all;
    own->grid.column_count = own->columns.count + own->columns.all;
}

/* Returns false where memory is short. */
static bool name_places(struct grid *own, const struct places *places, const char *what,
                        const char **names)
{
    bool ok = true;
    for (size_t i = 0; i < places->count; i++) {
        names[i] = xb_arena_print(&own->memory, "%s %d", what, places->numbers[i]);
        ok = ok && names[i] != NULL;
    }
    if (places->all)
        names[places->count] = "all";
    return ok;
}

static double value_of(const struct xb_matrix *matrix, const struct xb_record_case *test)
{
    const struct xb_figure *figure = xb_mode_main_figure(test->mode, test->latency);
    if (xb_record_is_sum(test) || test->device < 0)
        return (double)NAN;
    return xb_record_median(matrix->record, test, figure->name) * (test->latency ? 1e6 : 1e-9);
}

static bool fill(const struct xb_matrix *matrix, struct grid *own)
{
    for (size_t i = 0; i < matrix->count; i++) {
        const struct xb_record_case *test = matrix->cases[i];
        size_t row;
        size_t column;
        char cell[XB_MATRIX_CELL] = "-";
        if (!find_place(&own->rows, matrix->kind->row(test), &row) ||
            !find_place(&own->columns, matrix->kind->column(test), &column)) {
            own->grid.left_out++;
            continue;
        }
        size_t at = row * own->grid.column_count + column;
        if (own->texts[at] != NULL)
            continue;
        matrix->kind->fill(matrix->record, test, cell);
        own->texts[at] = xb_arena_print(&own->memory, "%s", cell);
        own->values[at] = value_of(matrix, test);
        if (own->texts[at] == NULL)
            return false;
    }
    return true;
}

static bool make(const struct xb_matrix *matrix, const struct xb_parameters *parameters,
                 struct grid *own)
{
    bool is_pairs = matrix->kind == &xb_matrix_of_pairs;
    struct xb_matrix_grid *grid = &own->grid;
    find_places(matrix, own);
    size_t cells = grid->row_count * grid->column_count;
    own->values = xb_arena_allocate(&own->memory, (cells + 1) * sizeof *own->values);
    own->texts = xb_arena_allocate(&own->memory, (cells + 1) * sizeof *own->texts);
    if (own->values == NULL || own->texts == NULL)
        return false;
    for (size_t i = 0; i < cells; i++)
        own->values[i] = (double)NAN;
    xb_matrix_add_title(&own->title, matrix, parameters);
    grid->title = own->title.text;
    grid->unit = matrix->cases[0]->latency ? "us" : "GB/s";
    grid->rows_are = is_pairs ? "from" : "memory on";
    grid->columns_are = is_pairs ? "to" : "of";
    grid->values = own->values;
    grid->texts = own->texts;
    return name_places(own, &own->rows, is_pairs ? "device" : "node", grid->row_names) &&
           name_places(own, &own->columns, "device", grid->column_names) && fill(matrix, own);
}

static enum xb_status use_kind(struct xb_matrix *matrix, xb_matrix_use *use, void *argument,
                               struct xb_error *error)
{
    const struct xb_record *record = matrix->record;
    const struct xb_parameters parameters = xb_parameters_that_differ(record);
    enum xb_status status = XB_OK;
    for (size_t i = 0; status == XB_OK && i < record->case_count; i++) {
        if (!xb_matrix_begins(matrix, i))
            continue;
        struct grid own = {.memory = NULL};
        xb_matrix_collect(matrix, &record->cases[i]);
        if (make(matrix, &parameters, &own))
            status = use(argument, &own.grid, error);
        else
            status = XB_FAIL(error, XB_ERR_MEMORY, "no memory for a matrix");
        xb_arena_free(own.memory);
    }
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
    struct xb_matrix matrix;
    enum xb_status status = XB_OK;
    if (!xb_matrix_open(&matrix, &xb_matrix_of_pairs, record))
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for a matrix");
    status = use_kind(&matrix, use, argument, error);
    matrix.kind = &xb_matrix_of_nodes;
    if (status == XB_OK && xb_matrix_has_nodes(record))
        status = use_kind(&matrix, use, argument, error);
    free(matrix.cases);
    return status;
}
