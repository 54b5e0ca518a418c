/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/rank_test.h"
#include "internal.h"
#include "tail.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* Normal values and normal logarithms differ in their tails: take the smaller distance, so that the
 * promise holds for both. */
static double distance_of(const struct xb_tested *tested)
{
    double logarithms = tested->logarithm - tested->centre;
    return logarithms < 0 ? expm1(logarithms) : logarithms;
}

static double spreads_of(const struct xb_tested *tested)
{
    return distance_of(tested) / tested->spread;
}

static double share_of(double logarithms)
{
    return fmin(expm1(logarithms), DBL_MAX);
}

static enum xb_status adjust(struct xb_judging *judging, struct xb_error *error)
{
    double *p = malloc(judging->tested_count * sizeof *p);
    if (p == NULL)
        return xb_fleet_no_memory(error);
    for (size_t i = 0; i < judging->tested_count; i++) {
        const struct xb_tested *tested = &judging->tested[i];
        p[i] = xb_tail_of_siblings(fabs(spreads_of(tested)), tested->independent);
        if (tested->wide > 0)
            p[i] = fmax(p[i], exp(-fabs(distance_of(tested)) / tested->wide));
    }
    enum xb_status status = xb_holm_adjust(p, judging->tested_count, error);
    for (size_t i = 0; status == XB_OK && i < judging->tested_count; i++)
        judging->tested[i].p = p[i];
    free(p);
    return status;
}

static bool is_named(const struct xb_judging *judging, const struct xb_tested *tested)
{
    double share = share_of(tested->logarithm - tested->centre);
    return tested->p <= judging->judgement->request.alpha &&
           fabs(share) >= XB_FLEET_LEAST_DEVIATION;
}

static bool is_low(const struct xb_tested *tested)
{
    return !(tested->logarithm > tested->centre);
}

static enum xb_fleet_code code_of(const struct xb_judging *judging, const struct xb_tested *tested)
{
    const struct xb_fleet *fleet = judging->fleet;
    bool better = fleet->figures[fleet->values[tested->value].figure].more_is_better;
    return !is_low(tested) == better ? XB_FLEET_FAST : XB_FLEET_SLOW;
}

static enum xb_status name(struct xb_judging *judging, const struct xb_tested *tested,
                           bool together, struct xb_error *error)
{
    const struct xb_fleet *fleet = judging->fleet;
    const struct xb_fleet_value *value = &fleet->values[tested->value];
    const struct xb_fleet_figure *figure = &fleet->figures[value->figure];
    struct xb_fleet_finding finding =
        xb_fleet_plain_finding(code_of(judging, tested), NULL, value->gpu);
    char own[64];
    char centre[64];
    char share[64];
    finding.node = fleet->nodes[fleet->gpus[value->gpu].node].name;
    finding.peer = value->peer;
    finding.figure = value->figure;
    finding.value = value->value;
    finding.centre = exp(tested->centre + tested->shift);
    finding.deviation = share_of(tested->logarithm - tested->centre);
    finding.spreads = spreads_of(tested);
    finding.p = tested->p;
    finding.together = together;
    xb_fleet_value_text(finding.value, figure->unit, true, own);
    xb_fleet_value_text(finding.centre, figure->unit, false, centre);
    const char *label = figure->name != NULL ? figure->name : "value";
    if (finding.deviation >= 1)
        return xb_fleet_add_finding(judging, &finding, error,
                                    "%s %s, %.3g times its %zu siblings (%s)", label, own,
                                    finding.deviation + 1, tested->siblings, centre);
    return xb_fleet_add_finding(judging, &finding, error, "%s %s, %s %s its %zu siblings (%s)",
                                label, own, xb_fleet_percent_text(finding.deviation, share),
                                finding.deviation < 0 ? "below" : "above", tested->siblings,
                                centre);
}

/* How many values are named for the code, and of how many nodes. */
static size_t count_named(const struct xb_judging *judging, const struct xb_tested *tested,
                          size_t count, enum xb_fleet_code code, struct xb_node_tally *tally)
{
    const struct xb_fleet *fleet = judging->fleet;
    size_t named = 0;
    xb_node_tally_begin(tally);
    for (size_t i = 0; i < count; i++) {
        if (!is_named(judging, &tested[i]) || code_of(judging, &tested[i]) != code)
            continue;
        named++;
        xb_node_tally_add(tally, fleet->gpus[fleet->values[tested[i].value].gpu].node);
    }
    return named;
}

static const struct xb_tested *from_end(const struct xb_tested *tested, size_t count, size_t i,
                                        bool low)
{
    return &tested[low ? i : count - 1 - i];
}

/* Names those at one end of sorted values, the outermost first. One is together with others if so
 * many nodes lie at least half as far out: many that are a little slow do not excuse one that is
 * very slow. */
static enum xb_status name_end(struct xb_judging *judging, const struct xb_tested *tested,
                               const struct xb_fleet_siblings *siblings, bool low,
                               struct xb_node_tally *tally, struct xb_error *error)
{
    const struct xb_fleet *fleet = judging->fleet;
    size_t count = siblings->values;
    double centre = tested[count / 2].logarithm; /* they are sorted */
    enum xb_status status = XB_OK;
    xb_node_tally_begin(tally);
    for (size_t i = 0, near = 0; status == XB_OK && i < count; i++) {
        const struct xb_tested *own = from_end(tested, count, i, low);
        if (!is_named(judging, own) || is_low(own) != low)
            continue;
        for (; near < count; near++) {
            const struct xb_tested *other = from_end(tested, count, near, low);
            if (2 * fabs(other->logarithm - centre) < fabs(own->logarithm - centre))
                break;
            if (is_named(judging, other) && is_low(other) == low)
                xb_node_tally_add(tally, fleet->gpus[fleet->values[other->value].gpu].node);
        }
        status = name(judging, own, xb_fleet_is_together(tally->count, siblings->nodes), error);
    }
    return status;
}

/* Names those of one figure, and notes where they are many. */
static enum xb_status name_of_figure(struct xb_judging *judging, const struct xb_tested *tested,
                                     struct xb_fleet_siblings *siblings,
                                     struct xb_node_tally *tally, struct xb_error *error)
{
    size_t count = siblings->values;
    siblings->slow = count_named(judging, tested, count, XB_FLEET_SLOW, tally);
    siblings->slow_nodes = tally->count;
    siblings->fast = count_named(judging, tested, count, XB_FLEET_FAST, tally);
    siblings->fast_nodes = tally->count;
    enum xb_status status = name_end(judging, tested, siblings, true, tally, error);
    if (status == XB_OK)
        status = name_end(judging, tested, siblings, false, tally, error);
    if (status == XB_OK)
        status = xb_fleet_note_groups(judging, siblings, tested, count, error);
    return status;
}

/* The deviation from which on the next value would be named: Holm's procedure gives it, and it is
 * at least XB_FLEET_LEAST_DEVIATION. */
static void tell_limits(struct xb_judging *judging)
{
    struct xb_fleet_judgement *judgement = judging->judgement;
    size_t rejected = 0;
    for (size_t i = 0; i < judging->tested_count; i++)
        rejected += judging->tested[i].p <= judgement->request.alpha;
    size_t left = judging->tested_count - rejected;
    double p = fmax(judgement->request.alpha, DBL_MIN) / (double)(left > 0 ? left : 1);
    for (size_t i = 0; i < judgement->sibling_count; i++) {
        struct xb_fleet_siblings *siblings = &judgement->siblings[i];
        if (!siblings->judged)
            continue;
        double n =
            siblings->independent * (double)(siblings->values - 1) / (double)siblings->values;
        double limit = fmax(xb_tail_limit(p, n) * siblings->spread, -log(p) * siblings->wide);
        siblings->named_from = fmax(limit, XB_FLEET_LEAST_DEVIATION);
    }
}

static enum xb_status count_gpus(struct xb_judging *judging, struct xb_error *error)
{
    const struct xb_fleet *fleet = judging->fleet;
    bool *judged = calloc(fleet->gpu_count + 1, sizeof *judged);
    if (judged == NULL)
        return xb_fleet_no_memory(error);
    for (size_t i = 0; i < judging->tested_count; i++)
        judged[fleet->values[judging->tested[i].value].gpu] = true;
    for (size_t i = 0; i < fleet->gpu_count; i++)
        judging->judgement->judged_gpus += judged[i];
    free(judged);
    return XB_OK;
}

enum xb_status xb_fleet_name_outliers(struct xb_judging *judging, struct xb_error *error)
{
    struct xb_fleet_judgement *judgement = judging->judgement;
    judgement->tests = judging->tested_count;
    if (judging->tested_count == 0)
        return XB_OK;
    enum xb_status status = count_gpus(judging, error);
    if (status == XB_OK)
        status = adjust(judging, error);
    if (status != XB_OK)
        return status;
    tell_limits(judging);
    struct xb_node_tally tally;
    status = xb_node_tally_open(&tally, judging->fleet, error);
    const struct xb_tested *tested = judging->tested;
    for (size_t i = 0; status == XB_OK && i < judgement->sibling_count; i++) {
        struct xb_fleet_siblings *siblings = &judgement->siblings[i];
        if (!siblings->judged)
            continue;
        status = name_of_figure(judging, tested, siblings, &tally, error);
        tested += siblings->values;
    }
    xb_node_tally_close(&tally);
    return status;
}
