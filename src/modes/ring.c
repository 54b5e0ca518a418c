/* SPDX-License-Identifier: Apache-2.0 */
#include "ring.h"

#include "base/memory.h"
#include "measure/sample/sampler.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct xb_option xb_option_ring_chunk = {
    XB_SIZES("ring-chunk", "SIZE", "0", 0, UINT64_C(1) << 30,
             "The size of the ring's chunks: a size, a list, a range that doubles, or 0 for a part "
             "of the whole, 16 MiB at most.")};

const struct xb_option xb_option_ring_slots = {
    XB_COUNTS("ring-slots", "4", XB_RING_LEAST_SLOTS, 1024,
              "How many chunks the ring holds: a number or a list.")};

/*
 * How much crosses at a time where nobody says. Between two copies the device loses a time c, and
 * what the threads need for one chunk passes before the first one crosses, or after the last. So n
 * chunks of `bytes` in all cost n * c + bytes / n / r more than the link, with r the threads' rate:
 * least where n * n = bytes / (c * r). On an H200 c is 5 us and r about 100 GB/s
 * (bench/results/h200/ring.txt), together 512 KiB. Larger chunks than the most would not stay in a
 * cache, four of them.
 */
#define LOST_BYTES (UINT64_C(512) << 10)
#define CHUNK_MOST (UINT64_C(16) << 20)
#define BOUNDARY (UINT64_C(64) << 10)

/*
 * Up to so many bytes the caller copies itself: another thread is not awake sooner, and on a busy
 * CPU not before the scheduler's next tick, which is milliseconds. Beside 16 CPUs a ring of 16
 * threads took 72 to 81 us for 512 KiB (bench/results: h100/sweep.json, h200/crossover.json). One
 * thread copies them in 41 to 46 us (half of `copy` less the device's 29 in h100/pin.json), the
 * device in 20 to 33 (ring_link_rate): 65 to 74 us. 1 MiB takes one thread 83 to 91 us before the
 * device's 32 to 42, and took the ring 97 to 117: there threads gain.
 */
#define ALONE_MOST (UINT64_C(512) << 10)

/* A thread copies a piece of a chunk at a time. To be given one costs it a microsecond or two, and
 * all threads are to have something to do. */
#define PIECE_MOST (UINT64_C(512) << 10)
#define PIECE_LEAST (UINT64_C(128) << 10)
#define PIECES UINT64_C(16)

/* So many chunks are on their way to the device before one is waited for. */
#define CROSSING 2u

struct xb_ring {
    struct xb_device *device;
    struct xb_ring_plan plan;
    uint64_t piece, pieces; /* how long one is, and how many a whole chunk has */
    struct xb_crew *crew;
    struct xb_buffer *slots;
    struct xb_event **moved; /* one a slot: the chunk in it has crossed */
    bool crossing;           /* the device may still be reading slots */
};

/* A copy while it is made. */
struct course {
    struct xb_ring *ring;
    struct xb_ring_copy copy;
    uint64_t chunks, pieces;
};

/* In whole boundaries, one at least. */
static uint64_t rounded(uint64_t bytes)
{
    return (bytes / BOUNDARY + 1) * BOUNDARY;
}

struct xb_ring_plan xb_ring_plan_usual(uint64_t bytes)
{
    uint64_t chunk = rounded((uint64_t)sqrt((double)bytes * (double)LOST_BYTES) - 1);
    return (struct xb_ring_plan){.threads = bytes > ALONE_MOST ? xb_threads_usual() : 1,
                                 .chunk = xb_lesser(chunk, CHUNK_MOST),
                                 .slots = XB_RING_USUAL_SLOTS};
}

struct xb_ring_plan xb_ring_plan_of(const struct xb_case *test)
{
    struct xb_ring_plan plan = xb_ring_plan_usual(test->bytes);
    uint64_t chunk = xb_case_setting(test, &xb_option_ring_chunk)->count;
    if (xb_case_setting(test, &xb_option_threads)->count > 0)
        plan.threads = xb_threads_of(test);
    if (chunk > 0)
        plan.chunk = chunk;
    plan.slots = (unsigned)xb_case_setting(test, &xb_option_ring_slots)->count;
    return plan;
}

enum xb_status xb_ring_open(struct xb_mode_context *context, const struct xb_ring_plan *plan,
                            struct xb_buffer *slots, struct xb_ring **ring, struct xb_error *error)
{
    struct xb_ring *opened = xb_new(1, sizeof *opened);
    opened->moved = xb_new(plan->slots, sizeof(struct xb_event *));
    opened->device = context->device;
    opened->plan = *plan;
    opened->slots = slots;
    opened->piece = xb_lesser(xb_larger(rounded(plan->chunk / PIECES), PIECE_LEAST), PIECE_MOST);
    opened->pieces = xb_chunk_count(plan->chunk, opened->piece);
    *ring = opened;
    XB_TRY(xb_workspace_crew(context->workspace, plan->threads, &opened->crew, error));
    for (unsigned i = 0; i < plan->slots; i++)
        XB_TRY(opened->device->backend->event_open(opened->device, &opened->moved[i], error));
    return XB_OK;
}

void xb_ring_close(struct xb_ring *ring)
{
    if (ring == NULL)
        return;
    for (unsigned i = 0; i < ring->plan.slots; i++)
        ring->device->backend->event_close(ring->moved[i]);
    free(ring->moved);
    free(ring);
}

/* Counts chunks and pieces. A chunk begins with a piece of its own. */
static struct course course_of(struct xb_ring *ring, const struct xb_ring_copy *copy)
{
    uint64_t chunk = ring->plan.chunk;
    return (struct course){.ring = ring,
                           .copy = *copy,
                           .chunks = xb_chunk_count(copy->bytes, chunk),
                           .pieces = copy->bytes / chunk * ring->pieces +
                                     xb_chunk_count(copy->bytes % chunk, ring->piece)};
}

/* The first piece of a chunk; of one behind the last, how many there are. */
static uint64_t first_piece(const struct course *course, uint64_t chunk)
{
    return xb_lesser(chunk * course->ring->pieces, course->pieces);
}

static uint64_t slot_of(const struct course *course, uint64_t chunk)
{
    assert(course->ring->plan.slots >= XB_RING_LEAST_SLOTS);
    return chunk % course->ring->plan.slots;
}

/* Enqueues the copy of a chunk and the event behind it. */
static enum xb_status send(const struct course *course, uint64_t index, struct xb_error *error)
{
    const struct xb_ring *ring = course->ring;
    const struct xb_ring_copy *copy = &course->copy;
    const struct xb_backend *backend = ring->device->backend;
    struct xb_chunk chunk = xb_chunk_at(copy->bytes, ring->plan.chunk, index);
    uint64_t slot = slot_of(course, index) * ring->plan.chunk;
    uint64_t there = copy->device_offset + chunk.offset;
    XB_TRY(copy->to_device ? backend->queue_copy(copy->queue, copy->device, there, ring->slots,
                                                 slot, chunk.bytes, error)
                           : backend->queue_copy(copy->queue, ring->slots, slot, copy->device,
                                                 there, chunk.bytes, error));
    return backend->event_record(ring->moved[slot_of(course, index)], copy->queue, error);
}

static enum xb_status wait_for_chunk(const struct course *course, uint64_t chunk,
                                     struct xb_error *error)
{
    const struct xb_ring *ring = course->ring;
    return ring->device->backend->event_wait(ring->moved[slot_of(course, chunk)], error);
}

/* Waits until the threads are done with all pieces of a chunk. */
static void wait_for_pieces(const struct course *course, uint64_t chunk)
{
    for (uint64_t i = first_piece(course, chunk); i < first_piece(course, chunk + 1); i++)
        xb_crew_wait(course->ring->crew, i);
}

/* Copies a piece between the host's memory and its slot. */
static void copy_piece(void *argument, uint64_t index, unsigned thread)
{
    const struct course *course = argument;
    const struct xb_ring *ring = course->ring;
    uint64_t chunk = index / ring->pieces;
    struct xb_chunk whole = xb_chunk_at(course->copy.bytes, ring->plan.chunk, chunk);
    struct xb_chunk part = xb_chunk_at(whole.bytes, ring->piece, index % ring->pieces);
    char *outside = course->copy.host + whole.offset + part.offset;
    char *inside =
        (char *)ring->slots->host_address + slot_of(course, chunk) * ring->plan.chunk + part.offset;
    (void)thread;
    memcpy(course->copy.to_device ? inside : outside, course->copy.to_device ? outside : inside,
           part.bytes);
}

/* Sends each chunk as soon as it is gathered. Its slot is used again once it has crossed. */
static enum xb_status send_gathered(const struct course *course, struct xb_error *error)
{
    struct xb_crew *crew = course->ring->crew;
    unsigned slots = course->ring->plan.slots;
    xb_crew_allow(crew, first_piece(course, slots));
    for (uint64_t i = 0; i < course->chunks; i++) {
        wait_for_pieces(course, i);
        XB_TRY(send(course, i, error));
        if (i < CROSSING)
            continue;
        XB_TRY(wait_for_chunk(course, i - CROSSING, error));
        xb_crew_allow(crew, first_piece(course, i - CROSSING + 1 + slots));
    }
    return XB_OK;
}

/* Has each chunk scattered once it has crossed, and its slot used again once that is done, which is
 * waited for while the next chunk is scattered. */
static enum xb_status scatter_received(const struct course *course, struct xb_error *error)
{
    unsigned slots = course->ring->plan.slots;
    for (uint64_t i = 0; i < xb_lesser(slots, course->chunks); i++)
        XB_TRY(send(course, i, error));
    for (uint64_t i = 0; i < course->chunks; i++) {
        XB_TRY(wait_for_chunk(course, i, error));
        xb_crew_allow(course->ring->crew, first_piece(course, i + 1));
        if (i == 0 || i - 1 + slots >= course->chunks)
            continue;
        wait_for_pieces(course, i - 1);
        XB_TRY(send(course, i - 1 + slots, error));
    }
    for (uint64_t i = 0; i < course->pieces; i++)
        xb_crew_wait(course->ring->crew, i);
    return XB_OK;
}

/* Allows a chunk once the threads are done with the one before it in its slot, as if it had crossed
 * at once: more at a time would be several in one slot, and more threads than a ring keeps busy. */
static enum xb_status cross_nothing(const struct course *course, struct xb_error *error)
{
    struct xb_crew *crew = course->ring->crew;
    unsigned slots = course->ring->plan.slots;
    (void)error;
    xb_crew_allow(crew, first_piece(course, slots));
    for (uint64_t i = 0; i < course->chunks; i++) {
        wait_for_pieces(course, i);
        xb_crew_allow(crew, first_piece(course, i + 1 + slots));
    }
    return XB_OK;
}

/* Waits first for what still reads the slots, which a copy to the device before this one may have
 * left. */
static enum xb_status run(struct course *course,
                          enum xb_status (*move)(const struct course *, struct xb_error *),
                          struct xb_error *error)
{
    struct xb_ring *ring = course->ring;
    const struct xb_crew_job job = {
        .work = copy_piece, .argument = course, .count = course->pieces};
    for (unsigned i = 0; ring->crossing && i < ring->plan.slots; i++)
        XB_TRY(ring->device->backend->event_wait(ring->moved[i], error));
    ring->crossing = false;
    XB_TRY(xb_crew_begin(ring->crew, &job, error));
    enum xb_status status = move(course, error);
    xb_crew_end(ring->crew);
    if (status != XB_OK) /* what is enqueued uses the slots */
        status = xb_queues_wait(&course->copy.queue, 1, status, error);
    return status;
}

enum xb_status xb_ring_submit(struct xb_ring *ring, const struct xb_ring_copy *copy,
                              struct xb_error *error)
{
    struct course course = course_of(ring, copy);
    enum xb_status status = run(&course, copy->to_device ? send_gathered : scatter_received, error);
    ring->crossing = copy->to_device;
    return status;
}

enum xb_status xb_ring_submit_host(struct xb_ring *ring, const struct xb_ring_copy *copy,
                                   struct xb_error *error)
{
    struct course course = course_of(ring, copy);
    return run(&course, cross_nothing, error);
}

enum xb_status xb_ring_submit_device(struct xb_ring *ring, const struct xb_ring_copy *copy,
                                     struct xb_error *error)
{
    const struct course course = course_of(ring, copy);
    ring->crossing = true;
    for (uint64_t i = 0; i < course.chunks; i++)
        XB_TRY(send(&course, i, error));
    return XB_OK;
}
