/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* setenv */
#include "topology.h"

#include "base/memory.h"
#include "base/parallel.h"

#include <errno.h>
#include <hwloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOCATE_PAGES 256u

struct xb_topology {
    hwloc_topology_t hwloc;
    /* How the thread that opened this was bound then, as by taskset, numactl or a scheduler. */
    hwloc_bitmap_t cpus, nodes;
    hwloc_membind_policy_t policy;
    /* Whether this thread or its creator was bound here: its old binding comes first then. */
    atomic_bool bound;
};

static int bind_memory(const struct xb_topology *topology, hwloc_const_bitmap_t nodes,
                       hwloc_membind_policy_t policy)
{
    return hwloc_set_membind(topology->hwloc, nodes, policy,
                             HWLOC_MEMBIND_THREAD | HWLOC_MEMBIND_BYNODESET);
}

static void restore_binding(struct xb_topology *topology)
{
    if (!topology->bound)
        return;
    /* The thread had this binding before, so the kernel should not refuse it. */
    (void)hwloc_set_cpubind(topology->hwloc, topology->cpus, HWLOC_CPUBIND_THREAD);
    (void)bind_memory(topology, topology->nodes, topology->policy);
}

enum xb_status xb_topology_open(struct xb_topology **topology, struct xb_error *error)
{
    struct xb_topology *opened = xb_new(1, sizeof *opened);
    /* hwloc's plugins take tens of milliseconds to find GPUs, and wake them: nothing we need. */
    (void)setenv("HWLOC_PLUGINS_PATH", "", 0);
    if (hwloc_topology_init(&opened->hwloc) != 0) {
        int code = errno;
        free(opened);
        return XB_FAIL_ERRNO(error, "hwloc_topology_init", code, "hwloc could not start");
    }
    hwloc_topology_t hwloc = opened->hwloc;
    enum xb_status status = XB_OK;
    opened->cpus = hwloc_bitmap_alloc();
    opened->nodes = hwloc_bitmap_alloc();
    /* Keep hwloc's default filters. They leave out I/O, and they keep packages and groups: without
     * those, a NUMA node inside one would claim all CPUs. */
    if (hwloc_topology_load(hwloc) != 0)
        status = XB_FAIL_ERRNO(error, "hwloc_topology_load", errno,
                               "the machine's NUMA nodes and CPUs could not be discovered%s",
                               errno == ENOENT ? ": are /proc and /sys mounted?" : "");
    else if (opened->cpus == NULL || opened->nodes == NULL)
        status = XB_FAIL(error, XB_ERR_MEMORY, "out of memory");
    if (status != XB_OK) {
        xb_topology_close(opened);
        return status;
    }
    /* If the kernel does not tell: all CPUs, all nodes and the default policy. */
    if (hwloc_get_cpubind(hwloc, opened->cpus, HWLOC_CPUBIND_THREAD) != 0)
        hwloc_bitmap_copy(opened->cpus, hwloc_topology_get_allowed_cpuset(hwloc));
    if (hwloc_get_membind(hwloc, opened->nodes, &opened->policy,
                          HWLOC_MEMBIND_THREAD | HWLOC_MEMBIND_BYNODESET) != 0) {
        hwloc_bitmap_copy(opened->nodes, hwloc_topology_get_allowed_nodeset(hwloc));
        opened->policy = HWLOC_MEMBIND_DEFAULT;
    }
    *topology = opened;
    return XB_OK;
}

void xb_topology_close(struct xb_topology *topology)
{
    if (topology == NULL)
        return;
    hwloc_bitmap_free(topology->cpus);
    hwloc_bitmap_free(topology->nodes);
    hwloc_topology_destroy(topology->hwloc);
    free(topology);
}

unsigned xb_topology_node_count(const struct xb_topology *topology)
{
    return (unsigned)hwloc_get_nbobjs_by_type(topology->hwloc, HWLOC_OBJ_NUMANODE);
}

int xb_topology_next_node(const struct xb_topology *topology, int node)
{
    hwloc_const_bitmap_t nodes = hwloc_topology_get_topology_nodeset(topology->hwloc);
    while ((node = hwloc_bitmap_next(nodes, node)) >= 0) {
        hwloc_obj_t object = hwloc_get_numanode_obj_by_os_index(topology->hwloc, (unsigned)node);
        if (object != NULL && object->attr->numanode.local_memory > 0 &&
            hwloc_bitmap_isset(topology->nodes, (unsigned)node))
            return node;
    }
    return -1;
}

#define SET_NOTE(binding, ...) ((void)snprintf((binding)->note, sizeof(binding)->note, __VA_ARGS__))

static void bind_to(struct xb_topology *topology, hwloc_const_bitmap_t cpus,
                    hwloc_const_bitmap_t nodes, struct xb_binding *binding)
{
    if (hwloc_set_cpubind(topology->hwloc, cpus, HWLOC_CPUBIND_THREAD) != 0) {
        SET_NOTE(binding, "the system refused to bind to the CPUs of NUMA node %d (%s, %s)",
                 binding->cpu_node, xb_errno_name(errno), strerror(errno));
        return;
    }
    topology->bound = true;
    if (bind_memory(topology, nodes, HWLOC_MEMBIND_BIND) != 0) {
        SET_NOTE(binding, "the system refused to bind memory to NUMA node %d (%s, %s)",
                 binding->node, xb_errno_name(errno), strerror(errno));
        restore_binding(topology);
        return;
    }
    binding->bound = true;
}

/* That node, or NULL where this process may not use its memory. */
static hwloc_obj_t find_node(const struct xb_topology *topology, int node)
{
    return node >= 0 && hwloc_bitmap_isset(topology->nodes, (unsigned)node)
               ? hwloc_get_numanode_obj_by_os_index(topology->hwloc, (unsigned)node)
               : NULL;
}

/* Whether it has CPUs of its own. hwloc gives a node without any none, or all of the machine's. */
static bool has_cpus(const struct xb_topology *topology, hwloc_obj_t node)
{
    hwloc_const_bitmap_t all = hwloc_topology_get_topology_cpuset(topology->hwloc);
    hwloc_obj_t other = NULL;
    bool others_have = false;
    while ((other = hwloc_get_next_obj_by_type(topology->hwloc, HWLOC_OBJ_NUMANODE, other)) != NULL)
        others_have = others_have || (!hwloc_bitmap_iszero(other->cpuset) &&
                                      !hwloc_bitmap_isequal(other->cpuset, all));
    return !hwloc_bitmap_iszero(node->cpuset) &&
           !(others_have && hwloc_bitmap_isequal(node->cpuset, all));
}

/* Uses only CPUs and memory that the user allowed this process. */
static void bind_to_node(struct xb_topology *topology, int near, struct xb_binding *binding)
{
    hwloc_obj_t node = find_node(topology, binding->node);
    if (!hwloc_topology_is_thissystem(topology->hwloc)) {
        SET_NOTE(binding, "hwloc was told to describe another machine");
        return;
    }
    if (xb_topology_node_count(topology) == 1) {
        SET_NOTE(binding, "one NUMA node: nothing to bind");
        binding->note_is_normal = true;
        return;
    }
    if (binding->node < 0) {
        SET_NOTE(binding, "which NUMA node the device is close to is unknown");
        return;
    }
    if (node == NULL) {
        SET_NOTE(binding, "this process may not use the memory of NUMA node %d", binding->node);
        return;
    }
    /* Threads run on the node's own CPUs, or else on those of `near`, or else on any. */
    hwloc_obj_t other = find_node(topology, near);
    hwloc_const_bitmap_t wanted = hwloc_topology_get_topology_cpuset(topology->hwloc);
    if (has_cpus(topology, node)) {
        binding->cpu_node = binding->node;
        wanted = node->cpuset;
    } else if (other != NULL && has_cpus(topology, other)) {
        binding->cpu_node = near;
        wanted = other->cpuset;
    }
    hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
    if (cpus == NULL || hwloc_bitmap_and(cpus, wanted, topology->cpus) != 0)
        SET_NOTE(binding, "out of memory");
    else if (hwloc_bitmap_iszero(cpus))
        SET_NOTE(binding, "this process may not run on any CPU of NUMA node %d", binding->cpu_node);
    else
        bind_to(topology, cpus, node->nodeset, binding);
    hwloc_bitmap_free(cpus);
}

void xb_topology_bind(struct xb_topology *topology, int node, int near, struct xb_binding *binding)
{
    *binding = (struct xb_binding){.node = node, .cpu_node = -1};
    restore_binding(topology);
    bind_to_node(topology, near, binding);
    if (!binding->bound)
        binding->cpu_node = -1;
    binding->cpu_count = xb_cpus_allowed();
}

void xb_topology_locate(struct xb_topology *topology, const void *address, size_t bytes, int node,
                        struct xb_places *places)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t before = (uintptr_t)address % page;
    size_t pages = (before + bytes + page - 1) / page;
    size_t parts = pages < LOCATE_PAGES ? pages : LOCATE_PAGES;
    *places = (struct xb_places){.known = 0};
    if (bytes == 0 || !hwloc_topology_is_thissystem(topology->hwloc))
        return;
    hwloc_bitmap_t here = hwloc_bitmap_alloc(), all = hwloc_bitmap_alloc();
    for (size_t i = 0; here != NULL && all != NULL && i < parts; i++) {
        /* Looks at any page of the part, but always the same. */
        size_t first = pages / parts * i + pages % parts * i / parts;
        size_t next = pages / parts * (i + 1) + pages % parts * (i + 1) / parts;
        uint32_t mixed = (uint32_t)i * UINT32_C(2654435761);
        const char *at = (const char *)address - before + (first + mixed % (next - first)) * page;
        if (hwloc_get_area_memlocation(topology->hwloc, at, 1, here, HWLOC_MEMBIND_BYNODESET) !=
                0 ||
            hwloc_bitmap_iszero(here))
            continue;
        places->known++;
        places->on_node += node >= 0 && hwloc_bitmap_isset(here, (unsigned)node);
        hwloc_bitmap_or(all, all, here);
    }
    /* "0,1", up to the first number that does not fit */
    size_t length = 0;
    for (int n = all != NULL ? hwloc_bitmap_first(all) : -1; n >= 0;
         n = hwloc_bitmap_next(all, n)) {
        char number[16];
        size_t wanted = (size_t)snprintf(number, sizeof number, "%s%d", length > 0 ? "," : "", n);
        if (length + wanted >= sizeof places->nodes)
            break;
        memcpy(places->nodes + length, number, wanted + 1);
        length += wanted;
    }
    hwloc_bitmap_free(here);
    hwloc_bitmap_free(all);
}
