/* SPDX-License-Identifier: Apache-2.0 */
/* The fleet against what it was when it was accepted. Siblings cannot show that all got slower. */
#include "fleet/internal.h"

#include "compare/rank_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A GPU or pair is named below this share of what it had, and all of a model if their median is
 * below that. */
#define SHARE 0.95
#define ALL_SHARE 0.98
/* What scatters from one measurement to the next must be further off, by so many spreads. */
#define SPREADS 5
#define LEAST 3 /* values that tell a spread */

/* ---- what is the same in both fleets ---- */

enum { THEN, NOW, BOTH };

/* A version: how many tell it then and now, where it changed, where as on the first of these. */
struct change {
    const char *then, *now;
    size_t known, changed, alike;
};

/* Both fleets, and one that has all of their nodes, GPUs and figures, each once. */
struct comparing {
    struct xb_fleet all, *fleets[BOTH];
    /* By the numbers in a fleet: the number in `all`; SIZE_MAX: it does not count. */
    size_t *gpus[BOTH], *figures[BOTH];
    /* By the numbers in `all`: the thing in a fleet; NULL: it is not there. */
    const struct xb_fleet_node **nodes[BOTH];
    const struct xb_fleet_gpu **places[BOTH];
    struct change driver, kernel, vbios;
};

/* Adds what one of the fleets has to `all`. */
static void add_side(struct xb_judging *judging, struct comparing *comparing, int side)
{
    const struct xb_fleet *fleet = comparing->fleets[side];
    size_t *gpus = comparing->gpus[side] = XB_SCRATCH(judging, fleet->gpu_count, sizeof *gpus);
    size_t *figures = comparing->figures[side] =
        XB_SCRATCH(judging, fleet->figure_count, sizeof *figures);
    struct xb_fleet_node **nodes = XB_SCRATCH(judging, fleet->node_count, sizeof(void *));
    size_t nodes_of_both = comparing->fleets[THEN]->node_count + comparing->fleets[NOW]->node_count;
    size_t gpus_of_both = comparing->fleets[THEN]->gpu_count + comparing->fleets[NOW]->gpu_count;
    comparing->nodes[side] = XB_SCRATCH(judging, nodes_of_both, sizeof(void *));
    comparing->places[side] = XB_SCRATCH(judging, gpus_of_both, sizeof(void *));
    for (size_t i = 0; i < fleet->node_count; i++) {
        const struct xb_fleet_node named = {.name = fleet->nodes[i]->name};
        nodes[i] = xb_fleet_add_node(&comparing->all, &named);
        comparing->nodes[side][nodes[i]->number] = fleet->nodes[i];
    }
    for (size_t i = 0; i < fleet->gpu_count; i++) {
        const struct xb_fleet_gpu *gpu = fleet->gpus[i];
        const struct xb_fleet_gpu place = {
            .node = nodes[gpu->node->number], .index = gpu->index, .pci_bdf = gpu->pci_bdf};
        gpus[i] = gpu->is_gone ? SIZE_MAX : xb_fleet_add_gpu(&comparing->all, &place)->number;
        if (!gpu->is_gone)
            comparing->places[side][gpus[i]] = gpu;
    }
    for (size_t i = 0; i < fleet->figure_count; i++) {
        struct xb_fleet_figure figure = *fleet->figures[i];
        figure.driver = figure.link = NULL; /* they may have changed, and the values with them */
        figures[i] = xb_fleet_add_figure(&comparing->all, &figure)->number;
    }
}

/* ---- what was measured in both ---- */

/* A value of one fleet and what it is of; of those that are in both, how much better it is now: the
 * logarithm of its share. */
struct measured {
    size_t figure, gpu, peer; /* places in `all` */
    bool is_now;
    struct xb_fleet_value *value;
    double gain;
};

XB_COMPARER(compare_measured, struct measured, XB_BY(figure), XB_BY(gpu), XB_BY(peer),
            XB_BY(is_now))
XB_COMPARER(by_figure, struct measured, XB_BY(figure), XB_BY(value->gpu->node->number), XB_BY(gpu),
            XB_BY(peer))
XB_POINTER_COMPARER(by_index, struct xb_fleet_gpu, XB_BY(node->number), XB_BY(index))

/* Lists the values of GPUs that count. A peer has its index alone, and that changes where a GPU
 * before it is gone. */
static size_t list_measured(struct xb_judging *judging, const struct comparing *comparing, int side,
                            struct measured *list)
{
    const struct xb_fleet *fleet = comparing->fleets[side];
    const size_t *places = comparing->gpus[side];
    const struct xb_fleet_gpu **gpus = XB_SCRATCH(judging, fleet->gpu_count, sizeof(void *));
    size_t count = 0, listed = 0;
    for (size_t i = 0; i < fleet->gpu_count; i++)
        if (places[i] != SIZE_MAX)
            gpus[count++] = fleet->gpus[i];
    qsort(gpus, count, sizeof(void *), by_index);
    XB_EACH (value, fleet->values, fleet->value_count) {
        const struct xb_fleet_gpu key = {.node = value->gpu->node, .index = (unsigned)value->peer};
        const struct xb_fleet_gpu *sought = &key, **peer = NULL;
        if (value->peer >= 0)
            peer = bsearch(&sought, gpus, count, sizeof(void *), by_index);
        if (places[value->gpu->number] != SIZE_MAX && (value->peer < 0 || peer != NULL) &&
            value->value > 0 && isfinite(value->value))
            list[listed++] =
                (struct measured){.figure = comparing->figures[side][value->figure->number],
                                  .gpu = places[value->gpu->number],
                                  .peer = peer != NULL ? places[(*peer)->number] : SIZE_MAX,
                                  .is_now = side == NOW,
                                  .value = value};
    }
    return listed;
}

/* Whether the GPU is there now, and no other than then. */
static bool is_still(const struct comparing *comparing, size_t place)
{
    const struct xb_fleet_gpu *now = place != SIZE_MAX ? comparing->places[NOW][place] : NULL;
    return place == SIZE_MAX || (now != NULL && comparing->gpus[NOW][now->number] != SIZE_MAX);
}

/* Keeps the values now of those that are in both fleets; a note tells of those that are not. */
static size_t keep_both(struct xb_judging *judging, const struct comparing *comparing,
                        struct measured *list, size_t count)
{
    bool *seen = XB_SCRATCH(judging, comparing->all.gpu_count, sizeof *seen);
    const char *first = NULL;
    size_t kept = 0, lacking = 0;
    qsort(list, count, sizeof *list, compare_measured);
    for (size_t i = 0; i < count; i++) {
        const struct measured then = list[i];
        struct measured now = list[i + 1 < count ? i + 1 : i];
        if (then.is_now)
            continue;
        if (!now.is_now || now.figure != then.figure || now.gpu != then.gpu ||
            now.peer != then.peer) {
            bool is_lacking = is_still(comparing, then.gpu) && is_still(comparing, then.peer);
            first = is_lacking && lacking++ == 0 ? then.value->figure->name : first;
            continue;
        }
        now.value->then = then.value->value;
        now.gain = log(now.value->value) - log(now.value->then);
        now.gain = now.value->figure->more_is_better ? now.gain : -now.gain;
        judging->judgement->compared_gpus += !seen[now.gpu];
        seen[now.gpu] = true;
        list[kept++] = now;
    }
    if (lacking > 0)
        XB_NOTE("Values of the baseline that nobody measured now: %zu (first: %.200s).", lacking,
                first);
    qsort(list, kept, sizeof *list, by_figure);
    return kept;
}

/* One figure of all GPUs of a model. */
struct model {
    struct measured *all;
    size_t count, nodes;
    double gain; /* median */
    bool is_slower;
};

/* Describes one of which `all` and `count` are set. Returns P that so many nodes got worse by
 * chance: the sign test. Each node counts once, by the median of its own: its GPUs share what
 * changed there. */
static double describe(struct model *model, double *scratch)
{
    size_t worse = 0, changed = 0;
    double p = 0;
    for (size_t first = 0, i = 0; first < model->count; first = i, model->nodes++) {
        const struct xb_fleet_node *node = model->all[first].value->gpu->node;
        for (; i < model->count && model->all[i].value->gpu->node == node; i++)
            scratch[i - first] = model->all[i].gain;
        double gain = xb_median_of(scratch, i - first);
        worse += gain < 0;
        changed += gain != 0;
    }
    model->gain = XB_MEDIAN(scratch, model->count, model->all[i].gain);
    /* P that so many of n coins or more show heads. */
    const double n = (double)changed;
    for (size_t i = worse; i <= changed; i++) {
        const double k = (double)i;
        p += exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) - n * log(2));
    }
    return fmin(p, 1);
}

/* Names all GPUs of a model, once; a note tells of those that chance could have slowed. */
static void name_model(struct xb_judging *judging, const struct model *model, double p,
                       double *scratch)
{
    const struct xb_fleet_figure *figure = model->all->value->figure;
    double share = expm1(figure->more_is_better ? model->gain : -model->gain);
    struct xb_words words = {.length = 0};
    xb_words_add(&words,
                 "All %zu %s of %zu nodes (%.100s): %.200s %s %s than when accepted (median)",
                 model->count, model->all->value->peer >= 0 ? "pairs" : "GPUs", model->nodes,
                 figure->model != NULL ? figure->model : "any model", figure->name,
                 xb_fleet_percent_text(share, (char[64]){0}), share < 0 ? "lower" : "higher");
    if (!model->is_slower) {
        XB_NOTE("%s. That may be chance: P %.2g.", words.text, p);
        return;
    }
    double centre = XB_MEDIAN(scratch, model->count, model->all[i].value->then);
    const struct xb_fleet_value all = {.figure = figure, .peer = -1, .value = centre * (1 + share)};
    struct xb_fleet_finding finding = xb_fleet_finding_of(XB_FLEET_ALL_SLOWER, &all, centre);
    finding.deviation = share;
    finding.p = p;
    xb_fleet_add_finding(judging, finding, "%s", words.text);
}

/* The spread of what chance changes from one measurement to the next: of those that got better, and
 * of all from their median, the smaller one. Where many got slower only the first tells chance;
 * where few got better only the second. */
static double chance_of(const struct model *model, double shift, double *scratch)
{
    size_t better = 0;
    for (size_t i = 0; i < model->count; i++)
        if (model->all[i].gain > shift)
            scratch[better++] = model->all[i].gain - shift;
    double above = better >= LEAST ? xb_median_of(scratch, better) : INFINITY;
    double around = XB_MEDIAN(scratch, model->count, fabs(model->all[i].gain - model->gain));
    double median = model->count > LEAST ? fmin(above, around) : above;
    return isfinite(median) ? XB_FLEET_TO_DEVIATION * median : 0;
}

/* Names each that is far below its own past, and further than all of its model. */
static void name_each(struct xb_judging *judging, const struct model *model, double *scratch)
{
    const double shift = model->is_slower ? model->gain : 0;
    struct xb_node_tally tally = xb_node_tally_open(judging);
    double limit = shift - fmax(-log(SHARE), SPREADS * chance_of(model, shift, scratch));
    for (size_t i = 0; i < model->count; i++)
        if (model->all[i].gain < limit)
            xb_node_tally_add(&tally, model->all[i].value->gpu->node);
    bool together = xb_fleet_is_together(tally.count, model->nodes);
    XB_EACH (own, model->all, model->count) {
        const struct xb_fleet_value *value = own->value;
        const struct xb_fleet_figure *figure = value->figure;
        if (!(own->gain < limit))
            continue;
        struct xb_fleet_finding finding =
            xb_fleet_finding_of(XB_FLEET_BELOW_BASELINE, value, value->then);
        finding.together = together;
        xb_fleet_add_finding(judging, finding, "%s %s, %s %s than when accepted (%s)", figure->name,
                             xb_fleet_value_text(value->value, figure->unit, true, (char[64]){0}),
                             xb_fleet_percent_text(finding.deviation, (char[64]){0}),
                             finding.deviation < 0 ? "lower" : "higher",
                             xb_fleet_value_text(value->then, figure->unit, false, (char[64]){0}));
    }
}

static void compare_values(struct xb_judging *judging, const struct comparing *comparing)
{
    const double alpha = judging->judgement->request.alpha;
    size_t most = comparing->fleets[THEN]->value_count + judging->fleet->value_count, models = 0;
    size_t equal = 0;
    struct measured *list = XB_SCRATCH(judging, most, sizeof *list);
    double *scratch = XB_SCRATCH(judging, most, sizeof *scratch);
    size_t count = list_measured(judging, comparing, THEN, list);
    count += list_measured(judging, comparing, NOW, list + count);
    count = judging->judgement->compared = keep_both(judging, comparing, list, count);
    while (equal < count && list[equal].gain == 0)
        equal++;
    if (count > 0 && equal == count)
        XB_NOTE("All values are exactly those of the baseline: is it the same measurement?");
    struct model *all = XB_SCRATCH(judging, count, sizeof *all);
    double *p = XB_SCRATCH(judging, count, sizeof *p);
    XB_EACH_GROUP (count, list[end].figure == list[begin].figure) {
        all[models] = (struct model){.all = &list[begin], .count = end - begin};
        p[models] = describe(&all[models], scratch);
        models++;
    }
    xb_holm_adjust(p, models);
    for (size_t i = 0; i < models; i++) {
        all[i].is_slower = p[i] <= alpha && all[i].gain < log(ALL_SHARE);
        if (all[i].gain < log(ALL_SHARE))
            name_model(judging, &all[i], p[i], scratch);
        name_each(judging, &all[i], scratch);
    }
}

/* ---- what came and went, and what changed beside the values ---- */

static bool differ(const char *then, const char *now)
{
    return then != NULL && now != NULL && strcmp(then, now) != 0;
}

static void add_change(struct change *change, const char *then, const char *now)
{
    change->known += then != NULL && now != NULL;
    if (!differ(then, now))
        return;
    if (change->changed++ == 0) {
        change->then = then;
        change->now = now;
    }
    change->alike += !differ(change->then, then) && !differ(change->now, now);
}

static void tell_change(struct xb_words *words, const struct change *change, const char *what,
                        const char *of)
{
    if (change->changed > 0)
        xb_words_add(words, "%s%s %.100s, now %.100s%s, on %zu of %zu %s",
                     words->length > 0 ? "; " : "", what, change->then, change->now,
                     change->alike < change->changed ? " and others" : "", change->changed,
                     change->known, of);
}

static void note_names(struct xb_judging *judging, const char *what, const char *const *names,
                       size_t count)
{
    if (count > 0)
        XB_NOTE("%s: %zu, %s.", what, count, XB_FLEET_NAMES(names, count));
}

static void compare_nodes(struct xb_judging *judging, struct comparing *comparing)
{
    const size_t count = comparing->all.node_count;
    const char **missing = XB_SCRATCH(judging, count, sizeof(char *));
    const char **new = XB_SCRATCH(judging, count, sizeof(char *));
    size_t missing_count = 0, new_count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct xb_fleet_node *then = comparing->nodes[THEN][i];
        const struct xb_fleet_node *now = comparing->nodes[NOW][i];
        if (then == NULL) {
            new[new_count++] = now->name;
        } else if (now == NULL) {
            missing[missing_count++] = then->name;
        } else {
            judging->judgement->compared_nodes++;
            add_change(&comparing->driver, then->driver, now->driver);
            add_change(&comparing->kernel, then->kernel, now->kernel);
        }
    }
    note_names(judging, "Nodes of the baseline without a file here", missing, missing_count);
    note_names(judging, "Nodes that are not in the baseline", new, new_count);
}

/* Names nodes of which GPUs are gone. A GPU that was replaced has no past. */
static void compare_gpus(struct xb_judging *judging, struct comparing *comparing)
{
    const size_t count = comparing->all.gpu_count;
    struct xb_fleet_judgement *judgement = judging->judgement;
    const char **new = XB_SCRATCH(judging, count, sizeof(char *));
    const char **replaced = XB_SCRATCH(judging, count, sizeof(char *));
    const char **untested = XB_SCRATCH(judging, count, sizeof(char *));
    size_t *gone = XB_SCRATCH(judging, count, sizeof *gone);
    size_t new_count = 0, replaced_count = 0, gone_count = 0, untested_count = 0;
    struct xb_node_tally tally = xb_node_tally_open(judging);
    for (size_t i = 0; i < count; i++) {
        const struct xb_fleet_gpu *then = comparing->places[THEN][i];
        const struct xb_fleet_gpu *now = comparing->places[NOW][i], *any = now ? now : then;
        const size_t node = comparing->all.gpus[i]->node->number;
        const char *name =
            xb_arena_print(&judging->scratch, "%.40s GPU %u", any->node->name, any->index);
        if (comparing->nodes[THEN][node] == NULL || comparing->nodes[NOW][node] == NULL)
            continue;
        if (then == NULL) {
            new[new_count++] = name;
        } else if (now == NULL && comparing->nodes[NOW][node]->is_partial) {
            untested[untested_count++] = name;
        } else if (now == NULL) {
            gone[gone_count++] = i;
            xb_node_tally_add(&tally, comparing->nodes[NOW][node]);
        } else if (differ(then->uuid, now->uuid) || differ(then->serial, now->serial)) {
            replaced[replaced_count++] = name;
            comparing->gpus[NOW][now->number] = SIZE_MAX;
        } else {
            add_change(&comparing->vbios, then->vbios, now->vbios);
        }
    }
    for (size_t i = 0; i < gone_count; i++) {
        const struct xb_fleet_gpu *then = comparing->places[THEN][gone[i]];
        XB_NAME(XB_FLEET_BELOW_BASELINE,
                comparing->nodes[NOW][comparing->all.gpus[gone[i]]->node->number], NULL,
                xb_fleet_is_together(tally.count, judgement->compared_nodes),
                "GPU %u (%.32s) was there when accepted, and is not here", then->index,
                then->pci_bdf != NULL ? then->pci_bdf : "PCI address not known");
    }
    note_names(judging, "GPUs that were replaced, and are not compared", replaced, replaced_count);
    note_names(judging, "GPUs of the baseline that no file here tests", untested, untested_count);
    note_names(judging, "GPUs that are new on nodes of the baseline", new, new_count);
}

/* ---- all of it ---- */

void xb_fleet_compare_baseline(struct xb_judging *judging)
{
    struct xb_fleet_judgement ignored = {.fleet = NULL};
    struct xb_judging then = {.fleet = judging->judgement->request.baseline, .judgement = &ignored};
    struct comparing comparing = {.fleets = {then.fleet, judging->fleet}};
    struct xb_words changed = {.length = 0};
    size_t faults = 0;
    if (then.fleet == NULL)
        return;
    xb_fleet_join_moved(&then);
    xb_fleet_take_newest(&then);
    xb_fleet_open(&comparing.all);
    add_side(judging, &comparing, THEN);
    add_side(judging, &comparing, NOW);
    compare_nodes(judging, &comparing);
    compare_gpus(judging, &comparing);
    compare_values(judging, &comparing);
    tell_change(&changed, &comparing.driver, "driver", "nodes");
    tell_change(&changed, &comparing.kernel, "kernel", "nodes");
    tell_change(&changed, &comparing.vbios, "VBIOS", "GPUs");
    if (changed.length > 0)
        XB_NOTE("Changed since the baseline: %s.", changed.text);
    XB_EACH (complaint, then.fleet->complaints, then.fleet->complaint_count)
        faults += xb_fleet_code_is_bad(complaint->code);
    if (faults > 0)
        XB_NOTE("The baseline has faults of its own: %zu.", faults);
    xb_fleet_free(&comparing.all);
    xb_arena_free(ignored.texts);
    free(ignored.notes);
    xb_arena_free(then.scratch);
    free(then.tested);
}
