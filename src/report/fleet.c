/* SPDX-License-Identifier: Apache-2.0 */
/* The section "Fleet": in files of many nodes, the GPUs that are not like their siblings. */
#define _GNU_SOURCE /* text.h */
#include "report.h"

#include "base/json_fields.h"
#include "base/text.h"
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

static bool is_judged(const struct xb_fleet_siblings *siblings)
{
    return siblings->judged && siblings->nodes >= 2;
}

static bool finish(void *own)
{
    struct state *state = own;
    struct xb_fleet_judgement *judgement = &state->judgement;
    bool any = false;
    if (state->is_open)
        xb_fleet_judge(&state->fleet, &request, judgement);
    for (size_t i = 0; i < judgement->sibling_count; i++)
        any = any || is_judged(&judgement->siblings[i]);
    return any;
}

/* As `fleet` prints it. */
static void write_table(struct xb_page *page, const struct xb_fleet_judgement *judgement,
                        bool is_verbose)
{
    xb_page_terminal_end(page, xb_fleet_table_write(xb_page_terminal_begin(page), judgement,
                                                    XB_PLAIN_COLUMNS, is_verbose, &page->error));
}

/* ---- a picture of the values of one figure by node ---- */

/* The axis reaches values up to so many limits from the median; others stand at its edge. Else one
 * link with half its lanes would press all other values into a line. */
#define LIMITS 8.0
/* A node with so many named GPUs has one name in the picture, not one for each GPU. */
#define TOGETHER 3

struct value {
    const char *node;
    size_t gpu;
    int peer;
    bool is_named;
    struct xb_dot dot; /* as it is shown */
};

static int by_pair(const void *a, const void *b)
{
    const struct value *one = a, *other = b;
    return XB_FIRST_ORDER(xb_natural_compare(one->node, other->node),
                          XB_ORDER(one->gpu, other->gpu), XB_ORDER(one->peer, other->peer));
}

/* What a picture is made of. */
struct sheet {
    struct value *values; /* by node */
    size_t count;
    const char **places; /* names of nodes that have any */
    size_t *named;       /* how many of each stand out */
    struct xb_dot *dots; /* those that stand out, as their findings, then the others */
    size_t out_count;
};

static struct sheet find_values(const struct xb_fleet *fleet, size_t figure, double unit,
                                struct xb_arena **memory)
{
    size_t most = 0;
    for (size_t i = 0; i < fleet->value_count; i++)
        most += fleet->values[i].figure == figure;
    struct value *all = xb_arena_new(memory, most * sizeof *all);
    struct sheet sheet = {.values = all,
                          .places = xb_arena_new(memory, fleet->node_count * sizeof(char *)),
                          .named = xb_arena_new(memory, fleet->node_count * sizeof(size_t)),
                          .dots = xb_arena_new(memory, most * sizeof *sheet.dots)};
    for (size_t i = 0; i < fleet->value_count; i++) {
        const struct xb_fleet_value *value = &fleet->values[i];
        if (value->figure == figure)
            all[sheet.count++] =
                (struct value){.node = fleet->nodes[fleet->gpus[value->gpu].node].name,
                               .gpu = value->gpu,
                               .peer = value->peer,
                               .dot = {.value = value->value / unit}};
    }
    qsort(all, sheet.count, sizeof *all, by_pair);
    for (size_t i = 0; i < sheet.count; i++) {
        if (i > 0)
            all[i].dot.place = all[i - 1].dot.place + (strcmp(all[i].node, all[i - 1].node) != 0);
        sheet.places[all[i].dot.place] = all[i].node;
    }
    return sheet;
}

/* Finds the values that stand out because they are slow or fast, each once, as its worst finding
 * has it. */
static void find_outs(struct xb_page *page, const struct xb_fleet_judgement *judgement,
                      size_t figure, const char *counted, struct sheet *sheet)
{
    for (size_t i = 0; i < judgement->finding_count; i++) {
        const struct xb_fleet_finding *finding = &judgement->findings[i];
        if ((finding->code != XB_FLEET_SLOW && finding->code != XB_FLEET_FAST) ||
            finding->figure != figure || finding->gpu == XB_FLEET_NONE)
            continue;
        const struct xb_fleet_gpu *gpu = &judgement->fleet->gpus[finding->gpu];
        const struct value key = {.node = judgement->fleet->nodes[gpu->node].name,
                                  .gpu = finding->gpu,
                                  .peer = finding->peer};
        struct value *value = bsearch(&key, sheet->values, sheet->count, sizeof key, by_pair);
        if (value == NULL || value->is_named)
            continue;
        value->is_named = true;
        sheet->named[value->dot.place]++;
        /* "-2.1 %: gpu012 GPU 3". The share stands first: where a node's name is long, the end is
         * cut. */
        sheet->dots[sheet->out_count++] = (struct xb_dot){
            value->dot.place, value->dot.value, finding->code == XB_FLEET_SLOW,
            xb_page_print(page, "%+.1f %%: %.200s GPU %u%s", 100.0 * finding->deviation,
                          finding->node, gpu->index,
                          finding->peer < 0 ? "" : xb_page_print(page, ">%d", finding->peer)),
            finding->text};
    }
    /* The worst of a node with many named GPUs has the name of all. */
    for (size_t i = 0; i < sheet->out_count; i++) {
        struct xb_dot *out = &sheet->dots[i];
        size_t *named = &sheet->named[out->place];
        if (*named == 0)
            out->name = NULL;
        if (*named < TOGETHER)
            continue;
        out->name =
            xb_page_print(page, "%.200s: %zu %s", sheet->places[out->place], *named, counted);
        *named = 0;
    }
}

/* The median and from where values are named; where slots differ each has limits of its own. */
static size_t find_levels(struct xb_page *page, const struct xb_fleet_siblings *siblings, bool more,
                          double size, struct xb_plot_level *levels)
{
    double values[3] = {siblings->centre, siblings->centre * (1.0 - siblings->named_from),
                        siblings->centre * (1.0 + siblings->named_from)};
    const char *const names[3] = {"median", more ? "slow below" : "fast below",
                                  more ? "fast above" : "slow above"};
    size_t count = isfinite(siblings->named_from) && !(siblings->slots_differ > 0) ? 3 : 1;
    for (size_t i = 0; i < count; i++) {
        double value = values[i] / size;
        levels[i] = (struct xb_plot_level){
            xb_page_print(page, "%s %s", names[i], XB_DECIMAL_TEXT(value)), value};
    }
    return count;
}

/* Draws the values by node, and each named GPU with a marker. */
static void draw_siblings(struct xb_page *page, const struct xb_fleet_judgement *judgement,
                          const struct xb_fleet_siblings *siblings)
{
    const struct xb_fleet *fleet = judgement->fleet;
    const struct xb_fleet_figure *figure = &fleet->figures[siblings->figure];
    const char *counted = "GPUs";
    double size;
    const char *unit = xb_report_unit(figure->unit, &size);
    double centre = siblings->centre / size;
    double share = isfinite(siblings->named_from) ? siblings->named_from : 3.0 * siblings->spread;
    double limit = share * siblings->centre / size;
    struct xb_arena *memory = NULL; /* there may be many pictures of very many values */
    struct sheet sheet = find_values(fleet, siblings->figure, size, &memory);
    if (sheet.count > 0 && sheet.values[0].peer >= 0)
        counted = "pairs";
    find_outs(page, judgement, siblings->figure, counted, &sheet);
    /* What the compared GPUs share: "NVIDIA H200, Gen5 x16, driver 580.159.04, chunk=4194304". */
    const char *const parts[] = {figure->model, figure->link, figure->driver, figure->options};
    struct xb_words kind = {.length = 0};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i] != NULL && parts[i][0] != '\0')
            xb_words_add(&kind, "%s%s%.150s", kind.length > 0 ? ", " : "", i == 2 ? "driver " : "",
                         parts[i]);
    struct xb_plot_level levels[3];
    struct xb_dots dots = {
        .places = sheet.places,
        .places_are = "nodes in the order of their names",
        .y = {XB_SCALE_LINEAR, unit},
        .y_low = centre - 1.2 * limit,
        .y_high = centre + 1.2 * limit,
        .dots = sheet.dots,
        .count = sheet.out_count,
        .out_count = sheet.out_count,
        .band_low = centre * (1.0 - siblings->spread),
        .band_high = centre * (1.0 + siblings->spread),
        .levels = levels,
        .level_count = find_levels(page, siblings, figure->more_is_better, size, levels),
        .are = {"like their siblings", "slow", "fast"},
        .band_is = xb_page_print(page, "one spread on each side of the median: %.2g %%%s",
                                 100.0 * siblings->spread,
                                 siblings->is_floor ? ", the least assumed" : ""),
        .counted = counted,
    };
    for (size_t i = 0; i < sheet.count; i++) {
        const struct xb_dot *dot = &sheet.values[i].dot;
        dots.place_count = dot->place + 1;
        if (!sheet.values[i].is_named)
            sheet.dots[dots.count++] = *dot;
        if (fabs(dot->value - centre) > LIMITS * limit)
            continue;
        dots.y_low = fmin(dots.y_low, dot->value);
        dots.y_high = fmax(dots.y_high, dot->value);
    }
    const char *worst =
        sheet.out_count > 0 ? xb_page_print(page, " The worst is %.300s.", sheet.dots[0].name) : "";
    xb_page_picture(page, xb_dots_draw, &dots,
                    xb_page_print(page, "%.200s by node: %.400s", figure->name,
                                  kind.length > 0 ? kind.text : "any GPU"),
                    "%zu %s of %zu nodes: median %s %s, from %s to %s; %zu named slow, %zu fast.%s",
                    siblings->values, counted, siblings->nodes, XB_DECIMAL_TEXT(centre), unit,
                    XB_DECIMAL_TEXT(siblings->least / size), XB_DECIMAL_TEXT(siblings->most / size),
                    siblings->slow, siblings->fast, worst);
    xb_arena_free(memory);
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

/* Draws those in which a GPU is named, or at least so many; returns how many. */
static size_t draw_figures(struct xb_page *page, const struct xb_fleet_judgement *judgement,
                           size_t least)
{
    const size_t count = judgement->sibling_count;
    size_t drawn = 0;
    const struct xb_fleet_siblings **list =
        xb_page_new(page, count, sizeof(struct xb_fleet_siblings *));
    for (size_t i = 0; i < count; i++)
        list[i] = &judgement->siblings[i];
    qsort(list, count, sizeof(struct xb_fleet_siblings *), by_weight);
    for (; drawn < count && is_judged(list[drawn]) &&
           drawn < (list[drawn]->slow + list[drawn]->fast > 0 ? DRAWN : least);
         drawn++)
        draw_siblings(page, judgement, list[drawn]);
    return drawn;
}

static void write(struct xb_page *page, void *own)
{
    const struct xb_fleet_judgement *judgement = &((const struct state *)own)->judgement;
    write_table(page, judgement, false);
    const size_t drawn = draw_figures(page, judgement, DRAWN_QUIET);
    if (drawn < judgement->sibling_count)
        xb_page_remark(page,
                       "%zu of %zu figures have a picture, first those in which a GPU is named.",
                       drawn, judgement->sibling_count);
    xb_page_fold_begin(page, NULL, "All figures and findings", "", "");
    write_table(page, judgement, true);
    xb_page_fold_end(page);
}

/* ---- what `fleet --format json` wrote ---- */

/* Takes a finding and its GPU, if it is of a value; nobody has checked it. */
static void read_finding(struct xb_fleet *fleet, struct xb_fleet_judgement *judgement,
                         const cJSON *object)
{
    struct xb_json_reader reader = {.texts = NULL};
    const char *code = xb_report_text(object, "code");
    double siblings = xb_report_number(object, "siblings", -1.0);
    double peer = xb_report_number(object, "peer", -1.0);
    double value = xb_report_number(object, "value", (double)NAN);
    bool is_slow = strcmp(code, "slow") == 0;
    struct xb_fleet_gpu gpu;
    if ((!is_slow && strcmp(code, "fast") != 0) || !isfinite(value) || !(siblings >= 0.0) ||
        !(siblings < (double)judgement->sibling_count))
        return;
    struct xb_fleet_siblings *of = &judgement->siblings[(size_t)siblings];
    const char *name = xb_report_text(object, "node");
    const struct xb_fleet_node node = {.name = name, .hostname = name};
    xb_fields_read_object(&reader, object, "gpu", xb_fleet_gpu_fields, &gpu);
    if (xb_json_failed(&reader) || !of->judged)
        return;
    gpu.node = xb_fleet_add_node(fleet, &node);
    struct xb_fleet_finding *finding = &judgement->findings[judgement->finding_count++];
    *finding =
        (struct xb_fleet_finding){.code = is_slow ? XB_FLEET_SLOW : XB_FLEET_FAST,
                                  .node = name,
                                  .gpu = xb_fleet_add_gpu(fleet, &gpu),
                                  .peer = peer >= 0.0 && peer < XB_RUN_DEVICES ? (int)peer : -1,
                                  .figure = of->figure,
                                  .deviation = xb_report_number(object, "deviation", (double)NAN),
                                  .text = xb_report_text(object, "text")};
    xb_fleet_add_value(fleet, &(struct xb_fleet_value){.figure = of->figure,
                                                       .gpu = finding->gpu,
                                                       .peer = finding->peer,
                                                       .value = value,
                                                       .scatter = (double)NAN});
    *(is_slow ? &of->slow : &of->fast) += 1;
}

void xb_write_findings(struct xb_page *page, const struct xb_report_document *document)
{
    const cJSON *findings = xb_report_member(document->tree, "findings");
    const cJSON *siblings = xb_report_member(document->tree, "siblings");
    const size_t count = (size_t)cJSON_GetArraySize(findings);
    const size_t figures = (size_t)cJSON_GetArraySize(siblings);
    struct xb_fleet fleet;
    const cJSON *item;
    if (count == 0)
        return;
    xb_fleet_open(&fleet);
    struct xb_fleet_judgement judgement = {
        .fleet = &fleet,
        .findings = xb_page_new(page, count, sizeof *judgement.findings),
        .siblings = xb_page_new(page, figures, sizeof *judgement.siblings)};
    xb_page_table_begin(page, "Findings, the worst first", "Node|#GPU|What|Finding");
    cJSON_ArrayForEach(item, siblings)
    {
        struct xb_json_reader reader = {.texts = NULL};
        struct xb_fleet_siblings *of = &judgement.siblings[judgement.sibling_count++];
        struct xb_fleet_figure figure;
        xb_fields_read(&reader, item, xb_fleet_siblings_fields, of);
        xb_fields_read_object(&reader, item, "figure", xb_fleet_figure_fields, &figure);
        of->slow = of->fast = 0; /* those that can be drawn are counted */
        of->judged = of->judged && !xb_json_failed(&reader);
        if (of->judged)
            of->figure = xb_fleet_add_figure(&fleet, &figure);
    }
    cJSON_ArrayForEach(item, findings)
    {
        double gpu = xb_report_number(xb_report_member(item, "gpu"), "index", (double)NAN);
        read_finding(&fleet, &judgement, item);
        XB_PAGE_CELLS(page, xb_report_text(item, "node"),
                      isfinite(gpu) ? xb_page_print(page, "%.0f", gpu) : NULL,
                      xb_report_text(item, "code"), xb_report_text(item, "text"));
    }
    xb_page_table_end(page);
    if (draw_figures(page, &judgement, 0) > 0)
        xb_page_remark(page, "Drawn are the GPUs that are named: the file has no others.");
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
