/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/*
 * What is timed, and what comes of it: over the fake backend, whose virtual time is exact. The
 * right answers are worked out from what its operations cost (fake_backend.h): a byte takes an
 * engine 1 ns, and the n-th queue of a device is n times as slow as the first.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../src/core/clock.h"
#include "run_fixture.h"

#include "xferbench/interrupt.h"

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
    bool host_clock;        /* events carry the host's clock */
    enum { SIDE_UNKNOWN, SIDE_HOST, SIDE_DEVICE } pages; /* where a prefetch has put them */
    unsigned vain[2]; /* prefetches to the host, and to the device, that found the pages there */
} altered;
static struct xb_backend altered_backend;

static enum xb_status altered_device_open(struct xb_driver *driver, unsigned index,
                                          struct xb_device **device, struct xb_error *error)
{
    enum xb_status status = xb_fake_backend.device_open(driver, index, device, error);
    if (status != XB_OK)
        return status;
    (*device)->backend = &altered_backend;
    (*device)->info.host_clock = altered.host_clock;
    return XB_OK;
}

static enum xb_status altered_copy(struct xb_queue *queue, struct xb_buffer *target, uint64_t to,
                                   struct xb_buffer *source, uint64_t from, uint64_t bytes,
                                   struct xb_error *error)
{
    enum xb_status status = XB_OK;
    bool broken = queue->device->info.index + 1 == altered.broken_device;
    xb_fake.damage = broken ? XB_DAMAGE_NOTHING_COPIED : XB_DAMAGE_NONE;
    bool slow = queue->device->info.index + 1 == altered.slow_device;
    for (unsigned i = 0; status == XB_OK && i < altered.copies * (slow ? 2 : 1); i++)
        status = xb_fake_backend.queue_copy(queue, target, to, source, from, bytes, error);
    return status;
}

static enum xb_status altered_kernel(struct xb_queue *queue, struct xb_buffer *target, uint64_t to,
                                     struct xb_buffer *source, uint64_t from, uint64_t bytes,
                                     enum xb_access access, struct xb_error *error)
{
    enum xb_status status = XB_OK;
    bool local = target->memory == XB_MEMORY_DEVICE && source->memory == XB_MEMORY_DEVICE;
    for (unsigned i = 0; status == XB_OK && i < (local ? 1 : altered.mapped_copies); i++)
        status = xb_fake_backend.queue_kernel_copy(queue, target, to, source, from, bytes, access,
                                                   error);
    return status;
}

static enum xb_status altered_prefetch(struct xb_queue *queue, struct xb_buffer *buffer,
                                       uint64_t bytes, bool to_device, struct xb_error *error)
{
    altered.vain[to_device] += altered.pages == (to_device ? SIDE_DEVICE : SIDE_HOST);
    altered.pages = to_device ? SIDE_DEVICE : SIDE_HOST;
    return xb_fake_backend.queue_prefetch(queue, buffer, bytes, to_device, error);
}

/* Has the runs that follow made with it. */
static void alter(unsigned copies, unsigned mapped_copies)
{
    memset(&altered, 0, sizeof altered);
    altered.copies = copies;
    altered.mapped_copies = mapped_copies;
    altered_backend = xb_fake_backend;
    altered_backend.device_open = altered_device_open;
    altered_backend.queue_copy = altered_copy;
    altered_backend.queue_kernel_copy = altered_kernel;
    altered_backend.queue_prefetch = altered_prefetch;
    fixture_backend = &altered_backend;
}

/* ---- one way ---- */

/* One iteration's time, however many make a sample, and without what the hold takes. */
static void test_time_is_that_of_one_iteration(void **state)
{
    (void)state;
    struct fixture f;
    RUN(&f, "--mode", "pinned,pageable", "--size", "64K,4M");
    for (size_t i = 0; i < f.run.case_count; i++) {
        const struct xb_result *result = &f.run.results[i];
        expect_seconds(result, (double)result->test.bytes * XB_FAKE_SECONDS_PER_BYTE);
        /* 1 ms is the target: 15 of 65.5 us, one of 4.2 ms */
        expect_number(result, "iterations_per_sample", result->test.bytes == 65536 ? 15 : 1);
        assert_true(result->overlap < 0);
        assert_true(result->share_of_alone == 0);
    }
    assert_true(xb_fake.holds > 0);
    finish(&f);
}

/* Eight chunks over two queues, the second half as fast: it has the last word, from a common start.
 */
static void test_time_covers_every_queue(void **state)
{
    (void)state;
    struct fixture f;
    RUN(&f, "--mode", "async", "--size", "8M", "--chunk", "1M", "--streams", "2");
    for (size_t i = 0; i < f.run.case_count; i++)
        expect_seconds(&f.run.results[i], 4 * 2 * CHUNK_S);
    finish(&f);
}

static void test_batches_fit_behind_a_hold(void **state)
{
    (void)state;
    struct fixture f;
    RUN(&f, "--mode", "pinned,async", "--size", "16K", "--chunk", "4K", "--direction", "h2d");
    /* 61 copies of 16 KiB would make 1 ms; of 4 operations each, 16 iterations fit behind 64 */
    expect_number(&f.run.results[0], "iterations_per_sample", 61);
    expect_number(&f.run.results[1], "iterations_per_sample", 16);
    finish(&f);
}

/* ---- both ways ---- */

static void expect_both(const struct xb_result *result, const char *first, double first_s,
                        const char *second, double second_s)
{
    double whole = first_s > second_s ? first_s : second_s;
    expect_seconds(result, whole);
    expect_part(result, first, first_s);
    expect_part(result, second, second_s);
    assert_int_equal(result->part_count, 2);
    assert_int_equal(result->parts[0].bytes, result->test.bytes);
    assert_int_equal(result->parts[1].bytes, result->test.bytes);
    assert_int_equal(result->bytes_moved, 2 * result->test.bytes);
    expect_near(result->overlap, (first_s + second_s - whole) / whole, "the overlap");
}

/* A queue a way: the way back is by the second, and takes twice as long. In batches too. */
static void test_each_way_has_its_time(void **state)
{
    (void)state;
    struct fixture f;
    RUN(&f, "--mode", "pinned", "--direction", "bidir", "--size", "64K,4M");
    expect_both(&f.run.results[0], "h2d", 65536e-9, "d2h", 2 * 65536e-9);
    expect_number(&f.run.results[0], "iterations_per_sample", 8);
    expect_both(&f.run.results[1], "h2d", 4 * CHUNK_S, "d2h", 8 * CHUNK_S);
    finish(&f);
}

/* Four chunks a way over three queues: 2 1 1 of them by queues 1 2 3, and 2 1 1 by queues 4 5 6. */
static void test_each_way_covers_its_queues(void **state)
{
    (void)state;
    struct fixture f;
    RUN(&f, "--mode", "async", "--direction", "bidir", "--size", "4M", "--chunk", "1M", "--streams",
        "3");
    expect_both(&f.run.results[0], "h2d", 3 * CHUNK_S, "d2h", 8 * CHUNK_S);
    finish(&f);
}

/* Two queues a way: of three chunks two go by queue 1 and one by 2, then two by 3 and one by 4. */
static void test_two_streams_a_way(void **state)
{
    (void)state;
    struct fixture f;
    RUN(&f, "--mode", "async", "--direction", "bidir", "--size", "3M", "--chunk", "1M");
    expect_both(&f.run.results[0], "h2d", 2 * CHUNK_S, "d2h", 6 * CHUNK_S);
    finish(&f);
}

/* ---- pairs ---- */

static void test_direct_peer_copies_take_what_the_link_takes(void **state)
{
    (void)state;
    struct fixture f;
    double there = 16 * MIB * XB_FAKE_PEER_SECONDS_PER_BYTE;
    xb_fake.device_count = 2;
    RUN(&f, "--mode", "peer", "--size", "16M", "--peer-path", "direct-read,direct-write");
    assert_int_equal(f.run.case_count, 2 * 3);
    for (size_t i = 0; i < f.run.case_count; i++)
        if (f.run.results[i].test.direction == XB_BIDIR)
            expect_both(&f.run.results[i], "there", there, "back", 2 * there);
        else
            expect_seconds(&f.run.results[i], there);
    finish(&f);
}

/* Four chunks through the host: while one leaves, the next arrives. The way back is by the second
 * queue of either device. */
static void test_staged_copies_overlap(void **state)
{
    (void)state;
    struct fixture f;
    xb_fake.device_count = 2;
    RUN(&f, "--mode", "peer", "--size", "4M", "--chunk", "1M", "--peer-path", "staged");
    for (size_t i = 0; i < f.run.case_count; i++) {
        const struct xb_result *result = &f.run.results[i];
        assert_string_equal(detail(result, "held"), "yes");
        expect_number(result, "chunk_bytes", MIB);
        if (result->test.direction == XB_BIDIR)
            expect_both(result, "there", 5 * CHUNK_S, "back", 10 * CHUNK_S);
        else
            expect_seconds(result, 5 * CHUNK_S);
    }
    finish(&f);
}

/* Batches of a pipeline fill it once: 5 of 2 chunks are 11 steps. More do not fit behind a hold. */
static void test_batches_of_a_pipeline_flow_on(void **state)
{
    (void)state;
    struct fixture f;
    xb_fake.device_count = 2;
    RUN(&f, "--mode", "peer", "--size", "128K", "--chunk", "64K", "--peer-path", "staged",
        "--direction", "d2d", "--pairs", "1:0");
    expect_number(&f.run.results[0], "iterations_per_sample", 5);
    expect_seconds(&f.run.results[0], 11.0 / 5 * 65536e-9);
    finish(&f);
}

/* Devices whose memory was given up take new queues: the third of device 0 feeds the first of 2. */
static void test_the_slower_stage_has_the_last_word(void **state)
{
    (void)state;
    struct fixture f;
    xb_fake.device_count = 3;
    RUN(&f, "--mode", "peer", "--size", "8M", "--chunk", "1M", "--peer-path", "staged",
        "--direction", "d2d", "--pairs", "0:1,2:1,0:2");
    expect_seconds(&f.run.results[0], 9 * CHUNK_S);
    expect_seconds(&f.run.results[1], 9 * CHUNK_S);
    expect_seconds(&f.run.results[2], (3 * 8 + 1) * CHUNK_S);
    finish(&f);
}

/* The same both ways at once: what there takes, by queue 3 of device 0, is longer than the way back
 * by queue 2 of device 2. */
static void test_either_way_may_be_the_longer(void **state)
{
    (void)state;
    struct fixture f;
    double once = 16 * MIB * XB_FAKE_PEER_SECONDS_PER_BYTE;
    xb_fake.device_count = 3;
    RUN(&f, "--mode", "peer", "--size", "16M", "--peer-path", "direct-write", "--direction",
        "bidir", "--pairs", "0:1,1:2,0:2");
    expect_both(&f.run.results[0], "there", once, "back", 2 * once);
    expect_both(&f.run.results[2], "there", 3 * once, "back", 2 * once);
    finish(&f);
}

/* ---- double-buffer ---- */

/*
 * Four chunks over three queues: 2 1 1 of them, so that the third has the last word with 3 times
 * what a chunk takes, where in a row they take 4. A step of the kernel on a chunk takes 1/1000 of
 * its copy. The copies both ways are by queues 1 and 2: 8. Beside the kernel two queues are left,
 * with two chunks each: 8 copies and a step, 8.004. The kernels are to take 5 % more than that, and
 * all of them take 3/1000 a step: 2801.4 steps.
 */
static void test_stages_of_a_pipeline(void **state)
{
    (void)state;
    static const struct {
        const char *kernel_time;
        double steps;
    } rows[] = {
        {"auto", 2801},
        {"none", 0},
        {"500us", 636}, /* 4 * 500 us / (3/1000 * 1048.576 us) = 635.8 */
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture f;
        double kernel = rows[i].steps / 1000;
        double whole = 3 * (2 + kernel);
        double bound = 3 * kernel > 8 ? 3 * kernel : 8;
        RUN(&f, "--mode", "double-buffer", "--size", "4M", "--chunk", "1M", "--kernel-time",
            rows[i].kernel_time);
        const struct xb_result *result = &f.run.results[0];
        assert_int_equal(result->part_count, 5);
        assert_int_equal(result->bytes_moved, 8 << 20);
        expect_seconds(result, whole * CHUNK_S);
        expect_part(result, "serial", 4 * (2 + kernel) * CHUNK_S);
        expect_part(result, "h2d", 4 * CHUNK_S);
        expect_part(result, "kernel", 3 * kernel * CHUNK_S);
        expect_part(result, "d2h", 4 * CHUNK_S);
        expect_part(result, "copies", 8 * CHUNK_S);
        expect_number(result, "compute_steps", rows[i].steps);
        expect_number(result, "overlapped_s", whole * CHUNK_S);
        expect_number(result, "serial_s", 4 * (2 + kernel) * CHUNK_S);
        expect_number(result, "bound_s", bound * CHUNK_S);
        expect_number(result, "speed_up", 4.0 / 3);
        expect_number(result, "efficiency", bound / whole);
        if (kernel > 0)
            expect_number(result, "compute_share", 3 * kernel / whole);
        else
            assert_true(xb_result_number(result, "compute_share", -1) < 0);
        expect_number(result, "buffers", 3);
        assert_int_equal(result->verified, XB_VERIFIED_TRUE);
        assert_int_equal(xb_result_part(result, "serial")->times.count, 3);
        finish(&f);
    }
}

/* ---- zero-copy ---- */

/* In place a pass takes 3 chunks' time, a copy 5, and a pass on the device 1. Copying wins where
 * 5 + n < 3 n, from the third pass on. */
static void test_passes_until_copying_wins(void **state)
{
    (void)state;
    for (unsigned passes = 1; passes <= 4; passes *= 2) {
        struct fixture f;
        char word[8];
        snprintf(word, sizeof word, "%u", passes);
        alter(5, 3);
        RUN(&f, "--mode", "zero-copy", "--size", "1M", "--passes", word);
        for (size_t i = 0; i < f.run.case_count; i++) {
            const struct xb_result *result = &f.run.results[i];
            assert_int_equal(result->bytes_moved, passes << 20);
            expect_seconds(result, passes * 3 * CHUNK_S);
            expect_part(result, "kernel", passes * CHUNK_S);
            expect_part(result, "explicit", (5 + passes) * CHUNK_S);
            expect_number(result, "passes", passes);
            expect_number(result, "explicit_s", (5 + passes) * CHUNK_S);
            expect_number(result, "break_even_passes", 3);
        }
        finish(&f);
    }
}

/* The link is as fast as the device's memory, or faster: no number of passes pays for the copy. */
static void test_copying_need_not_win(void **state)
{
    (void)state;
    struct fixture f;
    RUN(&f, "--mode", "zero-copy", "--size", "1M", "--passes", "2");
    expect_seconds(&f.run.results[0], 2 * CHUNK_S);
    expect_part(&f.run.results[0], "explicit", 3 * CHUNK_S);
    finish(&f);
}

/* ---- managed ---- */

/* A prefetch takes 2 ns a byte, a kernel 1; putting the pages back is a prefetch and not timed. */
static void test_putting_back_is_not_timed(void **state)
{
    (void)state;
    struct fixture f;
    alter(1, 1);
    RUN(&f, "--mode", "managed", "--size", "1M", "--managed", "fault,prefetch,advise");
    for (size_t i = 0; i < f.run.case_count; i++) {
        const struct xb_result *result = &f.run.results[i];
        bool prefetch = strcmp(result->test.variant, "prefetch") == 0;
        bool by_cpu =
            strcmp(result->test.variant, "fault") == 0 && result->test.direction == XB_D2H;
        expect_number(result, "iterations_per_sample", 1);
        assert_int_equal(result->device_timer, !by_cpu);
        assert_int_equal(detail(result, "clock")[0] != '\0', by_cpu);
        assert_int_equal(result->times.count, 2);
        if (by_cpu) /* the host's clock: the samples are what the calls took */
            assert_memory_equal(result->times.values, result->submit_times.values,
                                2 * sizeof(double));
        else
            expect_seconds(result, prefetch ? MIB * XB_FAKE_PREFETCH_SECONDS_PER_BYTE
                                            : MIB * XB_FAKE_SECONDS_PER_BYTE);
    }
    finish(&f);
}

/* What is timed moves pages every time: they were put back before. Latency's bare ones, too. */
static void test_pages_are_put_back_every_time(void **state)
{
    (void)state;
    for (int to_device = 0; to_device < 2; to_device++) {
        struct fixture f;
        alter(1, 1);
        RUN(&f, "--mode", "managed", "--size", "64K", "--managed", "prefetch", "--direction",
            to_device ? "h2d" : "d2h");
        finish(&f);
        RUN(&f, "--mode", "managed", "--size", "64K", "--managed", "prefetch", "--direction",
            to_device ? "h2d" : "d2h", "--latency");
        expect_all(&f, XB_RESULT_OK);
        finish(&f);
        assert_int_equal(altered.vain[to_device], 0);
    }
}

static void test_events_are_the_timer_where_they_can(void **state)
{
    (void)state;
    struct fixture f;
    RUN(&f, "--mode", "pinned", "--size", "64K");
    assert_true(f.run.results[0].device_timer);
    finish(&f);
    alter(1, 1);
    altered.host_clock = true;
    RUN(&f, "--mode", "pinned", "--size", "64K");
    assert_false(f.run.results[0].device_timer);
    finish(&f);
}

/* ---- several devices ---- */

/*
 * Device 0's memory is given up while device 1 is measured alone, so at the same time its queue is
 * a second one and half as fast, and that of device 1 is the one it had.
 */
static void test_devices_at_the_same_time(void **state)
{
    (void)state;
    struct fixture f;
    xb_fake.device_count = 2;
    RUN(&f, "--mode", "pinned,peer", "--size", "4M", "--simultaneous", "--direction", "h2d,d2d");
    assert_int_equal(f.run.case_count, 2 + 3 + 3 * 2);
    const struct xb_result *rows = f.run.results;
    for (unsigned d = 0; d < 2; d++) {
        assert_int_equal(rows[d].test.device, d);
        assert_false(rows[d].test.simultaneous || rows[d].test.sum);
        assert_true(rows[d].share_of_alone == 0);
        expect_seconds(&rows[d], 4 * CHUNK_S);
        assert_int_equal(rows[3 + d].test.device, d);
        assert_true(rows[3 + d].test.simultaneous && !rows[3 + d].test.sum);
    }
    assert_true(rows[2].test.simultaneous && rows[2].test.sum);
    assert_int_equal(rows[2].bytes_moved, 8 << 20);
    expect_seconds(&rows[2], 8 * CHUNK_S);
    expect_seconds(&rows[3], 8 * CHUNK_S);
    expect_seconds(&rows[4], 4 * CHUNK_S);
    expect_near(rows[2].overlap, 0.5, "the overlap");
    assert_true(rows[3].overlap < 0 && rows[4].overlap < 0);
    expect_near(rows[3].share_of_alone, 0.5, "device 0's share");
    expect_near(rows[4].share_of_alone, 1.0, "device 1's share");
    assert_true(rows[2].share_of_alone == 0);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(rows[i].verified, XB_VERIFIED_TRUE);
    assert_true(rows[5].test.mode->pairs); /* and the modes that cannot go their own way */
    finish(&f);
}

/* Each by itself: device 1 is slow, but as fast as it was alone. */
static void test_a_share_is_of_what_the_device_had(void **state)
{
    (void)state;
    struct fixture f;
    alter(1, 1);
    altered.slow_device = 2;
    xb_fake.device_count = 2;
    RUN(&f, "--mode", "pinned", "--size", "2M,4M", "--simultaneous", "--direction", "h2d");
    const struct xb_result *rows = &f.run.results[2 + 2];
    for (unsigned s = 0; s < 2; s++) {
        double seconds = (s + 1) * 2 * 2 * CHUNK_S;
        for (unsigned i = 0; i < 3; i++)
            expect_seconds(&rows[3 * s + i], seconds);
        expect_near(rows[3 * s].overlap, 1, "the overlap");
        expect_near(rows[3 * s + 1].share_of_alone, 0.5, "device 0's share");
        expect_near(rows[3 * s + 2].share_of_alone, 1.0, "device 1's share");
    }
    finish(&f);
}

/* Three devices, two sizes, both ways one after the other: a group each. */
static void test_groups_stand_one_after_the_other(void **state)
{
    (void)state;
    struct fixture f;
    xb_fake.device_count = 3;
    RUN(&f, "--mode", "async", "--size", "64K,32K", "--simultaneous", "--device", "2,0");
    assert_int_equal(f.run.case_count, 2 * 4 + 4 * 3);
    for (size_t i = 8; i < f.run.case_count; i++) {
        const struct xb_case *test = &f.run.results[i].test;
        const struct xb_case *sum = &f.run.results[i - (i - 8) % 3].test;
        assert_int_equal(test->sum, (i - 8) % 3 == 0);
        assert_true(sum->sum);
        if (!test->sum)
            assert_int_equal(test->device, (i - 8) % 3 == 1 ? 2 : 0);
        assert_int_equal(test->bytes, sum->bytes);
        assert_int_equal(test->direction, sum->direction);
        expect_status(&f.run.results[i], XB_RESULT_OK);
    }
    finish(&f);
}

static void test_one_device_has_nobody_beside_it(void **state)
{
    (void)state;
    struct fixture f;
    RUN(&f, "--mode", "pinned", "--size", "64K", "--simultaneous", "--direction", "h2d");
    assert_int_equal(f.run.case_count, 3);
    expect_status(&f.run.results[0], XB_RESULT_OK);
    for (size_t i = 1; i < 3; i++)
        expect_reason(&f.run.results[i], XB_RESULT_SKIPPED, "one is chosen or there");
    finish(&f);
}

/* Calls that keep their caller cannot be started together. */
/* Not held, those enqueued first would run ahead: no sum of theirs would be true. */
static void test_devices_that_cannot_be_held_have_no_sum(void **state)
{
    (void)state;
    struct fixture f;
    xb_fake.device_count = 2;
    RUN(&f, "--mode", "async", "--size", "1M", "--chunk", "4K", "--simultaneous", "--direction",
        "h2d");
    assert_int_equal(f.run.case_count, 5);
    for (size_t i = 0; i < 5; i++)
        if (i < 2) /* alone: 256 operations do not fit behind 64, and the row says so */
            expect_status(&f.run.results[i], XB_RESULT_OK);
        else
            expect_reason(&f.run.results[i], XB_RESULT_SKIPPED, "start together only if");
    finish(&f);
    xb_fake.capabilities &= ~(uint32_t)XB_CAP_HOLD;
    RUN(&f, "--mode", "pinned", "--size", "64K", "--simultaneous", "--direction", "h2d");
    expect_reason(&f.run.results[2], XB_RESULT_SKIPPED, "start together only if");
    finish(&f);
}

static void test_pageable_copies_take_turns(void **state)
{
    (void)state;
    struct fixture f;
    xb_fake.device_count = 2;
    RUN(&f, "--mode", "async", "--host-memory", "pageable", "--size", "64K", "--simultaneous",
        "--direction", "h2d");
    assert_int_equal(f.run.case_count, 5);
    for (size_t i = 0; i < 5; i++)
        expect_status(&f.run.results[i], i < 2 ? XB_RESULT_OK : XB_RESULT_SKIPPED);
    finish(&f);
}

/* One of three is wrong: the time of all is worth nothing, and the rows say whose fault it is. */
static void test_one_wrong_device_spoils_the_group(void **state)
{
    (void)state;
    struct fixture f;
    alter(1, 1);
    altered.broken_device = 2;
    xb_fake.device_count = 3;
    RUN(&f, "--mode", "pinned", "--size", "64K", "--simultaneous", "--direction", "h2d");
    assert_int_equal(f.run.case_count, 3 + 4);
    for (size_t i = 0; i < 3; i++)
        expect_status(&f.run.results[i], i == 1 ? XB_RESULT_ERROR : XB_RESULT_OK);
    for (size_t i = 3; i < 7; i++) {
        const struct xb_result *result = &f.run.results[i];
        bool wrong = result->test.sum || result->test.device == 1;
        expect_reason(result, XB_RESULT_ERROR, "device 1: ");
        assert_int_equal(result->verified, wrong ? XB_VERIFIED_FALSE : XB_VERIFIED_UNKNOWN);
        if (!wrong)
            assert_int_equal(result->bandwidth.n, 0);
    }
    finish(&f);
}

/* ---- latency ---- */

static void test_latency_takes_a_thousand(void **state)
{
    (void)state;
    struct fixture f;
    RUN(&f, "--mode", "pinned", "--size", "4", "--latency", "--time-limit", "1000s");
    assert_int_equal(f.run.case_count, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct xb_result *result = &f.run.results[i];
        expect_seconds(result, 4 * XB_FAKE_SECONDS_PER_BYTE);
        assert_int_equal(result->times.count, 1000);
        assert_int_equal(result->wall_times.count, 1000);
        assert_int_equal(result->submit_times.count, 1000);
        assert_int_equal(result->stop_reason, XB_STOP_CONVERGED);
        assert_int_equal(result->device_latency.n, 1000);
        assert_int_equal(result->host_latency.n, 1000);
        expect_near(result->device_latency.p99, 4 * XB_FAKE_SECONDS_PER_BYTE, "the device's p99");
        expect_number(result, "iterations_per_sample", 1);
        assert_int_equal(result->warning_count, 0);
    }
    assert_int_equal(xb_fake.holds, 0);
    finish(&f);
}

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Of 21 samples every twentieth part is a sample: p50 the 11th, p95 the 20th, and p99 lies four
 * fifths of the way from there to the last. */
static void test_percentiles_are_of_the_samples(void **state)
{
    (void)state;
    struct fixture f;
    RUN(&f, "--mode", "pageable", "--size", "64K", "--latency", "--samples=21", "--direction",
        "d2h");
    const struct xb_result *result = &f.run.results[0];
    const struct xb_latency *latency = &result->host_latency;
    double sorted[21];
    assert_int_equal(result->wall_times.count, 21);
    memcpy(sorted, result->wall_times.values, sizeof sorted);
    qsort(sorted, 21, sizeof *sorted, by_value);
    expect_near(latency->min, sorted[0], "min");
    expect_near(latency->p50, sorted[10], "p50");
    expect_near(latency->p95, sorted[19], "p95");
    expect_near(latency->p99, sorted[19] + 0.8 * (sorted[20] - sorted[19]), "p99");
    expect_near(latency->max, sorted[20], "max");
    assert_true(latency->min > 0);
    expect_near(result->device_latency.p50, 65536e-9, "the device's p50");
    assert_int_equal(result->warning_count, 1);
    assert_non_null(strstr(result->warnings[0], "21 operations are too few"));
    finish(&f);
}

static void test_latency_is_that_of_one_operation(void **state)
{
    (void)state;
    struct fixture f;
    RUN(&f, "--mode", "pinned,double-buffer", "--size", "64K", "--latency", "--direction",
        "bidir,h2d");
    assert_int_equal(f.run.case_count, 3);
    expect_status(&f.run.results[0], XB_RESULT_OK);
    assert_int_equal(f.run.results[0].part_count, 0);
    expect_reason(&f.run.results[1], XB_RESULT_SKIPPED, "single operation");
    expect_reason(&f.run.results[2], XB_RESULT_SKIPPED, "single operation");
    finish(&f);
}

/* ---- the end of a run ---- */

#define THREE_SIZES "--mode", "pinned", "--direction", "h2d", "--size", "64K,128K,256K"

static void test_a_deadline_that_is_past_skips_everything(void **state)
{
    (void)state;
    struct fixture f;
    xb_fake.device_count = 2;
    PLAN(&f, "--size", "64K", "--simultaneous");
    f.run.deadline = xb_clock_now();
    go(&f, NULL);
    for (size_t i = 0; i < f.run.case_count; i++)
        expect_reason(&f.run.results[i], XB_RESULT_SKIPPED, "the deadline came before it began");
    assert_false(f.run.deadline_met);
    assert_false(f.run.interrupted);
    assert_int_equal(xb_fake.calls, 0);
    finish(&f);
}

/* Puts the deadline here and now, after so many samples of the first case. */
struct cut {
    struct fixture *f;
    size_t samples;
};

static void cut(void *argument, const struct xb_run *run, size_t samples, double bandwidth)
{
    const struct cut *at = argument;
    hurry(NULL, run, samples, bandwidth);
    if (samples == at->samples && run->done_count == 0)
        at->f->run.deadline = xb_clock_now();
}

static void run_cut(struct fixture *f, const char *const *arguments, size_t samples)
{
    struct cut at = {.f = f, .samples = samples};
    const struct xb_run_observer observer = {.progress = cut, .argument = &at};
    plan(f, arguments);
    go(f, &observer);
    assert_false(f->run.interrupted);
}

static void test_a_deadline_keeps_the_samples_that_are_there(void **state)
{
    (void)state;
    struct fixture f;
    run_cut(&f, WORDS(THREE_SIZES, "--samples=1000"), 3);
    const struct xb_result *first = &f.run.results[0];
    expect_seconds(first, 65536e-9);
    assert_int_equal(first->times.count, 3);
    assert_int_equal(first->verified, XB_VERIFIED_TRUE);
    assert_int_equal(first->stop_reason, XB_STOP_DEADLINE);
    assert_non_null(
        strstr(first->warnings[first->warning_count - 1], "the deadline came after 3 samples"));
    for (size_t i = 1; i < 3; i++)
        expect_reason(&f.run.results[i], XB_RESULT_SKIPPED, "the deadline came before it began");
    assert_false(f.run.deadline_met);
    finish(&f);
}

static void test_a_deadline_in_warm_up_leaves_nothing(void **state)
{
    (void)state;
    struct fixture f;
    run_cut(&f, WORDS("--mode", "double-buffer", "--size", "64K"), 0);
    expect_reason(&f.run.results[0], XB_RESULT_SKIPPED,
                  "the deadline came before its first sample");
    assert_int_equal(f.run.results[0].verified, XB_VERIFIED_UNKNOWN);
    assert_false(f.run.deadline_met);
    finish(&f);
}

/* Simultaneous rows end together. */
static void test_a_deadline_cuts_all_devices(void **state)
{
    (void)state;
    struct fixture f;
    struct cut at = {.f = &f, .samples = SIZE_MAX};
    const struct xb_run_observer observer = {.progress = cut, .argument = &at};
    xb_fake.device_count = 2;
    PLAN(&f, "--mode", "pinned", "--size", "64K", "--simultaneous", "--direction", "h2d");
    f.run.deadline = xb_clock_now() + 1e6;
    go(&f, &observer);
    expect_all(&f, XB_RESULT_OK);
    assert_true(f.run.deadline_met);
    for (size_t i = 0; i < f.run.case_count; i++)
        assert_int_equal(f.run.results[i].stop_reason, XB_STOP_FIXED);
    finish(&f);
}

/* It came, but everything was measured by then. */
static void test_a_deadline_that_cut_nothing_is_met(void **state)
{
    (void)state;
    struct fixture f;
    run_cut(&f, WORDS("--mode", "pinned", "--direction", "h2d", "--size", "64K"), 2);
    expect_all(&f, XB_RESULT_OK);
    assert_int_equal(f.run.results[0].stop_reason, XB_STOP_FIXED);
    assert_true(f.run.deadline_met);
    finish(&f);
}

/* Last, because the signal stays noted. */
static void interrupt_at_third_sample(void *argument, const struct xb_run *run, size_t samples,
                                      double bandwidth)
{
    hurry(argument, run, samples, bandwidth);
    if (samples == 3)
        raise(SIGTERM);
}

static void test_interrupted_run_keeps_what_it_has(void **state)
{
    (void)state;
    struct fixture f;
    const struct xb_run_observer observer = {.progress = interrupt_at_third_sample};
    xb_interrupt_catch();
    execute(&f, WORDS(THREE_SIZES, "--samples=1000"), &observer);
    const struct xb_result *first = &f.run.results[0];
    expect_status(first, XB_RESULT_OK);
    assert_int_equal(first->bandwidth.n, 3);
    assert_int_equal(first->stop_reason, XB_STOP_INTERRUPTED);
    assert_int_equal(first->verified, XB_VERIFIED_TRUE);
    assert_true(f.run.interrupted);
    assert_true(f.run.deadline_met); /* it was not the deadline */
    for (size_t i = 1; i < f.run.case_count; i++)
        expect_reason(&f.run.results[i], XB_RESULT_SKIPPED, "interrupted before it began");
    finish(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_time_is_that_of_one_iteration),
        TEST(test_time_covers_every_queue),
        TEST(test_batches_fit_behind_a_hold),
        TEST(test_each_way_has_its_time),
        TEST(test_each_way_covers_its_queues),
        TEST(test_two_streams_a_way),
        TEST(test_direct_peer_copies_take_what_the_link_takes),
        TEST(test_staged_copies_overlap),
        TEST(test_batches_of_a_pipeline_flow_on),
        TEST(test_the_slower_stage_has_the_last_word),
        TEST(test_either_way_may_be_the_longer),
        TEST(test_stages_of_a_pipeline),
        TEST(test_passes_until_copying_wins),
        TEST(test_copying_need_not_win),
        TEST(test_putting_back_is_not_timed),
        TEST(test_pages_are_put_back_every_time),
        TEST(test_events_are_the_timer_where_they_can),
        TEST(test_devices_at_the_same_time),
        TEST(test_a_share_is_of_what_the_device_had),
        TEST(test_groups_stand_one_after_the_other),
        TEST(test_one_device_has_nobody_beside_it),
        TEST(test_devices_that_cannot_be_held_have_no_sum),
        TEST(test_pageable_copies_take_turns),
        TEST(test_one_wrong_device_spoils_the_group),
        TEST(test_latency_takes_a_thousand),
        TEST(test_percentiles_are_of_the_samples),
        TEST(test_latency_is_that_of_one_operation),
        TEST(test_a_deadline_that_is_past_skips_everything),
        TEST(test_a_deadline_keeps_the_samples_that_are_there),
        TEST(test_a_deadline_in_warm_up_leaves_nothing),
        TEST(test_a_deadline_cuts_all_devices),
        TEST(test_a_deadline_that_cut_nothing_is_met),
        TEST(test_interrupted_run_keeps_what_it_has),
    };
    return cmocka_run_group_tests_name("measure", tests, NULL, NULL);
}
