/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

#include "base/statistics.h"
#include "checks.h"
#include "fleet/internal.h"
#include "fleet_fixture.h"
#include "random.h"

/* What slow and fast GPUs are, and what is told of a figure. */

#define RATE 1e10

static void add_one(size_t figure, size_t node, double value)
{
    add_document();
    add_value(figure, add_gpu(node, 0), value);
}

/* Logarithms 0 to 0.05, whose median is 0.025 with a median absolute deviation of 0.015. */
static void add_six_and(double seventh)
{
    begin();
    size_t figure = add_figure("h2d");
    for (int i = 0; i < 6; i++) {
        add_one(figure, add_node("n%d", i), RATE * exp(0.01 * i));
    }
    add_one(figure, add_node("far"), RATE * exp(seventh));
}

TEST(test_by_hand)
{
    add_six_and(-0.5);
    judge();
    const struct xb_fleet_finding *finding =
        assert_finding(XB_FLEET_SLOW, "far", "h2d 6.065 GB/s, 41 % below its 6 siblings (10.25)");
    assert_int_equal(judged.finding_count, 1);
    assert_close(finding->value, RATE * exp(-0.5));
    assert_close(finding->centre, RATE * exp(0.025));
    assert_close(finding->deviation, exp(-0.525) - 1);
    assert_close(finding->spreads, (exp(-0.525) - 1) / (1.4826022185056018 * 0.015));
    assert_true(finding->p > 0.001 && finding->p <= 0.01);
    assert_int_equal(judged.tests, 7);
    assert_int_equal(judged.judged_gpus, 7);
    assert_int_equal(judged.sibling_count, 1);
    assert_close(judged.siblings[0].centre, RATE * exp(0.02));
    assert_close(judged.siblings[0].spread, 1.4826022185056018 * 0.02);
    assert_close(judged.siblings[0].independent, 7);
    assert_int_equal(judged.siblings[0].slow, 1);
    assert_int_equal(judged.siblings[0].bins[0], 1);
    assert_int_equal(xb_fleet_exit_code(&judged), 1);
}

static double round_to_half(double value)
{
    return floor(2 * value) / 2;
}

/* Each value's siblings without it, found the long way. */
static void assert_left_out(const struct xb_tested *values, size_t count, size_t i)
{
    double others[16];
    size_t left = 0;
    for (size_t k = 0; k < count; k++)
        if (k != i)
            others[left++] = values[k].logarithm;
    double centre = xb_median_of(others, left);
    for (size_t k = 0; k < left; k++)
        others[k] = fabs(others[k] - centre);
    assert_true(fabs(values[i].centre - centre) <= 1e-12);
    assert_true(fabs(values[i].spread - 1.4826022185056018 * xb_median_of(others, left)) <= 1e-12);
    assert_int_equal(values[i].siblings, left);
}

TEST(test_each_is_left_out)
{
    static const struct xb_fleet_value some[16];
    uint64_t seed = 3;
    for (int round = 0; round < 200; round++)
        for (size_t count = 6; count <= 16; count++) {
            struct xb_tested values[16] = {{.value = NULL}};
            double scratch[16];
            for (size_t i = 0; i < count; i++) {
                double value = normal(&seed);
                values[i].value = &some[i];
                /* Every other round has equal ones. */
                values[i].logarithm = round % 2 == 0 ? value : round_to_half(value);
            }
            xb_fleet_leave_each_out(values, count, scratch);
            for (size_t i = 0; i < count; i++)
                assert_left_out(values, count, i);
        }
}

/* 12.4 spreads: P is 0.0036 for one of it, and 0.025 for one of seven. */
TEST(test_alpha_holds_for_all_together)
{
    add_six_and(0.3);
    judge();
    assert_int_equal(judged.finding_count, 0);
    assert_int_equal(xb_fleet_exit_code(&judged), 0);
    request.alpha = 0.05;
    judge();
    assert_finding(XB_FLEET_FAST, "far", "32 % above its 6 siblings");
}

TEST(test_twice_as_much_is_told_so)
{
    begin();
    next_figure.unit = "s";
    next_figure.more_is_better = false;
    size_t figure = add_fleet(20, 10e-6, 0.001);
    add_one(figure, add_node("late"), 32e-6);
    judge();
    assert_finding(XB_FLEET_SLOW, "late", "h2d 32.0 us, 3.2 times its 20 siblings (10.0 us)");
}

TEST(test_named_from)
{
    begin();
    size_t figure = add_fleet(50, RATE, 0.002);
    add_one(figure, add_node("n50"), RATE);
    judge();
    double from = judged.siblings[0].named_from;
    assert_true(from > 0.01 && from < 0.02);
    for (int i = 0; i < 2; i++) {
        begin();
        figure = add_fleet(50, RATE, 0.002);
        add_one(figure, add_node("n50"), RATE * (1 - from * (i == 0 ? 0.93 : 1.07)));
        judge();
        assert_int_equal(judged.finding_count, i);
    }
}

TEST(test_half_a_percent_is_never_named)
{
    begin();
    request.alpha = 0.5;
    size_t figure = add_fleet(500, RATE, 0);
    add_one(figure, add_node("near"), RATE * 0.9951);
    judge();
    assert_int_equal(judged.finding_count, 0);
    assert_true(judged.siblings[0].is_floor);
    assert_close(judged.siblings[0].spread, 0.001);
    assert_close(judged.siblings[0].named_from, 0.005);
    add_one(figure, add_node("far"), RATE * 0.9949);
    judge();
    assert_finding(XB_FLEET_SLOW, "far", "0.51 % below");
}

TEST(test_noisy_samples_excuse)
{
    for (int noisy = 0; noisy < 2; noisy++) {
        begin();
        size_t figure = add_fleet(50, RATE, 0.001);
        add_one(figure, add_node("far"), RATE * 0.95);
        for (size_t i = 0; i < fleet.value_count; i++)
            fleet.values[i].scatter = noisy && i + 1 == fleet.value_count ? 0.03 : 0.0001;
        judge();
        assert_int_equal(judged.finding_count, 1 - noisy);
    }
}

TEST(test_scatter_of_most_is_the_least_spread)
{
    begin();
    add_fleet(50, RATE, 0.001);
    for (size_t i = 0; i < fleet.value_count; i++)
        fleet.values[i].scatter = i % 5 > 1 ? 0.02 : NAN;
    judge();
    assert_true(judged.siblings[0].is_floor);
    assert_close(judged.siblings[0].spread, 0.02);
}

TEST(test_too_few)
{
    begin();
    size_t figure = add_fleet(4, RATE, 0.001);
    add_one(figure, add_node("far"), RATE / 2);
    judge();
    assert_int_equal(judged.tests, 0);
    assert_false(judged.siblings[0].judged);
    assert_true(isnan(judged.siblings[0].named_from));
    assert_int_equal(xb_fleet_exit_code(&judged), 3);
    add_one(figure, add_node("sixth"), RATE);
    judge();
    assert_int_equal(judged.tests, 6);
    assert_finding(XB_FLEET_SLOW, "far", "50 % below its 5 siblings");
}

/* A GPU has three documents. The one in the middle of the list is the newest. */
TEST(test_newest_counts)
{
    begin();
    size_t figure = add_fleet(50, RATE, 0.001);
    size_t gpu = add_gpu(add_node("again"), 0);
    const time_t times[] = {1000, 3000, 2000};
    const double values[] = {RATE / 3, RATE, RATE / 2};
    for (int i = 0; i < 3; i++) {
        next_source.written = times[i];
        add_document();
        add_value(figure, gpu, values[i]);
    }
    judge();
    assert_int_equal(judged.duplicates, 2);
    assert_int_equal(judged.siblings[0].values, 51);
    assert_int_equal(judged.finding_count, 0);
    next_source.written = 4000;
    add_document();
    add_value(figure, gpu, RATE / 2);
    judge();
    assert_finding(XB_FLEET_SLOW, "again", "50 % below");
}

/* Also where the driver was changed since: a node has one. */
TEST(test_newest_counts_whatever_the_driver)
{
    begin();
    add_fleet(50, RATE, 0.001);
    add_one(add_figure("h2d"), add_node("again"), RATE / 2);
    next_source.written = 2000;
    next_figure.driver = "590.0";
    add_one(add_figure("h2d"), add_node("again"), RATE);
    judge();
    assert_int_equal(judged.duplicates, 1);
    assert_int_equal(judged.finding_count, 0);
    next_figure.options = "chunk=4194304"; /* is another quantity */
    next_source.written = 3000;
    add_one(add_figure("h2d"), add_node("again"), RATE);
    assert_int_equal(fleet.value_count, 52); /* the old one is gone */
    judge();
    assert_int_equal(judged.duplicates, 0);
}

/* What was not measured alike is another figure. */
TEST(test_figures_are_apart)
{
    begin();
    add_fleet(20, RATE, 0.001);
    next_figure.driver = "570.0";
    add_one(add_figure("h2d"), add_node("other"), RATE / 2);
    judge();
    assert_int_equal(judged.sibling_count, 2);
    assert_true(judged.siblings[0].judged);
    assert_false(judged.siblings[1].judged);
    assert_int_equal(count_of(XB_FLEET_SLOW), 0);
}

/* Half of the nodes with other settings: nobody is named, and both groups are told. */
TEST(test_two_groups)
{
    begin();
    size_t figure = add_fleet(60, RATE, 0.001);
    for (int i = 0; i < 40; i++) {
        add_one(figure, add_node("slow%d", i), RATE * 0.96 * (1 + 0.001 * (i % 5 - 2)));
    }
    judge();
    assert_note("40 of 100 values, on 40 nodes, form a group 4.0 % below the others");
    for (size_t i = 0; i < judged.finding_count; i++)
        assert_true(judged.findings[i].together);
    begin();
    add_fleet(100, RATE, 0.001);
    judge();
    assert_int_equal(judged.note_count, 0);
}

TEST(test_one_is_not_together)
{
    begin();
    size_t figure = add_fleet(50, RATE, 0.001);
    add_one(figure, add_node("far"), RATE * 0.9);
    judge();
    assert_false(assert_finding(XB_FLEET_SLOW, "far", "")->together);
    assert_int_equal(judged.note_count, 0);
}

/* Six of 57 nodes are 3 % worse, one 40 %: the six have one cause, the one has its own. */
TEST(test_many_do_not_excuse_the_worst)
{
    for (int better = 0; better < 2; better++) {
        begin();
        next_figure.more_is_better = better == 1;
        size_t figure = add_fleet(50, RATE, 0.001);
        for (int i = 0; i < 7; i++) {
            double share = i == 3 ? 0.4 : 0.03;
            add_one(figure, add_node("%s%d", i == 3 ? "worst" : "bad", i),
                    RATE * (better == 1 ? 1 - share : 1 + share));
        }
        judge();
        assert_int_equal(count_of(XB_FLEET_SLOW), 7);
        assert_string_equal(judged.findings[0].node->name, "worst3");
        for (size_t i = 0; i < judged.finding_count; i++)
            assert_int_equal(judged.findings[i].together, i > 0);
    }
}

/* Eight values of each of three nodes are as good as three where all of a node are the same. */
TEST(test_alike_within_nodes)
{
    begin();
    size_t figure = add_figure("h2d");
    for (unsigned i = 0; i < 24; i++) {
        add_document();
        add_value(figure, add_gpu(add_node("n%u", i / 8), i % 8), RATE * (1 + 0.1 * (i / 8)));
    }
    judge();
    assert_close(judged.siblings[0].independent, 3);
    assert_int_equal(judged.siblings[0].nodes, 3);
}

/* 56 pairs of one node, all as good as the GPU where they begin, or where they end. */
TEST(test_pairs_of_a_gpu_are_alike)
{
    for (int of_target = 0; of_target < 2; of_target++) {
        begin();
        size_t figure = add_figure("peer");
        add_document();
        size_t node = add_node("n0");
        for (int from = 0; from < 8; from++)
            for (int to = 0; to < 8; to++) {
                if (from == to)
                    continue;
                add_pair(figure, add_gpu(node, (unsigned)from), to,
                         RATE * (1 + 0.01 * (of_target ? to : from)));
            }
        judge();
        assert_close(judged.siblings[0].independent, 8);
        assert_int_equal(judged.siblings[0].nodes, 1);
    }
}

/* Values that come in growing steps on both sides. */
TEST(test_wide)
{
    begin();
    size_t figure = add_figure("h2d");
    for (int i = -100; i <= 100; i++) {
        double off = -0.003 * log(1 - abs(i) / 101.0);
        add_one(figure, add_node("n%d", i), RATE * exp(i < 0 ? -off : off));
    }
    judge();
    assert_true(judged.siblings[0].wide > 0.003 && judged.siblings[0].wide < 0.0045);
    assert_int_equal(judged.finding_count, 0);
    assert_note("longer tails on both sides");
}

TEST(test_pairs)
{
    begin();
    size_t figure = add_figure("peer");
    for (unsigned i = 0; i < 20; i++) {
        add_document();
        size_t gpu = add_gpu(add_node("n%u", i), 0);
        for (int peer = 1; peer < 3; peer++) {
            add_pair(figure, gpu, peer, i == 7 && peer == 2 ? RATE / 2 : RATE * (1 + 0.0001 * i));
        }
    }
    judge();
    assert_int_equal(judged.duplicates, 0);
    assert_int_equal(assert_finding(XB_FLEET_SLOW, "n7", "peer")->peer, 2);
}

/* Files may hold any number: no overflow, and everything told is finite. */
TEST(test_extremes)
{
    static const double extremes[] = {1e-300, 1e308, 5e-324, 0, -1, INFINITY, NAN};
    static const double scatters[] = {NAN, INFINITY, -1, 1e308, 0, 1e-300, 1};
    begin();
    size_t figure = add_fleet(20, RATE, 0.001);
    for (int i = 0; i < 7; i++) {
        add_one(figure, add_node("x%d", i), extremes[i]);
        fleet.values[fleet.value_count - 1].scatter = scatters[i];
    }
    judge();
    assert_note("4 values are not judged");
    assert_true(judged.finding_count > 0);
    for (size_t i = 0; i < judged.finding_count; i++) {
        assert_true(isfinite(judged.findings[i].deviation));
        assert_true(isfinite(judged.findings[i].spreads));
        assert_true(isfinite(judged.findings[i].centre));
    }
    size_t binned = 0;
    for (size_t i = 0; i < XB_FLEET_BINS; i++)
        binned += judged.siblings[0].bins[i];
    assert_int_equal(binned, 23);
    assert_true(isfinite(judged.siblings[0].bins_from) && isfinite(judged.siblings[0].bins_to));
    assert_true(isfinite(judged.siblings[0].spread) && isfinite(judged.siblings[0].named_from));
}

/* The worst GPU first, all of its figures together; then by name, n2 before n10. */
TEST(test_order)
{
    static const char *const expected[] = {"n3 d2h", "n3 h2d", "n2 h2d", "n10 h2d"};
    begin();
    size_t h2d = add_figure("h2d");
    size_t d2h = add_figure("d2h");
    for (unsigned i = 0; i < 100; i++) {
        add_document();
        size_t gpu = add_gpu(add_node("n%u", i), 0);
        double loss = i == 3 ? 0.05 : i == 2 || i == 10 ? 0.1 : 0;
        add_value(h2d, gpu, RATE * (1 - loss));
        add_value(d2h, gpu, RATE * (i == 3 ? 0.5 : 1));
    }
    judge();
    assert_int_equal(judged.finding_count, 4);
    for (size_t i = 0; i < 4; i++) {
        char text[64];
        snprintf(text, sizeof text, "%s %s", judged.findings[i].node->name,
                 judged.findings[i].figure->name);
        assert_string_equal(text, expected[i]);
    }
    assert_string_equal(judged.siblings[0].figure->name, "d2h");
}

GROUP(NULL, finish_group)
