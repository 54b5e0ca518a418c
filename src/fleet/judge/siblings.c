/* SPDX-License-Identifier: Apache-2.0 */
/* What each value is judged by: what is usual for its slot, and its siblings. */
#include "fleet/internal.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- slots ---- */

/*
 * A slot may be slower than others of its node by design: behind one more switch, or beside another
 * CPU. Together, such GPUs look as if they scatter, which hides one that is slow for its slot; or
 * those of few slots look slow on every node. So a GPU is judged by how far it lies from what is
 * usual for its slot.
 *
 * Slots are compared within nodes. Nodes of another kind may have other addresses: if all GPUs of
 * these are slow, that is no slot's design.
 */

/* The median of n normal values scatters by so many spreads, divided by the root of n. */
#define OF_MEDIAN 1.2533141373155003
/* A slot differs if it lies further off than so many of those: of 370 equal slots one does. */
#define SURE 3
/* A slot that differs by more is hardly meant to: its GPUs are named. A logarithm. */
#define MOST 0.25

/* A value and the slot of its GPU. */
struct seat {
    const char *slot; /* PCI address; equal texts have one address */
    double offset;    /* of its logarithm from the median of its node */
    size_t tested;
};

XB_COMPARER(compare_seats, struct seat, strcmp(a->slot, b->slot), XB_BY(tested))

/* The median of sorted offsets if one of them, `own`, is left out: with it, a value would hide
 * behind itself where nodes are few. */
static double median_without(const double *sorted, size_t count, double own)
{
    size_t upper = (count - 1) / 2, lower = (count - 2) / 2;
    return (sorted[lower + (own <= sorted[lower])] + sorted[upper + (own <= sorted[upper])]) / 2;
}

/* Shifts the `all` values of one figure by what is usual for their slots, where these differ.
 * Returns by how much the slots differ. */
static double shift(struct xb_tested *tested, size_t all, struct seat *seats, double *scratch)
{
    bool is_of_pairs = tested[0].value->peer >= 0;
    size_t count = 0, kept = 0;
    double least = 0, most = 0;
    for (size_t i = 0, next = 0; i < all && !is_of_pairs; i = next) {
        size_t first = count;
        for (; next < all && tested[next].value->gpu->node == tested[i].value->gpu->node; next++) {
            const char *slot = tested[next].value->gpu->pci_bdf;
            scratch[next - i] = tested[next].logarithm;
            if (slot != NULL)
                seats[count++] = (struct seat){.slot = slot, .tested = next};
        }
        double usual = xb_median_of(scratch, next - i);
        for (size_t k = first; k < count; k++)
            seats[k].offset = tested[seats[k].tested].logarithm - usual;
    }
    qsort(seats, count, sizeof *seats, compare_seats);
    double middle = XB_MEDIAN(scratch, count, seats[i].offset);
    /* A slot that enough values have tells what is usual there. */
    XB_EACH_GROUP (count, seats[end].slot == seats[begin].slot) {
        double usual = XB_MEDIAN(scratch + kept, end - begin, seats[begin + i].offset);
        for (size_t i = begin; i < end && end - begin > XB_FLEET_SIBLINGS; i++) {
            scratch[kept] = fabs(seats[i].offset - usual);
            seats[kept++] = seats[i];
        }
    }
    double spread =
        fmax(XB_FLEET_TO_DEVIATION * xb_median_of(scratch, kept), XB_FLEET_LEAST_SPREAD);
    XB_EACH_GROUP (kept, seats[end].slot == seats[begin].slot) {
        double usual = XB_MEDIAN(scratch, end - begin, seats[begin + i].offset) - middle;
        double sure = SURE * OF_MEDIAN * spread / sqrt((double)(end - begin));
        if (fabs(usual) <= sure || fabs(usual) > MOST)
            continue;
        for (size_t i = begin; i < end; i++) { /* `scratch` still has the slot's, sorted */
            struct xb_tested *own = &tested[seats[i].tested];
            own->shift = median_without(scratch, end - begin, seats[i].offset) - middle;
            own->logarithm -= own->shift;
        }
        least = fmin(least, usual);
        most = fmax(most, usual);
    }
    /* What is usual for a slot that few nodes have, or that nobody told, is not known: it may be
     * anything between the others. */
    for (size_t i = 0; i < all; i++)
        tested[i].unsure = (most - least) / 2;
    for (size_t i = 0; i < kept; i++)
        tested[seats[i].tested].unsure = 0;
    return most - least;
}

/* GPUs of a node share its memory, settings and neighbours, and the copies to and from a GPU share
 * that: 56 values of pairs of one node may be as good as eight or as one. How alike they are is the
 * share of the variance that lies between nodes, and so many values are worth n / (1 + (m - 1)
 * share) for m values a node (Kish, "Survey Sampling", 1965, section 5.4); likewise for sources and
 * targets of pairs. Both variances are from medians, so that outliers do not count. */

/* What values have in common that are alike: a node, and on it a GPU or a peer. */
enum common { A_NODE, A_GPU, A_PEER };

/* What `count` values are worth, of which those that are alike stand together in `groups` groups.
 */
static double effective_sample_size(const struct xb_tested *values, size_t count, enum common what,
                                    double *scratch, size_t *groups)
{
    double squares = 0;
    size_t pairs = 0;
    *groups = 0;
    for (size_t begin = 0, end = 0; begin < count; begin = end, (*groups)++) {
        const struct xb_fleet_value *first = values[begin].value, *next;
        for (end++; end < count && (next = values[end].value)->gpu->node == first->gpu->node &&
                    (what != A_GPU || next->gpu == first->gpu) &&
                    (what != A_PEER || next->peer == first->peer);
             end++)
            scratch[pairs++] = fabs(values[end].logarithm - values[end - 1].logarithm);
        squares += (double)(end - begin) * (double)(end - begin);
    }
    /* The spread within a group, from differences of neighbours. */
    double inside = XB_FLEET_TO_DEVIATION * xb_median_of(scratch, pairs) / sqrt(2);
    double median = XB_MEDIAN(scratch, count, values[i].logarithm);
    double all =
        XB_FLEET_TO_DEVIATION * XB_MEDIAN(scratch, count, fabs(values[i].logarithm - median));
    /* One node alone does not show how nodes differ: its GPUs judge each other. */
    if (pairs == 0 || *groups < 2 || !(all > 0))
        return (double)count;
    double share_between = fmax(0, 1 - (inside / all) * (inside / all));
    return (double)count / (1 + (squares / (double)count - 1) * share_between);
}

XB_COMPARER(compare_peers, struct xb_tested, XB_BY(value->gpu->node->number), XB_BY(value->peer),
            XB_BY(value))

/* ---- each by the others ---- */

XB_COMPARER(compare_logarithms, struct xb_tested, XB_BY(logarithm), XB_BY(value))

void xb_fleet_leave_each_out(struct xb_tested *values, size_t count, double *offsets)
{
    /* The others' median is the same for all before the middle, for it, and for all behind it. */
    const size_t ends[] = {count / 2, (count + 1) / 2, count};
    const size_t lower = (count - 2) / 2, upper = (count - 1) / 2; /* of the others */
    qsort(values, count, sizeof *values, compare_logarithms);
    for (size_t k = 0, begin = 0; k < 3; begin = ends[k++]) {
        double centre = (values[lower + (lower >= begin)].logarithm +
                         values[upper + (upper >= begin)].logarithm) /
                        2;
        size_t above = 0;
        while (above < count && values[above].logarithm <= centre)
            above++;
        /* The distances of sorted values from there, sorted. */
        for (size_t i = 0, below = above; i < count; i++) {
            bool up = below == 0 || (above < count && values[above].logarithm - centre <
                                                          centre - values[below - 1].logarithm);
            offsets[i] =
                up ? values[above++].logarithm - centre : centre - values[--below].logarithm;
        }
        for (size_t i = begin; i < ends[k]; i++) {
            double own = fabs(values[i].logarithm - centre);
            values[i].centre = centre;
            values[i].spread = XB_FLEET_TO_DEVIATION * median_without(offsets, count, own);
            values[i].siblings = count - 1;
        }
    }
}

/* ---- figure by figure ---- */

/* What its samples say; 0 where they say nothing: a few documents cannot excuse all others. */
static double scatter_of(const struct xb_tested *tested)
{
    double scatter = tested->value->scatter;
    return scatter >= 0 && isfinite(scatter) ? scatter : 0;
}

/* How many values that know nothing of each other judge as well as these, which come in the order
 * of their nodes and GPUs. */
static double worth_of(struct xb_tested *values, size_t count, double *scratch, size_t *nodes)
{
    size_t groups = 0;
    double worth = effective_sample_size(values, count, A_NODE, scratch, nodes);
    if (values->value->peer < 0)
        return worth;
    worth = fmin(worth, effective_sample_size(values, count, A_GPU, scratch, &groups));
    qsort(values, count, sizeof *values, compare_peers);
    return fmin(worth, effective_sample_size(values, count, A_PEER, scratch, &groups));
}

/* Describes `count` values of one figure, and gives each its siblings if there are enough. */
static void gather(struct xb_tested *values, size_t count, double *scratch,
                   struct xb_fleet_siblings *siblings)
{
    *siblings = (struct xb_fleet_siblings){.figure = values[0].value->figure,
                                           .values = count,
                                           .judged = count > XB_FLEET_SIBLINGS,
                                           .named_from = NAN,
                                           .fast_from = NAN};
    size_t lower = (count - 1) / 2, upper = count / 2;
    double worth = worth_of(values, count, scratch, &siblings->nodes);
    siblings->independent = worth;
    if (siblings->judged)
        xb_fleet_leave_each_out(values, count, scratch);
    else
        qsort(values, count, sizeof *values, compare_logarithms);
    /* Sorts; its sum of two may be too large. */
    (void)XB_MEDIAN(scratch, count, values[i].value->value);
    siblings->centre = scratch[lower] + (scratch[upper] - scratch[lower]) / 2;
    siblings->least = scratch[0];
    siblings->most = scratch[count - 1];
    double typical = XB_MEDIAN(scratch, count, scatter_of(&values[i]));
    double floor_of = fmax(typical, XB_FLEET_LEAST_SPREAD);
    double low = values[lower].logarithm;
    double middle = low + (values[upper].logarithm - low) / 2;
    double lowest = 0, highest = 0;
    for (size_t i = 0; i < count; i++) {
        lowest = fmin(lowest, values[i].shift);
        highest = fmax(highest, values[i].shift);
    }
    double spread =
        XB_FLEET_TO_DEVIATION * XB_MEDIAN(scratch, count, fabs(values[i].logarithm - middle));
    double distance = highest - lowest;
    siblings->slots_differ = distance >= XB_FLEET_LEAST_DEVIATION ? expm1(distance) : 0;
    siblings->is_floor = !(spread > floor_of);
    siblings->spread = fmax(spread, floor_of);
    double half = fmax(siblings->most - siblings->centre, siblings->centre - siblings->least);
    if (!(half > 0))
        half = siblings->centre * XB_FLEET_LEAST_DEVIATION;
    siblings->bins_from = siblings->centre - half;
    siblings->bins_to = fmin(siblings->centre + half, DBL_MAX);
    for (size_t i = 0; i < count; i++) {
        double own = scatter_of(&values[i]);
        double place = (values[i].value->value - siblings->centre) / half;
        double bin = floor((place + 1) / 2 * XB_FLEET_BINS);
        siblings->bins[(size_t)fmin(fmax(bin, 0), XB_FLEET_BINS - 1)]++;
        if (!siblings->judged)
            continue;
        values[i].spread = fmax(values[i].spread, fmax(floor_of, values[i].unsure));
        /* A value whose own samples scatter more than most may lie further off by that. */
        if (own > typical)
            values[i].spread =
                xb_fleet_add_squares(values[i].spread, sqrt(own - typical) * sqrt(own + typical));
        values[i].tails = siblings->tails;
        values[i].independent = worth * (double)(count - 1) / (double)count;
    }
    siblings->long_tails = siblings->judged && xb_tails_fit(values, count, middle, siblings->spread,
                                                            worth, siblings->tails);
}

void xb_fleet_gather_siblings(struct xb_judging *judging)
{
    struct xb_fleet_judgement *judgement = judging->judgement;
    struct xb_tested *tested = judging->tested;
    struct seat *seats = XB_SCRATCH(judging, judging->tested_count, sizeof *seats);
    double *scratch = XB_SCRATCH(judging, judging->tested_count, sizeof *scratch);
    const struct xb_fleet_figure *worst = NULL;
    size_t kept = 0, figures = 0; /* that depend on the slot, and by how much the worst does */
    double most = 0;
    judgement->siblings = xb_new(judging->fleet->figure_count, sizeof *judgement->siblings);
    XB_EACH_GROUP (judging->tested_count,
                   tested[end].value->figure == tested[begin].value->figure) {
        const struct xb_fleet_figure *figure = tested[begin].value->figure;
        struct xb_fleet_siblings *siblings = &judgement->siblings[judgement->sibling_count++];
        double distance = shift(tested + begin, end - begin, seats, scratch);
        figures += distance >= XB_FLEET_LEAST_DEVIATION;
        worst = distance > most ? figure : worst;
        most = fmax(distance, most);
        gather(tested + begin, end - begin, scratch, siblings);
        for (size_t i = begin; siblings->judged && i < end; i++)
            tested[kept++] = tested[i];
    }
    judging->tested_count = kept;
    if (figures > 0)
        XB_NOTE("%zu figure%s on the slot (most: %.200s: slots differ by %s). There fleet judges a "
                "GPU by what is usual for its slot.",
                figures, figures == 1 ? " depends" : "s depend",
                xb_fleet_figure_text(worst, (char[256]){0}, 256),
                xb_fleet_percent_text(expm1(most), (char[64]){0}));
}
