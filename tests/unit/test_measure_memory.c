/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* What is timed of memory that both sides see: zero-copy and managed. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "testing.h"

#include "measure_fixture.h"

/* ---- zero-copy ---- */

/* In place a pass takes 3 chunks' time, a copy 5, and a pass on the device 1. Copying wins where
 * 5 + n < 3 n, from the third pass on. */
static void test_passes_until_copying_wins(NO_STATE)
{
    struct fixture f;
    alter(5, 3);
    RUN(&f, "--mode", "zero-copy", "--size", "1M", "--passes", "4,1..2");
    assert_int_equal(f.run.case_count, 6);
    for (size_t i = 0; i < f.run.case_count; i++) {
        static const unsigned all[] = {4, 1, 2};
        const struct xb_result *result = &f.run.results[i];
        unsigned passes = all[i / 2]; /* each both ways */
        assert_int_equal(result->bytes_moved, passes << 20);
        expect_seconds(result, passes * 3 * CHUNK_S);
        expect_samples(result, "kernel_time", passes * CHUNK_S);
        expect_samples(result, "explicit_time", (5 + passes) * CHUNK_S);
        expect_computed(result, "break_even_passes", 3);
    }
    finish(&f);
}

/* The way back has the second queue, which is half as fast: it takes twice as long, in place as in
 * any other way, and there is the whole time of it. */
static void test_both_ways_in_place(NO_STATE)
{
    struct fixture f;
    alter(5, 3);
    RUN(&f, "--mode", "zero-copy", "--size", "1M", "--passes", "2", "--direction", "h2d,bidir");
    assert_int_equal(f.run.case_count, 2);
    const struct xb_result *result = &f.run.results[1];
    assert_int_equal(result->bytes_moved, 4 << 20);
    expect_seconds(result, 2 * 2 * 3 * CHUNK_S);
    expect_samples(result, "bandwidth_h2d", 2 * MIB / (2 * 3 * CHUNK_S));
    expect_samples(result, "bandwidth_d2h", 2 * MIB / (2 * 2 * 3 * CHUNK_S));
    expect_samples(result, "overlap", 0.5);
    expect_samples(result, "copy_time", 2 * 5 * CHUNK_S);
    expect_samples(result, "kernel_time", 2 * 2 * CHUNK_S);
    expect_samples(result, "explicit_time", 2 * (5 + 2) * CHUNK_S);
    expect_computed(result, "break_even_passes", 3);
    finish(&f);
}

/* A kernel that has all of the device's cores would keep the other way's waiting. */
static void test_both_ways_share_the_cores(NO_STATE)
{
    struct fixture f;
    RUN(&f, "--mode", "zero-copy", "--size", "64K");
    assert_int_equal(xb_fake.kernels_together, 1);
    finish(&f);
    RUN(&f, "--mode", "zero-copy", "--size", "64K", "--direction", "bidir");
    assert_int_equal(xb_fake.kernels_together, 2);
    finish(&f);
}

/* The link is as fast as the device's memory, or faster: no number of passes pays for the copy. */
static void test_copying_need_not_win(NO_STATE)
{
    struct fixture f;
    RUN(&f, "--mode", "zero-copy", "--size", "1M", "--passes", "2");
    expect_seconds(&f.run.results[0], 2 * CHUNK_S);
    expect_samples(&f.run.results[0], "explicit_time", 3 * CHUNK_S);
    finish(&f);
}

/* ---- managed ---- */

/* A prefetch takes 2 ns a byte, a kernel 1; putting the pages back is a prefetch and not timed. */
static void test_putting_back_is_not_timed(NO_STATE)
{
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
static void test_pages_are_put_back_every_time(NO_STATE)
{
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

/* ---- what an iteration costs besides time ---- */

#define STAGED (UINT64_C(32) << 20)

/* As a runtime that copies all of the data first, in memory that it takes and gives back. */
static enum xb_status copy_through_more_memory(struct xb_queue *queue, struct xb_buffer *target,
                                               uint64_t to, struct xb_buffer *source, uint64_t from,
                                               uint64_t bytes, struct xb_error *error)
{
    void *more = mmap(NULL, STAGED, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    assert_true(more != MAP_FAILED);
    munmap(more, STAGED);
    return xb_fake_backend.queue_copy(queue, target, to, source, from, bytes, error);
}

static void test_what_an_iteration_costs(NO_STATE)
{
    for (int takes_more = 0; takes_more < 2; takes_more++) {
        struct fixture f;
        alter(1, 1);
        if (takes_more)
            altered_backend.queue_copy = copy_through_more_memory;
        RUN(&f, "--mode", "pageable", "--staging", "driver", "--size", "1M", "--direction", "h2d");
        const struct xb_result *result = &f.run.results[0];
        const struct xb_result_figure *peak = figure_of(result, "peak_host_memory");
        assert_int_equal(figure_of(result, "cpu_time")->samples.count, 3);
        expect_computed(result, "peak_device_memory", MIB);
        if (peak != NULL) /* a sandbox may not let the kernel count anew */
            assert_true(takes_more ? peak->computed >= (double)STAGED
                                   : peak->computed >= MIB && peak->computed < (double)STAGED);
        finish(&f);
    }
}

static void test_events_are_the_timer_where_they_can(NO_STATE)
{
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_passes_until_copying_wins), TEST(test_both_ways_in_place),
        TEST(test_both_ways_share_the_cores), TEST(test_copying_need_not_win),
        TEST(test_putting_back_is_not_timed), TEST(test_pages_are_put_back_every_time),
        TEST(test_what_an_iteration_costs),   TEST(test_events_are_the_timer_where_they_can),
    };
    return cmocka_run_group_tests_name("measure_memory", tests, NULL, NULL);
}
