/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* What is timed of several devices at the same time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "measure_fixture.h"

/*
 * Device 0's memory is given up while device 1 is measured alone, so at the same time its queue is
 * a second one and half as fast, and that of device 1 is the one it had.
 */
static void test_devices_at_the_same_time(void **state)
{
    (void)state;
    struct fixture f;
    xb_fake.device_count = 2;
    RUN(&f, "--mode", "pinned,peer", "--size", "4M", "--simultaneous", "--direction", "h2d,d2d");
    assert_int_equal(f.run.case_count, 2 + 3 + 3 * 2);
    const struct xb_result *rows = f.run.results;
    for (unsigned d = 0; d < 2; d++) {
        assert_int_equal(rows[d].test.device, d);
        assert_false(rows[d].test.simultaneous || rows[d].test.sum);
        assert_null(figure_of(&rows[d], "share_of_alone"));
        expect_seconds(&rows[d], 4 * CHUNK_S);
        assert_int_equal(rows[3 + d].test.device, d);
        assert_true(rows[3 + d].test.simultaneous && !rows[3 + d].test.sum);
    }
    assert_true(rows[2].test.simultaneous && rows[2].test.sum);
    assert_int_equal(rows[2].bytes_moved, 8 << 20);
    expect_seconds(&rows[2], 8 * CHUNK_S);
    expect_seconds(&rows[3], 8 * CHUNK_S);
    expect_seconds(&rows[4], 4 * CHUNK_S);
    expect_samples(&rows[2], "overlap", 0.5);
    assert_null(figure_of(&rows[3], "overlap"));
    assert_null(figure_of(&rows[4], "overlap"));
    expect_computed(&rows[3], "share_of_alone", 0.5);
    expect_computed(&rows[4], "share_of_alone", 1.0);
    assert_null(figure_of(&rows[2], "share_of_alone"));
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(rows[i].verified, XB_VERIFIED_TRUE);
    assert_true(rows[5].test.mode->pairs); /* and the modes that cannot go their own way */
    finish(&f);
}

/* Each device has a queue each way; device 0, whose memory was given up, has its third and fourth.
 */
static void test_both_ways_on_all_devices(void **state)
{
    (void)state;
    struct fixture f;
    xb_fake.device_count = 2;
    RUN(&f, "--mode", "pinned", "--size", "4M", "--simultaneous", "--direction", "bidir");
    assert_int_equal(f.run.case_count, 2 + 3);
    const struct xb_result *rows = f.run.results;
    const double bytes = 4 * MIB;
    assert_int_equal(rows[2].bytes_moved, 16 << 20);
    expect_seconds(&rows[2], 16 * CHUNK_S);
    expect_seconds(&rows[3], 16 * CHUNK_S);
    expect_seconds(&rows[4], 8 * CHUNK_S);
    expect_samples(&rows[3], "bandwidth_h2d", bytes / (12 * CHUNK_S));
    expect_samples(&rows[3], "bandwidth_d2h", bytes / (16 * CHUNK_S));
    expect_samples(&rows[4], "bandwidth_h2d", bytes / (4 * CHUNK_S));
    expect_samples(&rows[4], "bandwidth_d2h", bytes / (8 * CHUNK_S));
    expect_samples(&rows[2], "bandwidth_h2d", 2 * bytes / (12 * CHUNK_S));
    expect_samples(&rows[2], "bandwidth_d2h", 2 * bytes / (16 * CHUNK_S));
    /* Device 1 is done after half of the time, and went both ways in half of its own. */
    expect_samples(&rows[2], "overlap", 0.25);
    expect_computed(&rows[3], "share_of_alone", 0.5);
    expect_computed(&rows[4], "share_of_alone", 1.0);
    finish(&f);
}

/* Each by itself: device 1 is slow, but as fast as it was alone. */
static void test_a_share_is_of_what_the_device_had(void **state)
{
    (void)state;
    struct fixture f;
    alter(1, 1);
    altered.slow_device = 2;
    xb_fake.device_count = 2;
    RUN(&f, "--mode", "pinned", "--size", "2M,4M", "--simultaneous", "--direction", "h2d");
    const struct xb_result *rows = &f.run.results[2 + 2];
    for (unsigned s = 0; s < 2; s++) {
        double seconds = (s + 1) * 2 * 2 * CHUNK_S;
        for (unsigned i = 0; i < 3; i++)
            expect_seconds(&rows[3 * s + i], seconds);
        expect_samples(&rows[3 * s], "overlap", 1);
        expect_computed(&rows[3 * s + 1], "share_of_alone", 0.5);
        expect_computed(&rows[3 * s + 2], "share_of_alone", 1.0);
    }
    finish(&f);
}

/* Three devices, two sizes, both ways one after the other: a group each. */
static void test_groups_stand_one_after_the_other(void **state)
{
    (void)state;
    struct fixture f;
    xb_fake.device_count = 3;
    RUN(&f, "--mode", "async", "--size", "64K,32K", "--simultaneous", "--device", "2,0");
    assert_int_equal(f.run.case_count, 2 * 4 + 4 * 3);
    for (size_t i = 8; i < f.run.case_count; i++) {
        const struct xb_case *test = &f.run.results[i].test;
        const struct xb_case *sum = &f.run.results[i - (i - 8) % 3].test;
        assert_int_equal(test->sum, (i - 8) % 3 == 0);
        assert_true(sum->sum);
        if (!test->sum)
            assert_int_equal(test->device, (i - 8) % 3 == 1 ? 2 : 0);
        assert_int_equal(test->bytes, sum->bytes);
        assert_int_equal(test->direction, sum->direction);
        expect_status(&f.run.results[i], XB_RESULT_OK);
    }
    finish(&f);
}

static void test_one_device_has_nobody_beside_it(void **state)
{
    (void)state;
    struct fixture f;
    RUN(&f, "--mode", "pinned", "--size", "64K", "--simultaneous", "--direction", "h2d");
    assert_int_equal(f.run.case_count, 3);
    expect_status(&f.run.results[0], XB_RESULT_OK);
    for (size_t i = 1; i < 3; i++)
        expect_reason(&f.run.results[i], XB_RESULT_SKIPPED, "one is chosen or there");
    finish(&f);
}

/* Calls that block their caller cannot be started together. */
/* Not held, those enqueued first would run ahead: no sum of theirs would be true. */
static void test_devices_that_cannot_be_held_have_no_sum(void **state)
{
    (void)state;
    struct fixture f;
    xb_fake.device_count = 2;
    RUN(&f, "--mode", "async", "--size", "1M", "--chunk", "4K", "--simultaneous", "--direction",
        "h2d");
    assert_int_equal(f.run.case_count, 5);
    for (size_t i = 0; i < 5; i++)
        if (i < 2) /* alone: 256 operations do not fit behind 64, and the row says so */
            expect_status(&f.run.results[i], XB_RESULT_OK);
        else
            expect_reason(&f.run.results[i], XB_RESULT_SKIPPED, "start together only if");
    finish(&f);
    xb_fake.capabilities &= ~(uint32_t)XB_CAP_HOLD;
    RUN(&f, "--mode", "pinned", "--size", "64K", "--simultaneous", "--direction", "h2d");
    expect_reason(&f.run.results[2], XB_RESULT_SKIPPED, "start together only if");
    finish(&f);
}

static void test_pageable_copies_take_turns(void **state)
{
    (void)state;
    struct fixture f;
    xb_fake.device_count = 2;
    RUN(&f, "--mode", "async", "--host-memory", "pageable", "--size", "64K", "--simultaneous",
        "--direction", "h2d");
    assert_int_equal(f.run.case_count, 5);
    for (size_t i = 0; i < 5; i++)
        expect_status(&f.run.results[i], i < 2 ? XB_RESULT_OK : XB_RESULT_SKIPPED);
    finish(&f);
}

/* One of three is wrong: the time of all is worth nothing, and the rows say whose fault it is. */
static void test_one_wrong_device_spoils_the_group(void **state)
{
    (void)state;
    struct fixture f;
    alter(1, 1);
    altered.broken_device = 2;
    xb_fake.device_count = 3;
    RUN(&f, "--mode", "pinned", "--size", "64K", "--simultaneous", "--direction", "h2d");
    assert_int_equal(f.run.case_count, 3 + 4);
    for (size_t i = 0; i < 3; i++)
        expect_status(&f.run.results[i], i == 1 ? XB_RESULT_ERROR : XB_RESULT_OK);
    for (size_t i = 3; i < 7; i++) {
        const struct xb_result *result = &f.run.results[i];
        bool wrong = result->test.sum || result->test.device == 1;
        expect_reason(result, XB_RESULT_ERROR, "device 1: ");
        assert_int_equal(result->verified, wrong ? XB_VERIFIED_FALSE : XB_VERIFIED_UNKNOWN);
        if (!wrong)
            assert_int_equal(result->bandwidth.n, 0);
    }
    finish(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_devices_at_the_same_time),
        TEST(test_both_ways_on_all_devices),
        TEST(test_a_share_is_of_what_the_device_had),
        TEST(test_groups_stand_one_after_the_other),
        TEST(test_one_device_has_nobody_beside_it),
        TEST(test_devices_that_cannot_be_held_have_no_sum),
        TEST(test_pageable_copies_take_turns),
        TEST(test_one_wrong_device_spoils_the_group),
    };
    return cmocka_run_group_tests_name("measure_devices", tests, NULL, NULL);
}
