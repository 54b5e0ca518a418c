/* SPDX-License-Identifier: Apache-2.0 */
/* How long a case is warmed up: --warm-up, a quarter of --time-limit, how long the device rested;
 * and what the warm-up tells besides. */
#define _GNU_SOURCE

#include "testing.h"

#include "measure/sample/measure.h"
#include "measure/sample/sampler.h"
#include "measure_fixture.h"

static double warm_up_of(const char *warm_up, const char *time_limit, const char *figure)
{
    struct fixture f;
    RUN(&f, "--mode", "pinned", "--direction", "h2d", "--size", "64K", "--warm-up", warm_up,
        "--time-limit", time_limit);
    expect_all(&f, XB_RESULT_OK);
    double number = detail_number(&f.run.results[0], figure);
    finish(&f);
    return number;
}

/* Samples of the fake agree from the third on. Each puts the clock 20 ms forward once it is taken.
 */
RUN_TEST(test_lasts_as_long_as_asked)
{
    assert_true(warm_up_of("300ms", "10ms", "warm_up_s") >= 0.3);
    assert_true(warm_up_of("300ms", "10s", "warm_up_s") >= 0.3);
}

RUN_TEST(test_lasts_no_longer_than_asked)
{
    assert_true(warm_up_of("1ms", "10ms", "warm_up_samples") <= 2);
}

/* A short least does not cut a warm-up that the time limit has room for. */
RUN_TEST(test_time_limit_gives_more)
{
    assert_true(warm_up_of("1ms", "1000s", "warm_up_samples") >= 3);
}

/* ---- a device that has just been at work ---- */

/* Has the clock go on by a second after each case. */
static void rest(void *argument, const struct xb_run *run)
{
    (void)argument;
    (void)run;
    atomic_fetch_add(&clock_ahead_ns, 1000000000);
}

static double warm_up_s(const struct fixture *f, size_t row)
{
    return detail_number(&f->run.results[row], "warm_up_s");
}

static const struct xb_run_observer resting = {.progress = hurry, .finished = rest};

RUN_TEST(test_the_second_case_lasts_as_long_as_the_rest)
{
    struct fixture f;
    execute(&f,
            WORDS("--mode", "pinned", "--size", "64K", "--warm-up", "20s", "--time-limit", "100s"),
            &resting);
    expect_all(&f, XB_RESULT_OK);
    assert_int_equal(f.run.case_count, 2);
    assert_true(warm_up_s(&f, 0) >= 20);
    assert_true(warm_up_s(&f, 1) >= 1 && warm_up_s(&f, 1) < 20);
    finish(&f);
}

/* What another mode or another device did proves nothing of this one. */
RUN_TEST(test_other_work_does_not_count)
{
    struct fixture f;
    xb_fake.device_count = 2;
    RUN(&f, "--mode", "pinned,async", "--direction", "h2d", "--size", "64K", "--warm-up", "20s",
        "--time-limit", "100s", "--device", "0,1");
    expect_all(&f, XB_RESULT_OK);
    assert_int_equal(f.run.case_count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_true(warm_up_s(&f, i) >= 20);
    finish(&f);
}

/* Nor does what the same mode did in another way: each of two cases is warmed up in full. */
RUN_TEST(test_another_path_of_the_mode_does_not_count)
{
    static const char *const rows[][6] = {
        {"--mode", "pinned", "--direction", "h2d,bidir", "--host-memory", "registered"},
        {"--mode", "pinned", "--direction", "h2d", "--host-memory", "registered,alloc"},
        {"--mode", "loads", "--direction", "h2d,d2d", "--access", "sequential"},
        {"--mode", "loads", "--direction", "h2d", "--access", "sequential,random"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *const *words = rows[i];
        struct fixture f;
        xb_fake_reset();
        RUN(&f, words[0], words[1], words[2], words[3], words[4], words[5], "--size", "2M",
            "--samples", "2", "--warm-up", "1s", "--time-limit", "100s");
        expect_all(&f, XB_RESULT_OK);
        assert_int_equal(f.run.case_count, 2);
        assert_true(warm_up_s(&f, 0) >= 1 && warm_up_s(&f, 1) >= 1);
        finish(&f);
    }
}

/* Each pair is a path of its own. */
RUN_TEST(test_pairs_are_warmed_up_one_by_one)
{
    struct fixture f;
    xb_fake.device_count = 3;
    RUN(&f, "--mode", "peer", "--peer-path", "direct-write", "--direction", "d2d", "--size", "64K",
        "--warm-up", "5s", "--time-limit", "100s", "--pairs", "0:1,0:2");
    expect_all(&f, XB_RESULT_OK);
    assert_true(warm_up_s(&f, 0) >= 5 && warm_up_s(&f, 1) >= 5);
    finish(&f);
}

/* A pair's work is that of both its devices: what the destination did since counts. */
RUN_TEST(test_both_devices_of_a_pair_count)
{
    struct fixture f;
    xb_fake.device_count = 3;
    RUN(&f, "--mode", "peer", "--peer-path", "direct-write", "--direction", "d2d", "--size",
        "64K,128K", "--warm-up", "5s", "--time-limit", "100s", "--pairs", "0:1,2:1");
    expect_all(&f, XB_RESULT_OK);
    assert_int_equal(f.run.case_count, 4);
    assert_true(warm_up_s(&f, 0) >= 5 && warm_up_s(&f, 1) < 5);
    assert_true(warm_up_s(&f, 2) >= 5 && warm_up_s(&f, 3) < 5);
    finish(&f);
}

/* Every time is 30,000 times as long. */
static enum xb_status slow_elapsed(struct xb_event *start, struct xb_event *stop, double *seconds,
                                   struct xb_error *error)
{
    enum xb_status status = xb_fake_backend.event_elapsed(start, stop, seconds, error);
    *seconds *= 30000;
    return status;
}

/* The warm-up may last 20 s. A sample of 1 MiB takes 31 s, and one of 64 KiB 2. */
RUN_TEST(test_a_sample_that_is_longer_needs_none)
{
    static const char *const rows[][2] = {{"pageable", "1M,64K"}, {"pageable,pinned", "1M"}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        struct fixture f;
        alter(1, 1);
        altered_backend.event_elapsed = slow_elapsed;
        RUN(&f, "--mode", rows[r][0], "--staging", "driver", "--size", rows[r][1], "--warm-up",
            "20s", "--time-limit", "2s", "--samples", "2");
        expect_all(&f, XB_RESULT_OK);
        assert_int_equal(f.run.case_count, 4);
        for (size_t i = 0; i < 4; i++) {
            const struct xb_result *result = &f.run.results[i];
            bool is_long = result->test.bytes > 65536 && result->test.direction == XB_D2H;
            assert_int_equal(detail_number(result, "warm_up_samples") == 0, is_long);
            assert_int_equal(result->times.count, 2);
            assert_true(result->wall_times.count >= 2);
            expect_number(result, "iterations_per_sample", 1);
        }
        finish(&f);
    }
}

/* ---- one operation alone ---- */

/* 8 MiB take 8.4 ms and 16 MiB 16.8, so that the warm-up is not held and tells what the host's
 * clock says, three times. What takes less than 10 ms is repeated until it has an interval. */
RUN_TEST(test_long_samples_are_alone_in_the_warm_up)
{
    static const struct {
        const char *size;
        size_t alone;
    } rows[] = {{"8M", 6}, {"16M", 3}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture f;
        xb_fake_reset();
        RUN(&f, "--mode", "pinned", "--direction", "h2d", "--size", rows[i].size, "--samples", "2",
            "--time-limit", "1000s");
        const struct xb_result *result = &f.run.results[0];
        expect_status(result, XB_RESULT_OK);
        assert_string_equal(detail(result, "held"), "yes");
        assert_int_equal(xb_fake.holds, 2);
        assert_true(detail_number(result, "warm_up_samples") >= 3);
        assert_int_equal(result->submit_times.count, rows[i].alone);
        assert_int_equal(result->wall_times.count, rows[i].alone);
        finish(&f);
    }
}

/* Of 4 MiB a warm-up sample is held but for the first, and others tell of the host's clock: six,
 * and more of what takes no time (64 KiB: 31 us; 256 KiB: 0.26 ms, of which eight take 2 ms). The
 * same where the time is too short for a warm-up of three. */
RUN_TEST(test_other_samples_are_repeated_alone)
{
    static const struct {
        const char *size, *limit;
        size_t alone;
    } rows[] = {{"4M", "1000s", 6},
                {"8M", "10ms", 6},
                {"16M", "10ms", 3},
                {"64K", "1000s", 20},
                {"256K", "1000s", 8}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture f;
        xb_fake_reset();
        RUN(&f, "--mode", "pinned", "--direction", "h2d", "--size", rows[i].size, "--samples", "2",
            "--time-limit", rows[i].limit);
        const struct xb_result *result = &f.run.results[0];
        expect_status(result, XB_RESULT_OK);
        assert_int_equal(xb_fake.holds, 2 + (unsigned)detail_number(result, "warm_up_samples") - 1);
        assert_int_equal(result->wall_times.count, rows[i].alone);
        finish(&f);
    }
}
