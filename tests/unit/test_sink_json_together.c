/* SPDX-License-Identifier: Apache-2.0 */
#include "checks.h"
#include "sink_fixture.h"

#include <cjson/cJSON.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void json_of_both_ways_has_its_parts(void **state)
{
    struct node *n = *state;
    struct xb_result *both = add(n, &async, "alloc", XB_BIDIR, 91);
    both->overlap = 0.97;
    add_part(both, "h2d", 256 * MIB, 0.006);
    add_part(both, "d2h", 256 * MIB, 0.005);
    add_part(both, "never", 256 * MIB, 0);
    both->parts[0].times.values[6] = 0.5; /* the median is no mean */
    cJSON *root = parsed(&n->run);
    const cJSON *row = at(root, "results.0");
    assert_text_at(row, "direction", "bidir");
    assert_number_at(row, "bytes", 256 * MIB);
    assert_number_at(row, "bytes_moved", 512 * MIB);
    assert_number_at(row, "bandwidth_bytes_per_second.median", 91e9);
    assert_number_at(row, "overlap", 0.97);
    assert_int_equal(cJSON_GetArraySize(at(row, "parts")), 2);
    assert_number_at(row, "parts.h2d.bytes", 256 * MIB);
    assert_number_at(row, "parts.h2d.median_s", 0.006);
    assert_int_equal(cJSON_GetArraySize(at(row, "parts.h2d.samples_s")), 7);
    assert_number_at(row, "parts.h2d.samples_s.6", 0.5);
    assert_number_at(row, "parts.d2h.median_s", 0.005);
    cJSON_Delete(root);
    /* Never in flight together is a measurement, too. */
    both->overlap = 0;
    root = parsed(&n->run);
    assert_number_at(root, "results.0.overlap", 0);
    cJSON_Delete(root);
    /* Wrong data: the times stay as evidence, the figures go. */
    spoil(both, XB_RESULT_ERROR, "17 bytes are wrong");
    root = parsed(&n->run);
    assert_null_at(root, "results.0.overlap");
    assert_number_at(root, "results.0.parts.h2d.median_s", 0.006);
    assert_number_at(root, "results.0.bytes_moved", 512 * MIB);
    cJSON_Delete(root);
}

static void json_names_the_ends_of_a_pair(void **state)
{
    struct node *n = *state;
    add_pair(n, "direct-read", XB_D2D, 2, 0, 394);
    cJSON *root = parsed(&n->run);
    assert_text_at(root, "results.0.direction", "d2d");
    assert_number_at(root, "results.0.device", 2);
    assert_number_at(root, "results.0.peer", 0);
    cJSON_Delete(root);
}

static void json_of_devices_together(void **state)
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
    assert_number_at(root, "results.0.overlap", 0.98);
    assert_null_at(root, "results.0.share_of_alone");
    assert_null_at(root, "results.0.submit_s");
    assert_null_at(root, "results.0.wall_s");
    assert_number_at(root, "results.1.device", 0);
    assert_true(cJSON_IsTrue(at(root, "results.1.simultaneous")));
    assert_number_at(root, "results.1.share_of_alone", 0.74);
    assert_null_at(root, "results.1.overlap");
    assert_null_at(root, "results.3.share_of_alone");
    cJSON_Delete(root);
}

static void json_of_latencies(void **state)
{
    struct node *n = *state;
    add_latency(n, &pinned, XB_H2D);
    add_latency(n, &pinned, XB_D2H)->device_latency.n = 0;
    spoil(add_latency(n, &async, XB_H2D), XB_RESULT_ERROR, "wrong");
    spoil(add_latency(n, &async, XB_D2H), XB_RESULT_SKIPPED, "no");
    add(n, &pinned, "alloc", XB_H2D, 55)->host_latency = latency_of(1); /* not asked for */
    cJSON *root = parsed(&n->run);
    assert_true(cJSON_IsTrue(at(root, "results.0.latency")));
    assert_number_at(root, "results.0.latency_s.host.min", 0.5 * 6.6e-6);
    assert_number_at(root, "results.0.latency_s.host.p50", 6.6e-6);
    assert_number_at(root, "results.0.latency_s.host.p95", 2 * 6.6e-6);
    assert_number_at(root, "results.0.latency_s.host.p99", 3 * 6.6e-6);
    assert_number_at(root, "results.0.latency_s.host.max", 4 * 6.6e-6);
    assert_number_at(root, "results.0.latency_s.host.n", 1000);
    assert_number_at(root, "results.0.latency_s.device.p50", 1.5e-6);
    assert_null_at(root, "results.1.latency_s.device");
    assert_null_at(root, "results.2.latency_s");
    assert_null_at(root, "results.3.latency_s");
    assert_null_at(root, "results.4.latency_s");
    cJSON_Delete(root);
}

static void json_of_all_this_survives_every_failed_allocation(void **state)
{
    struct node *n = *state;
    add_latency(n, &pinned, XB_H2D);
    struct xb_result *both = add(n, &async, "alloc", XB_BIDIR, 91);
    add_part(both, "h2d", 256 * MIB, 0.006);
    add_part(both, "d2h", 256 * MIB, 0.005);
    assert_true(fail_every_allocation(write_json, &n->run) > 100);
}

static void json_tells_of_the_deadline(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        NODE_TEST(json_of_both_ways_has_its_parts),
        NODE_TEST(json_names_the_ends_of_a_pair),
        NODE_TEST(json_of_devices_together),
        NODE_TEST(json_of_latencies),
        NODE_TEST(json_of_all_this_survives_every_failed_allocation),
        NODE_TEST(json_tells_of_the_deadline),
    };
    return cmocka_run_group_tests_name("sink_json_together", tests, NULL, NULL);
}
