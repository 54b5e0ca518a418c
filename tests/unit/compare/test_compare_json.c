/* SPDX-License-Identifier: Apache-2.0 */
#include "checks.h"
#include "compare_fixture.h"

#include <cjson/cJSON.h>
#include <stdio.h>

#include "testing.h"

RUN_TEST(json_holds_everything)
{
    struct node *n = *state;
    struct xb_gate gate = {"pinned", NULL, 1, 1024, "bandwidth", 0};
    make_regression(n);
    n->comparison.request.gates = (struct xb_gates){.items = &gate, .count = 1};
    cJSON *root = parsed(xb_compare_json_write, n);
    assert_text_at(root, "overall.verdict", "REGRESSION");
    assert_number_at(root, "overall.exit_code", 1);
    assert_text_at(root, "overall.reason", n->comparison.reason);
    assert_true(cJSON_IsTrue(at(root, "comparable")) && cJSON_IsFalse(at(root, "forced")));
    assert_number_at(root, "threshold", 0.02);
    assert_number_at(root, "gating_tests", 4);
    assert_null_at(root, "gates.0.direction");
    assert_number_at(root, "gates.0.most_bytes", 1024);
    assert_text_at(root, "gates.0.figure", "bandwidth");
    assert_text_at(root, "baseline.path", "results/base.json");
    assert_number_at(root, "candidate.process_count", 8);
    assert_number_at(root, "candidate.processes.7.devices.0.link_width", 16);
    assert_int_equal(cJSON_GetArraySize(at(root, "cases")), 9);
    assert_text_at(root, "cases.0.verdict", "REGRESSION");
    assert_null_at(root, "cases.0.indicative");
    assert_number_at(root, "cases.0.ratio", 0.9402);
    assert_number_at(root, "cases.0.interval.low", 0.9402 - 0.0013);
    assert_number_at(root, "cases.0.interval.high", 0.9402 + 0.0012);
    assert_number_at(root, "cases.0.interval.confidence", 0.98);
    assert_number_at(root, "cases.0.p_regression", 0.00047);
    assert_number_at(root, "cases.0.p_improved", 0.9);
    assert_number_at(root, "cases.0.p_pass", 0.3);
    assert_number_at(root, "cases.0.baseline.median", 55.44e9);
    assert_number_at(root, "cases.0.candidate.median", 55.44e9 * 0.9402);
    assert_true(cJSON_IsFalse(at(root, "cases.4.gates")));
    assert_text_at(root, "cases.5.basis", "status");
    assert_null_at(root, "cases.5.p_regression");
    assert_null_at(root, "cases.5.ratio");
    assert_null_at(root, "cases.5.candidate.median");
    assert_true(cJSON_IsFalse(at(root, "cases.6.candidate.present")));
    assert_true(cJSON_IsFalse(at(root, "cases.7.baseline.present")));
    assert_null_at(root, "cases.8.verdict");
    assert_text_at(root, "cases.8.note", "skipped in both files");
    assert_null_at(root, "differences.1.candidate");
    cJSON_Delete(root);
}

RUN_TEST(json_has_figures_and_parameters)
{
    struct node *n = *state;
    make_parameters(n);
    n->cases[1].cannot_pass = true;
    cJSON *root = parsed(xb_compare_json_write, n);
    assert_number_at(root, "schema_version", 2);
    assert_number_at(root, "cases.0.parameters.chunk", 8388608);
    assert_text_at(root, "cases.1.parameters.way", "long");
    assert_text_at(root, "cases.0.figure", "bandwidth");
    assert_text_at(root, "cases.0.unit", "B/s");
    assert_text_at(root, "cases.2.figure", "speed_up");
    assert_text_at(root, "cases.2.unit", "1");
    assert_true(cJSON_IsTrue(at(root, "cases.2.more_is_better")));
    assert_number_at(root, "cases.2.candidate.median", 1.6437);
    assert_true(cJSON_IsTrue(at(root, "cases.1.cannot_pass")));
    assert_true(cJSON_IsFalse(at(root, "cases.2.cannot_pass")));
    assert_null_at(root, "cases.2.interval");
    cJSON_Delete(root);
}

/* Who counts verdicts must not count what is none. */
RUN_TEST(json_keeps_indications_apart)
{
    struct node *n = *state;
    make_indicative(n);
    cJSON *root = parsed(xb_compare_json_write, n);
    for (int i = 0; i < 4; i++) {
        const cJSON *one = cJSON_GetArrayItem(at(root, "cases"), i);
        assert_null_at(one, "verdict");
        assert_text_at(one, "basis", "indicative");
        assert_text_at(one, "indicative", xb_outcome_name(n->cases[i].outcome));
        assert_null_at(one, "p_regression");
        assert_null_at(one, "interval.confidence");
    }
    assert_number_at(root, "overall.exit_code", 3);
    cJSON_Delete(root);
}

RUN_TEST(json_of_what_is_not_comparable)
{
    struct node *n = *state;
    make_refused(n);
    cJSON *root = parsed(xb_compare_json_write, n);
    assert_text_at(root, "overall.verdict", "NOT COMPARABLE");
    assert_number_at(root, "overall.exit_code", 4);
    assert_true(cJSON_IsFalse(at(root, "comparable")) && cJSON_IsFalse(at(root, "forced")));
    assert_int_equal(cJSON_GetArraySize(at(root, "differences")), 3);
    assert_true(cJSON_IsTrue(at(root, "differences.1.forbids")));
    assert_true(cJSON_IsFalse(at(root, "differences.2.forbids")));
    cJSON_Delete(root);
    n->comparison.request.force = true;
    root = parsed(xb_compare_json_write, n);
    assert_true(cJSON_IsFalse(at(root, "comparable")) && cJSON_IsTrue(at(root, "forced")));
    assert_text_at(root, "overall.verdict", "INCONCLUSIVE");
    cJSON_Delete(root);
    n->comparison.comparable = true; /* there was nothing to force */
    root = parsed(xb_compare_json_write, n);
    assert_true(cJSON_IsFalse(at(root, "forced")));
    cJSON_Delete(root);
}

static enum xb_status write_json(FILE *stream, const void *comparison, struct xb_error *error)
{
    return xb_compare_json_write(stream, comparison, error);
}

static enum xb_status write_benchmark_action(FILE *stream, const void *comparison,
                                             struct xb_error *error)
{
    return xb_compare_benchmark_action_write(stream, comparison, error);
}

/* Both that are made of a tree. */
RUN_TEST(trees_survive_every_failed_allocation)
{
    static const writer trees[] = {write_json, write_benchmark_action};
    struct node *n = *state;
    make_forced(n);
    for (size_t i = 0; i < 2; i++)
        assert_true(fail_every_allocation(trees[i], &n->comparison) > 1);
}
