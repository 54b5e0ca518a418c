/* SPDX-License-Identifier: Apache-2.0 */
/* Grids of pieces as matrices: by piece and number of pieces the fastest way, and its GB/s. */
#include "table.h"

#include "base/memory.h"
#include "base/order.h"
#include "base/text.h"
#include "base/units.h"
#include "modes/readings/piece_grid.h"
#include "plot/pictures.h"

#include <math.h>
#include <string.h>

/* "Fastest way to the GPU, GPU 1, layout rows, GB/s (rows: piece, columns: number of pieces)" */
static void write_title(const struct xb_piece_grid *grid, struct xb_words *words)
{
    const char *layout = xb_record_parameter(grid->of, "layout");
    xb_words_add(words, "Fastest way %s", xb_direction_words(grid->of));
    if (xb_rows_name_devices(grid->record))
        xb_words_add(words, ", GPU %d", grid->of->device);
    if (xb_record_case_node(grid->of) >= 0)
        xb_words_add(words, ", NUMA node %d", xb_record_case_node(grid->of));
    if (strcmp(layout, "scattered") != 0)
        xb_words_add(words, ", layout %.40s", layout);
    xb_words_add(words, ", GB/s (rows: piece, columns: number of pieces)");
}

/* "kern 50.1", for a line of text, or "kernel 50.1"; "=" in place of the space where another way is
 * as fast. */
static const char *cell_text(const struct xb_piece_cell *cell, bool brief, struct xb_arena **memory)
{
    const struct xb_record_case *best = cell->ways[0].test;
    bool is_call = strcmp(best->variant, "call") == 0;
    const char *way = is_call && xb_way_call_pieces(best) == 0 ? "one" : best->variant;
    double rate = cell->ways[0].rate.median / 1e9;
    return xb_arena_print(memory, "%.*s%s%.*f", brief ? 4 : 16, way, cell->ties > 1 ? "=" : " ",
                          rate < 0.995   ? 2
                          : rate < 99.95 ? 1
                                         : 0,
                          rate);
}

struct drawing {
    FILE *stream; /* NULL: `use` gets the picture */
    bool has_any;
    xb_matrix_use *use;
    void *argument;
};

static void draw_grid(void *argument, const struct xb_piece_grid *grid)
{
    struct drawing *drawing = argument;
    const size_t count = grid->row_count * grid->column_count;
    struct xb_arena *memory = NULL;
    struct xb_words title = {.length = 0};
    const char **rows = xb_arena_new(&memory, grid->row_count * sizeof *rows);
    const char **columns = xb_arena_new(&memory, grid->column_count * sizeof *columns);
    const char **texts = xb_arena_new(&memory, count * sizeof *texts);
    double *values = xb_arena_new(&memory, count * sizeof *values);
    for (size_t i = 0; i < grid->row_count; i++)
        rows[i] = xb_arena_copy(&memory, XB_SIZE_TEXT(grid->pieces[i]));
    for (size_t i = 0; i < grid->column_count; i++)
        columns[i] = xb_arena_print(&memory, "%llu", (unsigned long long)grid->numbers[i]);
    for (size_t i = 0; i < count; i++)
        values[i] = (double)NAN;
    XB_EACH (cell, grid->cells, grid->cell_count) {
        const size_t at = cell->row * grid->column_count + cell->column;
        values[at] = cell->ways[0].rate.median / 1e9;
        texts[at] = cell_text(cell, drawing->stream != NULL, &memory);
    }
    write_title(grid, &title);
    struct xb_cells cells = {.picture = {.title = title.text},
                             .rows_are = "piece",
                             .columns_are = "pieces",
                             .row_names = rows,
                             .column_names = columns,
                             .row_count = grid->row_count,
                             .column_count = grid->column_count,
                             .values = values,
                             .texts = texts,
                             .unit = "GB/s"};
    if (drawing->stream != NULL) {
        fputc('\n', drawing->stream);
        xb_cells_print(drawing->stream, &cells, 1);
    } else {
        drawing->use(drawing->argument, &cells, 0);
    }
    drawing->has_any = true;
    xb_arena_free(memory);
}

void xb_grids_print(FILE *stream, const struct xb_record *record)
{
    struct drawing drawing = {.stream = stream};
    xb_piece_grids_each(record, draw_grid, &drawing);
    if (drawing.has_any)
        xb_heading_print(stream, XB_COLOUR_NONE, "%s", XB_GRID_WORDS);
}

void xb_grids_each(const struct xb_record *record, xb_matrix_use *use, void *argument)
{
    xb_piece_grids_each(record, draw_grid, &(struct drawing){.use = use, .argument = argument});
}
