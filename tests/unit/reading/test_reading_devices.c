/* SPDX-License-Identifier: Apache-2.0 */
/* What the Reading says of memory by loads, of pairs, and of devices at the same time. */
#include "reading_fixture.h"

#include "record/mode_list.h"

#include <stdlib.h>
#include <string.h>

#include "testing.h"

static struct xb_result *add_loads(struct node *n, const char *variant, enum xb_direction direction,
                                   double seconds)
{
    const struct xb_mode *loads = xb_mode_find("loads");
    struct xb_result *row = add_latency(n, loads, direction);
    row->test.variant = variant;
    row->test.bytes = 2 * MIB;
    add_figure(row, loads->latency, seconds);
    return row;
}

/* Of however little memory, in the first order that has both. */
NODE_TEST(reading_of_loads)
{
    struct node *n = *state;
    add_loads(n, "random", XB_H2D, 1.5e-6);
    add_loads(n, "random", XB_D2D, 0.5e-6);
    add_loads(n, "sequential", XB_H2D, 1.175e-6);
    assert_said(n, "loads",
                "A load takes 500 ns from the GPU's own memory and 1.50 us from the host's.");
    struct xb_result *own = add_loads(n, "sequential", XB_D2D, 235e-9);
    assert_said(n, "loads",
                "A load takes 235 ns from the GPU's own memory and 1.18 us from the host's.");
    assert_answered(n,
                    "A load takes 235 ns from the GPU's own memory and 1.18 us from the host's.");
    n->devices[0].info.shares_host_memory = true;
    assert_said(n, "loads", "");
    n->devices[0].info.shares_host_memory = false;
    add(n, &pinned, "alloc", XB_H2D, 50);
    assert_said(
        n, "loads",
        "2 MiB: A load takes 235 ns from the GPU's own memory and 1.18 us from the host's.");
    spoil(own, XB_RESULT_ERROR, "wrong");
    assert_said(
        n, "loads",
        "2 MiB: A load takes 500 ns from the GPU's own memory and 1.50 us from the host's.");
}

/* The reader of a pair is the second device. */
NODE_TEST(reading_of_loads_from_peers)
{
    struct node *n = *state;
    const struct xb_mode *mode = xb_mode_find("peer-loads");
    n->run.device_count = 3;
    for (unsigned from = 0; from < 3; from++) {
        struct xb_result *row = add_latency(n, mode, XB_D2D);
        row->test.variant = "sequential";
        row->test.bytes = 2 * MIB;
        row->test.device = from;
        row->test.peer = from == 0 ? 1 : 0;
        add_figure(row, mode->latency, 800e-9 + 100e-9 * from);
    }
    assert_said(n, "loads", "");
    assert_answered(n, "A load from another GPU's memory takes 900 ns (median of 3 pairs).");
    add_loads(n, "sequential", XB_D2D, 200e-9);
    assert_said(n, "loads",
                "GPU 0: A load takes 200 ns from the GPU's own memory and 950 ns from another "
                "GPU's (median of 2).");
    add_loads(n, "sequential", XB_H2D, 1e-6);
    add_loads(n, "sequential", XB_D2D, 200e-9)->test.device = 1;
    assert_said(n, "loads",
                "GPU 0: A load takes 200 ns from the GPU's own memory, 1.00 us from the host's and "
                "950 ns from another GPU's (median of 2).\nGPU 1: A load takes 200 ns from the "
                "GPU's own memory and 800 ns from another GPU's.");
}

#define ONE_WAY "One way, direct copies are 10 times as fast as copies through the host"

NODE_TEST(reading_of_pairs)
{
    struct node *n = *state;
    n->run.device_count = 3;
    add_pair(n, "direct-read", XB_D2D, 0, 1, 390);
    add_pair(n, "direct-write", XB_D2D, 0, 1, 400);
    assert_said(n, "peer", "");
    assert_answered(n, "Directly, a pair of GPUs copies 400 GB/s one way.");
    add_pair(n, "staged", XB_D2D, 0, 1, 40);
    assert_said(n, "peer", ONE_WAY ".");
    assert_advised(n, "XB-PEER-DIRECT",
                   "Copy from GPU to GPU directly, 10 times as fast as through the host one way: "
                   "cudaDeviceEnablePeerAccess() once a pair, then "
                   "cudaMemcpyPeerAsync().");
    add_pair(n, "direct-read", XB_D2D, 1, 0, 390);
    add_pair(n, "staged", XB_D2D, 1, 0, 30); /* 13 */
    add_pair(n, "direct-read", XB_D2D, 0, 2, 380);
    add_pair(n, "staged", XB_D2D, 0, 2, 40); /* 9.5 */
    add_pair(n, "staged", XB_D2D, 2, 0, 1);  /* has no direct one */
    spoil(add_pair(n, "direct-read", XB_D2D, 2, 0, 500), XB_RESULT_ERROR, "wrong");
    add_pair(n, "direct-read", XB_BIDIR, 0, 1, 780);
    add_pair(n, "staged", XB_BIDIR, 0, 1, 78);
    assert_said(n, "peer",
                ONE_WAY " (median of 3 pairs).\nBoth ways, direct "
                        "copies are 10 times as fast as copies through the host.");
    assert_answered(
        n, "Directly, a pair of GPUs copies 390 GB/s one way and 780 GB/s both ways together.");
}

NODE_TEST(small_copies_of_pairs_go_by_their_whole_time)
{
    struct node *n = *state;
    n->run.device_count = 2;
    struct xb_result *direct = add_pair(n, "direct-read", XB_D2D, 0, 1, 40);
    struct xb_result *staged = add_pair(n, "staged", XB_D2D, 0, 1, 10);
    set_size(direct, 65536, 40);
    set_size(staged, 65536, 10);
    set_times(direct, 5e-6, 10e-6);
    set_times(staged, 5e-6, 20e-6);
    assert_said(n, "peer",
                "One way, direct copies are 2.0 times as fast as copies through the host.");
}

/* One of the pairs is no faster directly. */
NODE_TEST(what_is_not_so_for_every_pair_is_no_advice)
{
    struct node *n = *state;
    n->run.device_count = 3;
    add_pair(n, "direct-read", XB_D2D, 0, 1, 400);
    add_pair(n, "staged", XB_D2D, 0, 1, 40);
    add_pair(n, "direct-read", XB_D2D, 0, 2, 40);
    add_pair(n, "staged", XB_D2D, 0, 2, 40);
    assert_advised(n, "XB-PEER-DIRECT", "");
}

/* Of each pair the best of either way: which copies are direct matters, not what makes them. */
NODE_TEST(reading_of_pairs_by_kernel)
{
    struct node *n = *state;
    n->run.device_count = 2;
    set_by(add_pair(n, "direct-read", XB_D2D, 0, 1, 380), "engine");
    set_by(add_pair(n, "direct-write", XB_D2D, 0, 1, 400), "engine");
    set_by(add_pair(n, "staged", XB_D2D, 0, 1, 40), "engine");
    assert_said(n, "by kernel", "");
    set_by(add_pair(n, "staged", XB_D2D, 0, 1, 20), "kernel");
    assert_said(n, "by kernel", "");
    set_by(add_pair(n, "direct-read", XB_D2D, 0, 1, 360), "kernel");
    set_by(add_pair(n, "direct-write", XB_D2D, 0, 1, 390), "kernel");
    assert_said(n, "peer", ONE_WAY ".");
    add_pair(n, "direct-read", XB_BIDIR, 0, 1, 800); /* of a file without the parameter */
    set_by(add_pair(n, "direct-read", XB_BIDIR, 0, 1, 880), "kernel");
    assert_said(
        n, "by kernel",
        "One way, direct copies by a kernel are 98 % as fast as those by copy engine.\nBoth ways, "
        "direct copies by a kernel are 1.1 times as fast as those by copy engine.");
}

NODE_TEST(reading_of_devices_together)
{
    static const double rates[] = {41, 42, 41.5, 42};
    static const double shares[] = {0.76, 0.74, 0, 0.74};
    struct node *n = *state;
    n->run.device_count = NODE_DEVICES;
    add_together(n, XB_H2D, 166.5, rates, shares);
    /* of another direction, and in a file nothing says that they have a sum */
    for (unsigned i = 0; i < NODE_DEVICES; i++) {
        struct xb_result *other = add(n, &pinned, "alloc", XB_D2H, 50);
        other->test.simultaneous = true;
        other->test.device = i;
    }
    assert_read(
        n, "  all at once  Pinned allocated moves 166 GB/s to 4 GPUs at once. Each GPU keeps 74 % "
           "(GPU 1) to 76 % (GPU 0) of what it reaches alone, as far as that was measured.\n");
    add(n, &pinned, "alloc", XB_H2D, 100)->test.device = 1; /* slow is said of those alone */
    assert_not_read(n, "slow");
    set_figure(&n->results[0], "overlap", 0);
    set_figure(&n->results[3], "share_of_alone", 0.5);
    assert_read(n, "to 4 GPUs at once. Each GPU keeps 50 % (GPU 2) to 76 % (GPU 0) of what it "
                   "reaches alone.\n");
    spoil(&n->results[2], XB_RESULT_ERROR, "wrong");
    assert_not_read(n, "all at once");
}

NODE_TEST(larger_groups_speak_for_smaller_ones)
{
    static const double rates[] = {41, 42, 41.5, 42};
    static const double shares[] = {0.76, 0.74, 0.75, 0.74};
    struct node *n = *state;
    n->run.device_count = NODE_DEVICES;
    add_together(n, XB_H2D, 150, rates, shares);
    for (size_t i = 0; i <= NODE_DEVICES; i++) {
        n->results[i].test.bytes /= 4;
        n->results[i].bytes_moved /= 4;
    }
    set_bandwidth(&n->results[0], 150);
    assert_read(n, "  all at once  Pinned allocated moves 150 GB/s to 4 GPUs");
    add_together(n, XB_H2D, 166.5, rates, shares);
    assert_read(n, "  all at once  256 MiB: Pinned allocated moves 166 GB/s to 4 GPUs");
    assert_not_read(n, "150.0 GB/s");
}

NODE_TEST(reading_of_groups_of_pairs)
{
    struct node *n = *state;
    n->run.device_count = 3;
    add_pair(n, "direct-read", XB_D2D, 0, 1, 400);
    add_group(n, "direct-read", XB_GROUP_ONE_TO_ALL, 0, 390, 195, 0.49);
    assert_read(n, "  one to all   One GPU sends 390 GB/s to 2 others together (peer direct read). "
                   "Each pair gets 49 % of what it gets alone.\n");
    assert_not_read(n, "all to one");
    assert_not_read(n, "all at once");
    /* The fastest way is told, by the median of its groups. */
    add_group(n, "direct-write", XB_GROUP_ONE_TO_ALL, 0, 700, 350, 0);
    add_group(n, "direct-read", XB_GROUP_ONE_TO_ALL, 1, 396, 198, 0.51);
    add_group(n, "direct-write", XB_GROUP_ONE_TO_ALL, 1, 100, 50, 0);
    add_group(n, "direct-write", XB_GROUP_ONE_TO_ALL, 2, 100, 50, 0);
    assert_read(n, "  one to all   One GPU sends 393 GB/s to 2 others together (peer direct read; "
                   "the median of 2, 390 to 396). Each pair gets 50 % of");
    add_group(n, "direct-write", XB_GROUP_ALL_TO_ONE, 2, 380, 190, 0);
    assert_read(n,
                "  all to one   2 GPUs send 380 GB/s to another together (peer direct write).\n");
    assert_read(n, "  one to all   One GPU sends 393 GB/s");
    spoil(&n->results[n->run.case_count - 1], XB_RESULT_ERROR, "wrong");
    assert_not_read(n, "all to one");
}
