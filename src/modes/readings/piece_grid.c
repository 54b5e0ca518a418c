/* SPDX-License-Identifier: Apache-2.0 */
#include "piece_grid.h"

#include "base/memory.h"
#include "base/order.h"
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
XB_COMPARER(by_cell, struct xb_cell_way, XB_BY(piece), XB_BY(pieces))
XB_COMPARER(by_rate, struct xb_cell_way, by_cell(a, b), XB_BY_GREATEST(rate.median),
            XB_BY_ADDRESS(test))

/* Sorts values and keeps each once; returns how many, at most XB_GRID_VALUES. */
static size_t sort_values(uint64_t *values, size_t all)
{
    size_t count = 0;
    qsort(values, all, sizeof *values, by_number);
    for (size_t i = 0; i < all; i++)
        if (count == 0 || (count < XB_GRID_VALUES && values[i] != values[count - 1]))
            values[count++] = values[i];
    return count;
}

/* Makes the grid of these cases, and calls `visit` for it. */
static void visit_grid(const struct xb_record *record, const struct xb_record_cases *all,
                       xb_piece_grid_visit *visit, void *argument)
{
    const struct xb_reading reading = {.record = record};
    struct xb_cell_way *ways = xb_new(all->count, sizeof *ways);
    struct xb_piece_cell *cells = xb_new(all->count, sizeof *cells);
    uint64_t *pieces = xb_new(2 * all->count, sizeof *pieces), *numbers = pieces + all->count;
    size_t count = 0;
    XB_EACH (test, all->cases, all->count) {
        struct xb_cell_way *way = &ways[count];
        way->test = *test;
        way->piece = pieces[count] = xb_reading_value(*test, xb_option_piece.name);
        way->pieces = numbers[count] = xb_reading_value(*test, xb_option_pieces.name);
        count += xb_record_describe(record, *test, xb_figure_bandwidth.name, &way->rate);
    }
    struct xb_piece_grid grid = {.record = record,
                                 .of = all->cases[0],
                                 .pieces = pieces,
                                 .numbers = numbers,
                                 .row_count = sort_values(pieces, count),
                                 .column_count = sort_values(numbers, count),
                                 .cells = cells};
    qsort(ways, count, sizeof *ways, by_rate);
    XB_EACH_GROUP (count, by_cell(&ways[begin], &ways[end]) == 0) {
        const uint64_t *row =
            bsearch(&ways[begin].piece, pieces, grid.row_count, sizeof *pieces, by_number);
        const uint64_t *column =
            bsearch(&ways[begin].pieces, numbers, grid.column_count, sizeof *numbers, by_number);
        if (row == NULL || column == NULL) /* of too many */
            continue;
        struct xb_piece_cell *cell = &cells[grid.cell_count++];
        *cell = (struct xb_piece_cell){.row = (size_t)(row - pieces),
                                       .column = (size_t)(column - numbers),
                                       .ways = &ways[begin],
                                       .count = end - begin};
        for (size_t i = begin; i < end; i++) {
            ways[i].is_tie = i == begin || xb_reading_judge(&reading, ways[begin].test,
                                                            ways[i].test) != XB_READING_FASTER;
            cell->ties += ways[i].is_tie;
        }
    }
    visit(argument, &grid);
    free(pieces);
    free(cells);
    free(ways);
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
        visit_grid(record, &all, visit, argument);
    }
    free(cases);
}

uint64_t xb_way_call_pieces(const struct xb_record_case *test)
{
    uint64_t a_call = xb_reading_value(test, "call-pieces");
    return a_call < xb_reading_value(test, xb_option_pieces.name) ? a_call : 0;
}
