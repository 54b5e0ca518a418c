/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Nodes that are named, on a machine with several: topology_nodes.txt binds to them. */
#include "machine/topology.h"

#include <sys/mman.h>

#include "testing.h"

#include "cases.h"
#include "numa_fixture.h"

static struct xb_topology *open_now(void)
{
    struct xb_topology *topology = NULL;
    struct xb_error error;
    assert_int_equal(xb_topology_open(&topology, &error), XB_OK);
    return topology;
}

static void begin(void)
{
    (void)numa_reset(NULL);
}

/* machine DESCRIPTION, by hwloc's words or in a file here */
static void run_machine(UNTOLD, char **words)
{
    if (strstr(words[1], ".xml") == NULL) {
        numa_describe(words[1]);
        return;
    }
    char path[4096];
    snprintf(path, sizeof path, "%s/tests/unit/machine/%s", SOURCE, words[1]);
    setenv("HWLOC_XMLFILE", path, 1);
    setenv("HWLOC_THISSYSTEM", "1", 1);
}

static void run_refuse(UNTOLD, char **words)
{
    (void)words;
    numa.refuses = true;
}

static void tell_nodes(FILE *told, char **words)
{
    struct xb_topology *topology = open_now();
    (void)words;
    fprintf(told, "%u nodes, with memory:", xb_topology_node_count(topology));
    for (int node = -1; (node = xb_topology_next_node(topology, node)) >= 0;)
        fprintf(told, " %d", node);
    fputs("\n", told);
    xb_topology_close(topology);
}

/* bind NODE DEVICE'S...: one after the other, and the device is near that node or none (-1) */
static void tell_bind(FILE *told, char **words)
{
    struct xb_topology *topology = open_now();
    for (char **word = words + 1; *word != NULL; word += 2) {
        struct xb_binding binding;
        xb_topology_bind(topology, (int)number_of(word[0]), (int)number_of(word[1]), &binding);
        fprintf(told, "node %d: memory on %d, threads on CPUs %s near %d", binding.node, numa.node,
                numa.cpus, binding.cpu_node);
        if (binding.bound)
            assert_string_equal(binding.note, "");
        else
            fprintf(told, "; not bound%s: %s", binding.note_is_normal ? ", as is normal" : "",
                    binding.note);
        fputs("\n", told);
    }
    xb_topology_close(topology);
}

static const struct verb verbs[] = {
    {"machine", run_machine}, {"refuse", run_refuse}, {"nodes", tell_nodes}, {"bind", tell_bind}};

TEST_WITH(nodes_are_told_and_bound_to, numa_reset, numa_reset)
{
    RUN_CASES("machine/topology_nodes.txt", verbs, begin, NULL);
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
