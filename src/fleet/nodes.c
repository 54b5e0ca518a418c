/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes that are not like most: with fewer GPUs, with another driver, and how they began. */
#include "internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- GPUs ---- */

static int compare_seats(const void *left, const void *right)
{
    const struct xb_fleet_gpu *a = *(const struct xb_fleet_gpu *const *)left;
    const struct xb_fleet_gpu *b = *(const struct xb_fleet_gpu *const *)right;
    return XB_FIRST_ORDER(XB_ORDER(a->node, b->node), xb_natural_compare(a->pci_bdf, b->pci_bdf),
                          XB_ORDER(b->told, a->told));
}

static int compare_models(const void *left, const void *right)
{
    const struct xb_fleet_gpu *a = *(const struct xb_fleet_gpu *const *)left;
    const struct xb_fleet_gpu *b = *(const struct xb_fleet_gpu *const *)right;
    return XB_FIRST_ORDER(XB_ORDER(a->node, b->node), xb_natural_compare(a->model, b->model));
}

/* GPUs of which a note tells. */
struct some {
    size_t count;
    const struct xb_fleet_gpu *first;
};

/* The GPUs in the order of their nodes and models. Of two at one PCI address the older one was
 * replaced. */
static size_t list_seats(const struct xb_fleet *fleet, const struct xb_fleet_gpu **seats,
                         struct some *replaced)
{
    size_t count = 0;
    for (size_t i = 0; i < fleet->gpu_count; i++)
        seats[i] = &fleet->gpus[i];
    qsort(seats, fleet->gpu_count, sizeof(const struct xb_fleet_gpu *), compare_seats);
    for (size_t i = 0; i < fleet->gpu_count; i++) {
        bool is_older = count > 0 && seats[i]->pci_bdf != NULL &&
                        seats[count - 1]->node == seats[i]->node &&
                        xb_natural_compare(seats[count - 1]->pci_bdf, seats[i]->pci_bdf) == 0;
        if (!is_older)
            seats[count++] = seats[i];
        else if (replaced->count++ == 0)
            replaced->first = seats[i];
    }
    qsort(seats, count, sizeof(const struct xb_fleet_gpu *), compare_models);
    return count;
}

static void name_fewer(struct xb_judging *judging, const struct xb_vote *votes,
                       const struct xb_majority *most)
{
    const char *model = votes[most->begin].group != NULL ? votes[most->begin].group : "GPUs";
    size_t nodes = most->end - most->begin, agree = most->last - most->first;
    size_t fewer = most->first - most->begin; /* they are sorted by how many */
    if (most->judged && !most->found)
        xb_fleet_add_note(judging,
                          "%.100s: nodes have different numbers of these GPUs; at most %zu of %zu "
                          "nodes have the same number, %.0f.",
                          model, agree, nodes, votes[most->first].number);
    for (size_t i = most->begin; most->judged && most->found && i < most->first; i++) {
        xb_fleet_add_finding(
            judging,
            xb_fleet_plain_finding(XB_FLEET_FEWER_GPUS, judging->fleet->nodes[votes[i].item].name,
                                   XB_FLEET_NONE, xb_fleet_is_together(fewer, nodes)),
            "%.0f x %.100s; %zu of %zu nodes have %.0f", votes[i].number, model, agree, nodes,
            votes[most->first].number);
    }
}

/* Names nodes without any GPU, if most nodes have some. */
static void name_empty(struct xb_judging *judging, const struct xb_fleet_gpu *const *seats,
                       size_t count)
{
    const struct xb_fleet *fleet = judging->fleet;
    struct xb_node_tally with = xb_node_tally_open(judging);
    for (size_t i = 0; i < count; i++)
        xb_node_tally_add(&with, seats[i]->node);
    size_t without = fleet->node_count - with.count;
    for (size_t i = 0; with.count > without && i < fleet->node_count; i++) {
        if (with.rounds[i] == with.round || fleet->node_count <= XB_FLEET_SIBLINGS)
            continue;
        xb_fleet_add_finding(
            judging,
            xb_fleet_plain_finding(XB_FLEET_FEWER_GPUS, fleet->nodes[i].name, XB_FLEET_NONE,
                                   xb_fleet_is_together(without, fleet->node_count)),
            "no GPU; %zu of %zu nodes have some", with.count, fleet->node_count);
    }
}

void xb_fleet_name_fewer_gpus(struct xb_judging *judging)
{
    const struct xb_fleet *fleet = judging->fleet;
    const struct xb_fleet_gpu **seats =
        XB_SCRATCH(judging, fleet->gpu_count, sizeof(const struct xb_fleet_gpu *));
    struct xb_vote *votes = XB_SCRATCH(judging, fleet->gpu_count, sizeof *votes);
    struct some replaced = {.count = 0}, old = {.count = 0};
    size_t count = list_seats(fleet, seats, &replaced);
    /* How many GPUs of a model each node has that has any. */
    size_t voted = 0;
    for (size_t i = 0; i < count;) {
        size_t begin = i;
        while (i < count && compare_models(&seats[i], &seats[begin]) == 0)
            i++;
        votes[voted++] = (struct xb_vote){.group = seats[begin]->model,
                                          .number = (double)(i - begin),
                                          .item = seats[begin]->node};
    }
    xb_votes_sort(votes, voted);
    for (struct xb_majority most = {.end = 0}; xb_votes_next(votes, voted, &most);)
        name_fewer(judging, votes, &most);
    name_empty(judging, seats, count);
    /* Machines that were installed from one image may have one name: then one alone seems to be
     * there. */
    if (replaced.count > 0)
        xb_fleet_add_note(
            judging,
            "%zu GPU%s replaced: a newer file has another at the same PCI address (first: %.64s, "
            "%.32s). If nobody did that, several machines have one name: set XFERBENCH_NODE on "
            "each.",
            replaced.count, replaced.count == 1 ? " was" : "s were",
            fleet->nodes[replaced.first->node].name, replaced.first->pci_bdf);
    /* A GPU that fell off the bus is in older documents still, and counts. */
    for (size_t i = 0; i < count; i++)
        if (seats[i]->is_gone && old.count++ == 0)
            old.first = seats[i];
    if (old.count > 0)
        xb_fleet_add_note(
            judging,
            "%zu GPU%s only in older files of the node, and count%s as present (first: %.64s, "
            "%.32s). Give fleet the files of one round.",
            old.count, old.count == 1 ? " is" : "s are", old.count == 1 ? "s" : "",
            fleet->nodes[old.first->node].name,
            old.first->pci_bdf != NULL ? old.first->pci_bdf : "PCI address not known");
}

/* ---- drivers ---- */

static void name_others(struct xb_judging *judging, const struct xb_vote *votes,
                        const struct xb_majority *most)
{
    size_t nodes = most->end - most->begin, agree = most->last - most->first;
    if (most->judged && !most->found)
        xb_fleet_add_note(judging,
                          "Drivers differ (backend %.32s): at most %zu of %zu nodes have the same, "
                          "%.64s.",
                          votes[most->begin].group, agree, nodes, votes[most->first].text);
    for (size_t i = most->begin; most->judged && most->found && i < most->end; i++) {
        if (i >= most->first && i < most->last)
            continue;
        const char *node = judging->fleet->nodes[votes[i].item].name;
        xb_fleet_add_finding(judging,
                             xb_fleet_plain_finding(XB_FLEET_OTHER_DRIVER, node, XB_FLEET_NONE,
                                                    xb_fleet_is_together(nodes - agree, nodes)),
                             "driver %.64s; %zu of %zu nodes have %.64s", votes[i].text, agree,
                             nodes, votes[most->first].text);
    }
}

void xb_fleet_name_drivers(struct xb_judging *judging)
{
    const struct xb_fleet *fleet = judging->fleet;
    const char **backends = /* of the driver */
        XB_SCRATCH(judging, fleet->node_count, sizeof(const char *));
    struct xb_vote *votes = XB_SCRATCH(judging, fleet->node_count, sizeof *votes);
    size_t count = 0;
    /* A node's driver belongs to the backend of which the node has values with that driver. */
    for (size_t i = 0; i < fleet->value_count; i++) {
        const struct xb_fleet_value *value = &fleet->values[i];
        const struct xb_fleet_figure *figure = &fleet->figures[value->figure];
        size_t node = fleet->gpus[value->gpu].node;
        const char *driver = fleet->nodes[node].driver;
        if (driver != NULL && figure->driver != NULL && figure->backend != NULL &&
            strcmp(driver, figure->driver) == 0)
            backends[node] = figure->backend;
    }
    for (size_t i = 0; i < fleet->node_count; i++)
        if (backends[i] != NULL)
            votes[count++] =
                (struct xb_vote){.group = backends[i], .text = fleet->nodes[i].driver, .item = i};
    xb_votes_sort(votes, count);
    for (struct xb_majority most = {.end = 0}; xb_votes_next(votes, count, &most);)
        name_others(judging, votes, &most);
}

/* ---- when they began ---- */

/* Clocks that NTP keeps agree within milliseconds, and a process starts within a second. */
#define LATE_S 1.0

/* Documents of which a note tells. */
struct told {
    size_t count;
    const struct xb_fleet_source *named; /* the first, or the latest */
};

static void tell(struct told *told, bool is_so, const struct xb_fleet_source *source)
{
    if (is_so && told->count++ == 0)
        told->named = source;
}

void xb_fleet_note_start(struct xb_judging *judging)
{
    const struct xb_fleet *fleet = judging->fleet;
    struct told ahead = {.count = 0}, late = {.count = 0}, loose = {.count = 0};
    struct told agreed = {.count = 0}; /* on a time to begin: else clocks do not matter */
    for (size_t i = 0; i < fleet->source_count; i++) {
        const struct xb_fleet_source *source = &fleet->sources[i];
        tell(&agreed, !isnan(source->late_s), source);
        tell(&ahead, source->dated > source->written, source);
        tell(&late, source->late_s > LATE_S, source);
        tell(&loose, !isnan(source->late_s) && source->unsynchronised, source);
        if (late.count > 0 && source->late_s > late.named->late_s)
            late.named = source;
    }
    if (ahead.count > 0)
        xb_fleet_add_note(
            judging,
            "%zu of %zu files have a date more than a day ahead, and count as the oldest (first: "
            "%.200s). Check the clocks there and here.",
            ahead.count, fleet->source_count, ahead.named->path);
    if (late.count > 0)
        xb_fleet_add_note(judging,
                          "%zu of %zu measurements began more than %g s after the agreed time, up "
                          "to %.3g s (%.200s). Not all nodes were under load at the same time.",
                          late.count, agreed.count, LATE_S, late.named->late_s, late.named->path);
    if (loose.count > 0)
        xb_fleet_add_note(
            judging,
            "%zu of %zu nodes that started together have no clock synchronisation (first: %.200s). "
            "Their start times may be wrong.",
            loose.count, agreed.count, loose.named->path);
}
