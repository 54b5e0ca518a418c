/* SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"
#include "xferbench/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static int compare_seats(const void *left, const void *right)
{
    const struct seat *a = left, *b = right;
    return XB_FIRST_ORDER(strcmp(a->slot, b->slot), XB_ORDER(a->tested, b->tested));
}

static size_t end_of_slot(const struct seat *seats, size_t count, size_t begin)
{
    size_t end = begin;
    while (end < count && seats[end].slot == seats[begin].slot)
        end++;
    return end;
}

/* Whether a slot has enough values to tell what is usual. */
static bool is_known(size_t values)
{
    return values > XB_FLEET_SIBLINGS;
}

static const struct xb_fleet_gpu *gpu_of(const struct xb_judging *judging, size_t tested)
{
    const struct xb_fleet *fleet = judging->fleet;
    return &fleet->gpus[fleet->values[judging->tested[tested].value].gpu];
}

/* Lists values of one figure by slot: those of GPUs whose slot is known, and not of pairs. Returns
 * how many. */
static size_t list_seats(const struct xb_judging *judging, size_t begin, size_t end,
                         struct seat *seats, double *scratch)
{
    size_t count = 0;
    if (judging->fleet->values[judging->tested[begin].value].peer >= 0)
        return 0;
    for (size_t i = begin, next = begin; i < end; i = next) {
        size_t first = count;
        size_t node = gpu_of(judging, i)->node;
        for (; next < end && gpu_of(judging, next)->node == node; next++) {
            scratch[next - i] = judging->tested[next].logarithm;
            if (gpu_of(judging, next)->pci_bdf != NULL)
                seats[count++] =
                    (struct seat){.slot = gpu_of(judging, next)->pci_bdf, .tested = next};
        }
        double middle = xb_median_of(scratch, next - i);
        for (size_t k = first; k < count; k++)
            seats[k].offset = judging->tested[seats[k].tested].logarithm - middle;
    }
    if (count > 0)
        qsort(seats, count, sizeof *seats, compare_seats);
    return count;
}

static double median_of(const struct seat *seats, size_t count, double *scratch)
{
    for (size_t i = 0; i < count; i++)
        scratch[i] = seats[i].offset;
    return xb_median_of(scratch, count);
}

/* The median of sorted offsets if one of them, `own`, is left out: with it, a value would hide
 * behind itself where nodes are few. */
static double median_without(const double *sorted, size_t count, double own)
{
    size_t rank = 0; /* of `own` */
    for (size_t end = count; rank < end;) {
        size_t middle = rank + (end - rank) / 2;
        if (sorted[middle] < own)
            rank = middle + 1;
        else
            end = middle;
    }
    size_t others = count - 1;
    size_t upper = others / 2;
    size_t lower = (others - 1) / 2;
    return (sorted[lower < rank ? lower : lower + 1] + sorted[upper < rank ? upper : upper + 1]) /
           2;
}

/* Shifts the values of one figure by what is usual for their slots, where these differ. Returns by
 * how much the slots differ. */
static double shift(struct xb_judging *judging, const struct seat *seats, size_t count,
                    double *scratch)
{
    double middle = median_of(seats, count, scratch);
    /* The spread of offsets from the median of their slot, where that is known. */
    size_t values = 0;
    for (size_t begin = 0, end = 0; begin < count; begin = end) {
        end = end_of_slot(seats, count, begin);
        if (!is_known(end - begin))
            continue;
        double usual = median_of(seats + begin, end - begin, scratch + values);
        for (size_t i = begin; i < end; i++)
            scratch[values++] = fabs(seats[i].offset - usual);
    }
    double spread =
        fmax(XB_FLEET_TO_DEVIATION * xb_median_of(scratch, values), XB_FLEET_LEAST_SPREAD);
    double least = 0;
    double most = 0;
    for (size_t begin = 0, end = 0; begin < count; begin = end) {
        end = end_of_slot(seats, count, begin);
        double usual = median_of(seats + begin, end - begin, scratch) - middle;
        double sure = SURE * OF_MEDIAN * spread / sqrt((double)(end - begin));
        if (!is_known(end - begin) || fabs(usual) <= sure || fabs(usual) > MOST)
            continue;
        for (size_t i = begin; i < end; i++) { /* `scratch` still has the slot's, sorted */
            struct xb_tested *tested = &judging->tested[seats[i].tested];
            tested->shift = median_without(scratch, end - begin, seats[i].offset) - middle;
            tested->logarithm -= tested->shift;
        }
        least = fmin(least, usual);
        most = fmax(most, usual);
    }
    return most - least;
}

/* What is usual for a slot that few nodes have, or that nobody told, is not known: it may be
 * anything between the others. Of the values `first` to `last` those in `seats` have a slot. */
static void widen_unknown(struct xb_judging *judging, size_t first, size_t last,
                          const struct seat *seats, size_t count, double distance)
{
    for (size_t i = first; i < last; i++)
        judging->tested[i].unsure = distance / 2;
    for (size_t begin = 0, end = 0; begin < count; begin = end) {
        end = end_of_slot(seats, count, begin);
        for (size_t i = begin; i < end && is_known(end - begin); i++)
            judging->tested[seats[i].tested].unsure = 0;
    }
}

void xb_fleet_shift_slots(struct xb_judging *judging)
{
    const struct xb_fleet *fleet = judging->fleet;
    struct seat *seats = XB_SCRATCH(judging, judging->tested_count, sizeof *seats);
    double *scratch = XB_SCRATCH(judging, judging->tested_count, sizeof *scratch);
    char name[256], percent[64];
    const struct xb_fleet_figure *worst = NULL;
    size_t figures = 0;
    double most = 0;
    for (size_t begin = 0, end = 0; begin < judging->tested_count; begin = end) {
        end = xb_fleet_end_of_figure(judging, begin);
        size_t count = list_seats(judging, begin, end, seats, scratch);
        double distance = shift(judging, seats, count, scratch);
        widen_unknown(judging, begin, end, seats, count, distance);
        if (distance < XB_FLEET_LEAST_DEVIATION)
            continue;
        figures++;
        if (distance > most) {
            most = distance;
            worst = &fleet->figures[fleet->values[judging->tested[begin].value].figure];
        }
    }
    if (figures > 0)
        xb_fleet_add_note(
            judging,
            "%zu figure%s on the slot (most: %.200s: slots differ by %s). There fleet judges a GPU "
            "by what is usual for its slot.",
            figures, figures == 1 ? " depends" : "s depend",
            xb_fleet_figure_text(worst, name, sizeof name),
            xb_fleet_percent_text(expm1(most), percent));
}
