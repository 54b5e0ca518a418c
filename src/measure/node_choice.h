/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MEASURE_NODE_CHOICE_H
#define XFERBENCH_MEASURE_NODE_CHOICE_H

#include "machine/topology.h"
#include "mode_choice.h"

/* The NUMA nodes that host memory is to lie on, one after the other. */
struct xb_node_choice {
    unsigned nodes[XB_NODES]; /* the OS's numbers */
    size_t count;             /* 0: near each device */
};

/* The directions that a mode's host memory takes part in, of some: bits of enum xb_direction. Only
 * cases of those can have a NUMA node named. */
unsigned xb_mode_host_directions(const struct xb_mode *mode, unsigned directions);

/*
 * Reads --numa. Looks at the machine only where that names nodes, which takes milliseconds.
 * XB_ERR_USAGE for a word that is no node, for a node that this process may not use, with those
 * that there are, and where no chosen mode has host memory. XB_ERR_SYSTEM, XB_ERR_MEMORY.
 */
XB_MUST_CHECK enum xb_status xb_node_choose(const struct xb_config *config,
                                            const struct xb_mode_choice *modes,
                                            struct xb_node_choice *choice, struct xb_error *error);

#endif
