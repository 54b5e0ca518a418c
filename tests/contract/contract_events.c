/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* Queues that are held, and events. */
#include "backends/verify.h"
#include "contract.h"

#include <stdio.h>
#include <string.h>

/* ---- hold ---- */

/*
 * The most a hold promises to carry is enqueued behind it: a call that blocks would hang here.
 * Another queue's work shows that the device had the time to run what was held. In the second round
 * all but the first copy are within the device, of an odd size.
 */
static void test_held_work_starts_at_the_release(void **state)
{
    struct fixture *f = *state;
    const struct xb_backend *b = f->backend;
    struct xb_error error;
    struct xb_queue *other = NULL;
    struct xb_buffer *scratch = NULL;
    struct xb_buffer *within = NULL;
    const struct xb_device_info *info = &f->device->info;
    if ((info->capabilities & XB_CAP_HOLD) == 0)
        skip();
    must(b->queue_open(f->device, &other, &error), &error);
    must(b->buffer_allocate(f->device, XB_MEMORY_PINNED, BYTES, &scratch, &error), &error);
    must(b->buffer_allocate(f->device, XB_MEMORY_DEVICE, BYTES, &within, &error), &error);
    unsigned char *host = f->pinned->host_address;
    fill(f, pattern);
    must(b->queue_wait(f->queue, &error), &error);
    for (int round = 0; round < 3; round++) {
        memset(host, 1, 64);
        must(b->queue_hold(f->queue, &error), &error);
        for (unsigned used = 0; used < info->held_operations;) {
            bool is_local =
                round == 1 && used > 0 && used + XB_LOCAL_COPY_OPERATIONS <= info->held_operations;
            must(b->queue_copy(f->queue, is_local ? within : f->pinned, 0, f->there, 0,
                               is_local ? BYTES : 64, &error),
                 &error);
            used += is_local ? XB_LOCAL_COPY_OPERATIONS : 1;
        }
        for (int i = 0; i < 20; i++)
            must(b->queue_copy(other, scratch, 0, f->there, 0, BYTES, &error), &error);
        must(b->queue_wait(other, &error), &error);
        for (int i = 0; i < 64; i++)
            assert_int_equal(((volatile unsigned char *)host)[i], 1);
        b->queue_release(f->queue);
        must(b->queue_wait(f->queue, &error), &error);
        assert_true(xb_host_check(host, 0, 64, pattern).wrong_bytes == 0);
    }
    b->queue_release(f->queue); /* not held: nothing happens */
    b->queue_close(other);
    b->buffer_free(within);
    b->buffer_free(scratch);
}

static void test_closing_a_held_queue_does_not_hang(void **state)
{
    struct fixture *f = *state;
    struct xb_error error;
    struct xb_queue *queue = NULL;
    if ((f->device->info.capabilities & XB_CAP_HOLD) == 0)
        skip();
    must(f->backend->queue_open(f->device, &queue, &error), &error);
    must(f->backend->queue_hold(queue, &error), &error);
    must(f->backend->queue_copy(queue, f->there, 0, f->pinned, 0, BYTES, &error), &error);
    f->backend->queue_close(queue);
    f->backend->queue_close(NULL);
}

/* ---- events ---- */

static void test_events_measure_what_lies_between(void **state)
{
    struct fixture *f = *state;
    const struct xb_backend *b = f->backend;
    struct xb_event *events[3] = {NULL};
    struct xb_error error;
    double parts[2];
    double whole = 0;
    for (int i = 0; i < 3; i++)
        must(b->event_open(f->device, &events[i], &error), &error);
    for (int i = 0; i < 3; i++) {
        must(b->event_record(events[i], f->queue, &error), &error);
        must(b->queue_copy(f->queue, f->there, 0, f->pinned, 0, BYTES, &error), &error);
    }
    must(b->queue_wait(f->queue, &error), &error);
    for (int i = 0; i < 2; i++)
        must(b->event_elapsed(events[i], events[i + 1], &parts[i], &error), &error);
    must(b->event_elapsed(events[0], events[2], &whole, &error), &error);
    assert_true(parts[0] > 0 && parts[1] > 0);
    /* Sums agree but for the clock's resolution (backend.h: about 0.5 us). */
    double difference = whole - parts[0] - parts[1];
    assert_true(difference < 2e-6 && difference > -2e-6);
    must(b->event_elapsed(events[2], events[0], &parts[0], &error), &error);
    assert_true(parts[0] < -whole + 2e-6 && parts[0] > -whole - 2e-6);
    for (int i = 0; i < 3; i++)
        b->event_close(events[i]);
    b->event_close(NULL);
}

static void test_elapsed_of_an_unrecorded_event_fails(void **state)
{
    struct fixture *f = *state;
    struct xb_event *start = NULL;
    struct xb_event *stop = NULL;
    struct xb_error error = {0};
    double seconds = -1;
    must(f->backend->event_open(f->device, &start, &error), &error);
    must(f->backend->event_open(f->device, &stop, &error), &error);
    assert_int_not_equal(f->backend->event_elapsed(start, stop, &seconds, &error), XB_OK);
    assert_string_not_equal(error.message, "");
    f->backend->event_close(start);
    f->backend->event_close(stop);
}

/* A second queue reads what the held first one writes: it must wait for the event between them. */
static void test_queues_wait_for_events(void **state)
{
    struct fixture *f = *state;
    const struct xb_backend *b = f->backend;
    struct xb_queue *second = NULL;
    struct xb_event *event = NULL;
    struct xb_error error;
    must(b->queue_open(f->device, &second, &error), &error);
    must(b->event_open(f->device, &event, &error), &error);
    memset(f->pinned->host_address, 0, BYTES);
    bool hold = (f->device->info.capabilities & XB_CAP_HOLD) != 0;
    if (hold)
        must(b->queue_hold(f->queue, &error), &error);
    fill(f, pattern);
    must(b->event_record(event, f->queue, &error), &error);
    must(b->queue_wait_event(second, event, &error), &error);
    must(b->queue_copy(second, f->pinned, 0, f->there, 0, BYTES, &error), &error);
    if (hold)
        b->queue_release(f->queue);
    must(b->queue_wait(second, &error), &error);
    assert_true(xb_host_check(f->pinned->host_address, 0, BYTES, pattern).wrong_bytes == 0);
    must(b->queue_wait(f->queue, &error), &error);
    b->event_close(event);
    b->queue_close(second);
}

static void test_a_wait_for_an_event_that_was_never_recorded(void **state)
{
    struct fixture *f = *state;
    struct xb_event *event = NULL;
    struct xb_error error;
    must(f->backend->event_open(f->device, &event, &error), &error);
    must(f->backend->event_wait(event, &error), &error);
    f->backend->event_close(event);
}

/* Copies that take their time stand before the event, and it is its latest record that counts. */
static void test_events_are_waited_for(void **state)
{
    struct fixture *f = *state;
    const struct xb_backend *b = f->backend;
    struct xb_event *event = NULL;
    struct xb_error error;
    const unsigned char *host = f->pinned->host_address;
    must(b->event_open(f->device, &event, &error), &error);
    for (int round = 0; round < 3; round++) {
        const struct xb_pattern other = {.seed = 99 + (unsigned)round};
        for (int i = 0; i < 10; i++)
            must(b->queue_copy(f->queue, f->there, 0, f->pinned, 0, BYTES, &error), &error);
        fill(f, other);
        must(b->queue_copy(f->queue, f->pinned, 0, f->there, 0, BYTES, &error), &error);
        must(b->event_record(event, f->queue, &error), &error);
        must(b->event_wait(event, &error), &error);
        assert_true(xb_host_check(host, 0, BYTES, other).wrong_bytes == 0);
        must(b->event_wait(event, &error), &error); /* again, for it is reached */
    }
    b->event_close(event);
}

/* A wait for all would end with the hold, when that gives way, and see what was held. */
static void test_a_wait_for_an_event_is_for_what_stands_before_it(void **state)
{
    struct fixture *f = *state;
    const struct xb_backend *b = f->backend;
    struct xb_event *event = NULL;
    struct xb_error error;
    const unsigned char *host = f->pinned->host_address;
    if (!can(f, XB_CAP_HOLD))
        skip();
    must(b->event_open(f->device, &event, &error), &error);
    fill(f, pattern);
    must(b->queue_copy(f->queue, f->pinned, 0, f->there, 0, BYTES, &error), &error);
    must(b->event_record(event, f->queue, &error), &error);
    must(b->queue_hold(f->queue, &error), &error);
    fill(f, poison);
    must(b->queue_copy(f->queue, f->pinned, 0, f->there, 0, BYTES, &error), &error);
    must(b->event_wait(event, &error), &error);
    assert_true(xb_host_check(host, 0, BYTES, pattern).wrong_bytes == 0);
    b->queue_release(f->queue);
    await(f);
    assert_true(xb_host_check(host, 0, BYTES, poison).wrong_bytes == 0);
    b->event_close(event);
}

static const struct CMUnitTest tests[] = {
    TEST(test_held_work_starts_at_the_release),
    TEST(test_closing_a_held_queue_does_not_hang),
    TEST(test_events_measure_what_lies_between),
    TEST(test_elapsed_of_an_unrecorded_event_fails),
    TEST(test_queues_wait_for_events),
    TEST(test_a_wait_for_an_event_that_was_never_recorded),
    TEST(test_events_are_waited_for),
    TEST(test_a_wait_for_an_event_is_for_what_stands_before_it),
};

int run_event_tests(const char *name)
{
    char group[64];
    snprintf(group, sizeof group, "%s: holds and events", name);
    return _cmocka_run_group_tests(group, tests, sizeof tests / sizeof tests[0], NULL, NULL);
}
