/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_BASE_PARALLEL_INTERNAL_H
#define XFERBENCH_BASE_PARALLEL_INTERNAL_H

/* CPUs the calling thread may run on (sched_getaffinity); 1 where the kernel does not say. */
unsigned xb_cpus_allowed(void);

#endif
