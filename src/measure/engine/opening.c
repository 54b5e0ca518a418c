/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "measure/sample/measure.h"

#include "base/clock.h"
#include "base/parallel.h"

/* How long all others wait for a device that is slow to open. */
#define SETTLE_S 10.0
/* How often they look. */
#define GLANCE_NS 500000

static void open_now(struct xb_opening *opening)
{
    const struct xb_run *run = opening->run;
    opening->status = run->backend->device_open(
        run->driver, run->devices[opening->position].info.index, &opening->device, &opening->error);
    atomic_store(&opening->done, true);
}

static void *open_in_thread(void *argument)
{
    struct xb_opening *opening = argument;
    const struct xb_run *run = opening->run;
    const struct xb_device_info *info = &run->devices[opening->position].info;
    struct xb_binding ignored; /* the first thread notes its own, which is the same */
    xb_topology_bind(run->topology, xb_pcie_numa_node(info->pci_bdf), -1, &ignored);
    open_now(opening);
    return NULL;
}

void xb_openings_begin(struct xb_opening *openings, const bool *wanted, size_t count, bool also_one)
{
    size_t several = 0;
    for (size_t i = 0; i < count; i++)
        several += wanted[i];
    for (size_t i = 0; (several > 1 || also_one) && i < count; i++)
        openings[i].has_thread =
            wanted[i] && xb_thread_start(&openings[i].thread, open_in_thread, &openings[i]) == 0;
}

void xb_openings_settle(struct xb_opening *openings, size_t count)
{
    const struct timespec glance = {.tv_nsec = GLANCE_NS};
    double end = xb_clock_now() + SETTLE_S;
    for (size_t i = 0; i < count; i++)
        while (openings[i].has_thread && !atomic_load(&openings[i].done) &&
               !xb_run_should_stop(openings[i].run) && xb_clock_now() < end)
            nanosleep(&glance, NULL);
}

static void join(struct xb_opening *opening)
{
    if (opening->has_thread)
        pthread_join(opening->thread, NULL);
    opening->has_thread = false;
}

void xb_opening_wait(struct xb_opening *opening)
{
    join(opening);
    if (!atomic_load(&opening->done))
        open_now(opening);
}

void xb_opening_close(struct xb_opening *opening)
{
    join(opening);
    opening->run->backend->device_close(opening->device);
    opening->device = NULL;
}
