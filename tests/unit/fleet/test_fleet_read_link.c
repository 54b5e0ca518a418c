/* SPDX-License-Identifier: Apache-2.0 */
/* What a link test says of its node, in a fleet. */
#include "checks.h"
#include "fleet/fleet.h"
#include "link_fixture.h"
#include "xferbench/figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

static int close_fleet(void **state);

#define FIXTURE_TEST(name) TEST_WITH(name, link_setup, close_fleet)

static struct xb_fleet fleet;
static struct xb_error error;

/* As another node at another time would write the report. */
static cJSON *tree_of(struct node *n)
{
    snprintf(n->devices[1].info.uuid, sizeof n->devices[1].info.uuid, "GPU-2"); /* they are two */
    char *text = link_text(xb_link_json_write, n);
    cJSON *tree = cJSON_Parse(text);
    assert_non_null(tree);
    free(text);
    cJSON *host = cJSON_GetObjectItem(tree, "host");
    cJSON_ReplaceItemInObject(host, "node", cJSON_CreateNull());
    cJSON_ReplaceItemInObject(host, "hostname", cJSON_CreateString("n1"));
    cJSON_ReplaceItemInObject(tree, "timestamp", cJSON_CreateString("2026-01-02T03:04:05Z"));
    return tree;
}

/* Takes the tree. */
static void take(cJSON *tree)
{
    char *text = cJSON_Print(tree);
    assert_non_null(text);
    xb_fleet_open(&fleet);
    fleet.now = 1795000000; /* whatever the clock says */
    assert_int_equal(xb_fleet_read_text(&fleet, "a.json", 0, text, strlen(text), &error), XB_OK);
    free(text);
    cJSON_Delete(tree);
}

static const struct xb_fleet_value *find_value(const char *name, size_t gpu)
{
    for (size_t i = 0; i < fleet.value_count; i++)
        if (fleet.values[i].gpu->number == gpu && strcmp(fleet.values[i].figure->name, name) == 0)
            return &fleet.values[i];
    return NULL;
}

#define NO_GPU SIZE_MAX

static const struct xb_fleet_finding *find_complaint(enum xb_fleet_code code, size_t gpu)
{
    for (size_t i = 0; i < fleet.complaint_count; i++)
        if (fleet.complaints[i].code == code &&
            fleet.complaints[i].gpu == (gpu != NO_GPU ? fleet.gpus[gpu] : NULL))
            return &fleet.complaints[i];
    return NULL;
}

FIXTURE_TEST(a_healthy_gpu_has_two_values)
{
    struct node *n = *state;
    make_healthy(n);
    take(tree_of(n));
    assert_int_equal(fleet.source_count, 1);
    assert_string_equal(fleet.sources[0].path, "a.json");
    assert_string_equal(fleet.sources[0].kind, "link");
    assert_int_equal(fleet.sources[0].written, 1767323045);
    assert_true(isnan(fleet.sources[0].began) && isnan(fleet.sources[0].late_s));
    assert_int_equal(fleet.node_count, 1);
    assert_string_equal(fleet.nodes[0]->name, "n1");
    assert_string_equal(fleet.nodes[0]->driver, n->report.probe.driver_version);
    assert_int_equal(fleet.gpu_count, 1);
    assert_string_equal(fleet.gpus[0]->model, n->devices[0].info.name);
    assert_string_equal(fleet.gpus[0]->pci_bdf, "0000:0f:00.0");
    assert_true(fleet.gpus[0]->link_speed_gts == 32.0 && fleet.gpus[0]->link_width == 16);
    assert_int_equal(fleet.value_count, 2);
    assert_true(find_value("link h2d", 0)->value == n->devices[0].attempts[0].rates[XB_TO_GPU]);
    assert_true(find_value("link d2h", 0)->value == n->devices[0].attempts[0].rates[XB_BACK]);
    assert_true(isnan(find_value("link h2d", 0)->scatter));
    assert_int_equal(find_value("link h2d", 0)->peer, -1);
    const struct xb_fleet_figure *figure = find_value("link h2d", 0)->figure;
    assert_string_equal(figure->backend, "cuda");
    assert_string_equal(figure->unit, XB_UNIT_RATE);
    assert_true(figure->more_is_better);
    assert_string_equal(figure->link, "Gen5 x16");
    assert_string_equal(figure->driver, n->report.probe.driver_version);
    assert_string_equal(figure->options, "");
    assert_int_equal(fleet.complaint_count, 0);
}

/* It is compared with those that have all their lanes. */
FIXTURE_TEST(a_gpu_that_lost_lanes_stays_among_its_siblings)
{
    struct node *n = *state;
    make_critical(n);
    take(tree_of(n));
    assert_int_equal(fleet.gpu_count, 2);
    assert_int_equal(fleet.gpus[1]->link_width, 8);
    assert_ptr_equal(find_value("link h2d", 1)->figure, find_value("link h2d", 0)->figure);
    const struct xb_fleet_finding *complaint = find_complaint(XB_FLEET_LINK_VERDICT, 1);
    assert_non_null(complaint);
    assert_has(complaint->text, "CRITICAL: XB-LINK-WIDTH: x8 of x16");
    assert_has(complaint->text, "; XB-AER-CORRECTABLE: 3 at");
    assert_has(complaint->causes, "CRITICAL XB-LINK-WIDTH");
    /* A warning besides would let the node be drained for what all nodes have. */
    assert_null(strstr(complaint->causes, "WARNING"));
    assert_null(find_complaint(XB_FLEET_LINK_VERDICT, 0));
    assert_null(find_complaint(XB_FLEET_LINK_WARNING, 1));
}

FIXTURE_TEST(the_best_attempt_counts)
{
    struct node *n = *state;
    make_retried(n);
    take(tree_of(n));
    assert_true(find_value("link h2d", 0)->value == n->devices[0].attempts[2].rates[XB_TO_GPU]);
}

FIXTURE_TEST(a_pair_is_of_its_source)
{
    struct node *n = *state;
    make_peers(n);
    take(tree_of(n));
    const struct xb_fleet_value *value = find_value("link peer", 1);
    assert_non_null(value);
    assert_int_equal(value->peer, 0);
    assert_true(value->value == 331.5e9);
    assert_string_equal(value->figure->link, "NVLink x18");
    assert_has(find_complaint(XB_FLEET_LINK_WARNING, 1)->text,
               "GPU 1>0: WARNING: XB-BW-PEER: 331.50");
}

/* Some are behind one switch and some are not: only the same places of nodes are alike. */
FIXTURE_TEST(a_pair_whose_links_nobody_counts_is_alike_at_its_place)
{
    struct node *n = *state;
    make_peers(n);
    for (size_t i = 0; i < n->report.pair_count; i++) {
        struct xb_pair_attempt *attempt = &n->pairs[i].attempts[0];
        snprintf(attempt->there.link, sizeof attempt->there.link, "PCIe");
        attempt->there.links = attempt->back.links = 0;
    }
    take(tree_of(n));
    const struct xb_fleet_figure *figure = find_value("link peer", 0)->figure;
    assert_has(figure->link, "PCIe 0000:0f:00.0>");
    assert_int_equal(figure->links, 0);
    assert_true(find_value("link peer", 0)->figure != find_value("link peer", 1)->figure);
}

FIXTURE_TEST(wrong_data_is_told_and_has_no_value)
{
    struct node *n = *state;
    make_peers(n);
    n->devices[0].attempts[0].data_wrong = n->pairs[0].attempts[0].data_wrong = true;
    take(tree_of(n));
    assert_non_null(find_complaint(XB_FLEET_WRONG_DATA, 0));
    assert_null(find_value("link h2d", 0));
    assert_null(find_value("link peer", 0));
    assert_non_null(find_value("link h2d", 1));
}

FIXTURE_TEST(what_was_cut_is_told)
{
    struct node *n = *state;
    make_cut(n);
    take(tree_of(n));
    assert_non_null(find_complaint(XB_FLEET_CUT, NO_GPU));
    assert_non_null(find_complaint(XB_FLEET_CUT, 1));
    assert_null(find_value("link h2d", 1));
    assert_non_null(find_value("link h2d", 0));
}

FIXTURE_TEST(a_node_where_nothing_could_be_tested_is_told)
{
    struct node *n = *state;
    make_nothing(n);
    take(tree_of(n));
    assert_int_equal(fleet.node_count, 1);
    assert_int_equal(fleet.value_count, 0);
    assert_has(find_complaint(XB_FLEET_LINK_VERDICT, NO_GPU)->text, n->report.nothing);
}

FIXTURE_TEST(a_gpu_that_is_missing_is_none)
{
    struct node *n = *state;
    make_peers(n);
    memset(&n->verdicts[1], 0, sizeof n->verdicts[1]);
    n->devices[1].attempt_count = 0;
    add_reason(&n->verdicts[1], XB_LEVEL_CRITICAL, "XB-DEVICE-MISSING", "fewer than asked for");
    n->verdicts[1].found.level = XB_LEVEL_CRITICAL;
    take(tree_of(n));
    assert_int_equal(fleet.gpu_count, 1);
    assert_has(find_complaint(XB_FLEET_LINK_VERDICT, NO_GPU)->text,
               "GPU 1: CRITICAL: XB-DEVICE-MISSING: fewer");
    assert_non_null(find_value("link peer", 0));
    assert_int_equal(fleet.value_count, 3); /* and none of the GPU that is not there */
}

FIXTURE_TEST(larger_copies_are_another_figure)
{
    struct node *n = *state;
    make_healthy(n);
    cJSON *tree = tree_of(n);
    cJSON_ReplaceItemInObject(tree, "config", cJSON_Parse("{\"size\":1073741824}"));
    take(tree);
    assert_string_equal(fleet.figures[0]->options, "size=1073741824");
}

FIXTURE_TEST(a_node_is_called_as_its_launcher_calls_it)
{
    struct node *n = *state;
    make_healthy(n);
    cJSON *tree = tree_of(n);
    cJSON_ReplaceItemInObject(cJSON_GetObjectItem(tree, "host"), "node",
                              cJSON_CreateString("rack1-n1"));
    take(tree);
    assert_string_equal(fleet.nodes[0]->name, "rack1-n1");
    assert_string_equal(fleet.nodes[0]->hostname, "n1");
}

FIXTURE_TEST(a_start_is_read)
{
    struct node *n = *state;
    make_healthy(n);
    cJSON *tree = tree_of(n);
    cJSON_DeleteItemFromObject(tree, "start");
    cJSON_AddItemToObject(tree, "start",
                          cJSON_Parse("{\"began\":\"2026-01-02T03:03:20.500000Z\",\"late_s\":0.25,"
                                      "\"clock\":{\"synchronised\":false}}"));
    cJSON_DeleteItemFromObject(tree, "launcher");
    cJSON_AddItemToObject(tree, "launcher", cJSON_Parse("{\"rank\":3,\"ranks\":8}"));
    take(tree);
    assert_int_equal(fleet.sources[0].rank, 3);
    assert_int_equal(fleet.sources[0].ranks, 8);
    assert_true(fleet.sources[0].began == 1767323000.5 && fleet.sources[0].late_s == 0.25);
    assert_true(fleet.sources[0].unsynchronised);
}

FIXTURE_TEST(without_a_name_it_is_left_out)
{
    struct node *n = *state;
    make_healthy(n);
    cJSON *tree = tree_of(n);
    cJSON_ReplaceItemInObject(cJSON_GetObjectItem(tree, "host"), "hostname", cJSON_CreateNull());
    take(tree);
    assert_int_equal(fleet.source_count + fleet.node_count, 0);
    assert_int_equal(fleet.left_out_count, 1);
    assert_string_equal(fleet.left_out[0].what, "a.json");
    assert_has(fleet.left_out[0].why, "no host name");
}

FIXTURE_TEST(what_is_wrong_in_it_is_named)
{
    struct node *n = *state;
    make_healthy(n);
    cJSON *tree = tree_of(n);
    cJSON_ReplaceItemInObject(cJSON_GetArrayItem(cJSON_GetObjectItem(tree, "devices"), 0), "cut",
                              cJSON_CreateString("no"));
    take(tree);
    assert_int_equal(fleet.source_count + fleet.node_count + fleet.value_count, 0);
    assert_has(fleet.left_out[0].why, "devices[0].cut: must be true or false");
    assert_lacks(fleet.left_out[0].why, "document:");
}

static int close_fleet(void **state)
{
    xb_fleet_free(&fleet);
    return link_teardown(state);
}
