/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of devices, and NUMA nodes with devices, as heat maps. */
#define _GNU_SOURCE /* text.h */
#include "section.h"

#include "base/text.h"
#include "link/report.h"
#include "run/matrix.h"

#include <math.h>

/* "The least is 38.0 GB/s, from device 0 to device 5; the largest ...". */
static void describe(struct xb_words *words, const struct xb_matrix_grid *grid)
{
    size_t least = SIZE_MAX;
    size_t largest = SIZE_MAX;
    for (size_t i = 0; i < grid->row_count * grid->column_count; i++) {
        if (!isfinite(grid->values[i]))
            continue;
        least = least == SIZE_MAX || grid->values[i] < grid->values[least] ? i : least;
        largest = largest == SIZE_MAX || grid->values[i] > grid->values[largest] ? i : largest;
    }
    xb_words_add(words, "A matrix of %zu rows and %zu columns.", grid->row_count,
                 grid->column_count);
    if (least == SIZE_MAX)
        return;
    const size_t columns = grid->column_count;
    xb_words_add(words, " The least is %s %s, %s %s, %s %s; the largest is %s %s, %s %s, %s %s.",
                 grid->texts[least], grid->unit, grid->rows_are, grid->row_names[least / columns],
                 grid->columns_are, grid->column_names[least % columns], grid->texts[largest],
                 grid->unit, grid->rows_are, grid->row_names[largest / columns], grid->columns_are,
                 grid->column_names[largest % columns]);
}

/* Matrices of one file that have a picture; a sweep over sizes has dozens. */
#define DRAWN 12

struct drawing {
    struct xb_page *page;
    size_t count, left_out;
};

static void write_grid(void *argument, const struct xb_matrix_grid *grid)
{
    struct drawing *drawing = argument;
    struct xb_page *page = drawing->page;
    struct xb_words description = {.length = 0};
    if (!xb_page_has_room(page)) {
        drawing->left_out++;
        return;
    }
    describe(&description, grid);
    struct xb_cells cells = {.picture = {.title = grid->title, .description = description.text},
                             .rows_are = grid->rows_are,
                             .columns_are = grid->columns_are,
                             .row_names = grid->row_names,
                             .column_names = grid->column_names,
                             .row_count = grid->row_count,
                             .column_count = grid->column_count,
                             .values = grid->values,
                             .texts = grid->texts,
                             .unit = grid->unit};
    if (drawing->count++ < DRAWN)
        xb_page_picture(page, xb_cells_draw, &cells);
    xb_page_table_begin(page, grid->title, "");
    xb_page_column(page, grid->rows_are, false);
    for (size_t k = 0; k < grid->column_count; k++)
        xb_page_column(page, grid->column_names[k], true);
    for (size_t i = 0; i < grid->row_count; i++) {
        xb_page_cell(page, "%s", grid->row_names[i]);
        for (size_t k = 0; k < grid->column_count; k++) {
            XB_PAGE_CELLS(page, grid->texts[i * grid->column_count + k]);
        }
    }
    xb_page_table_end(page);
    if (grid->left_out > 0)
        xb_page_remark(page, "%zu cells in further rows or columns are left out.", grid->left_out);
}

/* ---- the pairs of a link test ---- */

#define PAIRS ((size_t)XB_PEER_DEVICES * XB_PEER_DEVICES)

/* Of more devices no pairs are tested. */
static void write_link(struct xb_page *page, const struct xb_link_report *report)
{
    double values[PAIRS];
    char rates[PAIRS][32];
    const char *texts[PAIRS];
    char names[XB_PEER_DEVICES][32];
    const char *all[XB_PEER_DEVICES];
    const size_t count = report->device_count;
    struct xb_matrix_grid grid = {.title = "Copies between devices, GB/s (rows: from, columns: to)",
                                  .unit = "GB/s",
                                  .rows_are = "from",
                                  .columns_are = "to",
                                  .row_names = all,
                                  .column_names = all,
                                  .row_count = count,
                                  .column_count = count,
                                  .values = values,
                                  .texts = texts};
    if (count > XB_PEER_DEVICES)
        return;
    for (size_t i = 0; i < count; i++) {
        snprintf(names[i], sizeof names[i], "device %u", report->devices[i].info.index);
        all[i] = names[i];
    }
    for (size_t i = 0; i < count * count; i++) {
        values[i] = (double)NAN;
        texts[i] = NULL;
    }
    for (size_t i = 0; i < report->pair_count; i++) {
        size_t at = report->pairs[i].from * count + report->pairs[i].to;
        double rate = report->pair_verdicts[i].bandwidth.measured;
        if (!xb_rate_known(rate))
            continue;
        values[at] = rate / 1e9;
        texts[at] = xb_rate_text(rate, rates[at], sizeof rates[at]);
    }
    struct drawing drawing = {.page = page};
    write_grid(&drawing, &grid);
}

static void write(struct xb_page *page, const struct xb_report_document *document)
{
    struct drawing drawing = {.page = page};
    if (document->link != NULL && document->link->report.pair_count > 0)
        write_link(page, &document->link->report);
    if (document->record == NULL || !xb_matrix_is_there(document->record))
        return;
    xb_matrix_each(document->record, write_grid, &drawing);
    if (drawing.count > DRAWN)
        xb_page_remark(page, "Of %zu matrices the first %d have a picture.", drawing.count, DRAWN);
    if (drawing.left_out > 0)
        xb_page_remark(page, "%zu more matrices have no room in the page: name fewer files.",
                       drawing.left_out);
}

const struct xb_section xb_section_matrices = {"matrices", "Pairs and nodes", write};
