/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "fleet/internal.h"
#include "formats.h"
#include "present/table.h"

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

/* A row of the table: a finding of a node; or of a GPU, with its other figures, and with those of
 * the node's other GPUs that are off as much in the figure that it shows. */
struct row {
    size_t first; /* index of the finding, the worst of them */
    struct xb_fleet_gpus gpus;
    size_t more; /* other findings in it */
};

/* How far GPUs of one row may be from each other, as a share of what they are off. */
#define ALIKE 0.25

/* Whether a row that shows the finding `shown` may show another GPU too, whose findings of one code
 * begin at `index`: one of them is of the same figure, and as far off. */
static bool is_alike(const struct xb_fleet_judgement *judgement,
                     const struct xb_fleet_finding *shown, size_t index)
{
    size_t i = index;
    do {
        const struct xb_fleet_finding *finding = &judgement->findings[i];
        if (finding->code == shown->code && finding->together == shown->together &&
            finding->figure == shown->figure &&
            (finding->figure == XB_FLEET_NONE ||
             fabs(finding->deviation - shown->deviation) <= ALIKE * fabs(shown->deviation)))
            return true;
        i++;
    } while (i < judgement->finding_count && !xb_fleet_table_is_row(judgement, i));
    return false;
}

/* Counts the GPUs of each node, and remembers the row to which the next one may belong. */
struct place {
    size_t gpus, row;
};

/* Makes the rows, and returns how many. `rows` has room for as many as there are findings, `places`
 * for as many as there are nodes. */
static size_t make_rows(const struct xb_fleet_view *view, struct place *places, struct row *rows)
{
    const struct xb_fleet_judgement *judgement = view->judgement;
    const struct xb_fleet *fleet = judgement->fleet;
    struct row *row = NULL;
    size_t count = 0;
    for (size_t i = 0; i < fleet->gpu_count; i++)
        places[fleet->gpus[i].node].gpus += !fleet->gpus[i].is_gone;
    for (size_t i = 0; i < judgement->finding_count; i++) {
        const struct xb_fleet_finding *finding = &judgement->findings[i];
        const struct xb_fleet_gpu *gpu =
            finding->gpu != XB_FLEET_NONE ? &fleet->gpus[finding->gpu] : NULL;
        struct place *place = gpu != NULL ? &places[gpu->node] : NULL;
        if (!xb_fleet_table_is_row(judgement, i)) {
            row->more++;
            continue;
        }
        if (place != NULL && place->row > 0 && !view->verbose &&
            is_alike(judgement, &judgement->findings[rows[place->row - 1].first], i)) {
            row = &rows[place->row - 1];
            row->more += finding->figure != XB_FLEET_NONE;
        } else {
            row = &rows[count++];
            *row = (struct row){.first = i};
        }
        if (place != NULL) {
            place->row = (size_t)(row - rows) + 1;
            row->gpus.all = place->gpus;
            xb_fleet_table_add_gpu(&row->gpus, gpu);
        }
    }
    return count;
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
static void write_text(const struct xb_fleet_view *view, struct xb_table *table, const char *text)
{
    size_t room = view->columns - 2; /* where a row is a paragraph, its lines are indented */
    xb_table_text(table, "%.*s", (int)(room < LONG_TEXT ? room : LONG_TEXT),
                  text != NULL && text[0] != '\0' ? text : "-");
}

static void add_row(const struct xb_fleet_view *view, struct xb_table *table, const struct row *row)
{
    const struct xb_fleet *fleet = view->judgement->fleet;
    const struct xb_fleet_finding *finding = &view->judgement->findings[row->first];
    const struct xb_fleet_gpus *gpus = &row->gpus;
    const struct xb_fleet_gpu *gpu = gpus->count == 1 ? &fleet->gpus[finding->gpu] : NULL;
    const struct xb_fleet_figure *figure = xb_fleet_figure_of(fleet, finding);
    xb_table_row(table);
    /* A name that no Linux host can have is not worth other columns. */
    size_t length = strlen(finding->node);
    size_t third = view->columns / 3;
    size_t room = (third > LEAST_NAME ? third : LEAST_NAME) - 3;
    if (length <= HOST_NAME_MAX && length <= view->columns - 2)
        xb_table_text(table, "%s", finding->node);
    else
        xb_table_text(table, "%.*s...%s", (int)(room - room / 2), finding->node,
                      finding->node + length - room / 2);
    const char *list = xb_fleet_table_indices(gpus, (char[XB_FLEET_INDICES]){0});
    if (gpu != NULL && finding->peer >= 0)
        xb_table_text(table, "%u>%d", gpu->index, finding->peer);
    else if (gpu != NULL)
        xb_table_text(table, "%u", gpu->index);
    else if (gpus->count > 1 && gpus->count == gpus->all)
        xb_table_text(table, "all %zu", gpus->count);
    else if (gpus->count > 1 && list[0] == '\0')
        xb_table_text(table, "%zu of %zu", gpus->count, gpus->all);
    else
        xb_table_text(table, "%s", gpus->count > 1 ? list : "-");
    if (view->verbose) {
        write_text(view, table, gpu != NULL ? gpu->pci_bdf : NULL);
        write_text(view, table, gpu != NULL ? gpu->uuid : NULL);
    }
    write_text(view, table, figure->name);
    xb_table_text(table, "%s", XB_FLEET_VALUE(figure->unit, finding->value));
    xb_table_text(table, "%s", XB_FLEET_VALUE(figure->unit, finding->centre));
    xb_table_text(table, "%s", xb_fleet_table_share(finding->deviation, true, (char[64]){0}, 64));
    if (view->verbose)
        xb_table_text(table, isfinite(finding->spreads) ? "%+.1f" : "-", finding->spreads);
    xb_table_text(table, row->more > 0 ? "+%zu" : "-", row->more);
    xb_table_cell(table, xb_fleet_is_to_drain(finding) ? XB_COLOUR_BAD : XB_COLOUR_WARNING, "%s%s",
                  xb_fleet_code_name(finding->code), finding->together ? ", as many are" : "");
}

/* Prints the rows that there is room for. Missing nodes have none: the answer names them, and their
 * rows would say the same of each. Returns in *end the first finding of a row that is left out. */
static void write_rows(const struct xb_fleet_view *view, const struct row *rows, size_t count,
                       size_t *end)
{
    const struct xb_table_look look = {.width = view->columns, .elsewhere = "See --format csv"};
    const struct xb_fleet_judgement *judgement = view->judgement;
    size_t shown = 0, more = 0;
    bool has_more = false;
    struct xb_table *table = xb_table_new();
    *end = judgement->finding_count;
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        if (view->verbose || !columns[i].is_detail)
            xb_table_add_column(table, &columns[i].column);
    for (size_t i = 0; i < count; i++) {
        if (judgement->findings[rows[i].first].code == XB_FLEET_MISSING && !view->verbose)
            continue;
        if (shown == view->most_rows) {
            *end = more++ == 0 ? rows[i].first : *end;
            continue;
        }
        shown++;
        has_more = has_more || rows[i].more > 0;
        add_row(view, table, &rows[i]);
    }
    if (shown > 0) {
        fputc('\n', view->stream);
        xb_table_print(view->stream, table, &look);
    }
    xb_table_free(table);
    if (more > 0)
        table_print(view, "and %s more: --verbose or --format csv", XB_FLEET_COUNT(more));
    if (has_more && view->verbose)
        table_print(view, "A row shows the worst figure, MORE how many others: --format csv has "
                          "all.");
}

void xb_fleet_table_findings(const struct xb_fleet_view *view)
{
    const struct xb_fleet_judgement *judgement = view->judgement;
    struct place *places = xb_new(judgement->fleet->node_count, sizeof *places);
    struct row *rows = xb_new(judgement->finding_count, sizeof *rows);
    bool found[XB_FLEET_CODES] = {false};
    size_t end = 0;
    write_rows(view, rows, make_rows(view, places, rows), &end);
    free(places);
    free(rows);
    if (judgement->finding_count == 0)
        return;
    for (size_t i = 0; i < judgement->finding_count; i++)
        found[judgement->findings[i].code] = true;
    fputc('\n', view->stream);
    for (enum xb_fleet_code code = 0; code < XB_FLEET_CODES; code++)
        if (found[code])
            table_print(view, "%s: %s", xb_fleet_code_name(code), xb_fleet_sayings[code].next);
    /* A finding without a figure has a sentence, which says what a number says of the others. */
    bool begun = false;
    for (size_t i = 0; i < end; i++) {
        const struct xb_fleet_finding *finding = &judgement->findings[i];
        if (finding->figure != XB_FLEET_NONE || finding->text == NULL ||
            finding->code == XB_FLEET_MISSING)
            continue;
        if (!begun)
            fputc('\n', view->stream);
        begun = true;
        const struct xb_fleet_gpu *gpu = xb_fleet_gpu_of(judgement->fleet, finding);
        const char *pci = gpu->pci_bdf;
        char text[64] = "";
        if (finding->gpu != XB_FLEET_NONE)
            snprintf(text, sizeof text, "GPU %u%s%s", gpu->index, pci != NULL ? " " : "",
                     pci != NULL ? pci : "");
        xb_make_plain(text);
        table_print(view, "%.*s%s%s: %.1000s", (int)view->columns - 3, finding->node,
                    text[0] != '\0' ? ", " : "", text, finding->text);
    }
}
