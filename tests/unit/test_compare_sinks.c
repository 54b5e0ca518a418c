/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "compare_fixture.h"

#include <errno.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- the exit code ---- */

static void exit_code_follows_the_verdict(void **state)
{
    struct node *n = *state;
    static const int codes[] = {[XB_OUTCOME_PASS] = 0,
                                [XB_OUTCOME_IMPROVED] = 0,
                                [XB_OUTCOME_INCONCLUSIVE] = 3,
                                [XB_OUTCOME_REGRESSION] = 1};
    for (int i = XB_OUTCOME_PASS; i <= XB_OUTCOME_REGRESSION; i++) {
        n->comparison.overall = (enum xb_outcome)i;
        for (int forced = 0; forced < 2; forced++) {
            n->comparison.request.force = forced;
            n->comparison.comparable = true;
            assert_int_equal(xb_comparison_exit_code(&n->comparison), codes[i]);
            n->comparison.comparable = false;
            assert_int_equal(xb_comparison_exit_code(&n->comparison), forced ? codes[i] : 4);
        }
    }
}

/* ---- the table ---- */

/* assert_line, however wide the columns are. */
static void assert_row(const char *text, const char *part, const char *expected)
{
    char *line = line_with(text, part);
    char *out = line;
    for (const char *c = line; *c != '\0'; c++)
        if (*c != ' ' || c[1] != ' ')
            *out++ = *c;
    *out = '\0';
    assert_has(line, expected);
    free(line);
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

static void table_is_plain_and_narrow(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * KINDS; i++) {
        void *made = NULL;
        assert_int_equal(setup(&made), 0);
        kinds[i / 2].make(made);
        char *text = written(i % 2 ? colour_table : plain_table, made);
        assert_narrow(text, i % 2);
        assert_int_equal(text[strlen(text) - 1], '\n');
        assert_has_not(text, "::error");
        assert_has_not(text, "##[");
        assert_has_not(text, "\n\n\n");
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
    assert_has(text, "  rule      threshold 2 %, alpha 1 % shared by the tests that gate: 4 of 9 "
                     "figures compared\n");
    assert_has(text, "\nMODE ");
    assert_has(text, "98% INTERVAL");
    assert_has_not(text, "METRIC");
    assert_has_not(text, "DEVICE");
    assert_row(text, "registered", "55.44 52.12 0.9402 0.9389-0.9414 <0.001 REGRESSION");
    assert_row(text, "faster", "1.0611 1.0598-1.0623 0.006 IMPROVED");
    assert_row(text, "alloc ", "0.9991 0.9978-1.0003 0.008 PASS");
    assert_row(text, "unclear", "0.9791 0.9778-0.9803 0.750 INCONCLUSIVE");
    assert_row(text, "loose", "REGRESSION (no gate)");
    assert_row(text, "gone", " 20.00 absent - - - REGRESSION");
    assert_row(text, "new ", " absent 21.00 - - - -");
    assert_row(text, "void", " - - - - - -");
    assert_has(text, "case      pinned gone h2d 1 GiB device 0 bandwidth: only in the baseline\n");
    assert_has(text, "case      pinned new h2d 1 GiB device 0 bandwidth: only in the candidate\n");
    assert_has(text, ": skipped in both files\n");
    assert_has(text, "\nContext that is not the same\nCONDITION");
    assert_row(text, "hostname", "node1 node2");
    assert_row(text, "kernel", "6.8.0 not known");
    assert_has_not(text, "COMPARABLE");
    assert_has_not(text, "too few");
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
    assert_row(text, "1.0000", "PASS (indicative, no gate)");
    assert_row(text, "1.1000", "IMPROVED (indicative)");
    assert_row(text, "0.9800", "INCONCLUSIVE (indicative)");
    assert_int_equal(count_of(text, "(indicative"), 4);
    assert_has(text, " INTERVAL VERDICT\n");
    assert_has(text, "its level cannot be told");
    assert_has(text, "too few processes: 1 a side at the least, and 5 are needed for 4 tests that "
                     "gate at");
    assert_has(text, "baseline  results/base.json: 1 process,");
    assert_has_not(text, "significant");
    n->comparison.processes_needed = 0;
    free(text);
    text = written(plain_table, n);
    assert_has(text, "no number is enough");
    free(text);
    n->comparison.gating_count = 0; /* what gates does so by its status */
    text = written(plain_table, n);
    assert_has_not(text, "too few processes: ");
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
    assert_has(text, "too few processes: 4 a side");
    free(text);
    n->cases[1].candidate_n = 5;
    text = written(plain_table, n);
    assert_has_not(text, "too few");
    free(text);
}

static void table_breaks_verdicts_where_there_is_no_room(void **state)
{
    struct node *n = *state;
    make_indicative(n);
    n->candidate.cases[0].variant = "write-combined";
    n->cases[1].metric = XB_METRIC_HOST_LATENCY;
    n->cases[1].gates = false;
    n->cases[1].baseline_median = n->cases[1].candidate_median = 3.31e-6;
    char *text = written(plain_table, n);
    assert_narrow(text, false);
    assert_row(text, "0.9000", " REGRESSION");
    assert_has(text, " (indicative)\n");
    assert_has(text, " (indicative,\n");
    assert_has(text, " no gate)\n");
    assert_row(text, "3.31 us", " host latency 3.31 us 3.31 us 1.0000 0.9987-1.0012 PASS");
    assert_row(text, "write-combined", "pinned write-combined h2d 1 GiB bandwidth 55.44 ");
    free(text);
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
    assert_row(text, "0.9402", "\x1b[31mREGRESSION\x1b[0m");
    assert_row(text, "1.0611", "\x1b[32mIMPROVED");
    assert_row(text, "0.9991", "\x1b[32mPASS");
    assert_row(text, "0.9791", "\x1b[33mINCONCLUSIVE");
    assert_has(text, "\nOverall: \x1b[31mREGRESSION\x1b[0m: 3 of 6");
    char *line = line_with(text, " void ");
    assert_null(strchr(line, '\x1b'));
    free(line);
    free(text);
    n->cases[0].basis = n->cases[1].basis = XB_BASIS_INDICATIVE;
    text = written(colour_table, n);
    assert_row(text, "0.9402", "\x1b[33mREGRESSION (indicative)");
    assert_row(text, "0.9991", "\x1b[33mPASS (indicative)");
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
    assert_has(text, "\nContext that is not the same\n");
    assert_has(text, "\nOverall: NOT COMPARABLE: not measured under the same conditions\n");
    assert_has_not(text, "MODE");
    assert_has_not(text, "FORCED");
    assert_has_not(text, "INCONCLUSIVE");
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
    assert_has_not(text, "\x1b[32m");
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
    assert_has(text, "METRIC");
    assert_row(text, "1.0634", "1>2 host 3.31 us 3.52 us 1.0634 1.0601-1.0688 <0.001 REGRESSION");
    assert_row(text, " device ", "2.20 us 2.20 us 1.0000 1.0000-1.0000 1.000 PASS");
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

static void table_tells_a_note_once(void **state)
{
    struct node *n = *state;
    make_regression(n);
    for (size_t i = 0; i < 3; i++)
        snprintf(n->cases[i].note, sizeof n->cases[i].note, "the same");
    snprintf(n->cases[4].note, sizeof n->cases[4].note, "the same");
    char *text = written(plain_table, n);
    assert_has(text, "pinned registered h2d 1 GiB device 0 bandwidth and the 2 below it: the same");
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
    assert_has_not(text, "% INTERVAL");
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

/* ---- numbers ---- */

/* What the table writes for a ratio, an interval and a P. */
static void assert_numbers(struct node *n, double ratio, double p, const char *expected)
{
    n->cases[0].ratio = ratio;
    n->cases[0].low = n->cases[0].high = ratio;
    n->cases[0].p_regression = p;
    char *text = written(plain_table, n);
    assert_row(text, "REGRESSION", expected);
    free(text);
}

static void numbers_do_not_cross_what_they_are_judged_by(void **state)
{
    struct node *n = *state;
    n->comparison.gating_count = 0;
    add_judged(n, "registered", XB_OUTCOME_REGRESSION, 0.9);
    assert_numbers(n, 0.97996, 0.0099996, "0.97996 0.97996-0.97996 0.0099996 REGRESSION");
    assert_numbers(n, 0.9799951, 0.01000004, "0.979995 0.979995-0.979995 0.01000004 REGR");
    assert_numbers(n, 0.98004, 0.01, "0.98004 0.98004-0.98004 0.010 REGR");
    assert_numbers(n, 0.98, 0.04996, "0.9800 0.9800-0.9800 0.050 REGR");
    assert_numbers(n, 1.019996, 1, "1.019996 1.019996-1.019996 1.000 REGR");
    assert_numbers(n, 0.99999, 0.5, "1.0000 1.0000-1.0000 0.500 REGR");
    assert_numbers(n, 0.95124, 0, "0.9512 0.9512-0.9512 <0.001 REGR");
    n->comparison.request.threshold = 0.02348; /* a bound between two numbers of four decimals */
    assert_numbers(n, 0.97654, 0.5, "0.97654 0.97654-0.97654 0.500 REGR");
    n->comparison.request.alpha = 0.0001;
    assert_numbers(n, 0.95124, 0.00017, "0.9512 0.9512-0.9512 0.000170 REGR");
}

/* Both bounds have the decimals that either needs. */
static void intervals_have_decimals_alike(void **state)
{
    struct node *n = *state;
    add_judged(n, "registered", XB_OUTCOME_INCONCLUSIVE, 0.98123);
    n->cases[0].low = 0.979961;
    n->cases[0].high = 0.99;
    n->cases[0].confidence = 0.999999;
    char *text = written(plain_table, n);
    assert_row(text, "0.9812", "0.9812 0.97996-0.99000 ");
    free(text);
    n->cases[0].low = 0.95;
    n->cases[0].high = 0.979961;
    text = written(plain_table, n);
    assert_row(text, "0.9812", "0.9812 0.95000-0.97996 ");
    assert_has(text, ">99.99% INTERVAL");
    n->cases[0].confidence = 0.9786;
    free(text);
    text = written(plain_table, n);
    assert_has(text, "97.86% INTERVAL");
    free(text);
}

static void p_is_that_of_the_verdict(void **state)
{
    struct node *n = *state;
    add_judged(n, "registered", XB_OUTCOME_INCONCLUSIVE, 0.99);
    char *text = written(plain_table, n);
    assert_row(text, "0.9900", " 0.300 INCONCLUSIVE"); /* nearest to PASS */
    free(text);
    n->cases[0].ratio = 0.97;
    text = written(plain_table, n);
    assert_row(text, "0.9700", " 0.750 INCONCLUSIVE");
    free(text);
    n->cases[0].metric = XB_METRIC_HOST_LATENCY;
    text = written(plain_table, n);
    assert_row(text, "0.9700", " 0.300 INCONCLUSIVE"); /* less is better */
    free(text);
}

/* ---- JSON ---- */

static void json_holds_everything(void **state)
{
    struct node *n = *state;
    struct xb_gate gate = {"pinned", NULL, 1, 1024};
    make_regression(n);
    n->comparison.request.gates = (struct xb_gates){.items = &gate, .count = 1};
    cJSON *root = parsed(xb_compare_json_write, n);
    assert_text(root, "overall.verdict", "REGRESSION");
    assert_number(root, "overall.exit_code", 1);
    assert_text(root, "overall.reason", n->comparison.reason);
    assert_true(cJSON_IsTrue(at(root, "comparable")) && cJSON_IsFalse(at(root, "forced")));
    assert_number(root, "threshold", 0.02);
    assert_number(root, "gating_tests", 4);
    assert_text(root, "gates.0.direction", NULL);
    assert_number(root, "gates.0.most_bytes", 1024);
    assert_text(root, "baseline.path", "results/base.json");
    assert_number(root, "candidate.process_count", 8);
    assert_number(root, "candidate.processes.7.devices.0.link_width", 16);
    assert_int_equal(cJSON_GetArraySize(at(root, "cases")), 9);
    assert_text(root, "cases.0.verdict", "REGRESSION");
    assert_text(root, "cases.0.indicative", NULL);
    assert_number(root, "cases.0.ratio", 0.9402);
    assert_number(root, "cases.0.interval.low", 0.9402 - 0.0013);
    assert_number(root, "cases.0.interval.high", 0.9402 + 0.0012);
    assert_number(root, "cases.0.interval.confidence", 0.98);
    assert_number(root, "cases.0.p_regression", 0.00047);
    assert_number(root, "cases.0.p_improved", 0.9);
    assert_number(root, "cases.0.p_pass", 0.3);
    assert_number(root, "cases.0.baseline.bytes_per_second", 55.44e9);
    assert_number(root, "cases.0.candidate.bytes_per_second", 55.44e9 * 0.9402);
    assert_true(cJSON_IsFalse(at(root, "cases.4.gates")));
    assert_text(root, "cases.5.basis", "status");
    assert_text(root, "cases.5.p_regression", NULL);
    assert_text(root, "cases.5.ratio", NULL);
    assert_text(root, "cases.5.candidate.bytes_per_second", NULL);
    assert_true(cJSON_IsFalse(at(root, "cases.6.candidate.present")));
    assert_true(cJSON_IsFalse(at(root, "cases.7.baseline.present")));
    assert_text(root, "cases.8.verdict", NULL);
    assert_text(root, "cases.8.note", "skipped in both files");
    assert_text(root, "differences.1.candidate", NULL);
    cJSON_Delete(root);
}

/* Who counts verdicts must not count what is none. */
static void json_keeps_indications_apart(void **state)
{
    struct node *n = *state;
    make_indicative(n);
    cJSON *root = parsed(xb_compare_json_write, n);
    for (int i = 0; i < 4; i++) {
        const cJSON *one = cJSON_GetArrayItem(at(root, "cases"), i);
        assert_text(one, "verdict", NULL);
        assert_text(one, "basis", "indicative");
        assert_text(one, "indicative", xb_outcome_name(n->cases[i].outcome));
        assert_text(one, "p_regression", NULL);
        assert_text(one, "interval.confidence", NULL);
    }
    assert_number(root, "overall.exit_code", 3);
    cJSON_Delete(root);
}

static void json_of_what_is_not_comparable(void **state)
{
    struct node *n = *state;
    make_refused(n);
    cJSON *root = parsed(xb_compare_json_write, n);
    assert_text(root, "overall.verdict", "NOT COMPARABLE");
    assert_number(root, "overall.exit_code", 4);
    assert_true(cJSON_IsFalse(at(root, "comparable")) && cJSON_IsFalse(at(root, "forced")));
    assert_int_equal(cJSON_GetArraySize(at(root, "differences")), 3);
    assert_true(cJSON_IsTrue(at(root, "differences.1.forbids")));
    assert_true(cJSON_IsFalse(at(root, "differences.2.forbids")));
    cJSON_Delete(root);
    n->comparison.request.force = true;
    root = parsed(xb_compare_json_write, n);
    assert_true(cJSON_IsFalse(at(root, "comparable")) && cJSON_IsTrue(at(root, "forced")));
    assert_text(root, "overall.verdict", "INCONCLUSIVE");
    cJSON_Delete(root);
    n->comparison.comparable = true; /* there was nothing to force */
    root = parsed(xb_compare_json_write, n);
    assert_true(cJSON_IsFalse(at(root, "forced")));
    cJSON_Delete(root);
}

static size_t allocations_left;
static size_t allocations_open;

static void *failing_malloc(size_t size)
{
    if (allocations_left == 0)
        return NULL;
    allocations_left--;
    allocations_open++;
    return malloc(size);
}

static void counting_free(void *memory)
{
    allocations_open -= memory != NULL;
    free(memory);
}

/* Both that are made of a tree. */
static void trees_survive_every_failed_allocation(void **state)
{
    static const sink trees[] = {xb_compare_json_write, xb_compare_benchmark_action_write};
    struct node *n = *state;
    cJSON_Hooks hooks = {failing_malloc, counting_free};
    make_forced(n);
    cJSON_InitHooks(&hooks);
    for (size_t i = 0; i < 2; i++) {
        enum xb_status status = XB_ERR_MEMORY;
        size_t tried = 0;
        for (; status != XB_OK; tried++) {
            struct xb_error error = {0};
            char *text = NULL;
            size_t size = 0;
            FILE *stream = open_memstream(&text, &size);
            assert_non_null(stream);
            allocations_left = tried;
            status = trees[i](stream, &n->comparison, &error);
            fclose(stream);
            free(text);
            assert_int_equal(allocations_open, 0);
            assert_int_equal(status, status == XB_OK ? XB_OK : XB_ERR_MEMORY);
            assert_true(status == XB_OK || size == 0);
        }
        assert_true(tried > 30);
    }
    cJSON_InitHooks(NULL);
}

/* ---- all formats ---- */

static void sinks_report_a_full_disk(void **state)
{
    struct node *n = *state;
    make_regression(n);
    for (size_t i = 0; i < SINKS; i++) {
        for (int buffered = 0; buffered < 2; buffered++) {
            struct xb_error error = {0};
            FILE *full = fopen("/dev/full", "w");
            assert_non_null(full);
            if (!buffered)
                setvbuf(full, NULL, _IONBF, 0);
            assert_int_equal(sinks[i].write(full, &n->comparison, &error), XB_ERR_SYSTEM);
            assert_int_equal(error.native_code, ENOSPC);
            fclose(full);
        }
    }
}

static void sinks_do_not_follow_the_locale(void **state)
{
    (void)state;
    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL)
        skip();
    for (size_t i = 0; i < KINDS * SINKS; i++) {
        void *made = NULL;
        setlocale(LC_ALL, "C");
        assert_int_equal(setup(&made), 0);
        kinds[i / SINKS].make(made);
        char *text = written(sinks[i % SINKS].write, made);
        setlocale(LC_ALL, "de_DE.UTF-8");
        char *local = written(sinks[i % SINKS].write, made);
        setlocale(LC_ALL, "C");
        assert_string_equal(local, text);
        free(text);
        free(local);
        teardown(&made);
    }
}

/* What makes a reader take it for more than it is has to stand in every format. */
static void every_format_tells_what_limits_it(void **state)
{
    (void)state;
    static const struct {
        void (*make)(struct node *n);
        const char *words;
    } told[] = {{make_refused, "NOT COMPARABLE"},
                {make_refused, "option --chunk"},
                {make_refused, "NVIDIA A100"},
                {make_forced, "FORCED: not comparable"},
                {make_indicative, "indicative"},
                {make_indicative, "too few processes"},
                {make_regression, "only in the baseline"},
                {make_regression, "only in the candidate"},
                {make_regression, "node2"},
                {make_regression, "no gate"},
                {make_regression, "threshold 2 %"},
                {make_regression, "alpha 1 %"},
                {make_regression, "3 of 6 gating cases"},
                {make_regression, "results"},
                {make_regression, "NVIDIA H200"}};
    for (size_t i = 0; i < sizeof told / sizeof told[0] * SINKS; i++) {
        const struct format *format = &sinks[i % SINKS];
        void *made = NULL;
        /* JSON has keys for it, and a chart only what concerns its figure. */
        if (strcmp(format->name, "json") == 0 || strcmp(format->name, "bench") == 0)
            continue;
        assert_int_equal(setup(&made), 0);
        told[i / SINKS].make(made);
        char *text = written(format->write, made);
        if (strcmp(format->name, "md") == 0 && told[i / SINKS].make == make_refused &&
            told[i / SINKS].words[0] == 'o')
            assert_has(text, "option &#45;&#45;chunk");
        else
            assert_has(text, told[i / SINKS].words);
        assert_has_not(text, "significant");
        free(text);
        teardown(&made);
    }
}

/* `test_compare_sinks DIRECTORY` writes every comparison in every format, as KIND.FORMAT, for
 * tests/compare/check_formats.py and to be looked at. */
static int write_examples(const char *directory)
{
    int failed = 0;
    for (size_t i = 0; i < KINDS * SINKS; i++) {
        char path[512];
        struct xb_error error;
        void *made = NULL;
        if (setup(&made) != 0)
            return 1;
        struct node *n = made;
        kinds[i / SINKS].make(n);
        snprintf(path, sizeof path, "%s/%s.%s", directory, kinds[i / SINKS].name,
                 sinks[i % SINKS].name);
        FILE *file = fopen(path, "w");
        if (file == NULL)
            return 1;
        failed |= sinks[i % SINKS].write(file, &n->comparison, &error) != XB_OK;
        failed |= fclose(file) != 0;
        teardown(&made);
    }
    return failed;
}

int main(int argc, char **argv)
{
#define RUN_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        RUN_TEST(exit_code_follows_the_verdict),
        RUN_TEST(table_is_plain_and_narrow),
        RUN_TEST(table_has_a_row_for_each_case),
        RUN_TEST(table_labels_what_is_indicative),
        RUN_TEST(table_counts_the_fewest_processes),
        RUN_TEST(table_breaks_verdicts_where_there_is_no_room),
        RUN_TEST(table_is_coloured_only_when_asked),
        RUN_TEST(table_refuses),
        RUN_TEST(table_tells_that_it_was_forced),
        RUN_TEST(table_of_latencies),
        RUN_TEST(table_names_the_devices_where_it_matters),
        RUN_TEST(table_tells_a_note_once),
        RUN_TEST(table_tells_levels_that_differ),
        RUN_TEST(table_cuts_long_texts_visibly),
        RUN_TEST(table_of_many_differences),
        RUN_TEST(numbers_do_not_cross_what_they_are_judged_by),
        RUN_TEST(intervals_have_decimals_alike),
        RUN_TEST(p_is_that_of_the_verdict),
        RUN_TEST(json_holds_everything),
        RUN_TEST(json_keeps_indications_apart),
        RUN_TEST(json_of_what_is_not_comparable),
        RUN_TEST(trees_survive_every_failed_allocation),
        RUN_TEST(sinks_report_a_full_disk),
        RUN_TEST(sinks_do_not_follow_the_locale),
        RUN_TEST(every_format_tells_what_limits_it),
    };
    if (argc == 2)
        return write_examples(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
