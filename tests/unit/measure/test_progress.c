/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* What is shown while the work is long: when it will be done, the line, and the cases that are
 * done. */

#include "measure/plan/estimate.h"
#include "run/progress.h"
#include "run_fixture.h"

/* ---- how long it will take ---- */

RUN_TEST(time_left_is_as_coarse_as_it_is_known)
{
    static const struct {
        double seconds;
        const char *text;
    } rows[] = {{NAN, ""},
                {INFINITY, ""},
                {0, ", about 1 s left"},
                {3.2, ", about 4 s left"},
                {11, ", about 15 s left"},
                {89, ", about 90 s left"},
                {91, ", about 2 min left"},
                {5399, ", about 90 min left"},
                {5401, ", about 2 h left"}};
    char text[XB_ETA_TEXT];
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_string_equal(xb_eta_text(rows[i].seconds, text), rows[i].text);
    assert_true(strlen(xb_eta_text(1e300, text)) > 0);
}

static double likely(const struct fixture *f, size_t index)
{
    return xb_estimate_case(&f->run, index, 1).likely;
}

/* Three cases that are estimated alike, each of which takes twice as long as that. */
RUN_TEST(time_left_follows_what_the_cases_took)
{
    struct fixture f;
    struct xb_eta eta;
    plan_line(&f, "--mode pinned --direction h2d --size 4096,4097,4098");
    assert_int_equal(f.run.case_count, 3);
    double one = likely(&f, 0);
    assert_true(one > 0);
    xb_eta_begin(&eta, &f.run, 100);
    assert_true(isnan(xb_eta_left(&eta, &f.run, 100))); /* nothing tells how fast it goes */
    f.run.done_count = 1;
    xb_eta_finished(&eta, &f.run, 100 + 2 * one);
    assert_true(fabs(xb_eta_left(&eta, &f.run, 100 + 2 * one) - 4 * one) < 0.01 * one);
    /* Half of the second case is over; then it takes longer than was thought. */
    assert_true(fabs(xb_eta_left(&eta, &f.run, 100 + 3 * one) - 3 * one) < 0.01 * one);
    assert_true(fabs(xb_eta_left(&eta, &f.run, 100 + 50 * one) - 2 * one) < 0.01 * one);
    f.run.deadline = 100 + 3.5 * one;
    assert_true(fabs(xb_eta_left(&eta, &f.run, 100 + 3 * one) - 0.5 * one) < 0.01 * one);
    assert_true(xb_eta_left(&eta, &f.run, 100 + 9 * one) <= 0);
    f.run.deadline = 0;
    f.run.done_count = 3;
    xb_eta_finished(&eta, &f.run, 100 + 6 * one);
    assert_true(xb_eta_left(&eta, &f.run, 100 + 6 * one) < 0.01 * one);
    finish(&f);
}

/* They are over at once, and say nothing of the others. */
RUN_TEST(what_is_skipped_tells_nothing)
{
    struct fixture f;
    struct xb_eta eta;
    plan_line(&f, "--mode pinned --direction h2d --size 4096,4097");
    xb_eta_begin(&eta, &f.run, 0);
    f.run.results[0].row.status = XB_RESULT_SKIPPED;
    f.run.done_count = 1;
    xb_eta_finished(&eta, &f.run, 7);
    assert_true(isnan(xb_eta_left(&eta, &f.run, 7)));
    finish(&f);
}

RUN_TEST(processes_are_alike)
{
    assert_true(isnan(xb_eta_of_parts(0, 3, 8)));
    assert_true(xb_eta_of_parts(2, 6, 5) == 15);
    assert_true(xb_eta_of_parts(8, 6, 0) == 0);
}

/* ---- the line ---- */

RUN_TEST(the_line_fits)
{
    static const struct xb_progress_text text = {.number = 3,
                                                 .total = 17,
                                                 .test = "pinned registered h2d 1 GiB device 0",
                                                 .samples = 9,
                                                 .bandwidth = 55.338e9,
                                                 .left = 7};
    static const struct xb_progress_text one = {
        .number = 1, .total = 2, .test = "pinned", .samples = 1, .bandwidth = 1e9, .left = 7};
    static const struct xb_progress_text warm_up = {
        .number = 1, .total = 2, .test = "pinned alloc", .left = NAN};
    static const struct {
        const struct xb_progress_text *text;
        size_t columns;
        const char *line;
    } rows[] = {
        {&text, 200,
         "[3/17] pinned registered h2d 1 GiB device 0: 9 samples, 55.34 GB/s, about 7 s left"},
        {&text, 79, "[3/17] pinned registered h2d 1 GiB device 0: 55.34 GB/s, about 7 s left"},
        {&text, 60, "[3/17] pinned registered h2d: 55.34 GB/s, about 7 s left"},
        {&text, 50, "[3/17] pinned registered h2d 1 GiB, about 7 s left"},
        {&text, 39, "[3/17] pinned, about 7 s left"},
        {&text, 20, "[3/17] pinned"},
        {&one, 80, "[1/2] pinned: 1 sample, 1.00 GB/s, about 7 s left"},
        {&warm_up, 79, "[1/2] pinned alloc: warming up"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char line[XB_PROGRESS_LINE];
        assert_string_equal(xb_progress_text(rows[i].text, rows[i].columns, line), rows[i].line);
    }
}

/* ---- the cases that are done ---- */

/* Expects what drawing, or erasing, writes. */
static void expect_drawn(struct xb_live_rows *live,
                         void (*draw)(struct xb_live_rows *live, FILE *stream),
                         const char *expected)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    assert_non_null(stream);
    draw(live, stream);
    assert_int_equal(fclose(stream), 0);
    assert_string_equal(text, expected);
    free(text);
}

static void take(struct xb_live_rows *live, struct fixture *f)
{
    f->run.done_count++;
    xb_live_rows_take(live, &f->run);
}

static struct xb_result *has_rate(struct fixture *f, size_t index, double rate)
{
    struct xb_result *result = &f->run.results[index];
    result->bandwidth = (struct xb_statistics){.n = 3, .median = rate};
    return result;
}

RUN_TEST(rows_appear_one_by_one_and_go)
{
    struct xb_live_rows live = {.most = 2, .name_width = 34, .columns = 80};
    struct fixture f;
    plan_line(&f, "--mode pinned --direction h2d --size 4K,5K,6K,7K,8K");
    expect_drawn(&live, xb_live_rows_draw, "");
    expect_drawn(&live, xb_live_rows_erase, "");
    struct xb_result *first = has_rate(&f, 0, 55.338e9);
    first->bandwidth.has_interval = true;
    first->bandwidth.ci95_low = 55.3e9;
    first->bandwidth.ci95_high = 55.4e9;
    take(&live, &f);
    expect_drawn(&live, xb_live_rows_draw,
                 "\rpinned, 4 KiB to the GPU             55.34 GB/s  55.30-55.40\033[K\n");
    expect_drawn(&live, xb_live_rows_draw, "");
    f.run.results[1].row.status = XB_RESULT_SKIPPED;
    snprintf(f.run.results[1].reason, sizeof f.run.results[1].reason, "no %s", "\033[31mred");
    take(&live, &f);
    expect_drawn(&live, xb_live_rows_draw,
                 "\rpinned, 5 KiB to the GPU            skipped: no ?[31mred\033[K\n");
    /* There is room for two: the first makes room. */
    has_rate(&f, 2, 7e9);
    take(&live, &f);
    expect_drawn(&live, xb_live_rows_draw,
                 "\r\033[2Apinned, 5 KiB to the GPU            skipped: no ?[31mred\033[K\n"
                 "pinned, 6 KiB to the GPU             7.000 GB/s\033[K\n");
    /* A case that was not run has none. */
    f.run.results[3].row.status = XB_RESULT_SKIPPED;
    f.run.results[3].stop_reason = XB_STOP_DEADLINE;
    take(&live, &f);
    expect_drawn(&live, xb_live_rows_draw, "");
    expect_drawn(&live, xb_live_rows_erase, "\r\033[2A\033[J");
    expect_drawn(&live, xb_live_rows_erase, "");
    finish(&f);
}

RUN_TEST(rows_are_no_wider_than_the_terminal)
{
    struct xb_live_rows live = {.most = 3, .name_width = 20, .columns = 40};
    struct fixture f;
    plan_line(&f, "--mode pinned --direction h2d --size 4K,5K");
    f.run.results[0].row.status = XB_RESULT_ERROR;
    snprintf(f.run.results[0].reason, sizeof f.run.results[0].reason, "the data is wrong");
    take(&live, &f);
    expect_drawn(&live, xb_live_rows_draw, "\rpinned, 4 KiB to the  ERROR: the data\033[K\n");
    finish(&f);
    /* And of a latency. */
    struct xb_error error;
    live = (struct xb_live_rows){.most = 3, .name_width = 36, .columns = 80};
    plan_line(&f, "--mode pinned --direction h2d --latency --size 4");
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(xb_samples_add(&f.run.results[0].wall_times, 6.5e-6, &error), XB_OK);
    take(&live, &f);
    expect_drawn(&live, xb_live_rows_draw,
                 "\rpinned, 4 B to the GPU                6.50 us\033[K\n");
    finish(&f);
}

/* Of a window that got smaller nobody knows where rows begin: what stands there is left alone. */
RUN_TEST(rows_end_with_a_smaller_window)
{
    struct fixture f;
    plan_line(&f, "--mode pinned --direction h2d --size 4K,5K");
    has_rate(&f, 0, 7e9);
    has_rate(&f, 1, 8e9);
    const struct xb_live_rows before[] = {{.most = 3, .name_width = 30, .columns = 100, .lines = 1},
                                          {.most = 3, .name_width = 30, .columns = 101}};
    for (size_t i = 0; i < sizeof before / sizeof before[0]; i++) {
        struct xb_live_rows live = before[i]; /* what has no window has 100 columns and no line */
        f.run.done_count = 0;
        take(&live, &f);
        live.drawn = 1;
        take(&live, &f);
        struct xb_live_rows other = live;
        expect_drawn(&live, xb_live_rows_draw, "");
        expect_drawn(&other, xb_live_rows_erase, "");
        live.columns = 100;
        live.lines = 0;
        expect_drawn(&live, xb_live_rows_erase, "");
    }
    finish(&f);
}

/* One case is no list, and what is no terminal has no rows. */
RUN_TEST(rows_are_for_terminals)
{
    static struct xb_live_rows live;
    struct fixture f;
    FILE *null = fopen("/dev/null", "w");
    assert_non_null(null);
    plan_line(&f, "--mode pinned --direction h2d --size 4K,5K");
    xb_live_rows_begin(&live, null, &f.run);
    assert_int_equal(live.most, 0);
    take(&live, &f);
    expect_drawn(&live, xb_live_rows_draw, "");
    assert_int_equal(fclose(null), 0);
    finish(&f);
}
