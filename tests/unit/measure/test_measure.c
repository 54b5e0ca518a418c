/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* The time of one iteration: one way, both ways, between devices, in a pipeline. */

#include "testing.h"

#include "measure_fixture.h"

/* ---- one way ---- */

/* One iteration's time, however many make a sample, and without what the hold takes. */
RUN_TEST(test_time_is_that_of_one_iteration)
{
    struct fixture f;
    RUN(&f, "--mode", "pinned,pageable", "--staging", "driver", "--size", "64K,4M");
    for (size_t i = 0; i < f.run.case_count; i++) {
        const struct xb_result *result = &f.run.results[i];
        expect_seconds(result, (double)result->test.bytes * XB_FAKE_SECONDS_PER_BYTE);
        /* 1 ms is the target: 16 of 65.5 us, one of 4.2 ms */
        expect_number(result, "iterations_per_sample", result->test.bytes == 65536 ? 16 : 1);
        assert_null(figure_of(result, "overlap"));
        assert_null(figure_of(result, "share_of_alone"));
    }
    assert_true(xb_fake.holds > 0);
    finish(&f);
}

/* Eight chunks over two queues, the second half as fast: it has the last word, from a common start.
 */
RUN_TEST(test_time_covers_every_queue)
{
    struct fixture f;
    RUN(&f, "--mode", "async", "--size", "8M", "--chunk", "1M", "--streams", "2");
    for (size_t i = 0; i < f.run.case_count; i++)
        expect_seconds(&f.run.results[i], 4 * 2 * CHUNK_S);
    finish(&f);
}

RUN_TEST(test_batches_fit_behind_a_hold)
{
    struct fixture f;
    RUN(&f, "--mode", "pinned,async", "--size", "16K", "--chunk", "4K", "--direction", "h2d");
    /* 62 copies of 16 KiB make 1 ms; of 4 operations each, 16 iterations fit behind 64 */
    expect_number(&f.run.results[0], "iterations_per_sample", 62);
    expect_number(&f.run.results[1], "iterations_per_sample", 16);
    finish(&f);
}

/* A sample lasts 1 ms at least, and no longer than it takes: also where one iteration is a large
 * part of that, and where it is just as long. */
RUN_TEST(test_no_sample_is_too_short)
{
    static const struct {
        const char *size; /* x 1 ns */
        double iterations;
    } rows[] = {
        {"450000", 3}, {"550000", 2}, {"700000", 2}, {"990000", 2}, {"1000100", 1}, {"1500000", 1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture f;
        RUN(&f, "--mode", "pinned", "--direction", "h2d", "--size", rows[i].size);
        expect_number(&f.run.results[0], "iterations_per_sample", rows[i].iterations);
        finish(&f);
    }
}

/* ---- how many samples ---- */

static size_t samples_of(const char *size, const char *direction, bool unhurried)
{
    struct fixture f;
    PLAN(&f, "--mode", "pinned", "--direction", direction, "--size", size, "--time-limit", "1000s");
    f.run.unhurried = unhurried;
    go(&f, NULL);
    expect_all(&f, XB_RESULT_OK);
    assert_int_equal(f.run.results[0].stop_reason, XB_STOP_CONVERGED);
    size_t count = f.run.results[0].times.count;
    finish(&f);
    return count;
}

/* The fake's samples are all the same. Those of 8 MiB take 8.4 ms: 6 of them last 50 ms. Of batches
 * of 1 ms and more it takes as many as of anything. */
RUN_TEST(test_few_samples_do_for_one_way_alone)
{
    assert_int_equal(samples_of("8M", "h2d", false), 6);
    assert_int_equal(samples_of("4M", "h2d", false), 12);
    assert_int_equal(samples_of("64K", "h2d", false), 20);
    assert_int_equal(samples_of("8M", "bidir", false), 20);
    assert_int_equal(samples_of("8M", "h2d", true), 20);
}

RUN_TEST(test_few_samples_do_not_do_for_several_devices)
{
    struct fixture f;
    xb_fake.device_count = 2;
    RUN(&f, "--mode", "pinned", "--direction", "h2d", "--size", "8M", "--time-limit", "1000s",
        "--simultaneous");
    expect_all(&f, XB_RESULT_OK);
    for (size_t i = 0; i < f.run.case_count; i++) {
        const struct xb_result *result = &f.run.results[i];
        assert_int_equal(result->times.count, result->test.simultaneous ? 20 : 6);
    }
    finish(&f);
}

/* ---- both ways ---- */

static void expect_both(const struct xb_result *result, const char *first, double first_s,
                        const char *second, double second_s)
{
    double whole = first_s > second_s ? first_s : second_s;
    expect_seconds(result, whole);
    expect_samples(result, first, (double)result->test.bytes / first_s);
    expect_samples(result, second, (double)result->test.bytes / second_s);
    assert_int_equal(result->bytes_moved, 2 * result->test.bytes);
    expect_samples(result, "overlap", (first_s + second_s - whole) / whole);
}

/* A queue a way: the way back is by the second, and takes twice as long. In batches too. */
RUN_TEST(test_each_way_has_its_time)
{
    struct fixture f;
    RUN(&f, "--mode", "pinned", "--direction", "bidir", "--size", "64K,4M");
    expect_both(&f.run.results[0], "bandwidth_h2d", 65536e-9, "bandwidth_d2h", 2 * 65536e-9);
    expect_number(&f.run.results[0], "iterations_per_sample", 8);
    expect_both(&f.run.results[1], "bandwidth_h2d", 4 * CHUNK_S, "bandwidth_d2h", 8 * CHUNK_S);
    finish(&f);
}

/* Four chunks a way over three queues: 2 1 1 of them by queues 1 2 3, and 2 1 1 by queues 4 5 6. */
RUN_TEST(test_each_way_covers_its_queues)
{
    struct fixture f;
    RUN(&f, "--mode", "async", "--direction", "bidir", "--size", "4M", "--chunk", "1M", "--streams",
        "3");
    expect_both(&f.run.results[0], "bandwidth_h2d", 3 * CHUNK_S, "bandwidth_d2h", 8 * CHUNK_S);
    finish(&f);
}

/* Two queues a way: of three chunks two go by queue 1 and one by 2, then two by 3 and one by 4. */
RUN_TEST(test_two_streams_a_way)
{
    struct fixture f;
    RUN(&f, "--mode", "async", "--direction", "bidir", "--size", "3M", "--chunk", "1M");
    expect_both(&f.run.results[0], "bandwidth_h2d", 2 * CHUNK_S, "bandwidth_d2h", 6 * CHUNK_S);
    finish(&f);
}

static double longest_s;

/* The shorter of two ways ends when it began. */
static enum xb_status lose_the_shorter_way(struct xb_event *start, struct xb_event *stop,
                                           double *seconds, struct xb_error *error)
{
    enum xb_status status = xb_fake_backend.event_elapsed(start, stop, seconds, error);
    longest_s = *seconds > longest_s ? *seconds : longest_s;
    if (*seconds < 0.75 * longest_s)
        *seconds = 0;
    return status;
}

/* A rate would be without end, and no file can hold it. */
RUN_TEST(test_a_way_that_took_no_time_is_an_error)
{
    struct fixture f;
    alter(1, 1);
    altered_backend.event_elapsed = lose_the_shorter_way;
    longest_s = 0;
    RUN(&f, "--mode", "pinned", "--direction", "bidir", "--size", "4M");
    expect_reason(&f.run.results[0], XB_RESULT_ERROR, "bandwidth_h2d: the events around");
    finish(&f);
}

/* ---- pairs ---- */

/* ---- within the device ---- */

RUN_TEST(test_local_copies_are_the_bytes_copied)
{
    struct fixture f;
    double once = 2 * MIB * XB_FAKE_SECONDS_PER_BYTE;
    RUN(&f, "--mode", "local", "--size", "2M", "--by", "engine,kernel");
    assert_int_equal(f.run.case_count, 2);
    for (size_t i = 0; i < f.run.case_count; i++) {
        const struct xb_result *result = &f.run.results[i];
        assert_int_equal(result->bytes_moved, 2 * MIB); /* though each is read and written */
        expect_seconds(result, once);
        expect_number(result, "iterations_per_sample", round(10e-3 / once));
        assert_string_equal(detail(result, "verified_by"), "device");
    }
    assert_int_equal(xb_fake.kernel_access, 1u << XB_ACCESS_SEQUENTIAL);
    finish(&f);
}

/* The runtime may make such a copy of several kernels, so fewer fit behind a hold; a kernel is one.
 */
RUN_TEST(test_local_copies_leave_room_behind_a_hold)
{
    struct fixture f;
    RUN(&f, "--mode", "local", "--size", "64K", "--by", "engine,kernel");
    expect_number(&f.run.results[0], "iterations_per_sample", 64.0 / XB_LOCAL_COPY_OPERATIONS);
    expect_number(&f.run.results[1], "iterations_per_sample", 64);
    finish(&f);
}

/* By engine and by kernel, of either device. */
RUN_TEST(test_direct_peer_copies_take_what_the_link_takes)
{
    struct fixture f;
    double there = 16 * MIB * XB_FAKE_PEER_SECONDS_PER_BYTE;
    xb_fake.device_count = 2;
    RUN(&f, "--mode", "peer", "--size", "16M", "--peer-path", "direct-read,direct-write", "--by",
        "engine,kernel");
    assert_int_equal(f.run.case_count, 2 * 2 * 3);
    for (size_t i = 0; i < f.run.case_count; i++) {
        const struct xb_result *result = &f.run.results[i];
        bool both = result->test.direction == XB_BIDIR;
        if (both)
            expect_both(result, "bandwidth_there", there, "bandwidth_back", 2 * there);
        else
            expect_seconds(result, there);
        /* as many as last 10 ms, not 1 ms */
        expect_number(result, "iterations_per_sample", ceil(10e-3 / (both ? 2 * there : there)));
    }
    finish(&f);
}

/* Four chunks through the host: while one leaves, the next arrives. The way back is by the second
 * queue of either device. */
RUN_TEST(test_staged_copies_overlap)
{
    struct fixture f;
    xb_fake.device_count = 2;
    RUN(&f, "--mode", "peer", "--size", "4M", "--chunk", "1M", "--peer-path", "staged", "--by",
        "engine,kernel");
    assert_int_equal(f.run.case_count, 2 * 3);
    for (size_t i = 0; i < f.run.case_count; i++) {
        const struct xb_result *result = &f.run.results[i];
        assert_string_equal(detail(result, "held"), "yes");
        if (result->test.direction == XB_BIDIR)
            expect_both(result, "bandwidth_there", 5 * CHUNK_S, "bandwidth_back", 10 * CHUNK_S);
        else
            expect_seconds(result, 5 * CHUNK_S);
    }
    finish(&f);
}

/* Batches of a pipeline fill it once: 5 of 2 chunks are 11 steps. More do not fit behind a hold. */
RUN_TEST(test_batches_of_a_pipeline_flow_on)
{
    struct fixture f;
    xb_fake.device_count = 2;
    RUN(&f, "--mode", "peer", "--size", "128K", "--chunk", "64K", "--peer-path", "staged",
        "--direction", "d2d", "--pairs", "1:0");
    expect_number(&f.run.results[0], "iterations_per_sample", 5);
    expect_seconds(&f.run.results[0], 11.0 / 5 * 65536e-9);
    finish(&f);
}

/* Devices whose memory was given up take new queues: the third of device 0 feeds the first of 2. */
RUN_TEST(test_the_slower_stage_has_the_last_word)
{
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
RUN_TEST(test_either_way_may_be_the_longer)
{
    struct fixture f;
    double once = 16 * MIB * XB_FAKE_PEER_SECONDS_PER_BYTE;
    xb_fake.device_count = 3;
    RUN(&f, "--mode", "peer", "--size", "16M", "--peer-path", "direct-write", "--direction",
        "bidir", "--pairs", "0:1,1:2,0:2");
    expect_both(&f.run.results[0], "bandwidth_there", once, "bandwidth_back", 2 * once);
    expect_both(&f.run.results[2], "bandwidth_there", 3 * once, "bandwidth_back", 2 * once);
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
RUN_TEST(test_stages_of_a_pipeline)
{
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
        RUN(&f, "--mode", "double-buffer", "--size", "4M", "--chunk", "1M", "--buffers", "3",
            "--kernel-time", rows[i].kernel_time);
        const struct xb_result *result = &f.run.results[0];
        assert_int_equal(result->bytes_moved, 8 << 20);
        expect_seconds(result, whole * CHUNK_S);
        expect_samples(result, "serial_time", 4 * (2 + kernel) * CHUNK_S);
        expect_samples(result, "in_time", 4 * CHUNK_S);
        expect_samples(result, "kernel_time", 3 * kernel * CHUNK_S);
        expect_samples(result, "out_time", 4 * CHUNK_S);
        expect_samples(result, "copies_time", 8 * CHUNK_S);
        expect_number(result, "compute_steps", rows[i].steps);
        expect_computed(result, "speed_up", 4.0 / 3);
        expect_computed(result, "share_of_bound", bound / whole);
        if (kernel > 0)
            expect_computed(result, "gpu_busy", 3 * kernel / whole);
        else
            assert_null(figure_of(result, "gpu_busy"));
        assert_int_equal(result->row.verified, XB_VERIFIED_TRUE);
        assert_int_equal(figure_of(result, "serial_time")->samples.count, 2);
        finish(&f);
    }
}

/*
 * Of 64 chunks the steps are found with 32, of which queue 3 has 10: 30 copies' time for a step of
 * all. They are to take half of what 64 kernels of 500 us take: 508.6 steps.
 */
RUN_TEST(test_some_chunks_are_enough_to_tune_by)
{
    struct fixture f;
    RUN(&f, "--mode", "double-buffer", "--size", "64M", "--chunk", "1M", "--buffers", "3",
        "--kernel-time", "500us");
    expect_number(&f.run.results[0], "compute_steps", round(32 * 500e-6 / (30 * CHUNK_S / 1000)));
    expect_samples(&f.run.results[0], "kernel_time", 63 * 509 * CHUNK_S / 1000);
    finish(&f);
}

static double warm_up_bandwidth;

static void note_warm_up(void *argument, const struct xb_run *run, size_t samples, double bandwidth)
{
    hurry(argument, run, samples, bandwidth);
    if (samples == 0)
        warm_up_bandwidth = bandwidth;
}

/* The parts by which the kernel is tuned do not stay behind. */
RUN_TEST(test_a_pipeline_warms_up_with_all_of_its_stages)
{
    struct fixture f;
    const struct xb_run_observer observer = {.progress = note_warm_up};
    execute(&f,
            WORDS("--mode", "double-buffer", "--size", "64M", "--chunk", "1M", "--buffers", "3"),
            &observer);
    expect_near(warm_up_bandwidth, f.run.results[0].bandwidth.median, "the warm-up");
    finish(&f);
}

static unsigned copies_seen;

/* Every copy takes longer than the one before: no two of anything agree. */
static enum xb_status slower_copy(struct xb_queue *queue, struct xb_buffer *target, uint64_t to,
                                  struct xb_buffer *source, uint64_t from, uint64_t bytes,
                                  struct xb_error *error)
{
    enum xb_status status = XB_OK;
    copies_seen++;
    for (unsigned i = 0; status == XB_OK && i < copies_seen; i++)
        status = xb_fake_backend.queue_copy(queue, target, to, source, from, bytes, error);
    return status;
}

RUN_TEST(test_references_that_differ_are_timed_thrice)
{
    struct fixture f;
    alter(1, 1);
    altered_backend.queue_copy = slower_copy;
    copies_seen = 0;
    RUN(&f, "--mode", "zero-copy", "--size", "1M", "--direction", "h2d");
    expect_status(&f.run.results[0], XB_RESULT_OK);
    assert_int_equal(figure_of(&f.run.results[0], "copy_time")->samples.count, 3);
    assert_int_equal(figure_of(&f.run.results[0], "kernel_time")->samples.count, 2);
    finish(&f);
}
