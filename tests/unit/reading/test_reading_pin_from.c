/* SPDX-License-Identifier: Apache-2.0 */
/* What the Reading says of the size from which page-locking pays, and of a ring in its place. */
#include "reading_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "testing.h"

#define KIB ((uint64_t)1024)

/* A row whose bandwidth says something else than one copy alone, which moves so many GB/s. */
static void set_alone(struct xb_result *row, uint64_t bytes, double gigabytes)
{
    double seconds = (double)bytes / (gigabytes * 1e9);
    set_size(row, bytes, row->test.mode == &pinned ? 50 : 10);
    set_times(row, seconds, seconds);
}

/* Both ways at a size, host to device. */
static struct xb_result *add_size(struct node *n, uint64_t bytes, double slow, double fast)
{
    struct xb_result *pageable_row = add(n, &pageable, "driver", XB_H2D, 1);
    set_alone(pageable_row, bytes, slow);
    set_alone(add(n, &pinned, "registered", XB_H2D, 1), bytes, fast);
    return pageable_row;
}

/* Both have too few samples of one copy alone for an interval. */
static void take_few(struct xb_result *rows)
{
    rows[0].wall_times.count = rows[1].wall_times.count = 3;
}

/* The bandwidth of both, of samples of so many iterations. */
static void set_rates(struct xb_result *rows, double slow, double fast, double iterations)
{
    set_size(&rows[0], rows[0].test.bytes, slow);
    set_size(&rows[1], rows[1].test.bytes, fast);
    take_few(rows);
    for (size_t i = 0; i < 2; i++)
        xb_result_detail_number(&rows[i], "iterations_per_sample", iterations);
}

NODE_TEST(the_smallest_size_from_which_it_pays)
{
    struct node *n = *state;
    add_size(n, 4 * KIB, 2, 1);
    add_size(n, 16 * KIB, 6, 5);
    add_size(n, 64 * KIB, 8, 20);
    add_size(n, 256 * MIB, 9, 54);
    assert_said(n, "pin from",
                "To the GPU, pinning pays from 64 KiB on: 2.5 times as fast there, 6.0 times at "
                "256 MiB. At 16 KiB pageable is 1.2 times as fast.");
    assert_number(n, "XB-PIN-FROM", "from", 65536);
    assert_number(n, "XB-PIN-FROM", "ratio_from", 2.5);
    assert_number(n, "XB-PIN-FROM", "largest", 256 * MIB);
    assert_number(n, "XB-PIN-FROM", "ratio_largest", 6);
    assert_number(n, "XB-PIN-FROM", "below", 16384);
    assert_number(n, "XB-PIN-FROM", "ratio_below", 5.0 / 6.0);
    assert_rests_on(n, "XB-PIN-FROM", 6); /* not of 4 KiB, of which nothing is said */
}

/* What is a little faster in this process need not be so in the next. */
NODE_TEST(a_little_faster_is_not_called_paying)
{
    struct node *n = *state;
    add_size(n, 4 * KIB, 10, 15);
    add_size(n, 16 * KIB, 10, 12);
    add_size(n, 64 * KIB, 10, 12.5);
    assert_said(n, "pin from",
                "To the GPU, pinning pays from 64 KiB on: 1.25 times as fast there. At 16 KiB it "
                "is 1.2 times as fast.");
    assert_number(n, "XB-PIN-FROM", "ratio_below", 1.2);
}

/* A size at which it does not pay is above one at which it would. */
NODE_TEST(what_pays_must_pay_at_every_larger_size)
{
    struct node *n = *state;
    add_size(n, 4 * KIB, 1, 2);
    add_size(n, 64 * KIB, 8, 8);
    add_size(n, 1024 * KIB, 9, 18);
    assert_said(n, "pin from",
                "To the GPU, pinning pays from 1 MiB on: 2.0 times as fast there. At 64 KiB the "
                "difference is within the noise.");
}

NODE_TEST(it_may_pay_everywhere_or_nowhere)
{
    struct node *n = *state;
    struct xb_result *rows[3];
    for (size_t i = 0; i < 3; i++)
        rows[i] = add_size(n, (4 * KIB) << (4 * i), 10, 15);
    assert_said(n, "pin from",
                "To the GPU, pinned memory is faster at every size compared: 1.5 times at 4 KiB, "
                "1.5 times at 1 MiB.");
    assert_rests_on(n, "XB-PIN-FROM", 6);
    set_alone(rows[2], MIB, 15);
    assert_said(n, "pin from",
                "To the GPU, pinning pays at no size compared. At 1 MiB the difference is within "
                "the noise.");
    assert_number(n, "XB-PIN-FROM", "below", 1024.0 * 1024);
    assert_rests_on(n, "XB-PIN-FROM", 2);
}

/* The intervals of 64 KiB meet, however far apart the medians. */
NODE_TEST(noise_is_no_gain)
{
    struct node *n = *state;
    add_size(n, 4 * KIB, 10, 5);
    struct xb_result *noisy = add_size(n, 64 * KIB, 10, 15);
    add_size(n, 256 * KIB, 10, 15);
    noisy->wall_times.values[0] *= 10.0 / 16.0;
    assert_said(n, "pin from",
                "To the GPU, pinning pays from 256 KiB on: 1.5 times as fast there. At 64 KiB the "
                "difference is within the noise.");
}

NODE_TEST(two_sizes_are_too_few)
{
    struct node *n = *state;
    add_size(n, 4 * KIB, 2, 1);
    add_size(n, 64 * KIB, 8, 20);
    struct xb_result *third = add_size(n, 256 * MIB, 9, 54);
    assert_read(n, "pinning pays from 64 KiB on");
    take_few(third); /* no interval */
    assert_said(n, "pin from", "");
    third[0].wall_times.count = third[1].wall_times.count = 7;
    assert_read(n, "pinning pays from 64 KiB on");
    third->row.verified = XB_VERIFIED_FALSE;
    assert_said(n, "pin from", "");
}

NODE_TEST(each_direction_is_a_statement)
{
    struct node *n = *state;
    n->run.device_count = 2;
    for (size_t i = 0; i < 3; i++)
        for (size_t way = 0; way < 2; way++) {
            struct xb_result *row = add_size(n, (4 * KIB) << (4 * i), 10, 15);
            if (way == 1)
                row[0].test.direction = row[1].test.direction = XB_D2H;
        }
    assert_said(n, "pin from",
                "GPU 0: To the GPU, pinned memory is faster at every size compared: 1.5 times at 4 "
                "KiB, 1.5 times at 1 MiB.\nGPU 0: Back to the host, pinned memory is faster at "
                "every size compared: 1.5 times at 4 KiB, 1.5 times at 1 MiB.");
}

/* Long copies have few samples of one copy alone: their own samples are one copy each. */
NODE_TEST(a_long_copy_is_judged_by_its_own_time)
{
    struct node *n = *state;
    add_size(n, 4 * KIB, 10, 15);
    add_size(n, 64 * KIB, 10, 20);
    struct xb_result *rows = add_size(n, 256 * MIB, 10, 10);
    set_rates(rows, 10, 60, 1);
    assert_said(n, "pin from",
                "To the GPU, pinned memory is faster at every size compared: 1.5 times at 4 KiB, "
                "6.0 times at 256 MiB.");
    rows[0].device_timer = false; /* like with like only */
    assert_said(n, "pin from", "");
}

/* Older files have three samples of one copy alone: a small copy, of which a sample holds many, is
 * not spoken of, and nothing is said of it. */
NODE_TEST(a_size_that_cannot_be_compared_is_left_out)
{
    struct node *n = *state;
    add_size(n, 4 * KIB, 10, 20); /* below it nothing counts */
    set_rates(add_size(n, 64 * KIB, 10, 20), 10, 40, 7);
    for (size_t i = 0; i < 3; i++)
        set_rates(add_size(n, (64 * MIB) << i, 10, 60), 10, 50, 1);
    assert_said(n, "pin from",
                "To the GPU, pinned memory is faster at every size compared: 5.0 times at 64 MiB, "
                "5.0 times at 256 MiB.");
    assert_rests_on(n, "XB-PIN-FROM", 6);
}

/* ---- a ring ---- */

/* Beside what the driver does, and beside what it spares. A ring is nobody's pageable copy. */
NODE_TEST(a_ring_stands_beside_driver_and_pinned)
{
    struct node *n = *state;
    set_times(add(n, &pageable, "driver", XB_H2D, 8), 0.032, 0.032);
    add(n, &pageable, "ring", XB_H2D, 48);
    assert_said(n, "ring", "Pageable by a ring is 6.0 times as fast as pageable to the GPU.");
    assert_number(n, "XB-RING", "ring_bandwidth_h2d", 48e9);
    assert_number(n, "XB-RING", "driver_bandwidth_h2d", 8e9);
    assert_number(n, "XB-RING", "ratio_h2d", 6);
    assert_advised(n, "XB-RING",
                   "Memory that cannot be pinned: let threads copy it through a small pinned ring, "
                   "6.0 times as fast to the GPU. How: --help pageable");
    assert_rests_on(n, "XB-RING", 2);
    assert_not_read(n, "pinning");
    struct xb_result *fast = add(n, &pinned, "registered", XB_H2D, 50);
    set_times(fast, 1e-6, 5e-3);
    assert_said(n, "ring",
                "Pageable by a ring is 6.0 times as fast as pageable to the GPU.\nPageable by a "
                "ring is 96 % as fast as pinned to the GPU.");
    assert_number(n, "XB-PINNING", "ratio_h2d", 6.25); /* by the driver's */
    assert_number(n, "XB-BLOCKING", "pageable_blocked_share", 1);
    assert_number(n, "XB-SLOW-H2D", "first_thing_ratio", 6.25); /* pinning, before any ring */
    n->results[1].device_timer = false;
    assert_read(n, "The host's clock timed pageable by a ring, and the GPU's the other.\n");
}

NODE_TEST(without_the_drivers_way_a_ring_is_compared_with_nothing)
{
    struct node *n = *state;
    add(n, &pageable, "ring", XB_H2D, 48);
    add(n, &pinned, "registered", XB_H2D, 50);
    assert_not_read(n, "ring");
    assert_not_read(n, "pinning");
}

/* The CPU time of the calls, and memory besides the data. */
NODE_TEST(what_a_pageable_copy_costs)
{
    struct node *n = *state;
    struct xb_result *row = add(n, &pageable, "driver", XB_H2D, 8);
    set_times(row, 0.1, 0.1);
    assert_not_read(n, "costs");
    set_computed(row, &xb_figure_cpu_time, 0.15);
    set_computed(row, &xb_figure_peak_host_memory, (double)row->test.bytes);
    assert_said(n, "costs",
                "Pageable copies to the GPU keep 1.5 CPU cores busy while their call lasts, and "
                "the process does not grow meanwhile.");
    set_computed(row, &xb_figure_peak_host_memory, (double)row->test.bytes + (2 << 20));
    assert_said(n, "costs",
                "Pageable copies to the GPU keep 1.5 CPU cores busy while their call lasts, and "
                "the process grows by 2 MiB meanwhile.");
}
