/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Nodes that are named, on a machine with several. */
#include "fixture_tree.h"
#include "machine/topology.h"
#include "numa_fixture.h"

#include <sys/mman.h>

static int set_up(void **state);

/* Nodes 0 and 1 with a CPU each, node 2 with memory only, and node 3 with nothing. */
#define SETS(cpus, nodes)                                                                          \
    "cpuset=\"" cpus "\" complete_cpuset=\"" cpus "\" nodeset=\"" nodes                            \
    "\" complete_nodeset=\"" nodes "\" "
#define NODE(index, cpus, nodes, memory)                                                           \
    "<object type=\"NUMANode\" os_index=\"" index                                                  \
    "\" " SETS(cpus, nodes) "gp_index=\"1" index "\" local_memory=\"" memory "\"/>"
#define CPU(index, cpus, nodes)                                                                    \
    "<object type=\"Group\" " SETS(                                                                \
        cpus, nodes) "gp_index=\"2" index                                                          \
                     "\" kind=\"1001\" subkind=\"0\">" NODE(                                       \
                         index, cpus, nodes, "1073741824") "<object type=\"PU\" os_index=\"" index \
                                                           "\" " SETS(cpus,                        \
                                                                      nodes) "gp_index=\"3" index  \
                                                                             "\"/></object>"
static const char machine[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
    "<topology version=\"2.0\"><object type=\"Machine\" os_index=\"0\" " SETS(
        "0x3",
        "0xf") "allowed_cpuset=\"0x3\" allowed_nodeset=\"0xf\" gp_index=\"1\">" NODE("2", "0x0",
                                                                                     "0x4",
                                                                                     "1073741824")
        NODE("3", "0x0", "0x8", "0") CPU("0", "0x1", "0x1")
            CPU("1", "0x2", "0x2") "</object></topology>\n";

static struct xb_topology *open_now(void)
{
    struct xb_topology *topology = NULL;
    struct xb_error error;
    assert_int_equal(xb_topology_open(&topology, &error), XB_OK);
    return topology;
}

static struct xb_topology *open_odd_machine(const char *tree)
{
    char path[PATH_MAX];
    write_file(tree, "machine.xml", machine);
    snprintf(path, sizeof path, "%s/machine.xml", tree);
    setenv("HWLOC_XMLFILE", path, 1);
    setenv("HWLOC_THISSYSTEM", "1", 1);
    return open_now();
}

TEST_WITH(nodes_are_told_in_order, numa_reset, NULL)
{
    numa_describe("numa:3 pu:2");
    struct xb_topology *topology = open_now();
    assert_int_equal(xb_topology_next_node(topology, -1), 0);
    assert_int_equal(xb_topology_next_node(topology, 0), 1);
    assert_int_equal(xb_topology_next_node(topology, 1), 2);
    assert_int_equal(xb_topology_next_node(topology, 2), -1);
    xb_topology_close(topology);
}

/* The OS need not count on from 0. */
TEST_WITH(nodes_have_the_numbers_of_the_os, numa_reset, NULL)
{
    numa_describe("numa:2(indexes=8,1) pu:1");
    struct xb_topology *topology = open_now();
    struct xb_binding binding;
    assert_int_equal(xb_topology_next_node(topology, -1), 1);
    assert_int_equal(xb_topology_next_node(topology, 1), 8);
    assert_int_equal(xb_topology_next_node(topology, 8), -1);
    xb_topology_bind(topology, 8, -1, &binding);
    assert_true(binding.bound);
    assert_int_equal(numa.node, 8);
    assert_string_equal(numa.cpus, "0"); /* the first of the description has the first CPU */
    xb_topology_close(topology);
}

TEST_WITH(a_node_takes_memory_and_threads, numa_reset, NULL)
{
    numa_describe("numa:2 pu:2");
    struct xb_topology *topology = open_now();
    for (int node = 0; node < 2; node++) {
        struct xb_binding binding;
        xb_topology_bind(topology, node, 1 - node, &binding);
        assert_true(binding.bound);
        assert_int_equal(binding.node, node);
        assert_int_equal(binding.cpu_node, node);
        assert_string_equal(binding.note, "");
        assert_int_equal(numa.node, node);
        assert_string_equal(numa.cpus, node == 0 ? "0-1" : "2-3");
    }
    xb_topology_close(topology);
}

TEST_WITH(refusal_leaves_nothing_bound, numa_reset, NULL)
{
    numa_describe("numa:2 pu:2");
    struct xb_topology *topology = open_now();
    struct xb_binding binding;
    numa.refuses = true;
    xb_topology_bind(topology, 1, 0, &binding);
    assert_false(binding.bound);
    assert_false(binding.note_is_normal);
    assert_int_equal(binding.cpu_node, -1);
    assert_non_null(strstr(binding.note, "refused to bind memory to NUMA node 1"));
    assert_string_equal(numa.cpus, "0-3");
    xb_topology_close(topology);
}

/* Its memory is used, and threads run near the device. */
TEST_WITH(a_node_without_cpus, set_up, remove_tree)
{
    struct xb_topology *topology = open_odd_machine(*state);
    struct xb_binding binding;
    assert_int_equal(xb_topology_next_node(topology, 1), 2);
    xb_topology_bind(topology, 2, 1, &binding);
    assert_true(binding.bound);
    assert_int_equal(numa.node, 2);
    assert_int_equal(binding.cpu_node, 1);
    assert_string_equal(numa.cpus, "1");
    xb_topology_bind(topology, 2, -1, &binding); /* which node is near is not known */
    assert_true(binding.bound);
    assert_int_equal(numa.node, 2);
    assert_int_equal(binding.cpu_node, -1);
    assert_string_equal(numa.cpus, "0-1");
    xb_topology_bind(topology, 0, 1, &binding); /* one that has CPUs keeps to them */
    assert_int_equal(binding.cpu_node, 0);
    assert_string_equal(numa.cpus, "0");
    xb_topology_close(topology);
}

TEST_WITH(a_node_without_memory_is_none, set_up, remove_tree)
{
    struct xb_topology *topology = open_odd_machine(*state);
    assert_int_equal(xb_topology_node_count(topology), 4);
    assert_int_equal(xb_topology_next_node(topology, 2), -1);
    xb_topology_close(topology);
}

/* ---- where pages lie ---- */

/* Addresses that nobody reads. */
static char *reserve(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    return memory;
}

static void release(char *memory, size_t bytes)
{
    assert_int_equal(munmap(memory, bytes), 0);
}

TEST_WITH(pages_are_counted, numa_reset, NULL)
{
    const size_t bytes = 1000 * (size_t)sysconf(_SC_PAGESIZE);
    char *memory = reserve(bytes);
    struct xb_places places;
    numa_describe("numa:2 pu:1");
    struct xb_topology *topology = open_now();
    numa.node = numa.instead_of = 0;
    numa.share = 25;
    xb_topology_locate(topology, memory, bytes, 0, &places);
    assert_int_equal(places.known, 256);
    assert_int_equal(places.on_node, 256 - 2 * 25 - 25); /* of looks 0-99, 100-199, 200-255 */
    assert_string_equal(places.nodes, "0,1");
    numa.share = 0;
    xb_topology_locate(topology, memory, bytes, 1, &places);
    assert_int_equal(places.known, 256);
    assert_int_equal(places.on_node, 0);
    assert_string_equal(places.nodes, "0");
    numa.is_silent = true;
    xb_topology_locate(topology, memory, bytes, 0, &places);
    assert_int_equal(places.known, 0);
    assert_string_equal(places.nodes, "");
    release(memory, bytes);
    xb_topology_close(topology);
}

static char *memory_begin;

static int node_by_parity(const void *address)
{
    return (int)(((uintptr_t)address - (uintptr_t)memory_begin) / (uintptr_t)sysconf(_SC_PAGESIZE) %
                 2);
}

/* Every other page is on another node: a regular step could see one of them only. */
TEST_WITH(pages_of_interleaved_memory_are_seen_evenly, numa_reset, NULL)
{
    const size_t pages = 65536; /* 256 steps of 256 */
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct xb_places places;
    numa_describe("numa:2 pu:1");
    struct xb_topology *topology = open_now();
    numa.node_of = node_by_parity;
    memory_begin = reserve(pages * page);
    xb_topology_locate(topology, memory_begin, pages * page, 0, &places);
    assert_int_equal(places.known, 256);
    assert_in_range(places.on_node, 256 * 2 / 5, 256 * 3 / 5);
    assert_string_equal(places.nodes, "0,1");
    /* Of few pages each is looked at once. */
    xb_topology_locate(topology, memory_begin + 100, 7 * page, 1, &places);
    assert_int_equal(places.known, 8);
    assert_int_equal(places.on_node, 4);
    release(memory_begin, pages * page);
    xb_topology_close(topology);
}

static int set_up(void **state)
{
    return numa_reset(state) == 0 ? make_tree(state) : -1;
}
