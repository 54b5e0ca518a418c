/* SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"
#include "order.h"
#include "tail.h"
#include "xferbench/statistics.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static int compare_logarithms(const void *left, const void *right)
{
    const struct xb_tested *a = left;
    const struct xb_tested *b = right;
    return XB_FIRST_ORDER(XB_ORDER(a->logarithm, b->logarithm), XB_ORDER(a->value, b->value));
}

/* Writes the distances of sorted values from `centre`, sorted. */
static void sort_offsets(const struct xb_tested *values, size_t count, double centre,
                         double *offsets)
{
    size_t above = count / 2;
    while (above > 0 && values[above - 1].logarithm > centre)
        above--;
    while (above < count && values[above].logarithm <= centre)
        above++;
    size_t below = above;
    for (size_t i = 0; i < count; i++) {
        bool up = below == 0 || (above < count && values[above].logarithm - centre <
                                                      centre - values[below - 1].logarithm);
        offsets[i] = up ? values[above++].logarithm - centre : centre - values[--below].logarithm;
    }
}

/* The k-th offset, counted from 0, if `left_out` is not among them. */
static double offset_without(const double *offsets, size_t k, double left_out)
{
    return offsets[left_out <= offsets[k] ? k + 1 : k];
}

/* Judges the values from `begin` to `end`: whichever is left out, the others have the same median.
 */
static void leave_out_range(struct xb_tested *values, size_t count, size_t begin, size_t end,
                            double centre, double *offsets)
{
    size_t others = count - 1;
    sort_offsets(values, count, centre, offsets);
    for (size_t i = begin; i < end; i++) {
        double own = fabs(values[i].logarithm - centre);
        double middle = offset_without(offsets, others / 2, own);
        if (others % 2 == 0)
            middle = (offset_without(offsets, others / 2 - 1, own) + middle) / 2;
        values[i].centre = centre;
        values[i].spread = XB_FLEET_TO_DEVIATION * middle;
        values[i].siblings = others;
    }
}

void xb_fleet_leave_each_out(struct xb_tested *values, size_t count, double *offsets)
{
    size_t h = count / 2;
    qsort(values, count, sizeof *values, compare_logarithms);
    if (count % 2 == 0) {
        leave_out_range(values, count, 0, h, values[h].logarithm, offsets);
        leave_out_range(values, count, h, count, values[h - 1].logarithm, offsets);
        return;
    }
    double below = values[h - 1].logarithm;
    double middle = values[h].logarithm;
    double above = values[h + 1].logarithm;
    leave_out_range(values, count, 0, h, (middle + above) / 2, offsets);
    leave_out_range(values, count, h, h + 1, (below + above) / 2, offsets);
    leave_out_range(values, count, h + 1, count, (below + middle) / 2, offsets);
}

static bool is_known(double scatter)
{
    return scatter >= 0 && isfinite(scatter);
}

/* Median of what the samples of the values say of themselves. Where they say nothing it counts as
 * 0: a few documents cannot excuse all others. */
static double typical_scatter(const struct xb_fleet *fleet, const struct xb_tested *values,
                              size_t count, double *scratch)
{
    for (size_t i = 0; i < count; i++) {
        double scatter = fleet->values[values[i].value].scatter;
        scratch[i] = is_known(scatter) ? scatter : 0;
    }
    return xb_median_of(scratch, count);
}

/* A value whose own samples scatter more than most may lie further off by that. */
static double add_own_scatter(double spread, double own, double typical)
{
    if (!is_known(own) || own <= typical)
        return spread;
    return xb_fleet_add_squares(spread, sqrt(own - typical) * sqrt(own + typical));
}

static void count_bins(const struct xb_fleet *fleet, const struct xb_tested *values, size_t count,
                       struct xb_fleet_siblings *siblings)
{
    double half = fmax(siblings->most - siblings->centre, siblings->centre - siblings->least);
    if (!(half > 0))
        half = siblings->centre * XB_FLEET_LEAST_DEVIATION;
    siblings->bins_from = siblings->centre - half;
    siblings->bins_to = fmin(siblings->centre + half, DBL_MAX);
    for (size_t i = 0; i < count; i++) {
        double place = (fleet->values[values[i].value].value - siblings->centre) / half;
        double bin = floor((place + 1) / 2 * XB_FLEET_BINS);
        siblings->bins[(size_t)fmin(fmax(bin, 0), XB_FLEET_BINS - 1)]++;
    }
}

/* What is told of all values of a figure, which are in the order of their logarithms. */
static void describe(const struct xb_fleet *fleet, const struct xb_tested *values, size_t count,
                     double *scratch, struct xb_fleet_siblings *siblings)
{
    for (size_t i = 0; i < count; i++)
        scratch[i] = fleet->values[values[i].value].value;
    siblings->values = count;
    (void)xb_median_of(scratch, count); /* sorts; its sum of two may be too large */
    siblings->centre =
        scratch[(count - 1) / 2] + (scratch[count / 2] - scratch[(count - 1) / 2]) / 2;
    siblings->least = scratch[0];
    siblings->most = scratch[count - 1];
    double floor_of = fmax(typical_scatter(fleet, values, count, scratch), XB_FLEET_LEAST_SPREAD);
    double lowest = 0;
    double highest = 0;
    double low = values[(count - 1) / 2].logarithm;
    double middle = low + (values[count / 2].logarithm - low) / 2;
    for (size_t i = 0; i < count; i++)
        scratch[i] = fabs(values[i].logarithm - middle);
    double spread = XB_FLEET_TO_DEVIATION * xb_median_of(scratch, count);
    for (size_t i = 0; i < count; i++) {
        lowest = fmin(lowest, values[i].shift);
        highest = fmax(highest, values[i].shift);
    }
    double distance = highest - lowest;
    siblings->slots_differ = distance >= XB_FLEET_LEAST_DEVIATION ? expm1(distance) : 0;
    siblings->is_floor = !(spread > floor_of);
    siblings->spread = fmax(spread, floor_of);
    siblings->wide = xb_fleet_wide(values, count, siblings->spread);
    count_bins(fleet, values, count, siblings);
}

/* Describes `count` values of one figure, and gives each its siblings if there are enough. */
static enum xb_status gather(const struct xb_fleet *fleet, struct xb_tested *values, size_t count,
                             double *scratch, struct xb_fleet_siblings *siblings,
                             struct xb_error *error)
{
    *siblings = (struct xb_fleet_siblings){.figure = fleet->values[values[0].value].figure,
                                           .named_from = NAN};
    enum xb_status status = xb_fleet_independent(fleet, values, count, scratch, siblings, error);
    if (status != XB_OK)
        return status;
    siblings->judged = count > XB_FLEET_SIBLINGS;
    if (siblings->judged)
        xb_fleet_leave_each_out(values, count, scratch);
    else
        qsort(values, count, sizeof *values, compare_logarithms);
    describe(fleet, values, count, scratch, siblings);
    if (!siblings->judged)
        return XB_OK;
    double typical = typical_scatter(fleet, values, count, scratch);
    for (size_t i = 0; i < count; i++) {
        double least = fmax(fmax(typical, XB_FLEET_LEAST_SPREAD), values[i].unsure);
        values[i].spread = add_own_scatter(fmax(values[i].spread, least),
                                           fleet->values[values[i].value].scatter, typical);
        values[i].wide = siblings->wide;
        values[i].independent = siblings->independent * (double)(count - 1) / (double)count;
    }
    return XB_OK;
}

size_t xb_fleet_end_of_figure(const struct xb_judging *judging, size_t begin)
{
    const struct xb_fleet_value *values = judging->fleet->values;
    size_t figure = values[judging->tested[begin].value].figure;
    size_t end = begin;
    while (end < judging->tested_count && values[judging->tested[end].value].figure == figure)
        end++;
    return end;
}

enum xb_status xb_fleet_gather_siblings(struct xb_judging *judging, struct xb_error *error)
{
    struct xb_fleet_judgement *judgement = judging->judgement;
    size_t kept = 0;
    if (judging->tested_count == 0)
        return XB_OK;
    double *scratch = malloc(judging->tested_count * sizeof *scratch);
    judgement->siblings = calloc(judging->fleet->figure_count, sizeof *judgement->siblings);
    if (scratch == NULL || judgement->siblings == NULL) {
        free(scratch);
        return xb_fleet_no_memory(error);
    }
    enum xb_status status = XB_OK;
    for (size_t begin = 0; status == XB_OK && begin < judging->tested_count;) {
        size_t end = xb_fleet_end_of_figure(judging, begin);
        struct xb_fleet_siblings *siblings = &judgement->siblings[judgement->sibling_count++];
        status =
            gather(judging->fleet, judging->tested + begin, end - begin, scratch, siblings, error);
        for (size_t i = 0; siblings->judged && i < end - begin; i++)
            judging->tested[kept++] = judging->tested[begin + i];
        begin = end;
    }
    judging->tested_count = kept;
    free(scratch);
    return status;
}
