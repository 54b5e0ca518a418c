/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_TOPOLOGY_H
#define XFERBENCH_TOPOLOGY_H

#include "xferbench/error.h"

#include <stdbool.h>
#include <stddef.h>

/* NUMA nodes and CPUs of this machine, through hwloc. One thread at a time. */
struct xb_topology;

/* Discovers the machine; a few milliseconds. Release with xb_topology_close. */
XB_MUST_CHECK enum xb_status xb_topology_open(struct xb_topology **topology,
                                              struct xb_error *error);
void xb_topology_close(struct xb_topology *topology);

unsigned xb_topology_node_count(const struct xb_topology *topology);

/* Where this thread and its memory were bound. Memory prefers the node: a full one sends pages
 * elsewhere, which xb_topology_locate finds. */
struct xb_binding {
    bool bound;          /* both CPUs and memory are */
    int node;            /* the OS's number of the node asked for, -1 if none is known */
    unsigned cpu_count;  /* CPUs this thread may run on now */
    char note[192];      /* why it is not bound, or that the machine has one node; "" otherwise */
    bool note_is_normal; /* the note needs no warning */
};

/*
 * Binds the calling thread, threads it creates from now on, and memory they touch first to NUMA
 * node `node` (the OS's number). With node -1, on a machine of one node, or where the kernel
 * refuses, nothing is bound and the note says so: that is for the record and no failure. A second
 * call replaces the first binding.
 */
void xb_topology_bind(struct xb_topology *topology, int node, struct xb_binding *binding);

/*
 * The NUMA nodes on which the pages of a host buffer lie, looked up at up to 64 pages spread over
 * it, as a list such as "0" or "0,1". "" where the kernel does not say.
 */
void xb_topology_locate(struct xb_topology *topology, const void *address, size_t bytes,
                        char *nodes, size_t size);

#endif
