/* SPDX-License-Identifier: Apache-2.0 */
/* What the Reading says to try first, where something is far below its limit. */
#include "reading_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "testing.h"

/* Both names: a unit test has no backend. */
#define CALLS                                                                                      \
    "cudaHostRegister() for memory that you have, cudaMallocHost() for new; in PyTorch "           \
    "pin_memory=True and non_blocking=True. "

NODE_TEST(what_helped_is_said)
{
    struct node *n = *state;
    add(n, &pinned, "alloc", XB_H2D, 50);
    struct xb_result *fault = add(n, &managed, "fault", XB_H2D, 10);
    assert_said(n, "slow", "Managed on faults reaches 20 % of pinned allocated to the GPU.");
    add(n, &managed, "prefetch", XB_H2D, 40);
    assert_advised(n, "XB-SLOW-H2D", ""); /* another statement does */
    assert_advised(n, "XB-PREFETCH",
                   "Prefetch managed memory before it is used: 4.0 times as fast to the GPU. "
                   "cudaMemPrefetchAsync() does that.");
    assert_number(n, "XB-SLOW-H2D", "first_thing_ratio", 4);
    assert_rests_on(n, "XB-SLOW-H2D", 3);
    n->devices[0].info.shares_host_memory = true; /* no link was crossed */
    assert_advised(n, "XB-PREFETCH", "");
    n->devices[0].info.shares_host_memory = false;
    fault->times.values[0] /= 5; /* of too few samples all must be beyond the others */
    fault->times.count = 5;
    assert_advised(n, "XB-PREFETCH", "");
}

/* What was measured at another size or one way only says nothing of this one. */
NODE_TEST(what_was_not_measured_here_is_not_said)
{
    struct node *n = *state;
    add(n, &pinned, "alloc", XB_D2H, 50);
    add(n, &zero_copy, "random", XB_D2H, 10);
    add(n, &zero_copy, "sequential", XB_H2D, 50);
    set_size(add(n, &zero_copy, "sequential", XB_D2H, 50), 64 * MIB, 50);
    assert_advised(n, "XB-SLOW-D2H", "");
    add(n, &zero_copy, "sequential", XB_D2H, 25);
    assert_read(n, "Zero-copy random reaches 20 % of pinned allocated back to the host.\n");
    assert_advised(n, "XB-SLOW-D2H",
                   "Let kernels read and write mapped host memory in order: 2.5 times as fast back "
                   "to the host.");
}

NODE_TEST(pageable_memory_of_async)
{
    struct node *n = *state;
    add(n, &async, "alloc", XB_H2D, 50);
    add(n, &async, "pageable", XB_H2D, 5);
    assert_said(n, "slow", "Async pageable reaches 10 % of async allocated to the GPU.");
    assert_advised(n, "XB-SLOW-H2D",
                   "Pin buffers that you copy more than once. " CALLS
                   "What that gains: --mode pageable,pinned");
    add(n, &pinned, "alloc", XB_H2D, 45);
    assert_advised(n, "XB-SLOW-H2D",
                   "Pin buffers that you copy more than once: 9.0 times as fast to the GPU. " CALLS
                   "Cost: --mode pin");
    add(n, &pageable, "driver", XB_H2D, 5);
    assert_advised(n, "XB-PINNING",
                   "Pin buffers that you copy more than once: 9.0 times as fast to the GPU. " CALLS
                   "Cost: --mode pin");
}

/* ---- the link ---- */

NODE_TEST(a_link_below_what_it_can_do)
{
    struct node *n = *state;
    add(n, &pinned, "alloc", XB_H2D, 12);
    n->devices[0].link = (struct xb_pcie_link){true, 8, 16, 32, 16, "0000:0f:00.0"};
    assert_said(n, "slow link", ""); /* seen at rest only: it may have slept */
    set_ceiling(&n->devices[0]);
    n->devices[0].load.hops[0].speed_gts = 8;
    assert_read(n, "  slow link    While data moved the link was Gen3 x16; device and slot can do "
                   "Gen5 x16.\n");
    assert_advised(n, "XB-SLOW-LINK", "Find out why the link is slow: xferbench link");
    assert_rests_on(n, "XB-SLOW-LINK", 1);
    n->devices[0].info.shares_host_memory = true;
    assert_said(n, "slow link", "");
}

/* Of 58.08 GB/s. */
NODE_TEST(copies_far_below_what_the_link_can_carry)
{
    struct node *n = *state;
    n->devices[0].link = (struct xb_pcie_link){true, 32, 16, 32, 16, "0000:0f:00.0"};
    set_ceiling(&n->devices[0]);
    struct xb_result *copy = add(n, &pinned, "alloc", XB_H2D, 29.04);
    assert_said(n, "slow link",
                "Pinned allocated reaches only 50 % of what the link can carry to the GPU.");
    set_bandwidth(copy, 47); /* 81 % */
    assert_said(n, "slow link", "");
    set_size(add(n, &pinned, "alloc", XB_H2D, 10), 16 * MIB, 10); /* small is slow on any link */
    assert_said(n, "slow link", "");
}

/* Pageable memory is slow on any link. */
NODE_TEST(other_modes_show_nothing_of_the_link)
{
    struct node *n = *state;
    n->devices[0].link = (struct xb_pcie_link){true, 32, 16, 32, 16, "0000:0f:00.0"};
    set_ceiling(&n->devices[0]);
    add(n, &pageable, "driver", XB_H2D, 8);
    assert_said(n, "slow link", "");
}
