/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_PARALLEL_H
#define XFERBENCH_PARALLEL_H

#include <stdint.h>

/*
 * Calls work(argument, begin, end) for adjoining parts of [0, total), each but the last a multiple
 * of `grain` (1 or more) long, on several threads (as many as CPUs the caller may run on, 16 at
 * most, and no more than there are grains). Returns when all are done. The calling thread takes
 * part, so it works also where no thread can be created.
 */
void xb_parallel_for(uint64_t total, uint64_t grain,
                     void (*work)(void *argument, uint64_t begin, uint64_t end), void *argument);

#endif
