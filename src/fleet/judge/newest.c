/* SPDX-License-Identifier: Apache-2.0 */
/* Which GPU is which, and which of its values and of the complaints about it count. */
#include "fleet/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Which GPUs are one that was moved. Cloned machines and some runtimes give several GPUs one UUID.
 * So an equal UUID alone proves nothing: a GPU was moved if a newer document has another one at its
 * place. Where none is mentioned there, other processes of the same launch may have measured it: it
 * was moved if a later launch does not find it, and no launch found it at both places. */

XB_POINTER_COMPARER(compare_by_uuid, struct xb_fleet_gpu, strcmp(a->uuid, b->uuid), XB_BY(told),
                    XB_BY(number))

/* Puts GPUs of one place together. */
XB_POINTER_COMPARER(compare_by_place, struct xb_fleet_gpu, XB_BY(node->number),
                    XB_BY_ADDRESS(pci_bdf), XB_BY(told), XB_BY(number))

static bool is_later_launch(time_t when, time_t than)
{
    return when > than + XB_FLEET_LAUNCH_S;
}

/* `gpus`: all of the fleet. Sorts them. */
static void find_gone(struct xb_fleet_gpu **gpus, size_t count)
{
    qsort(gpus, count, sizeof(struct xb_fleet_gpu *), compare_by_place);
    for (size_t begin = 0, end = 0; begin < count; begin = end) {
        time_t newest = 0; /* document of the node */
        for (; end < count && gpus[end]->node == gpus[begin]->node; end++)
            if (gpus[end]->told > newest)
                newest = gpus[end]->told;
        for (size_t i = begin; i < end; i++) {
            struct xb_fleet_gpu *gpu = gpus[i], *next = i + 1 < end ? gpus[i + 1] : gpu;
            gpu->is_replaced = gpu->told > 0 && gpu->pci_bdf != NULL &&
                               next->pci_bdf == gpu->pci_bdf && next->told > gpu->told;
            gpu->is_gone =
                gpu->is_replaced || (gpu->told > 0 && is_later_launch(newest, gpu->told));
        }
    }
}

/* Whether a GPU is one that is told of later. In one node it may also have been brought back. */
static bool was_moved(const struct xb_fleet_gpu *from, const struct xb_fleet_gpu *to)
{
    if (from->is_replaced || !from->is_gone)
        return from->is_replaced;
    if (from->node != to->node)
        return is_later_launch(to->first_told, from->told);
    return is_later_launch(to->first_told, from->first_told) ||
           is_later_launch(from->first_told, to->first_told);
}

/* Orders figures by the addresses of their texts; 0 for two that are the same but for driver and
 * link. */
static int compare_quantities(const struct xb_fleet_value *left, const struct xb_fleet_value *right)
{
    const struct xb_fleet_figure *a = left->figure, *b = right->figure;
    return XB_FIRST_ORDER(XB_BY_ADDRESS(name), XB_BY_ADDRESS(model), XB_BY_ADDRESS(backend),
                          XB_BY_ADDRESS(options), XB_BY_ADDRESS(unit));
}

static int compare_places(const struct xb_fleet_value *a, const struct xb_fleet_value *b)
{
    return XB_FIRST_ORDER(XB_BY(gpu->node->number), XB_BY(gpu->number), XB_BY(peer));
}

/* A document without a timestamp counts as older than any with one. If two are equally old, the one
 * that was given later counts. */
XB_COMPARER(newest_first, struct xb_fleet_value, compare_places(a, b), compare_quantities(a, b),
            XB_BY_GREATEST(written), XB_BY_GREATEST(source), XB_BY(value))

/* UUIDs that several GPUs have, and two of the GPUs of the first. */
struct shared {
    size_t count;
    const struct xb_fleet_gpu *first, *last;
};

void xb_fleet_join_moved(struct xb_judging *judging)
{
    struct xb_fleet *fleet = judging->fleet;
    struct xb_fleet_gpu **gpus =
        XB_SCRATCH(judging, fleet->gpu_count, sizeof(struct xb_fleet_gpu *));
    size_t count = 0 /* of those with a UUID */, kept = 0;
    struct shared equal = {.count = 0}, moved = {.count = 0};
    for (size_t i = 0; i < fleet->gpu_count; i++)
        gpus[i] = fleet->gpus[i]->now = fleet->gpus[i];
    find_gone(gpus, fleet->gpu_count);
    for (size_t i = 0; i < fleet->gpu_count; i++)
        if (gpus[i]->uuid != NULL)
            gpus[count++] = gpus[i];
    qsort(gpus, count, sizeof(struct xb_fleet_gpu *), compare_by_uuid);
    for (size_t begin = 0, end = 0; begin < count; begin = end) {
        bool one = true; /* they are in the order of their time */
        for (end++; end < count && gpus[end]->uuid == gpus[begin]->uuid; end++)
            one = one && was_moved(gpus[end - 1], gpus[end]);
        for (size_t i = begin; i < end && one; i++)
            gpus[i]->now = gpus[end - 1];
        struct shared *shared = one ? &moved : &equal;
        if (end - begin > 1 && shared->count++ == 0)
            *shared = (struct shared){1, gpus[begin], gpus[end - 1]};
    }
    if (equal.count > 0)
        XB_NOTE("%zu UUID%s several GPUs (first: on %.64s and on %.64s). fleet tells them apart by "
                "node and PCI address. Are machines cloned? If a GPU was moved, measure again "
                "where it was, 6 hours later or more.",
                equal.count, equal.count == 1 ? " names" : "s name", equal.first->node->name,
                equal.last->node->name);
    if (moved.count > 0)
        XB_NOTE("%zu GPU%s as moved (first: from %.64s GPU %u to %.64s GPU %u): newer files do not "
                "find %s at the old place. Are machines cloned? Then measure again there.",
                moved.count, moved.count == 1 ? " counts" : "s count", moved.first->node->name,
                moved.first->index, moved.last->node->name, moved.last->index,
                moved.count == 1 ? "it" : "them");
    for (size_t i = 0; i < fleet->gpu_count; i++)
        if (fleet->gpus[i]->now == fleet->gpus[i]) {
            fleet->gpus[i]->number = kept;
            fleet->gpus[kept++] = fleet->gpus[i];
        }
    fleet->gpu_count = kept;
    for (size_t i = 0; i < fleet->value_count; i++)
        fleet->values[i].gpu = fleet->values[i].gpu->now;
    for (size_t i = 0; i < fleet->complaint_count; i++)
        if (fleet->complaints[i].gpu != NULL)
            fleet->complaints[i].gpu = fleet->complaints[i].gpu->now;
    if (fleet->value_count > 0) /* there is no array either */
        qsort(fleet->values, fleet->value_count, sizeof *fleet->values, newest_first);
}

/* ---- the newest values ---- */

XB_COMPARER(by_figure, struct xb_fleet_value, XB_BY(figure->number), compare_places(a, b))

void xb_fleet_take_newest(struct xb_judging *judging)
{
    struct xb_fleet *fleet = judging->fleet;
    struct xb_fleet_value *values = fleet->values;
    size_t all = fleet->value_count, kept = 0;
    judging->tested = xb_new(all, sizeof *judging->tested);
    if (all == 0)
        return;
    for (size_t i = 0; i < all; i++)
        if (i == 0 || compare_quantities(&values[i], &values[kept - 1]) != 0 ||
            compare_places(&values[i], &values[kept - 1]) != 0)
            values[kept++] = values[i];
    qsort(values, kept, sizeof *values, by_figure);
    fleet->value_count = kept;
    judging->judgement->duplicates = all - kept;
    for (size_t i = 0; i < kept; i++) {
        double value = values[i].value;
        if (!(value > 0) || isinf(value))
            judging->unusable++;
        else
            judging->tested[judging->tested_count++] =
                (struct xb_tested){.value = &values[i], .logarithm = log(value), .p = 1};
    }
}

/* ---- figures that some GPUs lack ---- */

/* A row that was skipped is no value and no failure: a node where direct copies between GPUs are
 * off would look like all others. So a note tells of GPUs without a figure that most of their model
 * have. */

XB_POINTER_COMPARER(by_quantity, struct xb_fleet_value, compare_quantities(a, b))

void xb_fleet_note_lacking(struct xb_judging *judging)
{
    const struct xb_fleet *fleet = judging->fleet;
    const struct xb_fleet_value **values =
        XB_SCRATCH(judging, fleet->value_count, sizeof(const struct xb_fleet_value *));
    size_t *rounds = XB_SCRATCH(judging, fleet->gpu_count, sizeof *rounds); /* of each GPU */
    const struct xb_fleet_figure *lacks = NULL; /* the first by name, and the GPU without it */
    const struct xb_fleet_gpu *lacking = NULL;
    size_t figures = 0;
    for (size_t i = 0; i < fleet->value_count; i++)
        values[i] = &fleet->values[i];
    qsort(values, fleet->value_count, sizeof(const struct xb_fleet_value *), by_quantity);
    for (size_t begin = 0, end = 0, round = 1; begin < fleet->value_count; begin = end, round++) {
        const struct xb_fleet_figure *figure = values[begin]->figure;
        const struct xb_fleet_gpu *first = NULL;
        size_t holders = 0, gpus = 0;
        for (; end < fleet->value_count && compare_quantities(values[end], values[begin]) == 0;
             end++) {
            holders += rounds[values[end]->gpu->number] != round;
            rounds[values[end]->gpu->number] = round;
        }
        for (size_t i = 0; holders > XB_FLEET_SIBLINGS && i < fleet->gpu_count; i++) {
            if (fleet->gpus[i]->model != figure->model)
                continue;
            gpus++;
            first = first == NULL && rounds[i] != round ? fleet->gpus[i] : first;
        }
        if (first == NULL || gpus >= 2 * holders) /* the holders are no majority */
            continue;
        /* Figures come in the order of addresses, which differs from run to run. */
        int order = figures++ > 0 ? xb_natural_compare(figure->name, lacks->name) : -1;
        if (order < 0 || (order == 0 && first->number < lacking->number)) {
            lacks = figure;
            lacking = first;
        }
    }
    if (figures > 0)
        XB_NOTE("Some GPUs lack %zu figure%s that most of their model have (first: %.200s, on "
                "%.64s GPU %u). Was it skipped there?",
                figures, XB_PLURAL(figures), lacks->name != NULL ? lacks->name : "-",
                lacking->node->name, lacking->index);
}

/* ---- complaints ---- */

/* What documents say against nodes and GPUs, unless a newer document says better. A document has
 * been replaced, for a GPU or a node, where every figure that it has of it was measured there again
 * later, on the same GPU and to the same peer. If it has none - all failed - by any newer one of
 * its kind that has some; but not by that of another rank of the same launch, which has other GPUs.
 */

/* Finds which values were measured again later, and where those of each GPU begin; behind the GPUs,
 * those of each node. */
static size_t *find_values(struct xb_judging *judging)
{
    const struct xb_fleet *fleet = judging->fleet;
    struct xb_fleet_value *values = fleet->values;
    size_t *begins = XB_SCRATCH(judging, fleet->gpu_count + fleet->node_count, sizeof *begins);
    for (size_t begin = 0, end = 0; begin < fleet->value_count; begin = end) {
        const struct xb_fleet_gpu *gpu = values[begin].gpu;
        time_t newest = values[begin].written;
        if (begin == 0 || values[begin - 1].gpu->node != gpu->node)
            begins[fleet->gpu_count + gpu->node->number] = begin;
        if (begin == 0 || values[begin - 1].gpu != gpu)
            begins[gpu->number] = begin;
        for (; end < fleet->value_count && compare_places(&values[end], &values[begin]) == 0 &&
               values[end].figure->name == values[begin].figure->name;
             end++)
            newest = values[end].written > newest ? values[end].written : newest;
        for (size_t i = begin; i < end; i++)
            values[i].replaced = newest > values[i].written;
    }
    return begins;
}

/* Whether a newer document replaced that of a complaint. Its own figures of the GPU or node decide,
 * where it has any. A later launch may have given the node another rank. */
static bool is_replaced(const struct xb_fleet *fleet, const size_t *begins,
                        const struct xb_fleet_finding *complaint)
{
    const struct xb_fleet_source *own = &fleet->sources[complaint->source];
    const struct xb_fleet_gpu *gpu = complaint->gpu;
    bool any_own = false, all_own_replaced = true, any_newer = false;
    size_t first = begins[gpu != NULL ? gpu->number : fleet->gpu_count + complaint->node->number];
    for (size_t i = first; i < fleet->value_count; i++) {
        const struct xb_fleet_value *value = &fleet->values[i];
        if (gpu != NULL ? value->gpu != gpu : value->gpu->node != complaint->node)
            break;
        const struct xb_fleet_source *other = &fleet->sources[value->source];
        bool apart = own->written > 0 && is_later_launch(other->written, own->written);
        bool is_of_another_rank =
            other->ranks > 1 && other->ranks == own->ranks && other->rank != own->rank && !apart;
        any_own = any_own || other == own;
        all_own_replaced = all_own_replaced && (other != own || value->replaced);
        any_newer = any_newer || (other->kind == own->kind && other->written > own->written &&
                                  !is_of_another_rank);
    }
    return any_own ? all_own_replaced : any_newer;
}

/* What a complaint is about. */
struct cause {
    const char *text; /* code and cause */
    struct xb_fleet_finding *complaint;
};

XB_COMPARER(compare_causes, struct cause, strcmp(a->text, b->text))

/* If many nodes say the same against themselves, a limit, an option or a driver is likelier than so
 * many faults. The same is what has the same cause: a warning that all nodes have must not hide the
 * one GPU that has an error besides. Data that is wrong is wrong on every node. A complaint without
 * causes has an empty one. */
static void mark_together(struct xb_judging *judging)
{
    const struct xb_fleet *fleet = judging->fleet;
    struct cause *causes = xb_new(0, sizeof *causes);
    struct xb_node_tally tally = xb_node_tally_open(judging);
    size_t listed = 0;
    XB_EACH (complaint, fleet->complaints, fleet->complaint_count) {
        const char *words = complaint->causes != NULL ? complaint->causes : "";
        complaint->together = !complaint->replaced && complaint->code != XB_FLEET_WRONG_DATA;
        for (bool more = complaint->together; more;) {
            int length = (int)strcspn(words, "\n");
            causes = xb_grow(causes, listed, sizeof *causes);
            causes[listed++] = (struct cause){
                xb_arena_print(&judging->scratch, "%d %.*s", (int)complaint->code, length, words),
                complaint};
            more = words[length] != '\0';
            words += length + more;
        }
    }
    qsort(causes, listed, sizeof *causes, compare_causes);
    XB_EACH_GROUP (listed, compare_causes(&causes[end], &causes[begin]) == 0) {
        xb_node_tally_begin(&tally);
        for (size_t i = begin; i < end; i++)
            xb_node_tally_add(&tally, causes[i].complaint->node);
        bool together = xb_fleet_is_together(tally.count, fleet->node_count);
        for (size_t i = begin; i < end; i++)
            causes[i].complaint->together = causes[i].complaint->together && together;
    }
    free(causes);
}

/* One GPU's or node's of one code lie together. The first is the one to tell: one that few nodes
 * have, and the newest of these. */
#define BY_PLACE                                                                                   \
    XB_BY(replaced), XB_ORDER(xb_fleet_gpu_of(a)->number, xb_fleet_gpu_of(b)->number),             \
        XB_ORDER(a->gpu == NULL ? a->node->number : 0, b->gpu == NULL ? b->node->number : 0),      \
        XB_BY(code)
XB_POINTER_COMPARER(by_place, struct xb_fleet_finding, BY_PLACE)
XB_POINTER_COMPARER(compare_complaints, struct xb_fleet_finding, BY_PLACE, XB_BY(together),
                    XB_BY_GREATEST(written), XB_ORDER(a, b))

void xb_fleet_name_complaints(struct xb_judging *judging)
{
    const struct xb_fleet *fleet = judging->fleet;
    const size_t *begins = find_values(judging), count = fleet->complaint_count;
    struct xb_fleet_finding **list = XB_SCRATCH(judging, count, sizeof(struct xb_fleet_finding *));
    for (size_t i = 0; i < count; i++) {
        struct xb_fleet_finding *own = list[i] = &fleet->complaints[i];
        const struct xb_fleet_finding *before = i > 0 ? own - 1 : NULL;
        bool is_like_before = before != NULL && before->gpu == own->gpu &&
                              before->node == own->node && before->source == own->source;
        own->replaced = is_like_before ? before->replaced : is_replaced(fleet, begins, own);
    }
    mark_together(judging);
    qsort(list, count, sizeof(struct xb_fleet_finding *), compare_complaints);
    XB_EACH_GROUP (count, by_place(&list[end], &list[begin]) == 0) {
        const struct xb_fleet_finding *first = list[begin];
        char others[48] = "";
        if (first->replaced)
            break;
        if (end - begin > 1)
            snprintf(others, sizeof others, " (and %zu more)", end - begin - 1);
        XB_NAME(first->code, first->node, first->gpu, first->together, "%.900s%s",
                first->text != NULL ? first->text : "no reason given", others);
    }
}
