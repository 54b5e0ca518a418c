/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Modes whose data goes to the device, is computed on and comes back, resident and job: how a job
 * lies in chunks, what is enqueued, and that every byte that comes back is proved. */

#include "backends/verify.h"
#include "modes/job.h"
#include "modes/proof.h"
#include "run_fixture.h"

/* ---- the layout of a job ---- */

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

TEST(a_layout_leaves_nothing_out)
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

/* 400 MB in chunks of 8 MiB are 48; 4 KiB come back of them: 4096 / 47.68 = 85.9, so 80 or 88.
 * Where twice as much comes back, slots are as far apart as the longest output. */
TEST(each_chunk_brings_its_share)
{
    static const struct {
        uint64_t in, out, chunk, count, number, out_offset, out_bytes;
    } rows[] = {{400000000, 4096, 8 << 20, 48, 1, 80, 88},
                {64, 128, 16, 4, 3, 96, 32},
                {1001, 5, UINT64_MAX, 1, 0, 0, 5}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct xb_trip_layout layout = xb_trip_lay_out(rows[i].in, rows[i].out, rows[i].chunk, 0);
        struct xb_trip_part part = xb_trip_part_at(&layout, rows[i].number, 0);
        assert_int_equal(layout.count, rows[i].count);
        assert_int_equal(part.in.offset, rows[i].number * layout.chunk);
        assert_int_equal(part.out.offset, rows[i].out_offset);
        assert_int_equal(part.out.bytes, rows[i].out_bytes);
    }
    struct xb_trip_layout layout = xb_trip_lay_out(1001, 5, UINT64_MAX, 0);
    assert_int_equal(layout.chunk, 1008);
    assert_int_equal(layout.device_bytes, 1001);
}

/* ---- what is enqueued ---- */

static struct {
    const struct xb_buffer *first, *second; /* sources of copies to the device */
    unsigned counts[2];                     /* how often each was */
} sources;

static enum xb_status counted_copy(struct xb_queue *queue, struct xb_buffer *target, uint64_t to,
                                   struct xb_buffer *source, uint64_t from, uint64_t bytes,
                                   struct xb_error *error)
{
    if (target->memory == XB_MEMORY_DEVICE && sources.first == NULL)
        sources.first = source;
    if (target->memory == XB_MEMORY_DEVICE && source != sources.first)
        sources.second = source;
    sources.counts[0] += target->memory == XB_MEMORY_DEVICE && source == sources.first;
    sources.counts[1] += target->memory == XB_MEMORY_DEVICE && source == sources.second;
    return xb_fake_backend.queue_copy(queue, target, to, source, from, bytes, error);
}

/* What a kernel left is what the next trip of resident's reference brings back, from the output's
 * buffer: the reference does the same work. An iteration's own: tests/unit/runs/steps.txt. */
RUN_TEST(a_trip_brings_back_what_the_kernel_left)
{
    struct fixture f;
    memset(&sources, 0, sizeof sources);
    altered_backend.queue_copy = counted_copy;
    run_line(&f, "--mode resident --size 1M --steps 3");
    expect_all(&f, XB_RESULT_OK);
    size_t trips = figure_of(&f.run.results[0], "round_trip_time")->samples.count;
    assert_true(trips > 0);
    assert_int_equal(sources.counts[1], 2 * trips); /* and nowhere else */
    assert_true(sources.counts[0] >= trips + 3);
    finish(&f);
}

/* ---- proof ---- */

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
RUN_TEST(a_job_in_place_that_was_not_done_is_found)
{
    struct fixture f;
    altered_backend.queue_compute = compute_but_once;
    kernels = 0;
    run_line(&f, "--mode job --way prefetch --size 64K --job-out 8");
    assert_true(kernels > 2);
    expect_all_wrong(&f);
    finish(&f);
}

static enum xb_status copy_all_but_the_last_byte(struct xb_queue *queue, struct xb_buffer *target,
                                                 uint64_t to, struct xb_buffer *source,
                                                 uint64_t from, uint64_t bytes,
                                                 struct xb_error *error)
{
    bool is_in = target->memory == XB_MEMORY_DEVICE;
    return xb_fake_backend.queue_copy(queue, target, to, source, from, bytes - is_in, error);
}

/* Pieces of 4 MiB are fetched: the second one has a word and a byte more. */
RUN_TEST(what_stays_on_the_device_counts_to_its_end)
{
    struct fixture f;
    altered_backend.queue_copy = copy_all_but_the_last_byte;
    run_line(&f, "--mode job --way pinned --size 4194313 --job-out 8 --gpu-time none");
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
TEST(every_byte_that_comes_back_counts)
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

/* The second opinion: words of which each step is taken, the first and the last among them. */
TEST(steps_are_taken_one_by_one)
{
    enum { COUNT = 100 };
    unsigned long long source[COUNT], target[COUNT];
    struct xb_mismatch found = {0};
    for (size_t i = 0; i < COUNT; i++) {
        source[i] = i * i;
        target[i] = xb_compute_step(xb_compute_step(source[i]));
    }
    xb_proof_check_steps(source, target, sizeof source, 2, &found);
    assert_int_equal(found.wrong_bytes, 0);
    xb_proof_check_steps(source, target, 7, 2, &found); /* no word */
    assert_int_equal(found.wrong_bytes, 0);
    target[0] ^= 1;
    target[COUNT - 1] ^= 1;
    xb_proof_check_steps(source, target, sizeof source, 2, &found);
    assert_int_equal(found.wrong_bytes, 2);
    assert_int_equal(found.first_offset, 0);
    found = (struct xb_mismatch){0};
    xb_proof_check_steps(source, target, sizeof source, 1, &found);
    assert_true(found.wrong_bytes > 2);
}
