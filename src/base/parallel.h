/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <pthread.h>
#include <stdint.h>

/* Starts a thread with every signal blocked: signals go to the program's first thread. Returns what
 * pthread_create does, 0 or an error number. */
int xb_thread_start(pthread_t *thread, void *(*work)(void *argument), void *argument);

/* Splits [0, total) into parts and calls work(argument, begin, end) for each, on as many threads as
 * the caller may have CPUs, 16 at most. The length of every part but the last is a multiple of
 * `grain` (1 or more). Returns when all are done. The calling thread works too, so this succeeds
 * even if no thread can be created. */
void xb_parallel_for(uint64_t total, uint64_t grain,
                     void (*work)(void *argument, uint64_t begin, uint64_t end), void *argument);

/* How many CPUs the calling thread may run on; 1 where the kernel does not say. */
unsigned xb_cpus_allowed(void);
