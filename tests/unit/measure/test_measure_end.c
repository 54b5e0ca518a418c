/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* How a run ends: at its deadline, by a signal. */
#include "base/clock.h"
#include "base/interrupt.h"

#include <signal.h>
#include <string.h>

#include "testing.h"

#include "measure_fixture.h"

#define THREE_SIZES "--mode", "pinned", "--direction", "h2d", "--size", "64K,128K,256K"

RUN_TEST(test_a_deadline_that_is_past_skips_everything)
{
    struct fixture f;
    xb_fake.device_count = 3; /* of two there would be no group of pairs */
    PLAN(&f, "--size", "64K", "--simultaneous");
    f.run.deadline = xb_clock_now();
    go(&f, NULL);
    for (size_t i = 0; i < f.run.case_count; i++)
        expect_reason(&f.run.results[i], XB_RESULT_SKIPPED, "the deadline came before it began");
    assert_false(f.run.deadline_met);
    assert_false(f.run.interrupted);
    assert_int_equal(xb_fake.calls, 0);
    finish(&f);
}

/* Puts the deadline here and now, after so many samples of the first case. */
struct cut {
    struct fixture *f;
    size_t samples;
};

static void cut(void *argument, const struct xb_run *run, size_t samples, double bandwidth)
{
    const struct cut *at = argument;
    hurry(NULL, run, samples, bandwidth);
    if (samples == at->samples && run->done_count == 0)
        at->f->run.deadline = xb_clock_now();
}

static void run_cut(struct fixture *f, const char *const *arguments, size_t samples)
{
    struct cut at = {.f = f, .samples = samples};
    const struct xb_run_observer observer = {.progress = cut, .argument = &at};
    plan(f, arguments);
    go(f, &observer);
    assert_false(f->run.interrupted);
}

RUN_TEST(test_a_deadline_keeps_the_samples_that_are_there)
{
    struct fixture f;
    run_cut(&f, WORDS(THREE_SIZES, "--samples=1000"), 3);
    const struct xb_result *first = &f.run.results[0];
    expect_seconds(first, 65536e-9);
    assert_int_equal(first->times.count, 3);
    assert_int_equal(first->row.verified, XB_VERIFIED_TRUE);
    assert_int_equal(first->stop_reason, XB_STOP_DEADLINE);
    assert_non_null(
        strstr(first->warnings[first->row.warning_count - 1], "the deadline came after 3 samples"));
    for (size_t i = 1; i < 3; i++)
        expect_reason(&f.run.results[i], XB_RESULT_SKIPPED, "the deadline came before it began");
    assert_false(f.run.deadline_met);
    finish(&f);
}

RUN_TEST(test_a_deadline_in_warm_up_leaves_nothing)
{
    struct fixture f;
    run_cut(&f, WORDS("--mode", "double-buffer", "--size", "64K"), 0);
    expect_reason(&f.run.results[0], XB_RESULT_SKIPPED,
                  "the deadline came before its first sample");
    assert_int_equal(f.run.results[0].row.verified, XB_VERIFIED_UNKNOWN);
    assert_false(f.run.deadline_met);
    finish(&f);
}

/* Simultaneous rows end together. */
RUN_TEST(test_a_deadline_cuts_all_devices)
{
    struct fixture f;
    struct cut at = {.f = &f, .samples = SIZE_MAX};
    const struct xb_run_observer observer = {.progress = cut, .argument = &at};
    xb_fake.device_count = 2;
    PLAN(&f, "--mode", "pinned", "--size", "64K", "--simultaneous", "--direction", "h2d");
    f.run.deadline = xb_clock_now() + 1e6;
    go(&f, &observer);
    expect_all(&f, XB_RESULT_OK);
    assert_true(f.run.deadline_met);
    for (size_t i = 0; i < f.run.case_count; i++)
        assert_int_equal(f.run.results[i].stop_reason, XB_STOP_FIXED);
    finish(&f);
}

/* It came, but everything was measured by then. */
RUN_TEST(test_a_deadline_that_cut_nothing_is_met)
{
    struct fixture f;
    run_cut(&f, WORDS("--mode", "pinned", "--direction", "h2d", "--size", "64K"), 2);
    expect_all(&f, XB_RESULT_OK);
    assert_int_equal(f.run.results[0].stop_reason, XB_STOP_FIXED);
    assert_true(f.run.deadline_met);
    finish(&f);
}

/* Last, because the signal stays noted. */
static void interrupt_at_third_sample(void *argument, const struct xb_run *run, size_t samples,
                                      double bandwidth)
{
    hurry(argument, run, samples, bandwidth);
    if (samples == 3)
        raise(SIGTERM);
}

RUN_TEST(test_interrupted_run_keeps_what_it_has)
{
    struct fixture f;
    const struct xb_run_observer observer = {.progress = interrupt_at_third_sample};
    xb_interrupt_catch();
    execute(&f, WORDS(THREE_SIZES, "--samples=1000"), &observer);
    const struct xb_result *first = &f.run.results[0];
    expect_status(first, XB_RESULT_OK);
    assert_int_equal(first->bandwidth.n, 3);
    assert_int_equal(first->stop_reason, XB_STOP_INTERRUPTED);
    assert_int_equal(first->row.verified, XB_VERIFIED_TRUE);
    assert_true(f.run.interrupted);
    assert_true(f.run.deadline_met); /* it was not the deadline */
    for (size_t i = 1; i < f.run.case_count; i++)
        expect_reason(&f.run.results[i], XB_RESULT_SKIPPED, "interrupted before it began");
    finish(&f);
}
