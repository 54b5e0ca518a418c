/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* A complaint that may still count. */
struct charge {
    size_t subject;
    const struct xb_fleet_complaint *complaint;
    time_t written;
    bool decided;  /* by the document's own figures */
    bool replaced; /* by a newer document */
    bool together; /* many nodes have each of its causes */
};

/* ---- what was measured again ---- */

/* A document measured a figure of a subject. */
struct measurement {
    size_t subject, source;
    size_t gpu; /* that it was measured on; the subject may be its node */
    int peer;
    const char *figure; /* its name; equal texts have one address */
    const char *kind;   /* of the document */
    time_t written;
    bool replaced; /* by a newer value of the same */
};

struct measurements {
    struct measurement *items;
    size_t count;
};

static int compare_figures(const struct measurement *left, const struct measurement *right)
{
    return XB_FIRST_ORDER(XB_ORDER(left->subject, right->subject), XB_ORDER(left->gpu, right->gpu),
                          XB_ORDER(left->peer, right->peer),
                          XB_ORDER_ADDRESSES(left->figure, right->figure));
}

static int compare_kinds(const void *left, const void *right)
{
    const struct measurement *a = left, *b = right;
    return XB_FIRST_ORDER(XB_ORDER(a->subject, b->subject), XB_ORDER_ADDRESSES(a->kind, b->kind));
}

static int compare_documents(const void *left, const void *right)
{
    const struct measurement *a = left, *b = right;
    return XB_FIRST_ORDER(XB_ORDER(a->subject, b->subject), XB_ORDER(a->source, b->source));
}

/* For qsort(), the newest first. */
static int sort_by_figure(const void *left, const void *right)
{
    const struct measurement *a = left, *b = right;
    return XB_FIRST_ORDER(compare_figures(a, b), XB_ORDER(b->written, a->written));
}

/* One of sorted measurements that is as `wanted` says; NULL where none is. */
static const struct measurement *find(const struct measurements *measurements,
                                      const struct measurement *wanted,
                                      int (*compare)(const void *, const void *))
{
    return bsearch(wanted, measurements->items, measurements->count, sizeof *measurements->items,
                   compare);
}

/* Lists the measurements of each subject that has a complaint. */
static struct measurements gather_measurements(struct xb_judging *judging)
{
    const struct xb_fleet *fleet = judging->fleet;
    bool *has_complaint = XB_SCRATCH(judging, fleet->gpu_count + fleet->node_count, 1);
    struct measurements measurements = {
        .items = XB_SCRATCH(judging, 2 * fleet->value_count, sizeof *measurements.items)};
    for (size_t i = 0; i < fleet->complaint_count; i++)
        has_complaint[subject_of(fleet, fleet->complaints[i].node, fleet->complaints[i].gpu)] =
            true;
    for (size_t i = 0; i < fleet->value_count; i++) {
        const struct xb_fleet_value *value = &fleet->values[i];
        const struct xb_fleet_source *source = &fleet->sources[value->source];
        size_t subjects[] = {value->gpu,
                             subject_of(fleet, fleet->gpus[value->gpu].node, XB_FLEET_NONE)};
        for (size_t k = 0; k < 2; k++)
            if (has_complaint[subjects[k]])
                measurements.items[measurements.count++] =
                    (struct measurement){.subject = subjects[k],
                                         .source = value->source,
                                         .gpu = value->gpu,
                                         .peer = value->peer,
                                         .figure = fleet->figures[value->figure].name,
                                         .kind = source->kind,
                                         .written = source->written};
    }
    return measurements;
}

/* Marks what was measured again: a document's measurements of a subject where all of them were. */
static void mark_replaced(struct measurements *measurements)
{
    struct measurement *items = measurements->items;
    qsort(items, measurements->count, sizeof *items, sort_by_figure);
    time_t newest = 0;
    for (size_t i = 0; i < measurements->count; i++) {
        if (i == 0 || compare_figures(&items[i], &items[i - 1]) != 0)
            newest = items[i].written;
        items[i].replaced = newest > items[i].written;
    }
    qsort(items, measurements->count, sizeof *items, compare_documents);
    for (size_t begin = 0, end = 0; begin < measurements->count; begin = end) {
        bool all = true;
        for (; end < measurements->count && compare_documents(&items[end], &items[begin]) == 0;
             end++)
            all = all && items[end].replaced;
        for (size_t i = begin; i < end; i++)
            items[i].replaced = all;
    }
}

/* Decides by any newer document of its kind, but not by one of another process of one launch. A
 * later launch may have given the node another rank. */
static void decide_by_kind(const struct measurements *measurements, const struct xb_fleet *fleet,
                           struct charge *charge)
{
    const struct xb_fleet_source *own = &fleet->sources[charge->complaint->source];
    struct measurement wanted = {.subject = charge->subject, .kind = own->kind};
    const struct measurement *of = find(measurements, &wanted, compare_kinds);
    const struct measurement *end = measurements->items + measurements->count;
    while (of != NULL && of > measurements->items && compare_kinds(of - 1, &wanted) == 0)
        of--;
    for (; of != NULL && of < end && compare_kinds(of, &wanted) == 0 && !charge->replaced; of++) {
        const struct xb_fleet_source *newer = &fleet->sources[of->source];
        bool apart = own->written > 0 && newer->written > own->written + XB_FLEET_LAUNCH_S;
        bool is_of_another_rank =
            newer->ranks > 1 && newer->ranks == own->ranks && newer->rank != own->rank && !apart;
        charge->replaced = of->written > charge->written && !is_of_another_rank;
    }
}

/* ---- what many nodes have ---- */

/*
 * If many nodes say the same against themselves, a limit, an option or a driver is likelier than so
 * many faults. The same is what has the same cause: a warning that all nodes have must not hide the
 * one GPU that has an error besides. Data that is wrong is wrong on every node.
 */

/* A cause of a charge. */
struct cause {
    const char *words;
    size_t length;
    struct charge *charge;
};

/* Causes of one kind lie together. */
static int compare_causes(const void *left, const void *right)
{
    const struct cause *a = left, *b = right;
    int order = XB_FIRST_ORDER(XB_ORDER(a->charge->complaint->code, b->charge->complaint->code),
                               XB_ORDER(a->length, b->length));
    return order != 0 ? order : memcmp(a->words, b->words, a->length);
}

/* A charge without causes has an empty one. */
static void mark_together(struct xb_judging *judging, struct charge *charges, size_t count)
{
    struct cause *causes = NULL;
    size_t listed = 0;
    for (size_t i = 0; i < count; i++) {
        const struct xb_fleet_complaint *complaint = charges[i].complaint;
        const char *words = complaint->causes != NULL ? complaint->causes : "";
        charges[i].together = !charges[i].replaced && complaint->code != XB_FLEET_WRONG_DATA;
        for (bool more = charges[i].together; more;) {
            size_t length = strcspn(words, "\n");
            causes = xb_grow(causes, listed, sizeof *causes);
            causes[listed++] = (struct cause){words, length, &charges[i]};
            more = words[length] != '\0';
            words += length + more;
        }
    }
    struct xb_node_tally tally = xb_node_tally_open(judging);
    if (listed > 0)
        qsort(causes, listed, sizeof *causes, compare_causes);
    for (size_t begin = 0, end = 0; begin < listed; begin = end) {
        xb_node_tally_begin(&tally);
        for (; end < listed && compare_causes(&causes[end], &causes[begin]) == 0; end++)
            xb_node_tally_add(&tally, causes[end].charge->complaint->node);
        bool together = xb_fleet_is_together(tally.count, judging->fleet->node_count);
        for (size_t i = begin; i < end; i++)
            causes[i].charge->together = causes[i].charge->together && together;
    }
    free(causes);
}

/* ---- findings ---- */

/* One GPU's or node's of one code lie together. The first is the one to tell: one that few nodes
 * have, and the newest of these. */
static int compare_charges(const void *left, const void *right)
{
    const struct charge *a = left, *b = right;
    return XB_FIRST_ORDER(XB_ORDER(a->replaced, b->replaced), XB_ORDER(a->subject, b->subject),
                          XB_ORDER(a->complaint->code, b->complaint->code),
                          XB_ORDER(a->together, b->together), XB_ORDER(b->written, a->written),
                          XB_ORDER_ADDRESSES(a->complaint, b->complaint));
}

void xb_fleet_name_complaints(struct xb_judging *judging)
{
    const struct xb_fleet *fleet = judging->fleet;
    size_t count = fleet->complaint_count;
    struct charge *charges = XB_SCRATCH(judging, count, sizeof *charges);
    struct measurements measurements = gather_measurements(judging);
    mark_replaced(&measurements);
    for (size_t i = 0; i < count; i++) {
        const struct xb_fleet_complaint *complaint = &fleet->complaints[i];
        charges[i] = (struct charge){.subject = subject_of(fleet, complaint->node, complaint->gpu),
                                     .complaint = complaint,
                                     .written = fleet->sources[complaint->source].written};
        /* The document's own figures decide, where it has any. */
        struct measurement wanted = {.subject = charges[i].subject, .source = complaint->source};
        const struct measurement *found = find(&measurements, &wanted, compare_documents);
        charges[i].decided = found != NULL;
        charges[i].replaced = found != NULL && found->replaced;
    }
    qsort(measurements.items, measurements.count, sizeof *measurements.items, compare_kinds);
    for (size_t i = 0; i < count; i++)
        if (!charges[i].decided)
            decide_by_kind(&measurements, fleet, &charges[i]);
    mark_together(judging, charges, count);
    qsort(charges, count, sizeof *charges, compare_charges);
    for (size_t begin = 0, end = 0; begin < count && !charges[begin].replaced; begin = end) {
        while (end < count && !charges[end].replaced &&
               charges[end].subject == charges[begin].subject &&
               charges[end].complaint->code == charges[begin].complaint->code)
            end++;
        const struct xb_fleet_complaint *complaint = charges[begin].complaint;
        char others[48] = "";
        if (end - begin > 1)
            snprintf(others, sizeof others, " (and %zu more)", end - begin - 1);
        xb_fleet_add_finding(judging,
                             XB_FLEET_PLAIN(complaint->code, fleet->nodes[complaint->node].name,
                                            complaint->gpu, .together = charges[begin].together),
                             "%.900s%s",
                             complaint->text != NULL ? complaint->text : "no reason given", others);
    }
}
