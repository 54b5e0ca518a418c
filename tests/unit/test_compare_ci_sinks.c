/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "compare_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- Markdown ---- */

static void markdown_of_a_regression(void **state)
{
    struct node *n = *state;
    make_regression(n);
    char *text = written(xb_compare_markdown_write, n);
    assert_memory_equal(text, "## xferbench compare: REGRESSION\n\n", 34);
    assert_has(text, "| baseline | <code>results/base.json</code> | 8 processes, cuda, driver ");
    assert_has(text, "| case | baseline | candidate | ratio | 98% interval | P | verdict | note |\n"
                     "|---|---:|---:|---:|---:|---:|---|---|\n");
    assert_line(text, "registered",
                "| pinned registered h2d 1 GiB device 0 bandwidth | 55.44 GB/s | 52.12 "
                "GB/s | 0.9402 | 0.9389 to 0.9414 | &#60;0.001 | "
                "<strong>REGRESSION</strong> |");
    assert_line(text, "loose", "| REGRESSION (no gate) |");
    assert_line(text, "gone", "| absent | ");
    assert_line(text, "void", "| - |");
    assert_has(text, "<details><summary>Context that is not the same: 2 conditions</summary>\n\n"
                     "| condition | baseline | candidate |\n|---|---|---|\n"
                     "| <code>hostname</code> | <code>node1</code> | <code>node2</code> |\n");
    assert_has_not(text, "These must be the same");
    assert_has_not(text, "FORCED");
    assert_int_equal(count_of(text, "<strong>"), 3);
    free(text);
}

static void markdown_tells_levels_where_they_differ(void **state)
{
    struct node *n = *state;
    make_regression(n);
    n->cases[0].confidence = 0.97;
    n->cases[1].confidence = 0;
    char *text = written(xb_compare_markdown_write, n);
    assert_has(text, "| ratio | interval | P |");
    assert_line(text, "registered", "0.9414 (97%) |");
    assert_line(text, "alloc", "1.0003 |");
    assert_line(text, "faster", "1.0623 (98%) |");
    free(text);
}

static void markdown_of_what_is_not_comparable(void **state)
{
    struct node *n = *state;
    make_refused(n);
    char *text = written(xb_compare_markdown_write, n);
    assert_has(text, "## xferbench compare: NOT COMPARABLE\n");
    assert_has(text, "These must be the same in both files, and are not:\n\n| condition |");
    assert_has_not(text, "| case |");
    assert_has_not(text, "INCONCLUSIVE");
    assert_int_equal(count_of(text, "node2"), 1);
    assert_int_equal(count_of(text, "A100"), 1);
    free(text);
    make_pass(n);
    n->comparison.request.force = true;
    text = written(xb_compare_markdown_write, n);
    assert_has(text, "## xferbench compare: PASS (FORCED: not comparable)\n\n"
                     "<strong>FORCED: not comparable: GPU model");
    assert_has(text, "| case |");
    free(text);
}

/* Line by line: a table's rows have as many bars as its heading, and all markup is ours. */
static void markdown_keeps_its_form(void **state)
{
    static const char *const ours[] = {"<code>",    "</code>",    "<strong>",  "</strong>",
                                       "<details>", "</details>", "<summary>", "</summary>"};
    (void)state;
    for (size_t i = 0; i < KINDS; i++) {
        void *made = NULL;
        assert_int_equal(setup(&made), 0);
        kinds[i].make(made);
        char *text = written(xb_compare_markdown_write, made);
        size_t known = 0;
        for (size_t j = 0; j < sizeof ours / sizeof ours[0]; j++)
            known += count_of(text, ours[j]);
        assert_int_equal(count_of(text, "<"), known);
        assert_int_equal(count_of(text, "<code>"), count_of(text, "</code>"));
        assert_int_equal(count_of(text, "\n## "), 0);
        /* A mention would be one also out of a character reference, but not within <code>. */
        for (const char *c = strstr(text, "&#64;"); c != NULL; c = strstr(c + 1, "&#64;"))
            assert_true(strncmp(strstr(c, "code>") - 2, "</", 2) == 0);
        assert_null(strpbrk(text, "`*_[]~@\\\"'!\r\t"));
        size_t bars = 0;
        for (const char *c = text; *c != '\0'; c += strcspn(c, "\n") + 1) {
            char *line = strndup(c, strcspn(c, "\n"));
            size_t count = count_of(line, "|");
            if (line[0] == '|' && bars == 0)
                bars = count;
            assert_int_equal(count, line[0] == '|' ? bars : 0);
            bars = line[0] == '|' ? bars : 0;
            free(line);
        }
        free(text);
        teardown(&made);
    }
}

/* ---- GitHub ---- */

/* Every line is a command of ours; returns how many there are of a kind. */
static size_t check_github(const char *text, const char *kind)
{
    size_t count = 0;
    for (const char *c = text; *c != '\0'; c += strcspn(c, "\n") + 1) {
        char *line = strndup(c, strcspn(c, "\n"));
        bool ours = strncmp(line, "::error title=xferbench ", 24) == 0 ||
                    strncmp(line, "::warning title=xferbench ", 26) == 0 ||
                    strncmp(line, "::notice title=xferbench ", 25) == 0;
        assert_true(ours);
        assert_int_equal(count_of(line, "::"), 2);
        assert_has_not(line, "##[");
        const char *title = strchr(line, '=') + 1;
        assert_true(strcspn(title, ":,\r") == (size_t)(strstr(title, "::") - title));
        for (const char *p = line; *p != '\0'; p++) {
            assert_true(*p >= ' ' && *p <= '~');
            if (*p == '%')
                assert_true(strncmp(p, "%25", 3) == 0 || strncmp(p, "%0A", 3) == 0 ||
                            strncmp(p, "%3A", 3) == 0 || strncmp(p, "%2C", 3) == 0);
        }
        count += strncmp(line + 2, kind, strlen(kind)) == 0;
        free(line);
    }
    return count;
}

static void github_is_as_grave_as_the_case(void **state)
{
    struct node *n = *state;
    make_regression(n);
    char *text = written(xb_compare_github_write, n);
    assert_int_equal(check_github(text, "error"), 3);
    assert_int_equal(check_github(text, "warning"), 1);
    assert_int_equal(check_github(text, "notice"), 7);
    assert_memory_equal(text, "::notice title=xferbench REGRESSION::REGRESSION: 3 of 6", 55);
    assert_line(text, "pinned registered",
                "::error title=xferbench REGRESSION::pinned registered h2d 1 GiB device 0 "
                "bandwidth: REGRESSION: baseline 55.44 GB/s (8 processes), candidate 52.12 GB/s "
                "(8 processes), ratio 0.9402, 98%25 interval 0.9389 to 0.9414, P <0.001");
    assert_line(
        text, "pinned gone h2d 1 GiB device 0 bandwidth: ", "::error title=xferbench REGRESSION::");
    assert_line(text, "pinned broken", "candidate -, error in all processes: the data is wrong");
    assert_line(text, "pinned unclear", "::warning title=xferbench INCONCLUSIVE::");
    assert_line(text, "pinned faster", "::notice title=xferbench IMPROVED::");
    assert_line(text, "pinned loose", "::notice title=xferbench REGRESSION (no gate)::");
    assert_line(text, "title=xferbench only in the candidate::", "::pinned new h2d");
    assert_line(text, "title=xferbench nothing to judge::", "::pinned void h2d");
    assert_line(text, "title=xferbench context differs::",
                "hostname: baseline node1, candidate node2%0Akernel: baseline 6.8.0, candidate "
                "not known");
    free(text);
}

static void github_of_what_is_indicative(void **state)
{
    struct node *n = *state;
    make_indicative(n);
    char *text = written(xb_compare_github_write, n);
    assert_int_equal(check_github(text, "error"), 0);
    assert_int_equal(check_github(text, "warning"), 3);
    assert_memory_equal(text, "::warning title=xferbench INCONCLUSIVE::", 40);
    assert_line(text, "REGRESSION", "::warning title=xferbench REGRESSION (indicative)::");
    assert_line(text, "IMPROVED", "::notice title=xferbench IMPROVED (indicative)::");
    assert_has_not(text, ", P ");
    free(text);
}

static void github_is_silent_on_what_is_open_and_does_not_gate(void **state)
{
    struct node *n = *state;
    add_judged(n, "registered", XB_OUTCOME_INCONCLUSIVE, 0.98)->gates = false;
    conclude(n, XB_OUTCOME_PASS, "nothing");
    char *text = written(xb_compare_github_write, n);
    assert_has_not(text, "pinned");
    free(text);
    n->cases[0].basis = XB_BASIS_INDICATIVE;
    n->cases[0].outcome = XB_OUTCOME_REGRESSION;
    text = written(xb_compare_github_write, n);
    assert_has(text, "::notice title=xferbench REGRESSION (indicative%2C no gate)::pinned");
    assert_int_equal(check_github(text, "notice"), 2);
    free(text);
}

static void github_of_what_is_not_comparable(void **state)
{
    struct node *n = *state;
    make_refused(n);
    char *text = written(xb_compare_github_write, n);
    assert_int_equal(check_github(text, "error"), 2);
    assert_line(text, "A100",
                "::error title=xferbench NOT COMPARABLE::GPU model of device 0: baseline NVIDIA "
                "H200, candidate NVIDIA A100%0Aoption --chunk: baseline null, candidate not "
                "known");
    assert_int_equal(count_of(text, "A100"), 1);
    assert_int_equal(count_of(text, "node2"), 1);
    free(text);
    n->comparison.difference_count = n->comparison.case_count = 0;
    for (size_t i = 0; i < 16; i++)
        add_difference(n, "condition", "one", "two", true);
    text = written(xb_compare_github_write, n);
    assert_has(text, "candidate two%0Aand 9 more\n");
    free(text);
}

static void github_marks_each_when_forced(void **state)
{
    struct node *n = *state;
    make_forced(n);
    n->cases[0].outcome = XB_OUTCOME_REGRESSION;
    char *text = written(xb_compare_github_write, n);
    size_t lines =
        check_github(text, "error") + check_github(text, "warning") + check_github(text, "notice");
    assert_int_equal(count_of(text, " (FORCED%3A not comparable)::"), lines);
    assert_int_equal(check_github(text, "error"), 1);
    assert_has(text, "::warning title=xferbench FORCED (FORCED");
    free(text);
}

static void github_stays_within_ten_of_a_kind(void **state)
{
    struct node *n = *state;
    make_many(n);
    char *text = written(xb_compare_github_write, n);
    assert_int_equal(check_github(text, "error"), 10);
    assert_int_equal(check_github(text, "warning"), 10);
    assert_int_equal(check_github(text, "notice"), 10);
    assert_line(text, "::41 more of this kind", "::error");
    assert_line(text, "::42 more of this kind", "::notice"); /* 50 and the overall verdict */
    free(text);
    n->comparison.case_count = 40; /* ten of each outcome */
    text = written(xb_compare_github_write, n);
    assert_int_equal(check_github(text, "error"), 10);
    assert_has(text, "::1 more of this kind");
    free(text);
    n->comparison.case_count = 36;
    text = written(xb_compare_github_write, n);
    assert_int_equal(check_github(text, "error"), 9);
    free(text);
}

static void github_is_not_to_be_injected_into(void **state)
{
    struct node *n = *state;
    make_nasty(n);
    char *text = written(xb_compare_github_write, n);
    assert_true(check_github(text, "error") <= 10);
    assert_has(text, "%250A");
    free(text);
}

/* ---- JUnit ---- */

static void junit_of_a_regression(void **state)
{
    struct node *n = *state;
    make_regression(n);
    char *text = written(xb_compare_junit_write, n);
    assert_memory_equal(text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites ", 51);
    assert_int_equal(count_of(text, "tests=\"9\" failures=\"3\" errors=\"1\" skipped=\"2\">"), 2);
    assert_has(text, "    <testcase classname=\"xferbench.pinned\" name=\"pinned registered h2d 1 "
                     "GiB device 0 bandwidth\">\n"
                     "      <failure message=\"REGRESSION, ratio 0.9402\">REGRESSION\n"
                     "baseline 55.44 GB/s (8 processes)\ncandidate 52.12 GB/s (8 processes)\n"
                     "ratio 0.9402\n98% interval 0.9389 to 0.9414\nP &lt;0.001\nthreshold 2 %, ");
    assert_has(text, "\nbaseline file results/base.json: 8 processes, cuda,");
    assert_has(text, "<failure message=\"REGRESSION, ratio -\">");
    assert_has(text, "<error message=\"INCONCLUSIVE, ratio 0.9791\">INCONCLUSIVE\n");
    assert_has(text, "<system-out>REGRESSION (no gate)\nbaseline 55.44");
    assert_has(text, "<system-out>PASS\nbaseline 55.44 GB/s");
    assert_has(text, "<skipped message=\"nothing to judge, ratio -\">-\nbaseline absent\ncandidate "
                     "21.00 GB/s (8 processes)\nonly in the candidate");
    assert_has(text, "    <system-out>REGRESSION: 3 of 6 gating");
    assert_has(text, "context that is not the same:\nhostname: baseline node1, candidate node2\n");
    assert_has_not(text, "overall verdict");
    free(text);
}

/* Whether any testcase is one that a reader sees in red. */
static size_t red(const char *text)
{
    return count_of(text, "<failure ") + count_of(text, "<error ");
}

static void junit_is_red_where_the_exit_code_is_not_0(void **state)
{
    (void)state;
    for (size_t i = 0; i < KINDS; i++) {
        void *made = NULL;
        assert_int_equal(setup(&made), 0);
        struct node *n = made;
        kinds[i].make(n);
        char *text = written(xb_compare_junit_write, n);
        if (xb_comparison_exit_code(&n->comparison) != 0 && red(text) == 0)
            fail_msg("%s is green: %s", kinds[i].name, text);
        free(text);
        teardown(&made);
    }
}

static void junit_of_what_is_indicative(void **state)
{
    struct node *n = *state;
    make_indicative(n);
    n->cases[2].gates = false;
    char *text = written(xb_compare_junit_write, n);
    assert_int_equal(count_of(text, "tests=\"4\" failures=\"0\" errors=\"2\" skipped=\"2\">"), 2);
    assert_has(text, "<error message=\"REGRESSION (indicative), ratio 0.9000\">");
    assert_has(text, "<skipped message=\"PASS (indicative), ratio 1.0000\">");
    assert_has(text, "interval 0.8987 to 0.9012 (of samples; its level cannot be told)\n");
    assert_has_not(text, "\nP ");
    free(text);
    make_only_passes_indicative(n);
    n->comparison.case_count = 2;
    text = written(xb_compare_junit_write, n);
    assert_int_equal(count_of(text, "tests=\"3\" failures=\"0\" errors=\"1\" skipped=\"2\">"), 2);
    assert_has(text, "name=\"overall verdict\">\n      <error message=\"INCONCLUSIVE\">");
    free(text);
}

static void junit_of_what_does_not_gate(void **state)
{
    struct node *n = *state;
    make_regression(n);
    for (size_t i = 0; i < n->comparison.case_count; i++)
        n->cases[i].gates = false;
    conclude(n, XB_OUTCOME_PASS, "");
    char *text = written(xb_compare_junit_write, n);
    assert_int_equal(red(text), 0);
    assert_int_equal(count_of(text, "skipped=\"3\""), 2); /* gone, new, void */
    assert_has(text, "<system-out>REGRESSION (no gate)\nbaseline 55.44 GB/s (8 processes)\n");
    free(text);
}

static void junit_of_what_is_not_comparable(void **state)
{
    struct node *n = *state;
    make_refused(n);
    char *text = written(xb_compare_junit_write, n);
    assert_int_equal(count_of(text, "tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\">"), 2);
    assert_has(text, "name=\"NOT COMPARABLE\">\n      <error message=\"NOT COMPARABLE\">NOT "
                     "COMPARABLE: not measured under the same conditions\nGPU model of device 0: "
                     "baseline NVIDIA H200, candidate NVIDIA A100\noption --chunk: ");
    assert_int_equal(count_of(text, "node2"), 1);
    assert_int_equal(count_of(text, "A100"), 1);
    free(text);
    make_pass(n);
    n->comparison.request.force = true;
    text = written(xb_compare_junit_write, n);
    assert_int_equal(count_of(text, "tests=\"2\" failures=\"0\" errors=\"0\" skipped=\"1\">"), 2);
    assert_int_equal(count_of(text, "name=\"xferbench compare (FORCED: not comparable)\""), 2);
    assert_has(text, "<skipped message=\"FORCED: not comparable: GPU model of device 0, option");
    free(text);
}

static void junit_escapes(void **state)
{
    struct node *n = *state;
    make_nasty(n);
    char *text = written(xb_compare_junit_write, n);
    assert_has(text, "&lt;script&gt;x&lt;/script&gt; ]]&gt; &amp; &quot;q&quot; &apos;r&apos;");
    assert_has_not(text, "<script");
    assert_has_not(text, "]]>");
    for (const char *c = text; *c != '\0'; c++)
        assert_true((*c >= ' ' && *c <= '~') || *c == '\n');
    free(text);
}

/* ---- benchmark-action ---- */

static const cJSON *entry(const cJSON *root, const char *name)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, root)
    {
        if (strcmp(cJSON_GetStringValue(at(item, "name")), name) == 0)
            return item;
    }
    fail_msg("no entry %s", name);
    return NULL;
}

static void benchmark_action_has_the_candidates_figures(void **state)
{
    struct node *n = *state;
    make_regression(n);
    cJSON *root = parsed(xb_compare_benchmark_action_write, n);
    assert_int_equal(cJSON_GetArraySize(root), 6); /* those that were measured */
    const cJSON *one = entry(root, "pinned registered h2d 1 GiB device 0 bandwidth");
    assert_text(one, "unit", "GB/s");
    assert_number(one, "value", 55.44 * 0.9402);
    assert_text(one, "range", "\xC2\xB1 0.182"); /* 3.5 thousandths */
    assert_text(one, "extra", "8 processes; ratio 0.9402; REGRESSION");
    one = entry(root, "pinned new h2d 1 GiB device 0 bandwidth");
    assert_number(one, "value", 21);
    assert_text(one, "extra", "8 processes; -; only in the candidate");
    one = entry(root, "pinned loose h2d 1 GiB device 0 bandwidth");
    assert_text(one, "extra", "8 processes; ratio 0.8000; REGRESSION (no gate)");
    cJSON_Delete(root);
}

static void benchmark_action_makes_bigger_better(void **state)
{
    struct node *n = *state;
    make_latency(n);
    cJSON *root = parsed(xb_compare_benchmark_action_write, n);
    assert_int_equal(cJSON_GetArraySize(root), 2);
    const cJSON *one = entry(root, "pinned alloc h2d 1 GiB device 0 device latency");
    assert_number(one, "value", 1 / 2.2e-6);
    assert_text(one, "extra", "8 processes; ratio 1.0000; PASS");
    one = entry(root, "pinned alloc h2d 1 GiB device 0 host latency");
    assert_text(one, "extra", "8 processes; ratio 1.0634; REGRESSION");
    assert_text(one, "unit", "1/s");
    assert_number(one, "value", 1 / 3.52e-6);
    assert_text(one, "range", "\xC2\xB1 994");
    cJSON_Delete(root);
}

static void benchmark_action_is_written_whatever_the_verdict(void **state)
{
    struct node *n = *state;
    make_refused(n);
    cJSON *root = parsed(xb_compare_benchmark_action_write, n);
    const cJSON *one = entry(root, "pinned alloc d2h 1 MiB device 1>2 bandwidth");
    assert_number(one, "value", 50);
    assert_text(one, "extra",
                "8 processes; NOT COMPARABLE: GPU model of device 0, option "
                "--chunk");
    cJSON_Delete(root);
    n->comparison.request.force = true;
    n->candidate.record.process_count = 1;
    root = parsed(xb_compare_benchmark_action_write, n);
    one = cJSON_GetArrayItem(root, 0);
    assert_text(one, "extra",
                "1 process; FORCED: not comparable: GPU model of device 0, option --chunk");
    assert_null(at(one, "range"));
    cJSON_Delete(root);
    make_empty(n);
    n->candidate.record.case_count = 0;
    assert_int_equal(cJSON_GetArraySize(root = parsed(xb_compare_benchmark_action_write, n)), 0);
    cJSON_Delete(root);
}

/* Two runs that differ in their figures alone have the same names. */
static void benchmark_action_names_are_the_cases(void **state)
{
    struct node *n = *state;
    make_many(n);
    cJSON *root = parsed(xb_compare_benchmark_action_write, n);
    assert_int_equal(cJSON_GetArraySize(root), CASES);
    for (int i = 0; i < CASES; i++)
        assert_ptr_equal(entry(root, cJSON_GetStringValue(at(cJSON_GetArrayItem(root, i), "name"))),
                         cJSON_GetArrayItem(root, i));
    cJSON_Delete(root);
    n->candidate.cases[0].simultaneous = n->candidate.cases[1].latency = true;
    n->candidate.cases[0].device = -1;
    root = parsed(xb_compare_benchmark_action_write, n);
    entry(root, "pinned registered h2d 4 KiB device sum simultaneous bandwidth");
    entry(root, "pinned registered h2d 4 KiB device 1 latency run bandwidth");
    cJSON_Delete(root);
}

int main(void)
{
#define RUN_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        RUN_TEST(markdown_of_a_regression),
        RUN_TEST(markdown_tells_levels_where_they_differ),
        RUN_TEST(markdown_of_what_is_not_comparable),
        RUN_TEST(markdown_keeps_its_form),
        RUN_TEST(github_is_as_grave_as_the_case),
        RUN_TEST(github_of_what_is_indicative),
        RUN_TEST(github_is_silent_on_what_is_open_and_does_not_gate),
        RUN_TEST(github_of_what_is_not_comparable),
        RUN_TEST(github_marks_each_when_forced),
        RUN_TEST(github_stays_within_ten_of_a_kind),
        RUN_TEST(github_is_not_to_be_injected_into),
        RUN_TEST(junit_of_a_regression),
        RUN_TEST(junit_is_red_where_the_exit_code_is_not_0),
        RUN_TEST(junit_of_what_is_indicative),
        RUN_TEST(junit_of_what_does_not_gate),
        RUN_TEST(junit_of_what_is_not_comparable),
        RUN_TEST(junit_escapes),
        RUN_TEST(benchmark_action_has_the_candidates_figures),
        RUN_TEST(benchmark_action_makes_bigger_better),
        RUN_TEST(benchmark_action_is_written_whatever_the_verdict),
        RUN_TEST(benchmark_action_names_are_the_cases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
