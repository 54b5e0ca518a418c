/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_FLEET_NODE_TALLY_H
#define XFERBENCH_FLEET_NODE_TALLY_H

#include "fleet.h"

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
