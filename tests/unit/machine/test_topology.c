/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* sched_getaffinity, setenv */
#include "base/parallel.h"
#include "machine/host_memory.h"
#include "machine/topology.h"
#include "testing.h"

#include <sched.h>

/*
 * hwloc takes a machine's description from the environment (HWLOC_SYNTHETIC), which gives these
 * tests several NUMA nodes on any machine. HWLOC_THISSYSTEM makes it believe that the description
 * is of this machine, and bind for real.
 */
static struct xb_topology *open_synthetic(const char *description, const char *this_system)
{
    struct xb_topology *topology = NULL;
    struct xb_error error;

    setenv("HWLOC_SYNTHETIC", description, 1);
    setenv("HWLOC_THISSYSTEM", this_system, 1);
    enum xb_status status = xb_topology_open(&topology, &error);
    unsetenv("HWLOC_SYNTHETIC");
    unsetenv("HWLOC_THISSYSTEM");
    assert_int_equal(status, XB_OK);
    return topology;
}

static struct xb_topology *open_machine(void)
{
    struct xb_topology *topology = NULL;
    struct xb_error error;

    assert_int_equal(xb_topology_open(&topology, &error), XB_OK);
    return topology;
}

/* Every binding says whether and why not. */
static void assert_explained(const struct xb_binding *binding)
{
    if (binding->bound)
        assert_string_equal(binding->note, "");
    else
        assert_string_not_equal(binding->note, "");
    assert_int_equal(binding->cpu_count, xb_cpus_allowed());
}

TEST(knows_this_machine)
{
    struct xb_topology *topology = open_machine();
    struct xb_binding binding;
    unsigned cpus = xb_cpus_allowed();

    assert_true(xb_topology_node_count(topology) >= 1);
    for (int node = -1; node < (int)xb_topology_node_count(topology); node++) {
        memset(&binding, 0xff, sizeof binding);
        xb_topology_bind(topology, node, -1, &binding);
        assert_int_equal(binding.node, node);
        assert_explained(&binding);
        if (xb_topology_node_count(topology) == 1) {
            assert_false(binding.bound);
            assert_true(binding.note_is_normal);
        }
    }
    xb_topology_bind(topology, -1, -1, &binding);
    assert_int_equal(xb_cpus_allowed(), cpus);
    xb_topology_close(topology);
    xb_topology_close(NULL);
}

TEST(does_not_bind_to_another_machine)
{
    struct xb_topology *topology = open_synthetic("numa:2 pu:1", "0");
    struct xb_binding binding;
    struct xb_places places;
    int here = 0;

    xb_topology_bind(topology, 0, -1, &binding);
    assert_false(binding.bound);
    assert_false(binding.note_is_normal);
    assert_explained(&binding);
    xb_topology_locate(topology, &here, sizeof here, 0, &places);
    assert_string_equal(places.nodes, "");
    assert_int_equal(places.known, 0);
    xb_topology_close(topology);
}

/* CPU 0 and node 0 are there on nearly every machine; where a container forbids either, the note
 * says so and the thread is bound as before. */
TEST(binds_and_binds_again)
{
    struct xb_topology *topology = open_synthetic("numa:2 pu:1", "1");
    unsigned cpus = xb_cpus_allowed();
    struct xb_binding binding;

    for (int round = 0; round < 2; round++) {
        xb_topology_bind(topology, 0, -1, &binding);
        assert_explained(&binding);
        assert_int_equal(binding.cpu_count, binding.bound ? 1 : cpus);
        if (binding.bound)
            assert_int_equal(sched_getcpu(), 0);
    }
    xb_topology_bind(topology, -1, -1, &binding);
    assert_int_equal(binding.cpu_count, cpus);
    xb_topology_close(topology);
}

/* A node which only the description has: its CPU exists, so the first half succeeds. */
TEST(undoes_half_a_binding)
{
    struct xb_topology *machine = open_machine();
    unsigned nodes = xb_topology_node_count(machine);
    struct xb_binding binding;
    cpu_set_t before;

    xb_topology_close(machine);
    if (nodes > 1 || sched_getaffinity(0, sizeof before, &before) != 0 || !CPU_ISSET(1, &before))
        skip();
    struct xb_topology *topology = open_synthetic("numa:2 pu:1", "1");
    xb_topology_bind(topology, 1, -1, &binding);
    assert_false(binding.bound);
    assert_false(binding.note_is_normal);
    assert_non_null(strstr(binding.note, "refused"));
    assert_int_equal(binding.cpu_count, CPU_COUNT(&before));
    assert_explained(&binding);
    xb_topology_close(topology);
}

/* What taskset or a scheduler allows is never exceeded, be it the node's CPUs or another's. */
TEST(stays_within_the_callers_cpus)
{
    cpu_set_t before;
    cpu_set_t one;
    struct xb_binding binding;

    CPU_ZERO(&one);
    CPU_SET(1, &one);
    if (sched_getaffinity(0, sizeof before, &before) != 0 || sched_setaffinity(0, sizeof one, &one))
        skip(); /* no second CPU */
    struct xb_topology *topology = open_synthetic("numa:2 pu:1", "1");
    xb_topology_bind(topology, 0, -1, &binding);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    assert_false(binding.bound);
    assert_int_equal(binding.cpu_count, 1);
    assert_non_null(strstr(binding.note, "any CPU of NUMA node 0"));
    xb_topology_close(topology);
}

/* "" where the kernel does not say, else numbers of nodes with commas between them. */
static void assert_node_list(const char *nodes)
{
    assert_int_equal(strspn(nodes, "0123456789,"), strlen(nodes));
    assert_null(strstr(nodes, ",,"));
}

TEST(locates_pages)
{
    const uint64_t bytes = 3u << 20;
    struct xb_topology *topology = open_machine();
    struct xb_error error;
    void *memory = NULL;
    struct xb_places places;

    assert_int_equal(xb_pages_map(bytes, &memory, &error), XB_OK);
    xb_topology_locate(topology, memory, bytes, -1, &places);
    assert_node_list(places.nodes);
    assert_int_equal(places.on_node, 0);
    assert_true(places.known <= 256);
    /* One node, if the kernel says at all. */
    if (xb_topology_node_count(topology) == 1 && places.nodes[0] != '\0')
        assert_null(strchr(places.nodes, ','));
    /* Any alignment and length. */
    for (size_t length = 0; length < 200; length++) {
        xb_topology_locate(topology, (char *)memory + 4095, length, 0, &places);
        assert_node_list(places.nodes);
        assert_true(places.known <= (length > 1 ? 2 : length));
        assert_true(places.on_node <= places.known);
        if (length == 0)
            assert_string_equal(places.nodes, "");
    }
    xb_pages_unmap(memory, bytes);
    /* Where nothing is mapped there is no node. */
    xb_topology_locate(topology, memory, bytes, 0, &places);
    assert_string_equal(places.nodes, "");
    assert_int_equal(places.known, 0);
    xb_topology_close(topology);
}
