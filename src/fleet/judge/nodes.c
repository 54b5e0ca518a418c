/* SPDX-License-Identifier: Apache-2.0 */
/* When nodes began, and which are missing. */
#include "fleet/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a note tells of: how many, and one of them, the first or the latest. */
struct some {
    size_t count;
    const struct xb_fleet_source *one;
};

static void tell(struct some *told, bool is_so, const struct xb_fleet_source *source)
{
    if (is_so && told->count++ == 0)
        told->one = source;
}

/* Clocks that NTP keeps agree within milliseconds, and a process starts within a second. */
#define LATE_S 1.0

void xb_fleet_note_start(struct xb_judging *judging)
{
    const struct xb_fleet *fleet = judging->fleet;
    struct some ahead = {.count = 0}, late = {.count = 0}, loose = {.count = 0};
    struct some agreed = {.count = 0}; /* on a time to begin: else clocks do not matter */
    XB_EACH (source, fleet->sources, fleet->source_count) {
        tell(&agreed, !isnan(source->late_s), source);
        tell(&ahead, source->dated > source->written, source);
        tell(&late, source->late_s > LATE_S, source);
        tell(&loose, !isnan(source->late_s) && source->unsynchronised, source);
        if (late.one != NULL && source->late_s > late.one->late_s)
            late.one = source;
    }
    if (ahead.count > 0)
        XB_NOTE("%zu of %zu files have a date more than a day ahead, and count as the oldest "
                "(first: %.200s). Check the clocks there and here.",
                ahead.count, fleet->source_count, ahead.one->path);
    if (late.count > 0)
        XB_NOTE("%zu of %zu measurements began more than %g s after the agreed time, up "
                "to %.3g s (%.200s). Not all nodes were under load at the same time.",
                late.count, agreed.count, LATE_S, late.one->late_s, late.one->path);
    if (loose.count > 0)
        XB_NOTE("%zu of %zu nodes that started together have no clock synchronisation (first: "
                "%.200s). Their start times may be wrong.",
                loose.count, agreed.count, loose.one->path);
}

/* Finds expected nodes without a document, and nodes that nobody expected. A node is found by its
 * name, and what is not found so by its host name: nodes of one image may all have that of one.
 * "gpu1" on one side and "gpu1.cluster" on the other are the same node, unless another name that is
 * still to be found begins with "gpu1.", on either side: then nobody could tell. */

/* A name of an expected node, or of one that has a document, and where it says how the other side
 * calls it. */
struct called {
    const char *name;
    bool is_there;
    const char **met;
};

/* Compares the short names: up to the first dot. */
static int compare_short(const char *left, const char *right)
{
    size_t a = strcspn(left, "."), b = strcspn(right, ".");
    return XB_FIRST_ORDER(memcmp(left, right, a < b ? a : b), XB_ORDER(a, b));
}

XB_COMPARER(compare_called, struct called, compare_short(a->name, b->name),
            strcmp(a->name, b->name), XB_BY(is_there))

/* Finds who is on both sides, of names that have one short name. */
static void meet(const struct called *names, size_t count)
{
    const struct called *first[2] = {NULL, NULL}; /* of each side */
    bool is_one[2] = {true, true};                /* all have one owner or one whole name */
    bool all_dotted[2] = {true, true};
    XB_EACH_GROUP (count, strcmp(names[end].name, names[begin].name) == 0) {
        for (size_t i = begin; i < end; i++) {
            const struct called *own = &names[i];
            const struct called **first_of = &first[own->is_there];
            *first_of = *first_of != NULL ? *first_of : own;
            if (strcmp(own->name, (*first_of)->name) != 0 && own->met != (*first_of)->met)
                is_one[own->is_there] = false;
            if (strchr(own->name, '.') == NULL)
                all_dotted[own->is_there] = false;
            if (names[begin].is_there != names[end - 1].is_there)
                *own->met = own->name;
        }
    }
    if (first[0] == NULL || first[1] == NULL || !is_one[0] || !is_one[1] ||
        all_dotted[0] == all_dotted[1])
        return;
    for (size_t i = 0; i < count; i++)
        if (names[i].is_there || &names[i] == first[0])
            *names[i].met = first[!names[i].is_there]->name;
}

void xb_fleet_name_missing(struct xb_judging *judging)
{
    const struct xb_fleet *fleet = judging->fleet;
    struct xb_fleet_judgement *judgement = judging->judgement;
    const struct xb_fleet_request *request = &judgement->request;
    size_t expected = request->expected_count, missing = 0, count = 0;
    struct called *names = XB_SCRATCH(judging, expected + fleet->node_count, sizeof *names);
    const char **met = XB_SCRATCH(judging, expected, sizeof(const char *));
    const char **unexpected = XB_SCRATCH(judging, fleet->node_count, sizeof(const char *));
    bool unread = fleet->unread_count > 0;
    for (size_t i = 0; i < fleet->node_count; i++)
        fleet->nodes[i]->expected = NULL;
    if (request->expected == NULL)
        return;
    for (int by_host = 0; by_host < 2; by_host++) {
        count = 0;
        for (size_t i = 0; i < expected; i++)
            if (met[i] == NULL)
                names[count++] = (struct called){request->expected[i], false, &met[i]};
        for (size_t i = 0; i < fleet->node_count; i++) {
            struct xb_fleet_node *node = fleet->nodes[i];
            const char *name = by_host ? node->hostname : node->name;
            if (node->expected == NULL && name != NULL)
                names[count++] = (struct called){name, true, &node->expected};
        }
        qsort(names, count, sizeof *names, compare_called);
        XB_EACH_GROUP (count, compare_short(names[end].name, names[begin].name) == 0)
            meet(names + begin, end - begin);
    }
    /* Where no expected node is there, the folder or the names are likelier to be wrong than all
     * nodes: a file of names that is misspelt is a name. Where many are not, a launcher that died
     * is likelier. */
    for (size_t i = 0; i < expected; i++)
        missing += met[i] == NULL;
    for (size_t i = 0; i < expected; i++) {
        struct xb_fleet_finding finding = {.code = XB_FLEET_MISSING,
                                           .together = xb_fleet_is_together(missing, expected),
                                           .unsure = unread || missing == expected};
        if (met[i] != NULL)
            continue;
        struct xb_fleet_node *node = xb_arena_new(&judgement->texts, sizeof *node);
        node->name = request->expected[i];
        finding.node = node;
        xb_fleet_add_finding(judging, finding,
                             unread ? "no result file that could be read" : "no result file");
    }
    count = 0;
    for (size_t i = 0; i < fleet->node_count; i++)
        if (fleet->nodes[i]->expected == NULL)
            unexpected[count++] = fleet->nodes[i]->name;
    if (count > 0)
        XB_NOTE("Nodes with a result file that you did not expect: %s.",
                XB_FLEET_NAMES(unexpected, count));
}
