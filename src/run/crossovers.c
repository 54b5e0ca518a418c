/* SPDX-License-Identifier: Apache-2.0 */
/* --format crossovers: which way to move pieces is the fastest for which, for a program that reads
 * it when it starts. docs/crossovers.schema.json says what the keys mean. */
#include "formats.h"

#include "base/order.h"
#include "base/units.h"
#include "modes/readings/piece_grid.h"
#include "reading/reading.h"

#include <math.h>
#include <string.h>

struct writing {
    struct xb_json json;
    size_t count;
};

/* The members that say how pieces are moved, and how fast. */
static void put_way(struct xb_json *json, const struct xb_record *record,
                    const struct xb_cell_way *way)
{
    const struct xb_record_case *test = way->test;
    const struct xb_statistics *rate = &way->rate;
    bool is_call = strcmp(test->variant, "call") == 0;
    xb_json_put_text(json, "method", test->variant);
    xb_json_put_known_whole(json, "call_pieces", is_call, xb_way_call_pieces(test));
    xb_json_put_number(json, "blocks", xb_record_median(record, test, "blocks"));
    xb_json_put_number(json, "gbs", rate->median / 1e9);
    xb_json_put_known_number(json, "low", rate->has_interval, rate->ci95_low / 1e9);
    xb_json_put_known_number(json, "high", rate->has_interval, rate->ci95_high / 1e9);
}

static void put_cell(struct xb_json *json, const struct xb_piece_grid *grid,
                     const struct xb_piece_cell *cell)
{
    xb_json_open_object(json, NULL);
    xb_json_put_whole(json, "piece", cell->ways[0].piece);
    xb_json_put_whole(json, "pieces", cell->ways[0].pieces);
    put_way(json, grid->record, &cell->ways[0]);
    xb_json_put_known_number(json, "margin", cell->count > 1,
                             cell->ways[0].rate.median / cell->ways[1].rate.median);
    xb_json_open_array(json, "others");
    for (size_t i = 1; i < cell->count; i++) {
        xb_json_open_object(json, NULL);
        put_way(json, grid->record, &cell->ways[i]);
        xb_json_put_flag(json, "tie", cell->ways[i].is_tie);
        xb_json_close(json);
    }
    xb_json_close(json);
    xb_json_close(json);
}

static void put_device(struct xb_json *json, const struct xb_record *record, int index)
{
    static const struct xb_record_device unknown;
    const struct xb_record_device *device = xb_record_device(record, index);
    device = device != NULL ? device : &unknown;
    unsigned generation = device->link_known ? xb_pcie_generation(device->link_speed_gts) : 0;
    xb_json_open_object(json, "device");
    xb_json_put_index(json, "index", index);
    xb_json_put_text(json, "name", device->name);
    xb_json_put_text(json, "architecture", device->architecture);
    xb_json_put_text(json, "driver", record->driver);
    xb_json_put_text(json, "runtime", record->runtime);
    xb_json_put_known_whole(json, "link_generation", generation > 0, generation);
    xb_json_put_known_whole(json, "link_width", device->link_known, device->link_width);
    xb_json_close(json);
}

static void put_grid(void *argument, const struct xb_piece_grid *grid)
{
    struct writing *writing = argument;
    struct xb_json *json = &writing->json;
    const struct xb_record_case *of = grid->of;
    writing->count++;
    xb_json_open_object(json, NULL);
    put_device(json, grid->record, of->device);
    xb_json_put_text(json, "direction", of->direction);
    xb_json_put_text(json, "host_memory", "page-locked");
    xb_json_put_index(json, "numa_node", xb_record_case_node(of));
    xb_json_put_text(json, "layout", xb_record_parameter(of, "layout"));
    bool are_rows = strcmp(xb_record_parameter(of, "layout"), "rows") == 0;
    xb_json_put_known_whole(json, "pitch", are_rows, xb_reading_value(of, "pitch"));
    xb_json_put_whole(json, "host_offset", xb_reading_value(of, "host-offset"));
    xb_json_put_whole(json, "device_offset", xb_reading_value(of, "device-offset"));
    xb_json_open_array(json, "cells");
    json->in_lines = true;
    XB_EACH (cell, grid->cells, grid->cell_count)
        put_cell(json, grid, cell);
    json->in_lines = false;
    xb_json_close(json);
    xb_json_close(json);
}

enum xb_status xb_crossovers_write(FILE *stream, const struct xb_record *record,
                                   struct xb_error *error)
{
    struct writing writing = {.count = 0};
    struct xb_json *json = &writing.json;
    xb_json_begin(json);
    xb_json_open_object(json, NULL);
    xb_json_put_text(json, "schema", "xferbench.crossovers");
    xb_json_put_whole(json, "schema_version", 1);
    xb_json_put_text(json, "version", record->version);
    xb_json_put_text(json, "measured", record->start.began);
    xb_json_put_text(json, "backend", record->backend);
    xb_json_open_array(json, "grids");
    xb_piece_grids_each(record, put_grid, &writing);
    xb_json_close(json);
    xb_json_close(json);
    if (writing.count == 0) {
        (void)XB_FAIL(error, XB_ERR_USAGE,
                      "--format crossovers: no cell of a grid was measured; give --piece SIZES "
                      "--pieces NUMBERS");
        xb_json_fail(json, error);
    }
    return xb_json_finish(json, stream, "the crossovers", error);
}
