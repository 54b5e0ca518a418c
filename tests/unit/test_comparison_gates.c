/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "comparison_fixture.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gates_by_mode_direction_and_size),
        cmocka_unit_test(leaves_out_what_does_not_gate),
        cmocka_unit_test(judges_at_full_alpha_what_does_not_gate),
        cmocka_unit_test(refuses_a_gate_that_nothing_passes),
    };
    return cmocka_run_group_tests_name("comparison_gates", tests, NULL, finish_group);
}
