/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "shared_options.h"

/*
 * Moves pageable memory through a small ring of page-locked slots: host threads copy between the
 * pageable memory and the slots, the device between the slots and its own. It is what the driver
 * does by itself, with more threads.
 */

extern const struct xb_option xb_option_ring_chunk; /* --ring-chunk */
extern const struct xb_option xb_option_ring_slots; /* --ring-slots */

struct xb_ring_plan {
    /* With the caller, which feeds the device; it copies nothing itself where there are others. Few
     * bytes have no others: it copies them sooner than those are awake. */
    unsigned threads;
    uint64_t chunk; /* bytes that cross at a time; the last may be fewer */
    unsigned slots; /* of a chunk each; XB_RING_LEAST_SLOTS or more */
};

/* While one is filled two others cross. */
#define XB_RING_LEAST_SLOTS 3u
#define XB_RING_USUAL_SLOTS 4u

/* What the options of a case say, of which they and --threads are parameters. */
struct xb_ring_plan xb_ring_plan_of(const struct xb_case *test);

/* What works well for copies of so many bytes. */
struct xb_ring_plan xb_ring_plan_usual(uint64_t bytes);

/* How many operations one copy of so many bytes enqueues: of each chunk a copy and the event behind
 * it. */
#define XB_RING_OPERATIONS 2
static inline uint64_t xb_ring_operations(const struct xb_ring_plan *plan, uint64_t bytes)
{
    return XB_RING_OPERATIONS * xb_chunk_count(bytes, plan->chunk);
}

/* How much page-locked memory a ring of that plan takes, for `buffers`. */
static inline uint64_t xb_ring_bytes(const struct xb_ring_plan *plan)
{
    return plan->slots * plan->chunk;
}

struct xb_ring;

/*
 * For setup. `slots` is page-locked memory of xb_ring_bytes. Borrows the crew from the workspace
 * and opens events. To be closed in teardown, also after a failure.
 */
enum xb_status xb_ring_open(struct xb_mode_context *context, const struct xb_ring_plan *plan,
                            struct xb_buffer *slots, struct xb_ring **ring, struct xb_error *error);
void xb_ring_close(struct xb_ring *ring); /* accepts NULL */

/* A copy between host memory and the device's. */
struct xb_ring_copy {
    bool to_device;
    struct xb_queue *queue;
    struct xb_buffer *device;
    uint64_t device_offset;
    char *host; /* read from or written to */
    uint64_t bytes;
};

/*
 * For submit. To the device it returns when the last copy is enqueued and all of `host` was read;
 * to the host it returns when all bytes are there. So it blocks: a case that uses it is timed by
 * the host's clock until the queues are done, and is never held.
 */
typedef enum xb_status xb_ring_submitter(struct xb_ring *ring, const struct xb_ring_copy *copy,
                                         struct xb_error *error);
xb_ring_submitter xb_ring_submit;

/* What bounds it, for references: the host threads' copies alone, as many and as long, and the
 * device's. What the target then holds is no copy of the source. */
xb_ring_submitter xb_ring_submit_host, xb_ring_submit_device;
