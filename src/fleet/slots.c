/* SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"
#include "tail.h"
#include "xferbench/statistics.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * A slot may be slower than others of its node by design: behind one more switch, or beside another
 * CPU. Together, such GPUs look as if they scatter, which hides one that is slow for its slot; or
 * those of few slots look slow on every node. So where the slots of a figure differ, it becomes
 * several: one for each slot that enough nodes have.
 *
 * Slots are compared within nodes. Nodes of another kind may have other addresses: if all GPUs of
 * these are slow, that is no slot's design.
 */

/* Slots differ if the median of one is so many spreads from that of all, by the spread within
 * slots: of six equal values that happens by chance for one slot in 10,000. */
#define APART 2
/* They are told apart in any case if it lies so far from that of all, as a share of the deviation
 * that is named: then many of its GPUs would be. */
#define NEARLY_NAMED 0.5

/* A value and the slot of its GPU. */
struct seat {
    const char *slot; /* PCI address; equal texts have one address */
    double logarithm;
    double offset; /* of it from the median of its node */
    size_t tested;
};

/* What the slots of one figure say that have enough values. Logarithms. */
struct slots {
    size_t large, values; /* slots, and values in them */
    double least, most;   /* medians of the slots' offsets */
    double middle;        /* median of all offsets */
    double within, all;   /* spread of values around the median of their slot, and of all */
};

static int compare_seats(const void *left, const void *right)
{
    const struct seat *a = left;
    const struct seat *b = right;
    int order = strcmp(a->slot, b->slot);
    if (order == 0)
        order = (a->logarithm > b->logarithm) - (a->logarithm < b->logarithm);
    return order != 0 ? order : (a->tested > b->tested) - (a->tested < b->tested);
}

static size_t end_of_slot(const struct seat *seats, size_t count, size_t begin)
{
    size_t end = begin;
    while (end < count && seats[end].slot == seats[begin].slot)
        end++;
    return end;
}

static bool is_large(size_t values)
{
    return values > XB_FLEET_SIBLINGS;
}

static size_t node_of(const struct xb_judging *judging, size_t tested)
{
    const struct xb_fleet *fleet = judging->fleet;
    return fleet->gpus[fleet->values[judging->tested[tested].value].gpu].node;
}

/* Lists values of one figure by slot: those of GPUs whose slot is known, and not of pairs. Returns
 * how many. */
static size_t list_seats(const struct xb_judging *judging, size_t begin, size_t end,
                         struct seat *seats, double *scratch)
{
    const struct xb_fleet *fleet = judging->fleet;
    size_t count = 0;
    for (size_t i = begin, next = begin; i < end; i = next) {
        size_t first = count;
        size_t node = node_of(judging, i);
        for (; next < end && node_of(judging, next) == node; next++) {
            const struct xb_fleet_value *value = &fleet->values[judging->tested[next].value];
            const char *slot = fleet->gpus[value->gpu].pci_bdf;
            if (slot != NULL && value->peer < 0)
                seats[count++] = (struct seat){slot, judging->tested[next].logarithm, 0, next};
        }
        for (size_t k = first; k < count; k++)
            scratch[k - first] = seats[k].logarithm;
        double middle = xb_median_of(scratch, count - first);
        for (size_t k = first; k < count; k++)
            seats[k].offset = seats[k].logarithm - middle;
    }
    if (count > 0)
        qsort(seats, count, sizeof *seats, compare_seats);
    return count;
}

static double spread_of(double *offsets, size_t count)
{
    return fmax(XB_FLEET_TO_DEVIATION * xb_median_of(offsets, count), XB_FLEET_LEAST_SPREAD);
}

/* Of `seats` those in large slots; returns how many. */
static size_t keep_large(struct seat *seats, size_t count)
{
    size_t kept = 0;
    for (size_t begin = 0, end = 0; begin < count; begin = end) {
        end = end_of_slot(seats, count, begin);
        for (size_t i = begin; i < end && is_large(end - begin); i++)
            seats[kept++] = seats[i];
    }
    return kept;
}

static double median_of(const struct seat *seats, size_t count, bool of_offsets, double *scratch)
{
    for (size_t i = 0; i < count; i++)
        scratch[i] = of_offsets ? seats[i].offset : seats[i].logarithm;
    return xb_median_of(scratch, count);
}

/* Of large slots. */
static struct slots describe(const struct seat *seats, size_t count, double *scratch)
{
    struct slots slots = {.values = count, .least = INFINITY, .most = -INFINITY};
    double middle = median_of(seats, count, false, scratch);
    for (size_t i = 0; i < count; i++)
        scratch[i] = fabs(seats[i].logarithm - middle);
    slots.all = spread_of(scratch, count);
    slots.middle = median_of(seats, count, true, scratch);
    for (size_t begin = 0, end = 0; begin < count; begin = end) {
        end = end_of_slot(seats, count, begin);
        double offset = median_of(seats + begin, end - begin, true, scratch + begin);
        middle = median_of(seats + begin, end - begin, false, scratch + begin);
        for (size_t i = begin; i < end; i++)
            scratch[i] = fabs(seats[i].logarithm - middle);
        slots.least = fmin(slots.least, offset);
        slots.most = fmax(slots.most, offset);
        slots.large++;
    }
    slots.within = spread_of(scratch, count);
    return slots;
}

/* Told apart, a slot's values have fewer siblings, by which less can be named. So slots that differ
 * are told apart only if a smaller deviation can be named then, or if healthy GPUs would be named
 * otherwise. `p`: what a single test must reach. */
static bool differ(const struct slots *slots, double p)
{
    if (slots->large < 2)
        return false;
    double far = fmax(slots->most - slots->middle, slots->middle - slots->least);
    double together = xb_tail_limit(p, (double)slots->values - 1) * slots->all;
    double apart =
        xb_tail_limit(p, (double)slots->values / (double)slots->large - 1) * slots->within;
    return far >= XB_FLEET_LEAST_DEVIATION && far >= APART * slots->within &&
           (apart < together || far >= NEARLY_NAMED * together);
}

/* Has the values of each slot judged by a figure of their own. */
static enum xb_status part(struct xb_judging *judging, const struct seat *seats, size_t count,
                           struct xb_error *error)
{
    struct xb_fleet *fleet = judging->fleet;
    enum xb_status status = XB_OK;
    for (size_t begin = 0, end = 0; status == XB_OK && begin < count; begin = end) {
        end = end_of_slot(seats, count, begin);
        struct xb_fleet_figure figure = fleet->figures[judging->tested[seats[begin].tested].figure];
        char link[160];
        size_t own = 0;
        snprintf(link, sizeof link, "%.80s%sslot %.64s", figure.link != NULL ? figure.link : "",
                 figure.link != NULL ? ", " : "", seats[begin].slot);
        figure.link = link;
        status = xb_fleet_add_figure(fleet, &figure, &own, error);
        for (size_t i = begin; status == XB_OK && i < end; i++)
            judging->tested[seats[i].tested].figure = own;
    }
    return status;
}

/* Values of one figure from `begin` to `end`, of which `count` in `seats` are about to be told
 * apart. The others are in slots that are too few, or not known: they keep all as siblings, and a
 * spread by which none is named that lies between the slots or near them. */
static enum xb_status keep_as_siblings(struct xb_judging *judging, size_t begin, size_t end,
                                       const struct seat *seats, size_t count, double least_spread,
                                       struct xb_error *error)
{
    if (count == end - begin)
        return XB_OK;
    struct xb_tested *tested =
        realloc(judging->tested, (judging->tested_count + count) * sizeof *tested);
    if (tested == NULL)
        return xb_fleet_no_memory(error);
    judging->tested = tested;
    for (size_t i = begin; i < end; i++)
        tested[i].least_spread = fmax(least_spread, XB_FLEET_LEAST_SPREAD);
    for (size_t i = 0; i < count; i++) {
        tested[judging->tested_count] = tested[seats[i].tested];
        tested[judging->tested_count++].is_known = true;
        tested[seats[i].tested].least_spread = XB_FLEET_LEAST_SPREAD;
    }
    return XB_OK;
}

static int compare_tested(const void *left, const void *right)
{
    const struct xb_tested *a = left;
    const struct xb_tested *b = right;
    int order = (a->figure > b->figure) - (a->figure < b->figure);
    return order != 0 ? order : (a->value > b->value) - (a->value < b->value);
}

static enum xb_status note(struct xb_judging *judging, const char *first, double distance,
                           size_t figures, struct xb_error *error)
{
    char percent[64];
    return xb_fleet_add_note(judging, error,
                             "Figures that depend on the slot: %zu (first: %.200s: slots differ by "
                             "%s). There a GPU is compared with those in the same slot of other "
                             "nodes.",
                             figures, first, xb_fleet_percent_text(expm1(distance), percent));
}

enum xb_status xb_fleet_part_slots(struct xb_judging *judging, struct xb_error *error)
{
    size_t all = judging->tested_count;
    struct seat *seats = calloc(judging->tested_count + 1, sizeof *seats);
    double *scratch = calloc(judging->tested_count + 1, sizeof *scratch);
    enum xb_status status = seats != NULL && scratch != NULL ? XB_OK : xb_fleet_no_memory(error);
    char first[256] = "";
    double distance = 0;
    size_t figures = 0;
    double p = fmax(judging->judgement->request.alpha, DBL_MIN) / (double)all;
    for (size_t begin = 0, end = 0; status == XB_OK && begin < all; begin = end) {
        end = xb_fleet_end_of_figure(judging, begin);
        size_t count = keep_large(seats, list_seats(judging, begin, end, seats, scratch));
        struct slots slots = describe(seats, count, scratch);
        if (!differ(&slots, p))
            continue;
        if (figures++ == 0) {
            size_t figure = judging->tested[begin].figure;
            xb_fleet_figure_text(&judging->fleet->figures[figure], first, sizeof first);
            distance = slots.most - slots.least;
        }
        status = keep_as_siblings(judging, begin, end, seats, count, (slots.most - slots.least) / 2,
                                  error);
        if (status == XB_OK)
            status = part(judging, seats, count, error);
    }
    free(seats);
    free(scratch);
    /* Figure by figure again, of each in the order of the values: by node and GPU. */
    if (figures > 0)
        qsort(judging->tested, judging->tested_count, sizeof *judging->tested, compare_tested);
    return status == XB_OK && figures > 0 ? note(judging, first, distance, figures, error) : status;
}
