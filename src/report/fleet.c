/* SPDX-License-Identifier: Apache-2.0 */
/* The section "Fleet": in files of many nodes, the GPUs that are not like their siblings. */
#define _GNU_SOURCE /* text.h */
#include "report.h"

#include "base/text.h"
#include "fleet/fleet.h"
#include "fleet/formats.h"
#include "fleet/internal.h"
#include "xferbench/figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static void finish(void *own)
{
    struct state *state = own;
    if (state->is_open)
        xb_fleet_judge(&state->fleet, &request, &state->judgement);
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
    const char **nodes = xb_page_new(page, judgement->finding_count, sizeof *nodes);
    struct xb_words words = {.length = 0};
    size_t all = 0;
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

static double unit_of(const struct xb_fleet_figure *figure)
{
    if (strcmp(figure->unit, XB_UNIT_RATE) == 0)
        return 1e9;
    return strcmp(figure->unit, XB_UNIT_SECONDS) == 0 ? 1e-6 : 1.0;
}

/* The unit in which the page shows a figure: "GB/s" for B/s, "us" for s. */
static const char *unit_name(const struct xb_fleet_figure *figure)
{
    if (strcmp(figure->unit, XB_UNIT_RATE) == 0)
        return "GB/s";
    if (strcmp(figure->unit, XB_UNIT_SECONDS) == 0)
        return "us";
    return strcmp(figure->unit, XB_UNIT_RATIO) == 0 ? "factor" : figure->unit;
}

/* A value of the fleet in that unit. */
#define VALUE_TEXT(figure, value) XB_DECIMAL_TEXT((value) / unit_of(figure))

/* What the compared GPUs share: "NVIDIA H200, Gen5 x16, driver 580.159.04, chunk=4194304". */
#define KIND_TEXT 640

static const char *kind_text(const struct xb_fleet_figure *figure, char *text, size_t size)
{
    const char *const parts[] = {figure->model, figure->link, figure->driver, figure->options};
    size_t length = 0;
    snprintf(text, size, "any GPU");
    for (size_t i = 0; i < sizeof parts / sizeof *parts && length < size; i++)
        if (parts[i] != NULL && parts[i][0] != '\0')
            length += (size_t)snprintf(text + length, size - length, "%s%s%.150s",
                                       length > 0 ? ", " : "", i == 2 ? "driver " : "", parts[i]);
    return text;
}

/* "GPUs" or "pairs". */
static const char *counted_name(const struct xb_fleet_judgement *judgement,
                                const struct xb_fleet_siblings *siblings)
{
    const struct xb_fleet *fleet = judgement->fleet;
    for (size_t i = 0; i < fleet->value_count; i++)
        if (fleet->values[i].figure == siblings->figure)
            return fleet->values[i].peer >= 0 ? "pairs" : "GPUs";
    return "GPUs";
}

static void write_figure(struct xb_page *page, const struct xb_fleet_judgement *judgement,
                         const struct xb_fleet_siblings *siblings)
{
    const struct xb_fleet_figure *figure = &judgement->fleet->figures[siblings->figure];
    const double values[] = {siblings->least, siblings->centre, siblings->most};
    const double shares[] = {siblings->spread,
                             siblings->judged ? siblings->named_from : (double)NAN};
    char kind[KIND_TEXT];
    XB_PAGE_CELLS(page, figure->name, kind_text(figure, kind, sizeof kind));
    xb_page_cell(page, "%zu %s", siblings->values, counted_name(judgement, siblings));
    xb_page_cell(page, "%zu", siblings->nodes);
    xb_page_cell(page, "%s", unit_name(figure));
    for (size_t i = 0; i < 3; i++)
        xb_page_cell_if(page, isfinite(values[i]), "%s", VALUE_TEXT(figure, values[i]));
    for (size_t i = 0; i < 2; i++)
        xb_page_cell_if(page, isfinite(shares[i]), "%.2g %%", 100.0 * shares[i]);
    if (siblings->judged) {
        xb_page_cell(page, "%zu", siblings->slow);
        xb_page_cell(page, "%zu", siblings->fast);
    } else {
        XB_PAGE_CELLS(page, "too few", "too few");
    }
}

/* ---- a picture of the values of one figure by node ---- */

/* The axis reaches values up to so many limits from the median; others stand at its edge. Else one
 * link with half its lanes would press all other values into a line. */
#define LIMITS 8.0
/* A node with so many named GPUs has one name in the picture, not one for each GPU. */
#define TOGETHER 3

struct value {
    size_t rank; /* of its node's name */
    size_t gpu;
    int peer;
    double value; /* as it is shown */
    size_t place; /* of its node in the picture */
    bool is_named;
};

/* What a picture is made of. */
struct sheet {
    struct xb_page *page;
    const struct xb_fleet_judgement *judgement;
    const struct xb_fleet_siblings *siblings;
    const struct xb_fleet_figure *figure;
    const size_t *ranks;
    struct value *values; /* by node */
    size_t count;
    const char **places; /* nodes that have any */
    size_t *named_of;    /* for each how many are named */
    size_t place_count;
    struct xb_dot *dots;
    size_t dot_count;
    struct xb_dot_out *outs; /* in the order of the findings */
    size_t out_count;
};

static const struct xb_fleet_gpu *gpu_of(const struct sheet *sheet, size_t gpu)
{
    return &sheet->judgement->fleet->gpus[gpu];
}

static int by_pair(const void *a, const void *b)
{
    const struct value *one = a;
    const struct value *other = b;
    return XB_FIRST_ORDER(XB_ORDER(one->rank, other->rank), XB_ORDER(one->gpu, other->gpu),
                          XB_ORDER(one->peer, other->peer));
}

/* The values by node, and the nodes that have any. */
static void take_values(struct sheet *sheet)
{
    const struct xb_fleet *fleet = sheet->judgement->fleet;
    for (size_t i = 0; i < fleet->value_count; i++) {
        const struct xb_fleet_value *value = &fleet->values[i];
        if (value->figure == sheet->siblings->figure)
            sheet->values[sheet->count++] =
                (struct value){.rank = sheet->ranks[fleet->gpus[value->gpu].node],
                               .gpu = value->gpu,
                               .peer = value->peer,
                               .value = value->value / unit_of(sheet->figure)};
    }
    qsort(sheet->values, sheet->count, sizeof *sheet->values, by_pair);
    for (size_t i = 0; i < sheet->count; i++) {
        struct value *value = &sheet->values[i];
        if (i == 0 || sheet->values[i - 1].rank != value->rank)
            sheet->places[sheet->place_count++] =
                fleet->nodes[gpu_of(sheet, value->gpu)->node].name;
        value->place = sheet->place_count - 1;
    }
}

/* Those that are slow or fast stand out: each value once, as its worst finding has it. */
static void take_findings(struct sheet *sheet)
{
    const struct xb_fleet_judgement *judgement = sheet->judgement;
    for (size_t i = 0; i < judgement->finding_count; i++) {
        const struct xb_fleet_finding *finding = &judgement->findings[i];
        if ((finding->code != XB_FLEET_SLOW && finding->code != XB_FLEET_FAST) ||
            finding->figure != sheet->siblings->figure || finding->gpu == XB_FLEET_NONE)
            continue;
        const struct xb_fleet_gpu *gpu = gpu_of(sheet, finding->gpu);
        const struct value key = {
            .rank = sheet->ranks[gpu->node], .gpu = finding->gpu, .peer = finding->peer};
        struct value *value = bsearch(&key, sheet->values, sheet->count, sizeof key, by_pair);
        char peer[16] = "";
        if (value == NULL || value->is_named)
            continue;
        if (finding->peer >= 0)
            snprintf(peer, sizeof peer, ">%d", finding->peer);
        value->is_named = true;
        sheet->named_of[value->place]++;
        /* "-2.1 %: gpu012 GPU 3". The share stands first: where a node's name is long, the end is
         * cut. */
        sheet->outs[sheet->out_count++] = (struct xb_dot_out){
            .place = value->place,
            .value = value->value,
            .is_bad = finding->code == XB_FLEET_SLOW,
            .name = xb_page_print(sheet->page, "%+.1f %%: %.200s GPU %u%s",
                                  100.0 * finding->deviation, finding->node, gpu->index, peer),
            .tip = finding->text};
    }
    for (size_t i = 0; i < sheet->count; i++)
        if (!sheet->values[i].is_named)
            sheet->dots[sheet->dot_count++] =
                (struct xb_dot){sheet->values[i].place, sheet->values[i].value};
}

static size_t make_levels(struct sheet *sheet, struct xb_plot_level *levels)
{
    const struct xb_fleet_siblings *siblings = sheet->siblings;
    bool more = sheet->figure->more_is_better;
    double values[3] = {siblings->centre, siblings->centre * (1.0 - siblings->named_from),
                        siblings->centre * (1.0 + siblings->named_from)};
    const char *const names[3] = {"median", more ? "slow below" : "fast below",
                                  more ? "fast above" : "slow above"};
    /* Where slots differ each has limits of its own. */
    bool one_limit = isfinite(siblings->named_from) && !(siblings->slots_differ > 0);
    size_t count = one_limit ? 3 : 1;
    for (size_t i = 0; i < count; i++) {
        levels[i] = (struct xb_plot_level){
            xb_page_print(sheet->page, "%s %s", names[i], VALUE_TEXT(sheet->figure, values[i])),
            values[i] / unit_of(sheet->figure)};
    }
    return count;
}

static const char *describe(struct sheet *sheet)
{
    const struct xb_fleet_siblings *siblings = sheet->siblings;
    const struct xb_fleet_figure *figure = sheet->figure;
    bool has_outs = sheet->out_count > 0;
    return xb_page_print(
        sheet->page,
        "%zu %s of %zu nodes: median %s %s, from %s to %s; %zu named slow, %zu fast.%s%.300s%s",
        siblings->values, counted_name(sheet->judgement, siblings), siblings->nodes,
        VALUE_TEXT(figure, siblings->centre), unit_name(figure),
        VALUE_TEXT(figure, siblings->least), VALUE_TEXT(figure, siblings->most), siblings->slow,
        siblings->fast, has_outs ? " The worst is " : "", has_outs ? sheet->outs[0].name : "",
        has_outs ? "." : "");
}

static void draw_sheet(struct xb_page *page, struct sheet *sheet)
{
    const struct xb_fleet_siblings *siblings = sheet->siblings;
    struct xb_plot_level levels[3];
    char kind[KIND_TEXT];
    double centre = siblings->centre / unit_of(sheet->figure);
    double share = isfinite(siblings->named_from) ? siblings->named_from : 3.0 * siblings->spread;
    double limit = share * siblings->centre / unit_of(sheet->figure);
    kind_text(sheet->figure, kind, sizeof kind);
    struct xb_dots dots = {
        .picture = {.title =
                        xb_page_print(page, "%.200s by node: %.400s", sheet->figure->name, kind),
                    .description = describe(sheet)},
        .places = sheet->places,
        .place_count = sheet->place_count,
        .places_are = "nodes in the order of their names",
        .y = {XB_SCALE_LINEAR, unit_name(sheet->figure)},
        .y_low = centre - 1.2 * limit,
        .y_high = centre + 1.2 * limit,
        .dots = sheet->dots,
        .count = sheet->dot_count,
        .outs = sheet->outs,
        .out_count = sheet->out_count,
        .band_low = centre * (1.0 - siblings->spread),
        .band_high = centre * (1.0 + siblings->spread),
        .levels = levels,
        .level_count = make_levels(sheet, levels),
        .dots_are = "like their siblings",
        .bad_are = "slow",
        .others_are = "fast",
        .band_is = xb_page_print(page, "one spread on each side of the median: %.2g %%%s",
                                 100.0 * siblings->spread,
                                 siblings->is_floor ? ", the least assumed" : ""),
        .counted = counted_name(sheet->judgement, siblings),
    };
    for (size_t i = 0; i < sheet->count; i++) {
        double value = sheet->values[i].value;
        if (fabs(value - centre) > LIMITS * limit)
            continue;
        dots.y_low = fmin(dots.y_low, value);
        dots.y_high = fmax(dots.y_high, value);
    }
    xb_page_picture(page, xb_dots_draw, &dots);
}

/* Draws its values by node, and each named GPU with a marker. `ranks`: for each node of the fleet
 * the position of its name among all names, from 0. */
static void draw_siblings(struct xb_page *page, const struct xb_fleet_judgement *judgement,
                          const struct xb_fleet_siblings *siblings, const size_t *ranks)
{
    const struct xb_fleet *fleet = judgement->fleet;
    struct xb_arena *memory = NULL; /* there may be many sheets of very many values */
    struct sheet sheet = {.page = page,
                          .judgement = judgement,
                          .siblings = siblings,
                          .figure = &fleet->figures[siblings->figure],
                          .ranks = ranks};
    size_t most = 0;
    for (size_t i = 0; i < fleet->value_count; i++)
        most += fleet->values[i].figure == siblings->figure;
    sheet.values = xb_arena_new(&memory, most * sizeof *sheet.values);
    sheet.dots = xb_arena_new(&memory, most * sizeof *sheet.dots);
    sheet.outs = xb_arena_new(&memory, most * sizeof *sheet.outs);
    sheet.places = xb_arena_new(&memory, fleet->node_count * sizeof *sheet.places);
    sheet.named_of = xb_arena_new(&memory, fleet->node_count * sizeof *sheet.named_of);
    take_values(&sheet);
    take_findings(&sheet);
    /* Of a node with many named GPUs the worst has the name of all. */
    for (size_t i = 0; i < sheet.out_count; i++) {
        struct xb_dot_out *out = &sheet.outs[i];
        size_t *named = &sheet.named_of[out->place];
        if (*named == 0)
            out->name = NULL;
        if (*named < TOGETHER)
            continue;
        out->name = xb_page_print(page, "%.200s: %zu %s", sheet.places[out->place], *named,
                                  counted_name(judgement, siblings));
        *named = 0;
    }
    draw_sheet(page, &sheet);
    xb_arena_free(memory);
}

/* ---- the section ---- */

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
    const struct xb_fleet *fleet = judgement->fleet;
    size_t drawn = 0;
    const struct xb_fleet_siblings **list =
        xb_page_new(page, count, sizeof(struct xb_fleet_siblings *));
    size_t *ranks = xb_page_new(page, fleet->node_count, sizeof *ranks);
    struct named_node {
        const char *name;
        size_t node;
    } *nodes = xb_page_new(page, fleet->node_count, sizeof *nodes);
    for (size_t i = 0; i < fleet->node_count; i++)
        nodes[i] = (struct named_node){fleet->nodes[i].name, i};
    qsort(nodes, fleet->node_count, sizeof *nodes, by_name);
    for (size_t i = 0; i < fleet->node_count; i++)
        ranks[nodes[i].node] = i;
    for (size_t i = 0; i < count; i++)
        list[i] = &judgement->siblings[i];
    qsort(list, count, sizeof(struct xb_fleet_siblings *), by_weight);
    write_answer(page, judgement);
    write_findings(page, judgement);
    for (; drawn < count && is_judged(list[drawn]) &&
           drawn < (list[drawn]->slow + list[drawn]->fast > 0 ? DRAWN : DRAWN_QUIET);
         drawn++)
        draw_siblings(page, judgement, list[drawn], ranks);
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
