/* SPDX-License-Identifier: Apache-2.0 */
/* What differs from what more than half have: numbers of GPUs, drivers, lanes and rates of a GPU's
 * link, links between GPUs. */
#include "fleet/internal.h"

#include "machine/pcie.h"

#include <stdlib.h>
#include <string.h>

/* ---- majorities ---- */

/* What an item has: a number, a text or both. Items of one group are compared. */
struct vote {
    const char *group;
    double number;
    const char *text;
    size_t item;
};

/* The votes of one group are from `begin` to before `end`, sorted by number and text; those from
 * `first` to before `last` are the largest part that agrees. */
struct majority {
    size_t begin, end, first, last;
    bool judged; /* the group is large enough: each has XB_FLEET_SIBLINGS others */
    bool found;  /* so it is, and more than half agree */
};

XB_COMPARER(compare_votes, struct vote, XB_BY_NAME(group), XB_BY(number), XB_BY_NAME(text),
            XB_BY(item))

/* Calls what follows for each group: `most`. */
#define EACH_MAJORITY(votes, count)                                                                \
    for (struct majority most = sort_votes((votes), (count));                                      \
         next_majority((votes), (count), &most);)
static struct majority sort_votes(struct vote *votes, size_t count)
{
    qsort(votes, count, sizeof *votes, compare_votes);
    return (struct majority){.end = 0};
}

static bool next_majority(const struct vote *votes, size_t count, struct majority *most)
{
    size_t begin = most->end, end = begin;
    *most = (struct majority){.begin = begin};
    for (size_t first = begin;
         end < count && xb_natural_compare(votes[end].group, votes[begin].group) == 0;) {
        if (votes[end].number != votes[first].number ||
            xb_natural_compare(votes[end].text, votes[first].text) != 0)
            first = end;
        end++;
        if (end - first > most->last - most->first) {
            most->first = first;
            most->last = end;
        }
    }
    most->end = end;
    most->judged = end - begin > XB_FLEET_SIBLINGS;
    most->found = most->judged && 2 * (most->last - most->first) > end - begin;
    return end > begin;
}

/* ---- nodes: GPUs and drivers ---- */

/* Names nodes that have fewer GPUs of a model than most that have some, or another driver than most
 * of their backend. */
static void name_nodes(struct xb_judging *judging, struct vote *votes, size_t count,
                       enum xb_fleet_code code)
{
    bool of_gpus = code == XB_FLEET_FEWER_GPUS;
    EACH_MAJORITY(votes, count)
    {
        const char *group = votes[most.begin].group != NULL ? votes[most.begin].group : "GPUs";
        const char *usual = votes[most.first].text;
        size_t nodes = most.end - most.begin, agree = most.last - most.first;
        size_t others = of_gpus ? most.first - most.begin : nodes - agree; /* that are named */
        if (most.judged && !most.found)
            XB_NOTE(of_gpus ? "%.100s: nodes have different numbers of these GPUs; at most %zu of "
                              "%zu nodes have the same number, %s."
                            : "Drivers differ (backend %.32s): at most %zu of %zu nodes have the "
                              "same, %.64s.",
                    group, agree, nodes, usual);
        for (size_t i = most.begin; most.found && i < most.end; i++) {
            const char *own =
                of_gpus ? xb_arena_print(&judging->scratch, "%s x %.100s", votes[i].text, group)
                        : xb_arena_print(&judging->scratch, "driver %.64s", votes[i].text);
            if (i < most.first || (i >= most.last && !of_gpus))
                XB_NAME(code, judging->fleet->nodes[votes[i].item], NULL,
                        xb_fleet_is_together(others, nodes), "%s; %zu of %zu nodes have %.64s", own,
                        agree, nodes, usual);
        }
    }
}

/* Notes which nodes have no link test of all their GPUs. Returns how many. */
static size_t note_partial(struct xb_judging *judging)
{
    const struct xb_fleet *fleet = judging->fleet;
    const char **partials = XB_SCRATCH(judging, fleet->node_count, sizeof(char *));
    size_t partial = 0;
    for (size_t i = 0; i < fleet->node_count; i++)
        if (fleet->nodes[i]->is_partial)
            partials[partial++] = fleet->nodes[i]->name;
    if (partial > 0 && partial < fleet->node_count)
        XB_NOTE("Nodes without a link test of all their GPUs: %zu, %s. Whether they have fewer is "
                "not known.",
                partial, XB_FLEET_NAMES(partials, partial));
    return partial;
}

XB_POINTER_COMPARER(by_place, struct xb_fleet_gpu, XB_BY(node->number), XB_BY_NAME(pci_bdf),
                    XB_BY_GREATEST(told))

XB_POINTER_COMPARER(by_model, struct xb_fleet_gpu, XB_BY(node->number), XB_BY_NAME(model))

static void name_fewer_gpus(struct xb_judging *judging)
{
    const struct xb_fleet *fleet = judging->fleet;
    const struct xb_fleet_gpu *replaced = NULL, *gone = NULL; /* the first of them */
    const struct xb_fleet_gpu **gpus = XB_SCRATCH(judging, fleet->gpu_count, sizeof(void *));
    struct vote *votes = XB_SCRATCH(judging, fleet->gpu_count, sizeof *votes);
    struct xb_node_tally with = xb_node_tally_open(judging);
    size_t count = 0, voted = 0, older = 0, old = 0, partial = note_partial(judging);
    for (size_t i = 0; i < fleet->gpu_count; i++)
        gpus[i] = fleet->gpus[i];
    qsort(gpus, fleet->gpu_count, sizeof(void *), by_place);
    for (size_t i = 0; i < fleet->gpu_count; i++) {
        /* If two have one PCI address, the older one was replaced. */
        bool is_older = count > 0 && gpus[i]->pci_bdf != NULL &&
                        gpus[count - 1]->node == gpus[i]->node &&
                        gpus[count - 1]->pci_bdf == gpus[i]->pci_bdf;
        if (!is_older)
            gpus[count++] = gpus[i];
        else if (older++ == 0)
            replaced = gpus[i];
    }
    /* How many GPUs of a model each node has that has any. */
    qsort(gpus, count, sizeof(void *), by_model);
    XB_EACH_GROUP (count, by_model(&gpus[end], &gpus[begin]) == 0) {
        const struct xb_fleet_node *node = gpus[begin]->node;
        xb_node_tally_add(&with, node);
        if (!node->is_partial || partial == fleet->node_count)
            votes[voted++] =
                (struct vote){.group = gpus[begin]->model,
                              .text = xb_arena_print(&judging->scratch, "%zu", end - begin),
                              .item = node->number};
    }
    name_nodes(judging, votes, voted, XB_FLEET_FEWER_GPUS);
    /* Nodes without any GPU, if most nodes have some. */
    size_t without = fleet->node_count - with.count;
    bool most_have = with.count > without && fleet->node_count > XB_FLEET_SIBLINGS;
    for (size_t i = 0; most_have && i < fleet->node_count; i++)
        if (with.rounds[i] != with.round)
            XB_NAME(XB_FLEET_FEWER_GPUS, fleet->nodes[i], NULL,
                    xb_fleet_is_together(without, fleet->node_count),
                    "no GPU; %zu of %zu nodes have some", with.count, fleet->node_count);
    /* Machines that were installed from one image may have one name: then one alone seems to be
     * there. */
    if (older > 0)
        XB_NOTE("%zu GPU%s replaced: a newer file has another at the same PCI address (first: "
                "%.64s, %.32s). If nobody did that, several machines have one name: set "
                "XFERBENCH_NODE on each.",
                older, older == 1 ? " was" : "s were", replaced->node->name, replaced->pci_bdf);
    /* A GPU that fell off the bus is in older documents still, and counts. */
    for (size_t i = 0; i < count; i++)
        if (gpus[i]->is_gone && old++ == 0)
            gone = gpus[i];
    if (old > 0)
        XB_NOTE("%zu GPU%s only in older files of the node, and count%s as present (first: %.64s, "
                "%.32s). Give fleet the files of one round.",
                old, old == 1 ? " is" : "s are", old == 1 ? "s" : "", gone->node->name,
                gone->pci_bdf != NULL ? gone->pci_bdf : "PCI address not known");
}

static void name_drivers(struct xb_judging *judging)
{
    const struct xb_fleet *fleet = judging->fleet;
    const char **backends = XB_SCRATCH(judging, fleet->node_count, sizeof(char *));
    struct vote *votes = XB_SCRATCH(judging, fleet->node_count, sizeof *votes);
    size_t count = 0;
    /* A node's driver belongs to the backend of which the node has values with that driver. */
    for (size_t i = 0; i < fleet->value_count; i++) {
        const struct xb_fleet_figure *figure = fleet->values[i].figure;
        const struct xb_fleet_node *node = fleet->values[i].gpu->node;
        if (node->driver != NULL && node->driver == figure->driver && figure->backend != NULL)
            backends[node->number] = figure->backend;
    }
    for (size_t i = 0; i < fleet->node_count; i++)
        if (backends[i] != NULL)
            votes[count++] =
                (struct vote){.group = backends[i], .text = fleet->nodes[i]->driver, .item = i};
    name_nodes(judging, votes, count, XB_FLEET_OTHER_DRIVER);
}

/* ---- the link of a GPU ---- */

/* A GPU is compared with those of its model in the same slot of other nodes, because a slot may
 * have fewer lanes by design; where these are too few or do not agree, with all of its model. */

/* The link under load of most of those GPUs. */
struct usual {
    double speed_gts, width; /* 0: no majority, or too few */
    size_t alike;            /* GPUs that were compared */
};

static bool is_narrower(const struct xb_fleet_gpu *gpu, const struct usual *usual)
{
    return gpu->link_width < usual->width || gpu->link_speed_gts < usual->speed_gts;
}

/* Fills in the width or the rate that most GPUs in a slot have, or in all. Returns how many voted:
 * those whose link is known. */
static size_t find_usual(struct xb_judging *judging, bool of_width, bool by_slot,
                         struct vote *votes, struct usual *usual)
{
    const struct xb_fleet *fleet = judging->fleet;
    size_t count = 0;
    for (size_t i = 0; i < fleet->gpu_count; i++) {
        const struct xb_fleet_gpu *gpu = fleet->gpus[i];
        if (gpu->link_width == 0 || !(gpu->link_speed_gts > 0) || (by_slot && gpu->pci_bdf == NULL))
            continue;
        votes[count] = (struct vote){.group = gpu->model,
                                     .number = of_width ? gpu->link_width : gpu->link_speed_gts,
                                     .item = i};
        if (by_slot)
            votes[count].group = xb_arena_print(&judging->scratch, "%s %s", gpu->pci_bdf,
                                                gpu->model != NULL ? gpu->model : "");
        count++;
    }
    EACH_MAJORITY(votes, count)
    {
        bool any_untold = false;
        for (size_t i = most.begin; i < most.end; i++) {
            struct usual *own = &usual[votes[i].item];
            double *number = of_width ? &own->width : &own->speed_gts;
            if (*number > 0) /* by its slot */
                continue;
            any_untold = true;
            if (most.found) {
                *number = votes[most.first].number;
                own->alike = most.end - most.begin;
            }
        }
        const char *model = votes[most.begin].group != NULL ? votes[most.begin].group : "GPUs";
        /* Where slots tell all, a note that models do not would send people looking. */
        if (!by_slot && any_untold && most.judged && !most.found)
            XB_NOTE("%.100s: links differ and no majority tells which is right: at most %zu of "
                    "%zu GPUs have the same %s under load (%s%g%s).",
                    model, most.last - most.first, most.end - most.begin,
                    of_width ? "width" : "rate", of_width ? "x" : "", votes[most.first].number,
                    of_width ? "" : " GT/s");
    }
    return count;
}

static void name_narrower(struct xb_judging *judging)
{
    const struct xb_fleet *fleet = judging->fleet;
    struct vote *votes = XB_SCRATCH(judging, fleet->gpu_count, sizeof *votes);
    struct usual *usual = XB_SCRATCH(judging, fleet->gpu_count, sizeof *usual);
    struct xb_node_tally all = xb_node_tally_open(judging), narrower = xb_node_tally_open(judging);
    char own[32], others[32];
    size_t count = 0;
    for (int i = 0; i < 4; i++)
        count = find_usual(judging, i % 2 != 0, i < 2, votes, usual);
    EACH_MAJORITY(votes, count) /* of models */
    {
        xb_node_tally_begin(&all);
        xb_node_tally_begin(&narrower);
        for (size_t i = most.begin; i < most.end; i++) {
            const struct xb_fleet_gpu *gpu = fleet->gpus[votes[i].item];
            xb_node_tally_add(&all, gpu->node);
            if (is_narrower(gpu, &usual[votes[i].item]))
                xb_node_tally_add(&narrower, gpu->node);
        }
        for (size_t i = most.begin; i < most.end; i++) {
            struct xb_fleet_gpu *gpu = fleet->gpus[votes[i].item];
            const struct usual *siblings = &usual[votes[i].item];
            if (!is_narrower(gpu, siblings))
                continue;
            /* If only width or rate has a majority, the text takes the other from its own link. */
            double speed = siblings->speed_gts > 0 ? siblings->speed_gts : gpu->link_speed_gts;
            double width = siblings->width > 0 ? siblings->width : gpu->link_width;
            XB_NAME(
                XB_FLEET_NARROWER, gpu->node, gpu, xb_fleet_is_together(narrower.count, all.count),
                "link %s under load; most of its %zu siblings have %s",
                xb_lanes_text(gpu->link_speed_gts, gpu->link_width, own, sizeof own),
                siblings->alike - 1, xb_lanes_text(speed, (unsigned)width, others, sizeof others));
        }
    }
}

/* ---- links between GPUs ---- */

/* GPUs that reach others by fewer links than most pairs of the model do. Their bandwidths are
 * another figure, so nobody would call them slow: an NVSwitch that lost a link, or a fabric that
 * does not run, shows here alone. But where GPUs are built into rings, some pairs have no link on
 * every node: a pair is as it should be if most nodes have as few links at its place. Where GPUs
 * are bridged by twos, most pairs have none: then only most nodes tell which should have some. */

/* Two GPUs, by the newest document that knows what they go by. */
struct pair {
    const struct xb_fleet_value *value;
    const struct xb_fleet_figure *usual; /* most pairs', which have more links; NULL: they do not */
};

XB_COMPARER(compare_pairs, struct pair, XB_BY(value->gpu->number), XB_BY(value->peer),
            XB_BY_GREATEST(value->written), XB_BY(value->figure->number))

/* Lists the pairs, and finds what is usual among those of the model, and then among those at the
 * same place, which is that of a pair on a node with such GPUs. Returns how many pairs there are.
 */
static size_t list_pairs(struct xb_judging *judging, struct pair *pairs)
{
    const struct xb_fleet *fleet = judging->fleet;
    size_t all = 0, count = 0, built_so = 0;
    XB_EACH (value, fleet->values, fleet->value_count)
        if (value->peer >= 0 && value->figure->links_known)
            pairs[all++] = (struct pair){value, NULL};
    qsort(pairs, all, sizeof *pairs, compare_pairs);
    for (size_t i = 0; i < all; i++)
        if (count == 0 || pairs[count - 1].value->gpu != pairs[i].value->gpu ||
            pairs[count - 1].value->peer != pairs[i].value->peer)
            pairs[count++] = pairs[i];
    struct vote *votes = XB_SCRATCH(judging, count, sizeof *votes);
    for (int by_place = 0; by_place < 2; by_place++) {
        for (size_t i = 0; i < count; i++) {
            const struct xb_fleet_value *value = pairs[i].value;
            const char *model = value->figure->model;
            votes[i] = (struct vote){.group = model, .number = value->figure->links, .item = i};
            if (by_place)
                votes[i].group = xb_arena_print(&judging->scratch, "%u>%d %s", value->gpu->index,
                                                value->peer, model != NULL ? model : "");
        }
        EACH_MAJORITY(votes, count)
        {
            /* A pair is built so if more than half of the others there have as few or fewer. */
            for (size_t i = most.begin, end = i; by_place && i < most.end; i++) {
                while (end < most.end && votes[end].number <= votes[i].number)
                    end++;
                if (2 * (end - most.begin - 1) <= most.end - most.begin - 1)
                    continue;
                built_so += pairs[votes[i].item].usual != NULL;
                pairs[votes[i].item].usual = NULL;
            }
            for (size_t i = most.begin; most.found && i < most.first; i++)
                pairs[votes[i].item].usual = pairs[votes[most.first].item].value->figure;
        }
    }
    if (built_so > 0)
        XB_NOTE("%zu pairs of GPUs have fewer links than most pairs of their model, but "
                "as many as most nodes have there: nodes are built so.",
                built_so);
    return count;
}

static void name_pairs(struct xb_judging *judging)
{
    struct pair *pairs = XB_SCRATCH(judging, judging->fleet->value_count, sizeof *pairs);
    struct xb_node_tally all = xb_node_tally_open(judging), narrower = xb_node_tally_open(judging);
    size_t count = list_pairs(judging, pairs);
    for (size_t i = 0; i < count; i++) {
        xb_node_tally_add(&all, pairs[i].value->gpu->node);
        if (pairs[i].usual != NULL)
            xb_node_tally_add(&narrower, pairs[i].value->gpu->node);
    }
    for (size_t begin = 0, end = 0; begin < count; begin = end) {
        struct xb_fleet_gpu *gpu = pairs[begin].value->gpu;
        const struct pair *worst = NULL;
        size_t fewer = 0;
        for (; end < count && pairs[end].value->gpu == gpu; end++)
            if (pairs[end].usual != NULL &&
                (fewer++ == 0 || pairs[end].value->figure->links < worst->value->figure->links))
                worst = &pairs[end];
        if (fewer > 0)
            XB_NAME(XB_FLEET_NARROWER, gpu->node, gpu,
                    xb_fleet_is_together(narrower.count, all.count),
                    "fewer links to %zu of %zu GPUs: to GPU %d %.40s; most pairs of its siblings "
                    "have %.40s",
                    fewer, end - begin, worst->value->peer, worst->value->figure->link,
                    worst->usual->link);
    }
}

void xb_fleet_name_unlike_most(struct xb_judging *judging)
{
    name_fewer_gpus(judging);
    name_narrower(judging);
    name_pairs(judging);
    name_drivers(judging);
}
