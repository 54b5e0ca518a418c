/* SPDX-License-Identifier: Apache-2.0 */
/* Which cells of a grid of pieces are not measured (--pieces): never the one that wins. Rates come
 * from tables, and what is asked is what the runner asks: mode->check, case after case. */
#include "measure/plan/case.h"
#include "modes/batch.h"
#include "run_fixture.h"

#include <stdlib.h>
#include <string.h>

#define NEARLY_BEST 0.98
#define INTERVAL 0.01 /* half of it, of the median */

/* GB/s of a way that moves so many pieces of that size, in calls of so many (0: all). */
typedef double surface(const char *way, double piece, double pieces, double a_call);

/* By table, straight between its numbers. */
static double between(double x, const double *at, const double *values, size_t count)
{
    size_t i = 0;
    while (i + 2 < count && x > at[i + 1])
        i++;
    double share = fmin(fmax((x - at[i]) / (at[i + 1] - at[i]), 0), 1);
    return values[i] + share * (values[i + 1] - values[i]);
}

/* An H100: one call of very many pieces falls off a cliff below 26 KiB, calls of 4096 do not. Each
 * way has a fixed time, too. */
static double of_h100(const char *way, double piece, double pieces, double a_call)
{
    static const double at[] = {4096, 16384, 20480, 24576, 26624, 32768, 65536};
    static const double parts[] = {9.6, 27.5, 39, 40.8, 40.8, 41, 39.4};
    static const double whole[] = {2.5, 4.8, 4.6, 4.7, 28.9, 32.6, 31.3};
    double bytes = piece * pieces, fixed = 12e-6, full = 51;
    if (strcmp(way, "each") == 0) {
        full = fmin(piece / 2.4e-6 / 1e9, 50);
        fixed = 6e-6;
    } else if (strcmp(way, "graph") == 0) {
        full = fmin(piece / 2.3e-6 / 1e9, 50);
    } else if (strcmp(way, "packed") == 0) {
        full = 20;
        fixed = 30e-6;
    } else if (strcmp(way, "call") == 0) {
        bool is_cut = a_call > 0 || pieces <= 4096;
        full = between(piece, at, is_cut ? parts : whole, 7) * fmin(piece / at[0], 1);
    }
    return bytes / (bytes / full / 1e9 + fixed) / 1e9;
}

/* A way that loses by ten with few pieces wins with many, and another the other way round; with
 * large pieces copies one by one win. The kernel is never the best. */
static double that_crosses(const char *way, double piece, double pieces, double a_call)
{
    (void)a_call;
    if (strcmp(way, "call") == 0)
        return fmin(60, 2 * sqrt(pieces / 16));
    if (strcmp(way, "graph") == 0)
        return fmax(20 / sqrt(pieces / 16), 0.5);
    if (strcmp(way, "each") == 0)
        return fmin(80, piece / 1024 * piece / 1024 / 20);
    return strcmp(way, "packed") == 0 ? 10 : 8;
}

/* Does to the planned cases what the runner does, with the rates of a table. Returns how many are
 * not measured. */
static size_t measure(struct fixture *f, surface *rate, const struct xb_option *a_call)
{
    size_t skipped = 0;
    for (size_t i = 0; i < f->run.case_count; i++) {
        struct xb_result *result = &f->run.results[i];
        const struct xb_case *test = &result->test;
        const struct xb_setting *call = xb_case_find_setting(test, a_call);
        struct xb_mode_context context = {.test = test, .run = &f->run};
        struct xb_error error;
        double gbs = rate(test->variant, (double)xb_case_setting(test, &xb_option_piece)->count,
                          (double)xb_case_setting(test, &xb_option_pieces)->count,
                          call != NULL ? (double)call->count : 0);
        result->bandwidth = (struct xb_statistics){.n = 9,
                                                   .has_interval = true,
                                                   .median = gbs * 1e9,
                                                   .ci95_low = gbs * 1e9 * (1 - INTERVAL),
                                                   .ci95_high = gbs * 1e9 * (1 + INTERVAL)};
        f->run.done_count = i;
        if (test->mode->check(&context, &error) != XB_OK) {
            result->row.status = XB_RESULT_SKIPPED;
            skipped++;
        }
    }
    return skipped;
}

/* In each cell the best that was measured is within 2 % of the best there is, and cells rise. */
static void expect_winners(const struct fixture *f)
{
    for (size_t i = 0; i < f->run.case_count; i++) {
        const struct xb_result *own = &f->run.results[i];
        double best = 0;
        for (size_t k = 0; k < f->run.case_count; k++) {
            const struct xb_result *other = &f->run.results[k];
            if (other->row.status == XB_RESULT_OK && other->test.bytes == own->test.bytes &&
                xb_case_setting(&other->test, &xb_option_piece)->count ==
                    xb_case_setting(&own->test, &xb_option_piece)->count)
                best = fmax(best, other->bandwidth.median);
        }
        assert_true(best >= NEARLY_BEST * own->bandwidth.median);
        assert_true(i == 0 || own->test.bytes >= own[-1].test.bytes);
    }
}

static size_t skipped_of(surface *rate)
{
    struct fixture f;
    PLAN(&f, "--mode", "batch", "--direction", "h2d", "--call-pieces", "0,4096", "--piece",
         "1K,2K,4K,8K,12K,16K,20K,24K,28K", "--pieces", "16..65536*4");
    assert_int_equal(f.run.case_count, 9 * 7 * 6);
    size_t skipped =
        measure(&f, rate, xb_option_find(f.run.results[0].test.mode->options, "call-pieces"));
    expect_winners(&f);
    f.run.done_count = 0;
    for (size_t i = 0; i < f.run.case_count; i++)
        f.run.results[i].bandwidth = (struct xb_statistics){.n = 0};
    finish(&f);
    return skipped;
}

RUN_TEST(no_winner_is_left_out_on_an_h100)
{
    assert_int_equal(skipped_of(of_h100), 111);
}

RUN_TEST(no_winner_is_left_out_where_ways_cross)
{
    assert_int_equal(skipped_of(that_crosses), 114);
}
