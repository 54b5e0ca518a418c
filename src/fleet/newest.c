/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* qsort_r */
#include "internal.h"

#include <math.h>
#include <stdlib.h>

int xb_quantity_compare(const struct xb_fleet_figure *left, const struct xb_fleet_figure *right)
{
    return XB_FIRST_ORDER(XB_ORDER_ADDRESSES(left->name, right->name),
                          XB_ORDER_ADDRESSES(left->model, right->model),
                          XB_ORDER_ADDRESSES(left->backend, right->backend),
                          XB_ORDER_ADDRESSES(left->options, right->options),
                          XB_ORDER_ADDRESSES(left->unit, right->unit));
}

static int compare_quantities(const struct xb_fleet *fleet, const struct xb_fleet_value *left,
                              const struct xb_fleet_value *right)
{
    return left->figure == right->figure
               ? 0
               : xb_quantity_compare(&fleet->figures[left->figure], &fleet->figures[right->figure]);
}

/* By node, GPU and peer. */
static int compare_places(const struct xb_fleet *fleet, const struct xb_fleet_value *left,
                          const struct xb_fleet_value *right)
{
    return XB_FIRST_ORDER(XB_ORDER(fleet->gpus[left->gpu].node, fleet->gpus[right->gpu].node),
                          XB_ORDER(left->gpu, right->gpu), XB_ORDER(left->peer, right->peer));
}

time_t xb_fleet_written(const struct xb_fleet *fleet, const struct xb_fleet_value *value)
{
    return value->source < fleet->source_count ? fleet->sources[value->source].written : 0;
}

/* A document without a timestamp counts as older than any with one. Of two that are equally old the
 * one that was given later counts. */
static int newest_first(const void *left, const void *right, void *fleet)
{
    const struct xb_fleet_value *a = left, *b = right;
    return XB_FIRST_ORDER(compare_quantities(fleet, a, b), compare_places(fleet, a, b),
                          XB_ORDER(xb_fleet_written(fleet, b), xb_fleet_written(fleet, a)),
                          XB_ORDER(b->source, a->source), XB_ORDER(a->value, b->value));
}

static int by_figure(const void *left, const void *right, void *fleet)
{
    const struct xb_fleet_value *a = left, *b = right;
    return XB_FIRST_ORDER(XB_ORDER(a->figure, b->figure), compare_places(fleet, a, b));
}

void xb_fleet_take_newest(struct xb_judging *judging)
{
    struct xb_fleet *fleet = judging->fleet;
    struct xb_fleet_value *values = fleet->values;
    size_t all = fleet->value_count, kept = 0;
    judging->tested = xb_new(all, sizeof *judging->tested);
    qsort_r(values, all, sizeof *values, newest_first, fleet);
    for (size_t i = 0; i < all; i++)
        if (i == 0 || compare_quantities(fleet, &values[i], &values[kept - 1]) != 0 ||
            compare_places(fleet, &values[i], &values[kept - 1]) != 0)
            values[kept++] = values[i];
    qsort_r(values, kept, sizeof *values, by_figure, fleet);
    fleet->value_count = kept;
    judging->judgement->duplicates = all - kept;
    for (size_t i = 0; i < kept; i++) {
        double value = values[i].value;
        if (!(value > 0) || isinf(value))
            judging->unusable++;
        else
            judging->tested[judging->tested_count++] =
                (struct xb_tested){.value = i, .logarithm = log(value), .p = 1};
    }
}
