/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

#include "fleet_fixture.h"
#include "random.h"

/* Slots that are slower, or narrower, than others on every node. */

#define RATE 1e10
#define NODES 12
#define SLOTS 4

static const char *const addresses[SLOTS] = {"0000:0a:00.0", "0000:0b:00.0", "0000:0c:00.0",
                                             "0000:0d:00.0"};

/* What differs from a fleet of equals, by slot and for one GPU. */
struct differing {
    double shares[SLOTS]; /* of RATE */
    unsigned widths[SLOTS];
    size_t node, slot; /* of the one */
    double share;      /* of its slot's */
    unsigned width;    /* 0: its slot's */
};

static const struct differing equal = {.shares = {1, 1, 1, 1},
                                       .widths = {16, 16, 16, 16},
                                       .node = NODES, /* none */
                                       .share = 1};

static double share_of(const struct differing *differing, size_t node, size_t slot)
{
    bool is_one = node == differing->node && slot == differing->slot;
    return differing->shares[slot] * (is_one ? differing->share : 1);
}

static unsigned width_of(const struct differing *differing, size_t node, size_t slot)
{
    bool is_one = node == differing->node && slot == differing->slot && differing->width > 0;
    return is_one ? differing->width : differing->widths[slot];
}

/* GPUs differ by 0.2 %. Returns the figure. */
static size_t add_nodes(const struct differing *differing)
{
    uint64_t state = 7;
    size_t figure = add_figure("h2d");
    for (size_t i = 0; i < NODES; i++) {
        add_document();
        size_t node = add_node("n%zu", i);
        for (size_t k = 0; k < SLOTS; k++) {
            next_gpu.pci_bdf = addresses[k];
            next_gpu.link_width = width_of(differing, i, k);
            add_value(figure, add_gpu(node, (unsigned)k),
                      RATE * share_of(differing, i, k) * (1 + 0.002 * normal(&state)));
        }
    }
    return figure;
}

/* Half of the slots are slower by 4 %: that hides a GPU which is slow for its slot. */
TEST(test_slow_for_its_slot)
{
    struct differing differing = equal;
    begin();
    differing.shares[2] = differing.shares[3] = 0.96;
    differing.node = 5;
    differing.slot = 3;
    differing.share = 0.95;
    add_nodes(&differing);
    judge();
    const struct xb_fleet_finding *finding =
        assert_finding(XB_FLEET_SLOW, "n5", "% below its 47 siblings (9.6");
    assert_int_equal(judged.finding_count, 1);
    assert_true(fabs(finding->centre / (0.96 * RATE) - 1) < 0.002);
    assert_true(fabs(finding->deviation + 0.05) < 0.01);
    assert_int_equal(judged.tests, NODES * SLOTS);
    assert_note("1 figure depends on the slot (most: h2d, H200, Gen5 x16: slots differ by ");
    assert_true(fabs(judged.siblings[0].slots_differ - 0.04) < 0.005);
    assert_true(judged.siblings[0].spread < 0.004 && judged.siblings[0].named_from < 0.03);
}

/* One of four: its GPUs lie far from most others, on every node. */
TEST(test_a_slow_slot_is_no_fault)
{
    struct differing differing = equal;
    begin();
    differing.shares[1] = 0.96;
    add_nodes(&differing);
    judge();
    assert_int_equal(judged.finding_count, 0);
    assert_note("1 figure depends on the slot ");
}

/* Nobody builds a slot so. But one cause is likelier than twelve faults. */
TEST(test_a_very_slow_slot_is_named)
{
    struct differing differing = equal;
    begin();
    differing.shares[1] = 0.6;
    add_nodes(&differing);
    judge();
    assert_int_equal(count_of(XB_FLEET_SLOW), NODES);
    assert_int_equal(judged.finding_count, NODES);
    for (size_t i = 0; i < NODES; i++)
        assert_true(judged.findings[i].together);
    assert_no_note("slots differ");
}

TEST(test_equal_slots_stay_together)
{
    struct differing differing = equal;
    begin();
    differing.node = 2;
    differing.share = 0.95;
    add_nodes(&differing);
    judge();
    assert_finding(XB_FLEET_SLOW, "n2", "below its 47 siblings");
    assert_int_equal(judged.sibling_count, 1);
    assert_no_note("slot");
}

/* They count, but that is no news. */
TEST(test_slots_that_hardly_differ_are_not_told)
{
    struct differing differing = equal;
    begin();
    differing.shares[1] = 0.997;
    add_nodes(&differing);
    judge();
    assert_int_equal(judged.finding_count, 0);
    assert_true(judged.siblings[0].slots_differ == 0);
    assert_no_note("slot");
}

/* Where fewer than six nodes have a slot, and where none is known, nothing changes. */
TEST(test_rare_slots_stay_together)
{
    char address[32];
    begin();
    size_t figure = add_nodes(&equal);
    for (unsigned i = 0; i < 6; i++) {
        snprintf(address, sizeof address, "0000:%02x:00.0", 0x40 + i);
        next_gpu.pci_bdf = i < 5 ? address : NULL;
        add_document();
        add_value(figure, add_gpu(add_node("odd"), i), 0.96 * RATE);
    }
    judge();
    assert_int_equal(judged.sibling_count, 1);
    assert_int_equal(count_of(XB_FLEET_SLOW), 6);
}

/* Seven nodes of another kind have other addresses, and all their GPUs are slow: that is no design
 * of slots. */
TEST(test_slow_nodes_with_other_addresses)
{
    uint64_t seed = 3;
    char name[32], address[32];
    begin();
    size_t figure = add_figure("h2d");
    for (unsigned i = 0; i < 100; i++) {
        bool is_slow = i >= 93;
        snprintf(name, sizeof name, "n%u", i);
        add_document();
        size_t node = add_node("%s", name);
        for (unsigned k = 0; k < SLOTS; k++) {
            snprintf(address, sizeof address, "0000:%x%x:00.0", is_slow ? 4 : 2, k);
            next_gpu.pci_bdf = address;
            add_value(figure, add_gpu(node, k),
                      RATE * (is_slow ? 0.94 : 1) * (1 + 0.002 * normal(&seed)));
        }
    }
    judge();
    assert_int_equal(judged.sibling_count, 1);
    assert_int_equal(count_of(XB_FLEET_SLOW), 7 * SLOTS);
}

/* No other node has the addresses of this one. So nobody knows which of its slots are slow by
 * design, but none is by more than a half. */
TEST(test_slow_in_a_rare_slot)
{
    static const double shares[] = {1, 0.92, 0.4, 0.92};
    struct differing differing = equal;
    char address[32];
    begin();
    differing.shares[2] = differing.shares[3] = 0.92;
    size_t figure = add_nodes(&differing);
    size_t node = add_node("odd");
    for (unsigned k = 0; k < SLOTS; k++) {
        snprintf(address, sizeof address, "0000:4%x:00.0", k);
        next_gpu.pci_bdf = address;
        add_value(figure, add_gpu(node, k), RATE * shares[k]);
    }
    next_gpu.pci_bdf = NULL; /* not known */
    add_value(figure, add_gpu(add_node("untold"), 0), RATE * 0.92);
    judge();
    assert_finding(XB_FLEET_SLOW, "odd", "below its 52 siblings");
    assert_int_equal(count_of(XB_FLEET_SLOW), 1);
    assert_int_equal(judged.tests, (NODES + 1) * SLOTS + 1);
    assert_int_equal(judged.judged_gpus, (NODES + 1) * SLOTS + 1);
    assert_no_note("form a group");
}

TEST(test_judging_again_says_the_same)
{
    struct differing differing = equal;
    begin();
    differing.shares[1] = 0.96;
    differing.node = 2;
    differing.share = 0.95;
    add_nodes(&differing);
    for (int i = 0; i < 2; i++) {
        judge();
        assert_finding(XB_FLEET_SLOW, "n2", "below its 47 siblings");
        assert_int_equal(judged.finding_count, 1);
        assert_note("1 figure depends on the slot ");
    }
}

TEST(test_narrow_by_design)
{
    struct differing differing = equal;
    for (size_t narrow = SLOTS - 1; narrow >= SLOTS / 2; narrow--) {
        begin();
        differing.widths[narrow] = 8;
        add_nodes(&differing);
        judge();
        assert_int_equal(judged.finding_count, 0);
        assert_no_note("no majority");
    }
}

/* Also where most slots are as narrow. */
TEST(test_narrow_for_its_slot)
{
    struct differing differing = {.shares = {1, 1, 1, 1},
                                  .widths = {16, 8, 8, 8},
                                  .node = 4,
                                  .slot = 0,
                                  .share = 1,
                                  .width = 8};
    begin();
    add_nodes(&differing);
    judge();
    assert_finding(XB_FLEET_NARROWER, "n4",
                   "link Gen5 x8 under load; most of its 11 siblings have Gen5 x16");
    assert_int_equal(judged.finding_count, 1);
}

GROUP(NULL, finish_group)
