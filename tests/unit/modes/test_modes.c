/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Every mode: right copies verify, in every variant, direction and length, and take the memory that
 * the mode says. What each of them measures: tests/unit/runs/. */

#include "every_mode.h"
#include "measure/plan/case.h"

/* ---- right copies ---- */

/* Lengths below a chunk, of one, of several, and one that is shorter; offsets; and every place of a
 * ring or pipeline used again and again, also after a case that had more or larger ones. */
static const struct {
    size_t cases; /* 0: as many as the modes make of it */
    unsigned devices;
    const char *words;
} rows[] = {
    {0, 2, EVERYTHING " --size 1,7,4095,64K,500001 --chunk 100008"},
    /* So large that several threads fill it with the pattern and check it. */
    {6, 1, "--mode pageable,pinned --size 5000001"},
    {31, 3,
     "--mode async,double-buffer,peer --size 100001 --chunk 1K --streams 3 --buffers 2 "
     "--direction both,bidir,d2d"},
    /* Of 24 KiB three are as long as a case. Chunks by streams three ways, by buffers, and of peer
     * three ways, at two sizes. */
    {2 * (9 * 3 + 9 + 3 * 3), 2,
     "--mode async,double-buffer,peer --size 73728,100001 --chunk 8M,24K,1000 --streams 5,1..2 "
     "--buffers 4,2,3 --direction both,bidir,d2d --peer-path staged"},
    /* Data that begins behind a boundary. Of pageable two directions, of the others two kinds of
     * memory in three. */
    {(2 + 2 * 3 + 2 * 3) * 9 * 3, 1,
     "--mode pageable,pinned,async --staging driver --direction both,bidir "
     "--host-memory registered,write-combined --host-offset 0,1,5000 "
     "--device-offset 0,3,1048575 --size 1,4095,100001 --chunk 8195"},
    {32, 2,
     "--mode pinned,async --device all --latency --host-offset 0,1 --device-offset 0,3 "
     "--size 5000 --samples=2"},
    {80, 2,
     "--mode pinned,async --device all --simultaneous --host-offset 0,1 --device-offset 0,3 "
     "--size 5000"},
    /* Whole pieces, one that is shorter, one alone, and one byte. */
    {5 * 5 * 2 * 3 * 2, 1,
     "--mode batch --batch each,call,graph,packed,kernel --layout " LAYOUTS
     " --piece 512,5000 --size 64K,100001,1"},
    {2 * 3 * 2, 1,
     "--mode batch --batch pitched --layout rows --piece 1000,8K --size 64K,100001,7"},
    {5 * 3 * 2 * 2, 1,
     "--mode batch --batch each,call,graph,packed,kernel --host-offset 0,1,64 "
     "--device-offset 0,3 --size 64K"},
    {3 * 2 * 3, 1,
     "--mode resident --size 1,8,100001 --steps 1,3 --host-memory registered,alloc,write-combined"},
    {8, 1, "--mode job --size 8,100001 --job-out 0 --chunk 16K --gpu-time 20us"},
    {8, 1, "--mode job --size 8,100001 --job-out 77 --chunk 16K --gpu-time 20us"},
    {8, 1, "--mode job --size 8,100001 --job-out 4K --chunk 16K --gpu-time 20us"},
    {8, 1, "--mode job --size 8,100001 --job-out 250003 --chunk 16K --gpu-time 20us"},
    {3, 1, "--mode job --way managed,prefetch,zero-copy --size 100001 --job-out 0 --gpu-time 20us"},
    {3, 1, "--mode job --way managed,prefetch,zero-copy --size 100001 --job-out 77"},
    {3, 1, "--mode job --way managed,prefetch,zero-copy --size 100001 --job-out 100001"},
};

RUN_TEST(right_copies_verify_in_every_way)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture f;
        begin_modes(rows[i].devices);
        if (strstr(rows[i].words, "job") != NULL)
            xb_fake.operation_s = 0; /* kernels take the time that is asked for */
        run_line(&f, "%s", rows[i].words);
        assert_int_equal(f.run.case_count, rows[i].cases > 0 ? rows[i].cases : f.run.case_count);
        for (size_t k = 0; k < f.run.case_count; k++) {
            const struct xb_result *result = &f.run.results[k];
            expect_status(result, XB_RESULT_OK);
            assert_string_equal(result->reason, "");
            assert_int_equal(result->bandwidth.n, 2);
            assert_int_equal(result->times.count, 2);
            assert_true(result->bandwidth.median > 0);
            assert_int_equal(result->stop_reason, XB_STOP_FIXED);
            assert_true(result->test.simultaneous ||
                        (result->submit_times.count > 0 && result->wall_times.count > 0));
            for (size_t n = 0; n < result->figure_count; n++)
                if (xb_figure_find(result->figures[n].figure->name) == NULL)
                    fail_msg("mode %s does not list %s in .figures", result->test.mode->name,
                             result->figures[n].figure->name);
        }
        assert_false(xb_fake.staged_by_runtime);
        finish(&f);
    }
}

RUN_TEST(every_mode_goes_each_way_that_it_has)
{
    struct fixture f;
    begin_modes(2);
    run_line(&f, EVERYTHING " --size 64K");
    expect_every_way(&f);
    /* A profiler collects what is sampled, and nothing before. */
    assert_int_equal(xb_fake.samples_collected, 2 * f.run.case_count);
    assert_true(xb_fake.ranges > xb_fake.samples_collected + f.run.case_count);
    finish(&f);
}

/* More than setup says could wait for each other forever behind a hold. */
RUN_TEST(no_mode_enqueues_more_operations_than_it_says)
{
    for (size_t m = 0; xb_modes[m] != NULL; m++) {
        struct fixture f;
        begin_modes(2);
        xb_fake.operation_s = 0; /* as many iterations make a sample as fit behind a hold */
        run_line(&f, "--mode %s --size 4K --direction both,bidir,d2d%s", xb_modes[m]->name,
                 xb_modes[m]->latency != NULL ? " --latency" : "");
        finish(&f);
        if (xb_fake.most_behind_hold > xb_fake.held_operations)
            fail_msg("mode %s enqueues more than its operations_per_iteration: %u behind a hold "
                     "of %u",
                     xb_modes[m]->name, xb_fake.most_behind_hold, xb_fake.held_operations);
    }
}

/* A sample is one operation: 3 samples, 3 of them also without events. */
RUN_TEST(single_operations_verify)
{
    struct fixture f;
    begin_modes(2);
    run_line(&f, EVERYTHING " --latency --samples=3 --size 4,4097");
    for (size_t i = 0; i < f.run.case_count; i++) {
        const struct xb_result *result = &f.run.results[i];
        if (result->test.direction == XB_BIDIR) {
            expect_reason(result, XB_RESULT_SKIPPED, "both ways at once are several");
        } else if (result->test.mode->latency != NULL) {
            expect_reason(result, XB_RESULT_SKIPPED, "goes through 2 MiB or more");
        } else {
            expect_status(result, XB_RESULT_OK);
            /* What the CPU waits for inside the call lies between no events. */
            assert_int_equal(result->event_times, result->device_timer);
            assert_int_equal(result->times.count, 3);
            assert_int_equal(result->wall_times.count, 3);
        }
    }
    expect_every_way(&f);
    finish(&f);
}

/* ---- memory ---- */

/* Buffers of the host, and of each of two devices. */
static struct {
    unsigned long long live[3], most[3];
    unsigned large; /* that were made: of more than a page, as windows of a proof are at most */
} taken;

static void count(const struct xb_buffer *buffer, bool is_new)
{
    unsigned long long bytes = buffer->bytes;
    unsigned device = 1 + buffer->device->info.index;
    for (unsigned side = 0; side < 3; side++) {
        bool is_there = side == device && buffer->memory == XB_MEMORY_DEVICE;
        bool is_here = side == 0 && buffer->memory != XB_MEMORY_DEVICE;
        bool is_both = side == device && buffer->memory == XB_MEMORY_MANAGED;
        if (!is_there && !is_here && !is_both)
            continue;
        taken.live[side] += is_new ? bytes : -bytes;
        if (taken.live[side] > taken.most[side])
            taken.most[side] = taken.live[side];
    }
    taken.large += is_new && bytes > 4096;
}

static enum xb_status counted_allocate(struct xb_device *device, enum xb_memory memory,
                                       uint64_t bytes, struct xb_buffer **buffer,
                                       struct xb_error *error)
{
    enum xb_status status = xb_fake_backend.buffer_allocate(device, memory, bytes, buffer, error);
    if (status == XB_OK)
        count(*buffer, true);
    return status;
}

static enum xb_status counted_register(struct xb_device *device, void *address, uint64_t bytes,
                                       struct xb_buffer **buffer, struct xb_error *error)
{
    enum xb_status status = xb_fake_backend.buffer_register(device, address, bytes, buffer, error);
    if (status == XB_OK)
        count(*buffer, true);
    return status;
}

static void counted_free(struct xb_buffer *buffer)
{
    if (buffer != NULL)
        count(buffer, false);
    xb_fake_backend.buffer_free(buffer);
}

static void count_memory(unsigned devices)
{
    begin_modes(devices);
    memset(&taken, 0, sizeof taken);
    altered_backend.buffer_allocate = counted_allocate;
    altered_backend.buffer_register = counted_register;
    altered_backend.buffer_free = counted_free;
}

static const char *const memory_ways[] = {
    EVERYTHING " --size 100004 --peer-path direct-write",
    "--mode pinned,async --size 64K --host-offset 0,8K --device-offset 1",
    "--mode quantize --to fp16 --size 4K,64K,100004 --encode-chunk 64K --threads 1,2,3",
    "--mode compress --codec for --size 4K,64K,100004 --encode-chunk 64K --threads 1,2,3",
    "--mode resident,job --size 64K --job-out 4K",
    "--mode pin --size 2M",
};

/* The proof compares windows of what is not on the host through two pages of its own. */
#define WINDOWS 8192

/* Each case alone, without what the one before it has left to be borrowed. */
RUN_TEST(a_case_takes_the_memory_that_it_says)
{
    for (size_t w = 0; w < COUNT_OF(memory_ways); w++) {
        size_t cases = 1;
        for (size_t i = 0; i < cases; i++) {
            struct fixture f;
            count_memory(2);
            plan_line(&f, "%s", memory_ways[w]);
            cases = f.run.case_count;
            struct xb_case test = f.run.results[i].test;
            f.run.results[0].test = test;
            f.run.case_count = 1;
            go(&f, NULL);
            expect_all(&f, XB_RESULT_OK);
            f.run.case_count = cases;
            struct xb_needs needs = xb_case_needs(&test);
            finish(&f);
            assert_in_range(taken.most[0], needs.host_bytes, needs.host_bytes + WINDOWS);
            assert_int_equal(taken.most[1] > taken.most[2] ? taken.most[1] : taken.most[2],
                             needs.device_bytes);
            assert_int_equal(taken.live[0] + taken.live[1] + taken.live[2], 0);
        }
    }
}

/* Where memory lies must not be what differs between two offsets; and what is kept for the largest
 * case is taken once. What is as long as a small case only by chance is not. */
RUN_TEST(cases_share_their_memory)
{
    static const struct {
        unsigned large; /* room for the proof of pieces is one */
        const char *words;
    } shared[] = {
        {2, "--mode pinned --size 64K,1M --host-offset 0,1,4K --device-offset 0,64"},
        {3,
         "--mode batch --batch each,call --size 64K,1M --host-offset 0,1,4K --device-offset 0,64"},
        {2 + 2 * 3 + 3,
         "--mode quantize --to fp16,fp8 --encode-chunk 64K --size 64K,1M --threads 1,2,4"},
    };
    for (size_t i = 0; i < COUNT_OF(shared); i++) {
        struct fixture f;
        count_memory(1);
        run_line(&f, "%s", shared[i].words);
        expect_all(&f, XB_RESULT_OK);
        finish(&f);
        assert_int_equal(taken.large, shared[i].large);
    }
}
