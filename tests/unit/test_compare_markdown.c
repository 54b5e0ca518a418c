/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* strndup */
#include "checks.h"
#include "compare_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void markdown_of_a_regression(void **state)
{
    struct node *n = *state;
    make_regression(n);
    char *text = written(xb_compare_markdown_write, n);
    assert_memory_equal(text, "## xferbench compare: REGRESSION\n\n", 34);
    assert_has(text, "| baseline | <code>results/base.json</code> | 8 processes, cuda, driver ");
    assert_has(
        text,
        "| case | baseline | candidate | change | ratio | 98% interval | P | verdict | note |\n"
        "|---|---:|---:|---|---:|---:|---:|---|---|\n");
    assert_line(text, "registered",
                "| pinned registered h2d 1 GiB device 0 bandwidth | 55.44 GB/s | 52.12 "
                "GB/s | 6.0 % slower, 99 % sure of at least 5.8 % | 0.9402 | 0.9389 to 0.9414 | "
                "&#60;0.001 | "
                "<strong>REGRESSION</strong> |");
    assert_line(text, "loose", "| REGRESSION (not counted) |");
    assert_line(text, "gone", "| absent | ");
    assert_line(text, "void", "| - |");
    assert_has(text, "<details><summary>Other differences: 2</summary>\n\n"
                     "| condition | baseline | candidate |\n|---|---|---|\n"
                     "| <code>hostname</code> | <code>node1</code> | <code>node2</code> |\n");
    assert_lacks(text, "These must be the same");
    assert_lacks(text, "FORCED");
    assert_int_equal(count_of(text, "<strong>"), 3);
    free(text);
}

static void markdown_of_rows_that_are_not_compared(void **state)
{
    struct node *n = *state;
    make_rows_apart(n);
    char *text = written(xb_compare_markdown_write, n);
    assert_has(text, "Next: Measure both files with the same settings.\n\n");
    assert_has(text, "Changed: driver 580.82 -&#62; 590.10, kernel 6.8 -&#62; 6.9\n\n");
    assert_line(text, "chunk 64 KiB",
                "| 55.44 GB/s | 49.90 GB/s | - | - | - | - | NOT COMPARABLE | measured with chunk");
    assert_lacks(text, "Other differences");
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
    assert_has(text, "These must be the same in both files:\n\n| condition |");
    assert_lacks(text, "| case |");
    assert_lacks(text, "INCONCLUSIVE");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        RUN_TEST(markdown_of_a_regression),
        RUN_TEST(markdown_tells_levels_where_they_differ),
        RUN_TEST(markdown_of_what_is_not_comparable),
        RUN_TEST(markdown_of_rows_that_are_not_compared),
        RUN_TEST(markdown_keeps_its_form),
    };
    return cmocka_run_group_tests_name("compare_markdown", tests, NULL, NULL);
}
