/* SPDX-License-Identifier: Apache-2.0 */
#include "charge.h"
#include "internal.h"
#include "order.h"

#include <stdlib.h>

/*
 * What documents say against nodes and GPUs, unless a newer document says better. A document has
 * been replaced, for a GPU or a node, where every figure that it has of it was measured there again
 * later, on the same GPU and to the same peer. If it has none - all failed - by any newer one of
 * its kind that has some; but not by that of another rank of the same launch, which has other GPUs.
 */

/* The number of a GPU or a node: nodes are numbered after all GPUs. */
static size_t subject_of(const struct xb_fleet *fleet, size_t node, size_t gpu)
{
    return gpu != XB_FLEET_NONE ? gpu : fleet->gpu_count + node;
}

/* A document measured a figure of a subject. */
struct proof {
    size_t subject, source;
    size_t gpu; /* that it was measured on; the subject may be its node */
    int peer;
    const char *figure; /* its name; equal texts have one address */
    const char *kind;   /* of the document */
    time_t written;
    bool replaced; /* by a newer value of the same */
};

struct proofs {
    struct proof *items;
    size_t count;
};

static int compare_figures(const struct proof *left, const struct proof *right)
{
    return XB_FIRST_ORDER(XB_ORDER(left->subject, right->subject), XB_ORDER(left->gpu, right->gpu),
                          XB_ORDER(left->peer, right->peer),
                          XB_ORDER_ADDRESSES(left->figure, right->figure));
}

static int compare_kinds(const struct proof *left, const struct proof *right)
{
    return XB_FIRST_ORDER(XB_ORDER(left->subject, right->subject),
                          XB_ORDER_ADDRESSES(left->kind, right->kind));
}

static int compare_documents(const struct proof *left, const struct proof *right)
{
    return XB_FIRST_ORDER(XB_ORDER(left->subject, right->subject),
                          XB_ORDER(left->source, right->source));
}

/* The same for qsort(), the newest first. */
static int sort_by_figure(const void *left, const void *right)
{
    const struct proof *a = left;
    const struct proof *b = right;
    return XB_FIRST_ORDER(compare_figures(a, b), XB_ORDER(b->written, a->written));
}

static int sort_by_kind(const void *left, const void *right)
{
    const struct proof *a = left;
    const struct proof *b = right;
    return XB_FIRST_ORDER(compare_kinds(a, b), XB_ORDER(b->written, a->written));
}

static int sort_by_document(const void *left, const void *right)
{
    return compare_documents(left, right);
}

/* The first of sorted proofs that is as `wanted` says; NULL where none is. */
static const struct proof *find_first(const struct proofs *proofs, const struct proof *wanted,
                                      int (*compare)(const struct proof *, const struct proof *))
{
    size_t low = 0;
    size_t high = proofs->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(&proofs->items[middle], wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < proofs->count && compare(&proofs->items[low], wanted) == 0;
    return found ? &proofs->items[low] : NULL;
}

static void add_proof(struct proofs *proofs, const struct xb_fleet *fleet,
                      const struct xb_fleet_value *value, size_t subject)
{
    const struct xb_fleet_source *source = &fleet->sources[value->source];
    proofs->items[proofs->count++] = (struct proof){.subject = subject,
                                                    .source = value->source,
                                                    .gpu = value->gpu,
                                                    .peer = value->peer,
                                                    .figure = fleet->figures[value->figure].name,
                                                    .kind = source->kind,
                                                    .written = source->written};
}

/* Of all subjects that anything is said against. */
static enum xb_status gather_proofs(const struct xb_fleet *fleet, struct proofs *proofs,
                                    struct xb_error *error)
{
    bool *accused = calloc(fleet->gpu_count + fleet->node_count + 1, sizeof *accused);
    *proofs = (struct proofs){.items = calloc(2 * fleet->value_count + 1, sizeof *proofs->items)};
    if (accused == NULL || proofs->items == NULL) {
        free(accused);
        return xb_fleet_no_memory(error);
    }
    for (size_t i = 0; i < fleet->complaint_count; i++)
        accused[subject_of(fleet, fleet->complaints[i].node, fleet->complaints[i].gpu)] = true;
    for (size_t i = 0; i < fleet->value_count; i++) {
        const struct xb_fleet_value *value = &fleet->values[i];
        size_t node = subject_of(fleet, fleet->gpus[value->gpu].node, XB_FLEET_NONE);
        if (accused[value->gpu])
            add_proof(proofs, fleet, value, value->gpu);
        if (accused[node])
            add_proof(proofs, fleet, value, node);
    }
    free(accused);
    return XB_OK;
}

/* Marks what was measured again, and puts in each document's first proof of a subject whether that
 * is true of all. */
static void mark_replaced(struct proofs *proofs)
{
    struct proof *items = proofs->items;
    qsort(items, proofs->count, sizeof *items, sort_by_figure);
    time_t newest = 0;
    for (size_t i = 0; i < proofs->count; i++) {
        if (i == 0 || compare_figures(&items[i], &items[i - 1]) != 0)
            newest = items[i].written;
        items[i].replaced = newest > items[i].written;
    }
    qsort(items, proofs->count, sizeof *items, sort_by_document);
    for (size_t i = 0; i < proofs->count;) {
        struct proof *first = &items[i];
        for (; i < proofs->count && compare_documents(&items[i], first) == 0; i++)
            first->replaced = first->replaced && items[i].replaced;
    }
}

static void decide_by_figures(const struct proofs *proofs, struct xb_charge *charge)
{
    struct proof wanted = {.subject = charge->subject, .source = charge->complaint->source};
    const struct proof *found = find_first(proofs, &wanted, compare_documents);
    if (found != NULL) {
        charge->decided = true;
        charge->replaced = found->replaced;
    }
}

/* Whether both may be of one launch, and are of different processes of it; `newer` is. A later one
 * may have given the node another rank. */
static bool is_of_another_rank(const struct xb_fleet_source *newer,
                               const struct xb_fleet_source *older)
{
    bool apart = older->written > 0 && newer->written > older->written + XB_FLEET_LAUNCH_S;
    return newer->ranks > 1 && newer->ranks == older->ranks && newer->rank != older->rank && !apart;
}

static void decide_by_kind(const struct proofs *proofs, const struct xb_fleet *fleet,
                           struct xb_charge *charge)
{
    const struct xb_fleet_source *own = &fleet->sources[charge->complaint->source];
    struct proof wanted = {.subject = charge->subject, .kind = own->kind};
    const struct proof *proof = find_first(proofs, &wanted, compare_kinds);
    const struct proof *end = proofs->items + proofs->count;
    if (charge->decided || proof == NULL)
        return;
    while (proof < end && compare_kinds(proof, &wanted) == 0 && proof->written > charge->written &&
           is_of_another_rank(&fleet->sources[proof->source], own))
        proof++;
    charge->replaced =
        proof < end && compare_kinds(proof, &wanted) == 0 && proof->written > charge->written;
}

/* One GPU's or node's of one code lie together. The first is the one to tell: one that few nodes
 * have, and the newest of these. */
static int compare_charges(const void *left, const void *right)
{
    const struct xb_charge *a = left;
    const struct xb_charge *b = right;
    return XB_FIRST_ORDER(XB_ORDER(a->replaced, b->replaced), XB_ORDER(a->subject, b->subject),
                          XB_ORDER(a->complaint->fault, b->complaint->fault),
                          XB_ORDER(a->together, b->together), XB_ORDER(b->written, a->written),
                          XB_ORDER_ADDRESSES(a->complaint, b->complaint));
}

static enum xb_status name(struct xb_judging *judging, const struct xb_charge *first, size_t count,
                           struct xb_error *error)
{
    static const enum xb_fleet_code codes[] = {
        [XB_FLEET_WRONG_DATA] = XB_FLEET_HAS_WRONG_DATA,
        [XB_FLEET_FAILED] = XB_FLEET_HAS_FAILED,
        [XB_FLEET_CUT] = XB_FLEET_IS_CUT,
        [XB_FLEET_VERDICT] = XB_FLEET_LINK_VERDICT,
        [XB_FLEET_DOUBT] = XB_FLEET_LINK_WARNING,
    };
    const struct xb_fleet_complaint *complaint = first->complaint;
    struct xb_fleet_finding finding = xb_fleet_plain_finding(
        codes[complaint->fault], judging->fleet->nodes[complaint->node].name, complaint->gpu);
    finding.together = first->together;
    const char *text = complaint->text != NULL ? complaint->text : "no reason given";
    if (count == 1)
        return xb_fleet_add_finding(judging, &finding, error, "%.900s", text);
    return xb_fleet_add_finding(judging, &finding, error, "%.900s (and %zu more)", text, count - 1);
}

static enum xb_status name_charges(struct xb_judging *judging, struct xb_charge *charges,
                                   size_t count, struct xb_error *error)
{
    enum xb_status status = xb_charges_mark_together(judging->fleet, charges, count, error);
    qsort(charges, count, sizeof *charges, compare_charges);
    for (size_t i = 0; status == XB_OK && i < count && !charges[i].replaced;) {
        size_t begin = i;
        while (i < count && !charges[i].replaced && charges[i].subject == charges[begin].subject &&
               charges[i].complaint->fault == charges[begin].complaint->fault)
            i++;
        status = name(judging, &charges[begin], i - begin, error);
    }
    return status;
}

enum xb_status xb_fleet_name_complaints(struct xb_judging *judging, struct xb_error *error)
{
    const struct xb_fleet *fleet = judging->fleet;
    size_t count = fleet->complaint_count;
    struct proofs proofs = {.items = NULL};
    if (count == 0)
        return XB_OK;
    struct xb_charge *charges = calloc(count, sizeof *charges);
    enum xb_status status =
        charges != NULL ? gather_proofs(fleet, &proofs, error) : xb_fleet_no_memory(error);
    if (status == XB_OK) {
        mark_replaced(&proofs);
        for (size_t i = 0; i < count; i++) {
            const struct xb_fleet_complaint *complaint = &fleet->complaints[i];
            charges[i] = (struct xb_charge){subject_of(fleet, complaint->node, complaint->gpu),
                                            complaint,
                                            fleet->sources[complaint->source].written,
                                            false,
                                            false,
                                            false};
            decide_by_figures(&proofs, &charges[i]);
        }
        qsort(proofs.items, proofs.count, sizeof *proofs.items, sort_by_kind);
        for (size_t i = 0; i < count; i++)
            decide_by_kind(&proofs, fleet, &charges[i]);
        status = name_charges(judging, charges, count, error);
    }
    free(proofs.items);
    free(charges);
    return status;
}
