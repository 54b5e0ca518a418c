/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "measure/engine/crew.h"
#include "testing.h"

#include <pthread.h>
#include <stdatomic.h>

#define ITEMS 500u
#define THREADS 4u

/* What the threads did, by item. `made` is plain memory: that it can be read once an item is done
 * is what xb_crew_wait promises, and a thread sanitizer would tell. */
struct log {
    unsigned made[ITEMS];
    _Atomic unsigned begun, allowed, beyond, bad_thread;
};

static void work(void *argument, uint64_t item, unsigned thread)
{
    struct log *log = argument;
    atomic_fetch_add(&log->begun, 1);
    if (item >= atomic_load(&log->allowed))
        atomic_fetch_add(&log->beyond, 1);
    if (thread >= THREADS)
        atomic_fetch_add(&log->bad_thread, 1);
    log->made[item] += (unsigned)item + 1;
}

static struct xb_crew *open_crew(void)
{
    struct xb_crew *crew = NULL;
    struct xb_error error;
    assert_int_equal(xb_crew_open(THREADS, &crew, &error), XB_OK);
    assert_int_equal(xb_crew_threads(crew), THREADS);
    return crew;
}

static void assert_made(const struct log *log, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        assert_int_equal(log->made[i], i + 1);
    assert_int_equal(log->beyond, 0);
    assert_int_equal(log->bad_thread, 0);
}

TEST(test_every_item_is_done_once)
{
    struct xb_crew *crew = open_crew();
    struct xb_error error;
    for (uint64_t count = 1; count <= ITEMS; count = count * 3 + 1) {
        struct log log = {.allowed = ITEMS};
        const struct xb_crew_job job = {.work = work, .argument = &log, .count = count};
        assert_int_equal(xb_crew_run(crew, &job, &error), XB_OK);
        assert_made(&log, count);
        assert_int_equal(log.begun, count);
    }
    xb_crew_close(crew);
}

TEST(test_no_item_begins_before_it_is_allowed)
{
    struct xb_crew *crew = open_crew();
    struct xb_error error;
    struct log log = {.allowed = 0};
    const struct xb_crew_job job = {.work = work, .argument = &log, .count = ITEMS};
    assert_int_equal(xb_crew_begin(crew, &job, &error), XB_OK);
    for (unsigned item = 0; item < ITEMS; item++) {
        unsigned limit = item + 7 < ITEMS ? item + 7 : ITEMS;
        atomic_store(&log.allowed, limit);
        xb_crew_allow(crew, limit);
        xb_crew_wait(crew, item);
        assert_int_equal(log.made[item], item + 1);
    }
    xb_crew_end(crew);
    assert_made(&log, ITEMS);
    xb_crew_close(crew);
}

/* An item that waits until it is told to go on. */
struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool entered, open;
    unsigned done;
};

static void wait_at_gate(void *argument, uint64_t item, unsigned thread)
{
    struct gate *gate = argument;
    (void)item;
    (void)thread;
    pthread_mutex_lock(&gate->mutex);
    gate->entered = true;
    pthread_cond_broadcast(&gate->changed);
    while (!gate->open)
        pthread_cond_wait(&gate->changed, &gate->mutex);
    gate->done++;
    pthread_mutex_unlock(&gate->mutex);
}

static void *open_gate(void *argument)
{
    struct gate *gate = argument;
    pthread_mutex_lock(&gate->mutex);
    while (!gate->entered)
        pthread_cond_wait(&gate->changed, &gate->mutex);
    gate->open = true;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->mutex);
    return NULL;
}

TEST(test_the_end_waits_for_what_was_begun_and_begins_no_more)
{
    struct gate gate = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    const struct xb_crew_job job = {.work = wait_at_gate, .argument = &gate, .count = ITEMS};
    struct xb_crew *crew = open_crew();
    struct xb_error error;
    pthread_t opener;
    assert_int_equal(pthread_create(&opener, NULL, open_gate, &gate), 0);
    assert_int_equal(xb_crew_begin(crew, &job, &error), XB_OK);
    xb_crew_allow(crew, 1);
    xb_crew_wait(crew, 0);
    xb_crew_end(crew);
    assert_int_equal(pthread_join(opener, NULL), 0);
    assert_int_equal(gate.done, 1);
    struct log log = {.allowed = ITEMS}; /* and the crew is ready for the next job */
    const struct xb_crew_job next = {.work = work, .argument = &log, .count = 9};
    assert_int_equal(xb_crew_run(crew, &next, &error), XB_OK);
    assert_made(&log, 9);
    xb_crew_close(crew);
}

TEST(test_a_crew_can_be_closed_in_the_middle_of_a_job)
{
    struct log log = {.allowed = ITEMS};
    const struct xb_crew_job job = {.work = work, .argument = &log, .count = ITEMS};
    struct xb_crew *crew = open_crew();
    struct xb_error error;
    assert_int_equal(xb_crew_begin(crew, &job, &error), XB_OK);
    xb_crew_allow(crew, 3);
    xb_crew_close(crew);
    assert_in_range(log.begun, 0, 3);
    xb_crew_close(NULL);
}
