/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* qsort_r */
#include "internal.h"
#include "xferbench/statistics.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* ---- how alike they are ---- */

/*
 * GPUs of a node share its memory, settings and neighbours, and the copies to and from a GPU share
 * that: 56 values of pairs of one node may be as good as eight or as one. How alike they are is the
 * share of the variance that lies between nodes, and so many values are worth n / (1 + (m - 1)
 * share) for m values a node (Kish, "Survey Sampling", 1965, section 5.4); likewise for sources and
 * targets of pairs. Both variances are from medians, so that outliers do not count.
 */

/* Whether two values have in common what makes them alike. */
typedef bool share_something(const struct xb_fleet *fleet, const struct xb_tested *left,
                             const struct xb_tested *right);

static const struct xb_fleet_value *value_of(const struct xb_fleet *fleet,
                                             const struct xb_tested *tested)
{
    return &fleet->values[tested->value];
}

static size_t node_of(const struct xb_fleet *fleet, const struct xb_tested *tested)
{
    return fleet->gpus[value_of(fleet, tested)->gpu].node;
}

static bool share_node(const struct xb_fleet *fleet, const struct xb_tested *left,
                       const struct xb_tested *right)
{
    return node_of(fleet, left) == node_of(fleet, right);
}

static bool share_gpu(const struct xb_fleet *fleet, const struct xb_tested *left,
                      const struct xb_tested *right)
{
    return value_of(fleet, left)->gpu == value_of(fleet, right)->gpu;
}

static bool share_peer(const struct xb_fleet *fleet, const struct xb_tested *left,
                       const struct xb_tested *right)
{
    return share_node(fleet, left, right) &&
           value_of(fleet, left)->peer == value_of(fleet, right)->peer;
}

/* Spread within a group, from differences of neighbours. 0 if no group has two values. */
static double within(const struct xb_fleet *fleet, const struct xb_tested *values, size_t count,
                     share_something *alike, double *scratch, size_t *pairs)
{
    *pairs = 0;
    for (size_t i = 1; i < count; i++)
        if (alike(fleet, &values[i], &values[i - 1]))
            scratch[(*pairs)++] = fabs(values[i].logarithm - values[i - 1].logarithm);
    return XB_FLEET_TO_DEVIATION * xb_median_of(scratch, *pairs) / sqrt(2);
}

/* What `count` values are worth, of which those that are alike stand together in `groups` groups.
 */
static double effective_sample_size(const struct xb_fleet *fleet, const struct xb_tested *values,
                                    size_t count, share_something *alike, double *scratch,
                                    size_t *groups)
{
    double squares = 0;
    *groups = 0;
    for (size_t i = 0; i < count; (*groups)++) {
        size_t begin = i;
        while (i < count && alike(fleet, &values[i], &values[begin]))
            i++;
        squares += (double)(i - begin) * (double)(i - begin);
    }
    size_t pairs = 0;
    double inside = within(fleet, values, count, alike, scratch, &pairs);
    for (size_t i = 0; i < count; i++)
        scratch[i] = values[i].logarithm;
    double median = xb_median_of(scratch, count);
    for (size_t i = 0; i < count; i++)
        scratch[i] = fabs(values[i].logarithm - median);
    double all = XB_FLEET_TO_DEVIATION * xb_median_of(scratch, count);
    /* One node alone does not show how nodes differ: its GPUs judge each other. */
    if (pairs == 0 || *groups < 2 || !(all > 0))
        return (double)count;
    double share = fmax(0, 1 - (inside / all) * (inside / all));
    return (double)count / (1 + (squares / (double)count - 1) * share);
}

static int compare_peers(const void *left, const void *right, void *fleet)
{
    const struct xb_tested *a = left, *b = right;
    return XB_FIRST_ORDER(XB_ORDER(node_of(fleet, a), node_of(fleet, b)),
                          XB_ORDER(value_of(fleet, a)->peer, value_of(fleet, b)->peer),
                          XB_ORDER(a->value, b->value));
}

/* Sets how many values that know nothing of each other judge as well as these of one figure, which
 * are in the order of their nodes and GPUs, and of how many nodes they are. Changes the order of
 * pairs. `scratch` has room for as many. */
static void find_independent(struct xb_fleet *fleet, struct xb_tested *values, size_t count,
                             double *scratch, struct xb_fleet_siblings *siblings)
{
    size_t groups = 0;
    siblings->independent =
        effective_sample_size(fleet, values, count, share_node, scratch, &siblings->nodes);
    if (value_of(fleet, values)->peer < 0)
        return;
    double of_sources = effective_sample_size(fleet, values, count, share_gpu, scratch, &groups);
    qsort_r(values, count, sizeof *values, compare_peers, fleet);
    double of_targets = effective_sample_size(fleet, values, count, share_peer, scratch, &groups);
    siblings->independent = fmin(siblings->independent, fmin(of_sources, of_targets));
}

/* ---- each by the others ---- */

static int compare_logarithms(const void *left, const void *right)
{
    const struct xb_tested *a = left, *b = right;
    return XB_FIRST_ORDER(XB_ORDER(a->logarithm, b->logarithm), XB_ORDER(a->value, b->value));
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
    /* The distances of sorted values from `centre`, sorted. */
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

/* Describes `count` values of one figure, and gives each its siblings if there are enough. */
static void gather(struct xb_fleet *fleet, struct xb_tested *values, size_t count, double *scratch,
                   struct xb_fleet_siblings *siblings)
{
    *siblings = (struct xb_fleet_siblings){.figure = fleet->values[values[0].value].figure,
                                           .judged = count > XB_FLEET_SIBLINGS,
                                           .named_from = NAN};
    find_independent(fleet, values, count, scratch, siblings);
    if (siblings->judged)
        xb_fleet_leave_each_out(values, count, scratch);
    else
        qsort(values, count, sizeof *values, compare_logarithms);
    describe(fleet, values, count, scratch, siblings);
    if (!siblings->judged)
        return;
    double typical = typical_scatter(fleet, values, count, scratch);
    for (size_t i = 0; i < count; i++) {
        double least = fmax(fmax(typical, XB_FLEET_LEAST_SPREAD), values[i].unsure);
        double own = fleet->values[values[i].value].scatter;
        values[i].spread = fmax(values[i].spread, least);
        /* A value whose own samples scatter more than most may lie further off by that. */
        if (is_known(own) && !(own <= typical))
            values[i].spread =
                xb_fleet_add_squares(values[i].spread, sqrt(own - typical) * sqrt(own + typical));
        values[i].wide = siblings->wide;
        values[i].independent = siblings->independent * (double)(count - 1) / (double)count;
    }
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

void xb_fleet_gather_siblings(struct xb_judging *judging)
{
    struct xb_fleet_judgement *judgement = judging->judgement;
    size_t kept = 0;
    double *scratch = XB_SCRATCH(judging, judging->tested_count, sizeof *scratch);
    judgement->siblings = xb_new(judging->fleet->figure_count, sizeof *judgement->siblings);
    for (size_t begin = 0, end = 0; begin < judging->tested_count; begin = end) {
        end = xb_fleet_end_of_figure(judging, begin);
        struct xb_fleet_siblings *siblings = &judgement->siblings[judgement->sibling_count++];
        gather(judging->fleet, judging->tested + begin, end - begin, scratch, siblings);
        for (size_t i = 0; siblings->judged && i < end - begin; i++)
            judging->tested[kept++] = judging->tested[begin + i];
    }
    judging->tested_count = kept;
}
