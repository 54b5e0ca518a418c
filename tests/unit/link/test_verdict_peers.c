/* SPDX-License-Identifier: Apache-2.0 */
/* The verdicts on pairs of devices, and on links that one device has and another lacks. */

#include "link/report.h"
#include "verdict_fixture.h"

#include <math.h>

#define LINKS ((unsigned)NVLINKS)
#define RATE 26.5625e9
#define CEILING (LINKS * RATE)
#define HEALTHY 396e9

/* A node, as it was observed and judged. Large. */
static struct {
    struct xb_link_device devices[XB_PEER_DEVICES];
    struct xb_verdict device_verdicts[XB_PEER_DEVICES];
    size_t device_count;
    struct xb_link_pair pairs[XB_LINK_PAIRS];
    struct xb_pair_verdict verdicts[XB_LINK_PAIRS];
    size_t pair_count;
} node;

static struct xb_pair_attempt healthy_pair(void)
{
    struct xb_pair_attempt attempt = {.reach_known = true, .bandwidth = HEALTHY};
    attempt.there = (struct xb_peer_info){
        .can_access = true, .link = "NVLink", .links = LINKS, .link_rate = RATE};
    attempt.back = attempt.there;
    return attempt;
}

/* So many H200s with all links, behind a switch, all of whose pairs are as fast. */
static void make_node(size_t device_count)
{
    memset(&node, 0, sizeof node);
    node.device_count = device_count;
    for (size_t i = 0; i < device_count; i++) {
        struct xb_link_device *device = &node.devices[i];
        device->info.index = (unsigned)i;
        snprintf(device->info.name, sizeof device->info.name, "NVIDIA H200");
        snprintf(device->info.pci_bdf, sizeof device->info.pci_bdf, SLOT);
        device->attempts[0] = healthy();
        device->attempt_count = 1;
        for (size_t j = 0; j < device_count; j++) {
            if (i == j)
                continue;
            struct xb_link_pair *pair = &node.pairs[node.pair_count++];
            *pair = (struct xb_link_pair){.from = i, .to = j, .attempt_count = 1};
            pair->attempts[0] = healthy_pair();
        }
    }
}

static void judge_node(void)
{
    struct xb_link_report report = {.devices = node.devices,
                                    .verdicts = node.device_verdicts,
                                    .device_count = node.device_count,
                                    .pairs = node.pairs,
                                    .pair_verdicts = node.verdicts,
                                    .pair_count = node.pair_count};
    memset(node.verdicts, 0xa5, sizeof node.verdicts); /* what was there before does not count */
    xb_verdict_of_node(&report);
}

/* All is OK but the pair (or the device) at that place, if any. */
static void assert_pairs_ok_but(size_t place)
{
    for (size_t i = 0; i < node.pair_count; i++)
        if (i != place)
            assert_found_nothing(&node.verdicts[i].found);
}

static void assert_devices_ok_but(size_t place)
{
    for (size_t i = 0; i < node.device_count; i++)
        if (i != place)
            assert_found_nothing(&node.device_verdicts[i].found);
}

#define NONE SIZE_MAX

static void assert_pair(size_t place, enum xb_level level, const char *code, const char *pieces)
{
    judge_node();
    assert_found_only(&node.verdicts[place].found, level, code, pieces);
    assert_pairs_ok_but(place);
    assert_devices_ok_but(NONE);
}

static void assert_node_ok(void)
{
    judge_node();
    assert_pairs_ok_but(NONE);
    assert_devices_ok_but(NONE);
}

static void set_links(size_t device, unsigned active)
{
    struct xb_link_attempt *attempt = &node.devices[device].attempts[0];
    attempt->health_before.nvlinks_active = attempt->health_after.nvlinks_active = active;
    attempt->health_before.nvlinks_inactive = attempt->health_after.nvlinks_inactive =
        LINKS - active;
    for (size_t i = 0; i < node.pair_count; i++) {
        struct xb_pair_attempt *pair = &node.pairs[i].attempts[0];
        if (node.pairs[i].from == device)
            pair->there.links = active;
        if (node.pairs[i].to == device)
            pair->back.links = active;
    }
}

/* ---- healthy ---- */

TEST(healthy_nodes_are_ok)
{
    for (size_t count = 1; count <= XB_PEER_DEVICES; count++) {
        make_node(count);
        /* As far apart as pairs of one machine were seen to be, and somewhat more. */
        for (size_t i = 0; i < node.pair_count; i++)
            node.pairs[i].attempts[0].bandwidth = 394e9 + 8e9 * (double)(i % 2);
        assert_node_ok();
    }
}

TEST(what_is_known_of_a_pair_is_told)
{
    make_node(2);
    assert_node_ok();
    const struct xb_pair_verdict *verdict = &node.verdicts[1];
    assert_near(verdict->ceiling, 478.125e9, 1);
    assert_near(verdict->bandwidth.measured, HEALTHY, 0);
    assert_near(verdict->bandwidth.share, HEALTHY / 478.125e9, 1e-9);
    assert_near(verdict->bandwidth.warning, 0.75 * 478.125e9, 1);
    assert_near(verdict->bandwidth.critical, 0.50 * 478.125e9, 1);
    assert_int_equal(verdict->bandwidth.source, XB_LIMIT_DEFAULT);
    assert_int_equal(verdict->reach.links, LINKS);
    assert_int_equal(verdict->like_count, 2);
    assert_true(verdict->like <= 0); /* two pairs have no median to be held against */
    assert_true(xb_pair_is_judged(verdict));
}

/* ---- slow ---- */

TEST(a_slow_pair_is_found)
{
    static const struct {
        double share;
        enum xb_level level;
        const char *pieces;
    } rows[] = {
        {0.7499, XB_LEVEL_WARNING, "0.750 of what 18 links of 26.56 GB/s carry (478.12|below 0.75"},
        {0.5, XB_LEVEL_WARNING, "239.06 GB/s is 0.500"},
        {0.4999, XB_LEVEL_CRITICAL, "below 0.50"},
        {0.01, XB_LEVEL_CRITICAL, "4.78 GB/s is 0.010"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        make_node(2);
        node.pairs[1].attempts[0].bandwidth = rows[i].share * CEILING;
        assert_pair(1, rows[i].level, "XB-BW-PEER", rows[i].pieces);
    }
    make_node(2);
    node.pairs[1].attempts[0].bandwidth = 0.75 * CEILING; /* not below it */
    assert_node_ok();
}

TEST(a_pair_is_held_against_those_like_it)
{
    make_node(3);
    for (size_t i = 0; i < node.pair_count; i++)
        node.pairs[i].attempts[0].bandwidth = 440e9; /* 0.92 of what the links carry */
    node.pairs[4].attempts[0].bandwidth = 0.89 * 440e9;
    assert_pair(4, XB_LEVEL_WARNING, "XB-PEER-SLOW",
                "391.60 GB/s is 0.890 of the median of 6 pairs like it (440.00 GB/s)");
    node.pairs[4].attempts[0].bandwidth = 0.90 * 440e9; /* not below it */
    assert_node_ok();
    make_node(2); /* which of two is the slow one? */
    node.pairs[0].attempts[0].bandwidth = 0.91 * CEILING;
    node.pairs[1].attempts[0].bandwidth = 0.76 * CEILING;
    assert_node_ok();
}

TEST(pairs_that_differ_are_not_compared)
{
    /* Fewer links, as between some V100s. */
    make_node(3);
    for (size_t i = 0; i < 2; i++) {
        struct xb_pair_attempt *attempt = &node.pairs[i].attempts[0];
        attempt->there.links = attempt->back.links = LINKS / 2;
        attempt->bandwidth = HEALTHY / 2;
    }
    assert_node_ok();
    /* Another kind of GPU. */
    make_node(3);
    snprintf(node.devices[2].info.name, sizeof node.devices[2].info.name, "NVIDIA H800");
    for (size_t i = 0; i < node.pair_count; i++)
        if (node.pairs[i].to == 2)
            node.pairs[i].attempts[0].bandwidth = 0.8 * HEALTHY / 0.83 * 0.97;
    assert_node_ok();
}

TEST(a_link_up_at_one_end_carries_nothing)
{
    make_node(2);
    node.pairs[0].attempts[0].back.links = LINKS - 1;
    node.pairs[0].attempts[0].back.link_rate = RATE / 2;
    judge_node();
    assert_near(node.verdicts[0].ceiling, (LINKS - 1) * RATE / 2, 1);
    make_node(2);
    node.pairs[0].attempts[0].back.links = 0; /* not told */
    assert_node_ok();
    assert_true(node.verdicts[0].ceiling <= 0);
    assert_false(xb_pair_is_judged(&node.verdicts[0]));
}

TEST(more_than_links_carry_is_not_believed)
{
    make_node(2);
    node.pairs[0].attempts[0].bandwidth = 1.02 * CEILING;
    assert_pair(0, XB_LEVEL_UNKNOWN, "XB-BW-ABOVE", "487.69 GB/s is more than 18 links");
    make_node(2);
    node.pairs[0].attempts[0].bandwidth = 1.005 * CEILING;
    assert_node_ok();
}

/* ---- a least bandwidth ---- */

static void ask_least(double least)
{
    for (size_t i = 0; i < node.device_count; i++)
        node.device_verdicts[i].limits.min_peer =
            (struct xb_limit){true, least, XB_LIMIT_COMMAND_LINE};
}

TEST(a_least_bandwidth_takes_the_place_of_all_else)
{
    const struct xb_limit least = {true, 300e9, XB_LIMIT_FILE};
    make_node(3);
    node.device_verdicts[0].limits.min_peer = node.device_verdicts[1].limits.min_peer = least;
    node.device_verdicts[1].limits.min_peer.value = 400e9; /* the lesser of both counts */
    node.pairs[2].attempts[0].bandwidth = 300e9; /* 0.63 of the ceiling, 0.76 of the median */
    assert_node_ok();
    assert_int_equal(node.verdicts[2].bandwidth.source, XB_LIMIT_FILE);
    assert_int_equal(node.verdicts[1].bandwidth.source, XB_LIMIT_DEFAULT); /* one end has none */
    assert_true(node.verdicts[2].bandwidth.warning <= 0);
    node.pairs[2].attempts[0].bandwidth = 299.99e9;
    assert_pair(2, XB_LEVEL_CRITICAL, "XB-BW-PEER",
                "299.99 GB/s is below the limit of 300.00 GB/s (file)");
}

/* ---- no links, or none that are known ---- */

TEST(pairs_over_pcie_are_not_judged)
{
    make_node(2);
    struct xb_pair_attempt *attempt = &node.pairs[0].attempts[0];
    attempt->there = attempt->back = (struct xb_peer_info){.can_access = true, .link = "PCIe"};
    attempt->bandwidth = 3e9;
    assert_node_ok();
    assert_false(xb_pair_is_judged(&node.verdicts[0]));
    assert_near(node.verdicts[0].bandwidth.measured, 3e9, 0);
    ask_least(4e9);
    assert_pair(0, XB_LEVEL_CRITICAL, "XB-BW-PEER", "3.00 GB/s|(command line)");
}

TEST(pairs_without_access_are_not_judged)
{
    make_node(2);
    node.pairs[0].attempts[0] = (struct xb_pair_attempt){.reach_known = true};
    assert_node_ok();
    assert_false(xb_pair_is_judged(&node.verdicts[0]));
    ask_least(4e9);
    assert_pair(0, XB_LEVEL_CRITICAL, "XB-BW-PEER", "no direct access|4.00 GB/s");
}

/* ---- what goes wrong ---- */

TEST(wrong_data_counts_in_any_attempt)
{
    make_node(2);
    struct xb_link_pair *pair = &node.pairs[1];
    pair->attempts[1] = pair->attempts[0];
    pair->attempts[0].bandwidth = 0;
    pair->attempts[0].data_wrong = true;
    snprintf(pair->attempts[0].failure, sizeof pair->attempts[0].failure, "8 bytes are wrong");
    pair->attempt_count = 2;
    assert_pair(1, XB_LEVEL_CRITICAL, "XB-DATA-WRONG", "both devices out of service|8 bytes");
    assert_int_equal(node.verdicts[1].best, 1);
    pair->attempt_count = 1;
    assert_pair(1, XB_LEVEL_CRITICAL, "XB-DATA-WRONG", "8 bytes");
}

TEST(a_copy_that_fails_is_unknown)
{
    make_node(2);
    struct xb_pair_attempt *attempt = &node.pairs[0].attempts[0];
    attempt->bandwidth = NAN;
    snprintf(attempt->failure, sizeof attempt->failure, "an illegal address");
    assert_pair(0, XB_LEVEL_UNKNOWN, "XB-TEST-FAILED", "an illegal address");
    attempt->reach_known = false;
    assert_pair(0, XB_LEVEL_UNKNOWN, "XB-TEST-FAILED", "an illegal address");
    node.pairs[0].attempt_count = 0;
    assert_pair(0, XB_LEVEL_UNKNOWN, "XB-TEST-FAILED", "no transfer test was made");
}

TEST(the_best_attempt_counts)
{
    make_node(2);
    struct xb_link_pair *pair = &node.pairs[0];
    for (size_t i = 0; i < 3; i++) {
        pair->attempts[i] = healthy_pair();
        pair->attempts[i].bandwidth = i == 1 ? HEALTHY : 100e9;
    }
    pair->attempts[2].bandwidth = INFINITY;
    pair->attempt_count = 3;
    assert_node_ok();
    assert_int_equal(node.verdicts[0].best, 1);
}

TEST(a_test_that_was_cut_is_unknown_unless_it_was_ok)
{
    make_node(2);
    node.pairs[0].cut = true;
    assert_node_ok();
    node.pairs[0].attempt_count = 0;
    assert_pair(0, XB_LEVEL_UNKNOWN, "XB-DEADLINE", "before the pair's test ended");
    node.pairs[0].interrupted = true;
    assert_pair(0, XB_LEVEL_UNKNOWN, "XB-INTERRUPTED", "a signal");
    node.pairs[0].attempt_count = 1;
    node.pairs[0].attempts[0].bandwidth = 1e9;
    judge_node();
    assert_int_equal(node.verdicts[0].found.reason_count, 2);
    assert_int_equal(node.verdicts[0].found.level, XB_LEVEL_CRITICAL);
}

/* ---- links that one has and another lacks ---- */

static void assert_device(size_t place, enum xb_level level, const char *pieces)
{
    judge_node();
    assert_found_only(&node.device_verdicts[place].found, level, "XB-NVLINK-LINKS", pieces);
    assert_devices_ok_but(place);
}

TEST(a_link_that_is_down_is_found)
{
    make_node(2);
    set_links(1, LINKS - 1);
    node.pairs[0].attempts[0].bandwidth = node.pairs[1].attempts[0].bandwidth =
        HEALTHY * (LINKS - 1) / LINKS;
    assert_device(1, XB_LEVEL_WARNING, "17 NVLinks are active, device 0 of the same name has 18");
    assert_pairs_ok_but(NONE); /* they do what the links that are left carry */
    set_links(1, LINKS / 2);
    assert_device(1, XB_LEVEL_WARNING, "9 NVLinks");
    set_links(1, LINKS / 2 - 1);
    assert_device(1, XB_LEVEL_CRITICAL, "8 NVLinks");
}

TEST(cards_without_a_bridge_lack_nothing)
{
    make_node(3);
    set_links(2, 0); /* of three cards two are bridged */
    for (size_t i = 0; i < node.pair_count; i++)
        if (node.pairs[i].from == 2 || node.pairs[i].to == 2)
            node.pairs[i].attempts[0] = (struct xb_pair_attempt){.reach_known = true};
    assert_node_ok();
}

/* GPU 0 reaches two others with all of its links each: only a switch can do that. */
TEST(behind_a_switch_everybody_has_links)
{
    make_node(4);
    set_links(2, 0);
    for (size_t i = 0; i < node.pair_count; i++)
        if (node.pairs[i].from == 2 || node.pairs[i].to == 2)
            node.pairs[i].attempts[0] = (struct xb_pair_attempt){.reach_known = true};
    assert_device(2, XB_LEVEL_CRITICAL, "0 NVLinks");
}

TEST(other_models_and_the_unknown_are_not_compared)
{
    make_node(2);
    set_links(1, 4);
    snprintf(node.devices[1].info.name, sizeof node.devices[1].info.name, "NVIDIA A40");
    node.pairs[0].attempts[0].bandwidth = node.pairs[1].attempts[0].bandwidth = 88e9;
    assert_node_ok();
    make_node(2);
    node.devices[1].attempts[0].health_before.nvlinks_known = false;
    node.devices[1].attempts[0].health_after.nvlinks_known = false;
    node.devices[1].attempts[0].health_after.nvlinks_active = 0;
    assert_node_ok();
}

/* The reading after the copies between peers is the latest. */
TEST(a_link_lost_between_peers_is_found)
{
    make_node(2);
    node.devices[0].peers.before = node.devices[0].attempts[0].health_after;
    node.devices[0].peers.after = node.devices[0].peers.before;
    node.devices[0].peers.after.nvlinks_active = LINKS - 2;
    node.devices[0].peers.seconds = 0.5;
    assert_device(0, XB_LEVEL_WARNING, "16 NVLinks");
}
