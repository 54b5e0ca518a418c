/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "testing.h"

#include "checks.h"
#include "fleet_fixture.h"

#include "fleet/internal.h"

/* What is told of nodes: missing ones, GPUs, drivers, when they began, and what many have. */

#define RATE 1e10

static void expect(const char *const *names, size_t count)
{
    request.expected = names;
    request.expected_count = count;
}

TEST(test_missing)
{
    static const char *const names[] = {"n0", "n10", "n2", "gone10", "gone9"};
    begin();
    add_fleet(12, RATE, 0.001);
    expect(names, 5);
    judge();
    assert_int_equal(count_of(XB_FLEET_MISSING), 2);
    assert_string_equal(judged.findings[0].node->name, "gone9");
    assert_string_equal(judged.findings[1].node->name, "gone10");
    assert_note("Nodes with a result file that you did not expect: n1, n3, n4 and 6 more.");
    expect(NULL, 0);
    judge();
    assert_int_equal(judged.finding_count, 0);
    assert_int_equal(judged.note_count, 0);
}

/* Whoever expects 50 nodes and measured 40 of them did not mean to drain the others. */
TEST(test_many_missing)
{
    static char texts[50][8];
    const char *names[50];
    for (size_t i = 0; i < 50; i++) {
        snprintf(texts[i], sizeof texts[i], "n%zu", i);
        names[i] = texts[i];
    }
    for (size_t there = 45; there >= 44; there--) {
        begin();
        add_fleet(there, RATE, 0.001);
        expect(names, 50);
        judge();
        assert_int_equal(count_of(XB_FLEET_MISSING), 50 - there);
        assert_int_equal(judged.findings[0].together, there == 44);
    }
}

TEST(test_host_names)
{
    static const char *const names[] = {"alias", "n0.cluster", "short", "a.one", "a.two"};
    begin();
    add_fleet(1, RATE, 0);
    struct xb_fleet_node node = {.name = "n1", .hostname = "alias"};
    (void)xb_fleet_add_node(&fleet, &node);
    add_node("short.cluster");
    add_node("a");
    expect(names, 5);
    judge();
    /* "a" may be either: nobody is taken for the other. */
    assert_int_equal(count_of(XB_FLEET_MISSING), 2);
    assert_string_equal(judged.findings[0].node->name, "a.one");
    assert_string_equal(judged.findings[1].node->name, "a.two");
    assert_note("Nodes with a result file that you did not expect: a.");
}

/* Nodes of one image have the host name of one of them, which hides nobody. */
TEST(test_one_host_name_for_all)
{
    static const char *const names[] = {"n1", "n2", "n8"};
    for (size_t there = 2; there <= 3; there++) {
        begin();
        for (size_t i = 0; i < there; i++) {
            struct xb_fleet_node node = {.name = names[i], .hostname = "n8"};
            (void)xb_fleet_add_node(&fleet, &node);
        }
        expect(names, 3);
        judge();
        assert_int_equal(count_of(XB_FLEET_MISSING), 3 - there);
        for (size_t i = 0; i < there; i++)
            assert_string_equal(fleet.nodes[i]->expected, names[i]);
    }
}

static void add_gpus(const char *name, unsigned count)
{
    add_document();
    size_t node = add_node("%s", name);
    for (unsigned i = 0; i < count; i++)
        add_gpu(node, i);
}

TEST(test_fewer_gpus)
{
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    begin();
    for (size_t i = 0; i < 5; i++)
        add_gpus(names[i], 8);
    judge();
    assert_int_equal(judged.finding_count, 0);
    add_gpus("f", 7);
    judge();
    assert_finding(XB_FLEET_FEWER_GPUS, "f", "7 x H200; 5 of 6 nodes have 8");
    add_gpus("empty", 0);
    judge();
    assert_int_equal(count_of(XB_FLEET_FEWER_GPUS), 2);
    for (int i = 0; i < 4; i++) {
        char name[8];
        snprintf(name, sizeof name, "g%d", i);
        add_gpus(name, 4);
    }
    judge();
    assert_note("H200: nodes have different numbers of these GPUs; at most 5 of 10");
    assert_finding(XB_FLEET_FEWER_GPUS, "empty", "no GPU; 10 of 11 nodes have some");
}

/* A GPU that was replaced at its place does not count twice. */
TEST(test_replaced_gpu)
{
    begin();
    for (int i = 0; i < 6; i++) {
        char name[8];
        snprintf(name, sizeof name, "n%d", i);
        next_gpu.pci_bdf = "0000:01:00.0";
        add_gpus(name, 1);
        next_gpu.pci_bdf = "0000:02:00.0";
        if (i != 4)
            add_gpu(add_node("%s", name), 1);
    }
    next_gpu.pci_bdf = "0000:01:00.0";
    next_gpu.told = 2000;
    next_gpu.uuid = "GPU-new";
    add_gpu(add_node("n4"), 0);
    judge();
    assert_finding(XB_FLEET_FEWER_GPUS, "n4", "1 x H200; 5 of 6 nodes have 2");
    assert_note("1 GPU was replaced: a newer file has another at the same PCI address (first: n4, "
                "0000:01:00.0)");
}

/* Adds six nodes of eight GPUs, of which one is slow. Their UUIDs: one for all, one for the GPUs of
 * each number, or those of another node in one document, which lies. */
enum uuids { ALL_EQUAL, EQUAL_BY_NUMBER, OF_ANOTHER_NODE };
static void add_cloned(enum uuids uuids, unsigned slow)
{
    size_t figure = add_figure("h2d");
    for (unsigned i = 0; i < 48; i++) {
        char name[8], uuid[16], address[16];
        unsigned liar = (slow / 8 + 1) % 6;
        unsigned node = uuids == OF_ANOTHER_NODE && i / 8 == liar ? slow / 8 : i / 8;
        snprintf(name, sizeof name, "n%u", i / 8);
        snprintf(uuid, sizeof uuid, "GPU-%u-%u", uuids == OF_ANOTHER_NODE ? node : 0,
                 uuids == ALL_EQUAL ? 0 : i % 8);
        snprintf(address, sizeof address, "0000:%02x:00.0", i % 8);
        next_gpu.uuid = uuid;
        next_gpu.pci_bdf = address;
        if (i % 8 == 0)
            add_document();
        add_value(figure, add_gpu(add_node("%s", name), i % 8),
                  i == slow ? 20e9 : 55e9 * (1 + 0.001 * (i % 5)));
    }
}

/* Cloned machines, or a runtime without UUIDs of its own. */
TEST(test_equal_uuids)
{
    static const struct {
        enum uuids uuids;
        const char *note;
    } cases[] = {{ALL_EQUAL, "1 UUID names several GPUs (first: on n0 and on n5)"},
                 {EQUAL_BY_NUMBER, "8 UUIDs name several GPUs (first: on n0 and on n5)"},
                 {OF_ANOTHER_NODE, "8 UUIDs name several GPUs (first: on n"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (unsigned slow = 1; slow < 48; slow += 4) { /* twelve, two a node */
            char name[8];
            begin();
            add_cloned(cases[i].uuids, slow);
            judge();
            snprintf(name, sizeof name, "n%u", slow / 8);
            const struct xb_fleet_finding *found =
                assert_finding(XB_FLEET_SLOW, name, "below its 47 siblings");
            assert_int_equal(found->gpu->index, slow % 8);
            assert_int_equal(judged.finding_count, 1);
            assert_int_equal(fleet.gpu_count, 48);
            assert_note(cases[i].note);
        }
}

/* A GPU is the same at another place if newer documents no longer find it at the old one. */
TEST(test_moved_gpus)
{
    static const struct {
        struct {
            const char *node, *uuid, *address;
            double day; /* 0: no timestamp */
        } seen[6];
        size_t gpus;
        const char *node; /* where U is now; NULL: nobody knows, as a note says */
    } cases[] = {
        {{{"a", "U", "01", 1}, {"b", "U", "02", 2}, {"a", "V", "01", 2}}, 2, "b"},
        {{{"b", "U", "02", 2}, {"a", "V", "01", 2}, {"a", "U", "01", 1}}, 2, "b"},
        {{{"a", "U", "01", 1}, {"a", "U", "02", 2}}, 1, "a"},
        {{{"a", "U", "01", 1}, {"b", "U", "02", 2}}, 2, NULL}, /* a was not measured again */
        {{{"a", "U", "01", 1}, {"a", "U", "02", 1}}, 2, NULL},
        {{{"a", "U", "01", 0}, {"b", "U", "02", 2}, {"a", "V", "02", 2}}, 3, NULL},
        {{{"a", "U", "01", 1}, {"b", "U", "01", 1}, {"a", "V", "02", 2}, {"b", "U", "01", 2}},
         3,
         NULL},
        /* Two were swapped, one was moved and another put in its place: in two hours. */
        {{{"a", "U", "01", 1}, {"a", "V", "02", 1}, {"a", "V", "01", 1.1}, {"a", "U", "02", 1.1}},
         2,
         "a"},
        {{{"a", "U", "01", 1}, {"a", "V", "01", 1.1}, {"b", "U", "01", 1.1}}, 2, "b"},
        {{{"a", "U", "01", 1}, {"a", "V", "02", 1.1}, {"b", "U", "01", 1.1}}, 3, NULL},
        /* There and back; but of two that were seen together one may be lost. */
        {{{"a", "U", "01", 1}, {"a", "U", "02", 2}, {"a", "U", "01", 3}}, 1, "a"},
        {{{"a", "U", "01", 1}, {"a", "U", "02", 2}, {"a", "U", "01", 3}, {"a", "U", "02", 4}},
         1,
         "a"},
        {{{"a", "U", "01", 1}, {"a", "U", "02", 1}, {"a", "U", "01", 2}}, 2, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin();
        for (size_t k = 0; k < 6 && cases[i].seen[k].node != NULL; k++) {
            next_gpu.uuid = cases[i].seen[k].uuid;
            next_gpu.pci_bdf = cases[i].seen[k].address;
            next_source.written = next_gpu.told = (time_t)(cases[i].seen[k].day * 86400);
            add_document();
            size_t gpu = add_gpu(add_node("%s", cases[i].seen[k].node), 0);
            add_value(add_figure("h2d"), gpu, RATE);
            complain(XB_FLEET_CUT, gpu, "cut");
        }
        judge();
        assert_int_equal(fleet.gpu_count, cases[i].gpus);
        if (cases[i].node == NULL) {
            assert_note("1 UUID names several GPUs (first: on a and on ");
            assert_no_note("counts as moved");
            continue;
        }
        assert_no_note("several GPUs");
        assert_note(" as moved (first: from a GPU 0 to ");
        assert_true(judged.duplicates > 0);
        for (size_t k = 0; k < fleet.gpu_count; k++)
            if (strcmp(fleet.gpus[k]->uuid, "U") == 0)
                assert_string_equal(fleet.gpus[k]->node->name, cases[i].node);
        for (size_t k = 0; k < fleet.complaint_count; k++)
            assert_ptr_equal(fleet.complaints[k].gpu, fleet.gpus[fleet.complaints[k].gpu->number]);
    }
}

/* One fell off the bus between two rounds. */
TEST(test_gpus_of_older_documents_only)
{
    for (int hours = 1; hours < 30; hours += 24) {
        begin();
        size_t node = add_node("lost");
        next_gpu.pci_bdf = "0000:0a:00.0";
        add_gpu(node, 0);
        next_gpu.pci_bdf = "0000:0b:00.0";
        add_gpu(node, 1);
        next_gpu.told += hours * 3600;
        next_gpu.pci_bdf = "0000:0a:00.0";
        add_gpu(node, 0);
        judge();
        if (hours == 1) /* it may be another process of the same launch */
            assert_no_note("older documents");
        else
            assert_note(
                "1 GPU is only in older files of the node, and counts as present (first: lost, "
                "0000:0b:00.0)");
    }
}

/* Eight GPUs of one node that are slow have one fault, though they are an eighth of all. */
TEST(test_a_whole_node_is_one_fault)
{
    begin();
    size_t figure = add_figure("h2d");
    for (unsigned i = 0; i < 64; i++) {
        next_gpu.link_width = i / 8 == 3 ? 8 : 16;
        add_document();
        add_value(figure, add_gpu(add_node("n%u", i / 8), i % 8),
                  RATE * (i / 8 == 3 ? 0.5 : 1) * (1 + 0.001 * (i % 5)));
    }
    judge();
    assert_int_equal(count_of(XB_FLEET_SLOW), 8);
    assert_int_equal(count_of(XB_FLEET_NARROWER), 8);
    for (size_t i = 0; i < judged.finding_count; i++)
        assert_false(judged.findings[i].together);
    assert_no_note("take nodes out of service");
}

/* Five of forty nodes are more than so many faults. */
TEST(test_a_tenth_of_the_nodes_is_together)
{
    for (unsigned bad = 4; bad < 6; bad++) {
        begin();
        size_t figure = add_figure("h2d");
        for (unsigned i = 0; i < 40; i++) {
            next_gpu.link_width = i < bad ? 8 : 16;
            add_document();
            add_value(figure, add_gpu(add_node("n%u", i), 0),
                      RATE * (i < bad ? 0.5 : 1) * (1 + 0.001 * (i % 5)));
        }
        judge();
        assert_int_equal(judged.finding_count, 2 * bad);
        for (size_t i = 0; i < judged.finding_count; i++)
            assert_int_equal(judged.findings[i].together, bad == 5);
    }
}

/* Twelve GPUs of two models have h2d; peer is lacking on some of the first model. */
TEST(test_lacking)
{
    for (size_t lacking = 0; lacking < 7; lacking++) {
        begin();
        for (size_t i = 0; i < 24; i++) {
            next_gpu.model = next_figure.model = i % 2 == 0 ? "H200" : "L40S";
            next_figure.driver = i < 4 ? "570" : "580"; /* another driver measures the same */
            add_document();
            size_t gpu = add_gpu(add_node("n%zu", i), 3);
            add_value(add_figure("h2d"), gpu, RATE);
            if (i % 2 == 0 && i / 2 >= lacking)
                add_value(add_figure("peer"), gpu, RATE);
        }
        judge();
        if (lacking > 0 && lacking < 6)
            assert_note(
                "Some GPUs lack 1 figure that most of their model have (first: peer, on n0 GPU 3)");
        else
            assert_no_note("have, and others do not");
    }
}

/* The first is told by name: where texts lie in memory differs from run to run. */
TEST(test_the_first_lacking_by_name)
{
    static const char *const orders[][2] = {{"peer", "d2h"}, {"d2h", "peer"}};
    for (size_t round = 0; round < 2; round++) {
        begin();
        for (size_t i = 0; i < 8; i++) {
            add_document();
            size_t gpu = add_gpu(add_node("n%zu", i), 0);
            for (size_t k = 0; k < 2; k++)
                if (i != 3)
                    add_value(add_figure(orders[round][k]), gpu, RATE);
            add_value(add_figure("h2d"), gpu, RATE);
        }
        judge();
        assert_note(
            "Some GPUs lack 2 figures that most of their model have (first: d2h, on n3 GPU 0)");
    }
}

TEST(test_drivers)
{
    begin();
    add_fleet(5, RATE, 0.001);
    next_driver = next_figure.driver = "570.0";
    size_t figure = add_figure("h2d");
    add_document();
    add_value(figure, add_gpu(add_node("old"), 0), RATE);
    judge();
    assert_false(
        assert_finding(XB_FLEET_OTHER_DRIVER, "old", "driver 570.0; 5 of 6 nodes have 580.1")
            ->together);
    assert_false(xb_fleet_code_is_bad(XB_FLEET_OTHER_DRIVER));
    for (int i = 0; i < 4; i++) {
        add_document();
        add_value(figure, add_gpu(add_node("o%d", i), 0), RATE);
    }
    judge();
    assert_int_equal(count_of(XB_FLEET_OTHER_DRIVER), 0);
    assert_note("Drivers differ (backend cuda): at most 5 of 10 nodes");
}

TEST(test_start)
{
    static const double late[] = {0.2, -0.5, 3.25, 1.5};
    begin();
    next_source.unsynchronised = true; /* which does not matter: no time was agreed */
    add_fleet(6, RATE, 0.001);
    judge();
    assert_int_equal(judged.note_count, 0);
    for (size_t i = 0; i < 4; i++) {
        next_source.late_s = late[i];
        next_source.unsynchronised = i == 1;
        add_document();
    }
    judge();
    assert_note("2 of 4 measurements began more than 1 s after the agreed time, up to 3.25 s");
    assert_note("1 of 4 nodes that started together have no clock synchronisation (first: n.json)");
    assert_no_note("dated");
    next_source.dated = next_source.written;
    add_document();
    next_source.written = 0;
    add_document();
    judge();
    assert_note(
        "1 of 12 files have a date more than a day ahead, and count as the oldest (first: n.json)");
}

TEST(test_exit_codes)
{
    static const char *const names[] = {"n0", "gone"};
    begin();
    expect(names, 2);
    judge();
    assert_int_equal(xb_fleet_exit_code(&judged), 2);
    expect(NULL, 0);
    add_fleet(1, RATE, 0);
    judge();
    assert_int_equal(xb_fleet_exit_code(&judged), 3);
    expect(names, 2);
    judge();
    assert_int_equal(xb_fleet_exit_code(&judged), 1);
    begin();
    add_fleet(6, RATE, 0);
    judge();
    assert_int_equal(xb_fleet_exit_code(&judged), 0);
}

/* Nodes of which so many have the fault. */
static void judge_faults_of(enum xb_fleet_code code, size_t count, size_t nodes)
{
    begin();
    add_fleet(nodes, RATE, 0.001);
    for (size_t i = 0; i < count; i++)
        complain(code, i, "the same");
    judge();
    assert_int_equal(judged.finding_count, count);
}

static bool all_together(void)
{
    size_t together = 0;
    for (size_t i = 0; i < judged.finding_count; i++)
        together += judged.findings[i].together;
    assert_true(together == 0 || together == judged.finding_count);
    return together > 0;
}

/* A script must not drain a whole fleet for one cause: test_many_together has the complaints. */
TEST(test_one_cause)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "n0", "n1", "n2"};
    /* Five findings of one node are of one node. */
    begin();
    add_fleet(20, RATE, 0.001);
    for (unsigned i = 1; i < 6; i++)
        complain(XB_FLEET_FAILED, add_gpu(0, i), "the same");
    judge();
    assert_int_equal(count_of(XB_FLEET_FAILED), 5);
    assert_false(all_together());
    begin();
    add_fleet(3, RATE, 0.001);
    expect(names, 8);
    judge();
    assert_int_equal(judged.finding_count, 5);
    assert_true(all_together());
}

/* Nor may it drain a small one. */
TEST(test_one_cause_of_few)
{
    static const struct {
        size_t count, nodes;
        bool together;
    } cases[] = {{1, 1, false}, {1, 2, false}, {2, 2, true}, {2, 3, true},
                 {2, 4, false}, {3, 4, true},  {4, 8, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        judge_faults_of(XB_FLEET_CUT, cases[i].count, cases[i].nodes);
        assert_int_equal(all_together(), cases[i].together);
    }
    judge_faults_of(XB_FLEET_WRONG_DATA, 2, 2);
    assert_false(all_together());
}

/* A folder without any document says nothing of a node. */
TEST(test_nobody_is_there)
{
    static const char *const names[] = {"n0", "gone"};
    begin();
    expect(names, 2);
    judge();
    assert_int_equal(judged.finding_count, 2);
    assert_true(judged.findings[0].unsure && judged.findings[1].unsure);
    add_fleet(1, RATE, 0);
    judge();
    assert_int_equal(judged.finding_count, 1);
    assert_false(judged.findings[0].unsure);
    expect((const char *const[]){"misspelt"}, 1);
    judge();
    assert_true(judged.findings[0].unsure);
}

TEST(test_natural_order)
{
    static const char *const names[] = {"",
                                        "n",
                                        "n1",
                                        "n01",
                                        "n2",
                                        "n10",
                                        "n10a2",
                                        "n10a10",
                                        "n99999999999999999998",
                                        "n99999999999999999999",
                                        "na"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            int order = xb_natural_compare(names[i], names[k]);
            if (strcmp(names[i], "n1") == 0 && strcmp(names[k], "n01") == 0)
                assert_true(order != 0);
            else if (strcmp(names[i], "n01") != 0 || strcmp(names[k], "n1") != 0)
                assert_int_equal((order > 0) - (order < 0), (i > k) - (i < k));
        }
    assert_true(xb_natural_compare(NULL, "") < 0);
}

TEST(test_names_of_codes)
{
    for (int i = 0; i < XB_FLEET_CODES; i++)
        assert_non_null(xb_fleet_sayings[i].name);
    assert_string_equal(xb_fleet_sayings[XB_FLEET_NARROWER].name, "narrower-link");
    assert_true(xb_fleet_code_is_bad(XB_FLEET_MISSING));
    assert_false(xb_fleet_code_is_bad(XB_FLEET_FAST));
    assert_false(xb_fleet_code_is_bad(XB_FLEET_CUT));
}

GROUP(NULL, finish_group)
