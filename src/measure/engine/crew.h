/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "xferbench/error.h"

#include <stdint.h>

/* Host threads that work on items 0 to `count` - 1. They begin items in order, each by one thread,
 * and only allowed ones: who uses the results has room for some at a time. A crew belongs to the
 * thread that opened it: it alone calls these functions, and is one of the threads: it feeds and
 * waits, and works on items where it is the only one. */
struct xb_crew;

#define XB_CREW_THREADS 256u

struct xb_crew_job {
    /* Works on one item; `thread` is below the crew's number of threads, and 0 the caller's. Must
     * not fail. */
    void (*work)(void *argument, uint64_t item, unsigned thread);
    void *argument;
    uint64_t count;
};

/* Starts 1 to XB_CREW_THREADS threads, the caller among them, which may run where that may.
 * XB_ERR_RUNTIME where not all can be had; then there is none. */
enum xb_status xb_crew_open(unsigned threads, struct xb_crew **crew, struct xb_error *error);
/* Ends the job under way as xb_crew_end does, then the threads. Accepts NULL. */
void xb_crew_close(struct xb_crew *crew);
/* How many threads it has, the caller included. */
unsigned xb_crew_threads(const struct xb_crew *crew);

/* Begins a job, of which no item is allowed yet; the last job was ended. XB_ERR_MEMORY only. */
enum xb_status xb_crew_begin(struct xb_crew *crew, const struct xb_crew_job *job,
                             struct xb_error *error);
/* Allows items below `limit`, which never goes down. Does not block. */
void xb_crew_allow(struct xb_crew *crew, uint64_t limit);
/* Blocks until that item is done; it was allowed. What the work wrote can then be read. */
void xb_crew_wait(struct xb_crew *crew, uint64_t item);
/* Begins no further item, and blocks until those that were begun are done. */
void xb_crew_end(struct xb_crew *crew);

/* A whole job: begin, allow all, wait for all, end. */
enum xb_status xb_crew_run(struct xb_crew *crew, const struct xb_crew_job *job,
                           struct xb_error *error);
