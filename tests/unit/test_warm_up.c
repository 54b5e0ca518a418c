/* SPDX-License-Identifier: Apache-2.0 */
/* How long a case is warmed up: --warm-up, and a quarter of --time-limit. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run_fixture.h"

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
static void test_lasts_as_long_as_asked(void **state)
{
    (void)state;
    assert_true(warm_up_of("300ms", "10ms", "warm_up_s") >= 0.3);
    assert_true(warm_up_of("300ms", "10s", "warm_up_s") >= 0.3);
}

static void test_lasts_no_longer_than_asked(void **state)
{
    (void)state;
    assert_true(warm_up_of("1ms", "10ms", "warm_up_samples") <= 2);
}

/* A short least does not cut a warm-up that the time limit has room for. */
static void test_time_limit_gives_more(void **state)
{
    (void)state;
    assert_true(warm_up_of("1ms", "1000s", "warm_up_samples") >= 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_lasts_as_long_as_asked),
        TEST(test_lasts_no_longer_than_asked),
        TEST(test_time_limit_gives_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
