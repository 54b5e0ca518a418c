/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* Waits of the host for an event. */
#include "contract.h"

#include <stdio.h>

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
    TEST(test_a_wait_for_an_event_that_was_never_recorded),
    TEST(test_events_are_waited_for),
    TEST(test_a_wait_for_an_event_is_for_what_stands_before_it),
};

int run_event_tests(const char *name)
{
    char group[64];
    snprintf(group, sizeof group, "%s: waits for events", name);
    return _cmocka_run_group_tests(group, tests, sizeof tests / sizeof tests[0], NULL, NULL);
}
