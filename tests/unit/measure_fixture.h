/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * For what is timed, and what comes of it: the fake backend, whose virtual time is exact. The right
 * answers are worked out from what its operations cost (fake_backend.h): a byte takes an engine
 * 1 ns, and the n-th queue of a device is n times as slow as the first. Include after cmocka.h,
 * from a file that defines _GNU_SOURCE.
 */
#include "run_fixture.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define MIB 1048576.0
/* What a chunk of 1 MiB takes a copy engine by the first queue. */
#define CHUNK_S (MIB * XB_FAKE_SECONDS_PER_BYTE)

/* ---- the fake with slower links, one broken device, or a clock of its own ---- */

static struct {
    unsigned copies;        /* that stand for one */
    unsigned mapped_copies; /* kernels that stand for one that goes to host memory */
    unsigned broken_device; /* whose copies do nothing, counted from 1; 0: none */
    unsigned slow_device;   /* likewise, whose copies take twice as long */
    unsigned broken_peer;   /* likewise, to which peer copies do nothing */
    bool host_clock;        /* events carry the host's clock */
    enum { SIDE_UNKNOWN, SIDE_HOST, SIDE_DEVICE } pages; /* where a prefetch has put them */
    unsigned vain[2]; /* prefetches to the host, and to the device, that found the pages there */
} altered;
static struct xb_backend altered_backend;

static inline enum xb_status altered_device_open(struct xb_driver *driver, unsigned index,
                                                 struct xb_device **device, struct xb_error *error)
{
    enum xb_status status = xb_fake_backend.device_open(driver, index, device, error);
    if (status != XB_OK)
        return status;
    (*device)->backend = &altered_backend;
    (*device)->info.host_clock = altered.host_clock;
    return XB_OK;
}

static inline enum xb_status altered_copy(struct xb_queue *queue, struct xb_buffer *target,
                                          uint64_t to, struct xb_buffer *source, uint64_t from,
                                          uint64_t bytes, struct xb_error *error)
{
    enum xb_status status = XB_OK;
    bool broken = queue->device->info.index + 1 == altered.broken_device;
    xb_fake.damage = broken ? XB_DAMAGE_NOTHING_COPIED : XB_DAMAGE_NONE;
    bool slow = queue->device->info.index + 1 == altered.slow_device;
    for (unsigned i = 0; status == XB_OK && i < altered.copies * (slow ? 2 : 1); i++)
        status = xb_fake_backend.queue_copy(queue, target, to, source, from, bytes, error);
    return status;
}

static inline enum xb_status altered_kernel(struct xb_queue *queue, struct xb_buffer *target,
                                            uint64_t to, struct xb_buffer *source, uint64_t from,
                                            uint64_t bytes, enum xb_access access,
                                            unsigned together, struct xb_error *error)
{
    enum xb_status status = XB_OK;
    bool local = target->memory == XB_MEMORY_DEVICE && source->memory == XB_MEMORY_DEVICE;
    for (unsigned i = 0; status == XB_OK && i < (local ? 1 : altered.mapped_copies); i++)
        status = xb_fake_backend.queue_kernel_copy(queue, target, to, source, from, bytes, access,
                                                   together, error);
    return status;
}

static inline enum xb_status altered_copy_peer(struct xb_queue *queue, struct xb_buffer *target,
                                               uint64_t to, struct xb_buffer *source, uint64_t from,
                                               uint64_t bytes, struct xb_error *error)
{
    bool broken = target->device->info.index + 1 == altered.broken_peer;
    xb_fake.damage = broken ? XB_DAMAGE_NOTHING_COPIED : XB_DAMAGE_NONE;
    return xb_fake_backend.queue_copy_peer(queue, target, to, source, from, bytes, error);
}

static inline enum xb_status altered_prefetch(struct xb_queue *queue, struct xb_buffer *buffer,
                                              uint64_t bytes, bool to_device,
                                              struct xb_error *error)
{
    altered.vain[to_device] += altered.pages == (to_device ? SIDE_DEVICE : SIDE_HOST);
    altered.pages = to_device ? SIDE_DEVICE : SIDE_HOST;
    return xb_fake_backend.queue_prefetch(queue, buffer, bytes, to_device, error);
}

/* Has the runs that follow made with it. */
static inline void alter(unsigned copies, unsigned mapped_copies)
{
    memset(&altered, 0, sizeof altered);
    altered.copies = copies;
    altered.mapped_copies = mapped_copies;
    altered_backend = xb_fake_backend;
    altered_backend.device_open = altered_device_open;
    altered_backend.queue_copy = altered_copy;
    altered_backend.queue_kernel_copy = altered_kernel;
    altered_backend.queue_copy_peer = altered_copy_peer;
    altered_backend.queue_prefetch = altered_prefetch;
    fixture_backend = &altered_backend;
}

/* A letter an operation: a copy in, from the first host buffer or from another, a kernel, a copy
 * out. And how many queues there were. */
static struct {
    char text[4096];
    size_t count;
    const struct xb_buffer *source; /* of the first copy */
    const struct xb_queue *queues[8];
    size_t queue_count;
} letters;

static inline void add_letter(char letter, const struct xb_queue *queue)
{
    size_t at = 0;
    if (letters.count + 1 < sizeof letters.text)
        letters.text[letters.count++] = letter;
    while (at < letters.queue_count && letters.queues[at] != queue)
        at++;
    if (at == letters.queue_count && at < COUNT_OF(letters.queues))
        letters.queues[letters.queue_count++] = queue;
}

static inline enum xb_status lettered_copy(struct xb_queue *queue, struct xb_buffer *target,
                                           uint64_t to, struct xb_buffer *source, uint64_t from,
                                           uint64_t bytes, struct xb_error *error)
{
    if (letters.source == NULL)
        letters.source = source;
    add_letter(source->memory == XB_MEMORY_DEVICE ? 'o'
               : source == letters.source         ? 'i'
                                                  : 'b',
               queue);
    return xb_fake_backend.queue_copy(queue, target, to, source, from, bytes, error);
}

static inline enum xb_status lettered_compute(struct xb_queue *queue, struct xb_buffer *buffer,
                                              uint64_t offset, uint64_t bytes, uint64_t steps,
                                              struct xb_error *error)
{
    add_letter('k', queue);
    return xb_fake_backend.queue_compute(queue, buffer, offset, bytes, steps, error);
}

/* Has letters.text written by the runs that follow. */
static inline void alter_to_letters(void)
{
    memset(&letters, 0, sizeof letters);
    alter(1, 1);
    altered_backend.queue_copy = lettered_copy;
    altered_backend.queue_compute = lettered_compute;
}
