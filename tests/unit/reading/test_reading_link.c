/* SPDX-License-Identifier: Apache-2.0 */
/* What the Reading says of the link. */
#include "reading_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "testing.h"

/* 63.02 GB/s: what is no single copy over the link would show more, or another share. */
NODE_TEST(link_share_is_of_single_copies_only)
{
    struct node *n = *state;
    n->devices[0].link = (struct xb_pcie_link){true, 32, 16, 32, 16, ""};
    n->run.device_count = 2;
    struct xb_result *copy = add(n, &pinned, "alloc", XB_H2D, 31.51);
    add(n, &async, "alloc", XB_BIDIR, 60);
    add(n, &double_buffer, "alloc", XB_BIDIR, 60);
    add(n, &managed, "prefetch", XB_H2D, 60); /* the runtime moves it when it likes */
    add(n, &zero_copy, "sequential", XB_H2D, 60)->bytes_moved = 512 * MIB;
    add(n, &async, "alloc", XB_H2D, 60)->device_timer = false;
    add(n, &async, "registered", XB_H2D, 60)->test.simultaneous = true;
    add(n, &async, "registered", XB_H2D, 60)->row.verified = XB_VERIFIED_UNKNOWN;
    add(n, &async, "registered", XB_H2D, 60)->stop_reason = XB_STOP_DEADLINE; /* cut short */
    add_pair(n, "direct-read", XB_D2D, 0, 1, 60);
    add(n, &pinned, "alloc", XB_D2H, 60)->test.peer = 1;
    struct xb_result *small = add(n, &pinned, "alloc", XB_D2H, 60);
    set_size(small, 16 * MIB - 1, 60);
    assert_read(n, "The link gives 50.0 % of the raw rate of PCIe Gen5 x16 to the GPU. Packet "
                   "headers leave 84 to 95 % of it, for payloads of 128 to 512 bytes.\n");
    add(n, &zero_copy, "random", XB_D2H, 31.51);
    assert_read(n, "to the GPU and 50.0 % back. Packet headers");
    set_latency(copy, 1e-3, 1e-3);
    assert_read(
        n,
        ": The link gives 50.0 % of the raw rate of PCIe Gen5 x16 back to the host."); /* the row
                                                                                          itself is
                                                                                          out */
}

NODE_TEST(link_share_needs_a_link_that_was_crossed)
{
    struct node *n = *state;
    struct xb_result *copy = add(n, &pinned, "alloc", XB_H2D, 31.51);
    assert_not_read(n, "raw rate"); /* the link is not known */
    n->devices[0].link = (struct xb_pcie_link){true, 32, 16, 32, 16, ""};
    assert_read(n, "raw rate");
    n->devices[0].info.shares_host_memory = true;
    assert_not_read(n, "raw rate");
    n->devices[0].info.shares_host_memory = false;
    set_bandwidth(copy, 64); /* the link had gone to sleep when it was read */
    assert_not_read(n, "raw rate");
}

/* Each way has its own ceiling. */
NODE_TEST(link_share_is_of_the_ceiling_where_that_is_known)
{
    struct node *n = *state;
    struct xb_result *copy = add(n, &pinned, "alloc", XB_H2D, 55.42);
    n->devices[0].link = (struct xb_pcie_link){true, 32, 16, 32, 16, "0000:0f:00.0"};
    set_ceiling(&n->devices[0]);
    assert_said(n, "link", "The link gives 95.4 % of what PCIe Gen5 x16 can carry to the GPU.");
    assert_true(find_statement(n, "XB-SHARE-OF-LINK").is_fine);
    add(n, &pinned, "alloc", XB_D2H, 55.42);
    assert_said(
        n, "link",
        "The link gives 95.4 % of what PCIe Gen5 x16 can carry to the GPU and 96.5 % back.");
    set_bandwidth(copy, 52.2);
    assert_said(
        n, "link",
        "The link gives 89.9 % of what PCIe Gen5 x16 can carry to the GPU and 96.5 % back.");
    assert_false(find_statement(n, "XB-SHARE-OF-LINK").is_fine);
    set_bandwidth(copy, 58.1); /* more than there can be */
    assert_said(n, "link", "");
}

/* What anything in it would have to be guessed for is no ceiling. */
NODE_TEST(a_ceiling_is_never_assumed)
{
    struct node *n = *state;
    add(n, &pinned, "alloc", XB_H2D, 55.42);
    n->devices[0].link = (struct xb_pcie_link){true, 32, 16, 32, 16, "0000:0f:00.0"};
    set_ceiling(&n->devices[0]);
    n->devices[0].path.hops[0].lower.control.known = false; /* not root */
    assert_read(n, "87.9 % of the raw rate");
    set_ceiling(&n->devices[0]);
    n->devices[0].load.hops[0].readings = 0; /* only seen at rest */
    assert_read(n, "87.9 % of the raw rate");
    set_ceiling(&n->devices[0]);
    n->devices[0].load.hops[0].speed_gts = 64; /* whose coding leaves nobody knows how much */
    assert_not_read(n, "can carry");
}

/* The link above the slot's that carries less is the one that counts, and is named. */
NODE_TEST(link_share_is_of_the_narrowest_link)
{
    struct node *n = *state;
    add(n, &pinned, "alloc", XB_H2D, 26.0);
    n->devices[0].link = (struct xb_pcie_link){true, 32, 16, 32, 16, "0000:0f:00.0"};
    set_ceiling(&n->devices[0]);
    n->devices[0].path.count = n->devices[0].load.count = 2;
    strcpy(n->devices[0].path.hops[1].lower.bdf, "0000:0e:00.0");
    n->devices[0].load.hops[1] = (struct xb_pcie_seen){.readings = 1, .speed_gts = 16, .width = 16};
    assert_read(
        n, "The link gives 89.5 % of what PCIe Gen4 x16 at 0000:0e:00.0 can carry to the GPU.\n");
}
