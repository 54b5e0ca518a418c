/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Both put `root` before every path that they read ("" for the machine itself), so that tests can
 * describe a machine in a directory. */

/*
 * Reads the number behind `field` ("name 123" or "name: 123") in a file, or the number that the
 * file begins with if `field` is "". Returns false if there is none, for example because the limit
 * is "max". errno then says why the file could not be opened; it is 0 if it could.
 */
bool xb_number_read(const char *root, const char *path, const char *field, uint64_t *value);

/* A controller as /proc/self/cgroup names it, "" for v2, and where its cgroups are to be found. */
struct xb_cgroup_hierarchy {
    const char *controller;
    const char *mount;
    const void *files; /* for the visitor: which files a cgroup has there */
};

/* `directory` is that of a cgroup, without the root. */
typedef void xb_cgroup_visitor(void *argument, const void *files, const char *root,
                               const char *directory);

/* Visits the process's cgroup of each controller and all cgroups above it. What does not exist is
 * visited too: on most machines only one of v1 and v2 is there. */
void xb_cgroups_visit(const char *root, const struct xb_cgroup_hierarchy *hierarchies, size_t count,
                      xb_cgroup_visitor *visit, void *argument);

/* How many CPUs the calling thread may use at a time: those that it may run on, but no more than
 * the CPU time that the process's cgroups allow, as a container with a part of a machine has it. 1
 * or more. The cgroups are read once in a process. */
unsigned xb_cpus_usable(void);

/* How many CPUs' time the cgroups allow, rounded up; UINT_MAX where they do not bound it. Reads
 * files under `root`, "" for the machine's own. */
unsigned xb_cpu_quota_read(const char *root);
