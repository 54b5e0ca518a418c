/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "testing.h"

#include "comparison_fixture.h"

struct xb_record before, after;
struct xb_comparison_request request;
struct xb_comparison result;

static void finish(void)
{
    xb_comparison_free(&result);
    xb_gates_free(&request.gates);
    xb_record_free(&before);
    xb_record_free(&after);
}

void begin(size_t baseline, size_t candidate)
{
    finish();
    before = make_record(baseline);
    after = make_record(candidate);
    request = (struct xb_comparison_request){.threshold = 0.02, .alpha = 0.01};
}

int finish_group(NO_STATE)
{
    finish();
    return 0;
}

void gate(const char *text)
{
    struct xb_error error;
    xb_gates_free(&request.gates);
    assert_int_equal(xb_gates_parse(text, &request.gates, &error), XB_OK);
}

void add_both(const char *mode, const char *direction, uint64_t bytes, double ratio)
{
    measure(&before, add_named(&before, mode, direction, bytes, false), &xb_figure_bandwidth, RATE,
            STEP);
    measure(&after, add_named(&after, mode, direction, bytes, false), &xb_figure_bandwidth,
            RATE * ratio, STEP);
}

void add_pinned(double ratio)
{
    add_both("pinned", "h2d", (before.case_count + 1) * MIB, ratio);
}

void add_latency(double host_ratio, double device_ratio)
{
    struct xb_record_case *tests[] = {add_named(&before, "async", "h2d", 8, true),
                                      add_named(&after, "async", "h2d", 8, true)};
    measure(&before, tests[0], &xb_figure_latency_host, SECONDS, STEP);
    measure(&after, tests[1], &xb_figure_latency_host, SECONDS * host_ratio, STEP);
    measure(&before, tests[0], &xb_figure_latency_device, SECONDS / 2, STEP);
    measure(&after, tests[1], &xb_figure_latency_device, SECONDS / 2 * device_ratio, STEP);
}

void compare(void)
{
    struct xb_error error;
    xb_comparison_free(&result);
    memset(&result, 0xa5, sizeof result);
    assert_int_equal(xb_compare(&before, &after, &request, &result, &error), XB_OK);
    assert_ptr_equal(result.baseline, &before);
    assert_ptr_equal(result.candidate, &after);
}

void assert_overall(enum xb_outcome outcome, int code, const char *words)
{
    assert_string_equal(xb_outcome_name(result.overall), xb_outcome_name(outcome));
    assert_int_equal(xb_comparison_exit_code(&result), code);
    if (strstr(result.reason, words) == NULL && strstr(result.next, words) == NULL)
        fail_msg("\"%s\" and \"%s\" do not say \"%s\"", result.reason, result.next, words);
}

size_t count_judged(enum xb_outcome outcome)
{
    size_t count = 0;
    for (size_t i = 0; i < result.case_count; i++)
        count +=
            result.cases[i].gates && result.cases[i].outcome == outcome &&
            (result.cases[i].basis == XB_BASIS_TEST || result.cases[i].basis == XB_BASIS_STATUS);
    return count;
}

const struct xb_compared *assert_case(size_t i, enum xb_basis basis, enum xb_outcome outcome,
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

void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.12g is not %.12g", value, expected);
}

void add_passing(size_t count)
{
    for (size_t i = 0; i < count; i++)
        add_pinned(1.0);
}
