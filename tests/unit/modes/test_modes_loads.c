/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Modes that time a load: what a load takes, and that a wrong one is found. */

#include "testing.h"

#include "modes_fixture.h"

#define ORDERS "--access", "sequential,strided,random"
#define LOADS 16384.0

/* Its samples are those of the row, by the loads of each; no hold is in them. */
static void expect_latency(const struct xb_result *result, double seconds)
{
    expect_status(result, XB_RESULT_OK);
    assert_int_equal(result->row.verified, XB_VERIFIED_TRUE);
    assert_true(result->test.latency);
    assert_string_equal(detail(result, "held"), "yes");
    expect_number(result, "loads_per_sample", LOADS);
    expect_number(result, "iterations_per_sample", 1);
    expect_times(&result->times, seconds * LOADS, "the chase");
    expect_samples(result, "load_latency", seconds);
    assert_int_equal(result->wall_times.count, 0);
}

RUN_TEST(test_a_load_takes_what_its_memory_takes)
{
    struct fixture f;
    RUN(&f, "--mode", "loads", ORDERS);
    assert_int_equal(f.run.case_count, 3 * 2);
    for (size_t i = 0; i < f.run.case_count; i++) {
        const struct xb_result *result = &f.run.results[i];
        assert_int_equal(result->test.bytes, 2 << 20);
        expect_latency(result, result->test.direction == XB_H2D ? XB_FAKE_SECONDS_PER_HOST_LOAD
                                                                : XB_FAKE_SECONDS_PER_LOAD);
    }
    finish(&f);
}

RUN_TEST(test_a_load_of_a_peer_takes_what_the_link_takes)
{
    struct fixture f;
    xb_fake.device_count = 2;
    RUN(&f, "--mode", "peer-loads", ORDERS);
    assert_int_equal(f.run.case_count, 3 * 2);
    for (size_t i = 0; i < f.run.case_count; i++) {
        expect_latency(&f.run.results[i], XB_FAKE_SECONDS_PER_PEER_LOAD);
        assert_string_equal(detail(&f.run.results[i], "link"), "NVLink");
    }
    finish(&f);
}

/* Who loads needs the access, and no other. */
RUN_TEST(test_pairs_without_access_are_skipped)
{
    struct fixture f;
    xb_fake.device_count = 2;
    xb_fake.no_peer_access = true;
    RUN(&f, "--mode", "peer-loads");
    expect_reason(&f.run.results[0], XB_RESULT_SKIPPED,
                  "device 1 cannot load from the memory of device 0");
    expect_reason(&f.run.results[1], XB_RESULT_SKIPPED,
                  "device 0 cannot load from the memory of device 1");
    finish(&f);
}

/* More memory than one sample goes through: the next goes on where it ended, and round again. */
RUN_TEST(test_a_chase_goes_on_through_more_memory)
{
    struct fixture f;
    xb_fake.device_count = 2;
    RUN(&f, "--mode", "loads,peer-loads", ORDERS, "--size", "5000001", "--samples=7");
    expect_all(&f, XB_RESULT_OK);
    for (size_t i = 0; i < f.run.case_count; i++)
        assert_int_equal(f.run.results[i].row.verified, XB_VERIFIED_TRUE);
    finish(&f);
}

RUN_TEST(test_small_memory_is_skipped)
{
    struct fixture f;
    xb_fake.device_count = 2;
    RUN(&f, "--mode", "loads,peer-loads", "--size", "2097151,2M", "--direction", "d2d", "--pairs",
        "0:1");
    expect_reason(&f.run.results[0], XB_RESULT_SKIPPED, "loads goes through 2 MiB or more");
    expect_status(&f.run.results[1], XB_RESULT_OK);
    expect_reason(&f.run.results[2], XB_RESULT_SKIPPED, "peer-loads goes through 2 MiB or more");
    expect_status(&f.run.results[3], XB_RESULT_OK);
    finish(&f);
}

RUN_TEST(test_a_device_without_kernels_is_skipped)
{
    struct fixture f;
    xb_fake.capabilities &= ~(uint32_t)XB_CAP_KERNELS;
    xb_fake.device_count = 2;
    RUN(&f, "--mode", "loads,peer-loads");
    for (size_t i = 0; i < f.run.case_count; i++)
        expect_reason(&f.run.results[i], XB_RESULT_SKIPPED, "lacks the capability 'kernels'");
    finish(&f);
}

/* One load that brought another line's word: the chain ends elsewhere, whichever load it was. */
static void lose_a_load(void *argument, const struct xb_run *run, size_t samples, double bandwidth)
{
    const size_t *at = argument;
    hurry(NULL, run, samples, bandwidth);
    xb_fake.damage = samples == *at ? XB_DAMAGE_BIT_FLIPPED : XB_DAMAGE_NONE;
}

RUN_TEST(test_a_wrong_load_is_found_in_any_sample)
{
    for (size_t at = 0; at < 3; at++) { /* the first one, one between, and the last one */
        struct fixture f;
        const struct xb_run_observer observer = {.progress = lose_a_load, .argument = &at};
        xb_fake.device_count = 2;
        execute(&f, WORDS("--mode", "loads,peer-loads", ORDERS, "--samples=3"), &observer);
        for (size_t i = 0; i < f.run.case_count; i++) {
            expect_reason(&f.run.results[i], XB_RESULT_ERROR, "the chain ended at byte ");
            assert_int_equal(f.run.results[i].row.verified, XB_VERIFIED_FALSE);
        }
        finish(&f);
    }
}

RUN_TEST(test_a_wrong_load_is_found_in_the_warm_up)
{
    struct fixture f;
    xb_fake.damage = XB_DAMAGE_BIT_FLIPPED; /* until the first sample of the warm-up is told */
    const size_t never = SIZE_MAX;
    const struct xb_run_observer observer = {.progress = lose_a_load, .argument = (void *)&never};
    execute(&f, WORDS("--mode", "loads", "--direction", "h2d"), &observer);
    expect_reason(&f.run.results[0], XB_RESULT_ERROR, "the chain ended at byte ");
    finish(&f);
}
