/* SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"
#include "order.h"

#include <math.h>
#include <stdlib.h>

/* A document without a timestamp counts as older than any with one. Of two that are equally old the
 * one that was given later counts. */
struct place {
    struct xb_fleet_value value;
    size_t quantity; /* the first figure that is the same but for driver and link */
    size_t node;
    time_t written;
};

/* A figure on its way to a quantity; equal texts have one address. */
struct quantity {
    const struct xb_fleet_figure *figure;
    size_t index;
};

int xb_quantity_compare(const struct xb_fleet_figure *left, const struct xb_fleet_figure *right)
{
    return XB_FIRST_ORDER(XB_ORDER_ADDRESSES(left->name, right->name),
                          XB_ORDER_ADDRESSES(left->model, right->model),
                          XB_ORDER_ADDRESSES(left->backend, right->backend),
                          XB_ORDER_ADDRESSES(left->options, right->options),
                          XB_ORDER_ADDRESSES(left->unit, right->unit));
}

static int compare_quantities(const void *left, const void *right)
{
    const struct quantity *a = left, *b = right;
    return XB_FIRST_ORDER(xb_quantity_compare(a->figure, b->figure), XB_ORDER(a->index, b->index));
}

/* The quantity of every figure. NULL: no memory. */
static size_t *find_quantities(const struct xb_fleet *fleet)
{
    size_t *found = calloc(fleet->figure_count + 1, sizeof *found);
    struct quantity *sorted = calloc(fleet->figure_count + 1, sizeof *sorted);
    if (found == NULL || sorted == NULL) {
        free(found);
        free(sorted);
        return NULL;
    }
    for (size_t i = 0; i < fleet->figure_count; i++)
        sorted[i] = (struct quantity){&fleet->figures[i], i};
    qsort(sorted, fleet->figure_count, sizeof *sorted, compare_quantities);
    size_t first = 0;
    for (size_t i = 0; i < fleet->figure_count; i++) {
        if (i == 0 || xb_quantity_compare(sorted[i].figure, sorted[i - 1].figure) != 0)
            first = sorted[i].index;
        found[sorted[i].index] = first;
    }
    free(sorted);
    return found;
}

/* Orders by node, GPU and peer; the newest of each first. */
static int compare_rest(const struct place *a, const struct place *b)
{
    return XB_FIRST_ORDER(XB_ORDER(a->node, b->node), XB_ORDER(a->value.gpu, b->value.gpu),
                          XB_ORDER(a->value.peer, b->value.peer), XB_ORDER(b->written, a->written),
                          XB_ORDER(b->value.source, a->value.source),
                          XB_ORDER(a->value.value, b->value.value));
}

static int sort_by_quantity(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    return XB_FIRST_ORDER(XB_ORDER(a->quantity, b->quantity), compare_rest(a, b));
}

static int sort_by_figure(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    return XB_FIRST_ORDER(XB_ORDER(a->value.figure, b->value.figure), compare_rest(a, b));
}

/* Leaves the newest values in the fleet, in the order of their figures. */
static enum xb_status drop_old(struct xb_fleet *fleet, struct xb_error *error)
{
    size_t *quantities = find_quantities(fleet);
    struct place *places = malloc(fleet->value_count * sizeof *places);
    bool has_memory = quantities != NULL && places != NULL;
    if (has_memory) {
        size_t kept = 0;
        for (size_t i = 0; i < fleet->value_count; i++) {
            const struct xb_fleet_value *value = &fleet->values[i];
            time_t written =
                value->source < fleet->source_count ? fleet->sources[value->source].written : 0;
            places[i] = (struct place){*value, quantities[value->figure],
                                       fleet->gpus[value->gpu].node, written};
        }
        qsort(places, fleet->value_count, sizeof *places, sort_by_quantity);
        for (size_t i = 0; i < fleet->value_count; i++)
            if (i == 0 || places[i].quantity != places[kept - 1].quantity ||
                places[i].value.gpu != places[kept - 1].value.gpu ||
                places[i].value.peer != places[kept - 1].value.peer)
                places[kept++] = places[i];
        qsort(places, kept, sizeof *places, sort_by_figure);
        for (size_t i = 0; i < kept; i++)
            fleet->values[i] = places[i].value;
        fleet->value_count = kept;
    }
    free(quantities);
    free(places);
    return has_memory ? XB_OK : xb_fleet_no_memory(error);
}

enum xb_status xb_fleet_take_newest(struct xb_judging *judging, struct xb_error *error)
{
    struct xb_fleet *fleet = judging->fleet;
    size_t all = fleet->value_count;
    enum xb_status status = all > 0 ? drop_old(fleet, error) : XB_OK;
    if (status != XB_OK)
        return status;
    judging->judgement->duplicates = all - fleet->value_count;
    judging->tested = calloc(fleet->value_count + 1, sizeof *judging->tested);
    if (judging->tested == NULL)
        return xb_fleet_no_memory(error);
    for (size_t i = 0; i < fleet->value_count; i++) {
        double value = fleet->values[i].value;
        if (!(value > 0) || isinf(value))
            judging->unusable++;
        else
            judging->tested[judging->tested_count++] =
                (struct xb_tested){.value = i, .logarithm = log(value), .p = 1};
    }
    return XB_OK;
}
