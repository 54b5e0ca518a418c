/* SPDX-License-Identifier: Apache-2.0 */
/* What to do where nothing is decided, and thresholds of single cases. */
#include <math.h>

#include "testing.h"

#include "comparison_fixture.h"

#include "compare/internal.h"

/* A case whose processes lie `step` apart on either side, the candidate's by `ratio`. */
static void add_spread(double ratio, double step)
{
    uint64_t bytes = (before.case_count + 1) * MIB;
    measure(&before, add_named(&before, "pinned", "h2d", bytes, false), &xb_figure_bandwidth, RATE,
            step);
    measure(&after, add_named(&after, "pinned", "h2d", bytes, false), &xb_figure_bandwidth,
            RATE * ratio, step);
}

static size_t needed(double ratio, double step)
{
    begin(8, 8);
    add_spread(ratio, step);
    compare();
    assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "1 of 1 result scatters too much");
    return xb_processes_to_decide(&result);
}

/* More where processes scatter more, or the change is nearer to the threshold. */
TEST(says_how_many_processes_decide)
{
    size_t few = needed(1.0, 0.008);
    assert_true(few > 8 && few < 40);
    size_t more = needed(1.0, 0.012);
    assert_true(2 * more > 4 * few && 2 * more < 5 * few); /* the square of 1.5 */
    assert_true(needed(0.995, 0.008) > few);
    assert_int_equal(needed(0.981, 0.008), 0); /* more than there can be */
    assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, "More processes will hardly decide it");
    char words[64];
    snprintf(words, sizeof words, "again with --processes %zu: probably enough", few);
    (void)needed(1.0, 0.008);
    assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, words);
    add_spread(1.0, 0.012); /* the one that takes more decides */
    compare();
    assert_int_equal(xb_processes_to_decide(&result), more);
}

TEST(less_is_better_of_latencies)
{
    begin(8, 8);
    struct xb_record_case *tests[] = {add_named(&before, "async", "h2d", 8, true),
                                      add_named(&after, "async", "h2d", 8, true)};
    for (size_t i = 0; i < 2; i++)
        measure(i == 0 ? &before : &after, tests[i], &xb_figure_latency_host,
                SECONDS * (i == 0 ? 1 : 1.04), 0.008);
    compare();
    assert_int_equal(result.cases[0].outcome, XB_OUTCOME_INCONCLUSIVE);
    size_t decides = xb_processes_to_decide(&result);
    assert_true(decides > 8 && decides <= 100);
}

TEST(says_nothing_where_all_is_decided)
{
    begin(8, 8);
    add_pinned(1.0);
    compare();
    assert_string_equal(result.next, "");
    add_pinned(0.9);
    compare();
    assert_string_equal(result.next, "");
    assert_overall(XB_OUTCOME_REGRESSION, 1,
                   "1 of 2 results is slower by 2 % or more. Worst: pinned to the GPU, 2 MiB: "
                   "10.0 % slower (55.02 to 49.52 GB/s).");
}

/* A case of both files with a setting that differs, one that the candidate lacks, and one by other
 * clocks. */
static void add_what_no_process_decides(void)
{
    static const struct xb_record_fact chunks[] = {{.name = "chunk", .value = "65536"},
                                                   {.name = "chunk", .value = "8388608"}};
    struct xb_record *const records[] = {&before, &after};
    for (size_t i = 0; i < 2; i++) {
        struct xb_record_case *test = add_named(records[i], "async", "h2d", MIB, false);
        test->parameters = &chunks[i];
        test->parameter_count = 1;
        measure(records[i], test, &xb_figure_bandwidth, RATE, STEP);
    }
    measure(&before, add_named(&before, "zero-copy", "h2d", MIB, false), &xb_figure_bandwidth, RATE,
            STEP);
    add_both("managed", "h2d", MIB, 1.0);
    for (size_t i = 0; i < after.case_count; i++)
        for (size_t p = 0; strcmp(after.cases[i].mode, "managed") == 0 && p < after.process_count;
             p++)
            after.cases[i].rows[p].timer = "host-clock";
}

/* Whoever does what is said must not find the next reason then. */
TEST(says_all_that_is_to_be_done)
{
    static const char *const words[] = {
        "1 of 4 results cannot be compared: measured with other settings.",
        "1 of 4 results is not in the candidate.",
        "1 of 4 results cannot be judged: see the notes.",
        "Measure both files with the same settings, or leave those results out (--gate).",
        "Measure what the candidate lacks, or leave it out (--gate).",
        "Mend what the notes tell of and measure again, or leave those results out (--gate)."};
    for (size_t processes = 2; processes <= 8; processes += 6) {
        begin(processes, processes);
        add_both("pinned", "h2d", MIB, 1.0);
        add_what_no_process_decides();
        compare();
        for (size_t i = 0; i < COUNT_OF(words); i++)
            assert_overall(XB_OUTCOME_INCONCLUSIVE, 3, words[i]);
        bool told = strstr(result.next, "--processes") != NULL;
        assert_int_equal(told, processes == 2);
    }
}

/* ---- thresholds ---- */

static enum xb_status parse(const char *text, struct xb_error *error)
{
    xb_gates_free(&request.thresholds);
    request.threshold = 0.02;
    return xb_thresholds_parse(text, &request.threshold, &request.thresholds, error);
}

TEST(reads_thresholds)
{
    static const struct {
        const char *text;
        double h2d, d2h, managed; /* of pinned h2d, pinned d2h and managed h2d */
    } rows[] = {{"3%", 0.03, 0.03, 0.03},
                {"0.1", 0.1, 0.1, 0.1},
                {"0", 0, 0, 0},
                {"99.9%", 0.999, 0.999, 0.999},
                {"pinned=1%", 0.01, 0.01, 0.02},
                {"pinned=1%,managed=10%", 0.01, 0.01, 0.1},
                {"managed=0.05,5%", 0.05, 0.05, 0.05},
                {"5%,pinned=1%,pinned/d2h=3%", 0.01, 0.03, 0.05},
                {"5%,pinned/d2h=3%,pinned=1%", 0.01, 0.01, 0.05},
                {"*/*/1M=1%", 0.01, 0.02, 0.01},
                {"*/*/*/latency_host=1%", 0.02, 0.02, 0.02}};
    begin(8, 8);
    add_both("pinned", "h2d", MIB, 1.0);
    add_both("pinned", "d2h", 2 * MIB, 1.0);
    add_both("managed", "h2d", MIB, 1.0);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct xb_error error;
        assert_int_equal(parse(rows[i].text, &error), XB_OK);
        compare();
        assert_near(result.cases[0].threshold, rows[i].h2d);
        assert_near(result.cases[1].threshold, rows[i].d2h);
        assert_near(result.cases[2].threshold, rows[i].managed);
    }
    xb_gates_free(&request.thresholds);
}

TEST(judges_each_by_its_own)
{
    struct xb_error error;
    begin(8, 8);
    add_both("pinned", "h2d", MIB, 0.95);
    add_both("managed", "h2d", MIB, 0.92);
    assert_int_equal(parse("managed=10%", &error), XB_OK);
    compare();
    assert_case(0, XB_BASIS_TEST, XB_OUTCOME_REGRESSION, "");
    assert_case(1, XB_BASIS_TEST, XB_OUTCOME_PASS, "");
    assert_overall(XB_OUTCOME_REGRESSION, 1,
                   "1 of 2 results is slower by their threshold or more. Worst: pinned to the GPU, "
                   "1 MiB: 5.0 % slower");
    assert_int_equal(parse("10%,pinned=10%", &error), XB_OK);
    compare();
    assert_overall(XB_OUTCOME_PASS, 0, "None of 2 results is slower by 10 % or more");
    xb_gates_free(&request.thresholds);
}

TEST(refuses_what_is_no_threshold)
{
    static const struct {
        const char *text, *words;
    } rows[] = {{"", "is not a share"},
                {"x", "is not a share"},
                {"100%", "is not a share"},
                {"-1%", "is not a share"},
                {"1e-2", "is not a share"},
                {"2%%", "is not a share"},
                {"100", "is not a share"},
                {"5", "for 5 % write 5% or 0.05"},
                {"1", "for 1 % write 1% or 0.01"},
                {"0.5", "this could mean 0.5 % or 50 %: write 0.5% or 50%"},
                {"2%,", "two thresholds"},
                {"2%,3%", "two thresholds"},
                {"pinned=", "is not a share"},
                {"=2%", "cases are MODE"},
                {"pinned/=2%", "cases are MODE"},
                {"pinned=2%=3%", "is not a share"},
                {"pinned=0.3", "write 0.3% or 30%"}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct xb_error error;
        assert_int_equal(parse(rows[i].text, &error), XB_ERR_USAGE);
        if (strstr(error.message, rows[i].words) == NULL)
            fail_msg("\"%s\" does not say \"%s\"", error.message, rows[i].words);
        assert_null(request.thresholds.items); /* nothing is left to free */
        assert_null(request.thresholds.words);
    }
}

GROUP(NULL, finish_group)
