/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Latencies: the times of single operations. */
#include <stdlib.h>
#include <string.h>

#include "testing.h"

#include "measure_fixture.h"

RUN_TEST(test_latency_takes_a_thousand)
{
    struct fixture f;
    RUN(&f, "--mode", "pinned", "--size", "4", "--latency", "--time-limit", "1000s");
    assert_int_equal(f.run.case_count, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct xb_result *result = &f.run.results[i];
        expect_seconds(result, 4 * XB_FAKE_SECONDS_PER_BYTE);
        assert_int_equal(result->times.count, 1000);
        assert_int_equal(result->wall_times.count, 1000);
        assert_int_equal(result->submit_times.count, 1000);
        assert_int_equal(result->stop_reason, XB_STOP_CONVERGED);
        assert_true(result->event_times);
        expect_number(result, "iterations_per_sample", 1);
        assert_int_equal(result->row.warning_count, 0);
    }
    assert_int_equal(xb_fake.holds, 0);
    finish(&f);
}

RUN_TEST(test_few_operations_are_too_few_for_a_percentile)
{
    struct fixture f;
    RUN(&f, "--mode", "pageable", "--size", "64K", "--latency", "--samples=21", "--direction",
        "d2h");
    const struct xb_result *result = &f.run.results[0];
    assert_int_equal(result->wall_times.count, 21);
    expect_seconds(result, 65536e-9);
    assert_true(result->event_times);
    assert_int_equal(result->row.warning_count, 1);
    assert_non_null(strstr(result->warnings[0], "too few operations for a 99th percentile: 21"));
    finish(&f);
}

RUN_TEST(test_latency_is_that_of_one_operation)
{
    struct fixture f;
    RUN(&f, "--mode", "pinned,double-buffer", "--size", "64K", "--latency", "--direction",
        "bidir,h2d");
    assert_int_equal(f.run.case_count, 3);
    expect_status(&f.run.results[0], XB_RESULT_OK);
    assert_null(figure_of(&f.run.results[0], "bandwidth_h2d"));
    expect_reason(&f.run.results[1], XB_RESULT_SKIPPED, "single operation");
    expect_reason(&f.run.results[2], XB_RESULT_SKIPPED, "single operation");
    finish(&f);
}
