/* SPDX-License-Identifier: Apache-2.0 */
/* What copies cost, from the rows of a record to any size. */

#include "testing.h"

#include "advise_fixture.h"

#include <inttypes.h>
#include <stdio.h>

static struct rows made;

static const struct xb_cost *cost(const struct xb_costs *costs, enum xb_cost_kind kind)
{
    return &costs->costs[kind];
}

/* 1 MiB takes 100 us behind another and 110 us alone, 3 MiB 300 and 340 us. */
TEST(test_time_is_a_line_from_size_to_size)
{
    begin(&made);
    add_copy(&made, "pinned", "registered", "h2d", 3 * MIB, (double)(3 * MIB) / 300e-6, 40e-6,
             2e-6);
    add_copy(&made, "pinned", "registered", "h2d", MIB, (double)MIB / 100e-6, 10e-6, 1e-6);
    struct xb_costs costs = costs_of(&made);
    const struct xb_cost *in = cost(&costs, XB_COST_PINNED_IN);
    assert_int_equal(in->count, 2);
    assert_close(xb_cost_seconds(in, MIB, false, XB_MIDDLE), 100e-6);
    assert_close(xb_cost_seconds(in, MIB, true, XB_MIDDLE), 110e-6);
    assert_close(xb_cost_seconds(in, 2 * MIB, false, XB_MIDDLE), 200e-6);
    assert_close(xb_cost_seconds(in, 2 * MIB, true, XB_MIDDLE), 225e-6);
    /* Beyond the largest its further bytes at the rate behind: it starts once. */
    assert_close(xb_cost_seconds(in, 6 * MIB, false, XB_MIDDLE), 600e-6);
    assert_close(xb_cost_seconds(in, 6 * MIB, true, XB_MIDDLE), 640e-6);
    assert_close(xb_cost_call(in, 2 * MIB), 2e-6);
    assert_close(xb_cost_call(in, 9 * MIB), 2e-6);
    assert_close(xb_cost_seconds(in, 0, true, XB_MIDDLE), 0);
}

TEST(test_what_is_smaller_has_wide_bounds)
{
    begin(&made);
    add_copy(&made, "pinned", "registered", "h2d", 64 * KIB, 10e9, 10e-6, 0);
    add_copy(&made, "pageable", "driver", "d2h", 16 * MIB, 16 * 1048576 / 4e-3, 0, 0);
    struct xb_costs costs = costs_of(&made);
    const struct xb_cost *in = cost(&costs, XB_COST_PINNED_IN);
    const struct xb_cost *out = cost(&costs, XB_COST_PAGEABLE_OUT);
    const struct xb_cost *none = cost(&costs, XB_COST_RING_IN);
    assert_true(xb_cost_is_known(in, 4));
    /* Its share of the row and 0, 10 or 100 us, or the row; 0.9 to 1.2 times that. */
    double whole = 65536 / 10e9 + 10e-6;
    assert_close(xb_cost_seconds(in, 32 * KIB, true, XB_LOW), 0.9 * whole / 2);
    assert_close(xb_cost_seconds(in, 6 * KIB, true, XB_MIDDLE), whole * 6 / 64 + 10e-6);
    assert_close(xb_cost_seconds(in, 32 * KIB, true, XB_MIDDLE), whole);
    assert_close(xb_cost_seconds(in, 32 * KIB, true, XB_HIGH), 1.2 * whole);
    /* CPUs have a part in it: 0 to 300 us, and 0.4 to 1.5 times that. */
    assert_close(xb_cost_seconds(out, MIB, true, XB_LOW), 0.4 * 4e-3 / 16);
    assert_close(xb_cost_seconds(out, MIB, true, XB_MIDDLE), 4e-3 / 16 + 10e-6);
    assert_close(xb_cost_seconds(out, MIB, true, XB_HIGH), 1.5 * (4e-3 / 16 + 300e-6));
    assert_true(xb_cost_is_known(out, 0));
    assert_false(xb_cost_is_known(none, 1));
    assert_true(isnan(xb_cost_seconds(none, 1, true, XB_MIDDLE)));
}

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
TEST(test_the_bounds_hold_for_what_was_measured)
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

/* Latency rows are single operations: what begins and ends them is in their time. */
TEST(test_latency_rows_tell_of_the_smallest)
{
    begin(&made);
    add_row(&made, "pinned", "registered", "d2h", 4)->latency = true;
    set_figure(&made, "latency_host", 8e-6, true);
    set_figure(&made, "latency_device", 2e-6, false);
    add_copy(&made, "pinned", "registered", "d2h", MIB, (double)MIB / 100e-6, 10e-6, 0);
    struct xb_costs costs = costs_of(&made);
    const struct xb_cost *out = cost(&costs, XB_COST_PINNED_OUT);
    assert_close(xb_cost_seconds(out, 4, true, XB_MIDDLE), 8e-6);
    assert_close(xb_cost_seconds(out, 4, true, XB_HIGH), 8.8e-6);
    assert_close(xb_cost_seconds(out, 1, false, XB_MIDDLE), 2e-6);
}

/* A bandwidth of 9 to 11 GB/s around 10 is a time of 1/1.1 to 1/0.9; of wall_time, of few samples,
 * the interval is the same share. */
TEST(test_intervals_turn_round)
{
    begin(&made);
    add_row(&made, "pageable", "malloc", "h2d", MIB);
    set_figure(&made, "bandwidth", (double)MIB / 100e-6, true);
    set_figure(&made, "wall_time", 120e-6, false);
    struct xb_costs costs = costs_of(&made);
    const struct xb_cost *in = cost(&costs, XB_COST_PAGEABLE_IN);
    assert_close(xb_cost_seconds(in, MIB, false, XB_LOW), 100e-6 / 1.1);
    assert_close(xb_cost_seconds(in, MIB, false, XB_HIGH), 100e-6 / 0.9);
    assert_close(xb_cost_seconds(in, MIB, true, XB_LOW), 120e-6 / 1.1);
    assert_close(xb_cost_seconds(in, MIB, true, XB_HIGH), 120e-6 / 0.9);
}

/* What was not measured alone, on this device, or did not verify; and other ways. */
TEST(test_only_good_rows_count)
{
    begin(&made);
    add_copy(&made, "pinned", "registered", "h2d", MIB, 10e9, 0, 0)->simultaneous = true;
    add_copy(&made, "pinned", "registered", "h2d", MIB, 10e9, 0, 0)->device = 1;
    add_copy(&made, "pinned", "registered", "h2d", MIB, 10e9, 0, 0)->rows->verified =
        XB_VERIFIED_FALSE;
    add_copy(&made, "pinned", "registered", "h2d", MIB, 10e9, 0, 0)->rows->status = XB_RESULT_ERROR;
    add_copy(&made, "pinned", "registered", "h2d", MIB, 10e9, 0, 0)->rows->is_cut = true;
    add_copy(&made, "pinned", "write-combined", "h2d", MIB, 10e9, 0, 0);
    add_copy(&made, "async", "registered", "h2d", MIB, 10e9, 0, 0);
    add_row(&made, "pinned", "registered", "h2d", MIB); /* without a figure */
    /* Bytes that move several times or not at all, and memory of other kinds. */
    static const struct {
        const char *mode, *variant;
        struct xb_record_fact parameter;
    } others[] = {{"zero-copy", "sequential", {"passes", "4", false}},
                  {"zero-copy", "sequential", {"in-place", "malloc", false}},
                  {"managed", "fault", {"touched", "10", false}},
                  {"managed", "prefetch", {"touch-order", "random", false}},
                  {"pinned", "registered", {"gpu-memory", "malloc", false}},
                  {"pinned", "registered", {"call", "sync", false}},
                  {"pageable", "driver", {"call", "sync", false}},
                  {"pageable", "ring", {"target", "fresh", false}}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct xb_record_case *test =
            add_copy(&made, others[i].mode, others[i].variant, "h2d", MIB, 10e9, 0, 0);
        test->parameters = &others[i].parameter;
        test->parameter_count = 1;
    }
    struct xb_costs costs = costs_of(&made);
    for (int kind = 0; kind < XB_COSTS; kind++)
        assert_int_equal(costs.costs[kind].count, 0);
    assert_false(costs.both_in > 0);
}

/* And of several sizes both ways at once the largest. */
TEST(test_of_several_the_fastest_counts)
{
    begin(&made);
    add_copy(&made, "pinned", "registered", "h2d", MIB, 10e9, 0, 0);
    add_copy(&made, "pinned", "alloc", "h2d", MIB, 12e9, 0, 0);
    add_copy(&made, "pinned", "registered", "h2d", MIB, 11e9, 0, 0);
    for (uint64_t size = 1; size <= 4; size *= 4) {
        add_row(&made, "pinned", "registered", "bidir", size * MIB);
        set_figure(&made, "bandwidth", 1e9, true);
        set_figure(&made, "bandwidth_h2d", (double)size * 1e9, true);
        set_figure(&made, "bandwidth_d2h", (double)size * 2e9, true);
    }
    struct xb_costs costs = costs_of(&made);
    const struct xb_cost *in = cost(&costs, XB_COST_PINNED_IN);
    assert_int_equal(in->count, 1);
    assert_close(xb_cost_seconds(in, MIB, false, XB_MIDDLE), (double)MIB / 12e9);
    assert_close(costs.both_in, 4e9);
    assert_close(costs.both_out, 8e9);
    static const struct xb_record_fact far = {XB_RECORD_NUMA, "1", false};
    struct xb_record_case *test = add_row(&made, "pinned", "registered", "bidir", 8 * MIB);
    test->parameters = &far;
    test->parameter_count = 1;
    set_figure(&made, "bandwidth", 1e9, true);
    set_figure(&made, "bandwidth_h2d", 9e9, true);
    set_figure(&made, "bandwidth_d2h", 9e9, true);
    costs = costs_of(&made);
    assert_close(costs.both_in, 4e9);
}

/* Rows of 4 bytes say nothing of 4 MiB. */
TEST(test_small_rows_say_nothing_of_large_copies)
{
    begin(&made);
    add_copy(&made, "pinned", "registered", "h2d", MIB, 10e9, 0, 0);
    add_copy(&made, "pinned", "registered", "d2h", 16 * MIB, 10e9, 0, 0);
    struct xb_costs costs = costs_of(&made);
    assert_true(xb_cost_is_known(cost(&costs, XB_COST_PINNED_IN), 8 * MIB));
    assert_false(xb_cost_is_known(cost(&costs, XB_COST_PINNED_IN), 16 * MIB));
    assert_true(xb_cost_is_known(cost(&costs, XB_COST_PINNED_OUT), 4096 * MIB));
}

TEST(test_no_size_is_dropped)
{
    begin(&made);
    for (uint64_t i = 1; i <= 80; i++)
        add_copy(&made, "pinned", "registered", "h2d", i * KIB, 10e9, 0, 0);
    struct xb_costs costs = costs_of(&made);
    assert_int_equal(cost(&costs, XB_COST_PINNED_IN)->count, 80);
}

/* Page-locking is the same thing in either direction. */
TEST(test_setup_is_a_mean)
{
    begin(&made);
    add_row(&made, "pin", "used", "h2d", MIB);
    set_figure(&made, "setup_time", 100e-6, true);
    add_row(&made, "pin", "used", "d2h", MIB);
    set_figure(&made, "setup_time", 200e-6, true);
    struct xb_costs costs = costs_of(&made);
    assert_close(xb_cost_seconds(cost(&costs, XB_COST_REGISTER), MIB, true, XB_MIDDLE), 150e-6);
    assert_close(xb_cost_seconds(cost(&costs, XB_COST_REGISTER), MIB, true, XB_HIGH), 165e-6);
}

/* Of two settings the one that is fastest at the largest size counts at all sizes; what is on a
 * named NUMA node does not count beside what is near. */
TEST(test_rows_of_one_setting_count)
{
    static const struct xb_record_fact few[] = {{"ring-chunk", "0", false},
                                                {"threads", "2", false}};
    static const struct xb_record_fact many[] = {{"ring-chunk", "0", false},
                                                 {"threads", "8", false}};
    static const struct xb_record_fact far[] = {{"numa", "1", false}, {"threads", "8", false}};
    static const struct xb_record_fact *const settings[] = {few, many, far};
    static const double rates[][2] = {{9e9, 20e9}, {5e9, 40e9}, {10e9, 80e9}};
    begin(&made);
    for (size_t i = 0; i < 3; i++)
        for (uint64_t large = 0; large < 2; large++) {
            struct xb_record_case *test =
                add_copy(&made, "pageable", "ring", "h2d", large != 0 ? 64 * MIB : MIB,
                         rates[i][large], 0, 0);
            test->parameters = settings[i];
            test->parameter_count = 2;
        }
    struct xb_costs costs = costs_of(&made);
    const struct xb_cost *in = cost(&costs, XB_COST_RING_IN);
    struct xb_words words = {.length = 0};
    assert_close(xb_cost_seconds(in, 64 * MIB, false, XB_MIDDLE), 64 * 1048576 / 40e9);
    assert_close(xb_cost_seconds(in, MIB, false, XB_MIDDLE), 1048576 / 5e9);
    xb_cost_basis(in, MIB, &words);
    assert_string_equal(words.text, "pageable ring h2d (threads 8): row of 1 MiB");
    made.record.cases += 4; /* nothing is near */
    made.record.case_count -= 4;
    costs = costs_of(&made);
    in = cost(&costs, XB_COST_RING_IN);
    assert_close(xb_cost_seconds(in, MIB, false, XB_MIDDLE), 1048576 / 10e9);
}

static void assert_basis(const struct xb_cost *cost, uint64_t bytes, const char *text)
{
    struct xb_words words = {.length = 0};
    xb_cost_basis(cost, bytes, &words);
    assert_string_equal(words.text, text);
}

TEST(test_what_it_rests_on_is_told)
{
    begin(&made);
    add_copies(&made, "pinned", "registered", "h2d", 10e9, 0, 0);
    struct xb_costs costs = costs_of(&made);
    const struct xb_cost *in = cost(&costs, XB_COST_PINNED_IN);
    assert_basis(in, MIB, "pinned registered h2d: row of 1 MiB");
    assert_basis(in, 2 * MIB, "pinned registered h2d: between rows of 1 MiB and 16 MiB");
    assert_basis(
        in, 4,
        "pinned registered h2d: below its smallest, 64 KiB: by the rate there and 10 us to start");
    assert_basis(in, 512 * MIB,
                 "pinned registered h2d: beyond its largest, 256 MiB, by the rate there");
    assert_basis(in, 0, "");
}
