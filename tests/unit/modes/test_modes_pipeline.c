/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* From disk to device: what does not arrive is found, and what the figures are made of. */

#include "testing.h"

#include "base/clock.h"
#include "modes/pipeline.h"
#include "modes_fixture.h"
#include "sanitized.h"

#include <errno.h>
#include <sys/uio.h>

#define PIPELINE                                                                                   \
    "--mode", "pipeline", "--readers", "2", "--buffers", "2", "--io", "cached,gds", "--order",     \
        "overlapped,serial,serial-pageable,overlapped-pageable"

static void expect_unverified(const struct fixture *f, enum xb_damage damage)
{
    size_t seen = 0;
    for (size_t i = 0; i < f->run.case_count; i++) {
        const struct xb_result *result = &f->run.results[i];
        if (result->row.status == XB_RESULT_SKIPPED)
            continue;
        if (result->row.status != XB_RESULT_ERROR || result->row.verified != XB_VERIFIED_FALSE)
            fail_msg("damage %d: %s %s passed: %s", (int)damage, result->test.variant,
                     result->test.settings[0].word, result->reason);
        assert_non_null(strstr(result->reason, "arrived wrong or were not computed on"));
        seen++;
    }
    assert_true(seen == 6); /* gds has no pageable memory */
}

/* Nor what processes read wrong. */
MODES_TEST(test_processes_are_verified)
{
    for (int i = 0; i < 2; i++) {
        struct fixture f;
        reset_fake();
        xb_fake.damage = i == 0 ? XB_DAMAGE_NONE : XB_DAMAGE_BIT_FLIPPED;
        RUN(&f, "--mode", "pipeline", "--readers", "2", "--read-by", "processes", "--order",
            "overlapped,serial,overlapped-pageable", "--io", "cached,gds", "--size", "320K",
            "--chunk", "192K");
        size_t seen = 0;
        for (size_t k = 0; k < f.run.case_count; k++) {
            const struct xb_result *result = &f.run.results[k];
            if (result->row.status == XB_RESULT_SKIPPED)
                continue;
            seen++;
            assert_int_equal(result->row.status, i == 0 ? XB_RESULT_OK : XB_RESULT_ERROR);
            assert_string_equal(detail(result, "read_by"), "preadv, by processes");
            assert_null(figure_of(result, "cpu_time"));
        }
        assert_int_equal(seen, 2); /* no other order can be */
        finish(&f);
    }
}

MODES_TEST(test_what_does_not_arrive_never_verifies)
{
    for (int damage = XB_DAMAGE_BIT_FLIPPED; damage <= XB_DAMAGE_PIECE_MISPLACED; damage++) {
        struct fixture f;
        /* It reads from the next chunk's slot: a race of the damage's own making. */
        if (HAS_THREAD_SANITIZER && damage == XB_DAMAGE_SHIFTED_2MIB)
            continue;
        reset_fake();
        xb_fake.damage = (enum xb_damage)damage;
        /* What comes from 2 MiB further on must have so much behind it in its slots. */
        if (damage == XB_DAMAGE_SHIFTED_2MIB)
            RUN(&f, PIPELINE, "--size", "5M", "--chunk", "3M");
        else
            RUN(&f, PIPELINE, "--size", "320K", "--chunk", "192K");
        expect_unverified(&f, (enum xb_damage)damage);
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

/* From sample RIGHT_SAMPLES on: this damage, or reads that leave these bytes of the file out. */
static struct {
    enum xb_damage damage;
    uint64_t from, until;
} later;

static atomic_bool leaves_out;

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

/* A part of what a read was asked for, as it was before. */
struct left_out {
    uint64_t at, bytes;
    char *content;
};

static struct left_out keep(const void *memory, uint64_t bytes, uint64_t offset)
{
    uint64_t from = offset > later.from ? offset : later.from;
    uint64_t until = offset + bytes < later.until ? offset + bytes : later.until;
    struct left_out kept = {0};
    if (!atomic_load(&leaves_out) || from >= until)
        return kept;
    kept = (struct left_out){
        .at = from - offset, .bytes = until - from, .content = malloc(until - from)};
    if (kept.content == NULL)
        abort();
    memcpy(kept.content, (const char *)memory + kept.at, kept.bytes);
    return kept;
}

static void put_back(void *memory, const struct left_out *kept)
{
    if (kept->content != NULL)
        memcpy((char *)memory + kept->at, kept->content, kept->bytes);
    free(kept->content);
}

ssize_t __wrap_preadv(int descriptor, const struct iovec *parts, int count, off_t offset)
{
    struct left_out kept = keep(parts[0].iov_base, parts[0].iov_len, (uint64_t)offset);
    bool fails = !take_turn();
    ssize_t got = fails ? -1 : __real_preadv(descriptor, parts, count, offset);
    if (fails)
        errno = EIO;
    put_back(parts[0].iov_base, &kept);
    return got;
}

ssize_t __wrap_pread(int descriptor, void *memory, size_t bytes, off_t offset)
{
    struct left_out kept = keep(memory, bytes, (uint64_t)offset);
    ssize_t got = __real_pread(descriptor, memory, bytes, offset);
    put_back(memory, &kept);
    return got;
}

static void go_wrong(void *argument, const struct xb_run *run, size_t samples, double bandwidth)
{
    bool is_wrong = samples >= RIGHT_SAMPLES;
    hurry(argument, run, samples, bandwidth);
    xb_fake.damage = is_wrong ? later.damage : XB_DAMAGE_NONE;
    atomic_store(&leaves_out, is_wrong && later.until > 0);
    if (turns.late_after > 0 && samples == turns.late_after)
        turns.late_at = atomic_load(&turns.reads) + 2;
}

/* All that is in slots and results is of a right iteration then, and without a kernel that changes
 * it what lies in a slot stays right: it must not pass for what was to come. */
MODES_TEST(test_what_earlier_iterations_left_does_not_verify)
{
    static const struct {
        const char *size, *chunk;
        enum xb_damage damage;
        uint64_t from, until;
    } rows[] = {
        /* As many slots as chunks, or more: each chunk lies where it lay before. */
        {"64K", "32K", XB_DAMAGE_NOTHING_COPIED, 0, 0},
        {"64K", "32K", XB_DAMAGE_NONE, 0, 64 << 10},
        {"64K", "32K", XB_DAMAGE_NONE, (64 << 10) - 1, 64 << 10},
        {"64K", "64K", XB_DAMAGE_NOTHING_COPIED, 0, 0},
        {"64K", "64K", XB_DAMAGE_NONE, 0, 4096},
        /* Of three chunks in two slots the second one is alone in its own. */
        {"96K", "32K", XB_DAMAGE_NONE, 32 << 10, 64 << 10},
        /* The third is shorter than the first, whose end it leaves as it is. */
        {"160K", "64K", XB_DAMAGE_NONE, 48 << 10, 64 << 10},
        /* Each slot has two, one over the other. */
        {"128K", "32K", XB_DAMAGE_NONE, 64 << 10, 65 << 10},
        {"128K", "32K", XB_DAMAGE_NOTHING_COPIED, 0, 0},
    };
    const struct xb_run_observer observer = {.progress = go_wrong};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture f;
        reset_fake();
        later.damage = rows[i].damage;
        later.from = rows[i].from;
        later.until = rows[i].until;
        execute(&f,
                WORDS(PIPELINE, "--kernel-time", "none", "--size", rows[i].size, "--chunk",
                      rows[i].chunk, "--samples", "4"),
                &observer);
        atomic_store(&leaves_out, false);
        expect_unverified(&f, rows[i].damage);
        finish(&f);
    }
}

static enum xb_status no_digest(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t offset,
                                uint64_t bytes, struct xb_buffer *target, uint64_t target_offset,
                                struct xb_error *error)
{
    if (atomic_load(&leaves_out))
        return XB_OK;
    return xb_fake_backend.queue_digest(queue, buffer, offset, bytes, target, target_offset, error);
}

static enum xb_status no_copy_back(struct xb_queue *queue, struct xb_buffer *target,
                                   uint64_t target_offset, struct xb_buffer *source,
                                   uint64_t source_offset, uint64_t bytes, struct xb_error *error)
{
    if (atomic_load(&leaves_out) && target->memory != XB_MEMORY_DEVICE)
        return XB_OK;
    return xb_fake_backend.queue_copy(queue, target, target_offset, source, source_offset, bytes,
                                      error);
}

/* Digests that are not made, and those that are not brought back, while all data is right. */
MODES_TEST(test_results_of_earlier_iterations_do_not_verify)
{
    const struct xb_run_observer observer = {.progress = go_wrong};
    later.damage = XB_DAMAGE_NONE;
    later.from = later.until = UINT64_MAX; /* of the file nothing is left out */
    for (int i = 0; i < 2; i++) {
        struct fixture f;
        struct xb_backend *variant = vary_fake();
        if (i == 0)
            variant->queue_digest = no_digest;
        else
            variant->queue_copy = no_copy_back;
        execute(&f, WORDS(PIPELINE, "--size", "128K", "--chunk", "32K", "--samples", "4"),
                &observer);
        atomic_store(&leaves_out, false);
        expect_unverified(&f, XB_DAMAGE_NONE);
        finish(&f);
    }
}

/* What a stopped iteration left is not all, so the one before is looked at, and only that. */
MODES_TEST(test_stopped_within_an_iteration)
{
    static const struct {
        const char *order;
        uint64_t until; /* of what is left out */
        enum xb_result_status status;
    } rows[] = {
        {"overlapped", 0, XB_RESULT_OK},
        {"serial", 0, XB_RESULT_OK},
        {"overlapped", 4096, XB_RESULT_ERROR},
    };
    const struct xb_run_observer observer = {.progress = go_wrong};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture f;
        later.damage = XB_DAMAGE_NONE;
        later.from = 0;
        later.until = rows[i].until;
        memset(&turns, 0, sizeof turns);
        turns.late_after = 3;
        PLAN(&f, "--mode", "pipeline", "--readers", "1", "--order", rows[i].order, "--size",
             "128K,192K", "--chunk", "32K", "--samples=1000", "--time-limit=100s");
        f.run.deadline = xb_clock_now() + 1000;
        go(&f, &observer);
        atomic_store(&leaves_out, false);
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

static const struct xb_mode *real;

static enum xb_status counted_setup(struct xb_mode_context *context, struct xb_error *error)
{
    turns.set_up++;
    atomic_store(&turns.sampling, false);
    return real->setup(context, error);
}

static void counted_teardown(struct xb_mode_context *context)
{
    turns.taken_down++;
    real->teardown(context);
}

static enum xb_status counted_restore(struct xb_mode_context *context, struct xb_error *error)
{
    turns.parts += !xb_line_is_whole(context);
    return real->restore(context, error);
}

static enum xb_status noted_prepare(struct xb_mode_context *context, struct xb_error *error)
{
    atomic_store(&turns.sampling, true);
    return real->prepare(context, error);
}

#define CHUNKS 8

/* Plans two cases, of which the first has so many chunks, and has calls of the mode counted. There
 * is no room to load all of the data, which would be timed too. */
static void plan_turns(struct fixture *f)
{
    static struct xb_mode counted;
    memset(&turns, 0, sizeof turns);
    reset_fake();
    xb_fake.device_memory_free = 120 << 10;
    PLAN(f, "--mode", "pipeline", "--readers", "1", "--order", "overlapped", "--kernel-time",
         "none", "--size", "64K,128K", "--chunk", "8K");
    real = f->run.results[0].test.mode;
    counted = *real;
    counted.setup = counted_setup;
    counted.teardown = counted_teardown;
    counted.restore = counted_restore;
    counted.prepare = noted_prepare;
    for (size_t i = 0; i < f->run.case_count; i++)
        f->run.results[i].test.mode = &counted;
}

MODES_TEST(test_a_row_with_parts_as_references)
{
    struct fixture f;
    plan_turns(&f);
    go(&f, NULL);
    expect_all(&f, XB_RESULT_OK);
    size_t parts = 0;
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

/* In which turn something happens: of those in samples, or of all. */
struct when {
    bool in_samples;
    unsigned at;
};

MODES_TEST(test_a_deadline_within_an_iteration_before_the_first_sample)
{
    static const struct when rows[] = {
        {false, 5}, {false, CHUNKS + 5}, {false, 2 * CHUNKS + 5}, {true, 5}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture f;
        plan_turns(&f);
        turns.in_samples = rows[i].in_samples;
        turns.late_at = rows[i].at;
        f.run.deadline = xb_clock_now() + 1000;
        go(&f, NULL);
        expect_reason(&f.run.results[0], XB_RESULT_SKIPPED,
                      "the deadline came before its first sample");
        assert_int_equal(f.run.results[0].row.verified, XB_VERIFIED_UNKNOWN);
        assert_false(f.run.deadline_met);
        finish(&f);
    }
}

MODES_TEST(test_a_failing_turn_is_an_error_row)
{
    static const struct when rows[] = {{false, 1},          {false, 5}, {false, CHUNKS},
                                       {false, CHUNKS + 1}, {true, 1},  {true, 13}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture f;
        plan_turns(&f);
        turns.in_samples = rows[i].in_samples;
        turns.fails_at = rows[i].at;
        go(&f, NULL);
        expect_reason(&f.run.results[0], XB_RESULT_ERROR, "cannot be read");
        expect_status(&f.run.results[1], XB_RESULT_OK);
        assert_int_equal(turns.taken_down, 2);
        finish(&f);
    }
}

/* Also of those that open the line: what is there of it is closed. */
MODES_TEST(test_each_call_failing_is_an_error_row)
{
    bool failed = true;
    for (unsigned at = 1; failed; at += 1 + at / 8) {
        struct fixture f;
        plan_turns(&f);
        xb_fake.fail_at = xb_fake.calls + at;
        go(&f, NULL);
        failed = xb_fake.failures > 0;
        size_t errors = 0;
        for (size_t i = 0; i < f.run.case_count; i++)
            errors += f.run.results[i].row.status == XB_RESULT_ERROR ||
                      warns(&f.run.results[i], "the timeline could not be recorded");
        assert_true(failed ? errors > 0 : errors == 0);
        assert_int_equal(turns.set_up, turns.taken_down);
        finish(&f);
    }
}

/* ---- which bytes of a slot only one item writes ---- */

static void expect_own(const struct xb_source *source, unsigned slots, unsigned slot, uint64_t from,
                       uint64_t until)
{
    struct xb_source_own own = xb_source_own(source, slots, slot);
    assert_int_equal(own.from, from);
    assert_int_equal(own.until, until);
}

TEST(test_own_bytes_of_chunks)
{
    uint64_t bytes[] = {1000, 1000, 1000, 1000, 500};
    const struct xb_source source = {.item_bytes = bytes, .items = COUNT_OF(bytes)};
    expect_own(&source, 1, 0, 1000, 1000);
    expect_own(&source, 2, 0, 1000, 1000);
    expect_own(&source, 3, 0, 1000, 1000);
    expect_own(&source, 3, 1, 500, 1000); /* items 1 and 4, the last */
    expect_own(&source, 3, 2, 0, 1000);
    expect_own(&source, 8, 4, 0, 500);
    expect_own(&source, 8, 5, 0, 0); /* nobody's */
}

/* Batches are of any length, and the longest need not come first. */
TEST(test_own_bytes_of_batches)
{
    uint64_t bytes[] = {80, 400, 240, 160, 800, 8};
    const struct xb_source source = {.item_bytes = bytes, .items = COUNT_OF(bytes)};
    expect_own(&source, 1, 0, 400, 800);
    expect_own(&source, 2, 0, 240, 800);
    expect_own(&source, 2, 1, 160, 400);
    expect_own(&source, 4, 0, 80, 800);
    expect_own(&source, 4, 3, 0, 160);
}

/* Every chunk has a time of its own, and where the device has room for all of the data, its kernels
 * alone are timed over that. */
MODES_TEST(test_chunks_and_epochs_are_timed)
{
    for (int has_room = 0; has_room < 2; has_room++) {
        struct fixture f;
        reset_fake();
        xb_fake.device_memory_free = has_room ? UINT64_C(4) << 20 : UINT64_C(1) << 20;
        RUN(&f, "--mode", "pipeline", "--readers", "2", "--buffers", "2", "--order",
            "overlapped,serial", "--size", "1M", "--chunk", "64K");
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

/* A comparison that gates on a share must not call a busier device a regression. */
TEST(test_to_be_busy_is_better)
{
    for (size_t i = 0; i < XB_PIPELINE_STAGES; i++) {
        assert_true(xb_pipeline_busy[i].more_is_better);
        assert_false(xb_pipeline_wait[i].more_is_better);
    }
}
