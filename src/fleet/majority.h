/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_FLEET_MAJORITY_H
#define XFERBENCH_FLEET_MAJORITY_H

#include "fleet.h"

/* Finds what more than half of the items of a group have: a number, a text or both. */

struct xb_vote {
    const char *group; /* items with the same text are compared */
    double number;     /* what the item has */
    const char *text;
    size_t item; /* whose vote it is */
};

/* The votes of one group are `begin` to `end`; of these `first` to `last` agree. `end` and `last`
 * are one past the last vote. */
struct xb_majority {
    size_t begin, end;
    bool judged; /* the group is large enough: each has XB_FLEET_SIBLINGS others */
    bool found;  /* more than half agree; else `first` to `last` is the largest part that agrees */
    size_t first, last;
};

/* Sorts votes by group, then by number and text. */
void xb_votes_sort(struct xb_vote *votes, size_t count);

/* Counts the group that begins at `begin` in sorted votes; the next one begins at its end. */
struct xb_majority xb_votes_count(const struct xb_vote *votes, size_t count, size_t begin);

/* Counts nodes, each once, however many of its GPUs and values are counted. */
struct xb_node_tally {
    size_t *rounds; /* of every node: in which round it was counted last */
    size_t round;
    size_t count; /* in this round */
};

/* XB_ERR_MEMORY. */
XB_MUST_CHECK enum xb_status xb_node_tally_open(struct xb_node_tally *tally,
                                                const struct xb_fleet *fleet,
                                                struct xb_error *error);
void xb_node_tally_close(struct xb_node_tally *tally); /* also after a failed open */
/* Counts from 0 again. */
void xb_node_tally_begin(struct xb_node_tally *tally);
void xb_node_tally_add(struct xb_node_tally *tally, size_t node);

#endif
