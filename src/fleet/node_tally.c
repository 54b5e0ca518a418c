/* SPDX-License-Identifier: Apache-2.0 */
#include "node_tally.h"

#include "internal.h"

#include <stdlib.h>

enum xb_status xb_node_tally_open(struct xb_node_tally *tally, const struct xb_fleet *fleet,
                                  struct xb_error *error)
{
    *tally = (struct xb_node_tally){.rounds = calloc(fleet->node_count + 1, sizeof *tally->rounds),
                                    .round = 1};
    return tally->rounds != NULL ? XB_OK : xb_fleet_no_memory(error);
}

void xb_node_tally_close(struct xb_node_tally *tally)
{
    free(tally->rounds);
    tally->rounds = NULL;
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
