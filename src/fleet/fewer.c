/* SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"
#include "majority.h"
#include "natural.h"
#include "order.h"

#include <stdlib.h>

/* A GPU and the place where it sits. */
struct seat {
    size_t node;
    const char *model, *pci_bdf;
    time_t told;
    bool is_gone;
};

static int compare_seats(const void *left, const void *right)
{
    const struct seat *a = left;
    const struct seat *b = right;
    return XB_FIRST_ORDER(XB_ORDER(a->node, b->node), xb_natural_compare(a->pci_bdf, b->pci_bdf),
                          XB_ORDER(b->told, a->told));
}

static int compare_models(const void *left, const void *right)
{
    const struct seat *a = left;
    const struct seat *b = right;
    return XB_FIRST_ORDER(XB_ORDER(a->node, b->node), xb_natural_compare(a->model, b->model));
}

/* The GPUs in the order of their nodes and models. Of two at one PCI address the older one was
 * replaced: `replaced` counts them, and keeps where the first was. */
struct replaced {
    size_t count;
    struct seat first;
};

static size_t list_seats(const struct xb_fleet *fleet, struct seat *seats,
                         struct replaced *replacements)
{
    size_t count = 0;
    for (size_t i = 0; i < fleet->gpu_count; i++)
        seats[i] = (struct seat){fleet->gpus[i].node, fleet->gpus[i].model, fleet->gpus[i].pci_bdf,
                                 fleet->gpus[i].told, fleet->gpus[i].is_gone};
    qsort(seats, fleet->gpu_count, sizeof *seats, compare_seats);
    for (size_t i = 0; i < fleet->gpu_count; i++) {
        bool replaced = count > 0 && seats[i].pci_bdf != NULL &&
                        seats[count - 1].node == seats[i].node &&
                        xb_natural_compare(seats[count - 1].pci_bdf, seats[i].pci_bdf) == 0;
        if (!replaced)
            seats[count++] = seats[i];
        else if (replacements->count++ == 0)
            replacements->first = seats[i];
    }
    qsort(seats, count, sizeof *seats, compare_models);
    return count;
}

/* How many GPUs of a model each node has that has any. */
static size_t count_gpus(const struct seat *seats, size_t count, struct xb_vote *votes)
{
    size_t made = 0;
    for (size_t i = 0; i < count;) {
        size_t begin = i;
        while (i < count && compare_models(&seats[i], &seats[begin]) == 0)
            i++;
        votes[made++] = (struct xb_vote){
            .group = seats[begin].model, .number = (double)(i - begin), .item = seats[begin].node};
    }
    xb_votes_sort(votes, made);
    return made;
}

static enum xb_status name_group(struct xb_judging *judging, const struct xb_vote *votes,
                                 const struct xb_majority *most, struct xb_error *error)
{
    const char *model = votes[most->begin].group != NULL ? votes[most->begin].group : "GPUs";
    size_t nodes = most->end - most->begin;
    size_t agree = most->last - most->first;
    size_t fewer = most->first - most->begin; /* they are sorted by how many */
    enum xb_status status = XB_OK;
    if (!most->judged)
        return XB_OK;
    if (!most->found)
        return xb_fleet_add_note(judging, error,
                                 "%.100s: nodes have different numbers of these GPUs; at most %zu "
                                 "of %zu nodes have the same number, %.0f.",
                                 model, agree, nodes, votes[most->first].number);
    for (size_t i = most->begin; status == XB_OK && i < most->first; i++) {
        struct xb_fleet_finding finding = xb_fleet_plain_finding(
            XB_FLEET_FEWER_GPUS, judging->fleet->nodes[votes[i].item].name, XB_FLEET_NONE);
        finding.together = xb_fleet_is_together(fewer, nodes);
        status = xb_fleet_add_finding(judging, &finding, error,
                                      "%.0f x %.100s; %zu of %zu nodes have %.0f", votes[i].number,
                                      model, agree, nodes, votes[most->first].number);
    }
    return status;
}

/* Names nodes without any GPU, if most nodes have some. */
static enum xb_status name_empty(struct xb_judging *judging, const struct seat *seats, size_t count,
                                 struct xb_error *error)
{
    const struct xb_fleet *fleet = judging->fleet;
    bool *has = calloc(fleet->node_count + 1, sizeof *has);
    if (has == NULL)
        return xb_fleet_no_memory(error);
    for (size_t i = 0; i < count; i++)
        has[seats[i].node] = true;
    size_t with = 0;
    for (size_t i = 0; i < fleet->node_count; i++)
        with += has[i];
    size_t without = fleet->node_count - with;
    enum xb_status status = XB_OK;
    for (size_t i = 0; status == XB_OK && with > without && i < fleet->node_count; i++) {
        if (has[i] || fleet->node_count <= XB_FLEET_SIBLINGS)
            continue;
        struct xb_fleet_finding finding =
            xb_fleet_plain_finding(XB_FLEET_FEWER_GPUS, fleet->nodes[i].name, XB_FLEET_NONE);
        finding.together = xb_fleet_is_together(without, fleet->node_count);
        status =
            xb_fleet_add_finding(judging, &finding, error, "no GPU; %zu of %zu nodes have some",
                                 with, fleet->node_count);
    }
    free(has);
    return status;
}

/* Machines that were installed from one image may have one name: then one alone seems to be there.
 */
static enum xb_status note_replaced(struct xb_judging *judging, const struct replaced *replaced,
                                    struct xb_error *error)
{
    if (replaced->count == 0)
        return XB_OK;
    return xb_fleet_add_note(
        judging, error,
        "%zu GPU%s at a PCI address where a newer document has another (first: %.64s, %.32s). If "
        "no GPU was replaced, several machines have one name: set XFERBENCH_NODE on each.",
        replaced->count, replaced->count == 1 ? " was" : "s were",
        judging->fleet->nodes[replaced->first.node].name, replaced->first.pci_bdf);
}

/* A GPU that fell off the bus is in older documents still, and counts. */
static enum xb_status note_old(struct xb_judging *judging, const struct seat *seats, size_t count,
                               struct xb_error *error)
{
    size_t old = 0;
    struct seat first = {.told = 0};
    for (size_t i = 0; i < count; i++)
        if (seats[i].is_gone && old++ == 0)
            first = seats[i];
    if (old == 0)
        return XB_OK;
    return xb_fleet_add_note(judging, error,
                             "GPUs that are in older documents of their node only: %zu (first: "
                             "%.64s, %.32s). They count as there. Are they? Give fleet the "
                             "documents of one round.",
                             old, judging->fleet->nodes[first.node].name,
                             first.pci_bdf != NULL ? first.pci_bdf : "PCI address not known");
}

enum xb_status xb_fleet_name_fewer_gpus(struct xb_judging *judging, struct xb_error *error)
{
    const struct xb_fleet *fleet = judging->fleet;
    struct seat *seats = calloc(fleet->gpu_count + 1, sizeof *seats);
    struct xb_vote *votes = calloc(fleet->gpu_count + 1, sizeof *votes);
    enum xb_status status = seats != NULL && votes != NULL ? XB_OK : xb_fleet_no_memory(error);
    if (status == XB_OK) {
        struct replaced replaced = {.count = 0};
        size_t count = list_seats(fleet, seats, &replaced);
        size_t voted = count_gpus(seats, count, votes);
        for (size_t begin = 0; status == XB_OK && begin < voted;) {
            struct xb_majority most = xb_votes_count(votes, voted, begin);
            status = name_group(judging, votes, &most, error);
            begin = most.end;
        }
        if (status == XB_OK)
            status = name_empty(judging, seats, count, error);
        if (status == XB_OK)
            status = note_replaced(judging, &replaced, error);
        if (status == XB_OK)
            status = note_old(judging, seats, count, error);
    }
    free(seats);
    free(votes);
    return status;
}
