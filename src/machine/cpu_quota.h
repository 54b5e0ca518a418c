/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MACHINE_CPU_QUOTA_H
#define XFERBENCH_MACHINE_CPU_QUOTA_H

/* How many CPUs the calling thread may use at a time: those that it may run on, but no more than
 * the CPU time that the process's cgroups allow, as a container with a part of a machine has it. 1
 * or more. The cgroups are read once in a process. */
unsigned xb_cpus_usable(void);

/* How many CPUs' time the cgroups allow, rounded up; UINT_MAX where they do not bound it. Reads
 * files under `root`, "" for the machine's own. */
unsigned xb_cpu_quota_read(const char *root);

#endif
