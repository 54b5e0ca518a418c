/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "measure/run.h"

/*
 * What else went on while the copies of one direction ran. A busy host and other traffic slow
 * copies down as a bad link does, so a verdict on a slow link needs to know of them, at that very
 * time. Everything is 0 or false where it is not known.
 */
struct xb_link_conditions {
    double seconds;        /* watched, between the ends of the first and the last copy */
    unsigned cpus;         /* of the machine, as /proc/stat shows it */
    double cpus_busy;      /* of these: kept busy by other processes, in the mean */
    double load_s;         /* median time of a load from host memory, past all caches */
    bool traffic_known;    /* then, of all processes, headers included, in bytes per second: */
    double sent, received; /* by the device over its link */
    uint64_t retrains;     /* of that link */
    unsigned memory_mhz;   /* clock of the device's memory */
    unsigned memory_best_mhz;
    bool slowed_by_hardware; /* as in struct xb_device_health */
    char throttle[128];
    bool memory_is_far;   /* all host memory lay on other NUMA nodes than the device's */
    double mean, fastest; /* the copies themselves, in bytes per second: all samples, the fastest */
};

/* The parts (enum xb_health_part) that the vendor's library knows of the device; nothing where the
 * backend has no such library. */
void xb_health_read(struct xb_driver *driver, unsigned index, unsigned parts,
                    struct xb_device_health *health);

struct xb_conditions;

/* For copies of device `index` at that PCI address, which is borrowed. */
struct xb_conditions *xb_conditions_open(struct xb_driver *driver, unsigned index, const char *bdf);
/* Looks in each fourth call, from the end of the first copy on. For xb_pcie_watch_task: to be
 * called each 5 ms by one thread, which it binds near the device. `argument` is the struct. */
void xb_conditions_look(void *argument);
/* The run begins, or a copy of its current direction has just `copied`. What was seen before the
 * end of a copy counts, what is seen after it only when the next one ends: so nothing counts but
 * copies. Another thread's than looks. The run's topology is used until xb_conditions_close. */
void xb_conditions_note(struct xb_conditions *conditions, const struct xb_run *run, bool copied);
/* When nobody looks any more. Tells the conditions of both directions, h2d and d2h, and releases.
 */
void xb_conditions_close(struct xb_conditions *conditions, struct xb_link_conditions told[2]);
