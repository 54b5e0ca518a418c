/* SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"
#include "order.h"

#include <stdlib.h>

static int compare_what(const struct xb_vote *left, const struct xb_vote *right)
{
    return XB_FIRST_ORDER(XB_ORDER(left->number, right->number),
                          xb_natural_compare(left->text, right->text));
}

static int compare_votes(const void *left, const void *right)
{
    const struct xb_vote *a = left, *b = right;
    return XB_FIRST_ORDER(xb_natural_compare(a->group, b->group), compare_what(a, b),
                          XB_ORDER(a->item, b->item));
}

void xb_votes_sort(struct xb_vote *votes, size_t count)
{
    if (count > 0)
        qsort(votes, count, sizeof *votes, compare_votes);
}

bool xb_votes_next(const struct xb_vote *votes, size_t count, struct xb_majority *most)
{
    size_t begin = most->end;
    *most = (struct xb_majority){.begin = begin, .end = begin};
    while (most->end < count &&
           xb_natural_compare(votes[most->end].group, votes[begin].group) == 0) {
        size_t first = most->end;
        size_t last = first;
        while (last < count && xb_natural_compare(votes[last].group, votes[begin].group) == 0 &&
               compare_what(&votes[last], &votes[first]) == 0)
            last++;
        if (last - first > most->last - most->first) {
            most->first = first;
            most->last = last;
        }
        most->end = last;
    }
    most->judged = most->end - begin > XB_FLEET_SIBLINGS;
    most->found = 2 * (most->last - most->first) > most->end - begin;
    return most->end > begin;
}

/* ---- nodes ---- */

struct xb_node_tally xb_node_tally_open(struct xb_judging *judging)
{
    size_t *rounds = xb_judging_allocate(judging, judging->fleet->node_count, sizeof *rounds);
    return (struct xb_node_tally){.rounds = rounds, .round = 1};
}

void xb_node_tally_begin(struct xb_node_tally *tally)
{
    tally->round++;
    tally->count = 0;
}

void xb_node_tally_add(struct xb_node_tally *tally, size_t node)
{
    tally->count += tally->rounds[node] != tally->round;
    tally->rounds[node] = tally->round;
}
