/* SPDX-License-Identifier: Apache-2.0 */
#include "checks.h"
#include "sink_fixture.h"

#include <cjson/cJSON.h>

#include "testing.h"

NODE_TEST(json_of_both_ways_has_each_way)
{
    struct node *n = *state;
    struct xb_result *both = add(n, &async, "alloc", XB_BIDIR, 91);
    add_figure(both, &xb_figure_overlap, 0.97);
    add_figure(both, &xb_figure_bandwidth_h2d, 44e9);
    add_figure(both, &xb_figure_bandwidth_d2h, 47e9);
    both->figures[1].samples.values[6] = 1e9; /* the median is no mean */
    cJSON *root = parsed(&n->run);
    const cJSON *row = at(root, "results.0");
    assert_text_at(row, "direction", "bidir");
    assert_number_at(row, "bytes", 256 * MIB);
    assert_number_at(row, "bytes_moved", 512 * MIB);
    assert_number_at(figure_at(row, "bandwidth"), "median", 91e9);
    assert_number_at(figure_at(row, "overlap"), "median", 0.97);
    assert_text_at(figure_at(row, "overlap"), "unit", "1");
    const cJSON *to = figure_at(row, "bandwidth_h2d");
    assert_number_at(to, "median", 44e9);
    assert_number_at(to, "min", 1e9);
    assert_number_at(to, "samples.6", 1e9);
    assert_int_equal(cJSON_GetArraySize(at(to, "samples")), 7);
    assert_number_at(figure_at(row, "bandwidth_d2h"), "median", 47e9);
    cJSON_Delete(root);
    /* Wrong data: the times stay as evidence, the figures go. */
    spoil(both, XB_RESULT_ERROR, "17 bytes are wrong");
    root = parsed(&n->run);
    assert_int_equal(cJSON_GetArraySize(at(root, "results.0.figures")), 0);
    assert_int_equal(cJSON_GetArraySize(at(root, "results.0.samples_s")), 7);
    assert_number_at(root, "results.0.bytes_moved", 512 * MIB);
    cJSON_Delete(root);
}

/* What follows from other figures has no samples. Never in flight together is a measurement, too.
 */
NODE_TEST(json_of_computed_figures)
{
    struct node *n = *state;
    struct xb_result *row = add(n, &async, "alloc", XB_H2D, 55);
    set_computed(row, &xb_figure_share_of_alone, 0);
    cJSON *root = parsed(&n->run);
    const cJSON *share = figure_at(at(root, "results.0"), "share_of_alone");
    assert_number_at(share, "median", 0);
    assert_number_at(share, "n", 0);
    assert_null_at(share, "min");
    assert_null_at(share, "ci95_low");
    assert_null_at(share, "p99");
    assert_int_equal(cJSON_GetArraySize(at(share, "samples")), 0);
    cJSON_Delete(root);
}

NODE_TEST(json_names_the_ends_of_a_pair)
{
    struct node *n = *state;
    n->run.device_count = NODE_DEVICES;
    add_pair(n, "direct-read", XB_D2D, 2, 0, 394);
    cJSON *root = parsed(&n->run);
    assert_text_at(root, "results.0.direction", "d2d");
    assert_number_at(root, "results.0.device", 2);
    assert_number_at(root, "results.0.peer", 0);
    cJSON_Delete(root);
}

NODE_TEST(json_of_devices_together)
{
    static const double rates[] = {41, 42, 41.5, 42};
    static const double shares[] = {0.74, 0.76, 0, 0.76};
    struct node *n = *state;
    n->run.device_count = NODE_DEVICES;
    add_together(n, XB_H2D, 166.5, rates, shares);
    cJSON *root = parsed(&n->run);
    assert_null_at(root, "results.0.device");
    assert_true(cJSON_IsTrue(at(root, "results.0.simultaneous")));
    assert_number_at(root, "results.0.bytes_moved", (double)GIB);
    const cJSON *sum = at(root, "results.0");
    assert_number_at(figure_at(sum, "overlap"), "median", 0.98);
    assert_null(figure_at(sum, "share_of_alone"));
    assert_null(figure_at(sum, "submit_time"));
    assert_null(figure_at(sum, "wall_time"));
    const cJSON *one = at(root, "results.1");
    assert_number_at(one, "device", 0);
    assert_true(cJSON_IsTrue(at(one, "simultaneous")));
    assert_number_at(figure_at(one, "share_of_alone"), "median", 0.74);
    assert_null(figure_at(one, "overlap"));
    assert_null(figure_at(at(root, "results.3"), "share_of_alone"));
    cJSON_Delete(root);
}

NODE_TEST(json_of_latencies)
{
    struct node *n = *state;
    add_latency(n, &pinned, XB_H2D);
    set_latency(add_latency(n, &pinned, XB_D2H), 6.6e-6, 0);
    spoil(add_latency(n, &async, XB_H2D), XB_RESULT_ERROR, "wrong");
    spoil(add_latency(n, &async, XB_D2H), XB_RESULT_SKIPPED, "no");
    add(n, &pinned, "alloc", XB_H2D, 55);
    cJSON *root = parsed(&n->run);
    const cJSON *row = at(root, "results.0");
    assert_true(cJSON_IsTrue(at(row, "latency")));
    const cJSON *host = figure_at(row, "latency_host");
    assert_number_at(host, "median", 6.6e-6);
    assert_number_at(host, "p95", 2 * 6.6e-6);
    assert_number_at(host, "p99", 3 * 6.6e-6);
    assert_text_at(host, "unit", "s");
    assert_true(cJSON_IsFalse(at(host, "more_is_better")));
    assert_true(cJSON_IsTrue(at(host, "gates")));
    assert_non_null(figure_at(row, "latency_device"));
    assert_null(figure_at(row, "bandwidth")); /* of 4 bytes it would mean nothing */
    assert_null(figure_at(at(root, "results.1"), "latency_device"));
    assert_int_equal(cJSON_GetArraySize(at(root, "results.2.figures")), 0);
    assert_int_equal(cJSON_GetArraySize(at(root, "results.3.figures")), 0);
    assert_null(figure_at(at(root, "results.4"), "latency_host"));
    cJSON_Delete(root);
}

NODE_TEST(json_of_all_this_survives_every_failed_allocation)
{
    struct node *n = *state;
    add_latency(n, &pinned, XB_H2D);
    struct xb_result *both = add(n, &async, "alloc", XB_BIDIR, 91);
    add_figure(both, &xb_figure_bandwidth_h2d, 44e9);
    add_figure(both, &xb_figure_bandwidth_d2h, 47e9);
    assert_true(fail_every_allocation(write_json, &n->run) > 3);
}

NODE_TEST(json_tells_of_the_deadline)
{
    struct node *n = *state;
    add(n, &pinned, "alloc", XB_H2D, 55)->stop_reason = XB_STOP_DEADLINE;
    n->run.deadline_met = false; /* means nothing without one */
    cJSON *root = parsed(&n->run);
    assert_null_at(root, "deadline_met");
    cJSON_Delete(root);
    n->run.deadline = 12.5;
    root = parsed(&n->run);
    assert_true(cJSON_IsFalse(at(root, "deadline_met")));
    assert_text_at(root, "results.0.stop_reason", "deadline");
    cJSON_Delete(root);
    n->run.deadline_met = true;
    root = parsed(&n->run);
    assert_true(cJSON_IsTrue(at(root, "deadline_met")));
    cJSON_Delete(root);
}
