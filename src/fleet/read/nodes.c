/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Nodes that are not like most: with fewer GPUs, with another driver, and how they began. */

/* What a note tells of: how many, and one of them, the first or the latest. */
struct some {
    size_t count;
    const void *one;
};

static void tell(struct some *told, bool is_so, const void *one)
{
    if (is_so && told->count++ == 0)
        told->one = one;
}

/* ---- GPUs and drivers ---- */

static int by_place(const void *left, const void *right)
{
    const struct xb_fleet_gpu *a = *(const struct xb_fleet_gpu *const *)left;
    const struct xb_fleet_gpu *b = *(const struct xb_fleet_gpu *const *)right;
    return XB_FIRST_ORDER(XB_ORDER(a->node, b->node), xb_natural_compare(a->pci_bdf, b->pci_bdf),
                          XB_ORDER(b->told, a->told));
}

static int by_model(const void *left, const void *right)
{
    const struct xb_fleet_gpu *a = *(const struct xb_fleet_gpu *const *)left;
    const struct xb_fleet_gpu *b = *(const struct xb_fleet_gpu *const *)right;
    return XB_FIRST_ORDER(XB_ORDER(a->node, b->node), xb_natural_compare(a->model, b->model));
}

/* Names nodes that have fewer GPUs of a model than most that have some, or another driver than most
 * of their backend. */
static void name_unlike_most(struct xb_judging *judging, struct xb_vote *votes, size_t count,
                             enum xb_fleet_code code)
{
    bool of_gpus = code == XB_FLEET_FEWER_GPUS;
    xb_votes_sort(votes, count);
    for (struct xb_majority most = {.end = 0}; xb_votes_next(votes, count, &most);) {
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
                XB_NAME(code, judging->fleet->nodes[votes[i].item].name, XB_FLEET_NONE,
                        xb_fleet_is_together(others, nodes), "%s; %zu of %zu nodes have %.64s", own,
                        agree, nodes, usual);
        }
    }
}

void xb_fleet_name_fewer_gpus(struct xb_judging *judging)
{
    const struct xb_fleet *fleet = judging->fleet;
    const struct xb_fleet_gpu **gpus =
        XB_SCRATCH(judging, fleet->gpu_count, sizeof(const struct xb_fleet_gpu *));
    struct xb_vote *votes = XB_SCRATCH(judging, fleet->gpu_count, sizeof *votes);
    struct xb_node_tally with = xb_node_tally_open(judging);
    struct some replaced = {.count = 0}, old = {.count = 0};
    size_t count = 0, voted = 0;
    for (size_t i = 0; i < fleet->gpu_count; i++)
        gpus[i] = &fleet->gpus[i];
    qsort(gpus, fleet->gpu_count, sizeof(const struct xb_fleet_gpu *), by_place);
    for (size_t i = 0; i < fleet->gpu_count; i++) {
        /* If two have one PCI address, the older one was replaced. */
        bool is_older = count > 0 && gpus[i]->pci_bdf != NULL &&
                        gpus[count - 1]->node == gpus[i]->node &&
                        xb_natural_compare(gpus[count - 1]->pci_bdf, gpus[i]->pci_bdf) == 0;
        tell(&replaced, is_older, gpus[i]);
        if (!is_older)
            gpus[count++] = gpus[i];
    }
    /* How many GPUs of a model each node has that has any. */
    qsort(gpus, count, sizeof(const struct xb_fleet_gpu *), by_model);
    for (size_t begin = 0, end = 0; begin < count; begin = end) {
        while (end < count && by_model(&gpus[end], &gpus[begin]) == 0)
            end++;
        votes[voted++] =
            (struct xb_vote){.group = gpus[begin]->model,
                             .text = xb_arena_print(&judging->scratch, "%zu", end - begin),
                             .item = gpus[begin]->node};
        xb_node_tally_add(&with, gpus[begin]->node);
    }
    name_unlike_most(judging, votes, voted, XB_FLEET_FEWER_GPUS);
    /* Nodes without any GPU, if most nodes have some. */
    size_t without = fleet->node_count - with.count;
    bool most_have = with.count > without && fleet->node_count > XB_FLEET_SIBLINGS;
    for (size_t i = 0; most_have && i < fleet->node_count; i++)
        if (with.rounds[i] != with.round)
            XB_NAME(XB_FLEET_FEWER_GPUS, fleet->nodes[i].name, XB_FLEET_NONE,
                    xb_fleet_is_together(without, fleet->node_count),
                    "no GPU; %zu of %zu nodes have some", with.count, fleet->node_count);
    /* Machines that were installed from one image may have one name: then one alone seems to be
     * there. */
    const struct xb_fleet_gpu *first = replaced.one;
    if (replaced.count > 0)
        XB_NOTE("%zu GPU%s replaced: a newer file has another at the same PCI address (first: "
                "%.64s, %.32s). If nobody did that, several machines have one name: set "
                "XFERBENCH_NODE on each.",
                replaced.count, replaced.count == 1 ? " was" : "s were",
                fleet->nodes[first->node].name, first->pci_bdf);
    /* A GPU that fell off the bus is in older documents still, and counts. */
    for (size_t i = 0; i < count; i++)
        tell(&old, gpus[i]->is_gone, gpus[i]);
    first = old.one;
    if (old.count > 0)
        XB_NOTE("%zu GPU%s only in older files of the node, and count%s as present (first: %.64s, "
                "%.32s). Give fleet the files of one round.",
                old.count, old.count == 1 ? " is" : "s are", old.count == 1 ? "s" : "",
                fleet->nodes[first->node].name,
                first->pci_bdf != NULL ? first->pci_bdf : "PCI address not known");
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
    name_unlike_most(judging, votes, count, XB_FLEET_OTHER_DRIVER);
}

/* ---- when they began ---- */

/* Clocks that NTP keeps agree within milliseconds, and a process starts within a second. */
#define LATE_S 1.0

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
        const struct xb_fleet_source *latest = late.one;
        if (latest != NULL && source->late_s > latest->late_s)
            late.one = source;
    }
    const struct xb_fleet_source *one = ahead.one;
    if (one != NULL)
        XB_NOTE("%zu of %zu files have a date more than a day ahead, and count as the oldest "
                "(first: %.200s). Check the clocks there and here.",
                ahead.count, fleet->source_count, one->path);
    one = late.one;
    if (one != NULL)
        XB_NOTE("%zu of %zu measurements began more than %g s after the agreed time, up "
                "to %.3g s (%.200s). Not all nodes were under load at the same time.",
                late.count, agreed.count, LATE_S, one->late_s, one->path);
    one = loose.one;
    if (one != NULL)
        XB_NOTE("%zu of %zu nodes that started together have no clock synchronisation (first: "
                "%.200s). Their start times may be wrong.",
                loose.count, agreed.count, one->path);
}

/* Finds expected nodes without a document, and nodes that nobody expected. A node is found by its
 * name, and what is not found so by its host name: nodes of one image may all have that of one.
 * "gpu1" on one side and "gpu1.cluster" on the other are the same node, unless another name that is
 * still to be found begins with "gpu1.", on either side: then nobody could tell. */

/* A name of an expected node, or of one that has a document. */
struct called {
    const char *name;
    bool is_there;
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
                          a->is_there - b->is_there, XB_ORDER(a->owner, b->owner));
}

/* Finds who is on both sides, of names that have one short name. `met`: how the other side calls an
 * expected node, and one that is there. */
static void meet(const struct called *names, size_t count, const char **met[2])
{
    const struct called *first[2] = {NULL, NULL}; /* of each side */
    bool is_one[2] = {true, true};                /* all have one owner or one whole name */
    bool all_dotted[2] = {true, true};
    for (size_t begin = 0, end = 0; begin < count; begin = end) {
        while (end < count && strcmp(names[end].name, names[begin].name) == 0)
            end++;
        for (size_t i = begin; i < end; i++) {
            const struct called *own = &names[i];
            const struct called **first_of = &first[own->is_there];
            *first_of = *first_of != NULL ? *first_of : own;
            if (strcmp(own->name, (*first_of)->name) != 0 && own->owner != (*first_of)->owner)
                is_one[own->is_there] = false;
            if (strchr(own->name, '.') == NULL)
                all_dotted[own->is_there] = false;
            if (names[begin].is_there != names[end - 1].is_there)
                met[own->is_there][own->owner] = own->name;
        }
    }
    if (first[0] == NULL || first[1] == NULL || !is_one[0] || !is_one[1] ||
        all_dotted[0] == all_dotted[1])
        return;
    met[0][first[0]->owner] = first[1]->name;
    for (size_t i = 0; i < count; i++)
        if (names[i].is_there)
            met[1][names[i].owner] = first[0]->name;
}

void xb_fleet_name_missing(struct xb_judging *judging)
{
    const struct xb_fleet *fleet = judging->fleet;
    const struct xb_fleet_request *request = &judging->judgement->request;
    size_t sizes[2] = {request->expected_count, fleet->node_count}, missing = 0, count = 0;
    struct called *names = XB_SCRATCH(judging, sizes[0] + sizes[1], sizeof *names);
    const char **met[2], **unexpected = XB_SCRATCH(judging, sizes[1], sizeof(const char *));
    bool unread = fleet->unread_count > 0;
    if (request->expected == NULL)
        return;
    for (int side = 0; side < 2; side++)
        met[side] = XB_SCRATCH(judging, sizes[side], sizeof(const char *));
    for (int by_host = 0; by_host < 2; by_host++) {
        count = 0;
        for (size_t i = 0; i < sizes[0] + sizes[1]; i++) {
            bool is_there = i >= sizes[0];
            size_t owner = is_there ? i - sizes[0] : i;
            const char *name = !is_there ? request->expected[owner]
                               : by_host ? fleet->nodes[owner].hostname
                                         : fleet->nodes[owner].name;
            if (met[is_there][owner] == NULL && name != NULL)
                names[count++] = (struct called){name, is_there, owner};
        }
        qsort(names, count, sizeof *names, compare_called);
        for (size_t begin = 0, end = 0; begin < count; begin = end) {
            while (end < count && compare_short(names[end].name, names[begin].name) == 0)
                end++;
            meet(names + begin, end - begin, met);
        }
    }
    /* Where no expected node is there, the folder or the names are likelier to be wrong than all
     * nodes: a file of names that is misspelt is a name. Where many are not, a launcher that died
     * is likelier. */
    for (size_t i = 0; i < sizes[0]; i++)
        missing += met[0][i] == NULL;
    for (size_t i = 0; i < sizes[0]; i++)
        if (met[0][i] == NULL)
            xb_fleet_add_finding(
                judging,
                (struct xb_fleet_finding){.code = XB_FLEET_MISSING,
                                          .node = request->expected[i],
                                          .gpu = XB_FLEET_NONE,
                                          .figure = XB_FLEET_NONE,
                                          .together = xb_fleet_is_together(missing, sizes[0]),
                                          .unsure = unread || missing == sizes[0]},
                unread ? "no result file that could be read" : "no result file");
    count = 0;
    for (size_t i = 0; i < sizes[1]; i++) {
        fleet->nodes[i].expected = met[1][i];
        if (met[1][i] == NULL)
            unexpected[count++] = fleet->nodes[i].name;
    }
    if (count > 0)
        XB_NOTE("Nodes with a result file that you did not expect: %s.",
                XB_FLEET_NAMES(unexpected, count));
}
