/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* strndup */
#include "checks.h"
#include "compare_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "testing.h"

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
        assert_lacks(line, "##[");
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

RUN_TEST(github_is_as_grave_as_the_case)
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
                "bandwidth: REGRESSION: 6.0 %25 slower, 99 %25 sure of at least 5.8 %25, baseline "
                "55.44 GB/s (8 processes), candidate 52.12 GB/s "
                "(8 processes), ratio 0.9402, 98%25 interval 0.9389 to 0.9414, P <0.001");
    assert_line(
        text, "pinned gone h2d 1 GiB device 0 bandwidth: ", "::error title=xferbench REGRESSION::");
    assert_line(text, "pinned broken", "candidate -, error in all processes: the data is wrong");
    assert_line(text, "pinned unclear", "::warning title=xferbench INCONCLUSIVE::");
    assert_line(text, "pinned faster", "::notice title=xferbench IMPROVED::");
    assert_line(text, "pinned loose", "::notice title=xferbench REGRESSION (not counted)::");
    assert_line(text, "title=xferbench only in the candidate::", "::pinned new h2d");
    assert_line(text, "title=xferbench nothing to judge::", "::pinned void h2d");
    assert_line(text, "title=xferbench other differences::",
                "hostname: baseline node1, candidate node2%0Akernel: baseline 6.8.0, candidate "
                "not known");
    free(text);
}

RUN_TEST(github_of_what_is_indicative)
{
    struct node *n = *state;
    make_indicative(n);
    char *text = written(xb_compare_github_write, n);
    assert_int_equal(check_github(text, "error"), 0);
    assert_int_equal(check_github(text, "warning"), 3);
    assert_memory_equal(text, "::warning title=xferbench INCONCLUSIVE::", 40);
    assert_line(text, "REGRESSION", "::warning title=xferbench REGRESSION (indicative)::");
    assert_line(text, "IMPROVED", "::notice title=xferbench IMPROVED (indicative)::");
    assert_lacks(text, ", P ");
    free(text);
}

RUN_TEST(github_is_silent_on_what_is_open_and_does_not_gate)
{
    struct node *n = *state;
    add_judged(n, "registered", XB_OUTCOME_INCONCLUSIVE, 0.98)->gates = false;
    conclude(n, XB_OUTCOME_PASS, "nothing");
    char *text = written(xb_compare_github_write, n);
    assert_lacks(text, "pinned");
    free(text);
    n->cases[0].basis = XB_BASIS_INDICATIVE;
    n->cases[0].outcome = XB_OUTCOME_REGRESSION;
    text = written(xb_compare_github_write, n);
    assert_has(text, "::notice title=xferbench REGRESSION (indicative%2C not counted)::pinned");
    assert_int_equal(check_github(text, "notice"), 2);
    free(text);
}

RUN_TEST(github_of_what_is_not_comparable)
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

RUN_TEST(github_of_rows_that_are_not_compared)
{
    struct node *n = *state;
    make_rows_apart(n);
    char *text = written(xb_compare_github_write, n);
    assert_line(text, "title=xferbench INCONCLUSIVE::",
                "%0ANext: Measure both files with the same settings.%0Achanged: driver 580.82 -> "
                "590.10, kernel 6.8 -> 6.9%0A");
    assert_line(text, "NOT COMPARABLE", "::warning title=xferbench NOT COMPARABLE::async ");
    assert_int_equal(check_github(text, "error"), 0);
    free(text);
    n->cases[0] = n->cases[1]; /* nothing else is left */
    n->comparison.case_count = 1;
    n->comparison.none_comparable = true;
    text = written(xb_compare_github_write, n);
    assert_memory_equal(text, "::error title=xferbench NOT COMPARABLE::NOT COMPARABLE: ", 56);
    free(text);
}

RUN_TEST(github_marks_each_when_forced)
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

RUN_TEST(github_stays_within_ten_of_a_kind)
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

RUN_TEST(github_is_not_to_be_injected_into)
{
    struct node *n = *state;
    make_nasty(n);
    char *text = written(xb_compare_github_write, n);
    assert_true(check_github(text, "error") <= 10);
    assert_has(text, "%250A");
    free(text);
}
