/* SPDX-License-Identifier: Apache-2.0 */
/* How much CPU time the cgroups allow. */
#define _GNU_SOURCE /* nftw */
#include "base/parallel.h"
#include "fixture_tree.h"
#include "machine/host_memory.h"

#include <limits.h>

#define V2 "sys/fs/cgroup/"
#define V1 "sys/fs/cgroup/cpu/"

TREE_TEST(without_a_quota_there_is_no_limit)
{
    assert_int_equal(xb_cpu_quota_read(*state), UINT_MAX);
    write_file(*state, "proc/self/cgroup", "4:cpu,cpuacct:/old\n0::/job\n");
    assert_int_equal(xb_cpu_quota_read(*state), UINT_MAX);
    write_file(*state, V2 "job/cpu.max", "max 100000\n");
    write_file(*state, V1 "old/cpu.cfs_quota_us", "-1\n");
    write_file(*state, V1 "old/cpu.cfs_period_us", "100000\n");
    assert_int_equal(xb_cpu_quota_read(*state), UINT_MAX);
}

TREE_TEST(a_part_of_a_cpu_is_one)
{
    write_file(*state, "proc/self/cgroup", "0::/job\n");
    write_file(*state, V2 "job/cpu.max", "200000 100000\n");
    assert_int_equal(xb_cpu_quota_read(*state), 2);
    write_file(*state, V2 "job/cpu.max", "200001 100000\n");
    assert_int_equal(xb_cpu_quota_read(*state), 3);
    write_file(*state, V2 "job/cpu.max", "1000 100000\n");
    assert_int_equal(xb_cpu_quota_read(*state), 1);
    write_file(*state, V2 "job/cpu.max", "100000 100000\n"); /* the same number twice */
    assert_int_equal(xb_cpu_quota_read(*state), 1);
}

/* Each cgroup limits those below it, of both versions; a container may see its own at the mount. */
TREE_TEST(the_tightest_counts)
{
    write_file(*state, "proc/self/cgroup", "4:cpu,cpuacct:/old\n0::/job/step\n");
    write_file(*state, V2 "job/step/cpu.max", "800000 100000\n");
    write_file(*state, V2 "job/cpu.max", "600000 100000\n");
    assert_int_equal(xb_cpu_quota_read(*state), 6);
    write_file(*state, V1 "cpu.cfs_quota_us", "250000\n");
    write_file(*state, V1 "cpu.cfs_period_us", "50000\n");
    assert_int_equal(xb_cpu_quota_read(*state), 5);
    write_file(*state, V2 "cpu.max", "40000 10000\n");
    assert_int_equal(xb_cpu_quota_read(*state), 4);
}

TREE_TEST(no_more_than_it_may_run_on)
{
    unsigned usable = xb_cpus_usable();
    assert_true(usable >= 1 && usable <= xb_cpus_allowed());
}
