/* SPDX-License-Identifier: Apache-2.0 */
/* The answer of a run, in one or two sentences, and what is said of small sizes. */
#include "reading_fixture.h"

#include <stdlib.h>

#include "testing.h"

#define KIB ((uint64_t)1 << 10)

static struct xb_result *add_small(struct node *n, const struct xb_mode *mode, const char *variant,
                                   enum xb_direction direction, uint64_t bytes, double submit,
                                   double wall)
{
    struct xb_result *row = add(n, mode, variant, direction, 1);
    set_size(row, bytes, 1);
    set_times(row, submit, wall);
    return row;
}

NODE_TEST(the_fastest_stands_beside_pageable_memory)
{
    struct node *n = *state;
    assert_answered(n, "");
    add(n, &pinned, "registered", XB_H2D, 55.3);
    assert_answered(n, "Pinned: 55.3 GB/s to the GPU.");
    struct xb_result *back = add(n, &pinned, "registered", XB_D2H, 54.4);
    assert_answered(n, "Pinned: 55.3 GB/s to the GPU and 54.4 back.");
    add(n, &pageable, "driver", XB_H2D, 7.7);
    add(n, &pageable, "driver", XB_D2H, 16.4);
    assert_answered(n, "Fastest: pinned, 55.3 GB/s to the GPU and 54.4 back. Pageable memory: 7.7 "
                       "and 16.4.");
    n->devices[0].link = (struct xb_pcie_link){true, 32, 16, 32, 16, "0000:0f:00.0"};
    set_ceiling(&n->devices[0]);
    assert_answered(n, "Fastest: pinned, 55.3 GB/s to the GPU and 54.4 back, 95 % of the link. "
                       "Pageable memory: 7.7 and 16.4.");
    set_bandwidth(back, 16);
    n->run.device_count = 2;
    assert_answered(n,
                    "Fastest on GPU 0: pinned, 55.3 GB/s to the GPU; pageable, 16.4 back, 95 % of "
                    "the link.");
}

NODE_TEST(other_cases_are_told_by_their_rate)
{
    static const double rates[] = {50, 51, 52, 50};
    static const double shares[] = {0.99, 0.98, 1, 0.97};
    struct node *n = *state;
    add(n, &async, "registered", XB_BIDIR, 98.5);
    assert_answered(n, "Async: 98.5 GB/s both ways.");
    n->run.device_count = NODE_DEVICES;
    add_together(n, XB_H2D, 203, rates, shares);
    assert_answered(n,
                    "Pinned allocated moves 203 GB/s to 4 GPUs at once. Each GPU keeps its speed: "
                    "97 % (GPU 3) to 100 % (GPU 2) of what it reaches alone.");
    assert_true(find_statement(n, "XB-ALL-AT-ONCE").is_fine);
}

/* One line says so where nothing else can be said. */
NODE_TEST(why_there_is_no_answer)
{
    struct node *n = *state;
    spoil(add(n, &pinned, "alloc", XB_H2D, 50), XB_RESULT_ERROR, "wrong");
    spoil(add(n, &peer, "staged", XB_D2D, 50), XB_RESULT_SKIPPED, "one device");
    add(n, &pageable, "driver", XB_H2D, 5)->row.verified = XB_VERIFIED_UNKNOWN;
    add(n, &pageable, "driver", XB_D2H, 5)->stop_reason = XB_STOP_DEADLINE;
    assert_answered(n,
                    "No answer: 1 skipped, 1 failed, 2 cut short or not verified, of 4 results.");
}

NODE_TEST(single_operations_have_a_cost)
{
    struct node *n = *state;
    set_latency(add(n, &pinned, "alloc", XB_H2D, 50), 6.2e-6, 3e-6);
    set_latency(add(n, &pageable, "driver", XB_D2H, 5), 8e-6, 3e-6);
    set_ceiling(&n->devices[0]);
    for (size_t i = 0; i < 2; i++)
        n->results[i].test.bytes = n->results[i].bytes_moved = 4;
    assert_answered(n,
                    "Fixed cost of a copy at 4 B: pinned allocated, 6.20 us to the GPU; pageable, "
                    "8.00 us back. From about 352 KiB on the bytes take longer.");
}

/* Of copies below 16 MiB the whole time counts. */
NODE_TEST(no_size_is_too_small)
{
    struct node *n = *state;
    struct xb_result *slow = add_small(n, &pageable, "driver", XB_H2D, 16 * KIB, 4e-6, 10.8e-6);
    add_small(n, &pageable, "driver", XB_D2H, 16 * KIB, 10e-6, 16e-6);
    add_small(n, &pinned, "registered", XB_H2D, 16 * KIB, 2e-6, 9e-6);
    add_small(n, &pinned, "registered", XB_D2H, 16 * KIB, 2e-6, 8e-6);
    add_small(n, &managed, "fault", XB_H2D, 16 * KIB, 2e-6, 40e-6);
    assert_answered(n, "Fastest at 16 KiB: pinned, 9.00 us to the GPU and 8.00 us back. Pageable "
                       "memory: 10.8 us and 16.0 us.");
    assert_said(n, "pinning",
                "Pinned is 1.2 times as fast as pageable to the GPU and 2.0 times back, from the "
                "call until it is done.");
    assert_number(n, "XB-PINNING", "pinned_wall_time_d2h", 8e-6);
    assert_true(find_statement(n, "XB-PINNING").gain == 2);
    assert_said(n, "blocking",
                "To the GPU, a pageable copy blocks the calling thread for 37 % of its time; a "
                "pinned one blocks the calling thread for 22 % of its time.");
    assert_said(n, "slow",
                "Managed on faults reaches 22 % of pinned to the GPU, from the call until it is "
                "done.");
    assert_number(n, "XB-SLOW-H2D", "bandwidth", 16384 / 40e-6);
    assert_false(find_statement(n, "XB-PINNING").is_untold);
    slow->wall_times.values[0] = 1e-6; /* one way is certain still */
    assert_said(n, "pinning",
                "The samples cannot tell pinned from pageable to the GPU. Pinned is 2.0 times as "
                "fast as pageable back to the host, from the call until it is done.");
    assert_false(find_statement(n, "XB-PINNING").is_untold);
    n->results[1].wall_times.values[0] = 1e-6;
    assert_true(find_statement(n, "XB-PINNING").is_untold);
    assert_advised(n, "XB-PINNING", "");
}

/* A way that is slow both ways is told once, if both are told of one size. */
NODE_TEST(what_is_slow_both_ways_is_told_once)
{
    struct node *n = *state;
    struct xb_result *pageable_back = add(n, &pageable, "driver", XB_D2H, 10);
    add(n, &pageable, "driver", XB_H2D, 10);
    add(n, &pinned, "registered", XB_H2D, 50);
    add(n, &async, "registered", XB_D2H, 50);
    for (unsigned d = XB_H2D; d <= XB_D2H; d++) {
        add_small(n, &pageable, "driver", (enum xb_direction)d, 16 * KIB, 1e-6, 40e-6);
        add_small(n, &pinned, "registered", (enum xb_direction)d, 16 * KIB, 1e-6, 10e-6);
    }
    assert_said(n, "slow",
                "256 MiB: Pageable reaches 20 % of pinned to the GPU and 20 % of async back.");
    assert_true(find_statement(n, "XB-SLOW-D2H").is_repeated);
    set_bandwidth(pageable_back, 30); /* then only at the smaller size */
    assert_said(
        n, "slow",
        "256 MiB: Pageable reaches 20 % of pinned to the GPU.\n16 KiB: Pageable reaches 25 % "
        "of pinned back to the host, from the call until it is done.");
}

NODE_TEST(a_sweep_says_from_which_size_on)
{
    static const double shares[] = {0.3, 0.92, 0.5, 0.91, 0.95};
    struct node *n = *state;
    for (size_t i = 0; i < 5; i++) {
        uint64_t bytes = MIB << i;
        add_small(n, &pageable, "driver", XB_H2D, bytes, shares[i] * 1e-3, 1e-3);
        add_small(n, &pinned, "alloc", XB_H2D, bytes, 1e-6,
                  (double)bytes / (10e9 + 1e9 * (double)i));
    }
    set_bandwidth(&n->results[8], 10);
    set_bandwidth(&n->results[9], 14.5);
    set_times(&n->results[8], 0.95e-3, 1e-3);
    set_times(&n->results[9], 1e-6, 16 * MIB / 14e9);
    assert_said(
        n, "blocks from",
        "To the GPU, a pageable copy blocks the calling thread for 30 % of its time at 1 MiB, "
        "and for 90 % or more from 8 MiB on.");
    assert_number(n, "XB-BLOCKING-FROM", "from", 8 * MIB);
    assert_rests_on(n, "XB-BLOCKING-FROM", 2);
    assert_answered(n, "Fastest at 16 MiB: pinned allocated, 14.5 GB/s to the GPU. A whole copy "
                       "reaches 90 % of that from 16 MiB on.");
    set_bandwidth(&n->results[9], 14);
    set_times(&n->results[9], 1e-6, 16 * MIB / 14e9);
    assert_answered(n, "Fastest at 16 MiB: pinned allocated, 14.0 GB/s to the GPU. A whole copy "
                       "reaches 90 % of that from 8 MiB on.");
    set_times(&n->results[9], 1e-6, 16 * MIB / 10e9); /* not even the largest reaches it */
    assert_answered(n, "Fastest at 16 MiB: pinned allocated, 14.0 GB/s to the GPU.");
    for (size_t i = 0; i < 10; i += 2) /* it blocks at every size */
        set_times(&n->results[i], 0.95e-3, 1e-3);
    assert_said(n, "blocks from", "");
}
