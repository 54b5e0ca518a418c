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

/* A finding, and the place of the worst of its GPU, or of its node. */
struct bad {
    const cJSON *item;
    const char *node;
    double gpu; /* -1 for none */
    size_t place, worst;
};

XB_COMPARER(by_gpu, struct bad, strcmp(a->node, b->node), XB_BY(gpu), XB_BY(place))
XB_COMPARER(by_worst, struct bad, XB_BY(worst), XB_BY(place))

#define NUMBER(object, key) xb_report_number((object), (key), 0.0)

/* What it was judged by, and how many there are: who is handed the page must not need the command.
 */
static void write_criteria(struct xb_page *page, const cJSON *root, size_t gpus, size_t nodes,
                           bool all_slower)
{
    const cJSON *baseline = xb_report_member(root, "baseline"), *note;
    bool has_limits = cJSON_IsString(xb_report_member(root, "limits"));
    double expected = NUMBER(root, "expected_nodes"), alpha = NUMBER(root, "alpha");
    const char *rows[][2] = {
        {"Date", xb_report_text(root, "timestamp")},
        {"Nodes", xb_page_print(page, expected > 0 ? "%.0f, %.0f expected" : "%.0f",
                                NUMBER(root, "nodes"), expected)},
        {"GPUs", xb_page_print(page, "%.0f, %.0f judged by their siblings", NUMBER(root, "gpus"),
                               NUMBER(root, "judged_gpus"))},
        {"Not OK",
         xb_page_print(page, "%zu GPU%s, and %zu node%s as a whole%s", gpus, XB_PLURAL(gpus), nodes,
                       XB_PLURAL(nodes), all_slower ? "; and all GPUs of a model together" : "")},
        {"Chance that any of equal GPUs is named (alpha)",
         alpha > 0 ? xb_page_print(page, "%g", alpha) : NULL},
        {"Limits of links", has_limits ? xb_report_text(root, "limits") : "of each link test"},
        {"Baseline", "none"}};
    if (cJSON_IsObject(baseline))
        rows[6][1] = xb_page_print(page, "%s: %.0f nodes, %.0f GPUs, %.0f values",
                                   xb_report_text(baseline, "path"), NUMBER(baseline, "nodes"),
                                   NUMBER(baseline, "gpus"), NUMBER(baseline, "values"));
    xb_page_table_begin(page, "What was judged, and by what", "What|Value");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        xb_page_cells(page, rows[i], 2);
    xb_page_table_end(page);
    cJSON_ArrayForEach(note, xb_report_member(root, "notes"))
    {
        if (cJSON_IsString(note))
            xb_page_remark(page, "%s", note->valuestring);
    }
}

static void write_what_to_do(struct xb_page *page, const bool is_found[XB_FLEET_CODES])
{
    xb_page_table_begin(page, "What to do", "Reason|What to do");
    for (size_t k = 0; k < XB_FLEET_CODES; k++)
        if (is_found[k])
            XB_PAGE_CELLS(page, xb_fleet_sayings[k].name, xb_fleet_sayings[k].next);
    xb_page_table_end(page);
}

void xb_write_findings(struct xb_page *page, const struct xb_report_document *document)
{
    const cJSON *findings = xb_report_member(document->tree, "findings"), *item;
    struct bad *bad = xb_page_new(page, (size_t)cJSON_GetArraySize(findings), sizeof *bad);
    struct xb_fleet fleet;
    struct xb_fleet_judgement judgement;
    size_t count = 0, gpus = 0, nodes = 0;
    bool is_found[XB_FLEET_CODES] = {false};
    cJSON_ArrayForEach(item, findings)
    {
        bad[count] = (struct bad){
            .item = item, .node = xb_report_text(item, "node"), .place = count, .worst = count};
        bad[count].gpu = xb_report_number(xb_report_member(item, "gpu"), "index", -1.0);
        for (size_t k = 0; k < XB_FLEET_CODES; k++)
            is_found[k] =
                is_found[k] || strcmp(xb_report_text(item, "code"), xb_fleet_sayings[k].name) == 0;
        count++;
    }
    qsort(bad, count, sizeof *bad, by_gpu);
    for (size_t i = 0; i < count; i++) {
        bool is_same =
            i > 0 && strcmp(bad[i - 1].node, bad[i].node) == 0 && bad[i - 1].gpu == bad[i].gpu;
        bad[i].worst = is_same ? bad[i - 1].worst : bad[i].place;
        gpus += !is_same && bad[i].gpu >= 0;
        nodes +=
            !is_same && bad[i].gpu < 0 && cJSON_IsString(xb_report_member(bad[i].item, "node"));
    }
    qsort(bad, count, sizeof *bad, by_worst);
    write_criteria(page, document->tree, gpus, nodes, is_found[XB_FLEET_ALL_SLOWER]);
    if (count == 0)
        return;
    xb_page_table_begin(page, "Who is not OK, and why: the worst first",
                        "Node|#GPU|PCI|UUID|Serial|Reason|Finding");
    for (size_t i = 0, end = 0; i < count; i = end) {
        const cJSON *gpu = xb_report_member(bad[i].item, "gpu");
        struct xb_words codes = {.length = 0}, texts = {.length = 0};
        for (; end < count && bad[end].worst == bad[i].worst; end++) {
            const char *code = xb_report_text(bad[end].item, "code");
            const char *text = xb_report_text(bad[end].item, "text");
            bool is_new = strstr(codes.text, code) == NULL;
            xb_words_add(&codes, "%s%.32s", is_new && codes.length > 0 ? ", " : "",
                         is_new ? code : "");
            xb_words_add(&texts, "%s%.500s", end > i ? "; " : "", text);
        }
        XB_PAGE_CELLS(page,
                      strcmp(codes.text, xb_fleet_sayings[XB_FLEET_ALL_SLOWER].name) == 0
                          ? "all"
                          : bad[i].node,
                      bad[i].gpu >= 0 ? xb_page_print(page, "%.0f", bad[i].gpu) : NULL,
                      xb_report_text(gpu, "pci_bdf"), xb_report_text(gpu, "uuid"),
                      xb_report_text(gpu, "serial"), xb_page_print(page, "%s", codes.text),
                      xb_page_print(page, "%s", texts.text));
    }
    xb_page_table_end(page);
    write_what_to_do(page, is_found);
    xb_fleet_open(&fleet);
    xb_fleet_take_judged(document->tree, &fleet, &judgement);
    if (xb_fleet_pictures_each(&judgement, DRAWN, 0, draw, page) > 0 &&
        cJSON_GetArraySize(xb_report_member(document->tree, "values_by_gpu")) == 0)
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
