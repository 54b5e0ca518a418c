/* SPDX-License-Identifier: Apache-2.0 */
/* What the Reading says to try first, where something is far below its limit. */
#include "reading_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void what_helped_is_said(void **state)
{
    struct node *n = *state;
    add(n, &pinned, "alloc", XB_H2D, 50);
    struct xb_result *fault = add(n, &managed, "fault", XB_H2D, 10);
    assert_said(n, "slow",
                "Host to device, managed fault reaches 10.00 GB/s, 20 % of pinned alloc.");
    add(n, &managed, "prefetch", XB_H2D, 40);
    assert_said(n, "slow",
                "Host to device, managed fault reaches 10.00 GB/s, 20 % of pinned alloc. Try "
                "first: prefetch the pages, 4.00 times as fast.");
    assert_number(n, "XB-SLOW-H2D", "first_thing_ratio", 4);
    assert_rests_on(n, "XB-SLOW-H2D", 3);
    fault->times.count = 5; /* no interval: nobody knows */
    assert_not_read(n, "Try first");
}

/* What was measured at another size or one way only says nothing of this one. */
static void what_was_not_measured_here_is_not_said(void **state)
{
    struct node *n = *state;
    add(n, &pinned, "alloc", XB_D2H, 50);
    add(n, &zero_copy, "random", XB_D2H, 10);
    add(n, &zero_copy, "sequential", XB_H2D, 50);
    set_size(add(n, &zero_copy, "sequential", XB_D2H, 50), 64 * MIB, 50);
    assert_not_read(n, "Try first");
    add(n, &zero_copy, "sequential", XB_D2H, 25);
    assert_read(n,
                "zero-copy random reaches 10.00 GB/s, 20 % of pinned alloc. Try first: access in "
                "order, 2.50 times as fast.\n");
}

static void pageable_memory_of_async(void **state)
{
    struct node *n = *state;
    add(n, &async, "alloc", XB_H2D, 50);
    add(n, &async, "pageable", XB_H2D, 5);
    assert_said(n, "slow",
                "Host to device, async pageable reaches 5.000 GB/s, 10 % of async alloc.");
    add(n, &pinned, "alloc", XB_H2D, 45);
    assert_said(n, "slow",
                "Host to device, async pageable reaches 5.000 GB/s, 10 % of async alloc. Try "
                "first: page-locked memory, 9.00 times as fast.");
}

/* ---- the link ---- */

static void a_link_below_what_it_can_do(void **state)
{
    struct node *n = *state;
    add(n, &pinned, "alloc", XB_H2D, 12);
    n->devices[0].link = (struct xb_pcie_link){true, 8, 16, 32, 16, "0000:0f:00.0"};
    assert_said(n, "slow link", ""); /* seen at rest only: it may have slept */
    set_ceiling(&n->devices[0]);
    n->devices[0].load.hops[0].speed_gts = 8;
    assert_read(n, "  slow link    While data moved the link was Gen3 x16; device and slot can do "
                   "Gen5 x16. Try first: xferbench link. It says why.\n");
    assert_rests_on(n, "XB-SLOW-LINK", 1);
    n->devices[0].info.shares_host_memory = true;
    assert_said(n, "slow link", "");
}

/* Of 58.08 GB/s. */
static void copies_far_below_what_the_link_can_carry(void **state)
{
    struct node *n = *state;
    n->devices[0].link = (struct xb_pcie_link){true, 32, 16, 32, 16, "0000:0f:00.0"};
    set_ceiling(&n->devices[0]);
    struct xb_result *copy = add(n, &pinned, "alloc", XB_H2D, 29.04);
    assert_said(n, "slow link",
                "Host to device, pinned alloc reaches only 50 % of what the link can carry. Try "
                "first: xferbench link. It says why.");
    set_bandwidth(copy, 47); /* 81 % */
    assert_said(n, "slow link", "");
    set_size(add(n, &pinned, "alloc", XB_H2D, 10), 16 * MIB, 10); /* small is slow on any link */
    assert_said(n, "slow link", "");
}

/* Pageable memory is slow on any link. */
static void other_modes_show_nothing_of_the_link(void **state)
{
    struct node *n = *state;
    n->devices[0].link = (struct xb_pcie_link){true, 32, 16, 32, 16, "0000:0f:00.0"};
    set_ceiling(&n->devices[0]);
    add(n, &pageable, "driver", XB_H2D, 8);
    assert_said(n, "slow link", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        NODE_TEST(what_helped_is_said),
        NODE_TEST(what_was_not_measured_here_is_not_said),
        NODE_TEST(pageable_memory_of_async),
        NODE_TEST(a_link_below_what_it_can_do),
        NODE_TEST(copies_far_below_what_the_link_can_carry),
        NODE_TEST(other_modes_show_nothing_of_the_link),
    };
    return cmocka_run_group_tests_name("reading_first_thing", tests, NULL, NULL);
}
