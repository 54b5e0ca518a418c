/* SPDX-License-Identifier: Apache-2.0 */
#include "ring.h"

#include "shared_options.h"
#include "xferbench/workspace.h"

#include <stdlib.h>
#include <string.h>

const struct xb_option xb_option_ring_chunk = {
    .name = "ring-chunk",
    .type = XB_OPTION_SIZES,
    .argument = "SIZE[,SIZE]",
    .default_text = "1M",
    .help = "How much a host thread copies into the ring, or out of it, at a time: a size, a list, "
            "or a range that doubles. One case is run for each.",
    .minimum = 4096,
    .maximum = UINT64_C(1) << 30,
    .selects = true,
};

const struct xb_option xb_option_ring_slots = {
    .name = "ring-slots",
    .type = XB_OPTION_COUNTS,
    .argument = "N[,N]",
    .default_text = "0",
    .help = "How many chunks the ring holds: a number, a list, or 0 for one for each thread and "
            "32 more. One case is run for each.",
    .minimum = 0,
    .maximum = 4096,
    .selects = true,
};

#define SLOTS_BESIDE 32u

/* Chunks cross in groups of so many parts of the ring with an event behind each: one between two
 * copies costs the copy engine microseconds (bench/results/h200/encode-groups.txt). */
#ifndef PARTS
#define PARTS 8u
#endif
/* So many groups are on their way to the device before one is waited for. */
#ifndef CROSSING
#define CROSSING 2u
#endif

/* Of each chunk: a copy and the event behind it. */
#define OPERATIONS 2

struct xb_ring {
    struct xb_device *device;
    struct xb_ring_plan plan;
    struct xb_crew *crew;
    struct xb_buffer *slots;
    unsigned group;          /* chunks */
    struct xb_event **moved; /* one a slot: recorded for the last of a group */
    unsigned crossing;       /* how many of the slots the device may still be reading */
};

/* A copy while it is made. */
struct course {
    struct xb_ring *ring;
    struct xb_queue **queues;
    struct xb_buffer *device;
    uint64_t device_offset;
    char *host; /* read from or written to */
    uint64_t bytes, count;
};

struct xb_ring_plan xb_ring_plan_of(const struct xb_case *test)
{
    unsigned threads = xb_threads_of(test);
    unsigned slots = (unsigned)xb_case_setting(test, &xb_option_ring_slots)->count;
    return (struct xb_ring_plan){
        .threads = threads,
        .chunk = xb_case_setting(test, &xb_option_ring_chunk)->count,
        .slots = slots > 0 ? slots : threads + SLOTS_BESIDE,
    };
}

struct xb_ring_plan xb_ring_plan_usual(void)
{
    unsigned threads = xb_threads_usual();
    return (struct xb_ring_plan){
        .threads = threads, .chunk = UINT64_C(1) << 20, .slots = threads + SLOTS_BESIDE};
}

uint64_t xb_ring_operations(const struct xb_ring_plan *plan, uint64_t bytes)
{
    return OPERATIONS * xb_chunk_count(bytes, plan->chunk);
}

uint64_t xb_ring_bytes(const struct xb_ring_plan *plan)
{
    return plan->slots * plan->chunk;
}

/* While a group is gathered, CROSSING others are crossing: a group is one chunk at least. */
#define LEAST_SLOTS (CROSSING + 1)

enum xb_status xb_ring_check_options(const struct xb_case *test, struct xb_error *error)
{
    uint64_t slots = xb_case_setting(test, &xb_option_ring_slots)->count;
    if (slots == 0 || slots >= LEAST_SLOTS)
        return xb_chunk_check_count(test, &xb_option_ring_chunk, OPERATIONS, error);
    return XB_FAIL(error, XB_ERR_USAGE,
                   "--ring-slots %llu: a ring has %u at least: one is filled while %u cross",
                   (unsigned long long)slots, LEAST_SLOTS, CROSSING);
}

/* ---- the memory ---- */

static enum xb_status open_events(struct xb_ring *ring, struct xb_error *error)
{
    enum xb_status status = XB_OK;
    ring->moved = calloc(ring->plan.slots, sizeof(struct xb_event *));
    if (ring->moved == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for a list of %u slots", ring->plan.slots);
    for (unsigned i = 0; status == XB_OK && i < ring->plan.slots; i++)
        status = ring->device->backend->event_open(ring->device, &ring->moved[i], error);
    return status;
}

static enum xb_status fill_in(struct xb_mode_context *context, unsigned number,
                              struct xb_ring *ring, struct xb_error *error)
{
    enum xb_status status =
        xb_workspace_fixed_buffer(context->workspace, number, XB_MEMORY_PINNED,
                                  xb_ring_bytes(&ring->plan), &ring->slots, error);
    if (status == XB_OK)
        status = xb_workspace_crew(context->workspace, ring->plan.threads, &ring->crew, error);
    return status == XB_OK ? open_events(ring, error) : status;
}

enum xb_status xb_ring_open(struct xb_mode_context *context, const struct xb_ring_plan *plan,
                            unsigned number, struct xb_ring **ring, struct xb_error *error)
{
    struct xb_ring *opened = calloc(1, sizeof *opened);
    if (opened == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory for a ring");
    opened->device = context->device;
    opened->plan = *plan;
    opened->group = plan->slots / PARTS > 0 ? plan->slots / PARTS : 1;
    enum xb_status status = fill_in(context, number, opened, error);
    if (status != XB_OK) {
        xb_ring_close(opened);
        return status;
    }
    *ring = opened;
    return XB_OK;
}

void xb_ring_close(struct xb_ring *ring)
{
    if (ring == NULL)
        return;
    for (unsigned i = 0; ring->moved != NULL && i < ring->plan.slots; i++)
        ring->device->backend->event_close(ring->moved[i]);
    free(ring->moved);
    free(ring);
}

/* ---- chunks ---- */

static struct xb_chunk chunk_at(const struct course *course, uint64_t index)
{
    return xb_chunk_at(course->bytes, course->ring->plan.chunk, index);
}

static uint64_t slot_of(const struct course *course, uint64_t index)
{
    return index % course->ring->plan.slots;
}

static char *slot_address(const struct course *course, uint64_t index)
{
    return (char *)course->ring->slots->host_address +
           slot_of(course, index) * course->ring->plan.chunk;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The first chunk behind a group. */
static uint64_t group_end(const struct course *course, uint64_t group)
{
    return least((group + 1) * course->ring->group, course->count);
}

static uint64_t group_count(const struct course *course)
{
    return xb_chunk_count(course->count, course->ring->group);
}

/* All chunks of a group go on one queue, the groups on the queues in turn. */
static struct xb_queue *queue_for(const struct course *course, uint64_t group)
{
    return course->queues[group % XB_RING_QUEUES];
}

/* The event behind a group. */
static struct xb_event *event_of(const struct course *course, uint64_t group)
{
    return course->ring->moved[slot_of(course, group_end(course, group) - 1)];
}

static enum xb_status cross(const struct course *course, uint64_t index, bool to_device,
                            struct xb_error *error)
{
    const struct xb_ring *ring = course->ring;
    struct xb_chunk chunk = chunk_at(course, index);
    uint64_t slot = slot_of(course, index) * ring->plan.chunk;
    uint64_t there = course->device_offset + chunk.offset;
    struct xb_queue *queue = queue_for(course, index / ring->group);
    return to_device ? ring->device->backend->queue_copy(queue, course->device, there, ring->slots,
                                                         slot, chunk.bytes, error)
                     : ring->device->backend->queue_copy(queue, ring->slots, slot, course->device,
                                                         there, chunk.bytes, error);
}

/* Copies a chunk, and records the event where it is the last of its group. */
static enum xb_status send(const struct course *course, uint64_t index, bool to_device,
                           struct xb_error *error)
{
    uint64_t group = index / course->ring->group;
    enum xb_status status = cross(course, index, to_device, error);
    if (status != XB_OK || index + 1 != group_end(course, group))
        return status;
    return course->ring->device->backend->event_record(event_of(course, group),
                                                       queue_for(course, group), error);
}

static enum xb_status wait_for_group(const struct course *course, uint64_t group,
                                     struct xb_error *error)
{
    return course->ring->device->backend->event_wait(event_of(course, group), error);
}

/* ---- both ways ---- */

static void gather(void *argument, uint64_t item, unsigned thread)
{
    const struct course *course = argument;
    struct xb_chunk chunk = chunk_at(course, item);
    (void)thread;
    memcpy(slot_address(course, item), course->host + chunk.offset, chunk.bytes);
}

static void scatter(void *argument, uint64_t item, unsigned thread)
{
    const struct course *course = argument;
    struct xb_chunk chunk = chunk_at(course, item);
    (void)thread;
    memcpy(course->host + chunk.offset, slot_address(course, item), chunk.bytes);
}

/* Sends each chunk as soon as it and all before it are in the ring. The slots of a group are used
 * again once it has crossed. */
static enum xb_status send_gathered(const struct course *course, struct xb_error *error)
{
    struct xb_crew *crew = course->ring->crew;
    unsigned slots = course->ring->plan.slots;
    enum xb_status status = XB_OK;
    xb_crew_allow(crew, slots);
    for (uint64_t group = 0; status == XB_OK && group < group_count(course); group++) {
        for (uint64_t i = group * course->ring->group;
             status == XB_OK && i < group_end(course, group); i++) {
            xb_crew_wait(crew, i);
            status = send(course, i, true, error);
        }
        if (status != XB_OK || group < CROSSING)
            continue;
        status = wait_for_group(course, group - CROSSING, error);
        xb_crew_allow(crew, group_end(course, group - CROSSING) + slots);
    }
    return status;
}

/* Has each group copied out of the ring once it has crossed, and its slots used again once those of
 * the group before are empty. */
static enum xb_status scatter_received(const struct course *course, struct xb_error *error)
{
    struct xb_crew *crew = course->ring->crew;
    unsigned slots = course->ring->plan.slots;
    uint64_t sent = 0;
    enum xb_status status = XB_OK;
    while (status == XB_OK && sent < least(slots, course->count))
        status = send(course, sent++, false, error);
    for (uint64_t group = 0; status == XB_OK && group < group_count(course); group++) {
        status = wait_for_group(course, group, error);
        if (status != XB_OK)
            break;
        xb_crew_allow(crew, group_end(course, group));
        uint64_t emptied = group * course->ring->group;
        while (status == XB_OK && sent < least(emptied + slots, course->count)) {
            xb_crew_wait(crew, sent - slots);
            status = send(course, sent++, false, error);
        }
    }
    for (uint64_t i = 0; status == XB_OK && i < course->count; i++)
        xb_crew_wait(crew, i);
    return status;
}

/* Waits for what still reads the slots, which a copy to the device before this one may have left.
 */
static enum xb_status wait_for_slots(struct xb_ring *ring, struct xb_error *error)
{
    enum xb_status status = XB_OK;
    for (unsigned i = 0; status == XB_OK && i < ring->crossing; i++)
        status = ring->device->backend->event_wait(ring->moved[i], error);
    ring->crossing = 0;
    return status;
}

/* Of a failure: what is enqueued uses the slots, and memory that is not the ring's. */
static void wait_for_queues(const struct course *course)
{
    struct xb_error ignored;
    for (unsigned i = 0; i < XB_RING_QUEUES; i++)
        (void)course->ring->device->backend->queue_wait(course->queues[i], &ignored);
}

typedef enum xb_status mover(const struct course *course, struct xb_error *error);

static enum xb_status run(struct course *course, void (*work)(void *, uint64_t, unsigned),
                          mover *move, struct xb_error *error)
{
    struct xb_ring *ring = course->ring;
    course->count = xb_chunk_count(course->bytes, ring->plan.chunk);
    enum xb_status status = wait_for_slots(ring, error);
    const struct xb_crew_job job = {.work = work, .argument = course, .count = course->count};
    if (status == XB_OK)
        status = xb_crew_begin(ring->crew, &job, error);
    if (status != XB_OK)
        return status;
    status = move(course, error);
    xb_crew_end(ring->crew);
    if (status != XB_OK)
        wait_for_queues(course);
    return status;
}

enum xb_status xb_ring_to_device(struct xb_mode_context *context, struct xb_ring *ring,
                                 size_t first_queue, struct xb_buffer *device,
                                 uint64_t device_offset, const void *host, uint64_t bytes,
                                 struct xb_error *error)
{
    struct course course = {.ring = ring,
                            .queues = &context->queues[first_queue],
                            .device = device,
                            .device_offset = device_offset,
                            .host = (char *)host, /* gather only reads it */
                            .bytes = bytes};
    enum xb_status status = run(&course, gather, send_gathered, error);
    ring->crossing = ring->plan.slots;
    return status;
}

enum xb_status xb_ring_to_host(struct xb_mode_context *context, struct xb_ring *ring,
                               size_t first_queue, void *host, struct xb_buffer *device,
                               uint64_t device_offset, uint64_t bytes, struct xb_error *error)
{
    struct course course = {.ring = ring,
                            .queues = &context->queues[first_queue],
                            .device = device,
                            .device_offset = device_offset,
                            .host = host,
                            .bytes = bytes};
    return run(&course, scatter, scatter_received, error);
}

/* ---- what bounds it ---- */

enum xb_status xb_ring_by_host_alone(struct xb_ring *ring, bool to_device, void *host,
                                     uint64_t bytes, struct xb_error *error)
{
    struct course course = {.ring = ring,
                            .host = host,
                            .bytes = bytes,
                            .count = xb_chunk_count(bytes, ring->plan.chunk)};
    const struct xb_crew_job job = {
        .work = to_device ? gather : scatter, .argument = &course, .count = course.count};
    enum xb_status status = wait_for_slots(ring, error);
    return status == XB_OK ? xb_crew_run(ring->crew, &job, error) : status;
}

enum xb_status xb_ring_by_device_alone(struct xb_mode_context *context, struct xb_ring *ring,
                                       size_t first_queue, bool to_device, struct xb_buffer *device,
                                       uint64_t device_offset, uint64_t bytes,
                                       struct xb_error *error)
{
    const struct course course = {.ring = ring,
                                  .queues = &context->queues[first_queue],
                                  .device = device,
                                  .device_offset = device_offset,
                                  .bytes = bytes,
                                  .count = xb_chunk_count(bytes, ring->plan.chunk)};
    enum xb_status status = XB_OK;
    for (uint64_t i = 0; status == XB_OK && i < course.count; i++)
        status = send(&course, i, to_device, error);
    ring->crossing = ring->plan.slots;
    return status;
}
