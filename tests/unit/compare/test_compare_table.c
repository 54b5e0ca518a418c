/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "checks.h"
#include "compare_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

/* ---- the table ---- */

/* What a user sees, and with --verbose. */
RUN_TEST(table_as_a_whole)
{
    static const struct {
        void (*make)(struct node *n);
        sink write;
        const char *text;
    } all[] = {
        {make_regression, usual_table,
         "REGRESSION: 3 of 6 gating cases: worse by 2 % or more\n"
         "\n"
         "To the GPU, 1 GiB, bandwidth in GB/s\n"
         "METHOD             BASELINE  CANDIDATE         CHANGE  VERDICT\n"
         "pinned broken         55.44          -              -  REGRESSION\n"
         "pinned gone           20.00     absent              -  REGRESSION\n"
         "pinned                55.44      52.12   6.0 % slower  REGRESSION\n"
         "pinned unclear        55.44      54.28   2.1 % slower  INCONCLUSIVE\n"
         "pinned, allocated     55.44      55.39  0.09 % slower  PASS\n"
         "pinned faster         55.44      58.83   6.1 % faster  IMPROVED\n"
         "pinned new           absent      21.00              -  -\n"
         "pinned void               -          -              -  -\n"
         "pinned loose          55.44      44.35  20.0 % slower  REGRESSION (not counted)\n"
         "\n"
         "pinned broken to the GPU, 1 GiB: error in all processes: the data is wrong\n"
         "pinned gone to the GPU, 1 GiB: only in the baseline\n"
         "pinned new to the GPU, 1 GiB: only in the candidate\n"
         "pinned void to the GPU, 1 GiB: skipped in both files\n"
         "\n"
         "  differ    hostname, kernel (--verbose)\n"
         "  each file 8 processes, cuda, driver 580.159.04, NVIDIA H200\n"},
        {make_indicative, usual_table,
         "INCONCLUSIVE: too few processes for 4 of 4 gating cases\n"
         "\n"
         "To the GPU, 1 GiB, bandwidth in GB/s\n"
         "METHOD               BASELINE  CANDIDATE         CHANGE  VERDICT (indicative)\n"
         "pinned REGRESSION       55.44      49.90  10.0 % slower  REGRESSION\n"
         "pinned INCONCLUSIVE     55.44      54.33   2.0 % slower  INCONCLUSIVE\n"
         "pinned PASS             55.44      55.44         0.00 %  PASS\n"
         "pinned IMPROVED         55.44      60.98  10.0 % faster  IMPROVED\n"
         "\n"
         "  each file 1 process, cuda, driver 580.159.04, NVIDIA H200\n"},
        {make_refused, usual_table,
         "NOT COMPARABLE: not measured under the same conditions\n"
         "\n"
         "These must be the same in both files\n"
         "CONDITION              BASELINE     CANDIDATE\n"
         "GPU model of device 0  NVIDIA H200  NVIDIA A100\n"
         "option --chunk         null         not known\n"
         "\n"
         "  differ    hostname (--verbose)\n"
         "  each file 8 processes, cuda, driver 580.159.04, NVIDIA H200\n"},
        {make_rows_apart, usual_table,
         "INCONCLUSIVE: 1 of 2 figures cannot be compared\n"
         "Measure both files with the same settings.\n"
         "\n"
         "To the GPU, 1 GiB, bandwidth in GB/s\n"
         "METHOD               BASELINE  CANDIDATE  CHANGE  VERDICT\n"
         "async, chunk 8 MiB      55.44      55.44  0.00 %  PASS\n"
         "async, chunk 64 KiB     55.44      49.90       -  NOT COMPARABLE\n"
         "\n"
         "async, chunk 64 KiB, to the GPU, 1 GiB: measured with chunk 64 KiB, the baseline with "
         "chunk 8 MiB\n"
         "\n"
         "  each file 8 processes, cuda, driver 580.159.04, NVIDIA H200\n"
         "  changed   driver 580.82 -> 590.10, kernel 6.8 -> 6.9\n"},
        {make_parameters, usual_table,
         "REGRESSION: 1 of 3 gating cases\n"
         "\n"
         "To the GPU, 1 GiB\n"
         "METHOD               FIGURE       BASELINE   CANDIDATE         CHANGE  VERDICT\n"
         "async, chunk 64 KiB  bandwidth  55.44 GB/s  49.90 GB/s  10.0 % slower  REGRESSION\n"
         "async, chunk 8 MiB   bandwidth  55.44 GB/s  55.44 GB/s         0.00 %  PASS\n"
         "async, chunk 64 KiB  speed_up        1.644       1.644         0.00 %  REGRESSION\n"
         "\n"
         "  each file 8 processes, cuda, driver 580.159.04, NVIDIA H200\n"},
        {make_forced, plain_table,
         "PASS (FORCED: not comparable): none of 1 gating cases is worse by 2 % or more\n"
         "FORCED: not comparable: GPU model of device 0, option --chunk\n"
         "\n"
         "To the GPU, 1 GiB, bandwidth in GB/s\n"
         "METHOD  BASELINE  CANDIDATE         CHANGE  99% SURE OF      RATIO   98% INTERVAL      P "
         " VERDICT\n"
         "pinned     55.44      55.39  0.09 % slower  at most 0.22 %  0.9991  0.9978-1.0003  0.008 "
         " PASS\n"
         "\n"
         "  figures   medians over the processes; RATIO is the candidate's divided by the "
         "baseline's\n"
         "  sure of   how large the change is at least, or a loss at most, each row by itself\n"
         "  P         how likely data like this is if the verdict is wrong\n"
         "\n"
         "These must be the same in both files\n"
         "CONDITION              BASELINE     CANDIDATE\n"
         "GPU model of device 0  NVIDIA H200  NVIDIA A100\n"
         "option --chunk         null         not known\n"
         "\n"
         "Other differences\n"
         "CONDITION  BASELINE  CANDIDATE\n"
         "hostname   node1     node2\n"
         "\n"
         "  baseline  results/base.json: 8 processes, cuda, driver 580.159.04, NVIDIA H200\n"
         "  candidate results/new.json: 8 processes, cuda, driver 580.159.04, NVIDIA H200\n"
         "  rule      worse by 2 % or more is a regression; 1 of 1 figures count; chance of a "
         "false alarm: 1 %\n"
         "            at most\n"
         "  program   xferbench 0.1.0\n"},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        void *made = NULL;
        assert_int_equal(setup(&made), 0);
        all[i].make(made);
        char *text = written(all[i].write, made);
        assert_string_equal(text, all[i].text);
        free(text);
        teardown(&made);
    }
}

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

RUN_TEST(table_is_plain_and_narrow)
{
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

RUN_TEST(table_tells_all_when_verbose)
{
    struct node *n = *state;
    make_regression(n);
    char *text = written(plain_table, n);
    assert_has(text, "98% INTERVAL");
    assert_row(text, "pinned ", "55.44 - - - - - - REGRESSION");
    assert_row(text, "gone", " 20.00 absent - - - - - REGRESSION");
    assert_row(text, "52.12", "6.0 % slower at least 5.8 % 0.9402 0.9389-0.9414 <0.001 REGRESSION");
    assert_row(text, "faster", "1.0611 1.0598-1.0623 0.006 IMPROVED");
    assert_row(text, "unclear", "0.9791 0.9778-0.9803 0.750 INCONCLUSIVE");
    assert_row(text, "loose", "REGRESSION (not counted)");
    assert_has(text, "\nOther differences\nCONDITION");
    assert_row(text, "kernel", "6.8.0 not known");
    free(text);
}

/* The order in which columns go; what cannot go becomes a paragraph a row. */
RUN_TEST(table_loses_columns_and_no_numbers)
{
    static const struct {
        size_t columns;
        const char *heading;
    } all[] = {
        {110, "METHOD BASELINE CANDIDATE CHANGE 99% SURE OF RATIO 98% INTERVAL P VERDICT"},
        {100, "METHOD BASELINE CANDIDATE CHANGE 99% SURE OF RATIO 98% INTERVAL VERDICT"},
        {90, "METHOD BASELINE CANDIDATE CHANGE 99% SURE OF RATIO VERDICT"},
        {80, "METHOD BASELINE CANDIDATE CHANGE 99% SURE OF VERDICT"},
        {66, "METHOD BASELINE CANDIDATE CHANGE VERDICT"},
        {50, "METHOD CHANGE VERDICT"},
        {40, "METHOD pinned broken"},
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
            xb_compare_table_write(stream, &n->comparison, all[i].columns, true, &error), XB_OK);
        assert_int_equal(fclose(stream), 0);
        assert_row(text, "METHOD", all[i].heading);
        for (const char *line = strstr(text, "\nMETHOD") + 1; line[0] != '\n';
             line += strcspn(line, "\n") + 1)
            assert_true(strcspn(line, "\n") <= all[i].columns);
        free(text);
    }
}

RUN_TEST(table_is_coloured_only_when_asked)
{
    struct node *n = *state;
    make_regression(n);
    char *text = written(usual_table, n);
    assert_null(strchr(text, '\x1b'));
    free(text);
    text = written(colour_table, n);
    assert_memory_equal(text, "\x1b[31mREGRESSION: 3 of 6", 22);
    assert_row(text, "52.12", "\x1b[31mREGRESSION\x1b[0m");
    assert_row(text, " faster", "\x1b[32mIMPROVED");
    assert_row(text, "allocated", "\x1b[32mPASS");
    assert_row(text, " unclear", "\x1b[33mINCONCLUSIVE");
    char *line = line_with(text, " void ");
    assert_null(strchr(line, '\x1b'));
    free(line);
    free(text);
    n->cases[0].basis = n->cases[1].basis = XB_BASIS_INDICATIVE;
    text = written(colour_table, n);
    assert_row(text, "52.12", "\x1b[33mREGRESSION (indicative)");
    assert_row(text, "allocated", "\x1b[33mPASS (indicative)");
    free(text);
    n->comparison.comparable = false;
    n->comparison.request.force = true;
    text = written(colour_table, n); /* green would say too much */
    assert_lacks(text, "\x1b[32m");
    assert_memory_equal(text, "\x1b[33mREGRESSION (FORCED", 22);
    free(text);
}

RUN_TEST(table_of_latencies)
{
    struct node *n = *state;
    make_latency(n);
    n->candidate.cases[0].device = 1;
    n->candidate.cases[0].peer = 2;
    n->candidate.record.asked_processes = 10;
    n->candidate.processes[3].interrupted = n->candidate.processes[4].interrupted = true;
    n->candidate.processes[5].deadline_met = false;
    char *text = written(plain_table, n);
    assert_has(text, "\nTo the GPU, 1 GiB, GPU 1>2\nMETHOD");
    assert_row(text, "1.0634",
               "latency_host 3.31 us 3.52 us 6.3 % longer at least 6.0 % 1.0634 "
               "1.0601-1.0688 <0.001 REGR");
    assert_row(text, "2.20 us",
               "2.20 us 2.20 us 0.00 % not longer 1.0000 1.0000-1.0000 1.000 PASS");
    assert_has(text, "8 of 10 processes, 2 INTERRUPTED, 1 CUT BY THE DEADLINE, cuda,");
    free(text);
    n->candidate.cases[0].simultaneous = true;
    n->candidate.cases[0].peer = -1;
    snprintf(n->cases[0].note, sizeof n->cases[0].note, "small");
    text = written(usual_table, n);
    assert_has(text, "1 GiB, GPU 1 of all\n");
    assert_has(text, "\npinned, allocated, to the GPU, 1 GiB, GPU 1 of all, latency_host: small\n");
    free(text);
}

RUN_TEST(table_tells_thresholds)
{
    struct xb_gate own[] = {{.mode = "pinned", .share = 0.01},
                            {.direction = "d2h", .least = 4096, .most = 4096, .share = 0.1},
                            {.least = 4096, .most = 8192, .share = 0.03}};
    struct node *n = *state;
    make_pass(n);
    n->comparison.request.thresholds = (struct xb_gates){.items = own, .count = 3};
    char *text = written(plain_table, n);
    assert_has(text, "  rule      worse by 2 % or more is a regression (pinned 1 %, all modes d2h "
                     "4 KiB 10 %, all modes\n            from 4 KiB to 8 KiB 3 %); 1 of 1 figures "
                     "count;");
    free(text);
}

RUN_TEST(table_tells_a_note_once)
{
    struct node *n = *state;
    make_regression(n);
    for (size_t i = 0; i < 9; i++)
        snprintf(n->cases[i].note, sizeof n->cases[i].note, i == 3 ? "its own" : "the same");
    char *text = written(usual_table, n);
    assert_has(text, "\npinned to the GPU, 1 GiB: the same\n");
    assert_has(text, "\npinned unclear to the GPU, 1 GiB: its own\n");
    assert_has(text, "\npinned, allocated, to the GPU, 1 GiB and the next one: the same\n");
    free(text);
}

/* Where the heading cannot tell how sure all intervals are. */
RUN_TEST(table_tells_levels_that_differ)
{
    struct node *n = *state;
    make_many(n);
    char *text = written(plain_table, n);
    assert_row(text, "0.9000", "98.5 %: at most 10.2 % 0.9000 0.8987-0.9012 (97%)");
    assert_row(text, "0.9010", "0.8997-0.9022 (98%)");
    assert_lacks(text, "% INTERVAL");
    free(text);
}

RUN_TEST(table_of_many_differences)
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

/* A value is cut in its middle where a line has no room for it: two of them differ at the ends. */
RUN_TEST(table_cuts_values)
{
    struct node *n = *state;
    make_pass(n);
    add_difference(
        n, "runtime library",
        "/opt/rocm-6.2.0/lib/libamdhip64.so.6 and a few more words that fill a long line",
        "/opt/rocm-6.2.0/lib/libamdhip64.so.6", true);
    char *text = written(usual_table, n);
    assert_row(text, "runtime library ", "/opt/rocm-6.2.0/lib/li... that fill a long line /opt");
    free(text);
}
