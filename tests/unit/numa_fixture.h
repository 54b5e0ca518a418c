/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A machine with NUMA nodes, on any machine: hwloc's description is one of the tests', and what it
 * would ask the kernel is answered here. Include from one file of a program, which defines
 * _GNU_SOURCE.
 */
#include "testing.h"

#include <errno.h>
#include <hwloc.h>

static struct {
    char cpus[64];  /* that the thread was bound to last, as a list: "0-1" */
    int node;       /* that memory was bound to last; -1: to all */
    bool refuses;   /* to bind memory */
    int instead_of; /* node from which memory goes elsewhere, because it is full; -1: none */
    int share;      /* of 100 of its pages that do */
    bool is_silent; /* the kernel does not say where pages lie */
    unsigned looks; /* at pages */
    /* Where the page lies; NULL: on `node`. */
    int (*node_of)(const void *address);
} numa;

static inline int numa_reset(void **state)
{
    (void)state;
    memset(&numa, 0, sizeof numa);
    numa.node = numa.instead_of = -1;
    unsetenv("HWLOC_SYNTHETIC");
    unsetenv("HWLOC_XMLFILE");
    unsetenv("HWLOC_THISSYSTEM");
    return 0;
}

/* What hwloc is to describe from now on. */
static inline void numa_describe(const char *description)
{
    setenv("HWLOC_SYNTHETIC", description, 1);
    setenv("HWLOC_THISSYSTEM", "1", 1);
}

/* ---- in place of hwloc's own ---- */

int hwloc_set_cpubind(hwloc_topology_t topology, hwloc_const_cpuset_t set, int flags)
{
    (void)topology;
    (void)flags;
    hwloc_bitmap_list_snprintf(numa.cpus, sizeof numa.cpus, set);
    return 0;
}

int hwloc_get_cpubind(hwloc_topology_t topology, hwloc_cpuset_t set, int flags)
{
    (void)flags;
    return hwloc_bitmap_copy(set, hwloc_topology_get_topology_cpuset(topology));
}

int hwloc_set_membind(hwloc_topology_t topology, hwloc_const_bitmap_t set,
                      hwloc_membind_policy_t policy, int flags)
{
    (void)topology;
    (void)flags;
    errno = EPERM;
    if (numa.refuses && policy == HWLOC_MEMBIND_BIND)
        return -1;
    numa.node = policy == HWLOC_MEMBIND_BIND ? hwloc_bitmap_first(set) : -1;
    return 0;
}

int hwloc_get_membind(hwloc_topology_t topology, hwloc_bitmap_t set, hwloc_membind_policy_t *policy,
                      int flags)
{
    (void)flags;
    *policy = HWLOC_MEMBIND_DEFAULT;
    return hwloc_bitmap_copy(set, hwloc_topology_get_topology_nodeset(topology));
}

/* Of a node that is full, so many in a hundred pages lie on the next one. */
int hwloc_get_area_memlocation(hwloc_topology_t topology, const void *address, size_t length,
                               hwloc_bitmap_t set, int flags)
{
    (void)topology;
    (void)length;
    (void)flags;
    int node = numa.node_of != NULL ? numa.node_of(address) : numa.node;
    if (node >= 0 && node == numa.instead_of && (int)(numa.looks % 100) < numa.share)
        node++;
    numa.looks++;
    hwloc_bitmap_zero(set);
    if (!numa.is_silent && node >= 0)
        hwloc_bitmap_set(set, (unsigned)node);
    return 0;
}
