/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* One more iteration, recorded: what the threads of a stage did and the shares of the time that
 * follow, and what a failure of recording costs. What is recorded of each kind of case:
 * tests/unit/runs/timelines.txt. */

#include "measure/engine/crew.h"
#include "measure/engine/stage.h"
#include "measure/timeline/timeline.h"
#include "modes/transfer.h"
#include "run_fixture.h"
#include "sanitized.h"
#include "xferbench/workspace.h"

/* What does not fit is run, and counted. */
RUN_TEST(too_many_operations_are_left_out)
{
    struct fixture f;
    size_t copies = 0, calls = 0;
    if (IS_SANITIZED)
        skip(); /* 50000 operations */
    plan_line(&f, "--mode batch --batch each --direction h2d --piece 64 --layout contiguous --size "
                  "1049600 --samples=1 --time-limit 1ms");
    f.run.keeps_timelines = true;
    go(&f, NULL);
    const struct xb_timeline *timeline = f.run.results[0].timeline;
    for (size_t i = 0; i < timeline->span_count; i++) {
        copies += timeline->spans[i].kind == XB_SPAN_COPY;
        calls += timeline->spans[i].kind == XB_SPAN_CALL;
    }
    assert_int_equal(copies, 16384);
    assert_int_equal(calls, 16384);
    assert_int_equal(timeline->left_out, 1049600 / 64 - 16384);
    finish(&f);
}

/* ---- failures ---- */

/* The so-many-th call after the only sample fails. */
static void strike_later(void *argument, const struct xb_run *run, size_t samples, double bandwidth)
{
    const unsigned *n = argument;
    hurry(NULL, run, samples, bandwidth);
    if (samples == 1)
        fail_call(*n);
}

/* Only an operation of the iteration, or of what verifies it, is an error of the case. Two clocks
 * are looked at 20 times each, by three calls a look; each of four operations has five calls
 * besides. */
RUN_TEST(each_call_that_fails_costs_the_timeline_alone)
{
    unsigned warned = 0, least_warned = 2 * 20 * 3 + 4 * 5;
    for (unsigned n = 1; n > 0; n = next_failing(n, IS_SANITIZED ? 7 : 2)) {
        struct fixture f;
        const struct xb_run_observer observer = {.progress = strike_later, .argument = &n};
        reset_fake();
        xb_fake.operation_s = 250e-6;
        plan_line(&f,
                  "--mode async --direction h2d --chunk 64K --streams 2 --size 256K --samples=1");
        f.run.keeps_timelines = true;
        go(&f, &observer);
        const struct xb_result *result = &f.run.results[0];
        bool has_warned = warns(result, "the timeline could not be recorded: ");
        if (result->row.status == XB_RESULT_ERROR) {
            assert_int_equal(result->error.native_code, 999);
            assert_true(strncmp(result->error.call, "event_", 6) != 0);
        } else {
            expect_status(result, XB_RESULT_OK);
            assert_int_equal(result->times.count, 1);
            assert_int_equal(result->timeline != NULL, !has_warned);
            assert_true(xb_fake.failures > 0 || result->timeline != NULL);
            warned += has_warned;
        }
        finish(&f);
    }
    assert_true(warned >= least_warned / (IS_SANITIZED ? 8 : 3));
}

/* ---- a mode with stages ---- */

#define THREADS 4u

static const struct xb_figure busy_read = {.name = "busy_read", .unit = XB_UNIT_RATIO};
static const struct xb_figure wait_read = {.name = "wait_read", .unit = XB_UNIT_RATIO};
static const struct xb_figure busy_copy = {.name = "busy_copy", .unit = XB_UNIT_RATIO};
static const struct xb_figure wait_copy = {.name = "wait_copy", .unit = XB_UNIT_RATIO};
static const struct xb_figure item_time = {.name = "item_time", .unit = XB_UNIT_SECONDS};
static const struct xb_stage stages[] = {
    {.name = "read", .engine = XB_ENGINE_HOST, .busy = &busy_read, .wait = &wait_read},
    {.name = "copy",
     .engine = XB_ENGINE_COPY,
     .busy = &busy_copy,
     .wait = &wait_copy,
     .through = &item_time},
    {.name = NULL},
};

static unsigned first_thread; /* of those that read */
static unsigned workers;

/* The n-th thread that reads does so from n to n + 1 ms and from 10 to 11 ms. */
static void read_item(void *argument, uint64_t item, unsigned thread)
{
    const struct xb_mode_context *context = argument;
    struct xb_timeline_span span = {
        .kind = XB_SPAN_WORK, .stage = "read", .item = item, .bytes = 1, .name = "read"};
    (void)thread;
    span.begin = 1e-3 * (double)item;
    span.end = span.begin + 1e-3;
    xb_recorder_thread(context->recorder, first_thread + (unsigned)item, &span);
    span.begin = 10e-3;
    span.end = 11e-3;
    xb_recorder_thread(context->recorder, first_thread + (unsigned)item, &span);
}

/* The same copy twice, on one queue. */
static enum xb_status submit_stages(struct xb_mode_context *context, struct xb_error *error)
{
    struct xb_crew *crew;
    const struct xb_crew_job job = {.work = read_item, .argument = context, .count = THREADS};
    enum xb_status status = xb_workspace_crew(context->workspace, THREADS, &crew, error);
    if (status == XB_OK)
        status = xb_crew_run(crew, &job, error);
    xb_recorder_workers(context->recorder, workers);
    for (uint64_t i = 0; status == XB_OK && i < 2; i++) {
        xb_recorder_stage(context->recorder, "copy", i);
        status = xb_transfer_submit(context, error);
    }
    xb_recorder_stage(context->recorder, NULL, 0);
    return status;
}

static enum xb_status setup_stages(struct xb_mode_context *context, struct xb_error *error)
{
    return xb_transfer_setup(context, 1, error);
}

/* Copies to the device with those stages. */
static void run_stages(struct fixture *f, const struct xb_mode *own, const char *size, bool keeps)
{
    static struct xb_mode mode;
    PLAN(f, "--mode", "pinned", "--direction", "h2d", "--size", size);
    f->run.keeps_timelines = keeps;
    mode = (struct xb_mode){.name = "stages-test",
                            .variant = "only",
                            .directions = XB_H2D,
                            .state_bytes = sizeof(struct xb_transfer),
                            .buffers = xb_transfer_buffers,
                            .prepare = xb_transfer_prepare,
                            .verify = xb_transfer_verify,
                            .stages = own->stages,
                            .figures = own->figures,
                            .setup = own->setup,
                            .submit = own->submit};
    f->run.results[0].test.mode = &mode;
    go(f, NULL);
    expect_all(f, XB_RESULT_OK);
}

static const struct xb_mode with_stages = {
    .figures = (const struct xb_figure *const[]){&busy_read, &wait_read, &busy_copy, &wait_copy,
                                                 &item_time, NULL},
    .stages = stages,
    .setup = setup_stages,
    .submit = submit_stages,
};

static void expect_milliseconds(const struct xb_result *result, const char *name, double expected)
{
    double found = figure_of(result, name)->computed * detail_number(result, "recorded_time") * 1e3;
    if (!(fabs(found - expected) < 1e-6))
        fail_msg("%s is of %.9g ms, not %.9g", name, found, expected);
}

/* The figures of stages have it recorded, asked or not. A thread that found nothing to do counts,
 * whatever its number. */
RUN_TEST(stages_have_shares_of_the_time)
{
    static const unsigned rows[][2] = {{0, THREADS}, {1, THREADS}, {1, 32}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture f;
        reset_fake();
        xb_fake.operation_s = 250e-6;
        first_thread = rows[i][0];
        workers = rows[i][1];
        run_stages(&f, &with_stages, "1M", false);
        const struct xb_result *result = &f.run.results[0];
        double copy = CHUNK_S + xb_fake.operation_s;
        assert_null(result->timeline);
        expect_milliseconds(result, "busy_read", 2.0 * THREADS / workers);
        expect_milliseconds(result, "wait_read", (9.0 + 8.0 + 7.0 + 6.0) / workers);
        expect_milliseconds(result, "busy_copy", 2e3 * copy);
        expect_milliseconds(result, "wait_copy", 0);
        /* The second of two items is read 1 ms after the first, and copied right behind it. */
        const struct xb_samples *items = &figure_of(result, "item_time")->samples;
        assert_int_equal(items->count, 2);
        assert_true(fabs(items->values[1] - items->values[0] - copy + 1e-3) < 1e-9);
        finish(&f);
    }
    first_thread = 0;
}

/* To start four threads takes longer than to copy 64 bytes in virtual time. */
RUN_TEST(a_recorded_iteration_that_took_longer_is_told)
{
    struct fixture f;
    char expected[64];
    run_stages(&f, &with_stages, "64", false);
    const struct xb_result *result = &f.run.results[0];
    double times = detail_number(result, "recorded_by_median");
    expect_near(times,
                detail_number(result, "recorded_time") * result->bandwidth.median /
                    (double)result->bytes_moved,
                "recorded_by_median");
    snprintf(expected, sizeof expected, "took %.2f times as long as the samples", times);
    assert_true(warns(result, expected));
    finish(&f);
}

RUN_TEST(spans_have_stages_and_items)
{
    struct fixture f;
    size_t items[2] = {0, 0}, threads = 0;
    run_stages(&f, &with_stages, "1M", true);
    const struct xb_timeline *timeline = f.run.results[0].timeline;
    for (size_t i = 0; i < timeline->track_count; i++)
        threads += timeline->tracks[i].kind == XB_TRACK_THREAD;
    assert_int_equal(threads, THREADS);
    for (size_t i = 0; i < timeline->span_count; i++) {
        const struct xb_timeline_span *span = &timeline->spans[i];
        if (span->kind == XB_SPAN_COPY || span->kind == XB_SPAN_CALL) {
            assert_string_equal(span->stage, "copy");
            assert_true(span->item < 2);
            items[span->item]++;
        }
        if (span->kind == XB_SPAN_WORK)
            assert_int_equal(timeline->tracks[span->track].number, span->item);
    }
    assert_int_equal(items[0], 2);
    assert_int_equal(items[1], 2);
    xb_recorder_stage(NULL, "copy", 0);
    xb_recorder_thread(NULL, 0, &timeline->spans[0]);
    finish(&f);
}

/* ---- a line ---- */

#define ITEMS 4u

static enum xb_status read_nothing(struct xb_mode_context *context, const struct xb_turn *turn,
                                   struct xb_error *error)
{
    (void)context;
    (void)turn;
    (void)error;
    return XB_OK;
}

static uint64_t bytes_of_turn(const struct xb_mode_context *context, const struct xb_turn *turn)
{
    (void)context;
    return 1000 + turn->item;
}

/* To submit takes a millisecond. Before it has, no thread of the host has a slot. */
static enum xb_status send_late(struct xb_mode_context *context, const struct xb_turn *turn,
                                struct xb_error *error)
{
    (void)turn;
    atomic_fetch_add(&clock_ahead_ns, 1000000);
    return xb_transfer_submit(context, error);
}

static const struct xb_stage line_stages[] = {
    {.name = "read",
     .engine = XB_ENGINE_HOST,
     .run = read_nothing,
     .bytes = bytes_of_turn,
     .busy = &busy_read,
     .wait = &wait_read},
    {.name = "copy", .engine = XB_ENGINE_COPY, .run = send_late},
    {.name = NULL},
};

static unsigned line_threads;

static enum xb_status setup_line(struct xb_mode_context *context, struct xb_error *error)
{
    const struct xb_line_plan line = {.items = ITEMS,
                                      .slots = 1,
                                      .threads = line_threads,
                                      .pieces = 1,
                                      .frees = 1,
                                      .in_a_row = true};
    enum xb_status status = xb_transfer_setup(context, 1, error);
    context->hold = false; /* the line waits for what it enqueued */
    context->host_timed = context->host_waits = true;
    return status == XB_OK ? xb_line_open(context, &line, error) : status;
}

static const struct xb_mode with_line = {
    .figures = (const struct xb_figure *const[]){&busy_read, &wait_read, NULL},
    .stages = line_stages,
    .setup = setup_line,
    .submit = xb_line_submit,
};

/* Each turn but an item's first has a wait of its thread before it, which ends when it begins. */
static void check_waits(const struct xb_timeline *timeline)
{
    uint64_t items = 0;
    double submitted = 0;
    for (size_t i = 0; i < timeline->span_count; i++) {
        const struct xb_timeline_span *span = &timeline->spans[i], *next = span + 1;
        if (span->kind == XB_SPAN_WORK) {
            assert_int_equal(span->bytes, 1000 + span->item);
            items |= UINT64_C(1) << span->item;
            assert_true(span->item == 0 || (i > 0 && strcmp(span[-1].name, "wait: slot") == 0));
        }
        if (strcmp(span->name, "wait: slot") != 0)
            continue;
        assert_int_equal(span->kind, XB_SPAN_WAIT);
        assert_true(timeline->tracks[span->track].number > 0);
        assert_string_equal(span->stage, "read");
        assert_true(i + 1 < timeline->span_count);
        assert_int_equal(next->kind, XB_SPAN_WORK);
        assert_int_equal(next->item, span->item);
        assert_int_equal(next->track, span->track);
        assert_true(fabs(span->end - next->begin) < 1e-12);
        submitted += span->end - span->begin;
    }
    assert_int_equal(items, (1u << ITEMS) - 1);
    assert_true(submitted >= (ITEMS - 1) * 1e-3);
}

RUN_TEST(threads_wait_for_slots)
{
    for (line_threads = 1; line_threads <= 3; line_threads++) {
        struct fixture f;
        run_stages(&f, &with_line, "1M", true);
        const struct xb_timeline *timeline = f.run.results[0].timeline;
        assert_int_equal(timeline->workers, line_threads > 1 ? line_threads - 1 : 1);
        if (line_threads > 1)
            check_waits(timeline);
        for (size_t i = 0; i < timeline->span_count; i++)
            assert_true(line_threads > 1 || strcmp(timeline->spans[i].name, "wait: slot") != 0);
        finish(&f);
    }
}
