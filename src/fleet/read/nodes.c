/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Nodes that are not like most: with fewer GPUs, with another driver, and how they began. */

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

/* What a note tells of: how many, and one of them. */
struct some {
    size_t count;
    const struct xb_fleet_gpu *first;
    const struct xb_fleet_source *named; /* the first, or the latest */
};

/* Lists the GPUs in the order of their nodes and models. If two have one PCI address, the older one
 * was replaced. */
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
        XB_NOTE("%.100s: nodes have different numbers of these GPUs; at most %zu of %zu "
                "nodes have the same number, %.0f.",
                model, agree, nodes, votes[most->first].number);
    for (size_t i = most->begin; most->found && i < most->first; i++) {
        XB_NAME(XB_FLEET_FEWER_GPUS, judging->fleet->nodes[votes[i].item].name, XB_FLEET_NONE,
                xb_fleet_is_together(fewer, nodes), "%.0f x %.100s; %zu of %zu nodes have %.0f",
                votes[i].number, model, agree, nodes, votes[most->first].number);
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
    /* Nodes without any GPU, if most nodes have some. */
    struct xb_node_tally with = xb_node_tally_open(judging);
    for (size_t i = 0; i < count; i++)
        xb_node_tally_add(&with, seats[i]->node);
    size_t without = fleet->node_count - with.count;
    bool most_have = with.count > without && fleet->node_count > XB_FLEET_SIBLINGS;
    for (size_t i = 0; most_have && i < fleet->node_count; i++)
        if (with.rounds[i] != with.round)
            XB_NAME(XB_FLEET_FEWER_GPUS, fleet->nodes[i].name, XB_FLEET_NONE,
                    xb_fleet_is_together(without, fleet->node_count),
                    "no GPU; %zu of %zu nodes have some", with.count, fleet->node_count);
    /* Machines that were installed from one image may have one name: then one alone seems to be
     * there. */
    if (replaced.count > 0)
        XB_NOTE("%zu GPU%s replaced: a newer file has another at the same PCI address (first: "
                "%.64s, %.32s). If nobody did that, several machines have one name: set "
                "XFERBENCH_NODE on each.",
                replaced.count, replaced.count == 1 ? " was" : "s were",
                fleet->nodes[replaced.first->node].name, replaced.first->pci_bdf);
    /* A GPU that fell off the bus is in older documents still, and counts. */
    for (size_t i = 0; i < count; i++)
        if (seats[i]->is_gone && old.count++ == 0)
            old.first = seats[i];
    if (old.count > 0)
        XB_NOTE("%zu GPU%s only in older files of the node, and count%s as present (first: %.64s, "
                "%.32s). Give fleet the files of one round.",
                old.count, old.count == 1 ? " is" : "s are", old.count == 1 ? "s" : "",
                fleet->nodes[old.first->node].name,
                old.first->pci_bdf != NULL ? old.first->pci_bdf : "PCI address not known");
}

/* ---- drivers ---- */

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
    for (struct xb_majority most = {.end = 0}; xb_votes_next(votes, count, &most);) {
        size_t nodes = most.end - most.begin, agree = most.last - most.first;
        const char *usual = votes[most.first].text;
        if (most.judged && !most.found)
            XB_NOTE("Drivers differ (backend %.32s): at most %zu of %zu nodes have the "
                    "same, %.64s.",
                    votes[most.begin].group, agree, nodes, usual);
        for (size_t i = most.begin; most.found && i < most.end; i++)
            if (i < most.first || i >= most.last)
                XB_NAME(XB_FLEET_OTHER_DRIVER, fleet->nodes[votes[i].item].name, XB_FLEET_NONE,
                        xb_fleet_is_together(nodes - agree, nodes),
                        "driver %.64s; %zu of %zu nodes have %.64s", votes[i].text, agree, nodes,
                        usual);
    }
}

/* ---- when they began ---- */

/* Clocks that NTP keeps agree within milliseconds, and a process starts within a second. */
#define LATE_S 1.0

static void tell(struct some *told, bool is_so, const struct xb_fleet_source *source)
{
    if (is_so && told->count++ == 0)
        told->named = source;
}

void xb_fleet_note_start(struct xb_judging *judging)
{
    const struct xb_fleet *fleet = judging->fleet;
    struct some ahead = {.count = 0}, late = {.count = 0}, loose = {.count = 0};
    struct some agreed = {.count = 0}; /* on a time to begin: else clocks do not matter */
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
        XB_NOTE("%zu of %zu files have a date more than a day ahead, and count as the oldest "
                "(first: %.200s). Check the clocks there and here.",
                ahead.count, fleet->source_count, ahead.named->path);
    if (late.count > 0)
        XB_NOTE("%zu of %zu measurements began more than %g s after the agreed time, up "
                "to %.3g s (%.200s). Not all nodes were under load at the same time.",
                late.count, agreed.count, LATE_S, late.named->late_s, late.named->path);
    if (loose.count > 0)
        XB_NOTE("%zu of %zu nodes that started together have no clock synchronisation (first: "
                "%.200s). Their start times may be wrong.",
                loose.count, agreed.count, loose.named->path);
}

/* ---- nodes without a document ---- */

/*
 * Finds expected nodes without a document, and nodes that nobody expected. A node is found by its
 * name, and what is not found so by its host name: nodes of one image may all have that of one.
 * "gpu1" on one side and "gpu1.cluster" on the other are the same node, unless another name that is
 * still to be found begins with "gpu1.", on either side: then nobody could tell.
 */

/* A name of an expected node, or of one that has a document. */
struct called {
    const char *name;
    size_t owner;
};

/* Compares the short names: up to the first dot. */
static int compare_short(const char *left, const char *right)
{
    size_t a = strcspn(left, "."), b = strcspn(right, ".");
    return XB_FIRST_ORDER(memcmp(left, right, a < b ? a : b), XB_ORDER(a, b));
}

static int compare_called(const void *left, const void *right)
{
    const struct called *a = left, *b = right;
    return XB_FIRST_ORDER(compare_short(a->name, b->name), strcmp(a->name, b->name),
                          XB_ORDER(a->owner, b->owner));
}

struct roll {
    struct called *items;
    size_t count;
    const char **met; /* of every owner: how the other side calls it; NULL: it is not there */
};

/* Finds the names from `begin` on that have that short name. */
static struct roll find_range(const struct roll *roll, size_t begin, const char *name)
{
    struct roll range = {.items = roll->items + begin, .met = roll->met};
    while (begin + range.count < roll->count &&
           compare_short(range.items[range.count].name, name) == 0)
        range.count++;
    return range;
}

/* Whether all have the same owner or the same whole name. */
static bool is_one_node(const struct roll *roll)
{
    for (size_t i = 1; i < roll->count; i++)
        if (strcmp(roll->items[i].name, roll->items[0].name) != 0 &&
            roll->items[i].owner != roll->items[0].owner)
            return false;
    return roll->count > 0;
}

static bool all_dotted(const struct roll *roll)
{
    for (size_t i = 0; i < roll->count; i++)
        if (strchr(roll->items[i].name, '.') == NULL)
            return false;
    return true;
}

/* All names of both sides that have one short name. Both are in order, so one pass finds the names
 * that are on both sides. */
static void meet(const struct roll *expected, const struct roll *there)
{
    const struct called *own = expected->items, *other = there->items;
    for (size_t i = 0, k = 0; i < expected->count && k < there->count;) {
        int order = strcmp(own[i].name, other[k].name);
        if (order == 0) {
            expected->met[own[i].owner] = other[k].name;
            there->met[other[k].owner] = own[i].name;
        }
        /* One name may be of several on either side. */
        if (order < 0 ||
            (order == 0 && i + 1 < expected->count && strcmp(own[i + 1].name, own[i].name) == 0))
            i++;
        else
            k++;
    }
    if (!is_one_node(expected) || !is_one_node(there) || all_dotted(expected) == all_dotted(there))
        return;
    expected->met[own[0].owner] = other[0].name;
    for (size_t k = 0; k < there->count; k++)
        there->met[other[k].owner] = own[0].name;
}

/* Lists a name for an owner that is not met yet. */
static void list_unmet(struct roll *roll, const char *name, size_t owner)
{
    if (roll->met[owner] == NULL && name != NULL)
        roll->items[roll->count++] = (struct called){name, owner};
}

/* Where no expected node is there, the folder or the names are likelier to be wrong than all nodes:
 * a file of names that is misspelt is a name. Where many are not, a launcher that died is likelier.
 */
static void name_missing(struct xb_judging *judging, const char *const *met)
{
    const struct xb_fleet_request *request = &judging->judgement->request;
    bool unread = judging->fleet->unread_count > 0;
    size_t missing = 0;
    for (size_t i = 0; i < request->expected_count; i++)
        missing += met[i] == NULL;
    for (size_t i = 0; i < request->expected_count; i++)
        if (met[i] == NULL)
            xb_fleet_add_finding(
                judging,
                XB_FLEET_PLAIN(XB_FLEET_MISSING, request->expected[i], XB_FLEET_NONE,
                               .together = xb_fleet_is_together(missing, request->expected_count),
                               .unsure = unread || missing == request->expected_count),
                unread ? "no result file that could be read" : "no result file");
}

void xb_fleet_name_missing(struct xb_judging *judging)
{
    const struct xb_fleet *fleet = judging->fleet;
    const struct xb_fleet_request *request = &judging->judgement->request;
    const size_t sizes[] = {request->expected_count, fleet->node_count};
    struct roll rolls[2]; /* of those that are expected, and those that are there */
    if (request->expected == NULL)
        return;
    for (int i = 0; i < 2; i++)
        rolls[i] = (struct roll){.items = XB_SCRATCH(judging, sizes[i], sizeof(struct called)),
                                 .met = XB_SCRATCH(judging, sizes[i], sizeof(const char *))};
    for (int by_host = 0; by_host < 2; by_host++) {
        rolls[0].count = rolls[1].count = 0;
        for (size_t i = 0; i < request->expected_count; i++)
            list_unmet(&rolls[0], request->expected[i], i);
        for (size_t i = 0; i < fleet->node_count; i++)
            list_unmet(&rolls[1], by_host ? fleet->nodes[i].hostname : fleet->nodes[i].name, i);
        for (int i = 0; i < 2; i++)
            qsort(rolls[i].items, rolls[i].count, sizeof(struct called), compare_called);
        for (size_t i = 0, k = 0; i < rolls[0].count;) {
            const char *name = rolls[0].items[i].name;
            while (k < rolls[1].count && compare_short(rolls[1].items[k].name, name) < 0)
                k++;
            struct roll own = find_range(&rolls[0], i, name);
            struct roll other = find_range(&rolls[1], k, name);
            meet(&own, &other);
            i += own.count;
            k += other.count;
        }
    }
    name_missing(judging, rolls[0].met);
    const char **unexpected = XB_SCRATCH(judging, fleet->node_count, sizeof(const char *));
    size_t count = 0;
    for (size_t i = 0; i < fleet->node_count; i++) {
        fleet->nodes[i].expected = rolls[1].met[i];
        if (rolls[1].met[i] == NULL)
            unexpected[count++] = fleet->nodes[i].name;
    }
    if (count > 0)
        XB_NOTE("Nodes with a result file that you did not expect: %s.",
                XB_FLEET_NAMES(unexpected, count));
}

/* ---- GPUs without a figure ---- */

/*
 * Tells of GPUs without a figure that most GPUs of their model have. A row that was skipped is no
 * value and no failure: a node where direct copies between GPUs are off would look like all others.
 */

/* A GPU has a value of a figure. */
struct holding {
    const struct xb_fleet_figure *figure;
    const struct xb_fleet_gpu *gpu;
};

static int compare_holdings(const void *left, const void *right)
{
    const struct holding *a = left, *b = right;
    return XB_FIRST_ORDER(xb_quantity_compare(a->figure, b->figure),
                          XB_ORDER_ADDRESSES(a->gpu, b->gpu));
}

/* What is lacking: how many figures in all, and the first by name. */
struct lacking {
    size_t figures;
    struct holding first;
};

/* `holders` are GPUs with one figure, each once and in order. */
static void find_lacking(const struct xb_fleet *fleet, const struct holding *holders, size_t count,
                         struct lacking *lacking)
{
    struct holding first = {.figure = holders->figure};
    size_t gpus = 0;
    if (count <= XB_FLEET_SIBLINGS)
        return;
    for (size_t i = 0, k = 0; i < fleet->gpu_count; i++) {
        const struct xb_fleet_gpu *gpu = &fleet->gpus[i];
        while (k < count && holders[k].gpu < gpu)
            k++;
        bool holds = k < count && holders[k].gpu == gpu;
        if (gpu->model != first.figure->model)
            continue;
        gpus++;
        if (!holds && first.gpu == NULL)
            first.gpu = gpu;
    }
    if (first.gpu == NULL || gpus >= 2 * count) /* the holders are no majority */
        return;
    /* Figures come in the order of addresses, which differs from run to run. */
    int order = lacking->figures++ > 0
                    ? xb_natural_compare(first.figure->name, lacking->first.figure->name)
                    : -1;
    if (order < 0 || (order == 0 && first.gpu < lacking->first.gpu))
        lacking->first = first;
}

void xb_fleet_note_lacking(struct xb_judging *judging)
{
    const struct xb_fleet *fleet = judging->fleet;
    struct lacking lacking = {.figures = 0};
    struct holding *holdings = XB_SCRATCH(judging, fleet->value_count, sizeof *holdings);
    size_t count = 0;
    for (size_t i = 0; i < fleet->value_count; i++)
        holdings[i] = (struct holding){&fleet->figures[fleet->values[i].figure],
                                       &fleet->gpus[fleet->values[i].gpu]};
    qsort(holdings, fleet->value_count, sizeof *holdings, compare_holdings);
    for (size_t i = 0; i < fleet->value_count; i++)
        if (count == 0 || compare_holdings(&holdings[count - 1], &holdings[i]) != 0)
            holdings[count++] = holdings[i];
    for (size_t begin = 0, end = 0; begin < count; begin = end) {
        while (end < count &&
               xb_quantity_compare(holdings[end].figure, holdings[begin].figure) == 0)
            end++;
        find_lacking(fleet, holdings + begin, end - begin, &lacking);
    }
    if (lacking.figures == 0)
        return;
    const struct holding *first = &lacking.first;
    XB_NOTE("Some GPUs lack %zu figure%s that most of their model have (first: %.200s, on "
            "%.64s GPU %u). Was it skipped there?",
            lacking.figures, lacking.figures == 1 ? "" : "s",
            first->figure->name != NULL ? first->figure->name : "-",
            fleet->nodes[first->gpu->node].name, first->gpu->index);
}
