/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* Queues that are held, and events. */
#include "contract.h"

struct group event_tests = {"events", "holds and events", false, 0, {}};
#define OWN_GROUP event_tests

/* ---- hold ---- */

/*
 * The most a hold promises to carry is enqueued behind it: a call that blocks would hang here.
 * Another queue's work shows that the device had the time to run what was held. In the second round
 * all but the first copy are within the device, of an odd size.
 */
TEST(held_work_starts_at_the_release)
{
    struct xb_queue *other = NULL;
    const struct xb_device_info *info = &f->device->info;
    NEEDS(XB_CAP_HOLD);
    MUST(queue_open, f->device, &other);
    struct xb_buffer *scratch = allocate(XB_MEMORY_PINNED);
    struct xb_buffer *within = allocate(XB_MEMORY_DEVICE);
    unsigned char *host = f->pinned->host_address;
    fill(pattern);
    await();
    for (int round = 0; round < 3; round++) {
        memset(host, 1, 64);
        hold();
        for (unsigned used = 0; used < info->held_operations;) {
            bool is_local =
                round == 1 && used > 0 && used + XB_LOCAL_COPY_OPERATIONS <= info->held_operations;
            copy(is_local ? within : f->pinned, 0, f->there, 0, is_local ? BYTES : 64);
            used += is_local ? XB_LOCAL_COPY_OPERATIONS : 1;
        }
        for (int i = 0; i < 20; i++)
            MUST(queue_copy, other, scratch, 0, f->there, 0, BYTES);
        MUST(queue_wait, other);
        for (int i = 0; i < 64; i++)
            assert_int_equal(((volatile unsigned char *)host)[i], 1);
        release();
        await();
        EXPECT_BYTES(host, 0, 64, pattern);
    }
    release(); /* not held: nothing happens */
    tested->queue_close(other);
    tested->buffer_free(within);
    tested->buffer_free(scratch);
}

TEST(closing_a_held_queue_does_not_hang)
{
    struct xb_queue *queue = NULL;
    NEEDS(XB_CAP_HOLD);
    MUST(queue_open, f->device, &queue);
    MUST(queue_hold, queue);
    MUST(queue_copy, queue, f->there, 0, f->pinned, 0, BYTES);
    tested->queue_close(queue);
    tested->queue_close(NULL);
}

/* ---- events ---- */

TEST(events_measure_what_lies_between)
{
    struct xb_event *events[3] = {NULL};
    double parts[2];
    double whole = 0;
    for (int i = 0; i < 3; i++)
        MUST(event_open, f->device, &events[i]);
    for (int i = 0; i < 3; i++) {
        MUST(event_record, events[i], f->queue);
        copy(f->there, 0, f->pinned, 0, BYTES);
    }
    await();
    for (int i = 0; i < 2; i++)
        MUST(event_elapsed, events[i], events[i + 1], &parts[i]);
    MUST(event_elapsed, events[0], events[2], &whole);
    assert_true(parts[0] > 0 && parts[1] > 0);
    /* Sums agree but for the clock's resolution (backend.h: about 0.5 us). */
    double difference = whole - parts[0] - parts[1];
    assert_true(difference < 2e-6 && difference > -2e-6);
    MUST(event_elapsed, events[2], events[0], &parts[0]);
    assert_true(parts[0] < -whole + 2e-6 && parts[0] > -whole - 2e-6);
    for (int i = 0; i < 3; i++)
        tested->event_close(events[i]);
    tested->event_close(NULL);
}

TEST(elapsed_of_an_unrecorded_event_fails)
{
    struct xb_event *start = NULL;
    struct xb_event *stop = NULL;
    double seconds = -1;
    MUST(event_open, f->device, &start);
    MUST(event_open, f->device, &stop);
    FAILS(XB_OK, event_elapsed, start, stop, &seconds);
    tested->event_close(start);
    tested->event_close(stop);
}

/* A second queue reads what the held first one writes: it must wait for the event between them. */
TEST(queues_wait_for_events)
{
    struct xb_queue *second = NULL;
    struct xb_event *event = NULL;
    MUST(queue_open, f->device, &second);
    MUST(event_open, f->device, &event);
    memset(f->pinned->host_address, 0, BYTES);
    if (can(XB_CAP_HOLD))
        hold();
    fill(pattern);
    MUST(event_record, event, f->queue);
    MUST(queue_wait_event, second, event);
    MUST(queue_copy, second, f->pinned, 0, f->there, 0, BYTES);
    if (can(XB_CAP_HOLD))
        release();
    MUST(queue_wait, second);
    EXPECT_BYTES(f->pinned->host_address, 0, BYTES, pattern);
    await();
    tested->event_close(event);
    tested->queue_close(second);
}

TEST(a_wait_for_an_event_that_was_never_recorded)
{
    struct xb_event *event = NULL;
    MUST(event_open, f->device, &event);
    MUST(event_wait, event);
    tested->event_close(event);
}

/* Copies that take their time stand before the event, and it is its latest record that counts. */
TEST(events_are_waited_for)
{
    struct xb_event *event = NULL;
    const unsigned char *host = f->pinned->host_address;
    MUST(event_open, f->device, &event);
    for (int round = 0; round < 3; round++) {
        const struct xb_pattern other = {.seed = 99 + (unsigned)round};
        for (int i = 0; i < 10; i++)
            copy(f->there, 0, f->pinned, 0, BYTES);
        fill(other);
        copy(f->pinned, 0, f->there, 0, BYTES);
        MUST(event_record, event, f->queue);
        MUST(event_wait, event);
        EXPECT_BYTES(host, 0, BYTES, other);
        MUST(event_wait, event); /* again, for it is reached */
    }
    tested->event_close(event);
}

/* A wait for all would end with the hold, when that gives way, and see what was held. */
TEST(a_wait_for_an_event_is_for_what_stands_before_it)
{
    struct xb_event *event = NULL;
    const unsigned char *host = f->pinned->host_address;
    NEEDS(XB_CAP_HOLD);
    MUST(event_open, f->device, &event);
    fill(pattern);
    copy(f->pinned, 0, f->there, 0, BYTES);
    MUST(event_record, event, f->queue);
    hold();
    fill(poison);
    copy(f->pinned, 0, f->there, 0, BYTES);
    MUST(event_wait, event);
    EXPECT_BYTES(host, 0, BYTES, pattern);
    release();
    await();
    EXPECT_BYTES(host, 0, BYTES, poison);
    tested->event_close(event);
}
