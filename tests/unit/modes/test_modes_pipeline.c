/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* From disk to device: what does not arrive is found, and what the figures are made of. */

#include "base/clock.h"
#include "every_mode.h"
#include "modes/pipeline.h"
#include "modes/readings/readings.h"
#include "sanitized.h"

#include <errno.h>
#include <sys/uio.h>

#define PIPELINE                                                                                   \
    "--mode pipeline --readers 2 --buffers 2 --io cached,gds --order "                             \
    "overlapped,serial,serial-pageable,overlapped-pageable"

static void expect_unverified(const struct fixture *f, size_t cases)
{
    size_t seen = 0;
    for (size_t i = 0; i < f->run.case_count; i++) {
        const struct xb_result *result = &f->run.results[i];
        if (result->row.status == XB_RESULT_SKIPPED)
            continue;
        expect_reason(result, XB_RESULT_ERROR, "arrived wrong or were not computed on");
        assert_int_equal(result->row.verified, XB_VERIFIED_FALSE);
        seen++;
    }
    assert_int_equal(seen, cases);
}

RUN_TEST(what_does_not_arrive_never_verifies)
{
    for (int damage = XB_DAMAGE_BIT_FLIPPED; damage <= XB_DAMAGE_PIECE_MISPLACED; damage++) {
        struct fixture f;
        /* It reads from the next chunk's slot: a race of the damage's own making. */
        if (HAS_THREAD_SANITIZER && damage == XB_DAMAGE_SHIFTED_2MIB)
            continue;
        begin_modes(1);
        xb_fake.damage = (enum xb_damage)damage;
        /* What comes from 2 MiB further on must have so much behind it in its slots. */
        if (damage == XB_DAMAGE_SHIFTED_2MIB)
            run_line(&f, PIPELINE " --size=5M --chunk=3M");
        else
            run_line(&f, PIPELINE " --size=320K --chunk=192K");
        expect_unverified(&f, 6); /* gds has no pageable memory */
        finish(&f);
    }
}

/* Nor what processes read wrong. No other order can be. */
RUN_TEST(processes_are_verified)
{
    for (int is_wrong = 0; is_wrong < 2; is_wrong++) {
        struct fixture f;
        begin_modes(1);
        xb_fake.damage = is_wrong ? XB_DAMAGE_BIT_FLIPPED : XB_DAMAGE_NONE;
        run_line(&f,
                 "--mode pipeline --readers 2 --read-by processes --order "
                 "overlapped,serial,overlapped-pageable --io cached,gds --size 320K --chunk 192K");
        size_t read = 0;
        for (size_t k = 0; k < f.run.case_count; k++) {
            const struct xb_result *result = &f.run.results[k];
            if (result->row.status == XB_RESULT_SKIPPED)
                continue;
            read++;
            expect_status(result, is_wrong ? XB_RESULT_ERROR : XB_RESULT_OK);
            assert_string_equal(detail(result, "read_by"), "preadv, by processes");
            assert_null(figure_of(result, "cpu_time"));
        }
        assert_int_equal(read, 2);
        finish(&f);
    }
}

/* ---- what goes wrong later than the first samples ---- */

/* This program is linked with --wrap for these. */
ssize_t __real_preadv(int descriptor, const struct iovec *parts, int count, off_t offset);
ssize_t __real_pread(int descriptor, void *memory, size_t bytes, off_t offset);
ssize_t __wrap_preadv(int descriptor, const struct iovec *parts, int count, off_t offset);
ssize_t __wrap_pread(int descriptor, void *memory, size_t bytes, off_t offset);

#define RIGHT_SAMPLES 2

/* From sample RIGHT_SAMPLES on. */
static struct {
    enum xb_damage damage;
    uint64_t from, until; /* reads leave these bytes of the file out */
    atomic_bool is_now;
} wrong;

/* Reads of chunks, counted from 1, in all iterations or in samples alone: the so-manyth fails, or
 * the deadline comes in it. And how often the mode was called. */
static struct {
    atomic_uint reads;
    atomic_bool sampling;
    bool in_samples;
    unsigned fails_at, late_at; /* 0: none */
    size_t late_after;          /* of the sample behind so many the second read is late; 0: none */
    unsigned set_up, taken_down;
    unsigned parts; /* how often restore came before a part of the line */
} turns;

/* False where it fails. */
static bool take_turn(void)
{
    if (turns.in_samples && !atomic_load(&turns.sampling))
        return true;
    unsigned turn = atomic_fetch_add(&turns.reads, 1) + 1;
    if (turn == turns.late_at)
        atomic_fetch_add(&clock_ahead_ns, 2000000000000);
    return turn != turns.fails_at;
}

/* Puts back what lay in a part of a read's memory before it, in `kept`. */
static void leave_out(char *memory, uint64_t bytes, uint64_t offset, const char *kept)
{
    uint64_t from = offset > wrong.from ? offset : wrong.from;
    uint64_t until = offset + bytes < wrong.until ? offset + bytes : wrong.until;
    if (atomic_load(&wrong.is_now) && from < until)
        memcpy(memory + (from - offset), kept + (from - offset), until - from);
}

static char *copy_of(const void *memory, size_t bytes)
{
    char *copy = malloc(bytes + 1);
    if (copy == NULL)
        abort();
    return memcpy(copy, memory, bytes);
}

ssize_t __wrap_preadv(int descriptor, const struct iovec *parts, int count, off_t offset)
{
    char *kept = copy_of(parts[0].iov_base, parts[0].iov_len);
    bool fails = !take_turn();
    ssize_t got = fails ? -1 : __real_preadv(descriptor, parts, count, offset);
    if (fails)
        errno = EIO;
    leave_out(parts[0].iov_base, parts[0].iov_len, (uint64_t)offset, kept);
    free(kept);
    return got;
}

ssize_t __wrap_pread(int descriptor, void *memory, size_t bytes, off_t offset)
{
    char *kept = copy_of(memory, bytes);
    ssize_t got = __real_pread(descriptor, memory, bytes, offset);
    leave_out(memory, bytes, (uint64_t)offset, kept);
    free(kept);
    return got;
}

static void go_wrong(void *argument, const struct xb_run *run, size_t samples, double bandwidth)
{
    hurry(argument, run, samples, bandwidth);
    atomic_store(&wrong.is_now, samples >= RIGHT_SAMPLES);
    xb_fake.damage = samples >= RIGHT_SAMPLES ? wrong.damage : XB_DAMAGE_NONE;
    if (turns.late_after > 0 && samples == turns.late_after)
        turns.late_at = atomic_load(&turns.reads) + 2;
}

static const struct xb_run_observer going_wrong = {.progress = go_wrong};

static enum xb_status no_digest(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t offset,
                                uint64_t bytes, bool plain, struct xb_buffer *target,
                                uint64_t target_offset, struct xb_error *error)
{
    if (atomic_load(&wrong.is_now))
        return XB_OK;
    return xb_fake_backend.queue_digest(queue, buffer, offset, bytes, plain, target, target_offset,
                                        error);
}

static enum xb_status no_copy_back(struct xb_queue *queue, struct xb_buffer *target,
                                   uint64_t target_offset, struct xb_buffer *source,
                                   uint64_t source_offset, uint64_t bytes, struct xb_error *error)
{
    if (atomic_load(&wrong.is_now) && target->memory != XB_MEMORY_DEVICE)
        return XB_OK;
    return xb_fake_backend.queue_copy(queue, target, target_offset, source, source_offset, bytes,
                                      error);
}

static void begin_wrong(enum xb_damage damage, uint64_t from, uint64_t until)
{
    begin_modes(1);
    memset(&turns, 0, sizeof turns);
    wrong.damage = damage;
    wrong.from = from;
    wrong.until = until;
    atomic_store(&wrong.is_now, false);
}

#define KIB UINT64_C(1024)

/* All that is in slots and results is of a right iteration then, and without a kernel that changes
 * it what lies in a slot stays right: it must not pass for what was to come. */
RUN_TEST(what_earlier_iterations_left_does_not_verify)
{
    static const struct {
        const char *words;
        enum xb_damage damage;
        uint64_t from, until;
    } rows[] = {
        /* As many slots as chunks, or more: each chunk lies where it lay before. */
        {"--size 64K --chunk 32K", XB_DAMAGE_NOTHING_COPIED, 0, 0},
        {"--size 64K --chunk 32K", XB_DAMAGE_NONE, 0, 64 * KIB},
        {"--size 64K --chunk 32K", XB_DAMAGE_NONE, 64 * KIB - 1, 64 * KIB},
        {"--size 64K --chunk 64K", XB_DAMAGE_NOTHING_COPIED, 0, 0},
        {"--size 64K --chunk 64K", XB_DAMAGE_NONE, 0, 4 * KIB},
        /* Of three chunks in two slots the second one is alone in its own. */
        {"--size 96K --chunk 32K", XB_DAMAGE_NONE, 32 * KIB, 64 * KIB},
        /* The third is shorter than the first, whose end it leaves as it is. */
        {"--size 160K --chunk 64K", XB_DAMAGE_NONE, 48 * KIB, 64 * KIB},
        /* Each slot has two, one over the other. */
        {"--size 128K --chunk 32K", XB_DAMAGE_NONE, 64 * KIB, 65 * KIB},
        {"--size 128K --chunk 32K", XB_DAMAGE_NOTHING_COPIED, 0, 0},
        /* Digests that are not made, and those that are not brought back, while all data is right.
         */
        {"--size 128K --chunk 32K", XB_DAMAGE_NONE, 0, 0},
        {"--size 128K --chunk 32K", XB_DAMAGE_NONE, 0, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture f;
        begin_wrong(rows[i].damage, rows[i].from, rows[i].until);
        if (i + 2 == COUNT_OF(rows))
            altered_backend.queue_digest = no_digest;
        if (i + 1 == COUNT_OF(rows))
            altered_backend.queue_copy = no_copy_back;
        plan_line(&f, PIPELINE " %s --samples=4%s", rows[i].words,
                  i + 2 < COUNT_OF(rows) ? " --kernel-time none" : "");
        go(&f, &going_wrong);
        atomic_store(&wrong.is_now, false);
        expect_unverified(&f, 6);
        finish(&f);
    }
}

/* What a stopped iteration left is not all, so the one before is looked at, and only that. */
RUN_TEST(stopped_within_an_iteration)
{
    static const struct {
        const char *order;
        uint64_t until; /* of what is left out */
        enum xb_result_status status;
    } rows[] = {
        {"--order=overlapped", 0, XB_RESULT_OK},
        {"--order=serial", 0, XB_RESULT_OK},
        {"--order=overlapped", 4096, XB_RESULT_ERROR},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture f;
        begin_wrong(XB_DAMAGE_NONE, 0, rows[i].until);
        turns.late_after = 3;
        plan_line(&f,
                  "--mode pipeline --readers 1 %s --size 128K,192K --chunk 32K --samples=1000 "
                  "--time-limit 100s",
                  rows[i].order);
        f.run.deadline = xb_clock_now() + 1000;
        go(&f, &going_wrong);
        atomic_store(&wrong.is_now, false);
        const struct xb_result *result = &f.run.results[0];
        expect_status(result, rows[i].status);
        assert_int_equal(result->stop_reason, XB_STOP_DEADLINE);
        assert_int_equal(result->times.count, 3);
        assert_int_equal(result->row.verified,
                         rows[i].status == XB_RESULT_OK ? XB_VERIFIED_TRUE : XB_VERIFIED_FALSE);
        assert_true(atomic_load(&turns.reads) < turns.late_at + 2); /* of the four */
        expect_reason(&f.run.results[1], XB_RESULT_SKIPPED, "the deadline came before it began");
        assert_false(f.run.deadline_met);
        finish(&f);
    }
}

/* ---- what the runner makes of a mode whose first stage is the host's ---- */

static struct xb_mode real;

static enum xb_status counted_setup(struct xb_mode_context *context, struct xb_error *error)
{
    turns.set_up++;
    atomic_store(&turns.sampling, false);
    return real.setup(context, error);
}

static void counted_teardown(struct xb_mode_context *context)
{
    turns.taken_down++;
    real.teardown(context);
}

static enum xb_status counted_restore(struct xb_mode_context *context, struct xb_error *error)
{
    turns.parts += !xb_line_is_whole(context);
    return real.restore(context, error);
}

static enum xb_status noted_prepare(struct xb_mode_context *context, struct xb_error *error)
{
    atomic_store(&turns.sampling, true);
    return real.prepare(context, error);
}

#define CHUNKS 8

/* Plans two cases, of which the first has so many chunks, and has calls of the mode counted. There
 * is no room to load all of the data, which would be timed too. */
static void plan_turns(struct fixture *f)
{
    begin_wrong(XB_DAMAGE_NONE, 0, 0);
    xb_fake.device_memory_free = 120 << 10;
    plan_line(f, "--mode=pipeline --readers=1 --order=overlapped --kernel-time=none "
                 "--size=64K,128K --chunk=8K");
    struct xb_mode *mode = replace_mode(f);
    real = *mode;
    mode->setup = counted_setup;
    mode->teardown = counted_teardown;
    mode->restore = counted_restore;
    mode->prepare = noted_prepare;
}

RUN_TEST(a_row_has_parts_as_references)
{
    struct fixture f;
    size_t parts = 0;
    plan_turns(&f);
    go(&f, NULL);
    expect_all(&f, XB_RESULT_OK);
    for (size_t i = 0; i < f.run.case_count; i++) {
        const struct xb_result *result = &f.run.results[i];
        assert_int_equal(result->times.count, 2);
        assert_true(figure_of(result, "serial_time")->samples.count >= 2);
        for (size_t k = 0; k < XB_PIPELINE_STAGES; k++) {
            size_t samples = figure_of(result, xb_pipeline_rates[k].name)->samples.count;
            assert_true(samples >= 2);
            parts += samples;
        }
    }
    assert_int_equal(turns.parts, parts);
    assert_int_equal(atomic_load(&turns.reads) % CHUNKS, 0);
    assert_int_equal(turns.taken_down, 2);
    finish(&f);
}

/* In which turn it happens, of those in samples or of all. */
RUN_TEST(a_turn_that_fails_or_is_too_late_ends_the_case)
{
    static const struct {
        bool is_late, in_samples;
        unsigned at;
    } rows[] = {{true, false, 5},  {true, false, CHUNKS + 5},  {true, false, 2 * CHUNKS + 5},
                {true, true, 5},   {false, false, 1},          {false, false, 5},
                {false, false, 8}, {false, false, CHUNKS + 1}, {false, true, 1},
                {false, true, 13}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture f;
        plan_turns(&f);
        turns.in_samples = rows[i].in_samples;
        *(rows[i].is_late ? &turns.late_at : &turns.fails_at) = rows[i].at;
        f.run.deadline = xb_clock_now() + 1000;
        go(&f, NULL);
        if (rows[i].is_late) {
            expect_reason(&f.run.results[0], XB_RESULT_SKIPPED,
                          "the deadline came before its first sample");
            assert_int_equal(f.run.results[0].row.verified, XB_VERIFIED_UNKNOWN);
        } else {
            expect_reason(&f.run.results[0], XB_RESULT_ERROR, "cannot be read");
            expect_status(&f.run.results[1], XB_RESULT_OK);
            assert_int_equal(turns.taken_down, 2);
        }
        assert_int_equal(f.run.deadline_met, !rows[i].is_late);
        finish(&f);
    }
}

/* Also of those that open the line: what is there of it is closed. */
RUN_TEST(each_call_that_fails_is_an_error_row)
{
    for (unsigned n = 1; n > 0; n = next_failing(n, 1 + n / 8)) {
        struct fixture f;
        size_t errors = 0;
        plan_turns(&f);
        fail_call(n);
        go(&f, NULL);
        for (size_t i = 0; i < f.run.case_count; i++)
            errors += f.run.results[i].row.status == XB_RESULT_ERROR ||
                      warns(&f.run.results[i], "the timeline could not be recorded");
        assert_int_equal(errors > 0, xb_fake.failures > 0);
        assert_int_equal(turns.set_up, turns.taken_down);
        finish(&f);
    }
}

/* Every chunk has a time of its own, and where the device has room for all of the data, its kernels
 * alone are timed over that. */
RUN_TEST(chunks_and_epochs_are_timed)
{
    for (int has_room = 0; has_room < 2; has_room++) {
        struct fixture f;
        begin_modes(1);
        xb_fake.device_memory_free = has_room ? UINT64_C(4) << 20 : UINT64_C(1) << 20;
        run_line(&f, "--mode pipeline --readers 2 --buffers 2 --order overlapped,serial --size 1M "
                     "--chunk 64K");
        expect_all(&f, XB_RESULT_OK);
        for (size_t i = 0; i < 2; i++) {
            const struct xb_result *result = &f.run.results[i];
            const struct xb_result_figure *loaded = figure_of(result, "loaded_epoch_time");
            const struct xb_result_figure *batch = figure_of(result, "batch_time");
            assert_int_equal(batch->samples.count, 16);
            for (size_t k = 0; k < 16; k++)
                assert_true(batch->samples.values[k] > 0);
            assert_int_equal(loaded != NULL && loaded->samples.count > 0, has_room && i == 0);
        }
        finish(&f);
    }
}

/* ---- tables ---- */

/* Of chunks, and of batches, which are of any length: the longest need not come first. */
TEST(which_bytes_of_a_slot_only_one_item_writes)
{
    static uint64_t chunks[] = {1000, 1000, 1000, 1000, 500};
    static uint64_t batches[] = {80, 400, 240, 160, 800, 8};
    const struct xb_source sources[] = {{.item_bytes = chunks, .items = COUNT_OF(chunks)},
                                        {.item_bytes = batches, .items = COUNT_OF(batches)}};
    static const struct {
        unsigned source, slots, slot;
        uint64_t from, until;
    } rows[] = {
        {0, 1, 0, 1000, 1000}, {0, 2, 0, 1000, 1000}, {0, 3, 0, 1000, 1000},
        {0, 3, 1, 500, 1000},                                          /* items 1 and 4, the last */
        {0, 3, 2, 0, 1000},    {0, 8, 4, 0, 500},     {0, 8, 5, 0, 0}, /* nobody's */
        {1, 1, 0, 400, 800},   {1, 2, 0, 240, 800},   {1, 2, 1, 160, 400},
        {1, 4, 0, 80, 800},    {1, 4, 3, 0, 160},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct xb_source_own own =
            xb_source_own(&sources[rows[i].source], rows[i].slots, rows[i].slot);
        assert_int_equal(own.from, rows[i].from);
        assert_int_equal(own.until, rows[i].until);
    }
}

TEST(the_share_in_the_page_cache_has_a_word)
{
    assert_string_equal(xb_page_cache_word(NAN), "unknown");
    assert_string_equal(xb_page_cache_word(0.001), "cold");
    assert_string_equal(xb_page_cache_word(0.0011), "partly warm");
    assert_string_equal(xb_page_cache_word(0.9989), "partly warm");
    assert_string_equal(xb_page_cache_word(0.999), "warm");
}

/* A comparison that gates on a share must not call a busier device a regression. */
TEST(to_be_busy_is_better)
{
    for (size_t i = 0; i < XB_PIPELINE_STAGES; i++) {
        assert_true(xb_pipeline_busy[i].more_is_better);
        assert_false(xb_pipeline_wait[i].more_is_better);
    }
}
