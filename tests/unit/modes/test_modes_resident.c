/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Data that stays on the device, beside trips to the host: what is timed, and that it is proved. */

#include "testing.h"

#include "measure_fixture.h"
#include "modes/proof.h"

/* Of each kernel, on every word. */
#define KERNEL_STEPS 2

/* The right figures of 1 MiB: a byte takes a copy 1 ns, and a step of a kernel 1 ps. */
RUN_TEST(test_trips_are_set_against_none)
{
    static const unsigned steps[] = {1, 2, 8};
    const double copies = 2 * MIB * XB_FAKE_SECONDS_PER_BYTE;
    const double kernel = KERNEL_STEPS * MIB * XB_FAKE_SECONDS_PER_BYTE_AND_STEP;
    struct fixture f;
    RUN(&f, "--mode", "resident", "--size", "1M", "--steps", "1,2,8");
    assert_int_equal(f.run.case_count, COUNT_OF(steps));
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        const struct xb_result *result = &f.run.results[i];
        double resident = copies + steps[i] * kernel;
        double trips = steps[i] * (copies + kernel);
        assert_int_equal(result->test.direction, XB_BIDIR);
        assert_int_equal(result->test.settings[0].count, steps[i]);
        assert_int_equal(result->bytes_moved, 2 << 20);
        assert_int_equal(result->row.verified, XB_VERIFIED_TRUE);
        expect_seconds(result, resident);
        expect_computed(result, "resident_time", resident);
        expect_samples(result, "round_trip_time", trips);
        expect_samples(result, "in_time", copies / 2);
        expect_samples(result, "kernel_time", steps[i] * kernel);
        expect_samples(result, "out_time", copies / 2);
        expect_computed(result, "speed_up", trips / resident);
        expect_computed(result, "predicted_speed_up", trips / resident);
        expect_number(result, "compute_steps", steps[i] * KERNEL_STEPS);
        if (steps[i] > 1)
            expect_computed(result, "trip_cost", copies);
        else
            assert_null(figure_of(result, "trip_cost"));
    }
    finish(&f);
}

/* ---- what is enqueued ---- */

/* How often the text stands there. */
static size_t times_seen(const char *text)
{
    size_t count = 0;
    for (const char *at = letters.text; (at = strstr(at, text)) != NULL; at++)
        count++;
    return count;
}

/* What a kernel left is what the next trip brings back: the reference does the same work. */
RUN_TEST(test_a_trip_brings_back_what_the_kernel_left)
{
    struct fixture f;
    alter_to_letters();
    RUN(&f, "--mode", "resident", "--size", "1M", "--steps", "3");
    size_t trips = figure_of(&f.run.results[0], "round_trip_time")->samples.count;
    assert_true(trips > 0);
    assert_int_equal(times_seen("ikobkobko"), trips);
    assert_int_equal(times_seen("b"), 2 * trips); /* nowhere else */
    assert_true(times_seen("ikkko") >= 3);        /* the warm-up, and two samples */
    finish(&f);
}

/* The round trips of 8 steps are 24 operations. */
RUN_TEST(test_all_operations_of_a_reference_fit_behind_a_hold)
{
    for (unsigned fit = 23; fit <= 24; fit++) {
        struct fixture f;
        xb_fake_reset();
        xb_fake.held_operations = fit;
        RUN(&f, "--mode", "resident", "--size", "64K");
        const struct xb_result *result = &f.run.results[0];
        expect_status(result, XB_RESULT_OK);
        assert_string_equal(detail(result, "held"), fit == 24 ? "yes" : "no");
        finish(&f);
    }
}

/* ---- proof ---- */

RUN_TEST(test_every_size_verifies)
{
    struct fixture f;
    xb_fake.operation_s = 250e-6;
    RUN(&f, "--mode", "resident", "--size", "1,8,100001", "--steps", "1,3", "--host-memory",
        "registered,alloc,write-combined");
    assert_int_equal(f.run.case_count, 3 * 2 * 3);
    expect_all(&f, XB_RESULT_OK);
    finish(&f);
}

/* The second opinion: words of which each step is taken, the first and the last among them. */
RUN_TEST(test_steps_are_taken_one_by_one)
{
    enum { WORDS_OF_IT = 100 };
    unsigned long long source[WORDS_OF_IT], target[WORDS_OF_IT];
    struct xb_mismatch found = {0};
    for (size_t i = 0; i < WORDS_OF_IT; i++) {
        source[i] = i * i;
        target[i] = xb_compute_step(xb_compute_step(source[i]));
    }
    xb_proof_check_steps(source, target, sizeof source, 2, &found);
    assert_int_equal(found.wrong_bytes, 0);
    xb_proof_check_steps(source, target, 7, 2, &found); /* no word */
    assert_int_equal(found.wrong_bytes, 0);
    target[0] ^= 1;
    target[WORDS_OF_IT - 1] ^= 1;
    xb_proof_check_steps(source, target, sizeof source, 2, &found);
    assert_int_equal(found.wrong_bytes, 2);
    assert_int_equal(found.first_offset, 0);
    found = (struct xb_mismatch){0};
    xb_proof_check_steps(source, target, sizeof source, 1, &found);
    assert_true(found.wrong_bytes > 2);
}

/* ---- what it is not for ---- */

RUN_TEST(test_what_a_device_lacks_skips)
{
    struct fixture f;
    xb_fake.capabilities &= ~(uint32_t)XB_CAP_KERNELS;
    RUN(&f, "--mode", "resident", "--size", "64K");
    expect_reason(&f.run.results[0], XB_RESULT_SKIPPED, "lacks the capability");
    finish(&f);
    xb_fake_reset();
    RUN(&f, "--mode", "resident", "--size", "64K", "--host-memory", "pageable");
    expect_reason(&f.run.results[0], XB_RESULT_SKIPPED, "resident is about page-locked memory");
    finish(&f);
}

RUN_TEST(test_steps_have_bounds)
{
    EXPECT_USAGE("--steps", "--mode", "resident", "--steps", "0");
    EXPECT_USAGE("--steps", "--mode", "resident", "--steps", "8,1001");
    EXPECT_USAGE("--steps", "--mode", "pinned", "--steps", "8");
}
