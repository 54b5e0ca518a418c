/* SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* All names of both sides that have one short name. */
struct range {
    struct called *expected, *there;
    size_t expected_count, there_count;
};

static size_t length_of_range(const struct roll *roll, size_t begin, const char *name)
{
    size_t end = begin;
    while (end < roll->count && compare_short(roll->items[end].name, name) == 0)
        end++;
    return end - begin;
}

/* Whether all have the same owner or the same whole name. */
static bool is_one(const struct called *items, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (strcmp(items[i].name, items[0].name) != 0 && items[i].owner != items[0].owner)
            return false;
    return count > 0;
}

static bool all_dotted(const struct called *items, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strchr(items[i].name, '.') == NULL)
            return false;
    return true;
}

/* Both are in order, so one pass finds the names that are on both sides. */
static void meet(const struct range *range, const char **expected_met, const char **there_met)
{
    for (size_t i = 0, k = 0; i < range->expected_count && k < range->there_count;) {
        int order = strcmp(range->expected[i].name, range->there[k].name);
        if (order == 0) {
            expected_met[range->expected[i].owner] = range->there[k].name;
            there_met[range->there[k].owner] = range->expected[i].name;
        }
        /* One name may be of several on either side. */
        if (order < 0 || (order == 0 && i + 1 < range->expected_count &&
                          strcmp(range->expected[i + 1].name, range->expected[i].name) == 0))
            i++;
        else
            k++;
    }
    bool one =
        is_one(range->expected, range->expected_count) && is_one(range->there, range->there_count);
    bool differ = all_dotted(range->expected, range->expected_count) !=
                  all_dotted(range->there, range->there_count);
    if (!one || !differ)
        return;
    expected_met[range->expected[0].owner] = range->there[0].name;
    for (size_t k = 0; k < range->there_count; k++)
        there_met[range->there[k].owner] = range->expected[0].name;
}

static void meet_all(struct roll *expected, struct roll *there)
{
    qsort(expected->items, expected->count, sizeof *expected->items, compare_called);
    qsort(there->items, there->count, sizeof *there->items, compare_called);
    size_t k = 0;
    for (size_t i = 0; i < expected->count;) {
        const char *name = expected->items[i].name;
        while (k < there->count && compare_short(there->items[k].name, name) < 0)
            k++;
        struct range range = {expected->items + i, there->items + k,
                              length_of_range(expected, i, name), length_of_range(there, k, name)};
        meet(&range, expected->met, there->met);
        i += range.expected_count;
        k += range.there_count;
    }
}

/* Lists a name for an owner that is not met yet. */
static void list_unmet(struct roll *roll, const char *name, size_t owner)
{
    if (roll->met[owner] == NULL && name != NULL)
        roll->items[roll->count++] = (struct called){name, owner};
}

static void note_unexpected(struct xb_judging *judging)
{
    const struct xb_fleet *fleet = judging->fleet;
    const char *first[3];
    size_t count = 0;
    char text[XB_FLEET_NAMES_SIZE];
    for (size_t i = 0; i < fleet->node_count; i++) {
        if (fleet->nodes[i].expected != NULL)
            continue;
        if (count < 3)
            first[count] = fleet->nodes[i].name;
        count++;
    }
    if (count > 0)
        xb_fleet_add_note(judging, "Nodes with a result file that you did not expect: %s.",
                          xb_fleet_names_text(first, count, text));
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
    for (size_t i = 0; i < request->expected_count; i++) {
        if (met[i] != NULL)
            continue;
        struct xb_fleet_finding finding =
            xb_fleet_plain_finding(XB_FLEET_MISSING, request->expected[i], XB_FLEET_NONE,
                                   xb_fleet_is_together(missing, request->expected_count));
        finding.unsure = unread || missing == request->expected_count;
        xb_fleet_add_finding(judging, finding,
                             unread ? "no result file that could be read" : "no result file");
    }
}

static struct roll open_roll(struct xb_judging *judging, size_t owners)
{
    return (struct roll){.items = XB_SCRATCH(judging, owners, sizeof(struct called)),
                         .met = XB_SCRATCH(judging, owners, sizeof(const char *))};
}

void xb_fleet_name_missing(struct xb_judging *judging)
{
    const struct xb_fleet *fleet = judging->fleet;
    const struct xb_fleet_request *request = &judging->judgement->request;
    if (request->expected == NULL)
        return;
    struct roll expected = open_roll(judging, request->expected_count);
    struct roll there = open_roll(judging, fleet->node_count);
    for (int by_host = 0; by_host < 2; by_host++) {
        expected.count = there.count = 0;
        for (size_t i = 0; i < request->expected_count; i++)
            list_unmet(&expected, request->expected[i], i);
        for (size_t i = 0; i < fleet->node_count; i++)
            list_unmet(&there, by_host ? fleet->nodes[i].hostname : fleet->nodes[i].name, i);
        meet_all(&expected, &there);
    }
    for (size_t i = 0; i < fleet->node_count; i++)
        fleet->nodes[i].expected = there.met[i];
    name_missing(judging, expected.met);
    note_unexpected(judging);
}
