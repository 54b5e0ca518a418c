/* SPDX-License-Identifier: Apache-2.0 */
#include "checks.h"
#include "link_fixture.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>

#include "testing.h"

static cJSON *parsed(struct node *n)
{
    char *text = link_text(xb_link_json_write, n);
    assert_true(is_utf8(text));
    cJSON *root = cJSON_Parse(text);
    assert_non_null(root);
    free(text);
    return root;
}

RUN_TEST(json_tells_of_the_node)
{
    struct node *n = *state;
    make_critical(n);
    cJSON *root = parsed(n);
    assert_text_at(root, "schema", "xferbench.link");
    assert_number_at(root, "schema_version", 1);
    assert_text_at(root, "tool.name", "xferbench");
    assert_text_at(root, "command", "xferbench link");
    assert_text_at(root, "backend.name", "cuda");
    assert_text_at(root, "level", "CRITICAL");
    assert_null_at(root, "nothing_tested");
    assert_number_at(root, "attempts_allowed", 3);
    assert_number_at(root, "deadline_s", 50);
    assert_true(cJSON_IsFalse(at(root, "cut")));
    assert_null_at(root, "config");
    assert_int_equal(cJSON_GetArraySize(at(root, "devices")), 2);
    cJSON_Delete(root);
    make_nothing(n);
    root = parsed(n);
    assert_null_at(root, "backend");
    assert_null_at(root, "command");
    assert_text_at(root, "level", "UNKNOWN");
    assert_text_at(root, "nothing_tested", "no backend can run: install the GPU's driver");
    assert_int_equal(cJSON_GetArraySize(at(root, "devices")), 0);
    cJSON_Delete(root);
}

RUN_TEST(json_tells_of_the_verdict)
{
    struct node *n = *state;
    make_critical(n);
    cJSON *root = parsed(n);
    const cJSON *verdict = at(root, "devices.1.verdict");
    assert_text_at(verdict, "level", "CRITICAL");
    assert_int_equal(cJSON_GetArraySize(at(verdict, "reasons")), 3);
    assert_text_at(verdict, "reasons.0.code", "XB-LINK-WIDTH");
    assert_text_at(verdict, "reasons.1.level", "WARNING");
    assert_text_at(verdict, "reasons.2.text", "1 at 0000:1f:00.0");
    assert_number_at(verdict, "attempt", 0);
    assert_number_at(verdict, "bottleneck", 0);
    assert_number_at(verdict, "ceiling.speed_gts", 32);
    assert_number_at(verdict, "ceiling.width", 8);
    assert_number_at(verdict, "ceiling.payload_bytes", 256);
    assert_number_at(verdict, "ceiling.read_request_bytes", 4096);
    assert_number_at(verdict, "ceiling.h2d_bytes_per_second", n->verdicts[1].ceiling.h2d);
    assert_number_at(verdict, "ceiling.d2h_bytes_per_second", n->verdicts[1].ceiling.d2h);
    assert_number_at(verdict, "ceiling.raw_bytes_per_second", n->verdicts[1].ceiling.raw);
    assert_true(cJSON_IsFalse(at(verdict, "ceiling.payload_assumed")));
    assert_number_at(verdict, "h2d_share", n->verdicts[1].ways[XB_TO_GPU].share);
    assert_number_at(verdict, "d2h_share", n->verdicts[1].ways[XB_BACK].share);
    assert_number_at(verdict, "limits.h2d.warning_below_bytes_per_second",
                     n->verdicts[1].ways[XB_TO_GPU].warning);
    assert_text_at(verdict, "limits.h2d.source", "default");
    assert_null_at(verdict, "limits.d2h.warning_below_bytes_per_second");
    assert_number_at(verdict, "limits.d2h.critical_below_bytes_per_second", 48e9);
    assert_text_at(verdict, "limits.d2h.source", "command line");
    assert_number_at(verdict, "limits.width.value", 16);
    assert_text_at(verdict, "limits.width.source", "file");
    assert_null_at(verdict, "limits.generation");
    assert_null_at(verdict, "limits.warn_share");
    cJSON_Delete(root);
}

RUN_TEST(json_keeps_every_attempt)
{
    struct node *n = *state;
    make_retried(n);
    cJSON *root = parsed(n);
    assert_int_equal(cJSON_GetArraySize(at(root, "devices.0.attempts")), 3);
    assert_number_at(root, "devices.0.verdict.attempt", 2);
    assert_null_at(root, "devices.0.attempts.1.h2d_bytes_per_second");
    assert_text_at(root, "devices.0.attempts.1.failure", "out of memory: free some");
    const cJSON *attempt = at(root, "devices.0.attempts.0");
    assert_number_at(attempt, "h2d_bytes_per_second", 30e9);
    assert_null_at(attempt, "failure");
    assert_true(cJSON_IsFalse(at(attempt, "data_wrong")));
    assert_text_at(attempt, "at_rest.local_cpus", "0-15,32-47");
    assert_number_at(attempt, "at_rest.iommu_group", 12);
    assert_number_at(attempt, "at_rest.numa_node", 0);
    assert_text_at(attempt, "at_rest.hops.0.upper.bdf", "0000:0e:00.0");
    assert_number_at(attempt, "at_rest.hops.0.lower.vendor", 0x10de);
    assert_number_at(attempt, "at_rest.hops.0.lower.link.speed_gts", 2.5);
    assert_number_at(attempt, "at_rest.hops.0.lower.link.max_width", 16);
    assert_number_at(attempt, "at_rest.hops.0.lower.aer.correctable", 7);
    assert_number_at(attempt, "after.hops.0.lower.aer.correctable", 9);
    assert_number_at(attempt, "at_rest.hops.0.lower.control.max_payload_supported_bytes", 512);
    assert_number_at(attempt, "under_load.hops.0.readings", 40);
    assert_number_at(attempt, "under_load.hops.0.speed_gts", 32);
    assert_number_at(attempt, "under_load.hops.0.changes", 1);
    assert_true(cJSON_IsFalse(at(attempt, "under_load.gone")));
    assert_number_at(attempt, "health_before.sm_clock_mhz", 345);
    assert_text_at(attempt, "health_before.throttle", "idle");
    assert_text_at(attempt, "health_after.throttle", "");
    assert_number_at(attempt, "health_after.nvlinks_active", 2);
    assert_int_equal(cJSON_GetArraySize(at(attempt, "health_after.nvlinks")), 3);
    assert_number_at(attempt, "health_after.nvlinks.1.link", 4);
    assert_true(cJSON_IsTrue(at(attempt, "health_after.nvlinks.1.active")));
    assert_number_at(attempt, "health_after.nvlinks.1.rate_bytes_per_second", 26.562e9);
    assert_number_at(attempt, "health_after.nvlinks.0.replays", 3);
    assert_number_at(attempt, "health_after.nvlinks.0.recoveries", 0);
    assert_null_at(attempt, "health_after.nvlinks.0.failed_recoveries");
    assert_null_at(attempt, "health_after.nvlinks.2.rate_bytes_per_second");
    assert_null_at(attempt, "health_after.nvlinks.2.crc_errors");
    assert_number_at(attempt, "health_seconds", 0.5);
    assert_number_at(attempt, "health_before.pcie_counters.retrains", 486);
    assert_null_at(attempt, "health_before.pcie_counters.fatal");
    assert_number_at(attempt, "conditions.h2d.retrains", 0);
    assert_number_at(attempt, "conditions.h2d.cpus_busy", 0.5);
    assert_number_at(attempt, "conditions.h2d.load_seconds", 140e-9);
    assert_number_at(attempt, "conditions.d2h.received_bytes_per_second", 59e9);
    assert_number_at(attempt, "conditions.d2h.memory_clock_best_mhz", 3202);
    assert_true(cJSON_IsTrue(at(attempt, "conditions.d2h.memory_is_far")));
    assert_number_at(attempt, "conditions.d2h.fastest_bytes_per_second", 55.5e9);
    cJSON_Delete(root);
}

RUN_TEST(json_tells_of_pairs)
{
    struct node *n = *state;
    make_peers(n);
    cJSON *root = parsed(n);
    assert_null_at(root, "pairs_not_tested");
    assert_int_equal(cJSON_GetArraySize(at(root, "pairs")), 2);
    const cJSON *pair = at(root, "pairs.1");
    assert_number_at(pair, "from", 1);
    assert_number_at(pair, "to", 0);
    assert_true(cJSON_IsFalse(at(pair, "cut")));
    assert_text_at(pair, "verdict.level", "WARNING");
    assert_text_at(pair, "verdict.reasons.0.code", "XB-BW-PEER");
    assert_number_at(pair, "verdict.attempt", 1);
    assert_number_at(pair, "verdict.ceiling_bytes_per_second", 18 * 26.562e9);
    assert_number_at(pair, "verdict.share", n->pair_verdicts[1].bandwidth.share);
    assert_number_at(pair, "verdict.like_pairs", 2);
    assert_null_at(pair, "verdict.like_pairs_bytes_per_second");
    assert_number_at(pair, "verdict.limits.warning_below_bytes_per_second", 358.6e9);
    assert_text_at(pair, "verdict.limits.source", "default");
    assert_int_equal(cJSON_GetArraySize(at(pair, "attempts")), 2);
    assert_null_at(pair, "attempts.0.bytes_per_second");
    assert_text_at(pair, "attempts.0.failure", "out of memory: free some");
    assert_number_at(pair, "attempts.1.bytes_per_second", 331.5e9);
    assert_true(cJSON_IsFalse(at(pair, "attempts.1.data_wrong")));
    assert_true(cJSON_IsTrue(at(pair, "attempts.1.there.direct")));
    assert_text_at(pair, "attempts.1.there.link", "NVLink");
    assert_number_at(pair, "attempts.1.back.links", 18);
    assert_number_at(pair, "attempts.1.back.link_rate_bytes_per_second", 26.562e9);
    assert_number_at(pair, "attempts.1.back.hops", 1);
    assert_number_at(root, "devices.1.peers.health_after.nvlinks.1.replays", 1);
    assert_number_at(root, "devices.1.peers.seconds", 0.25);
    cJSON_Delete(root);
    n->pairs[0].attempts[0].reach_known = false;
    n->report.no_pairs = "there are too many";
    root = parsed(n);
    assert_null_at(root, "pairs.0.attempts.0.there");
    assert_text_at(root, "pairs_not_tested", "there are too many");
    cJSON_Delete(root);
}

RUN_TEST(json_has_null_for_what_is_not_known)
{
    struct node *n = *state;
    make_vm(n);
    n->devices[0].attempts[0].after.present = false;
    n->devices[0].attempts[0].load.hops[0] = (struct xb_pcie_seen){0};
    n->verdicts[0].ceiling.known = false;
    n->report.deadline = 0;
    cJSON *root = parsed(n);
    const cJSON *attempt = at(root, "devices.0.attempts.0");
    assert_null_at(root, "deadline_s");
    assert_null_at(root, "devices.0.verdict.ceiling");
    assert_null_at(attempt, "at_rest.hops.0.upper");
    assert_null_at(attempt, "at_rest.hops.0.lower.aer");
    assert_null_at(attempt, "at_rest.hops.0.lower.control");
    assert_null_at(attempt, "at_rest.numa_node");
    assert_null_at(attempt, "at_rest.local_cpus");
    assert_null_at(attempt, "at_rest.iommu_group");
    assert_null_at(attempt, "after");
    assert_null_at(attempt, "under_load.hops.0.speed_gts");
    assert_null_at(attempt, "under_load.hops.0.width");
    assert_null_at(attempt, "health_after.replays");
    assert_null_at(attempt, "health_after.throttle");
    assert_null_at(attempt, "health_after.slowed_by_hardware");
    assert_null_at(attempt, "health_after.nvlinks");
    cJSON_Delete(root);
    make_cut(n);
    root = parsed(n);
    assert_null_at(root, "devices.1.verdict.attempt");
    assert_null_at(root, "devices.1.verdict.bottleneck");
    assert_null_at(root, "devices.1.pci_bdf");
    assert_true(cJSON_IsTrue(at(root, "devices.1.cut")));
    cJSON_Delete(root);
}

static enum xb_status write_json(FILE *stream, const void *report, struct xb_error *error)
{
    return xb_link_json_write(stream, report, error);
}

RUN_TEST(json_survives_every_failed_allocation)
{
    struct node *n = *state;
    make_amd(n);
    find_facts(n);
    assert_true(fail_every_allocation(write_json, &n->report) > 3);
}
