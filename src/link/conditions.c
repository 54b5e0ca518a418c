/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* CLOCK_PROCESS_CPUTIME_ID */
#include "session.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/statistics.h"
#include "machine/environment.h"
#include "machine/pcie.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Looks are made in each fourth round of the watch, 20 ms apart. A full Gen6 link moves 2 GiB in
 * less than that, and 4 GiB, where its counters wrap, in 34 ms: traffic between looks that are
 * further apart is not known. */
#define ROUNDS 4
#define TRAFFIC_LONGEST_S 0.03
#define LOOKS 256 /* that are kept of a direction: 5 s */

struct look {
    double time, own_cpu, load_s;
    struct xb_cpu_times cpu;
    bool traffic_known;
    uint32_t sent, received; /* by the device */
    uint64_t retrains;
};

/* What was seen in one direction. */
struct view {
    struct look looks[LOOKS];
    size_t count;
    size_t before_end; /* of these, so many were before the end of the last copy */
    struct xb_device_health clocks;
};

struct xb_conditions {
    struct xb_driver *driver;
    const struct xb_device_info *info;
    /* The thread that looks has these to itself, and the views' looks but for their counts. */
    bool has_probe;
    unsigned long rounds;
    struct xb_memory_probe *probe;
    pthread_mutex_t lock;
    struct xb_topology *topology; /* the run's; NULL: it has not begun */
    bool moves;                   /* a copy has ended */
    size_t way;                   /* of the copies: which view */
    struct view views[2];
};

void xb_health_read(struct xb_driver *driver, unsigned index, unsigned parts,
                    struct xb_device_health *health)
{
    memset(health, 0, sizeof *health);
    if (driver->backend->device_health != NULL)
        driver->backend->device_health(driver, index, parts, health);
}

/* Looks once, while copies go this way, and keeps that if they still do at its end. */
static void look_at(struct xb_conditions *conditions, size_t way)
{
    struct view *view = &conditions->views[way];
    struct xb_device_health health;
    struct timespec own;
    struct look look = {.load_s = 0};
    /* The last reading counts, or the first of hardware that slows down. It takes long: not
     * between the readings below. */
    if (view->count % ROUNDS == 0 && !view->clocks.slowed_by_hardware)
        xb_health_read(conditions->driver, conditions->info->index, XB_HEALTH_CLOCKS,
                       &view->clocks);
    if (conditions->probe != NULL)
        look.load_s = xb_memory_probe_time(conditions->probe);
    xb_health_read(conditions->driver, conditions->info->index, XB_HEALTH_TRAFFIC, &health);
    look.traffic_known = health.traffic_known && health.counted[XB_PCIE_RETRAINS];
    look.retrains = health.counts[XB_PCIE_RETRAINS];
    look.sent = health.bytes_sent;
    look.received = health.bytes_received;
    look.time = xb_clock_now();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own);
    look.own_cpu = (double)own.tv_sec + (double)own.tv_nsec * 1e-9;
    (void)xb_cpu_times_read("/proc/stat", &look.cpu);
    pthread_mutex_lock(&conditions->lock);
    if (way == conditions->way && view->count < LOOKS)
        view->looks[view->count++] = look;
    pthread_mutex_unlock(&conditions->lock);
}

void xb_conditions_look(void *argument)
{
    struct xb_conditions *conditions = argument;
    struct xb_binding ignored;
    pthread_mutex_lock(&conditions->lock);
    struct xb_topology *topology = conditions->topology;
    bool moves = conditions->moves;
    size_t way = conditions->way;
    pthread_mutex_unlock(&conditions->lock);
    if (topology != NULL && !conditions->has_probe) { /* before copies: it moves 64 MiB itself */
        xb_topology_bind(topology, xb_pcie_numa_node(conditions->info->pci_bdf), -1, &ignored);
        conditions->probe = xb_memory_probe_open();
        conditions->has_probe = true;
    }
    if (moves && conditions->rounds++ % ROUNDS == 0)
        look_at(conditions, way);
}

struct xb_conditions *xb_conditions_open(struct xb_driver *driver,
                                         const struct xb_device_info *info)
{
    struct xb_conditions *opened = xb_new(1, sizeof *opened);
    opened->driver = driver;
    opened->info = info;
    pthread_mutex_init(&opened->lock, NULL);
    return opened;
}

void xb_conditions_note(struct xb_conditions *conditions, const struct xb_run *run, bool copied)
{
    pthread_mutex_lock(&conditions->lock);
    conditions->topology = run->topology;
    conditions->moves = copied;
    conditions->way = run->results[run->done_count].test.direction == XB_D2H;
    conditions->views[conditions->way].before_end = conditions->views[conditions->way].count;
    pthread_mutex_unlock(&conditions->lock);
}

static void tell(const struct view *view, struct xb_link_conditions *told)
{
    if (view->before_end < 2)
        return;
    const struct look *first = &view->looks[0], *last = &view->looks[view->before_end - 1];
    double loads[LOOKS], seconds = 0, sent = 0, received = 0;
    told->seconds = last->time - first->time;
    if (first->cpu.cpus > 0 && last->cpu.total > first->cpu.total &&
        last->cpu.busy >= first->cpu.busy) {
        double busy = (double)(last->cpu.busy - first->cpu.busy) /
                      (double)(last->cpu.total - first->cpu.total) * last->cpu.cpus;
        told->cpus = last->cpu.cpus;
        told->cpus_busy = fmax(busy - (last->own_cpu - first->own_cpu) / told->seconds, 0);
    }
    for (size_t i = 0; i < view->before_end; i++)
        loads[i] = view->looks[i].load_s;
    (void)xb_median_of(loads, view->before_end); /* sorts them */
    told->load_s = loads[view->before_end / 2];
    for (size_t i = 1; i < view->before_end; i++) {
        const struct look *from = &view->looks[i - 1], *to = &view->looks[i];
        if (!from->traffic_known || !to->traffic_known || to->time - from->time > TRAFFIC_LONGEST_S)
            continue;
        seconds += to->time - from->time;
        sent += (uint32_t)(to->sent - from->sent);
        received += (uint32_t)(to->received - from->received);
    }
    if (seconds > 0) {
        told->traffic_known = true;
        told->sent = sent / seconds;
        told->received = received / seconds;
        told->retrains = last->retrains > first->retrains ? last->retrains - first->retrains : 0;
    }
    told->clocks = view->clocks;
}

void xb_conditions_close(struct xb_conditions *conditions, struct xb_link_conditions told[2])
{
    for (size_t i = 0; i < 2; i++)
        tell(&conditions->views[i], &told[i]);
    xb_memory_probe_close(conditions->probe);
    pthread_mutex_destroy(&conditions->lock);
    free(conditions);
}
