/* SPDX-License-Identifier: Apache-2.0 */
/* In place of topology.c in a build without hwloc: binds nothing, and knows only whether the
 * machine has one node. --numa is refused before it comes here. */
#include "topology.h"

#include "base/parallel.h"
#include "pcie.h"

#include <stdio.h>
#include <string.h>

struct xb_topology {
    bool has_one_node; /* false: several, or not known */
};

enum xb_status xb_topology_open(struct xb_topology **topology, struct xb_error *error)
{
    static struct xb_topology one = {.has_one_node = true}, several;
    char nodes[64]; /* "0" or "0-1" */
    (void)error;
    bool is_one = xb_sysfs_text("/sys/devices/system/node", "online", nodes, sizeof nodes) &&
                  strpbrk(nodes, "-,") == NULL;
    *topology = is_one ? &one : &several;
    return XB_OK;
}

void xb_topology_close(struct xb_topology *topology)
{
    (void)topology;
}

unsigned xb_topology_node_count(const struct xb_topology *topology)
{
    return topology->has_one_node;
}

int xb_topology_next_node(const struct xb_topology *topology, int node)
{
    (void)topology;
    (void)node;
    return -1;
}

void xb_topology_bind(struct xb_topology *topology, int node, int near, struct xb_binding *binding)
{
    (void)near;
    *binding = (struct xb_binding){.node = node,
                                   .cpu_node = -1,
                                   .cpu_count = xb_cpus_allowed(),
                                   .note_is_normal = topology->has_one_node};
    snprintf(binding->note, sizeof binding->note, "%s",
             topology->has_one_node ? "one NUMA node: nothing to bind"
                                    : "hwloc is not in this build");
}

void xb_topology_locate(struct xb_topology *topology, const void *address, size_t bytes, int node,
                        struct xb_places *places)
{
    (void)topology;
    (void)address;
    (void)bytes;
    (void)node;
    *places = (struct xb_places){.known = 0};
}
