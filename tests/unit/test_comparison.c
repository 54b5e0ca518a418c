/* SPDX-License-Identifier: Apache-2.0 */
#include "xferbench/comparison.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "record_fixture.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define MIB (UINT64_C(1) << 20)
#define RATE 55e9     /* bytes per second */
#define SECONDS 10e-6 /* of an operation */
#define STEP 1e-4     /* from a process to the next */

/* ---- two records, and what is asked of them ---- */

static struct xb_record before, after;
static struct xb_comparison_request request;
static struct xb_comparison result;

static void finish(void)
{
    xb_comparison_free(&result);
    xb_gates_free(&request.gates);
    xb_record_free(&before);
    xb_record_free(&after);
}

static void begin(size_t baseline, size_t candidate)
{
    finish();
    before = make_record(baseline);
    after = make_record(candidate);
    request = (struct xb_comparison_request){.threshold = 0.02, .alpha = 0.01};
}

static int finish_group(void **state)
{
    (void)state;
    finish();
    return 0;
}

static void gate(const char *text)
{
    struct xb_error error;
    xb_gates_free(&request.gates);
    assert_int_equal(xb_gates_parse(text, &request.gates, &error), XB_OK);
}

/* In both files, the candidate's by `ratio` of the baseline's. */
static void add_both(const char *mode, const char *direction, uint64_t bytes, double ratio)
{
    measure(&before, add_named(&before, mode, direction, bytes, false), XB_METRIC_BANDWIDTH, RATE,
            STEP);
    measure(&after, add_named(&after, mode, direction, bytes, false), XB_METRIC_BANDWIDTH,
            RATE * ratio, STEP);
}

static void add_pinned(double ratio)
{
    add_both("pinned", "h2d", (before.case_count + 1) * MIB, ratio);
}

/* By either clock. */
static void add_latency(double host_ratio, double device_ratio)
{
    struct xb_record_case *tests[] = {add_named(&before, "async", "h2d", 8, true),
                                      add_named(&after, "async", "h2d", 8, true)};
    measure(&before, tests[0], XB_METRIC_HOST_LATENCY, SECONDS, STEP);
    measure(&after, tests[1], XB_METRIC_HOST_LATENCY, SECONDS * host_ratio, STEP);
    measure(&before, tests[0], XB_METRIC_DEVICE_LATENCY, SECONDS / 2, STEP);
    measure(&after, tests[1], XB_METRIC_DEVICE_LATENCY, SECONDS / 2 * device_ratio, STEP);
}

/*
 * One case of which `against` pairs of 64 contradict that the ratio is below `bound`, or, where
 * `above`, that it is above: all of the candidate's processes are 1 % off to that side but the
 * last, which lies among the baseline's.
 */
static void add_contradicted(double bound, bool above, size_t against)
{
    struct xb_record_case *test = add_named(&after, "async", "h2d", MIB, false);
    size_t beyond = above ? 8 - against : against;
    measure(&before, add_named(&before, "async", "h2d", MIB, false), XB_METRIC_BANDWIDTH, RATE,
            STEP);
    measure(&after, test, XB_METRIC_BANDWIDTH, RATE * bound * (above ? 1.01 : 0.99), 0.0);
    measure_one(test, 7, XB_METRIC_BANDWIDTH, RATE * bound * (1.0 + STEP * ((double)beyond - 0.5)));
}

/* P(U <= 3) for eight a side: one order has U = 0, one 1, two 2, three 3. */
#define P_THREE (7.0 / 12870.0)

static void compare(void)
{
    struct xb_error error;
    xb_comparison_free(&result);
    memset(&result, 0xa5, sizeof result);
    assert_int_equal(xb_compare(&before, &after, &request, &result, &error), XB_OK);
    assert_ptr_equal(result.baseline, &before);
    assert_ptr_equal(result.candidate, &after);
}

static void assert_overall(enum xb_outcome outcome, int code, const char *words)
{
    assert_string_equal(xb_outcome_name(result.overall), xb_outcome_name(outcome));
    assert_int_equal(xb_comparison_exit_code(&result), code);
    if (strstr(result.reason, words) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", result.reason, words);
}

static const struct xb_compared *assert_case(size_t i, enum xb_basis basis, enum xb_outcome outcome,
                                             const char *words)
{
    assert_true(i < result.case_count);
    const struct xb_compared *compared = &result.cases[i];
    assert_int_equal(compared->basis, basis);
    assert_string_equal(xb_outcome_name(compared->outcome), xb_outcome_name(outcome));
    if (words[0] == '\0' ? compared->note[0] != '\0' : strstr(compared->note, words) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", compared->note, words);
    if (basis != XB_BASIS_TEST) {
        assert_true(compared->p_regression == 1.0);
        assert_true(compared->p_improved == 1.0);
        assert_true(compared->p_pass == 1.0);
    }
    return compared;
}

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.12g is not %.12g", value, expected);
}

/* One case, eight processes a side, compared. */
static const struct xb_compared *verdict_of(double ratio, enum xb_outcome outcome)
{
    begin(8, 8);
    add_pinned(ratio);
    compare();
    assert_int_equal(result.case_count, 1);
    return assert_case(0, XB_BASIS_TEST, outcome, "");
}

/* ---- figures ---- */

static void names_outcomes(void **state)
{
    (void)state;
    assert_string_equal(xb_outcome_name(XB_OUTCOME_PASS), "PASS");
    assert_string_equal(xb_outcome_name(XB_OUTCOME_IMPROVED), "IMPROVED");
    assert_string_equal(xb_outcome_name(XB_OUTCOME_INCONCLUSIVE), "INCONCLUSIVE");
    assert_string_equal(xb_outcome_name(XB_OUTCOME_REGRESSION), "REGRESSION");
    assert_string_equal(xb_outcome_name((enum xb_outcome)99), "unknown");
}

static void passes_what_is_the_same(void **state)
{
    (void)state;
    const struct xb_compared *compared = verdict_of(1.0, XB_OUTCOME_PASS);
    assert_ptr_equal(compared->test, &after.cases[0]);
    assert_int_equal(compared->metric, XB_METRIC_BANDWIDTH);
    assert_int_equal(compared->presence, XB_IN_BOTH);
    assert_true(compared->gates);
    assert_int_equal(compared->baseline_n, 8);
    assert_int_equal(compared->candidate_n, 8);
    assert_near(compared->baseline_median, RATE * (1.0 + 3.5 * STEP));
    assert_near(compared->candidate_median, RATE * (1.0 + 3.5 * STEP));
    assert_true(compared->has_ratio);
    assert_near(compared->ratio, 1.0);
    assert_true(compared->has_interval);
    assert_true(compared->low > 0.9992 && compared->low < 1.0);
    assert_true(compared->high > 1.0 && compared->high < 1.0008);
    assert_near(compared->confidence, 0.98);
    assert_near(compared->p_pass, 1.0 / 12870.0);
    assert_near(compared->p_regression, 1.0);
    assert_near(compared->p_improved, 1.0);
    assert_int_equal(result.gating_count, 1);
    assert_int_equal(result.processes_needed, 5);
    assert_true(result.comparable);
    assert_int_equal(result.difference_count, 0);
    assert_overall(XB_OUTCOME_PASS, 0,
                   "none of 1 gating figures is worse by 2 % or more; 0 better");
}

static void judges_bandwidth(void **state)
{
    (void)state;
    const struct xb_compared *compared = verdict_of(0.97, XB_OUTCOME_REGRESSION);
    assert_near(compared->p_regression, 1.0 / 12870.0);
    assert_near(compared->p_pass, 1.0);
    assert_near(compared->ratio, 0.97);
    assert_true(compared->low < 0.97 && compared->high > 0.97 && compared->high < 0.98);
    assert_near(compared->candidate_median, 0.97 * RATE * (1.0 + 3.5 * STEP));
    assert_overall(XB_OUTCOME_REGRESSION, 1, "1 of 1 gating figures: worse by 2 % or more");
    verdict_of(0.985, XB_OUTCOME_PASS);
    verdict_of(1.015, XB_OUTCOME_PASS);
    compared = verdict_of(1.03, XB_OUTCOME_IMPROVED);
    assert_near(compared->p_improved, 1.0 / 12870.0);
    assert_near(compared->p_pass, 1.0 / 12870.0);
    assert_overall(XB_OUTCOME_IMPROVED, 0,
                   "none of 1 gating figures is worse by 2 % or more; 1 bet");
    verdict_of(0.98, XB_OUTCOME_INCONCLUSIVE);
    assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "1 of 1 gating figures: the data does not tell");
    verdict_of(1.02, XB_OUTCOME_PASS);
}

static void judges_latency_the_other_way(void **state)
{
    static const struct {
        double ratio;
        enum xb_outcome outcome;
    } expected[] = {{1.03, XB_OUTCOME_REGRESSION},   {1.015, XB_OUTCOME_PASS},
                    {1.0, XB_OUTCOME_PASS},          {0.985, XB_OUTCOME_PASS},
                    {0.97, XB_OUTCOME_IMPROVED},     {0.98, XB_OUTCOME_PASS},
                    {1.02, XB_OUTCOME_INCONCLUSIVE}, {10.0, XB_OUTCOME_REGRESSION}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        begin(8, 8);
        add_latency(expected[i].ratio, 1.0);
        compare();
        assert_int_equal(result.case_count, 2);
        const struct xb_compared *host = assert_case(0, XB_BASIS_TEST, expected[i].outcome, "");
        const struct xb_compared *device = assert_case(1, XB_BASIS_TEST, XB_OUTCOME_PASS, "");
        assert_int_equal(host->metric, XB_METRIC_HOST_LATENCY);
        assert_near(host->ratio, expected[i].ratio);
        assert_near(host->baseline_median, SECONDS * (1.0 + 3.5 * STEP));
        assert_int_equal(device->metric, XB_METRIC_DEVICE_LATENCY);
        assert_near(device->ratio, 1.0);
        assert_near(device->p_pass, 1.0 / 12870.0);

        begin(8, 8);
        add_latency(1.0, expected[i].ratio);
        compare();
        assert_case(0, XB_BASIS_TEST, XB_OUTCOME_PASS, "");
        assert_case(1, XB_BASIS_TEST, expected[i].outcome, "");
        assert_int_equal(result.gating_count, 2);
        assert_int_equal(result.processes_needed, 5);
        assert_int_equal(result.overall, expected[i].outcome);
    }
}

/* However a ratio of just the threshold is rounded, it is neither less nor more. */
static void says_nothing_on_the_boundary(void **state)
{
    (void)state;
    for (int i = 0; i < 200; i++) {
        double rate = RATE * (1.0 + 0.0137 * i);
        begin(8, 8);
        measure(&before, add_named(&before, "pinned", "h2d", MIB, false), XB_METRIC_BANDWIDTH, rate,
                0.0);
        measure(&after, add_named(&after, "pinned", "h2d", MIB, false), XB_METRIC_BANDWIDTH,
                rate * 0.98, 0.0);
        compare();
        const struct xb_compared *loss = assert_case(0, XB_BASIS_TEST, XB_OUTCOME_INCONCLUSIVE, "");
        assert_near(loss->p_regression, 1.0);
        assert_near(loss->p_pass, 1.0);
        assert_near(loss->high, 0.98);
        measure(&after, &after.cases[0], XB_METRIC_BANDWIDTH, rate * 1.02, 0.0);
        compare();
        const struct xb_compared *gain = assert_case(0, XB_BASIS_TEST, XB_OUTCOME_PASS, "");
        assert_near(gain->p_improved, 1.0);
    }
    for (int i = 0; i < 200; i++) {
        double seconds = SECONDS * (1.0 + 0.0137 * i);
        begin(8, 8);
        measure(&before, add_named(&before, "pinned", "h2d", 8, true), XB_METRIC_HOST_LATENCY,
                seconds, 0.0);
        measure(&after, add_named(&after, "pinned", "h2d", 8, true), XB_METRIC_HOST_LATENCY,
                seconds * 1.02, 0.0);
        compare();
        const struct xb_compared *loss = assert_case(0, XB_BASIS_TEST, XB_OUTCOME_INCONCLUSIVE, "");
        assert_near(loss->p_regression, 1.0);
        assert_near(loss->p_pass, 1.0);
        measure(&after, &after.cases[0], XB_METRIC_HOST_LATENCY, seconds * 0.98, 0.0);
        compare();
        const struct xb_compared *gain = assert_case(0, XB_BASIS_TEST, XB_OUTCOME_PASS, "");
        assert_near(gain->p_improved, 1.0);
    }
}

static void takes_a_threshold_of_nothing(void **state)
{
    static const struct {
        double ratio;
        enum xb_outcome outcome;
    } expected[] = {{0.999, XB_OUTCOME_REGRESSION},
                    {1.0, XB_OUTCOME_INCONCLUSIVE},
                    {1.001, XB_OUTCOME_IMPROVED}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        begin(8, 8);
        request.threshold = 0.0;
        add_pinned(expected[i].ratio);
        compare();
        assert_case(0, XB_BASIS_TEST, expected[i].outcome, "");
    }
}

/* One bad process of eight moves neither the ratio nor the verdict; three leave it open. */
static void estimates_from_all_pairs(void **state)
{
    (void)state;
    begin(8, 8);
    add_pinned(1.0);
    measure_one(&after.cases[0], 3, XB_METRIC_BANDWIDTH, RATE / 10); /* one bad process */
    compare();
    const struct xb_compared *compared =
        assert_case(0, XB_BASIS_TEST, XB_OUTCOME_PASS, "1 of 8 processes");
    assert_true(fabs(compared->ratio - 1.0) < 0.001);
    assert_true(compared->p_pass > 1e-4 && compared->p_pass <= 0.01);
    measure_one(&after.cases[0], 4, XB_METRIC_BANDWIDTH, RATE / 10);
    measure_one(&after.cases[0], 5, XB_METRIC_BANDWIDTH, RATE / 10);
    compare();
    assert_case(0, XB_BASIS_TEST, XB_OUTCOME_INCONCLUSIVE, "3 of 8 processes");
}

static void compares_unequal_numbers(void **state)
{
    static const struct {
        size_t n, m;
        double p; /* 1 / C(n + m, n) */
    } sides[] = {{5, 8, 1.0 / 1287}, {8, 5, 1.0 / 1287}, {5, 20, 1.0 / 53130}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(sides); i++) {
        begin(sides[i].n, sides[i].m);
        add_pinned(0.96);
        compare();
        const struct xb_compared *compared =
            assert_case(0, XB_BASIS_TEST, XB_OUTCOME_REGRESSION, "");
        assert_int_equal(compared->baseline_n, sides[i].n);
        assert_int_equal(compared->candidate_n, sides[i].m);
        assert_near(compared->p_regression, sides[i].p);
        begin(sides[i].n, sides[i].m);
        add_pinned(1.0);
        compare();
        assert_case(0, XB_BASIS_TEST, XB_OUTCOME_PASS, "");
    }
    begin(2, 8); /* C(10, 2) = 45 */
    add_pinned(0.96);
    compare();
    const struct xb_compared *compared =
        assert_case(0, XB_BASIS_INDICATIVE, XB_OUTCOME_REGRESSION, "");
    assert_near(compared->confidence, 1.0 - 2.0 / 45);
    assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "too few processes for 1 of 1 gating figures");
}

/* However many there are on the other side: a lucky few against a hundred would look certain. */
static void needs_enough_processes_on_either_side(void **state)
{
    static const size_t sides[][2] = {{4, 8}, {8, 4}, {4, 100}, {100, 4}, {1, 100}, {2, 20}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(sides); i++) {
        begin(sides[i][0], sides[i][1]);
        add_pinned(0.9);
        compare();
        assert_case(0, XB_BASIS_INDICATIVE, XB_OUTCOME_REGRESSION, "");
        assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "takes 5 processes a side");
    }
}

static void compares_a_hundred_processes(void **state)
{
    (void)state;
    begin(100, 100);
    add_pinned(0.96);
    add_pinned(1.0);
    compare();
    const struct xb_compared *compared = assert_case(0, XB_BASIS_TEST, XB_OUTCOME_REGRESSION, "");
    assert_int_equal(compared->baseline_n, 100);
    assert_int_equal(compared->candidate_n, 100);
    assert_case(1, XB_BASIS_TEST, XB_OUTCOME_PASS, "");
    assert_overall(XB_OUTCOME_REGRESSION, 1, "1 of 2 gating figures");
}

/* ---- many cases at once ---- */

static void add_passing(size_t count)
{
    for (size_t i = 0; i < count; i++)
        add_pinned(1.0);
}

static void adjusts_regressions(void **state)
{
    (void)state;
    begin(8, 8);
    add_contradicted(0.98, false, 3);
    compare();
    assert_near(assert_case(0, XB_BASIS_TEST, XB_OUTCOME_REGRESSION, "")->p_regression, P_THREE);

    add_passing(17); /* 18 together */
    compare();
    assert_near(assert_case(0, XB_BASIS_TEST, XB_OUTCOME_REGRESSION, "")->p_regression,
                18 * P_THREE);
    assert_overall(XB_OUTCOME_REGRESSION, 1, "1 of 18 gating figures");

    add_passing(2); /* 20: 0.0109 */
    compare();
    assert_near(assert_case(0, XB_BASIS_TEST, XB_OUTCOME_INCONCLUSIVE, "")->p_regression,
                20 * P_THREE);
    assert_int_equal(result.gating_count, 20);
    assert_int_equal(result.processes_needed, 7);
    assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "1 of 20 gating figures: the data does not tell");
    assert_int_equal(xb_comparison_count(&result, XB_OUTCOME_PASS), 19);

    gate("async"); /* one alone has all of alpha */
    compare();
    assert_near(assert_case(0, XB_BASIS_TEST, XB_OUTCOME_REGRESSION, "")->p_regression, P_THREE);
    assert_int_equal(result.gating_count, 1);
    assert_overall(XB_OUTCOME_REGRESSION, 1, "1 of 1 gating figures");
}

/* The second of Holm's steps asks less than the first: 18 x 0.000544 and not 19. */
static void adjusts_step_by_step(void **state)
{
    (void)state;
    begin(8, 8);
    add_contradicted(0.98, false, 3);
    add_passing(18);
    compare();
    assert_case(0, XB_BASIS_TEST, XB_OUTCOME_INCONCLUSIVE, "");
    measure(&after, &after.cases[1], XB_METRIC_BANDWIDTH, 0.9 * RATE, STEP);
    compare();
    assert_near(assert_case(0, XB_BASIS_TEST, XB_OUTCOME_REGRESSION, "")->p_regression,
                18 * P_THREE);
    assert_near(assert_case(1, XB_BASIS_TEST, XB_OUTCOME_REGRESSION, "")->p_regression,
                19.0 / 12870);
    assert_overall(XB_OUTCOME_REGRESSION, 1, "2 of 19 gating figures");
}

static void adjusts_improvements(void **state)
{
    (void)state;
    begin(8, 8);
    add_contradicted(1.02, true, 3);
    compare();
    assert_near(assert_case(0, XB_BASIS_TEST, XB_OUTCOME_IMPROVED, "")->p_improved, P_THREE);
    add_passing(19);
    compare();
    const struct xb_compared *compared = assert_case(0, XB_BASIS_TEST, XB_OUTCOME_PASS, "");
    assert_near(compared->p_improved, 20 * P_THREE);
    assert_overall(XB_OUTCOME_PASS, 0, "none of 20 gating figures");
}

/* That all pass is claimed only together: each may take all of alpha. */
static void does_not_adjust_what_passes(void **state)
{
    (void)state;
    begin(8, 8);
    add_contradicted(0.98, true, 3);
    add_passing(19);
    compare();
    assert_near(assert_case(0, XB_BASIS_TEST, XB_OUTCOME_PASS, "")->p_pass, P_THREE);
    assert_overall(XB_OUTCOME_PASS, 0, "none of 20 gating figures");
}

static void needs_enough_processes(void **state)
{
    static const double ways[] = {1, 2, 6, 20, 70, 252, 924, 3432, 12870}; /* C(2 k, k) */
    static const size_t tests[] = {1, 2, 3, 9, 10, 34, 35, 60};
    (void)state;
    for (size_t k = 1; k <= 8; k++)
        for (size_t t = 0; t < COUNT_OF(tests); t++) {
            bool enough = ways[k] >= (double)tests[t] / 0.01;
            size_t needed = 1;
            while (ways[needed] < (double)tests[t] / 0.01)
                needed++;
            begin(k, k);
            add_pinned(0.9);
            add_passing(tests[t] - 1);
            compare();
            assert_int_equal(result.gating_count, tests[t]);
            assert_int_equal(result.processes_needed, needed);
            assert_case(0, enough ? XB_BASIS_TEST : XB_BASIS_INDICATIVE, XB_OUTCOME_REGRESSION, "");
            char words[96];
            snprintf(
                words, sizeof words,
                "too few processes for %zu of %zu gating figures at alpha 0.01, which takes %zu "
                "processes a side",
                tests[t], tests[t], needed);
            if (enough)
                assert_overall(XB_OUTCOME_REGRESSION, 1, "gating figures: worse by 2 %");
            else
                assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, words);
            assert_int_equal(xb_comparison_count(&result, XB_OUTCOME_REGRESSION), enough);
            assert_int_equal(xb_comparison_count(&result, XB_OUTCOME_PASS),
                             enough ? tests[t] - 1 : 0);
        }
}

/* 3 tests at 0.15 are just what three processes a side can do, C(6, 3) = 20: rounding must not
 * refuse it, and one test more is too many. */
static void takes_what_is_just_enough(void **state)
{
    static const double ways[] = {1, 2, 6, 20, 70};
    (void)state;
    for (size_t k = 3; k <= 4; k++)
        for (size_t tests = 1; tests < 30 && (double)tests < 0.5 * ways[k]; tests++) {
            begin(k, k);
            request.alpha = (double)tests / ways[k];
            add_pinned(0.9);
            add_passing(tests - 1);
            compare();
            assert_case(0, XB_BASIS_TEST, XB_OUTCOME_REGRESSION, "");
            assert_int_equal(result.processes_needed, k);
            add_passing(1);
            compare();
            assert_case(0, XB_BASIS_INDICATIVE, XB_OUTCOME_REGRESSION, "");
        }
    begin(100, 100);
    request.alpha = 1e-60; /* C(200, 100) is 9e58 */
    add_pinned(0.9);
    compare();
    assert_case(0, XB_BASIS_INDICATIVE, XB_OUTCOME_REGRESSION, "");
    assert_int_equal(result.processes_needed, 0);
    assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "takes more than can be compared; of these, 1 look");
}

/* Cases that had too few processes, among others that had enough. */
static void does_not_pass_over_what_is_indicative(void **state)
{
    (void)state;
    begin(8, 8);
    add_pinned(1.0);
    add_pinned(1.0);
    for (size_t i = 0; i < 7; i++)
        spoil(&before.cases[1], i, XB_RESULT_ERROR, XB_VERIFIED_UNKNOWN, "no memory");
    compare();
    assert_case(0, XB_BASIS_TEST, XB_OUTCOME_PASS, "");
    assert_case(1, XB_BASIS_INDICATIVE, XB_OUTCOME_PASS, "failed in 7 of 8");
    assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "1 of 2 gating figures");
    measure(&after, &after.cases[0], XB_METRIC_BANDWIDTH, RATE / 2, STEP);
    compare();
    assert_overall(XB_OUTCOME_REGRESSION, 1, "1 of 2 gating figures: worse");
    measure(&after, &after.cases[0], XB_METRIC_BANDWIDTH, RATE, STEP);
    gate("*/*/1M"); /* the first alone */
    compare();
    assert_case(1, XB_BASIS_INDICATIVE, XB_OUTCOME_PASS, "failed in 7 of 8");
    assert_overall(XB_OUTCOME_PASS, 0, "none of 1 gating figures");
}

/* ---- too few processes ---- */

static const struct xb_compared *indication_of(double ratio, enum xb_outcome outcome)
{
    begin(1, 1);
    add_pinned(ratio);
    compare();
    const struct xb_compared *compared = assert_case(0, XB_BASIS_INDICATIVE, outcome, "");
    assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "indicative only");
    for (int i = XB_OUTCOME_PASS; i <= XB_OUTCOME_REGRESSION; i++)
        assert_int_equal(xb_comparison_count(&result, (enum xb_outcome)i), 0);
    return compared;
}

static void indicates_by_intervals(void **state)
{
    (void)state;
    const struct xb_compared *compared = indication_of(0.97, XB_OUTCOME_REGRESSION);
    assert_near(compared->ratio, 0.97);
    assert_true(compared->has_interval);
    assert_near(compared->low, 0.97 * 0.999 / 1.001);
    assert_near(compared->high, 0.97 * 1.001 / 0.999);
    assert_true(compared->confidence == 0.0);
    assert_non_null(strstr(result.reason, "1 look like a regression"));
    indication_of(0.977, XB_OUTCOME_REGRESSION);
    indication_of(0.979, XB_OUTCOME_INCONCLUSIVE); /* by itself below, but not all of it */
    indication_of(0.98, XB_OUTCOME_INCONCLUSIVE);
    indication_of(0.981, XB_OUTCOME_INCONCLUSIVE);
    indication_of(0.983, XB_OUTCOME_PASS);
    indication_of(1.0, XB_OUTCOME_PASS);
    indication_of(1.021, XB_OUTCOME_PASS);
    indication_of(1.023, XB_OUTCOME_IMPROVED);
    assert_non_null(strstr(result.reason, "0 look like a regression"));
}

static void indicates_by_the_ratio_without_intervals(void **state)
{
    static const struct {
        double ratio;
        enum xb_outcome more, less; /* where more is better, and where less is */
    } expected[] = {{0.97, XB_OUTCOME_REGRESSION, XB_OUTCOME_IMPROVED},
                    {0.979, XB_OUTCOME_REGRESSION, XB_OUTCOME_IMPROVED},
                    {0.981, XB_OUTCOME_PASS, XB_OUTCOME_PASS},
                    {1.0, XB_OUTCOME_PASS, XB_OUTCOME_PASS},
                    {1.019, XB_OUTCOME_PASS, XB_OUTCOME_PASS},
                    {1.021, XB_OUTCOME_IMPROVED, XB_OUTCOME_REGRESSION},
                    {1.03, XB_OUTCOME_IMPROVED, XB_OUTCOME_REGRESSION}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(expected); i++)
        for (int side = 0; side < 2; side++) {
            begin(1, 1);
            add_pinned(expected[i].ratio);
            add_latency(expected[i].ratio, 1.0);
            (side == 0 ? &before : &after)->cases[0].rows[0].values[0].has_interval = false;
            compare();
            const struct xb_compared *compared =
                assert_case(0, XB_BASIS_INDICATIVE, expected[i].more, "");
            assert_false(compared->has_interval);
            assert_case(1, XB_BASIS_INDICATIVE, expected[i].less, "");
            assert_case(2, XB_BASIS_INDICATIVE, XB_OUTCOME_PASS, "");
        }
}

/* The one process that measured it need not be the first. */
static void finds_the_only_process(void **state)
{
    (void)state;
    begin(3, 1);
    struct xb_record_case *test = add_named(&before, "pinned", "h2d", MIB, false);
    measure(&after, add_named(&after, "pinned", "h2d", MIB, false), XB_METRIC_BANDWIDTH, RATE, 0.0);
    spoil(test, 0, XB_RESULT_SKIPPED, XB_VERIFIED_UNKNOWN, "no memory");
    spoil(test, 1, XB_RESULT_SKIPPED, XB_VERIFIED_UNKNOWN, "no memory");
    measure_one(test, 2, XB_METRIC_BANDWIDTH, RATE);
    compare();
    const struct xb_compared *compared =
        assert_case(0, XB_BASIS_INDICATIVE, XB_OUTCOME_PASS,
                    "skipped in 2 of 3 processes of the baseline: no memory");
    assert_near(compared->low, 0.999 / 1.001);
    assert_near(compared->high, 1.001 / 0.999);
}

/* The extremes of all pairs, with what they are worth. */
static void tells_how_little_few_processes_say(void **state)
{
    (void)state;
    begin(2, 2);
    add_pinned(0.9);
    compare();
    const struct xb_compared *compared =
        assert_case(0, XB_BASIS_INDICATIVE, XB_OUTCOME_REGRESSION, "");
    assert_near(compared->confidence, 1.0 - 2.0 / 6.0);
    assert_near(compared->low, 0.9 / (1.0 + STEP));
    assert_near(compared->high, 0.9 * (1.0 + STEP));

    begin(1, 3); /* one process against several: between processes, not within them */
    add_pinned(0.9);
    compare();
    compared = assert_case(0, XB_BASIS_INDICATIVE, XB_OUTCOME_REGRESSION, "");
    assert_near(compared->confidence, 1.0 - 2.0 / 4.0);
    assert_near(compared->low, 0.9);
    assert_near(compared->high, 0.9 * (1.0 + 2 * STEP));
}

/* Three processes a side, whose ratios lie between these two. */
static void assert_latency_between(double low, double high, enum xb_outcome outcome)
{
    begin(3, 3);
    add_latency(1.0, 1.0);
    for (size_t i = 0; i < 3; i++) {
        measure_one(&before.cases[0], i, XB_METRIC_DEVICE_LATENCY, SECONDS);
        measure_one(&after.cases[0], i, XB_METRIC_DEVICE_LATENCY,
                    SECONDS * (low + (high - low) * 0.5 * (double)i));
    }
    compare();
    const char *note = (low + high) / 2 < 1.02 && high > 1.02 ? "1 of 3 processes" : "";
    const struct xb_compared *compared = assert_case(1, XB_BASIS_INDICATIVE, outcome, note);
    assert_near(compared->low, low);
    assert_near(compared->high, high);
}

static void indicates_latency_the_other_way(void **state)
{
    (void)state;
    assert_latency_between(1.021, 1.04, XB_OUTCOME_REGRESSION);
    assert_latency_between(1.019, 1.04, XB_OUTCOME_INCONCLUSIVE);
    assert_latency_between(0.99, 1.021, XB_OUTCOME_INCONCLUSIVE);
    assert_latency_between(0.99, 1.019, XB_OUTCOME_PASS);
    assert_latency_between(0.95, 1.019, XB_OUTCOME_PASS);
    assert_latency_between(0.95, 0.981, XB_OUTCOME_PASS);
    assert_latency_between(0.95, 0.979, XB_OUTCOME_IMPROVED);
}

/* ---- gates ---- */

static void gates_by_mode_direction_and_size(void **state)
{
    static const struct {
        const char *gates;
        const char *expected; /* of the five cases below */
    } rows[] = {{"pinned", "11000"},
                {"*", "11111"},
                {"*/d2h", "01010"},
                {"pinned/d2h", "01000"},
                {"*/*/64M", "10100"},
                {"*/*/1..64M", "10110"},
                {"*/*/64M..1G", "11101"},
                {"*/*/65M..1G", "01001"},
                {"*/*/1..63M", "00010"},
                {"async/h2d/64M,pinned/d2h", "01100"},
                {"pageable,pinned/h2d", "10001"}};
    (void)state;
    begin(8, 8);
    add_both("pinned", "h2d", 64 * MIB, 1.0);
    add_both("pinned", "d2h", 1024 * MIB, 1.0);
    add_both("async", "h2d", 64 * MIB, 1.0);
    add_both("async", "d2h", 1 * MIB, 1.0);
    add_both("pageable", "bidir", 256 * MIB, 1.0);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        size_t count = 0;
        gate(rows[i].gates);
        compare();
        assert_int_equal(result.case_count, 5);
        for (size_t c = 0; c < 5; c++) {
            assert_int_equal(result.cases[c].gates, rows[i].expected[c] == '1');
            count += rows[i].expected[c] == '1';
        }
        assert_int_equal(result.gating_count, count);
        assert_int_equal(xb_comparison_count(&result, XB_OUTCOME_PASS), count);
    }
}

static void leaves_out_what_does_not_gate(void **state)
{
    (void)state;
    begin(8, 8);
    add_pinned(1.0);
    gate("pinned");
    add_both("async", "h2d", MIB, 0.5);
    add_both("async", "d2h", MIB, 2.0);
    add_both("async", "bidir", MIB, 0.98);
    add_both("pageable", "h2d", MIB, 1.0);
    measure(&before, add_named(&before, "pageable", "d2h", MIB, false), XB_METRIC_BANDWIDTH, RATE,
            STEP);
    measure(&after, add_named(&after, "pageable", "bidir", MIB, false), XB_METRIC_BANDWIDTH, RATE,
            STEP);
    spoil(&after.cases[4], 0, XB_RESULT_ERROR, XB_VERIFIED_FALSE, "byte 3");
    compare();
    assert_int_equal(result.case_count, 7);
    assert_true(result.cases[0].gates);
    for (size_t i = 1; i < 7; i++)
        assert_false(result.cases[i].gates);
    assert_case(0, XB_BASIS_TEST, XB_OUTCOME_PASS, "");
    assert_case(1, XB_BASIS_TEST, XB_OUTCOME_REGRESSION, "");
    assert_case(2, XB_BASIS_TEST, XB_OUTCOME_IMPROVED, "");
    assert_case(3, XB_BASIS_TEST, XB_OUTCOME_INCONCLUSIVE, "");
    assert_case(4, XB_BASIS_STATUS, XB_OUTCOME_REGRESSION, "wrong data");
    assert_case(5, XB_BASIS_STATUS, XB_OUTCOME_INCONCLUSIVE, "");
    assert_case(6, XB_BASIS_NONE, XB_OUTCOME_PASS, "");
    assert_int_equal(result.gating_count, 1);
    assert_int_equal(xb_comparison_count(&result, XB_OUTCOME_REGRESSION), 0);
    assert_int_equal(xb_comparison_count(&result, XB_OUTCOME_IMPROVED), 0);
    assert_overall(XB_OUTCOME_PASS, 0, "none of 1 gating figures");
}

/* Each at its own alpha, so that many others take nothing from it. */
static void judges_at_full_alpha_what_does_not_gate(void **state)
{
    (void)state;
    begin(5, 5);
    add_both("async", "h2d", MIB, 0.9);
    add_passing(20);
    gate("pinned");
    compare();
    assert_near(assert_case(0, XB_BASIS_TEST, XB_OUTCOME_REGRESSION, "")->p_regression, 1.0 / 252);
    assert_case(1, XB_BASIS_INDICATIVE, XB_OUTCOME_PASS, ""); /* 20 take seven a side */
    assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "too few processes for 20 of 20 gating figures");
    gate("async");
    compare();
    assert_case(0, XB_BASIS_TEST, XB_OUTCOME_REGRESSION, "");
    assert_case(1, XB_BASIS_TEST, XB_OUTCOME_PASS, "");
}

static void assert_gate_refused(const char *text, const char *words)
{
    struct xb_error error;
    gate(text);
    xb_comparison_free(&result);
    memset(&result, 0xa5, sizeof result);
    assert_int_equal(xb_compare(&before, &after, &request, &result, &error), XB_ERR_USAGE);
    if (strstr(error.message, words) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.message, words);
    assert_null(result.cases); /* nothing is left to free */
    assert_null(result.differences);
    assert_null(result.texts);
}

static void refuses_a_gate_that_nothing_passes(void **state)
{
    (void)state;
    begin(8, 8);
    add_pinned(1.0); /* h2d, 1 MiB */
    add_named(&before, "peer", "d2d", 2 * MIB, false);
    add_named(&after, "zero-copy", "d2h", 4 * MIB, false);
    assert_gate_refused("pined", "gate 1 (mode pined, direction any, any size");
    assert_gate_refused("pinned/d2h", "gate 1 (mode pinned, direction d2h, any size");
    assert_gate_refused("*/*/3M", "mode any, direction any, 3145728 to 3145728 bytes");
    assert_gate_refused("pinned,async,peer", "gate 2 (mode async");
    assert_gate_refused("pinned/*/2M..1G", "gate 1 (mode pinned");
    gate("peer,zero-copy"); /* in one of the files is enough not to be refused */
    compare();
    assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "gate 1 of --gate judges nothing");
}

/* ---- what figures cannot tell ---- */

static void takes_a_flaky_baseline_as_it_is(void **state)
{
    (void)state;
    begin(8, 8);
    add_pinned(0.9);
    add_pinned(1.0);
    spoil(&before.cases[0], 2, XB_RESULT_ERROR, XB_VERIFIED_UNKNOWN, "no memory");
    before.cases[1].rows[7] = (struct xb_record_row){.is_there = false};
    compare();
    const struct xb_compared *compared =
        assert_case(0, XB_BASIS_TEST, XB_OUTCOME_REGRESSION,
                    "failed in 1 of 8 processes of the baseline: no memory");
    assert_int_equal(compared->baseline_n, 7);
    assert_int_equal(compared->candidate_n, 8);
    assert_near(compared->p_regression, 2.0 / 6435.0);
    assert_case(1, XB_BASIS_TEST, XB_OUTCOME_PASS, "not measured in 1 of 8 processes of the base");
}

static void finds_what_works_no_more(void **state)
{
    static const struct {
        enum xb_result_status status;
        enum xb_verified verified;
        const char *reason, *note;
    } rows[] = {
        {XB_RESULT_SKIPPED, XB_VERIFIED_UNKNOWN, "too large",
         "skipped in 1 of 8 processes of the candidate: too large"},
        {XB_RESULT_ERROR, XB_VERIFIED_UNKNOWN, "cudaErrorX",
         "failed in 1 of 8 processes of the candidate: cudaErrorX"},
        {XB_RESULT_ERROR, XB_VERIFIED_TRUE, NULL, "failed in 1 of 8 processes of the candidate"},
        {XB_RESULT_ERROR, XB_VERIFIED_FALSE, "byte 7",
         "wrong data in 1 of 8 processes of the candidate: byte 7"}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        begin(8, 8);
        add_pinned(2.0);
        add_pinned(1.0);
        spoil(&after.cases[0], 6, rows[i].status, rows[i].verified, rows[i].reason);
        compare();
        assert_case(0, XB_BASIS_STATUS, XB_OUTCOME_REGRESSION, rows[i].note);
        assert_int_equal(result.gating_count, 1); /* no test of figures */
        assert_overall(XB_OUTCOME_REGRESSION, 1,
                       "1 of 2 gating figures: worse by 2 % or more, or no "
                       "longer right");
    }
    begin(8, 8);
    add_pinned(1.0);
    after.cases[0].rows[0] = (struct xb_record_row){.is_there = false}; /* its process died */
    compare();
    assert_case(0, XB_BASIS_STATUS, XB_OUTCOME_REGRESSION,
                "not measured in 1 of 8 processes of the candidate");
    begin(1, 1); /* also where figures could not tell */
    add_pinned(1.0);
    add_latency(1.0, 1.0);
    spoil(&after.cases[1], 0, XB_RESULT_ERROR, XB_VERIFIED_FALSE, "byte 7");
    compare();
    assert_case(0, XB_BASIS_INDICATIVE, XB_OUTCOME_PASS, "");
    assert_case(1, XB_BASIS_STATUS, XB_OUTCOME_REGRESSION, "wrong data in 1 of 1");
    assert_case(2, XB_BASIS_STATUS, XB_OUTCOME_REGRESSION, "wrong data in 1 of 1");
    assert_overall(XB_OUTCOME_REGRESSION, 1, "2 of 3 gating figures");
}

static void names_the_worst_that_happened(void **state)
{
    (void)state;
    begin(8, 8);
    add_pinned(1.0);
    spoil(&after.cases[0], 0, XB_RESULT_SKIPPED, XB_VERIFIED_UNKNOWN, "later");
    spoil(&after.cases[0], 1, XB_RESULT_SKIPPED, XB_VERIFIED_UNKNOWN, "later");
    compare();
    assert_case(0, XB_BASIS_STATUS, XB_OUTCOME_REGRESSION, "skipped in 2 of 8");
    after.cases[0].rows[2] = (struct xb_record_row){.is_there = false};
    compare();
    assert_case(0, XB_BASIS_STATUS, XB_OUTCOME_REGRESSION, "not measured in 1 of 8");
    spoil(&after.cases[0], 3, XB_RESULT_ERROR, XB_VERIFIED_UNKNOWN, "first");
    spoil(&after.cases[0], 4, XB_RESULT_ERROR, XB_VERIFIED_UNKNOWN, "second");
    compare();
    assert_case(0, XB_BASIS_STATUS, XB_OUTCOME_REGRESSION,
                "failed in 2 of 8 processes of the "
                "candidate: first");
    spoil(&after.cases[0], 5, XB_RESULT_ERROR, XB_VERIFIED_FALSE, "byte 1");
    compare();
    assert_case(0, XB_BASIS_STATUS, XB_OUTCOME_REGRESSION, "wrong data in 1 of 8");
}

/* It did not always work before either. */
static void blames_nobody_where_both_are_flaky(void **state)
{
    (void)state;
    begin(8, 8);
    for (int better = 0; better < 2; better++) {
        begin(8, 8);
        add_pinned(better ? 2.0 : 1.0);
        spoil(&before.cases[0], 0, XB_RESULT_ERROR, XB_VERIFIED_UNKNOWN, "no memory");
        spoil(&after.cases[0], 1, XB_RESULT_ERROR, XB_VERIFIED_UNKNOWN, "no memory either");
        compare();
        assert_case(0, XB_BASIS_TEST, XB_OUTCOME_INCONCLUSIVE, "candidate: no memory either");
        assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "1 of 1 gating figures");
    }
}

/* One bad process of the baseline must not let everything through. */
static void finds_what_is_worse_than_a_flaky_baseline(void **state)
{
    (void)state;
    begin(8, 8);
    add_pinned(0.5); /* by its figures */
    add_pinned(1.0); /* or because nothing is left of it */
    for (size_t i = 0; i < 2; i++) {
        spoil(&before.cases[i], 0, XB_RESULT_ERROR, XB_VERIFIED_UNKNOWN, "no memory");
        spoil(&after.cases[i], 1, XB_RESULT_ERROR, XB_VERIFIED_UNKNOWN, "no memory either");
    }
    for (size_t i = 0; i < 8; i++)
        spoil(&after.cases[1], i, XB_RESULT_ERROR, XB_VERIFIED_UNKNOWN, "illegal address");
    compare();
    const struct xb_compared *compared =
        assert_case(0, XB_BASIS_TEST, XB_OUTCOME_REGRESSION, "no memory either");
    assert_int_equal(compared->baseline_n, 7);
    assert_int_equal(compared->candidate_n, 7);
    assert_case(1, XB_BASIS_STATUS, XB_OUTCOME_REGRESSION, "failed in 8 of 8 processes");
    assert_overall(XB_OUTCOME_REGRESSION, 1, "2 of 2 gating figures");
}

/* Whatever there was to compare with. */
static void finds_wrong_data_everywhere(void **state)
{
    (void)state;
    begin(8, 8);
    add_pinned(1.0);
    add_pinned(1.0);
    for (size_t i = 0; i < 8; i++)
        spoil(&before.cases[0], i, XB_RESULT_SKIPPED, XB_VERIFIED_UNKNOWN, "cannot");
    spoil(&after.cases[0], 3, XB_RESULT_ERROR, XB_VERIFIED_FALSE, "byte 5");
    spoil(add_named(&after, "managed", "h2d", MIB, false), 2, XB_RESULT_ERROR, XB_VERIFIED_FALSE,
          "byte 6");
    compare();
    assert_case(0, XB_BASIS_STATUS, XB_OUTCOME_REGRESSION, "wrong data in 1 of 8");
    assert_case(2, XB_BASIS_STATUS, XB_OUTCOME_REGRESSION, "byte 6");
    assert_overall(XB_OUTCOME_REGRESSION, 1, "2 of 3 gating figures");
}

/* Of two gates one judges nothing: what it stands for would pass unseen. */
static void does_not_pass_an_idle_gate(void **state)
{
    (void)state;
    begin(8, 8);
    add_pinned(1.0);
    add_both("zero-copy", "h2d", MIB, 1.0);
    for (size_t i = 0; i < 8; i++)
        spoil(&before.cases[1], i, XB_RESULT_SKIPPED, XB_VERIFIED_UNKNOWN, "cannot");
    gate("pinned,zero-copy");
    compare();
    assert_case(0, XB_BASIS_TEST, XB_OUTCOME_PASS, "");
    assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "gate 2 of --gate judges nothing");
    gate("pinned");
    compare();
    assert_overall(XB_OUTCOME_PASS, 0, "none of 1 gating figures");
}

static void finds_wrong_data_also_after_a_flaky_baseline(void **state)
{
    (void)state;
    begin(8, 8);
    add_pinned(1.0);
    spoil(&before.cases[0], 0, XB_RESULT_ERROR, XB_VERIFIED_UNKNOWN, "no memory");
    spoil(&after.cases[0], 1, XB_RESULT_ERROR, XB_VERIFIED_FALSE, "byte 7");
    compare();
    assert_case(0, XB_BASIS_STATUS, XB_OUTCOME_REGRESSION, "wrong data in 1 of 8");
    spoil(&before.cases[0], 2, XB_RESULT_ERROR, XB_VERIFIED_FALSE, "byte 8"); /* as before */
    compare();
    assert_case(0, XB_BASIS_TEST, XB_OUTCOME_INCONCLUSIVE, "wrong data in 1 of 8");
}

/* The typical process passes; that some do not is told. */
static void tells_of_a_minority_that_is_worse(void **state)
{
    (void)state;
    begin(8, 8);
    add_pinned(1.0);
    add_latency(1.0, 1.0);
    compare();
    assert_case(0, XB_BASIS_TEST, XB_OUTCOME_PASS, "");
    assert_string_equal(result.cases[0].note, "");
    after.cases[0].rows[3].values[XB_METRIC_BANDWIDTH].median /= 10;
    after.cases[1].rows[5].values[XB_METRIC_HOST_LATENCY].median *= 10;
    compare();
    assert_case(0, XB_BASIS_TEST, XB_OUTCOME_PASS,
                "1 of 8 processes of the candidate are worse by 2 % or more");
    assert_case(1, XB_BASIS_TEST, XB_OUTCOME_PASS, "1 of 8 processes");
    assert_string_equal(result.cases[2].note, "");
    after.cases[0].rows[3].values[XB_METRIC_BANDWIDTH].median *= 100; /* faster is not worse */
    compare();
    assert_string_equal(result.cases[0].note, "");
}

static void judges_nothing_that_was_not_measured_before(void **state)
{
    (void)state;
    for (int both = 0; both < 2; both++) {
        begin(2, 2);
        add_pinned(1.0);
        for (size_t i = 0; i < 2; i++) {
            spoil(&before.cases[0], i, XB_RESULT_SKIPPED, XB_VERIFIED_UNKNOWN, "cannot");
            if (both)
                spoil(&after.cases[0], i, XB_RESULT_ERROR, XB_VERIFIED_UNKNOWN, "cannot");
        }
        compare();
        const struct xb_compared *compared =
            assert_case(0, XB_BASIS_NONE, XB_OUTCOME_PASS,
                        both ? "failed in 2 of 2 processes of the candidate: cannot"
                             : "skipped in 2 of 2 processes of the baseline: cannot");
        assert_false(compared->gates);
        assert_false(compared->has_ratio);
        assert_int_equal(compared->presence, XB_IN_BOTH);
        assert_int_equal(compared->baseline_n, 0);
        assert_true(compared->baseline_median == 0.0);
        assert_int_equal(compared->candidate_n, both ? 0 : 2);
        assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "no gating case has figures in both files");
        assert_int_equal(xb_comparison_count(&result, XB_OUTCOME_PASS), 0);
    }
}

static void lists_what_one_file_has(void **state)
{
    (void)state;
    begin(8, 8);
    add_pinned(1.0);
    measure(&after, add_named(&after, "managed", "h2d", MIB, false), XB_METRIC_BANDWIDTH, RATE,
            STEP);
    add_both("async", "h2d", MIB, 1.0);
    compare();
    const struct xb_compared *compared = assert_case(2, XB_BASIS_NONE, XB_OUTCOME_PASS, "");
    assert_int_equal(compared->presence, XB_ONLY_IN_CANDIDATE);
    assert_ptr_equal(compared->test, &after.cases[1]);
    assert_int_equal(compared->candidate_n, 8);
    assert_near(compared->candidate_median, RATE * (1.0 + 3.5 * STEP));
    assert_false(compared->gates);
    assert_false(compared->has_ratio);
    assert_overall(XB_OUTCOME_PASS, 0, "none of 2 gating figures");

    measure(&before, add_named(&before, "peer", "d2d", MIB, false), XB_METRIC_BANDWIDTH, RATE,
            STEP);
    compare();
    compared = assert_case(2, XB_BASIS_STATUS, XB_OUTCOME_INCONCLUSIVE, "");
    assert_int_equal(compared->presence, XB_ONLY_IN_BASELINE);
    assert_ptr_equal(compared->test, &before.cases[2]);
    assert_int_equal(compared->baseline_n, 8);
    assert_true(compared->gates);
    assert_case(3, XB_BASIS_NONE, XB_OUTCOME_PASS, ""); /* comes last */
    assert_int_equal(result.case_count, 4);
    assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "1 of 3 gating figures");

    begin(8, 8); /* never measured, and no longer there */
    spoil(add_named(&before, "peer", "d2d", MIB, false), 0, XB_RESULT_SKIPPED, XB_VERIFIED_UNKNOWN,
          "one device");
    add_pinned(1.0);
    compare();
    assert_case(0, XB_BASIS_NONE, XB_OUTCOME_PASS, "not measured in 7 of 8");
    assert_overall(XB_OUTCOME_PASS, 0, "none of 1 gating figures");
}

static void compares_nothing_with_nothing(void **state)
{
    (void)state;
    begin(8, 8);
    compare();
    assert_int_equal(result.case_count, 0);
    assert_int_equal(result.gating_count, 0);
    assert_int_equal(result.processes_needed, 5); /* for one */
    assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "no gating case has figures in both files");
}

/* Everything that makes a case another one. */
static void matches_the_same_case_only(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        begin(8, 8);
        add_pinned(1.0);
        struct xb_record_case *test = &after.cases[0];
        test->mode = i == 0 ? "async" : test->mode;
        test->variant = i == 1 ? "alloc" : test->variant;
        test->direction = i == 2 ? "d2h" : test->direction;
        test->bytes += i == 3;
        test->device = i == 4 ? -1 : test->device;
        test->peer = i == 5 ? 1 : test->peer;
        test->latency = i == 6;
        test->simultaneous = i == 7;
        compare();
        assert_int_equal(result.case_count, 2);
        assert_case(0, XB_BASIS_STATUS, XB_OUTCOME_INCONCLUSIVE, "");
        assert_case(1, XB_BASIS_NONE, XB_OUTCOME_PASS, "");
    }
}

/* ---- runs that were cut short ---- */

static void blames_no_run_that_was_cut_short(void **state)
{
    (void)state;
    for (int deadline = 0; deadline < 2; deadline++)
        for (int there = 0; there < 2; there++) {
            begin(8, 8);
            add_pinned(1.0);
            for (size_t i = 0; i < 8; i++) {
                after.processes[i].interrupted = deadline == 0;
                after.processes[i].deadline_met = deadline == 0;
                if (there)
                    cut_short(&after.cases[0], i);
                else
                    after.cases[0].rows[i] = (struct xb_record_row){.is_there = false};
            }
            compare();
            assert_case(0, XB_BASIS_STATUS, XB_OUTCOME_INCONCLUSIVE,
                        "the candidate's run was cut short before it");
            assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "1 of 1 gating figures");

            /* In a single one of them it was skipped for a reason of its own. */
            after.processes[3].interrupted = there;
            after.processes[3].deadline_met = true;
            after.processes[3].failure = "it was ended by SIGSEGV";
            if (there)
                spoil(&after.cases[0], 3, XB_RESULT_SKIPPED, XB_VERIFIED_UNKNOWN, "too large");
            compare();
            assert_case(0, XB_BASIS_STATUS, XB_OUTCOME_REGRESSION,
                        there ? "skipped in 1 of 8 processes of the candidate: too large"
                              : "not measured in 1 of 8 processes of the candidate: it was ended "
                                "by SIGSEGV");
        }
}

/* What failed before the signal came has failed. */
static void blames_what_failed_before_it_was_cut_short(void **state)
{
    (void)state;
    begin(8, 8);
    add_pinned(1.0);
    after.processes[7].interrupted = true;
    spoil(&after.cases[0], 7, XB_RESULT_ERROR, XB_VERIFIED_FALSE, "byte 1");
    compare();
    assert_case(0, XB_BASIS_STATUS, XB_OUTCOME_REGRESSION, "wrong data in 1 of 8");
}

static void compares_the_processes_that_are_left(void **state)
{
    (void)state;
    for (int side = 0; side < 2; side++) {
        begin(8, 8);
        add_pinned(1.0);
        add_pinned(1.0);
        struct xb_record *cut = side == 0 ? &before : &after;
        cut->processes[7].interrupted = true;
        cut_short(&cut->cases[1], 7);
        compare();
        assert_case(0, XB_BASIS_TEST, XB_OUTCOME_PASS, ""); /* before the signal */
        const struct xb_compared *compared =
            assert_case(1, XB_BASIS_TEST, XB_OUTCOME_PASS,
                        "a run was cut short: fewer processes than were asked for");
        assert_int_equal(compared->baseline_n, side == 0 ? 7 : 8);
        assert_int_equal(compared->candidate_n, side == 0 ? 8 : 7);
        assert_near(compared->p_pass, 1.0 / 6435);
        for (size_t i = 2; i < 7; i++) { /* and too few of them are not enough */
            cut->processes[i].deadline_met = false;
            cut_short(&cut->cases[1], i);
        }
        compare();
        assert_case(1, XB_BASIS_INDICATIVE, XB_OUTCOME_PASS, "a run was cut short");
        assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "1 of 2 gating figures");
    }
}

/* A row that a signal ended has figures of another kind than full ones, and is no failure. */
static void takes_rows_that_were_cut_short_for_not_reached(void **state)
{
    (void)state;
    for (int side = 0; side < 2; side++) {
        begin(8, 8);
        add_pinned(1.0);
        struct xb_record *cut = side == 0 ? &before : &after;
        cut->processes[7].interrupted = true;
        cut->cases[0].rows[7].is_cut = true; /* as the reader leaves it */
        cut->cases[0].rows[7].values[XB_METRIC_BANDWIDTH] = (struct xb_record_value){0};
        compare();
        const struct xb_compared *compared =
            assert_case(0, XB_BASIS_TEST, XB_OUTCOME_PASS,
                        "a run was cut short: fewer processes than were asked for");
        assert_int_equal(side == 0 ? compared->baseline_n : compared->candidate_n, 7);
    }
    begin(1, 1); /* and there is nothing left where it is the only one */
    add_pinned(1.0);
    after.processes[0].deadline_met = false;
    after.cases[0].rows[0].is_cut = true;
    after.cases[0].rows[0].values[XB_METRIC_BANDWIDTH] = (struct xb_record_value){0};
    compare();
    assert_case(0, XB_BASIS_STATUS, XB_OUTCOME_INCONCLUSIVE,
                "the candidate's run was cut short before it");
}

static void judges_nothing_before_which_the_baseline_was_cut(void **state)
{
    (void)state;
    begin(1, 1);
    add_pinned(1.0);
    before.processes[0].interrupted = true;
    cut_short(&before.cases[0], 0);
    compare();
    assert_case(0, XB_BASIS_STATUS, XB_OUTCOME_INCONCLUSIVE,
                "the baseline's run was cut short before it");
    assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "1 of 1 gating figures");
}

/* ---- clocks ---- */

static void compares_no_figures_of_different_clocks(void **state)
{
    (void)state;
    begin(8, 8);
    add_pinned(0.5);
    for (size_t i = 0; i < 8; i++)
        after.cases[0].rows[i].timer = "host-clock";
    compare();
    const struct xb_compared *compared = assert_case(
        0, XB_BASIS_STATUS, XB_OUTCOME_INCONCLUSIVE,
        "not timed by the same clock: device-event in the baseline, host-clock in the candidate");
    assert_false(compared->has_ratio);
    assert_int_equal(compared->baseline_n, 8);
    assert_int_equal(result.gating_count, 0);
    assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "1 of 1 gating figures");
    after.cases[0].rows[5].timer = "device-event";
    compare();
    assert_case(0, XB_BASIS_STATUS, XB_OUTCOME_INCONCLUSIVE,
                "device-event in the baseline, not always the same in the candidate");
    before.cases[0].rows[7].timer = "host-clock";
    compare();
    assert_case(0, XB_BASIS_STATUS, XB_OUTCOME_INCONCLUSIVE,
                "not always the same in the baseline, not always the same in the candidate");
    for (size_t i = 0; i < 8; i++)
        before.cases[0].rows[i].timer = after.cases[0].rows[i].timer = "host-clock";
    spoil(&before.cases[0], 0, XB_RESULT_ERROR, XB_VERIFIED_UNKNOWN, "x"); /* has no clock */
    compare();
    assert_case(0, XB_BASIS_TEST, XB_OUTCOME_REGRESSION, "failed in 1 of 8");
}

static void wants_both_clocks_of_a_latency(void **state)
{
    (void)state;
    for (int side = 0; side < 2; side++) {
        begin(8, 8);
        add_latency(1.0, 1.0);
        struct xb_record *lacking = side == 0 ? &before : &after;
        for (size_t i = 0; i < 8; i++)
            lacking->cases[0].rows[i].values[XB_METRIC_DEVICE_LATENCY].is_set = false;
        compare();
        assert_int_equal(result.case_count, 2);
        assert_case(0, XB_BASIS_TEST, XB_OUTCOME_PASS, "");
        assert_case(1, XB_BASIS_STATUS, XB_OUTCOME_INCONCLUSIVE,
                    side == 0 ? "the baseline has no device latency"
                              : "the candidate has no device latency");
        for (size_t i = 0; i < 8; i++)
            lacking->cases[0].rows[i].timer = "host-clock";
        compare();
        assert_case(0, XB_BASIS_STATUS, XB_OUTCOME_INCONCLUSIVE, "not timed by the same clock");
        assert_case(1, XB_BASIS_STATUS, XB_OUTCOME_INCONCLUSIVE, "not timed by the same clock");
    }
    begin(8, 8); /* neither has it */
    measure(&before, add_named(&before, "async", "h2d", 8, true), XB_METRIC_HOST_LATENCY, SECONDS,
            STEP);
    measure(&after, add_named(&after, "async", "h2d", 8, true), XB_METRIC_HOST_LATENCY, SECONDS,
            STEP);
    compare();
    assert_int_equal(result.case_count, 1);
    assert_case(0, XB_BASIS_TEST, XB_OUTCOME_PASS, "");
}

/* A latency that one file has alone stands there by both clocks. */
static void lists_both_clocks_of_one_file(void **state)
{
    (void)state;
    begin(8, 8);
    struct xb_record_case *test = add_named(&after, "async", "h2d", 8, true);
    measure(&after, test, XB_METRIC_HOST_LATENCY, SECONDS, STEP);
    measure(&after, test, XB_METRIC_DEVICE_LATENCY, SECONDS, STEP);
    test = add_named(&before, "async", "d2h", 8, true);
    measure(&before, test, XB_METRIC_HOST_LATENCY, SECONDS, STEP);
    measure(&before, test, XB_METRIC_DEVICE_LATENCY, SECONDS, STEP);
    compare();
    assert_int_equal(result.case_count, 4);
    assert_int_equal(result.cases[1].metric, XB_METRIC_DEVICE_LATENCY);
    assert_int_equal(result.cases[3].metric, XB_METRIC_DEVICE_LATENCY);
    assert_int_equal(result.cases[1].baseline_n, 8);
    assert_int_equal(result.cases[3].candidate_n, 8);
}

/* ---- all together ---- */

static void puts_a_regression_before_all_else(void **state)
{
    (void)state;
    begin(8, 8);
    add_pinned(1.0);
    add_pinned(1.5);
    compare();
    assert_overall(XB_OUTCOME_IMPROVED, 0,
                   "none of 2 gating figures is worse by 2 % or more; 1 bett");
    add_pinned(0.98);
    compare();
    assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "1 of 3 gating figures: the data does not tell");
    add_pinned(0.9);
    compare();
    assert_overall(XB_OUTCOME_REGRESSION, 1, "1 of 4 gating figures: worse");
}

static void compares_what_cannot_be_compared_only_by_force(void **state)
{
    (void)state;
    begin(8, 8);
    add_pinned(0.9);
    after.backend = "hip";
    compare();
    assert_false(result.comparable);
    assert_null(result.cases);
    assert_int_equal(result.case_count, 0);
    assert_overall(XB_OUTCOME_INCONCLUSIVE, 4, "--force compares them all the same");
    request.force = true;
    compare();
    assert_false(result.comparable);
    assert_int_equal(result.difference_count, 1);
    assert_case(0, XB_BASIS_TEST, XB_OUTCOME_REGRESSION, "");
    assert_overall(XB_OUTCOME_REGRESSION, 1, "1 of 1 gating figures");
    after.backend = "cuda"; /* force changes nothing where it is not needed */
    compare();
    assert_true(result.comparable);
    assert_overall(XB_OUTCOME_REGRESSION, 1, "1 of 1 gating figures");
}

static void releases_what_is_empty(void **state)
{
    (void)state;
    struct xb_comparison empty = {0};
    xb_comparison_free(&empty);
    begin(8, 8);
    add_pinned(1.0);
    set_fact(&after, "kernel", "6.9.0");
    compare();
    xb_comparison_free(&result);
    assert_null(result.cases);
    assert_null(result.differences);
    assert_null(result.texts);
    xb_comparison_free(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_outcomes),
        cmocka_unit_test(passes_what_is_the_same),
        cmocka_unit_test(judges_bandwidth),
        cmocka_unit_test(judges_latency_the_other_way),
        cmocka_unit_test(says_nothing_on_the_boundary),
        cmocka_unit_test(takes_a_threshold_of_nothing),
        cmocka_unit_test(estimates_from_all_pairs),
        cmocka_unit_test(compares_unequal_numbers),
        cmocka_unit_test(needs_enough_processes_on_either_side),
        cmocka_unit_test(compares_a_hundred_processes),
        cmocka_unit_test(adjusts_regressions),
        cmocka_unit_test(adjusts_step_by_step),
        cmocka_unit_test(adjusts_improvements),
        cmocka_unit_test(does_not_adjust_what_passes),
        cmocka_unit_test(needs_enough_processes),
        cmocka_unit_test(takes_what_is_just_enough),
        cmocka_unit_test(does_not_pass_over_what_is_indicative),
        cmocka_unit_test(indicates_by_intervals),
        cmocka_unit_test(indicates_by_the_ratio_without_intervals),
        cmocka_unit_test(finds_the_only_process),
        cmocka_unit_test(tells_how_little_few_processes_say),
        cmocka_unit_test(indicates_latency_the_other_way),
        cmocka_unit_test(gates_by_mode_direction_and_size),
        cmocka_unit_test(leaves_out_what_does_not_gate),
        cmocka_unit_test(judges_at_full_alpha_what_does_not_gate),
        cmocka_unit_test(refuses_a_gate_that_nothing_passes),
        cmocka_unit_test(takes_a_flaky_baseline_as_it_is),
        cmocka_unit_test(finds_what_works_no_more),
        cmocka_unit_test(names_the_worst_that_happened),
        cmocka_unit_test(blames_nobody_where_both_are_flaky),
        cmocka_unit_test(finds_wrong_data_also_after_a_flaky_baseline),
        cmocka_unit_test(finds_what_is_worse_than_a_flaky_baseline),
        cmocka_unit_test(finds_wrong_data_everywhere),
        cmocka_unit_test(does_not_pass_an_idle_gate),
        cmocka_unit_test(tells_of_a_minority_that_is_worse),
        cmocka_unit_test(judges_nothing_that_was_not_measured_before),
        cmocka_unit_test(lists_what_one_file_has),
        cmocka_unit_test(compares_nothing_with_nothing),
        cmocka_unit_test(matches_the_same_case_only),
        cmocka_unit_test(blames_no_run_that_was_cut_short),
        cmocka_unit_test(blames_what_failed_before_it_was_cut_short),
        cmocka_unit_test(compares_the_processes_that_are_left),
        cmocka_unit_test(takes_rows_that_were_cut_short_for_not_reached),
        cmocka_unit_test(judges_nothing_before_which_the_baseline_was_cut),
        cmocka_unit_test(compares_no_figures_of_different_clocks),
        cmocka_unit_test(wants_both_clocks_of_a_latency),
        cmocka_unit_test(lists_both_clocks_of_one_file),
        cmocka_unit_test(puts_a_regression_before_all_else),
        cmocka_unit_test(compares_what_cannot_be_compared_only_by_force),
        cmocka_unit_test(releases_what_is_empty),
    };
    return cmocka_run_group_tests_name("comparison", tests, NULL, finish_group);
}
