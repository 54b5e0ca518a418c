/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/internal.h"

#include "machine/pcie.h"

#include <math.h>
#include <stdlib.h>

/* GPUs that reach others by fewer links than most pairs of the model do. Their bandwidths are
 * another figure, so nobody would call them slow: an NVSwitch that lost a link, or a fabric that
 * does not run, shows here alone. But where GPUs are built into rings, some pairs have no link on
 * every node: a pair is as it should be if most nodes have as few links at its place. Where GPUs
 * are bridged by twos, most pairs have none: then only most nodes tell which should have some. */

/* Two GPUs, by the newest document that knows what they go by. */
struct pair {
    size_t gpu, figure;
    int peer;
    time_t written;
    size_t usual; /* the figure of most pairs, which have more links; XB_FLEET_NONE: they do not */
};

static int compare_pairs(const void *left, const void *right)
{
    const struct pair *a = left, *b = right;
    return XB_FIRST_ORDER(XB_ORDER(a->gpu, b->gpu), XB_ORDER(a->peer, b->peer),
                          XB_ORDER(b->written, a->written), XB_ORDER(a->figure, b->figure));
}

/* Lists the pairs, and finds what is usual among those of the model, and then among those at the
 * same place, which is that of a pair on a node with such GPUs. Returns how many pairs there are.
 */
static size_t list_pairs(struct xb_judging *judging, struct pair *pairs)
{
    const struct xb_fleet *fleet = judging->fleet;
    size_t all = 0, count = 0, built_so = 0;
    for (size_t i = 0; i < fleet->value_count; i++) {
        const struct xb_fleet_value *value = &fleet->values[i];
        if (value->peer >= 0 && fleet->figures[value->figure].links_known)
            pairs[all++] = (struct pair){value->gpu, value->figure, value->peer,
                                         fleet->sources[value->source].written, XB_FLEET_NONE};
    }
    qsort(pairs, all, sizeof *pairs, compare_pairs);
    for (size_t i = 0; i < all; i++)
        if (count == 0 || pairs[count - 1].gpu != pairs[i].gpu ||
            pairs[count - 1].peer != pairs[i].peer)
            pairs[count++] = pairs[i];
    struct xb_vote *votes = XB_SCRATCH(judging, count, sizeof *votes);
    for (int by_place = 0; by_place < 2; by_place++) {
        for (size_t i = 0; i < count; i++) {
            const struct xb_fleet_figure *figure = &fleet->figures[pairs[i].figure];
            votes[i] = (struct xb_vote){.group = figure->model, .number = figure->links, .item = i};
            if (by_place)
                votes[i].group =
                    xb_arena_print(&judging->scratch, "%u>%d %s", fleet->gpus[pairs[i].gpu].index,
                                   pairs[i].peer, figure->model != NULL ? figure->model : "");
        }
        xb_votes_sort(votes, count);
        for (struct xb_majority most = {.end = 0}; xb_votes_next(votes, count, &most);) {
            /* A pair is built so if more than half of the others there have as few or fewer. */
            for (size_t i = most.begin, end = i; by_place && i < most.end; i++) {
                while (end < most.end && votes[end].number <= votes[i].number)
                    end++;
                if (2 * (end - most.begin - 1) <= most.end - most.begin - 1)
                    continue;
                built_so += pairs[votes[i].item].usual != XB_FLEET_NONE;
                pairs[votes[i].item].usual = XB_FLEET_NONE;
            }
            for (size_t i = most.begin; most.found && i < most.first; i++)
                pairs[votes[i].item].usual = pairs[votes[most.first].item].figure;
        }
    }
    if (built_so > 0)
        XB_NOTE("%zu pairs of GPUs have fewer links than most pairs of their model, but "
                "as many as most nodes have there: nodes are built so.",
                built_so);
    return count;
}

static void name_pairs(struct xb_judging *judging)
{
    const struct xb_fleet *fleet = judging->fleet;
    struct pair *pairs = XB_SCRATCH(judging, fleet->value_count, sizeof *pairs);
    struct xb_node_tally all = xb_node_tally_open(judging), narrower = xb_node_tally_open(judging);
    size_t count = list_pairs(judging, pairs);
    for (size_t i = 0; i < count; i++) {
        xb_node_tally_add(&all, fleet->gpus[pairs[i].gpu].node);
        if (pairs[i].usual != XB_FLEET_NONE)
            xb_node_tally_add(&narrower, fleet->gpus[pairs[i].gpu].node);
    }
    for (size_t begin = 0, end = 0; begin < count; begin = end) {
        const struct pair *worst = NULL;
        size_t fewer = 0;
        for (; end < count && pairs[end].gpu == pairs[begin].gpu; end++) {
            if (pairs[end].usual == XB_FLEET_NONE)
                continue;
            if (fewer++ == 0 ||
                fleet->figures[pairs[end].figure].links < fleet->figures[worst->figure].links)
                worst = &pairs[end];
        }
        if (fewer > 0)
            XB_NAME(XB_FLEET_NARROWER, fleet->nodes[fleet->gpus[worst->gpu].node].name, worst->gpu,
                    xb_fleet_is_together(narrower.count, all.count),
                    "fewer links to %zu of %zu GPUs: to GPU %d %.40s; most pairs of its siblings "
                    "have %.40s",
                    fewer, end - begin, worst->peer, fleet->figures[worst->figure].link,
                    fleet->figures[worst->usual].link);
    }
}

/* A GPU is compared with those of its model in the same slot of other nodes, because a slot may
 * have fewer lanes by design; where these are too few or do not agree, with all of its model. */

/* The link under load of most of those GPUs. */
struct usual {
    double speed_gts, width; /* 0: no majority, or too few */
    size_t alike;            /* GPUs that were compared */
};

static bool is_narrower(const struct xb_fleet_gpu *gpu, const struct usual *usual)
{
    return gpu->link_width < usual->width || gpu->link_speed_gts < usual->speed_gts;
}

/* Fills in the width or the rate that most GPUs in a slot have, or in all. Returns how many voted:
 * those whose link is known. */
static size_t count_votes(struct xb_judging *judging, bool of_width, const char *const *slots,
                          struct xb_vote *votes, struct usual *usual)
{
    const struct xb_fleet *fleet = judging->fleet;
    size_t count = 0;
    for (size_t i = 0; i < fleet->gpu_count; i++) {
        const struct xb_fleet_gpu *gpu = &fleet->gpus[i];
        if (gpu->link_width > 0 && gpu->link_speed_gts > 0 && (slots == NULL || slots[i] != NULL))
            votes[count++] =
                (struct xb_vote){.group = slots != NULL ? slots[i] : gpu->model,
                                 .number = of_width ? gpu->link_width : gpu->link_speed_gts,
                                 .item = i};
    }
    xb_votes_sort(votes, count);
    for (struct xb_majority most = {.end = 0}; xb_votes_next(votes, count, &most);) {
        bool any_untold = false;
        for (size_t i = most.begin; i < most.end; i++) {
            struct usual *own = &usual[votes[i].item];
            double *number = of_width ? &own->width : &own->speed_gts;
            if (*number > 0) /* by its slot */
                continue;
            any_untold = true;
            if (most.found) {
                *number = votes[most.first].number;
                own->alike = most.end - most.begin;
            }
        }
        const char *model = votes[most.begin].group != NULL ? votes[most.begin].group : "GPUs";
        if (slots == NULL && any_untold && most.judged && !most.found)
            XB_NOTE("%.100s: links differ and no majority tells which is right: at most %zu of "
                    "%zu GPUs have the same %s under load (%s%g%s).",
                    model, most.last - most.first, most.end - most.begin,
                    of_width ? "width" : "rate", of_width ? "x" : "", votes[most.first].number,
                    of_width ? "" : " GT/s");
    }
    return count;
}

void xb_fleet_name_narrower(struct xb_judging *judging)
{
    const struct xb_fleet *fleet = judging->fleet;
    struct xb_vote *votes = XB_SCRATCH(judging, fleet->gpu_count, sizeof *votes);
    struct usual *usual = XB_SCRATCH(judging, fleet->gpu_count, sizeof *usual);
    struct xb_node_tally all = xb_node_tally_open(judging), narrower = xb_node_tally_open(judging);
    const char **slots = /* model and slot of each GPU; NULL where the slot is not known */
        XB_SCRATCH(judging, fleet->gpu_count, sizeof(const char *));
    char own[32], others[32];
    size_t count = 0;
    for (size_t i = 0; i < fleet->gpu_count; i++) {
        const struct xb_fleet_gpu *gpu = &fleet->gpus[i];
        if (gpu->pci_bdf != NULL)
            slots[i] = xb_arena_print(&judging->scratch, "%s %s", gpu->pci_bdf,
                                      gpu->model != NULL ? gpu->model : "");
    }
    /* Rates and widths by slots, then by models, which leaves the votes sorted by these. */
    for (int i = 0; i < 4; i++)
        count = count_votes(judging, i % 2 != 0, i < 2 ? slots : NULL, votes, usual);
    for (struct xb_majority most = {.end = 0}; xb_votes_next(votes, count, &most);) {
        xb_node_tally_begin(&all);
        xb_node_tally_begin(&narrower);
        for (size_t i = most.begin; i < most.end; i++) {
            const struct xb_fleet_gpu *gpu = &fleet->gpus[votes[i].item];
            xb_node_tally_add(&all, gpu->node);
            if (is_narrower(gpu, &usual[votes[i].item]))
                xb_node_tally_add(&narrower, gpu->node);
        }
        for (size_t i = most.begin; i < most.end; i++) {
            const struct xb_fleet_gpu *gpu = &fleet->gpus[votes[i].item];
            const struct usual *siblings = &usual[votes[i].item];
            if (!is_narrower(gpu, siblings))
                continue;
            /* If only width or rate has a majority, the text takes the other from its own link. */
            double speed = siblings->speed_gts > 0 ? siblings->speed_gts : gpu->link_speed_gts;
            double width = siblings->width > 0 ? siblings->width : gpu->link_width;
            XB_NAME(XB_FLEET_NARROWER, fleet->nodes[gpu->node].name, votes[i].item,
                    xb_fleet_is_together(narrower.count, all.count),
                    "link %s under load; most of its %zu siblings have %s",
                    xb_lanes_text(gpu->link_speed_gts, gpu->link_width, own, sizeof own),
                    siblings->alike - 1,
                    xb_lanes_text(speed, (unsigned)width, others, sizeof others));
        }
    }
    name_pairs(judging);
}
