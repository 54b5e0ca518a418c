/* SPDX-License-Identifier: Apache-2.0 */
/* How long a job takes by each strategy, and where the GPU begins to win: by numbers worked out. */

#include "testing.h"

#include "advise/report.h"
#include "advise_fixture.h"
#include "schema_check.h"

static struct rows made;

#define WAIT 10e-6
#define IN_RATE 10e9
#define OUT_RATE 5e9
/* 16 MiB to the device, and 1 MiB from it. */
#define IN_S (16 * 1048576 / IN_RATE)
#define OUT_S (1048576 / OUT_RATE)

static const struct xb_job usual = {
    .in = 16 * MIB, .out = MIB, .gpu_time = 3e-3, .times = 1, .memory = XB_JOB_PINNED};

static struct xb_prediction predict(const struct xb_job *job, enum xb_strategy strategy)
{
    struct xb_costs costs = costs_of(&made);
    struct xb_prediction prediction;
    xb_predict(&costs, job, strategy, &prediction);
    return prediction;
}

static void add_pinned(double call)
{
    add_copies(&made, "pinned", "registered", "h2d", IN_RATE, WAIT, call);
    add_copies(&made, "pinned", "registered", "d2h", OUT_RATE, WAIT, call);
}

static enum xb_worth judge(const struct xb_job *job, struct xb_predictions *all)
{
    struct xb_costs costs = costs_of(&made);
    xb_predict_all(&costs, job, all);
    return xb_advice_judge(all);
}

static void say(const struct xb_job *job, const char *start, const char *part)
{
    struct xb_predictions all;
    struct xb_words words = {.length = 0};
    (void)judge(job, &all);
    xb_advice_say(&all, &words);
    if (strncmp(words.text, start, strlen(start)) != 0 || strstr(words.text, part) == NULL)
        fail_msg("'%s' in place of '%s...%s'", words.text, start, part);
}

/* ---- strategies ---- */

/* The host waits once: what comes out follows right behind the kernel. */
TEST(test_in_a_row_the_steps_add_up)
{
    static const struct {
        const char *mode, *variant;
        enum xb_strategy strategy;
    } ways[] = {{"pageable", "malloc", XB_STRATEGY_PAGEABLE},
                {"pageable", "driver", XB_STRATEGY_PAGEABLE},
                {"pageable", "ring", XB_STRATEGY_RING},
                {"pinned", "alloc", XB_STRATEGY_PINNED}};
    struct xb_job usual_job = usual;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        usual_job.memory = xb_strategy_words[ways[i].strategy].memory;
        begin(&made);
        add_copies(&made, ways[i].mode, ways[i].variant, "h2d", IN_RATE, WAIT, 0);
        add_copies(&made, ways[i].mode, ways[i].variant, "d2h", OUT_RATE, WAIT, 0);
        for (int k = 0; k < XB_STRATEGIES; k++) {
            struct xb_prediction one = predict(&usual_job, (enum xb_strategy)k);
            bool is_of = (enum xb_strategy)k == ways[i].strategy ||
                         (ways[i].strategy == XB_STRATEGY_PINNED && k == XB_STRATEGY_OVERLAPPED);
            assert_int_equal(one.is_known, is_of);
        }
        struct xb_prediction one = predict(&usual_job, ways[i].strategy);
        assert_close(one.total[XB_MIDDLE], IN_S + WAIT + 3e-3 + OUT_S);
        assert_close(one.in, IN_S + WAIT);
        assert_close(one.kernel, 3e-3);
        assert_close(one.out, OUT_S);
        assert_int_equal(one.limit, XB_LIMIT_KERNEL);
        assert_int_equal(one.use_count, 2);
    }
}

/* Nothing comes back: 32 chunks of 512 KiB, of which the last one's 1/32 ms of computing follows
 * the last copy. Fewer chunks leave more of it, and 64 are not faster by 1 %. */
TEST(test_overlapped_the_slowest_sets_the_pace)
{
    struct xb_job job = usual;
    begin(&made);
    add_pinned(2e-6);
    job.out = 0;
    job.gpu_time = 1e-3;
    struct xb_prediction one = predict(&job, XB_STRATEGY_OVERLAPPED);
    assert_int_equal(one.chunk, 512 * KIB);
    assert_int_equal(job.in / one.chunk, 32);
    assert_close(one.total[XB_MIDDLE], WAIT + IN_S + 1e-3 / 32);
    assert_int_equal(one.limit, XB_LIMIT_COPY_IN);
    job.gpu_time = 20e-3; /* the first chunk has to come in before anything is computed */
    one = predict(&job, XB_STRATEGY_OVERLAPPED);
    assert_int_equal(one.limit, XB_LIMIT_KERNEL);
    assert_close(one.total[XB_MIDDLE], WAIT + 20e-3 + IN_S / (double)(job.in / one.chunk));
    assert_false(one.lacks_both_ways);
}

/* 32 chunks of two calls of 40 us each are 2.56 ms of calls, 16 are 1.28 ms: less than the copies.
 */
TEST(test_calls_make_chunks_larger)
{
    struct xb_job job = usual;
    begin(&made);
    add_pinned(40e-6);
    job.out = 0;
    job.gpu_time = 1e-3;
    struct xb_prediction one = predict(&job, XB_STRATEGY_OVERLAPPED);
    assert_int_equal(one.chunk, MIB);
    assert_close(one.total[XB_MIDDLE], WAIT + IN_S + 1e-3 / 16);
}

/* Rows of 1 MiB that were served by a cache, at ten times the rate of 16 MiB. */
TEST(test_chunks_are_no_faster_than_all_in_one)
{
    struct xb_job job = usual;
    begin(&made);
    add_copy(&made, "pinned", "registered", "h2d", 64 * KIB, 10 * IN_RATE, 0, 0);
    add_copy(&made, "pinned", "registered", "h2d", MIB, 10 * IN_RATE, 0, 0);
    add_copy(&made, "pinned", "registered", "h2d", 16 * MIB, IN_RATE, 0, 0);
    job.out = 0;
    job.gpu_time = 1e-3;
    struct xb_prediction one = predict(&job, XB_STRATEGY_OVERLAPPED);
    assert_close(one.in, IN_S);
}

/* Half as fast beside each other. Out, of half as many bytes at half the rate, takes as long as in
 * alone; beside each other both take twice that. */
TEST(test_copies_both_ways_slow_each_other)
{
    struct xb_job job = usual;
    begin(&made);
    add_pinned(0);
    job.out = 8 * MIB;
    job.gpu_time = 0;
    struct xb_prediction one = predict(&job, XB_STRATEGY_OVERLAPPED);
    assert_true(one.lacks_both_ways);
    assert_close(one.copies, IN_S);
    add_row(&made, "pinned", "registered", "bidir", 16 * MIB);
    set_figure(&made, "bandwidth", IN_RATE, false);
    set_figure(&made, "bandwidth_h2d", IN_RATE / 2, false);
    set_figure(&made, "bandwidth_d2h", OUT_RATE / 2, false);
    one = predict(&job, XB_STRATEGY_OVERLAPPED);
    assert_true(one.uses_both_ways);
    assert_close(one.copies, 2 * IN_S);
    assert_int_equal(one.limit, XB_LIMIT_COPIES);
    job.out = 4 * MIB; /* done after IN_S, when half of what comes in is left: alone */
    one = predict(&job, XB_STRATEGY_OVERLAPPED);
    assert_close(one.copies, 1.5 * IN_S);
    job.out = 16 * KIB; /* 1/256 of 8 MiB: beside the copy in it costs 0.2 % */
    one = predict(&job, XB_STRATEGY_OVERLAPPED);
    assert_int_equal(one.limit, XB_LIMIT_COPY_IN);
}

/* Chunks move at 0.8 of the rate of all in one, alone; so they do beside each other. */
TEST(test_chunks_cost_as_much_beside_each_other)
{
    struct xb_job job = usual;
    begin(&made);
    add_copy(&made, "pinned", "registered", "h2d", 64 * KIB, 0.8 * IN_RATE, 0, 0);
    add_copy(&made, "pinned", "registered", "h2d", 8 * MIB, 0.8 * IN_RATE, 0, 0);
    add_copy(&made, "pinned", "registered", "h2d", 16 * MIB, IN_RATE, 0, 0);
    add_copy(&made, "pinned", "registered", "d2h", 64 * KIB, 0.8 * OUT_RATE, 0, 0);
    add_copy(&made, "pinned", "registered", "d2h", 4 * MIB, 0.8 * OUT_RATE, 0, 0);
    add_copy(&made, "pinned", "registered", "d2h", 8 * MIB, OUT_RATE, 0, 0);
    add_row(&made, "pinned", "registered", "bidir", 16 * MIB);
    set_figure(&made, "bandwidth", IN_RATE, false);
    set_figure(&made, "bandwidth_h2d", IN_RATE / 2, false);
    set_figure(&made, "bandwidth_d2h", OUT_RATE / 2, false);
    job.out = 8 * MIB;
    job.gpu_time = 0;
    struct xb_prediction one = predict(&job, XB_STRATEGY_OVERLAPPED);
    assert_close(one.in, IN_S / 0.8);
    assert_close(one.copies, 2 * IN_S / 0.8);
}

TEST(test_a_small_job_has_nothing_to_overlap)
{
    struct xb_job job = usual;
    begin(&made);
    add_pinned(0);
    job.in = 512 * KIB - 1;
    struct xb_prediction one = predict(&job, XB_STRATEGY_OVERLAPPED);
    assert_false(one.is_known);
    assert_int_equal(one.why, XB_UNKNOWN_SMALL);
    job.in = 512 * KIB;
    one = predict(&job, XB_STRATEGY_OVERLAPPED);
    assert_true(one.is_known);
    assert_int_equal(one.chunk, 256 * KIB);
}

/* Nothing goes on beside the copy in. */
TEST(test_one_step_has_nothing_to_overlap)
{
    struct xb_job job = usual;
    struct xb_costs costs;
    struct xb_predictions all;
    begin(&made);
    add_copy(&made, "pinned", "registered", "h2d", 64 * KIB, IN_RATE, 1e-3, 0);
    add_copy(&made, "pinned", "registered", "h2d", MIB, IN_RATE, 0, 0);
    add_copy(&made, "pinned", "registered", "h2d", 16 * MIB, IN_RATE, 1e-3, 0);
    costs = costs_of(&made);
    job.out = 0;
    job.gpu_time = 0;
    xb_predict_all(&costs, &job, &all);
    assert_int_equal(all.best->strategy, XB_STRATEGY_PINNED);
    assert_int_equal(all.each[XB_STRATEGY_OVERLAPPED].why, XB_UNKNOWN_ONE_STEP);
}

/* 1 us of computing beside 1.7 ms of copying is no reason for chunks. */
TEST(test_of_two_alike_the_simpler_is_best)
{
    struct xb_job job = usual;
    struct xb_predictions all;
    begin(&made);
    add_pinned(0);
    job.out = 0;
    job.gpu_time = 1e-6;
    struct xb_costs costs = costs_of(&made);
    xb_predict_all(&costs, &job, &all);
    assert_true(all.each[XB_STRATEGY_OVERLAPPED].total[XB_MIDDLE] <
                all.each[XB_STRATEGY_PINNED].total[XB_MIDDLE]);
    assert_int_equal(all.best->strategy, XB_STRATEGY_PINNED);
}

/* Not even where a chunk takes none of it along. */
TEST(test_what_comes_back_needs_rows)
{
    struct xb_job job = usual;
    begin(&made);
    add_copies(&made, "pinned", "registered", "h2d", IN_RATE, WAIT, 0);
    job.out = 4;
    struct xb_prediction one = predict(&job, XB_STRATEGY_OVERLAPPED);
    assert_false(one.is_known);
    assert_int_equal(one.why, XB_UNKNOWN_ROWS);
    assert_int_equal(one.missing, XB_COST_PINNED_OUT);
}

TEST(test_pinned_data_takes_no_ordinary_way)
{
    begin(&made);
    add_copies(&made, "pageable", "malloc", "h2d", IN_RATE, WAIT, 0);
    add_copies(&made, "pageable", "malloc", "d2h", OUT_RATE, WAIT, 0);
    struct xb_prediction one = predict(&usual, XB_STRATEGY_PAGEABLE);
    assert_false(one.is_known);
    assert_int_equal(one.why, XB_UNKNOWN_NOT_ASKED);
    assert_false(xb_prediction_may_beat(&one, 1));
}

/* ---- in place ---- */

/* The kernel reads 16 MiB and writes as much over the link, at 4 GB/s each while both go on, in 8
 * waves: of the first what comes in shows, and of the last what is computed and written. */
TEST(test_zero_copy_takes_the_kernel_or_the_link)
{
    const double both = 16 * 1048576 / 4e9;
    struct xb_job job = usual;
    begin(&made);
    add_row(&made, "zero-copy", "sequential", "bidir", 16 * MIB);
    set_figure(&made, "bandwidth", 8e9, false);
    add_copy(&made, "zero-copy", "sequential", "h2d", 16 * MIB, IN_RATE, WAIT, 0);
    assert_int_equal(predict(&job, XB_STRATEGY_ZERO_COPY).missing, XB_COST_ZERO_COPY_OUT);
    add_copy(&made, "zero-copy", "sequential", "d2h", 16 * MIB, IN_RATE, WAIT, 0);
    struct xb_prediction one = predict(&job, XB_STRATEGY_ZERO_COPY);
    assert_true(one.is_known);
    assert_close(one.total[XB_MIDDLE], both + 2 * IN_S / 8);
    assert_close(one.out, IN_S); /* all of the data is written, whatever of it is wanted */
    assert_int_equal(one.limit, XB_LIMIT_LINK);
    job.gpu_time = 5e-3;
    one = predict(&job, XB_STRATEGY_ZERO_COPY);
    assert_close(one.total[XB_MIDDLE], 5e-3 + 2 * IN_S / 8);
    assert_int_equal(one.limit, XB_LIMIT_KERNEL);
    say(&job, "Fastest known way: pinned memory in place, if the kernel reads and writes each byte",
        " once and in order: 5.42 ms. The kernel is the limit.");
    job.out = job.in + 1;
    assert_int_equal(predict(&job, XB_STRATEGY_ZERO_COPY).why, XB_UNKNOWN_IN_PLACE);
    begin(&made); /* both ways take no less than one */
    add_row(&made, "zero-copy", "sequential", "bidir", 16 * MIB);
    set_figure(&made, "bandwidth", 1e12, false);
    add_copy(&made, "zero-copy", "sequential", "h2d", 16 * MIB, IN_RATE, 0, 0);
    add_copy(&made, "zero-copy", "sequential", "d2h", 16 * MIB, IN_RATE, 0, 0);
    job.out = MIB;
    job.gpu_time = IN_S / 2;
    assert_close(predict(&job, XB_STRATEGY_ZERO_COPY).total[XB_MIDDLE], IN_S + 1.5 * IN_S / 8);
    job.out = 0;
    job.gpu_time = 0;
    assert_int_equal(predict(&job, XB_STRATEGY_ZERO_COPY).why, XB_UNKNOWN_IN_PLACE);
}

/* Faults in come while the kernel runs; what is prefetched, before and after it. Data in ordinary
 * memory is copied first, which takes the CPU 1 ms each way. */
TEST(test_managed_memory_moves_on_faults_or_on_request)
{
    struct xb_job job = usual;
    begin(&made);
    job.memory = XB_JOB_MANAGED;
    for (int i = 0; i < 2; i++) {
        add_copies(&made, "managed", i == 0 ? "fault" : "prefetch", "h2d", IN_RATE, WAIT, 0);
        add_copies(&made, "managed", i == 0 ? "fault" : "prefetch", "d2h", OUT_RATE, WAIT, 0);
    }
    assert_close(predict(&job, XB_STRATEGY_MANAGED).total[XB_MIDDLE], 3e-3 + OUT_S);
    assert_close(predict(&job, XB_STRATEGY_PREFETCH).total[XB_MIDDLE], IN_S + WAIT + 3e-3 + OUT_S);
    assert_int_equal(predict(&job, XB_STRATEGY_ZERO_COPY).why, XB_UNKNOWN_NOT_ASKED);
    say(&job, "Fastest: managed memory, whose pages are touched in order: 3.21 ms ",
        "(what the CPU's page faults take before the job is not counted)");
    job.gpu_time = 1e-3;
    assert_close(predict(&job, XB_STRATEGY_MANAGED).total[XB_MIDDLE], IN_S + WAIT + OUT_S);
    assert_close(predict(&job, XB_STRATEGY_MANAGED).total[XB_HIGH], 1.5 * (IN_S + WAIT) + OUT_S);
    job.times = 2; /* the CPU writes again, and fetches what is still on the GPU */
    double high = 1.5 * (IN_S + WAIT) + 16 * OUT_S;
    assert_close(predict(&job, XB_STRATEGY_MANAGED).total[XB_HIGH], high);
    assert_close(predict(&job, XB_STRATEGY_MANAGED).total[XB_MIDDLE], IN_S + WAIT + OUT_S);
    job.times = 1;
    job.memory = XB_JOB_PAGEABLE;
    assert_int_equal(predict(&job, XB_STRATEGY_MANAGED).missing, XB_COST_COPY_IN);
    add_pinned(0);
    add_row(&made, "pin", "copy", "h2d", 16 * MIB);
    set_figure(&made, "bandwidth", 16 * 1048576 / (IN_S + WAIT + 1e-3), false);
    add_row(&made, "pin", "copy", "d2h", MIB);
    set_figure(&made, "bandwidth", 1048576 / (OUT_S + WAIT + 1e-3), false);
    struct xb_prediction one = predict(&job, XB_STRATEGY_MANAGED);
    assert_true(one.is_known && one.is_copied);
    assert_close(one.running[XB_MIDDLE], IN_S + WAIT + OUT_S);
    assert_close(one.pinning[XB_MIDDLE], 2e-3);
    assert_close(one.by_cpu, 2e-3);
    assert_int_equal(one.use_count, 6);
}

/* Nothing crosses the link faster than a pinned copy; what the device lacks is no candidate. */
TEST(test_what_may_be_faster_in_place)
{
    struct xb_predictions all;
    struct xb_job job = usual;
    struct xb_words words = {.length = 0};
    begin(&made);
    add_pinned(0);
    job.gpu_time = 1e-3;
    (void)judge(&job, &all);
    assert_close(all.each[XB_STRATEGY_ZERO_COPY].at_least, IN_S);
    assert_close(all.each[XB_STRATEGY_MANAGED].at_least, IN_S);
    assert_true(xb_prediction_may_beat(&all.each[XB_STRATEGY_ZERO_COPY], 1.01 * IN_S));
    add_row(&made, "zero-copy", "sequential", "h2d", 16 * MIB)->rows->status = XB_RESULT_SKIPPED;
    made.rows[made.record.case_count - 1].reason = "no mapped memory here";
    (void)judge(&job, &all);
    assert_false(xb_prediction_may_beat(&all.each[XB_STRATEGY_ZERO_COPY], 1));
    xb_advice_say_missing(&all.each[XB_STRATEGY_ZERO_COPY], &words);
    assert_string_equal(words.text, "no mapped memory here");
    made.rows[made.record.case_count - 1].is_cut = true; /* only time was up */
    (void)judge(&job, &all);
    assert_int_equal(all.each[XB_STRATEGY_ZERO_COPY].why, XB_UNKNOWN_ROWS);
    made.rows[made.record.case_count - 1].is_cut = false; /* another size could be measured */
    add_copy(&made, "zero-copy", "sequential", "h2d", 64 * 1024, 10e9, 0, 0);
    (void)judge(&job, &all);
    assert_int_equal(all.each[XB_STRATEGY_ZERO_COPY].why, XB_UNKNOWN_ROWS);
}

/* 17 MiB at 12 GB/s take 1.49 ms. */
TEST(test_a_rule_of_thumb_is_told_where_it_is_wrong)
{
    struct xb_words words = {.length = 0};
    struct xb_predictions all;
    struct xb_job job = usual;
    begin(&made);
    add_pinned(0);
    job.cpu_time = 1;
    job.gpu_time = 1e-3;
    say(&job, "Yes",
        " A rule of thumb, compute for longer than the bytes take at 12 GB/s, says no.");
    job.gpu_time = 2e-3;
    (void)judge(&job, &all);
    xb_advice_say(&all, &words);
    assert_null(strstr(words.text, "thumb"));
    job.cpu_time = 1.9e-3;
    say(&job, "No",
        " A rule of thumb, compute for longer than the bytes take at 12 GB/s, says yes.");
}

/* ---- data in ordinary memory ---- */

/* Page-locking 16 MiB takes 4 ms and 1 MiB 1 ms, for all runs together. */
TEST(test_page_locking_is_divided_by_the_runs)
{
    struct xb_job job = usual;
    begin(&made);
    add_pinned(0);
    job.memory = XB_JOB_PAGEABLE;
    struct xb_prediction one = predict(&job, XB_STRATEGY_PINNED);
    assert_false(one.is_known);
    assert_int_equal(one.missing, XB_COST_REGISTER);
    assert_close(one.at_least, IN_S + WAIT + 3e-3 + OUT_S);
    add_row(&made, "pin", "used", "h2d", 16 * MIB);
    set_figure(&made, "setup_time", 4e-3, false);
    add_row(&made, "pin", "used", "d2h", MIB);
    set_figure(&made, "setup_time", 1e-3, false);
    one = predict(&job, XB_STRATEGY_PINNED);
    assert_true(one.is_known);
    assert_false(one.is_copied);
    assert_close(one.pinning[XB_MIDDLE], 5e-3);
    assert_close(one.total[XB_MIDDLE], IN_S + WAIT + 3e-3 + OUT_S + 5e-3);
    assert_int_equal(one.limit, XB_LIMIT_PINNING);
    job.times = 1000;
    one = predict(&job, XB_STRATEGY_PINNED);
    assert_close(one.pinning[XB_MIDDLE], 5e-6);
    assert_close(one.running[XB_MIDDLE], IN_S + WAIT + 3e-3 + OUT_S);
    assert_int_equal(one.limit, XB_LIMIT_KERNEL);
    one = predict(&job, XB_STRATEGY_PAGEABLE); /* needs none, and has no rows */
    assert_false(one.is_known);
    assert_int_equal(one.missing, XB_COST_PAGEABLE_IN);
}

/* Copying through pinned memory takes 1 ms longer each way, and making that memory 100 us each. */
TEST(test_copying_is_taken_where_it_is_cheaper)
{
    struct xb_job job = usual;
    begin(&made);
    add_pinned(0);
    job.memory = XB_JOB_PAGEABLE;
    add_row(&made, "pin", "used", "h2d", 16 * MIB);
    set_figure(&made, "setup_time", 4e-3, false);
    add_row(&made, "pin", "used", "d2h", MIB);
    set_figure(&made, "setup_time", 1e-3, false);
    add_row(&made, "pin", "copy", "h2d", 16 * MIB);
    set_figure(&made, "bandwidth", 16 * 1048576 / (IN_S + WAIT + 1e-3), false);
    set_figure(&made, "setup_time", 100e-6, false);
    add_row(&made, "pin", "copy", "d2h", MIB);
    set_figure(&made, "bandwidth", 1048576 / (OUT_S + WAIT + 1e-3), false);
    set_figure(&made, "setup_time", 100e-6, false);
    struct xb_prediction one = predict(&job, XB_STRATEGY_PINNED);
    assert_true(one.is_copied);
    assert_close(one.pinning[XB_MIDDLE], 2.2e-3);
    job.times = 100; /* page-locking once is 50 us a run by then */
    one = predict(&job, XB_STRATEGY_PINNED);
    assert_false(one.is_copied);
    assert_close(one.pinning[XB_MIDDLE], 50e-6);
}

/* Below the smallest row both copies have ends: overlapped their difference is between both, pinned
 * the copy from pinned memory is in the time already. */
TEST(test_copying_overlapped_has_both_ends)
{
    struct xb_job job = usual;
    begin(&made);
    job.memory = XB_JOB_PAGEABLE;
    for (int i = 0; i < 2; i++) {
        const char *direction = i == 0 ? "h2d" : "d2h";
        add_row(&made, "pinned", "registered", direction, 32 * MIB);
        set_figure(&made, "bandwidth", 50e9, false);
        add_row(&made, "pin", "copy", direction, 32 * MIB);
        set_figure(&made, "bandwidth", 10e9, false);
        set_figure(&made, "setup_time", 100e-6, false);
    }
    struct xb_prediction pinned = predict(&job, XB_STRATEGY_PINNED);
    struct xb_prediction overlapped = predict(&job, XB_STRATEGY_OVERLAPPED);
    assert_true(pinned.is_copied && overlapped.is_copied);
    assert_close(overlapped.pinning[XB_MIDDLE], pinned.pinning[XB_MIDDLE]);
    assert_true(overlapped.pinning[XB_HIGH] > pinned.pinning[XB_HIGH]);
    assert_true(overlapped.pinning[XB_LOW] < pinned.pinning[XB_LOW]);
}

/* The intervals of page-locking are in the ends of the whole. */
TEST(test_pinning_has_ends)
{
    struct xb_job job = usual;
    begin(&made);
    add_pinned(0);
    struct xb_prediction one = predict(&job, XB_STRATEGY_PINNED);
    assert_false(one.has_ends);
    job.memory = XB_JOB_PAGEABLE;
    job.out = 0;
    add_row(&made, "pin", "used", "h2d", 16 * MIB);
    set_figure(&made, "setup_time", 4e-3, true);
    one = predict(&job, XB_STRATEGY_PINNED);
    assert_true(one.has_ends);
    assert_close(one.total[XB_HIGH] - one.total[XB_MIDDLE], 0.4e-3);
    job.out = job.in;
    one = predict(&job, XB_STRATEGY_PINNED);
    assert_int_equal(one.use_count, 3); /* a copy each way, and page-locking once */
}

/* ---- the answer ---- */

TEST(test_the_fastest_is_set_against_the_cpu)
{
    struct xb_predictions all;
    struct xb_job job = usual;
    struct xb_words words = {.length = 0};
    begin(&made);
    assert_int_equal(judge(&job, &all), XB_WORTH_UNKNOWN);
    add_pinned(0);
    add_copies(&made, "pageable", "malloc", "h2d", IN_RATE / 4, WAIT, 0);
    add_copies(&made, "pageable", "malloc", "d2h", OUT_RATE / 4, WAIT, 0);
    assert_int_equal(judge(&job, &all), XB_WORTH_YES); /* nobody asks about the CPU */
    assert_int_equal(all.best->strategy, XB_STRATEGY_OVERLAPPED);
    job.cpu_time = 50e-3;
    assert_int_equal(judge(&job, &all), XB_WORTH_YES);
    xb_advice_say(&all, &words);
    assert_non_null(strstr(words.text, "ms against 50.0 ms on the CPU, "));
    assert_non_null(strstr(words.text, " times as fast: pinned memory, copies and kernels "
                                       "overlapped. The kernel is the limit."));
    job.cpu_time = 1e-3;
    assert_int_equal(judge(&job, &all), XB_WORTH_NO);
    words.length = 0;
    xb_advice_say(&all, &words);
    assert_non_null(strstr(words.text, "No: stay on the CPU. 1.00 ms against "));
}

/* What is lacking could be faster than the CPU, or it could not whatever it is. */
TEST(test_what_is_not_known_is_no_no)
{
    struct xb_predictions all;
    struct xb_job job = usual;
    begin(&made);
    add_pinned(0);
    add_copies(&made, "pageable", "malloc", "h2d", IN_RATE / 4, WAIT, 0);
    add_copies(&made, "pageable", "malloc", "d2h", OUT_RATE / 4, WAIT, 0);
    job.memory = XB_JOB_PAGEABLE;
    job.cpu_time = 7e-3; /* pageable takes 10.6 ms, and page-locking may take anything */
    assert_int_equal(judge(&job, &all), XB_WORTH_UNKNOWN);
    job.cpu_time = 2.9e-3; /* less than the kernel */
    assert_int_equal(judge(&job, &all), XB_WORTH_NO);
    job.cpu_time = 11e-3;
    assert_int_equal(judge(&job, &all), XB_WORTH_YES);
}

/* Without rows of both ways at once the copies take between 1.7 and 3.4 ms. */
TEST(test_a_lower_bound_is_no_yes)
{
    struct xb_predictions all;
    struct xb_job job = usual;
    begin(&made);
    add_pinned(0);
    job.out = 8 * MIB;
    job.gpu_time = 0;
    job.cpu_time = 2.5e-3;
    struct xb_prediction one = predict(&job, XB_STRATEGY_OVERLAPPED);
    assert_true(one.total[XB_MIDDLE] < 2.0e-3);
    assert_true(one.total[XB_HIGH] > 2 * IN_S);
    assert_int_equal(judge(&job, &all), XB_WORTH_UNKNOWN);
    say(&job, "Cannot say: 2.50 ms on the CPU, 1.71 ms to 3.37 ms by the fastest way known ",
        "(overlapped). No result is of copies both ways at once.");
    job.cpu_time = 1e-3;
    assert_int_equal(judge(&job, &all), XB_WORTH_NO);
    job.cpu_time = 5e-3;
    assert_int_equal(judge(&job, &all), XB_WORTH_YES);
}

TEST(test_no_trip_beats_less_than_the_kernel)
{
    struct xb_predictions all;
    struct xb_job job = usual;
    begin(&made);
    job.cpu_time = 2e-3;
    assert_int_equal(judge(&job, &all), XB_WORTH_NO);
    say(&job, "No: stay on the CPU. The kernel alone takes 3.00 ms, the CPU 2.00 ms.", "");
    job.cpu_time = 4e-3;
    assert_int_equal(judge(&job, &all), XB_WORTH_UNKNOWN);
    say(&job, "Cannot say: no way has all the results that it needs.", "");
}

/* Of pageable rows alone: pinned memory may be faster. */
TEST(test_what_is_missing_stands_in_the_answer)
{
    struct xb_job job = usual;
    job.memory = XB_JOB_PAGEABLE;
    begin(&made);
    add_copies(&made, "pageable", "malloc", "h2d", IN_RATE, WAIT, 0);
    add_copies(&made, "pageable", "malloc", "d2h", OUT_RATE, WAIT, 0);
    say(&job, "Fastest known way: pageable memory, one step after the other: 4.90 ms.",
        "Perhaps faster, but not measured: ring, pinned, overlapped, managed, prefetch and "
        "zero-copy.");
    job.cpu_time = 4e-3;
    say(&job, "Cannot say: 4.00 ms on the CPU, 4.90 ms by the fastest way known (pageable).",
        "Perhaps faster, but not measured: ring, pinned, overlapped, managed, prefetch and "
        "zero-copy.");
}

TEST(test_making_the_ring_is_not_counted)
{
    struct xb_job job = usual;
    struct xb_words words = {.length = 0};
    struct xb_predictions all;
    job.memory = XB_JOB_PAGEABLE;
    begin(&made);
    add_copies(&made, "pageable", "ring", "h2d", IN_RATE, WAIT, 0);
    add_copies(&made, "pageable", "ring", "d2h", OUT_RATE, WAIT, 0);
    say(&job, "Fastest", "(making the ring once is not counted)");
    job.times = 100;
    (void)judge(&job, &all);
    xb_advice_say(&all, &words);
    assert_null(strstr(words.text, "not counted"));
}

TEST(test_factors_have_plain_digits)
{
    struct xb_job job = usual;
    begin(&made);
    add_pinned(0);
    add_row(&made, "pinned", "registered", "bidir", 16 * MIB);
    set_figure(&made, "bandwidth", IN_RATE, false);
    set_figure(&made, "bandwidth_h2d", IN_RATE, false);
    set_figure(&made, "bandwidth_d2h", OUT_RATE, false);
    struct xb_prediction one = predict(&job, XB_STRATEGY_OVERLAPPED);
    job.cpu_time = 24218 * one.total[XB_MIDDLE];
    say(&job, "Yes", ", 24218 times as fast");
    job.cpu_time = 1.01 * one.total[XB_MIDDLE];
    say(&job, "Yes", ", about as fast");
    job.cpu_time = one.total[XB_MIDDLE] / 2;
    say(&job, "No", ", 2 times as long");
}

/* ---- break-even ---- */

static struct xb_break_even break_even(const struct xb_job *job)
{
    struct xb_costs costs = costs_of(&made);
    return xb_find_break_even(&costs, job);
}

static void assert_near(double found, double right)
{
    if (!(fabs(found / right - 1) < 1e-6))
        fail_msg("%.9g in place of %.9g", found, right);
}

static void say_break_even(const struct xb_break_even *found, const char *start)
{
    struct xb_words words = {.length = 0};
    xb_advice_say_break_even(found, &words);
    if (strncmp(words.text, start, strlen(start)) != 0)
        fail_msg("'%s' in place of '%s'", words.text, start);
}

/* Of s MiB the GPU takes 10 us + 104.8576 us s, and the CPU 200 us s. */
TEST(test_gpu_wins_from_some_size_on)
{
    struct xb_job job = {.in = MIB, .cpu_time = 200e-6, .times = 1, .memory = XB_JOB_PINNED};
    begin(&made);
    add_copies(&made, "pinned", "registered", "h2d", IN_RATE, WAIT, 0);
    for (unsigned times = 1; times <= 10000; times *= 100) { /* asked from either side of it */
        struct xb_job asked = xb_job_scaled(&job, 0.01 * times);
        asked.cpu_time = 200e-6 * (double)asked.in / 1048576;
        struct xb_break_even found = break_even(&asked);
        assert_true(found.is_known && found.is_sure && found.wins && !(found.to.low > 0));
        assert_true(fabs(found.from.middle / (1048576 * 10 / (200 - 104.8576)) - 1) < 1e-4);
        assert_true(fabs(found.from.low / found.from.high - 1) < 1e-4);
    }
}

/* 1 GB/s at 16 MiB and beyond, 10 GB/s up to 1 MiB; the CPU 5 GB/s. Between, time goes from
 * 104.8576 us to 16777.216 us over 15 MiB. */
TEST(test_gpu_wins_up_to_some_size)
{
    struct xb_job job = {.in = MIB, .cpu_time = 1048576 / 5e9, .times = 1, .memory = XB_JOB_PINNED};
    begin(&made);
    add_copy(&made, "pinned", "registered", "h2d", 4 * KIB, 10e9, 0, 0);
    add_copy(&made, "pinned", "registered", "h2d", MIB, 10e9, 0, 0);
    add_copy(&made, "pinned", "registered", "h2d", 16 * MIB, 1e9, 0, 0);
    struct xb_break_even found = break_even(&job);
    double slope = (16777.216e-6 - 104.8576e-6) / 15;          /* a MiB */
    double to = (slope - 104.8576e-6) / (slope - 209.7152e-6); /* MiB */
    assert_true(found.is_known && found.wins);
    assert_near(found.to.middle, to * 1048576);
    /* Below 4 KiB all may take as long as 4 KiB, or 1.2 times that, or 0.9 times their share. */
    assert_true(fabs(found.from.high - 1.2 * 2 * KIB) < 2);
    assert_true(found.from.low == 0 && found.from.middle == 0);
    say_break_even(&found,
                   "The GPU wins from 2.4 KiB, perhaps less, to 1.12 MiB of input. Below 4 KiB "
                   "nothing was measured. Output");
    job = xb_job_scaled(&job, 1000); /* where the CPU wins, and at all larger sizes */
    found = break_even(&job);
    assert_true(found.wins && found.from.high > 0);
    assert_near(found.to.middle, to * 1048576);
}

TEST(test_always_and_never)
{
    struct xb_job job = {.in = 1, .cpu_time = 1, .times = 1, .memory = XB_JOB_PINNED};
    begin(&made);
    add_copies(&made, "pinned", "registered", "h2d", IN_RATE, WAIT, 0);
    struct xb_break_even found = break_even(&job);
    assert_true(found.is_known && found.wins && !(found.from.high > 0) && !(found.to.low > 0));
    say_break_even(&found, "The GPU wins at every size, 1 B to 1 TiB of input. ");
    job = (struct xb_job){.in = MIB, .cpu_time = 1e-9, .times = 1, .memory = XB_JOB_PINNED};
    found = break_even(&job);
    assert_true(found.is_known && !found.wins);
    say_break_even(&found, "The CPU wins at every size, ");
    job.memory = XB_JOB_PAGEABLE; /* a ring may be faster, which nobody measured */
    begin(&made);
    add_copies(&made, "pageable", "malloc", "h2d", IN_RATE, WAIT, 0);
    found = break_even(&job);
    assert_true(found.is_known && !found.is_sure);
    say_break_even(&found, "It is not known at which sizes the GPU wins: too little is known");
    job.cpu_time = 0;
    assert_false(break_even(&job).is_known);
    begin(&made);
    job.cpu_time = 1;
    assert_false(break_even(&job).is_known);
}

/* 10 GB/s at 16 MiB, the only row: 1 MiB takes 115 us, or 94 to 246 us; and the CPU 210 us. */
TEST(test_nothing_sure_is_said_below_the_smallest_row)
{
    struct xb_predictions all;
    struct xb_job job = {.in = MIB, .cpu_time = 210e-6, .times = 1, .memory = XB_JOB_PINNED};
    begin(&made);
    add_copy(&made, "pinned", "registered", "h2d", 16 * MIB, IN_RATE, 0, 0);
    assert_int_equal(judge(&job, &all), XB_WORTH_UNKNOWN);
    say(&job, "Cannot say: 210 us on the CPU, 94.4 us to 246 us by the fastest way known (pinned).",
        " Results of more sizes would tell.");
    struct xb_break_even found = break_even(&job); /* 120 us + 125.8 us a MiB at most */
    assert_near(found.from.high, 1048576 * 120 / (210 - 1.2 * 104.8576));
    assert_true(found.is_sure && found.from.middle == 0 && found.from.low == 0);
    say_break_even(&found,
                   "The GPU wins from 1.43 MiB, perhaps less, of input on. Below 16 MiB nothing "
                   "was measured. ");
    job.cpu_time = 247e-6;
    assert_int_equal(judge(&job, &all), XB_WORTH_YES);
    job.cpu_time = 94e-6;
    assert_int_equal(judge(&job, &all), XB_WORTH_NO);
    /* Between rows, of which one has an interval: 60 us, then 382 to 467 us; the CPU 30 and 480. */
    job.cpu_time = 120e-6;
    add_copy(&made, "pinned", "registered", "h2d", 256 * KIB, 256 * 1024 / 60e-6, 0, 0);
    add_row(&made, "pinned", "registered", "h2d", 4 * MIB);
    set_figure(&made, "bandwidth", 4 * 1048576 / 420e-6, true);
    found = break_even(&job);
    say_break_even(&found,
                   "The GPU wins from somewhere between 1.13 MiB and 2.85 MiB of input on. ");
    assert_true(found.from.low < found.from.middle && found.from.middle < found.from.high);
}

/* Nothing larger than the device's memory, and no `out` that no whole number holds. */
TEST(test_break_even_ends_where_a_job_cannot_be)
{
    struct xb_record_device device = {.memory_bytes = 1024 * MIB};
    struct xb_words words = {.length = 0};
    struct xb_job job = {.in = MIB, .cpu_time = 1, .times = 1};
    begin(&made);
    add_copies(&made, "pageable", "malloc", "h2d", IN_RATE, WAIT, 0);
    add_copies(&made, "pageable", "malloc", "d2h", OUT_RATE, WAIT, 0);
    made.process.devices = &device;
    made.process.device_count = 1;
    struct xb_break_even found = break_even(&job);
    assert_true(found.wins && !(found.to.low > 0) && found.fills_device);
    assert_true(found.most <= 1024.0 * MIB && found.most > 800.0 * MIB);
    xb_advice_say_break_even(&found, &words);
    assert_non_null(strstr(words.text, ", up to what fits into its memory"));
    job.in = 2048 * MIB;
    assert_int_equal(predict(&job, XB_STRATEGY_PAGEABLE).why, XB_UNKNOWN_TOO_LARGE);
    say(&job, "Cannot say: the job does not fit into the GPU's memory.", "");
    made.process.device_count = 0;
    job = (struct xb_job){.in = 1, .out = UINT64_C(1) << 30, .cpu_time = 1000, .times = 1};
    found = break_even(&job);
    assert_true(found.is_known && found.most <= 1024);
}

TEST(test_a_job_grows_as_a_whole)
{
    const struct xb_job job = {
        .in = 1000, .out = 10, .gpu_time = 2, .cpu_time = 30, .times = 7, .memory = XB_JOB_PINNED};
    struct xb_job larger = xb_job_scaled(&job, 2.5);
    assert_int_equal(larger.in, 2500);
    assert_int_equal(larger.out, 25);
    assert_close(larger.gpu_time, 5);
    assert_close(larger.cpu_time, 75);
    assert_int_equal(larger.times, 7);
    assert_int_equal(larger.memory, XB_JOB_PINNED);
    assert_int_equal(xb_job_scaled(&job, 1e-6).in, 1);
    assert_int_equal(xb_job_scaled(&job, 1e-6).out, 1);
    assert_int_equal(xb_job_scaled(&(struct xb_job){.in = 8}, 4).out, 0);
}

/* What to measure is a command line that `run` takes. */
TEST(test_what_is_missing_is_told)
{
    struct xb_words words = {.length = 0};
    struct xb_job job = usual;
    begin(&made);
    job.in = 400 * MIB;
    struct xb_prediction one = predict(&job, XB_STRATEGY_PINNED);
    xb_advice_say_missing(&one, &words);
    assert_string_equal(words.text, "no result of pinned registered h2d tells what 400 MiB take");
    words.length = 0;
    xb_advice_say_command(&job, &words);
    assert_string_equal(words.text, "xferbench --mode pinned,zero-copy --direction both,bidir "
                                    "--size 4K..512M --json FILE");
    words.length = 0;
    job.memory = XB_JOB_PAGEABLE;
    xb_advice_say_command(&job, &words);
    assert_string_equal(words.text, "xferbench --mode pageable,pinned,pin,managed,zero-copy "
                                    "--pin-by used,copy --direction both,bidir --size 4K..512M "
                                    "--json FILE");
}

TEST(test_a_kernel_of_another_length_is_told)
{
    struct xb_words words = {.length = 0};
    xb_advice_say_kernel(0, 1e-3, &words);
    xb_advice_say_kernel(1e-3, (double)NAN, &words);
    xb_advice_say_kernel(1e-3, 1.04e-3, &words);
    assert_int_equal(words.length, 0);
    xb_advice_say_kernel(20e-3, 10.7e-3, &words);
    assert_string_equal(words.text, "its kernel took 10.7 ms instead of 20.0 ms, which is part of "
                                    "DIFF");
}

TEST(the_schema_has_what_the_tables_have)
{
    assert_schema_describes("advise.schema.json", "properties/job", xb_advice_job_fields);
    assert_schema_describes("advise.schema.json", "properties/break_even",
                            xb_advice_break_even_fields);
}
