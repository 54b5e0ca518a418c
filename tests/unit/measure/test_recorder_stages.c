/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* One more iteration of a mode with stages, recorded: what the threads of the host did, and the
 * shares of the time that follow. A copy takes the fake device 1 ns a byte. */

#include "testing.h"

#include "measure/engine/crew.h"
#include "measure/engine/stage.h"
#include "measure/timeline/timeline.h"
#include "modes/transfer.h"
#include "timeline_fixture.h"
#include "xferbench/workspace.h"

/* What both modes of this test have in common: a copy to the device. */
#define OF_BOTH_MODES                                                                              \
    .summary = "for test_recorder_stages.c", .description = "For test_recorder_stages.c.",         \
    .directions = XB_H2D, .by_default = XB_H2D, .variant = "only", .only_named = true,             \
    .state_bytes = sizeof(struct xb_transfer), .buffers = xb_transfer_buffers,                     \
    .prepare = xb_transfer_prepare, .verify = xb_transfer_verify

/* ---- a mode with stages ---- */

static const struct xb_figure busy_read = {.name = "busy_read", .unit = XB_UNIT_RATIO, .help = "x"};
static const struct xb_figure wait_read = {.name = "wait_read", .unit = XB_UNIT_RATIO, .help = "x"};
static const struct xb_figure busy_copy = {.name = "busy_copy", .unit = XB_UNIT_RATIO, .help = "x"};
static const struct xb_figure wait_copy = {.name = "wait_copy", .unit = XB_UNIT_RATIO, .help = "x"};
static const struct xb_figure item_time = {
    .name = "item_time", .unit = XB_UNIT_SECONDS, .help = "x"};
static const struct xb_figure *const stage_figures[] = {&busy_read, &wait_read, &busy_copy,
                                                        &wait_copy, &item_time, NULL};
static const struct xb_stage stages[] = {
    {.name = "read", .engine = XB_ENGINE_HOST, .busy = &busy_read, .wait = &wait_read},
    {.name = "copy",
     .engine = XB_ENGINE_COPY,
     .busy = &busy_copy,
     .wait = &wait_copy,
     .through = &item_time},
    {.name = NULL},
};

#define MIB 1048576u
#define THREADS 4u

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

extern const struct xb_mode xb_mode_stages_test;
const struct xb_mode xb_mode_stages_test = {
    .name = "stages-test",
    OF_BOTH_MODES,
    .figures = stage_figures,
    .stages = stages,
    .setup = setup_stages,
    .submit = submit_stages,
};

static double computed(const struct xb_result *result, const char *name)
{
    const struct xb_result_figure *figure = figure_of(result, name);
    assert_non_null(figure);
    return figure->computed;
}

static void expect_milliseconds(const struct xb_result *result, const char *name, double expected)
{
    double found = computed(result, name) * detail_number(result, "recorded_time") * 1e3;
    if (!(fabs(found - expected) < 1e-6))
        fail_msg("%s is of %.9g ms, not %.9g", name, found, expected);
}

static void check_shares(unsigned first, unsigned all)
{
    struct fixture f;
    first_thread = first;
    workers = all;
    RUN(&f, "--mode", "stages-test", "--size", "1M");
    const struct xb_result *result = &f.run.results[0];
    expect_status(result, XB_RESULT_OK);
    assert_null(result->timeline);
    expect_milliseconds(result, "busy_read", 2.0 * THREADS / all);
    expect_milliseconds(result, "wait_read", (9.0 + 8.0 + 7.0 + 6.0) / all);
    expect_milliseconds(result, "busy_copy",
                        2e3 * (MIB * XB_FAKE_SECONDS_PER_BYTE + xb_fake.operation_s));
    expect_milliseconds(result, "wait_copy", 0);
    /* The second of two items is read 1 ms after the first, and copied right behind it. */
    const struct xb_samples *items = &figure_of(result, "item_time")->samples;
    assert_int_equal(items->count, 2);
    double copy = MIB * XB_FAKE_SECONDS_PER_BYTE + xb_fake.operation_s;
    assert_true(fabs(items->values[1] - items->values[0] - copy + 1e-3) < 1e-9);
    finish(&f);
    first_thread = 0;
}

/* The figures of stages have it recorded, asked or not. A thread that found nothing to do counts,
 * whatever its number. */
MODES_TEST(test_shares_of_stages)
{
    check_shares(0, THREADS);
    check_shares(1, THREADS);
    check_shares(1, 32);
}

/* To start four threads takes longer than to copy 64 bytes in virtual time. */
MODES_TEST(test_a_recorded_iteration_that_took_longer)
{
    struct fixture f;
    xb_fake.operation_s = 0;
    RUN(&f, "--mode", "stages-test", "--size", "64");
    const struct xb_result *result = &f.run.results[0];
    double times = detail_number(result, "recorded_by_median");
    expect_near(times,
                detail_number(result, "recorded_time") * result->bandwidth.median /
                    (double)result->bytes_moved,
                "recorded_by_median");
    char expected[64];
    snprintf(expected, sizeof expected, "took %.2f times as long as the samples", times);
    size_t found = 0;
    for (size_t i = 0; i < result->row.warning_count; i++)
        found += strstr(result->warnings[i], expected) != NULL;
    assert_int_equal(found, 1);
    finish(&f);
}

MODES_TEST(test_spans_of_stages)
{
    struct fixture f;
    RECORD(&f, "--mode", "stages-test", "--size", "1M");
    const struct xb_timeline *timeline = timeline_of(&f, 0);
    assert_int_equal(tracks_of(timeline, XB_TRACK_THREAD), THREADS);
    size_t items[2] = {0, 0};
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
    const struct xb_line_plan plan = {.items = ITEMS,
                                      .slots = 1,
                                      .threads = line_threads,
                                      .pieces = 1,
                                      .frees = 1,
                                      .in_a_row = true};
    enum xb_status status = xb_transfer_setup(context, 1, error);
    context->hold = false; /* the line waits for what it enqueued */
    context->host_timed = context->host_waits = true;
    return status == XB_OK ? xb_line_open(context, &plan, error) : status;
}

extern const struct xb_mode xb_mode_line_recorded_test;
const struct xb_mode xb_mode_line_recorded_test = {
    .name = "line-recorded-test",
    OF_BOTH_MODES,
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
        const struct xb_timeline_span *span = &timeline->spans[i];
        const struct xb_timeline_span *before = i > 0 ? &timeline->spans[i - 1] : NULL;
        if (span->kind == XB_SPAN_WAIT && strcmp(span->name, "wait: slot") == 0) {
            assert_true(timeline->tracks[span->track].number > 0);
            assert_string_equal(span->stage, "read");
            assert_true(i + 1 < timeline->span_count);
            assert_int_equal(timeline->spans[i + 1].kind, XB_SPAN_WORK);
            assert_int_equal(timeline->spans[i + 1].item, span->item);
            submitted += span->end - span->begin;
        }
        if (span->kind != XB_SPAN_WORK)
            continue;
        assert_int_equal(span->bytes, 1000 + span->item);
        items |= UINT64_C(1) << span->item;
        if (span->item == 0)
            continue;
        assert_non_null(before);
        assert_int_equal(before->track, span->track);
        assert_string_equal(before->name, "wait: slot");
        assert_true(fabs(before->end - span->begin) < 1e-12);
    }
    assert_int_equal(items, (1u << ITEMS) - 1);
    assert_true(submitted >= (ITEMS - 1) * 1e-3);
}

MODES_TEST(test_threads_wait_for_slots)
{
    for (line_threads = 1; line_threads <= 3; line_threads++) {
        struct fixture f;
        RECORD(&f, "--mode", "line-recorded-test", "--size", "1M");
        const struct xb_timeline *timeline = timeline_of(&f, 0);
        assert_int_equal(timeline->workers, line_threads > 1 ? line_threads - 1 : 1);
        if (line_threads > 1)
            check_waits(timeline);
        for (size_t i = 0; i < timeline->span_count; i++)
            assert_true(line_threads > 1 || strcmp(timeline->spans[i].name, "wait: slot") != 0);
        finish(&f);
    }
}
