/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Every mode: whatever call fails, the row says so and the run goes on. */

#include "every_mode.h"
#include "sanitized.h"

/* From one call that fails to the next: with a sanitizer, which makes each run several times as
 * long, fewer; for races between the threads fewer still are enough. */
#define STRIDE(at) (HAS_THREAD_SANITIZER ? 24 + (at) : IS_SANITIZED ? 12 + (at) / 2 : 2 + (at) / 4)
#define LATER_STRIDE(at)                                                                           \
    (HAS_THREAD_SANITIZER ? 24 + 4 * (at) : IS_SANITIZED ? 12 + (at) : 2 + (at) / 2)

/* Ways to run each mode; two sizes, so that another case follows the one that is struck. */
static const char *const struck[] = {
    "--mode pageable --threads 2",
    "--mode pinned --direction h2d,bidir",
    "--mode async --chunk 32K --streams 3",
    "--mode double-buffer --chunk 32K",
    "--mode double-buffer --chunk 32K --kernel-time 1us",
    "--mode zero-copy --passes 2 --direction h2d,bidir",
    "--mode managed --managed fault,prefetch,advise",
    "--mode peer --pairs 0:1 --peer-path direct-read,direct-write",
    "--mode peer --pairs 0:1 --peer-path staged",
    "--mode peer --pairs 0:1 --by kernel",
    "--mode local --by engine,kernel",
    "--mode pinned --simultaneous --direction d2h --device 0,1",
    "--mode async --simultaneous --direction bidir --device 0,1",
    "--mode peer --pairs 0:1,0:2 --simultaneous --peer-path direct-read",
    "--mode batch --batch each,call,graph",
    "--mode batch --batch packed,kernel",
    "--mode batch --batch pitched --layout rows",
    "--mode resident --steps 3",
    "--mode job --job-out 32K --chunk 32K",
    "--mode quantize --to int8 --encode-chunk 32K --threads 2",
    "--mode compress --codec for --encode-chunk 32K --threads 2",
    "--mode pin --pin-by used,copy --direction h2d",
    "--mode pageable,managed --latency",
    "--mode peer --pairs 0:1 --latency",
    "--mode loads",
    "--mode peer-loads --pairs 0:1",
};

static bool is_struck(const struct xb_result *result)
{
    return result->row.status == XB_RESULT_ERROR && result->error.native_code == 999;
}

/* Rows that run together are one case, which the row of their sum counts for. */
static bool counts(const struct xb_result *result)
{
    return !result->test.simultaneous || result->test.sum;
}

/* A failure strikes one case and those of a device that did not open; the others go on. */
static void check_struck(const struct fixture *f)
{
    size_t cases = 0;
    bool device_lost = false;
    bool advised = false;
    for (size_t i = 0; i < f->run.case_count; i++) {
        const struct xb_result *result = &f->run.results[i];
        advised = advised || strcmp(result->test.variant, "advise") == 0;
        if (!is_struck(result)) {
            expect_status(result, XB_RESULT_OK);
            continue;
        }
        assert_non_null(strstr(result->reason, "fakeErrorInjected"));
        assert_int_equal(result->bandwidth.n, 0);
        assert_int_equal(result->row.verified, XB_VERIFIED_UNKNOWN);
        cases += counts(result);
        device_lost = device_lost || strcmp(result->error.call, "device_open") == 0;
    }
    if (device_lost)
        return;
    assert_true(cases <= xb_fake.failures);
    /* The one failure that spoils nothing: taking advice back. */
    if (!advised)
        assert_int_equal(cases, xb_fake.failures);
}

/* Modes of loads are of no small memory. */
static void start_struck(struct fixture *f, size_t way)
{
    bool is_of_loads = strstr(struck[way], "loads") != NULL;
    begin_modes(3);
    plan_line(f, "--size %s --samples=1 --time-limit 10ms %s", is_of_loads ? "3M,2M" : "96K,64K",
              struck[way]);
}

/* Counts from the run's beginning on: all of setup. */
RUN_TEST(test_each_call_failing_in_setup_gives_an_error_row)
{
    for (size_t way = 0; way < COUNT_OF(struck); way++)
        for (unsigned n = 1; n > 0 && n <= 120; n = next_failing(n, STRIDE(n))) {
            struct fixture f;
            start_struck(&f, way);
            fail_call(n);
            go(&f, NULL);
            check_struck(&f);
            finish(&f);
        }
}

/* The so-many-th call after a case's last warm-up sample fails, in every second case. */
struct later {
    size_t first; /* 0: in the run's first case, third, ...; 1: in the second, fourth, ... */
    unsigned n;
};

static void strike_later(void *argument, const struct xb_run *run, size_t samples, double bandwidth)
{
    const struct later *at = argument;
    size_t cases_before = 0;
    hurry(NULL, run, samples, bandwidth);
    for (size_t i = 0; i < run->done_count; i++)
        cases_before += counts(&run->results[i]);
    if (samples == 0 && cases_before % 2 == at->first)
        xb_fake.fail_at = xb_fake.calls + at->n; /* beside those before it */
}

/* Strikes ever later, more coarsely as a case repeats itself, until nothing is struck: each case
 * that is struck is followed by one that must go on, unless the failure comes so late that it
 * strikes that one. */
static void strike_every_second(size_t way, size_t first)
{
    for (struct later at = {.first = first, .n = 1}; at.n > 0;
         at.n = next_failing(at.n, LATER_STRIDE(at.n))) {
        struct fixture f;
        const struct xb_run_observer observer = {.progress = strike_later, .argument = &at};
        start_struck(&f, way);
        go(&f, &observer);
        check_struck(&f);
        finish(&f);
    }
}

/* Warm-up, references, samples, verification. */
RUN_TEST(test_each_call_failing_later_gives_an_error_row)
{
    for (size_t way = 0; way < COUNT_OF(struck); way++)
        for (size_t first = 0; first < 2; first++)
            strike_every_second(way, first);
}
