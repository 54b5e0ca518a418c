/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* strndup */
#include "checks.h"
#include "compare_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "testing.h"

RUN_TEST(markdown_as_a_whole)
{
    struct node *n = *state;
    make_regression(n);
    char *text = written(xb_compare_markdown_write, n);
    assert_string_equal(
        text, "## xferbench compare: REGRESSION\n"
              "\n"
              "3 of 6 gating cases: worse by 2 % or more\n"
              "\n"
              "To the GPU, 1 GiB, bandwidth in GB/s\n"
              "\n"
              "| METHOD            | BASELINE | CANDIDATE |        CHANGE | 99% SURE OF     |  "
              "RATIO |  98% INTERVAL |      P | VERDICT                  |\n"
              "|-------------------|---------:|----------:|--------------:|-----------------|------"
              "-:|--------------:|-------:|--------------------------|\n"
              "| pinned broken     |    55.44 |         - |             - | -               |      "
              "- |             - |      - | REGRESSION               |\n"
              "| pinned gone       |    20.00 |    absent |             - | -               |      "
              "- |             - |      - | REGRESSION               |\n"
              "| pinned            |    55.44 |     52.12 |  6.0 % slower | at least 5.8 %  | "
              "0.9402 | 0.9389-0.9414 | <0.001 | REGRESSION               |\n"
              "| pinned unclear    |    55.44 |     54.28 |  2.1 % slower | at most 2.3 %   | "
              "0.9791 | 0.9778-0.9803 |  0.750 | INCONCLUSIVE             |\n"
              "| pinned, allocated |    55.44 |     55.39 | 0.09 % slower | at most 0.22 %  | "
              "0.9991 | 0.9978-1.0003 |  0.008 | PASS                     |\n"
              "| pinned faster     |    55.44 |     58.83 |  6.1 % faster | at least 5.9 %  | "
              "1.0611 | 1.0598-1.0623 |  0.006 | IMPROVED                 |\n"
              "| pinned new        |   absent |     21.00 |             - | -               |      "
              "- |             - |      - | -                        |\n"
              "| pinned void       |        - |         - |             - | -               |      "
              "- |             - |      - | -                        |\n"
              "| pinned loose      |    55.44 |     44.35 | 20.0 % slower | at least 19.8 % | "
              "0.8000 | 0.7987-0.8012 | <0.001 | REGRESSION (not counted) |\n"
              "\n"
              "- pinned broken to the GPU, 1 GiB: error in all processes: the data is wrong\n"
              "- pinned gone to the GPU, 1 GiB: only in the baseline\n"
              "- pinned new to the GPU, 1 GiB: only in the candidate\n"
              "- pinned void to the GPU, 1 GiB: skipped in both files\n"
              "\n"
              "- baseline: results/base.json, 8 processes, cuda, driver 580.159.04, NVIDIA H200\n"
              "- candidate: results/new.json, 8 processes, cuda, driver 580.159.04, NVIDIA H200\n"
              "- rule: worse by 2 % or more is a regression; 8 of 9 figures count; chance of a "
              "false alarm: 1 % at most\n"
              "\n"
              "<details><summary>Other differences: 2</summary>\n"
              "\n"
              "| CONDITION | BASELINE | CANDIDATE |\n"
              "|-----------|----------|-----------|\n"
              "| hostname  | node1    | node2     |\n"
              "| kernel    | 6.8.0    | not known |\n"
              "\n"
              "</details>\n");
    free(text);
}

RUN_TEST(markdown_of_rows_that_are_not_compared)
{
    struct node *n = *state;
    make_rows_apart(n);
    char *text = written(xb_compare_markdown_write, n);
    assert_has(text, "Next: Measure both files with the same settings.\n\n");
    assert_has(text, "- changed: driver 580.82 -> 590.10, kernel 6.8 -> 6.9\n");
    assert_has(text, "- async, chunk 64 KiB, to the GPU, 1 GiB: measured with chunk 64 KiB, the ");
    assert_lacks(text, "Other differences");
    free(text);
}

RUN_TEST(markdown_of_what_is_not_comparable)
{
    struct node *n = *state;
    make_refused(n);
    char *text = written(xb_compare_markdown_write, n);
    assert_has(text, "## xferbench compare: NOT COMPARABLE\n");
    assert_has(text, "These must be the same in both files:\n\n| CONDITION ");
    assert_lacks(text, "| METHOD");
    assert_int_equal(count_of(text, "node2"), 1);
    assert_int_equal(count_of(text, "A100"), 1);
    free(text);
    make_pass(n);
    n->comparison.request.force = true;
    text = written(xb_compare_markdown_write, n);
    assert_has(text, "## xferbench compare: PASS (FORCED: not comparable)\n\n");
    assert_has(text, "\n\nFORCED: not comparable: GPU model of device 0, option --chunk\n\n");
    free(text);
}

/* Outside of code spans, in which nothing has a meaning, all markup is ours. */
static void assert_harmless(const char *line)
{
    bool is_code = false;
    for (const char *c = line; *c != '\0'; c++) {
        is_code = *c == '`' ? !is_code : is_code;
        if (is_code || strncmp(c, "<details>", 9) == 0 || strncmp(c, "</details>", 10) == 0 ||
            strncmp(c, "<summary>", 9) == 0 || strncmp(c, "</summary>", 10) == 0)
            continue;
        if (strchr("*_[]~@\\\"!&\t\r", *c) != NULL || (*c == '<' && (c[1] < '0' || c[1] > '9')))
            fail_msg("'%c' in: %s", *c, line);
    }
    assert_false(is_code);
}

/* Line by line: a table's rows have as many bars as its heading. */
RUN_TEST(markdown_keeps_its_form)
{
    for (size_t i = 0; i < KINDS; i++) {
        void *made = NULL;
        assert_int_equal(setup(&made), 0);
        kinds[i].make(made);
        char *text = written(xb_compare_markdown_write, made);
        assert_int_equal(count_of(text, "\n## "), 0);
        size_t bars = 0;
        for (const char *c = text; *c != '\0'; c += strcspn(c, "\n") + 1) {
            char *line = strndup(c, strcspn(c, "\n"));
            size_t count = count_of(line, "|") - count_of(line, "\\|");
            assert_harmless(line);
            if (line[0] == '|' && bars == 0)
                bars = count;
            if (line[0] == '|')
                assert_int_equal(count, bars);
            bars = line[0] == '|' ? bars : 0;
            free(line);
        }
        free(text);
        teardown(&made);
    }
}
