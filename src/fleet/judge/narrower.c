/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/internal.h"

#include "machine/pcie.h"

#include <math.h>
#include <stdlib.h>

/*
 * A GPU is compared with those of its model in the same slot of other nodes, because a slot may
 * have fewer lanes by design; where these are too few or do not agree, with all of its model.
 */

/* The link under load of most of those GPUs. */
struct usual {
    double speed_gts, width; /* 0: no majority, or too few */
    size_t alike;            /* GPUs that were compared */
};

static bool is_known(const struct xb_fleet_gpu *gpu)
{
    return gpu->link_width > 0 && gpu->link_speed_gts > 0;
}

/* Fills in the width or the rate that most GPUs in a slot have, or in all. Returns how many voted.
 */
static size_t count_votes(struct xb_judging *judging, bool of_width, const char *const *slots,
                          struct xb_vote *votes, struct usual *usual)
{
    const struct xb_fleet *fleet = judging->fleet;
    size_t count = 0;
    for (size_t i = 0; i < fleet->gpu_count; i++)
        if (is_known(&fleet->gpus[i]) && (slots == NULL || slots[i] != NULL))
            votes[count++] = (struct xb_vote){
                .group = slots != NULL ? slots[i] : fleet->gpus[i].model,
                .number = of_width ? fleet->gpus[i].link_width : fleet->gpus[i].link_speed_gts,
                .item = i};
    xb_votes_sort(votes, count);
    for (struct xb_majority most = {.end = 0}; xb_votes_next(votes, count, &most);) {
        size_t untold = 0;
        for (size_t i = most.begin; i < most.end; i++) {
            struct usual *own = &usual[votes[i].item];
            double *number = of_width ? &own->width : &own->speed_gts;
            if (*number > 0) /* by its slot */
                continue;
            untold++;
            if (most.found) {
                *number = votes[most.first].number;
                own->alike = most.end - most.begin;
            }
        }
        if (slots == NULL && untold > 0 && most.judged && !most.found) {
            const char *model = votes[most.begin].group;
            XB_NOTE("%.100s: links differ and no majority tells which is right: at most %zu of "
                    "%zu GPUs have the same %s under load (%s%g%s).",
                    model != NULL ? model : "GPUs", most.last - most.first, most.end - most.begin,
                    of_width ? "width" : "rate", of_width ? "x" : "", votes[most.first].number,
                    of_width ? "" : " GT/s");
        }
    }
    return count;
}

static bool is_narrower(const struct xb_fleet_gpu *gpu, const struct usual *usual)
{
    return is_known(gpu) &&
           (gpu->link_width < usual->width || gpu->link_speed_gts < usual->speed_gts);
}

/* Names those of one group of `votes`: GPUs of one model. `tallies` count all nodes that have some,
 * and those of them with a narrower one. */
static void name_of_model(struct xb_judging *judging, const struct xb_vote *votes, size_t count,
                          const struct usual *usual, struct xb_node_tally tallies[2])
{
    const struct xb_fleet *fleet = judging->fleet;
    char own[32], most[32];
    for (int i = 0; i < 2; i++)
        xb_node_tally_begin(&tallies[i]);
    for (size_t i = 0; i < count; i++) {
        const struct xb_fleet_gpu *of = &fleet->gpus[votes[i].item];
        xb_node_tally_add(&tallies[0], of->node);
        if (is_narrower(of, &usual[votes[i].item]))
            xb_node_tally_add(&tallies[1], of->node);
    }
    bool together = xb_fleet_is_together(tallies[1].count, tallies[0].count);
    for (size_t i = 0; i < count; i++) {
        const struct xb_fleet_gpu *of = &fleet->gpus[votes[i].item];
        const struct usual *siblings = &usual[votes[i].item];
        if (!is_narrower(of, siblings))
            continue;
        /* If only width or rate has a majority, the text takes the other from its own link. */
        double speed = siblings->speed_gts > 0 ? siblings->speed_gts : of->link_speed_gts;
        double width = siblings->width > 0 ? siblings->width : of->link_width;
        XB_NAME(XB_FLEET_NARROWER, fleet->nodes[of->node].name, votes[i].item, together,
                "link %s under load; most of its %zu siblings have %s",
                xb_lanes_text(of->link_speed_gts, of->link_width, own, sizeof own),
                siblings->alike - 1, xb_lanes_text(speed, (unsigned)width, most, sizeof most));
    }
}

static void name_links(struct xb_judging *judging)
{
    const struct xb_fleet *fleet = judging->fleet;
    struct xb_vote *votes = XB_SCRATCH(judging, fleet->gpu_count, sizeof *votes);
    struct usual *usual = XB_SCRATCH(judging, fleet->gpu_count, sizeof *usual);
    struct xb_node_tally tallies[] = {xb_node_tally_open(judging), xb_node_tally_open(judging)};
    const char **slots = /* model and slot of each GPU; NULL where the slot is not known */
        XB_SCRATCH(judging, fleet->gpu_count, sizeof(const char *));
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
    for (struct xb_majority most = {.end = 0}; xb_votes_next(votes, count, &most);)
        name_of_model(judging, votes + most.begin, most.end - most.begin, usual, tallies);
}

/* ---- pairs ---- */

/*
 * GPUs that reach others by fewer links than most pairs of the model do. Their bandwidths are
 * another figure, so nobody would call them slow: an NVSwitch that lost a link, or a fabric that
 * does not run, shows here alone. But where GPUs are built into rings, some pairs have no link on
 * every node: a pair is as it should be if most nodes have as few links at its place. Where GPUs
 * are bridged by twos, most pairs have none: then only most nodes tell which should have some.
 */

/* Two GPUs, by the newest document that knows what they go by. */
struct pair {
    size_t gpu, figure;
    int peer;
    time_t written;
};

static int compare_pairs(const void *left, const void *right)
{
    const struct pair *a = left, *b = right;
    return XB_FIRST_ORDER(XB_ORDER(a->gpu, b->gpu), XB_ORDER(a->peer, b->peer),
                          XB_ORDER(b->written, a->written), XB_ORDER(a->figure, b->figure));
}

static size_t list_pairs(const struct xb_fleet *fleet, struct pair *pairs)
{
    size_t count = 0, kept = 0;
    for (size_t i = 0; i < fleet->value_count; i++) {
        const struct xb_fleet_value *value = &fleet->values[i];
        if (value->peer >= 0 && fleet->figures[value->figure].links_known)
            pairs[count++] = (struct pair){value->gpu, value->figure, value->peer,
                                           xb_fleet_written(fleet, value)};
    }
    qsort(pairs, count, sizeof *pairs, compare_pairs);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || pairs[kept - 1].gpu != pairs[i].gpu ||
            pairs[kept - 1].peer != pairs[i].peer)
            pairs[kept++] = pairs[i];
    return kept;
}

/* Clears `usual` of pairs that have as few links as more than half of the others at their place.
 * The votes are those of one place. Returns how many it cleared. */
static size_t acquit(const struct xb_vote *votes, size_t count, size_t *usual)
{
    size_t cleared = 0;
    for (size_t begin = 0, end = 0; begin < count; begin = end) {
        while (end < count && votes[end].number <= votes[begin].number)
            end++;
        for (size_t i = begin; i < end && 2 * (end - 1) > count - 1; i++) {
            cleared += usual[votes[i].item] != XB_FLEET_NONE;
            usual[votes[i].item] = XB_FLEET_NONE;
        }
    }
    return cleared;
}

/* Where most pairs of the model have more links, by which figure; else XB_FLEET_NONE. Clears that
 * of pairs that are built so, and sets it where most at the same place have more. A place is that
 * of a pair on a node with such GPUs. */
static void find_usual(struct xb_judging *judging, const struct pair *pairs, size_t count,
                       size_t *usual)
{
    const struct xb_fleet *fleet = judging->fleet;
    struct xb_vote *votes = XB_SCRATCH(judging, count, sizeof *votes);
    size_t cleared = 0;
    for (size_t i = 0; i < count; i++)
        usual[i] = XB_FLEET_NONE;
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
            if (by_place)
                cleared += acquit(votes + most.begin, most.end - most.begin, usual);
            for (size_t i = most.begin; most.found && i < most.first; i++)
                usual[votes[i].item] = pairs[votes[most.first].item].figure;
        }
    }
    if (cleared > 0)
        XB_NOTE("%zu pairs of GPUs have fewer links than most pairs of their model, but "
                "as many as most nodes have there: nodes are built so.",
                cleared);
}

/* Names a GPU of `count` pairs, if any of them is narrower. */
static void name_of_pairs(struct xb_judging *judging, const struct pair *pairs, size_t count,
                          const size_t *usual, bool together)
{
    const struct xb_fleet *fleet = judging->fleet;
    size_t narrower = 0, worst = 0;
    for (size_t i = 0; i < count; i++) {
        if (usual[i] == XB_FLEET_NONE)
            continue;
        if (narrower == 0 ||
            fleet->figures[pairs[i].figure].links < fleet->figures[pairs[worst].figure].links)
            worst = i;
        narrower++;
    }
    if (narrower == 0)
        return;
    const char *node = fleet->nodes[fleet->gpus[pairs->gpu].node].name;
    XB_NAME(
        XB_FLEET_NARROWER, node, pairs->gpu, together,
        "fewer links to %zu of %zu GPUs: to GPU %d %.40s; most pairs of its siblings have %.40s",
        narrower, count, pairs[worst].peer, fleet->figures[pairs[worst].figure].link,
        fleet->figures[usual[worst]].link);
}

static void name_pairs(struct xb_judging *judging)
{
    const struct xb_fleet *fleet = judging->fleet;
    struct pair *pairs = XB_SCRATCH(judging, fleet->value_count, sizeof *pairs);
    size_t *usual = XB_SCRATCH(judging, fleet->value_count, sizeof *usual);
    struct xb_node_tally tallies[] = {xb_node_tally_open(judging), xb_node_tally_open(judging)};
    size_t count = list_pairs(fleet, pairs);
    find_usual(judging, pairs, count, usual);
    for (size_t i = 0; i < count; i++) {
        xb_node_tally_add(&tallies[0], fleet->gpus[pairs[i].gpu].node);
        if (usual[i] != XB_FLEET_NONE)
            xb_node_tally_add(&tallies[1], fleet->gpus[pairs[i].gpu].node);
    }
    bool together = xb_fleet_is_together(tallies[1].count, tallies[0].count);
    for (size_t begin = 0, end = 0; begin < count; begin = end) {
        while (end < count && pairs[end].gpu == pairs[begin].gpu)
            end++;
        name_of_pairs(judging, pairs + begin, end - begin, usual + begin, together);
    }
}

void xb_fleet_name_narrower(struct xb_judging *judging)
{
    name_links(judging);
    name_pairs(judging);
}
