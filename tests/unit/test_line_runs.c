/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* A mode with a stage of the host, from the command line to the row: what the runner makes of it.
 */

#include "testing.h"

#include "backends/verify.h"
#include "base/clock.h"
#include "measure/engine/stage.h"
#include "measure/result.h"
#include "modes/proof.h"
#include "modes_fixture.h"
#include "xferbench/workspace.h"

/* ---- the mode: threads write the pattern to slots, which are sent ---- */

#define ITEMS 8
#define SLOTS 3
#define PIECES 2
#define NEVER (~0u)

struct state {
    struct xb_buffer *slots, *target;
    bool has_prepared;
};

static struct {
    atomic_uint items;          /* that were begun */
    bool in_samples;            /* only what is begun in samples counts */
    unsigned fails_at, late_at; /* the so-manyth of these, counted from 1; it happens once */
    atomic_uint set_up, taken_down;
    unsigned parts; /* how often restore came before a part of the line */
} seen;

static uint64_t item_bytes(const struct xb_mode_context *context)
{
    return context->test->bytes / ITEMS;
}

static enum xb_status write_piece(struct xb_mode_context *context, const struct xb_turn *turn,
                                  struct xb_error *error)
{
    const struct state *state = context->state;
    uint64_t bytes = item_bytes(context) / PIECES;
    uint64_t offset = turn->piece * bytes;
    char *slot = (char *)state->slots->host_address + turn->slot * item_bytes(context);
    if (turn->piece == 0 && (state->has_prepared || !seen.in_samples)) {
        unsigned item = atomic_fetch_add(&seen.items, 1) + 1;
        if (item == seen.late_at)
            atomic_fetch_add(&clock_ahead_ns, 2000000000000);
        if (item == seen.fails_at) {
            seen.fails_at = NEVER;
            return XB_FAIL(error, XB_ERR_SYSTEM, "there is nothing to write");
        }
    }
    uint64_t begin = turn->item * item_bytes(context) + offset;
    xb_host_fill(slot + offset, begin, bytes,
                 state->has_prepared ? xb_proof_after(context->test->seed)
                                     : xb_proof_before(context->test->seed));
    return XB_OK;
}

static enum xb_status send(struct xb_mode_context *context, const struct xb_turn *turn,
                           struct xb_error *error)
{
    const struct state *state = context->state;
    uint64_t bytes = item_bytes(context);
    return context->device->backend->queue_copy(turn->queue, state->target, turn->item * bytes,
                                                state->slots, turn->slot * bytes, bytes, error);
}

static const struct xb_stage stages[] = {
    {.name = "write", .engine = XB_ENGINE_HOST, .run = write_piece},
    {.name = "send", .engine = XB_ENGINE_COPY, .run = send},
    {.name = NULL},
};

static const struct xb_figure write_time = {
    .name = "write_time", .unit = XB_UNIT_SECONDS, .help = "The slots written"};
static const struct xb_figure send_time = {
    .name = "send_time", .unit = XB_UNIT_SECONDS, .help = "The slots sent"};
static const struct xb_figure row_time = {
    .name = "row_time", .unit = XB_UNIT_SECONDS, .help = "One slot after the other"};
static const struct xb_figure *const figures[] = {&write_time, &send_time, &row_time, NULL};

static const struct xb_line_part writing = {.stages = 1u << 0};
static const struct xb_line_part sending = {.stages = 1u << 1};
static const struct xb_line_part in_a_row = {.in_a_row = true};
static const struct xb_reference references[] = {
    {.figure = &write_time, .part = &writing},
    {.figure = &send_time, .part = &sending, .clock = XB_CLOCK_OF_DEVICE},
    {.figure = &row_time, .part = &in_a_row},
    {.figure = NULL},
};

static struct xb_needs needs(const struct xb_case *test)
{
    return (struct xb_needs){.host_bytes = test->bytes, .device_bytes = test->bytes};
}

static enum xb_status setup(struct xb_mode_context *context, struct xb_error *error)
{
    struct state *state = context->state;
    const struct xb_line_plan plan = {
        .items = ITEMS, .slots = SLOTS, .threads = 2, .pieces = PIECES, .frees = 1};
    atomic_fetch_add(&seen.set_up, 1);
    context->queue_count = SLOTS;
    context->operations_per_iteration = 2 * (uint64_t)ITEMS;
    context->host_timed = context->host_waits = true;
    XB_TRY(xb_workspace_fixed_buffer(context->workspace, 0, XB_MEMORY_PINNED,
                                     SLOTS * item_bytes(context), &state->slots, error));
    XB_TRY(xb_workspace_buffer(context->workspace, 0, XB_MEMORY_DEVICE, context->test->bytes,
                               &state->target, error));
    XB_TRY(xb_workspace_queues(context->workspace, SLOTS, &context->queues, error));
    return xb_line_open(context, &plan, error);
}

static enum xb_status restore(struct xb_mode_context *context, struct xb_error *error)
{
    (void)error;
    seen.parts += !xb_line_is_whole(context);
    return XB_OK;
}

static enum xb_status prepare(struct xb_mode_context *context, struct xb_error *error)
{
    struct state *state = context->state;
    (void)error;
    state->has_prepared = true;
    return XB_OK;
}

static enum xb_status verify(struct xb_mode_context *context, struct xb_result *result,
                             struct xb_error *error)
{
    const struct state *state = context->state;
    struct xb_mismatch all = {0};
    struct xb_mismatch none = {0};
    XB_TRY(context->device->backend->queue_check(context->queues[0], state->target,
                                                 context->test->bytes,
                                                 xb_proof_after(context->test->seed), &all, error));
    xb_proof_conclude(result, &all, &none);
    return XB_OK;
}

/* After it the line is still there, and nothing of it is under way. */
static void teardown(struct xb_mode_context *context)
{
    (void)context;
    atomic_fetch_add(&seen.taken_down, 1);
}

/* tests/CMakeLists.txt adds it to this program's list. */
extern const struct xb_mode xb_mode_line_of_two;
const struct xb_mode xb_mode_line_of_two = {
    .name = "line-of-two",
    .summary = "for tests",
    .description = "For tests.",
    .variant = "only",
    .directions = XB_H2D,
    .by_default = XB_H2D,
    .state_bytes = sizeof(struct state),
    .figures = figures,
    .needs = needs,
    .setup = setup,
    .stages = stages,
    .references = references,
    .restore = restore,
    .prepare = prepare,
    .submit = xb_line_submit,
    .verify = verify,
    .teardown = teardown,
};

#define TWO_SIZES "--mode", "line-of-two", "--size", "64K,128K"

static int set_up(void **state)
{
    modes_setup(state);
    memset(&seen, 0, sizeof seen);
    seen.fails_at = seen.late_at = NEVER;
    return 0;
}

#define LINE_TEST(name) cmocka_unit_test_setup(name, set_up)

/* ---- */

static void test_a_row_with_parts_as_references(NO_STATE)
{
    struct xb_error error;
    struct fixture f;
    if (xb_modes_check(xb_modes, &error) != XB_OK)
        fail_msg("%s", error.message);
    RUN(&f, TWO_SIZES);
    expect_all(&f, XB_RESULT_OK);
    size_t parts = 0;
    for (size_t i = 0; i < f.run.case_count; i++) {
        const struct xb_result *result = &f.run.results[i];
        assert_int_equal(result->times.count, 2);
        parts += figure_of(result, "write_time")->samples.count +
                 figure_of(result, "send_time")->samples.count;
        assert_true(figure_of(result, "write_time")->samples.count >= 2);
        assert_true(figure_of(result, "row_time")->samples.count >= 2);
        /* All on one queue, which is the first: no thread was waited for. */
        double an_item = (double)result->test.bytes / ITEMS * XB_FAKE_SECONDS_PER_BYTE;
        expect_samples(result, "send_time", ITEMS * (xb_fake.operation_s + an_item));
    }
    assert_int_equal(seen.parts, parts);
    assert_int_equal(atomic_load(&seen.items) % ITEMS, 0);
    assert_int_equal(atomic_load(&seen.taken_down), 2);
    finish(&f);
}

/* Notes that the third sample is there: the fifth item of the next is late. */
static void make_late(void *argument, const struct xb_run *run, size_t samples, double bandwidth)
{
    hurry(argument, run, samples, bandwidth);
    if (samples == 3)
        seen.late_at = atomic_load(&seen.items) + 5;
}

static void test_a_deadline_within_an_iteration_keeps_the_samples(NO_STATE)
{
    struct fixture f;
    const struct xb_run_observer observer = {.progress = make_late};
    PLAN(&f, TWO_SIZES, "--samples=1000", "--time-limit=100s");
    f.run.deadline = xb_clock_now() + 1000;
    go(&f, &observer);
    const struct xb_result *result = &f.run.results[0];
    expect_status(result, XB_RESULT_OK);
    assert_int_equal(result->times.count, 3);
    assert_int_equal(result->stop_reason, XB_STOP_DEADLINE);
    assert_true(atomic_load(&seen.items) < seen.late_at + ITEMS - 5);
    expect_reason(&f.run.results[1], XB_RESULT_SKIPPED, "the deadline came before it began");
    assert_false(f.run.deadline_met);
    finish(&f);
}

/* In which turn something happens: of those in samples, or of all. */
struct when {
    bool in_samples;
    unsigned at;
};

/* Plans a run in which it happens then; `turn` is what of `seen` says so. */
static void plan_when(struct fixture *f, const struct when *when, unsigned *turn)
{
    set_up(NULL);
    seen.in_samples = when->in_samples;
    *turn = when->at;
    PLAN(f, TWO_SIZES);
}

static void test_a_deadline_within_an_iteration_before_the_first_sample(NO_STATE)
{
    static const struct when rows[] = {
        {false, 5}, {false, ITEMS + 5}, {false, 2 * ITEMS + 5}, {true, 5}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture f;
        plan_when(&f, &rows[i], &seen.late_at);
        f.run.deadline = xb_clock_now() + 1000;
        go(&f, NULL);
        expect_reason(&f.run.results[0], XB_RESULT_SKIPPED,
                      "the deadline came before its first sample");
        assert_int_equal(f.run.results[0].row.verified, XB_VERIFIED_UNKNOWN);
        assert_false(f.run.deadline_met);
        finish(&f);
    }
}

static void test_a_failing_turn_is_an_error_row(NO_STATE)
{
    static const struct when rows[] = {{false, 1},         {false, 5}, {false, ITEMS},
                                       {false, ITEMS + 1}, {true, 1},  {true, 13}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture f;
        plan_when(&f, &rows[i], &seen.fails_at);
        go(&f, NULL);
        expect_reason(&f.run.results[0], XB_RESULT_ERROR, "there is nothing to write");
        expect_status(&f.run.results[1], XB_RESULT_OK);
        assert_int_equal(atomic_load(&seen.taken_down), 2);
        finish(&f);
    }
}

/* Also of those that open the line: what is there of it is closed. */
static void test_each_call_failing_is_an_error_row(NO_STATE)
{
    bool failed = true;
    for (unsigned at = 1; failed; at += 1 + at / 8) {
        struct fixture f;
        set_up(NULL);
        PLAN(&f, TWO_SIZES);
        xb_fake.fail_at = xb_fake.calls + at;
        go(&f, NULL);
        failed = xb_fake.failures > 0;
        size_t errors = 0;
        for (size_t i = 0; i < f.run.case_count; i++)
            errors += f.run.results[i].row.status == XB_RESULT_ERROR;
        assert_true(failed ? errors > 0 : errors == 0);
        assert_int_equal(atomic_load(&seen.set_up), atomic_load(&seen.taken_down));
        finish(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LINE_TEST(test_a_row_with_parts_as_references),
        LINE_TEST(test_a_deadline_within_an_iteration_keeps_the_samples),
        LINE_TEST(test_a_deadline_within_an_iteration_before_the_first_sample),
        LINE_TEST(test_a_failing_turn_is_an_error_row),
        LINE_TEST(test_each_call_failing_is_an_error_row),
    };
    return cmocka_run_group_tests_name("line_runs", tests, NULL, NULL);
}
