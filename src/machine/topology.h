/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/error.h"

#include <stdbool.h>

/* More nodes than Linux is built for (CONFIG_NODES_SHIFT is 10 at most). */
#define XB_NODES 1024

/* NUMA nodes and CPUs of this machine, by hwloc. Once open, several threads may bind themselves. */
struct xb_topology;

/* Discovers the machine; a few milliseconds. Release with xb_topology_close. */
enum xb_status xb_topology_open(struct xb_topology **topology, struct xb_error *error);
void xb_topology_close(struct xb_topology *topology);

unsigned xb_topology_node_count(const struct xb_topology *topology);

/* The OS's number of the next node that has memory and that this process may use, after `node`
 * (begin with -1); -1 where there are no more. */
int xb_topology_next_node(const struct xb_topology *topology, int node);

/* How this thread and its memory were bound. If the node is full, pages go elsewhere, and
 * xb_topology_locate shows where: to insist would have the kernel end the process. */
struct xb_binding {
    bool bound;         /* both CPUs and memory are bound */
    int node;           /* the OS's number of the node asked for, -1 if none is known */
    int cpu_node;       /* whose CPUs the thread runs on: `node`, or another where that has none; -1
                           where it runs on any */
    unsigned cpu_count; /* CPUs this thread may run on now */
    char note[192];     /* why it is not bound, for example because there is only one node, or "" */
    bool note_is_normal; /* the note needs no warning */
};

/* Binds the calling thread, the threads it creates from now on, and the memory they touch first to
 * NUMA node `node` (the OS's number), in place of an earlier binding. If that is -1, the machine
 * has one node, or the kernel refuses, nothing is bound: no failure, but a note for the record.
 * Threads of a node without CPUs run on those of node `near`, or on any where that is -1. */
void xb_topology_bind(struct xb_topology *topology, int node, int near, struct xb_binding *binding);

/* Where the pages of a buffer lie. */
struct xb_places {
    unsigned known;   /* how many of the pages looked at the kernel tells of; 0: of none */
    unsigned on_node; /* those of them that lie on the node asked about */
    char nodes[64];   /* all nodes that hold any, such as "0" or "0,1" */
};

/* Finds out where a host buffer lies, on node `node` (-1: just where), by 256 pages at most without
 * a regular step, because memory may be interleaved. */
void xb_topology_locate(struct xb_topology *topology, const void *address, size_t bytes, int node,
                        struct xb_places *places);
