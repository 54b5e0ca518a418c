/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The altered fake with copies that are made as late as they may be: each waits until the host
 * waits for it, or for all. What was written over meanwhile would cross in place of what should.
 */
#include "backends/host/host.h"
#include "run_fixture.h"

#include <pthread.h>

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    uint64_t asked, allowed; /* copies */
    uint64_t most_pending;
    bool is_on;
    bool forgets_waits; /* as one would that does not wait */
    struct {
        const struct xb_event *event;
        uint64_t asked; /* when it was recorded */
    } records[1024];
} late = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static inline void wait_until_allowed(const struct xb_host_work *work)
{
    pthread_mutex_lock(&late.mutex);
    while (late.allowed < work->count)
        pthread_cond_wait(&late.changed, &late.mutex);
    pthread_mutex_unlock(&late.mutex);
}

static inline void allow(uint64_t count)
{
    pthread_mutex_lock(&late.mutex);
    if (count > late.allowed)
        late.allowed = count;
    pthread_cond_broadcast(&late.changed);
    pthread_mutex_unlock(&late.mutex);
}

static inline enum xb_status late_copy(struct xb_queue *queue, struct xb_buffer *target,
                                       uint64_t to, struct xb_buffer *source, uint64_t from,
                                       uint64_t bytes, struct xb_error *error)
{
    if (late.is_on) {
        const struct xb_host_work work = {.run = wait_until_allowed, .count = ++late.asked};
        if (late.asked - late.allowed > late.most_pending)
            late.most_pending = late.asked - late.allowed;
        if (xb_host_queue_enqueue(queue, &work, error) != XB_OK)
            return error->status;
    }
    return xb_fake_backend.queue_copy(queue, target, to, source, from, bytes, error);
}

static inline enum xb_status late_record(struct xb_event *event, struct xb_queue *queue,
                                         struct xb_error *error)
{
    size_t place = 0;
    while (late.records[place].event != event && late.records[place].event != NULL)
        assert_true(++place < COUNT_OF(late.records));
    late.records[place].event = event;
    late.records[place].asked = late.asked;
    return xb_fake_backend.event_record(event, queue, error);
}

static inline enum xb_status late_event_wait(struct xb_event *event, struct xb_error *error)
{
    if (late.forgets_waits)
        return XB_OK;
    for (size_t i = 0; i < COUNT_OF(late.records) && late.records[i].event != NULL; i++)
        if (late.records[i].event == event)
            allow(late.records[i].asked);
    return xb_fake_backend.event_wait(event, error);
}

static inline enum xb_status late_wait(struct xb_queue *queue, struct xb_error *error)
{
    allow(late.asked);
    return xb_fake_backend.queue_wait(queue, error);
}

static inline enum xb_status late_fill(struct xb_queue *queue, struct xb_buffer *buffer,
                                       uint64_t bytes, struct xb_pattern pattern,
                                       struct xb_error *error)
{
    allow(late.asked);
    return xb_fake_backend.queue_fill(queue, buffer, bytes, pattern, error);
}

static inline enum xb_status late_check(struct xb_queue *queue, struct xb_buffer *buffer,
                                        uint64_t bytes, struct xb_pattern pattern,
                                        struct xb_mismatch *mismatch, struct xb_error *error)
{
    allow(late.asked);
    return xb_fake_backend.queue_check(queue, buffer, bytes, pattern, mismatch, error);
}

static inline void be_late(void)
{
    late.asked = late.allowed = late.most_pending = 0;
    late.is_on = late.forgets_waits = false;
    memset(late.records, 0, sizeof late.records);
    altered_backend.queue_copy = late_copy;
    altered_backend.queue_fill = late_fill;
    altered_backend.queue_check = late_check;
    altered_backend.queue_wait = late_wait;
    altered_backend.event_record = late_record;
    altered_backend.event_wait = late_event_wait;
}
