/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "checks.h"
#include "compare_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- the table ---- */

static bool has_long_word(const char *line)
{
    for (const char *c = line; *c != '\n'; c++)
        if (strcspn(c, " \n") > 80)
            return true;
    return false;
}

static void assert_narrow(const char *text, bool colour)
{
    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1) {
        size_t width = 0;
        for (const char *c = line; *c != '\n'; c++, width++) {
            if (colour && *c == '\x1b') {
                assert_memory_equal(c, "\x1b[", 2);
                c += strcspn(c, "m");
                width--;
            } else if (*c < ' ' || *c > '~') {
                fail_msg("byte %02x in: %s", (unsigned)(unsigned char)*c, text);
            }
        }
        /* A word stays whole: a path is there to be copied. */
        if (width > 100 && !has_long_word(line))
            fail_msg("%zu columns: %.200s", width, line);
    }
}

static void table_is_plain_and_narrow(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * KINDS; i++) {
        void *made = NULL;
        assert_int_equal(setup(&made), 0);
        kinds[i / 2].make(made);
        char *text = written(i % 2 ? colour_table : usual_table, made);
        if (i % 2 == 0)
            assert_narrow(text, false);
        assert_int_equal(text[strlen(text) - 1], '\n');
        assert_lacks(text, "::error");
        assert_lacks(text, "##[");
        assert_lacks(text, "\n\n\n");
        free(text);
        teardown(&made);
    }
}

static void table_has_a_row_for_each_case(void **state)
{
    struct node *n = *state;
    make_regression(n);
    char *text = written(plain_table, n);
    assert_has(text, "  baseline  results/base.json: 8 processes, cuda, driver 580.159.04, "
                     "NVIDIA H200\n");
    assert_has(text,
               "  rule      worse by 2 % or more is a regression; 8 of 9 figures count; chance "
               "of a false alarm: 1 %\n            at most\n");
    assert_has(text, "\nMODE ");
    assert_has(text, "98% INTERVAL");
    assert_lacks(text, "FIGURE");
    assert_lacks(text, "DEVICE");
    assert_row(text, "registered",
               "55.44 52.12 6.0 % slower at least 5.8 % 0.9402 0.9389-0.9414 <0.001 REGRESSION");
    assert_row(text, "faster", "1.0611 1.0598-1.0623 0.006 IMPROVED");
    assert_row(text, "alloc ", "0.9991 0.9978-1.0003 0.008 PASS");
    assert_row(text, "unclear", "0.9791 0.9778-0.9803 0.750 INCONCLUSIVE");
    assert_row(text, "loose", "REGRESSION (not counted)");
    assert_row(text, "gone", " 20.00 absent - - - - - REGRESSION");
    assert_row(text, "new ", " absent 21.00 - - - - - -");
    assert_row(text, "void", " - - - - - - - -");
    assert_has(text, "case      pinned gone h2d 1 GiB device 0 bandwidth: only in the baseline\n");
    assert_has(text, "case      pinned new h2d 1 GiB device 0 bandwidth: only in the candidate\n");
    assert_has(text, ": skipped in both files\n");
    assert_has(text, "\nOther differences\nCONDITION");
    assert_row(text, "hostname", "node1 node2");
    assert_row(text, "kernel", "6.8.0 not known");
    assert_lacks(text, "COMPARABLE");
    assert_lacks(text, "too few");
    assert_has(text, "\nOverall: REGRESSION: 3 of 6 gating cases: worse by 2 % or more\n");
    assert_string_equal(strchr(strstr(text, "Overall:"), '\n'), "\n"); /* the last line */
    free(text);
}

static void table_labels_what_is_indicative(void **state)
{
    struct node *n = *state;
    make_indicative(n);
    n->cases[1].gates = false;
    char *text = written(plain_table, n);
    assert_row(text, "0.9000", "REGRESSION (indicative)");
    assert_row(text, "1.0000", "PASS (indicative, not counted)");
    assert_row(text, "1.1000", "IMPROVED (indicative)");
    assert_row(text, "0.9800", "INCONCLUSIVE (indicative)");
    assert_int_equal(count_of(text, "(indicative"), 4);
    assert_has(text, "INTERVAL  VERDICT\n");
    assert_lacks(text, "SURE OF");
    assert_has(text, "its level is not known");
    assert_has(text, "too few processes: a figure has 1 in a file, and to judge 4 figures takes 5");
    assert_has(text, "baseline  results/base.json: 1 process,");
    assert_lacks(text, "significant");
    n->comparison.processes_needed = 0;
    free(text);
    text = written(plain_table, n);
    assert_has(text, "no number is enough");
    free(text);
    n->comparison.gating_count = 0; /* what gates does so by its status */
    text = written(plain_table, n);
    assert_lacks(text, "too few processes: ");
    free(text);
}

/* It goes by the least that any case that gates has. */
static void table_counts_the_fewest_processes(void **state)
{
    struct node *n = *state;
    make_regression(n);
    n->cases[1].candidate_n = 4;
    n->cases[4].candidate_n = 2; /* does not gate */
    char *text = written(plain_table, n);
    assert_has(text, "too few processes: a figure has 4 in a file");
    free(text);
    n->cases[1].candidate_n = 5;
    text = written(plain_table, n);
    assert_lacks(text, "too few");
    free(text);
}

/* The order in which columns go; what cannot go becomes a paragraph a row. */
static void table_loses_columns_and_no_numbers(void **state)
{
    static const struct {
        size_t columns;
        const char *heading; /* but for its ends */
        const char *row;
    } all[] = {
        {130, " CHANGE 99% SURE OF RATIO 98% INTERVAL P VERDICT",
         " 6.0 % slower at least 5.8 % 0.9402 0.9389-0.9414 <0.001 REGRESSION"},
        {110, " CHANGE 99% SURE OF RATIO 98% INTERVAL VERDICT",
         " 6.0 % slower at least 5.8 % 0.9402 0.9389-0.9414 REGRESSION"},
        {100, " CHANGE 99% SURE OF RATIO VERDICT",
         " 6.0 % slower at least 5.8 % 0.9402 REGRESSION"},
        {90, " BASELINE CANDIDATE CHANGE 99% SURE OF VERDICT",
         " 55.44 52.12 6.0 % slower at least 5.8 % REGRESSION"},
        {80, " BASELINE CANDIDATE CHANGE VERDICT", " 55.44 52.12 6.0 % slower REGRESSION"},
        {55, " SIZE CHANGE VERDICT", " 6.0 % slower REGRESSION"},
        {40, "MODE pinned VARIANT registered DIR h2d", "MODE pinned VARIANT registered DIR h2d"},
    };
    struct node *n = *state;
    make_regression(n);
    n->cases[4] = n->cases[0]; /* which is "not counted" otherwise */
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        char *text = NULL;
        size_t size = 0;
        struct xb_error error;
        FILE *stream = open_memstream(&text, &size);
        assert_non_null(stream);
        assert_int_equal(
            xb_compare_table_write(stream, &n->comparison, all[i].columns, false, &error), XB_OK);
        assert_int_equal(fclose(stream), 0);
        assert_row(text, "MODE", all[i].heading);
        assert_row(text, "registered", all[i].row);
        for (const char *line = strstr(text, "\nMODE") + 1; strncmp(line, "\nNotes", 6) != 0;
             line += strcspn(line, "\n") + 1)
            assert_true(strcspn(line, "\n") <= all[i].columns);
        free(text);
    }
}

static void table_is_coloured_only_when_asked(void **state)
{
    struct node *n = *state;
    make_regression(n);
    n->cases[0].gates = true;
    char *text = written(plain_table, n);
    assert_null(strchr(text, '\x1b'));
    free(text);
    text = written(colour_table, n);
    assert_row(text, "pinned registered", "\x1b[31mREGRESSION\x1b[0m");
    assert_row(text, " faster", "\x1b[32mIMPROVED");
    assert_row(text, " alloc ", "\x1b[32mPASS");
    assert_row(text, " unclear", "\x1b[33mINCONCLUSIVE");
    assert_has(text, "\nOverall: \x1b[31mREGRESSION\x1b[0m: 3 of 6");
    char *line = line_with(text, " void ");
    assert_null(strchr(line, '\x1b'));
    free(line);
    free(text);
    n->cases[0].basis = n->cases[1].basis = XB_BASIS_INDICATIVE;
    text = written(colour_table, n);
    assert_row(text, "pinned registered", "\x1b[33mREGRESSION (indicative)");
    assert_row(text, " alloc ", "\x1b[33mPASS (indicative)");
    free(text);
}

static void table_refuses(void **state)
{
    struct node *n = *state;
    make_refused(n);
    char *text = written(plain_table, n);
    assert_has(text, "\nNOT COMPARABLE: these must be the same in both files\nCONDITION");
    assert_row(text, "GPU model of device 0 ", "NVIDIA H200 NVIDIA A100");
    assert_row(text, "option --chunk", "null not known");
    assert_has(text, "\nOther differences\n");
    assert_has(text, "\nOverall: NOT COMPARABLE: not measured under the same conditions\n");
    assert_lacks(text, "MODE");
    assert_lacks(text, "FORCED");
    assert_lacks(text, "INCONCLUSIVE");
    free(text);
}

static void table_tells_that_it_was_forced(void **state)
{
    struct node *n = *state;
    make_forced(n);
    char *text = written(plain_table, n);
    assert_has(text, "  WARNING   FORCED: not comparable: GPU model of device 0, option --chunk\n");
    assert_has(text, "\nOverall: PASS (FORCED: not comparable): none");
    assert_has(text, "\nMODE");
    assert_has(text, "\nNOT COMPARABLE: these must be the same");
    free(text);
    text = written(colour_table, n); /* green would say too much */
    assert_lacks(text, "\x1b[32m");
    assert_has(text, "\nOverall: \x1b[33mPASS\x1b[0m (FORCED");
    free(text);
}

static void table_of_latencies(void **state)
{
    struct node *n = *state;
    make_latency(n);
    n->cases[0].has_interval = true;
    n->candidate.cases[0].device = 1;
    n->candidate.cases[0].peer = 2;
    n->candidate.record.asked_processes = 10;
    n->candidate.processes[3].interrupted = n->candidate.processes[4].interrupted = true;
    n->candidate.processes[5].deadline_met = false;
    char *text = written(plain_table, n);
    assert_has(text, "FIGURE");
    assert_row(text, "1.0634",
               "1>2 latency_host 3.31 us 3.52 us 6.3 % longer at least 6.0 % 1.0634 "
               "1.0601-1.0688 <0.001 REGR");
    assert_row(text, "2.20 us",
               "2.20 us 2.20 us 0.00 % not longer 1.0000 1.0000-1.0000 1.000 PASS");
    assert_has(text, "8 of 10 processes, 2 INTERRUPTED, 1 CUT BY THE DEADLINE, cuda,");
    free(text);
}

static void table_names_the_devices_where_it_matters(void **state)
{
    struct node *n = *state;
    make_pass(n);
    n->candidate.cases[0].peer = 1;
    char *text = written(plain_table, n);
    assert_row(text, "registered", "1 GiB 0>1 55.44");
    free(text);
    n->candidate.cases[0].peer = -1;
    n->candidate.cases[0].simultaneous = true;
    text = written(plain_table, n);
    assert_row(text, "registered", "1 GiB 0 of all 55.44");
    free(text);
}

static void table_has_a_column_for_parameters_that_differ(void **state)
{
    struct node *n = *state;
    make_parameters(n);
    n->comparison.case_count = 2;
    char *text = written(plain_table, n);
    assert_row(text, "VARIANT", " SIZE CHUNK BASELINE ");
    assert_lacks(text, "WAY"); /* the same in all */
    assert_row(text, " 8 MiB ", "async registered h2d 1 GiB 8 MiB 55.44 55.44 0.00 % ");
    assert_row(text, "0.9000",
               "1 GiB 64 KiB 55.44 49.90 10.0 % slower at least 9.8 % 0.9000 0.8987-0.9012 <0.001 "
               "REGRESSION");
    free(text);
    n->candidate.cases[1].mode = "other"; /* whose chunk nobody knows to be a size */
    snprintf(n->cases[1].note, sizeof n->cases[1].note, "small");
    text = written(plain_table, n);
    assert_row(text, "0.9000", "1 GiB 65536 55.44 49.90 ");
    assert_has(text,
               "  case      other registered h2d 1 GiB device 0 chunk 65536 bandwidth: small\n");
    free(text);
}

static void table_of_figures_without_a_unit(void **state)
{
    struct node *n = *state;
    make_parameters(n);
    n->cases[2].candidate_median = 0;
    n->cases[2].baseline_median = 0.829;
    char *text = written(plain_table, n);
    assert_row(text, "0.8290", " speed_up 0.8290 0 0.00 % - 1.0000 - <0.001 REGRESSION");
    free(text);
}

/* A row that was not compared has neither passed nor failed. */
static void table_of_rows_that_are_not_compared(void **state)
{
    struct node *n = *state;
    make_rows_apart(n);
    char *text = written(plain_table, n);
    assert_row(text, "64 KiB  ", "55.44 49.90 - - - - - NOT COMPARABLE");
    assert_has(text, "chunk 64 KiB bandwidth: measured with chunk");
    assert_has(text, "\nNext: Measure both files with the same settings.\n");
    assert_has(text, "  changed   driver 580.82 -> 590.10, kernel 6.8 -> 6.9\n");
    assert_lacks(text, "CONDITION"); /* it stands on top, once */
    free(text);
    n->comparison.request.force = true;
    text = written(plain_table, n);
    assert_has(text, "WARNING   FORCED: not comparable: 1 figure measured with other settings\n");
    free(text);
}

static void table_tells_thresholds(void **state)
{
    struct xb_threshold own[] = {{{.mode = "pinned", .most = UINT64_MAX}, 0.01},
                                 {{.direction = "d2h", .least = 4096, .most = 4096}, 0.1},
                                 {{.least = 4096, .most = 8192}, 0.03}};
    struct node *n = *state;
    make_pass(n);
    n->comparison.request.thresholds = (struct xb_thresholds){.items = own, .count = 3};
    char *text = written(plain_table, n);
    assert_has(text, "  rule      worse by 2 % or more is a regression (pinned 1 %, all modes d2h "
                     "4 KiB 10 %, all modes\n            from 4 KiB to 8 KiB 3 %); 1 of 1 figures "
                     "count;");
    free(text);
}

static void table_tells_a_note_once(void **state)
{
    struct node *n = *state;
    make_regression(n);
    for (size_t i = 0; i < 3; i++)
        snprintf(n->cases[i].note, sizeof n->cases[i].note, "the same");
    snprintf(n->cases[4].note, sizeof n->cases[4].note, "the same");
    char *text = written(plain_table, n);
    assert_has(text, "pinned registered h2d 1 GiB device 0 bandwidth and the next 2: the same");
    assert_int_equal(count_of(text, ": the same\n"), 2);
    free(text);
}

static void table_tells_levels_that_differ(void **state)
{
    struct node *n = *state;
    make_many(n);
    char *text = written(plain_table, n);
    assert_has(text, "  interval  from pinned registered h2d 4 KiB device 0 bandwidth on: 97%\n");
    assert_has(text, "  interval  from pinned registered h2d 4 KiB device 1 bandwidth on: 98%\n");
    assert_has(text, "  interval  and so on, with 196 changes more");
    assert_lacks(text, "% INTERVAL");
    free(text);
}

static void table_cuts_long_texts_visibly(void **state)
{
    struct node *n = *state;
    make_nasty(n);
    char *text = written(plain_table, n);
    assert_has(text, "xxxxxxxx...:\n");
    free(text);
}

static void table_of_many_differences(void **state)
{
    struct node *n = *state;
    make_pass(n);
    n->comparison.comparable = false;
    n->comparison.request.force = true;
    for (size_t i = 0; i < 8; i++)
        add_difference(n, "condition", "one", "two", true);
    add_difference(n, "alike", "a\x01", "a\x02", true);
    add_difference(n, "hostname", "node1", "node2", false);
    char *text = written(plain_table, n);
    assert_has(text, ": condition, condition, condition, condition, condition and 4 more\n");
    assert_row(text, "alike", "a? a? (looks the same, but is not)");
    assert_int_equal(count_of(text, "node2"), 1);
    free(text);
}

/* "not known" stood as "not know" and "n" below it. */
static void table_breaks_differences_between_words(void **state)
{
    struct node *n = *state;
    make_pass(n);
    add_difference(n, "runtime library",
                   "/opt/rocm-6.2.0/lib/libamdhip64.so.6 and a few more words that fill a line",
                   NULL, false);
    add_difference(n, "short", "one", "two", false);
    char *text = written(usual_table, n);
    assert_has(text, "CONDITION        BASELINE                                                    "
                     "              CANDIDATE\n"
                     "runtime library  /opt/rocm-6.2.0/lib/libamdhip64.so.6 and a few more words "
                     "that fill a     not known\n"
                     "                 line\n"
                     "short            one                                                         "
                     "              two\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RUN_TEST(table_is_plain_and_narrow),
        RUN_TEST(table_has_a_row_for_each_case),
        RUN_TEST(table_labels_what_is_indicative),
        RUN_TEST(table_counts_the_fewest_processes),
        RUN_TEST(table_loses_columns_and_no_numbers),
        RUN_TEST(table_is_coloured_only_when_asked),
        RUN_TEST(table_refuses),
        RUN_TEST(table_tells_that_it_was_forced),
        RUN_TEST(table_of_latencies),
        RUN_TEST(table_names_the_devices_where_it_matters),
        RUN_TEST(table_has_a_column_for_parameters_that_differ),
        RUN_TEST(table_of_figures_without_a_unit),
        RUN_TEST(table_of_rows_that_are_not_compared),
        RUN_TEST(table_tells_thresholds),
        RUN_TEST(table_tells_a_note_once),
        RUN_TEST(table_tells_levels_that_differ),
        RUN_TEST(table_cuts_long_texts_visibly),
        RUN_TEST(table_of_many_differences),
        RUN_TEST(table_breaks_differences_between_words),
    };
    return cmocka_run_group_tests_name("compare_table", tests, NULL, NULL);
}
