/* SPDX-License-Identifier: Apache-2.0 */
/* What the Reading says of memory that is far from a device. */
#include "reading_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "testing.h"

static struct xb_result *add_node(struct node *n, enum xb_direction direction, unsigned node,
                                  double gigabytes)
{
    struct xb_result *row = add(n, &pinned, "alloc", direction, gigabytes);
    row->test.has_node = true;
    row->test.node = node;
    return row;
}

static void begin(struct node *n, int own)
{
    n->run.device_count = 1;
    n->devices[0].binding = (struct xb_binding){.node = own, .note_is_normal = true};
}

NODE_TEST(the_far_node_has_a_price_each_way)
{
    struct node *n = *state;
    begin(n, 1);
    add_node(n, XB_H2D, 0, 40);
    add_node(n, XB_H2D, 1, 50);
    add_node(n, XB_D2H, 0, 45);
    add_node(n, XB_D2H, 1, 60);
    assert_said(
        n, "NUMA",
        "Memory on NUMA node 0 costs pinned allocated 20 % to the GPU; node 1 is near. Memory on "
        "NUMA node 0 costs pinned allocated 25 % back to the host; node 1 is near.");
}

NODE_TEST(the_farthest_of_several_counts)
{
    struct node *n = *state;
    begin(n, 0);
    add_node(n, XB_D2H, 0, 50);
    add_node(n, XB_D2H, 1, 45);
    add_node(n, XB_D2H, 2, 30);
    add_node(n, XB_D2H, 3, 40);
    assert_said(
        n, "NUMA",
        "Memory on NUMA node 2 costs pinned allocated 40 % back to the host; node 0 is near.");
}

/* Intervals that meet leave it open; so do too few samples for one. */
NODE_TEST(what_the_samples_leave_open_is_not_said)
{
    struct node *n = *state;
    begin(n, 0);
    struct xb_result *near = add_node(n, XB_H2D, 0, 50);
    struct xb_result *far = add_node(n, XB_H2D, 1, 49);
    assert_said(n, "NUMA",
                "Memory on NUMA node 1 costs pinned allocated 2 % to the GPU; node 0 is near.");
    assert_advised(n, "XB-NUMA",
                   "Bind the process to the GPU's NUMA node, or its memory lies far from it: "
                   "numactl --cpunodebind=0 --membind=0");
    set_bandwidth(far, 49.9); /* nothing that anybody would see */
    assert_said(n, "NUMA", "");
    set_bandwidth(far, 49);
    /* Of seven samples the interval is from the least to the most. */
    far->times.values[0] = near->times.values[0];
    assert_said(n, "NUMA", "");
    near->times.count = 5; /* all of one are no longer beyond all of the other */
    assert_said(n, "NUMA", "");
    far->times.values[0] = far->times.values[1];
    assert_said(n, "NUMA",
                "Memory on NUMA node 1 costs pinned allocated 2 % to the GPU; node 0 is near.");
    near->times.count = 1; /* too few, however far apart */
    assert_said(n, "NUMA", "");
}

NODE_TEST(nothing_is_said_without_both_or_without_knowing_which_is_near)
{
    struct node *n = *state;
    begin(n, 0);
    struct xb_result *near = add_node(n, XB_H2D, 0, 50);
    assert_said(n, "NUMA", "");
    struct xb_result *far = add_node(n, XB_H2D, 1, 30);
    begin(n, -1);
    assert_said(n, "NUMA", "");
    begin(n, 1); /* the far one is faster: it costs nothing */
    assert_said(n, "NUMA", "");
    begin(n, 0);
    far->test.bytes /= 2; /* another case */
    far->bytes_moved /= 2;
    assert_said(n, "NUMA", "");
    far->test.bytes *= 2;
    far->bytes_moved *= 2;
    spoil(far, XB_RESULT_ERROR, "elsewhere");
    assert_said(n, "NUMA", "");
    (void)near;
}

/* A row near the device that was not named is not one of a node. */
NODE_TEST(a_row_without_a_node_is_no_partner)
{
    struct node *n = *state;
    begin(n, 0);
    add(n, &pinned, "alloc", XB_H2D, 60);
    add_node(n, XB_H2D, 1, 30);
    assert_said(n, "NUMA", "");
}

/* ---- whatever else is said is said of one node ---- */

static struct xb_result *add_pageable(struct node *n, unsigned node, double gigabytes)
{
    struct xb_result *row = add(n, &pageable, "driver", XB_H2D, gigabytes);
    row->test.has_node = true;
    row->test.node = node;
    return row;
}

/* Of pinned memory node 0 is the fastest, of pageable memory node 1. */
static void add_both_on_both(struct node *n)
{
    add_node(n, XB_H2D, 0, 54);
    add_node(n, XB_H2D, 1, 40);
    add_pageable(n, 0, 6);
    add_pageable(n, 1, 8);
}

NODE_TEST(like_is_compared_with_like_on_the_devices_own_node)
{
    struct node *n = *state;
    begin(n, 1);
    add_both_on_both(n);
    assert_number(n, "XB-PINNING", "ratio_h2d", 5);
    assert_number(n, "XB-SLOW-H2D", "bandwidth", 8e9);
    assert_number(n, "XB-SLOW-H2D", "best_bandwidth", 40e9);
    assert_number(n, "XB-SLOW-H2D", "first_thing_ratio", 5);
    assert_rests_on(n, "XB-PINNING", 2);
    begin(n, 0);
    assert_number(n, "XB-PINNING", "ratio_h2d", 9);
    assert_said(n, "NUMA",
                "Memory on NUMA node 1 costs pinned allocated 26 % to the GPU; node 0 is near.");
}

/* Without knowing which is near, or where that was not measured: near rows, else the first. */
NODE_TEST(else_on_near_rows_and_else_on_the_first_node)
{
    struct node *n = *state;
    static const int own[] = {-1, 2};
    add_both_on_both(n);
    for (size_t i = 0; i < 2; i++) {
        begin(n, own[i]);
        assert_number(n, "XB-PINNING", "ratio_h2d", 9);
    }
    add(n, &pinned, "alloc", XB_H2D, 50);
    add(n, &pageable, "driver", XB_H2D, 10);
    for (size_t i = 0; i < 2; i++) {
        begin(n, own[i]);
        assert_number(n, "XB-PINNING", "ratio_h2d", 5);
    }
}

static const struct xb_mode local = {.name = "local"};

/* What has no host memory lies on no node, and is compared all the same. */
NODE_TEST(a_copy_within_the_device_is_on_every_node)
{
    struct node *n = *state;
    begin(n, 1);
    add(n, &local, "engine", XB_D2D, 2000);
    add_node(n, XB_H2D, 0, 54);
    add_node(n, XB_H2D, 1, 40);
    assert_number(n, "XB-LOCAL", "ratio_to_pinned", 50);
    begin(n, -1);
    assert_number(n, "XB-LOCAL", "ratio_to_pinned", 2000.0 / 54);
}
