/* SPDX-License-Identifier: Apache-2.0 */
#include "checks.h"
#include "compare_fixture.h"

#include <stdlib.h>

#include "testing.h"

RUN_TEST(junit_of_a_regression)
{
    struct node *n = *state;
    make_regression(n);
    char *text = written(xb_compare_junit_write, n);
    assert_memory_equal(text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites ", 51);
    assert_int_equal(count_of(text, "tests=\"9\" failures=\"3\" errors=\"1\" skipped=\"2\">"), 2);
    assert_has(text,
               "    <testcase classname=\"xferbench.pinned\" name=\"pinned registered h2d 1 "
               "GiB device 0 bandwidth\">\n"
               "      <failure message=\"REGRESSION: 6.0 % slower, 99 % sure of at least 5.8 %\">"
               "REGRESSION\n6.0 % slower, 99 % sure of at least 5.8 %\n"
               "baseline 55.44 GB/s (8 processes)\ncandidate 52.12 GB/s (8 processes)\n"
               "ratio 0.9402\n98% interval 0.9389 to 0.9414\nP &lt;0.001\nworse by 2 % or ");
    assert_has(text, "\nbaseline file results/base.json: 8 processes, cuda,");
    assert_has(text, "<failure message=\"REGRESSION\">");
    assert_has(
        text,
        "<error message=\"INCONCLUSIVE: 2.1 % slower, 99 % sure of at most 2.3 %\">INCONCLUSIVE\n");
    assert_has(text, "<system-out>REGRESSION (not counted)\n20.0 % slower, 99 % sure of at least "
                     "19.8 %\nbaseline 55.44");
    assert_has(text,
               "<system-out>PASS\n0.09 % slower, 99 % sure of at most 0.22 %\nbaseline 55.44 GB/s");
    assert_has(text, "<skipped message=\"nothing to judge\">-\nbaseline absent\ncandidate "
                     "21.00 GB/s (8 processes)\nonly in the candidate");
    assert_has(text, "    <system-out>REGRESSION: 3 of 6 gating");
    assert_has(text, "other differences:\nhostname: baseline node1, candidate node2\n");
    assert_lacks(text, "overall verdict");
    free(text);
}

/* Whether any testcase is one that a reader sees in red. */
static size_t red(const char *text)
{
    return count_of(text, "<failure ") + count_of(text, "<error ");
}

/* A variable may be set to nothing: the line ends all the same. */
RUN_TEST(junit_ends_the_line_of_an_empty_value)
{
    struct node *n = *state;
    make_regression(n);
    add_difference(n, "environment A", "x", "", false);
    add_difference(n, "environment B", "x", "y", false);
    char *text = written(xb_compare_junit_write, n);
    assert_has(text,
               "\nenvironment A: baseline x, candidate \nenvironment B: baseline x, candidate y\n");
    free(text);
}

RUN_TEST(junit_is_red_where_the_exit_code_is_not_0)
{
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

RUN_TEST(junit_of_what_is_indicative)
{
    struct node *n = *state;
    make_indicative(n);
    n->cases[2].gates = false;
    char *text = written(xb_compare_junit_write, n);
    assert_int_equal(count_of(text, "tests=\"4\" failures=\"0\" errors=\"2\" skipped=\"2\">"), 2);
    assert_has(text, "<error message=\"REGRESSION (indicative): 10.0 % slower\">");
    assert_has(text, "<skipped message=\"PASS (indicative): 0.00 %\">");
    assert_has(text, "interval 0.8987 to 0.9012 (of samples; its level is not known)\n");
    assert_lacks(text, "\nP ");
    free(text);
    make_only_passes_indicative(n);
    n->comparison.case_count = 2;
    text = written(xb_compare_junit_write, n);
    assert_int_equal(count_of(text, "tests=\"3\" failures=\"0\" errors=\"1\" skipped=\"2\">"), 2);
    assert_has(text, "name=\"overall verdict\">\n      <error message=\"INCONCLUSIVE\">");
    free(text);
}

RUN_TEST(junit_of_what_does_not_gate)
{
    struct node *n = *state;
    make_regression(n);
    for (size_t i = 0; i < n->comparison.case_count; i++)
        n->cases[i].gates = false;
    conclude(n, XB_OUTCOME_PASS, "");
    char *text = written(xb_compare_junit_write, n);
    assert_int_equal(red(text), 0);
    assert_int_equal(count_of(text, "skipped=\"3\""), 2); /* gone, new, void */
    assert_has(text, "<system-out>REGRESSION (not counted)\n20.0 % slower, 99 % sure of at least "
                     "19.8 %\nbaseline 55.44 GB/s (8 processes)\n");
    free(text);
}

RUN_TEST(junit_of_what_is_not_comparable)
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

/* A row that was not compared is neither green nor red; where nothing else counts, the whole is. */
RUN_TEST(junit_of_rows_that_are_not_compared)
{
    struct node *n = *state;
    make_rows_apart(n);
    char *text = written(xb_compare_junit_write, n);
    assert_has(text, "<skipped message=\"NOT COMPARABLE\">NOT COMPARABLE\nbaseline 55.44 GB/s");
    assert_has(text, "name=\"overall verdict\">\n      <error message=\"INCONCLUSIVE\">");
    assert_has(text, "\nNext: Measure both files with the same settings.\n");
    assert_has(text, "\nchanged: driver 580.82 -&gt; 590.10, kernel 6.8 -&gt; 6.9\n");
    free(text);
    n->cases[0] = n->cases[1]; /* nothing else is left */
    n->comparison.case_count = 1;
    n->comparison.none_comparable = true;
    text = written(xb_compare_junit_write, n);
    assert_has(text, "<error message=\"NOT COMPARABLE\">");
    free(text);
}

RUN_TEST(junit_escapes)
{
    struct node *n = *state;
    make_nasty(n);
    char *text = written(xb_compare_junit_write, n);
    assert_has(text, "&lt;script&gt;x&lt;/script&gt; ]]&gt; &amp; &quot;q&quot; &apos;r&apos;");
    assert_lacks(text, "<script");
    assert_lacks(text, "]]>");
    for (const char *c = text; *c != '\0'; c++)
        assert_true((*c >= ' ' && *c <= '~') || *c == '\n');
    free(text);
}
