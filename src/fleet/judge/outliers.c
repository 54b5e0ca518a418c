/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/internal.h"

#include "compare/rank_test.h"

#include <float.h>
#include <math.h>

/* Two racks with different settings make two narrow groups with nothing between them. If the groups
 * are equally large, the spread is about their distance, and no GPU is named. So this file looks
 * for the widest gap that leaves enough values on each side. */

#define NOTED 10u      /* most figures that get a note */
#define APART 6        /* least distance of the medians, in spreads of the wider group */
#define EMPTY (1. / 3) /* least width of the gap, as a share of that distance */

/* The median of sorted values. */
static double middle_of(const struct xb_tested *values, size_t count)
{
    return (values[(count - 1) / 2].logarithm + values[count / 2].logarithm) / 2;
}

/* The distance from the median to the quartile on the wider side (0.6745 standard deviations for
 * normal values), scaled to a standard deviation. Needs no memory. */
static double width_of(const struct xb_tested *values, size_t count)
{
    double middle = middle_of(values, count);
    double low = middle - values[count / 4].logarithm;
    double high = values[count - 1 - count / 4].logarithm - middle;
    return XB_FLEET_TO_DEVIATION * fmax(low, high);
}

/* Notes where values form two groups, or so many are slow or fast that they have a cause in common.
 */
static void note_groups(struct xb_judging *judging, const struct xb_fleet_siblings *siblings,
                        const struct xb_tested *values, struct xb_node_tally *tally)
{
    char name[256];
    size_t count = siblings->values, begin = 0; /* of the upper group; 0: there is only one */
    size_t least = (size_t)fmax(XB_FLEET_TOGETHER_SHARE * (double)count, XB_FLEET_TOGETHER);
    double widest = 0, distance = 0;
    for (size_t i = least; i + least <= count; i++) {
        double gap = values[i].logarithm - values[i - 1].logarithm;
        begin = gap > widest ? i : begin;
        widest = fmax(gap, widest);
    }
    if (begin > 0) {
        double width = fmax(width_of(values, begin), width_of(values + begin, count - begin));
        distance = middle_of(values + begin, count - begin) - middle_of(values, begin);
        bool apart = distance >= APART * fmax(width, XB_FLEET_LEAST_SPREAD) &&
                     distance >= XB_FLEET_LEAST_DEVIATION && widest >= EMPTY * distance;
        begin = apart ? begin : 0;
    }
    bool slow = xb_fleet_is_together(siblings->slow_nodes, siblings->nodes);
    bool fast = xb_fleet_is_together(siblings->fast_nodes, siblings->nodes);
    if ((begin == 0 && !slow && !fast) || ++judging->group_notes > NOTED)
        return;
    xb_fleet_figure_text(siblings->figure, name, sizeof name);
    if (begin == 0) {
        XB_NOTE("%s: %zu of %zu values are slow and %zu fast. Look for what they have in common "
                "before you take nodes out of service.",
                name, siblings->slow, count, siblings->fast);
        return;
    }
    /* The smaller of two groups. */
    bool lower = begin <= count - begin;
    const struct xb_tested *group = lower ? values : values + begin;
    size_t members = lower ? begin : count - begin;
    double share = expm1(lower ? -distance : distance);
    xb_node_tally_begin(tally);
    for (size_t i = 0; i < members; i++)
        xb_node_tally_add(tally, group[i].value->gpu->node);
    XB_NOTE(
        "%s: %zu of %zu values, on %zu node%s, form a group %s %s the others. Another setting "
        "(firmware, power, driver) is likelier than so many faults: compare a node of each group.",
        name, members, count, tally->count, XB_PLURAL(tally->count),
        xb_fleet_percent_text(fmin(share, 1e6), (char[64]){0}), lower ? "below" : "above");
}

/* ---- slow and fast ones ---- */

static bool is_named(const struct xb_judging *judging, const struct xb_tested *tested, bool low)
{
    return tested->p <= judging->judgement->request.alpha &&
           (low ? -tested->share : tested->share) >= XB_FLEET_LEAST_DEVIATION;
}

static void name(struct xb_judging *judging, const struct xb_tested *tested,
                 enum xb_fleet_code code, bool together)
{
    const struct xb_fleet_figure *figure = tested->value->figure;
    struct xb_fleet_finding finding =
        xb_fleet_finding_of(code, tested->value, exp(tested->centre + tested->shift));
    finding.deviation = tested->share;
    finding.spreads = tested->spreads;
    finding.p = tested->p;
    finding.together = together;
    const char *label = figure->name != NULL ? figure->name : "value";
    const char *own = xb_fleet_value_text(finding.value, figure->unit, true, (char[64]){0});
    const char *centre = xb_fleet_value_text(finding.centre, figure->unit, false, (char[64]){0});
    if (finding.deviation >= 1)
        xb_fleet_add_finding(judging, finding, "%s %s, %.3g times its %zu siblings (%s)", label,
                             own, finding.deviation + 1, tested->siblings, centre);
    else
        xb_fleet_add_finding(judging, finding, "%s %s, %s %s its %zu siblings (%s)", label, own,
                             xb_fleet_percent_text(finding.deviation, (char[64]){0}),
                             finding.deviation < 0 ? "below" : "above", tested->siblings, centre);
}

/* Names those at one end of sorted values, the outermost first. One is together with others if so
 * many nodes lie at least half as far out: many that are a little slow do not excuse one that is
 * very slow. Counts them and, in the end, all their nodes. */
static void name_end(struct xb_judging *judging, const struct xb_tested *tested,
                     struct xb_fleet_siblings *siblings, bool low, struct xb_node_tally *tally)
{
    bool fast = siblings->figure->more_is_better == !low;
    size_t count = siblings->values, named = 0;
    double centre = tested[count / 2].logarithm; /* they are sorted */
    xb_node_tally_begin(tally);
#define AT(i) (&tested[low ? (i) : count - 1 - (i)])
    for (size_t i = 0, near = 0; i < count; i++) {
        const struct xb_tested *own = AT(i);
        if (!is_named(judging, own, low))
            continue;
        for (; near < count &&
               2 * fabs(AT(near)->logarithm - centre) >= fabs(own->logarithm - centre);
             near++)
            if (is_named(judging, AT(near), low))
                xb_node_tally_add(tally, AT(near)->value->gpu->node);
        name(judging, own, fast ? XB_FLEET_FAST : XB_FLEET_SLOW,
             xb_fleet_is_together(tally->count, siblings->nodes));
        named++;
    }
    *(fast ? &siblings->fast : &siblings->slow) = named;
    *(fast ? &siblings->fast_nodes : &siblings->slow_nodes) = tally->count;
}

void xb_fleet_name_outliers(struct xb_judging *judging)
{
    struct xb_fleet_judgement *judgement = judging->judgement;
    struct xb_tested *tested = judging->tested;
    struct xb_node_tally tally = xb_node_tally_open(judging);
    bool *judged = XB_SCRATCH(judging, judging->fleet->gpu_count, sizeof *judged);
    double *p = XB_SCRATCH(judging, judging->tested_count, sizeof *p);
    double alpha = judgement->request.alpha;
    size_t left = judging->tested_count;
    judgement->tests = judging->tested_count;
    for (size_t i = 0; i < judging->tested_count; i++) {
        size_t gpu = tested[i].value->gpu->number;
        judgement->judged_gpus += !judged[gpu];
        judged[gpu] = true;
        /* Normal values and normal logarithms differ in their tails: take the smaller distance, so
         * that the promise holds for both. */
        double logarithms = tested[i].logarithm - tested[i].centre;
        double distance = logarithms < 0 ? expm1(logarithms) : logarithms;
        tested[i].share = fmin(expm1(logarithms), DBL_MAX);
        tested[i].spreads = distance / tested[i].spread;
        p[i] = xb_tail_of_figure(fabs(tested[i].spreads), tested[i].independent,
                                 &tested[i].tails[distance > 0]);
    }
    xb_holm_adjust(p, judging->tested_count);
    for (size_t i = 0; i < judging->tested_count; i++) {
        tested[i].p = p[i];
        left -= p[i] <= alpha;
    }
    /* By Holm's procedure the next value would be named if it were this unlikely. */
    double next = fmax(alpha, DBL_MIN) / (double)(left > 0 ? left : 1);
    XB_EACH (siblings, judgement->siblings, judgement->sibling_count) {
        if (!siblings->judged)
            continue;
        const bool more = siblings->figure->more_is_better;
        double n =
            siblings->independent * (double)(siblings->values - 1) / (double)siblings->values;
        double *const limits[] = {more ? &siblings->named_from : &siblings->fast_from,
                                  more ? &siblings->fast_from : &siblings->named_from};
        for (int end = 0; end < 2; end++)
            *limits[end] = fmax(xb_tail_limit(next, n, &siblings->tails[end]) * siblings->spread,
                                XB_FLEET_LEAST_DEVIATION);
        name_end(judging, tested, siblings, true, &tally);
        name_end(judging, tested, siblings, false, &tally);
        note_groups(judging, siblings, tested, &tally);
        tested += siblings->values;
    }
    if (judging->group_notes > NOTED)
        XB_NOTE("The same holds for %zu more figures.", judging->group_notes - NOTED);
}
