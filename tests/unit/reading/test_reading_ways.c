/* SPDX-License-Identifier: Apache-2.0 */
/* What the Reading says of ways to move data between host and device. */
#include "reading_fixture.h"

#include "record/mode_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

NODE_TEST(reading_of_pinning)
{
    struct node *n = *state;
    struct xb_result *slow = add(n, &pageable, "driver", XB_H2D, 7.5);
    add(n, &pinned, "registered", XB_H2D, 40);
    add(n, &pinned, "alloc", XB_H2D, 54);
    add(n, &pinned, "alloc", XB_D2H, 55);
    assert_read(n,
                "  pinning      Pinned allocated is 7.2 times as fast as pageable to the GPU.\n");
    struct xb_result *other_way = add(n, &pageable, "driver", XB_D2H, 5);
    assert_read(n, "  pinning      Pinned allocated is 7.2 times as fast as pageable to the GPU "
                   "and 11 times back.\n");
    other_way->row.verified = XB_VERIFIED_UNKNOWN;
    slow->test.device = 1;
    n->run.device_count = 2;
    assert_not_read(n, "pinning");
    slow->test.device = 0;
    assert_read(
        n, "  pinning      GPU 0: Pinned allocated is 7.2 times as fast as pageable to the GPU.");
    set_size(slow, 16 * MIB, 7.5);
    assert_not_read(n, "pinning");
    set_size(&n->results[1], 16 * MIB, 40);
    assert_read(
        n, "  pinning      GPU 0, 16 MiB: Pinned is 5.3 times as fast as pageable to the GPU.\n");
    slow->stop_reason = XB_STOP_INTERRUPTED; /* cut short: too few samples to speak of */
    assert_not_read(n, "pinning");
    slow->stop_reason = XB_STOP_CONVERGED;
    set_size(slow, 16 * 1024, 7.5); /* small ones are compared by their whole time */
    set_size(&n->results[1], 16 * 1024, 40);
    set_times(slow, 2e-6, 9e-6);
    set_times(&n->results[1], 2e-6, 6e-6);
    assert_read(n,
                "  pinning      GPU 0, 16 KiB: Pinned is 1.5 times as fast as pageable to the GPU, "
                "from the call until it is done.\n");
    assert_number(n, "XB-PINNING", "pageable_wall_time_h2d", 9e-6);
    slow->wall_times.count = 0;
    assert_not_read(n, "pinning");
}

/* What is not faster is not called so, and figures by two clocks say which is whose. */
NODE_TEST(words_of_a_comparison_follow_its_figures)
{
    struct node *n = *state;
    struct xb_result *first = add(n, &managed, "fault", XB_D2H, 20);
    struct xb_result *second = add(n, &managed, "prefetch", XB_D2H, 20);
    assert_read(
        n,
        "Managed prefetch is as fast as managed on faults back to the host, within the noise.\n");
    set_bandwidth(second, 15);
    assert_read(n, "Managed prefetch is 75 % as fast as managed on faults back to the host.\n");
    first->device_timer = false;
    assert_read(n, " The host's clock timed managed on faults, and the GPU's the other.\n");
    first->device_timer = true;
    second->device_timer = false;
    assert_read(n, " The host's clock timed managed prefetch, and the GPU's the other.\n");
    first->device_timer = false;
    assert_read(n, "as fast as managed on faults back to the host.\n"); /* like with like */
}

/* Of seven samples the interval is from the least to the most. */
NODE_TEST(what_may_be_noise_is_no_difference)
{
    struct node *n = *state;
    struct xb_result *fault = add(n, &managed, "fault", XB_H2D, 20);
    struct xb_result *prefetch = add(n, &managed, "prefetch", XB_H2D, 22);
    assert_read(n, "Managed prefetch is 1.1 times as fast as managed on faults to the GPU.\n");
    prefetch->times.values[0] *= 22.0 / 19.9;
    assert_read(n, "The samples cannot tell managed prefetch from managed on faults to the GPU.\n");
    prefetch->times.count = 5; /* which have no interval: then the medians are all there is */
    assert_read(n, "The samples cannot tell managed prefetch from managed on faults to the GPU.\n");
    set_bandwidth(fault, 20);
    set_bandwidth(prefetch, 20.3); /* less than a machine drifts by */
    assert_number(n, "XB-PREFETCH", "ratio_h2d", 1.015);
    prefetch->times.count = 7;
    assert_read(n,
                "Managed prefetch is as fast as managed on faults to the GPU, within the noise.\n");
}

NODE_TEST(reading_of_managed)
{
    struct node *n = *state;
    add(n, &managed, "fault", XB_H2D, 12.5);
    add(n, &managed, "advise", XB_H2D, 60);
    assert_not_read(n, "  managed");
    add(n, &managed, "prefetch", XB_H2D, 50);
    assert_read(
        n,
        "  managed      Managed prefetch is 4.0 times as fast as managed on faults to the GPU.\n");
}

static struct xb_result *add_set(struct node *n, const struct xb_mode *mode, const char *variant,
                                 enum xb_direction direction, const char *option, const char *word,
                                 double gigabytes)
{
    static const struct xb_option options[] = {{.name = "target", .type = XB_OPTION_CHOICES},
                                               {.name = "call", .type = XB_OPTION_CHOICES},
                                               {.name = "gpu-memory", .type = XB_OPTION_CHOICES}};
    const struct xb_option *found = options;
    while (strcmp(found->name, option) != 0)
        found++;
    struct xb_result *row = add(n, mode, variant, direction, gigabytes);
    row->test.settings[0] = (struct xb_setting){.option = found, .word = word};
    row->test.setting_count = 1;
    return row;
}

static struct xb_result *add_target(struct node *n, const char *variant, const char *state,
                                    double gigabytes)
{
    return add_set(n, &pageable, variant, XB_D2H, "target", state, gigabytes);
}

NODE_TEST(what_first_touch_costs)
{
    struct node *n = *state;
    add_target(n, "driver", "fresh", 2);
    assert_not_read(n, "first touch");
    add_target(n, "driver", "kept", 8);
    add_target(n, "ring", "fresh", 49.5); /* within 2 % */
    add_target(n, "ring", "kept", 50);
    assert_said(n, "first touch",
                "Back to the host, pageable takes 4.0 times as long into memory that was never "
                "touched as into memory that is used again.");
    assert_rests_on(n, "XB-FIRST-TOUCH", 2);
    assert_advised(n, "XB-FIRST-TOUCH",
                   "Copy results into memory that you keep: 4.0 times as fast. In PyTorch "
                   "kept.copy_(tensor), not tensor.cpu().");
}

NODE_TEST(what_making_memory_costs)
{
    struct node *n = *state;
    set_times(add_set(n, &pinned, "registered", XB_H2D, "gpu-memory", "malloc", 5), 1e-3, 0.06);
    assert_not_read(n, "GPU memory");
    set_times(add_set(n, &pinned, "registered", XB_H2D, "gpu-memory", "kept", 55), 3e-6, 0.02);
    set_times(add_set(n, &pinned, "registered", XB_H2D, "gpu-memory", "pool", 54), 9e-6, 0.0201);
    assert_said(n, "GPU memory",
                "To the GPU, pinned takes 3.0 times as long into memory that is allocated for each "
                "copy as into memory that is used again.");
    assert_advised(n, "XB-GPU-MEMORY",
                   "Allocate the GPU's memory once, and use it again: 3.0 times as fast. PyTorch's "
                   "allocator does that.");
}

/* Of the synchronous call, also where it is the faster one; what is said of copies that are
 * asynchronous, or of the engine, is said of these. */
NODE_TEST(what_the_synchronous_call_does)
{
    static const char blocking[] = "To the GPU, a pageable copy blocks the calling thread until "
                                   "it is done; a pinned one returns at once.";
    struct node *n = *state;
    struct xb_result *held = add_set(n, &pageable, "driver", XB_H2D, "call", "sync", 8);
    set_times(held, 0.0348, 0.035);
    set_times(add_set(n, &pageable, "driver", XB_H2D, "call", "async", 7), 0.0349, 0.035);
    set_times(add_set(n, &pinned, "registered", XB_H2D, "call", "sync", 56), 0.0199, 0.02);
    assert_said(n, "call", "");
    assert_said(n, "blocking", "");
    set_times(add_set(n, &pinned, "registered", XB_H2D, "call", "async", 55), 3e-6, 0.02);
    assert_said(n, "call",
                "The synchronous call blocks until it is done, 19.9 ms; the asynchronous one "
                "returns after 3.00 us, and is done after 20.0 ms.");
    assert_said(n, "blocking", blocking);
}

/* Each step that was measured, none that was not; and nothing that crossed no link. */
NODE_TEST(what_is_lost_on_the_way)
{
    struct node *n = *state;
    struct xb_result *fast = add(n, &pinned, "registered", XB_H2D, 55);
    set_times(fast, 1e-6, (double)fast->test.bytes / 54.5e9);
    struct xb_result *slow = add(n, &pageable, "driver", XB_H2D, 9);
    set_times(slow, 1e-3, (double)slow->test.bytes / 8.8e9);
    assert_said(n, "losses", ""); /* the link is not known */
    n->devices[0].link = (struct xb_pcie_link){true, 32, 16, 32, 16, "0000:0f:00.0"};
    assert_said(n, "losses",
                "To the GPU: 63.0 GB/s raw, 55.0 by the copy engine, 54.5 with the calls, 8.8 from "
                "pageable memory.");
    set_ceiling(&n->devices[0]);
    assert_said(n, "losses",
                "To the GPU: 63.0 GB/s raw, 58.1 without packet headers, 55.0 by the copy engine, "
                "54.5 with the calls, 8.8 from pageable memory.");
    assert_rests_on(n, "XB-LOSSES", 2);
    set_bandwidth(fast, 58.2); /* more than the link can carry: that was read wrongly */
    assert_said(n, "losses", "");
    set_bandwidth(fast, 25);
    n->devices[0].path.count = n->devices[0].load.count = 2;
    strcpy(n->devices[0].path.hops[1].lower.bdf, "0000:0e:00.0");
    n->devices[0].load.hops[1] = (struct xb_pcie_seen){.readings = 1, .speed_gts = 16, .width = 16};
    assert_read(n,
                "To the GPU: 31.5 GB/s raw, "); /* that of the narrower link, as the ceiling is */
    fast->device_timer = false;                 /* by no engine's clock */
    assert_said(n, "losses", "");
    fast->device_timer = true;
    static const struct xb_option target = {.name = "target", .type = XB_OPTION_CHOICES};
    slow->test.settings[slow->test.setting_count++] =
        (struct xb_setting){.option = &target, .word = "fresh"};
    assert_said(n, "losses", ""); /* that is no memory which a program keeps */
}

NODE_TEST(what_a_ring_reads_of_the_hosts_memory)
{
    struct node *n = *state;
    struct xb_result *row = add(n, &pageable, "ring", XB_H2D, 50);
    assert_said(n, "host memory", "");
    set_figure(row, "host_memory_rate", 160e9);
    assert_said(n, "host memory",
                "The CPUs near the GPU read the host's memory at 160 GB/s; pageable by a ring to "
                "the GPU reads it at 50.0.");
    assert_rests_on(n, "XB-HOST-MEMORY", 1);
    n->devices[0].info.shares_host_memory = true; /* its end of the copy lies there too */
    assert_said(n, "host memory", "");
}

/* A case that touches so many percent, as fast as said, beside the time that moving all takes. */
static struct xb_result *add_touched(struct node *n, unsigned percent, const char *order,
                                     double gigabytes, double full)
{
    static const struct xb_option touched = {.name = "touched", .type = XB_OPTION_COUNTS};
    static const struct xb_option touch_order = {.name = "touch-order", .type = XB_OPTION_CHOICES};
    struct xb_result *row = add(n, &managed, "fault", XB_H2D, gigabytes);
    row->test.settings[0] = (struct xb_setting){.option = &touched, .count = percent};
    row->test.settings[1] = (struct xb_setting){.option = &touch_order, .word = order};
    row->test.setting_count = 2;
    row->bytes_moved = row->test.bytes / 100 * percent;
    set_bandwidth(row, gigabytes);
    if (full > 0)
        add_figure(row, xb_figure_find("full_copy_time"), full);
    return row;
}

NODE_TEST(a_part_of_managed_memory_beside_all_of_it)
{
    struct node *n = *state;
    struct xb_result *few = add_touched(n, 1, "sequential", 5, 0);
    double piece = (double)few->bytes_moved / 5e9; /* seconds */
    assert_not_read(n, "touched");
    add_touched(n, 2, "sequential", 5, 20 * piece);
    add_touched(n, 10, "sequential", 5, 10.1 * piece); /* within 2 % */
    assert_said(n, "touched",
                "To the GPU, touching 2 % of managed memory is 10 times as fast as moving all of "
                "it first.");
    add_touched(n, 50, "sequential", 5, 20 * piece);
    add_touched(n, 1, "random", 5, 4 * piece);
    assert_said(n, "touched",
                "To the GPU, touching 2 % of managed memory is 10 times as fast as moving all of "
                "it first; 50 % is 40 % as fast.\n"
                "To the GPU, in random order, touching 1 % of managed memory is 4.0 times as fast "
                "as moving all of it first.");
    add(n, &managed, "prefetch", XB_H2D, 50); /* of all of it: a part is no match */
    assert_not_read(n, "Managed prefetch is");
}

/* Seven samples of six placements, at 80, 82, ... 90 GB/s. */
NODE_TEST(reading_of_placements)
{
    struct node *n = *state;
    struct xb_result *both = add(n, &async, "alloc", XB_BIDIR, 90);
    const char *line =
        " The rate depends on where the host's memory lies: 6 places gave 80.0 to 90.0 GB/s.";
    set_figure(both, "overlap", 0.97);
    assert_int_equal(both->times.count, 7);
    for (size_t i = 0; i < 6; i++)
        both->times.values[i] = (double)both->bytes_moved / (80e9 + 2e9 * (double)i);
    assert_not_read(n, "Where the host's memory lies"); /* all of one, as far as anybody knows */
    both->placement_count = 6;
    for (size_t i = 0; i < 6; i++)
        both->placement_samples[i] = i < 5 ? 1 : 2;
    assert_read(n, line);
    both->placement_count = 5; /* too few */
    both->placement_samples[4] = 3;
    assert_not_read(n, "Where the host's memory lies");
}

NODE_TEST(reading_of_both_ways)
{
    struct node *n = *state;
    struct xb_result *both = add(n, &async, "alloc", XB_BIDIR, 91);
    assert_not_read(n, "both ways"); /* nothing says that it is two copies */
    set_figure(both, "overlap", 0.97);
    assert_read(n, "  both ways    Both ways at once, async allocated moves 91.0 GB/s. Both "
                   "directions moved data 97 % of the time.\n"); /* beside nothing */
    add(n, &async, "alloc", XB_H2D, 54);
    add(n, &pinned, "alloc", XB_D2H, 56);
    add(n, &pinned, "alloc", XB_H2D, 55);
    add(n, &managed, "prefetch", XB_H2D, 60); /* no crossing of the link */
    assert_read(n, "1.62 times the best single way (pinned allocated back to the host). Both");
    set_figure(both, "bandwidth_h2d", 42.9e9);
    set_figure(both, "bandwidth_d2h", 51.4e9);
    assert_read(n, "  both ways    Both ways at once, async allocated moves 91.0 GB/s, 1.62 times "
                   "the best single way (pinned allocated back to the host). 42.9 GB/s go to the "
                   "GPU, 51.4 back. Both directions moved data 97 % of the time.\n");
    set_figure(both, "overlap", 0);
    assert_read(n, "42.9 GB/s go to the GPU, 51.4 back.\n"); /* of a zero nothing is said */
    set_figure(both, "overlap", (double)NAN);
    assert_read(n, "42.9 GB/s go to the GPU, 51.4 back.\n");
    both->bytes_moved = 256 * MIB; /* then it is no sum */
    assert_not_read(n, "both ways");
}

NODE_TEST(reading_of_double_buffer)
{
    struct node *n = *state;
    struct xb_result *row = add(n, &double_buffer, "alloc", XB_BIDIR, 30);
    assert_not_read(n, "pipeline");
    set_figure(row, "speed_up", 1.85);
    assert_read(n, "  pipeline     Copies and kernels overlapped are 1.85 times as fast.\n");
    assert_number(n, "XB-OVERLAP", "speed_up", 1.85);
    set_figure(row, "gpu_busy", 0.48);
    set_figure(row, "share_of_bound", 0.93);
    assert_read(n, "as fast. The GPU computed 48 % of the time. Throughput is 93 % of the best "
                   "possible here.\n");
    set_figure(row, "gpu_busy", 1.02); /* noise */
    set_figure(row, "share_of_bound", 1.01);
    assert_read(n, " The GPU computed 100 % of the time. Throughput is 100 % of the best");
    set_figure(row, "gpu_busy", 0);
    set_figure(row, "share_of_bound", (double)NAN);
    assert_read(n, "overlapped are 1.85 times as fast.\n");
    assert_not_read(n, "both ways"); /* what computes is no sum of two copies */
}

/* In a row 60 ms, as a pipeline 24: 36 are hidden. */
NODE_TEST(reading_of_what_overlap_hides)
{
    struct node *n = *state;
    struct xb_result *row = add(n, &double_buffer, "alloc", XB_BIDIR, 30);
    const char *said = "Copies and kernels overlapped are 2.5 times as fast.";
    set_figure(row, "speed_up", 2.5);
    assert_said(n, "pipeline", said);
    set_figure(row, "serial_time", 60e-3);
    assert_read(n, "overlapped take 24.0 ms instead of 60.0 ms: 2.5 times as fast.\n");
    assert_number(n, "XB-OVERLAP", "hidden_time", 36e-3);
    set_figure(row, "in_time", 18e-3);
    set_figure(row, "out_time", 19e-3);
    set_figure(row, "kernel_time", 23e-3);
    assert_read(n,
                "2.5 times as fast.\n"); /* the copies together may take longer than any of these */
    set_figure(row, "copies_time", 22e-3);
    assert_read(n, "2.5 times as fast. The kernels are now the limit: 23.0 ms alone.\n");
    set_figure(row, "copies_time", 23.5e-3);
    assert_read(n, "2.5 times as fast. The copies both ways are now the limit: 23.5 ms alone.\n");
    assert_number(n, "XB-OVERLAP", "slowest_stage_time", 23.5e-3);
    assert_advised(n, "XB-OVERLAP", ""); /* nobody knows how far the time in a row varies */
    set_figure(row, "speed_up", 0.9);    /* it hides nothing */
    assert_read(n, "take 66.7 ms instead of 60.0 ms: 90 % as fast. The copies");
}

NODE_TEST(advice_to_overlap)
{
    struct node *n = *state;
    struct xb_result *row = add(n, &double_buffer, "alloc", XB_BIDIR, 30);
    set_figure(row, "speed_up", 2.5);
    add_figure(row, xb_figure_find("serial_time"), 60e-3);
    assert_advised(n, "XB-OVERLAP",
                   "Overlap copies and kernels: 24.0 ms instead of 60.0 ms with a kernel as long "
                   "as the copies (the best case). cudaMemcpyAsync() in chunks "
                   "on two streams, from and to pinned memory. For your kernel: --mode job");
    assert_answered(
        n, "Copies and kernels overlapped take 24.0 ms instead of 60.0 ms: 2.5 times as fast.");
    struct xb_samples *serial = &row->figures[row->figure_count - 1].samples;
    serial->count = 2;
    assert_true(find_statement(n, "XB-OVERLAP").gain == 2.5);
    serial->count = 1;
    assert_advised(n, "XB-OVERLAP", "");
    serial->count = 7;
    row->times.values[0] *= 3; /* slower than the fastest in a row: not certain */
    assert_advised(n, "XB-OVERLAP", "");
}

NODE_TEST(reading_of_blocking)
{
    struct node *n = *state;
    struct xb_result *held = add(n, &pageable, "driver", XB_H2D, 7.5);
    set_times(held, 0.0349, 0.035);
    add(n, &async, "alloc", XB_H2D, 54); /* 0.1 % */
    assert_read(n, "  blocking     To the GPU, a pageable copy blocks the calling thread until it "
                   "is done; a pinned one returns at once.\n");
    set_times(held, 0.021, 0.035);
    /* pinned goes before async */
    struct xb_result *free_at_once = add(n, &pinned, "alloc", XB_H2D, 50);
    set_times(free_at_once, 1e-4, 5e-3);
    assert_read(n, "a pageable copy blocks the calling thread for 60 % of its time; a pinned one "
                   "blocks the calling thread for 2.0 % of its time.\n");
    free_at_once->wall_times.count = 0;
    assert_not_read(n, "blocking");
}

NODE_TEST(reading_of_blocking_by_one_mode)
{
    struct node *n = *state;
    add(n, &async, "registered", XB_H2D, 54);
    set_times(add(n, &async, "pageable", XB_H2D, 7), 0.035, 0.035);
    assert_read(n, "a pageable copy blocks the calling thread until it is done; a pinned one "
                   "returns at once.\n");
}

/* What a copy to the device does to those to the host. All rates have intervals without width. */
NODE_TEST(reading_after_h2d)
{
    struct node *n = *state;
    const struct xb_figure *after = xb_figure_find("bandwidth_after_h2d");
    const char advice[] = "Give each direction a queue of its own";
    struct xb_result *row = add(n, &pinned, "registered", XB_D2H, 56);
    assert_not_read(n, "after h2d"); /* not measured */
    add_figure(row, after, 48e9);
    assert_read(n, "  after h2d    Right after a copy to the GPU on the same queue, pinned back to "
                   "the host is 86 % as fast (48.0, alone 56.0 GB/s).\n");
    struct xb_samples *samples = &row->figures[row->figure_count - 1].samples;
    samples->values[0] = 57e9; /* of 7 the least and the most are the interval's ends */
    assert_read(n,
                "pinned back to the host is as fast, within the noise (48.0, alone 56.0 GB/s).\n");
    for (size_t i = 0; i < samples->count; i++)
        samples->values[i] = 55.5e9; /* sure, and not worth an advice */
    assert_read(n, "(55.5, alone 56.0 GB/s).\n");
    assert_not_read(n, advice);
    for (size_t i = 0; i < samples->count; i++)
        samples->values[i] = 70e9;
    assert_read(n, "pinned back to the host is 1.25 times as fast (70.0");
    assert_not_read(n, advice);
    samples->count = 5; /* too few for an interval */
    assert_not_read(n, "after h2d");
}

NODE_TEST(reading_of_zero_copy)
{
    struct node *n = *state;
    struct xb_result *row = add(n, &zero_copy, "sequential", XB_H2D, 51);
    assert_not_read(n, "in place"); /* nothing was compared */
    set_figure(row, "explicit_time", 0.006);
    assert_read(n, "  in place     Read in place: copying first is not faster, however often the "
                   "kernel reads the data.\n");
    set_figure(row, "break_even_passes", 0);
    assert_read(n, "  in place     Read in place: copying first is not faster");
    set_figure(row, "break_even_passes", 2);
    assert_read(n, "  in place     Copy first if the kernel reads the data 2 times or more: that "
                   "is faster than reading it in place.\n");
    set_figure(row, "break_even_passes", 1);
    assert_read(n, "  in place     Copy first: faster even if the kernel reads the data only "
                   "once.\n");
    set_figure(row, "break_even_passes", 0.5); /* of two processes one says 1 and one never */
    assert_not_read(n, "in place");
    set_figure(row, "break_even_passes", 1);
    row->test.variant = "strided";
    assert_not_read(n, "in place");
}

NODE_TEST(reading_of_local_copies)
{
    static const struct xb_mode local = {.name = "local"};
    struct node *n = *state;
    struct xb_result *engine = add(n, &local, "engine", XB_D2D, 1800);
    assert_said(n, "local", "");
    struct xb_result *host = add(n, &pinned, "alloc", XB_H2D, 50);
    assert_said(n, "local",
                "A GPU copies 1800 GB/s within its memory, 36 times what pinned allocated brings "
                "from the host.");
    add(n, &local, "kernel", XB_D2D, 2000);
    assert_said(n, "local",
                "A GPU copies 2000 GB/s within its memory, 40 times what pinned allocated brings "
                "from the host; a kernel is 1.1 times as fast as the copy engine.");
    n->devices[0].info.shares_host_memory = true; /* which has no host beside it */
    host->test.mode = &local;
    assert_said(n, "local",
                "A GPU copies 2000 GB/s within its memory; a kernel is 1.1 times as fast as the "
                "copy engine.");
    assert_answered(n, "A GPU copies 2000 GB/s within its memory; a kernel is 1.1 times as fast as "
                       "the copy engine.");
    spoil(engine, XB_RESULT_ERROR, "wrong");
    assert_said(n, "local", "");
}

NODE_TEST(reading_of_slow_ways)
{
    struct node *n = *state;
    add(n, &pinned, "alloc", XB_H2D, 50);
    add(n, &pageable, "driver", XB_H2D, 7.5);
    add(n, &managed, "fault", XB_H2D, 24.99);
    struct xb_result *half = add(n, &zero_copy, "strided", XB_H2D, 25);
    add(n, &pageable, "driver", XB_D2H, 14.8);
    add(n, &double_buffer, "alloc", XB_BIDIR, 1); /* computes as well */
    add(n, &async, "alloc", XB_BIDIR, 200);
    add(n, &zero_copy, "random", XB_H2D, 1)->bytes_moved = 512 * MIB; /* two passes */
    assert_said(n, "slow",
                "Pageable reaches 15 % of pinned allocated to the GPU.\nManaged on faults reaches "
                "50 % of pinned allocated to the GPU.");
    assert_not_read(n, "strided");
    assert_not_read(n, "slow         Device to host");
    add(n, &pinned, "alloc", XB_D2H, 55);
    assert_read(
        n, "  slow         Pageable reaches 15 % of pinned allocated to the GPU and 27 % back.\n");
    set_bandwidth(half, 24.9);
    half->test.device = 1; /* compared with nothing of device 0 */
    n->run.device_count = 2;
    assert_not_read(n, "strided");
}
