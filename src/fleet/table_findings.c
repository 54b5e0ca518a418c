/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "formats.h"
#include "internal.h"
#include "present/table.h"
#include "table_internal.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_NAME 16 /* of a node, where long ones are cut */
#define LONG_TEXT 48  /* of others: --format csv has them whole */

/* ---- rows ---- */

bool xb_fleet_table_is_row(const struct xb_fleet_judgement *judgement, size_t index)
{
    const struct xb_fleet_finding *finding = &judgement->findings[index];
    const struct xb_fleet_finding *before = index > 0 ? finding - 1 : NULL;
    return before == NULL || finding->figure == XB_FLEET_NONE || finding->gpu == XB_FLEET_NONE ||
           before->figure == XB_FLEET_NONE || before->gpu != finding->gpu ||
           before->code != finding->code || before->together != finding->together;
}

/* How far GPUs of one row may be from each other, as a share of what they are off. */
#define ALIKE 0.25

static bool is_alike(const struct xb_fleet_finding *a, const struct xb_fleet_finding *b)
{
    return a->code == b->code && a->together == b->together &&
           (a->figure == XB_FLEET_NONE
                ? b->figure == XB_FLEET_NONE
                : fabs(a->deviation - b->deviation) <= ALIKE * fabs(a->deviation));
}

/* Counts the GPUs of each node, and remembers the row to which the next one may belong. */
struct place {
    size_t gpus, row;
};

enum xb_status xb_fleet_table_rows(struct xb_fleet_view *view, struct xb_error *error)
{
    const struct xb_fleet_judgement *judgement = view->judgement;
    const struct xb_fleet *fleet = judgement->fleet;
    struct place *places = calloc(fleet->node_count + 1, sizeof *places);
    view->rows = calloc(judgement->finding_count + 1, sizeof *view->rows);
    if (places == NULL || view->rows == NULL) {
        free(places);
        return xb_fleet_no_memory(error);
    }
    for (size_t i = 0; i < fleet->gpu_count; i++)
        places[fleet->gpus[i].node].gpus += !fleet->gpus[i].is_gone;
    struct xb_fleet_row *row = NULL;
    for (size_t i = 0; i < judgement->finding_count; i++) {
        const struct xb_fleet_finding *finding = &judgement->findings[i];
        struct place *place =
            finding->gpu != XB_FLEET_NONE ? &places[fleet->gpus[finding->gpu].node] : NULL;
        if (!xb_fleet_table_is_row(judgement, i)) {
            row->more++;
        } else if (place != NULL && place->row > 0 &&
                   is_alike(&judgement->findings[view->rows[place->row - 1].first], finding)) {
            row = &view->rows[place->row - 1];
            row->gpus++;
            row->more += finding->figure != XB_FLEET_NONE;
        } else {
            row = &view->rows[view->row_count++];
            *row = (struct xb_fleet_row){.first = i, .gpus = finding->gpu != XB_FLEET_NONE};
            if (place != NULL) {
                place->row = view->row_count;
                row->all = place->gpus;
            }
        }
    }
    free(places);
    return XB_OK;
}

/* ---- the table ---- */

static const struct {
    struct xb_table_column column;
    bool is_detail;
} columns[] = {
    {{.title = "NODE", .least = LEAST_NAME}, false},
    {{.title = "GPU", .is_right = true}, false},
    {{.title = "PCI", .turn = 4}, true},
    {{.title = "UUID", .turn = 1}, true},
    {{.title = "FIGURE", .least = LEAST_NAME}, false},
    {{.title = "VALUE", .is_right = true, .turn = 5}, false},
    {{.title = "MEDIAN", .is_right = true, .turn = 3}, false},
    {{.title = "DEVIATION", .is_right = true}, false},
    {{.title = "SPREADS", .is_right = true, .turn = 2}, true},
    {{.title = "MORE", .is_right = true, .turn = 6}, false},
    {{.title = "REASON"}, false},
};

/* A text of a document, of any length. */
static void put_text(const struct xb_fleet_view *view, struct xb_table *table, const char *text)
{
    size_t room = view->columns - 2; /* where a row is a paragraph, its lines are indented */
    xb_table_cell(table, XB_COLOUR_NONE, "%.*s", (int)(room < LONG_TEXT ? room : LONG_TEXT),
                  text != NULL && text[0] != '\0' ? text : "-");
}

/* A name that no Linux host can have is not worth other columns. */
static void put_node(const struct xb_fleet_view *view, struct xb_table *table, const char *name)
{
    size_t length = strlen(name);
    size_t third = view->columns / 3;
    size_t room = (third > LEAST_NAME ? third : LEAST_NAME) - 3;
    if (length <= HOST_NAME_MAX && length <= view->columns - 2)
        xb_table_cell(table, XB_COLOUR_NONE, "%s", name);
    else
        xb_table_cell(table, XB_COLOUR_NONE, "%.*s...%s", (int)(room - room / 2), name,
                      name + length - room / 2);
}

static void put_gpu(const struct xb_fleet_view *view, struct xb_table *table,
                    const struct xb_fleet_row *row)
{
    const struct xb_fleet_finding *finding = &view->judgement->findings[row->first];
    const struct xb_fleet_gpu *gpu =
        row->gpus == 1 ? &view->judgement->fleet->gpus[finding->gpu] : NULL;
    if (row->gpus > 1 && row->gpus == row->all)
        xb_table_cell(table, XB_COLOUR_NONE, "all %zu", row->gpus);
    else if (row->gpus > 1)
        xb_table_cell(table, XB_COLOUR_NONE, "%zu of %zu", row->gpus, row->all);
    else if (gpu != NULL && finding->peer >= 0)
        xb_table_cell(table, XB_COLOUR_NONE, "%u>%d", gpu->index, finding->peer);
    else if (gpu != NULL)
        xb_table_cell(table, XB_COLOUR_NONE, "%u", gpu->index);
    else
        xb_table_cell(table, XB_COLOUR_NONE, "-");
    if (view->verbose) {
        put_text(view, table, gpu != NULL ? gpu->pci_bdf : NULL);
        put_text(view, table, gpu != NULL ? gpu->uuid : NULL);
    }
}

static void put_figure(const struct xb_fleet_view *view, struct xb_table *table,
                       const struct xb_fleet_finding *finding)
{
    const struct xb_fleet_figure *figure =
        finding->figure != XB_FLEET_NONE ? &view->judgement->fleet->figures[finding->figure] : NULL;
    const char *unit = figure != NULL ? figure->unit : "";
    char text[64];
    put_text(view, table, figure != NULL ? figure->name : NULL);
    xb_table_cell(table, XB_COLOUR_NONE, "%s", xb_fleet_table_value(unit, finding->value, text));
    xb_table_cell(table, XB_COLOUR_NONE, "%s", xb_fleet_table_value(unit, finding->centre, text));
    xb_table_cell(table, XB_COLOUR_NONE, "%s",
                  xb_fleet_table_share(finding->deviation, true, text, sizeof text));
    if (view->verbose && isfinite(finding->spreads))
        xb_table_cell(table, XB_COLOUR_NONE, "%+.1f", finding->spreads);
    else if (view->verbose)
        xb_table_cell(table, XB_COLOUR_NONE, "-");
}

static void add_row(const struct xb_fleet_view *view, struct xb_table *table,
                    const struct xb_fleet_row *row)
{
    const struct xb_fleet_finding *finding = &view->judgement->findings[row->first];
    enum xb_colour colour = xb_fleet_is_to_drain(finding) ? XB_COLOUR_BAD : XB_COLOUR_WARNING;
    xb_table_row(table);
    put_node(view, table, finding->node);
    put_gpu(view, table, row);
    put_figure(view, table, finding);
    xb_table_cell(table, XB_COLOUR_NONE, row->more > 0 ? "+%zu" : "-", row->more);
    xb_table_cell(table, colour, "%s%s", xb_fleet_code_name(finding->code),
                  finding->together ? ", as many are" : "");
}

/* ---- what the table has no words for ---- */

/* As docs/fleet.md has it. */
static const char *const next_steps[XB_FLEET_CODES] = {
    [XB_FLEET_MISSING] = "does it run? srun -w NODE xferbench link",
    [XB_FLEET_HAS_WRONG_DATA] = "a copy arrived wrong. Let nobody compute there.",
    [XB_FLEET_HAS_FAILED] = "a measurement ended with an error (below).",
    [XB_FLEET_LINK_VERDICT] = "CRITICAL, or nothing could be tested. docs/link.md has the codes.",
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
    char gpu[64];
    bool begun = false;
    for (size_t i = 0; i < end; i++) {
        const struct xb_fleet_finding *finding = &view->judgement->findings[i];
        if (finding->figure != XB_FLEET_NONE || finding->text == NULL ||
            finding->code == XB_FLEET_MISSING)
            continue;
        if (!begun)
            fputc('\n', view->stream);
        begun = true;
        bool has_gpu = finding->gpu != XB_FLEET_NONE;
        xb_fleet_gpu_text(view->judgement->fleet, finding, gpu, sizeof gpu);
        xb_fleet_table_put(view, XB_COLOUR_NONE, "%.*s%s%s: %.1000s", (int)view->columns - 3,
                           finding->node, has_gpu ? ", " : "", has_gpu ? gpu : "", finding->text);
    }
}

/* Missing nodes have no row: the answer names them, and their rows would say the same of each. */
enum xb_status xb_fleet_table_findings(const struct xb_fleet_view *view, struct xb_error *error)
{
    const struct xb_table_look look = {.width = view->columns, .elsewhere = "See --format csv"};
    const struct xb_fleet_judgement *judgement = view->judgement;
    size_t shown = 0, end = judgement->finding_count, more = 0;
    bool found[XB_FLEET_CODES] = {false}, has_more = false;
    enum xb_status status = XB_OK;
    struct xb_table *table = xb_table_new();
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        if (view->verbose || !columns[i].is_detail)
            xb_table_add_column(table, &columns[i].column);
    for (size_t i = 0; i < view->row_count; i++) {
        enum xb_fleet_code code = judgement->findings[view->rows[i].first].code;
        found[code] = true;
        if (code == XB_FLEET_MISSING && !view->verbose)
            continue;
        if (shown == view->most_rows) {
            end = more++ == 0 ? view->rows[i].first : end;
            continue;
        }
        shown++;
        has_more = has_more || view->rows[i].more > 0;
        add_row(view, table, &view->rows[i]);
    }
    if (shown > 0) {
        fputc('\n', view->stream);
        status = xb_table_print(view->stream, table, &look, error);
    }
    xb_table_free(table);
    if (status != XB_OK || view->row_count == 0)
        return status;
    if (more > 0)
        xb_fleet_table_put(view, XB_COLOUR_NONE, "and %s more: --verbose or --format csv",
                           COUNT(more));
    if (has_more && view->verbose)
        xb_fleet_table_put(view, XB_COLOUR_NONE,
                           "A row shows the worst figure, MORE how many others: --format csv has "
                           "all.");
    fputc('\n', view->stream);
    for (enum xb_fleet_code code = 0; code < XB_FLEET_CODES; code++)
        if (found[code])
            xb_fleet_table_put(view, XB_COLOUR_NONE, "%s: %s", xb_fleet_code_name(code),
                               next_steps[code]);
    put_reasons(view, end);
    return XB_OK;
}
