/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* PATH_MAX */
#include "cpu_quota.h"

#include "base/parallel.h"
#include "cgroups.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

/* So many microseconds of CPU time in each period; as many CPUs can be busy, and a part of one. */
static void tighten(unsigned *cpus, uint64_t quota, uint64_t period)
{
    if (quota == 0 || period == 0)
        return;
    uint64_t most = quota / period + (quota % period != 0);
    if (most < *cpus)
        *cpus = (unsigned)most;
}

/* "200000 100000", or "max 100000" for no limit. */
static void read_v2(void *argument, const char *root, const char *directory)
{
    char path[PATH_MAX];
    uint64_t quota = 0;
    uint64_t period = 0;
    char field[32];
    snprintf(path, sizeof path, "%s/cpu.max", directory);
    if (!xb_number_read(root, path, "", &quota))
        return;
    snprintf(field, sizeof field, "%llu", (unsigned long long)quota);
    if (xb_number_read(root, path, field, &period)) /* what stands behind it */
        tighten(argument, quota, period);
}

/* -1 is no limit. */
static void read_v1(void *argument, const char *root, const char *directory)
{
    char path[PATH_MAX];
    uint64_t quota = 0;
    uint64_t period = 0;
    snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", directory);
    if (!xb_number_read(root, path, "", &quota))
        return;
    snprintf(path, sizeof path, "%s/cpu.cfs_period_us", directory);
    if (xb_number_read(root, path, "", &period))
        tighten(argument, quota, period);
}

unsigned xb_cpu_quota_read(const char *root)
{
    static const struct xb_cgroup_hierarchy hierarchies[] = {
        {"", "/sys/fs/cgroup", read_v2},
        {"cpu", "/sys/fs/cgroup/cpu", read_v1},
    };
    unsigned cpus = UINT_MAX;
    xb_cgroups_visit(root, hierarchies, sizeof hierarchies / sizeof *hierarchies, &cpus);
    return cpus;
}

unsigned xb_cpus_usable(void)
{
    static _Atomic unsigned quota; /* 0: not read yet */
    if (quota == 0)
        quota = xb_cpu_quota_read("");
    unsigned allowed = xb_cpus_allowed();
    return allowed < quota ? allowed : quota;
}
