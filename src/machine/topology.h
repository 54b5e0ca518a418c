/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MACHINE_TOPOLOGY_H
#define XFERBENCH_MACHINE_TOPOLOGY_H

#include "xferbench/error.h"

#include <stdbool.h>
#include <stddef.h>

/* NUMA nodes and CPUs of this machine, through hwloc. Several threads may bind themselves at the
 * same time, once it is open. */
struct xb_topology;

/* Discovers the machine; a few milliseconds. Release with xb_topology_close. */
XB_MUST_CHECK enum xb_status xb_topology_open(struct xb_topology **topology,
                                              struct xb_error *error);
void xb_topology_close(struct xb_topology *topology);

unsigned xb_topology_node_count(const struct xb_topology *topology);

/* How this thread and its memory were bound. Memory prefers the node: if the node is full, pages
 * go elsewhere, and xb_topology_locate shows where. */
struct xb_binding {
    bool bound;         /* both CPUs and memory are bound */
    int node;           /* the OS's number of the node asked for, -1 if none is known */
    unsigned cpu_count; /* CPUs this thread may run on now */
    char note[192];     /* why it is not bound, for example because there is only one node, or "" */
    bool note_is_normal; /* the note needs no warning */
};

/*
 * Binds the calling thread, the threads it creates from now on, and the memory they touch first to
 * NUMA node `node` (the OS's number). Nothing is bound if `node` is -1, if the machine has one
 * node, or if the kernel refuses. That is no failure; the note tells it for the record. A second
 * call replaces the first binding.
 */
void xb_topology_bind(struct xb_topology *topology, int node, struct xb_binding *binding);

/*
 * Lists the NUMA nodes that hold the pages of a host buffer, such as "0" or "0,1". Looks at up to
 * 64 pages spread over the buffer. "" if the kernel does not say.
 */
void xb_topology_locate(struct xb_topology *topology, const void *address, size_t bytes,
                        char *nodes, size_t size);

#endif
