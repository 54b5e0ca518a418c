/* SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#include <stdlib.h>

/*
 * Tells of GPUs without a figure that most GPUs of their model have. A row that was skipped is no
 * value and no failure: a node where direct copies between GPUs are off would look like all others.
 */

/* A GPU has a value of a figure. */
struct holding {
    const struct xb_fleet_figure *figure;
    size_t gpu;
};

static int compare_holdings(const void *left, const void *right)
{
    const struct holding *a = left, *b = right;
    return XB_FIRST_ORDER(xb_quantity_compare(a->figure, b->figure), XB_ORDER(a->gpu, b->gpu));
}

/* What is lacking: how many figures in all, and the first by name. */
struct lacking {
    size_t figures, gpu;
    const struct xb_fleet_figure *figure;
};

/* A GPU among those of its model. */
struct seat {
    const char *model;
    size_t gpu;
};

static int compare_seats(const void *left, const void *right)
{
    const struct seat *a = left, *b = right;
    return XB_FIRST_ORDER(XB_ORDER_ADDRESSES(a->model, b->model), XB_ORDER(a->gpu, b->gpu));
}

/* `holders` are GPUs with one figure, each once and in order. Looks at no more than twice as many:
 * then the holders are no majority. */
static void find_lacking(const struct seat *seats, size_t seat_count, const struct holding *holders,
                         size_t count, struct lacking *lacking)
{
    size_t gpus = 0, first = XB_FLEET_NONE;
    const char *model = holders->figure->model;
    /* The first of the model, at or behind the end if there is none. */
    size_t begin = 0;
    for (size_t high = seat_count; begin < high;) {
        size_t middle = begin + (high - begin) / 2;
        if ((uintptr_t)seats[middle].model < (uintptr_t)model)
            begin = middle + 1;
        else
            high = middle;
    }
    for (size_t i = begin, k = 0; i < seat_count && seats[i].model == model && gpus < 2 * count;
         i++, gpus++) {
        while (k < count && holders[k].gpu < seats[i].gpu)
            k++;
        bool holds = k < count && holders[k].gpu == seats[i].gpu;
        if (!holds && first == XB_FLEET_NONE)
            first = seats[i].gpu;
    }
    if (first == XB_FLEET_NONE || count <= XB_FLEET_SIBLINGS || gpus >= 2 * count)
        return;
    /* Figures come in the order of addresses, which differs from run to run. */
    int order = lacking->figures++ > 0
                    ? xb_natural_compare(holders->figure->name, lacking->figure->name)
                    : -1;
    if (order < 0 || (order == 0 && first < lacking->gpu)) {
        lacking->gpu = first;
        lacking->figure = holders->figure;
    }
}

void xb_fleet_note_lacking(struct xb_judging *judging)
{
    const struct xb_fleet *fleet = judging->fleet;
    struct lacking lacking = {.figures = 0};
    struct holding *holdings = XB_SCRATCH(judging, fleet->value_count, sizeof *holdings);
    struct seat *seats = XB_SCRATCH(judging, fleet->gpu_count, sizeof *seats);
    size_t count = 0;
    for (size_t i = 0; i < fleet->value_count; i++)
        holdings[i] =
            (struct holding){&fleet->figures[fleet->values[i].figure], fleet->values[i].gpu};
    qsort(holdings, fleet->value_count, sizeof *holdings, compare_holdings);
    for (size_t i = 0; i < fleet->value_count; i++)
        if (count == 0 || compare_holdings(&holdings[count - 1], &holdings[i]) != 0)
            holdings[count++] = holdings[i];
    for (size_t i = 0; i < fleet->gpu_count; i++)
        seats[i] = (struct seat){fleet->gpus[i].model, i};
    qsort(seats, fleet->gpu_count, sizeof *seats, compare_seats);
    for (size_t begin = 0, end = 0; begin < count; begin = end) {
        while (end < count &&
               xb_quantity_compare(holdings[end].figure, holdings[begin].figure) == 0)
            end++;
        find_lacking(seats, fleet->gpu_count, holdings + begin, end - begin, &lacking);
    }
    if (lacking.figures == 0)
        return;
    const struct xb_fleet_gpu *gpu = &fleet->gpus[lacking.gpu];
    xb_fleet_add_note(
        judging,
        "Some GPUs lack %zu figure%s that most of their model have (first: %.200s, on "
        "%.64s GPU %u). Was it skipped there?",
        lacking.figures, lacking.figures == 1 ? "" : "s",
        lacking.figure->name != NULL ? lacking.figure->name : "-", fleet->nodes[gpu->node].name,
        gpu->index);
}
