/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * Every mode, from options to results, over the fake backend: right copies verify, wrong ones never
 * do, and whatever call fails, the row says so and the run goes on.
 */
#include "../../src/cli/cli.h"
#include "../doubles/fake_backend.h"

#include "xferbench/interrupt.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A run over the fake backend with these arguments; `fixed` samples keep it short. */
struct fixture {
    struct xb_config config;
    struct xb_run run;
};

#define MAX_ARGUMENTS 24

static const char *const brief[] = {"--samples=2", "--time-limit", "10ms"};

static enum xb_status start(struct fixture *f, const char *const *arguments, struct xb_error *error)
{
    static char *argv[MAX_ARGUMENTS];
    static char storage[MAX_ARGUMENTS][64];
    int argc = 0;
    bool has_samples = false;
    snprintf(storage[argc++], sizeof storage[0], "run");
    for (size_t i = 0; arguments[i] != NULL; i++) {
        has_samples = has_samples || strcmp(arguments[i], "--samples") == 0;
        snprintf(storage[argc++], sizeof storage[0], "%s", arguments[i]);
    }
    for (size_t i = 0; !has_samples && i < 3; i++)
        snprintf(storage[argc++], sizeof storage[0], "%s", brief[i]);
    for (int i = 0; i < argc; i++)
        argv[i] = storage[i];
    argv[argc] = NULL;
    memset(f, 0, sizeof *f);
    enum xb_status status = xb_config_parse(xb_run_rows(), argc, argv, &f->config, error);
    if (status != XB_OK)
        return status;
    f->run.config = &f->config;
    f->run.backend = &xb_fake_backend;
    status = xb_fake_backend.driver_open(&f->run.driver, &f->run.probe, error);
    if (status == XB_OK)
        status = xb_plan(&f->run, error);
    return status;
}

static void finish(struct fixture *f)
{
    xb_run_free(&f->run);
    xb_config_free(&f->config);
}

static void execute(struct fixture *f, const char *const *arguments,
                    const struct xb_run_observer *observer)
{
    struct xb_error error = {0};
    if (start(f, arguments, &error) != XB_OK)
        fail_msg("%s", error.message);
    if (xb_run_execute(&f->run, observer, &error) != XB_OK)
        fail_msg("%s", error.message);
    assert_int_equal(f->run.done_count, f->run.case_count);
}

#define RUN(f, ...) execute((f), (const char *const[]){__VA_ARGS__, NULL}, NULL)

static int reset(void **state)
{
    (void)state;
    xb_fake_reset();
    return 0;
}

/* ---- right copies ---- */

static void test_every_mode_verifies(void **state)
{
    (void)state;
    struct fixture f;
    RUN(&f, "--size", "1,7,4095,64K,5000001", "--host-memory", "alloc,registered,write-combined",
        "--chunk", "1000003");
    /* pageable once, pinned and async in three variants; five sizes, two directions */
    assert_int_equal(f.run.case_count, (1 + 3 + 3) * 5 * 2);
    for (size_t i = 0; i < f.run.case_count; i++) {
        const struct xb_result *result = &f.run.results[i];
        if (result->status != XB_RESULT_OK)
            fail_msg("%s %s: %s", result->test.mode->name, result->test.variant, result->reason);
        assert_int_equal(result->verified, XB_VERIFIED_TRUE);
        assert_int_equal(result->bandwidth.n, 2);
        assert_true(result->bandwidth.median > 0);
        assert_int_equal(result->stop_reason, XB_STOP_FIXED);
        assert_true(result->submit_times.count > 0 && result->wall_times.count > 0);
    }
    finish(&f);
}

/* ---- clocks: the fake's virtual time is exact ---- */

static void expect_seconds(const struct xb_result *result, double seconds)
{
    assert_int_equal(result->status, XB_RESULT_OK);
    for (size_t i = 0; i < result->times.count; i++) {
        double off = result->times.values[i] / seconds - 1;
        if (off > 1e-9 || off < -1e-9)
            fail_msg("%s: %.12g s in place of %.12g", result->test.mode->name,
                     result->times.values[i], seconds);
    }
    double rate = (double)result->test.bytes / seconds;
    assert_true(result->bandwidth.median / rate > 1 - 1e-9);
    assert_true(result->bandwidth.median / rate < 1 + 1e-9);
}

static double number_detail(const struct xb_result *result, const char *key)
{
    for (size_t i = 0; i < result->detail_count; i++)
        if (strcmp(result->details[i].key, key) == 0)
            return result->details[i].number;
    return -1;
}

/* One iteration's time, however many make a sample, and without what the hold takes. */
static void test_time_is_that_of_one_iteration(void **state)
{
    (void)state;
    struct fixture f;
    RUN(&f, "--mode", "pinned,pageable", "--size", "64K,4M");
    for (size_t i = 0; i < f.run.case_count; i++) {
        const struct xb_result *result = &f.run.results[i];
        double seconds = (double)result->test.bytes * XB_FAKE_SECONDS_PER_BYTE;
        expect_seconds(result, seconds);
        /* 1 ms is the target: 15 of 65.5 us, one of 4.2 ms */
        assert_true(number_detail(result, "iterations_per_sample") ==
                    (result->test.bytes == 65536 ? 15 : 1));
    }
    assert_true(xb_fake.holds > 0);
    finish(&f);
}

/* Eight chunks over two queues, the second half as fast: it has the last word, from a common start.
 */
static void test_time_covers_every_queue(void **state)
{
    (void)state;
    struct fixture f;
    RUN(&f, "--mode", "async", "--size", "8M", "--chunk", "1M", "--streams", "2");
    for (size_t i = 0; i < f.run.case_count; i++)
        expect_seconds(&f.run.results[i], 4 * 1048576.0 * 2 * XB_FAKE_SECONDS_PER_BYTE);
    finish(&f);
}

static void test_batches_fit_behind_a_hold(void **state)
{
    (void)state;
    struct fixture f;
    RUN(&f, "--mode", "pinned,async", "--size", "16K", "--chunk", "4K", "--direction", "h2d");
    /* 61 copies of 16 KiB would make 1 ms; of 4 operations each, 16 iterations fit behind 64 */
    assert_true(number_detail(&f.run.results[0], "iterations_per_sample") == 61);
    assert_true(number_detail(&f.run.results[1], "iterations_per_sample") == 16);
    finish(&f);
}

static void test_the_variant_is_the_memory_copied(void **state)
{
    (void)state;
    const struct {
        const char *mode, *variant;
        enum xb_memory memory;
    } wanted[] = {{"pinned", "alloc", XB_MEMORY_PINNED},
                  {"pinned", "registered", XB_MEMORY_REGISTERED},
                  {"async", "write-combined", XB_MEMORY_WRITE_COMBINED}};
    struct fixture f;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        xb_fake_reset();
        RUN(&f, "--mode", wanted[i].mode, "--host-memory", wanted[i].variant, "--size", "64K");
        assert_int_equal(xb_fake.copied_memory, 1u << wanted[i].memory);
        finish(&f);
    }
    xb_fake_reset();
    RUN(&f, "--mode", "pinned,pageable", "--size", "64K"); /* one workspace, two kinds */
    assert_int_equal(xb_fake.copied_memory, 1u << XB_MEMORY_PINNED | 1u << XB_MEMORY_PAGEABLE);
    finish(&f);
}

/* ---- wrong copies ---- */

static void expect_unverified(const char *name, enum xb_fake_damage damage)
{
    struct fixture f;
    xb_fake_reset();
    xb_fake.damage = damage;
    RUN(&f, "--size", "5M,12K", "--host-memory", "alloc,write-combined", "--chunk", "3M");
    for (size_t i = 0; i < f.run.case_count; i++) {
        const struct xb_result *result = &f.run.results[i];
        if (damage == XB_FAKE_SHIFTED_2MIB && result->test.bytes < 2 << 20)
            continue; /* nothing lies 2 MiB further on */
        if (result->status != XB_RESULT_ERROR || result->verified != XB_VERIFIED_FALSE)
            fail_msg("%s: %s %s %s of %llu bytes passed", name, result->test.mode->name,
                     result->test.variant, xb_direction_name(result->test.direction),
                     (unsigned long long)result->test.bytes);
        assert_non_null(strstr(result->reason, "bytes are wrong after the copy"));
    }
    finish(&f);
}

static void test_wrong_copies_never_verify(void **state)
{
    (void)state;
    expect_unverified("one bit flipped", XB_FAKE_BIT_FLIPPED);
    expect_unverified("two blocks swapped", XB_FAKE_BLOCKS_SWAPPED);
    expect_unverified("shifted by 2 MiB", XB_FAKE_SHIFTED_2MIB);
    expect_unverified("last byte lost", XB_FAKE_LAST_BYTE_LOST);
    expect_unverified("nothing copied", XB_FAKE_NOTHING_COPIED);
}

/* Right all through warm-up, nothing from the first timed sample on. */
static void stop_copying_when_warm(void *argument, const struct xb_run *run, size_t samples,
                                   double bandwidth)
{
    (void)argument;
    (void)run;
    (void)bandwidth;
    /* The last warm-up sample tells; the host clock's repetitions and the samples come after it. */
    if (samples == 0)
        xb_fake.damage = XB_FAKE_NOTHING_COPIED;
}

static void test_warm_up_does_not_stand_in_for_the_samples(void **state)
{
    (void)state;
    const char *const arguments[] = {"--size", "64K", NULL};
    const struct xb_run_observer observer = {.progress = stop_copying_when_warm};
    struct fixture f;
    execute(&f, arguments, &observer);
    for (size_t i = 0; i < f.run.case_count; i++)
        assert_int_equal(f.run.results[i].verified, XB_VERIFIED_FALSE);
    finish(&f);
}

/* With a check that sees nothing the windows are what is left; the last byte lies in one. */
static void test_windows_see_what_a_blind_check_does_not(void **state)
{
    (void)state;
    struct fixture f;
    xb_fake.check_is_blind = true;
    xb_fake.damage = XB_FAKE_LAST_BYTE_LOST;
    RUN(&f, "--mode", "pinned,pageable", "--size", "1M", "--direction", "h2d");
    for (size_t i = 0; i < f.run.case_count; i++) {
        assert_int_equal(f.run.results[i].verified, XB_VERIFIED_FALSE);
        assert_non_null(strstr(f.run.results[i].reason, "the check itself is broken"));
    }
    finish(&f);
}

/* ---- what a device cannot do ---- */

static void test_missing_capability_skips(void **state)
{
    (void)state;
    struct fixture f;
    xb_fake.capabilities = XB_CAP_HOLD;
    RUN(&f, "--mode", "pinned", "--size", "64K", "--host-memory",
        "alloc,registered,write-combined");
    for (size_t i = 0; i < f.run.case_count; i++) {
        const struct xb_result *result = &f.run.results[i];
        bool possible = strcmp(result->test.variant, "alloc") == 0;
        assert_int_equal(result->status, possible ? XB_RESULT_OK : XB_RESULT_SKIPPED);
        assert_int_equal(result->verified, possible ? XB_VERIFIED_TRUE : XB_VERIFIED_UNKNOWN);
        assert_true((result->reason[0] == '\0') == possible);
    }
    finish(&f);
}

static const char *detail(const struct xb_result *result, const char *key)
{
    for (size_t i = 0; i < result->detail_count; i++)
        if (strcmp(result->details[i].key, key) == 0)
            return result->details[i].text;
    return "";
}

static void test_hold_only_where_it_may(void **state)
{
    (void)state;
    struct fixture f;
    RUN(&f, "--size", "64K", "--direction", "h2d");
    for (size_t i = 0; i < f.run.case_count; i++) {
        bool pageable = strcmp(f.run.results[i].test.mode->name, "pageable") == 0;
        assert_string_equal(detail(&f.run.results[i], "held"), pageable ? "no" : "yes");
    }
    finish(&f);

    /* 128 operations do not fit behind a hold of 64: not held, and said. */
    RUN(&f, "--mode", "async", "--size", "128K", "--chunk", "1K", "--direction", "h2d");
    assert_string_equal(detail(&f.run.results[0], "held"), "no");
    assert_non_null(strstr(f.run.results[0].warnings[0], "128 operations do not fit"));
    finish(&f);

    xb_fake.capabilities = 0;
    RUN(&f, "--mode", "pinned", "--size", "64K", "--direction", "h2d");
    assert_string_equal(detail(&f.run.results[0], "held"), "no");
    assert_int_equal(f.run.results[0].status, XB_RESULT_OK);
    finish(&f);
}

static void test_too_little_device_memory_is_an_error_row(void **state)
{
    (void)state;
    struct fixture f;
    xb_fake.device_memory_free = 1 << 20;
    RUN(&f, "--mode", "pinned", "--size", "64K,2M", "--direction", "h2d");
    assert_int_equal(f.run.results[0].status, XB_RESULT_OK);
    assert_int_equal(f.run.results[1].status, XB_RESULT_ERROR);
    assert_int_equal(f.run.results[1].error.status, XB_ERR_MEMORY);
    finish(&f);
}

/* ---- calls that fail ---- */

/* Fails one call after the other until a run gets through untouched: no crash, no leak (ASan). */
static void test_each_call_failing_gives_an_error_row(void **state)
{
    (void)state;
    const char *const modes[][7] = {{"--mode", "pageable", NULL},
                                    {"--mode", "pinned", "--host-memory", "registered", NULL},
                                    {"--mode", "async", "--chunk", "32K", "--streams", "3", NULL}};
    for (size_t m = 0; m < sizeof modes / sizeof modes[0]; m++) {
        unsigned total = 0;
        for (unsigned at = 1; total == 0; at += at < 100 ? 1 : at / 10) {
            struct fixture f;
            const char *arguments[16] = {"--size", "96K", "--direction", "d2h"};
            memcpy(&arguments[4], modes[m], sizeof modes[m]);
            xb_fake_reset();
            xb_fake.fail_at = at;
            execute(&f, arguments, NULL);
            const struct xb_result *result = &f.run.results[0];
            bool struck = xb_fake.calls >= at;
            assert_int_equal(result->status, struck ? XB_RESULT_ERROR : XB_RESULT_OK);
            if (struck) {
                assert_int_equal(result->error.native_code, 999);
                assert_non_null(strstr(result->reason, "fakeErrorInjected"));
                assert_int_equal(result->bandwidth.n, 0);
            } else {
                total = at;
            }
            finish(&f);
        }
    }
}

static void test_endless_enqueuing_is_refused(void **state)
{
    (void)state;
    struct fixture f;
    RUN(&f, "--mode", "async", "--size", "1000001,1000000", "--chunk", "1", "--direction", "h2d");
    assert_int_equal(f.run.results[0].status, XB_RESULT_ERROR);
    assert_non_null(strstr(f.run.results[0].reason, "larger --chunk"));
    assert_int_equal(f.run.results[1].status, XB_RESULT_OK);
    finish(&f);
}

static void test_a_failing_case_does_not_stop_the_others(void **state)
{
    (void)state;
    struct fixture f;
    xb_fake.fail_at = 6;
    RUN(&f, "--mode", "pinned", "--size", "64K,128K");
    size_t failed = 0;
    for (size_t i = 0; i < f.run.case_count; i++)
        failed += f.run.results[i].status == XB_RESULT_ERROR;
    assert_int_equal(failed, 1);
    finish(&f);
}

static void test_a_device_that_does_not_open_leaves_the_others(void **state)
{
    (void)state;
    struct fixture f;
    xb_fake.device_count = 3;
    xb_fake.fail_at = 1; /* the first device_open */
    RUN(&f, "--mode", "pinned", "--size", "64K", "--device", "all", "--direction", "h2d");
    assert_int_equal(f.run.case_count, 3);
    assert_int_equal(f.run.results[0].status, XB_RESULT_ERROR);
    assert_int_equal(f.run.results[1].status, XB_RESULT_OK);
    assert_int_equal(f.run.results[2].status, XB_RESULT_OK);
    finish(&f);
}

static void test_a_sick_device_leaves_the_others(void **state)
{
    (void)state;
    struct fixture f;
    xb_fake.device_count = 3;
    xb_fake.sick_device = 2;
    RUN(&f, "--mode", "pinned", "--size", "64K", "--device", "all", "--direction", "h2d");
    assert_int_equal(f.run.case_count, 3);
    assert_int_equal(f.run.results[0].status, XB_RESULT_OK);
    assert_int_equal(f.run.results[1].status, XB_RESULT_ERROR);
    assert_non_null(strstr(f.run.results[1].reason, "does not answer"));
    assert_int_equal(f.run.results[2].status, XB_RESULT_OK);
    finish(&f);
    RUN(&f, "--mode", "pinned", "--size", "64K", "--device", "0000:03:00.0"); /* behind it */
    assert_int_equal(f.run.results[0].status, XB_RESULT_OK);
    finish(&f);
}

/* ---- plan ---- */

static void expect_usage(const char *const *arguments, const char *part)
{
    struct fixture f;
    struct xb_error error = {0};
    assert_int_equal(start(&f, arguments, &error), XB_ERR_USAGE);
    if (strstr(error.message, part) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.message, part);
    finish(&f);
}

#define EXPECT_USAGE(part, ...) expect_usage((const char *const[]){__VA_ARGS__, NULL}, (part))

static void test_plan_refuses_what_cannot_be(void **state)
{
    (void)state;
    xb_fake.device_count = 2;
    EXPECT_USAGE("did you mean 'pinned'", "--mode", "pined");
    EXPECT_USAGE("0000:02:00.0", "--device", "2");
    EXPECT_USAGE("no device 'ff:00.0'", "--device", "ff:00.0");
    EXPECT_USAGE("named twice", "--device", "0,0000:01:00.0");
    EXPECT_USAGE("--chunk has no effect", "--mode", "pinned", "--chunk", "1M");
    EXPECT_USAGE("--host-memory has no effect", "--mode", "pageable", "--host-memory", "alloc");
    EXPECT_USAGE("can be had", "--size", "1000T");
}

static void test_devices_by_number_address_and_all(void **state)
{
    (void)state;
    struct fixture f;
    struct xb_error error;
    xb_fake.device_count = 3;
    assert_int_equal(
        start(&f, (const char *const[]){"--device", "2,0000:01:00.0,02:00.0", NULL}, &error),
        XB_OK);
    assert_int_equal(f.run.device_count, 3);
    assert_int_equal(f.run.devices[0].info.index, 2);
    assert_int_equal(f.run.devices[1].info.index, 0);
    assert_int_equal(f.run.devices[2].info.index, 1);
    finish(&f);
    assert_int_equal(start(&f, (const char *const[]){"--device", "all", NULL}, &error), XB_OK);
    assert_int_equal(f.run.device_count, 3);
    finish(&f);
}

/* ---- interruption: last, because the signal stays noted ---- */

static void interrupt_at_third_sample(void *argument, const struct xb_run *run, size_t samples,
                                      double bandwidth)
{
    (void)argument;
    (void)run;
    (void)bandwidth;
    if (samples == 3)
        raise(SIGTERM);
}

static void test_interrupted_run_keeps_what_it_has(void **state)
{
    (void)state;
    struct fixture f;
    const struct xb_run_observer observer = {.progress = interrupt_at_third_sample};
    const char *const arguments[] = {"--mode",    "pinned",  "--size", "64K,128K,256K",
                                     "--samples", "1000000", NULL};
    xb_interrupt_catch();
    execute(&f, arguments, &observer);
    assert_int_equal(f.run.results[0].bandwidth.n, 3);
    assert_true(f.run.interrupted);
    assert_int_equal(f.run.results[0].status, XB_RESULT_OK);
    assert_int_equal(f.run.results[0].stop_reason, XB_STOP_INTERRUPTED);
    assert_int_equal(f.run.results[0].verified, XB_VERIFIED_TRUE);
    for (size_t i = 1; i < f.run.case_count; i++) {
        assert_int_equal(f.run.results[i].status, XB_RESULT_SKIPPED);
        assert_non_null(strstr(f.run.results[i].reason, "interrupted"));
    }
    finish(&f);
}

#define TEST(name) cmocka_unit_test_setup(name, reset)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_every_mode_verifies),
        TEST(test_time_is_that_of_one_iteration),
        TEST(test_time_covers_every_queue),
        TEST(test_batches_fit_behind_a_hold),
        TEST(test_the_variant_is_the_memory_copied),
        TEST(test_wrong_copies_never_verify),
        TEST(test_warm_up_does_not_stand_in_for_the_samples),
        TEST(test_windows_see_what_a_blind_check_does_not),
        TEST(test_missing_capability_skips),
        TEST(test_hold_only_where_it_may),
        TEST(test_too_little_device_memory_is_an_error_row),
        TEST(test_each_call_failing_gives_an_error_row),
        TEST(test_endless_enqueuing_is_refused),
        TEST(test_a_failing_case_does_not_stop_the_others),
        TEST(test_a_device_that_does_not_open_leaves_the_others),
        TEST(test_a_sick_device_leaves_the_others),
        TEST(test_plan_refuses_what_cannot_be),
        TEST(test_devices_by_number_address_and_all),
        TEST(test_interrupted_run_keeps_what_it_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
