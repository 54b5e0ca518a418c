/* SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#include <math.h>

/*
 * Two racks with different settings make two narrow groups with nothing between them. If the groups
 * are equally large, the spread is about their distance, and no GPU is named. So this file looks
 * for the widest gap that leaves enough values on each side.
 */

#define NOTED 10u      /* most figures that get a note */
#define APART 6        /* least distance of the medians, in spreads of the wider group */
#define EMPTY (1. / 3) /* least width of the gap, as a share of that distance */

bool xb_fleet_is_together(size_t named, size_t count)
{
    bool many =
        named >= XB_FLEET_TOGETHER && (double)named > XB_FLEET_TOGETHER_SHARE * (double)count;
    return many || (named > 1 && 2 * named > count);
}

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

/* The index where the upper group begins; 0 if there is only one group. */
static size_t find_gap(const struct xb_tested *values, size_t count)
{
    size_t least = (size_t)(XB_FLEET_TOGETHER_SHARE * (double)count);
    if (least < XB_FLEET_TOGETHER)
        least = XB_FLEET_TOGETHER;
    size_t begin = 0;
    double widest = 0;
    for (size_t i = least; i + least <= count; i++) {
        double gap = values[i].logarithm - values[i - 1].logarithm;
        if (gap > widest) {
            widest = gap;
            begin = i;
        }
    }
    if (begin == 0)
        return 0;
    double distance = middle_of(values + begin, count - begin) - middle_of(values, begin);
    double width = fmax(width_of(values, begin), width_of(values + begin, count - begin));
    bool apart = distance >= APART * fmax(width, XB_FLEET_LEAST_SPREAD) &&
                 distance >= XB_FLEET_LEAST_DEVIATION && widest >= EMPTY * distance;
    return apart ? begin : 0;
}

/* Notes the smaller of two groups. */
static void note_group(struct xb_judging *judging, size_t figure, const struct xb_tested *values,
                       size_t count, size_t begin)
{
    bool lower = begin <= count - begin;
    const struct xb_tested *group = lower ? values : values + begin;
    size_t members = lower ? begin : count - begin;
    double distance = middle_of(values + begin, count - begin) - middle_of(values, begin);
    double share = expm1(lower ? -distance : distance);
    char name[256], percent[64];
    const struct xb_fleet *fleet = judging->fleet;
    struct xb_node_tally tally = xb_node_tally_open(judging);
    if (judging->failed)
        return;
    for (size_t i = 0; i < members; i++)
        xb_node_tally_add(&tally, fleet->gpus[fleet->values[group[i].value].gpu].node);
    xb_fleet_add_note(
        judging,
        "%s: %zu of %zu values, on %zu node%s, form a group %s %s the others. Another setting "
        "(firmware, power, driver) is likelier than so many faults: compare a node of each group.",
        xb_fleet_figure_text(&fleet->figures[figure], name, sizeof name), members, count,
        tally.count, tally.count == 1 ? "" : "s", xb_fleet_percent_text(fmin(share, 1e6), percent),
        lower ? "below" : "above");
}

void xb_fleet_note_groups(struct xb_judging *judging, const struct xb_fleet_siblings *siblings,
                          const struct xb_tested *values, size_t count)
{
    char name[256];
    size_t begin = find_gap(values, count);
    bool slow = xb_fleet_is_together(siblings->slow_nodes, siblings->nodes);
    bool fast = xb_fleet_is_together(siblings->fast_nodes, siblings->nodes);
    if ((begin == 0 && !slow && !fast) || ++judging->group_notes > NOTED)
        return;
    if (begin > 0)
        note_group(judging, siblings->figure, values, count, begin);
    else
        xb_fleet_add_note(
            judging,
            "%s: %zu of %zu values are slow and %zu fast. Look for what they have in common before "
            "you take nodes out of service.",
            xb_fleet_figure_text(&judging->fleet->figures[siblings->figure], name, sizeof name),
            siblings->slow, count, siblings->fast);
}

void xb_fleet_note_more(struct xb_judging *judging)
{
    if (judging->group_notes > NOTED)
        xb_fleet_add_note(judging, "The same holds for %zu more figures.",
                          judging->group_notes - NOTED);
}

/* ---- tails ---- */

/*
 * Values of many GPUs need not be normally distributed: if their tails are longer, values at the
 * ends are no faults. Slow GPUs make one tail longer, so the shorter one counts: nobody repairs a
 * GPU because it is fast.
 */

#define ENOUGH 50u     /* with fewer values too few lie at the ends */
#define OUTER 20u      /* an end is the outer one in 20 values */
#define NORMAL 1.6449  /* standard deviations from the median to an end of normal values */
#define UNCERTAIN 1.45 /* / sqrt(values): standard error of end / spread */

double xb_fleet_wide(const struct xb_tested *values, size_t count, double spread)
{
    if (count < ENOUGH)
        return 0;
    double middle = middle_of(values, count);
    double below = middle - values[count / OUTER].logarithm;
    double above = values[count - 1 - count / OUTER].logarithm - middle;
    double end = fmin(below, above);
    if (end <= spread * NORMAL * (1 + 2 * UNCERTAIN / sqrt((double)count)))
        return 0;
    /* The chance to lie that far off is 0.1. Few values tell the distance, so one standard error is
     * added. */
    return end / log(OUTER / 2.0) * (1 + sqrt(OUTER / (double)count));
}
