/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine that xferbench_fake is on: the same wherever it runs, so that what it prints can be
 * written down. XB_FAKE_NODES in the environment is the number of its NUMA nodes (1), XB_FAKE_PCI a
 * folder that shows PCI devices as sysfs does (none), XB_FAKE_COLUMNS how wide what it prints may
 * be (as in a file). Of these PCI devices a library tells temperatures, power and clocks, and
 * XB_FAKE_EVENTS says what befalls them (fake_events.h).
 */
#define _POSIX_C_SOURCE 200809L
#include "base/terminal.h"
#include "machine/environment.h"
#include "machine/host_memory.h"
#include "machine/pcie.h"
#include "machine/topology.h"

#include "fake_events.h"
#include "link/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <sys/utsname.h>

#define NAME "fakehost"
#define CPUS_A_NODE 4u
#define MEMORY_BYTES (UINT64_C(16) << 30)

/* The linker puts __wrap_NAME in the place of NAME, which it calls __real_NAME
 * (tests/CMakeLists.txt). */
size_t __real_xb_terminal_columns(FILE *stream);
struct xb_pcie_link __real_xb_pcie_link_read(const char *root, const char *bdf);
void __real_xb_pcie_path_read(const char *root, const char *bdf, struct xb_pcie_path *path);
bool __real_xb_pcie_hop_read(const char *root, const struct xb_pcie_hop *hop, double *speed_gts,
                             unsigned *width);
void __real_xb_health_read(struct xb_driver *driver, unsigned index, unsigned parts,
                           struct xb_device_health *health);

static unsigned node_count(void)
{
    const char *nodes = getenv("XB_FAKE_NODES");
    return nodes != NULL ? (unsigned)strtoul(nodes, NULL, 10) : 1;
}

void __wrap_xb_host_facts_read(struct xb_host_facts *facts)
{
    *facts = (struct xb_host_facts){.hostname = NAME,
                                    .os = "Fake Linux 1",
                                    .kernel = "Linux 6.1.0 x86_64",
                                    .cpu_model = "Fake CPU",
                                    .logical_cpus = CPUS_A_NODE * node_count(),
                                    .memory_bytes = MEMORY_BYTES};
}

void __wrap_xb_platform_read(const char *root, struct xb_platform *platform)
{
    (void)root;
    *platform = (struct xb_platform){.hypervisor = "none", .aspm_policy = "default"};
}

unsigned __wrap_xb_cpus_usable(void)
{
    return CPUS_A_NODE;
}

size_t __wrap_xb_terminal_columns(FILE *stream)
{
    const char *columns = getenv("XB_FAKE_COLUMNS");
    return columns != NULL ? strtoul(columns, NULL, 10) : __real_xb_terminal_columns(stream);
}

size_t __wrap_xb_terminal_prose_columns(FILE *stream)
{
    size_t columns = __wrap_xb_terminal_columns(stream);
    return columns < XB_PLAIN_COLUMNS ? columns : XB_PLAIN_COLUMNS;
}

int __wrap_uname(struct utsname *system)
{
    memset(system, 0, sizeof *system);
    strcpy(system->nodename, NAME);
    return 0;
}

/* Its clock is kept. */
int __wrap_adjtimex(struct timex *state)
{
    *state = (struct timex){.maxerror = 2000};
    return TIME_OK;
}

enum xb_status __wrap_xb_memory_limit_find(const char *root, struct xb_memory_limit *limit,
                                           struct xb_error *error)
{
    (void)root;
    (void)error;
    *limit = (struct xb_memory_limit){.bytes = MEMORY_BYTES / 2,
                                      .source = "MemAvailable in /proc/meminfo"};
    return XB_OK;
}

enum xb_status __wrap_xb_host_memory_available(uint64_t *bytes, struct xb_error *error)
{
    (void)error;
    *bytes = xb_memory_without_reserve(MEMORY_BYTES / 2);
    return XB_OK;
}

uint64_t __wrap_xb_memory_lock_limit(void)
{
    return UINT64_C(8) << 20;
}

bool __wrap_xb_cpu_times_read(const char *path, struct xb_cpu_times *times)
{
    static uint64_t looks;
    (void)path;
    looks++;
    *times = (struct xb_cpu_times){.total = 1000 * looks, .busy = 20 * looks, .cpus = CPUS_A_NODE};
    return true;
}

/* ---- PCI devices ---- */

static const char *devices(void)
{
    const char *folder = getenv("XB_FAKE_PCI");
    return folder != NULL ? folder : "/nowhere";
}

int __wrap_xb_pcie_numa_node(const char *bdf)
{
    return xb_pcie_numa_node_at(devices(), bdf);
}

struct xb_pcie_link __wrap_xb_pcie_link_read(const char *root, const char *bdf)
{
    (void)root;
    return __real_xb_pcie_link_read(devices(), bdf);
}

static bool is_second(const char *bdf)
{
    return strcmp(bdf, "0000:02:00.0") == 0;
}

void __wrap_xb_pcie_path_read(const char *root, const char *bdf, struct xb_pcie_path *path)
{
    (void)root;
    __real_xb_pcie_path_read(devices(), is_second(bdf) && xb_fake_event("gone") > 0 ? "" : bdf,
                             path);
}

bool __wrap_xb_pcie_hop_read(const char *root, const struct xb_pcie_hop *hop, double *speed_gts,
                             unsigned *width)
{
    (void)root;
    bool is_read = __real_xb_pcie_hop_read(devices(), hop, speed_gts, width);
    if (is_read && is_second(hop->lower.bdf) && xb_fake_event("narrow") > 0)
        *width /= 2;
    return is_read;
}

/* The thread that watches a link would look whenever it gets a turn: here it looks once, when it is
 * to stop. */
static struct xb_pcie_path watched;

enum xb_status __wrap_xb_pcie_watch_start(const struct xb_pcie_watch_task *task,
                                          struct xb_pcie_watch **watch, struct xb_error *error)
{
    (void)error;
    watched = *task->path;
    *watch = (struct xb_pcie_watch *)&watched;
    return XB_OK;
}

void __wrap_xb_pcie_watch_arm(struct xb_pcie_watch *watch, bool armed)
{
    (void)watch;
    (void)armed;
}

void __wrap_xb_pcie_watch_stop(struct xb_pcie_watch *watch, struct xb_pcie_load *load)
{
    (void)watch;
    *load = (struct xb_pcie_load){.count = xb_pcie_path_hops(&watched)};
    for (size_t i = 0; i < load->count; i++)
        load->hops[i].readings = __wrap_xb_pcie_hop_read(
            NULL, &watched.hops[i], &load->hops[i].speed_gts, &load->hops[i].width);
}

void __wrap_xb_health_read(struct xb_driver *driver, unsigned index, unsigned parts,
                           struct xb_device_health *health)
{
    __real_xb_health_read(driver, index, parts, health);
    if (getenv("XB_FAKE_PCI") == NULL)
        return;
    if ((parts & XB_HEALTH_POWER) != 0) {
        health->temperature_known = health->power_known = true;
        health->temperature_c = index == 1 && xb_fake_event("hot") > 0 ? 92 : 50 + index;
        health->power_w = 300 + 10.5 * index;
    }
    if ((parts & XB_HEALTH_CLOCKS) != 0) {
        health->clocks_known = true;
        health->sm_clock_mhz = 1980;
        health->memory_clock_mhz = 3201;
        if (index == 1 && xb_fake_event("hot") > 0) {
            health->slowed_by_hardware = true;
            strcpy(health->throttle, "power cap, hardware thermal slowdown");
            health->sm_clock_mhz = 1100;
        }
    }
    if (index == 1) {
        const uint64_t bits = (uint64_t)xb_fake_event("bits");
        health->counts[XB_PCIE_RETRAINS] += (uint64_t)xb_fake_event("restless");
        health->counts[XB_PCIE_BAD_TLPS] += bits;
        health->counts[XB_PCIE_LCRC_ERRORS] += bits;
    }
}

/* ---- NUMA nodes: whoever asks for one gets it ---- */

struct xb_topology {
    unsigned nodes;
};

enum xb_status __wrap_xb_topology_open(struct xb_topology **topology, struct xb_error *error)
{
    static struct xb_topology only;
    (void)error;
    only.nodes = node_count();
    *topology = &only;
    return XB_OK;
}

void __wrap_xb_topology_close(struct xb_topology *topology)
{
    (void)topology;
}

unsigned __wrap_xb_topology_node_count(const struct xb_topology *topology)
{
    return topology->nodes;
}

int __wrap_xb_topology_next_node(const struct xb_topology *topology, int node)
{
    return node + 1 < (int)topology->nodes ? node + 1 : -1;
}

void __wrap_xb_topology_bind(struct xb_topology *topology, int node, int near,
                             struct xb_binding *binding)
{
    (void)near;
    const bool bound = topology->nodes > 1 && node >= 0;
    *binding = (struct xb_binding){.bound = bound,
                                   .node = node,
                                   .cpu_node = bound ? node : -1,
                                   .cpu_count = CPUS_A_NODE * (bound ? 1 : topology->nodes),
                                   .note_is_normal = topology->nodes == 1};
    if (!bound)
        snprintf(binding->note, sizeof binding->note, "%s",
                 topology->nodes == 1 ? "one NUMA node: nothing to bind"
                                      : "the device names no node");
}

void __wrap_xb_topology_locate(struct xb_topology *topology, const void *address, size_t bytes,
                               int node, struct xb_places *places)
{
    (void)topology;
    (void)address;
    (void)bytes;
    *places = (struct xb_places){.known = 16, .on_node = 16};
    snprintf(places->nodes, sizeof places->nodes, "%d", node >= 0 ? node : 0);
}
