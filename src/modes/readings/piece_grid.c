/* SPDX-License-Identifier: Apache-2.0 */
#include "piece_grid.h"

#include "base/memory.h"
#include "modes/batch.h"
#include "reading/reading.h"

#include <stdlib.h>
#include <string.h>

bool xb_case_is_in_grid(const struct xb_record_case *test)
{
    return strcmp(test->mode, "batch") == 0 && xb_reading_value(test, xb_option_pieces.name) > 0;
}

/* Whether it may stand in a cell: it ran in full and was verified. */
static bool counts(const struct xb_record *record, const struct xb_record_case *test)
{
    const struct xb_record_summary summary = xb_record_summarize(record, test);
    return xb_case_is_in_grid(test) && !test->latency && summary.status == XB_RESULT_OK &&
           summary.verified == XB_VERIFIED_TRUE && summary.ok > summary.cut;
}

static int by_grid(const struct xb_record_case *a, const struct xb_record_case *b,
                   const void *argument)
{
    static const char *const same[] = {"layout", "pitch", "host-offset", "device-offset",
                                       XB_RECORD_NUMA};
    int order = XB_FIRST_ORDER(XB_ORDER(a->device, b->device), strcmp(a->direction, b->direction));
    (void)argument;
    for (size_t i = 0; order == 0 && i < sizeof same / sizeof same[0]; i++)
        order = strcmp(xb_record_parameter(a, same[i]), xb_record_parameter(b, same[i]));
    return order;
}

XB_COMPARER(by_number, uint64_t, XB_ORDER(*a, *b))

/* The values that the cases have of an option, rising and each once; returns how many, at most
 * XB_GRID_VALUES. */
static size_t list_values(const struct xb_record_cases *all, const char *option, uint64_t *values)
{
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++)
        values[i] = xb_reading_value(all->cases[i], option);
    qsort(values, all->count, sizeof *values, by_number);
    for (size_t i = 0; i < all->count; i++)
        if (count == 0 || (count < XB_GRID_VALUES && values[i] != values[count - 1]))
            values[count++] = values[i];
    return count;
}

static size_t place_of(const uint64_t *values, size_t count, uint64_t value)
{
    size_t place = 0;
    while (place < count && values[place] != value)
        place++;
    return place;
}

/* Adds a way at its place; of too many the slowest drops out. */
static void add_way(struct xb_piece_cell *cell, const struct xb_cell_way *way)
{
    size_t at = cell->count, kept = at < XB_CELL_WAYS ? at : XB_CELL_WAYS - 1;
    while (at > 0 && cell->ways[at - 1].rate.median < way->rate.median)
        at--;
    if (at == XB_CELL_WAYS)
        return;
    memmove(&cell->ways[at + 1], &cell->ways[at], (kept - at) * sizeof *way);
    cell->ways[at] = *way;
    cell->count = kept + 1;
}

static void make_grid(struct xb_piece_grid *grid, const struct xb_record_cases *all,
                      struct xb_piece_cell *cells)
{
    const struct xb_reading reading = {.record = grid->record};
    for (size_t i = 0; i < all->count; i++) {
        const struct xb_record_case *test = all->cases[i];
        size_t row =
            place_of(grid->pieces, grid->row_count, xb_reading_value(test, xb_option_piece.name));
        size_t column = place_of(grid->numbers, grid->column_count,
                                 xb_reading_value(test, xb_option_pieces.name));
        struct xb_piece_cell *cell = &cells[row * grid->column_count + column];
        struct xb_cell_way way = {.test = test};
        if (row < grid->row_count && column < grid->column_count &&
            xb_record_describe(grid->record, test, xb_figure_bandwidth.name, &way.rate))
            add_way(cell, &way);
    }
    for (size_t i = 0; i < grid->row_count * grid->column_count; i++) {
        struct xb_cell_way *ways = cells[i].ways;
        for (size_t k = 0; k < cells[i].count; k++)
            ways[k].is_tie = k == 0 || xb_reading_judge(&reading, ways[0].test, ways[k].test) !=
                                           XB_READING_FASTER;
    }
    grid->cells = cells;
}

void xb_piece_grids_each(const struct xb_record *record, xb_piece_grid_visit *visit, void *argument)
{
    const struct xb_record_case **cases =
        xb_new(record->case_count, sizeof(const struct xb_record_case *));
    struct xb_record_cases all = {.cases = cases};
    size_t count = 0;
    XB_EACH_CASE (test, record)
        if (counts(record, test))
            cases[count++] = test;
    xb_cases_group(cases, count, by_grid, NULL);
    for (; count > 0; all.cases += all.count, count -= all.count) {
        all.count = xb_cases_equal(all.cases, count, by_grid, NULL);
        uint64_t *pieces = xb_new(2 * all.count, sizeof *pieces);
        uint64_t *numbers = pieces + all.count;
        struct xb_piece_grid grid = {.record = record,
                                     .of = all.cases[0],
                                     .pieces = pieces,
                                     .numbers = numbers,
                                     .row_count = list_values(&all, xb_option_piece.name, pieces),
                                     .column_count =
                                         list_values(&all, xb_option_pieces.name, numbers)};
        struct xb_piece_cell *cells = xb_new(grid.row_count * grid.column_count, sizeof *cells);
        make_grid(&grid, &all, cells);
        visit(argument, &grid);
        free(cells);
        free(pieces);
    }
    free(cases);
}

uint64_t xb_way_call_pieces(const struct xb_record_case *test)
{
    uint64_t a_call = xb_reading_value(test, "call-pieces");
    return a_call < xb_reading_value(test, xb_option_pieces.name) ? a_call : 0;
}

size_t xb_cell_ties(const struct xb_piece_cell *cell)
{
    size_t ties = 0;
    for (size_t i = 0; i < cell->count; i++)
        ties += cell->ways[i].is_tie;
    return ties;
}
