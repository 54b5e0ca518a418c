/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the values of one figure by node. */
#define _GNU_SOURCE /* text.h */
#include "section.h"

#include "base/text.h"
#include "fleet/internal.h"
#include "xferbench/figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The axis reaches values up to so many limits from the median; others stand at its edge. Else one
 * link with half its lanes would press all other values into a line. */
#define LIMITS 8.0
/* A node with so many named GPUs has one name in the picture, not one for each GPU. */
#define TOGETHER 3

/* ---- words ---- */

static double unit_of(const struct xb_fleet_figure *figure)
{
    if (strcmp(figure->unit, XB_UNIT_RATE) == 0)
        return 1e9;
    return strcmp(figure->unit, XB_UNIT_SECONDS) == 0 ? 1e-6 : 1.0;
}

const char *xb_siblings_unit(const struct xb_fleet_figure *figure)
{
    if (strcmp(figure->unit, XB_UNIT_RATE) == 0)
        return "GB/s";
    if (strcmp(figure->unit, XB_UNIT_SECONDS) == 0)
        return "us";
    return strcmp(figure->unit, XB_UNIT_RATIO) == 0 ? "factor" : figure->unit;
}

const char *xb_siblings_value_text(const struct xb_fleet_figure *figure, double value, char *text,
                                   size_t size)
{
    return xb_decimal_text(value / unit_of(figure), text, size);
}

const char *xb_siblings_kind_text(const struct xb_fleet_figure *figure, char *text, size_t size)
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

const char *xb_siblings_counted(const struct xb_fleet_judgement *judgement,
                                const struct xb_fleet_siblings *siblings)
{
    const struct xb_fleet *fleet = judgement->fleet;
    for (size_t i = 0; i < fleet->value_count; i++)
        if (fleet->values[i].figure == siblings->figure)
            return fleet->values[i].peer >= 0 ? "pairs" : "GPUs";
    return "GPUs";
}

/* ---- values ---- */

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
    struct xb_arena *memory; /* where its arrays lie */
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

/* Zeroed memory that is released with the sheet: there may be many sheets of very many values.
 * NULL: there is none. */
static void *allocate(struct sheet *sheet, size_t count, size_t size)
{
    void *memory = xb_arena_new(&sheet->memory, count * size);
    if (memory == NULL && sheet->page->error.status == XB_OK)
        (void)XB_FAIL(&sheet->page->error, XB_ERR_MEMORY, "no memory for the pictures of a report");
    return memory;
}

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

/* ---- what stands out ---- */

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

/* ---- the picture ---- */

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
        char text[32];
        xb_siblings_value_text(sheet->figure, values[i], text, sizeof text);
        levels[i] = (struct xb_plot_level){xb_page_print(sheet->page, "%s %s", names[i], text),
                                           values[i] / unit_of(sheet->figure)};
    }
    return count;
}

static const char *describe(struct sheet *sheet)
{
    const struct xb_fleet_siblings *siblings = sheet->siblings;
    bool has_outs = sheet->out_count > 0;
    char centre[32];
    char least[32];
    char most[32];
    return xb_page_print(
        sheet->page,
        "%zu %s of %zu nodes: median %s %s, from %s to %s; %zu named slow, %zu fast.%s%.300s%s",
        siblings->values, xb_siblings_counted(sheet->judgement, siblings), siblings->nodes,
        xb_siblings_value_text(sheet->figure, siblings->centre, centre, sizeof centre),
        xb_siblings_unit(sheet->figure),
        xb_siblings_value_text(sheet->figure, siblings->least, least, sizeof least),
        xb_siblings_value_text(sheet->figure, siblings->most, most, sizeof most), siblings->slow,
        siblings->fast, has_outs ? " The worst is " : "", has_outs ? sheet->outs[0].name : "",
        has_outs ? "." : "");
}

static void draw_sheet(struct xb_page *page, struct sheet *sheet)
{
    const struct xb_fleet_siblings *siblings = sheet->siblings;
    struct xb_plot_level levels[3];
    char kind[XB_SIBLINGS_KIND];
    double centre = siblings->centre / unit_of(sheet->figure);
    double share = isfinite(siblings->named_from) ? siblings->named_from : 3.0 * siblings->spread;
    double limit = share * siblings->centre / unit_of(sheet->figure);
    xb_siblings_kind_text(sheet->figure, kind, sizeof kind);
    struct xb_dots dots = {
        .picture = {.title =
                        xb_page_print(page, "%.200s by node: %.400s", sheet->figure->name, kind),
                    .description = describe(sheet)},
        .places = sheet->places,
        .place_count = sheet->place_count,
        .places_are = "nodes in the order of their names",
        .y = {XB_SCALE_LINEAR, xb_siblings_unit(sheet->figure)},
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
        .counted = xb_siblings_counted(sheet->judgement, siblings),
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

void xb_siblings_draw(struct xb_page *page, const struct xb_fleet_judgement *judgement,
                      const struct xb_fleet_siblings *siblings, const size_t *ranks)
{
    const struct xb_fleet *fleet = judgement->fleet;
    struct sheet sheet = {.page = page,
                          .judgement = judgement,
                          .siblings = siblings,
                          .figure = &fleet->figures[siblings->figure],
                          .ranks = ranks};
    size_t most = 0;
    for (size_t i = 0; i < fleet->value_count; i++)
        most += fleet->values[i].figure == siblings->figure;
    sheet.values = allocate(&sheet, most, sizeof *sheet.values);
    sheet.dots = allocate(&sheet, most, sizeof *sheet.dots);
    sheet.outs = allocate(&sheet, most, sizeof *sheet.outs);
    sheet.places = allocate(&sheet, fleet->node_count, sizeof *sheet.places);
    sheet.named_of = allocate(&sheet, fleet->node_count, sizeof *sheet.named_of);
    if (page->error.status == XB_OK) {
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
            out->name = xb_page_print(sheet.page, "%.200s: %zu %s", sheet.places[out->place],
                                      *named, xb_siblings_counted(sheet.judgement, sheet.siblings));
            *named = 0;
        }
        draw_sheet(page, &sheet);
    }
    xb_arena_free(sheet.memory);
}
