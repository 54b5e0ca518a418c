/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* What a plan is estimated to take. */

#include "testing.h"

#include "measure/plan/estimate.h"
#include "run_fixture.h"
#include "xferbench/workspace.h"

#define MIB 1048576u

static struct xb_estimate estimate_of(const char *const *arguments)
{
    struct fixture f;
    plan(&f, arguments);
    struct xb_estimate estimate = xb_estimate_run(&f.run);
    finish(&f);
    return estimate;
}

#define ESTIMATE(...) estimate_of(WORDS(__VA_ARGS__))

/* Of a MiB to the device: 50 ms of warm-up, 6 samples and 5 copies more, and twice a MiB that is
 * set up and checked. Opening the device takes 0.1 to 1 s. */
RUN_TEST(time_is_between_a_fast_node_and_a_slow_one)
{
    struct xb_estimate e = ESTIMATE("--mode", "pinned", "--direction", "h2d", "--size", "1M",
                                    "--time-limit", "250ms", "--warm-up", "50ms");
    assert_int_equal(e.rows, 1);
    assert_int_equal(e.skipped, 0);
    double least = 0.1 + 0.05 + 11 * MIB / 50e9 + 2 * MIB / 20e9;
    double most = 1 + 0.0625 + 0.25 + 5 * MIB / 6e9 + 2 * MIB / 2.5e9;
    assert_true(fabs(e.time.least - least) < 1e-6);
    /* And copies of a reference that only some cases have. */
    assert_true(e.time.most > most - 1e-6 && e.time.most < most + 0.01);
    assert_true(fabs(e.time.likely - cbrt(least * least * e.time.most)) < 1e-6);
}

RUN_TEST(time_follows_the_options)
{
    struct xb_estimate usual =
        ESTIMATE("--mode", "pinned", "--size", "1M", "--time-limit", "250ms");
    struct xb_estimate longer = ESTIMATE("--mode", "pinned", "--size", "1M", "--time-limit", "9s");
    struct xb_estimate many = ESTIMATE("--mode", "pinned", "--size", "1M", "--samples=100000");
    struct xb_estimate sizes =
        ESTIMATE("--mode", "pinned", "--size", "1M,2M", "--time-limit", "250ms");
    struct xb_estimate huge =
        ESTIMATE("--mode", "pinned", "--size", "64M", "--time-limit", "250ms");
    assert_true(longer.time.most - usual.time.most > 2 * 8.7);
    assert_true(many.time.least > 2 * 100000 * MIB / 50e9);
    assert_true(sizes.time.most > usual.time.most + 0.5);
    assert_true(huge.time.least > usual.time.least);
}

RUN_TEST(what_is_skipped_takes_nothing)
{
    struct xb_error error;
    struct fixture f;
    xb_fake.device_count = 1;
    PLAN(&f, "--mode", "peer", "--size", "1M");
    struct xb_estimate e = xb_estimate_run(&f.run);
    assert_int_equal(e.skipped, e.rows);
    assert_true(e.rows > 0 && e.time.most <= 0);
    assert_int_equal(e.host_bytes + e.device_bytes, 0);
    assert_true(xb_estimate_case(&f.run, 0, 1).most <= 0);
    assert_non_null(strstr(xb_estimate_skips(&f.run, 0, 1, &error), "two GPUs"));
    finish(&f);
    /* And what this device lacks, or has no latency. */
    vary_fake();
    PLAN(&f, "--mode", "pinned", "--size", "1M", "--direction", "h2d,bidir", "--latency");
    f.run.devices[0].info.capabilities = 0;
    e = xb_estimate_run(&f.run);
    assert_int_equal(e.skipped, 2);
    assert_non_null(strstr(xb_estimate_skips(&f.run, 0, 1, &error), "lacks the capability"));
    f.run.devices[0].info.capabilities = UINT32_MAX;
    assert_null(xb_estimate_skips(&f.run, 0, 1, &error));
    assert_non_null(strstr(xb_estimate_skips(&f.run, 1, 1, &error), "single operation"));
    finish(&f);
}

RUN_TEST(memory_is_that_of_the_largest_case)
{
    struct xb_estimate e = ESTIMATE("--mode", "pinned", "--direction", "h2d", "--size", "1M,8M,2M");
    assert_int_equal(e.host_bytes, 8 * MIB);
    assert_int_equal(e.device_bytes, 8 * MIB);
    /* Buffers of a small case are made for the large one that comes behind it. */
    struct xb_estimate alone = ESTIMATE("--mode", "job");
    e = ESTIMATE("--mode", "job,pipeline");
    assert_true(alone.host_bytes < 1024u * (uint64_t)MIB);
    assert_true(e.host_bytes >= 1024u * (uint64_t)MIB);
    assert_true(e.device_bytes >= 1024u * (uint64_t)MIB);
    xb_fake.device_memory_free = 1u << 30; /* memory of its own */
    /* Both ways at once host memory lies in several places. */
    e = ESTIMATE("--mode", "pinned", "--direction", "bidir", "--size", "1M");
    assert_int_equal(e.host_bytes, (2 + XB_PLACEMENTS - 1) * MIB);
    /* Devices at the same time have host memory of their own each. */
    xb_fake.device_count = 3;
    e = ESTIMATE("--mode", "pinned", "--direction", "h2d", "--size", "1M", "--simultaneous");
    assert_int_equal(e.rows, 3 + 4);
    assert_int_equal(e.host_bytes, 3 * MIB);
    assert_int_equal(e.device_bytes, MIB);
}
