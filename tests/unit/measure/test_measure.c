/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* What is planned and measured, where a test has to look into it. What each kind of case comes to:
 * test_runs.c. */
#include "run_fixture.h"

#include <sys/mman.h>

/* ---- the plan ---- */

RUN_TEST(no_two_cases_share_a_pattern)
{
    struct fixture f;
    xb_fake.device_count = 3;
    plan_line(&f, "--size 4K,8K --simultaneous");
    assert_true(f.run.case_count > 50);
    for (size_t i = 0; i < f.run.case_count; i++)
        for (size_t k = 0; k < i; k++) {
            /* A pattern takes a number a word, and the way back half of the room. */
            unsigned long long a = f.run.results[i].test.seed;
            unsigned long long b = f.run.results[k].test.seed;
            assert_true((a > b ? a - b : b - a) >= 1ULL << 40);
        }
    finish(&f);
}

/* ---- time ---- */

static double longest_s;

/* The shorter of two ways ends when it began. */
static enum xb_status lose_the_shorter_way(struct xb_event *begin, struct xb_event *end,
                                           double *seconds, struct xb_error *error)
{
    enum xb_status status = xb_fake_backend.event_elapsed(begin, end, seconds, error);
    longest_s = *seconds > longest_s ? *seconds : longest_s;
    if (*seconds < 0.75 * longest_s)
        *seconds = 0;
    return status;
}

/* A rate would be without end, and no file can hold it. */
RUN_TEST(a_way_that_took_no_time_is_an_error)
{
    struct fixture f;
    altered_backend.event_elapsed = lose_the_shorter_way;
    longest_s = 0;
    run_line(&f, "--mode pinned --direction bidir --size 4M");
    expect_reason(&f.run.results[0], XB_RESULT_ERROR, "bandwidth_h2d: the events around");
    finish(&f);
}

/* ---- places of the host's memory, on record ---- */

/* Six places, whose slower buffer takes 2 to 6 times as long: runs/placements.txt. Wrong data in
 * one ends the case, whose samples are evidence. */
RUN_TEST(places_are_on_record)
{
    unsigned copies = 0;
    for (int is_wrong = 0; is_wrong < 2; is_wrong++) {
        static const unsigned slow[] = {1, 4, 2, 5, 3, 6, 4};
        struct fixture f;
        struct xb_record record = {0};
        struct xb_error error;
        reset_fake();
        memcpy(altered.slow_buffers, slow, sizeof slow);
        /* The last copy of the third place: each has a repetition and a sample, of two copies. */
        altered.wrong_copy = is_wrong ? copies - 3 * 4 : 0;
        xb_fake.device_memory_free = 1u << 30; /* of its own: copies cross a link */
        xb_fake.operation_s = 1;
        run_line(&f, "--mode pinned --direction bidir --size 64K --samples=6 --warm-up 1us "
                     "--time-limit 1000s");
        copies = altered.registered_copies;
        const struct xb_statistics *bandwidth = &f.run.results[0].bandwidth;
        assert_int_equal(xb_record_of_run(&f.run, &record, &error), XB_OK);
        if (is_wrong) {
            assert_int_equal(record.cases[0].rows[0].time_count, 3);
            assert_null(record.cases[0].rows[0].stop_reason); /* none of those there are */
        } else {
            const struct xb_record_row *row = &record.cases[0].rows[0];
            assert_int_equal(row->placements.count, 6);
            const struct xb_record_figure *figure = xb_record_row_figure(row, "bandwidth");
            expect_near(figure->statistics.ci95_low, bandwidth->ci95_low, "low");
            figure = xb_record_row_figure(row, "bandwidth_d2h");
            expect_near(figure->statistics.ci95_low, bandwidth->ci95_low / 2, "low of one way");
            expect_near(xb_record_median(&record, &record.cases[0], "between_placements"),
                        (bandwidth->ci95_high - bandwidth->ci95_low) / bandwidth->median, "spread");
        }
        xb_record_free(&record);
        finish(&f);
    }
}

/* ---- what managed memory is touched ---- */

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
RUN_TEST(what_is_touched_is_spread_evenly)
{
    for (int is_random = 0; is_random < 2; is_random++) {
        struct fixture f;
        bool in_order = true;
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

/* ---- memory that is new for each copy ---- */

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

RUN_TEST(a_fresh_target_is_fresh_every_time)
{
    for (int is_fresh = 0; is_fresh < 2; is_fresh++) {
        struct fixture f;
        memset(copies_to, 0, sizeof copies_to);
        altered_backend.queue_copy = look_at_target;
        RUN(&f, "--mode", "pageable", "--staging", "driver", "--size", "1M", "--direction", "d2h",
            "--host-offset", "0,100", "--target", is_fresh ? "fresh" : "kept");
        expect_all(&f, XB_RESULT_OK);
        assert_true(copies_to[is_fresh] > 2 * 2);
        assert_int_equal(copies_to[!is_fresh], 0);
        finish(&f);
    }
}

/* Device memory of a MiB, or of a pool; and what device 0 has room for. */
static struct {
    unsigned made, live;
    uint64_t room, taken;
} store;

static enum xb_status stored_allocate(struct xb_device *device, enum xb_memory memory,
                                      uint64_t bytes, struct xb_buffer **buffer,
                                      struct xb_error *error)
{
    bool is_there = memory == XB_MEMORY_DEVICE && device->info.index == 0;
    if (is_there && bytes > store.room - store.taken)
        return XB_FAIL(error, XB_ERR_MEMORY, "no room");
    enum xb_status status = xb_fake_backend.buffer_allocate(device, memory, bytes, buffer, error);
    if (status == XB_OK && is_there)
        store.taken += bytes;
    store.made += status == XB_OK && is_there && bytes == 1 << 20;
    store.live += status == XB_OK && is_there && bytes == 1 << 20;
    return status;
}

static enum xb_status stored_in_pool(struct xb_queue *queue, uint64_t bytes,
                                     struct xb_buffer **buffer, struct xb_error *error)
{
    return stored_allocate(queue->device, XB_MEMORY_DEVICE, bytes, buffer, error);
}

static void stored_free(struct xb_buffer *buffer)
{
    if (buffer != NULL && buffer->memory == XB_MEMORY_DEVICE && buffer->device->info.index == 0) {
        store.taken -= buffer->bytes;
        store.live -= buffer->bytes == 1 << 20;
    }
    xb_fake_backend.buffer_free(buffer);
}

static enum xb_status tell_room(struct xb_device *device, uint64_t *free_bytes,
                                struct xb_error *error)
{
    (void)error;
    *free_bytes = device->info.index == 0 ? store.room - store.taken : UINT64_C(1) << 30;
    return XB_OK;
}

static void use_store(uint64_t room)
{
    memset(&store, 0, sizeof store);
    store.room = room;
    altered_backend.buffer_allocate = stored_allocate;
    altered_backend.queue_allocate = stored_in_pool;
    altered_backend.buffer_free = stored_free;
}

RUN_TEST(memory_is_made_for_each_copy)
{
    static const char *const ways[] = {"malloc", "pool"};
    for (int i = 0; i < 2; i++) {
        struct fixture f;
        use_store(UINT64_MAX);
        RUN(&f, "--mode", "pinned", "--size", "1M", "--direction", "h2d", "--samples", "9",
            "--gpu-memory", ways[i]);
        expect_all(&f, XB_RESULT_OK);
        assert_true(store.made >= 9 + 1);
        assert_int_equal(store.live, 0);
        finish(&f);
    }
}

/* What is kept for a larger size takes nothing away from four pairs of a smaller one. */
RUN_TEST(a_larger_size_leaves_pairs_their_memory)
{
    struct fixture f;
    use_store(13 << 20);
    altered_backend.device_memory = tell_room;
    xb_fake.device_count = 5;
    xb_fake.device_memory_free = 1; /* the devices' memory is not the host's */
    run_line(&f, "--mode peer --size 2M,4M --simultaneous --direction d2d --pairs 0:1,0:2,0:3,0:4 "
                 "--peer-path direct-read");
    for (size_t i = 0; i < 2 * 4 + 2 * 5; i++) /* 16 MiB are more than there are */
        expect_status(&f.run.results[i], i < 2 * 4 + 5 ? XB_RESULT_OK : XB_RESULT_ERROR);
    finish(&f);
    assert_int_equal(store.taken, 0);
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

/* A target that is fresh each time comes back, and is no more than it was; a ring is more. A
 * sandbox may not let the kernel count anew. */
RUN_TEST(the_most_memory_of_an_iteration_is_told)
{
    static const struct {
        bool takes_more;
        const char *words[6];
        double least, most; /* in MiB */
    } rows[] = {
        {false, {"--mode=pageable", "--staging=driver", "--size=1M", "--direction=h2d"}, 1, 31.9},
        {true, {"--mode=pageable", "--staging=driver", "--size=1M", "--direction=h2d"}, 32, 64},
        {false,
         {"--mode=pageable", "--staging=driver,ring", "--target=fresh", "--size=32M",
          "--direction=d2h"},
         32,
         56},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture f;
        reset_fake();
        if (rows[i].takes_more)
            altered_backend.queue_copy = copy_through_more_memory;
        execute(&f, rows[i].words, NULL);
        for (size_t k = 0; k < f.run.case_count; k++) {
            const struct xb_result *result = &f.run.results[k];
            const struct xb_result_figure *peak = figure_of(result, "peak_host_memory");
            expect_status(result, XB_RESULT_OK);
            assert_int_equal(figure_of(result, "cpu_time")->samples.count, 3);
            assert_true(peak == NULL || (peak->computed >= rows[i].least * MIB &&
                                         peak->computed <= rows[i].most * MIB));
        }
        finish(&f);
    }
}
