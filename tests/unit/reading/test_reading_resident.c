/* SPDX-License-Identifier: Apache-2.0 */
/* What the Reading says of data that stays on the GPU, of whole jobs and of files. */
#include "reading_fixture.h"

#include "record/mode_list.h"
#include <stdlib.h>
#include <string.h>

#include "testing.h"

extern const struct xb_mode xb_mode_resident, xb_mode_job, xb_mode_pipeline;

/* The option as the mode names it: a record knows it by its name. */
static const struct xb_option steps = {.name = "steps", .type = XB_OPTION_COUNTS};

static struct xb_result *add_steps(struct node *n, const char *variant, uint64_t count,
                                   double gigabytes)
{
    struct xb_result *row = add(n, &xb_mode_resident, variant, XB_BIDIR, gigabytes);
    row->test.settings[0] = (struct xb_setting){.option = &steps, .count = count};
    row->test.setting_count = 1;
    return row;
}

/* The times in seconds, of `count` steps. */
static struct xb_result *add_times(struct node *n, const char *variant, uint64_t count,
                                   double gigabytes, double resident, double trips)
{
    struct xb_result *row = add_steps(n, variant, count, gigabytes);
    add_figure(row, xb_figure_find("round_trip_time"), trips);
    set_computed(row, xb_figure_find("resident_time"), resident);
    set_computed(row, xb_figure_find("speed_up"), trips / resident);
    if (count > 1)
        set_computed(row, xb_figure_find("trip_cost"), (trips - resident) / (double)(count - 1));
    return row;
}

NODE_TEST(what_trips_cost_is_said)
{
    struct node *n = *state;
    add_times(n, "alloc", 8, 47.6, 0.0451, 0.321);
    assert_said(n, "resident",
                "8 kernels take 45.1 ms if the data stays on the GPU. With a trip to the host "
                "after each kernel they take 321 ms.");
    assert_answered(n, "8 kernels take 45.1 ms if the data stays on the GPU. With a trip to the "
                       "host after each kernel they take 321 ms.");
    assert_advised(n, "XB-RESIDENT",
                   "Keep the data on the GPU from kernel to kernel: 7.1 times as fast with 8 "
                   "kernels that only read and write it.");
}

/* The times of the median say nothing where single samples overlap. */
NODE_TEST(what_may_be_noise_is_no_advice)
{
    struct node *n = *state;
    struct xb_error error;
    struct xb_result *row = add_times(n, "alloc", 8, 47.6, 0.0451, 0.321);
    assert_int_equal(xb_result_sample(row, xb_figure_find("round_trip_time"), 0.04, &error), XB_OK);
    assert_advised(n, "XB-RESIDENT", "");
}

NODE_TEST(the_most_steps_stand_for_all)
{
    struct node *n = *state;
    add_times(n, "alloc", 2, 60, 0.040, 0.080);
    add_times(n, "alloc", 16, 40, 0.050, 0.650);
    add_times(n, "alloc", 8, 50, 0.045, 0.325);
    assert_said(n, "resident",
                "16 kernels take 50.0 ms if the data stays on the GPU. With a trip to the host "
                "after each kernel they take 650 ms.");
    /* Of several kinds of memory the fastest. */
    add_times(n, "registered", 16, 80, 0.025, 0.325);
    assert_said(n, "resident",
                "16 kernels take 25.0 ms if the data stays on the GPU. With a trip to the host "
                "after each kernel they take 325 ms.");
}

NODE_TEST(trips_that_cost_nothing_change_no_program)
{
    struct node *n = *state;
    add_times(n, "alloc", 8, 1, 0.321, 0.322);
    assert_said(n, "resident",
                "8 kernels take 321 ms if the data stays on the GPU. With a trip to the host after "
                "each kernel they take 322 ms, hardly more.");
}

/* One kernel has no trip behind it that it could do without; and a case may have been cut short. */
NODE_TEST(without_a_trip_nothing_is_said)
{
    struct node *n = *state;
    add_times(n, "alloc", 1, 50, 0.040, 0.080);
    assert_said(n, "resident", "");
    add_steps(n, "registered", 8, 50);
    assert_said(n, "resident", "");
}

NODE_TEST(small_data_is_told_of_too)
{
    struct node *n = *state;
    set_size(add_times(n, "alloc", 8, 10, 20e-6, 60e-6), 4096, 0.4);
    assert_answered(n, "8 kernels take 20.0 us if the data stays on the GPU. With a trip to the "
                       "host after each kernel they take 60.0 us.");
}

/* ---- jobs ---- */

static struct xb_result *add_job(struct node *n, const char *way, double seconds, double in,
                                 double out)
{
    struct xb_result *row = add(n, &xb_mode_job, way, XB_BIDIR, 1);
    set_size(row, 65536, 65536 / seconds / 1e9);
    set_figure(row, "job_time", seconds);
    if (in > 0) { /* else it is in place */
        add_figure(row, xb_figure_find("in_time"), in);
        add_figure(row, xb_figure_find("out_time"), out);
    }
    return row;
}

/* Managed memory cannot be page-locked, and memory that is used in place is. */
NODE_TEST(what_is_slow_in_place_is_not_told_to_be_pinned)
{
    struct node *n = *state;
    add_job(n, "pinned", 4e-3, 2e-3, 1e-3);
    add_job(n, "overlapped", 2e-3, 1e-3, 1e-3);
    add_job(n, "managed", 10e-3, 0, 0);
    assert_answered(n, "Overlapped, this job takes 2.00 ms. In managed memory it takes 10.0 ms.");
    assert_advised(n, "XB-JOB", "");
}

static const struct xb_option gpu_time = {.name = "gpu-time", .type = XB_OPTION_CHOICES};

static void add_timed_job(struct node *n, const char *way, const char *kernel, double seconds)
{
    struct xb_case *test = &add_job(n, way, seconds, 1e-3, 1e-3)->test;
    test->settings[0] = (struct xb_setting){.option = &gpu_time, .word = kernel};
    test->setting_count = 1;
}

NODE_TEST(the_kernel_from_which_overlap_no_longer_pays)
{
    struct node *n = *state;
    add_timed_job(n, "pinned", "5ms", 7e-3);
    add_timed_job(n, "overlapped", "5ms", 5.4e-3);
    add_timed_job(n, "pinned", "10ms", 12e-3);
    add_timed_job(n, "overlapped", "10ms", 10.4e-3);
    assert_not_read(n, "Overlapping pays");
    add_timed_job(n, "pinned", "100ms", 102e-3);
    add_timed_job(n, "overlapped", "100ms", 100.4e-3);
    add_timed_job(n, "pinned", "50ms", 52e-3);
    add_timed_job(n, "overlapped", "50ms", 50.4e-3);
    assert_number(n, "XB-JOB-OVERLAP", "pays_until", 10e-3);
    assert_number(n, "XB-JOB-OVERLAP", "pays_no_more_at", 50e-3);
}

NODE_TEST(a_job_tells_its_ways_and_its_copies)
{
    struct node *n = *state;
    add_job(n, "pageable", 10e-3, 8e-3, 1e-3);
    assert_answered(n,
                    "From pageable memory, this job takes 10.0 ms, and copies are 90 % of that.");
    assert_advised(n, "XB-JOB", "");
    add_job(n, "overlapped", 2e-3, 1e-3, 1e-3);
    assert_answered(n, "Overlapped, this job takes 2.00 ms. From pageable memory it takes 10.0 ms, "
                       "and copies are 90 % of that.");
    assert_advised(n, "XB-JOB",
                   "Overlap copies and kernels of this job, cudaMemcpyAsync() in chunks "
                   "on several streams, from and to pinned memory: 2.00 ms instead of 10.0 ms.");
    add_job(n, "pinned", 4e-3, 2e-3, 1e-3);
    assert_advised(
        n, "XB-JOB",
        "Pin the buffers of this job, cudaHostRegister(): 4.00 ms instead of "
        "10.0 ms. Overlap copies and kernels of this job, cudaMemcpyAsync() in "
        "chunks on several streams, from and to pinned memory: 2.00 ms instead of 10.0 ms.");
    assert_number(n, "XB-JOB", "copies_share", 0.9);
    add_job(n, "newer", 1e-3, 1e-3, 1e-3); /* a way that this build does not know */
    assert_answered(n, "Overlapped, this job takes 2.00 ms. From pageable memory it takes 10.0 ms, "
                       "and copies are 90 % of that.");
}

NODE_TEST(of_unknown_ways_alone_a_job_says_nothing)
{
    struct node *n = *state;
    add_job(n, "newer", 1e-3, 1e-3, 1e-3);
    assert_answered(n, "Least time at 64 KiB: job newer, 1.00 ms both ways.");
}

NODE_TEST(what_is_slow_though_it_overlaps_is_not_told_to_be_pinned)
{
    struct node *n = *state;
    add_job(n, "overlapped", 10e-3, 8e-3, 1e-3);
    add_job(n, "pinned", 4e-3, 2e-3, 1e-3);
    assert_advised(n, "XB-JOB", "");
}

/* ---- files ---- */

static struct xb_result *add_file(struct node *n, const char *order, double gigabytes, double read)
{
    static const char *const words[] = {"cached", "direct", NULL};
    static const struct xb_option io = {.name = "io", .type = XB_OPTION_CHOICES, .choices = words};
    struct xb_result *row = add(n, &xb_mode_pipeline, order, XB_H2D, gigabytes);
    row->test.settings[0] = (struct xb_setting){.option = &io, .word = "cached"};
    row->test.setting_count = 1;
    add_figure(row, xb_figure_find("rate_read"), read * 1e9);
    add_figure(row, xb_figure_find("rate_in"), 55e9);
    set_figure(row, "share_of_bound", gigabytes / read);
    xb_result_detail_number(row, "compute_steps", 4);
    return row;
}

NODE_TEST(a_file_tells_its_limit_and_what_overlap_gives)
{
    struct node *n = *state;
    add_file(n, "overlapped", 9.5, 10);
    assert_answered(n, "From file to GPU: 9.5 GB/s (pipeline overlapped). Reading is the limit: "
                       "10.0 GB/s alone. The whole reaches 95 % of that.");
    assert_advised(n, "XB-DISK",
                   "Read with more threads (PyTorch: num_workers) or from faster storage: reading "
                   "is the limit.");
    add_file(n, "serial", 5, 10);
    assert_said(
        n, "from disk",
        "From file to GPU: 9.5 GB/s (pipeline overlapped). Reading is the limit: 10.0 GB/s alone. "
        "The whole reaches 95 % of that. It is 1.9 times as fast as one step after the other.");
    assert_advised(
        n, "XB-DISK",
        "Read, copy and compute at the same time: 1.9 times as fast as one step after the other "
        "here. Threads read into pinned buffers (PyTorch: num_workers, pin_memory=True), "
        "cudaMemcpyAsync() sends them on another stream.");
}

/* A loader whose chunks took that long, the last two thrice as long. */
static struct xb_result *add_loader(struct node *n, double gigabytes, const char *who,
                                    uint64_t buffers, size_t chunks, double time)
{
    static const char *const words[] = {"threads", "processes", NULL};
    static const struct xb_option options[] = {
        {.name = "buffers", .type = XB_OPTION_COUNT},
        {.name = "read-by", .type = XB_OPTION_CHOICES, .choices = words},
        {.name = "batch-files", .type = XB_OPTION_COUNT}};
    struct xb_result *row = add_file(n, "overlapped", gigabytes, 60);
    struct xb_error error;
    row->test.settings[1] = (struct xb_setting){.option = &options[0], .count = buffers};
    row->test.settings[2] = (struct xb_setting){.option = &options[1], .word = who};
    row->test.settings[3] = (struct xb_setting){.option = &options[2], .count = 0};
    row->test.setting_count = 4;
    for (size_t i = 0; i < chunks; i++)
        assert_int_equal(xb_result_sample(row, xb_figure_find("batch_time"),
                                          i + 2 < chunks ? time : 3 * time, &error),
                         XB_OK);
    return row;
}

NODE_TEST(a_loader_tells_of_chunks_processes_and_epochs)
{
    struct node *n = *state;
    struct xb_result *best = add_loader(n, 50, "threads", 2, 100, 1e-3);
    assert_said(n, "epochs", "");
    set_times(best, 1e-3, 100e-3);
    add_figure(best, xb_figure_find("loaded_epoch_time"), 10e-3);
    add_loader(n, 49, "threads", 4, 99, 2e-3); /* too few for a P99 */
    struct xb_result *slower = add_loader(n, 25, "processes", 2, 100, 9e-3);
    assert_said(
        n, "batch time",
        "A chunk is done 1.00 ms after its first read with 2 buffers (P99 3.00 ms), 2.00 ms "
        "with 4.");
    assert_number(n, "XB-BATCH-TIME", "batch_time_4", 2e-3);
    assert_said(n, "read by",
                "Read by processes, with a copy to pinned memory, it is 50 % as fast as by "
                "threads.");
    assert_said(n, "epochs",
                "Ten epochs take 1.00 s if each streams the data, 190 ms if the GPU's memory, in "
                "which it fits, keeps it.");
    assert_advised(n, "XB-EPOCHS",
                   "Load the data once and keep it on the GPU: ten epochs 5.3 times as fast.");
    slower->details[0].value = "5"; /* steps: another kernel */
    assert_said(n, "read by", "");
}
