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
RUN_TEST(test_passes_until_copying_wins)
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
RUN_TEST(test_both_ways_in_place)
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
RUN_TEST(test_both_ways_share_the_cores)
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
RUN_TEST(test_copying_need_not_win)
{
    struct fixture f;
    RUN(&f, "--mode", "zero-copy", "--size", "1M", "--passes", "2");
    expect_seconds(&f.run.results[0], 2 * CHUNK_S);
    expect_samples(&f.run.results[0], "explicit_time", 3 * CHUNK_S);
    finish(&f);
}

/* ---- managed ---- */

/* A prefetch takes 2 ns a byte, a kernel 1; putting the pages back is a prefetch and not timed. */
RUN_TEST(test_putting_back_is_not_timed)
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
RUN_TEST(test_pages_are_put_back_every_time)
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

/* A piece that lies on the host costs 50 times as much as one that a prefetch brought. */
static enum xb_status touch_by_faults(struct xb_queue *queue, struct xb_pieces *list,
                                      unsigned blocks, struct xb_error *error)
{
    enum xb_status status = XB_OK;
    for (int i = 0; status == XB_OK && i < (altered.pages == SIDE_DEVICE ? 1 : 50); i++)
        status = xb_fake_backend.queue_kernel_pieces(queue, list, blocks, error);
    return status;
}

static unsigned turns[100]; /* when each piece of 64 KiB is touched, from 1 on; 0: never */

static enum xb_status note_pieces(struct xb_device *device, struct xb_buffer *target,
                                  struct xb_buffer *source, const struct xb_piece *pieces,
                                  size_t count, struct xb_pieces **list, struct xb_error *error)
{
    memset(turns, 0, sizeof turns);
    for (size_t i = 0; i < count; i++) {
        assert_true(pieces[i].source_offset == pieces[i].target_offset);
        turns[pieces[i].source_offset / 65536] = (unsigned)i + 1;
    }
    return xb_fake_backend.pieces_open(device, target, source, pieces, count, list, error);
}

/* Every tenth piece, one behind the other or not. */
RUN_TEST(test_what_is_touched_is_spread_evenly)
{
    for (int is_random = 0; is_random < 2; is_random++) {
        struct fixture f;
        bool in_order = true;
        alter(1, 1);
        altered_backend.pieces_open = note_pieces;
        RUN(&f, "--mode", "managed", "--size", "6400K", "--managed", "fault", "--touched", "10",
            "--touch-order", is_random ? "random" : "sequential", "--direction", "h2d");
        expect_all(&f, XB_RESULT_OK);
        for (unsigned i = 0; i < COUNT_OF(turns); i++) {
            assert_int_equal(turns[i] > 0, i % 10 == 0);
            in_order = in_order && (turns[i] == 0 || turns[i] == i / 10 + 1);
        }
        assert_int_equal(in_order, !is_random);
        finish(&f);
    }
}

/* Of 100 pieces of 64 KiB. Moving all takes 2 ns a byte, and touching then 1. */
RUN_TEST(test_a_part_is_touched)
{
    static const struct {
        const char *order;
        double percent;
    } all[] = {{"sequential", 1}, {"random", 1}, {"sequential", 10}, {"random", 10}};
    const double piece = 65536;
    struct fixture f;
    alter(1, 1);
    altered_backend.queue_kernel_pieces = touch_by_faults;
    RUN(&f, "--mode", "managed", "--size", "6400K", "--managed", "fault", "--touched", "1,10",
        "--touch-order", "sequential,random", "--direction", "h2d");
    assert_int_equal(f.run.case_count, COUNT_OF(all));
    for (size_t i = 0; i < f.run.case_count; i++) {
        const struct xb_result *result = &f.run.results[i];
        double part = all[i].percent * piece, full = 2 * 100 * piece + part;
        assert_int_equal(result->bytes_moved, (uint64_t)part);
        expect_seconds(result, 50 * part * XB_FAKE_SECONDS_PER_BYTE);
        expect_samples(result, "full_copy_time", full * XB_FAKE_SECONDS_PER_BYTE);
        expect_computed(result, "break_even_share", all[i].percent / 100 * full / (50 * part));
        assert_string_equal(detail(result, "verified_by"), "host, by copies back");
    }
    finish(&f);
}

/* Whatever lies on which side: only what is touched is moved, and a prefetch moves all. */
RUN_TEST(test_the_rest_is_left_alone)
{
    struct fixture f;
    RUN(&f, "--mode", "managed", "--size", "1000001", "--managed", "fault,prefetch,advise",
        "--touched", "1,50,100", "--touch-order", "random");
    assert_int_equal(f.run.case_count, 2 * (3 + 1 + 3));
    for (size_t i = 0; i < f.run.case_count; i++) {
        const struct xb_result *result = &f.run.results[i];
        const struct xb_setting *touched = xb_case_find_setting(
            &result->test, xb_option_find(result->test.mode->options, "touched"));
        uint64_t expected = touched == NULL || touched->count == 100 ? 1000001
                            : touched->count == 50                   ? 8 * 65536
                                                                     : 65536;
        expect_status(result, XB_RESULT_OK);
        assert_int_equal(result->bytes_moved, expected);
        assert_int_equal(figure_of(result, "full_copy_time") != NULL,
                         strcmp(result->test.variant, "fault") == 0);
    }
    finish(&f);
}

static enum xb_status write_too_much(struct xb_queue *queue, struct xb_pieces *list,
                                     unsigned blocks, struct xb_error *error)
{
    enum xb_status status = xb_fake_backend.queue_kernel_pieces(queue, list, blocks, error);
    return status != XB_OK
               ? status
               : xb_fake_backend.queue_kernel_copy(queue, list->target, 655360, list->source,
                                                   655360, 8, XB_ACCESS_SEQUENTIAL, 1, error);
}

/* One word is written that was not to be touched. */
RUN_TEST(test_what_else_is_written_is_found)
{
    struct fixture f;
    alter(1, 1);
    altered_backend.queue_kernel_pieces = write_too_much;
    RUN(&f, "--mode", "managed", "--size", "1M", "--managed", "fault,advise", "--touched", "1",
        "--direction", "h2d");
    for (size_t i = 0; i < f.run.case_count; i++)
        expect_reason(&f.run.results[i], XB_RESULT_ERROR, "8 of 1048576 bytes are wrong");
    finish(&f);
}

/* ---- pageable, into memory that was never touched ---- */

static unsigned copies_to[2]; /* of large copies, those that found their target used, and fresh */

/* Looks at as much as a page in the middle. */
static enum xb_status look_at_target(struct xb_queue *queue, struct xb_buffer *target, uint64_t to,
                                     struct xb_buffer *source, uint64_t from, uint64_t bytes,
                                     struct xb_error *error)
{
    const unsigned char *memory = target->host_address;
    if (target->memory == XB_MEMORY_PAGEABLE && bytes >= (UINT64_C(1) << 20)) {
        bool is_fresh = true;
        for (uint64_t i = 0; i < 4096; i++)
            is_fresh = is_fresh && memory[to + bytes / 2 + i] == 0;
        copies_to[is_fresh]++;
    }
    return xb_fake_backend.queue_copy(queue, target, to, source, from, bytes, error);
}

RUN_TEST(test_a_fresh_target_is_fresh_every_time)
{
    struct fixture f;
    for (int is_fresh = 0; is_fresh < 2; is_fresh++) {
        memset(copies_to, 0, sizeof copies_to);
        alter(1, 1);
        altered_backend.queue_copy = look_at_target;
        RUN(&f, "--mode", "pageable", "--staging", "driver", "--size", "1M", "--direction", "d2h",
            "--host-offset", "0,100", "--target", is_fresh ? "fresh" : "kept");
        expect_all(&f, XB_RESULT_OK);
        expect_number(&f.run.results[1], "iterations_per_sample", 1);
        assert_true(copies_to[is_fresh] > 2 * 2);
        assert_int_equal(copies_to[!is_fresh], 0);
        finish(&f);
    }
    /* Small copies too are alone in their samples, which those to memory that is kept are not. */
    RUN(&f, "--mode", "pageable", "--staging", "driver", "--size", "64K", "--direction", "d2h",
        "--target", "kept,fresh");
    assert_true(detail_number(&f.run.results[0], "iterations_per_sample") > 1);
    expect_number(&f.run.results[1], "iterations_per_sample", 1);
    finish(&f);
}

RUN_TEST(test_what_has_no_fresh_target)
{
    struct fixture f;
    RUN(&f, "--mode", "pageable", "--size", "4096,1M", "--target", "fresh");
    assert_int_equal(f.run.case_count, 2 * 2 * 2);
    for (size_t i = 0; i < f.run.case_count; i++) {
        const struct xb_result *result = &f.run.results[i];
        if (result->test.direction == XB_H2D)
            expect_reason(result, XB_RESULT_SKIPPED, "is about copies to the host");
        else if (result->test.bytes == 4096)
            expect_reason(result, XB_RESULT_SKIPPED, "no page of their own");
        else
            expect_status(result, XB_RESULT_OK);
    }
    finish(&f);
}

/* ---- pinned, into memory that is made for each copy ---- */

static unsigned made, live;

static enum xb_status count_made(struct xb_device *device, enum xb_memory memory, uint64_t bytes,
                                 struct xb_buffer **buffer, struct xb_error *error)
{
    bool counts = memory == XB_MEMORY_DEVICE && bytes == UINT64_C(1) << 20;
    made += counts;
    live += counts;
    return xb_fake_backend.buffer_allocate(device, memory, bytes, buffer, error);
}

static enum xb_status count_pooled(struct xb_queue *queue, uint64_t bytes,
                                   struct xb_buffer **buffer, struct xb_error *error)
{
    made++;
    live++;
    return xb_fake_backend.queue_allocate(queue, bytes, buffer, error);
}

static void count_freed(struct xb_buffer *buffer)
{
    live -=
        buffer != NULL && buffer->memory == XB_MEMORY_DEVICE && buffer->bytes == UINT64_C(1) << 20;
    xb_fake_backend.buffer_free(buffer);
}

RUN_TEST(test_memory_is_made_for_each_copy)
{
    static const char *const ways[] = {"malloc", "pool"};
    for (int i = 0; i < 2; i++) {
        struct fixture f;
        made = live = 0;
        alter(1, 1);
        altered_backend.buffer_allocate = count_made;
        altered_backend.queue_allocate = count_pooled;
        altered_backend.buffer_free = count_freed;
        RUN(&f, "--mode", "pinned", "--size", "1M", "--direction", "h2d", "--samples", "9",
            "--gpu-memory", ways[i]);
        expect_all(&f, XB_RESULT_OK);
        expect_number(&f.run.results[0], "iterations_per_sample", 1);
        assert_true(made >= 9 + 1);
        assert_int_equal(live, 0);
        expect_computed(&f.run.results[0], "peak_device_memory", 0x1p20);
        finish(&f);
    }
}

/* What moved to the device comes back before the next: no sample has two iterations. */
RUN_TEST(test_ordinary_memory_is_fetched_before_each)
{
    struct fixture f;
    RUN(&f, "--mode", "zero-copy", "--size", "64K", "--direction", "h2d", "--in-place", "malloc");
    expect_all(&f, XB_RESULT_OK);
    expect_number(&f.run.results[0], "iterations_per_sample", 1);
    finish(&f);
}

RUN_TEST(test_what_makes_no_memory)
{
    struct fixture f;
    RUN(&f, "--mode", "pinned", "--size", "1M", "--gpu-memory", "malloc", "--host-offset", "0,8");
    assert_int_equal(f.run.case_count, 2 * 2);
    for (size_t i = 0; i < f.run.case_count; i++)
        expect_reason(&f.run.results[i], XB_RESULT_SKIPPED, "copies to one GPU, without offsets");
    finish(&f);
    RUN(&f, "--mode", "pinned", "--size", "1M", "--call", "sync", "--direction", "bidir");
    expect_reason(&f.run.results[0], XB_RESULT_SKIPPED, "a synchronous copy blocks");
    finish(&f);
}

static unsigned blocking;

static enum xb_status count_blocking(struct xb_device *device, struct xb_queue **queue,
                                     struct xb_error *error)
{
    blocking++;
    return xb_fake_backend.queue_open_blocking(device, queue, error);
}

/* A synchronous call lasts as long as its copy, but for one of pageable memory to the device: then
 * the time counts until the data is there. */
RUN_TEST(test_a_synchronous_call_is_the_copy)
{
    struct fixture f;
    blocking = 0;
    alter(1, 1);
    altered_backend.queue_open_blocking = count_blocking;
    RUN(&f, "--mode", "pinned,pageable", "--staging", "driver", "--size", "64M", "--call", "sync");
    expect_all(&f, XB_RESULT_OK);
    assert_int_equal(f.run.case_count, 4);
    assert_int_equal(blocking, 4);
    for (size_t i = 0; i < f.run.case_count; i++) {
        const struct xb_result *result = &f.run.results[i];
        bool returns_early =
            strcmp(result->test.mode->name, "pageable") == 0 && result->test.direction == XB_H2D;
        const struct xb_samples *counts =
            returns_early ? &result->wall_times : &result->submit_times;
        expect_number(result, "iterations_per_sample", 1);
        assert_true(result->times.values[0] == counts->values[0]);
        assert_false(result->event_times);
    }
    finish(&f);
    RUN(&f, "--mode", "pinned,pageable", "--staging", "driver", "--size", "64K", "--direction",
        "h2d");
    assert_int_equal(blocking, 4);
    finish(&f);
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

RUN_TEST(test_what_an_iteration_costs)
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

/* A target that is fresh each time comes back, and is no more than it was; a ring is more. */
RUN_TEST(test_a_fresh_target_is_no_growth)
{
    struct fixture f;
    RUN(&f, "--mode", "pageable", "--staging", "driver,ring", "--target", "fresh", "--size", "32M",
        "--direction", "d2h");
    for (size_t i = 0; i < 2; i++) {
        const struct xb_result_figure *peak = figure_of(&f.run.results[i], "peak_host_memory");
        if (peak != NULL)
            assert_in_range(peak->computed / MIB, 32, 32 + 24);
    }
    finish(&f);
}

RUN_TEST(test_events_are_the_timer_where_they_can)
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
