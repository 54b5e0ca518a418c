/* SPDX-License-Identifier: Apache-2.0 */
/* The section "Fleet": in files of many nodes, the GPUs that are not like their siblings. */
#define _GNU_SOURCE /* text.h */
#include "report.h"

#include "base/json_read.h"
#include "fleet/fleet.h"
#include "fleet/internal.h"
#include "fleet/write/formats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DRAWN 12      /* pictures of figures in which a GPU is named */
#define DRAWN_QUIET 4 /* or so many of any, where fewer have one */

struct state {
    bool is_open; /* the fleet: a file of a node was taken */
    struct xb_fleet fleet;
    struct xb_fleet_judgement judgement;
};

static const struct xb_fleet_request request = {.alpha = 0.01}; /* `fleet` without --alpha */

static void take(void *own, const struct xb_report_document *document, struct xb_error *error)
{
    struct state *state = own;
    if (document->kind != XB_DOCUMENT_RESULT && document->kind != XB_DOCUMENT_PROCESSES &&
        document->kind != XB_DOCUMENT_LINK)
        return;
    if (!state->is_open)
        xb_fleet_open(&state->fleet);
    state->is_open = true;
    error->status = xb_fleet_read_text(&state->fleet, document->path, 0, document->text,
                                       document->length, error);
}

static bool finish(void *own)
{
    struct state *state = own;
    struct xb_fleet_judgement *judgement = &state->judgement;
    bool any = false;
    if (state->is_open)
        xb_fleet_judge(&state->fleet, &request, judgement);
    for (size_t i = 0; i < judgement->sibling_count; i++)
        any = any || xb_fleet_is_drawn(&judgement->siblings[i]);
    return any;
}

/* As `fleet` prints it. */
static void write_table(struct xb_page *page, const struct xb_fleet_judgement *judgement,
                        bool is_verbose)
{
    xb_page_terminal_end(page, xb_fleet_table_write(xb_page_terminal_begin(page), judgement,
                                                    XB_PLAIN_COLUMNS, is_verbose, &page->error));
}

static void draw(void *page, const struct xb_fleet_picture *picture)
{
    struct xb_dots dots = picture->dots;
    xb_page_picture(page, xb_dots_draw, &dots, picture->title, "%s", picture->description);
}

static void write(struct xb_page *page, void *own)
{
    const struct xb_fleet_judgement *judgement = &((const struct state *)own)->judgement;
    write_table(page, judgement, false);
    const size_t drawn = xb_fleet_pictures_each(judgement, DRAWN, DRAWN_QUIET, draw, page);
    if (drawn < judgement->sibling_count)
        xb_page_remark(page,
                       "%zu of %zu figures have a picture, first those in which a GPU is named.",
                       drawn, judgement->sibling_count);
    xb_page_fold_begin(page, NULL, "All figures and findings", "", "");
    write_table(page, judgement, true);
    xb_page_fold_end(page);
}

/* ---- what `fleet --format json` wrote ---- */

void xb_write_findings(struct xb_page *page, const struct xb_report_document *document)
{
    const cJSON *findings = xb_report_member(document->tree, "findings"), *item;
    struct xb_fleet fleet;
    struct xb_fleet_judgement judgement;
    if (cJSON_GetArraySize(findings) == 0)
        return;
    xb_page_table_begin(page, "Findings, the worst first", "Node|#GPU|What|Finding");
    cJSON_ArrayForEach(item, findings)
    {
        double gpu = xb_report_number(xb_report_member(item, "gpu"), "index", (double)NAN);
        XB_PAGE_CELLS(page, xb_report_text(item, "node"),
                      isfinite(gpu) ? xb_page_print(page, "%.0f", gpu) : NULL,
                      xb_report_text(item, "code"), xb_report_text(item, "text"));
    }
    xb_page_table_end(page);
    xb_fleet_open(&fleet);
    xb_fleet_take_judged(document->tree, &fleet, &judgement);
    if (xb_fleet_pictures_each(&judgement, DRAWN, 0, draw, page) > 0)
        xb_page_remark(page, "Drawn are the GPUs that are named: the file has no others.");
    xb_fleet_judgement_free(&judgement);
    xb_fleet_free(&fleet);
}

static void free_state(void *own)
{
    struct state *state = own;
    if (!state->is_open)
        return;
    xb_fleet_judgement_free(&state->judgement);
    xb_fleet_free(&state->fleet);
}

const struct xb_common_section xb_section_fleet = {
    "fleet", "Fleet", sizeof(struct state), take, finish, write, free_state};
