/* SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"
#include "order.h"
#include "xferbench/statistics.h"

#include <math.h>
#include <stdlib.h>

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

static double of_all(const struct xb_tested *values, size_t count, double *scratch)
{
    for (size_t i = 0; i < count; i++)
        scratch[i] = values[i].logarithm;
    double median = xb_median_of(scratch, count);
    for (size_t i = 0; i < count; i++)
        scratch[i] = fabs(values[i].logarithm - median);
    return XB_FLEET_TO_DEVIATION * xb_median_of(scratch, count);
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
    double all = of_all(values, count, scratch);
    /* One node alone does not show how nodes differ: its GPUs judge each other. */
    if (pairs == 0 || *groups < 2 || !(all > 0))
        return (double)count;
    double share = fmax(0, 1 - (inside / all) * (inside / all));
    return (double)count / (1 + (squares / (double)count - 1) * share);
}

struct by_peer {
    struct xb_tested tested;
    size_t node;
    int peer;
};

static int compare_peers(const void *left, const void *right)
{
    const struct by_peer *a = left;
    const struct by_peer *b = right;
    return XB_FIRST_ORDER(XB_ORDER(a->node, b->node), XB_ORDER(a->peer, b->peer),
                          XB_ORDER(a->tested.value, b->tested.value));
}

static bool sort_by_peer(const struct xb_fleet *fleet, struct xb_tested *values, size_t count)
{
    struct by_peer *sorted = malloc(count * sizeof *sorted);
    if (sorted == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        sorted[i] = (struct by_peer){values[i], node_of(fleet, &values[i]),
                                     value_of(fleet, &values[i])->peer};
    qsort(sorted, count, sizeof *sorted, compare_peers);
    for (size_t i = 0; i < count; i++)
        values[i] = sorted[i].tested;
    free(sorted);
    return true;
}

enum xb_status xb_fleet_independent(const struct xb_fleet *fleet, struct xb_tested *values,
                                    size_t count, double *scratch,
                                    struct xb_fleet_siblings *siblings, struct xb_error *error)
{
    size_t groups = 0;
    siblings->independent =
        effective_sample_size(fleet, values, count, share_node, scratch, &siblings->nodes);
    if (value_of(fleet, values)->peer < 0)
        return XB_OK;
    double of_sources = effective_sample_size(fleet, values, count, share_gpu, scratch, &groups);
    if (!sort_by_peer(fleet, values, count))
        return xb_fleet_no_memory(error);
    double of_targets = effective_sample_size(fleet, values, count, share_peer, scratch, &groups);
    siblings->independent = fmin(siblings->independent, fmin(of_sources, of_targets));
    return XB_OK;
}
