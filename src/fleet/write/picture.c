/* SPDX-License-Identifier: Apache-2.0 */
/* The values of one figure by node, as a picture; and what of that the JSON of `fleet` has. */
#define _GNU_SOURCE /* text.h */
#include "fleet/internal.h"
#include "formats.h"

#include "base/text.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The axis reaches values up to so many limits from the median; others stand at its edge. Else one
 * link with half its lanes would press all other values into a line. */
#define LIMITS 8.0
/* A node with so many named GPUs has one name in the picture, not one for each GPU. */
#define TOGETHER 3

struct value {
    const struct xb_fleet_value *value;
    bool is_named;
    struct xb_dot dot; /* as it is shown */
};

XB_COMPARER(by_pair, struct value, XB_BY_NAME(value->gpu->node->name), XB_BY(value->gpu->number),
            XB_BY(value->peer))

/* The values of a figure by node, and the places of the nodes; returns how many there are. */
static size_t find_values(const struct xb_fleet *fleet, const struct xb_fleet_figure *figure,
                          double size, struct xb_dots *dots, struct value **values,
                          struct xb_arena **memory)
{
    const char **places = xb_arena_new(memory, fleet->node_count * sizeof(const char *));
    size_t most = 0, count = 0;
    for (size_t i = 0; i < fleet->value_count; i++)
        most += fleet->values[i].figure == figure;
    struct value *all = *values = xb_arena_new(memory, most * sizeof *all);
    XB_EACH (value, fleet->values, fleet->value_count)
        if (value->figure == figure)
            all[count++] = (struct value){.value = value, .dot = {.value = value->value / size}};
    qsort(all, count, sizeof *all, by_pair);
    for (size_t i = 0; i < count; i++) {
        const struct xb_fleet_node *node = all[i].value->gpu->node;
        dots->place_count += i == 0 || node != all[i - 1].value->gpu->node;
        all[i].dot.place = dots->place_count - 1;
        places[all[i].dot.place] = node->name;
    }
    dots->places = places;
    return count;
}

/* Finds the values that stand out because they are slow or fast, each once, as its worst finding
 * has it; returns how many. */
static size_t find_outs(const struct xb_fleet_judgement *judgement,
                        const struct xb_fleet_figure *figure, const struct xb_dots *dots,
                        struct value *values, size_t count, struct xb_dot *outs,
                        struct xb_arena **memory)
{
    size_t *named = xb_arena_new(memory, dots->place_count * sizeof *named), found = 0;
    XB_EACH (finding, judgement->findings, judgement->finding_count) {
        if ((finding->code != XB_FLEET_SLOW && finding->code != XB_FLEET_FAST) ||
            finding->figure != figure || finding->gpu == NULL)
            continue;
        const struct xb_fleet_value of = {.gpu = finding->gpu, .peer = finding->peer};
        const struct value key = {.value = &of};
        struct value *value = bsearch(&key, values, count, sizeof key, by_pair);
        if (value == NULL || value->is_named)
            continue;
        value->is_named = true;
        named[value->dot.place]++;
        /* "-2.1 %: gpu012 GPU 3". The share stands first: where a node's name is long, the end is
         * cut. */
        outs[found++] = (struct xb_dot){
            value->dot.place, value->dot.value, finding->code == XB_FLEET_SLOW,
            xb_arena_print(memory, "%+.1f %%: %.200s GPU %u%s", 100.0 * finding->deviation,
                           finding->node->name, finding->gpu->index,
                           finding->peer < 0 ? "" : xb_arena_print(memory, ">%d", finding->peer)),
            finding->text};
    }
    /* The worst of a node with many named GPUs has the name of all. */
    for (size_t i = 0; i < found; i++) {
        const size_t place = outs[i].place;
        if (named[place] == 0)
            outs[i].name = NULL;
        if (named[place] < TOGETHER)
            continue;
        outs[i].name = xb_arena_print(memory, "%.200s: %zu %s", dots->places[place], named[place],
                                      dots->counted);
        named[place] = 0;
    }
    return found;
}

/* Says what the picture shows, which is drawn already. */
static void describe(const struct xb_fleet_figure *figure, const struct xb_fleet_siblings *siblings,
                     const char *unit, double size, struct xb_fleet_picture *picture,
                     struct xb_arena **memory)
{
    const struct xb_dots *dots = &picture->dots;
    /* What the compared GPUs share: "NVIDIA H200, Gen5 x16, driver 580.159.04, chunk=4194304". */
    const char *const parts[] = {figure->model, figure->link, figure->driver, figure->options};
    struct xb_words kind = {.length = 0};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i] != NULL && parts[i][0] != '\0')
            xb_words_add(&kind, "%s%s%.150s", kind.length > 0 ? ", " : "", i == 2 ? "driver " : "",
                         parts[i]);
    picture->title = xb_arena_print(memory, "%.200s by node: %.400s", figure->name,
                                    kind.length > 0 ? kind.text : "any GPU");
    const char *worst = dots->out_count > 0
                            ? xb_arena_print(memory, " The worst is %.300s.", dots->dots[0].name)
                            : "";
    picture->description = xb_arena_print(
        memory, "%zu %s of %zu nodes: median %s %s, from %s to %s; %zu named slow, %zu fast.%s",
        siblings->values, dots->counted, siblings->nodes, XB_DECIMAL_TEXT(siblings->centre / size),
        unit, XB_DECIMAL_TEXT(siblings->least / size), XB_DECIMAL_TEXT(siblings->most / size),
        siblings->slow, siblings->fast, worst);
}

/* Makes the picture of a figure; its texts lie in *memory, or are the judgement's. */
static void make_picture(const struct xb_fleet_judgement *judgement,
                         const struct xb_fleet_siblings *siblings, struct xb_fleet_picture *picture,
                         struct xb_arena **memory)
{
    struct xb_dots *dots = &picture->dots;
    const struct xb_fleet_figure *figure = siblings->figure;
    struct value *values;
    double size;
    const char *unit = xb_fleet_unit(figure->unit, &size);
    double centre = siblings->centre / size;
    bool has_limit = isfinite(siblings->named_from), more = figure->more_is_better;
    double slow = has_limit ? siblings->named_from : 3.0 * siblings->spread;
    double fast = isfinite(siblings->fast_from) ? siblings->fast_from : slow; /* not in old files */
    double limit = fmax(slow, fast) * siblings->centre / size;
    *dots = (struct xb_dots){
        .places_are = "nodes in the order of their names",
        .y = {XB_SCALE_LINEAR, unit},
        .y_low = centre - 1.2 * limit,
        .y_high = centre + 1.2 * limit,
        .band_low = centre * (1.0 - siblings->spread),
        .band_high = centre * (1.0 + siblings->spread),
        .levels = picture->levels,
        /* Where slots differ each has limits of its own. */
        .level_count = has_limit && !(siblings->slots_differ > 0) ? 3 : 1,
        .are = {"like their siblings", "slow", "fast"},
        .band_is =
            xb_arena_print(memory, "median and one spread: %.2g %%%s", 100.0 * siblings->spread,
                           siblings->is_floor ? ", the least assumed" : ""),
    };
    const double factors[] = {1.0, 1.0 - (more ? slow : fast), 1.0 + (more ? fast : slow)};
    const char *const names[] = {"median", more ? "slow below" : "fast below",
                                 more ? "fast above" : "slow above"};
    for (size_t i = 0; i < dots->level_count; i++) {
        double value = siblings->centre * factors[i] / size;
        picture->levels[i] = (struct xb_plot_level){
            xb_arena_print(memory, "%s %s", names[i], XB_DECIMAL_TEXT(value)), value};
    }
    const size_t count = find_values(judgement->fleet, figure, size, dots, &values, memory);
    struct xb_dot *all = xb_arena_new(memory, count * sizeof *all);
    dots->counted = count > 0 && values[0].value->peer >= 0 ? "pairs" : "GPUs";
    dots->dots = all;
    dots->out_count = find_outs(judgement, figure, dots, values, count, all, memory);
    dots->count = dots->out_count;
    for (size_t i = 0; i < count; i++) {
        const struct xb_dot *dot = &values[i].dot;
        if (!values[i].is_named)
            all[dots->count++] = *dot;
        if (fabs(dot->value - centre) > LIMITS * limit)
            continue;
        dots->y_low = fmin(dots->y_low, dot->value);
        dots->y_high = fmax(dots->y_high, dot->value);
    }
    describe(figure, siblings, unit, size, picture, memory);
}

bool xb_fleet_is_drawn(const struct xb_fleet_siblings *siblings)
{
    return siblings->judged && siblings->nodes >= 2;
}

/* Figures in which more GPUs are named stand first, and those that are not drawn last. */
XB_POINTER_COMPARER(by_weight, struct xb_fleet_siblings,
                    XB_ORDER(xb_fleet_is_drawn(b), xb_fleet_is_drawn(a)), XB_BY_GREATEST(slow),
                    XB_BY_GREATEST(fast), XB_ORDER(a, b))

size_t xb_fleet_pictures_each(const struct xb_fleet_judgement *judgement, size_t most, size_t least,
                              xb_fleet_visit *visit, void *argument)
{
    const size_t count = judgement->sibling_count;
    const struct xb_fleet_siblings **list = xb_new(count, sizeof(struct xb_fleet_siblings *));
    size_t drawn = 0;
    for (size_t i = 0; i < count; i++)
        list[i] = &judgement->siblings[i];
    qsort(list, count, sizeof(struct xb_fleet_siblings *), by_weight);
    for (; drawn < count && xb_fleet_is_drawn(list[drawn]) &&
           drawn < (list[drawn]->slow + list[drawn]->fast > 0 ? most : least);
         drawn++) {
        struct xb_fleet_picture picture;
        struct xb_arena *memory = NULL; /* there may be many pictures of very many values */
        make_picture(judgement, list[drawn], &picture, &memory);
        visit(argument, &picture);
        xb_arena_free(memory);
    }
    free(list);
    return drawn;
}

/* ---- what `fleet --format json` wrote ---- */

#define MEMBER(object, key) cJSON_GetObjectItemCaseSensitive((object), (key))

/* Takes a GPU, whose node `of` names. */
static struct xb_fleet_gpu *read_gpu(struct xb_json_reader *reader, struct xb_fleet *fleet,
                                     const cJSON *of, const cJSON *object)
{
    const char *name = xb_json_get_text(reader, of, "node");
    const struct xb_fleet_node node = {.name = name, .hostname = name};
    struct xb_fleet_gpu gpu = {.index = 0};
    xb_fields_read(reader, object, xb_fleet_gpu_fields, &gpu);
    if (xb_json_failed(reader))
        return NULL;
    gpu.node = xb_fleet_add_node(fleet, &node);
    return xb_fleet_add_gpu(fleet, &gpu);
}

/* Fills in a value but for its GPU. Returns its figure; NULL if that is not judged. */
static struct xb_fleet_siblings *read_value(const struct xb_fleet_judgement *judgement,
                                            const cJSON *place, const cJSON *peer,
                                            const cJSON *number, struct xb_fleet_value *value)
{
    double at = cJSON_IsNumber(place) ? place->valuedouble : -1.0;
    if (!(at >= 0.0 && at < (double)judgement->sibling_count) || !cJSON_IsNumber(number) ||
        !(number->valuedouble >= 0.0))
        return NULL;
    struct xb_fleet_siblings *of = &judgement->siblings[(size_t)at];
    value->figure = of->figure;
    value->peer = cJSON_IsNumber(peer) ? peer->valueint : -1;
    value->value = number->valuedouble;
    value->scatter = (double)NAN;
    return of->judged ? of : NULL;
}

/* The first item of an array. */
static const cJSON *first_of(const cJSON *object, const char *key)
{
    const cJSON *array = MEMBER(object, key);
    return array != NULL ? array->child : NULL;
}

/* Takes a finding, if it is of a value that is judged; and the value, if the file has not all. */
static void read_finding(struct xb_fleet *fleet, struct xb_fleet_judgement *judgement,
                         const cJSON *object, bool has_values)
{
    struct xb_json_reader reader = {.texts = NULL};
    struct xb_fleet_value value = {.value = 0};
    const char *code = xb_json_get_text(&reader, object, "code");
    struct xb_fleet_siblings *of =
        read_value(judgement, MEMBER(object, "siblings"), MEMBER(object, "peer"),
                   MEMBER(object, "value"), &value);
    const bool is_slow = code != NULL && strcmp(code, "slow") == 0;
    if (of == NULL || (!is_slow && strcmp(code, "fast") != 0))
        return;
    value.gpu = read_gpu(&reader, fleet, object, MEMBER(object, "gpu"));
    if (value.gpu == NULL)
        return;
    if (!has_values)
        xb_fleet_add_value(fleet, &value);
    judgement->findings[judgement->finding_count++] =
        (struct xb_fleet_finding){.code = is_slow ? XB_FLEET_SLOW : XB_FLEET_FAST,
                                  .node = value.gpu->node,
                                  .gpu = value.gpu,
                                  .peer = value.peer,
                                  .figure = value.figure,
                                  .deviation = value.value / of->centre - 1.0,
                                  .text = xb_json_get_optional_text(&reader, object, "text")};
    *(is_slow ? &of->slow : &of->fast) += 1;
}

void xb_fleet_take_judged(const cJSON *root, struct xb_fleet *fleet,
                          struct xb_fleet_judgement *judgement)
{
    const cJSON *findings = MEMBER(root, "findings"), *item;
    const cJSON *siblings = MEMBER(root, "siblings");
    *judgement = (struct xb_fleet_judgement){.fleet = fleet};
    judgement->findings = xb_new((size_t)cJSON_GetArraySize(findings), sizeof *judgement->findings);
    judgement->siblings = xb_new((size_t)cJSON_GetArraySize(siblings), sizeof *judgement->siblings);
    cJSON_ArrayForEach(item, siblings)
    {
        struct xb_json_reader reader = {.texts = NULL};
        struct xb_fleet_siblings *of = &judgement->siblings[judgement->sibling_count++];
        struct xb_fleet_figure figure;
        xb_fields_read(&reader, item, xb_fleet_siblings_fields, of);
        xb_fields_read_object(&reader, item, "figure", xb_fleet_figure_fields, &figure);
        of->slow = of->fast = 0; /* those that can be drawn are counted */
        of->judged = of->judged && !xb_json_failed(&reader);
        if (of->judged)
            of->figure = xb_fleet_add_figure(fleet, &figure);
    }
    const cJSON *values = MEMBER(root, "values_by_gpu");
    cJSON_ArrayForEach(item, values)
    {
        struct xb_json_reader reader = {.texts = NULL};
        struct xb_fleet_value value = {.gpu = read_gpu(&reader, fleet, item, item)};
        const cJSON *of = first_of(item, "siblings"), *peer = first_of(item, "peers");
        const cJSON *number = first_of(item, "values");
        for (; of != NULL && number != NULL && value.gpu != NULL; of = of->next) {
            if (read_value(judgement, of, peer, number, &value) != NULL)
                xb_fleet_add_value(fleet, &value);
            peer = peer != NULL ? peer->next : NULL;
            number = number->next;
        }
    }
    cJSON_ArrayForEach(item, findings)
    {
        read_finding(fleet, judgement, item, cJSON_GetArraySize(values) > 0);
    }
}
