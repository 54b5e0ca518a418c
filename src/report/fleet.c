/* SPDX-License-Identifier: Apache-2.0 */
/* The section "Fleet": in files of many nodes, the GPUs that are not like their siblings. */
#include "section.h"

#include "fleet/fleet.h"
#include "fleet/formats.h"
#include "fleet/internal.h"

#include <math.h>
#include <stdlib.h>

#define FINDINGS 40 /* rows: `fleet` tells all */
#define NAMED 10    /* nodes that the first sentence names */
#define NOTES 8
#define DRAWN 12      /* pictures of figures in which a GPU is named */
#define DRAWN_QUIET 4 /* or so many of any, where fewer have one */

struct state {
    bool is_open; /* the fleet: a file of a node was taken */
    struct xb_fleet fleet;
    struct xb_fleet_judgement judgement;
};

static const struct xb_fleet_request request = {.alpha = 0.01}; /* `fleet` without --alpha */

static enum xb_status take(void *own, const struct xb_report_document *document,
                           struct xb_error *error)
{
    struct state *state = own;
    if (document->kind != XB_DOCUMENT_RESULT && document->kind != XB_DOCUMENT_PROCESSES &&
        document->kind != XB_DOCUMENT_LINK)
        return XB_OK;
    if (!state->is_open)
        xb_fleet_open(&state->fleet);
    state->is_open = true;
    return xb_fleet_read_text(&state->fleet, document->path, 0, document->text, document->length,
                              error);
}

static enum xb_status finish(void *own, struct xb_error *error)
{
    struct state *state = own;
    (void)error;
    if (state->is_open)
        xb_fleet_judge(&state->fleet, &request, &state->judgement);
    return XB_OK;
}

static bool is_judged(const struct xb_fleet_siblings *siblings)
{
    return siblings->judged && siblings->nodes >= 2;
}

static bool speaks(const void *own)
{
    const struct state *state = own;
    for (size_t i = 0; i < state->judgement.sibling_count; i++)
        if (is_judged(&state->judgement.siblings[i]))
            return true;
    return false;
}

/* ---- the answer ---- */

/* Of pointers to names, and of what begins with one. */
static int by_name(const void *a, const void *b)
{
    return xb_natural_compare(*(const char *const *)a, *(const char *const *)b);
}

/* The nodes to take out of service, each once and by name. */
static void write_bad_nodes(struct xb_page *page, const struct xb_fleet_judgement *judgement)
{
    const char **nodes = xb_page_allocate(page, judgement->finding_count, sizeof *nodes);
    struct xb_words words = {.length = 0};
    size_t all = 0;
    if (nodes == NULL)
        return;
    for (size_t i = 0; i < judgement->finding_count; i++)
        if (xb_fleet_is_to_drain(&judgement->findings[i]))
            nodes[all++] = judgement->findings[i].node;
    size_t count = xb_fleet_sort_names(nodes, all);
    qsort(nodes, count, sizeof *nodes, by_name);
    for (size_t i = 0; i < count && i < NAMED; i++)
        xb_words_add(&words, "%s%.100s", i > 0 ? ", " : "", nodes[i]);
    if (count > NAMED)
        xb_words_add(&words, " and %zu more", count - NAMED);
    if (count > 0)
        xb_page_paragraph(page, "Look at %zu node%s: %s.", count, count == 1 ? "" : "s",
                          words.text);
    else
        xb_page_paragraph(page, "No finding is a reason to take a node out of service.");
}

static void write_answer(struct xb_page *page, const struct xb_fleet_judgement *judgement)
{
    const struct xb_fleet *fleet = judgement->fleet;
    size_t slow = 0;
    size_t fast = 0;
    size_t together = 0;
    for (size_t i = 0; i < judgement->finding_count; i++) {
        slow += judgement->findings[i].code == XB_FLEET_SLOW;
        fast += judgement->findings[i].code == XB_FLEET_FAST;
        together += judgement->findings[i].together;
    }
    write_bad_nodes(page, judgement);
    /* One cause of many findings is no fault of each node. */
    if (together > 0)
        xb_page_paragraph(page,
                          "%zu findings are the same on so many GPUs or nodes that one cause is "
                          "likelier than so many faults: look for it before you take these nodes "
                          "out of service.",
                          together);
    xb_page_paragraph(page,
                      "%zu of %zu GPUs on %zu nodes are judged by their siblings. Findings: %zu "
                      "slow, %zu fast, %zu of other kinds.",
                      judgement->judged_gpus, fleet->gpu_count, fleet->node_count, slow, fast,
                      judgement->finding_count - slow - fast);
    xb_page_remark(page,
                   "Siblings are GPUs with the same model, link, driver and options. If all GPUs "
                   "were equal, any would be named slow or fast in at most %g %% of such reports. "
                   "docs/fleet.md tells how.",
                   100.0 * judgement->request.alpha);
    for (size_t i = 0; i < judgement->note_count && i < NOTES; i++)
        xb_page_remark(page, "%s", judgement->notes[i]);
    if (judgement->note_count > NOTES)
        xb_page_remark(page, "%zu more notes: xferbench fleet prints them.",
                       judgement->note_count - NOTES);
    if (fleet->left_out_count > 0)
        xb_page_remark(page,
                       "%zu of the files could not be judged here: xferbench fleet says which, and "
                       "why.",
                       fleet->left_out_count);
}

/* ---- tables ---- */

static void write_findings(struct xb_page *page, const struct xb_fleet_judgement *judgement)
{
    const struct xb_fleet_gpu *gpus = judgement->fleet->gpus;
    size_t told = 0;
    if (judgement->finding_count == 0)
        return;
    xb_page_table_begin(page, "Findings, the worst first", "Node|#GPU|What|Finding");
    for (size_t rows = 0; told < judgement->finding_count && rows < FINDINGS; rows++) {
        const struct xb_fleet_finding *finding = &judgement->findings[told];
        /* A node with eight slow GPUs has 72 findings: in one row, so that others have room. */
        size_t count = 1;
        while (told + count < judgement->finding_count &&
               !xb_fleet_table_is_row(judgement, told + count))
            count++;
        xb_page_cell(page, "%s", finding->node);
        if (finding->gpu == XB_FLEET_NONE)
            xb_page_cell(page, "-");
        else if (finding->peer >= 0)
            xb_page_cell(page, "%u>%d", gpus[finding->gpu].index, finding->peer);
        else
            xb_page_cell(page, "%u", gpus[finding->gpu].index);
        xb_page_cell(page, "%s", xb_fleet_code_name(finding->code));
        if (count > 1)
            xb_page_cell(page, "%s; and in %zu more", finding->text, count - 1);
        else
            xb_page_cell(page, "%s", finding->text);
        told += count;
    }
    xb_page_table_end(page);
    if (told < judgement->finding_count)
        xb_page_remark(page, "And %zu more findings: xferbench fleet names all.",
                       judgement->finding_count - told);
}

static void put_value(struct xb_page *page, const struct xb_fleet_figure *figure, double value)
{
    char text[32];
    xb_page_cell_if(page, isfinite(value), "%s",
                    xb_siblings_value_text(figure, value, text, sizeof text));
}

static void put_share(struct xb_page *page, double share)
{
    xb_page_cell_if(page, isfinite(share), "%.2g %%", 100.0 * share);
}

static void write_figure(struct xb_page *page, const struct xb_fleet_judgement *judgement,
                         const struct xb_fleet_siblings *siblings)
{
    const struct xb_fleet_figure *figure = &judgement->fleet->figures[siblings->figure];
    char kind[XB_SIBLINGS_KIND];
    XB_PAGE_CELLS(page, figure->name, xb_siblings_kind_text(figure, kind, sizeof kind));
    xb_page_cell(page, "%zu %s", siblings->values, xb_siblings_counted(judgement, siblings));
    xb_page_cell(page, "%zu", siblings->nodes);
    xb_page_cell(page, "%s", xb_siblings_unit(figure));
    put_value(page, figure, siblings->least);
    put_value(page, figure, siblings->centre);
    put_value(page, figure, siblings->most);
    put_share(page, siblings->spread);
    put_share(page, siblings->judged ? siblings->named_from : (double)NAN);
    if (siblings->judged) {
        xb_page_cell(page, "%zu", siblings->slow);
        xb_page_cell(page, "%zu", siblings->fast);
    } else {
        XB_PAGE_CELLS(page, "too few", "too few");
    }
}

/* ---- pictures ---- */

struct named_node {
    const char *name;
    size_t node;
};

/* For each node where its name stands among all. NULL: no memory. */
static size_t *rank_nodes(struct xb_page *page, const struct xb_fleet *fleet)
{
    size_t *ranks = xb_page_allocate(page, fleet->node_count, sizeof *ranks);
    struct named_node *nodes = xb_page_allocate(page, fleet->node_count, sizeof *nodes);
    if (ranks == NULL || nodes == NULL)
        return NULL;
    for (size_t i = 0; i < fleet->node_count; i++)
        nodes[i] = (struct named_node){fleet->nodes[i].name, i};
    qsort(nodes, fleet->node_count, sizeof *nodes, by_name);
    for (size_t i = 0; i < fleet->node_count; i++)
        ranks[nodes[i].node] = i;
    return ranks;
}

/* Figures in which more GPUs are named stand first, and those that are not judged last. */
static int by_weight(const void *a, const void *b)
{
    const struct xb_fleet_siblings *one = *(const struct xb_fleet_siblings *const *)a;
    const struct xb_fleet_siblings *other = *(const struct xb_fleet_siblings *const *)b;
    /* the last: as the judgement has them */
    return XB_FIRST_ORDER(XB_ORDER(is_judged(other), is_judged(one)),
                          XB_ORDER(other->slow, one->slow), XB_ORDER(other->fast, one->fast),
                          XB_ORDER(one, other));
}

static void write(struct xb_page *page, void *own)
{
    const struct xb_fleet_judgement *judgement = &((const struct state *)own)->judgement;
    size_t count = judgement->sibling_count;
    size_t drawn = 0;
    const struct xb_fleet_siblings **list =
        xb_page_allocate(page, count, sizeof(struct xb_fleet_siblings *));
    const size_t *ranks = rank_nodes(page, judgement->fleet);
    if (list == NULL || ranks == NULL)
        return;
    for (size_t i = 0; i < count; i++)
        list[i] = &judgement->siblings[i];
    qsort(list, count, sizeof(struct xb_fleet_siblings *), by_weight);
    write_answer(page, judgement);
    write_findings(page, judgement);
    for (; drawn < count && is_judged(list[drawn]) &&
           drawn < (list[drawn]->slow + list[drawn]->fast > 0 ? DRAWN : DRAWN_QUIET);
         drawn++)
        xb_siblings_draw(page, judgement, list[drawn], ranks);
    if (drawn < count)
        xb_page_remark(page,
                       "%zu of %zu figures have a picture, first those in which a GPU is named. "
                       "The table below has the numbers of all.",
                       drawn, count);
    xb_page_table_begin(page, "Figures, and how alike their GPUs are",
                        "Figure|Of|#Values|#Nodes|Unit|#Least|#Median|#Most|#Spread|#Named from|"
                        "#Slow|#Fast");
    for (size_t i = 0; i < count; i++)
        write_figure(page, judgement, list[i]);
    xb_page_table_end(page);
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
    .name = "fleet",
    .title = "Fleet",
    .comes_first = true,
    .state_size = sizeof(struct state),
    .take = take,
    .finish = finish,
    .speaks = speaks,
    .write = write,
    .free = free_state,
};
