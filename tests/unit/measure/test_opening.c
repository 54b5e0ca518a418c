/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Several devices are opened at the same time, and one that is slow or fails costs nobody else. */

#include "run_fixture.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WATCHED(name) TEST_WITH(name, watch, NULL)

/* Nobody waits longer for another thread. Only a test that fails takes as long. */
#define PATIENCE_S 20

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned meet;   /* so many openings wait for each other; 0: none does */
    unsigned inside; /* openings in flight */
    unsigned most;   /* of them at any time */
    unsigned opened, closed;
    unsigned slow;   /* this device, counted from 1, opens once a row is finished; 0: none */
    unsigned broken; /* likewise, and does not open */
    bool row_finished;
    bool slow_was_last; /* the slow device opened after that */
    pthread_t threads[XB_FAKE_MAX_DEVICES];
} seen = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* In place of libc's, by which whoever waits for a device sleeps between two glances: where one is
 * slow that puts the clock forward, so that no test waits as long as a run would. */
int nanosleep(const struct timespec *time, struct timespec *left)
{
    pthread_mutex_lock(&seen.lock);
    if (seen.slow != 0)
        atomic_fetch_add(&clock_ahead_ns, 1000000000LL);
    pthread_mutex_unlock(&seen.lock);
    return (int)syscall(SYS_nanosleep, time, left);
}

/* With the lock held. The clock that tests put forward is not what this waits by. */
static void wait_for_change(void)
{
    struct timespec until;
    syscall(SYS_clock_gettime, CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_S;
    if (pthread_cond_timedwait(&seen.changed, &seen.lock, &until) != 0)
        seen.meet = seen.slow = 0;
}

static void meet_others(unsigned index)
{
    pthread_mutex_lock(&seen.lock);
    seen.threads[index] = pthread_self();
    seen.inside++;
    seen.most = seen.inside > seen.most ? seen.inside : seen.most;
    pthread_cond_broadcast(&seen.changed);
    while (seen.most < seen.meet)
        wait_for_change();
    if (index + 1 == seen.slow) {
        atomic_fetch_add(&clock_ahead_ns, 3600000000000LL);
        while (!seen.row_finished && seen.slow != 0)
            wait_for_change();
        seen.slow_was_last = seen.row_finished;
    }
    seen.inside--;
    pthread_mutex_unlock(&seen.lock);
}

static enum xb_status watched_open(struct xb_driver *driver, unsigned index,
                                   struct xb_device **device, struct xb_error *error)
{
    meet_others(index);
    if (index + 1 == seen.broken)
        return XB_FAIL(error, XB_ERR_RUNTIME, "device %u is broken", index);
    enum xb_status status = xb_fake_backend.device_open(driver, index, device, error);
    if (status != XB_OK)
        return status;
    (*device)->backend = &altered_backend;
    pthread_mutex_lock(&seen.lock);
    seen.opened++;
    pthread_mutex_unlock(&seen.lock);
    return XB_OK;
}

static void watched_close(struct xb_device *device)
{
    seen.closed += device != NULL;
    xb_fake_backend.device_close(device);
}

static void note_row(void *argument, const struct xb_run *run)
{
    (void)argument;
    (void)run;
    pthread_mutex_lock(&seen.lock);
    seen.row_finished = true;
    pthread_cond_broadcast(&seen.changed);
    pthread_mutex_unlock(&seen.lock);
}

static const struct xb_run_observer noting = {.progress = hurry, .finished = note_row};

static int watch(void **state)
{
    reset(state);
    altered_backend.device_open = watched_open;
    altered_backend.device_close = watched_close;
    seen.meet = seen.most = seen.opened = seen.closed = seen.slow = seen.broken = 0;
    seen.row_finished = seen.slow_was_last = false;
    return 0;
}

#define ONE_ROW_EACH "--mode pinned --direction h2d --size 64K --device all"

/* So many devices are opened, and each is closed. */
static void expect_opened(struct fixture *f, const char *line, unsigned opened)
{
    plan_line(f, "%s", line);
    go(f, &noting);
    assert_int_equal(seen.opened, opened);
    assert_int_equal(seen.closed, opened);
}

WATCHED(all_open_at_once)
{
    struct fixture f;
    xb_fake.device_count = 4;
    seen.meet = 4;
    expect_opened(&f, ONE_ROW_EACH, 4);
    expect_all(&f, XB_RESULT_OK);
    assert_int_equal(seen.most, 4);
    finish(&f);
}

/* Where a thread is not worth its while. */
WATCHED(one_device_opens_in_the_first_thread)
{
    struct fixture f;
    expect_opened(&f, ONE_ROW_EACH, 1);
    expect_all(&f, XB_RESULT_OK);
    assert_true(pthread_equal(seen.threads[0], pthread_self()));
    finish(&f);
}

WATCHED(a_broken_device_fails_its_own_rows)
{
    struct fixture f;
    xb_fake.device_count = 3;
    seen.broken = 2;
    expect_opened(&f, "--mode pinned --size 64K --device all", 2);
    assert_int_equal(f.run.case_count, 6);
    for (size_t i = 0; i < 6; i++)
        if (f.run.results[i].test.device == 1)
            expect_reason(&f.run.results[i], XB_RESULT_ERROR, "device 1 is broken");
        else
            expect_status(&f.run.results[i], XB_RESULT_OK);
    finish(&f);
}

/* The others wait for it, but not for ever: here it is only done once one of them was measured. */
WATCHED(a_slow_device_does_not_hold_up_the_others)
{
    struct fixture f;
    xb_fake.device_count = 3;
    seen.slow = 3;
    expect_opened(&f, ONE_ROW_EACH, 3);
    expect_all(&f, XB_RESULT_OK);
    assert_true(seen.slow_was_last);
    finish(&f);
}

/* Of three devices two are in no pair, and nobody needs the one that has none; nor can any case use
 * one of a backend without pairs. */
WATCHED(what_no_case_needs_stays_closed)
{
    struct fixture f;
    xb_fake.device_count = 4;
    expect_opened(&f, "--mode peer --size 64K --pairs 1:3 --device 0", 2);
    finish(&f);
    watch(NULL);
    xb_fake.device_count = 2;
    altered_backend.peer_info = NULL;
    expect_opened(&f, "--mode peer --size 64K", 0);
    expect_all(&f, XB_RESULT_SKIPPED);
    finish(&f);
}

/* A deadline that comes while they open: all is closed, and nothing is measured. */
WATCHED(a_late_run_closes_what_it_opened)
{
    struct fixture f;
    xb_fake.device_count = 2;
    seen.meet = 2;
    plan_line(&f, ONE_ROW_EACH);
    seen.slow = 1; /* puts the clock an hour forward, and waits for a row or for the first thread */
    seen.row_finished = true;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    f.run.deadline = (double)now.tv_sec + 1800;
    go(&f, &noting);
    /* Or its first sample: the other device may begin before the clock is put forward. */
    for (size_t i = 0; i < f.run.case_count; i++)
        expect_reason(&f.run.results[i], XB_RESULT_SKIPPED, "the deadline came before it");
    assert_int_equal(seen.opened, 2);
    assert_int_equal(seen.closed, 2);
    finish(&f);
}
