/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "testing.h"

#include "checks.h"
#include "fleet_fixture.h"

/* Links narrower than those of siblings: to the slot, and to other GPUs. */

#define RATE 1e10

TEST(test_narrower)
{
    begin();
    add_fleet(5, RATE, 0.001);
    next_gpu.link_width = 8;
    size_t lanes = add_gpu(add_node("lanes"), 0);
    next_gpu.link_width = 16;
    next_gpu.link_speed_gts = 16;
    size_t rate = add_gpu(add_node("rate"), 0);
    next_gpu.link_speed_gts = 0; /* not known */
    add_gpu(add_node("unknown"), 0);
    judge();
    assert_int_equal(count_of(XB_FLEET_NARROWER), 2);
    assert_int_equal(judged.findings[0].gpu->number, lanes);
    assert_has(judged.findings[0].text, "link Gen5 x8 under load; most of its 6 siblings");
    assert_has(judged.findings[0].text, "have Gen5 x16");
    assert_int_equal(judged.findings[1].gpu->number, rate);
    assert_has(judged.findings[1].text, "link Gen4 x16 under load");
}

TEST(test_no_majority_of_links)
{
    begin();
    add_fleet(4, RATE, 0.001);
    next_gpu.link_width = 8;
    for (int i = 0; i < 4; i++) {
        add_gpu(add_node("w%d", i), 0);
    }
    judge();
    assert_int_equal(count_of(XB_FLEET_NARROWER), 0);
    assert_note("at most 4 of 8 GPUs have the same width");
}

/* Six nodes of two GPUs, whose links one end of the last has fewer of. */
TEST(test_narrower_pairs)
{
    static const char *const links[] = {"NVLink x17", "PCIe 01>02"};
    for (unsigned k = 0; k < 2; k++) {
        begin();
        for (unsigned i = 0; i < 12; i++) {
            next_figure.links_known = true;
            next_figure.links = i == 11 ? 17 * (1 - k) : 18;
            next_figure.link = i == 11 ? links[k] : "NVLink x18";
            add_document();
            add_pair(add_figure("link peer"), add_gpu(add_node("n%u", i / 2), i % 2),
                     1 - (int)(i % 2), RATE);
        }
        judge();
        const struct xb_fleet_finding *finding =
            assert_finding(XB_FLEET_NARROWER, "n5", "fewer links to 1 of 1 GPUs: to GPU 0");
        assert_has(finding->text, links[k]);
        assert_has(finding->text, "have NVLink x18");
        size_t gpu = finding->gpu->number;
        assert_int_equal(fleet.gpus[gpu]->index, 1);
        /* A newer document does not know what they go by. */
        next_source.written = 2000;
        next_figure.links_known = false;
        next_figure.link = "unknown 01>02";
        add_document();
        add_pair(add_figure("peer staged"), gpu, 0, RATE);
        judge();
        assert_int_equal(count_of(XB_FLEET_NARROWER), 1);
        /* It was repaired and measured again. */
        next_figure.links_known = true;
        next_figure.links = 18;
        next_figure.link = "NVLink x18";
        add_document();
        add_pair(add_figure("link peer"), gpu, 0, RATE);
        judge();
        assert_int_equal(count_of(XB_FLEET_NARROWER), 0);
    }
}

/* Nodes of four GPUs in a ring: each has links to its neighbours only. Of the last `broken`
 * nodes two neighbours have lost theirs. */
static void judge_rings(unsigned nodes, unsigned broken)
{
    begin();
    for (unsigned node = 0; node < nodes; node++) {
        add_document();
        for (unsigned i = 0; i < 16; i++) {
            unsigned from = i / 4;
            unsigned to = i % 4;
            bool lost = node + broken >= nodes && from + to == 1;
            bool linked = (from + to) % 2 == 1 && !lost;
            if (from == to)
                continue;
            next_figure.links_known = true;
            next_figure.links = linked ? 2 : 0;
            next_figure.link = linked ? "NVLink x2" : "PCIe";
            add_pair(add_figure("link peer"), add_gpu(add_node("n%u", node), from), (int)to, RATE);
        }
    }
    judge();
}

/* A third of the pairs have no link on any node: that is how they are built. */
TEST(test_rings)
{
    for (unsigned nodes = 2; nodes < 8; nodes++) {
        judge_rings(nodes, 0);
        assert_int_equal(count_of(XB_FLEET_NARROWER), 0);
        assert_note("pairs of GPUs have fewer links than most pairs of their model");
        judge_rings(nodes, 1);
        assert_int_equal(count_of(XB_FLEET_NARROWER), 2);
        for (size_t i = 0; i < judged.finding_count; i++) {
            assert_int_equal(judged.findings[i].node->name[1], '0' + (int)nodes - 1);
            assert_false(judged.findings[i].together);
            assert_has(judged.findings[i].text, "fewer links to 1 of 3 GPUs: to GPU");
        }
    }
    for (unsigned broken = 4; broken < 6; broken++) {
        judge_rings(12, broken);
        assert_int_equal(count_of(XB_FLEET_NARROWER), 2 * broken);
        for (size_t i = 0; i < judged.finding_count; i++)
            assert_int_equal(judged.findings[i].together, broken == 5);
    }
}

/* Nodes of four GPUs, of which two and two have a bridge: most pairs have none. */
TEST(test_bridges)
{
    for (unsigned nodes = 5; nodes < 7; nodes++) {
        begin();
        for (unsigned i = 0; i < 12 * nodes; i++) {
            unsigned from = i % 4;
            unsigned to = (from + 1 + i / 4 % 3) % 4;
            bool linked = from / 2 == to / 2 && (i >= 12 || from >= 2);
            next_figure.links_known = true;
            next_figure.links = linked ? 12 : 0;
            next_figure.link = linked ? "NVLink x12" : "PCIe";
            add_document();
            add_pair(add_figure("link peer"), add_gpu(add_node("n%u", i / 12), from), (int)to,
                     RATE);
        }
        judge();
        assert_int_equal(count_of(XB_FLEET_NARROWER), nodes < 6 ? 0 : 2);
        for (size_t i = 0; i < judged.finding_count; i++) {
            assert_string_equal(judged.findings[i].node->name, "n0");
            assert_true(judged.findings[i].gpu->index < 2);
            assert_has(judged.findings[i].text, "fewer links to 1 of 3 GPUs");
            assert_has(judged.findings[i].text, "PCIe; most pairs of its siblings have NVLink x12");
        }
    }
}

GROUP(NULL, finish_group)
