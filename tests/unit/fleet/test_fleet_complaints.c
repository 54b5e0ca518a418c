/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "testing.h"

#include "checks.h"
#include "fleet_fixture.h"

/* What documents say by themselves, and when it is no longer true. */

#define RATE 1e10

static size_t figure, gpu;

/* Twenty equal nodes, and a GPU of one more with a document of that time and kind. */
static void begin_with(const char *kind, time_t written)
{
    begin();
    figure = add_fleet(20, RATE, 0.001);
    next_source.kind = kind;
    next_source.written = written;
    add_document();
    gpu = add_gpu(add_node("bad"), 3);
}

static void add_newer(const char *kind, time_t written)
{
    next_source.kind = kind;
    next_source.written = written;
    add_document();
}

TEST(test_codes)
{
    begin_with("link", 1000);
    add_value(figure, gpu, RATE);
    complain(XB_FLEET_LINK_VERDICT, gpu, "CRITICAL: 8 lanes");
    complain(XB_FLEET_WRONG_DATA, gpu, "h2d: byte 7");
    complain(XB_FLEET_FAILED, gpu, "error 719");
    complain(XB_FLEET_FAILED, gpu, "error 700");
    complain_of_node(XB_FLEET_CUT, fleet.gpus[gpu]->node->number, "SIGTERM");
    judge();
    assert_int_equal(judged.finding_count, 4);
    assert_int_equal(assert_finding(XB_FLEET_LINK_VERDICT, "bad", "CRITICAL: 8 lanes")->gpu->number,
                     gpu);
    assert_finding(XB_FLEET_WRONG_DATA, "bad", "h2d: byte 7");
    assert_finding(XB_FLEET_FAILED, "bad", "error 719 (and 1 more)");
    assert_null(assert_finding(XB_FLEET_CUT, "bad", "SIGTERM")->gpu);
    for (size_t i = 1; i < judged.finding_count; i++)
        assert_true(judged.findings[i].code > judged.findings[i - 1].code);
    assert_int_equal(xb_fleet_exit_code(&judged), 1);
}

/* The link was repaired and measured again; the documents come in either order. */
TEST(test_newer_link_document_clears)
{
    static const time_t times[] = {2000, 1000, 500};
    static const size_t left[] = {0, 1, 1};
    for (size_t i = 0; i < 3; i++) {
        begin_with("link", 1000);
        add_value(figure, gpu, RATE);
        complain(XB_FLEET_LINK_VERDICT, gpu, "CRITICAL");
        complain_of_node(XB_FLEET_CUT, fleet.gpus[gpu]->node->number, "SIGTERM");
        add_newer("link", times[i]);
        add_value(figure, gpu, RATE);
        judge();
        assert_int_equal(count_of(XB_FLEET_LINK_VERDICT), left[i]);
        assert_int_equal(count_of(XB_FLEET_CUT), left[i]);
    }
}

/* What a run measured says nothing of a link's verdict. */
TEST(test_other_figures_do_not_clear)
{
    begin_with("link", 1000);
    add_value(figure, gpu, RATE);
    size_t other = add_figure("d2h");
    add_value(other, gpu, RATE);
    complain(XB_FLEET_LINK_VERDICT, gpu, "CRITICAL");
    add_newer("run", 2000);
    add_value(add_figure("pinned h2d"), gpu, RATE);
    judge();
    assert_finding(XB_FLEET_LINK_VERDICT, "bad", "CRITICAL");
    add_newer("link", 2000);
    add_value(figure, gpu, RATE);
    judge();
    assert_finding(XB_FLEET_LINK_VERDICT, "bad", "CRITICAL"); /* d2h was not measured again */
    add_value(other, gpu, RATE);
    judge();
    assert_int_equal(judged.finding_count, 0);
}

/* Another driver makes other figures, but the same is measured. */
TEST(test_clears_with_another_driver)
{
    begin_with("link", 1000);
    add_value(figure, gpu, RATE);
    complain(XB_FLEET_LINK_VERDICT, gpu, "CRITICAL");
    add_newer("link", 2000);
    next_figure.driver = "590.0";
    add_value(add_figure("h2d"), gpu, RATE);
    judge();
    assert_int_equal(count_of(XB_FLEET_LINK_VERDICT), 0);
}

/* A document without any figure of the GPU is replaced by the next of its kind that has some. */
TEST(test_nothing_measured)
{
    static const char *const kinds[] = {"link", "run"};
    for (size_t i = 0; i < 2; i++) {
        begin_with("link", 1000);
        complain(XB_FLEET_FAILED, gpu, "error 719");
        add_newer(kinds[i], 2000);
        add_value(figure, gpu, RATE);
        judge();
        assert_int_equal(count_of(XB_FLEET_FAILED), i);
    }
}

/* Another GPU's newer figures are no excuse. */
TEST(test_other_gpu_does_not_clear)
{
    begin_with("link", 1000);
    add_value(figure, gpu, RATE);
    complain(XB_FLEET_LINK_VERDICT, gpu, "CRITICAL");
    add_newer("link", 2000);
    add_value(figure, add_gpu(add_node("bad"), 4), RATE);
    judge();
    assert_finding(XB_FLEET_LINK_VERDICT, "bad", "CRITICAL");
}

/* The newest of several is told, and only those that still count are counted. */
TEST(test_newest_text)
{
    begin_with("link", 1000);
    complain(XB_FLEET_LINK_VERDICT, gpu, "WARNING: old");
    add_newer("link", 2000);
    add_value(figure, gpu, RATE);
    complain(XB_FLEET_LINK_VERDICT, gpu, "CRITICAL: new");
    judge();
    const struct xb_fleet_finding *finding =
        assert_finding(XB_FLEET_LINK_VERDICT, "bad", "CRITICAL: new");
    assert_lacks(finding->text, "more");
}

/* A pair is proven by itself, and a node by all GPUs that the document measured. */
TEST(test_other_pairs_and_gpus_do_not_clear)
{
    for (int peer = 1; peer < 3; peer++) {
        begin_with("link", 1000);
        add_pair(figure, gpu, 1, RATE);
        complain(XB_FLEET_LINK_VERDICT, gpu, "GPU 3>1: CRITICAL");
        add_newer("link", 2000);
        add_pair(figure, gpu, peer, RATE);
        judge();
        assert_int_equal(count_of(XB_FLEET_LINK_VERDICT), peer - 1);
    }
    for (unsigned index = 3; index < 5; index++) {
        begin_with("link", 1000);
        add_value(figure, gpu, RATE);
        complain_of_node(XB_FLEET_CUT, fleet.gpus[gpu]->node->number, "SIGTERM");
        add_newer("link", 2000);
        add_value(figure, add_gpu(add_node("bad"), index), RATE);
        judge();
        assert_int_equal(count_of(XB_FLEET_CUT), index - 3);
    }
}

/* One process a GPU: that another one found its GPU says nothing of one that found none. */
TEST(test_another_rank_does_not_clear)
{
    static const struct {
        unsigned rank, ranks;
        time_t written;
        size_t left;
    } newer[] = {
        {1, 8, 1003, 1}, {0, 8, 1003, 0}, {1, 7, 1003, 0}, {0, 0, 1003, 0}, {1, 8, 90000, 0},
    };
    for (size_t i = 0; i < sizeof newer / sizeof *newer; i++) {
        begin();
        figure = add_fleet(20, RATE, 0.001);
        next_source.ranks = 8;
        add_document();
        complain_of_node(XB_FLEET_LINK_VERDICT, add_node("bad"), "nothing could be tested");
        next_source.rank = newer[i].rank;
        next_source.ranks = newer[i].ranks;
        add_newer("link", newer[i].written);
        add_value(figure, add_gpu(add_node("bad"), 0), RATE);
        judge();
        assert_int_equal(count_of(XB_FLEET_LINK_VERDICT), newer[i].left);
    }
}

/* What a tenth of the nodes say of themselves is likelier a limit that is wrong. */
TEST(test_many_together)
{
    static const enum xb_fleet_code faults[] = {XB_FLEET_WRONG_DATA, XB_FLEET_FAILED, XB_FLEET_CUT,
                                                XB_FLEET_LINK_VERDICT};
    for (size_t many = 4; many < 6; many++)
        for (size_t i = 0; i < 4; i++) {
            begin_with("link", 1000);
            for (size_t node = 0; node < many; node++)
                complain_of_node(faults[i], node, "so");
            judge();
            assert_int_equal(judged.finding_count, many);
            for (size_t k = 0; k < many; k++)
                assert_int_equal(judged.findings[k].together,
                                 many == 5 && faults[i] != XB_FLEET_WRONG_DATA);
        }
}

/* A warning of all nodes hides neither another code of one of them nor the same at another level.
 */
TEST(test_other_causes_are_not_together)
{
    static const char *const own[] = {"CRITICAL XB-AER\nWARNING XB-PACKETS", "CRITICAL XB-PACKETS"};
    for (size_t i = 0; i < 2; i++) {
        begin_with("link", 1000);
        next_causes = "WARNING XB-PACKETS";
        for (size_t node = 0; node < 20; node++)
            complain_of_node(XB_FLEET_LINK_VERDICT, node, "WARNING: small packets");
        next_causes = own[i];
        complain(XB_FLEET_LINK_VERDICT, gpu, "CRITICAL: its own");
        judge();
        assert_int_equal(judged.finding_count, 21);
        assert_string_equal(judged.findings[0].node->name, "bad"); /* the worst */
        for (size_t k = 0; k < judged.finding_count; k++)
            assert_int_equal(judged.findings[k].together, k > 0);
    }
}

/* Several causes that many have, each in another company. */
TEST(test_each_cause_is_common)
{
    static const char *const causes[] = {"WARNING A", "WARNING B", "WARNING A\nWARNING B"};
    begin_with("link", 1000);
    for (size_t node = 0; node < 9; node++) {
        next_causes = causes[node < 8 ? node % 2 : 2];
        complain_of_node(XB_FLEET_LINK_VERDICT, node, "WARNING");
    }
    judge();
    assert_int_equal(judged.finding_count, 9);
    for (size_t i = 0; i < judged.finding_count; i++)
        assert_true(judged.findings[i].together);
}

/* What only this GPU has is told, not what all have. */
TEST(test_own_cause_is_told)
{
    begin_with("run", 1000);
    for (int own = 0; own < 2; own++) {
        next_causes = "not permitted";
        for (size_t i = 0; i < 20; i++)
            complain(XB_FLEET_FAILED, i, "async h2d: not permitted");
        complain(XB_FLEET_FAILED, gpu, "async h2d: not permitted");
        next_causes = "fell off the bus";
        if (own == 0)
            complain(XB_FLEET_FAILED, gpu, "pinned h2d: fell off the bus");
    }
    judge();
    assert_int_equal(judged.finding_count, 21);
    assert_string_equal(judged.findings[0].node->name, "bad");
    assert_has(judged.findings[0].text, "pinned h2d: fell off the bus (and 2 more)");
    for (size_t i = 0; i < judged.finding_count; i++)
        assert_int_equal(judged.findings[i].together, i > 0);
}

GROUP(NULL, finish_group)
