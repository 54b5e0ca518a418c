/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* sched_setaffinity, pthread_setattr_default_np */
#include "base/parallel.h"
#include "testing.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

#define MAX_PARTS 256u

struct part {
    uint64_t begin;
    uint64_t end;
    pthread_t thread;
};

static struct record {
    pthread_mutex_t lock;
    struct part parts[MAX_PARTS];
    size_t count;
} record; /* of the last run */

static void record_part(void *argument, uint64_t begin, uint64_t end)
{
    assert_ptr_equal(argument, &record);
    pthread_mutex_lock(&record.lock);
    if (record.count < MAX_PARTS)
        record.parts[record.count] = (struct part){begin, end, pthread_self()};
    record.count++;
    pthread_mutex_unlock(&record.lock);
}

static int by_begin(const void *a, const void *b)
{
    const struct part *left = a;
    const struct part *right = b;
    return (left->begin > right->begin) - (left->begin < right->begin);
}

static size_t count_threads(void)
{
    size_t threads = 0;
    for (size_t i = 0; i < record.count; i++) {
        bool seen = false;
        for (size_t j = 0; j < i; j++)
            seen = seen || pthread_equal(record.parts[i].thread, record.parts[j].thread);
        threads += !seen;
    }
    return threads;
}

/* Runs and checks what always holds: the parts adjoin, cover all of it, stand at the grain and are
 * of one size up to a grain. */
static void run(uint64_t total, uint64_t grain)
{
    uint64_t at = 0;
    record = (struct record){.lock = PTHREAD_MUTEX_INITIALIZER};
    xb_parallel_for(total, grain, record_part, &record);
    assert_in_range(record.count, total > 0, MAX_PARTS);
    qsort(record.parts, record.count, sizeof record.parts[0], by_begin);
    for (size_t i = 0; i < record.count; i++) {
        assert_int_equal(record.parts[i].begin, at);
        assert_int_equal(record.parts[i].begin % grain, 0);
        assert_true(record.parts[i].end > record.parts[i].begin);
        assert_true(record.parts[i].end - at <= record.parts[0].end);
        if (i + 1 < record.count)
            assert_true(record.parts[i].end - at >= record.parts[0].end - grain);
        at = record.parts[i].end;
    }
    assert_int_equal(at, total);
    assert_true(count_threads() <= 16);
}

TEST(covers_every_total_once)
{
    static const uint64_t grains[] = {1, 7, 64, 4096};
    for (size_t i = 0; i < sizeof grains / sizeof *grains; i++)
        for (uint64_t total = 0; total < 300; total++)
            run(total, grains[i]);
}

TEST(takes_no_more_parts_than_grains)
{
    static const struct {
        uint64_t total, grain;
        size_t least, most;
    } rows[] = {{UINT64_C(1) << 40, 4096, 1, 16},
                {(UINT64_C(1) << 40) + 1, 4096, 1, 16},
                {UINT64_MAX, UINT64_C(1) << 62, 4, 4},
                {UINT64_MAX, UINT64_MAX, 1, 1},
                {UINT64_MAX, 1, 1, 16},
                {3000, 1000, 1, 3},
                {999, 1000, 1, 1},
                {0, 1000, 0, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        run(rows[i].total, rows[i].grain);
        assert_true(record.count >= rows[i].least);
        assert_true(rows[i].most == 16 || record.count <= rows[i].most);
        if (rows[i].most == 1)
            assert_true(pthread_equal(record.parts[0].thread, pthread_self()));
    }
}

static void add_one(void *argument, uint64_t begin, uint64_t end)
{
    unsigned *values = argument;
    for (uint64_t i = begin; i < end; i++)
        values[i]++;
}

/* Without any lock: a race between the threads or with the caller would show in ThreadSanitizer. */
TEST(does_everything_once)
{
    enum { COUNT = 100000 };
    unsigned *values = calloc(COUNT, sizeof *values);
    assert_non_null(values);
    for (unsigned round = 1; round <= 20; round++) {
        xb_parallel_for(COUNT, 10, add_one, values);
        for (size_t i = 0; i < COUNT; i++)
            assert_int_equal(values[i], round);
    }
    free(values);
}

struct meeting {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned arrived;
    unsigned expected;
    unsigned left;
    pthread_t caller;
};

/* Goes on only when `expected` threads are in here at once; all but the caller then dawdle. */
static void meet(void *argument, uint64_t begin, uint64_t end)
{
    struct meeting *meeting = argument;
    (void)begin;
    (void)end;
    pthread_mutex_lock(&meeting->lock);
    meeting->arrived++;
    pthread_cond_broadcast(&meeting->changed);
    while (meeting->arrived < meeting->expected)
        pthread_cond_wait(&meeting->changed, &meeting->lock);
    if (!pthread_equal(pthread_self(), meeting->caller)) {
        pthread_mutex_unlock(&meeting->lock);
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        pthread_mutex_lock(&meeting->lock);
    }
    meeting->left++;
    pthread_mutex_unlock(&meeting->lock);
}

/* And waits for all of them. Were the work not on as many threads as promised, this would hang
 * until the test's time limit. */
TEST(works_on_every_cpu_until_all_is_done)
{
    unsigned cpus = xb_cpus_allowed();
    struct meeting meeting = {.lock = PTHREAD_MUTEX_INITIALIZER,
                              .changed = PTHREAD_COND_INITIALIZER,
                              .expected = cpus < 16 ? cpus : 16,
                              .caller = pthread_self()};
    xb_parallel_for(1000, 1, meet, &meeting);
    /* Locked, because a helper that is forgotten would still be at it. */
    pthread_mutex_lock(&meeting.lock);
    assert_true(meeting.left >= meeting.expected);
    assert_int_equal(meeting.left, meeting.arrived);
    pthread_mutex_unlock(&meeting.lock);
}

TEST(keeps_to_the_cpus_of_the_caller)
{
    cpu_set_t before;
    cpu_set_t one;
    if (sched_getaffinity(0, sizeof before, &before) != 0)
        skip(); /* more CPUs than the fixed set holds */
    assert_int_equal(xb_cpus_allowed(), CPU_COUNT(&before));
    CPU_ZERO(&one);
    for (size_t cpu = 0; CPU_COUNT(&one) == 0; cpu++)
        if (CPU_ISSET(cpu, &before))
            CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        skip();
    assert_int_equal(xb_cpus_allowed(), 1);
    run(1000, 1);
    assert_int_equal(count_threads(), 1);
    assert_true(pthread_equal(record.parts[0].thread, pthread_self()));
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
}

TEST(works_where_no_thread_can_be_created)
{
    pthread_attr_t before;
    pthread_attr_t huge;
    assert_int_equal(pthread_getattr_default_np(&before), 0);
    assert_int_equal(pthread_attr_init(&huge), 0);
    /* A stack that fits in no address space. */
    assert_int_equal(pthread_attr_setstacksize(&huge, (size_t)1 << 60), 0);
    assert_int_equal(pthread_setattr_default_np(&huge), 0);
    run(1000, 1);
    assert_int_equal(pthread_setattr_default_np(&before), 0);
    assert_int_equal(count_threads(), 1);
    assert_true(pthread_equal(record.parts[0].thread, pthread_self()));
    pthread_attr_destroy(&huge);
    pthread_attr_destroy(&before);
}
