/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* A whole job: how it lies in chunks, what is enqueued, and that every byte of it is proved. */

#include "testing.h"

#include "backends/verify.h"
#include "measure_fixture.h"
#include "modes/job.h"
#include "modes/kernel_time.h"

#define JOB(f, ...) RUN(f, "--mode", "job", __VA_ARGS__)

/* ---- the layout ---- */

/* Slots hold what goes in and what comes back, one behind the other; nothing is left out. */
static void expect_layout(uint64_t in, uint64_t out, uint64_t chunk)
{
    struct xb_trip_layout layout = xb_trip_lay_out(in, out, chunk, 0);
    uint64_t in_end = 0;
    uint64_t out_end = 0;
    uint64_t slot_end = 0;
    for (uint64_t i = 0; i < layout.count; i++) {
        struct xb_trip_part part = xb_trip_part_at(&layout, i, 0);
        bool is_last = i + 1 == layout.count;
        assert_int_equal(part.in.offset, in_end);
        assert_int_equal(part.out.offset, out_end);
        assert_int_equal(part.in.offset % 8, 0);
        assert_int_equal(part.device_offset % 8, 0);
        assert_true(part.device_offset >= slot_end);
        assert_true(part.in.bytes > 0);
        assert_true(is_last || part.out.bytes % 8 == 0);
        if (out >= in)
            assert_true(part.out.bytes >= part.in.bytes); /* all that went in comes back */
        else
            assert_int_equal(part.device_offset, part.in.offset);
        in_end += part.in.bytes;
        out_end += part.out.bytes;
        slot_end =
            part.device_offset + (part.in.bytes > part.out.bytes ? part.in.bytes : part.out.bytes);
    }
    assert_int_equal(in_end, in);
    assert_int_equal(out_end, out);
    assert_int_equal(layout.device_bytes, slot_end);
}

RUN_TEST(test_a_layout_leaves_nothing_out)
{
    static const uint64_t sizes[] = {1,   3,    7,    8,     9,     16,        40,
                                     100, 1000, 4096, 10007, 65536, 1000000007};
    static const uint64_t chunks[] = {8, 16, 24, 4096, UINT64_MAX};
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        for (size_t o = 0; o <= COUNT_OF(sizes); o++)
            for (size_t c = 0; c < COUNT_OF(chunks); c++)
                if (sizes[i] / chunks[c] < 20000)
                    expect_layout(sizes[i], o > 0 ? sizes[o - 1] : 0, chunks[c]);
}

/* 400 MB in chunks of 8 MiB are 48; 4 KiB come back of them: 4096 / 47.68 = 85.9, so 80 or 88. */
RUN_TEST(test_each_chunk_brings_its_share)
{
    struct xb_trip_layout layout = xb_trip_lay_out(400000000, 4096, 8 << 20, 0);
    assert_int_equal(layout.count, 48);
    struct xb_trip_part part = xb_trip_part_at(&layout, 1, 0);
    assert_int_equal(part.in.offset, 8 << 20);
    assert_int_equal(part.out.offset, 80);
    assert_int_equal(part.out.bytes, 88);
    /* Twice as much comes back: slots are as far apart as the longest output. */
    layout = xb_trip_lay_out(64, 128, 16, 0);
    assert_int_equal(layout.count, 4);
    part = xb_trip_part_at(&layout, 3, 0);
    assert_int_equal(part.out.offset, 96);
    assert_int_equal(part.out.bytes, 32);
    /* A job in one piece. */
    layout = xb_trip_lay_out(1001, 5, UINT64_MAX, 0);
    assert_int_equal(layout.count, 1);
    assert_int_equal(layout.chunk, 1008);
    assert_int_equal(layout.device_bytes, 1001);
}

/* ---- what is enqueued ---- */

static enum xb_status copy_all_but_the_last_byte(struct xb_queue *queue, struct xb_buffer *target,
                                                 uint64_t to, struct xb_buffer *source,
                                                 uint64_t from, uint64_t bytes,
                                                 struct xb_error *error)
{
    bool is_in = target->memory == XB_MEMORY_DEVICE;
    return xb_fake_backend.queue_copy(queue, target, to, source, from, bytes - is_in, error);
}

/* What each way enqueues for a job of four chunks. */
RUN_TEST(test_each_way_enqueues_its_own)
{
    static const struct {
        const char *way, *job;
        size_t queues;
    } ways[] = {
        {"pageable", "ikoiko", 1},
        {"pinned", "ikoiko", 1},
        {"overlapped", "ikoikoikoiko", 4},
    };
    for (size_t i = 0; i < COUNT_OF(ways); i++) {
        struct fixture f;
        alter_to_letters();
        if (strcmp(ways[i].way, "overlapped") == 0)
            JOB(&f, "--way", ways[i].way, "--size", "1M", "--job-out", "1M", "--chunk", "256K");
        else
            JOB(&f, "--way", ways[i].way, "--size", "1M", "--job-out", "1M");
        expect_all(&f, XB_RESULT_OK);
        assert_non_null(strstr(letters.text, ways[i].job));
        assert_int_equal(letters.queue_count, ways[i].queues);
        finish(&f);
    }
}

/* A byte takes a kernel a picosecond a step: 2 ms over 1 MiB are 1907 steps. */
RUN_TEST(test_the_kernel_takes_the_time_asked_for)
{
    struct fixture f;
    JOB(&f, "--way", "pageable,pinned", "--size", "1M", "--job-out", "4K", "--gpu-time", "2ms");
    expect_all(&f, XB_RESULT_OK);
    for (size_t i = 0; i < f.run.case_count; i++) {
        const struct xb_result *result = &f.run.results[i];
        expect_number(result, "compute_steps", 1907);
        expect_samples(result, "kernel_time", 1907 * MIB * XB_FAKE_SECONDS_PER_BYTE_AND_STEP);
        assert_int_equal(result->bytes_moved, (1 << 20) + 4096);
        assert_true(figure_of(result, "in_time")->samples.count > 0);
        assert_true(figure_of(result, "out_time")->samples.count > 0);
        expect_computed(result, "job_time", (double)result->bytes_moved / result->bandwidth.median);
    }
    finish(&f);
}

RUN_TEST(test_what_a_job_lacks_is_not_timed)
{
    struct fixture f;
    JOB(&f, "--size", "64K", "--job-out", "0", "--gpu-time", "none");
    assert_int_equal(f.run.case_count, 4);
    expect_all(&f, XB_RESULT_OK);
    for (size_t i = 0; i < f.run.case_count; i++) {
        const struct xb_result *result = &f.run.results[i];
        assert_int_equal(result->bytes_moved, 1 << 16);
        expect_number(result, "compute_steps", 0);
        assert_null(figure_of(result, "kernel_time"));
        assert_null(figure_of(result, "out_time"));
    }
    finish(&f);
}

/* ---- proof ---- */

RUN_TEST(test_every_job_verifies)
{
    static const char *const outs[] = {"0", "77", "4096", "250003"};
    for (size_t i = 0; i < COUNT_OF(outs); i++) {
        struct fixture f;
        xb_fake_reset();
        JOB(&f, "--size", "8,100001", "--job-out", outs[i], "--chunk", "16K", "--gpu-time", "20us",
            "--samples", "1");
        assert_int_equal(f.run.case_count, 2 * 4);
        expect_all(&f, XB_RESULT_OK);
        finish(&f);
    }
}

#define IN_PLACE "--way", "managed,prefetch,zero-copy"

/* One buffer, which the CPU fills before each job: no copies, and each job is looked at. */
RUN_TEST(test_a_job_in_place_verifies)
{
    static const uint64_t outs[] = {0, 77, 4096, 100001};
    for (size_t i = 0; i < COUNT_OF(outs); i++) {
        struct fixture f;
        char out[32];
        snprintf(out, sizeof out, "%llu", (unsigned long long)outs[i]);
        xb_fake_reset();
        JOB(&f, IN_PLACE, "--size", "100001", "--job-out", out, "--gpu-time", "20us,40us");
        assert_int_equal(f.run.case_count, 2 * 3);
        expect_all(&f, XB_RESULT_OK);
        for (size_t k = 0; k < f.run.case_count; k++) {
            const struct xb_result *result = &f.run.results[k];
            assert_int_equal(result->bytes_moved, 100001 + outs[i]);
            assert_null(figure_of(result, "in_time"));
            assert_null(figure_of(result, "out_time"));
            assert_null(figure_of(result, "copy_share"));
            assert_non_null(figure_of(result, "kernel_share"));
            expect_computed(result, "peak_device_memory",
                            0); /* what the kernel is tuned by is none */
        }
        finish(&f);
    }
}

static unsigned kernels; /* that were to work in place */

static enum xb_status compute_but_once(struct xb_queue *queue, struct xb_buffer *buffer,
                                       uint64_t offset, uint64_t bytes, uint64_t steps,
                                       struct xb_error *error)
{
    bool is_forgotten = buffer->memory != XB_MEMORY_DEVICE && ++kernels == 2;
    return is_forgotten ? XB_OK
                        : xb_fake_backend.queue_compute(queue, buffer, offset, bytes, steps, error);
}

/* The next job finds it, however right that one is. */
RUN_TEST(test_a_job_in_place_that_was_not_done_is_found)
{
    struct fixture f;
    alter(1, 1);
    altered_backend.queue_compute = compute_but_once;
    kernels = 0;
    JOB(&f, "--way", "prefetch", "--size", "64K", "--job-out", "8");
    assert_true(kernels > 2);
    expect_all_wrong(&f);
    finish(&f);
}

/* Of a byte's place in the host's output what has to be there, worked out word by word. */
static unsigned char right_byte(const struct xb_trip_layout *layout, unsigned long long seed,
                                uint64_t steps, uint64_t place)
{
    struct xb_pattern input = {.seed = seed, .flip = XB_PATTERN_POISON};
    struct xb_pattern beside = xb_job_beside(seed, true);
    uint64_t i = 0;
    struct xb_trip_part part = xb_trip_part_at(layout, i, 0);
    while (place >= part.out.offset + part.out.bytes)
        part = xb_trip_part_at(layout, ++i, 0);
    uint64_t here = place - part.out.offset;
    bool is_input = here < part.in.bytes;
    uint64_t at = is_input ? part.in.offset + here : part.device_offset + here;
    unsigned long long word = xb_pattern_word(is_input ? input : beside, at / 8);
    for (uint64_t step = 0; here < part.in.bytes / 8 * 8 && step < steps; step++)
        word = xb_compute_step(word);
    return (unsigned char)(word >> 8 * (at % 8));
}

/* The right output passes, and with any byte of it wrong it does not. Whole words that were
 * computed come back, a part of one, what lies behind the last whole word, and what lies behind the
 * input. */
RUN_TEST(test_every_byte_that_comes_back_counts)
{
    static const uint64_t sizes[][3] = {/* in, out, chunk */
                                        {21, 21, UINT64_MAX}, {21, 30, UINT64_MAX}, {37, 41, 16},
                                        {40, 40, 8},          {16, 16, UINT64_MAX}, {50, 200, 24},
                                        {21, 13, UINT64_MAX}, {40, 27, 16}};
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        unsigned char in[64];
        unsigned char out[256];
        struct xb_trip_layout layout = xb_trip_lay_out(sizes[i][0], sizes[i][1], sizes[i][2], 0);
        struct xb_buffer source = {.host_address = in};
        struct xb_buffer target = {.host_address = out};
        const struct xb_trip trip = {.layout = layout, .steps = 3, .in = &source, .out = &target};
        const struct xb_job_proof proof = {.trip = &trip, .seed = 77};
        xb_host_fill(in, 0, layout.in, (struct xb_pattern){.seed = 77, .flip = XB_PATTERN_POISON});
        for (uint64_t place = 0; place < layout.out; place++)
            out[place] = right_byte(&layout, 77, 3, place);
        for (uint64_t place = 0; place <= layout.out; place++) {
            struct xb_mismatch all = {0};
            struct xb_mismatch spots = {0};
            struct xb_error error;
            out[place] ^= 0x10; /* the last one is behind the output */
            assert_int_equal(xb_job_check(NULL, &proof, &all, &spots, &error), XB_OK);
            out[place] ^= 0x10;
            assert_int_equal(all.wrong_bytes, place < layout.out);
        }
    }
}

/* Pieces of 4 MiB are fetched: the second one has a word and a byte more. */
RUN_TEST(test_what_stays_on_the_device_counts_to_its_end)
{
    struct fixture f;
    alter(1, 1);
    altered_backend.queue_copy = copy_all_but_the_last_byte;
    JOB(&f, "--way", "pinned", "--size", "4194313", "--job-out", "8", "--gpu-time", "none");
    expect_all_wrong(&f);
    finish(&f);
}

/* ---- what it is not for ---- */

/* A step over 1 MiB takes a microsecond. */
RUN_TEST(test_a_kernel_that_is_too_short_is_refused)
{
    struct fixture f;
    JOB(&f, "--way", "pinned", "--size", "1M", "--gpu-time", "900ns");
    expect_reason(&f.run.results[0], XB_RESULT_SKIPPED, "takes 1.05 us here");
    finish(&f);
    xb_fake_reset();
    JOB(&f, "--way", "pinned", "--size", "7", "--gpu-time", "1us");
    expect_reason(&f.run.results[0], XB_RESULT_SKIPPED, "7 bytes are too few");
    finish(&f);
    xb_fake_reset();
    JOB(&f, "--way", "pinned", "--size", "7", "--gpu-time", "none");
    expect_all(&f, XB_RESULT_OK);
    finish(&f);
}

RUN_TEST(test_what_cannot_be_in_place_is_refused)
{
    struct fixture f;
    JOB(&f, IN_PLACE, "--size", "64K", "--job-out", "65537");
    expect_reason(&f.run.results[0], XB_RESULT_SKIPPED, "no more comes back than goes in");
    finish(&f);
    xb_fake_reset();
    JOB(&f, IN_PLACE, "--size", "64K", "--job-out", "0", "--gpu-time", "none");
    expect_reason(&f.run.results[2], XB_RESULT_SKIPPED, "without a kernel nothing happens");
    finish(&f);
}

/* A step over 8 bytes takes 8 ps, and there are 2^24 at most. */
RUN_TEST(test_a_kernel_that_is_too_long_is_refused)
{
    struct fixture f;
    JOB(&f, "--way", "pinned", "--size", "8", "--job-out", "8", "--gpu-time", "1ms");
    expect_reason(&f.run.results[0], XB_RESULT_SKIPPED,
                  "takes 134 us here; give no more than that");
    finish(&f);
}

RUN_TEST(test_what_a_device_lacks_skips)
{
    struct fixture f;
    xb_fake.capabilities &= ~(uint32_t)XB_CAP_KERNELS;
    JOB(&f, "--way", "pageable", "--size", "64K");
    expect_reason(&f.run.results[0], XB_RESULT_SKIPPED, "lacks the capability");
    finish(&f);
    xb_fake_reset();
    xb_fake.capabilities &= ~(uint32_t)XB_CAP_REGISTER;
    JOB(&f, "--size", "64K");
    expect_status(&f.run.results[0], XB_RESULT_OK);
    expect_status(&f.run.results[1], XB_RESULT_OK);
    expect_reason(&f.run.results[2], XB_RESULT_SKIPPED, "lacks the capability");
    expect_reason(&f.run.results[3], XB_RESULT_SKIPPED, "lacks the capability");
    finish(&f);
    xb_fake_reset();
    xb_fake.capabilities &= ~(uint32_t)(XB_CAP_MANAGED | XB_CAP_MAPPED);
    JOB(&f, IN_PLACE, "--size", "1M");
    for (size_t i = 0; i < 3; i++)
        expect_reason(&f.run.results[i], XB_RESULT_SKIPPED, "lacks the capability");
    finish(&f);
}

RUN_TEST(test_options_have_bounds)
{
    EXPECT_USAGE("--gpu-time", "--mode", "job", "--gpu-time", "soon");
    EXPECT_USAGE("--gpu-time", "--mode", "job", "--gpu-time", "11s");
    EXPECT_USAGE("--gpu-time", "--mode", "job", "--gpu-time", "-1ms");
    EXPECT_USAGE("--job-out", "--mode", "job", "--job-out", "none");
    EXPECT_USAGE("--way", "--mode", "job", "--way", "paged");
    EXPECT_USAGE("words of 8 bytes", "--mode", "job", "--chunk", "1001");
    EXPECT_USAGE("larger --chunk", "--mode", "job", "--size", "4M", "--chunk", "8");
    EXPECT_USAGE("--way", "--mode", "pinned", "--way", "pinned");
}
