/* SPDX-License-Identifier: Apache-2.0 */
/* What golden/advise cannot show of the model: that its bounds hold for what was measured. */
#include "advise/report.h"
#include "schema_check.h"

#include <inttypes.h>
#include <math.h>

/* Whether a row of the file tells what its smaller rows took. */
static void assert_bounds_hold(const char *file, const struct xb_cost *cost, size_t row)
{
    const struct xb_cost cut = {
        .points = cost->points + row, .count = 1, .is_by_device = cost->is_by_device};
    for (size_t i = 0; i < row; i++) {
        const struct xb_cost_point *left_out = &cost->points[i];
        uint64_t bytes = left_out->bytes;
        double alone = left_out->alone[XB_MIDDLE], behind = left_out->behind[XB_MIDDLE];
        if (!(alone >= xb_cost_seconds(&cut, bytes, true, XB_LOW)) ||
            !(alone <= xb_cost_seconds(&cut, bytes, true, XB_HIGH)) ||
            !(behind >= xb_cost_seconds(&cut, bytes, false, XB_LOW)) ||
            !(behind <= xb_cost_seconds(&cut, bytes, false, XB_HIGH)))
            fail_msg("%s: %s %s %s: %g alone, %g behind: %" PRIu64 " bytes from %" PRIu64, file,
                     left_out->test->mode, left_out->test->variant, left_out->test->direction,
                     alone, behind, bytes, cut.points->bytes);
    }
}

/* Measured times lie within the bounds that any larger row alone gives. */
TEST(the_bounds_hold_for_what_was_measured)
{
    static const char *const files[] = {"h100/sweep.json", "h200/sweep.json", "h200/crossover.json",
                                        "h100/pin.json"};
    size_t rows = 0;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[512];
        struct xb_record record;
        struct xb_costs costs = {.device = 0};
        struct xb_error error;
        snprintf(path, sizeof path, RESULTS "/%s", files[i]);
        assert_int_equal(xb_record_read(path, &record, &error), XB_OK);
        xb_costs_read(&costs, &record);
        for (int kind = 0; kind < XB_COSTS; kind++)
            for (size_t row = 1; row < costs.costs[kind].count; row++, rows++)
                assert_bounds_hold(files[i], &costs.costs[kind], row);
        xb_costs_free(&costs);
        xb_record_free(&record);
    }
    assert_true(rows > 200); /* from 18 sizes, six costs of two files and four of one, and pins */
}

TEST(a_job_grows_as_a_whole)
{
    const struct xb_job job = {
        .in = 1000, .out = 10, .gpu_time = 2, .cpu_time = 30, .times = 7, .memory = XB_JOB_PINNED};
    struct xb_job larger = xb_job_scaled(&job, 2.5);
    assert_int_equal(larger.in, 2500);
    assert_int_equal(larger.out, 25);
    assert_true(larger.gpu_time == 5);
    assert_true(larger.cpu_time == 75);
    assert_int_equal(larger.times, 7);
    assert_int_equal(larger.memory, XB_JOB_PINNED);
    assert_int_equal(xb_job_scaled(&job, 1e-6).in, 1);
    assert_int_equal(xb_job_scaled(&job, 1e-6).out, 1);
    assert_int_equal(xb_job_scaled(&(struct xb_job){.in = 8}, 4).out, 0);
}

TEST(a_kernel_of_another_length_is_told)
{
    struct xb_words words = {.length = 0};
    xb_advice_say_kernel(0, 1e-3, &words);
    xb_advice_say_kernel(1e-3, (double)NAN, &words);
    xb_advice_say_kernel(1e-3, 1.04e-3, &words);
    assert_int_equal(words.length, 0);
    xb_advice_say_kernel(20e-3, 10.7e-3, &words);
    assert_string_equal(words.text, "its kernel took 10.7 ms instead of 20.0 ms, which is part of "
                                    "DIFF");
}

TEST(the_schema_has_what_the_tables_have)
{
    assert_schema_describes("advise.schema.json", "properties/job", xb_advice_job_fields);
    assert_schema_describes("advise.schema.json", "properties/break_even",
                            xb_advice_break_even_fields);
}
