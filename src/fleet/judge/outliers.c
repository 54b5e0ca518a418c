/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700 /* M_PI */
#include "fleet/internal.h"

#include "compare/rank_test.h"

#include <float.h>
#include <math.h>

/* ---- how likely a value is by chance ---- */

/* log(Gamma(a + 1/2) / Gamma(a)). Above 40 by its asymptotic series, because a difference of two
 * large logarithms would lose digits (Tricomi and Erdelyi, Pacific Journal of Mathematics 1,
 * 1951; here in powers of 1/a, from Stirling's series, DLMF 5.11.1). */
static double log_gamma_ratio(double a)
{
    if (a <= 40)
        return lgamma(a + 0.5) - lgamma(a);
    double b = 1 / (a * a);
    return 0.5 * log(a) - (1.0 / 8 - (1.0 / 192 - (1.0 / 640 - 17.0 / 14336 * b) * b) * b) / a;
}

/* A term of a continued fraction must not be 0 when the next divides by it. */
static double not_zero(double value)
{
    return fabs(value) < 1e-300 ? 1e-300 : value;
}

/* The continued fraction of the incomplete beta function (DLMF 8.17.22) by the modified method of
 * Lentz (Thompson and Barnett, Journal of Computational Physics 64, 1986). It converges fast for x
 * < (a + 1) / (a + b + 2). */
static double beta_fraction(double x, double a, double b)
{
    double c = 1;
    double d = 1 / not_zero(1 - (a + b) * x / (a + 1));
    double fraction = d;
    for (int m = 1; m < 1000; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 / not_zero(1 + even * d);
        c = not_zero(1 + even / c);
        fraction *= c * d;
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / not_zero(1 + odd * d);
        c = not_zero(1 + odd / c);
        fraction *= c * d;
        if (fabs(c * d - 1) < 1e-15)
            break;
    }
    return fraction;
}

/* It is the regularised incomplete beta function I(nu / (nu + t^2); nu / 2, 1 / 2). */
double xb_tail_student(double t, double nu)
{
    double a = nu / 2;
    double r = t / sqrt(nu);
    if (!(r > 0))
        return 1;
    if (isinf(r))
        return 0;
    /* x = 1 / (1 + r^2); its logarithm keeps its digits also where x is nearly 1 or 0. */
    double log_x = r < 1e8 ? -log1p(r * r) : -2 * log(r);
    double x = exp(log_x);
    double rest = r < 1e8 ? r * r / (1 + r * r) : 1;
    double front = exp(log_gamma_ratio(a) - 0.5 * log(M_PI) + a * log_x + 0.5 * log(rest));
    if (x < (a + 1) / (a + 2.5))
        return fmin(front * beta_fraction(x, a, 0.5) / a, 1);
    return fmax(1 - front * beta_fraction(rest, 0.5, a) / 0.5, 0);
}

/*
 * Two bounds, of which the lower one counts.
 *
 * Far out: the spread of n values is near 0 with a chance like its floor(n / 2)-th power, so the
 * tail is like that of Student's t with so many degrees of freedom, stretched. By how much follows
 * from the density of n / 2 + 1 values near each other, integrated over all places: 1.524 for 5
 * values, 1.370 for 15, 1.321 for 61.
 *
 * Nearer: for its variance, a median absolute deviation is worth a standard deviation of 0.3675 n
 * values (Rousseeuw and Croux, Journal of the American Statistical Association 88, 1993, table 2).
 * The stretch was fitted to simulated tails for n from 4 to 499.
 */
double xb_tail_of_siblings(double t, double others)
{
    double n = fmax(floor(others), 2);
    double far = xb_tail_student(t / (1.304 + 1.1 / n), floor(n / 2));
    if (n < 4)
        return far;
    return fmin(far, xb_tail_student(t / (1 + 1.3 / n), 0.3675 * n));
}

double xb_tail_limit(double p, double others)
{
    double low = 0, high = 1;
    while (high < 1e300 && xb_tail_of_siblings(high, others) > p)
        high *= 2;
    while (high - low > 1e-12 * high) {
        double middle = low + (high - low) / 2;
        if (xb_tail_of_siblings(middle, others) > p)
            low = middle;
        else
            high = middle;
    }
    return high;
}

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
    const struct xb_fleet_value *value = tested->value;
    const struct xb_fleet_figure *figure = value->figure;
    const struct xb_fleet_finding finding = {code,
                                             value->gpu->node,
                                             value->gpu,
                                             figure,
                                             value->peer,
                                             value->value,
                                             exp(tested->centre + tested->shift),
                                             tested->share,
                                             tested->spreads,
                                             tested->p,
                                             .together = together};
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
        p[i] = xb_tail_of_siblings(fabs(tested[i].spreads), tested[i].independent);
        if (tested[i].wide > 0)
            p[i] = fmax(p[i], exp(-fabs(distance) / tested[i].wide));
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
        double n =
            siblings->independent * (double)(siblings->values - 1) / (double)siblings->values;
        double limit = fmax(xb_tail_limit(next, n) * siblings->spread, -log(next) * siblings->wide);
        siblings->named_from = fmax(limit, XB_FLEET_LEAST_DEVIATION);
        name_end(judging, tested, siblings, true, &tally);
        name_end(judging, tested, siblings, false, &tally);
        note_groups(judging, siblings, tested, &tally);
        tested += siblings->values;
    }
    if (judging->group_notes > NOTED)
        XB_NOTE("The same holds for %zu more figures.", judging->group_notes - NOTED);
}
