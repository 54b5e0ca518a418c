/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* The lines of the table about a device's path: a row for each link, the device's own first. */
#include "table_path.h"

#include "base/columns.h"
#include "base/note.h"
#include "format.h"

#include <stdlib.h>
#include <string.h>

enum { CELL_LINK, CELL_LOAD, CELL_BEST, CELL_REST, CELL_MARKS, CELLS };

static const char *const headers[CELLS] = {"LINK, device first", "UNDER LOAD", "BEST", "AT REST",
                                           ""};
static const unsigned char turns[CELLS] = {[CELL_REST] = 1, [CELL_BEST] = 2};

struct cells {
    char text[CELLS][64];
};

static void fill_marks(struct cells *cells, const struct xb_link_hop *hop, bool is_bottleneck)
{
    char *marks = cells->text[CELL_MARKS];
    size_t size = sizeof cells->text[CELL_MARKS];
    snprintf(marks, size, "%s%s", is_bottleneck ? "bottleneck" : "",
             hop->on_package ? "on package" : "");
    if (hop->changes > 0)
        snprintf(marks + strlen(marks), size - strlen(marks), "%s%u change%s",
                 marks[0] != '\0' ? ", " : "", hop->changes, hop->changes == 1 ? "" : "s");
}

static void fill_hop(struct cells *cells, const struct xb_link_hop *hop, bool is_bottleneck)
{
    const size_t size = sizeof cells->text[0];
    snprintf(cells->text[CELL_LINK], size, "%.15s - %.16s", hop->lower,
             hop->has_upper ? hop->upper : "(no bridge seen)");
    xb_link_lanes_text(hop->load, cells->text[CELL_LOAD], size);
    xb_link_lanes_text(hop->best, cells->text[CELL_BEST], size);
    xb_link_lanes_text(hop->at_rest, cells->text[CELL_REST], size);
    fill_marks(cells, hop, is_bottleneck);
}

static bool add_hop(FILE *stream, struct libscols_table *table, const struct xb_link_hop *hop,
                    bool is_bottleneck)
{
    struct libscols_line *line = scols_table_new_line(table, NULL);
    struct cells cells;
    bool ok = line != NULL;
    fill_hop(&cells, hop, is_bottleneck);
    for (size_t i = 0; ok && i < CELLS; i++) {
        xb_make_plain(cells.text[i]);
        ok = scols_line_set_data(line, i, cells.text[i]) == 0;
    }
    return ok && (!is_bottleneck || xb_columns_paint(scols_line_get_cell(line, CELL_MARKS), stream,
                                                     XB_COLOUR_WARNING));
}

static bool fill_table(FILE *stream, struct libscols_table *table, const struct xb_verdict *verdict)
{
    const struct xb_link_hop *hops = verdict->facts.hops;
    size_t count = verdict->facts.hop_count;
    bool ok = table != NULL;
    for (size_t i = 0; ok && i < CELLS; i++)
        ok = scols_table_new_column(table, headers[i], 0, 0) != NULL;
    /* That a single link limits the path goes without saying. */
    for (size_t i = 0; ok && i < count; i++)
        ok = add_hop(stream, table, &hops[i],
                     count > 1 && i == verdict->bottleneck && hops[i].load.width > 0);
    return ok;
}

bool xb_link_table_path(FILE *stream, int width, const struct xb_verdict *verdict)
{
    char label[32];
    const struct xb_columns columns = {.width = xb_terminal_columns(stream),
                                       .label = label,
                                       .with_colours = xb_terminal_has_colours(stream),
                                       .wordy = CELL_LOAD,
                                       .brief = "LOAD",
                                       .turns = turns};
    if (verdict->facts.hop_count == 0) {
        xb_note_print(stream, "path", width, "sysfs does not show the device");
        return true;
    }
    struct libscols_table *table = scols_new_table();
    snprintf(label, sizeof label, "  %-*s", width, "path");
    bool is_whole = fill_table(stream, table, verdict);
    return xb_columns_print(stream, "", table, is_whole, &columns);
}
