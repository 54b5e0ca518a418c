/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "base/columns.h"
#include "formats.h"
#include "table_internal.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    CELL_NODE,
    CELL_GPU,
    CELL_PCI,
    CELL_UUID,
    CELL_FIGURE,
    CELL_VALUE,
    CELL_MEDIAN,
    CELL_DEVIATION,
    CELL_SPREADS,
    CELL_MORE,
    CELL_REASON,
    CELLS
};

static const struct {
    const char *name;
    int flags;
} headers[CELLS] = {
    {"NODE", 0},
    {"GPU", SCOLS_FL_RIGHT},
    {"PCI", 0},
    {"UUID", 0},
    {"FIGURE", 0},
    {"VALUE", SCOLS_FL_RIGHT},
    {"SIBLINGS' MEDIAN", SCOLS_FL_RIGHT},
    {"DEVIATION", SCOLS_FL_RIGHT},
    {"SPREADS", SCOLS_FL_RIGHT},
    {"MORE", SCOLS_FL_RIGHT},
    {"REASON", 0},
};
static const unsigned char turns[CELLS] = {[CELL_UUID] = 1, [CELL_SPREADS] = 2, [CELL_MEDIAN] = 3,
                                           [CELL_PCI] = 4,  [CELL_VALUE] = 5,   [CELL_MORE] = 6};

#define CELL_SIZE 128
#define LEAST_NAME 16 /* of a node, where long ones are cut */

/* Texts of documents, of any length. What has no room ends with "...": --format csv has all. */
static void put_cell(char *cell, size_t room, const char *text)
{
    const char *shown = text != NULL && text[0] != '\0' ? text : "-";
    size_t most = room < CELL_SIZE - 1 ? room : CELL_SIZE - 1;
    snprintf(cell, CELL_SIZE, "%s", shown);
    bool is_cut = strlen(shown) > strlen(cell);
    xb_make_plain(cell);
    if (strlen(cell) > most || is_cut)
        snprintf(cell + (strlen(cell) < most ? strlen(cell) : most) - 3, 4, "...");
}

/* How much of a node's name a row shows. A name that no Linux host can have is not worth other
 * columns; any other is cut only if rows would become paragraphs. */
static size_t room_for_name(const struct xb_fleet_view *view, const char *name)
{
    size_t third = view->columns / 3;
    if (strlen(name) <= HOST_NAME_MAX)
        return view->columns - 2;
    return third > LEAST_NAME ? third : LEAST_NAME;
}

/* --format csv has long names whole. */
static void put_node(char *cell, size_t room, const char *name)
{
    xb_cut_middle(name, room < CELL_SIZE - 1 ? room : CELL_SIZE - 1, cell);
    xb_make_plain(cell);
}

static void put_gpu(const struct xb_fleet_view *view, const struct xb_fleet_finding *finding,
                    char cells[CELLS][CELL_SIZE])
{
    size_t room = view->columns - 2; /* where a row is a paragraph, its lines are indented */
    if (finding->gpu == XB_FLEET_NONE)
        return;
    const struct xb_fleet_gpu *gpu = &view->judgement->fleet->gpus[finding->gpu];
    snprintf(cells[CELL_GPU], CELL_SIZE, finding->peer >= 0 ? "%u>%d" : "%u", gpu->index,
             finding->peer);
    put_cell(cells[CELL_PCI], room, gpu->pci_bdf);
    put_cell(cells[CELL_UUID], room, gpu->uuid);
}

static void put_figure(const struct xb_fleet_view *view, const struct xb_fleet_finding *finding,
                       char cells[CELLS][CELL_SIZE])
{
    if (finding->figure == XB_FLEET_NONE)
        return;
    const struct xb_fleet_figure *figure = &view->judgement->fleet->figures[finding->figure];
    put_cell(cells[CELL_FIGURE], 48, figure->name);
    xb_fleet_table_value(figure->unit, finding->value, cells[CELL_VALUE], CELL_SIZE);
    xb_fleet_table_value(figure->unit, finding->centre, cells[CELL_MEDIAN], CELL_SIZE);
    xb_fleet_table_share(finding->deviation, true, cells[CELL_DEVIATION], CELL_SIZE);
    if (isfinite(finding->spreads))
        snprintf(cells[CELL_SPREADS], CELL_SIZE, "%+.1f", finding->spreads);
}

bool xb_fleet_table_is_row(const struct xb_fleet_judgement *judgement, size_t index)
{
    const struct xb_fleet_finding *finding = &judgement->findings[index];
    const struct xb_fleet_finding *before = index > 0 ? finding - 1 : NULL;
    return before == NULL || finding->figure == XB_FLEET_NONE || finding->gpu == XB_FLEET_NONE ||
           before->figure == XB_FLEET_NONE || before->gpu != finding->gpu ||
           before->code != finding->code || before->together != finding->together;
}

/* False: no memory. */
static bool add_row(const struct xb_fleet_view *view, struct libscols_table *table, size_t index)
{
    const struct xb_fleet_finding *finding = &view->judgement->findings[index];
    size_t more = 0; /* findings behind this one that are in its row */
    while (index + more + 1 < view->judgement->finding_count &&
           !xb_fleet_table_is_row(view->judgement, index + more + 1))
        more++;
    struct libscols_line *line = scols_table_new_line(table, NULL);
    char cells[CELLS][CELL_SIZE];
    for (size_t i = 0; i < CELLS; i++)
        snprintf(cells[i], CELL_SIZE, "-");
    put_node(cells[CELL_NODE], room_for_name(view, finding->node), finding->node);
    put_gpu(view, finding, cells);
    put_figure(view, finding, cells);
    if (more > 0)
        snprintf(cells[CELL_MORE], CELL_SIZE, "+%zu", more);
    snprintf(cells[CELL_REASON], CELL_SIZE, "%s%s", xb_fleet_code_name(finding->code),
             finding->together ? ", as many are" : "");
    bool ok = line != NULL;
    for (size_t i = 0; ok && i < CELLS; i++)
        ok = scols_line_set_data(line, i, cells[i]) == 0;
    if (!ok || !view->colours)
        return ok;
    enum xb_colour colour = xb_fleet_is_to_drain(finding) ? XB_COLOUR_BAD : XB_COLOUR_WARNING;
    return scols_cell_set_color(scols_line_get_cell(line, CELL_REASON), xb_colour_code(colour)) ==
           0;
}

/* ---- what the table has no words for ---- */

/* As docs/fleet.md has it. */
static const char *const next_steps[XB_FLEET_CODES] = {
    [XB_FLEET_MISSING] = "there is no document of it. Does it run? srun -w NODE xferbench link",
    [XB_FLEET_HAS_WRONG_DATA] = "a copy arrived wrong. Let nobody compute there.",
    [XB_FLEET_HAS_FAILED] = "a measurement ended with an error. Look at its text.",
    [XB_FLEET_LINK_VERDICT] =
        "its own link test is CRITICAL, or could test nothing. docs/link.md has the codes.",
    [XB_FLEET_FEWER_GPUS] = "most nodes have more. Does nvidia-smi or rocm-smi see all?",
    [XB_FLEET_NARROWER] = "most GPUs have more. Reseat the card, its riser or cable.",
    [XB_FLEET_SLOW] = "measure it again, alone. If it stays slow: xferbench link on the node.",
    [XB_FLEET_LINK_WARNING] = "not drained. Its own link test is not OK: measure again, alone.",
    [XB_FLEET_IS_CUT] = "not drained. A signal or the deadline ended it: measure again.",
    [XB_FLEET_FAST] = "not drained. Is something different about it?",
    [XB_FLEET_OTHER_DRIVER] = "not drained. Install the same on all.",
};

/* Findings without a figure, up to that index: the sentence says what a number says of the others.
 */
static void put_reasons(const struct xb_fleet_view *view, size_t end)
{
    char node[CELL_SIZE], gpu[64];
    bool begun = false;
    for (size_t i = 0; i < end; i++) {
        const struct xb_fleet_finding *finding = &view->judgement->findings[i];
        if (finding->figure != XB_FLEET_NONE || finding->text == NULL ||
            finding->code == XB_FLEET_MISSING)
            continue;
        if (!begun)
            fputc('\n', view->stream);
        begun = true;
        put_node(node, view->columns - 3, finding->node);
        bool has_gpu = finding->gpu != XB_FLEET_NONE;
        xb_fleet_gpu_text(view->judgement->fleet, finding, gpu, sizeof gpu);
        xb_fleet_table_put(view, XB_COLOUR_NONE, "%s%s%s: %.1000s", node, has_gpu ? ", " : "",
                           has_gpu ? gpu : "", finding->text);
    }
}

/* Adds rows as long as there is room for them; *end is the first finding that is in none, and
 * *left_out is how many rows were left out before it: missing nodes come first, and must not take
 * the room of what is worse to miss. */
static bool add_rows(const struct xb_fleet_view *view, struct libscols_table *table, size_t *end,
                     size_t *left_out)
{
    const struct xb_fleet_judgement *judgement = view->judgement;
    size_t rows = 0;
    for (*end = 0; *end < judgement->finding_count; (*end)++) {
        if (!xb_fleet_table_is_row(judgement, *end))
            continue;
        if (judgement->findings[*end].code == XB_FLEET_MISSING && rows >= view->rows / 3) {
            (*left_out)++;
            continue;
        }
        if (rows++ == view->rows)
            return true;
        if (!add_row(view, table, *end))
            return false;
    }
    return true;
}

/* What the rows leave out. */
static void put_more(const struct xb_fleet_view *view, size_t end, size_t left_out)
{
    const struct xb_fleet_judgement *judgement = view->judgement;
    size_t more = left_out;
    bool has_merged = false;
    char count[24];
    for (size_t i = 0; i < judgement->finding_count; i++) {
        more += i >= end && xb_fleet_table_is_row(judgement, i);
        has_merged = has_merged || !xb_fleet_table_is_row(judgement, i);
    }
    if (left_out > 0)
        xb_fleet_table_put(
            view, XB_COLOUR_NONE, "and %s more, %s of them missing nodes: --format csv",
            xb_fleet_table_count(more, count, sizeof count), more == left_out ? "all" : "some");
    else if (more > 0)
        xb_fleet_table_put(view, XB_COLOUR_NONE, "and %s more: --format csv",
                           xb_fleet_table_count(more, count, sizeof count));
    if (has_merged)
        xb_fleet_table_put(view, XB_COLOUR_NONE,
                           "A row shows the worst figure of a GPU, MORE how many others: --format "
                           "csv has all.");
}

bool xb_fleet_table_findings(const struct xb_fleet_view *view)
{
    const struct xb_columns columns = {.width = view->columns,
                                       .with_colours = view->colours,
                                       .wordy = CELL_MEDIAN,
                                       .brief = "MEDIAN",
                                       .turns = turns,
                                       .elsewhere = "See --format csv",
                                       .least = LEAST_NAME};
    size_t end = 0, left_out = 0;
    bool found[XB_FLEET_CODES] = {false};
    if (view->judgement->finding_count == 0)
        return true;
    for (size_t i = 0; i < view->judgement->finding_count; i++)
        found[view->judgement->findings[i].code] = true;
    struct libscols_table *table = scols_new_table();
    bool ok = table != NULL;
    for (size_t i = 0; ok && i < CELLS; i++)
        ok = scols_table_new_column(table, headers[i].name, 0, headers[i].flags) != NULL;
    ok = ok && add_rows(view, table, &end, &left_out);
    if (!xb_columns_print(view->stream, "\n", table, ok, &columns))
        return false;
    put_more(view, end, left_out);
    fputc('\n', view->stream);
    for (enum xb_fleet_code code = 0; code < XB_FLEET_CODES; code++)
        if (found[code])
            xb_fleet_table_put(view, XB_COLOUR_NONE, "%s: %s", xb_fleet_code_name(code),
                               next_steps[code]);
    put_reasons(view, end);
    return true;
}
